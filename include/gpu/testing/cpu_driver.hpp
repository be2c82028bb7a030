#pragma once
/// \file
/// `cpu_driver`: a CUDA driver that runs on the CPU, kernels included.
///
///     #include <gpu/testing/cpu_driver.hpp>
///
///     int main() {
///       gpu::testing::use_cpu_driver();  // from here on, no GPU is needed
///       ...
///     }

#include <gpu/driver/calls.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/detail/cpu/leaks.hpp>
#include <gpu/testing/detail/cpu/options.hpp>
#include <gpu/testing/detail/cpu/table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpu::inline v0::testing {

/// A CUDA driver of its own, with devices that exist in this process only. Up to
/// `cpu_driver::limit` may be alive at once, and know nothing of each other.
/// **Threads**: the table's functions may be called from any number of threads, as those of the
/// real driver. The object itself is made and destroyed while none of them is being called.
class cpu_driver {
 public:
  /// How many may be alive at once.
  static constexpr std::size_t limit = cpu::slot_count;

  /// Makes the devices. Where `limit` drivers are alive already, all members of the table are null
  /// and `unavailable` is `errc::no_driver`.
  explicit cpu_driver(cpu_driver_options options = {})
      : state_{std::make_unique<cpu::driver_state>(std::move(options))} {
    auto& slots = cpu::driver_slots();
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      cpu::driver_state* free = nullptr;
      state_->slot = slot;
      if (!slots[slot].compare_exchange_strong(free, state_.get())) continue;
      table_ = cpu::table_of(slot);
      make_devices();
      state_->initialised = state_->options.initialised && !state_->devices.empty();
      return;
    }
    state_->slot = 0;
    table_.unavailable = errc::no_driver;
    table_.unavailable_detail = "all slots for CPU drivers are taken";
  }

  /// Ends all work and gives all memory back. Calls of the table that come later answer
  /// CUDA_ERROR_DEINITIALIZED.
  ~cpu_driver() {
    if (state_->options.report_leaks_at_end) (void)report_leaks();
    state_->cancelled = true;
    state_->work.stop();
    {
      cpu::driver_lock lock(state_->mutex);
      cpu::drop_everything(*state_);
    }
    if (table_.init != nullptr) cpu::driver_slots()[state_->slot].store(nullptr);
    state_->flush_prints();
  }
  cpu_driver(const cpu_driver&) = delete;
  cpu_driver& operator=(const cpu_driver&) = delete;

  /// The driver's functions, valid as long as this object.
  const driver::entry_points& entry_points() const noexcept { return table_; }

  /// What the program holds at this moment: handles and allocations, each with the place in the
  /// program that made it (file and line where the program has debug information and the tool
  /// `addr2line` is there, module and offset elsewhere).
  std::vector<live_object> live() const { return cpu::list_live(*state_); }
  /// How many objects `live()` lists, without looking for the places that made them, which takes a
  /// second in a large program.
  std::size_t live_count() const { return cpu::collect_live(*state_).size(); }
  /// Waits for all work, and counts the same and what has no handle of its own to list: retains of
  /// primary contexts that were not released, and contexts that the calling thread has pushed and
  /// not popped. A number that an operation which gives everything back leaves as it was.
  std::size_t held_count() const { return cpu::count_held(*state_); }

  /// Prints `live()` to stderr, one line each, under a heading; nothing when there is nothing.
  /// Returns how many there are.
  std::size_t report_leaks() const {
    const std::vector<live_object> list = live();
    if (list.empty()) return 0;
    std::fprintf(stderr, "gpu cpu driver: %zu objects were not given back:\n", list.size());
    for (const live_object& each : list) std::fprintf(stderr, "  %s\n", each.text().c_str());
    return list.size();
  }

 private:
  void make_devices() {
    const unsigned asked = state_->options.devices;
    const unsigned count = std::min(asked, 64u);
    if (asked != count)
      state_->report("there are " + std::to_string(count) +
                     " devices, which is the most, and not " + std::to_string(asked) +
                     " as cpu_driver_options::devices says");
    for (unsigned i = 0; i < count; ++i) {
      auto device = std::make_unique<cpu::device_state>();
      device->ordinal = static_cast<int>(i);
      device->memory = state_->options.memory_per_device;
      device->primary = std::make_shared<cpu::context_state>();
      device->primary->device = device.get();
      device->primary->primary = true;
      (void)state_->contexts.add(device->primary);
      state_->devices.push_back(std::move(device));
    }
  }

  std::unique_ptr<cpu::driver_state> state_;
  driver::entry_points table_{};
};

/// Puts a CPU driver in force for the whole process, from now to its end: one line in a test's
/// `main`, before anything else uses the GPU. A second call changes nothing, and says so on stderr
/// where its options are neither those of the first nor the defaults.
/// Returns the driver, to ask it what is left over.
inline cpu_driver& use_cpu_driver(cpu_driver_options options = {}) {
  static bool report_leaks = false;
  static const auto& in_force = *new cpu_driver_options(options);  // for calls after main, too
  if (!cpu::same(options, in_force) && !cpu::same(options, {}))
    std::fputs("gpu: use_cpu_driver was called before; its options stay those of the first call\n",
               stderr);
  static cpu_driver* const made = [&] {
    report_leaks = std::exchange(options.report_leaks_at_end, false);
    auto* driver = new cpu_driver(std::move(options));  // outlives static objects that use it
    driver::use_entry_points(&driver->entry_points());
    return driver;
  }();
  // Runs before what was registered earlier: while the driver still answers.
  static const bool registered =
      report_leaks && std::atexit([] { (void)made->report_leaks(); }) == 0;
  (void)registered;
  return *made;
}

/// The same, but only where no GPU can be used: no driver, one that is too old or does not start,
/// or no device. Says so, and why, in one line on stderr. Returns whether the CPU driver is in
/// force.
inline bool use_cpu_driver_if_no_gpu(cpu_driver_options options = {}) {
  const driver::entry_points& real = driver::current_entry_points();
  int count = 0;
  const auto asked =
      driver::call<&driver::entry_points::device_get_count>(source_location{}, &count);
  if (asked.has_value() && count > 0) return false;
  // Without a driver at all, what to do about that is not worth a line each time.
  std::string why = "the driver lists none";
  if (real.unavailable_detail != nullptr && real.unavailable != errc{}) {
    why = real.unavailable_detail;
  } else if (!asked.has_value()) {
    why = asked.error().message().c_str();
  }
  std::fprintf(stderr,
               "gpu: no GPU can be used (%s); kernels run on the CPU driver of gpu/testing\n",
               why.c_str());
  (void)use_cpu_driver(std::move(options));
  return true;
}

}  // namespace gpu::inline v0::testing
