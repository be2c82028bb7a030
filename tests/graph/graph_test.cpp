// Graphs: nodes, edges, clones, what they keep alive, and running them.

#include "graph/graph_fixture.hpp"
#include "support/drivers.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/child_graph_node.hpp>
#include <gpu/graph/event_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/graph_results.hpp>
#include <gpu/graph/host_node.hpp>
#include <gpu/graph/kernel_node.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace graph_test {

using test::error_of;
using test::graph_fixture;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<gpu::graph>);
static_assert(std::is_nothrow_move_constructible_v<gpu::graph>);
static_assert(std::is_nothrow_move_constructible_v<gpu::graph_exec>);
static_assert(std::is_trivially_copyable_v<gpu::graph_ref>);
static_assert(std::is_trivially_copyable_v<gpu::graph_node>);
static_assert(std::is_convertible_v<gpu::graph&, gpu::graph_ref>);
static_assert(!std::is_convertible_v<gpu::graph, gpu::graph_ref>);
static_assert(gpu::node_description<gpu::empty_node>);
static_assert(!gpu::node_description<int>);

TEST_CASE("graph: nodes run in the order of their edges", "[graph]") {
  graph_fixture f;
  // (0 + 3) * 2 + 1, added in another order than they run.
  const gpu::graph_node last = value_of(f.graph.add({}, f.adds(1)));
  const gpu::graph_node first = value_of(f.graph.add({}, f.adds(3)));
  const gpu::graph_node middle = value_of(f.graph.add(first, f.doubles()));
  value_of(f.graph.connect(middle, last));
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  CHECK(f.run(exec) == 7);
  CHECK(f.run(exec) == (7 + 3) * 2 + 1);

  CHECK(value_of(gpu::kind_of(first)) == gpu::graph_node_kind::kernel);
  CHECK(value_of(f.graph.nodes()).size() == 3);
  const gpu::graph_node_list roots = value_of(f.graph.root_nodes());
  REQUIRE(roots.size() == 1);
  CHECK(roots[0] == first);
  CHECK(value_of(gpu::dependencies_of(middle)).contains(first));
  CHECK(value_of(gpu::dependencies_of(first)).empty());
  CHECK(value_of(gpu::dependents_of(middle)).contains(last));
}

TEST_CASE("graph: copies, fills, host functions and children are nodes", "[graph]") {
  graph_fixture f;
  std::vector<unsigned> in(16, 5), out(16, 0);
  int calls = 0;
  unsigned seen = 0;
  gpu::graph inner = value_of(gpu::graph::create(f.device));
  value_of(inner.add({}, f.doubles()));
  const auto fill = value_of(f.graph.add({}, gpu::fill_node(f.x, 1u)));
  const auto copy = value_of(f.graph.add(fill, gpu::copy_node(in, f.x)));
  const auto child = value_of(f.graph.add(copy, gpu::child_graph_node(inner)));
  const auto empty = value_of(f.graph.add({child, fill}, gpu::empty_node{}));
  const auto back = value_of(f.graph.add(empty, gpu::copy_node(f.x, out)));
  const auto host = value_of(f.graph.add(back, gpu::host_node([&] {
                                           ++calls;
                                           seen = out[0];
                                         })));
  CHECK(value_of(gpu::kind_of(fill)) == gpu::graph_node_kind::fill);
  CHECK(value_of(gpu::kind_of(copy)) == gpu::graph_node_kind::copy);
  CHECK(value_of(gpu::kind_of(child)) == gpu::graph_node_kind::child_graph);
  CHECK(value_of(gpu::kind_of(empty)) == gpu::graph_node_kind::empty);
  CHECK(value_of(gpu::kind_of(host)) == gpu::graph_node_kind::host_function);
  CHECK(value_of(value_of(gpu::child_of(child)).nodes()).size() == 1);
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  value_of(gpu::upload(f.stream, exec));
  CHECK(f.run(exec) == 10);
  CHECK(out[0] == 10);
  CHECK(out[15] == 5);
  in.assign(16, 8);  // read anew by each launch
  CHECK(f.run(exec) == 16);
  CHECK(calls == 2);
  CHECK(seen == 16);
}

