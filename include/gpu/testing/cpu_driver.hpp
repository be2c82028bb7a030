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
///
/// Its code takes half a minute to compile. A program of several sources compiles it once: it links
/// the CMake target `gpu::cpu_driver`, or compiles gpu/testing/cpu_driver.cpp as one of its sources
/// and defines `GPU_CPU_DRIVER_COMPILED` for all of them.

#include <gpu/driver/calls.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/cpu_driver_options.hpp>
#include <gpu/testing/detail/cpu_driver_backend.hpp>
#include <gpu/testing/live_object.hpp>

#if !defined(GPU_CPU_DRIVER_COMPILED)
#  include <gpu/testing/detail/cpu/driver.hpp>
#endif

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace gpu::inline v0::testing {

#if !defined(GPU_CPU_DRIVER_COMPILED)
inline const cpu::backend& cpu::current_backend() noexcept { return own_backend; }
#endif

/// A CUDA driver of its own, with devices that exist in this process only. Up to
/// `cpu_driver::limit()` may be alive at once, and know nothing of each other.
/// **Threads**: the table's functions may be called from any number of threads, as those of the
/// real driver. The object itself is made and destroyed while none of them is being called.
class cpu_driver {
 public:
  /// Returns how many may be alive at once.
  static std::size_t limit() noexcept { return cpu::current_backend().most_drivers; }

  /// Makes the devices. If `limit()` drivers are alive already, all members of the table are null
  /// and `unavailable` is `errc::no_driver`.
  explicit cpu_driver(cpu_driver_options options = {})
      : report_leaks_at_end_{options.report_leaks_at_end},
        state_{*cpu::current_backend().create(std::move(options), table_)} {}

  /// Ends all work and frees all memory. Later calls of the table return
  /// CUDA_ERROR_DEINITIALIZED.
  ~cpu_driver() {
    if (report_leaks_at_end_) (void)report_leaks();
    cpu::current_backend().destroy(state_);
  }
  cpu_driver(const cpu_driver&) = delete;
  cpu_driver& operator=(const cpu_driver&) = delete;

  /// Returns the driver's functions, valid as long as this object.
  const driver::entry_points& entry_points() const noexcept { return table_; }

  /// Lists the handles and allocations that the program holds now, each with the line that made it
  /// (file and line if the program has debug information and the tool `addr2line` is installed,
  /// otherwise module and offset).
  std::vector<live_object> live() const { return cpu::current_backend().list_live(state_); }
  /// Returns the number of objects that `live()` lists, without looking for the lines that made
  /// them, which takes a second in a large program.
  std::size_t live_count() const { return cpu::current_backend().count_live(state_); }
  /// Waits for all work, and counts the same and what has no handle of its own to list: retains of
  /// primary contexts that were not released, and contexts that the calling thread has pushed and
  /// not popped. An operation that gives everything back leaves this number as it was.
  std::size_t held_count() const { return cpu::current_backend().count_held(state_); }

  /// Prints `live()` to stderr, one line each, under a heading; nothing if the list is empty.
  /// Returns the number of objects.
  std::size_t report_leaks() const {
    const std::vector<live_object> list = live();
    if (list.empty()) return 0;
    std::fprintf(stderr, "gpu cpu driver: %zu objects were not given back:\n", list.size());
    for (const live_object& each : list) std::fprintf(stderr, "  %s\n", each.text().c_str());
    return list.size();
  }

 private:
  driver::entry_points table_{};
  bool report_leaks_at_end_;
  cpu::driver_state& state_;
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
