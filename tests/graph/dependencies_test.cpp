// Nodes that come before another one, and what it waits for of each of them.

#include "graph/graph_fixture.hpp"
#include "support/drivers.hpp"
#include "support/host_memory.hpp"
#include "support/noted_calls.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/dependencies.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/kernel_node.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/kernel/module.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace dependencies_test {

using gpu::dependencies;
using gpu::graph_dependency;
using test::error_of;
using test::graph_fixture;
using test::says;
using test::value_of;

constexpr auto programmatic = graph_dependency::programmatic;
constexpr auto launch_order = graph_dependency::launch_order;
constexpr auto full = graph_dependency::full;

static_assert(!std::is_copy_constructible_v<dependencies>);
static_assert(std::is_nothrow_move_constructible_v<dependencies>);
static_assert(std::is_nothrow_move_assignable_v<dependencies>);

namespace {

/// Names a node that is nowhere.
gpu::graph_node node(std::uintptr_t number) {
  return gpu::graph_node::from_native(reinterpret_cast<CUgraphNode>(number), {});
}

/// Returns the numbers of the nodes, and the port of the edge from each, as in "1:0 2:1".
std::string text(const dependencies& nodes) {
  std::string out;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const gpu::node_dependency each = nodes[i];
    CHECK(each.node.native() == nodes.native()[i]);
    if (i != 0) out += ' ';
    out += std::to_string(reinterpret_cast<std::uintptr_t>(each.node.native())) + ':' +
           std::to_string(static_cast<int>(each.dependency));
  }
  return out;
}

/// The data of the one edge between two nodes, as the driver has it: port, port, type.
std::string edge(CUgraph graph, gpu::graph_node from, gpu::graph_node to) {
  CUgraphNode first[32], second[32];
  CUgraphEdgeData data[32];
  std::size_t count = 32;
  REQUIRE(test::driver().graph_get_edges(graph, first, second, data, &count) == CUDA_SUCCESS);
  std::string found;
  for (std::size_t i = 0; i < count; ++i) {
    if (first[i] != from.native() || second[i] != to.native()) continue;
    for (const int each : {+data[i].from_port, +data[i].to_port, +data[i].type})
      found += std::to_string(each);
  }
  return found;
}

}  // namespace

TEST_CASE("graph: nodes before another one are named in few ways", "[graph]") {
  CHECK(text({}) == "");
  CHECK(dependencies{}.empty());
  CHECK(text(node(1)) == "1:0");
  CHECK(text({node(1), node(2)}) == "1:0 2:0");
  CHECK(text({node(1), programmatic}) == "1:1");
  CHECK(text({{node(1), programmatic}}) == "1:1");
  CHECK(text({{node(1), programmatic}, node(2), {node(3), launch_order}}) == "1:1 2:0 3:2");
  CHECK(dependencies{node(1), node(2)}.native_edges() == nullptr);
  CHECK(dependencies{{node(1), full}, node(2)}.native_edges() == nullptr);
  const gpu::context_ref context = value_of(gpu::context::primary(test::first_device()));
  const auto in_context = gpu::graph_node::from_native(node(1).native(), context);
  CHECK(dependencies{in_context}[0].node.context() == context);
  CHECK(dependencies{in_context, programmatic}[0].node.context() == context);
  const dependencies mixed{{node(1), programmatic}, node(2), {node(3), launch_order}};
  const CUgraphEdgeData* const data = mixed.native_edges();
  REQUIRE(data != nullptr);
  CHECK((data[0].from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC && data[0].to_port == 0 &&
         data[0].type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC));
  CHECK((data[1].from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT && data[1].to_port == 0 &&
         data[1].type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT));
  CHECK((data[2].from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER && data[2].to_port == 0 &&
         data[2].type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC));
}

