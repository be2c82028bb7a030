// The modules of captured kernels: kept by the graph, and loaded until there is one.

#include "graph/module_fixture.hpp"
#include "support/drivers.hpp"
#include "support/host_memory.hpp"
#include "support/noted_calls.hpp"
#include "support/subprocess.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/child_graph_node.hpp>
#include <gpu/graph/conditional_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/kernel/detail/shared_object.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

namespace capture_modules_test {

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

gpu::stream_capture begin(const gpu::stream& stream) {
  return value_of(gpu::stream_capture::begin(stream, gpu::capture_mode::relaxed));
}

TEST_CASE("capture: the graph keeps the modules of its kernels, each once",
          "[graph][capture][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  const noted_objects objects;
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  for (unsigned i = 0; i < 3; ++i) {
    value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 3u));
    value_of(gpu::launch(f.stream, {1, 1}, f.twice, f.x));
    value_of(gpu::launch(f.stream, {1, 1}, other.twice, f.x));
    value_of(gpu::fill(f.stream, f.x, 7u));
  }
  std::optional<gpu::graph> graph = value_of(capture.end());
  other.end();
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(*graph));
  graph.reset();
  CHECK(f.run(*exec) == 7);
  CHECK(unloads.count() == 0);
  exec.reset();
  CHECK(just_ended(unloads, other.native));
  CHECK(objects.count() == 0);  // which would make launches dearer
}

TEST_CASE("capture: a module may be destroyed before the end", "[graph][capture][module]") {
  graph_fixture f;
  other_module other, unused;
  const noted_unloads unloads;
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 3u));
  other.end();
  unused.end();
  empty_graph();
  CHECK(unloads.count() == 0);
  std::optional<gpu::graph> graph = value_of(capture.end());
  CHECK(just_ended(unloads, unused.native));
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(*graph))) == 3);
  graph.reset();
  CHECK(unloads.count() == 2);
  CHECK(unloads.last<0>() == other.native);
}

TEST_CASE("capture: what is unloaded waits for the last capture", "[graph][capture][module]") {
  graph_fixture f;
  const gpu::stream second = value_of(gpu::stream::create(f.device));
  std::optional<other_module> other(std::in_place);
  const CUlibrary native = other->native;
  const noted_unloads unloads;
  auto one = begin(f.stream), two = begin(second);
  value_of(gpu::launch(second, {1, 1}, other->add, f.x, 3u));
  other.reset();
  (void)value_of(one.end());
  CHECK(unloads.count() == 0);
  SECTION("ended") {
    const gpu::graph graph = value_of(two.end());
    CHECK(unloads.count() == 0);
    CHECK(f.run(value_of(gpu::graph_exec::instantiate(graph))) == 3);
  }
  SECTION("abandoned") {
    {
      const gpu::stream_capture gone = std::move(two);
    }
    CHECK(unloads.count() == 1);
  }
  SECTION("replaced") {
    two = begin(f.stream);
    CHECK(unloads.count() == 0);  // the new one began before the old one ended
    (void)value_of(two.end());
  }
  SECTION("spoiled") {
    CHECK_FALSE(second.synchronize().has_value());
    CHECK(error_of(two.end()).code() == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(unloads.count() == 1);
  }
  CHECK(just_ended(unloads, native));
}

TEST_CASE("capture: one that did not begin, or was over, holds nothing back",
          "[graph][capture][module]") {
  graph_fixture f;
  auto capture = begin(f.stream);
  CHECK(error_of(gpu::stream_capture::begin(f.stream)).code() == CUDA_ERROR_ILLEGAL_STATE);
  CHECK_FALSE(gpu::stream_capture::begin(f.stream, f.graph).has_value());
  (void)value_of(capture.end());
  CHECK(error_of(capture.end()) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::stream_capture::begin(gpu::stream_ref{})) == gpu::errc::empty_handle);
  other_module other;
  const noted_unloads unloads;
  other.end();
  CHECK(just_ended(unloads, other.native));
  // Nor did that count as the end of another one.
  other_module second;
  capture = begin(f.stream);
  second.end();
  CHECK(unloads.count() == 1);
  (void)value_of(capture.end());
  CHECK(unloads.count() == 2);
}

