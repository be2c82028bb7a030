// Calls on graphs with what is not theirs, of the wrong kind, or gone, and on captured streams:
// what is said before the driver is asked, and what is found out once it has refused.

#include "graph/graph_fixture.hpp"
#include "support/host_memory.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/child_graph_node.hpp>
#include <gpu/graph/dependencies.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/graph/region_node.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pitched_buffer.hpp>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace explain_errors_test {

using test::error_of;
using test::graph_fixture;
using test::is_empty;
using test::says;
using test::value_of;

namespace {

/// Returns whether a call is refused before the driver is asked.
template <class T>
bool refused_with(gpu::result<T> outcome, gpu::errc code, const char* call, const char* words,
                  const char* cure) {
  const gpu::cuda_error error = error_of(std::move(outcome));
  return error == code && says(error, call, words, cure);
}

/// Returns whether the driver's CUDA_ERROR_INVALID_VALUE is explained, also in the last error.
template <class T>
bool invalid_with(gpu::result<T> outcome, const char* call, const char* words, const char* cure) {
  const gpu::cuda_error error = error_of(std::move(outcome));
  const gpu::cuda_error last = error_of(gpu::take_last_error());
  return error.domain() == gpu::error_domain::driver && error.code() == CUDA_ERROR_INVALID_VALUE &&
         says(error, call, words, cure) && says(last, call, words, cure);
}

}  // namespace

TEST_CASE("graph: an edge that cannot be says why", "[graph][refusals]") {
  graph_fixture f;
  const gpu::graph other = value_of(gpu::graph::create(f.device));
  const auto a = value_of(f.graph.add({}, gpu::empty_node{}));
  const auto b = value_of(f.graph.add({}, gpu::empty_node{}));
  const auto foreign = value_of(other.add({}, gpu::empty_node{}));
  CHECK(refused_with(f.graph.connect(a, a), gpu::errc::invalid_argument, "gpu::graph::connect",
                     "a node cannot depend on itself", "pass two nodes"));
  const char* add = "cuGraphAddDependencies";
  const char* remove = "cuGraphRemoveDependencies";
  CHECK(invalid_with(f.graph.connect(a, foreign), add,
                     "the second node is not one of the 2 nodes of this graph", "pass two nodes"));
  CHECK(invalid_with(f.graph.connect(foreign, a), add,
                     "the first node is not one of the 2 nodes of this graph", "pass two nodes"));
  CHECK(invalid_with(other.connect(a, foreign), add, "the first node is not one of the 1 nodes",
                     "pass two nodes"));
  CHECK(invalid_with(f.graph.disconnect(a, foreign), remove, "the second node is not one of the 2",
                     "pass two nodes"));
  CHECK(invalid_with(f.graph.disconnect(a, b), remove, "the graph has no edge from the first node",
                     "gpu::dependencies_of lists"));
  value_of(f.graph.connect(a, b));
  CHECK(invalid_with(f.graph.connect(a, b), add, "there is an edge from the first node",
                     "disconnect them first"));
  CHECK(value_of(gpu::dependencies_of(b)).size() == 1);
}

