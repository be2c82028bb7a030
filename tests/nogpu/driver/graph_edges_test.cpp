// Edges with data, and captures that make them, through the driver's own interface. The codes are
// those that an H200 gave for the same calls.

#include "driver_fixture.hpp"

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace cpu_graph_edges_test {

using test::driver_fixture;

namespace {

constexpr const char* one = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry one(.param .u64 p) {
  .reg .b64 %a; .reg .b32 %x;
  ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a;
  ld.global.u32 %x, [%a]; add.u32 %x, %x, 1; st.global.u32 [%a], %x; ret;
}
)";

constexpr auto invalid = CUDA_ERROR_INVALID_VALUE;

constexpr CUgraphEdgeData data(unsigned char from, unsigned char to, unsigned char type,
                               unsigned char reserved = 0) {
  CUgraphEdgeData edge{};
  edge.from_port = from;
  edge.to_port = to;
  edge.type = type;
  edge.reserved[4] = reserved;
  return edge;
}
constexpr CUgraphEdgeData programmatic = data(1, 0, 1), launch_order = data(2, 0, 1);

bool same(const CUgraphEdgeData& a, const CUgraphEdgeData& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// A graph with two kernels and a fill, a, b and m, and no edges.
struct edge_fixture {
  edge_fixture() {
    CUlibrary library = nullptr;
    REQUIRE(cu.library_load_data(&library, one, nullptr, nullptr, 0, nullptr, nullptr, 0) ==
            CUDA_SUCCESS);
    REQUIRE(cu.library_get_kernel(&kernel, library, "one") == CUDA_SUCCESS);
    REQUIRE(cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(cu.mem_alloc(&memory, 64) == CUDA_SUCCESS);
    REQUIRE(cu.memset_d32(memory, 0, 16) == CUDA_SUCCESS);
    graph = create();
    REQUIRE(add_kernel(a, graph) == CUDA_SUCCESS);
    REQUIRE(add_kernel(b, graph) == CUDA_SUCCESS);
    REQUIRE(add_fill(m, graph) == CUDA_SUCCESS);
  }

  CUgraph create() const {
    CUgraph made = nullptr;
    REQUIRE(cu.graph_create(&made, 0) == CUDA_SUCCESS);
    return made;
  }
  CUresult add_kernel(CUgraphNode& node, CUgraph to, std::vector<CUgraphNode> after = {},
                      const CUgraphEdgeData* edges = nullptr) {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    params.kernel.kern = kernel;
    params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
    params.kernel.blockDimX = params.kernel.blockDimY = params.kernel.blockDimZ = 1;
    params.kernel.kernelParams = arguments;
    params.kernel.ctx = f.context;
    return cu.graph_add_node(&node, to, after.data(), edges, after.size(), &params);
  }
  CUresult add_fill(CUgraphNode& node, CUgraph to, std::vector<CUgraphNode> after = {},
                    const CUgraphEdgeData* edges = nullptr) const {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_MEMSET;
    params.memset = {memory + 4, 0, 3, 4, 1, 1, f.context};
    return cu.graph_add_node(&node, to, after.data(), edges, after.size(), &params);
  }
  CUresult connect(CUgraphNode from, CUgraphNode to, const CUgraphEdgeData* edge) const {
    return cu.graph_add_dependencies(graph, &from, &to, edge, 1);
  }
  CUresult disconnect(CUgraphNode from, CUgraphNode to, const CUgraphEdgeData* edge) const {
    return cu.graph_remove_dependencies(graph, &from, &to, edge, 1);
  }
  /// The data of all edges.
  std::vector<CUgraphEdgeData> edges(CUgraph of) const {
    CUgraphNode from[8], to[8];
    std::vector<CUgraphEdgeData> all(8);
    std::size_t count = 8;
    REQUIRE(cu.graph_get_edges(of, from, to, all.data(), &count) == CUDA_SUCCESS);
    for (std::size_t i = count; i < all.size(); ++i) CHECK(same(all[i], {}));
    all.resize(count);
    return all;
  }
  CUgraphExec instantiate(CUgraph from) const {
    CUgraphExec exec = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    REQUIRE(cu.graph_instantiate_with_params(&exec, from, &params) == CUDA_SUCCESS);
    return exec;
  }
  unsigned run(CUgraphExec exec) const {
    unsigned value = 0;
    REQUIRE(cu.memset_d32(memory, 0, 1) == CUDA_SUCCESS);
    REQUIRE(cu.graph_launch(exec, stream) == CUDA_SUCCESS);
    REQUIRE(cu.stream_synchronize(stream) == CUDA_SUCCESS);
    REQUIRE(cu.memcpy_dtoh(&value, memory, sizeof value) == CUDA_SUCCESS);
    return value;
  }

  driver_fixture f;
  const gpu::driver::entry_points& cu = f.cu;
  CUkernel kernel = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  void* arguments[1] = {&memory};
  CUgraph graph = nullptr;
  CUgraphNode a = nullptr, b = nullptr, m = nullptr;
};

}  // namespace

TEST_CASE("an edge has data that its nodes allow", "[cpu][graph]") {
  edge_fixture w;
  const auto answer = [&](CUgraphNode from, CUgraphNode to, CUgraphEdgeData edge) {
    const CUresult added = w.connect(from, to, &edge);
    CHECK(w.edges(w.graph).size() == (added == CUDA_SUCCESS ? 1 : 0));
    if (added == CUDA_SUCCESS) CHECK(w.disconnect(from, to, nullptr) == CUDA_SUCCESS);
    return added;
  };
  CHECK(answer(w.a, w.b, data(0, 0, 0)) == CUDA_SUCCESS);
  CHECK(answer(w.a, w.b, programmatic) == CUDA_SUCCESS);
  CHECK(answer(w.a, w.b, launch_order) == CUDA_SUCCESS);
  CHECK(answer(w.a, w.b, data(2, 0, 0)) == CUDA_SUCCESS);
  CHECK(answer(w.a, w.m, data(0, 0, 0)) == CUDA_SUCCESS);
  for (const CUgraphEdgeData& each : {data(1, 0, 0), data(0, 0, 1), data(3, 0, 1), data(1, 1, 1),
                                      data(1, 0, 2), data(1, 0, 1, 1), data(0, 0, 0, 1)})
    CHECK(answer(w.a, w.b, each) == invalid);
  for (const CUgraphEdgeData& each : {programmatic, launch_order, data(1, 0, 0)}) {
    CHECK(answer(w.a, w.m, each) == invalid);
    CHECK(answer(w.m, w.b, each) == invalid);
  }
}

TEST_CASE("there is one edge from a node to another, whatever its data", "[cpu][graph]") {
  edge_fixture w;
  REQUIRE(w.connect(w.a, w.b, &programmatic) == CUDA_SUCCESS);
  for (const CUgraphEdgeData* each :
       {&programmatic, &launch_order, static_cast<const CUgraphEdgeData*>(nullptr)})
    CHECK(w.connect(w.a, w.b, each) == invalid);
  CHECK(w.disconnect(w.a, w.b, &launch_order) == invalid);
  CHECK(w.edges(w.graph).size() == 1);
  CHECK(w.disconnect(w.a, w.b, &programmatic) == CUDA_SUCCESS);
  CHECK(w.edges(w.graph).empty());
}

TEST_CASE("data of edges is told, and not left out", "[cpu][graph]") {
  edge_fixture w;
  const auto& cu = w.cu;
  CUgraphNode from[8], to[8];
  CUgraphEdgeData edges[8];
  std::size_t count = 8;
  REQUIRE(w.connect(w.a, w.m, nullptr) == CUDA_SUCCESS);
  CHECK(cu.graph_get_edges(w.graph, from, to, nullptr, &count) == CUDA_SUCCESS);
  REQUIRE(w.connect(w.a, w.b, &programmatic) == CUDA_SUCCESS);
  count = 8;
  CHECK(cu.graph_get_edges(w.graph, from, to, nullptr, &count) == CUDA_ERROR_LOSSY_QUERY);
  CHECK(cu.graph_get_edges(w.graph, nullptr, nullptr, nullptr, &count) == CUDA_SUCCESS);
  CHECK(count == 2);
  CHECK(cu.graph_get_edges(w.graph, from, to, edges, &count) == CUDA_SUCCESS);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(from[i] == w.a);
    CHECK(same(edges[i], to[i] == w.b ? programmatic : CUgraphEdgeData{}));
  }
  count = 8;
  CHECK(cu.graph_node_get_dependencies(w.b, from, nullptr, &count) == CUDA_ERROR_LOSSY_QUERY);
  CHECK(cu.graph_node_get_dependencies(w.b, from, edges, &count) == CUDA_SUCCESS);
  CHECK(count == 1);
  CHECK(same(edges[0], programmatic));
  CHECK(same(edges[1], {}));
  count = 8;
  CHECK(cu.graph_node_get_dependencies(w.m, from, nullptr, &count) == CUDA_SUCCESS);
  count = 8;
  CHECK(cu.graph_node_get_dependent_nodes(w.a, to, nullptr, &count) == CUDA_ERROR_LOSSY_QUERY);
  CHECK(cu.graph_node_get_dependent_nodes(w.a, to, edges, &count) == CUDA_SUCCESS);
  CHECK(count == 2);
  CHECK(same(edges[to[0] == w.b ? 0 : 1], programmatic));
}

TEST_CASE("a clone has the data of edges, and a new node brings its own", "[cpu][graph]") {
  edge_fixture w;
  CUgraph clone = nullptr;
  CUgraphNode made = nullptr;
  REQUIRE(w.connect(w.a, w.b, &launch_order) == CUDA_SUCCESS);
  REQUIRE(w.cu.graph_clone(&clone, w.graph) == CUDA_SUCCESS);
  REQUIRE(w.edges(clone).size() == 1);
  CHECK(same(w.edges(clone)[0], launch_order));

  const CUgraphEdgeData two[] = {programmatic, {}};
  CHECK(w.add_kernel(made, clone, {w.b, w.m}, two) == invalid);  // of another graph
  CHECK(w.add_kernel(made, w.graph, {w.b, w.m}, two) == CUDA_SUCCESS);
  CHECK(w.edges(w.graph).size() == 3);
  CHECK(w.add_fill(made, w.graph, {w.a}, two) == invalid);
  CHECK(w.add_kernel(made, w.graph, {w.m}, two) == invalid);
  std::size_t nodes = 0;
  CHECK(w.cu.graph_get_nodes(w.graph, nullptr, &nodes) == CUDA_SUCCESS);
  CHECK(nodes == 4);
  CHECK(w.run(w.instantiate(w.graph)) == 3);
}

TEST_CASE("an update with other data of an edge is refused", "[cpu][graph]") {
  edge_fixture w;
  CUgraph other = nullptr;
  REQUIRE(w.connect(w.a, w.b, nullptr) == CUDA_SUCCESS);
  const CUgraphExec exec = w.instantiate(w.graph);
  REQUIRE(w.disconnect(w.a, w.b, nullptr) == CUDA_SUCCESS);
  REQUIRE(w.connect(w.a, w.b, &programmatic) == CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo info{};
  CHECK(w.cu.graph_exec_update(exec, w.graph, &info) == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  CHECK(info.errorNode == w.b);
  CHECK(w.run(exec) == 2);
  REQUIRE(w.cu.graph_clone(&other, w.graph) == CUDA_SUCCESS);
  CHECK(w.cu.graph_exec_update(w.instantiate(w.graph), other, &info) == CUDA_SUCCESS);
}

TEST_CASE("a capture makes programmatic edges of programmatic launches", "[cpu][graph]") {
  edge_fixture w;
  const auto& cu = w.cu;
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = w.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const auto launch = [&](bool allowed) {
    attribute.value.programmaticStreamSerializationAllowed = allowed ? 1 : 0;
    return cu.launch_kernel_ex(&config, reinterpret_cast<CUfunction>(w.kernel), w.arguments,
                               nullptr);
  };
  CUgraph captured = nullptr;
  REQUIRE(cu.stream_begin_capture(w.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) == CUDA_SUCCESS);
  CHECK(cu.memset_d32_async(w.memory, 0, 1, w.stream) == CUDA_SUCCESS);
  CHECK(launch(true) == CUDA_SUCCESS);  // behind a fill
  CHECK(launch(true) == CUDA_SUCCESS);
  CHECK(launch(false) == CUDA_SUCCESS);
  REQUIRE(cu.stream_end_capture(w.stream, &captured) == CUDA_SUCCESS);
  const std::vector<CUgraphEdgeData> made = w.edges(captured);
  REQUIRE(made.size() == 3);
  CHECK(same(made[0], {}));
  CHECK(same(made[1], programmatic));
  CHECK(same(made[2], {}));
  CHECK(w.run(w.instantiate(captured)) == 3);
}

TEST_CASE("a capture goes on after edges with data that the program gives it", "[cpu][graph]") {
  edge_fixture w;
  const auto& cu = w.cu;
  CUstreamCaptureStatus status{};
  const CUgraphNode* after = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  const auto told = [&](const CUgraphEdgeData** where) {
    return cu.stream_get_capture_info(w.stream, &status, nullptr, nullptr, &after, where, &count);
  };
  const auto launch = [&] {
    return cu.launch_kernel(reinterpret_cast<CUfunction>(w.kernel), 1, 1, 1, 1, 1, 1, 0, w.stream,
                            w.arguments, nullptr);
  };
  CUgraph captured = nullptr;
  REQUIRE(cu.stream_begin_capture(w.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) == CUDA_SUCCESS);
  CHECK(launch() == CUDA_SUCCESS);
  CHECK(told(nullptr) == CUDA_SUCCESS);
  CHECK(told(&edges) == CUDA_SUCCESS);
  REQUIRE(count == 1);
  CUgraphNode first = after[0];
  const auto go_on_after = [&] {
    CUgraphEdgeData edge = programmatic;
    return cu.stream_update_capture_dependencies(w.stream, &first, &edge, 1,
                                                 CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  };
  CHECK(go_on_after() == CUDA_SUCCESS);
  CHECK(told(nullptr) == CUDA_ERROR_LOSSY_QUERY);
  CHECK(told(&edges) == CUDA_SUCCESS);
  REQUIRE(count == 1);
  REQUIRE(edges != nullptr);
  CHECK(same(edges[0], programmatic));
  CHECK(cu.memset_d32_async(w.memory + 4, 0, 1, w.stream) == CUDA_SUCCESS);  // as on an H200
  CHECK(go_on_after() == CUDA_SUCCESS);
  CHECK(launch() == CUDA_SUCCESS);
  REQUIRE(cu.stream_end_capture(w.stream, &captured) == CUDA_SUCCESS);
  REQUIRE(w.edges(captured).size() == 2);
  for (const CUgraphEdgeData& each : w.edges(captured)) CHECK(same(each, programmatic));
}

TEST_CASE("a capture begins after edges with data that a kernel can have", "[cpu][graph]") {
  edge_fixture w;
  const auto& cu = w.cu;
  CUgraph captured = nullptr;
  const auto capture = [&](std::vector<CUgraphNode> after, std::vector<CUgraphEdgeData> edges) {
    const CUresult begun =
        cu.stream_begin_capture_to_graph(w.stream, w.graph, after.data(), edges.data(),
                                         after.size(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (begun != CUDA_SUCCESS) return begun;
    CHECK(cu.launch_kernel(reinterpret_cast<CUfunction>(w.kernel), 1, 1, 1, 1, 1, 1, 0, w.stream,
                           w.arguments, nullptr) == CUDA_SUCCESS);
    return cu.stream_end_capture(w.stream, &captured);
  };
  CHECK(capture({w.a}, {{}}) == CUDA_SUCCESS);
  CHECK(capture({w.a}, {programmatic}) == CUDA_SUCCESS);
  CHECK(capture({w.a}, {launch_order}) == CUDA_SUCCESS);
  CHECK(capture({w.a, w.m}, {programmatic, {}}) == CUDA_SUCCESS);
  CHECK(w.edges(w.graph).size() == 5);
  CHECK(capture({w.m}, {programmatic}) == invalid);
  for (const CUgraphEdgeData& each : {data(1, 0, 2), data(3, 0, 1), data(1, 0, 0), data(0, 0, 1),
                                      data(1, 1, 1), data(1, 0, 1, 1)})
    CHECK(capture({w.a}, {each}) == invalid);
  CHECK(capture({w.a, w.a}, {programmatic, {}}) == CUDA_SUCCESS);  // one edge, the stricter
  const std::vector<CUgraphEdgeData> all = w.edges(w.graph);
  REQUIRE(all.size() == 6);
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK(same(all[i], i == 1 || i == 3 ? programmatic : i == 2 ? launch_order : data(0, 0, 0)));
  CHECK(w.run(w.instantiate(w.graph)) == 7);
}

TEST_CASE("what a capture goes on after is told with the data of the edges", "[cpu][graph]") {
  edge_fixture w;
  const auto& cu = w.cu;
  CUgraph captured = nullptr;
  constexpr auto add = CU_STREAM_ADD_CAPTURE_DEPENDENCIES;
  constexpr auto set = CU_STREAM_SET_CAPTURE_DEPENDENCIES;
  using list = std::vector<std::pair<CUgraphNode, CUgraphEdgeData>>;
  const auto update = [&](const list& nodes, unsigned how, bool with_data = true) {
    std::vector<CUgraphNode> handles;
    std::vector<CUgraphEdgeData> edges;
    for (const auto& [node, edge] : nodes) {
      handles.push_back(node);
      edges.push_back(edge);
    }
    return cu.stream_update_capture_dependencies(
        w.stream, handles.data(), with_data ? edges.data() : nullptr, nodes.size(), how);
  };
  const auto are = [&](const list& expected, CUstream stream) {
    CUstreamCaptureStatus status{};
    const CUgraphNode* after = nullptr;
    const CUgraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    REQUIRE(cu.stream_get_capture_info(stream, &status, nullptr, nullptr, &after, &edges, &count) ==
            CUDA_SUCCESS);
    if (count != expected.size()) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (after[i] != expected[i].first || !same(edges[i], expected[i].second)) return false;
    return true;
  };
  const CUgraphEdgeData plain{};
  REQUIRE(cu.stream_begin_capture_to_graph(w.stream, w.graph, &w.a, nullptr, 1,
                                           CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) == CUDA_SUCCESS);
  CHECK(are({{w.a, plain}}, w.stream));
  CHECK(update({{w.a, programmatic}}, set) == CUDA_SUCCESS);
  CHECK(are({{w.a, programmatic}}, w.stream));
  CHECK(update({{w.a, plain}}, add, false) == CUDA_SUCCESS);
  CHECK(are({{w.a, plain}}, w.stream));
  CHECK(update({{w.b, programmatic}}, add) == CUDA_SUCCESS);
  CHECK(update({{w.m, plain}}, add, false) == CUDA_SUCCESS);
  CHECK(update({{w.b, launch_order}}, add) == CUDA_SUCCESS);
  const list three = {{w.a, plain}, {w.b, programmatic}, {w.m, plain}};
  CHECK(are(three, w.stream));
  CHECK(update({{w.m, programmatic}}, set) == invalid);
  for (const CUgraphEdgeData& each : {data(1, 0, 2), data(3, 0, 1), data(1, 0, 0), data(0, 0, 1),
                                      data(1, 1, 1), data(1, 0, 1, 1)})
    CHECK(update({{w.a, each}}, set) == invalid);
  CHECK(are(three, w.stream));
  CHECK(update({{w.a, programmatic}, {w.a, plain}}, set) == CUDA_SUCCESS);
  CHECK(are({{w.a, plain}}, w.stream));
  CHECK(update({}, set) == CUDA_SUCCESS);
  CHECK(are({}, w.stream));

  // Events take it along to other streams.
  CUstream other = nullptr;
  CUevent event = nullptr;
  REQUIRE(cu.stream_create(&other, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(cu.event_create(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
  const list mixed = {{w.a, programmatic}, {w.m, plain}};
  CHECK(update(mixed, set) == CUDA_SUCCESS);
  CHECK(cu.event_record_with_flags(event, w.stream, 0) == CUDA_SUCCESS);
  CHECK(cu.stream_wait_event(other, event, 0) == CUDA_SUCCESS);
  CHECK(are(mixed, other));
  CHECK(cu.stream_end_capture(w.stream, &captured) == CUDA_SUCCESS);
}

}  // namespace cpu_graph_edges_test
