// Converts a texture coordinate to texels, along one axis.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <gpu/testing/detail/machine/image.hpp>

namespace gpu::inline v1::testing::machine {

/// The texels at a coordinate, and how much the second counts, in 1/256. -1 is the border.
struct axis_taps {
  std::int64_t first = 0;
  std::int64_t second = 0;
  int weight = 0;
};

namespace detail {

/// std::floor, without a call where the processor's basic instructions have none.
inline std::int64_t floor_of(double x) {
  const auto towards_zero = static_cast<std::int64_t>(x);
  return towards_zero - (static_cast<double>(towards_zero) > x ? 1 : 0);
}

inline std::int64_t modulo(std::int64_t i, std::int64_t n) {
  const std::int64_t r = i % n;
  return r < 0 ? r + n : r;
}

/// Applies an address mode: returns the texel for index `i` of `n`.
inline std::int64_t addressed(address_mode mode, std::int64_t i, std::int64_t n) {
  switch (mode) {
    case address_mode::wrap: return modulo(i, n);
    case address_mode::mirror: {
      const std::int64_t r = modulo(i, 2 * n);
      return r < n ? r : 2 * n - 1 - r;
    }
    case address_mode::border: return i < 0 || i >= n ? -1 : i;
    case address_mode::clamp: break;
  }
  return std::clamp(i, std::int64_t{0}, n - 1);
}

/// A normalized coordinate has 21 fractional bits left before it is scaled, more for long images.
inline double scaled(double u, std::int64_t n) {
  const int bits = n <= 8192 ? 21 : n <= 65536 ? 22 : 23;
  const auto whole = std::int64_t{1} << bits;
  return static_cast<double>(floor_of(u * static_cast<double>(whole))) /
         static_cast<double>(whole) * static_cast<double>(n);
}

/// A coordinate in texels, exact. What is far outside comes a little nearer; a NaN and subnormal
/// numbers count as 0.
inline double texels_at(address_mode mode, bool normalized, float coordinate, std::int64_t n) {
  if (!(std::fabs(coordinate) >= 0x1p-126f)) return 0;
  constexpr double far = 0x1p30;
  if (!normalized) return std::clamp(static_cast<double>(coordinate), -far, far);
  double u = static_cast<double>(coordinate);
  if (mode == address_mode::wrap || mode == address_mode::mirror) {
    if (std::isinf(u)) return 0;
    const double period = mode == address_mode::wrap ? 1 : 2;
    u -= period * std::floor(u / period);
  }
  return scaled(std::clamp(u, -1024.0, 1024.0), n);
}

}  // namespace detail

/// The one texel at a coordinate.
inline axis_taps nearest_tap(address_mode mode, bool normalized, float coordinate,
                             std::int64_t offset, std::int64_t n) {
  const double at = detail::texels_at(mode, normalized, coordinate, n);
  const std::int64_t tap = detail::addressed(mode, detail::floor_of(at) + offset, n);
  return {tap, tap, 0};
}

/// The two texels whose centers a coordinate lies between, before an address mode is applied. The
/// position between them has 8 fractional bits, rounded to nearest.
inline axis_taps linear_taps_between(double texels, std::int64_t offset) {
  const std::int64_t at = detail::floor_of(texels * 256 + 0.5) - 128 + offset * 256;
  return {at >> 8, (at >> 8) + 1, static_cast<int>(at & 255)};
}

inline axis_taps linear_taps(address_mode mode, bool normalized, float coordinate,
                             std::int64_t offset, std::int64_t n) {
  const double texels = detail::texels_at(mode, normalized, coordinate, n);
  axis_taps taps = linear_taps_between(texels, offset);
  if (mode == address_mode::clamp && (taps.first < 0 || taps.second >= n)) taps.weight = 0;
  taps.first = detail::addressed(mode, taps.first, n);
  taps.second = detail::addressed(mode, taps.second, n);
  return taps;
}

}  // namespace gpu::inline v1::testing::machine
