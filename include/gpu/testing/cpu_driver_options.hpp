#pragma once
/// \file
/// `cpu_driver_options`: how the CPU driver of gpu/testing/cpu_driver.hpp works, and what it
/// checks.

#include <gpu/testing/detail/machine/limits.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace gpu::inline v0::testing {

/// When the work that a program gives to a stream is done.
enum class execution : std::uint8_t {
  /// As soon as it is enqueued and what it waits for is done.
  eager,
  /// As late as the ordering rules allow: when the program synchronises, asks, or makes a call that
  /// waits. Until then, the host memory that a pending copy will fill holds `poison`, so that a
  /// missing synchronisation shows.
  deferred,
};

/// What the host finds where a pending copy will put its result, in deferred mode.
inline constexpr unsigned char poison = 0xcd;

struct cpu_driver_options {
  unsigned devices = 1;                                      ///< up to 64, alike
  std::uint64_t memory_per_device = std::uint64_t{4} << 30;  ///< bytes; committed when touched
  execution mode = execution::eager;
  /// Each stream works on a thread of its own, so that streams overlap and a kernel may wait for
  /// the host. Otherwise work is done by the thread that enqueues it or waits for it.
  bool stream_threads = false;
  /// Threads that the blocks of one grid are spread over; 0 = one for each core.
  unsigned block_threads = 0;
  /// Do what cuInit does at once, as a driver that is already in use; false: the user calls it.
  bool initialised = true;
  /// Remember which call made each handle and allocation, for leak lists and fault reports.
  bool record_places = true;
  /// Instructions that one thread of a kernel may execute before the launch fails with
  /// CUDA_ERROR_LAUNCH_TIMEOUT; 0 = no limit.
  std::uint64_t instruction_budget = machine::limits{}.instructions_per_thread;
  /// A kernel that has run for as long is reported once, with the line that it is at, and goes on;
  /// 0 = never. Many threads in a loop without end use up their budgets one beside the other, which
  /// takes long.
  std::chrono::milliseconds long_kernel_report = machine::limits{}.told_after;
  /// How long a call waits for a stream that waits for a value in memory (cuStreamWaitValue32),
  /// while nothing else is done. Then the wait is reported and given up, and its context has the
  /// fault CUDA_ERROR_LAUNCH_TIMEOUT.
  std::chrono::milliseconds value_wait_limit{10'000};
  /// Which mistakes are looked for beyond bad addresses, which always are.
  machine::checks checks{};
  /// Print what was not given back to stderr when the driver ends; with `use_cpu_driver`, when the
  /// process exits.
  bool report_leaks_at_end = false;
  /// Receives what the driver finds wrong, as text of a few lines. Empty: it goes to stderr.
  /// Called from any thread, one call at a time; must not call the driver.
  std::function<void(std::string_view)> report{};
  /// Receives what kernels print, when the program synchronises. Empty: it goes to stdout.
  /// Called as `report` is.
  std::function<void(std::string_view)> print{};
};

namespace cpu {

/// Whether two are the same, but for where reports and prints go if they go anywhere.
inline bool same(const cpu_driver_options& a, const cpu_driver_options& b) {
  return a.devices == b.devices && a.memory_per_device == b.memory_per_device && a.mode == b.mode &&
         a.stream_threads == b.stream_threads && a.block_threads == b.block_threads &&
         a.initialised == b.initialised && a.record_places == b.record_places &&
         a.instruction_budget == b.instruction_budget &&
         a.long_kernel_report == b.long_kernel_report && a.value_wait_limit == b.value_wait_limit &&
         a.checks == b.checks && a.report_leaks_at_end == b.report_leaks_at_end &&
         !a.report == !b.report && !a.print == !b.print;
}

}  // namespace cpu
}  // namespace gpu::inline v0::testing
