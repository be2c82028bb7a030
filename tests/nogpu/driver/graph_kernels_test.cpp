// Kernel nodes through the driver's own interface: what they are told to launch, and nodes whose
// code was unloaded.

#include "driver_fixture.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace cpu_graph_kernels_test {

using test::all_modes;
using test::driver_fixture;

namespace {

// store(p, v): *p = v, with what aligns the pointer between the two.
constexpr const char* text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry store(.param .u32 v, .param .u64 p) {
  .reg .b64 %a; .reg .b32 %x;
  ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; ld.param.u32 %x, [v];
  st.global.u32 [%a], %x; ret;
}
)";

struct kernel_fixture {
  explicit kernel_fixture(const gpu::testing::cpu_driver_options& options = test::without_places())
      : f(options) {
    REQUIRE(cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(cu.mem_alloc(&memory, 4) == CUDA_SUCCESS);
    REQUIRE(cu.graph_create(&graph, 0) == CUDA_SUCCESS);
    REQUIRE(cu.library_load_data(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0) ==
            CUDA_SUCCESS);
    REQUIRE(cu.library_get_kernel(&kernel, library, "store") == CUDA_SUCCESS);
    REQUIRE(cu.kernel_get_function(&function, kernel) == CUDA_SUCCESS);
  }

  CUgraphNode add(CUgraph to, unsigned value, CUfunction as = nullptr, CUcontext in = nullptr) {
    CUgraphNode node = nullptr;
    CUgraphNodeParams params{};
    void* arguments[] = {&value, &memory};
    params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    params.kernel.func = as;
    params.kernel.kern = as == nullptr ? kernel : nullptr;
    params.kernel.ctx = in == nullptr ? f.context : in;
    params.kernel.gridDimX = 2;
    params.kernel.gridDimY = 3;
    params.kernel.gridDimZ = 4;
    params.kernel.blockDimX = 5;
    params.kernel.blockDimY = 6;
    params.kernel.blockDimZ = 7;
    params.kernel.sharedMemBytes = 8;
    params.kernel.kernelParams = arguments;
    REQUIRE(cu.graph_add_node(&node, to, nullptr, nullptr, 0, &params) == CUDA_SUCCESS);
    return node;
  }
  CUDA_KERNEL_NODE_PARAMS told(CUgraphNode node) const {
    CUDA_KERNEL_NODE_PARAMS params;
    std::memset(&params, 0xff, sizeof params);
    REQUIRE(cu.graph_kernel_node_get_params(node, &params) == CUDA_SUCCESS);
    return params;
  }
  int instantiate(CUgraph of) const {
    CUgraphExec exec = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    const CUresult made = cu.graph_instantiate_with_params(&exec, of, &params);
    if (made == CUDA_SUCCESS) CHECK(cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
    return made;
  }

  driver_fixture f;
  const gpu::driver::entry_points& cu = f.cu;
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
};

void check(const kernel_fixture& k, const CUDA_KERNEL_NODE_PARAMS& told, unsigned value) {
  CHECK(told.kern == k.kernel);
  CHECK(told.func == k.function);
  CHECK(told.ctx == k.f.context);
  CHECK(told.gridDimX == 2);
  CHECK(told.gridDimY == 3);
  CHECK(told.gridDimZ == 4);
  CHECK(told.blockDimX == 5);
  CHECK(told.blockDimY == 6);
  CHECK(told.blockDimZ == 7);
  CHECK(told.sharedMemBytes == 8);
  CHECK(told.extra == nullptr);
  CHECK(*static_cast<unsigned*>(told.kernelParams[0]) == value);
  CHECK(*static_cast<CUdeviceptr*>(told.kernelParams[1]) == k.memory);
}

TEST_CASE("cpu driver: a kernel node tells what it launches", "[testing][cpu][graph]") {
  kernel_fixture k;
  const CUgraphNode node = k.add(k.graph, 11);
  check(k, k.told(node), 11);

  CUgraph captured = nullptr, clone = nullptr;
  unsigned value = 12;
  void* arguments[] = {&value, &k.memory};
  REQUIRE(k.cu.stream_begin_capture(k.stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  REQUIRE(k.cu.launch_kernel(reinterpret_cast<CUfunction>(k.kernel), 2, 3, 4, 5, 6, 7, 8, k.stream,
                             arguments, nullptr) == CUDA_SUCCESS);
  value = 13;
  REQUIRE(k.cu.stream_end_capture(k.stream, &captured) == CUDA_SUCCESS);
  CUgraphNode other = nullptr;
  std::size_t count = 1;
  REQUIRE(k.cu.graph_get_nodes(captured, &other, &count) == CUDA_SUCCESS);
  check(k, k.told(other), 12);
  REQUIRE(k.cu.graph_clone(&clone, captured) == CUDA_SUCCESS);
  REQUIRE(k.cu.graph_get_nodes(clone, &other, &count) == CUDA_SUCCESS);
  check(k, k.told(other), 12);

  CUDA_KERNEL_NODE_PARAMS params;
  CUgraphNode empty = nullptr;
  CUgraphNodeParams nothing{};
  nothing.type = CU_GRAPH_NODE_TYPE_EMPTY;
  REQUIRE(k.cu.graph_add_node(&empty, k.graph, nullptr, nullptr, 0, &nothing) == CUDA_SUCCESS);
  CHECK(k.cu.graph_kernel_node_get_params(empty, &params) == CUDA_ERROR_INVALID_VALUE);
  CHECK(k.cu.graph_kernel_node_get_params(nullptr, &params) == CUDA_ERROR_INVALID_VALUE);
  CHECK(k.cu.graph_kernel_node_get_params(node, nullptr) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("cpu driver: a function's context is that of its node, whichever is named",
          "[testing][cpu][graph]") {
  kernel_fixture k;
  CUcontext other = nullptr;
  REQUIRE(k.cu.ctx_create(&other, nullptr, 0, 0) == CUDA_SUCCESS);  // and makes it current
  const CUDA_KERNEL_NODE_PARAMS told = k.told(k.add(k.graph, 11, k.function, other));
  CHECK(told.ctx == k.f.context);
  CHECK(k.cu.ctx_destroy(other) == CUDA_SUCCESS);
  CHECK(k.instantiate(k.graph) == CUDA_SUCCESS);
}

TEST_CASE("cpu driver: no executable graph is made of kernels that were unloaded",
          "[testing][cpu][graph]") {
  for (const auto& mode : all_modes()) {
    kernel_fixture k(mode);
    CUgraph parent = nullptr;
    CUgraphExec exec = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    REQUIRE(k.cu.graph_create(&parent, 0) == CUDA_SUCCESS);
    const CUgraphNode node = k.add(k.graph, 11);
    CUgraphNodeParams child{};
    CUgraphNode inside = nullptr;
    child.type = CU_GRAPH_NODE_TYPE_GRAPH;
    child.graph.graph = k.graph;
    REQUIRE(k.cu.graph_add_node(&inside, parent, nullptr, nullptr, 0, &child) == CUDA_SUCCESS);
    REQUIRE(k.cu.graph_instantiate_with_params(&exec, k.graph, &params) == CUDA_SUCCESS);
    REQUIRE(k.cu.library_unload(k.library) == CUDA_SUCCESS);

    // Nor is one launched that was made before: on a device that goes well, or ends the process.
    CHECK(k.cu.graph_launch(exec, k.stream) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(k.f.reports().find("kernel store, whose library or module was unloaded") !=
          std::string::npos);
    CHECK(k.instantiate(k.graph) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(k.f.reports().find("kernel store, whose library or module was unloaded") !=
          std::string::npos);
    CHECK(k.instantiate(parent) == CUDA_ERROR_INVALID_HANDLE);
    CUgraphExecUpdateResultInfo info{};
    CHECK(k.cu.graph_exec_update(exec, k.graph, &info) == CUDA_ERROR_INVALID_HANDLE);
    CUDA_KERNEL_NODE_PARAMS told;
    CHECK(k.cu.graph_kernel_node_get_params(node, &told) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(k.cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
    CHECK(k.cu.graph_destroy(parent) == CUDA_SUCCESS);
    CHECK(k.cu.graph_destroy(k.graph) == CUDA_SUCCESS);
  }
}

TEST_CASE("cpu driver: nor of functions of a module that was unloaded", "[testing][cpu][graph]") {
  kernel_fixture k;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  REQUIRE(k.cu.module_load_data(&module, text) == CUDA_SUCCESS);
  REQUIRE(k.cu.module_get_function(&function, module, "store") == CUDA_SUCCESS);
  const CUgraphNode node = k.add(k.graph, 11, function);
  const CUDA_KERNEL_NODE_PARAMS told = k.told(node);
  CHECK(told.func == function);
  CHECK(told.kern == nullptr);
  CHECK(k.instantiate(k.graph) == CUDA_SUCCESS);
  REQUIRE(k.cu.module_unload(module) == CUDA_SUCCESS);
  CHECK(k.instantiate(k.graph) == CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
}  // namespace cpu_graph_kernels_test
