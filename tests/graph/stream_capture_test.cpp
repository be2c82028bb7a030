// Stream capture: what becomes a graph, what is forbidden meanwhile, and how it goes wrong.

#include "graph/graph_fixture.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/host_function.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/child_graph_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/pinned_vector.hpp>

#include <string>
#include <thread>
#include <type_traits>

namespace graph_capture_test {

using test::error_of;
using test::graph_fixture;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<gpu::stream_capture>);
static_assert(std::is_nothrow_move_constructible_v<gpu::stream_capture>);

TEST_CASE("capture: what is queued becomes a graph and is not done", "[graph][capture]") {
  graph_fixture f;
  CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::none);
  CHECK(value_of(gpu::capture_of(f.stream)).status == gpu::capture_status::none);
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::active);
  value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 3u));
  value_of(gpu::launch(f.stream, {1, 1}, f.twice, f.x));
  int calls = 0;
  value_of(gpu::launch_host_function(f.stream, [&] { ++calls; }));
  const gpu::capture_info info = value_of(gpu::capture_of(f.stream));
  CHECK(info.id != 0);
  CHECK(info.after.size() == 1);
  CHECK(value_of(info.graph.nodes()).size() == 3);
  const gpu::graph graph = value_of(capture.end());
  CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::none);
  CHECK(f.first() == 0);
  CHECK(calls == 0);
  CHECK(value_of(graph.nodes()).size() == 3);
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
  CHECK(f.run(exec) == 6);
  CHECK(f.run(exec) == 18);
  CHECK(calls == 2);
}

TEST_CASE("capture: fills, copies and allocations are captured", "[graph][capture]") {
  graph_fixture f;
  auto host = value_of(gpu::pinned_vector<unsigned>::create(f.device, 16));
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  {
    auto scratch = value_of(gpu::device_buffer<unsigned>::create(f.stream, 16));
    value_of(gpu::fill(f.stream, scratch, 7u));
    value_of(gpu::copy(f.stream, scratch, f.x));
  }
  value_of(gpu::launch(f.stream, {1, 1}, f.twice, f.x));
  value_of(gpu::copy(f.stream, f.x, host));
  const gpu::graph graph = value_of(capture.end());
  CHECK(value_of(graph.nodes()).size() == 6);
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
  CHECK(f.run(exec) == 14);
  CHECK(host[0] == 14);
  CHECK(host[15] == 7);
}

TEST_CASE("capture: streams join by events and have to come back", "[graph][capture]") {
  graph_fixture f;
  const gpu::stream other = value_of(gpu::stream::create(f.device));
  const gpu::event fork = value_of(gpu::event::create(f.device));
  const gpu::event join = value_of(gpu::event::create(f.device));
  {
    auto capture = value_of(gpu::stream_capture::begin(f.stream));
    value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 1u));
    value_of(gpu::record(f.stream, fork));
    value_of(gpu::wait(other, fork));
    CHECK(value_of(gpu::capture_status_of(other)) == gpu::capture_status::active);
    value_of(gpu::launch(other, {1, 1}, f.twice, f.x));
    value_of(gpu::record(other, join));
    value_of(gpu::wait(f.stream, join));
    value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 10u));
    const gpu::graph graph = value_of(capture.end());
    CHECK(value_of(graph.nodes()).size() == 3);
    CHECK(f.run(value_of(gpu::graph_exec::instantiate(graph))) == 12);
  }
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 1u));
  value_of(gpu::record(f.stream, fork));
  value_of(gpu::wait(other, fork));
  value_of(gpu::launch(other, {1, 1}, f.twice, f.x));
  CHECK(error_of(capture.end()).code() == CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::none);
  CHECK(value_of(gpu::capture_status_of(other)) == gpu::capture_status::none);
  CHECK(other.synchronize().has_value());
}

