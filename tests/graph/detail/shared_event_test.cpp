// The events of a graph's nodes: there until the program gave them up, and the graph and what was
// instantiated from it are gone; then destroyed, once.

#include "graph/module_fixture.hpp"
#include "support/host_memory.hpp"
#include "support/noted_calls.hpp"

#include <gpu/core/result.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/child_graph_node.hpp>
#include <gpu/graph/event_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/kernel/launch.hpp>

#include <optional>
#include <thread>

namespace shared_event_test {

using test::empty_graph;
using test::graph_fixture;
using test::just_ended;
using test::noted_objects;
using test::run_alone;
using test::value_of;

namespace {

using noted_destroys = test::noted_calls<&gpu::driver::entry_points::event_destroy>;

/// An event that can be given up.
struct other_event {
  std::optional<gpu::event> owner =
      value_of(gpu::event::create(test::first_device(), {.timing = false}));
  CUevent native = owner->native();

  gpu::event_ref name() const { return *owner; }
};

TEST_CASE("graph: an event that no graph has is destroyed at once", "[graph][event]") {
  graph_fixture f;
  other_event event;
  const gpu::event kept = value_of(gpu::event::create(f.device));
  value_of(f.graph.add({}, gpu::event_record_node(kept)));
  const noted_destroys destroys;
  event.owner.reset();
  CHECK(just_ended(destroys, event.native));
}

TEST_CASE("graph: the events of its nodes may be given up first", "[graph][event]") {
  for (const bool records : {true, false}) {
    CAPTURE(records);
    graph_fixture f;
    other_event event;
    const noted_destroys destroys;
    const noted_objects objects;
    const auto node = records ? f.graph.add({}, gpu::event_record_node(event.name()))
                              : f.graph.add({}, gpu::event_wait_node(event.name()));
    value_of(f.graph.add(value_of(node), f.adds(3)));
    event.owner.reset();
    CHECK(run_alone(f, f.graph, destroys, event.native) == "");
    CHECK(objects.count() == 0);  // which would make launches dearer
  }
}

TEST_CASE("graph: an event that outlives its graphs is destroyed by its owner", "[graph][event]") {
  graph_fixture f;
  other_event event;
  const noted_destroys destroys;
  const auto record = value_of(f.graph.add({}, gpu::event_record_node(event.name())));
  value_of(f.graph.add(record, gpu::event_wait_node(event.name())));
  (void)value_of(gpu::graph_exec::instantiate(f.graph));
  f.graph = empty_graph();
  CHECK(destroys.count() == 0);
  value_of(gpu::record(f.stream, event.name()));
  value_of(event.owner->synchronize());
  event.owner.reset();
  CHECK(just_ended(destroys, event.native));
}

TEST_CASE("graph: an event of two graphs is destroyed with the second", "[graph][event]") {
  graph_fixture f;
  other_event event;
  gpu::graph second = empty_graph();
  const noted_destroys destroys;
  value_of(f.graph.add({}, gpu::event_record_node(event.name())));
  value_of(second.add({}, gpu::event_wait_node(event.name())));
  event.owner.reset();
  f.graph = empty_graph();
  CHECK(destroys.count() == 0);
  second = empty_graph();
  CHECK(just_ended(destroys, event.native));
}

TEST_CASE("graph: one that was released is its new owner's", "[graph][event]") {
  graph_fixture f;
  other_event event;
  value_of(f.graph.add({}, gpu::event_record_node(event.name())));
  const noted_destroys destroys;
  const gpu::event_ref given = event.owner->release();
  f.graph = empty_graph();
  CHECK(destroys.count() == 0);
  event.owner.emplace(gpu::event::adopt(given));
  event.owner.reset();
  CHECK(just_ended(destroys, event.native));
}

TEST_CASE("graph: children, clones and changed nodes keep events", "[graph][event]") {
  graph_fixture f;
  other_event event, changed;
  const noted_destroys destroys;
  gpu::graph child = empty_graph();
  value_of(child.add({}, gpu::event_record_node(event.name())));
  const auto inside = value_of(f.graph.add({}, gpu::child_graph_node(child)));
  const auto node = value_of(f.graph.add(inside, gpu::event_record_node(event.name())));
  value_of(gpu::set(f.graph, node, gpu::event_record_node(changed.name())));
  value_of(f.graph.add(node, f.adds(3)));
  std::optional<gpu::graph> clone = value_of(gpu::graph::clone(f.graph));
  event.owner.reset();
  changed.owner.reset();
  child = empty_graph();
  f.graph = empty_graph();
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(*clone));
  clone.reset();
  CHECK(f.run(*exec) == 3);
  CHECK(destroys.count() == 0);
  exec.reset();
  CHECK(destroys.count() == 2);
}

TEST_CASE("graph: an executable graph keeps the events that it was told", "[graph][event]") {
  graph_fixture f;
  other_event first, second, third;
  const noted_destroys destroys;
  const auto node = value_of(f.graph.add({}, gpu::event_record_node(first.name())));
  value_of(f.graph.add(node, f.adds(3)));
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(f.graph));
  value_of(exec->set(node, gpu::event_record_node(second.name())));
  second.owner.reset();
  CHECK(f.run(*exec) == 3);
  CHECK(destroys.count() == 0);

