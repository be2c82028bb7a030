#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/call_trace.hpp>
#include <gpu/testing/detail/trace_format.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "json_check.hpp"
#include "support/catch.hpp"

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
  table.graph_add_node = [](CUgraphNode*, CUgraph, const CUgraphNode*, const CUgraphEdgeData*,
                            std::size_t, CUgraphNodeParams*) { return CUDA_SUCCESS; };
  return table;
}

/// What a trace writes while `work` runs, without the times.
template <class Work>
std::string trace_of(trace_format format, Work work, const entry_points& inner = small_driver()) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  // The trace closes its file, so what it wrote is read through a second handle.
  const int number = fileno(file);
  std::FILE* reader = fdopen(dup(number), "r");
  {
    gpu::testing::call_trace trace(inner, file, format);
    gpu::driver::scoped_entry_points in_force(trace.entry_points());
    work();
  }
  CHECK(fcntl(number, F_GETFD) == -1);  // the trace closed it
  std::rewind(reader);
  std::string all;
  for (int c = std::fgetc(reader); c != EOF; c = std::fgetc(reader)) all += static_cast<char>(c);
  std::fclose(reader);
  return all;
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void add_node(CUgraphNodeParams what) {
  CHECK(gpu::driver::call<&entry_points::graph_add_node>(
            here, static_cast<CUgraphNode*>(nullptr), CUgraph{},
            static_cast<const CUgraphNode*>(nullptr), static_cast<const CUgraphEdgeData*>(nullptr),
            std::size_t{0}, &what)
            .has_value());
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

TEST_CASE("a trace leaves stdout open") {
  const entry_points inner = small_driver();
  {
    const gpu::testing::call_trace trace(inner, stdout);
  }
  CHECK(fcntl(fileno(stdout), F_GETFD) != -1);
}

TEST_CASE("a recording holds the buffer of a launch that has its parameters in one") {
  char buffer[] = "foobar";
  std::size_t size = 6;
  const auto recording_with = [&](void** extra) {
    return trace_of(trace_format::recording, [&] {
      CHECK(gpu::driver::call<&entry_points::launch_kernel>(here, CUfunction{}, 1u, 1u, 1u, 1u, 1u,
                                                            1u, 0u, CUstream{},
                                                            static_cast<void**>(nullptr), extra)
                .has_value());
    });
  };
  void* whole[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  const std::string text = recording_with(whole);
  CHECK(holds(text, ", \"BgAAAAAAAAA=\"], [\"0x"));  // the 6
  CHECK(holds(text, ", \"Zm9vYmFy\"]]}"));
  void* without_size[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_END};
  CHECK_FALSE(holds(recording_with(without_size), "Zm9v"));
}

TEST_CASE("a recording has parameters that the driver tells in the stream's context alone") {
  static CUcontext current;
  const auto context = reinterpret_cast<CUcontext>(std::uintptr_t{0x70});
  const auto stream = reinterpret_cast<CUstream>(std::uintptr_t{0x50});
  entry_points inner = small_driver();
  inner.stream_get_ctx = [](CUstream of, CUcontext* to) {
    *to = reinterpret_cast<CUcontext>(reinterpret_cast<std::uintptr_t>(of) + 0x20);
    return CUDA_SUCCESS;
  };
  inner.ctx_push_current = [](CUcontext now) {
    current = now;
    return CUDA_SUCCESS;
  };
  inner.ctx_pop_current = [](CUcontext* last) {
    *last = std::exchange(current, nullptr);
    return CUDA_SUCCESS;
  };
  inner.func_get_param_info = nullptr;
  inner.kernel_get_param_info = [](CUkernel, std::size_t index, std::size_t* offset,
                                   std::size_t* size) {
    if (current != reinterpret_cast<CUcontext>(std::uintptr_t{0x70}) || index > 0)
      return CUDA_ERROR_INVALID_VALUE;
    *offset = 0;
    *size = 6;
    return CUDA_SUCCESS;
  };
  inner.launch_kernel_ex = [](const CUlaunchConfig*, CUfunction, void**, void**) {
    return CUDA_SUCCESS;
  };
  char letters[] = "foobar";
  void* parameters[] = {letters};
  const std::string launches = trace_of(
      trace_format::recording,
      [&] {
        CUlaunchAttribute attribute{};
        attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attribute.value.cooperative = 1;
        CUlaunchConfig config{};
        config.hStream = stream;
        config.attrs = &attribute;
        config.numAttrs = 1;
        CHECK(gpu::driver::call<&entry_points::launch_kernel_ex>(
                  here, &config, CUfunction{}, parameters, static_cast<void**>(nullptr))
                  .has_value());
        CHECK(current == nullptr);
        CHECK(gpu::driver::call<&entry_points::launch_kernel>(here, CUfunction{}, 1u, 1u, 1u, 1u,
                                                              1u, 1u, 0u, stream, parameters,
                                                              static_cast<void**>(nullptr))
                  .has_value());
        CHECK(current == nullptr);
      },
      inner);
  const std::string_view value = ", \"Zm9vYmFy\"]";
  CHECK(holds(launches.substr(0, launches.find('\n')), value));
  CHECK(holds(launches.substr(launches.find('\n')), value));
  const std::string node = trace_of(
      trace_format::recording,
      [&] {
        CUgraphNodeParams what{};
        what.type = CU_GRAPH_NODE_TYPE_KERNEL;
        what.kernel.kern = reinterpret_cast<CUkernel>(std::uintptr_t{0x40});
        what.kernel.ctx = context;
        what.kernel.kernelParams = parameters;
        add_node(what);
      },
      inner);
  CHECK(holds(node, value));
}

TEST_CASE("a recording holds the host's side of copies that structures describe") {
  static unsigned kind;  // of every address that the driver is asked for
  entry_points inner = small_driver();
  inner.pointer_get_attribute = [](void* to, CUpointer_attribute, CUdeviceptr) {
    if (kind == 0) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(to, &kind, sizeof kind);
    return CUDA_SUCCESS;
  };
  inner.memcpy_2d = [](const CUDA_MEMCPY2D*) { return CUDA_SUCCESS; };
  inner.memcpy_3d_batch_async = [](std::size_t, CUDA_MEMCPY3D_BATCH_OP*, unsigned long long,
                                   CUstream) { return CUDA_SUCCESS; };
  char letters[] = "foobar";
  const auto from = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(letters));
  const std::string_view value = ", \"Zm9vYmFy\"]";
  const auto recorded = [&](auto work) {
    return holds(trace_of(trace_format::recording, work, inner), value);
  };
  const auto box = [&](CUmemorytype type) {
    return recorded([&] {
      CUDA_MEMCPY2D copy{};
      copy.srcMemoryType = type;
      copy.srcHost = letters;
      copy.srcDevice = from;
      copy.WidthInBytes = 2;
      copy.Height = 3;
      CHECK(gpu::driver::call<&entry_points::memcpy_2d>(here, &copy).has_value());
    });
  };
  const auto batch = [&](CUmemcpy3DOperandType to) {
    return recorded([&] {
      CUDA_MEMCPY3D_BATCH_OP copy{};
      copy.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
      copy.src.op.ptr.ptr = from;
      copy.dst.type = to;
      copy.extent = {3, 1, 2};
      CHECK(gpu::driver::call<&entry_points::memcpy_3d_batch_async>(here, std::size_t{1}, &copy,
                                                                    0ull, CUstream{})
                .has_value());
    });
  };
  const auto node_text = [&](const CUgraphNodeParams& what) {
    return trace_of(trace_format::recording, [&] { add_node(what); }, inner);
  };
  for (const unsigned each : {0u, unsigned{CU_MEMORYTYPE_HOST}, unsigned{CU_MEMORYTYPE_DEVICE}}) {
    kind = each;
    CAPTURE(each);
    const bool hosts = each != CU_MEMORYTYPE_DEVICE;
    CHECK(box(CU_MEMORYTYPE_HOST));
    CHECK(box(CU_MEMORYTYPE_UNIFIED) == hosts);
    CHECK_FALSE(box(CU_MEMORYTYPE_DEVICE));
    CHECK(batch(CU_MEMCPY_OPERAND_TYPE_POINTER) == hosts);
    CHECK_FALSE(batch(CU_MEMCPY_OPERAND_TYPE_ARRAY));
  }
  CUgraphNodeParams copy{};
  copy.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  copy.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.memcpy.copyParams.srcHost = letters;
  copy.memcpy.copyParams.WidthInBytes = 6;
  copy.memcpy.copyParams.Height = copy.memcpy.copyParams.Depth = 1;
  CHECK(holds(node_text(copy), value));
  CUstreamBatchMemOpParams operation{};
  std::memcpy(&operation, "foobar", 6);
  CUgraphNodeParams batched{};
  batched.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  batched.memOp.count = 1;
  batched.memOp.paramArray = &operation;
  CHECK(holds(node_text(batched), ", \"Zm9vYmFy"));
}

TEST_CASE("a recording has attributes in their widths, and images with what they point to") {
  entry_points inner = small_driver();
  inner.pointer_set_attribute = [](const void*, CUpointer_attribute, CUdeviceptr) {
    return CUDA_SUCCESS;
  };
  inner.mem_pool_set_attribute = [](CUmemoryPool, CUmemPool_attribute, void*) {
    return CUDA_SUCCESS;
  };
  inner.module_load_fat_binary = [](CUmodule*, const void*) { return CUDA_SUCCESS; };
  const auto recorded = [&](auto work) { return trace_of(trace_format::recording, work, inner); };
  unsigned number[2] = {0x04030201, 0x08070605};
  CHECK(holds(recorded([&] {
                CHECK(gpu::driver::call<&entry_points::pointer_set_attribute>(
                          here, static_cast<const void*>(number), CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                          CUdeviceptr{1 << 20})
                          .has_value());
              }),
              ", \"AQIDBA==\"]"));
  const auto pool = [&](CUmemPool_attribute which) {
    return recorded([&] {
      CHECK(gpu::driver::call<&entry_points::mem_pool_set_attribute>(here, CUmemoryPool{}, which,
                                                                     static_cast<void*>(number))
                .has_value());
    });
  };
  CHECK(holds(pool(CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES), ", \"AQIDBA==\"]"));
  CHECK(holds(pool(CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES), ", \"AQIDBA==\"]"));
  CHECK(holds(pool(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), ", \"AQIDBAUGBwg=\"]"));
  // A container of 3 bytes after its header, and a host program's structure that points to it.
  struct {
    unsigned magic = 0xba55ed50;
    unsigned short version = 1, header = 16;
    unsigned long long size = 3;
    char content[3] = {'a', 'b', 'c'};
  } container;
  struct {
    unsigned magic = 0x466243b1, version = 1;
    const void* data;
    const void* file = nullptr;
  } wrapper{.data = &container};
  const auto image = [&](const void* at) {
    return recorded([&] {
      CUmodule module = nullptr;
      CHECK(
          gpu::driver::call<&entry_points::module_load_fat_binary>(here, &module, at).has_value());
    });
  };
  const std::string bytes = gpu::testing::detail::base64(&container, 19);
  CHECK(holds(image(&container), ", \"" + bytes + "\"]]"));
  CHECK(holds(image(&wrapper), "\"], [\"0x"));
  CHECK(holds(image(&wrapper), ", \"" + bytes + "\"]]"));
  CHECK(holds(image(nullptr), "\"memory\": []"));
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