TEST_CASE("graph: nodes before another one are moved, few and many", "[graph]") {
  const std::string many = "1:1 2:0 3:0 4:0 5:0 6:0 7:0 8:0 9:2";
  dependencies nine{
      {node(1), programmatic}, node(2), node(3), node(4), node(5), node(6), node(7), node(8),
      {node(9), launch_order}};
  CHECK(text(nine) == many);
  dependencies two{node(1), node(2)};
  dependencies taken = std::move(nine);
  CHECK(text(taken) == many);
  CHECK(nine.empty());
  CHECK(nine.native_edges() == nullptr);
  nine = std::move(two);
  CHECK(text(nine) == "1:0 2:0");
  CHECK(nine.native_edges() == nullptr);
  nine = std::move(taken);
  CHECK(text(nine) == many);
  CHECK(nine.native_edges() != nullptr);
  nine = dependencies{};
  CHECK(nine.empty());
}

TEST_CASE("graph: nodes before another one are those that the driver told", "[graph]") {
  graph_fixture f;
  const CUgraphNode nodes[] = {node(1).native(), node(2).native()};
  CUgraphEdgeData edges[2]{};
  edges[1].from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
  edges[1].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  const dependencies told = dependencies::from_native(nodes, edges, 2, f.stream.context());
  CHECK(text(told) == "1:0 2:2");
  CHECK(told[1].node.context() == f.stream.context());
  CHECK(text(dependencies::from_native(nodes, nullptr, 2, f.stream.context())) == "1:0 2:0");
}

TEST_CASE("graph: a new node waits for what it is told of each node before it", "[graph]") {
  graph_fixture f;
  const auto fill = value_of(f.graph.add({}, gpu::fill_node(f.x, 1u)));
  const auto a = value_of(f.graph.add(fill, f.adds(2)));
  const auto b = value_of(f.graph.add({a, programmatic}, f.adds(4)));
  const auto c =
      value_of(f.graph.add({{a, launch_order}, {b, programmatic}, {fill, full}}, f.adds(8)));
  CHECK(edge(f.graph.native(), fill, a) == "000");
  CHECK(edge(f.graph.native(), a, b) == "101");
  CHECK(edge(f.graph.native(), a, c) == "201");
  CHECK(edge(f.graph.native(), b, c) == "101");
  CHECK(edge(f.graph.native(), fill, c) == "000");
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 15);
  // A list of nodes is waited for to the end.
  const auto d = value_of(f.graph.add(value_of(gpu::dependents_of(a)), gpu::empty_node{}));
  CHECK(edge(f.graph.native(), b, d) == "000");
  CHECK(edge(f.graph.native(), c, d) == "000");
}

TEST_CASE("graph: a node comes after many others, of which it waits for different things",
          "[graph]") {
  graph_fixture f;
  gpu::graph_node k[9];
  for (gpu::graph_node& each : k) each = value_of(f.graph.add({}, f.adds(1)));
  const auto last = value_of(f.graph.add(
      {k[0], {k[1], programmatic}, k[2], k[3], k[4], k[5], k[6], k[7], {k[8], launch_order}},
      f.adds(1)));
  CHECK(edge(f.graph.native(), k[0], last) == "000");
  CHECK(edge(f.graph.native(), k[1], last) == "101");
  CHECK(edge(f.graph.native(), k[8], last) == "201");
  CHECK(value_of(gpu::dependencies_of(last)).size() == 9);
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 10);
}

TEST_CASE("graph: a new node is refused what it cannot wait for", "[graph][refusals]") {
  graph_fixture f;
  const auto kernel = value_of(f.graph.add({}, f.adds(1)));
  const auto fill = value_of(f.graph.add({}, gpu::fill_node(f.x, 1u)));
  {
    const test::noted_calls<&gpu::driver::entry_points::graph_add_node> asked;
    gpu::cuda_error error = error_of(f.graph.add({kernel, programmatic}, gpu::fill_node(f.x, 2u)));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error, "gpu::graph::add", "a programmatic dependency", "two kernel nodes",
               "the second node is of kind fill", "use gpu::graph_dependency::full"));
    CHECK(error.asked() == static_cast<std::uint64_t>(gpu::graph_node_kind::fill));
    error = error_of(f.graph.add({kernel, {fill, launch_order}}, f.adds(1)));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error, "gpu::graph::add", "a launch_order dependency",
               "the first node is of kind fill"));
    for (const int wrong : {3, -1, 256, 257}) {
      error = error_of(f.graph.add({kernel, static_cast<graph_dependency>(wrong)}, f.adds(1)));
      CHECK(error == gpu::errc::invalid_argument);
      CHECK(says(error, "gpu::graph::add",
                 (std::to_string(wrong) + " is not a valid gpu::graph_dependency").c_str()));
    }
    error = error_of(f.graph.add({{kernel, programmatic}, {{}, programmatic}}, f.adds(1)));
    CHECK(error == gpu::errc::empty_handle);
    CHECK(says(error, "gpu::graph::add", "graph node", "is empty"));
    CHECK(asked.count() == 0);
  }
  CHECK(value_of(f.graph.nodes()).size() == 2);
  value_of(f.graph.add({{kernel, full}, fill}, gpu::fill_node(f.x, 2u)));
}