TEST_CASE("capture: waiting, and what might wait, spoils it", "[graph][capture]") {
  graph_fixture f;
  for (const auto mode :
       {gpu::capture_mode::global, gpu::capture_mode::thread_local_, gpu::capture_mode::relaxed}) {
    const bool relaxed = mode == gpu::capture_mode::relaxed;
    {
      auto capture = value_of(gpu::stream_capture::begin(f.stream, mode));
      CHECK(error_of(f.stream.synchronize()).code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
      CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::invalidated);
      CHECK(value_of(gpu::capture_of(f.stream)).status == gpu::capture_status::invalidated);
      CHECK(error_of(gpu::launch(f.stream, {1, 1}, f.twice, f.x)).code() ==
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
      CHECK(error_of(capture.end()).code() == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    {
      auto capture = value_of(gpu::stream_capture::begin(f.stream, mode));
      const auto buffer = gpu::device_buffer<int>::create(f.device, 4);
      CHECK(buffer.has_value() == relaxed);
      CHECK(capture.end().has_value() == relaxed);
    }
    {
      const gpu::event event = value_of(gpu::event::create(f.device));
      auto capture = value_of(gpu::stream_capture::begin(f.stream, mode));
      value_of(gpu::record(f.stream, event));
      CHECK(error_of(event.is_done()).code() == CUDA_ERROR_CAPTURED_EVENT);
      CHECK_FALSE(capture.end().has_value());
    }
  }
  CHECK(f.stream.synchronize().has_value());
}

TEST_CASE("capture: a thread can take itself out of the rules", "[graph][capture]") {
  graph_fixture f;
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  {
    const auto scope = value_of(gpu::capture_mode_scope::enter(gpu::capture_mode::relaxed));
    CHECK(scope.before() == gpu::capture_mode::global);
    CHECK(gpu::device_buffer<int>::create(f.device, 4).has_value());
    const auto inner = value_of(gpu::capture_mode_scope::enter(gpu::capture_mode::thread_local_));
    CHECK(inner.before() == gpu::capture_mode::relaxed);
  }
  bool allowed = false;
  std::thread([&] {
    const auto scope = gpu::capture_mode_scope::enter(gpu::capture_mode::thread_local_);
    allowed = scope.has_value() && gpu::device_buffer<int>::create(f.device, 4).has_value();
  }).join();
  CHECK(allowed);
  CHECK(capture.end().has_value());
  const auto again = value_of(gpu::stream_capture::begin(f.stream));
  CHECK_FALSE(gpu::device_buffer<int>::create(f.device, 4).has_value());
  CHECK(error_of(gpu::capture_mode_scope::enter(static_cast<gpu::capture_mode>(7))) ==
        gpu::errc::invalid_argument);
}

TEST_CASE("capture: it ends in the thread that began it, unless it is relaxed",
          "[graph][capture]") {
  graph_fixture f;
  auto strict = value_of(gpu::stream_capture::begin(f.stream, gpu::capture_mode::thread_local_));
  int code = 0;
  std::thread([&] {
    const auto ended = strict.end();
    code = ended.has_value() ? 0 : ended.error().code();
  }).join();
  CHECK(code == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::none);
  auto relaxed = value_of(gpu::stream_capture::begin(f.stream, gpu::capture_mode::relaxed));
  bool ended = false;
  std::thread([&] { ended = relaxed.end().has_value(); }).join();
  CHECK(ended);
}

TEST_CASE("capture: one that is dropped leaves the stream as it was", "[graph][capture]") {
  graph_fixture f;
  {
    const auto dropped = value_of(gpu::stream_capture::begin(f.stream));
    value_of(gpu::launch(f.stream, {1, 1}, f.twice, f.x));
  }
  CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::none);
  CHECK(f.stream.synchronize().has_value());
  {
    const auto into = value_of(gpu::stream_capture::begin(f.stream, f.graph));
    value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 5u));
  }
  // What went into a graph that was there stays.
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 5);
}

