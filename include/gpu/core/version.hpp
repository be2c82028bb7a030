#pragma once
/// \file
/// `version`: a version of three numbers, and the version of this library.

namespace gpu { inline namespace v1 {

/// A version that can be compared with another.
struct version {
  int major = 0;
  int minor = 0;
  int patch = 0;

  /// Converts from CUDA's notation: 13000 is 13.0, and 12040 is 12.4.
  static constexpr version from_cuda(int number) noexcept {
    return {number / 1000, number % 1000 / 10, 0};
  }

  friend constexpr bool operator==(const version&, const version&) noexcept = default;
  // Written out, because <compare>, which <=> needs, costs nearly as much as cuda.h.
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

/// The number of the inline namespace `v1`, and a part of the name of all state that the shared
/// libraries of a process share. Libraries built with different numbers can be loaded into one
/// process; each has its own driver table and compilers. `scripts/raise-abi` increases it when the
/// layout of that state changes.
inline constexpr int abi_number = 1;

}}  // namespace gpu::v1
