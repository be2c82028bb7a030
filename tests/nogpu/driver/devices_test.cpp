// Devices, error texts, contexts and the stack that each thread has of them.

#include "driver_fixture.hpp"

#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace devices_test {

using test::driver_fixture;

namespace {

gpu::testing::cpu_driver_options four_devices() {
  gpu::testing::cpu_driver_options options = test::with_places();
  options.devices = 4;
  options.memory_per_device = std::size_t{1} << 20;
  return options;
}

}  // namespace

TEST_CASE("devices are numbered, named and told apart", "[cpu]") {
  driver_fixture f(four_devices());
  int count = 0;
  CHECK(f.cu.device_get_count(&count) == CUDA_SUCCESS);
  REQUIRE(count == 4);
  CUdevice device = -1;
  CHECK(f.cu.device_get(&device, 3) == CUDA_SUCCESS);
  CHECK(device == 3);
  CHECK(f.cu.device_get(&device, 4) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(f.cu.device_get(&device, -1) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(f.cu.device_get(nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
  char name[100] = "";
  CHECK(f.cu.device_get_name(name, sizeof name, 0) == CUDA_SUCCESS);
  CHECK(std::strlen(name) > 0);
  CHECK(f.cu.device_get_name(name, 4, 0) == CUDA_SUCCESS);
  CHECK(std::strlen(name) == 3);
  CUuuid first{};
  CUuuid second{};
  CHECK(f.cu.device_get_uuid(&first, 0) == CUDA_SUCCESS);
  CHECK(f.cu.device_get_uuid(&second, 1) == CUDA_SUCCESS);
  CHECK(std::memcmp(&first, &second, sizeof first) != 0);
  std::size_t bytes = 0;
  CHECK(f.cu.device_total_mem(&bytes, 2) == CUDA_SUCCESS);
  CHECK(bytes == std::size_t{1} << 20);
  for (int i = 0; i < count; ++i) {
    char bus[20] = "";
    CHECK(f.cu.device_get_pci_bus_id(bus, sizeof bus, i) == CUDA_SUCCESS);
    CHECK(f.cu.device_get_by_pci_bus_id(&device, bus) == CUDA_SUCCESS);
    CHECK(device == i);
    CHECK(f.cu.device_get_pci_bus_id(bus, 12, i) == CUDA_ERROR_INVALID_VALUE);
  }
  CHECK(f.cu.device_get_by_pci_bus_id(&device, "0000:ff:00.0") == CUDA_ERROR_INVALID_DEVICE);
  CHECK(f.cu.device_get_by_pci_bus_id(&device, "rubbish") == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("attributes are those of compute capability 9.0", "[cpu]") {
  driver_fixture f;
  const auto attribute = [&](CUdevice_attribute which) {
    int value = -7;
    CHECK(f.cu.device_get_attribute(&value, which, 0) == CUDA_SUCCESS);
    return value;
  };
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 9);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) == 0);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 32);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 1024);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) == 227 * 1024);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == 1);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) == 1);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 1);
  int value = 0;
  CHECK(f.cu.device_get_attribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.device_get_attribute(&value, static_cast<CUdevice_attribute>(0), 0) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.device_get_attribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1) ==
        CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("every code has its name and a sentence", "[cpu]") {
  driver_fixture f;
  const char* text = nullptr;
  CHECK(f.cu.get_error_name(CUDA_ERROR_ILLEGAL_ADDRESS, &text) == CUDA_SUCCESS);
  CHECK(std::string(text) == "CUDA_ERROR_ILLEGAL_ADDRESS");
  CHECK(f.cu.get_error_string(CUDA_ERROR_OUT_OF_MEMORY, &text) == CUDA_SUCCESS);
  CHECK(std::string(text) == "out of memory");
  for (int code = 0; code < 1000; ++code) {
    const char* sentence = nullptr;
    const auto name_known = f.cu.get_error_name(static_cast<CUresult>(code), &text);
    const auto sentence_known = f.cu.get_error_string(static_cast<CUresult>(code), &sentence);
    CHECK(name_known == sentence_known);
    CHECK((text == nullptr) == (sentence == nullptr));
  }
  CHECK(f.cu.get_error_name(static_cast<CUresult>(1001), &text) == CUDA_ERROR_INVALID_VALUE);
  CHECK(text == nullptr);
}

