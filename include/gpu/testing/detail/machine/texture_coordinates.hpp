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
[[gnu::always_inline]] inline std::int64_t floor_of(double x) {
  const auto towards_zero = static_cast<std::int64_t>(x);
  return towards_zero - (static_cast<double>(towards_zero) > x ? 1 : 0);
}

inline std::int64_t modulo(std::int64_t i, std::int64_t n) {
  const std::int64_t r = i % n;
  return r < 0 ? r + n : r;
}

}  // namespace detail

/// An axis of a level as a texture addresses it.
struct texture_axis {
  texture_axis() = default;
  texture_axis(address_mode m, bool is_normalized, std::int64_t n)
      : mode{m}, normalized{is_normalized}, texels{n} {
    // A normalized coordinate has 21 fractional bits left before it is scaled, more for long
    // images.
    steps = n <= 8192 ? 0x1p21 : n <= 65536 ? 0x1p22 : 0x1p23;
    texels_a_step = static_cast<double>(n) / steps;  // exact
  }

  address_mode mode = address_mode::clamp;
  bool normalized = false;
  std::int64_t texels = 1;
  double steps = 1;  // that a normalized coordinate of 1 has
  double texels_a_step = 1;
};

namespace detail {

/// Applies an address mode: returns the texel for index `i`.
inline std::int64_t addressed(const texture_axis& axis, std::int64_t i) {
  const std::int64_t n = axis.texels;
  if (i >= 0 && i < n) return i;
  switch (axis.mode) {
    case address_mode::wrap: return modulo(i, n);
    case address_mode::mirror: {
      const std::int64_t r = modulo(i, 2 * n);
      return r < n ? r : 2 * n - 1 - r;
    }
    case address_mode::border: return -1;
    case address_mode::clamp: break;
  }
  return i < 0 ? 0 : n - 1;
}

/// A normalized coordinate in texels. What is far outside comes a little nearer.
inline double scaled(const texture_axis& axis, double u) {
  return static_cast<double>(floor_of(std::clamp(u, -1024.0, 1024.0) * axis.steps)) *
         axis.texels_a_step;
}

/// A coordinate in texels, exact. What is far outside comes a little nearer; a NaN and subnormal
/// numbers count as 0.
[[gnu::always_inline]] inline double texels_at(const texture_axis& axis, float coordinate) {
  const float magnitude = std::fabs(coordinate);
  if (!(magnitude >= 0x1p-126f)) return 0;
  constexpr double far = 0x1p30;
  double u = static_cast<double>(coordinate);
  if (!axis.normalized) return std::clamp(u, -far, far);
  if (axis.mode == address_mode::wrap || axis.mode == address_mode::mirror) {
    if (magnitude >= 0x1p25f) return 0;  // a whole number of periods, or infinite
    const double period = axis.mode == address_mode::wrap ? 1 : 2;
    u -= period * static_cast<double>(floor_of(u / period));
  }
  return scaled(axis, u);
}

}  // namespace detail

/// The one texel at a coordinate.
[[gnu::always_inline]] inline axis_taps nearest_tap(const texture_axis& axis, float coordinate,
                                                    std::int64_t offset) {
  const double at = detail::texels_at(axis, coordinate);
  const std::int64_t tap = detail::addressed(axis, detail::floor_of(at) + offset);
  return {tap, tap, 0};
}

/// The two texels whose centers a coordinate lies between, before an address mode is applied. The
/// position between them has 8 fractional bits, rounded to nearest.
[[gnu::always_inline]] inline axis_taps linear_taps_between(double texels, std::int64_t offset) {
  const std::int64_t at = detail::floor_of(texels * 256 + 0.5) - 128 + offset * 256;
  return {at >> 8, (at >> 8) + 1, static_cast<int>(at & 255)};
}

[[gnu::always_inline]] inline axis_taps linear_taps(const texture_axis& axis, float coordinate,
                                                    std::int64_t offset) {
  axis_taps taps = linear_taps_between(detail::texels_at(axis, coordinate), offset);
  if (taps.first >= 0 && taps.second < axis.texels) return taps;
  if (axis.mode == address_mode::clamp) taps.weight = 0;
  taps.first = detail::addressed(axis, taps.first);
  taps.second = detail::addressed(axis, taps.second);
  return taps;
}

}  // namespace gpu::inline v1::testing::machine