  gpu::graph other = empty_graph();
  const auto again = value_of(other.add({}, gpu::event_record_node(third.name())));
  value_of(other.add(again, f.adds(3)));
  value_of(exec->update(other));
  CHECK(just_ended(destroys, second.native));
  third.owner.reset();
  other = empty_graph();
  CHECK(f.run(*exec) == 6);
  CHECK(destroys.count() == 1);
  exec.reset();
  CHECK(destroys.last<0>() == third.native);
  CHECK(destroys.count() == 2);
}

TEST_CASE("graph: what was captured keeps the events of its nodes", "[graph][capture][event]") {
  graph_fixture f;
  other_event recorded, awaited;
  value_of(gpu::record(f.stream, awaited.name()));
  const noted_destroys destroys;
  const noted_objects objects;
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(gpu::wait_external(f.stream, awaited.name()));
  value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 3u));
  value_of(gpu::record_external(f.stream, recorded.name()));
  gpu::graph graph = value_of(capture.end());
  recorded.owner.reset();
  awaited.owner.reset();
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(graph));
  graph = empty_graph();
  CHECK(f.run(*exec) == 3);
  CHECK(destroys.count() == 0);
  CHECK(objects.count() == 0);
  exec.reset();
  CHECK(destroys.count() == 2);
}

TEST_CASE("graph: a node that could not be added keeps no event", "[graph][event]") {
  graph_fixture f;
  other_event event;
  const gpu::graph apart = empty_graph();
  const auto elsewhere = value_of(apart.add({}, gpu::empty_node{}));
  const noted_destroys destroys;
  CHECK_FALSE(f.graph.add(elsewhere, gpu::event_record_node(event.name())).has_value());
  event.owner.reset();
  empty_graph();  // what was let go of goes with the operation on any graph that follows
  CHECK(just_ended(destroys, event.native));
}

TEST_CASE("graph: threads with events of graphs of their own", "[graph][event]") {
  const auto work = []() -> gpu::result<> {
    for (int i = 0; i < 50; ++i) {
      const gpu::device device = GPU_TRY(gpu::device::get(0));
      std::optional<gpu::event> event = GPU_TRY(gpu::event::create(device));
      gpu::graph graph = GPU_TRY(gpu::graph::create(device));
      GPU_TRY(graph.add({}, gpu::event_record_node(*event)));
      if (i % 2 == 0) event.reset();
      const gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
      graph = GPU_TRY(gpu::graph::create(device));
    }
    return {};
  };
  gpu::result<> elsewhere;
  std::thread other([&] { elsewhere = work(); });
  const gpu::result<> here = work();
  other.join();
  CHECK(here.has_value());
  CHECK(elsewhere.has_value());
}

gpu::result<> with_events() {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  std::optional<gpu::event> first = GPU_TRY(gpu::event::create(device));
  std::optional<gpu::event> second = GPU_TRY(gpu::event::create(device));
  auto capture = GPU_TRY(gpu::stream_capture::begin(stream));
  GPU_TRY(gpu::wait_external(stream, *first));
  GPU_TRY(gpu::record_external(stream, *second));
  const gpu::graph graph = GPU_TRY(capture.end());
  const auto node = GPU_TRY(graph.add({}, gpu::event_record_node(*first)));
  GPU_TRY(gpu::set(graph, node, gpu::event_record_node(*second)));
  gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
  GPU_TRY(exec.set(node, gpu::event_record_node(*first)));
  first.reset();
  second.reset();
  return gpu::launch(stream, exec);
}

TEST_CASE("graph: with events of nodes, each driver call may fail", "[graph][event][faults][cpu]") {
  CHECK(test::sweep(with_events, {"cuThreadExchangeStreamCaptureMode"}) == "");
}

TEST_CASE("graph: with events of nodes, the host may run out of memory",
          "[graph][event][faults][cpu]") {
  CHECK(test::sweep_host_memory(with_events) == "");
}

}  // namespace
}  // namespace shared_event_test
