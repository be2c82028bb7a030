// Recordings are played again on a driver of their own; traces, faults and the CPU driver together.
#include <gpu/gpu.hpp>
#include <gpu/memory/prefetch_batch.hpp>
#include <gpu/testing/call_trace.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <stdio.h>
#include <unistd.h>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "call_replay.hpp"
#include "json_check.hpp"
#include "support/catch.hpp"
#include "support/drivers.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

namespace call_recording_test {
namespace {

using gpu::testing::call_trace;
using gpu::testing::trace_format;
using test::value_of;

const char code[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 count)
{
  .reg .pred %p;
  .reg .f32 %f<4>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.f32 %f1, [factor];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p, %r2, %r1;
  @%p ret;
  mad.wide.u32 %rd2, %r2, 4, %rd1;
  ld.global.f32 %f2, [%rd2];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd2], %f3;
  ret;
}
)";

/// A program that uses a kernel by the library and copies by the driver, and what it computes.
std::vector<float> program() {
  const gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  gpu::module loaded = value_of(gpu::module::load(code));
  const auto scale = value_of(loaded.kernel("scale"));
  const std::vector<float> rows{1, 2, 3, -1, 4, 5, 6, -1};  // two rows of three, and a gap each
  gpu::device_buffer<float> data = value_of(gpu::device_buffer<float>::create(stream, 6));
  CUDA_MEMCPY2D box{};
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = rows.data();
  box.srcPitch = 16;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = data.native();
  box.dstPitch = 12;
  box.WidthInBytes = 12;
  box.Height = 2;
  const auto& driver = gpu::driver::current_entry_points();
  CHECK(driver.memcpy_2d_async(&box, stream.native()) == CUDA_SUCCESS);
  const float last = 10;
  CHECK(driver.memcpy_htod_async(data.native() + 20, &last, 4, stream.native()) == CUDA_SUCCESS);
  value_of(gpu::launch(stream, {1, 32}, scale, data, 0.5f, 6u));
  std::vector<float> out(6);
  CHECK(driver.memcpy_dtoh_async(out.data(), data.native(), 24, stream.native()) == CUDA_SUCCESS);
  value_of(stream.synchronize());
  return out;
}

const std::vector<float> expected{0.5f, 1, 1.5f, 2, 2.5f, 5};

/// What a trace writes while `work` runs on a driver of its own.
template <class Work> std::string trace_of(trace_format format, Work work) {
  test::own_cpu_driver driver;
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::FILE* reader = fdopen(dup(fileno(file)), "r");
  {
    gpu::testing::fault_injection faults(driver.table());
    call_trace trace(faults.entry_points(), file, format);
    const gpu::driver::scoped_entry_points in_force(trace.entry_points());
    work(faults);
  }
  CHECK(driver.live_list() == "");
  std::rewind(reader);
  std::string all;
  for (int c = std::fgetc(reader); c != EOF; c = std::fgetc(reader)) all += static_cast<char>(c);
  std::fclose(reader);
  return all;
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

}  // namespace

TEST_CASE("the calls of a recording can be made again on another driver", "[cpu]") {
  const std::string recording =
      trace_of(trace_format::recording, [](auto&) { CHECK(program() == expected); });
  test::own_cpu_driver other;
  test::call_replay replay(other.table());
  std::istringstream lines(recording);
  for (std::string line; std::getline(lines, line);) replay.play(line);
  for (const std::string& problem : replay.problems) {
    INFO(problem);
    CHECK(false);
  }
  REQUIRE(replay.copied_to_host.size() == 1);
  REQUIRE(replay.copied_to_host[0].size() == 24);
  std::vector<float> again(6);
  std::memcpy(again.data(), replay.copied_to_host[0].data(), 24);
  CHECK(again == expected);
}

