// Edges of which the second kernel may begin before the first has ended, and the list of all edges.
// The kernels add where others may, so that their order does not matter.

#include "graph/graph_fixture.hpp"
#include "support/drivers.hpp"
#include "support/host_memory.hpp"
#include "support/noted_calls.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/graph/dependencies.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_edge.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/graph_results.hpp>
#include <gpu/graph/kernel_node.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/launch_attribute.hpp>
#include <gpu/kernel/module.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace graph_edge_test {

using gpu::graph_dependency;
using test::error_of;
using test::graph_fixture;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<gpu::graph_edge_list>);
static_assert(std::is_nothrow_move_constructible_v<gpu::graph_edge_list>);
static_assert(std::is_nothrow_move_assignable_v<gpu::graph_edge_list>);

namespace {

/// Returns what the second node of an edge waits for; fails the test if the edge does not exist.
graph_dependency dependency(const gpu::graph_ref& graph, gpu::graph_node from, gpu::graph_node to) {
  const gpu::graph_edge_list edges = value_of(graph.edges());
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (edges[i].from == from && edges[i].to == to) return edges[i].dependency;
  FAIL("there is no such edge");
  return graph_dependency::full;
}

gpu::cuda_error refused(const gpu::graph& graph, gpu::graph_node from, gpu::graph_node to,
                        graph_dependency dependency) {
  const test::noted_calls<&gpu::driver::entry_points::graph_add_dependencies> asked;
  const gpu::cuda_error error = error_of(graph.connect(from, to, dependency));
  CHECK(asked.count() == 0);
  CHECK(error == gpu::errc::invalid_argument);
  return error;
}

}  // namespace

TEST_CASE("graph: an edge tells what the second node waits for", "[graph]") {
  graph_fixture f;
  CHECK(value_of(f.graph.edges()).empty());
  const auto fill = value_of(f.graph.add({}, gpu::fill_node(f.x, 1u)));
  const auto a = value_of(f.graph.add(fill, f.adds(2)));
  const auto b = value_of(f.graph.add({}, f.adds(4)));
  const auto c = value_of(f.graph.add(fill, f.adds(8)));
  value_of(f.graph.connect(a, b, graph_dependency::programmatic));
  value_of(f.graph.connect(a, c, graph_dependency::launch_order));
  value_of(f.graph.connect(b, c, graph_dependency::full));
  CHECK(value_of(f.graph.edges()).size() == 5);
  CHECK(dependency(f.graph, fill, a) == graph_dependency::full);
  CHECK(dependency(f.graph, a, b) == graph_dependency::programmatic);
  CHECK(dependency(f.graph, a, c) == graph_dependency::launch_order);
  CHECK(dependency(f.graph, b, c) == graph_dependency::full);
  CHECK(value_of(gpu::dependencies_of(c)).size() == 3);
  CHECK(value_of(gpu::dependents_of(a)).size() == 2);
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 15);

  const gpu::graph clone = value_of(gpu::graph::clone(f.graph));
  const auto twin = value_of(clone.find_clone_of(a));
  CHECK(dependency(clone, twin, value_of(clone.find_clone_of(b))) ==
        graph_dependency::programmatic);
  value_of(f.graph.disconnect(a, b));
  CHECK(value_of(f.graph.edges()).size() == 4);
  CHECK(value_of(clone.edges()).size() == 5);
}

TEST_CASE("graph: an edge reaches the driver as it was asked for", "[graph]") {
  graph_fixture f;
  const auto a = value_of(f.graph.add({}, f.adds(1)));
  const auto b = value_of(f.graph.add({}, f.adds(1)));
  const auto told = [&](graph_dependency how) {
    value_of(f.graph.connect(a, b, how));
    CUgraphNode from = nullptr, to = nullptr;
    CUgraphEdgeData data{};
    std::size_t count = 1;
    REQUIRE(test::driver().graph_get_edges(f.graph.native(), &from, &to, &data, &count) ==
            CUDA_SUCCESS);
    REQUIRE(count == 1);
    CHECK((from == a.native() && to == b.native() && data.to_port == 0));
    value_of(f.graph.disconnect(a, b));
    return std::pair<int, int>(data.from_port, data.type);
  };
  CHECK(told(graph_dependency::full) ==
        std::pair<int, int>(CU_GRAPH_KERNEL_NODE_PORT_DEFAULT, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT));
  CHECK(told(graph_dependency::programmatic) ==
        std::pair<int, int>(CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                            CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC));
  CHECK(told(graph_dependency::launch_order) ==
        std::pair<int, int>(CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,
                            CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC));
}

