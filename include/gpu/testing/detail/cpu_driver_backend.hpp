#pragma once
/// \file
/// The functions that `cpu_driver` calls, as pointers: the code of the CPU driver, which takes long
/// to compile, can be compiled once for a program (see gpu/testing/cpu_driver.hpp).

#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/cpu_driver_options.hpp>
#include <gpu/testing/live_object.hpp>

#include <cstddef>
#include <vector>

namespace gpu::inline v1::testing::cpu {

struct driver_state;

struct backend {
  /// The number of drivers that may be alive at once.
  std::size_t most_drivers;
  /// Creates a driver with its devices, and fills its table.
  driver_state* (*create)(cpu_driver_options&& options, driver::entry_points& table);
  /// Ends all work and frees all memory.
  void (*destroy)(driver_state& driver);
  std::vector<live_object> (*list_live)(driver_state& driver);
  std::size_t (*count_live)(driver_state& driver);
  std::size_t (*count_held)(driver_state& driver);
  std::size_t (*take_findings)(driver_state& driver);
};

/// Returns the code that this program is linked with or includes.
const backend& current_backend() noexcept;

}  // namespace gpu::inline v1::testing::cpu