TEST_CASE("capture: a graph that is there keeps the modules of what is added",
          "[graph][capture][module]") {
  graph_fixture f;
  for (const bool foreign : {false, true}) {
    CAPTURE(foreign);
    other_module other;
    gpu::graph graph = foreign ? foreign_graph(f) : empty_graph();
    const noted_unloads unloads;
    {
      const noted_objects objects;
      const auto node = value_of(graph.add({}, gpu::fill_node(f.x, 1u)));
      auto capture = value_of(gpu::stream_capture::begin(f.stream, graph, node));
      value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 3u));
      other.end();
      CHECK(value_of(capture.end()).native() == nullptr);
      CHECK(objects.count() == (foreign ? 1 : 0));
    }
    std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(graph));
    graph = empty_graph();
    CHECK(f.run(*exec) == 4);
    CHECK(unloads.count() == 0);
    exec.reset();
    CHECK(comes_to_be_unloaded(unloads, other.native));
  }
}

TEST_CASE("capture: the body of a conditional node keeps the modules of what is added",
          "[graph][capture][module][conditional]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  const noted_objects objects;
  const auto condition = value_of(gpu::graph_condition::create(f.graph, 1));
  gpu::conditional_node once(gpu::conditional_kind::if_, condition);
  value_of(f.graph.add({}, once));
  auto capture = value_of(gpu::stream_capture::begin(f.stream, once.body()));
  value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 3u));
  (void)value_of(capture.end());
  other.end();
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(f.graph));
  f.graph = empty_graph();
  CHECK(f.run(*exec) == 3);
  CHECK(unloads.count() == 0);
  exec.reset();
  CHECK(just_ended(unloads, other.native));
  CHECK(objects.count() == 0);
}

TEST_CASE("capture: what is added by hand keeps its modules", "[graph][capture][module]") {
  graph_fixture f;
  other_module first, second;
  const noted_unloads unloads;
  gpu::graph child = empty_graph();
  value_of(child.add({}, second.adds(f, 4)));
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  const gpu::graph_ref made = value_of(gpu::capture_of(f.stream)).graph;
  const auto node = value_of(made.add({}, first.adds(f, 3)));
  const auto last = value_of(made.add(node, gpu::child_graph_node(child)));
  value_of(gpu::set_capture_dependencies(f.stream, last));
  std::optional<gpu::graph> graph = value_of(capture.end());
  child = empty_graph();
  first.end();
  second.end();
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(*graph));
  graph.reset();
  CHECK(f.run(*exec) == 7);
  CHECK(unloads.count() == 0);
  exec.reset();
  for (int i = 0; i < 1000 && unloads.count() < 2; ++i) {
    empty_graph();
    if (unloads.count() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(unloads.count() == 2);
}

TEST_CASE("capture: where the modules cannot be kept there is no graph",
          "[graph][capture][module][cpu]") {
  if (!test::failing_allocation::possible()) return;
  const test::own_cpu_driver driver;
  graph_fixture f;
  other_module other;
  const std::size_t alive = driver.live_objects();
  std::size_t failures = 0;
  for (bool failed = true; failed; ++failures) {
    auto capture = value_of(gpu::stream_capture::begin(f.stream));
    value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 3u));
    {
      const test::failing_allocation failing(failures);
      const auto ended = capture.end();
      failed = failing.happened();
      CHECK(ended.has_value() != failed);
      if (!ended.has_value()) {
        CHECK(ended.error() == gpu::errc::out_of_host_memory);
        CHECK(test::says(ended.error(), "capture_modules_test.cpp", "ree host memory"));
      }
    }
    CHECK(driver.live_objects() == alive);
    CHECK(value_of(gpu::capture_status_of(f.stream)) == gpu::capture_status::none);
  }
  CHECK(failures == 4);  // the keeper, the nodes, the share
  const noted_unloads unloads;
  other.end();
  CHECK(just_ended(unloads, other.native));
}