TEST_CASE("graph: nodes that something cannot come after are named", "[graph][refusals]") {
  graph_fixture f;
  const gpu::graph other = value_of(gpu::graph::create(f.device));
  const auto a = value_of(f.graph.add({}, gpu::empty_node{}));
  const auto b = value_of(f.graph.add({}, gpu::empty_node{}));
  const auto foreign = value_of(other.add({}, gpu::empty_node{}));
  CHECK(invalid_with(f.graph.add({a, foreign}, gpu::empty_node{}), "cuGraphAddNode",
                     "the dependency with index 1 of 2 is not one of the 2 nodes",
                     "pass nodes of this graph"));
  const gpu::cuda_error twice = error_of(f.graph.add({b, a, b}, gpu::empty_node{}));
  CHECK(twice.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(twice.asked() == 2);
  CHECK(says(twice, "the dependency with index 2 of 3", "is the same node as that with index 0",
             "pass each node once"));
  CHECK(value_of(f.graph.nodes()).size() == 2);
  // Another reason is not one of these.
  const gpu::cuda_error freed = error_of(f.graph.add(a, gpu::free_node(f.x.span())));
  CHECK(freed.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK_FALSE(freed.message().contains("the dependency with index"));
  CHECK(invalid_with(
      gpu::stream_capture::begin(f.stream, f.graph, foreign), "cuStreamBeginCaptureToGraph",
      "the dependency with index 0 of 1 is not one of the 2 nodes", "pass nodes of this graph"));
  // A capture takes a node twice.
  auto capture = value_of(gpu::stream_capture::begin(f.stream, f.graph, {a, a}));
  CHECK(capture.end().has_value());
}

TEST_CASE("graph: a node of another graph is neither removed nor described", "[graph][refusals]") {
  graph_fixture f;
  const gpu::graph other = value_of(gpu::graph::create(f.device));
  value_of(f.graph.add({}, gpu::empty_node{}));
  const auto foreign = value_of(other.add({}, f.adds(3)));
  CHECK(refused_with(f.graph.remove(foreign), gpu::errc::invalid_argument, "gpu::graph::remove",
                     "the node is not one of the 1 nodes of this graph",
                     "call the function of the graph"));
  CHECK(refused_with(gpu::set(f.graph, foreign, f.adds(4)), gpu::errc::invalid_argument, "gpu::set",
                     "the node is not one of the 1 nodes of this graph",
                     "call the function of the graph"));
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(other))) == 3);
  // Nodes inside of a child are the child's.
  const auto child = value_of(f.graph.add({}, gpu::child_graph_node(other)));
  const gpu::graph_ref inner = value_of(gpu::child_of(child));
  const auto nested = value_of(inner.nodes())[0];
  CHECK(error_of(f.graph.remove(nested)) == gpu::errc::invalid_argument);
  value_of(gpu::set(inner, nested, f.adds(5)));
  f.set(0);
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 5);
  value_of(other.remove(foreign));
  CHECK(value_of(other.nodes()).empty());
}

