// Graphs that keep the modules of their kernels loaded: until the last of them is gone, no longer.

#include "graph/graph_fixture.hpp"
#include "support/captured.hpp"
#include "support/host_memory.hpp"
#include "support/noted_calls.hpp"

#include <gpu/graph/keep_modules.hpp>

#include <chrono>
#include <optional>
#include <thread>

namespace keep_modules_test {

using test::error_of;
using test::graph_fixture;
using test::value_of;

using noted_unloads = test::noted_calls<&gpu::driver::entry_points::library_unload>;
using noted_objects = test::noted_calls<&gpu::driver::entry_points::user_object_create>;

namespace {

/// A module of its own, with the kernels that tests take from it.
struct other_module {
  std::optional<gpu::module> code = value_of(gpu::module::load(test::graph_kernels));
  gpu::kernel<unsigned*, unsigned> add = value_of(code->kernel<unsigned*, unsigned>("add"));
  gpu::kernel<unsigned*> twice = value_of(code->kernel<unsigned*>("twice"));
  CUlibrary native = code->native();
};

/// Whether the library comes to be unloaded, alone. A device's driver may tell late that a graph is
/// gone; the next operation on any graph unloads then.
bool is_unloaded(const noted_unloads& unloads, CUlibrary library) {
  for (int i = 0; i < 1000 && unloads.count() == 0; ++i) {
    value_of(gpu::graph::create(test::first_device()));
    if (unloads.count() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return unloads.count() == 1 && unloads.last<0>() == library;
}

TEST_CASE("graph: a module that nobody's graph has is unloaded at once", "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 3u));
  value_of(f.stream.synchronize());
  other.code.reset();
  REQUIRE(unloads.count() == 1);
  CHECK(unloads.last<0>() == other.native);
}

TEST_CASE("graph: the modules of its kernels can be kept loaded", "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  value_of(f.graph.add({}, gpu::kernel_node({1, 1}, other.add, f.x, 3u)));
  value_of(gpu::keep_modules(f.graph));
  other.code.reset();
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(f.graph));
  CHECK(f.run(*exec) == 3);
  f.graph = value_of(gpu::graph::create(f.device));
  CHECK(f.run(*exec) == 6);
  CHECK(unloads.count() == 0);
  exec.reset();
  CHECK(is_unloaded(unloads, other.native));
}

TEST_CASE("graph: a module that outlives the graph is unloaded by itself", "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  value_of(f.graph.add({}, gpu::kernel_node({1, 1}, other.add, f.x, 3u)));
  value_of(gpu::keep_modules(f.graph));
  f.graph = value_of(gpu::graph::create(f.device));
  CHECK(unloads.count() == 0);
  value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 3u));
  CHECK(f.first() == 3);
  other.code.reset();
  CHECK(is_unloaded(unloads, other.native));
}

TEST_CASE("graph: a launch keeps the modules of its graph until it is over", "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  value_of(f.graph.add({}, gpu::kernel_node({1, 1}, other.add, f.x, 3u)));
  value_of(gpu::keep_modules(f.graph));
  other.code.reset();
  {
    const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
    f.graph = value_of(gpu::graph::create(f.device));
    value_of(gpu::launch(f.stream, exec));
  }
  value_of(f.stream.synchronize());
  CHECK(f.first() == 3);
  CHECK(is_unloaded(unloads, other.native));
}

TEST_CASE("graph: a clone and a child keep the modules of the original", "[graph][module]") {
  graph_fixture f;
  for (const bool as_child : {false, true}) {
    CAPTURE(as_child);
    f.set(0);
    other_module other;
    const noted_unloads unloads;
    value_of(f.graph.add({}, gpu::kernel_node({1, 1}, other.add, f.x, 3u)));
    value_of(gpu::keep_modules(f.graph));
    other.code.reset();
    gpu::graph copy =
        as_child ? value_of(gpu::graph::create(f.device)) : value_of(gpu::graph::clone(f.graph));
    if (as_child) value_of(copy.add({}, gpu::child_graph_node(f.graph)));
    f.graph = value_of(gpu::graph::create(f.device));
    std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(copy));
    copy = value_of(gpu::graph::create(f.device));
    CHECK(f.run(*exec) == 3);
    CHECK(unloads.count() == 0);
    exec.reset();
    CHECK(is_unloaded(unloads, other.native));
  }
}