TEST_CASE("a recording has the lists of batches for managed memory, and the places of pools",
          "[cpu]") {
  const std::string recording = trace_of(trace_format::recording, [](auto&) {
    const gpu::device device = test::first_device();
    const gpu::stream stream = value_of(gpu::stream::create(device));
    auto a = value_of(gpu::managed_buffer<int>::create(device, 4));
    value_of(gpu::prefetch(stream, {{a, device}}));
    value_of(gpu::discard(stream, {a}));
    value_of(gpu::discard_and_prefetch(stream, {{a, device}}));
    value_of(gpu::memory_pool_ref::current_of(device, gpu::allocation_type::managed));
    value_of(stream.synchronize());
  });
  const struct {
    const char* call;
    int ranges;  // of memory that the call reads
  } expected_of[] = {{"cuMemPrefetchBatchAsync", 4},
                     {"cuMemDiscardBatchAsync", 2},
                     {"cuMemDiscardAndPrefetchBatchAsync", 4},
                     {"cuMemGetMemPool", 1}};
  for (const auto& each : expected_of) {
    INFO(each.call);
    const std::size_t line = recording.find("\"call\": \"" + std::string(each.call) + '"');
    REQUIRE(line != recording.npos);
    const std::string whole = recording.substr(line, recording.find('\n', line) - line);
    int ranges = 0;
    for (std::size_t at = whole.find("\"memory\""); at != whole.npos;
         at = whole.find("[\"0x", at + 1))
      ++ranges;
    CHECK(ranges - 1 == each.ranges);
  }
}

TEST_CASE("a trace over faults over the CPU driver shows the call that failed", "[cpu]") {
  const std::string text = trace_of(trace_format::text, [](auto& faults) {
    CHECK(program() == expected);
    // The library gives back what it keeps, and tries twice more.
    for (std::size_t i = 0; i < 3; ++i)
      faults.fail_call("cuMemAllocFromPoolAsync", i, CUDA_ERROR_OUT_OF_MEMORY);
    gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
    const auto buffer = gpu::device_buffer<float>::create(stream, 6);
    REQUIRE_FALSE(buffer.has_value());
    CHECK(buffer.error().code() == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(faults.calls("cuMemAllocFromPoolAsync") == 4);
  });
  std::istringstream lines(text);
  int allocations = 0, failed = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("cuMemAllocFromPoolAsync(") == line.npos) continue;
    ++allocations;
    failed += line.find(" = CUDA_ERROR_OUT_OF_MEMORY ") != line.npos;
  }
  CHECK(allocations == 4);
  CHECK(failed == 3);
}

TEST_CASE("child: traces when the environment asks", "[.child]") {
  const bool asked = gpu::testing::use_call_trace_if_asked();
  std::printf("traces: %d\n", asked);
  int count = 0;
  CHECK(gpu::driver::current_entry_points().device_get_count(&count) == CUDA_SUCCESS);
}

TEST_CASE("the environment switches a trace on, and the file's name chooses its form") {
  const std::string stem =
      std::filesystem::temp_directory_path() / ("gpu-trace-" + std::to_string(::getpid()));
  const auto traced = [&](const std::string& path) {
    const auto outcome =
        test::run_child("child: traces when the environment asks", {{"GPU_TRACE", path}});
    INFO(outcome.output);
    CHECK(outcome.succeeded());
    return outcome.output;
  };
  CHECK(traced("").find("traces: 0") != std::string::npos);
  const struct {
    const char *ending, *begins, *holds;
  } forms[] = {{".txt", " ", "cuDeviceGetCount("},
               {".json", "[\n{\"name\": \"", "\"ph\": \"X\""},
               {".jsonl", "{\"call\": \"", "\"memory\": []"}};
  for (const auto& form : forms) {
    const std::string path = stem + form.ending;
    CHECK(traced(path).find("traces: 1") != std::string::npos);
    const std::string text = contents_of(path);
    CAPTURE(path, text);
    CHECK(text.starts_with(form.begins));
    CHECK(text.find(form.holds) != std::string::npos);
    if (std::string(form.ending) == ".json") CHECK(test::json_check(text).valid());
    CHECK(std::remove(path.c_str()) == 0);
  }
  const std::string refused = traced("/no/such/folder/trace.txt");
  CHECK(refused.find("traces: 0") != std::string::npos);
  CHECK(refused.find("cannot write the file /no/such/folder/trace.txt, which GPU_TRACE names") !=
        std::string::npos);
}

}  // namespace call_recording_test
