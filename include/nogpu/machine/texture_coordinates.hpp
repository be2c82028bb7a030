// Converts texture coordinates of lanes to texels, along one axis.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <nogpu/machine/code.hpp>
#include <nogpu/machine/image.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// For each lane the texels at a coordinate, and how much the second counts, in 1/256. -1 is the
/// border.
struct lane_taps {
  std::array<std::int32_t, warp_size> first, second, weight;
};

/// Some lanes, those with the numbers from `begin` to before `end`.
struct lane_range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

namespace detail {

/// std::floor of a number that fits and is not -0. The sign of the fraction is taken from its bits,
/// because GCC does not vectorize a comparison of doubles that gives an integer.
inline std::int32_t floor_of(double x) {
  const auto towards_zero = static_cast<std::int32_t>(x);
  const double fraction = x - static_cast<double>(towards_zero);
  return towards_zero - static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(fraction) >> 63);
}

inline std::int32_t modulo(std::int32_t i, std::int32_t n) {
  const std::int32_t r = i % n;
  return r < 0 ? r + n : r;
}

/// Limits the magnitude of a number. Unlike std::clamp this has one comparison, and so is
/// vectorized.
inline double kept_within(double x, double most) {
  return std::fabs(x) < most ? x : std::copysign(most, x);
}

/// The distance, in texels, up to which positions are exact: more than images have. What is further
/// outside comes nearer, so that 1/256 of a texel are counted in 32 bits.
inline constexpr double far_outside = 0x1p22;

/// The same for normalized coordinates. This is outside of each image for every offset.
inline constexpr double normalized_far_outside = 64;

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

/// Applies an address mode: returns the texel for index `i` of `n`.
template <address_mode Mode> std::int32_t addressed(std::int32_t i, std::int32_t n) {
  const bool inside = i >= 0 && i < n;
  if constexpr (Mode == address_mode::border) return inside ? i : -1;
  if constexpr (Mode == address_mode::clamp) {
    const std::int32_t not_negative = i < 0 ? 0 : i;
    return not_negative < n ? not_negative : n - 1;
  }
  if (inside) return i;
  if constexpr (Mode == address_mode::wrap) return modulo(i, n);
  const std::int32_t r = modulo(i, 2 * n);
  return r < n ? r : 2 * n - 1 - r;
}

/// Applies the address mode of an axis to taps.
inline void address_taps(const texture_axis& axis, lane_range lanes, lane_taps& taps) {
  const auto texels = static_cast<std::int32_t>(axis.texels);
  const auto apply = [&]<address_mode Mode>() {
    for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
      const std::int32_t first = taps.first[n], second = taps.second[n];
      if constexpr (Mode == address_mode::clamp)
        taps.weight[n] = first >= 0 && second < texels ? taps.weight[n] : 0;
      taps.first[n] = addressed<Mode>(first, texels);
      taps.second[n] = addressed<Mode>(second, texels);
    }
  };
  switch (axis.mode) {
    case address_mode::wrap: return apply.template operator()<address_mode::wrap>();
    case address_mode::mirror: return apply.template operator()<address_mode::mirror>();
    case address_mode::border: return apply.template operator()<address_mode::border>();
    case address_mode::clamp: return apply.template operator()<address_mode::clamp>();
  }
}

/// Finds coordinates in texels, exact. A NaN and subnormal numbers count as 0.
inline void find_positions(const texture_axis& axis, lane_range lanes,
                           const std::array<float, warp_size>& coordinates,
                           std::array<double, warp_size>& positions) {
  const bool periodic =
      axis.normalized && (axis.mode == address_mode::wrap || axis.mode == address_mode::mirror);
  // Larger coordinates are whole numbers of periods, or infinite: both count as 0.
  const float most = periodic ? 0x1.fffffep24f : std::numeric_limits<float>::infinity();
  constexpr std::uint32_t least_bits = 0x0080'0000;
  const std::uint32_t range = std::bit_cast<std::uint32_t>(most) - least_bits;
  for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
    const auto bits = std::bit_cast<std::uint32_t>(coordinates[n]);
    const std::uint32_t kept = (bits & 0x7fff'ffff) - least_bits <= range ? 0xffff'ffff : 0;
    positions[n] = static_cast<double>(std::bit_cast<float>(bits & kept));
  }
  if (!axis.normalized) return;
  if (periodic) {
    const double period = axis.mode == address_mode::wrap ? 1 : 2, periods = 1 / period;
    for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
      const double u = positions[n];
      positions[n] = u - period * static_cast<double>(floor_of(u * periods));
    }
  }
  const double steps = axis.steps, texels_a_step = axis.texels_a_step;
  for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
    const double u = kept_within(positions[n], normalized_far_outside);
    positions[n] = static_cast<double>(floor_of(u * steps)) * texels_a_step;
  }
}

}  // namespace detail

// Each loop over lanes below and above does little, without calls, so that compilers vectorize it.

/// Finds the one texel at each coordinate.
inline void find_nearest_taps(const texture_axis& axis, lane_range lanes,
                              const std::array<float, warp_size>& coordinates,
                              const std::array<std::int32_t, warp_size>& offsets, lane_taps& taps) {
  std::array<double, warp_size> positions;
  detail::find_positions(axis, lanes, coordinates, positions);
  for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
    const double at = detail::kept_within(positions[n], detail::far_outside);
    const std::int32_t tap = detail::floor_of(at) + offsets[n];
    taps.first[n] = tap;
    taps.second[n] = tap;
    taps.weight[n] = 0;
  }
  detail::address_taps(axis, lanes, taps);
}

/// Finds the two texels whose centers each coordinate lies between, before an address mode is
/// applied. The position between them has 8 fractional bits, rounded to nearest.
inline void find_linear_taps_between(const texture_axis& axis, lane_range lanes,
                                     const std::array<float, warp_size>& coordinates,
                                     const std::array<std::int32_t, warp_size>& offsets,
                                     lane_taps& taps) {
  std::array<double, warp_size> positions;
  detail::find_positions(axis, lanes, coordinates, positions);
  for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
    const double texels = detail::kept_within(positions[n], detail::far_outside);
    const std::int32_t at = detail::floor_of(texels * 256 + 0.5) - 128 + offsets[n] * 256;
    taps.first[n] = at >> 8;
    taps.second[n] = (at >> 8) + 1;
    taps.weight[n] = at & 255;
  }
}

inline void find_linear_taps(const texture_axis& axis, lane_range lanes,
                             const std::array<float, warp_size>& coordinates,
                             const std::array<std::int32_t, warp_size>& offsets, lane_taps& taps) {
  find_linear_taps_between(axis, lanes, coordinates, offsets, taps);
  detail::address_taps(axis, lanes, taps);
}

}}}  // namespace nogpu::v1::machine