TEST_CASE("graph: a description of another kind is told from the node's", "[graph][refusals]") {
  graph_fixture f;
  const auto kernel = value_of(f.graph.add({}, f.adds(1)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  for (const gpu::cuda_error& error :
       {error_of(exec.set(kernel, gpu::fill_node(f.x, 1u))),
        error_of(gpu::set(f.graph, kernel, gpu::fill_node(f.x, 1u)))}) {
    CHECK(error.code() == CUDA_ERROR_INVALID_VALUE);
    CHECK(error.asked() == static_cast<std::uint64_t>(gpu::graph_node_kind::fill));
    CHECK(error.limit() == static_cast<std::uint64_t>(gpu::graph_node_kind::kernel));
    CHECK(says(error, "the node is of kind kernel", "the description is of kind fill",
               "pass a description of the node's kind"));
  }
  // A node of the right kind that the executable graph does not know has another reason.
  const gpu::graph other = value_of(gpu::graph::create(f.device));
  const auto foreign = value_of(other.add({}, f.adds(1)));
  const gpu::cuda_error unknown = error_of(exec.set(foreign, f.adds(2)));
  CHECK(unknown.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK_FALSE(unknown.message().contains("of kind"));

  gpu::allocation_node<unsigned> scratch(4), again(8);
  const auto made = value_of(other.add({}, scratch));
  const gpu::cuda_error fixed = error_of(gpu::set(other, made, again));
  CHECK(fixed.code() == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(says(fixed, "cuGraphNodeSetParams",
             "the parameters of a node of kind allocation cannot change", "create another graph"));
}

TEST_CASE("graph: a node that has no graph inside says so", "[graph][refusals]") {
  graph_fixture f;
  const gpu::graph_node node = value_of(f.graph.add({}, f.doubles()));
  const gpu::cuda_error error = error_of(gpu::child_of(node));
  CHECK(error.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(error, "the node is of kind kernel, not child_graph"));
  CHECK(error.asked() == static_cast<std::uint64_t>(gpu::graph_node_kind::kernel));
  CHECK(error.limit() == static_cast<std::uint64_t>(gpu::graph_node_kind::child_graph));
}

TEST_CASE("graph: nodes without a switch say so", "[graph][refusals]") {
  graph_fixture f;
  const auto kernel = value_of(f.graph.add({}, f.adds(1)));
  const auto empty = value_of(f.graph.add({}, gpu::empty_node{}));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  const gpu::graph other = value_of(gpu::graph::create(f.device));
  const auto foreign = value_of(other.add({}, gpu::fill_node(f.x, 1u)));
  const char* set = "cuGraphNodeSetEnabled";
  const char* get = "cuGraphNodeGetEnabled";
  CHECK(invalid_with(exec.set_enabled(empty, false), set,
                     "a node of kind empty cannot be enabled or disabled", "instantiate a graph"));
  CHECK(invalid_with(exec.is_enabled(empty), get,
                     "a node of kind empty cannot be enabled or disabled", "instantiate a graph"));
  CHECK(invalid_with(exec.set_enabled(foreign, false), set,
                     "the executable graph has no counterpart of this fill node",
                     "pass a node of the graph that it was instantiated from"));
  CHECK(invalid_with(exec.is_enabled(foreign), get,
                     "the executable graph has no counterpart of this fill node",
                     "pass a node of the graph that it was instantiated from"));
  CHECK(value_of(exec.is_enabled(kernel)));
}

TEST_CASE("graph: memory that is not there is refused before the driver is asked",
          "[graph][refusals]") {
  graph_fixture f;
  gpu::allocation_node<unsigned> scratch(4);
  for (const gpu::device_span<unsigned> none :
       {gpu::device_span<unsigned>(), f.x.span().first(0), scratch.span()}) {
    CHECK(refused_with(f.graph.add({}, gpu::free_node(none)), gpu::errc::invalid_argument,
                       "gpu::free_node", "the span is empty", "pass the span() of an"));
  }

  auto gone = value_of(gpu::device_buffer<unsigned>::create(f.device, 16));
  const auto owner = std::move(gone);
  CHECK(is_empty(f.graph.add({}, gpu::copy_node(gone, f.x)), "gpu::copy_node", "source"));
  CHECK(is_empty(f.graph.add({}, gpu::copy_node(f.x, gone)), "gpu::copy_node", "destination"));
  CHECK(is_empty(f.graph.add({}, gpu::copy_node(gone, gone)), "gpu::copy_node", "source"));
  CHECK(is_empty(f.graph.add({}, gpu::fill_node(gone, 1u)), "gpu::fill_node", "destination"));

  auto box = value_of(gpu::pitched_buffer<unsigned>::create(f.device, {4, 4}));
  auto gone_box = value_of(gpu::pitched_buffer<unsigned>::create(f.device, {4, 4}));
  const auto box_owner = std::move(gone_box);
  CHECK(error_of(f.graph.add({}, gpu::copy_region_node(gone_box, box))) == gpu::errc::empty_handle);
  CHECK(error_of(f.graph.add({}, gpu::copy_region_node(box, gone_box))) == gpu::errc::empty_handle);
  CHECK(is_empty(f.graph.add({}, gpu::fill_region_node(gone_box, 1u)), "gpu::fill_region_node",
                 "destination"));
  CHECK(value_of(f.graph.nodes()).empty());
}

TEST_CASE("graph: what a captured stream does not take says so", "[graph][capture][refusals]") {
  graph_fixture f;
  value_of(f.graph.add({}, f.adds(2)));
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  {
    auto capture = value_of(gpu::stream_capture::begin(f.stream));
    const gpu::cuda_error error = error_of(gpu::launch(f.stream, exec));
    CHECK(says(error, "cuGraphLaunch",
               "the stream is being captured, and a capture cannot contain the launch",
               "end it and capture again, with the graph as a child_graph_node"));
    CHECK(says(error_of(gpu::take_last_error()), "the stream is being captured"));
    CHECK_FALSE(capture.end().has_value());
  }
  {
    auto capture = value_of(gpu::stream_capture::begin(f.stream));
    CHECK(says(error_of(gpu::upload(f.stream, exec)), "cuGraphUpload",
               "the stream is being captured, and a capture cannot contain the launch or upload"));
    CHECK_FALSE(capture.end().has_value());
  }
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  gpu::cuda_error error = error_of(gpu::stream_capture::begin(f.stream));
  CHECK(error.code() == CUDA_ERROR_ILLEGAL_STATE);
  CHECK(says(error, "cuStreamBeginCapture", "the stream is being captured already",
             "end that capture first, or capture another stream"));
  CHECK(capture.end().has_value());
  capture = value_of(gpu::stream_capture::begin(f.stream));
  error = error_of(gpu::stream_capture::begin(f.stream, f.graph));
  CHECK(says(error, "cuStreamBeginCaptureToGraph", "the stream is being captured already",
             "end that capture first"));
  (void)capture.end();
  CHECK(f.run(exec) == 2);
}

TEST_CASE("graph: one that is captured to takes no other capture", "[graph][capture][refusals]") {
  graph_fixture f;
  const gpu::stream second = value_of(gpu::stream::create(f.device));
  const auto is_refused = [&](gpu::graph_ref into, const gpu::dependencies& after = {}) {
    const gpu::cuda_error error = error_of(gpu::stream_capture::begin(second, into, after));
    return error == gpu::errc::invalid_argument &&
           says(error, "gpu::stream_capture::begin", "another capture is adding to the graph",
                "end that one first");
  };
  auto capture = value_of(gpu::stream_capture::begin(f.stream, f.graph));
  CHECK(is_refused(f.graph));
  value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 2u));
  CHECK(is_refused(f.graph, value_of(f.graph.nodes())[0]));
  const gpu::graph apart = value_of(gpu::graph::create(f.device));
  CHECK(gpu::stream_capture::begin(second, apart).has_value());
  CHECK(capture.end().has_value());
  // The graph of a capture into a new one is no other.
  capture = value_of(gpu::stream_capture::begin(f.stream));
  CHECK(is_refused(value_of(gpu::capture_of(f.stream)).graph));
  CHECK(capture.end().has_value());
  value_of(value_of(gpu::stream_capture::begin(second, f.graph)).end());
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 2);
}

TEST_CASE("graph: captures beside others, with each driver call failing",
          "[graph][capture][faults][cpu]") {
  const auto use = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream first = GPU_TRY(gpu::stream::create(device));
    const gpu::stream second = GPU_TRY(gpu::stream::create(device));
    const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
    auto other = GPU_TRY(gpu::stream_capture::begin(first));
    auto capture = GPU_TRY(gpu::stream_capture::begin(second, graph));
    (void)GPU_TRY(capture.end());
    (void)GPU_TRY(other.end());
    return {};
  };
  CHECK(test::sweep(use) == "");
  CHECK(test::sweep_host_memory(use) == "");
}