TEST_CASE("capture: into a graph that is there, and with nodes added by hand", "[graph][capture]") {
  graph_fixture f;
  const auto first = value_of(f.graph.add({}, f.adds(2)));
  auto capture = value_of(gpu::stream_capture::begin(f.stream, f.graph, first));
  value_of(gpu::launch(f.stream, {1, 1}, f.twice, f.x));
  const gpu::capture_info info = value_of(gpu::capture_of(f.stream));
  const auto by_hand = value_of(info.graph.add(info.after, f.adds(100)));
  value_of(gpu::set_capture_dependencies(f.stream, by_hand));
  value_of(gpu::launch(f.stream, {1, 1}, f.twice, f.x));
  const auto empty = value_of(info.graph.add({}, gpu::empty_node{}));
  value_of(gpu::add_capture_dependencies(f.stream, empty));
  CHECK(value_of(gpu::capture_of(f.stream)).after.size() == 2);
  const gpu::graph none = value_of(capture.end());
  CHECK(none.native() == nullptr);
  CHECK(value_of(f.graph.nodes()).size() == 5);
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 208);
}

TEST_CASE("capture: a graph cannot be launched in a capture, but be a child", "[graph][capture]") {
  graph_fixture f;
  value_of(f.graph.add({}, f.adds(5)));
  const gpu::graph_exec inner = value_of(gpu::graph_exec::instantiate(f.graph));
  {
    auto capture = value_of(gpu::stream_capture::begin(f.stream));
    CHECK(error_of(gpu::launch(f.stream, inner)).code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK_FALSE(capture.end().has_value());
  }
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  const auto info = value_of(gpu::capture_of(f.stream));
  const auto child = value_of(info.graph.add(info.after, gpu::child_graph_node{f.graph}));
  value_of(gpu::set_capture_dependencies(f.stream, child));
  value_of(gpu::launch(f.stream, {1, 1}, f.twice, f.x));
  const gpu::graph outer = value_of(capture.end());
  const auto roots = value_of(outer.root_nodes());
  REQUIRE(roots.size() == 1);
  CHECK(value_of(gpu::kind_of(roots[0])) == gpu::graph_node_kind::child_graph);
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(outer))) == 10);
}

TEST_CASE("capture: external events are nodes", "[graph][capture]") {
  graph_fixture f;
  const gpu::event start = value_of(gpu::event::create(f.device));
  const gpu::event end = value_of(gpu::event::create(f.device));
  const gpu::cuda_error record = error_of(gpu::record_external(f.stream, end));
  CHECK(record.code() == CUDA_ERROR_ILLEGAL_STATE);
  CHECK(says(record, "not being captured", "Begin a capture before, or use gpu::record."));
  const gpu::cuda_error wait = error_of(gpu::wait_external(f.stream, start));
  CHECK(wait.code() == CUDA_ERROR_ILLEGAL_STATE);
  CHECK(says(wait, "not being captured", "Begin a capture before, or use gpu::wait."));
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(gpu::wait_external(f.stream, start));
  value_of(gpu::launch(f.stream, {1, 1}, f.twice, f.x));
  value_of(gpu::record_external(f.stream, end));
  const gpu::graph graph = value_of(capture.end());
  CHECK(value_of(graph.nodes()).size() == 3);
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
  const gpu::stream other = value_of(gpu::stream::create(f.device));
  value_of(gpu::fill(other, f.x, 4u));
  value_of(gpu::record(other, start));
  value_of(gpu::launch(f.stream, exec));
  value_of(end.synchronize());
  CHECK(f.first() == 8);
}

