// Child graphs that are moved into their parent, and not copied, through the driver's own
// interface. The codes are those that an H200 gave for the same calls.

#include "driver_fixture.hpp"

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace cpu_graph_children_test {

using test::all_modes;
using test::driver_fixture;

namespace {

constexpr auto copy = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
constexpr auto move = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
constexpr auto invalid = CUDA_ERROR_INVALID_VALUE;
constexpr auto unsupported = CUDA_ERROR_NOT_SUPPORTED;

void CUDA_CB count(void* counter) { ++*static_cast<int*>(counter); }

struct child_fixture {
  explicit child_fixture(const gpu::testing::cpu_driver_options& options = test::without_places())
      : f(options) {
    REQUIRE(cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    before = f.live().size();
    parent = create();
    child = create();
  }

  CUgraph create() const {
    CUgraph made = nullptr;
    REQUIRE(cu.graph_create(&made, 0) == CUDA_SUCCESS);
    return made;
  }
  CUresult add(CUgraph to, CUgraphNodeParams& params, CUgraphNode* made = nullptr,
               std::vector<CUgraphNode> after = {}) const {
    CUgraphNode unnamed = nullptr;
    return cu.graph_add_node(made == nullptr ? &unnamed : made, to, after.data(), nullptr,
                             after.size(), &params);
  }
  CUgraphNodeParams child_params(CUgraph of, CUgraphChildGraphNodeOwnership ownership) const {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    params.graph.graph = of;
    params.graph.ownership = ownership;
    return params;
  }
  CUresult add_child(CUgraph to, CUgraph of, CUgraphChildGraphNodeOwnership ownership,
                     CUgraphNode* made = nullptr) const {
    CUgraphNodeParams params = child_params(of, ownership);
    const CUresult answer = add(to, params, made);
    CHECK(params.graph.graph == of);
    return answer;
  }
  CUresult add_call(CUgraph to) {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_HOST;
    params.host.fn = count;
    params.host.userData = &calls;
    return add(to, params);
  }
  CUresult add_allocation(CUgraph to, CUdeviceptr& memory, CUgraphNode* made = nullptr) const {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.alloc.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    params.alloc.bytesize = 1024;
    const CUresult answer = add(to, params, made);
    memory = params.alloc.dptr;
    return answer;
  }
  CUresult add_free(CUgraph to, CUdeviceptr memory, std::vector<CUgraphNode> after = {}) const {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    params.free.dptr = memory;
    return add(to, params, nullptr, std::move(after));
  }
  CUresult instantiate(CUgraph from, CUgraphExec* exec = nullptr) const {
    CUgraphExec made = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    const CUresult answer =
        cu.graph_instantiate_with_params(exec == nullptr ? &made : exec, from, &params);
    if (made != nullptr) REQUIRE(cu.graph_exec_destroy(made) == CUDA_SUCCESS);
    return answer;
  }
  CUresult run(CUgraphExec exec) const {
    const CUresult launched = cu.graph_launch(exec, stream);
    REQUIRE(cu.stream_synchronize(stream) == CUDA_SUCCESS);
    return launched;
  }
  /// How many host functions a launch of a graph calls.
  int calls_of(CUgraph graph) {
    CUgraphExec exec = nullptr;
    calls = 0;
    REQUIRE(instantiate(graph, &exec) == CUDA_SUCCESS);
    REQUIRE(run(exec) == CUDA_SUCCESS);
    REQUIRE(cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
    return calls;
  }

  driver_fixture f;
  const gpu::driver::entry_points& cu = f.cu;
  CUstream stream = nullptr;
  CUgraph parent = nullptr, child = nullptr;
  CUgraphNode node = nullptr;
  std::size_t before = 0;
  int calls = 0;
};

}  // namespace

TEST_CASE("a graph that was moved belongs to its parent", "[cpu][graph]") {
  for (const auto& mode : all_modes()) {
    child_fixture w(mode);
    const auto& cu = w.cu;
    CUgraph inside = nullptr, clone = nullptr;
    const CUgraph other = w.create();
    REQUIRE(w.add_call(w.child) == CUDA_SUCCESS);
    CHECK(w.add_child(w.parent, w.child, move, &w.node) == CUDA_SUCCESS);
    CHECK(cu.graph_child_graph_node_get_graph(w.node, &inside) == CUDA_SUCCESS);
    CHECK(inside == w.child);
    CHECK(w.calls_of(w.parent) == 1);
    CHECK(w.instantiate(w.child) == unsupported);
    CHECK(cu.graph_destroy(w.child) == invalid);
    CHECK(w.add_child(other, w.child, copy) == unsupported);
    CHECK(w.add_child(other, w.child, move) == unsupported);
    CHECK(w.add_call(w.child) == CUDA_SUCCESS);
    CHECK(w.calls_of(w.parent) == 2);
    for (const CUgraph each : {w.child, w.parent}) {
      CHECK(cu.graph_clone(&clone, each) == CUDA_SUCCESS);
      CHECK(w.calls_of(clone) == 2);
      CHECK(cu.graph_destroy(clone) == CUDA_SUCCESS);
    }
    CUgraphExec exec = nullptr;
    CUgraphExecUpdateResultInfo info{};
    REQUIRE(w.add_call(other) == CUDA_SUCCESS);
    REQUIRE(w.instantiate(other, &exec) == CUDA_SUCCESS);
    CHECK(cu.graph_exec_update(exec, w.child, &info) == invalid);
    CHECK(cu.graph_exec_destroy(exec) == CUDA_SUCCESS);

    std::size_t nodes = 1;
    CHECK(cu.graph_destroy_node(w.node) == CUDA_SUCCESS);
    CHECK(cu.graph_get_nodes(w.parent, nullptr, &nodes) == CUDA_SUCCESS);
    CHECK(nodes == 0);
    CHECK(cu.graph_get_nodes(w.child, nullptr, &nodes) == invalid);  // it is gone
    CHECK(cu.graph_destroy(w.parent) == CUDA_SUCCESS);
    CHECK(cu.graph_destroy(other) == CUDA_SUCCESS);
    CHECK(w.f.live().size() == w.before);
  }
}

TEST_CASE("what cannot be moved into a graph", "[cpu][graph]") {
  child_fixture w;
  const CUgraph inner = w.create();
  CUgraph inside = nullptr;
  // A device moves these, and refuses to instantiate the circle.
  CHECK(w.add_child(w.parent, w.parent, move) == invalid);
  REQUIRE(w.add_child(w.child, inner, move) == CUDA_SUCCESS);
  CHECK(w.add_child(inner, w.child, move) == invalid);
  // Neither a copy inside of another graph, nor what has conditions.
  REQUIRE(w.add_child(w.parent, w.child, copy, &w.node) == CUDA_SUCCESS);
  REQUIRE(w.cu.graph_child_graph_node_get_graph(w.node, &inside) == CUDA_SUCCESS);
  CHECK(w.add_child(w.child, inside, move) == unsupported);
  // Other values than that for moving make a copy.
  for (const int other : {2, -1}) {
    CUgraphNodeParams params = w.child_params(w.child, copy);
    std::memcpy(&params.graph.ownership, &other, sizeof other);
    CHECK(w.add(w.parent, params) == CUDA_SUCCESS);
  }
  CHECK(w.cu.graph_destroy(w.child) == CUDA_SUCCESS);
  CHECK(w.cu.graph_destroy(w.parent) == CUDA_SUCCESS);
  CHECK(w.f.live().size() == w.before);
}

TEST_CASE("a graph that allocates memory is moved, not copied", "[cpu][graph]") {
  child_fixture w;
  const auto& cu = w.cu;
  CUdeviceptr memory = 0, more = 0;
  CUgraphNode allocation = nullptr;
  CUgraph clone = nullptr;
  CUgraphExec exec = nullptr;
  REQUIRE(w.add_allocation(w.child, memory, &allocation) == CUDA_SUCCESS);
  REQUIRE(w.add_free(w.child, memory, {allocation}) == CUDA_SUCCESS);
  CHECK(w.add_child(w.parent, w.child, copy) == unsupported);
  CHECK(w.add_child(w.parent, w.child, move, &w.node) == CUDA_SUCCESS);
  CHECK(w.calls_of(w.parent) == 0);
  CHECK(w.add_allocation(w.child, more) == unsupported);
  CHECK(w.add_call(w.child) == CUDA_SUCCESS);
  CHECK(w.calls_of(w.parent) == 1);
  CHECK(cu.graph_clone(&clone, w.parent) == unsupported);
  CHECK(cu.graph_clone(&clone, w.child) == unsupported);
  CHECK(cu.graph_destroy_node(w.node) == unsupported);
  CHECK(w.instantiate(w.parent, &exec) == CUDA_SUCCESS);
  CHECK(w.instantiate(w.parent) == unsupported);  // one at a time
  CUgraphExecUpdateResultInfo info{};
  CHECK(cu.graph_exec_update(exec, w.parent, &info) == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
  CHECK(cu.graph_destroy(w.parent) == CUDA_SUCCESS);
  CHECK(w.run(exec) == CUDA_SUCCESS);
  CHECK(cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
  CHECK(w.f.live().size() == w.before);
}

TEST_CASE("memory of a child is freed in the parent", "[cpu][graph]") {
  child_fixture w;
  CUdeviceptr memory = 0;
  CUgraphExec exec = nullptr;
  cuuint64_t held = 0;
  REQUIRE(w.add_allocation(w.child, memory) == CUDA_SUCCESS);
  REQUIRE(w.add_child(w.parent, w.child, move, &w.node) == CUDA_SUCCESS);
  CHECK(w.add_free(w.child, memory) == unsupported);
  CHECK(w.add_free(w.parent, memory, {w.node}) == CUDA_SUCCESS);
  CHECK(w.add_free(w.parent, memory) == invalid);
  REQUIRE(w.instantiate(w.parent, &exec) == CUDA_SUCCESS);
  CHECK(w.run(exec) == CUDA_SUCCESS);
  CHECK(w.cu.device_get_graph_mem_attribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &held) ==
        CUDA_SUCCESS);
  CHECK(held >= 1024);
  CHECK(w.run(exec) == CUDA_SUCCESS);
  CHECK(w.cu.device_graph_mem_trim(0) == CUDA_SUCCESS);
  CHECK(w.cu.device_get_graph_mem_attribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &held) ==
        CUDA_SUCCESS);
  CHECK(held == 0);
}

TEST_CASE("memory of a child is freed by the program", "[cpu][graph]") {
  for (const auto& mode : all_modes()) {
    child_fixture w(mode);
    CUdeviceptr memory = 0;
    CUgraphExec exec = nullptr;
    REQUIRE(w.add_allocation(w.child, memory) == CUDA_SUCCESS);
    REQUIRE(w.add_child(w.parent, w.child, move) == CUDA_SUCCESS);
    REQUIRE(w.instantiate(w.parent, &exec) == CUDA_SUCCESS);
    CHECK(w.run(exec) == CUDA_SUCCESS);
    CHECK(w.cu.memset_d8_async(memory, 1, 1024, w.stream) == CUDA_SUCCESS);
    CHECK(w.cu.mem_free_async(memory, w.stream) == CUDA_SUCCESS);
    CHECK(w.run(exec) == CUDA_SUCCESS);
    CHECK(w.run(exec) == invalid);
    CHECK(w.cu.mem_free_async(memory, w.stream) == CUDA_SUCCESS);
    CHECK(w.cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
    CHECK(w.cu.graph_destroy(w.parent) == CUDA_SUCCESS);
    CHECK(w.f.live().size() == w.before);
  }
}

TEST_CASE("a capture puts no memory into a child", "[cpu][graph]") {
  child_fixture w;
  CUdeviceptr memory = 0;
  CUgraph same = nullptr;
  REQUIRE(w.add_child(w.parent, w.child, move) == CUDA_SUCCESS);
  REQUIRE(w.cu.stream_begin_capture_to_graph(w.stream, w.child, nullptr, nullptr, 0,
                                             CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  CHECK(w.cu.mem_alloc_async(&memory, 64, w.stream) == unsupported);
  CHECK(w.cu.launch_host_func(w.stream, count, &w.calls) == CUDA_SUCCESS);
  CHECK(w.cu.stream_end_capture(w.stream, &same) == CUDA_SUCCESS);
  CHECK(w.calls_of(w.parent) == 1);
}

TEST_CASE("a child is given other work", "[cpu][graph]") {
  child_fixture w;
  const auto& cu = w.cu;
  CUgraphExec exec = nullptr;
  const CUgraph two = w.create(), moved = w.create(), alike = w.create(), other = w.create();
  REQUIRE(w.add_call(w.child) == CUDA_SUCCESS);
  for (const CUgraph each : {two, moved, alike})
    for (int i = 0; i < 2; ++i) REQUIRE(w.add_call(each) == CUDA_SUCCESS);
  REQUIRE(w.add_child(w.parent, w.child, move, &w.node) == CUDA_SUCCESS);
  CUgraphNodeParams params = w.child_params(two, copy);
  CHECK(cu.graph_node_set_params(w.node, &params) == CUDA_SUCCESS);
  CHECK(w.calls_of(w.parent) == 2);
  params = w.child_params(moved, move);
  CHECK(cu.graph_node_set_params(w.node, &params) == unsupported);  // a device spoils the parent
  CHECK(w.calls_of(w.parent) == 2);
  CHECK(cu.graph_destroy(w.parent) == CUDA_SUCCESS);
  w.parent = other;
  REQUIRE(w.add_child(w.parent, moved, move, &w.node) == CUDA_SUCCESS);
  REQUIRE(w.instantiate(w.parent, &exec) == CUDA_SUCCESS);
  params = w.child_params(two, move);
  CHECK(cu.graph_exec_node_set_params(exec, w.node, &params) == invalid);
  const CUgraph one = w.create();
  REQUIRE(w.add_call(one) == CUDA_SUCCESS);
  params = w.child_params(one, copy);
  CHECK(cu.graph_exec_node_set_params(exec, w.node, &params) ==
        CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);  // of another shape
  CUgraphNodeParams more{};
  more.type = CU_GRAPH_NODE_TYPE_EMPTY;
  REQUIRE(w.add(one, more) == CUDA_SUCCESS);
  CHECK(cu.graph_exec_node_set_params(exec, w.node, &params) ==
        CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);  // nor of other nodes
  params = w.child_params(alike, copy);
  CHECK(cu.graph_exec_node_set_params(exec, w.node, &params) == CUDA_SUCCESS);
  w.calls = 0;
  CHECK(w.run(exec) == CUDA_SUCCESS);
  CHECK(w.calls == 2);
  CHECK(cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
  for (const CUgraph each : {two, alike, one, w.parent})
    CHECK(cu.graph_destroy(each) == CUDA_SUCCESS);
  CHECK(w.f.live().size() == w.before);
}

}  // namespace cpu_graph_children_test
