// Child graphs that are moved into their parent, and not copied.

#include "graph/graph_fixture.hpp"
#include "support/drivers.hpp"
#include "support/noted_calls.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/child_graph_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/host_node.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/memory/copy.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace child_graph_node_test {

using test::error_of;
using test::graph_fixture;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<gpu::child_graph_node>);
static_assert(std::is_constructible_v<gpu::child_graph_node, gpu::graph>);
static_assert(std::is_constructible_v<gpu::child_graph_node, gpu::graph&>);

namespace {

gpu::graph make(const graph_fixture& f) { return value_of(gpu::graph::create(f.device)); }

/// A child that allocates, in `scratch`, and fills with 21.
gpu::graph allocating(const graph_fixture& f, gpu::allocation_node<unsigned>& scratch) {
  gpu::graph child = make(f);
  const auto made = value_of(child.add({}, scratch));
  value_of(child.add(made, gpu::fill_node(scratch.span(), 21u)));
  return child;
}

unsigned run_once(graph_fixture& f, const gpu::graph& graph) {
  f.set(0);
  return f.run(value_of(gpu::graph_exec::instantiate(graph)));
}

/// Fails the first call of cuGraphAddNode for a child graph.
struct failing_adds {
  failing_adds() : in_force{prepare(table)} {}

  static const gpu::driver::entry_points& prepare(gpu::driver::entry_points& changed) {
    changed = beneath = test::driver();
    left = 1;
    changed.graph_add_node = [](CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                const CUgraphEdgeData* edges, std::size_t count,
                                CUgraphNodeParams* params) {
      if (params->type == CU_GRAPH_NODE_TYPE_GRAPH && left-- > 0) return CUDA_ERROR_OUT_OF_MEMORY;
      return beneath.graph_add_node(node, graph, after, edges, count, params);
    };
    return changed;
  }

  inline static gpu::driver::entry_points beneath;
  inline static int left = 0;
  gpu::driver::entry_points table{};
  gpu::driver::scoped_entry_points in_force;
};

}  // namespace

TEST_CASE("graph: a child that is moved is the graph itself", "[graph]") {
  graph_fixture f;
  gpu::graph child = make(f);
  const gpu::graph_ref name = child;
  const auto inside = value_of(child.add({}, f.adds(3)));
  const auto first = value_of(f.graph.add({}, f.adds(1)));
  const auto node = value_of(f.graph.add(first, gpu::child_graph_node(std::move(child))));
  CHECK(child.native() == nullptr);
  CHECK(value_of(gpu::kind_of(node)) == gpu::graph_node_kind::child_graph);
  CHECK(value_of(gpu::child_of(node)) == name);
  CHECK(value_of(name.nodes()).contains(inside));
  CHECK(run_once(f, f.graph) == 4);
  // It takes more nodes, and other descriptions of those that it has.
  value_of(name.add(inside, f.doubles()));
  value_of(gpu::set(name, inside, f.adds(4)));
  CHECK(run_once(f, f.graph) == 10);
  CHECK(run_once(f, value_of(gpu::graph::clone(name))) == 8);
  CHECK(run_once(f, value_of(gpu::graph::clone(f.graph))) == 10);
  value_of(f.graph.remove(node));
  CHECK(run_once(f, f.graph) == 1);
}

