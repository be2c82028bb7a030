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
/// and defines `GPU_CPU_DRIVER_COMPILED` for all of them. The source with that code is compiled
/// without -ffast-math; the others may be compiled with it.

#include <gpu/core/error_code.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/cpu_driver_options.hpp>
#include <gpu/testing/live_object.hpp>
#include <nogpu/driver/backend.hpp>

#if !defined(GPU_CPU_DRIVER_COMPILED)
#  include <nogpu/driver/driver.hpp>
#endif

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#if !defined(GPU_CPU_DRIVER_COMPILED)
inline const nogpu::driver::backend& nogpu::driver::current_backend() noexcept {
  return own_backend;
}
#endif

namespace gpu { inline namespace v1 { namespace testing {

class cost_collection;

/// An independent CUDA driver, with devices that exist in this process only. Up to
/// `cpu_driver::limit()` may be alive at once.
/// **Threads**: the table's functions may be called from any number of threads, as those of the
/// real driver. The object must not be created or destroyed while one of them is being called.
class cpu_driver {
 public:
  /// Returns how many may be alive at once.
  static std::size_t limit() noexcept { return nogpu::driver::current_backend().most_drivers; }

  /// Creates the devices. If `limit()` drivers are alive already, all members of the table are null
  /// and `unavailable` is `errc::no_driver`.
  explicit cpu_driver(cpu_driver_options options = {})
      : report_leaks_at_end_{options.report_leaks_at_end},
        state_{*nogpu::driver::current_backend().create(std::move(options), table_)} {}

  /// Ends all work and frees all memory. Later calls of the table's functions return
  /// CUDA_ERROR_DEINITIALIZED.
  ~cpu_driver() {
    if (report_leaks_at_end_) (void)report_leaks();
    nogpu::driver::current_backend().destroy(state_);
  }
  cpu_driver(const cpu_driver&) = delete;
  cpu_driver& operator=(const cpu_driver&) = delete;

  /// Returns the driver's functions, valid as long as this object.
  const driver::entry_points& entry_points() const noexcept { return table_; }

  /// Lists the handles and allocations that the program holds, each with the line that created it
  /// (file and line if the program has debug information and the tool `addr2line` is installed,
  /// otherwise module and offset).
  std::vector<live_object> live() const {
    return nogpu::driver::current_backend().list_live(state_);
  }
  /// Returns the number of objects that `live()` lists, without looking up the lines that created
  /// them, which takes a second in a large program.
  std::size_t live_count() const { return nogpu::driver::current_backend().count_live(state_); }
  /// Waits for all work, and returns the number of objects that `live()` lists plus the retains of
  /// primary contexts that were not released plus the contexts that the calling thread has pushed
  /// and not popped. An operation that releases everything does not change this number.
  std::size_t held_count() const { return nogpu::driver::current_backend().count_held(state_); }

  /// Prints `live()` to stderr, one line each, under a heading; nothing if the list is empty.
  /// Returns the number of objects.
  std::size_t report_leaks() const {
    const std::vector<live_object> list = live();
    if (list.empty()) return 0;
    std::fprintf(stderr, "gpu cpu driver: %zu objects were not released:\n", list.size());
    for (const live_object& each : list) std::fprintf(stderr, "  %s\n", each.text().c_str());
    return list.size();
  }

  /// Waits for all work, and returns the number of mistakes that the driver found and reported in
  /// kernels and queued work since the last call: for a test that provokes some.
  std::size_t take_findings() const {
    (void)held_count();
    return nogpu::driver::current_backend().take_findings(state_);
  }

 private:
  friend class cost_collection;
  friend cpu_driver& use_cpu_driver(cpu_driver_options options);

  /// Does the same at the end of the process, which waits for work for no more than two seconds.
  std::size_t findings_at_exit() const {
    if (!nogpu::driver::current_backend().finish_at_exit(state_, std::chrono::seconds(2)))
      std::fputs(
          "gpu cpu driver: the process ends before all queued work has run; what did not is not "
          "checked. Synchronize before the end of main\n",
          stderr);
    return nogpu::driver::current_backend().take_findings(state_);
  }

  driver::entry_points table_{};
  bool report_leaks_at_end_;
  nogpu::driver::driver_state& state_;
};

/// Makes a CPU driver the driver of the whole process until its end: call it once in a test's
/// `main`, before anything else uses the GPU. A second call changes nothing, and prints a line to
/// stderr if its options are neither those of the first call nor the defaults.
/// If the driver found mistakes and nobody asked for their number, the process exits with status 1
/// (`cpu_driver_options::fail_at_exit`).
/// Returns the driver, which can list the objects that were not released.
inline cpu_driver& use_cpu_driver(cpu_driver_options options = {}) {
  static bool report_leaks = false;
  static bool fail_at_exit = false;
  static const auto& in_force = *new cpu_driver_options(options);  // also for calls after main
  if (!nogpu::driver::same(options, in_force) && !nogpu::driver::same(options, {}))
    std::fputs(
        "gpu: use_cpu_driver was called before; the options of this second call are ignored\n",
        stderr);
  static cpu_driver* const made = [&] {
    report_leaks = std::exchange(options.report_leaks_at_end, false);
    fail_at_exit = options.fail_at_exit;
    auto* driver = new cpu_driver(std::move(options));  // outlives static objects that use it
    driver::use_entry_points(&driver->entry_points());
    return driver;
  }();
  // Runs after the other, which is registered later.
  static const bool watched =
      fail_at_exit && std::atexit([] {
                        const std::size_t findings = made->findings_at_exit();
                        if (findings == 0) return;
                        std::fprintf(stderr,
                                     "gpu cpu driver: %zu %s found, see above; "
                                     "the process exits with status 1\n",
                                     findings, findings == 1 ? "mistake was" : "mistakes were");
                        (void)std::fflush(nullptr);
                        std::_Exit(1);
                      }) == 0;
  (void)watched;
  // Runs before handlers that were registered earlier, while the driver still works.
  static const bool registered =
      report_leaks && std::atexit([] { (void)made->report_leaks(); }) == 0;
  (void)registered;
  return *made;
}

/// Calls `use_cpu_driver` if no GPU can be used: if there is no driver, it is too old or fails to
/// initialize, or there is no device. Prints one line with the reason to stderr then. Returns
/// whether the process uses the CPU driver.
inline bool use_cpu_driver_if_no_gpu(cpu_driver_options options = {}) {
  const driver::entry_points& real = driver::current_entry_points();
  int count = 0;
  const auto counted =
      driver::call<&driver::entry_points::device_get_count>(source_location{}, &count);
  if (counted.has_value() && count > 0) return false;
  // If there is no driver at all, the advice on how to install one would be too long.
  std::string why = "the driver lists no device";
  if (real.unavailable_detail != nullptr && real.unavailable != errc{}) {
    why = real.unavailable_detail;
  } else if (!counted.has_value()) {
    why = counted.error().message().c_str();
  }
  std::fprintf(stderr,
               "gpu: no GPU can be used (%s); kernels run on the CPU driver of gpu/testing\n",
               why.c_str());
  (void)use_cpu_driver(std::move(options));
  return true;
}

}}}  // namespace gpu::v1::testing
