#pragma once
/// \file
/// `cost_report`: what kernels that the CPU driver ran would cost a GPU, by line of their source.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nogpu { inline namespace v1 {

/// The kind of a PTX instruction. Arithmetic includes comparisons, logic and shifts.
enum class instruction_kind : std::uint8_t {
  integer,
  half_precision,  ///< of `__half` and `__nv_bfloat16`
  single_precision,
  double_precision,
  special_function,  ///< divisions of floating-point numbers, roots, sines, logarithms, ...
  conversion,        ///< from one type of numbers to another
  move,              ///< copies of registers, selections, parameters of functions
  matrix,            ///< products of matrices, and what loads and stores their fragments
  global_load,
  global_store,
  shared_load,
  shared_store,
  local_load,
  local_store,
  constant_load,  ///< also of parameters of kernels
  atomic,
  copy,  ///< asynchronous ones
  texture,
  warp_exchange,    ///< shuffles, votes
  synchronization,  ///< barriers, fences, waits
  control,          ///< jumps, calls, returns
};
inline constexpr std::size_t instruction_kinds = 21;

constexpr const char* name_of(instruction_kind kind) noexcept {
  constexpr const char* names[instruction_kinds] = {
      "integer",     "half precision", "single precision", "double precision", "special function",
      "conversion",  "move",           "matrix",           "global load",      "global store",
      "shared load", "shared store",   "local load",       "local store",      "constant load",
      "atomic",      "copy",           "texture",          "warp exchange",    "synchronization",
      "control"};
  return names[static_cast<std::size_t>(kind)];
}

/// Counts. An "access" is one instruction of one warp that accesses memory.
struct cost_counts {
  /// Instructions that warps executed, by kind. One that only some lanes execute counts as well.
  std::array<std::uint64_t, instruction_kinds> by_kind{};
  /// The same for each lane that executed one.
  std::uint64_t thread_instructions = 0;

  std::uint64_t global_accesses =
      0;                            ///< to global memory, atomics and asynchronous copies included
  std::uint64_t uncoalesced = 0;    ///< those that touch more sectors than they need
  std::uint64_t sectors = 0;        ///< aligned pieces of 32 bytes that they touch
  std::uint64_t least_sectors = 0;  ///< that would hold the bytes that they touch

  std::uint64_t shared_accesses = 0;
  std::uint64_t wavefronts = 0;        ///< rounds that the 32 banks of 4 bytes take for them
  std::uint64_t least_wavefronts = 0;  ///< the same without bank conflicts

  std::uint64_t branches = 0;            ///< jumps with a condition that warps executed
  std::uint64_t divergent_branches = 0;  ///< those after which lanes of the warp were apart

  std::uint64_t count_of(instruction_kind kind) const noexcept {
    return by_kind[static_cast<std::size_t>(kind)];
  }
  /// Returns the number of instructions that warps executed.
  std::uint64_t instructions() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t each : by_kind) sum += each;
    return sum;
  }
  /// Returns how many lanes of a warp execute an instruction, on average: 32 without divergence.
  double mean_lanes() const noexcept { return share(thread_instructions, instructions(), 0); }
  /// Returns the share of the bytes moved that was asked for, to a whole number of sectors; 1
  /// without accesses.
  double coalescing() const noexcept { return share(least_sectors, sectors, 1); }
  /// Returns the wavefronts that are there only because lanes want different words of one bank.
  std::uint64_t bank_conflicts() const noexcept { return wavefronts - least_wavefronts; }
  /// Returns a number to put lines in order by: that of the instructions, of the bank conflicts,
  /// and of the sectors that are not needed.
  std::uint64_t cost() const noexcept {
    return instructions() + bank_conflicts() + sectors - least_sectors;
  }

  cost_counts& operator+=(const cost_counts& other) noexcept {
    for (std::size_t i = 0; i < by_kind.size(); ++i) by_kind[i] += other.by_kind[i];
    thread_instructions += other.thread_instructions;
    global_accesses += other.global_accesses;
    uncoalesced += other.uncoalesced;
    sectors += other.sectors;
    least_sectors += other.least_sectors;
    shared_accesses += other.shared_accesses;
    wavefronts += other.wavefronts;
    least_wavefronts += other.least_wavefronts;
    branches += other.branches;
    divergent_branches += other.divergent_branches;
    return *this;
  }
  bool operator==(const cost_counts&) const = default;

 private:
  static double share(std::uint64_t part, std::uint64_t whole, double of_nothing) noexcept {
    return whole == 0 ? of_nothing : static_cast<double>(part) / static_cast<double>(whole);
  }
};

/// A line of the source, or of the PTX where that does not name its source.
struct line_costs {
  std::string file;         ///< with its folder; empty: a line of the PTX
  unsigned line = 0;        ///< from 1
  std::string instruction;  ///< the first of a line of the PTX
  cost_counts counts;

  /// Returns "saxpy.cu:12", without the folder, or "PTX line 44: ld.global.f32 %f2, [%rd8];".
  std::string place() const {
    if (!file.empty()) return file.substr(file.rfind('/') + 1) + ':' + std::to_string(line);
    return "PTX line " + std::to_string(line) + ": " + instruction;
  }
};

/// A kernel, with everything that it called. Kernels of one name count as one.
struct kernel_costs {
  std::string name;
  std::uint64_t launches = 0;
  std::vector<line_costs> lines;  ///< that were executed; those with the highest cost() first

  cost_counts total() const noexcept {
    cost_counts sum;
    for (const line_costs& each : lines) sum += each.counts;
    return sum;
  }
};

/// The counts of the CPU driver during the life of a `cost_collection`. `to_table` and `to_svg`
/// show it.
struct cost_report {
  std::vector<kernel_costs> kernels;  ///< those with the highest cost() first

  cost_counts total() const noexcept {
    cost_counts sum;
    for (const kernel_costs& each : kernels) sum += each.total();
    return sum;
  }
};

}}  // namespace nogpu::v1
