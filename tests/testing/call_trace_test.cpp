#include <gpu/driver/calls.hpp>
#include <gpu/testing/call_trace.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <thread>
#include <vector>

#include "json_check.hpp"
#include "support/results.hpp"

namespace call_trace_test {
namespace {

using gpu::driver::entry_points;
using gpu::testing::trace_format;

constexpr auto here = gpu::source_location{};

entry_points small_driver() {
  entry_points table{};
  table.device_get_count = [](int* count) {
    *count = 3;
    return CUDA_SUCCESS;
  };
  table.module_load = [](CUmodule*, const char*) { return CUDA_ERROR_FILE_NOT_FOUND; };
  table.memcpy_htod = [](CUdeviceptr, const void*, std::size_t) { return CUDA_SUCCESS; };
  table.func_get_param_info = [](CUfunction, std::size_t index, std::size_t* offset,
                                 std::size_t* size) {
    if (index > 1) return CUDA_ERROR_INVALID_VALUE;
    *offset = index * 4;
    *size = 4 - index;
    return CUDA_SUCCESS;
  };
  table.launch_kernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, CUstream, void**, void**) { return CUDA_SUCCESS; };
  return table;
}

/// What a trace writes while `work` runs, without the times.
template <class Work> std::string trace_of(trace_format format, Work work) {
  const entry_points inner = small_driver();
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  // The trace closes its file, so what it wrote is read through a second handle.
  std::FILE* reader = fdopen(dup(fileno(file)), "r");
  {
    gpu::testing::call_trace trace(inner, file, format);
    gpu::driver::scoped_entry_points in_force(trace.entry_points());
    work();
  }
  std::rewind(reader);
  std::string all;
  for (int c = std::fgetc(reader); c != EOF; c = std::fgetc(reader)) all += static_cast<char>(c);
  std::fclose(reader);
  return all;
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void some_calls() {
  int count = 0;
  CHECK(gpu::driver::call<&entry_points::device_get_count>(here, &count).has_value());
  CUmodule module = nullptr;
  CHECK_FALSE(
      gpu::driver::call<&entry_points::module_load>(here, &module, "a\"b.cubin").has_value());
}

}  // namespace

TEST_CASE("base64 of the vectors of RFC 4648") {
  const auto of = [](std::string_view s) {
    return gpu::testing::detail::base64(s.data(), s.size());
  };
  CHECK(of("") == "");
  CHECK(of("f") == "Zg==");
  CHECK(of("fo") == "Zm8=");
  CHECK(of("foo") == "Zm9v");
  CHECK(of("foob") == "Zm9vYg==");
  CHECK(of("fooba") == "Zm9vYmE=");
  CHECK(of("foobar") == "Zm9vYmFy");
}

TEST_CASE("a text trace names call, arguments, result and what came out") {
  const std::string text = trace_of(trace_format::text, some_calls);
  CHECK(holds(text, "cuDeviceGetCount("));
  CHECK(holds(text, "= CUDA_SUCCESS (3)"));
  CHECK(holds(text, "cuModuleLoad("));
  CHECK(holds(text, "\"a\\\"b.cubin\""));
  CHECK(holds(text, "= CUDA_ERROR_FILE_NOT_FOUND  "));
}

TEST_CASE("a Chrome trace is a list of complete events") {
  const std::string text = trace_of(trace_format::chrome, some_calls);
  CHECK(text.starts_with("[\n{\"name\": \"cuDeviceGetCount\", \"ph\": \"X\""));
  CHECK(holds(text, "\"result\": \"CUDA_ERROR_FILE_NOT_FOUND\""));
  const test::json_check events(text);
  CHECK(events.valid());
  CHECK(events.with("ph") == 2);
  CHECK(events.objects() == 4);  // each event has its arguments
  CHECK(test::json_check(trace_of(trace_format::chrome, [] {})).valid());
}

TEST_CASE("a recording holds the memory that the driver reads") {
  const std::string text = trace_of(trace_format::recording, [] {
    CHECK(gpu::driver::call<&entry_points::memcpy_htod>(here, CUdeviceptr{1 << 20}, "foobar",
                                                        std::size_t{6})
              .has_value());
    int number = 0x04030201;
    char letters[] = "foo";
    void* parameters[] = {&number, letters};
    CHECK(gpu::driver::call<&entry_points::launch_kernel>(here, CUfunction{}, 1u, 1u, 1u, 1u, 1u,
                                                          1u, 0u, CUstream{}, parameters,
                                                          static_cast<void**>(nullptr))
              .has_value());
  });
  CHECK(holds(text, ", \"Zm9vYmFy\"]]}"));
  CHECK(holds(text, ", \"AQIDBA==\"], [\"0x"));
  CHECK(holds(text, ", \"Zm9v\"], [\"0x"));
}

TEST_CASE("faults show in a trace over them, and calls from threads are whole lines") {
  const entry_points inner = small_driver();
  gpu::testing::fault_injection faults(inner);
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::FILE* reader = fdopen(dup(fileno(file)), "r");
  {
    gpu::testing::call_trace trace(faults.entry_points(), file);
    gpu::driver::scoped_entry_points in_force(trace.entry_points());
    faults.fail_call("cuDeviceGetCount", 5, CUDA_ERROR_UNKNOWN);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 10; ++i) {
          int count = 0;
          static_cast<void>(gpu::driver::call<&entry_points::device_get_count>(here, &count));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(trace.calls() == 40);
  }
  std::rewind(reader);
  char line[1024];
  int lines = 0;
  int failed = 0;
  while (std::fgets(line, sizeof line, reader) != nullptr) {
    ++lines;
    failed += holds(line, "= CUDA_ERROR_UNKNOWN");
    CHECK(holds(line, "cuDeviceGetCount("));
    CHECK(holds(line, " us\n"));
  }
  std::fclose(reader);
  CHECK(lines == 40);
  CHECK(failed == 1);
}

}  // namespace call_trace_test