TEST_CASE("graph: the body of a conditional node keeps the modules of its kernels",
          "[graph][module][conditional]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  const auto condition = value_of(gpu::graph_condition::create(f.graph, 1));
  gpu::conditional_node once(gpu::conditional_kind::if_, condition);
  value_of(f.graph.add({}, once));
  value_of(once.body().add({}, gpu::kernel_node({1, 1}, other.add, f.x, 3u)));
  value_of(gpu::keep_modules(once.body()));
  other.code.reset();
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(f.graph));
  f.graph = value_of(gpu::graph::create(f.device));
  CHECK(f.run(*exec) == 3);
  CHECK(unloads.count() == 0);
  exec.reset();
  CHECK(is_unloaded(unloads, other.native));
}

TEST_CASE("graph: an updated executable graph keeps the modules of the other graph",
          "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  const auto node = value_of(f.graph.add({}, f.adds(1)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  value_of(gpu::set(f.graph, node, gpu::kernel_node({1, 1}, other.add, f.x, 5u)));
  value_of(gpu::keep_modules(f.graph));
  other.code.reset();
  value_of(exec.update(f.graph));
  f.graph = value_of(gpu::graph::create(f.device));
  CHECK(f.run(exec) == 5);
  CHECK(unloads.count() == 0);
  exec = gpu::graph_exec::adopt(nullptr, f.stream.context());
  CHECK(is_unloaded(unloads, other.native));
}

TEST_CASE("graph: nothing is kept that nobody asked for", "[graph][capture][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  const noted_objects objects;
  const auto node = value_of(f.graph.add({}, f.adds(1)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  value_of(exec.set(node, gpu::kernel_node({1, 1}, other.add, f.x, 3u)));
  CHECK(f.run(exec) == 3);
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 3u));
  value_of(capture.end());
  CHECK(objects.count() == 0);
  other.code.reset();
  CHECK(unloads.count() == 1);
}

TEST_CASE("graph: each module of captured kernels is kept, once", "[graph][capture][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  for (unsigned i = 0; i < 3; ++i) {
    value_of(gpu::launch(f.stream, {1, 1}, other.add, f.x, 3u));
    value_of(gpu::launch(f.stream, {1, 1}, f.twice, f.x));
    value_of(gpu::launch(f.stream, {1, 1}, other.twice, f.x));
    value_of(gpu::fill(f.stream, f.x, 7u));
  }
  std::optional<gpu::graph> graph;
  {
    const noted_objects objects;
    graph = value_of(capture.end());
    value_of(gpu::keep_modules(*graph));
    CHECK(objects.count() == 1);
  }
  other.code.reset();
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(*graph));
  graph.reset();
  CHECK(f.run(*exec) == 7);
  CHECK(unloads.count() == 0);
  exec.reset();
  CHECK(is_unloaded(unloads, other.native));
}

TEST_CASE("graph: what a module released is the caller's, whatever graphs have",
          "[graph][module]") {
  graph_fixture f;
  other_module other;
  const noted_unloads unloads;
  value_of(f.graph.add({}, gpu::kernel_node({1, 1}, other.add, f.x, 3u)));
  value_of(gpu::keep_modules(f.graph));
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(gpu::launch(f.stream, {1, 1}, other.twice, f.x));
  CHECK(other.code->release() == other.native);
  {
    // The module knows nothing of the kernel any more.
    const noted_objects objects;
    const gpu::graph captured = value_of(capture.end());
    value_of(gpu::keep_modules(captured));
    CHECK(objects.count() == 0);
  }
  f.graph = value_of(gpu::graph::create(f.device));
  other.code.reset();
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
      graphs.push_back(value_of(gpu::graph::create(f.device)));
      value_of(graphs.back().add({}, gpu::kernel_node({1, 1}, other.add, f.x, 3u)));
      value_of(gpu::keep_modules(graphs.back()));
    }
    std::vector<std::thread> threads;
    for (gpu::graph& each : graphs)
      threads.emplace_back([&each] { const gpu::graph gone = std::move(each); });
    threads.emplace_back([&other] { other.code.reset(); });
    for (std::thread& each : threads) each.join();
    CHECK(is_unloaded(unloads, other.native));
  }
}