TEST_CASE("graph: a node is added after dependencies during a capture, which has none of it",
          "[graph][capture]") {
  graph_fixture f;
  const auto a = value_of(f.graph.add({}, f.adds(1)));
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(f.graph.add({a, programmatic}, f.adds(2)));
  CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::active);
  CHECK(value_of(value_of(capture.end()).nodes()).empty());
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 3);
}

TEST_CASE("graph: each driver call about dependencies may fail", "[graph][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              const gpu::module code = GPU_TRY(gpu::module::load(test::graph_kernels));
              const auto kernel = GPU_TRY(code.kernel<>("fault"));
              const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
              const auto a = GPU_TRY(graph.add({}, gpu::kernel_node({1, 1}, kernel)));
              const auto b =
                  GPU_TRY(graph.add({a, programmatic}, gpu::kernel_node({1, 1}, kernel)));
              auto capture = GPU_TRY(gpu::stream_capture::begin(stream, graph, {b, programmatic}));
              GPU_TRY(gpu::add_capture_dependencies(stream, {a, programmatic}));
              const gpu::capture_info info = GPU_TRY(gpu::capture_of(stream));
              GPU_TRY(gpu::set_capture_dependencies(stream, info.after));
              GPU_TRY(capture.end());
              return {};
            },
            {"cuCtxGetDevice"}) == "");
}

TEST_CASE("graph: no room for dependencies on the host", "[graph][refusals][faults][cpu]") {
  if (!test::failing_allocation::possible()) return;
  const test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::graph graph = value_of(gpu::graph::create(device));
  for (int i = 0; i < 9; ++i) value_of(graph.add({}, gpu::empty_node{}));
  const auto nine = value_of(graph.nodes());
  for (const std::size_t which : {0u, 1u}) {
    const test::failing_allocation failing(which);
    const gpu::cuda_error error = error_of(graph.add(nine, gpu::empty_node{}));
    CHECK(error == gpu::errc::out_of_host_memory);
    CHECK(says(error, "gpu::graph::add", "a list of 9 nodes", "free host memory"));
  }
  auto capture = value_of(gpu::stream_capture::begin(stream, graph, nine));
  CHECK(value_of(gpu::capture_of(stream)).after.size() == 9);
  for (const std::size_t which : {0u, 1u}) {
    const auto is_said = [](const gpu::cuda_error& error, const char* function) {
      return error == gpu::errc::out_of_host_memory &&
             says(error, function, "a list of 9 nodes", "free host memory");
    };
    {
      const test::failing_allocation failing(which);
      CHECK(is_said(error_of(gpu::capture_of(stream)), "gpu::capture_of"));
    }
    const test::failing_allocation failing(which);
    CHECK(is_said(error_of(gpu::add_capture_dependencies(stream, nine)),
                  "gpu::add_capture_dependencies"));
  }
}

TEST_CASE("graph: every dependency has a name", "[graph]") {
  for (int each = 0; each <= CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER; ++each)
    CHECK(gpu::name_of(static_cast<graph_dependency>(each)) != nullptr);
  CHECK(gpu::name_of(static_cast<graph_dependency>(3)) == nullptr);
  CHECK(gpu::name_of(static_cast<graph_dependency>(-1)) == nullptr);
  CHECK(std::string(gpu::name_of(launch_order)) == "launch_order");
}

}  // namespace dependencies_test