TEST_CASE("graph: an edge that makes a circle is found when it is instantiated", "[graph]") {
  graph_fixture f;
  const auto a = value_of(f.graph.add({}, f.adds(1)));
  const auto b = value_of(f.graph.add(a, f.adds(1)));
  value_of(f.graph.connect(b, a));
  const gpu::cuda_error error = error_of(gpu::graph_exec::instantiate(f.graph));
  CHECK(says(error, "cuGraphInstantiateWithParams", "cycle"));
  CHECK(error.asked() ==
        static_cast<std::uint64_t>(gpu::graph_instantiate_result::invalid_structure));
  value_of(f.graph.disconnect(b, a));
  CHECK(gpu::graph_exec::instantiate(f.graph).has_value());
  CHECK(error_of(f.graph.disconnect(b, a)).code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(error_of(f.graph.connect(a, b)).code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(error_of(f.graph.connect(a, a)) == gpu::errc::invalid_argument);
}

TEST_CASE("graph: a removed node takes its edges along", "[graph]") {
  graph_fixture f;
  const auto a = value_of(f.graph.add({}, f.adds(1)));
  const auto b = value_of(f.graph.add(a, f.adds(2)));
  value_of(f.graph.add(b, f.adds(4)));
  value_of(f.graph.remove(b));
  CHECK(value_of(f.graph.nodes()).size() == 2);
  CHECK(value_of(f.graph.root_nodes()).size() == 2);
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 5);
}

TEST_CASE("graph: a clone is independent and knows its originals", "[graph]") {
  graph_fixture f;
  const auto a = value_of(f.graph.add({}, f.adds(1)));
  const gpu::graph copy = value_of(gpu::graph::clone(f.graph));
  const auto twin = value_of(copy.find_clone_of(a));
  CHECK(!(twin == a));
  value_of(gpu::set(copy, twin, f.adds(40)));
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(copy))) == 40);
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 41);
  const gpu::cuda_error none = error_of(f.graph.find_clone_of(a));
  CHECK(none.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(none, "no node of this graph is a copy of that node"));
}

