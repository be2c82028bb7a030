// The modules of a graph's kernels: loaded until they, the graph and what was instantiated from it
// are gone, and no longer; without the driver's help where the library knows the graph.

#include "graph/module_fixture.hpp"
#include "support/drivers.hpp"
#include "support/noted_calls.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/graph/child_graph_node.hpp>
#include <gpu/graph/conditional_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace graph_keeper_test {

using test::comes_to_be_unloaded;
using test::empty_graph;
using test::error_of;
using test::foreign_graph;
using test::graph_fixture;
using test::just_ended;
using test::noted_objects;
using test::noted_unloads;
using test::other_module;
using test::run_alone;
using test::value_of;

namespace {

TEST_CASE("graph: a module that no graph has is unloaded at once", "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 3u));
  value_of(f.stream.synchronize());
  other.end();
  CHECK(just_ended(unloads, other.native));
}

TEST_CASE("graph: the modules of its kernels may end first", "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  const noted_objects objects;
  value_of(f.graph.add({}, other.adds(f, 3)));
  other.end();
  CHECK(run_alone(f, f.graph, unloads, other.native) == "");
  CHECK(objects.count() == 0);  // which would make launches dearer
}

TEST_CASE("graph: a module that outlives the graph is unloaded by itself", "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  value_of(f.graph.add({}, other.adds(f, 3)));
  (void)value_of(gpu::graph_exec::instantiate(f.graph));
  f.graph = empty_graph();
  CHECK(unloads.count() == 0);
  value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 3u));
  CHECK(f.first() == 3);
  other.end();
  CHECK(just_ended(unloads, other.native));
}

TEST_CASE("graph: a module of nodes that were removed or changed stays with the graph",
          "[graph][module]") {
  graph_fixture f;
  other_module removed, changed;
  const noted_unloads unloads;
  value_of(f.graph.remove(value_of(f.graph.add({}, removed.adds(f, 1)))));
  const auto node = value_of(f.graph.add({}, changed.adds(f, 1)));
  value_of(gpu::set(f.graph, node, f.adds(3)));
  removed.end();
  changed.end();
  CHECK(unloads.count() == 0);
  f.graph = empty_graph();
  CHECK(unloads.count() == 2);
}

TEST_CASE("graph: a node that was changed has its module kept", "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  const noted_objects objects;
  const auto node = value_of(f.graph.add({}, f.adds(1)));
  value_of(gpu::set(f.graph, node, other.adds(f, 3)));
  other.end();
  CHECK(run_alone(f, f.graph, unloads, other.native) == "");
  CHECK(objects.count() == 0);
}

