#pragma once
/// \file
/// The functions that `cpu_driver` calls, as pointers: the code of the CPU driver, which takes long
/// to compile, can be compiled once for a program (see gpu/testing/cpu_driver.hpp).

#include <gpu/driver/entry_points.hpp>
#include <nogpu/driver_options.hpp>
#include <nogpu/kernel_costs.hpp>
#include <nogpu/live_object.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace nogpu { inline namespace v1 {

namespace machine {
class cost_table;
}

namespace driver {

struct driver_state;

struct backend {
  /// The number of drivers that may be alive at once.
  std::size_t most_drivers;
  /// Creates a driver with its devices, and fills its table.
  driver_state* (*create)(driver_options&& options, gpu::driver::entry_points& table);
  /// Ends all work and frees all memory.
  void (*destroy)(driver_state& driver);
  std::vector<live_object> (*list_live)(driver_state& driver);
  std::size_t (*count_live)(driver_state& driver);
  std::size_t (*count_held)(driver_state& driver);
  std::size_t (*take_findings)(driver_state& driver);
  /// Does queued work while the process ends, until the time is up. Returns whether it is done.
  bool (*finish_at_exit)(driver_state& driver, std::chrono::milliseconds limit);
  /// Waits for all work, and counts the costs of what comes after it in the table.
  machine::cost_table& (*begin_costs)(driver_state& driver);
  void (*end_costs)(driver_state& driver, machine::cost_table& table);
  cost_report (*report_costs)(driver_state& driver, machine::cost_table& table);
};

/// Returns the code that this program is linked with or includes.
const backend& current_backend() noexcept;

}  // namespace driver
}}  // namespace nogpu::v1
