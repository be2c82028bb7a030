// Collections of costs: what they count, in every mode of the driver, from CUDA source with line
// information, and where the host runs out of memory.

#include "nogpu/driver/driver_fixture.hpp"
#include "support/cpu_driver.hpp"
#include "support/host_memory.hpp"
#include "support/results.hpp"

#include <gpu/compiler.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/cpu_driver_options.hpp>
#include <gpu/testing/kernel_costs.hpp>
#include <nogpu/machine/host_limits.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cost_collection_test {
namespace {

using gpu::testing::cost_report;

// add(p): p[i] += 1 with 32 threads: 10 instructions.
constexpr const char* text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 p) {
  .reg .b64 %a, %o; .reg .b32 %x;
  ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a;
  mov.u32 %x, %tid.x; mul.wide.u32 %o, %x, 4; add.s64 %a, %a, %o;
  ld.global.u32 %x, [%a]; add.u32 %x, %x, 1; st.global.u32 [%a], %x; bar.sync 0; ret;
}
.visible .entry other() { ret; }
)";

/// A driver with a module and memory.
struct scene {
  test::cpu_driver driver;
  const gpu::driver::entry_points& cu = driver.entry_points();
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction add = nullptr;
  CUdeviceptr memory = 0;

  explicit scene(const gpu::testing::cpu_driver_options& options, const char* ptx = text,
                 const char* kernel = "add")
      : driver{options} {
    REQUIRE(cu.device_primary_ctx_retain(&context, 0) == CUDA_SUCCESS);
    REQUIRE(cu.ctx_push_current(context) == CUDA_SUCCESS);
    REQUIRE(cu.module_load_data(&module, ptx) == CUDA_SUCCESS);
    REQUIRE(cu.module_get_function(&add, module, kernel) == CUDA_SUCCESS);
    REQUIRE(cu.mem_alloc(&memory, 1 << 16) == CUDA_SUCCESS);
    REQUIRE(cu.memset_d8(memory, 0, 1 << 16) == CUDA_SUCCESS);
  }
  ~scene() {
    CUcontext popped = nullptr;
    (void)cu.ctx_pop_current(&popped);
    (void)cu.device_primary_ctx_release(0);
  }
  CUresult launch(CUfunction kernel, CUstream stream = nullptr) {
    void* arguments[] = {&memory};
    return cu.launch_kernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr);
  }
};

std::uint64_t launches_of(const cost_report& report, const char* kernel) {
  for (const auto& each : report.kernels)
    if (each.name == kernel) return each.launches;
  return 0;
}

}  // namespace

TEST_CASE("a collection counts what runs while it is alive", "[cpu][costs]") {
  for (const auto& options : test::all_modes()) {
    CAPTURE(static_cast<int>(options.mode), options.stream_threads);
    scene s(options);
    CUfunction other = nullptr;
    REQUIRE(s.cu.module_get_function(&other, s.module, "other") == CUDA_SUCCESS);
    REQUIRE(s.launch(s.add) == CUDA_SUCCESS);  // runs before the collection, deferred or not
    cost_report last;
    {
      const test::cost_collection costs(s.driver);
      CHECK(costs.report().kernels.empty());
      REQUIRE(s.launch(s.add) == CUDA_SUCCESS);
      REQUIRE(s.launch(s.add) == CUDA_SUCCESS);
      CHECK(launches_of(costs.report(), "add") == 2);
      CHECK(costs.report().total().instructions() == 20);
      const test::cost_collection more(s.driver);
      REQUIRE(s.launch(other) == CUDA_SUCCESS);
      CHECK(more.report().kernels.size() == 1);
      CHECK(more.report().total().instructions() == 1);
      last = costs.report();
    }
    REQUIRE(s.launch(s.add) == CUDA_SUCCESS);
    REQUIRE(last.kernels.size() == 2);
    CHECK(last.kernels[0].name == "add");
    CHECK(last.kernels[1].name == "other");
    CHECK(last.total().instructions() == 21);
    CHECK(last.total().sectors == 2 * 8);
    CHECK(last.total().uncoalesced == 0);
    REQUIRE(s.cu.ctx_synchronize() == CUDA_SUCCESS);
    CHECK(s.driver.take_findings() == 0);
  }
}