TEST_CASE("graph: a node that could not be added keeps no module", "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  const auto node = value_of(f.graph.add({}, gpu::empty_node{}));
  const gpu::graph apart = empty_graph();
  const auto elsewhere = value_of(apart.add({}, gpu::empty_node{}));
  CHECK(error_of(f.graph.add(elsewhere, other.adds(f, 3))).code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(error_of(gpu::set(f.graph, node, other.adds(f, 3))).code() == CUDA_ERROR_INVALID_VALUE);
  other.end();
  CHECK(just_ended(unloads, other.native));
}

TEST_CASE("graph: what took a kernel over keeps its module, also where that then failed",
          "[graph][module][faults]") {
  graph_fixture f;
  gpu::testing::fault_injection faults(test::driver());
  const gpu::graph_node node = value_of(f.graph.add({}, f.adds(1)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  // `change(kernels)` has each of its returns to the program's context fail in turn. It may take
  // place or not, but what it leaves has to be able to run: the modules are gone by then.
  const auto check = [&](auto change, auto run) {
    bool took_place = false, failed = true;
    for (std::size_t nth = 0; failed; ++nth) {
      f.set(0);
      const unsigned before = run();
      {
        const other_module other;
        const gpu::driver::scoped_entry_points in_force(faults.entry_points());
        faults.fail_call("cuCtxPopCurrent", nth, CUDA_ERROR_UNKNOWN);
        failed = !change(other).has_value();
        faults.clear();
      }
      f.set(0);
      took_place = took_place || (failed && run() != before);
    }
    return took_place;
  };
  const auto run_exec = [&] { return f.run(exec); };
  const auto run_graph = [&] { return f.run(value_of(gpu::graph_exec::instantiate(f.graph))); };
  CHECK(
      check([&](const other_module& other) { return exec.set(node, other.adds(f, 3)); }, run_exec));
  CHECK(check(
      [&](const other_module& other) -> gpu::result<> {
        const gpu::graph changed = empty_graph();
        GPU_TRY(changed.add({}, other.adds(f, 4)));
        return exec.update(changed);
      },
      run_exec));
  CHECK(check([&](const other_module& other) { return gpu::set(f.graph, node, other.adds(f, 5)); },
              run_graph));
  // A node that fails to be added is taken out again.
  CHECK_FALSE(check(
      [&](const other_module& other) -> gpu::result<> {
        GPU_TRY(f.graph.add({}, other.adds(f, 6)));
        return {};
      },
      run_graph));
}

TEST_CASE("graph: a launch goes on where it was the last to need a module", "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  value_of(f.graph.add({}, other.adds(f, 3)));
  other.end();
  {
    const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
    f.graph = empty_graph();
    value_of(gpu::launch(f.stream, exec));
  }
  value_of(f.stream.synchronize());
  CHECK(f.first() == 3);
  CHECK(just_ended(unloads, other.native));
}

TEST_CASE("graph: a clone keeps the modules of the original", "[graph][module]") {
  graph_fixture f;
  for (const bool foreign : {false, true}) {
    CAPTURE(foreign);
    other_module other;
    gpu::graph original = foreign ? foreign_graph(f) : empty_graph();
    const noted_unloads unloads;
    value_of(original.add({}, other.adds(f, 3)));
    other.end();
    gpu::graph copy = value_of(gpu::graph::clone(original));
    original = empty_graph();
    std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(copy));
    copy = empty_graph();
    f.set(0);
    CHECK(f.run(*exec) == 3);
    CHECK(unloads.count() == 0);
    exec.reset();
    CHECK(comes_to_be_unloaded(unloads, other.native));
  }
}

TEST_CASE("graph: a clone has its modules to itself", "[graph][module]") {
  graph_fixture f;
  other_module first, second;
  const noted_unloads unloads;
  value_of(f.graph.add({}, first.adds(f, 3)));
  gpu::graph copy = value_of(gpu::graph::clone(f.graph));
  value_of(copy.add({}, second.adds(f, 4)));
  second.end();
  copy = empty_graph();
  CHECK(just_ended(unloads, second.native));
  first.end();
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 3);
  CHECK(unloads.count() == 1);
  f.graph = empty_graph();
  CHECK(unloads.count() == 2);
}

TEST_CASE("graph: a child that is a copy brings its modules", "[graph][module]") {
  graph_fixture f;
  for (const bool set_later : {false, true}) {
    CAPTURE(set_later);
    other_module other;
    const noted_unloads unloads;
    const noted_objects objects;
    gpu::graph parent = empty_graph(), child = empty_graph(), none = empty_graph();
    value_of(child.add({}, other.adds(f, 3)));
    other.end();
    if (set_later) {
      const auto node = value_of(parent.add({}, gpu::child_graph_node(none)));
      value_of(gpu::set(parent, node, gpu::child_graph_node(child)));
    } else {
      value_of(parent.add({}, gpu::child_graph_node(child)));
    }
    child = empty_graph();
    CHECK(run_alone(f, parent, unloads, other.native) == "");
    CHECK(objects.count() == 0);
  }
}

TEST_CASE("graph: a child that is moved brings its modules, those to come too", "[graph][module]") {
  graph_fixture f;
  other_module first, second, third;
  const noted_unloads unloads;
  const noted_objects objects;
  gpu::graph parent = empty_graph(), child = empty_graph(), inner = empty_graph();
  const gpu::graph_ref name = child, inner_name = inner;
  const auto node = value_of(child.add({}, first.adds(f, 3)));
  const auto within = value_of(child.add(node, gpu::child_graph_node(std::move(inner))));
  value_of(parent.add({}, gpu::child_graph_node(std::move(child))));
  value_of(inner_name.add({}, second.adds(f, 4)));
  value_of(name.add(within, third.adds(f, 5)));
  for (other_module* each : {&first, &second, &third}) each->end();
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(parent));
  std::optional<gpu::graph> copy = value_of(gpu::graph::clone(name));
  parent = empty_graph();
  CHECK(f.run(*exec) == 12);
  exec.reset();
  CHECK(unloads.count() == 0);
  exec = value_of(gpu::graph_exec::instantiate(*copy));
  copy.reset();
  CHECK(f.run(*exec) == 24);
  CHECK(unloads.count() == 0);
  exec.reset();
  CHECK(unloads.count() == 3);
  CHECK(objects.count() == 0);
}

TEST_CASE("graph: a child that could not be moved keeps its modules", "[graph][module]") {
  graph_fixture f;
  for (const bool foreign : {false, true}) {
    CAPTURE(foreign);
    other_module other;
    const noted_unloads unloads;
    gpu::graph parent = foreign ? foreign_graph(f) : empty_graph(), child = empty_graph();
    value_of(child.add({}, other.adds(f, 3)));
    gpu::child_graph_node moved(std::move(child));
    {
      gpu::driver::entry_points table = gpu::driver::current_entry_points();
      table.graph_add_node = [](CUgraphNode*, CUgraph, const CUgraphNode*, const CUgraphEdgeData*,
                                std::size_t,
                                CUgraphNodeParams*) { return CUDA_ERROR_OUT_OF_MEMORY; };
      const gpu::driver::scoped_entry_points in_force(table);
      CHECK(error_of(parent.add({}, moved)).code() == CUDA_ERROR_OUT_OF_MEMORY);
    }
    other.end();
    gpu::graph second = empty_graph();
    value_of(second.add({}, moved));
    parent = empty_graph();
    CHECK(unloads.count() == 0);
    std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(second));
    second = empty_graph();
    f.set(0);
    CHECK(f.run(*exec) == 3);
    CHECK(unloads.count() == 0);
    exec.reset();
    CHECK(comes_to_be_unloaded(unloads, other.native));
  }
}

