// Graphs where a driver call fails, a capture is going on, or a kernel faults.

#include "graph/graph_fixture.hpp"
#include "support/drivers.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/child_graph_node.hpp>
#include <gpu/graph/event_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_dot.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/host_node.hpp>
#include <gpu/graph/kernel_node.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <string>
#include <vector>

namespace graph_faults_test {

using test::error_of;
using test::graph_fixture;
using test::says;
using test::value_of;

TEST_CASE("graph: each driver call may fail", "[graph][faults][cpu]") {
  const auto work = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<unsigned>::create(stream, 4));
    const gpu::event event = GPU_TRY(gpu::event::create(device));
    const gpu::graph inner = GPU_TRY(gpu::graph::create(device));
    GPU_TRY(inner.add({}, gpu::empty_node{}));
    const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
    const auto fill = GPU_TRY(graph.add({}, gpu::fill_node(x, 1u)));
    const auto host = GPU_TRY(graph.add(fill, gpu::host_node([] {})));
    const auto child = GPU_TRY(graph.add(host, gpu::child_graph_node(inner)));
    const auto record = GPU_TRY(graph.add(child, gpu::event_record_node(event)));
    GPU_TRY(graph.add(record, gpu::event_wait_node(event)));
    GPU_TRY(graph.disconnect(child, record));
    GPU_TRY(graph.connect(child, record));
    GPU_TRY(graph.keep(GPU_TRY(gpu::event::create(device))));
    GPU_TRY(gpu::kind_of(fill));
    GPU_TRY(gpu::child_of(child));
    GPU_TRY(gpu::dependencies_of(host));
    GPU_TRY(gpu::dependents_of(host));
    GPU_TRY(graph.root_nodes());
    GPU_TRY(gpu::set(graph, fill, gpu::fill_node(x, 2u)));
    const gpu::graph copy = GPU_TRY(gpu::graph::clone(graph));
    GPU_TRY(copy.find_clone_of(fill));
    gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
    GPU_TRY(exec.update(copy));
    GPU_TRY(exec.set(fill, gpu::fill_node(x, 3u)));
    GPU_TRY(exec.set_enabled(fill, false));
    GPU_TRY(exec.is_enabled(fill));
    GPU_TRY(exec.options());
    GPU_TRY(gpu::upload(stream, exec));
    GPU_TRY(gpu::launch(stream, exec));
    GPU_TRY(stream.synchronize());
    return {};
  };
  // Where nobody has waited for the launch, what the graph keeps outlives it, until the launch is
  // over and there is another operation on a graph.
  CHECK(test::sweep(
            [&] {
              const gpu::result<> done = work();
              if (!done.has_value() && std::string(done.error().call()) == "cuStreamSynchronize") {
                value_of(
                    value_of(gpu::stream::create(test::first_device())).context().synchronize());
                value_of(gpu::graph::create(test::first_device()));
              }
              return done;
            },
            {"cuCtxGetDevice", "cuThreadExchangeStreamCaptureMode"}) == "");
}

TEST_CASE("graph: each driver call about nodes, memory and pictures may fail",
          "[graph][faults][cpu]") {
  std::vector<unsigned> host(4, 1);  // outlives launches that nobody has waited for
  CHECK(test::sweep(
            [&]() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              auto x = GPU_TRY(gpu::device_buffer<unsigned>::create(stream, 4));
              const gpu::graph plain = GPU_TRY(gpu::graph::create(device));
              const auto upload = GPU_TRY(plain.add({}, gpu::copy_node(host, x)));
              GPU_TRY(plain.add(upload, gpu::copy_node(x, host)));
              GPU_TRY(gpu::set(plain, upload, gpu::copy_node(host, x)));
              const gpu::graph_node_list nodes = GPU_TRY(plain.nodes());
              GPU_TRY(plain.remove(nodes[1]));
              GPU_TRY(gpu::write_dot(plain, "/dev/null", gpu::graph_dot_flags::verbose));
              const gpu::graph_exec copies = GPU_TRY(gpu::graph_exec::instantiate(plain));
              GPU_TRY(gpu::launch(stream, copies));

              const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
              gpu::allocation_node<unsigned> scratch(16);
              const auto made = GPU_TRY(graph.add({}, scratch));
              const auto used = GPU_TRY(graph.add(made, gpu::fill_node(scratch.span(), 1u)));
              GPU_TRY(graph.add(used, gpu::free_node(scratch.span())));
              const gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
              GPU_TRY(gpu::launch(stream, exec));
              return stream.synchronize();
            },
            {"cuCtxGetDevice"}) == "");
}

