#pragma once
/// \file
/// What a device can be asked for: plain values.

#include <gpu/core/dims.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu::inline v0 {

/// The generation of a device, such as 9.0 for Hopper.
struct compute_capability {
  int major = 0;
  int minor = 0;

  /// As in the compiler's `sm_90`: ten times `major`, plus `minor`.
  constexpr int sm() const noexcept { return major * 10 + minor; }
  friend constexpr bool operator==(compute_capability, compute_capability) noexcept = default;
  friend constexpr bool operator<(compute_capability a, compute_capability b) noexcept {
    return a.major < b.major || (a.major == b.major && a.minor < b.minor);
  }
  friend constexpr bool operator>(compute_capability a, compute_capability b) noexcept {
    return b < a;
  }
  friend constexpr bool operator<=(compute_capability a, compute_capability b) noexcept {
    return !(b < a);
  }
  friend constexpr bool operator>=(compute_capability a, compute_capability b) noexcept {
    return !(a < b);
  }
};

/// Bytes of device memory.
struct memory_info {
  std::size_t free = 0;
  std::size_t total = 0;
};

/// 16 bytes that no other device shares, across machines too.
struct device_uuid {
  unsigned char bytes[16] = {};
  friend constexpr bool operator==(const device_uuid&, const device_uuid&) noexcept = default;
};

/// What a launch has to stay within, and whether the device has memory pools.
struct device_limits {
  std::uint32_t threads_per_block = 0;
  dims block;                               ///< largest extent along each axis
  dims grid;                                ///< largest extent along each axis
  std::size_t shared_memory_per_block = 0;  ///< without asking for more
  std::size_t shared_memory_opt_in = 0;     ///< for a kernel that asked
  std::uint32_t multiprocessors = 0;
  std::uint32_t warp_size = 0;
  bool memory_pools = false;        ///< stream-ordered allocation
  bool cooperative_launch = false;  ///< barriers across the whole grid
};

}  // namespace gpu::inline v0
