// Graphs whose events were destroyed, through the driver's own interface. (Those whose code was
// unloaded are in graph_kernels_test.cpp.)

#include "driver_fixture.hpp"

#include <string>

namespace cpu_graph_needs_test {

using test::all_modes;
using test::driver_fixture;

namespace {

struct event_fixture {
  explicit event_fixture(const gpu::testing::cpu_driver_options& options = test::without_places())
      : f(options) {
    REQUIRE(cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(cu.event_create(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    REQUIRE(cu.graph_create(&graph, 0) == CUDA_SUCCESS);
  }

  CUgraphNode add(CUgraph to, CUgraphNodeType type) const {
    CUgraphNode node = nullptr;
    CUgraphNodeParams params{};
    params.type = type;
    (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ? params.eventRecord.event : params.eventWait.event) =
        event;
    REQUIRE(cu.graph_add_node(&node, to, nullptr, nullptr, 0, &params) == CUDA_SUCCESS);
    return node;
  }
  CUgraphExec instantiate(CUgraph of, int expected = CUDA_SUCCESS) const {
    CUgraphExec exec = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    CHECK(cu.graph_instantiate_with_params(&exec, of, &params) == expected);
    return exec;
  }

  driver_fixture f;
  const gpu::driver::entry_points& cu = f.cu;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUgraph graph = nullptr;
};

TEST_CASE("cpu driver: nodes tell which event they record or wait for", "[testing][cpu][graph]") {
  event_fixture e;
  const CUgraphNode record = e.add(e.graph, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  const CUgraphNode wait = e.add(e.graph, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  CUevent told = nullptr;
  CHECK(e.cu.graph_event_record_node_get_event(record, &told) == CUDA_SUCCESS);
  CHECK(told == e.event);
  told = nullptr;
  CHECK(e.cu.graph_event_wait_node_get_event(wait, &told) == CUDA_SUCCESS);
  CHECK(told == e.event);
  CHECK(e.cu.graph_event_record_node_get_event(wait, &told) == CUDA_ERROR_INVALID_VALUE);
  CHECK(e.cu.graph_event_wait_node_get_event(record, &told) == CUDA_ERROR_INVALID_VALUE);
  CHECK(e.cu.graph_event_wait_node_get_event(wait, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(e.cu.graph_event_wait_node_get_event(nullptr, &told) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("cpu driver: graphs whose event was destroyed are neither made ready nor launched",
          "[testing][cpu][graph]") {
  for (const auto& mode : all_modes()) {
    for (const bool records : {true, false}) {
      event_fixture e(mode);
      e.add(e.graph, records ? CU_GRAPH_NODE_TYPE_EVENT_RECORD : CU_GRAPH_NODE_TYPE_WAIT_EVENT);
      CUgraph parent = nullptr;
      CUgraphNode inside = nullptr;
      CUgraphNodeParams child{};
      REQUIRE(e.cu.graph_create(&parent, 0) == CUDA_SUCCESS);
      child.type = CU_GRAPH_NODE_TYPE_GRAPH;
      child.graph.graph = e.graph;
      REQUIRE(e.cu.graph_add_node(&inside, parent, nullptr, nullptr, 0, &child) == CUDA_SUCCESS);
      const CUgraphExec exec = e.instantiate(e.graph);
      const CUgraphExec outer = e.instantiate(parent);
      REQUIRE(e.cu.graph_launch(exec, e.stream) == CUDA_SUCCESS);
      REQUIRE(e.cu.event_destroy(e.event) == CUDA_SUCCESS);
      CHECK(e.cu.stream_synchronize(e.stream) == CUDA_SUCCESS);

      CHECK(e.cu.graph_launch(exec, e.stream) == CUDA_ERROR_INVALID_HANDLE);
      const char* sentence =
          records ? "the graph has a node that records an event that was destroyed"
                  : "the graph has a node that waits for an event that was destroyed";
      CHECK(e.f.reports().find(sentence) != std::string::npos);
      CHECK(e.cu.graph_launch(outer, e.stream) == CUDA_ERROR_INVALID_HANDLE);
      CHECK(e.instantiate(e.graph, CUDA_ERROR_INVALID_HANDLE) == nullptr);
      CHECK(e.instantiate(parent, CUDA_ERROR_INVALID_HANDLE) == nullptr);
      CUgraphExecUpdateResultInfo info{};
      CHECK(e.cu.graph_exec_update(exec, e.graph, &info) == CUDA_ERROR_INVALID_HANDLE);
      CHECK(e.cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
      CHECK(e.cu.graph_exec_destroy(outer) == CUDA_SUCCESS);
      CHECK(e.cu.graph_destroy(parent) == CUDA_SUCCESS);
      CHECK(e.cu.graph_destroy(e.graph) == CUDA_SUCCESS);
    }
  }
}

}  // namespace
}  // namespace cpu_graph_needs_test