TEST_CASE("kernels of graphs count each time the graph runs", "[cpu][costs]") {
  scene s(test::deferred());
  CUstream stream = nullptr;
  REQUIRE(s.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(s.cu.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  REQUIRE(s.launch(s.add, stream) == CUDA_SUCCESS);
  CUgraph graph = nullptr;
  REQUIRE(s.cu.stream_end_capture(stream, &graph) == CUDA_SUCCESS);
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  CUgraphExec exec = nullptr;
  REQUIRE(s.cu.graph_instantiate_with_params(&exec, graph, &params) == CUDA_SUCCESS);
  const test::cost_collection costs(s.driver);
  for (int i = 0; i < 3; ++i) REQUIRE(s.cu.graph_launch(exec, stream) == CUDA_SUCCESS);
  CHECK(launches_of(costs.report(), "add") == 3);
  CHECK(costs.report().total().instructions() == 30);
  CHECK(s.cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
  CHECK(s.cu.graph_destroy(graph) == CUDA_SUCCESS);
  CHECK(s.cu.stream_destroy(stream) == CUDA_SUCCESS);
}

TEST_CASE("a kernel with a fault is in the report", "[cpu][costs]") {
  gpu::testing::cpu_driver_options options = test::deferred();
  options.report = [](std::string_view) {};
  scene s(options);
  s.memory += 1 << 16;
  const test::cost_collection costs(s.driver);
  REQUIRE(s.launch(s.add) == CUDA_SUCCESS);
  CHECK(s.cu.ctx_synchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(costs.report().total().instructions() == 6);
  CHECK(s.driver.take_findings() == 1);
}

TEST_CASE("costs of CUDA source go by its lines", "[cpu][costs]") {
  gpu::compile_options compile;
  compile.architecture = gpu::architecture::sm(90);
  compile.line_info = true;
  const auto made = test::value_of(gpu::compile(gpu::program(R"(
template <class T> __global__ void transpose(T* to) {
  __shared__ T tile[32][32];
  tile[threadIdx.y][threadIdx.x] = threadIdx.x;
  __syncthreads();
  to[2 * (threadIdx.y * 32 + threadIdx.x)] =
      tile[threadIdx.x][threadIdx.y];
}
template __global__ void transpose<float>(float*);)",
                                                             "sources/transpose.cu"),
                                                compile));
  const std::string ptx(made.ptx().data(), made.ptx().size());
  scene s(test::without_places(), ptx.c_str(), "_Z9transposeIfEvPT_");
  const test::cost_collection costs(s.driver);
  void* arguments[] = {&s.memory};
  REQUIRE(s.cu.launch_kernel(s.add, 1, 1, 1, 32, 32, 1, 0, nullptr, arguments, nullptr) ==
          CUDA_SUCCESS);
  const cost_report report = costs.report();
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].name == "transpose<float>");
  std::map<std::string, gpu::testing::cost_counts> lines;
  for (const auto& line : report.kernels[0].lines) lines[line.place()] = line.counts;
  CHECK(lines["transpose.cu:4"].shared_accesses == 32);
  CHECK(lines["transpose.cu:4"].bank_conflicts() == 0);
  CHECK(lines["transpose.cu:7"].bank_conflicts() == 32 * 31);
  CHECK(lines["transpose.cu:6"].uncoalesced == 32);
  CHECK(lines["transpose.cu:6"].coalescing() == 0.5);
  CHECK(lines["transpose.cu:5"].count_of(gpu::testing::instruction_kind::synchronization) == 32);
}

TEST_CASE("a collection survives a host without memory", "[cpu][costs]") {
  if (!test::failing_anywhere::possible()) return;
  gpu::testing::cpu_driver_options options = test::without_places();
  options.block_threads = 1;
  options.report = [](std::string_view) {};
  for (const bool lasting : {false, true}) {
    for (std::size_t n = 0;; ++n) {
      scene s(options);
      bool happened = false;
      {
        const test::failing_anywhere failing(n, lasting);
        (void)nogpu::machine::within_memory([&] {
          const test::cost_collection costs(s.driver);
          (void)s.launch(s.add);
          (void)costs.report();
        });
        happened = failing.happened();
      }
      // What was under way is over: a new collection counts, unless the context has a fault.
      const test::cost_collection costs(s.driver);
      if (s.launch(s.add) == CUDA_SUCCESS && s.cu.ctx_synchronize() == CUDA_SUCCESS)
        CHECK(costs.report().total().instructions() == 10);
      if (!happened) {
        CHECK(n > 10);
        break;
      }
    }
  }
}

}  // namespace cost_collection_test