TEST_CASE("graph: dependencies that a capture cannot have say why", "[graph][capture][refusals]") {
  graph_fixture f;
  const gpu::graph other = value_of(gpu::graph::create(f.device));
  const auto own = value_of(f.graph.add({}, f.adds(1)));
  const auto foreign = value_of(other.add({}, f.adds(3)));
  const char* const call = "cuStreamUpdateCaptureDependencies";
  for (const auto change : {gpu::add_capture_dependencies, gpu::set_capture_dependencies}) {
    const auto refused = [&](const gpu::dependencies& nodes) {
      return change(f.stream, nodes, gpu::source_location::current());
    };
    const gpu::cuda_error idle = error_of(refused(own));
    CHECK(idle.code() == CUDA_ERROR_ILLEGAL_STATE);
    CHECK(says(idle, call, "the stream is not being captured",
               "call gpu::stream_capture::begin first"));
    CHECK(says(error_of(gpu::take_last_error()), "the stream is not being captured"));
    auto capture = value_of(gpu::stream_capture::begin(f.stream, f.graph));
    CHECK(invalid_with(refused({own, foreign}), call,
                       "the dependency with index 1 of 2 is not one of the 1 nodes",
                       "pass nodes of this graph"));
    CHECK(value_of(gpu::capture_of(f.stream)).after.empty());
    value_of(refused(own));
    CHECK(capture.end().has_value());
  }
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 1);
}

