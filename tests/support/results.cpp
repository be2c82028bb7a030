#include "support/results.hpp"

#include "support/drivers.hpp"
#include "support/host_memory.hpp"

#include <gpu/core/result.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/fault_injection.hpp>
#include <gpu/testing/interposed_table.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

template class gpu::testing::interposed_table<gpu::testing::fault_injection>;

namespace test::detail {

std::string sweep(const std::function<gpu::result<>()>& operation,
                  std::vector<std::string_view> may_survive, const cpu_driver_options& cpu,
                  bool allocations) {
  own_cpu_driver driver(cpu);
  const auto held = [&] { return driver.held(); };
  {
    gpu::testing::fault_injection faults(driver.table());
    gpu::driver::scoped_entry_points in_force(faults.entry_points());
    gpu::testing::fault_sweep_options options;
    options.may_survive = std::move(may_survive);
    options.live = held;
    const gpu::testing::fault_sweep outcome =
        gpu::testing::sweep_faults(faults, operation, options);
    if (!outcome.clean()) return outcome.text();
  }
  if (!allocations) return {};
  const sparing_table table(driver.table());
  gpu::driver::scoped_entry_points in_force(table.entry_points());
  return sweep_all_allocations(operation, held);
}

}  // namespace test::detail