TEST_CASE("graph: a dependency that nodes cannot have is refused", "[graph][refusals]") {
  graph_fixture f;
  const auto kernel = value_of(f.graph.add({}, f.adds(1)));
  const auto other = value_of(f.graph.add({}, f.adds(1)));
  const auto fill = value_of(f.graph.add({}, gpu::fill_node(f.x, 1u)));
  gpu::cuda_error error = refused(f.graph, kernel, fill, graph_dependency::programmatic);
  CHECK(says(error, "gpu::graph::connect", "a programmatic dependency", "two kernel nodes",
             "the second node is of kind fill", "gpu::graph_dependency::full"));
  CHECK(error.asked() == static_cast<std::uint64_t>(gpu::graph_node_kind::fill));
  error = refused(f.graph, fill, kernel, graph_dependency::launch_order);
  CHECK(says(error, "a launch_order dependency", "the first node is of kind fill"));
  error = refused(f.graph, kernel, other, static_cast<graph_dependency>(3));
  CHECK(says(error, "3 is not a valid gpu::graph_dependency"));
  CHECK(value_of(f.graph.edges()).empty());
  value_of(f.graph.connect(kernel, fill, graph_dependency::full));

  const auto empty = [&](const gpu::result<>& outcome, const char* what) {
    const gpu::cuda_error each = error_of(outcome);
    return each == gpu::errc::empty_handle && says(each, "gpu::graph::connect", what, "is empty");
  };
  constexpr auto programmatic = graph_dependency::programmatic;
  CHECK(empty(gpu::graph_ref{}.connect(kernel, other, programmatic), "graph"));
  CHECK(empty(f.graph.connect({}, other, programmatic), "graph node"));
  CHECK(empty(f.graph.connect(kernel, {}, programmatic), "graph node"));
  CHECK(says(error_of(gpu::graph_ref{}.edges()), "gpu::graph::edges", "graph is empty"));

  // The driver's own: there is an edge already.
  value_of(f.graph.connect(kernel, other));
  CHECK(error_of(f.graph.connect(kernel, other, programmatic)).code() == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("graph: an update does not take over another dependency", "[graph]") {
  graph_fixture f;
  const auto a = value_of(f.graph.add({}, f.adds(1)));
  const auto b = value_of(f.graph.add(a, f.adds(2)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  value_of(f.graph.disconnect(a, b));
  value_of(f.graph.connect(a, b, graph_dependency::programmatic));
  const gpu::cuda_error error = error_of(exec.update(f.graph));
  CHECK(error.code() == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  CHECK(error.asked() == static_cast<std::uint64_t>(gpu::graph_update_result::topology_changed));
  CHECK(says(error, "topology_changed", "instantiate the new graph"));
  CHECK(f.run(exec) == 3);
}

TEST_CASE("graph: a programmatic launch is captured with its dependency", "[graph][capture]") {
  graph_fixture f;
  gpu::launch_attributes attributes;
  value_of(attributes.set<gpu::launch_attribute::programmatic_stream_serialization>(true));
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 1u));
  value_of(
      gpu::launch(f.stream, {.grid = 1, .block = 1, .attributes = attributes}, f.add, f.x, 2u));
  value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 4u));
  const gpu::graph graph = value_of(capture.end());
  const gpu::graph_node_list nodes = value_of(graph.nodes());
  REQUIRE(nodes.size() == 3);
  CHECK(dependency(graph, nodes[0], nodes[1]) == graph_dependency::programmatic);
  CHECK(dependency(graph, nodes[1], nodes[2]) == graph_dependency::full);
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(graph))) == 7);
}

TEST_CASE("graph: edges are made and listed during a capture, which has none of it",
          "[graph][capture]") {
  graph_fixture f;
  const auto a = value_of(f.graph.add({}, f.adds(1)));
  const auto b = value_of(f.graph.add({}, f.adds(1)));
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(f.graph.connect(a, b, graph_dependency::programmatic));
  CHECK(value_of(f.graph.edges()).size() == 1);
  CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::active);
  CHECK(value_of(value_of(capture.end()).nodes()).empty());
}

TEST_CASE("graph: a list of edges is moved", "[graph]") {
  graph_fixture f;
  const auto a = value_of(f.graph.add({}, gpu::empty_node{}));
  const auto b = value_of(f.graph.add(a, gpu::empty_node{}));
  gpu::graph_edge_list edges = value_of(f.graph.edges());
  value_of(f.graph.add(b, gpu::empty_node{}));
  gpu::graph_edge_list both = value_of(f.graph.edges());
  CHECK(both.size() == 2);
  both = std::move(edges);
  REQUIRE(both.size() == 1);
  CHECK((both[0].from == a && both[0].to == b));
  CHECK(both[0].from.context() == f.graph.context());
  const gpu::graph_edge_list taken = std::move(both);
  CHECK(taken.size() == 1);
  CHECK(both.empty());
}

TEST_CASE("graph: each driver call about edges may fail", "[graph][faults][cpu]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const gpu::module code = GPU_TRY(gpu::module::load(test::graph_kernels));
          const auto kernel = GPU_TRY(code.kernel<>("fault"));
          const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
          const auto a = GPU_TRY(graph.add({}, gpu::kernel_node({1, 1}, kernel)));
          const auto b = GPU_TRY(graph.add({}, gpu::kernel_node({1, 1}, kernel)));
          GPU_TRY(graph.connect(a, b, graph_dependency::programmatic));
          GPU_TRY(graph.edges());
          GPU_TRY(gpu::dependencies_of(b));
          return graph.disconnect(a, b);
        }) == "");
}

TEST_CASE("graph: no room for edges on the host", "[graph][refusals][faults][cpu]") {
  CHECK(test::sweep_host_memory([]() -> gpu::result<> {
          const gpu::graph graph = GPU_TRY(gpu::graph::create(GPU_TRY(gpu::device::get(0))));
          const auto a = GPU_TRY(graph.add({}, gpu::empty_node{}));
          const auto b = GPU_TRY(graph.add(a, gpu::empty_node{}));
          GPU_TRY(graph.edges());
          GPU_TRY(gpu::dependencies_of(b));
          return {};
        }) == "");
  if (!test::failing_allocation::possible()) return;
  const test::own_cpu_driver driver;
  const gpu::graph graph = value_of(gpu::graph::create(test::first_device()));
  const auto a = value_of(graph.add({}, gpu::empty_node{}));
  value_of(graph.add(a, gpu::empty_node{}));
  for (const std::size_t which : {0u, 1u}) {
    const test::failing_allocation failing(which);
    const gpu::cuda_error error = error_of(graph.edges());
    CHECK(error == gpu::errc::out_of_host_memory);
    CHECK(says(error, "gpu::graph::edges", "a list of 1 edges", "free host memory"));
  }
}

}  // namespace graph_edge_test
