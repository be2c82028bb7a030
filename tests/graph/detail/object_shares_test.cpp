// The modules of kernels that came into graphs without the library's knowing, and those of
// executable graphs that were changed.

#include "graph/module_fixture.hpp"
#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/host_memory.hpp"

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/child_graph_node.hpp>
#include <gpu/graph/conditional_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/kernel_node.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace object_shares_test {

using test::comes_to_be_unloaded;
using test::empty_graph;
using test::error_of;
using test::foreign_graph;
using test::graph_fixture;
using test::just_ended;
using test::noted_objects;
using test::noted_unloads;
using test::other_module;
using test::value_of;

namespace {

TEST_CASE("graph: the body of a graph from elsewhere keeps the modules of its kernels",
          "[graph][module][conditional]") {
  graph_fixture f;
  other_module other;
  gpu::graph graph = foreign_graph(f);
  const noted_unloads unloads;
  const auto condition = value_of(gpu::graph_condition::create(graph, 1));
  gpu::conditional_node once(gpu::conditional_kind::if_, condition);
  value_of(graph.add({}, once));
  value_of(once.body().add({}, other.adds(f, 3)));
  other.end();
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(graph));
  graph = empty_graph();
  CHECK(f.run(*exec) == 3);
  CHECK(unloads.count() == 0);
  exec.reset();
  CHECK(comes_to_be_unloaded(unloads, other.native));
}

TEST_CASE("graph: one from elsewhere has the driver keep the modules of new kernels",
          "[graph][module]") {
  graph_fixture f;
  other_module first, second, third;
  const noted_unloads unloads;
  gpu::graph graph = foreign_graph(f), child = empty_graph(), moved = empty_graph();
  const gpu::graph_ref moved_name = moved;
  value_of(child.add({}, second.adds(f, 4)));
  {
    const noted_objects objects;
    const auto node = value_of(graph.add({}, first.adds(f, 3)));
    const auto copied = value_of(graph.add(node, gpu::child_graph_node(child)));
    value_of(graph.add(copied, gpu::child_graph_node(std::move(moved))));
    CHECK(objects.count() == 3);
  }
  value_of(moved_name.add({}, third.adds(f, 5)));
  child = empty_graph();
  for (other_module* each : {&first, &second, &third}) each->end();
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(graph));
  graph = empty_graph();
  CHECK(f.run(*exec) == 12);
  CHECK(unloads.count() == 0);
  exec.reset();
  for (int i = 0; i < 1000 && unloads.count() < 3; ++i) {
    empty_graph();
    if (unloads.count() < 3) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(unloads.count() == 3);
}

TEST_CASE("graph: one from elsewhere gets no node whose module the driver does not keep",
          "[graph][module]") {
  graph_fixture f;
  other_module other;
  const gpu::graph graph = foreign_graph(f);
  {
    gpu::driver::entry_points table = test::driver();
    table.user_object_create = [](CUuserObject*, void*, CUhostFn, unsigned, unsigned) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    };
    const gpu::driver::scoped_entry_points in_force(table);
    CHECK(error_of(graph.add({}, other.adds(f, 3))).code() == CUDA_ERROR_OUT_OF_MEMORY);
  }
  CHECK(value_of(graph.nodes()).size() == 0);
  const noted_unloads unloads;
  other.end();
  empty_graph();
  CHECK(just_ended(unloads, other.native));
}

TEST_CASE("graph: what is instantiated from one from elsewhere keeps its modules",
          "[graph][capture][module]") {
  graph_fixture f;
  for (const bool as_child : {false, true}) {
    CAPTURE(as_child);
    other_module other;
    const noted_unloads unloads;
    const noted_objects objects;
    REQUIRE(test::driver().stream_begin_capture(f.stream.native(),
                                                CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 3u));
    CUgraph native = nullptr;
    REQUIRE(test::driver().stream_end_capture(f.stream.native(), &native) == CUDA_SUCCESS);
    gpu::graph captured =
        gpu::graph::adopt(gpu::graph_ref::from_native(native, f.stream.context()));
    gpu::graph graph = foreign_graph(f);
    if (as_child) {
      CUgraphNodeParams child{};
      CUgraphNode node = nullptr;
      child.type = CU_GRAPH_NODE_TYPE_GRAPH;
      child.graph.graph = native;
      REQUIRE(test::driver().graph_add_node(&node, graph.native(), nullptr, nullptr, 0, &child) ==
              CUDA_SUCCESS);
    } else {
      graph = std::move(captured);
    }
    std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(graph));
    other.end();
    graph = empty_graph();
    f.set(0);
    CHECK(f.run(*exec) == 3);
    CHECK(unloads.count() == 0);
    exec.reset();
    CHECK(just_ended(unloads, other.native));
    CHECK(objects.count() == 0);
  }
}

