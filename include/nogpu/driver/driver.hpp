#pragma once
/// \file
/// The CPU driver as a whole: made and destroyed, behind `cpu_driver`.

#include <nogpu/driver/backend.hpp>
#include <nogpu/driver/leaks.hpp>
#include <nogpu/driver/table.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

inline void make_devices(driver_state& driver) {
  const unsigned asked = driver.options.devices;
  const unsigned count = std::min(asked, 64u);
  if (asked != count)
    driver.report(std::to_string(asked) + " devices were asked for, but the limit is " +
                  std::to_string(count) + "; the driver has that many");
  for (unsigned i = 0; i < count; ++i) {
    auto device = std::make_unique<device_state>();
    device->ordinal = static_cast<int>(i);
    device->memory = driver.options.memory_per_device;
    device->primary = std::make_shared<context_state>();
    device->primary->device = device.get();
    device->primary->primary = true;
    (void)driver.contexts.add(device->primary);
    driver.devices.push_back(std::move(device));
  }
}

/// Takes a free slot for the driver; without one, all members of `table` are null.
inline driver_state* create_driver(driver_options&& options, gpu::driver::entry_points& table) {
  auto made = std::make_unique<driver_state>(std::move(options));
  auto& slots = driver_slots();
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    driver_state* free = nullptr;
    made->slot = slot;
    if (!slots[slot].compare_exchange_strong(free, made.get())) continue;
    made->has_slot = true;
    table = table_of(slot);
    make_devices(*made);
    made->initialized = made->options.initialized && !made->devices.empty();
    return made.release();
  }
  made->slot = 0;
  table.unavailable = gpu::errc::no_driver;
  table.unavailable_detail = "too many CPU drivers are alive at once; destroy one first";
  return made.release();
}

inline void destroy_driver(driver_state& driver) {
  const std::unique_ptr<driver_state> owned(&driver);
  driver.canceled = true;
  driver.work.stop();
  {
    const driver_lock lock(driver.mutex);
    drop_everything(driver);
  }
  if (driver.has_slot) driver_slots()[driver.slot].store(nullptr);
  driver.flush_prints();
}

inline constexpr backend own_backend{
    slot_count,
    &create_driver,
    &destroy_driver,
    &list_live,
    [](driver_state& driver) { return collect_live(driver).size(); },
    &count_held,
    [](driver_state& driver) { return driver.findings.exchange(0); },
    &finish_at_exit,
    [](driver_state& driver) -> machine::cost_table& {
      finish_all_work(driver);
      return driver.costs.begin();
    },
    [](driver_state& driver, machine::cost_table& table) { driver.costs.end(table); },
    [](driver_state& driver, machine::cost_table& table) {
      finish_all_work(driver);
      return table.report();
    },
};

}}}  // namespace nogpu::v1::driver
