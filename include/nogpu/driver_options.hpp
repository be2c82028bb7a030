#pragma once
/// \file
/// `driver_options`: the options of a CPU driver.

#include <nogpu/machine/limits.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace nogpu { inline namespace v1 {

/// The time at which the CPU driver runs the work that is queued on a stream.
enum class execution : std::uint8_t {
  /// As soon as it is queued and the work that it waits for is done.
  eager,
  /// The default. As late as the ordering rules allow: when the program synchronizes, queries, or
  /// makes a call
  /// that blocks. Until then, the host memory that a pending copy will write holds `poison`, which
  /// reveals a missing synchronization.
  deferred,
};

/// The value of each byte of host memory that a pending copy will write, in deferred mode.
inline constexpr unsigned char poison = 0xcd;

struct driver_options {
  unsigned devices = 1;  ///< number of equal devices, up to 64
  std::uint64_t memory_per_device = std::uint64_t{4}
                                    << 30;  ///< in bytes; committed on first access
  execution mode = execution::deferred;
  /// Each stream has a thread of its own, so streams overlap and a kernel may wait for the host.
  /// Otherwise the thread that queues work or waits for it does the work.
  bool stream_threads = false;
  /// The number of threads that run the blocks of a grid; 0 = one for each core.
  unsigned block_threads = 0;
  /// Starts with cuInit done. If false, the program calls it.
  bool initialized = true;
  /// Records the call that created each handle and allocation, for leak lists and fault reports.
  bool record_locations = true;
  /// The number of instructions that one thread of a kernel may execute before the launch fails
  /// with CUDA_ERROR_LAUNCH_TIMEOUT; 0 = no limit.
  std::uint64_t instruction_budget = machine::limits{}.instructions_per_thread;
  /// A kernel that has run for this long is reported once, with its current line, and continues;
  /// 0 = never. Many threads in an endless loop all use up their instruction budgets, which takes
  /// long.
  std::chrono::milliseconds long_kernel_report = machine::limits{}.told_after;
  /// The time for which a call blocks on a stream that waits for a value in memory
  /// (cuStreamWaitValue32) while no other work runs. After that the wait is reported and abandoned,
  /// and its context fails with CUDA_ERROR_LAUNCH_TIMEOUT.
  std::chrono::milliseconds value_wait_limit{10'000};
  /// The mistakes that are checked for besides invalid addresses, which always are. Each makes a
  /// fault of the launch, so that the next call that waits returns an error;
  /// `machine::checks::only_reported()` lets kernels go on.
  machine::checks checks{};
  /// With `use_cpu_driver`: makes the process exit with status 1 if the driver found mistakes, and
  /// `cpu_driver::take_findings` was not called since.
  bool fail_at_exit = true;
  /// Prints the objects that were not released to stderr when the driver is destroyed; with
  /// `use_cpu_driver`, when the process exits.
  bool report_leaks_at_end = false;
  /// Receives the mistakes that the driver finds, as text of a few lines. If empty, they go to
  /// stderr. Called from any thread, one call at a time; must not call the driver.
  std::function<void(std::string_view)> report{};
  /// Receives the output of `printf` in kernels when the program synchronizes. If empty, it goes to
  /// stdout. Called as `report` is.
  std::function<void(std::string_view)> print{};
};

namespace driver {

/// Returns whether two are equal; of `report` and `print`, compares only whether they are set.
inline bool same(const driver_options& a, const driver_options& b) {
  return a.devices == b.devices && a.memory_per_device == b.memory_per_device && a.mode == b.mode &&
         a.stream_threads == b.stream_threads && a.block_threads == b.block_threads &&
         a.initialized == b.initialized && a.record_locations == b.record_locations &&
         a.instruction_budget == b.instruction_budget &&
         a.long_kernel_report == b.long_kernel_report && a.value_wait_limit == b.value_wait_limit &&
         a.checks == b.checks && a.fail_at_exit == b.fail_at_exit &&
         a.report_leaks_at_end == b.report_leaks_at_end && !a.report == !b.report &&
         !a.print == !b.print;
}

}  // namespace driver
}}  // namespace nogpu::v1