TEST_CASE("graph: what is done to graphs is not captured", "[graph][capture]") {
  graph_fixture f;
  const auto fill = value_of(f.graph.add({}, gpu::fill_node(f.x, 3u)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  {
    const gpu::graph other = value_of(gpu::graph::create(f.device));
    const auto first =
        value_of(other.add({}, gpu::copy_node(f.x.span().first(4), f.x.span().last(4))));
    const auto second = value_of(other.add({}, gpu::empty_node{}));
    value_of(other.connect(first, second));
    value_of(other.disconnect(first, second));
    CHECK(value_of(other.nodes()).size() == 2);
    CHECK(value_of(other.root_nodes()).size() == 2);
    CHECK(value_of(gpu::kind_of(first)) == gpu::graph_node_kind::copy);
    CHECK(value_of(gpu::dependencies_of(first)).empty());
    CHECK(value_of(gpu::dependents_of(first)).empty());
    CHECK(gpu::graph::clone(other).has_value());
    value_of(other.remove(second));
  }
  value_of(gpu::set(f.graph, fill, gpu::fill_node(f.x, 4u)));
  value_of(exec.set(fill, gpu::fill_node(f.x, 5u)));
  value_of(exec.set_enabled(fill, true));
  CHECK(value_of(exec.is_enabled(fill)));
  value_of(exec.options());
  value_of(exec.update(f.graph));
  CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::active);
  CHECK(value_of(value_of(capture.end()).nodes()).empty());
  CHECK(f.run(exec) == 4);
}

TEST_CASE("graph: a capture forbids launches, and making executable graphs", "[graph][capture]") {
  graph_fixture f;
  value_of(f.graph.add({}, gpu::fill_node(f.x, 3u)));
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  const auto spoils = [&](auto call) {
    auto capture = value_of(gpu::stream_capture::begin(f.stream));
    CHECK_FALSE(call().has_value());
    CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::invalidated);
    CHECK_FALSE(capture.end().has_value());
  };
  spoils([&] { return gpu::launch(f.stream, exec); });
  spoils([&] { return gpu::graph_exec::instantiate(f.graph); });

  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  {
    const auto scope = value_of(gpu::capture_mode_scope::enter(gpu::capture_mode::relaxed));
    CHECK(gpu::graph_exec::instantiate(f.graph).has_value());
  }
  CHECK(capture.end().has_value());
}

TEST_CASE("graph: a fault names the launch of the graph", "[graph][cpu]") {
  for (const bool deferred : {false, true}) {
    test::cpu_driver_options options;
    options.deferred = deferred;
    test::own_cpu_driver driver(options);
    const gpu::device device = test::first_device();
    const gpu::stream stream = value_of(gpu::stream::create(device));
    const gpu::module code = value_of(gpu::module::load(test::graph_kernels));
    const gpu::graph graph = value_of(gpu::graph::create(device));
    value_of(graph.add({}, gpu::kernel_node({1, 1}, value_of(code.kernel<>("fault")))));
    const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
    value_of(gpu::launch(stream, exec));
    const gpu::cuda_error error = error_of(stream.synchronize());
    CHECK(error.code() == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(says(error, "a graph at", "graph_faults_test.cpp"));
    CHECK_FALSE(gpu::launch(stream, exec).has_value());
  }
}

}  // namespace graph_faults_test