TEST_CASE("graph: nodes are edited in the graph and in the executable graph", "[graph]") {
  graph_fixture f;
  const auto a = value_of(f.graph.add({}, f.adds(1)));
  const auto b = value_of(f.graph.add(a, f.adds(10)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  value_of(gpu::set(f.graph, a, f.adds(2)));
  CHECK(f.run(exec) == 11);  // as it was when it was instantiated
  value_of(exec.set(b, f.adds(100)));
  CHECK(f.run(exec) == 11 + 101);
  value_of(exec.update(f.graph));
  f.set(0);
  CHECK(f.run(exec) == 12);

  CHECK(value_of(exec.is_enabled(b)));
  value_of(exec.set_enabled(b, false));
  CHECK_FALSE(value_of(exec.is_enabled(b)));
  CHECK(f.run(exec) == 14);
  value_of(exec.set_enabled(b, true));
  CHECK(f.run(exec) == 26);
  CHECK(error_of(exec.set(b, gpu::fill_node(f.x, 1u))).code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(error_of(gpu::set(f.graph, b, gpu::fill_node(f.x, 1u))).code() == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("graph: an update that is refused says why", "[graph]") {
  graph_fixture f;
  const auto a = value_of(f.graph.add({}, f.adds(1)));
  value_of(f.graph.add(a, f.adds(1)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  static CUgraphNode told;  // the node that the driver minds, which it need not tell
  static const gpu::driver::entry_points* real;
  real = &test::driver();
  gpu::driver::entry_points table = *real;
  table.graph_exec_update = [](CUgraphExec into, CUgraph from, CUgraphExecUpdateResultInfo* why) {
    const CUresult code = real->graph_exec_update(into, from, why);
    told = why->errorNode;
    return code;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const auto refused = [&](const gpu::graph& other) {
    const gpu::cuda_error error = error_of(exec.update(other));
    CHECK(error.code() == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    CUgraphNodeType kind{};
    const bool known = told != nullptr && real->graph_node_get_type(told, &kind) == CUDA_SUCCESS;
    const std::string place = std::string(", for a node of kind ") +
                              gpu::name_of(static_cast<gpu::graph_node_kind>(kind));
    CHECK(error.message().contains(place.c_str()) == known);
    const auto why = static_cast<gpu::graph_update_result>(error.asked());
    CHECK(says(error, gpu::name_of(why), "instantiate the new graph"));
    return why;
  };
  gpu::graph other = value_of(gpu::graph::create(f.device));
  const auto b = value_of(other.add({}, f.adds(7)));
  CHECK(refused(other) == gpu::graph_update_result::topology_changed);
  const auto c = value_of(other.add({}, f.adds(7)));
  CHECK(refused(other) == gpu::graph_update_result::topology_changed);
  value_of(other.connect(b, c));
  value_of(exec.update(other));
  CHECK(f.run(exec) == 14);
  value_of(other.remove(c));
  value_of(other.add(b, gpu::empty_node{}));
  CHECK(refused(other) == gpu::graph_update_result::node_type_changed);
  CHECK(f.run(exec) == 28);  // as before
}

TEST_CASE("graph: callables and kept objects live as long as anything needs them", "[graph]") {
  graph_fixture f;
  const auto shared = std::make_shared<int>(0);
  value_of(f.graph.add({}, gpu::host_node([mine = shared] { ++*mine; })));
  CHECK(shared.use_count() == 2);
  {
    gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
    const gpu::graph gone = std::move(f.graph);
    f.graph = value_of(gpu::graph::create(f.device));
    value_of(gpu::launch(f.stream, exec));
  }
  value_of(f.stream.synchronize());
  CHECK(*shared == 1);
  // A device's driver may tell late that a graph is gone.
  for (int i = 0; i < 1000 && shared.use_count() != 1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(shared.use_count() == 1);
}

TEST_CASE("graph: what it cannot keep is destroyed at once", "[graph][faults]") {
  graph_fixture f;
  gpu::testing::fault_injection faults(test::driver());
  const gpu::driver::scoped_entry_points in_force(faults.entry_points());
  for (const char* call : {"cuUserObjectCreate", "cuGraphRetainUserObject"}) {
    INFO(call);
    const auto shared = std::make_shared<int>(0);
    faults.fail_call(call, 0, CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(error_of(f.graph.keep(shared)).code() == CUDA_ERROR_OUT_OF_MEMORY);
    // The driver may tell late that the object is nobody's.
    for (int i = 0; i < 1000 && shared.use_count() != 1; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      value_of(gpu::graph::create(f.device));
    }
    CHECK(shared.use_count() == 1);
  }
  const auto shared = std::make_shared<int>(0);
  faults.fail_call("cuUserObjectCreate", 0, CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_FALSE(f.graph.keep(shared).has_value());
  CHECK(shared.use_count() == 1);
}

TEST_CASE("graph: a kept buffer is freed after the graph", "[graph][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const std::size_t before = driver.live_objects();
  {
    gpu::graph graph = value_of(gpu::graph::create(device));
    auto buffer = value_of(gpu::device_buffer<unsigned>::create(device, 64));
    value_of(graph.add({}, gpu::fill_node(buffer, 9u)));
    value_of(graph.keep(std::move(buffer)));
    gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
    graph = value_of(gpu::graph::create(device));
    CHECK(driver.live_objects() == before + 3);  // the exec, the new graph and the buffer
    value_of(gpu::launch(stream, exec));
    value_of(stream.synchronize());
  }
  CHECK(driver.live_objects() == before);
}

TEST_CASE("graph: events order it with the work outside", "[graph]") {
  graph_fixture f;
  const gpu::event start = value_of(gpu::event::create(f.device));
  const gpu::event end = value_of(gpu::event::create(f.device));
  const auto wait = value_of(f.graph.add({}, gpu::event_wait_node(start)));
  const auto work = value_of(f.graph.add(wait, f.doubles()));
  const auto record = value_of(f.graph.add(work, gpu::event_record_node(end)));
  CHECK(value_of(gpu::kind_of(wait)) == gpu::graph_node_kind::event_wait);
  CHECK(value_of(gpu::kind_of(record)) == gpu::graph_node_kind::event_record);
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  const gpu::stream other = value_of(gpu::stream::create(f.device));
  value_of(gpu::fill(other, f.x, 21u));
  value_of(gpu::record(other, start));
  value_of(gpu::launch(f.stream, exec));
  value_of(end.synchronize());
  CHECK(f.first() == 42);
}

TEST_CASE("graph: memory that it allocates and frees", "[graph]") {
  graph_fixture f;
  gpu::allocation_node<unsigned> scratch(16);
  CHECK(scratch.span().size() == 0);
  const auto made = value_of(f.graph.add({}, scratch));
  CHECK(value_of(gpu::kind_of(made)) == gpu::graph_node_kind::allocation);
  REQUIRE(scratch.span().size() == 16);
  const auto filled = value_of(f.graph.add(made, gpu::fill_node(scratch.span(), 6u)));
  const auto copied = value_of(f.graph.add(filled, gpu::copy_node(scratch.span(), f.x)));
  const auto freed = value_of(f.graph.add(copied, gpu::free_node(scratch.span())));
  CHECK(value_of(gpu::kind_of(freed)) == gpu::graph_node_kind::free);
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  CHECK(f.run(exec) == 6);
  f.set(0);
  CHECK(f.run(exec) == 6);
  CHECK(error_of(f.graph.add({}, gpu::free_node(f.x.span()))).code() == CUDA_ERROR_INVALID_VALUE);
  // There is no copy of it, and no graph that holds one.
  CHECK(error_of(gpu::graph::clone(f.graph)).code() == CUDA_ERROR_NOT_SUPPORTED);
  const gpu::graph parent = value_of(gpu::graph::create(f.device));
  CHECK(error_of(parent.add({}, gpu::child_graph_node(f.graph))).code() ==
        CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("graph: memory that nobody frees holds up the next launch, or is freed by it",
          "[graph]") {
  graph_fixture f;
  gpu::allocation_node<unsigned> scratch(16);
  value_of(f.graph.add({}, scratch));
  {
    const gpu::graph_exec exec =
        value_of(gpu::graph_exec::instantiate(f.graph, {.auto_free_on_launch = true}));
    CHECK(value_of(exec.options()).auto_free_on_launch);
    CHECK_FALSE(value_of(exec.options()).use_node_priority);
    value_of(gpu::launch(f.stream, exec));
    value_of(gpu::launch(f.stream, exec));
    value_of(f.stream.synchronize());
  }
  const gpu::cuda_error error =
      error_of(gpu::graph_exec::instantiate(f.graph, {true, true, false}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "omit one of them"));
}

TEST_CASE("graph: what is wrong with a description is said before the driver is asked", "[graph]") {
  graph_fixture f;
  std::vector<unsigned> host(3);
  gpu::cuda_error error = error_of(f.graph.add({}, gpu::copy_node(host, f.x)));
  CHECK(error == gpu::errc::size_mismatch);
  CHECK(says(error, "3", "16"));
  error = error_of(f.graph.add({}, gpu::fill_node(f.x.span().first(0), 1u)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::fill_node", "0 elements"));
  const auto nothing = f.x.span().first(0);
  error = error_of(f.graph.add({}, gpu::copy_node(nothing, nothing)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::copy_node", "cannot copy 0 elements"));
  error = error_of(f.graph.add({}, gpu::kernel_node({1, 2048}, f.twice, f.x)));
  CHECK(error == gpu::errc::invalid_launch);
  CHECK(says(error, "gpu::kernel_node", "2048", "1024"));
  CHECK(error_of(f.graph.add({}, gpu::kernel_node({1, 1}, gpu::kernel<unsigned*>{}, f.x))) ==
        gpu::errc::empty_handle);
  std::vector<CUlaunchAttribute> many(32);
  gpu::launch_config config{
      .grid = 1,
      .block = 1,
      .attributes = gpu::launch_attributes_ref::from_native(many.data(), many.size())};
  error = error_of(f.graph.add({}, gpu::kernel_node(config, f.twice, f.x)));
  CHECK(error == gpu::errc::invalid_launch);
  CHECK(says(error, "gpu::kernel_node", "32 launch attributes", "limit of 31"));
  config.attributes = gpu::launch_attributes_ref::from_native(nullptr, 2);
  error = error_of(f.graph.add({}, gpu::kernel_node(config, f.twice, f.x)));
  CHECK(error == gpu::errc::invalid_launch);
  CHECK(says(error, "gpu::kernel_node", "config.attributes has size 2 but a null pointer"));
  error = error_of(
      f.graph.add({}, gpu::kernel_node({.grid = 64, .block = 1, .cluster = 64}, f.twice, f.x)));
  CHECK(error == gpu::errc::invalid_launch);
  CHECK(error.asked() == 64);
  CHECK(says(error, "gpu::kernel_node", "a cluster of {64, 1, 1} has 64 blocks"));
  many[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  many[0].value.cooperative = 1;
  error = error_of(f.graph.add(
      {}, gpu::kernel_node({.grid = 1u << 20,
                            .block = 1,
                            .attributes = gpu::launch_attributes_ref::from_native(many.data(), 1)},
                           f.twice, f.x)));
  CHECK(error == gpu::errc::invalid_launch);
  CHECK(error.asked() == 1u << 20);
  CHECK(says(error, "gpu::kernel_node", "the cooperative grid of {1048576, 1, 1}"));
  error = error_of(f.graph.add({}, gpu::allocation_node<int>(0)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::allocation_node", "cannot allocate 0 elements"));
  CHECK(error_of(f.graph.add({}, gpu::allocation_node<int>(~std::size_t{0}))) ==
        gpu::errc::size_overflow);
  CHECK(error_of(f.graph.add({}, gpu::child_graph_node(gpu::graph_ref{}))) ==
        gpu::errc::empty_handle);
  error = error_of(f.graph.add({}, gpu::child_graph_node(f.graph)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "cannot contain itself"));
  CHECK(error_of(f.graph.add(gpu::graph_node{}, gpu::empty_node{})) == gpu::errc::empty_handle);
  CHECK(value_of(f.graph.nodes()).empty());
}

TEST_CASE("graph: an empty one is refused by name", "[graph]") {
  graph_fixture f;
  const gpu::graph taken = std::move(f.graph);
  const gpu::cuda_error error = error_of(f.graph.nodes());
  CHECK(error == gpu::errc::empty_handle);
  CHECK(says(error, "gpu::graph::nodes", "graph is empty", "graph_test.cpp"));
  CHECK(error_of(f.graph.add({}, gpu::empty_node{})) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::graph::clone(f.graph)) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::graph::create(gpu::context_ref{})) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::graph_exec::instantiate(f.graph)) == gpu::errc::empty_handle);
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(taken));
  const gpu::graph_exec moved = std::move(exec);
  CHECK(error_of(gpu::launch(f.stream, exec)) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::upload(f.stream, exec)) == gpu::errc::empty_handle);
  CHECK(error_of(exec.update(taken)) == gpu::errc::empty_handle);
  CHECK(error_of(exec.options()) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::kind_of(gpu::graph_node{})) == gpu::errc::empty_handle);
  CHECK(gpu::launch(f.stream, moved).has_value());
  CHECK(f.stream.synchronize().has_value());
}

TEST_CASE("graph: every kind of node and every reason has a name", "[graph]") {
  for (int kind = CU_GRAPH_NODE_TYPE_KERNEL; kind <= CU_GRAPH_NODE_TYPE_CONDITIONAL; ++kind)
    CHECK(gpu::name_of(static_cast<gpu::graph_node_kind>(kind)) != nullptr);
  CHECK(gpu::name_of(static_cast<gpu::graph_node_kind>(14)) == nullptr);
  CHECK(std::string(gpu::name_of(gpu::graph_node_kind::conditional)) == "conditional");
  for (int why = 0; why <= CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED; ++why)
    CHECK(gpu::name_of(static_cast<gpu::graph_update_result>(why)) != nullptr);
  CHECK(gpu::name_of(static_cast<gpu::graph_update_result>(9)) == nullptr);
  for (int why = 0; why <= CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED; ++why)
    CHECK(gpu::name_of(static_cast<gpu::graph_instantiate_result>(why)) != nullptr);
  CHECK(gpu::name_of(static_cast<gpu::graph_instantiate_result>(6)) == nullptr);
}

}  // namespace graph_test