TEST_CASE("capture: what cannot be captured is refused with a sentence", "[graph][capture]") {
  graph_fixture f;
  const gpu::stream_ref legacy = value_of(gpu::stream_ref::legacy_default(f.device));
  const gpu::stream_ref zero = gpu::stream_ref::from_native(nullptr, f.stream.context());
  CHECK(error_of(gpu::stream_capture::begin(zero)) == gpu::errc::invalid_argument);
  gpu::cuda_error error = error_of(gpu::stream_capture::begin(legacy));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "legacy default stream", "create a stream"));
  error = error_of(gpu::stream_capture::begin(f.stream, static_cast<gpu::capture_mode>(7)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "7 is not a valid gpu::capture_mode"));
  error = error_of(gpu::stream_capture::begin(legacy, f.graph));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "legacy default stream", "create a stream"));
  error = error_of(
      gpu::stream_capture::begin(f.stream, f.graph, {}, static_cast<gpu::capture_mode>(7)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "7 is not a valid gpu::capture_mode"));
  CHECK(error_of(gpu::stream_capture::begin(gpu::stream_ref{})) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::capture_of(gpu::stream_ref{})) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::capture_status_of(gpu::stream_ref{})) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::set_capture_dependencies(f.stream, {})).code() == CUDA_ERROR_ILLEGAL_STATE);
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  CHECK(error_of(gpu::stream_capture::begin(f.stream)).code() == CUDA_ERROR_ILLEGAL_STATE);
  CHECK(capture.end().has_value());
  CHECK(error_of(capture.end()) == gpu::errc::empty_handle);
  const gpu::stream_ref own = value_of(gpu::stream_ref::per_thread_default(f.device));
  auto on_default = value_of(gpu::stream_capture::begin(own));
  CHECK(on_default.end().has_value());
}

TEST_CASE("capture: every mode and status has a name", "[graph][capture]") {
  using gpu::capture_mode;
  using gpu::capture_status;
  using std::string;
  CHECK(gpu::name_of(capture_mode{CU_STREAM_CAPTURE_MODE_GLOBAL}) == string("global"));
  CHECK(gpu::name_of(capture_mode{CU_STREAM_CAPTURE_MODE_THREAD_LOCAL}) == string("thread_local"));
  CHECK(gpu::name_of(capture_mode{CU_STREAM_CAPTURE_MODE_RELAXED}) == string("relaxed"));
  CHECK(gpu::name_of(capture_mode::thread_local_) == string("thread_local"));
  CHECK(gpu::name_of(static_cast<gpu::capture_mode>(3)) == nullptr);
  CHECK(gpu::name_of(capture_status{CU_STREAM_CAPTURE_STATUS_NONE}) == string("none"));
  CHECK(gpu::name_of(capture_status{CU_STREAM_CAPTURE_STATUS_ACTIVE}) == string("active"));
  CHECK(gpu::name_of(capture_status{CU_STREAM_CAPTURE_STATUS_INVALIDATED}) ==
        string("invalidated"));
  CHECK(gpu::name_of(static_cast<gpu::capture_status>(3)) == nullptr);
}

TEST_CASE("capture: each driver call may fail", "[graph][capture][faults][cpu]") {
  // A capture that failed to end is ended once more by its destructor, and the failure of a call in
  // between leaves nothing behind.
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              const gpu::graph into = GPU_TRY(gpu::graph::create(device));
              const gpu::event event = GPU_TRY(gpu::event::create(device));
              const auto scope =
                  GPU_TRY(gpu::capture_mode_scope::enter(gpu::capture_mode::relaxed));
              auto capture = GPU_TRY(gpu::stream_capture::begin(stream));
              GPU_TRY(gpu::launch_host_function(stream, [] {}));
              GPU_TRY(gpu::record_external(stream, event));
              GPU_TRY(gpu::wait_external(stream, event));
              const gpu::capture_info info = GPU_TRY(gpu::capture_of(stream));
              GPU_TRY(gpu::set_capture_dependencies(stream, info.after));
              const auto by_hand = GPU_TRY(info.graph.add({}, gpu::empty_node{}));
              GPU_TRY(gpu::add_capture_dependencies(stream, by_hand));
              GPU_TRY(gpu::capture_status_of(stream));
              const gpu::graph graph = GPU_TRY(capture.end());
              auto second = GPU_TRY(gpu::stream_capture::begin(stream, into));
              GPU_TRY(second.end());
              return {};
            },
            {"cuCtxGetDevice", "cuThreadExchangeStreamCaptureMode"}) == "");
}

}  // namespace graph_capture_test