TEST_CASE("graph: an executable graph that was changed has its modules kept", "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  const noted_objects objects;
  const auto node = value_of(f.graph.add({}, f.adds(1)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  for (int i = 0; i < 3; ++i) value_of(exec.set(node, other.adds(f, 3)));
  other.end();
  CHECK(f.run(exec) == 3);
  value_of(exec.set(node, f.adds(1)));
  CHECK(f.run(exec) == 4);
  CHECK(unloads.count() == 0);
  value_of(exec.update(f.graph));  // has none of it
  CHECK(just_ended(unloads, other.native));
  CHECK(objects.count() == 0);
}

TEST_CASE("graph: an executable graph that was changed keeps what it kept", "[graph][module]") {
  graph_fixture f;
  other_module first, second;
  const noted_unloads unloads;
  value_of(f.graph.add({}, first.adds(f, 3)));
  const auto node = value_of(f.graph.add({}, f.adds(1)));
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(f.graph));
  value_of(exec->set(node, second.adds(f, 4)));
  f.graph = empty_graph();
  first.end();
  second.end();
  CHECK(f.run(*exec) == 7);
  CHECK(unloads.count() == 0);
  exec.reset();
  CHECK(unloads.count() == 2);
}

TEST_CASE("graph: the child of an executable graph that was changed has its modules kept",
          "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  gpu::graph child = empty_graph();
  const auto inside = value_of(child.add({}, f.adds(1)));
  const auto node = value_of(f.graph.add({}, gpu::child_graph_node(child)));
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(f.graph));
  value_of(gpu::set(child, inside, other.adds(f, 3)));
  value_of(exec->set(node, gpu::child_graph_node(child)));
  child = empty_graph();
  other.end();
  CHECK(f.run(*exec) == 3);
  CHECK(unloads.count() == 0);
  exec.reset();
  CHECK(just_ended(unloads, other.native));
}

TEST_CASE("graph: an executable graph that could not be changed keeps what it kept",
          "[graph][module]") {
  graph_fixture f;
  other_module kept, unwanted;
  value_of(f.graph.add({}, kept.adds(f, 3)));
  const auto empty = value_of(f.graph.add({}, gpu::empty_node{}));
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(f.graph));
  gpu::graph larger = value_of(gpu::graph::clone(f.graph));
  value_of(larger.add({}, unwanted.adds(f, 4)));
  const noted_unloads unloads;
  CHECK(error_of(exec->update(larger)).code() == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  CHECK(error_of(exec->set(empty, unwanted.adds(f, 4))).code() == CUDA_ERROR_INVALID_VALUE);
  larger = empty_graph();
  unwanted.end();
  CHECK(just_ended(unloads, unwanted.native));
  kept.end();
  CHECK(f.run(*exec) == 3);
  f.graph = empty_graph();
  CHECK(unloads.count() == 1);
  exec.reset();
  CHECK(unloads.count() == 2);
  CHECK(unloads.last<0>() == kept.native);
}

