// What graphs refuse by themselves, what they say of the driver's refusals, and what a capture does
// to the calls about them.

#include "graph/graph_fixture.hpp"
#include "support/drivers.hpp"
#include "support/host_memory.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/child_graph_node.hpp>
#include <gpu/graph/conditional_node.hpp>
#include <gpu/graph/dependencies.hpp>
#include <gpu/graph/event_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_dot.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/host_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/graph/stream_capture.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>

namespace graph_refusals_test {

using test::error_of;
using test::graph_fixture;
using test::is_empty;
using test::says;
using test::value_of;

TEST_CASE("graph: every call names the handle that is empty", "[graph][refusals]") {
  graph_fixture f;
  const gpu::graph_ref none;
  const gpu::graph_node no_node;
  const auto node = value_of(f.graph.add({}, gpu::empty_node{}));
  CHECK(is_empty(none.add({}, gpu::empty_node{}), "gpu::graph::add", "graph"));
  CHECK(is_empty(f.graph.add({node, no_node}, gpu::empty_node{}), "gpu::graph::add", "graph node"));
  CHECK(is_empty(f.graph.add({}, gpu::event_record_node(gpu::event_ref{})),
                 "gpu::event_record_node", "event"));
  CHECK(is_empty(f.graph.add({}, gpu::event_wait_node(gpu::event_ref{})), "gpu::event_wait_node",
                 "event"));
  CHECK(is_empty(none.remove(node), "gpu::graph::remove", "graph"));
  CHECK(is_empty(f.graph.remove(no_node), "gpu::graph::remove", "graph node"));
  CHECK(is_empty(none.connect(node, node), "gpu::graph::connect", "graph"));
  CHECK(is_empty(f.graph.connect(no_node, node), "gpu::graph::connect", "graph node"));
  CHECK(is_empty(f.graph.connect(node, no_node), "gpu::graph::connect", "graph node"));
  CHECK(is_empty(none.connect(no_node, node, gpu::graph_dependency::launch_order),
                 "gpu::graph::connect", "graph is"));
  CHECK(is_empty(none.disconnect(node, node), "gpu::graph::disconnect", "graph"));
  CHECK(is_empty(f.graph.disconnect(node, no_node), "gpu::graph::disconnect", "graph node"));
  CHECK(is_empty(none.nodes(), "gpu::graph::nodes", "graph"));
  CHECK(is_empty(none.root_nodes(), "gpu::graph::root_nodes", "graph"));
  CHECK(is_empty(none.find_clone_of(node), "gpu::graph::find_clone_of", "graph"));
  CHECK(is_empty(f.graph.find_clone_of(no_node), "gpu::graph::find_clone_of", "graph node"));
  CHECK(is_empty(none.keep(1), "gpu::graph::keep", "graph"));
  CHECK(is_empty(gpu::write_dot(none, "/dev/null"), "gpu::write_dot", "graph"));
  CHECK(is_empty(gpu::graph::clone(none), "gpu::graph::clone", "graph"));
  CHECK(is_empty(gpu::graph::create(gpu::context_ref{}), "gpu::graph::create", "context"));
  CHECK(is_empty(gpu::set(none, node, gpu::empty_node{}), "gpu::set", "graph"));
  CHECK(is_empty(gpu::set(f.graph, no_node, gpu::empty_node{}), "gpu::set", "graph node"));
  CHECK(is_empty(gpu::kind_of(no_node), "gpu::kind_of", "graph node"));
  CHECK(is_empty(gpu::child_of(no_node), "gpu::child_of", "graph node"));
  CHECK(is_empty(gpu::dependencies_of(no_node), "gpu::dependencies_of", "graph node"));
  CHECK(is_empty(gpu::dependents_of(no_node), "gpu::dependents_of", "graph node"));
  CHECK(is_empty(gpu::graph_condition::create(none), "gpu::graph_condition::create", "graph"));

  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  CHECK(is_empty(gpu::graph_exec::instantiate(none), "gpu::graph_exec::instantiate", "graph"));
  CHECK(is_empty(exec.update(none), "gpu::graph_exec::update", "graph"));
  CHECK(is_empty(exec.set(no_node, gpu::empty_node{}), "gpu::graph_exec::set", "graph node"));
  CHECK(is_empty(exec.set_enabled(no_node, true), "gpu::graph_exec::set_enabled", "graph node"));
  CHECK(is_empty(exec.is_enabled(no_node), "gpu::graph_exec::is_enabled", "graph node"));
  CHECK(is_empty(gpu::launch(gpu::stream_ref{}, exec), "gpu::launch", "stream"));
  CHECK(is_empty(gpu::upload(gpu::stream_ref{}, exec), "gpu::upload", "stream"));
  const gpu::graph_exec owner = std::move(exec);
  CHECK(is_empty(exec.update(f.graph), "gpu::graph_exec::update", "executable graph"));
  CHECK(is_empty(exec.set(node, gpu::empty_node{}), "gpu::graph_exec::set", "executable graph"));
  CHECK(is_empty(exec.set_enabled(node, true), "gpu::graph_exec::set_enabled", "executable graph"));
  CHECK(is_empty(exec.is_enabled(node), "gpu::graph_exec::is_enabled", "executable graph"));
  CHECK(is_empty(exec.options(), "gpu::graph_exec::options", "executable graph"));
  CHECK(is_empty(gpu::launch(f.stream, exec), "gpu::launch", "executable graph"));
  CHECK(is_empty(gpu::upload(f.stream, exec), "gpu::upload", "executable graph"));
}

TEST_CASE("capture: every call names the handle that is empty", "[graph][capture][refusals]") {
  graph_fixture f;
  const gpu::stream_ref none;
  const gpu::graph_node no_node;
  CHECK(is_empty(gpu::stream_capture::begin(none), "gpu::stream_capture::begin", "stream"));
  CHECK(
      is_empty(gpu::stream_capture::begin(none, f.graph), "gpu::stream_capture::begin", "stream"));
  CHECK(is_empty(gpu::stream_capture::begin(f.stream, gpu::graph_ref{}),
                 "gpu::stream_capture::begin", "graph"));
  CHECK(is_empty(gpu::stream_capture::begin(f.stream, f.graph, no_node),
                 "gpu::stream_capture::begin", "graph node"));
  CHECK(is_empty(gpu::capture_of(none), "gpu::capture_of", "stream"));
  const gpu::event event = value_of(gpu::event::create(f.device));
  const gpu::event_ref no_event;
  CHECK(is_empty(gpu::record_external(none, event), "gpu::record_external", "stream"));
  CHECK(is_empty(gpu::record_external(f.stream, no_event), "gpu::record_external", "event"));
  CHECK(is_empty(gpu::wait_external(none, event), "gpu::wait_external", "stream"));
  CHECK(is_empty(gpu::wait_external(f.stream, no_event), "gpu::wait_external", "event"));
  CHECK(
      is_empty(gpu::add_capture_dependencies(none, {}), "gpu::add_capture_dependencies", "stream"));
  CHECK(is_empty(gpu::add_capture_dependencies(f.stream, no_node), "gpu::add_capture_dependencies",
                 "graph node"));
  CHECK(
      is_empty(gpu::set_capture_dependencies(none, {}), "gpu::set_capture_dependencies", "stream"));
  CHECK(is_empty(gpu::set_capture_dependencies(f.stream, no_node), "gpu::set_capture_dependencies",
                 "graph node"));
}

TEST_CASE("graph: no room for nodes, callables and objects on the host",
          "[graph][refusals][faults][cpu]") {
  CHECK(test::sweep_host_memory([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
          const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
          GPU_TRY(graph.add({}, gpu::host_node([] {})));
          GPU_TRY(graph.keep(GPU_TRY(gpu::event::create(device))));
          for (int i = 0; i < 9; ++i) GPU_TRY(graph.add({}, gpu::empty_node{}));
          const auto join = GPU_TRY(graph.add(GPU_TRY(graph.nodes()), gpu::empty_node{}));
          auto capture = GPU_TRY(gpu::stream_capture::begin(stream, graph, join));
          GPU_TRY(gpu::capture_of(stream));
          GPU_TRY(capture.end());
          return {};
        }) == "");
  // The sentence, and that it names the function.
  if (!test::failing_allocation::possible()) return;
  test::own_cpu_driver driver;
  const gpu::graph graph = value_of(gpu::graph::create(test::first_device()));
  for (int i = 0; i < 9; ++i) value_of(graph.add({}, gpu::empty_node{}));
  const auto nine = value_of(graph.nodes());
  {
    const test::failing_allocation failing(0);
    const gpu::cuda_error error = error_of(graph.nodes());
    CHECK(says(error, "gpu::graph::nodes", "a list of 9 nodes", "free host memory"));
  }
  const auto join = value_of(graph.add(nine, gpu::empty_node{}));
  {
    const test::failing_allocation list(0);
    CHECK(error_of(gpu::dependencies_of(join)) == gpu::errc::out_of_host_memory);
  }
  {
    const test::failing_allocation edge_data(1);
    CHECK(error_of(gpu::dependencies_of(join)) == gpu::errc::out_of_host_memory);
  }
  const test::failing_allocation failing(0);
  CHECK(says(error_of(graph.add(nine, gpu::empty_node{})), "gpu::graph::add", "9 nodes"));
}

TEST_CASE("graph: what the driver says of an instantiation becomes a sentence",
          "[graph][refusals]") {
  static CUgraphInstantiateResult answer;
  struct expected_words {
    CUgraphInstantiateResult answer;
    const char* words;
  };
  graph_fixture f;
  gpu::driver::entry_points table = test::driver();
  table.graph_instantiate_with_params = [](CUgraphExec*, CUgraph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
    parameters->result_out = answer;
    return CUDA_ERROR_INVALID_VALUE;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  for (const expected_words& each :
       {expected_words{CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, "form a cycle"},
        {CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, "omit device_launch"},
        {CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, "must all belong to one context"},
        {CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, "does not belong to a node"}}) {
    answer = each.answer;
    const gpu::cuda_error error = error_of(gpu::graph_exec::instantiate(f.graph));
    CHECK(error.code() == CUDA_ERROR_INVALID_VALUE);
    CHECK(error.asked() == static_cast<std::uint64_t>(each.answer));
    CHECK(says(error, each.words));
  }
  answer = CUDA_GRAPH_INSTANTIATE_ERROR;  // no more than the code
  CHECK(error_of(gpu::graph_exec::instantiate(f.graph)).asked() == 0);
}

TEST_CASE("graph: each option of an instantiation reaches the driver", "[graph]") {
  static gpu::driver::entry_points beneath;
  static cuuint64_t asked, told;
  beneath = test::driver();
  graph_fixture f;
  value_of(f.graph.add({}, f.adds(2)));
  gpu::driver::entry_points table = beneath;
  table.graph_instantiate_with_params = [](CUgraphExec* exec, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
    asked = parameters->flags;
    return beneath.graph_instantiate_with_params(exec, graph, parameters);
  };
  table.graph_exec_get_flags = [](CUgraphExec, cuuint64_t* flags) {
    *flags = told;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const auto exec = value_of(gpu::graph_exec::instantiate(f.graph, {.use_node_priority = true}));
  CHECK(asked == CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
  CHECK(f.run(exec) == 2);
  value_of(gpu::graph_exec::instantiate(f.graph, {.auto_free_on_launch = true}));
  CHECK(asked == CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  // The CPU driver does not launch from kernels, but is asked.
  (void)gpu::graph_exec::instantiate(f.graph, {.device_launch = true});
  CHECK(asked == CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);

  const auto options = [&](cuuint64_t flags) {
    told = flags;
    return value_of(exec.options());
  };
  const gpu::graph_exec_options device = options(CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
  CHECK((device.device_launch && !device.auto_free_on_launch && !device.use_node_priority));
  const gpu::graph_exec_options others = options(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                                 CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
  CHECK((!others.device_launch && others.auto_free_on_launch && others.use_node_priority));
}

TEST_CASE("graph: lists know what they do not have", "[graph]") {
  graph_fixture f;
  const auto a = value_of(f.graph.add({}, gpu::empty_node{}));
  const auto b = value_of(f.graph.add(a, gpu::empty_node{}));
  gpu::graph_node_list roots = value_of(f.graph.root_nodes());
  CHECK(roots.contains(a));
  CHECK_FALSE(roots.contains(b));
  gpu::graph_node_list all = value_of(f.graph.nodes());
  all = std::move(roots);
  CHECK(all.size() == 1);
  CHECK(roots.empty());
  CHECK_FALSE(roots.contains(a));
  gpu::graph_node_list& itself = all;
  all = std::move(itself);
  CHECK(all.size() == 1);
  CHECK(all.contains(a));
  gpu::graph_node_list others;
  others = value_of(gpu::dependents_of(a));
  CHECK(others[0].context() == f.graph.context());
  all = std::move(others);
  CHECK(all.contains(b));
  CHECK_FALSE(all.contains(a));
}

TEST_CASE("graph: objects, pictures and conditions are not captured", "[graph][capture]") {
  graph_fixture f;
  const gpu::graph inner = value_of(gpu::graph::create(f.device));
  const auto child = value_of(f.graph.add({}, gpu::child_graph_node(inner)));
  const gpu::graph clone = value_of(gpu::graph::clone(f.graph));
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  CHECK(gpu::child_of(child).has_value());
  CHECK(clone.find_clone_of(child).has_value());
  CHECK(f.graph.keep(std::make_unique<int>(1)).has_value());
  CHECK(gpu::write_dot(f.graph, "/dev/null").has_value());
  CHECK(gpu::graph_condition::create(f.graph, 1).has_value());
  CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::active);
  CHECK(value_of(value_of(capture.end()).nodes()).empty());
}

TEST_CASE("graph: an upload cannot be captured", "[graph][capture]") {
  graph_fixture f;
  value_of(f.graph.add({}, f.adds(2)));
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  CHECK_FALSE(gpu::upload(f.stream, exec).has_value());
  CHECK_FALSE(capture.end().has_value());
  CHECK(f.run(exec) == 2);
}

TEST_CASE("graph: an update that is refused may fail to say why", "[graph][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::graph first = GPU_TRY(gpu::graph::create(device));
              const gpu::graph second = GPU_TRY(gpu::graph::create(device));
              GPU_TRY(first.add({}, gpu::empty_node{}));
              GPU_TRY(second.add({}, gpu::host_node([] {})));
              gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(first));
              if (const auto updated = exec.update(second); updated.has_value()) return updated;
              return {};
            },
            {"cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent", "cuCtxGetDevice",
             "cuGraphExecUpdate", "cuGraphNodeGetType"}) == "");
}

}  // namespace graph_refusals_test
