#pragma once
/// \file
/// Modules that end before the graphs that have their kernels, for the tests of what graphs keep.

#include "graph/graph_fixture.hpp"
#include "support/noted_calls.hpp"

#include <chrono>
#include <optional>
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

/// Whether the library was unloaded, alone.
inline bool just_unloaded(const noted_unloads& unloads, CUlibrary library) {
  return unloads.count() == 1 && unloads.last<0>() == library;
}

/// The same where the driver kept it. A device's driver may tell late that a graph is gone; the
/// next operation on any graph unloads then.
inline bool comes_to_be_unloaded(const noted_unloads& unloads, CUlibrary library) {
  for (int i = 0; i < 1000 && unloads.count() == 0; ++i) {
    empty_graph();
    if (unloads.count() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return just_unloaded(unloads, library);
}

}  // namespace test