TEST_CASE("each thread has a stack of contexts of its own", "[cpu]") {
  driver_fixture f(four_devices());
  CUcontext own = nullptr;
  CUcontext current = nullptr;
  REQUIRE(f.cu.ctx_create(&own, nullptr, CU_CTX_SCHED_SPIN, 1) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_get_current(&current) == CUDA_SUCCESS);
  CHECK(current == own);  // creating pushes
  CUexecAffinityParam few{};
  CUctxCreateParams parameters{};
  CHECK(f.cu.ctx_create(&current, &parameters, 0, 1) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_destroy(current) == CUDA_SUCCESS);
  few.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT;
  few.param.smCount.val = 1;
  parameters.execAffinityParams = &few;
  parameters.numExecAffinityParams = 1;
  CHECK(f.cu.ctx_create(&current, &parameters, 0, 1) == CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  unsigned flags = 0;
  CHECK(f.cu.ctx_get_flags(&flags) == CUDA_SUCCESS);
  CHECK(flags == CU_CTX_SCHED_SPIN);
  CUdevice device = -1;
  CHECK(f.cu.ctx_get_device(&device) == CUDA_SUCCESS);
  CHECK(device == 1);

  std::thread([&] {
    CUcontext elsewhere = own;
    CHECK(f.cu.ctx_get_current(&elsewhere) == CUDA_SUCCESS);
    CHECK(elsewhere == nullptr);
    CHECK(f.cu.ctx_pop_current(&elsewhere) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(f.cu.ctx_synchronize() == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(f.cu.ctx_set_current(own) == CUDA_SUCCESS);
    CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
    CHECK(f.cu.ctx_set_current(nullptr) == CUDA_SUCCESS);
    CHECK(f.cu.ctx_synchronize() == CUDA_ERROR_INVALID_CONTEXT);
  }).join();

  CHECK(f.cu.ctx_pop_current(&current) == CUDA_SUCCESS);
  CHECK(current == own);
  CHECK(f.cu.ctx_get_current(&current) == CUDA_SUCCESS);
  CHECK(current == f.context);
  CHECK(f.cu.ctx_set_current(own) == CUDA_SUCCESS);  // replaces the top
  CHECK(f.cu.ctx_destroy(own) == CUDA_SUCCESS);      // and destroying takes it off
  CHECK(f.cu.ctx_get_current(&current) == CUDA_SUCCESS);
  CHECK(current == nullptr);
  CHECK(f.cu.ctx_push_current(own) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(f.cu.ctx_destroy(own) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(f.cu.ctx_push_current(nullptr) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(f.cu.ctx_push_current(f.context) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_destroy(f.context) == CUDA_ERROR_INVALID_CONTEXT);  // primary
}

TEST_CASE("a context takes all that it has with it", "[cpu]") {
  for (const auto& mode : test::all_modes()) {
    driver_fixture f(mode);
    CUcontext own = nullptr;
    REQUIRE(f.cu.ctx_create(&own, nullptr, 0, 0) == CUDA_SUCCESS);
    CUstream stream = nullptr;
    CUevent event = nullptr;
    CUdeviceptr memory = 0;
    void* pinned = nullptr;
    REQUIRE(f.cu.stream_create(&stream, 0) == CUDA_SUCCESS);
    REQUIRE(f.cu.event_create(&event, 0) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc(&memory, 100) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc_host(&pinned, 100) == CUDA_SUCCESS);
    CHECK(f.cu.memset_d8_async(memory, 1, 100, stream) == CUDA_SUCCESS);
    CHECK(f.live().size() == 5);
    unsigned version = 0;
    CHECK(f.cu.ctx_get_api_version(own, &version) == CUDA_SUCCESS);
    CHECK(version == 3020);
    CHECK(f.cu.ctx_destroy(own) == CUDA_SUCCESS);
    CHECK(f.live().empty());
    CHECK(f.cu.ctx_get_api_version(own, &version) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK(f.cu.stream_synchronize(stream) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK(f.cu.stream_destroy(stream) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK(f.cu.event_query(event) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK(f.cu.mem_free(memory) == CUDA_ERROR_INVALID_VALUE);
  }
}

TEST_CASE("the primary context is counted and comes back with the same handle", "[cpu]") {
  driver_fixture f(four_devices());
  unsigned flags = 7;
  int active = 7;
  CHECK(f.cu.device_primary_ctx_get_state(2, &flags, &active) == CUDA_SUCCESS);
  CHECK(flags == 0);
  CHECK(active == 0);
  CHECK(f.cu.device_primary_ctx_release(2) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(f.cu.device_primary_ctx_set_flags(2, CU_CTX_SCHED_YIELD) == CUDA_SUCCESS);
  CHECK(f.cu.device_primary_ctx_set_flags(2, 3) == CUDA_ERROR_INVALID_VALUE);
  CUcontext first = nullptr;
  CUcontext second = nullptr;
  CHECK(f.cu.device_primary_ctx_retain(&first, 2) == CUDA_SUCCESS);
  CHECK(f.cu.device_primary_ctx_retain(&second, 2) == CUDA_SUCCESS);
  CHECK(first == second);
  CHECK(f.cu.device_primary_ctx_get_state(2, &flags, &active) == CUDA_SUCCESS);
  CHECK(flags == CU_CTX_SCHED_YIELD);
  CHECK(active == 1);
  REQUIRE(f.cu.ctx_push_current(first) == CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  CHECK(f.cu.mem_alloc(&memory, 64) == CUDA_SUCCESS);
  CHECK(f.cu.device_primary_ctx_release(2) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free(memory) == CUDA_SUCCESS);
  CHECK(f.cu.mem_alloc(&memory, 64) == CUDA_SUCCESS);
  CHECK(f.cu.device_primary_ctx_release(2) == CUDA_SUCCESS);
  CHECK(f.live().empty());
  CHECK(f.cu.mem_alloc(&memory, 64) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(f.cu.device_primary_ctx_retain(&second, 2) == CUDA_SUCCESS);
  CHECK(second == first);
  CHECK(f.cu.mem_alloc(&memory, 64) == CUDA_SUCCESS);
  CHECK(f.cu.device_primary_ctx_reset(2) == CUDA_SUCCESS);
  CHECK(f.live().empty());
  CHECK(f.cu.device_primary_ctx_release(2) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_pop_current(nullptr) == CUDA_SUCCESS);
}

TEST_CASE("what needs a current context, and what does not", "[cpu]") {
  driver_fixture f;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0;
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(f.cu.event_create(&event, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc(&memory, 64) == CUDA_SUCCESS);
  std::thread([&] {
    CUdeviceptr other = 0;
    CUstream new_stream = nullptr;
    CUevent new_event = nullptr;
    std::size_t free = 0;
    std::size_t total = 0;
    int host[16] = {};
    // On an explicit stream: no.
    CHECK(f.cu.mem_alloc_async(&other, 64, stream) == CUDA_SUCCESS);
    CHECK(f.cu.memcpy_htod_async(other, host, 64, stream) == CUDA_SUCCESS);
    CHECK(f.cu.memset_d8_async(memory, 1, 64, stream) == CUDA_SUCCESS);
    CHECK(f.cu.event_record(event, stream) == CUDA_SUCCESS);
    CHECK(f.cu.stream_wait_event(stream, event, 0) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free_async(other, stream) == CUDA_SUCCESS);
    CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    CHECK(f.cu.stream_query(stream) == CUDA_SUCCESS);
    CHECK(f.cu.event_synchronize(event) == CUDA_SUCCESS);
    CHECK(f.cu.event_query(event) == CUDA_SUCCESS);
    // The null stream, and calls that have no stream: yes.
    CHECK(f.cu.event_record(event, nullptr) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(f.cu.stream_synchronize(nullptr) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(f.cu.stream_query(CU_STREAM_PER_THREAD) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(f.cu.mem_alloc_async(&other, 64, nullptr) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(f.cu.mem_alloc(&other, 64) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(f.cu.mem_free(memory) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(f.cu.mem_get_info(&free, &total) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(f.cu.memcpy_htod(memory, host, 64) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(f.cu.stream_create(&new_stream, 0) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(f.cu.event_create(&new_event, 0) == CUDA_ERROR_INVALID_CONTEXT);
    CUmodule module = nullptr;
    CHECK(f.cu.module_load_data(&module, ".version 8.0\n.target sm_90\n.address_size 64\n") ==
          CUDA_ERROR_INVALID_CONTEXT);
    CUlibrary library = nullptr;
    CHECK(f.cu.library_load_data(&library, ".version 8.0\n.target sm_90\n.address_size 64\n",
                                 nullptr, nullptr, 0, nullptr, nullptr, 0) == CUDA_SUCCESS);
    CHECK(f.cu.library_unload(library) == CUDA_SUCCESS);
    CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
    CHECK(f.cu.event_destroy(event) == CUDA_SUCCESS);
  }).join();
}

TEST_CASE("limits and settings of a context", "[cpu]") {
  driver_fixture f;
  std::size_t value = 0;
  CHECK(f.cu.ctx_get_limit(&value, CU_LIMIT_STACK_SIZE) == CUDA_SUCCESS);
  CHECK(value == 1024);
  CHECK(f.cu.ctx_set_limit(CU_LIMIT_STACK_SIZE, 5000) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_get_limit(&value, CU_LIMIT_STACK_SIZE) == CUDA_SUCCESS);
  CHECK(value >= 5000);
  CHECK(f.cu.ctx_set_limit(CU_LIMIT_MALLOC_HEAP_SIZE, 1 << 20) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_get_limit(&value, CU_LIMIT_MALLOC_HEAP_SIZE) == CUDA_SUCCESS);
  CHECK(value == 1 << 20);
  CHECK(f.cu.ctx_get_limit(&value, static_cast<CUlimit>(15)) == CUDA_ERROR_UNSUPPORTED_LIMIT);
  CHECK(f.cu.ctx_set_limit(static_cast<CUlimit>(15), 1) == CUDA_ERROR_UNSUPPORTED_LIMIT);
  CHECK(f.cu.ctx_set_limit(CU_LIMIT_STACK_SIZE, 512 * 1024 + 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.ctx_set_limit(CU_LIMIT_MALLOC_HEAP_SIZE, std::size_t{1} << 40) ==
        CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(f.cu.ctx_set_limit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 129) == CUDA_ERROR_INVALID_VALUE);
  const std::pair<CUlimit, std::size_t> others[] = {
      {CU_LIMIT_PRINTF_FIFO_SIZE, std::size_t{2} << 20},
      {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 128},
      {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 4096}};
  for (const auto& [limit, wanted] : others) {
    CHECK(f.cu.ctx_set_limit(limit, wanted) == CUDA_SUCCESS);
    CHECK(f.cu.ctx_get_limit(&value, limit) == CUDA_SUCCESS);
    CHECK(value == wanted);
  }
  // Devices of compute capability 9.0 and newer have no such limit.
  CHECK(f.cu.ctx_set_limit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 4) == CUDA_ERROR_UNSUPPORTED_LIMIT);
  CHECK(f.cu.ctx_get_limit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH) ==
        CUDA_ERROR_UNSUPPORTED_LIMIT);
  const auto flush = [&](int target, int scope) {
    return f.cu.flush_gpu_direct_rdma_writes(static_cast<CUflushGPUDirectRDMAWritesTarget>(target),
                                             static_cast<CUflushGPUDirectRDMAWritesScope>(scope));
  };
  CHECK(flush(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
              CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER) == CUDA_ERROR_NOT_SUPPORTED);
  int least = 9;
  int greatest = 9;
  CHECK(f.cu.ctx_get_stream_priority_range(&least, &greatest) == CUDA_SUCCESS);
  CHECK(least == 0);
  CHECK(greatest < 0);
  CUfunc_cache config = CU_FUNC_CACHE_PREFER_EQUAL;
  CHECK(f.cu.ctx_get_cache_config(&config) == CUDA_SUCCESS);
  CHECK(config == CU_FUNC_CACHE_PREFER_NONE);
  CHECK(f.cu.ctx_set_cache_config(CU_FUNC_CACHE_PREFER_L1) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_get_cache_config(&config) == CUDA_SUCCESS);
  CHECK(config == CU_FUNC_CACHE_PREFER_L1);
  unsigned long long first = 0;
  unsigned long long second = 0;
  CHECK(f.cu.ctx_get_id(nullptr, &first) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_get_id(f.context, &second) == CUDA_SUCCESS);
  CHECK(first == second);
}

TEST_CASE("heap and printf's buffer keep their sizes once a kernel could use them", "[cpu]") {
  driver_fixture f;
  CUmodule module = nullptr;
  REQUIRE(f.cu.module_load_data(&module, R"(
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 text[2] = {10, 0};
.visible .entry plain() { ret; }
.visible .entry heap() {
  { .param .b64 n; .param .b64 r; st.param.b64 [n], 0; call.uni (r), malloc, (n); } ret; }
.visible .entry print() {
  .reg .b64 %rd<3>; mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1;
  { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd2; st.param.b64 [b], 0;
    call.uni (r), vprintf, (a, b); } ret; }
)") == CUDA_SUCCESS);
  const auto function = [&](const char* name) {
    CUfunction found = nullptr;
    REQUIRE(f.cu.module_get_function(&found, module, name) == CUDA_SUCCESS);
    return found;
  };
  const auto run = [&](const char* name) {
    CHECK(f.cu.launch_kernel(function(name), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) ==
          CUDA_SUCCESS);
  };
  const auto set = [&](CUlimit limit, std::size_t megabytes) {
    return f.cu.ctx_set_limit(limit, megabytes << 20);
  };
  run("plain");
  CHECK(set(CU_LIMIT_MALLOC_HEAP_SIZE, 16) == CUDA_SUCCESS);
  CHECK(set(CU_LIMIT_PRINTF_FIFO_SIZE, 2) == CUDA_SUCCESS);
  run("print");
  CHECK(set(CU_LIMIT_PRINTF_FIFO_SIZE, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(set(CU_LIMIT_MALLOC_HEAP_SIZE, 32) == CUDA_SUCCESS);
  // In a graph the size is fixed when that can be launched.
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_KERNEL;
  params.kernel.func = function("heap");
  params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
  params.kernel.blockDimX = params.kernel.blockDimY = params.kernel.blockDimZ = 1;
  REQUIRE(f.cu.graph_create(&graph, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.graph_add_node(&node, graph, nullptr, nullptr, 0, &params) == CUDA_SUCCESS);
  CHECK(set(CU_LIMIT_MALLOC_HEAP_SIZE, 16) == CUDA_SUCCESS);
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  REQUIRE(f.cu.graph_instantiate_with_params(&exec, graph, &how) == CUDA_SUCCESS);
  for (const std::size_t megabytes : {16u, 8u, 64u})
    CHECK(set(CU_LIMIT_MALLOC_HEAP_SIZE, megabytes) == CUDA_ERROR_INVALID_VALUE);
  std::size_t value = 0;
  CHECK(f.cu.ctx_get_limit(&value, CU_LIMIT_MALLOC_HEAP_SIZE) == CUDA_SUCCESS);
  CHECK(value == std::size_t{16} << 20);
  CHECK(f.cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
  CHECK(f.cu.graph_destroy(graph) == CUDA_SUCCESS);
  CHECK(f.cu.module_unload(module) == CUDA_SUCCESS);
}

TEST_CASE("a launch takes the memory domains that a stream takes", "[cpu]") {
  driver_fixture f;
  CUmodule module = nullptr;
  CUfunction k = nullptr;
  REQUIRE(f.cu.module_load_data(&module,
                                ".version 8.0\n.target sm_90\n.address_size 64\n"
                                ".visible .entry k() { ret; }\n") == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&k, module, "k") == CUDA_SUCCESS);
  const auto with_map = [&](unsigned char here, unsigned char remote) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP;
    attribute.value.memSyncDomainMap.default_ = here;
    attribute.value.memSyncDomainMap.remote = remote;
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return f.cu.launch_kernel_ex(&config, k, nullptr, nullptr);
  };
  CHECK(with_map(0, 1) == CUDA_SUCCESS);
  CHECK(with_map(3, 3) == CUDA_SUCCESS);
  CHECK(with_map(4, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(with_map(9, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(with_map(1, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.module_unload(module) == CUDA_SUCCESS);
}

TEST_CASE("peers are allowed between devices, once", "[cpu]") {
  driver_fixture f(four_devices());
  CUcontext other = nullptr;
  REQUIRE(f.cu.device_primary_ctx_retain(&other, 1) == CUDA_SUCCESS);
  int can = 0;
  CHECK(f.cu.device_can_access_peer(&can, 0, 1) == CUDA_SUCCESS);
  CHECK(can == 1);
  CHECK(f.cu.device_can_access_peer(&can, 0, 0) == CUDA_SUCCESS);
  CHECK(can == 0);
  CHECK(f.cu.ctx_enable_peer_access(other, 0) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_enable_peer_access(other, 0) == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  CHECK(f.cu.ctx_enable_peer_access(f.context, 0) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(f.cu.ctx_disable_peer_access(other) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_disable_peer_access(other) == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  // Copies between devices need no permission.
  CUdeviceptr here = 0;
  CUdeviceptr there = 0;
  REQUIRE(f.cu.mem_alloc(&here, 4) == CUDA_SUCCESS);
  REQUIRE(f.cu.ctx_push_current(other) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc(&there, 4) == CUDA_SUCCESS);
  REQUIRE(f.cu.ctx_pop_current(nullptr) == CUDA_SUCCESS);
  CHECK(f.cu.memset_d32(here, 77, 1) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_peer(there, other, here, f.context, 4) == CUDA_SUCCESS);
  int result = 0;
  CHECK(f.cu.memcpy_dtoh(&result, there, 4) == CUDA_SUCCESS);
  CHECK(result == 77);
  CHECK(f.cu.memcpy_peer(there, nullptr, here, f.context, 4) == CUDA_SUCCESS);  // the current one
  CHECK(f.cu.device_primary_ctx_release(1) == CUDA_SUCCESS);
}

}  // namespace devices_test
