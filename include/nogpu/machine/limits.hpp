#pragma once
/// \file
/// The mistakes of a kernel that the CPU driver looks for, and the time that a kernel may run.

#include <chrono>
#include <cstdint>

namespace nogpu { inline namespace v1 { namespace machine {

/// The checks beyond that of addresses, which is always made, and which of them end the grid.
struct checks {
  bool uninitialized_reads = true;             // reported through `hooks::report`
  bool uninitialized_reads_are_faults = true;  // and end the grid
  bool shared_races = true;                    // reported through `hooks::report`
  bool shared_races_are_faults = true;         // and end the grid
  /// Threads that exit without reaching a barrier that others wait at. Hardware counts them as
  /// arrived.
  bool barrier_divergence = true;             // reported through `hooks::report`
  bool barrier_divergence_is_a_fault = true;  // and the grid ends
  /// Shuffles that read lanes that the mask does not name or that do not take part, if something
  /// is computed with the value, and lanes that their own mask does not name.
  bool mask_misuse = true;             // reported through `hooks::report`
  bool mask_misuse_is_a_fault = true;  // and ends the grid
  /// Accesses past the shared memory that the launch asked for, within the 128 bytes that hardware
  /// gives out at a time. NVIDIA's compiler widens loads that far. Beyond these bytes an access is
  /// a fault, as on a GPU.
  bool shared_bounds = true;             // reported through `hooks::report`
  bool shared_bounds_are_faults = true;  // and end the grid

  /// Returns the checks that report and let the grid go on, as hardware does.
  static constexpr checks only_reported() noexcept {
    checks made;
    made.uninitialized_reads_are_faults = made.shared_races_are_faults = false;
    made.barrier_divergence_is_a_fault = made.mask_misuse_is_a_fault = false;
    made.shared_bounds_are_faults = false;
    return made;
  }

  bool operator==(const checks&) const = default;
};

struct limits {
  /// Instructions that one thread may execute; 0 = no limit.
  std::uint64_t instructions_per_thread = std::uint64_t{1} << 24;
  /// The time after which `hooks::report` receives, once, where a grid is; 0 for never.
  std::chrono::milliseconds told_after{10'000};
  /// The stack of a thread whose kernel calls functions recursively or by their addresses
  /// (CU_LIMIT_STACK_SIZE). Other kernels have the stack that they need, and this much for alloca.
  std::uint32_t stack_bytes = 1024;
  /// Blocks that are started before earlier ones have ended. Not for cooperative launches, where
  /// all are.
  std::uint32_t resident_blocks = 2112;
};

}}}  // namespace nogpu::v1::machine