TEST_CASE("graph: an updated executable graph has the modules of the other graph alone",
          "[graph][module]") {
  graph_fixture f;
  for (const bool foreign : {false, true}) {
    CAPTURE(foreign);
    other_module before, after;
    const noted_unloads unloads;
    gpu::graph first = empty_graph(), second = foreign ? foreign_graph(f) : empty_graph();
    value_of(first.add({}, before.adds(f, 1)));
    value_of(second.add({}, after.adds(f, 3)));
    std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(first));
    first = empty_graph();
    before.end();
    CHECK(unloads.count() == 0);
    value_of(exec->update(second));
    CHECK(just_ended(unloads, before.native));
    second = empty_graph();
    after.end();
    f.set(0);
    CHECK(f.run(*exec) == 3);
    CHECK(unloads.count() == 1);
    exec.reset();
    for (int i = 0; i < 1000 && unloads.count() < 2; ++i) {
      empty_graph();
      if (unloads.count() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(unloads.count() == 2);
    CHECK(unloads.last<0>() == after.native);
  }
}

TEST_CASE("graph: executable graphs that move keep their modules", "[graph][module]") {
  graph_fixture f;
  other_module first, second;
  const noted_unloads unloads;
  gpu::graph one = empty_graph(), two = empty_graph();
  value_of(one.add({}, first.adds(f, 3)));
  value_of(two.add({}, second.adds(f, 4)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(one));
  gpu::graph_exec other = value_of(gpu::graph_exec::instantiate(two));
  one = empty_graph();
  two = empty_graph();
  first.end();
  second.end();
  exec = std::move(other);
  CHECK(just_ended(unloads, first.native));
  CHECK(f.run(exec) == 4);
  const CUgraphExec released = exec.release();  // the caller keeps what it needs
  CHECK(unloads.count() == 2);
  CHECK(test::driver().graph_exec_destroy(released) == CUDA_SUCCESS);
}

gpu::result<> use_modules_in_graphs() {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  auto x = GPU_TRY(gpu::device_buffer<unsigned>::create(stream, 4));
  gpu::module first = GPU_TRY(gpu::module::load(test::graph_kernels));
  gpu::module second = GPU_TRY(gpu::module::load(test::graph_kernels));
  const auto twice = GPU_TRY(first.kernel<unsigned*>("twice"));
  const auto other = GPU_TRY(second.kernel<unsigned*>("twice"));
  gpu::graph graph = GPU_TRY(gpu::graph::create(device));
  const auto node = GPU_TRY(graph.add({}, gpu::kernel_node({1, 1}, twice, x)));
  GPU_TRY(graph.add(node, gpu::fill_node(x, 0u)));
  gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
  GPU_TRY(exec.set(node, gpu::kernel_node({1, 1}, other, x)));
  gpu::graph changed = GPU_TRY(gpu::graph::clone(graph));
  const auto again = GPU_TRY(changed.find_clone_of(node));
  GPU_TRY(gpu::set(changed, again, gpu::kernel_node({1, 1}, other, x)));
  GPU_TRY(exec.update(changed));
  GPU_TRY(changed.add({}, gpu::child_graph_node(graph)));
  GPU_TRY(changed.add({}, gpu::child_graph_node(std::move(graph))));
  const gpu::graph_exec both = GPU_TRY(gpu::graph_exec::instantiate(changed));
  return {};
}

/// The same with graphs that the library knows nothing of.
gpu::result<> use_modules_in_foreign_graphs() {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  auto x = GPU_TRY(gpu::device_buffer<unsigned>::create(stream, 4));
  gpu::module code = GPU_TRY(gpu::module::load(test::graph_kernels));
  const auto twice = GPU_TRY(code.kernel<unsigned*>("twice"));
  CUgraph native = nullptr;
  GPU_TRY(gpu::driver::call<&gpu::driver::entry_points::graph_create>(
      gpu::source_location::current(), &native, 0u));
  const gpu::graph graph = gpu::graph::adopt(gpu::graph_ref::from_native(native, stream.context()));
  gpu::graph child = GPU_TRY(gpu::graph::create(device));
  const auto node = GPU_TRY(child.add({}, gpu::kernel_node({1, 1}, twice, x)));
  GPU_TRY(gpu::set(child, node, gpu::kernel_node({1, 1}, twice, x)));
  GPU_TRY(graph.add({}, gpu::kernel_node({1, 1}, twice, x)));
  GPU_TRY(graph.add({}, gpu::child_graph_node(child)));
  GPU_TRY(graph.add({}, gpu::child_graph_node(std::move(child))));
  gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
  GPU_TRY(exec.update(graph));
  return {};
}

TEST_CASE("graph: each driver call that keeps a module may fail", "[graph][module][faults][cpu]") {
  CHECK(test::sweep(use_modules_in_graphs, {"cuCtxGetDevice"}) == "");
  CHECK(test::sweep(use_modules_in_foreign_graphs,
                    {"cuCtxGetDevice", "cuThreadExchangeStreamCaptureMode"}) == "");
}

TEST_CASE("graph: each allocation that keeps a module may fail", "[graph][module][cpu]") {
  CHECK(test::sweep_host_memory(use_modules_in_graphs) == "");
  CHECK(test::sweep_host_memory(use_modules_in_foreign_graphs) == "");
}

TEST_CASE("graph: modules are kept during a capture", "[graph][capture][module]") {
  graph_fixture f;
  const auto node = value_of(f.graph.add({}, gpu::kernel_node({1, 1}, f.twice, f.x)));
  gpu::graph foreign = foreign_graph(f), child = empty_graph();
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                          CU_STREAM_CAPTURE_MODE_RELAXED}) {
    other_module other;
    const test::captured made = test::capture(
        f.stream,
        [&] {
          value_of(exec.set(node, gpu::kernel_node({1, 1}, other.twice, f.x)));
          value_of(exec.update(f.graph));
          for (const gpu::graph_ref each : {gpu::graph_ref(child), gpu::graph_ref(foreign)})
            value_of(each.add({}, other.adds(f, 3)));
          value_of(f.graph.add({}, gpu::child_graph_node(foreign)));
          (void)value_of(gpu::graph::clone(foreign));
          value_of(f.graph.remove(value_of(f.graph.nodes())[1]));
        },
        mode);
    CHECK(made.unharmed());
    CHECK(made.nodes == 0);
  }
}

}  // namespace
}  // namespace object_shares_test
