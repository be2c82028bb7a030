// The layout of the 64-bit generic address space of the simulated device.
//
// Every window is above the 47 bits that an operating system gives to a process, so an address from
// here never collides with a host mapping, and a host access to one faults at once.
#pragma once

#include <cstdint>

#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// A lane's address in the generic address space of the device.
using address = std::uint64_t;

/// Device memory: grows upwards, addresses are never used twice.
inline constexpr address device_window = 0x0001'0000'0000'0000;
inline constexpr address device_window_end = 0x0002'0000'0000'0000;
/// The shared memory of the block that a thread belongs to: the same window for every block.
inline constexpr address shared_window = 0x0004'0000'0000'0000;
/// The first bytes of the shared memory of each block belong to the system, as on an H200; the
/// variables of a kernel come after them.
inline constexpr std::uint32_t reserved_shared_bytes = 1024;
/// So many of them are in use: the barriers and the scratch memory of cooperative groups.
inline constexpr std::uint32_t used_reserved_shared_bytes = 288;
/// The local memory (stack) of a thread: the same window for every thread.
inline constexpr address local_window = 0x0005'0000'0000'0000;
/// The parameters of the running kernel, aligned as where a device has them.
inline constexpr address param_window = 0x0006'0000'0000'0000 + ptx::entry_parameters_begin;
/// Addresses of functions: `code_window + 16 * index`.
inline constexpr address code_window = 0x0007'0000'0000'0000;
/// Each of the small windows is this long.
inline constexpr address small_window_size = address{1} << 32;

/// An address of shared memory of another block of the cluster: its offset there, and from this bit
/// on the block's rank plus 1. Own addresses have zeros there.
inline constexpr unsigned cluster_rank_shift = 24;
inline constexpr std::uint32_t shared_offset_mask = (1u << cluster_rank_shift) - 1;

/// Returns whether `a` is in the small window that begins at `window`.
constexpr bool in_window(address a, address window) noexcept {
  return a - window < small_window_size;
}

}}}  // namespace nogpu::v1::machine
