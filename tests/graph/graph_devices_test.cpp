// Graphs with nodes of two devices: what is made in the context of one reaches the memory and the
// events of the other, without access between peers.

#include "graph/graph_fixture.hpp"

#include <gpu/driver/device.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/child_graph_node.hpp>
#include <gpu/graph/event_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/kernel_node.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <vector>

namespace graph_devices_test {

using test::error_of;
using test::graph_fixture;
using test::value_of;

namespace {

/// The fixture's stream, memory and graph are of the first device; here are some of the second.
struct two_devices : graph_fixture {
  gpu::device second = value_of(gpu::device::get(1));
  gpu::stream on_second = value_of(gpu::stream::create(second));
  gpu::device_buffer<unsigned> y = value_of(gpu::device_buffer<unsigned>::create(second, 16));
  gpu::device_buffer<unsigned> z = value_of(gpu::device_buffer<unsigned>::create(second, 16));

  two_devices() {
    value_of(gpu::fill(on_second, y, 0u));
    value_of(gpu::fill(on_second, z, 0u));
    value_of(on_second.synchronize());
  }
  void launch(const gpu::graph& of, const gpu::stream& on) {
    const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(of));
    value_of(gpu::launch(on, exec));
    value_of(on.synchronize());
  }
};

std::vector<unsigned> contents(const gpu::device_buffer<unsigned>& of) {
  std::vector<unsigned> host(of.size());
  value_of(gpu::copy(of, host));
  return host;
}

std::vector<unsigned> all(unsigned value) { return std::vector<unsigned>(16, value); }

}  // namespace

TEST_CASE("graph: copies go between devices, and inside of the other one, in either's context",
          "[graph][two_devices]") {
  two_devices f;
  f.set(5);
  const auto there = value_of(f.graph.add({}, gpu::copy_node(f.x, f.y)));
  const auto inside = value_of(f.graph.add(there, gpu::copy_node(f.y, f.z)));
  f.launch(f.graph, f.stream);
  CHECK(contents(f.y) == all(5));
  CHECK(contents(f.z) == all(5));

  const gpu::graph of_second = value_of(gpu::graph::create(f.second));
  auto other = value_of(gpu::device_buffer<unsigned>::create(f.device, 16));
  const auto back = value_of(of_second.add({}, gpu::copy_node(f.z, f.x)));
  value_of(of_second.add(back, gpu::copy_node(f.x, other)));
  f.set(0);
  f.launch(of_second, f.stream);
  CHECK(contents(f.x) == all(5));
  CHECK(contents(other) == all(5));
  CHECK(value_of(f.graph.nodes()).contains(inside));
}

TEST_CASE("graph: a fill reaches the other device, where a stream's does not",
          "[graph][two_devices]") {
  two_devices f;
  value_of(f.graph.add({}, gpu::fill_node(f.y, 3u)));
  f.launch(f.graph, f.stream);
  CHECK(contents(f.y) == all(3));
  // The span does not tell the context, so that the driver is asked.
  CHECK(error_of(gpu::fill(f.stream, f.y.span(), 9u)).code() == CUDA_ERROR_INVALID_VALUE);
  value_of(f.stream.synchronize());
  CHECK(contents(f.y) == all(3));
}

TEST_CASE("graph: events of the other device are recorded and waited for", "[graph][two_devices]") {
  two_devices f;
  const gpu::event start = value_of(gpu::event::create(f.second));
  const gpu::event end = value_of(gpu::event::create(f.second));
  const auto wait = value_of(f.graph.add({}, gpu::event_wait_node(start)));
  const auto copy = value_of(f.graph.add(wait, gpu::copy_node(f.y, f.x)));
  value_of(f.graph.add(copy, gpu::event_record_node(end)));
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  unsigned value = 20;
  for (const gpu::stream* each : {&f.stream, &f.on_second}) {
    value_of(gpu::fill(f.on_second, f.y, ++value));
    value_of(gpu::record(f.on_second, start));
    value_of(gpu::launch(*each, exec));
    value_of(end.synchronize());
    CHECK(contents(f.x) == all(value));
  }
}

TEST_CASE("graph: a stream of the other device is captured into a graph",
          "[graph][capture][two_devices]") {
  two_devices f;
  const auto before = value_of(f.graph.add({}, gpu::fill_node(f.x, 4u)));
  auto capture = value_of(gpu::stream_capture::begin(f.on_second, f.graph, before));
  value_of(gpu::fill(f.on_second, f.y, 6u));
  value_of(gpu::launch(f.on_second, {1, 1}, f.add, f.y, 1u));
  value_of(capture.end());
  REQUIRE(value_of(f.graph.nodes()).size() == 3);
  f.launch(f.graph, f.stream);
  CHECK(contents(f.x) == all(4));
  std::vector<unsigned> sums = all(6);
  sums[0] = 7;
  CHECK(contents(f.y) == sums);
}

TEST_CASE("graph: the graph of another device is a child", "[graph][two_devices]") {
  two_devices f;
  const gpu::graph inner = value_of(gpu::graph::create(f.second));
  value_of(inner.add({}, gpu::kernel_node({1, 1}, f.add, f.y, 2u)));
  const auto mine = value_of(f.graph.add({}, f.adds(1)));
  value_of(f.graph.add(mine, gpu::child_graph_node(inner)));
  f.launch(f.graph, f.stream);
  CHECK(f.first() == 1);
  CHECK(contents(f.y)[0] == 2);
}

}  // namespace graph_devices_test