TEST_CASE("capture: what a module released is not kept", "[graph][capture][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(gpu::launch(f.stream, {1, 1}, other.twice, f.x));
  CHECK(other.code->release() == other.native);
  (void)value_of(capture.end());
  CHECK(unloads.count() == 0);
  CHECK(test::driver().library_unload(other.native) == CUDA_SUCCESS);
}

TEST_CASE("capture: modules are found while others come and go",
          "[graph][capture][module][no_sanitizer]") {
  graph_fixture f;
  std::thread loading([] {
    for (int i = 0; i < 50; ++i) {
      const auto module = gpu::module::load(test::graph_kernels);
      if (module.has_value()) (void)module->kernel("add").has_value();
    }
  });
  for (unsigned i = 0; i < 50; ++i) {
    other_module other;
    auto capture = value_of(gpu::stream_capture::begin(f.stream, gpu::capture_mode::thread_local_));
    value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 1u));
    other.end();
    const gpu::graph captured = value_of(capture.end());
    CHECK(f.run(value_of(gpu::graph_exec::instantiate(captured))) == i + 1);
  }
  loading.join();
}

TEST_CASE("capture: what graphs let go of does not spoil it",
          "[graph][capture][module][no_sanitizer]") {
  graph_fixture f;
  other_module other;
  gpu::graph gone = foreign_graph(f);
  value_of(gone.add({}, other.adds(f, 3)));
  value_of(gone.keep(value_of(gpu::device_buffer<unsigned>::create(f.device, 16))));
  other.end();
  test::noted_calls<&gpu::driver::entry_points::mem_free> frees;
  const test::reported_errors reported;
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 3u));
  gone = empty_graph();
  for (int i = 0; i < 1000 && frees.count() == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    value_of(gone.add({}, gpu::empty_node{}));
  }
  CHECK(frees.count() == 1);
  CHECK(reported.count() == 0);
  // The thread heeds captures as before.
  CHECK(value_of(gpu::capture_mode_scope::enter(gpu::capture_mode::global)).before() ==
        gpu::capture_mode::global);
  const gpu::graph graph = value_of(capture.end());
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(graph))) == 3);
}

TEST_CASE("capture: each driver call that keeps a module may fail",
          "[graph][capture][module][faults][cpu]") {
  const auto use = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<unsigned>::create(stream, 4));
    GPU_TRY(stream.synchronize());
    gpu::module code = GPU_TRY(gpu::module::load(test::graph_kernels));
    const auto twice = GPU_TRY(code.kernel<unsigned*>("twice"));
    auto capture = GPU_TRY(gpu::stream_capture::begin(stream));
    GPU_TRY(gpu::launch(stream, {1, 1}, twice, x));
    code = gpu::module();
    const gpu::graph graph = GPU_TRY(capture.end());
    gpu::module second = GPU_TRY(gpu::module::load(test::graph_kernels));
    const auto other = GPU_TRY(second.kernel<unsigned*>("twice"));
    auto more = GPU_TRY(gpu::stream_capture::begin(stream, graph));
    GPU_TRY(gpu::launch(stream, {1, 1}, other, x));
    second = gpu::module();
    (void)GPU_TRY(more.end());
    GPU_TRY(gpu::graph_exec::instantiate(graph));
    return {};
  };
  CHECK(test::sweep(use, {"cuCtxGetDevice", "cuThreadExchangeStreamCaptureMode"}) == "");
}

TEST_CASE("capture: child that forks during one", "[.child]") {
  graph_fixture f;
  std::optional<other_module> other(std::in_place);
  auto capture = begin(f.stream);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    {
      const gpu::stream_capture gone = std::move(capture);
    }
    other.reset();
    const gpu::detail::live_objects& all = gpu::detail::live_objects::of_process();
    std::_Exit(all.captures == nullptr && all.unwanted == nullptr ? 0 : 1);
  }
  REQUIRE(child > 0);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  (void)value_of(capture.end());
}

TEST_CASE("capture: a forked child can let go of one", "[graph][capture][module][process]") {
  const test::program_outcome outcome = test::run_child("capture: child that forks during one");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
}

}  // namespace
}  // namespace capture_modules_test