TEST_CASE("graph: what the driver minds may fail to be found out", "[graph][faults][cpu]") {
  const std::vector<std::string_view> may_survive{"cuCtxGetCurrent",
                                                  "cuCtxPushCurrent",
                                                  "cuCtxPopCurrent",
                                                  "cuCtxGetDevice",
                                                  "cuGraphGetNodes",
                                                  "cuGraphNodeGetDependencies",
                                                  "cuGraphNodeGetType",
                                                  "cuStreamIsCapturing",
                                                  "cuGraphAddNode",
                                                  "cuGraphAddDependencies",
                                                  "cuGraphNodeSetParams",
                                                  "cuGraphExecNodeSetParams",
                                                  "cuGraphNodeSetEnabled",
                                                  "cuGraphNodeGetEnabled",
                                                  "cuGraphChildGraphNodeGetGraph",
                                                  "cuGraphNodeFindInClone",
                                                  "cuStreamBeginCapture",
                                                  "cuStreamBeginCaptureToGraph",
                                                  "cuGraphRemoveDependencies",
                                                  "cuStreamUpdateCaptureDependencies",
                                                  "cuStreamGetCaptureInfo"};
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              auto x = GPU_TRY(gpu::device_buffer<unsigned>::create(stream, 4));
              const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
              const gpu::graph other = GPU_TRY(gpu::graph::create(device));
              const auto a = GPU_TRY(graph.add({}, gpu::empty_node{}));
              const auto b = GPU_TRY(graph.add({}, gpu::fill_node(x, 1u)));
              const auto foreign = GPU_TRY(other.add({}, gpu::empty_node{}));
              gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
              CHECK_FALSE(graph.connect(a, foreign).has_value());
              CHECK_FALSE(graph.disconnect(a, b).has_value());
              CHECK_FALSE(graph.add({a, a}, gpu::empty_node{}).has_value());
              CHECK_FALSE(graph.remove(foreign).has_value());
              CHECK_FALSE(gpu::set(graph, a, gpu::fill_node(x, 1u)).has_value());
              CHECK_FALSE(exec.set(a, gpu::fill_node(x, 1u)).has_value());
              CHECK_FALSE(exec.set_enabled(a, false).has_value());
              CHECK_FALSE(exec.is_enabled(a).has_value());
              CHECK_FALSE(gpu::child_of(a).has_value());
              CHECK_FALSE(graph.find_clone_of(foreign).has_value());
              CHECK_FALSE(gpu::stream_capture::begin(stream, graph, foreign).has_value());
              auto capture = GPU_TRY(gpu::stream_capture::begin(stream));
              CHECK_FALSE(gpu::stream_capture::begin(stream).has_value());
              CHECK_FALSE(gpu::set_capture_dependencies(stream, foreign).has_value());
              GPU_TRY(capture.end());
              CHECK_FALSE(gpu::add_capture_dependencies(stream, a).has_value());
              auto into = GPU_TRY(gpu::stream_capture::begin(stream, graph));
              const gpu::stream second = GPU_TRY(gpu::stream::create(device));
              CHECK_FALSE(gpu::stream_capture::begin(second, graph).has_value());
              GPU_TRY(into.end());
              return {};
            },
            may_survive) == "");
}

}  // namespace explain_errors_test
