// The dependencies of the next node of a capture, and what it waits for of each.

#include "graph/graph_fixture.hpp"
#include "support/noted_calls.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/dependencies.hpp>
#include <gpu/graph/graph_edge.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <cstddef>

namespace capture_dependencies_test {

using test::error_of;
using test::graph_fixture;
using test::says;
using test::value_of;

constexpr auto full = gpu::graph_dependency::full;
constexpr auto programmatic = gpu::graph_dependency::programmatic;
constexpr auto launch_order = gpu::graph_dependency::launch_order;

TEST_CASE("capture: it goes on after kernels whose end it does not wait for", "[graph][capture]") {
  graph_fixture f;
  const gpu::stream other = value_of(gpu::stream::create(f.device));
  const gpu::event fork = value_of(gpu::event::create(f.device));
  const gpu::event join = value_of(gpu::event::create(f.device));
  const auto first = value_of(f.graph.add({}, f.adds(1)));
  auto y = value_of(gpu::device_buffer<unsigned>::create(f.device, 1));
  const auto fill = value_of(f.graph.add({}, gpu::fill_node(y, 1u)));
  auto capture =
      value_of(gpu::stream_capture::begin(f.stream, f.graph, {{first, programmatic}, fill}));
  gpu::capture_info info = value_of(gpu::capture_of(f.stream));
  REQUIRE(info.after.size() == 2);
  CHECK((info.after[0].node == first && info.after[0].dependency == programmatic));
  CHECK((info.after[1].node == fill && info.after[1].dependency == full));
  CHECK(info.after[0].node.context() == f.stream.context());
  value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 2u));
  const gpu::graph_node second = value_of(gpu::capture_of(f.stream)).after[0].node;

  // What is set comes in the place of what was, and goes along with events.
  value_of(gpu::set_capture_dependencies(f.stream, {second, launch_order}));
  value_of(gpu::record(f.stream, fork));
  value_of(gpu::wait(other, fork));
  info = value_of(gpu::capture_of(other));
  REQUIRE(info.after.size() == 1);
  CHECK((info.after[0].node == second && info.after[0].dependency == launch_order));
  value_of(gpu::launch(other, {1, 1}, f.add, f.x, 4u));
  const gpu::graph_node third = value_of(gpu::capture_of(other)).after[0].node;
  value_of(gpu::record(other, join));
  value_of(gpu::wait(f.stream, join));

  // A node that is added by hand after what the capture is after has the same edges.
  value_of(gpu::set_capture_dependencies(f.stream, {third, programmatic}));
  info = value_of(gpu::capture_of(f.stream));
  const auto by_hand = value_of(info.graph.add(info.after, f.adds(8)));
  value_of(gpu::set_capture_dependencies(f.stream, by_hand));
  value_of(gpu::add_capture_dependencies(f.stream, {{first, launch_order}, fill}));
  info = value_of(gpu::capture_of(f.stream));
  REQUIRE(info.after.size() == 3);
  CHECK((info.after[1].node == first && info.after[1].dependency == launch_order));
  value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 16u));
  value_of(capture.end());

  const gpu::graph_edge_list edges = value_of(f.graph.edges());
  CHECK(edges.size() == 7);
  const auto has = [&](gpu::graph_node from, gpu::graph_node to, gpu::graph_dependency how) {
    for (std::size_t i = 0; i < edges.size(); ++i)
      if (edges[i].from == from && edges[i].to == to) return edges[i].dependency == how;
    return false;
  };
  CHECK(has(first, second, programmatic));
  CHECK(has(fill, second, full));
  CHECK(has(second, third, launch_order));
  CHECK(has(third, by_hand, programmatic));
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 31);
}

TEST_CASE("capture: of two dependencies on a node the stricter holds", "[graph][capture]") {
  graph_fixture f;
  const auto first = value_of(f.graph.add({}, f.adds(1)));
  auto capture = value_of(gpu::stream_capture::begin(f.stream, f.graph, {first, programmatic}));
  const auto now = [&] {
    const gpu::capture_info info = value_of(gpu::capture_of(f.stream));
    REQUIRE(info.after.size() == 1);
    CHECK(info.after[0].node == first);
    return info.after[0].dependency;
  };
  CHECK(now() == programmatic);
  value_of(gpu::add_capture_dependencies(f.stream, {first, launch_order}));
  CHECK(now() == programmatic);
  value_of(gpu::add_capture_dependencies(f.stream, first));
  CHECK(now() == full);
  value_of(gpu::set_capture_dependencies(f.stream, {{first, programmatic}, first}));
  CHECK(now() == full);
  CHECK(value_of(capture.end()).native() == nullptr);
}

TEST_CASE("capture: a dependency that a node cannot have is refused",
          "[graph][capture][refusals]") {
  using gpu::driver::entry_points;
  graph_fixture f;
  const auto kernel = value_of(f.graph.add({}, f.adds(1)));
  const auto fill = value_of(f.graph.add({}, gpu::fill_node(f.x, 1u)));
  const auto unknown = static_cast<gpu::graph_dependency>(3);
  const auto is_refused = [](const gpu::cuda_error& error, const char* function,
                             const char* words) {
    return error == gpu::errc::invalid_argument && says(error, function, words);
  };
  const char* const no_kernel = "the first node is of kind fill";
  const char* const no_dependency = "3 is not a valid gpu::graph_dependency";
  {
    const test::noted_calls<&entry_points::stream_begin_capture_to_graph> begun;
    const char* const name = "gpu::stream_capture::begin";
    CHECK(is_refused(error_of(gpu::stream_capture::begin(f.stream, f.graph, {fill, programmatic})),
                     name, no_kernel));
    CHECK(is_refused(error_of(gpu::stream_capture::begin(f.stream, f.graph, {kernel, unknown})),
                     name, no_dependency));
    CHECK(begun.count() == 0);
  }
  auto capture = value_of(gpu::stream_capture::begin(f.stream, f.graph, kernel));
  {
    const test::noted_calls<&entry_points::stream_update_capture_dependencies> changed;
    CHECK(is_refused(error_of(gpu::set_capture_dependencies(f.stream, {fill, programmatic})),
                     "gpu::set_capture_dependencies", no_kernel));
    CHECK(is_refused(error_of(gpu::set_capture_dependencies(f.stream, {kernel, unknown})),
                     "gpu::set_capture_dependencies", no_dependency));
    CHECK(is_refused(error_of(gpu::add_capture_dependencies(f.stream, {fill, launch_order})),
                     "gpu::add_capture_dependencies", no_kernel));
    CHECK(is_refused(error_of(gpu::add_capture_dependencies(f.stream, {kernel, unknown})),
                     "gpu::add_capture_dependencies", no_dependency));
    CHECK(changed.count() == 0);
  }
  // The capture is as it was.
  const gpu::capture_info info = value_of(gpu::capture_of(f.stream));
  REQUIRE(info.after.size() == 1);
  CHECK((info.after[0].node == kernel && info.after[0].dependency == full));
  CHECK(capture.end().has_value());
}

}  // namespace capture_dependencies_test
