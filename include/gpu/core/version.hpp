#pragma once
/// \file
/// `version`: three numbers, and those of this library.

namespace gpu::inline v0 {

/// A version of something, to be compared with another one.
struct version {
  int major = 0;
  int minor = 0;
  int patch = 0;

  /// From CUDA's own notation, in which 13.0 is 13000 and 12.4 is 12040.
  static constexpr version from_cuda(int number) noexcept {
    return {number / 1000, number % 1000 / 10, 0};
  }

  friend constexpr bool operator==(const version&, const version&) noexcept = default;
  // One by one: <compare>, which <=> needs, costs nearly as much as cuda.h.
  friend constexpr bool operator<(const version& a, const version& b) noexcept {
    if (a.major != b.major) return a.major < b.major;
    return a.minor != b.minor ? a.minor < b.minor : a.patch < b.patch;
  }
  friend constexpr bool operator>(const version& a, const version& b) noexcept { return b < a; }
  friend constexpr bool operator<=(const version& a, const version& b) noexcept { return !(b < a); }
  friend constexpr bool operator>=(const version& a, const version& b) noexcept { return !(a < b); }
};

/// The version of this library.
inline constexpr version library_version{0, 1, 0};

/// The number of the inline namespace `v0`, and part of the name of all state that the shared
/// libraries of a process have in common. Libraries that were built with different numbers can be
/// loaded into one process: each has a driver table and compilers of its own. It is raised when the
/// layout of that state changes, by `scripts/raise-abi`.
inline constexpr int abi_number = 0;

}  // namespace gpu::inline v0
