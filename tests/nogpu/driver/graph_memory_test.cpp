// Memory of a device that graphs hold, and the devices that can access it, through the driver's own
// interface. That it grows by 32 MiB at the first launch, and what the calls refuse, is as on an
// H200.

#include "driver_fixture.hpp"

#include <cstddef>
#include <vector>

namespace cpu_graph_memory_test {

using test::all_modes;
using test::driver_fixture;

namespace {

constexpr cuuint64_t mebibyte = cuuint64_t{1} << 20;
constexpr auto used = CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT;
constexpr auto used_high = CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
constexpr auto reserved = CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT;
constexpr auto reserved_high = CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;

/// A graph that allocates, in an executable form.
struct graph_fixture {
  explicit graph_fixture(gpu::testing::cpu_driver_options options = test::without_places())
      : f(options) {
    REQUIRE(f.cu.graph_create(&graph, 0) == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  }

  CUgraphNodeParams description(std::size_t bytes) const {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.alloc.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    params.alloc.bytesize = bytes;
    return params;
  }
  CUresult add(CUgraphNodeParams& params) {
    return f.cu.graph_add_node(&node, graph, nullptr, nullptr, 0, &params);
  }
  CUdeviceptr allocate(std::size_t bytes) {
    CUgraphNodeParams params = description(bytes);
    REQUIRE(add(params) == CUDA_SUCCESS);
    return params.alloc.dptr;
  }
  void free_in_graph(CUdeviceptr memory) {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    params.free.dptr = memory;
    CUgraphNode after = node;
    REQUIRE(f.cu.graph_add_node(&node, graph, &after, nullptr, 1, &params) == CUDA_SUCCESS);
  }
  void instantiate() {
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    REQUIRE(f.cu.graph_instantiate_with_params(&exec, graph, &params) == CUDA_SUCCESS);
  }
  cuuint64_t told(CUgraphMem_attribute which) const {
    cuuint64_t value = ~cuuint64_t{0};
    REQUIRE(f.cu.device_get_graph_mem_attribute(0, which, &value) == CUDA_SUCCESS);
    return value;
  }
  std::size_t free_memory() const {
    std::size_t left = 0;
    REQUIRE(f.cu.mem_get_info(&left, nullptr) == CUDA_SUCCESS);
    return left;
  }

  driver_fixture f;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CUstream stream = nullptr;
};

gpu::testing::cpu_driver_options two_devices() {
  gpu::testing::cpu_driver_options options = test::without_places();
  options.devices = 2;
  return options;
}

/// Whether kernels of a context of the second device reach an address.
bool reached_from_second(const driver_fixture& f, CUdeviceptr address) {
  CUcontext context = nullptr;
  CUdeviceptr same = 0;
  REQUIRE(f.cu.device_primary_ctx_retain(&context, 1) == CUDA_SUCCESS);
  REQUIRE(f.cu.ctx_push_current(context) == CUDA_SUCCESS);
  const CUresult code =
      f.cu.pointer_get_attribute(&same, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address);
  REQUIRE(f.cu.ctx_pop_current(&context) == CUDA_SUCCESS);
  REQUIRE(f.cu.device_primary_ctx_release(1) == CUDA_SUCCESS);
  CHECK((code == CUDA_SUCCESS || code == CUDA_ERROR_INVALID_VALUE));
  return code == CUDA_SUCCESS;
}

}  // namespace

TEST_CASE("graphs take memory of the device at their first launch, and keep it until it is trimmed",
          "[cpu][graph]") {
  graph_fixture g;
  const std::size_t at_first = g.free_memory();
  g.free_in_graph(g.allocate(5 * mebibyte));
  g.instantiate();
  for (const auto each : {used, used_high, reserved, reserved_high}) CHECK(g.told(each) == 0);
  CHECK(g.free_memory() == at_first);
  REQUIRE(g.f.cu.graph_launch(g.exec, g.stream) == CUDA_SUCCESS);
  REQUIRE(g.f.cu.stream_synchronize(g.stream) == CUDA_SUCCESS);
  CHECK(g.told(used) == 5 * mebibyte);
  CHECK(g.told(reserved) == 32 * mebibyte);
  CHECK(g.free_memory() == at_first - 32 * mebibyte);
  REQUIRE(g.f.cu.graph_launch(g.exec, g.stream) == CUDA_SUCCESS);  // needs no more
  REQUIRE(g.f.cu.stream_synchronize(g.stream) == CUDA_SUCCESS);
  CHECK(g.told(used) == 5 * mebibyte);
  CHECK(g.f.cu.device_graph_mem_trim(0) == CUDA_SUCCESS);
  CHECK(g.told(used) == 0);
  CHECK(g.told(reserved) == 0);
  CHECK(g.free_memory() == at_first);
  CHECK(g.told(used_high) == 5 * mebibyte);
  CHECK(g.told(reserved_high) == 32 * mebibyte);
  cuuint64_t zero = 0;
  CHECK(g.f.cu.device_set_graph_mem_attribute(0, used_high, &zero) == CUDA_SUCCESS);
  CHECK(g.told(used_high) == 0);
  CHECK(g.told(reserved_high) == 32 * mebibyte);
  CHECK(g.f.cu.device_set_graph_mem_attribute(0, reserved_high, &zero) == CUDA_SUCCESS);
  CHECK(g.told(reserved_high) == 0);
  REQUIRE(g.f.cu.graph_upload(g.exec, g.stream) == CUDA_SUCCESS);
  CHECK(g.told(used) == 5 * mebibyte);
  // What a graph that is gone held is for others.
  REQUIRE(g.f.cu.graph_exec_destroy(g.exec) == CUDA_SUCCESS);
  REQUIRE(g.f.cu.graph_destroy(g.graph) == CUDA_SUCCESS);
  CHECK(g.told(used) == 0);
  CHECK(g.told(reserved) == 32 * mebibyte);
  REQUIRE(g.f.cu.graph_create(&g.graph, 0) == CUDA_SUCCESS);
  g.free_in_graph(g.allocate(32 * mebibyte));
  g.instantiate();
  REQUIRE(g.f.cu.graph_launch(g.exec, g.stream) == CUDA_SUCCESS);
  CHECK(g.told(reserved) == 32 * mebibyte);
}

TEST_CASE("memory of graphs that is in use is not trimmed", "[cpu][graph]") {
  for (const auto& options : all_modes()) {
    graph_fixture g(options);
    const CUdeviceptr kept = g.allocate(mebibyte);
    g.free_in_graph(g.allocate(40 * mebibyte));
    g.instantiate();
    REQUIRE(g.f.cu.graph_launch(g.exec, g.stream) == CUDA_SUCCESS);
    REQUIRE(g.f.cu.stream_synchronize(g.stream) == CUDA_SUCCESS);
    CHECK(g.told(reserved) == 64 * mebibyte);
    CHECK(g.f.cu.device_graph_mem_trim(0) == CUDA_SUCCESS);
    CHECK(g.told(used) == mebibyte);
    CHECK(g.told(reserved) == 32 * mebibyte);
    CHECK(g.f.cu.mem_free_async(kept, g.stream) == CUDA_SUCCESS);
    CHECK(g.f.cu.device_graph_mem_trim(0) == CUDA_SUCCESS);
    CHECK(g.told(reserved) == 0);
  }
  // Nor what a launch that has not ended uses.
  graph_fixture g(test::deferred());
  g.free_in_graph(g.allocate(mebibyte));
  g.instantiate();
  REQUIRE(g.f.cu.graph_launch(g.exec, g.stream) == CUDA_SUCCESS);
  CHECK(g.f.cu.device_graph_mem_trim(0) == CUDA_SUCCESS);
  CHECK(g.told(used) == mebibyte);
  REQUIRE(g.f.cu.stream_synchronize(g.stream) == CUDA_SUCCESS);
  CHECK(g.f.cu.device_graph_mem_trim(0) == CUDA_SUCCESS);
  CHECK(g.told(used) == 0);
}

TEST_CASE("memory of a graph is freed by another graph, or by the program", "[cpu][graph]") {
  for (const auto& options : all_modes()) {
    graph_fixture g(options);
    const auto& cu = g.f.cu;
    const CUdeviceptr memory = g.allocate(mebibyte);
    CUgraph other = nullptr;
    CUgraphExec freeing = nullptr;
    CUgraphNodeParams params{};
    CUDA_GRAPH_INSTANTIATE_PARAMS how{};
    REQUIRE(cu.graph_create(&other, 0) == CUDA_SUCCESS);
    params.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    params.free.dptr = 512;  // nobody's
    CHECK(cu.graph_add_node(&g.node, other, nullptr, nullptr, 0, &params) ==
          CUDA_ERROR_INVALID_VALUE);
    params.free.dptr = memory;
    REQUIRE(cu.graph_add_node(&g.node, other, nullptr, nullptr, 0, &params) == CUDA_SUCCESS);
    REQUIRE(cu.graph_instantiate_with_params(&freeing, other, &how) == CUDA_SUCCESS);
    CUstream nobodys = nullptr;
    REQUIRE(cu.stream_create(&nobodys, 0) == CUDA_SUCCESS);
    REQUIRE(cu.stream_destroy(nobodys) == CUDA_SUCCESS);
    how.hUploadStream = nobodys;  // not looked at without the flag
    REQUIRE(cu.graph_instantiate_with_params(&g.exec, g.graph, &how) == CUDA_SUCCESS);
    REQUIRE(cu.graph_exec_destroy(g.exec) == CUDA_SUCCESS);
    how.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    CHECK(cu.graph_instantiate_with_params(&g.exec, g.graph, &how) != CUDA_SUCCESS);
    how.hUploadStream = g.stream;
    REQUIRE(cu.graph_instantiate_with_params(&g.exec, g.graph, &how) == CUDA_SUCCESS);
    CUgraphExec second = nullptr;
    CHECK(cu.graph_instantiate_with_params(&second, g.graph, &how) != CUDA_SUCCESS);
    const auto held = [&] { return cu.graph_launch(g.exec, g.stream) == CUDA_ERROR_INVALID_VALUE; };
    REQUIRE(cu.graph_launch(g.exec, g.stream) == CUDA_SUCCESS);
    CHECK(held());
    CHECK(cu.graph_launch(freeing, g.stream) == CUDA_SUCCESS);
    REQUIRE(cu.graph_launch(g.exec, g.stream) == CUDA_SUCCESS);
    CHECK(held());
    CHECK(cu.mem_free(memory) == CUDA_SUCCESS);
    CHECK(cu.mem_free(memory) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu.graph_launch(g.exec, g.stream) == CUDA_SUCCESS);
    CHECK(cu.mem_free_async(memory, g.stream) == CUDA_SUCCESS);
    CHECK(cu.stream_synchronize(g.stream) == CUDA_SUCCESS);
  }
}

TEST_CASE("a launch fails where the device has too little memory for the graph", "[cpu][graph]") {
  gpu::testing::cpu_driver_options options = test::without_places();
  options.memory_per_device = 24 * mebibyte;
  graph_fixture g(options);
  CUgraphNodeParams too_much = g.description(25 * mebibyte);
  CHECK(g.add(too_much) == CUDA_ERROR_OUT_OF_MEMORY);
  const CUdeviceptr first = g.allocate(8 * mebibyte);
  g.free_in_graph(first);
  g.instantiate();
  CUdeviceptr other = 0;
  REQUIRE(g.f.cu.mem_alloc(&other, 20 * mebibyte) == CUDA_SUCCESS);
  CHECK(g.f.cu.graph_launch(g.exec, g.stream) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(g.f.cu.graph_upload(g.exec, g.stream) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(g.told(reserved) == 0);
  REQUIRE(g.f.cu.mem_free(other) == CUDA_SUCCESS);
  CHECK(g.f.cu.graph_launch(g.exec, g.stream) == CUDA_SUCCESS);
  CHECK(g.told(reserved) == 8 * mebibyte);  // less than a step where there is no more
}

TEST_CASE("what cannot be asked or set about memory of graphs", "[cpu][graph]") {
  const driver_fixture f;
  cuuint64_t value = 0;
  constexpr auto invalid = CUDA_ERROR_INVALID_VALUE;
  CHECK(f.cu.device_graph_mem_trim(1) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(f.cu.device_get_graph_mem_attribute(1, used, &value) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(f.cu.device_set_graph_mem_attribute(1, used_high, &value) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(f.cu.device_get_graph_mem_attribute(0, used, nullptr) == invalid);
  CHECK(f.cu.device_set_graph_mem_attribute(0, used_high, nullptr) == invalid);
  CHECK(f.cu.device_set_graph_mem_attribute(0, used, &value) == invalid);
  CHECK(f.cu.device_set_graph_mem_attribute(0, reserved, &value) == invalid);
  value = 1;
  CHECK(f.cu.device_set_graph_mem_attribute(0, used_high, &value) == invalid);
  CHECK(f.cu.device_set_graph_mem_attribute(0, reserved_high, &value) == invalid);
}

TEST_CASE("memory of graphs is told and trimmed with no context current, and during captures",
          "[cpu][graph]") {
  graph_fixture g;
  CUcontext popped = nullptr;
  REQUIRE(g.f.cu.ctx_pop_current(&popped) == CUDA_SUCCESS);
  CHECK(g.told(used) == 0);
  CHECK(g.f.cu.device_graph_mem_trim(0) == CUDA_SUCCESS);
  REQUIRE(g.f.cu.ctx_push_current(popped) == CUDA_SUCCESS);
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                          CU_STREAM_CAPTURE_MODE_RELAXED}) {
    CUgraph captured = nullptr;
    cuuint64_t zero = 0;
    REQUIRE(g.f.cu.stream_begin_capture(g.stream, mode) == CUDA_SUCCESS);
    CHECK(g.told(used) == 0);
    CHECK(g.f.cu.device_set_graph_mem_attribute(0, used_high, &zero) == CUDA_SUCCESS);
    CHECK(g.f.cu.device_graph_mem_trim(0) == CUDA_SUCCESS);
    REQUIRE(g.f.cu.stream_end_capture(g.stream, &captured) == CUDA_SUCCESS);
    CHECK(g.f.cu.graph_destroy(captured) == CUDA_SUCCESS);
  }
}

TEST_CASE("devices reach memory of graphs that names them", "[cpu][graph]") {
  graph_fixture g(two_devices());
  CHECK_FALSE(reached_from_second(g.f, g.allocate(512)));
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUgraphNodeParams params = g.description(512);
  params.alloc.accessDescs = &access;
  params.alloc.accessDescCount = 1;
  REQUIRE(g.add(params) == CUDA_SUCCESS);
  CHECK(reached_from_second(g.f, params.alloc.dptr));

  const auto refused = [&](CUmemAccessDesc each, std::size_t count) {
    CUgraphNodeParams wrong = g.description(512);
    const std::vector<CUmemAccessDesc> all(count, each);
    wrong.alloc.accessDescs = count == 0 ? nullptr : all.data();
    wrong.alloc.accessDescCount = count == 0 ? 1 : count;
    return g.add(wrong);
  };
  CHECK(refused(access, 2) == CUDA_SUCCESS);
  CHECK(refused(access, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(refused(access, 3) == CUDA_ERROR_INVALID_VALUE);  // more than there are devices
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
  CHECK(refused(access, 1) == CUDA_ERROR_INVALID_VALUE);
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  access.location.id = 2;
  CHECK(refused(access, 1) == CUDA_ERROR_INVALID_DEVICE);
  access.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
  CHECK(refused(access, 1) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("memory that a capture allocates is reached as its pool's is at that time",
          "[cpu][graph]") {
  graph_fixture g(two_devices());
  CUmemoryPool pool = nullptr;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  REQUIRE(g.f.cu.mem_pool_create(&pool, &properties) == CUDA_SUCCESS);
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  const auto captured = [&] {
    CUgraph graph = nullptr;
    CUdeviceptr memory = 0;
    REQUIRE(g.f.cu.stream_begin_capture(g.stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    REQUIRE(g.f.cu.mem_alloc_from_pool_async(&memory, 512, pool, g.stream) == CUDA_SUCCESS);
    REQUIRE(g.f.cu.stream_end_capture(g.stream, &graph) == CUDA_SUCCESS);
    return memory;
  };
  const CUdeviceptr before = captured();
  REQUIRE(g.f.cu.mem_pool_set_access(pool, &access, 1) == CUDA_SUCCESS);
  CHECK(reached_from_second(g.f, captured()));
  CHECK_FALSE(reached_from_second(g.f, before));
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  REQUIRE(g.f.cu.mem_pool_set_access(pool, &access, 1) == CUDA_SUCCESS);
  CHECK_FALSE(reached_from_second(g.f, captured()));
}

}  // namespace cpu_graph_memory_test
