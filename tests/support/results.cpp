#include "support/results.hpp"

template class gpu::testing::interposed_table<gpu::testing::fault_injection>;

namespace test::detail {

std::string sweep(const std::function<gpu::result<>()>& operation,
                  std::vector<std::string_view> may_survive, const cpu_driver_options& cpu) {
  own_cpu_driver driver(cpu);
  gpu::testing::fault_injection faults(driver.table());
  gpu::driver::scoped_entry_points in_force(faults.entry_points());
  gpu::testing::fault_sweep_options options;
  options.may_survive = std::move(may_survive);
  options.live = [&] { return driver.held(); };
  const gpu::testing::fault_sweep outcome = gpu::testing::sweep_faults(faults, operation, options);
  return outcome.clean() ? std::string() : outcome.text();
}

}  // namespace test::detail
