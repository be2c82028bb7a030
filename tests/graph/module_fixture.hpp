#pragma once
/// \file
/// Modules and events that end before the graphs that need them, for the tests of what graphs keep.

#include "graph/graph_fixture.hpp"  // IWYU pragma: export
#include "support/drivers.hpp"
#include "support/noted_calls.hpp"

#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/kernel_node.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/module.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

namespace test {

using noted_unloads = noted_calls<&gpu::driver::entry_points::library_unload>;
using noted_objects = noted_calls<&gpu::driver::entry_points::user_object_create>;

/// A module of its own, with the kernels that tests take from it.
struct other_module {
  std::optional<gpu::module> code = value_of(gpu::module::load(graph_kernels));
  gpu::kernel<unsigned*, unsigned> add = value_of(code->kernel<unsigned*, unsigned>("add"));
  gpu::kernel<unsigned*> twice = value_of(code->kernel<unsigned*>("twice"));
  CUlibrary native = code->native();

  /// Lets go of the module and its kernels.
  void end() {
    add = {};
    twice = {};
    code.reset();
  }

  gpu::kernel_node<unsigned*, unsigned> adds(graph_fixture& f, unsigned value) const {
    return {{1, 1}, add, f.x, value};
  }
};

inline gpu::graph empty_graph() { return value_of(gpu::graph::create(first_device())); }

/// A graph that the library knows nothing of, as one from elsewhere.
inline gpu::graph foreign_graph(const graph_fixture& f) {
  CUgraph native = nullptr;
  REQUIRE(driver().graph_create(&native, 0) == CUDA_SUCCESS);
  return gpu::graph::adopt(gpu::graph_ref::from_native(native, f.stream.context()));
}

/// Returns whether `object`, and no other, has ended, as `ends` records.
template <class Ends, class Handle> bool just_ended(const Ends& ends, Handle object) {
  return ends.count() == 1 && ends.template last<0>() == object;
}

/// Instantiates `graph`, destroys it, and says what is wrong with what is left, whose launch adds
/// 3: `object` has to end with it.
template <class Ends, class Handle>
std::string run_alone(graph_fixture& f, gpu::graph& graph, const Ends& ends, Handle object) {
  std::optional<gpu::graph_exec> exec = value_of(gpu::graph_exec::instantiate(graph));
  if (ends.count() != 0) return "ended with the graph there";
  graph = empty_graph();
  f.set(0);
  if (f.run(*exec) != 3) return "a wrong result";
  if (ends.count() != 0) return "ended with the executable graph there";
  exec.reset();
  return just_ended(ends, object) ? "" : "not ended";
}

/// The same where the driver kept it. A device's driver may tell late that a graph is gone; the
/// next operation on any graph unloads then.
inline bool comes_to_be_unloaded(const noted_unloads& unloads, CUlibrary library) {
  for (int i = 0; i < 1000 && unloads.count() == 0; ++i) {
    empty_graph();
    if (unloads.count() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return just_ended(unloads, library);
}

}  // namespace test
