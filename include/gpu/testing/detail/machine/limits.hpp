#pragma once
/// \file
/// Which mistakes of a kernel the CPU driver looks for, and how long a kernel may run.

#include <chrono>
#include <cstdint>

namespace gpu::inline v0::testing::machine {

/// Which mistakes are looked for beyond bad addresses, which always are.
struct checks {
  bool uninitialized_reads = true;              // reported through `hooks::report`
  bool uninitialized_reads_are_faults = false;  // and end the grid
  bool shared_races = true;                     // reported through `hooks::report`
  bool shared_races_are_faults = false;         // and end the grid
  /// Threads that exit without reaching a barrier that others wait at. Hardware takes them for
  /// arrived.
  bool barrier_divergence = true;              // reported through `hooks::report`
  bool barrier_divergence_is_a_fault = false;  // and the grid ends
  /// Shuffles that read lanes that the mask does not name or that do not take part, where something
  /// is computed with the value, and lanes that their own mask does not name.
  bool mask_misuse = true;              // reported through `hooks::report`
  bool mask_misuse_is_a_fault = false;  // and ends the grid

  bool operator==(const checks&) const = default;
};

struct limits {
  /// Instructions that one thread may execute; 0 = no limit.
  std::uint64_t instructions_per_thread = std::uint64_t{1} << 24;
  /// How long a grid runs before `hooks::report` is told, once, where it is; 0 = never.
  std::chrono::milliseconds told_after{10'000};
  /// The stack of a thread whose kernel calls functions recursively or by their addresses
  /// (CU_LIMIT_STACK_SIZE). Another kernel has what it needs, and so much for alloca.
  std::uint32_t stack_bytes = 1024;
  /// Blocks that are started before earlier ones have ended. Not for cooperative launches, where
  /// all are.
  std::uint32_t resident_blocks = 2112;
};

}  // namespace gpu::inline v0::testing::machine
