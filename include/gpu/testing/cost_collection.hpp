#pragma once
/// \file
/// `cost_collection`: counts what the kernels cost that the CPU driver runs.

#include <gpu/testing/cost_picture.hpp>  // IWYU pragma: export
#include <gpu/testing/cost_text.hpp>     // IWYU pragma: export
#include <gpu/testing/cpu_driver.hpp>
#include <gpu/testing/kernel_costs.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/machine/cost_table.hpp>

namespace gpu { inline namespace v1 { namespace testing {

/// Counts what the kernels cost that a CPU driver runs, by line of their source, from its
/// construction to its destruction. Without one nothing is counted, and kernels run faster. Several
/// may be alive at once: each counts all kernels.
/// **Threads**: kernels may run in any number of threads. The collection must not outlive the
/// driver.
/// **Cost**: arithmetic takes about a tenth longer, accesses to memory twice as long.
class cost_collection {
 public:
  /// Waits for all work of the driver, which does not count.
  explicit cost_collection(const cpu_driver& driver)
      : state_{driver.state_}, table_{nogpu::driver::current_backend().begin_costs(state_)} {}
  ~cost_collection() { nogpu::driver::current_backend().end_costs(state_, table_); }
  cost_collection(const cost_collection&) = delete;
  cost_collection& operator=(const cost_collection&) = delete;

  /// Waits for all work of the driver, and returns everything that was counted until now. A kernel
  /// that ends with a fault is counted as far as it came.
  cost_report report() const {
    return nogpu::driver::current_backend().report_costs(state_, table_);
  }

 private:
  nogpu::driver::driver_state& state_;
  nogpu::machine::cost_table& table_;
};

}}}  // namespace gpu::v1::testing
