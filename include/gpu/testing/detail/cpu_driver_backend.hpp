#pragma once
/// \file
/// What `cpu_driver` needs of the CPU driver's code, as pointers to functions: so that the code,
/// which takes long to compile, can be compiled once for a program (see
/// gpu/testing/cpu_driver.hpp).

#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/cpu_driver_options.hpp>
#include <gpu/testing/live_object.hpp>

#include <cstddef>
#include <vector>

namespace gpu::inline v0::testing::cpu {

struct driver_state;

struct backend {
  /// The most drivers that may be alive at once.
  std::size_t most_drivers;
  /// Makes a driver with its devices, and fills its table.
  driver_state* (*create)(cpu_driver_options&& options, driver::entry_points& table);
  /// Ends all work and frees all memory.
  void (*destroy)(driver_state& driver);
  std::vector<live_object> (*list_live)(driver_state& driver);
  std::size_t (*count_live)(driver_state& driver);
  std::size_t (*count_held)(driver_state& driver);
};

/// The code that this program was linked with or, without that, includes.
const backend& current_backend() noexcept;

}  // namespace gpu::inline v0::testing::cpu