TEST_CASE("graph: modules are found while others come and go", "[graph][capture][module]") {
  graph_fixture f;
  const noted_objects objects;
  std::thread loading([] {
    for (int i = 0; i < 50; ++i) {
      const auto module = gpu::module::load(test::graph_kernels);
      if (module.has_value()) (void)module->kernel("add").has_value();
    }
  });
  for (std::size_t i = 0; i < 50; ++i) {
    auto capture = value_of(gpu::stream_capture::begin(f.stream, gpu::capture_mode::thread_local_));
    value_of(gpu::launch(f.stream, {1, 1}, f.twice, f.x));
    const gpu::graph captured = value_of(capture.end());
    value_of(gpu::keep_modules(captured));
    CHECK(objects.count() == i + 1);
  }
  loading.join();
}

TEST_CASE("capture: what graphs let go of does not spoil it",
          "[graph][capture][module][no_sanitizer]") {
  graph_fixture f;
  other_module other;
  gpu::graph gone = value_of(gpu::graph::create(f.device));
  value_of(gone.add({}, gpu::kernel_node({1, 1}, other.add, f.x, 3u)));
  value_of(gpu::keep_modules(gone));
  value_of(gone.keep(value_of(gpu::device_buffer<unsigned>::create(f.device, 16))));
  other.code.reset();
  test::noted_calls<&gpu::driver::entry_points::mem_free> frees;
  const test::reported_errors reported;
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  value_of(gpu::launch(f.stream, {1, 1}, f.add, f.x, 3u));
  gone = value_of(gpu::graph::create(f.device));
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

gpu::result<> use_modules_in_graphs() {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  auto x = GPU_TRY(gpu::device_buffer<unsigned>::create(stream, 4));
  gpu::module first = GPU_TRY(gpu::module::load(test::graph_kernels));
  gpu::module second = GPU_TRY(gpu::module::load(test::graph_kernels));
  const auto twice = GPU_TRY(first.kernel<unsigned*>("twice"));
  const auto other = GPU_TRY(second.kernel<unsigned*>("twice"));
  const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
  GPU_TRY(graph.add({}, gpu::kernel_node({1, 1}, twice, x)));
  GPU_TRY(graph.add({}, gpu::fill_node(x, 0u)));
  GPU_TRY(graph.add({}, gpu::kernel_node({1, 1}, other, x)));
  GPU_TRY(gpu::keep_modules(graph));
  first = gpu::module();
  second = gpu::module();
  const gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
  return {};
}

TEST_CASE("graph: each driver call that keeps a module may fail",
          "[graph][capture][module][faults][cpu]") {
  CHECK(test::sweep(use_modules_in_graphs,
                    {"cuCtxGetDevice", "cuThreadExchangeStreamCaptureMode"}) == "");
}

TEST_CASE("graph: each allocation that keeps a module may fail", "[graph][capture][module][cpu]") {
  CHECK(test::sweep_host_memory(use_modules_in_graphs) == "");
}

TEST_CASE("graph: an empty one keeps no modules", "[graph][module][refusals]") {
  const gpu::cuda_error error = error_of(gpu::keep_modules(gpu::graph_ref{}));
  CHECK(error == gpu::errc::empty_handle);
  CHECK(test::says(error, "gpu::keep_modules", "graph", "keep_modules_test.cpp"));
}

TEST_CASE("graph: modules can be kept during a capture", "[graph][capture][module]") {
  graph_fixture f;
  value_of(f.graph.add({}, f.adds(1)));
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                          CU_STREAM_CAPTURE_MODE_RELAXED}) {
    const test::captured made =
        test::capture(f.stream, [&] { value_of(gpu::keep_modules(f.graph)); }, mode);
    CHECK(made.unharmed());
    CHECK(made.nodes == 0);
  }
}

}  // namespace
}  // namespace keep_modules_test