TEST_CASE("graph: a graph is not moved into what is inside of it", "[graph][refusals]") {
  graph_fixture f;
  gpu::graph outer = empty_graph(), inner = empty_graph();
  const gpu::graph_ref inner_name = inner;
  value_of(outer.add({}, gpu::child_graph_node(std::move(inner))));
  const auto condition = value_of(gpu::graph_condition::create(f.graph, 1));
  gpu::conditional_node once(gpu::conditional_kind::if_, condition);
  value_of(f.graph.add({}, once));
  const test::noted_calls<&gpu::driver::entry_points::graph_add_node> added;
  gpu::child_graph_node moved(std::move(outer)), around(std::move(f.graph));
  for (const gpu::cuda_error& error :
       {error_of(inner_name.add({}, moved)), error_of(once.body().add({}, around))}) {
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(test::says(error, "gpu::child_graph_node", "cannot contain itself", "gpu::graph::clone"));
  }
  CHECK(added.count() == 0);
}

TEST_CASE("graph: the bodies of conditional nodes keep the modules of their kernels",
          "[graph][module][conditional]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  const noted_objects objects;
  const auto outer = value_of(gpu::graph_condition::create(f.graph, 1));
  const auto inner = value_of(gpu::graph_condition::create(f.graph, 1));
  gpu::conditional_node once(gpu::conditional_kind::if_, outer);
  value_of(f.graph.add({}, once));
  gpu::conditional_node within(gpu::conditional_kind::if_, inner);
  value_of(once.body().add({}, within));
  value_of(within.body().add({}, other.adds(f, 3)));
  other.end();
  CHECK(run_alone(f, f.graph, unloads, other.native) == "");
  CHECK(objects.count() == 0);
}

TEST_CASE("graph: one that was released keeps its modules", "[graph][module]") {
  graph_fixture f;
  for (const bool adopted : {false, true}) {
    CAPTURE(adopted);
    other_module first, second;
    const noted_unloads unloads;
    const gpu::graph_ref before = f.graph;
    value_of(f.graph.add({}, first.adds(f, 3)));
    gpu::graph_ref released = f.graph.release();
    CHECK(f.graph.native() == nullptr);
    CHECK(released == before);
    value_of(before.add({}, second.adds(f, 4)));  // it names the graph still
    first.end();
    second.end();
    std::optional<gpu::graph> owner;
    if (adopted) owner = gpu::graph::adopt(released);
    {
      const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(released));
      f.set(0);
      CHECK(f.run(exec) == 7);
    }
    CHECK(unloads.count() == 0);
    if (adopted) {
      owner.reset();
    } else {
      CHECK(test::driver().graph_destroy(released.native()) == CUDA_SUCCESS);
    }
    for (int i = 0; i < 1000 && unloads.count() < 2; ++i) {
      f.graph = empty_graph();
      if (unloads.count() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(unloads.count() == 2);
    f.graph = empty_graph();
  }
}

TEST_CASE("graph: one that the driver does not let keep its modules is released all the same",
          "[graph][module]") {
  graph_fixture f;
  other_module other;
  value_of(f.graph.add({}, other.adds(f, 3)));
  gpu::driver::entry_points table = test::driver();
  table.user_object_create = [](CUuserObject*, void*, CUhostFn, unsigned, unsigned) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const noted_unloads unloads;
  const test::reported_errors reported;
  const gpu::graph_ref released = f.graph.release();
  CHECK(reported.count() == 1);
  CHECK(reported.last().find("cuUserObjectCreate") != std::string::npos);
  other.end();
  CHECK(just_ended(unloads, other.native));
  CHECK(test::driver().graph_destroy(released.native()) == CUDA_SUCCESS);
}

TEST_CASE("graph: what a module released is the caller's, whatever graphs have",
          "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  value_of(f.graph.add({}, other.adds(f, 3)));
  CHECK(other.code->release() == other.native);
  f.graph = empty_graph();
  other.end();
  CHECK(unloads.count() == 0);
  CHECK(test::driver().library_unload(other.native) == CUDA_SUCCESS);
}

TEST_CASE("graph: threads that let go of a module unload it once", "[graph][module]") {
  graph_fixture f;
  for (int round = 0; round < 20; ++round) {
    other_module other;
    const noted_unloads unloads;
    std::vector<gpu::graph> graphs;
    for (int i = 0; i < 3; ++i) {
      graphs.push_back(i == 0 ? foreign_graph(f) : empty_graph());
      value_of(graphs.back().add({}, other.adds(f, 3)));
    }
    std::vector<std::thread> threads;
    for (gpu::graph& each : graphs)
      threads.emplace_back([&each] { const gpu::graph gone = std::move(each); });
    threads.emplace_back([&other] { other.end(); });
    for (std::thread& each : threads) each.join();
    CHECK(comes_to_be_unloaded(unloads, other.native));
  }
}

}  // namespace
}  // namespace graph_keeper_test