TEST_CASE("graph: a child that is a copy leaves the graph to the program", "[graph]") {
  graph_fixture f;
  gpu::graph child = make(f);
  const auto inside = value_of(child.add({}, f.adds(3)));
  gpu::child_graph_node twice(child);
  value_of(f.graph.add({}, twice));
  const auto node = value_of(f.graph.add({}, twice));
  CHECK_FALSE(value_of(gpu::child_of(node)) == child);
  value_of(gpu::set(child, inside, f.adds(50)));
  CHECK(run_once(f, f.graph) == 6);
  CHECK(run_once(f, child) == 50);
  // A node takes over a graph of another shape, an executable graph does not.
  value_of(child.add(inside, f.adds(100)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  CHECK(error_of(exec.set(node, gpu::child_graph_node(child))).code() ==
        CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  value_of(gpu::set(f.graph, node, gpu::child_graph_node(child)));
  CHECK(run_once(f, f.graph) == 153);
}

TEST_CASE("graph: what a graph that was moved cannot do any more", "[graph]") {
  graph_fixture f;
  gpu::allocation_node<unsigned> scratch(16);
  gpu::graph child = make(f);
  const gpu::graph_ref name = child;
  const gpu::graph other = make(f);
  value_of(f.graph.add({}, gpu::child_graph_node(std::move(child))));
  constexpr auto unsupported = CUDA_ERROR_NOT_SUPPORTED;
  const gpu::cuda_error moved = error_of(gpu::graph_exec::instantiate(name));
  CHECK(moved.code() == unsupported);
  CHECK(says(moved, "the graph was moved into another one", "instantiate the other"));
  CHECK(error_of(other.add({}, gpu::child_graph_node(name))).code() == unsupported);
  CHECK(error_of(name.add({}, scratch)).code() == unsupported);
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(other));
  CHECK(error_of(exec.update(name)).code() == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("graph: memory of a child is freed in its parent", "[graph]") {
  graph_fixture f;
  gpu::allocation_node<unsigned> scratch(16);
  gpu::graph child = allocating(f, scratch);
  CHECK(error_of(f.graph.add({}, gpu::child_graph_node(child))).code() ==
        CUDA_ERROR_NOT_SUPPORTED);  // there is no copy
  const auto node = value_of(f.graph.add({}, gpu::child_graph_node(std::move(child))));
  const auto copied = value_of(f.graph.add(node, gpu::copy_node(scratch.span(), f.x)));
  value_of(f.graph.add(copied, gpu::free_node(scratch.span())));
  CHECK(run_once(f, f.graph) == 21);
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  for (int i = 0; i < 2; ++i) {
    f.set(0);
    CHECK(f.run(exec) == 21);
  }
  constexpr auto unsupported = CUDA_ERROR_NOT_SUPPORTED;
  CHECK(error_of(gpu::graph_exec::instantiate(f.graph)).code() == unsupported);  // one at a time
  CHECK(error_of(gpu::graph::clone(f.graph)).code() == unsupported);
  CHECK(error_of(f.graph.remove(node)).code() == unsupported);
}

TEST_CASE("graph: memory of a child is freed by the program", "[graph]") {
  graph_fixture f;
  gpu::allocation_node<unsigned> scratch(16);
  value_of(f.graph.add({}, gpu::child_graph_node(allocating(f, scratch))));
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  std::vector<unsigned> host(16);
  for (int i = 0; i < 2; ++i) {
    value_of(gpu::launch(f.stream, exec));
    value_of(f.stream.synchronize());
    value_of(gpu::copy(scratch.span(), host));
    CHECK(host[15] == 21);
    CHECK(error_of(gpu::launch(f.stream, exec)).code() == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(test::driver().mem_free_async(scratch.span().native(), f.stream.native()) ==
            CUDA_SUCCESS);
    value_of(f.stream.synchronize());
  }
}

TEST_CASE("graph: what a child keeps lives as long as its parent needs it", "[graph]") {
  graph_fixture f;
  const auto shared = std::make_shared<int>(0);
  gpu::graph child = make(f);
  value_of(child.add({}, gpu::host_node([mine = shared] { ++*mine; })));
  value_of(f.graph.add({}, gpu::child_graph_node(std::move(child))));
  {
    const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
    f.graph = make(f);
    CHECK(shared.use_count() == 2);
    value_of(gpu::launch(f.stream, exec));
  }
  value_of(f.stream.synchronize());
  CHECK(*shared == 1);
}

TEST_CASE("graph: a moved graph is refused where it cannot be moved to", "[graph][refusals]") {
  graph_fixture f;
  gpu::graph child = make(f);
  value_of(child.add({}, f.adds(3)));
  const auto node = value_of(f.graph.add({}, gpu::child_graph_node(child)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  {
    const test::noted_calls<&gpu::driver::entry_points::graph_node_set_params> set;
    const test::noted_calls<&gpu::driver::entry_points::graph_exec_node_set_params> set_in_exec;
    for (const bool in_exec : {false, true}) {
      gpu::child_graph_node moved(make(f));
      const gpu::cuda_error error =
          error_of(in_exec ? exec.set(node, moved) : gpu::set(f.graph, node, moved));
      CHECK(error == gpu::errc::invalid_argument);
      CHECK(says(error, "gpu::child_graph_node", "cannot be moved into an existing node",
                 "neither instantiate nor destroy the parent", "gpu::graph_ref",
                 "remove the node"));
    }
    CHECK(set.count() == 0);
    CHECK(set_in_exec.count() == 0);
  }
  const gpu::graph_ref itself = child;
  const gpu::cuda_error error = error_of(itself.add({}, gpu::child_graph_node(std::move(child))));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "cannot contain itself"));
  // The description went, and the graph with it.
  CHECK(error_of(f.graph.add({}, gpu::child_graph_node(std::move(child)))) ==
        gpu::errc::empty_handle);
  CHECK(run_once(f, f.graph) == 3);
}

TEST_CASE("graph: a driver that would copy is not asked to move a graph", "[graph][refusals]") {
  graph_fixture f;
  gpu::graph child = make(f);
  value_of(child.add({}, f.adds(3)));
  gpu::child_graph_node moved(std::move(child));
  gpu::driver::entry_points table = test::driver();
  {
    table.driver_get_version = [](int* number) {
      *number = 12080;
      return CUDA_SUCCESS;
    };
    const gpu::driver::scoped_entry_points in_force(table);
    const gpu::cuda_error error = error_of(f.graph.add({}, moved));
    CHECK(error == gpu::errc::not_supported);
    CHECK(error.asked() == 12080);
    CHECK(error.limit() == 12090);
    CHECK(says(error, "gpu::child_graph_node", "supports CUDA 12.8", "needs CUDA 12.9",
               "gpu::graph_ref", "update the NVIDIA driver"));
    const gpu::graph copied = make(f);
    value_of(f.graph.add({}, gpu::child_graph_node(copied)));  // a copy is fine
    CHECK(value_of(f.graph.nodes()).size() == 1);
  }
  table.driver_get_version = [](int* number) {
    *number = 12090;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  value_of(f.graph.add({}, moved));  // it has the graph still
  CHECK(run_once(f, f.graph) == 3);
}

TEST_CASE("graph: a graph that could not be moved stays its description's", "[graph]") {
  graph_fixture f;
  gpu::graph child = make(f);
  value_of(child.add({}, f.adds(3)));
  gpu::child_graph_node moved(std::move(child));
  const failing_adds failing;
  CHECK(error_of(f.graph.add({}, moved)).code() == CUDA_ERROR_OUT_OF_MEMORY);
  const auto node = value_of(f.graph.add({}, moved));
  CHECK(run_once(f, f.graph) == 3);
  // From then on it has none.
  const gpu::cuda_error error = error_of(f.graph.add(node, moved));
  CHECK(error == gpu::errc::empty_handle);
  CHECK(says(error, "gpu::child_graph_node", "graph is empty"));
}

TEST_CASE("graph: a graph that could not be moved ends with its description", "[graph][cpu]") {
  const test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::graph graph = value_of(gpu::graph::create(device));
  const std::size_t before = driver.live_objects();
  const auto inside =
      value_of(graph.add({}, gpu::child_graph_node(value_of(gpu::graph::create(device)))));
  CHECK(driver.live_objects() == before);  // the parent's
  CHECK(error_of(
            gpu::set(graph, inside, gpu::child_graph_node(value_of(gpu::graph::create(device))))) ==
        gpu::errc::invalid_argument);
  CHECK(driver.live_objects() == before);
}

TEST_CASE("graph: a graph is moved during a capture, which has none of it", "[graph][capture]") {
  graph_fixture f;
  gpu::graph child = make(f);
  value_of(child.add({}, f.adds(3)));
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(f.graph.add({}, gpu::child_graph_node(std::move(child))));
  CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::active);
  CHECK(value_of(value_of(capture.end()).nodes()).empty());
  CHECK(run_once(f, f.graph) == 3);
}

TEST_CASE("graph: each driver call about a moved child may fail", "[graph][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
              gpu::graph child = GPU_TRY(gpu::graph::create(device));
              gpu::allocation_node<unsigned> scratch(16);
              const auto made = GPU_TRY(child.add({}, scratch));
              GPU_TRY(child.add(made, gpu::free_node(scratch.span())));
              const auto node = GPU_TRY(graph.add({}, gpu::child_graph_node(std::move(child))));
              GPU_TRY(GPU_TRY(gpu::child_of(node)).nodes());
              const gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
              GPU_TRY(gpu::launch(stream, exec));
              return stream.synchronize();
            },
            {"cuCtxGetDevice"}) == "");
}

}  // namespace child_graph_node_test
