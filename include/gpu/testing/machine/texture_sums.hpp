// Sums of texels as the filter of the hardware forms them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "gpu/testing/machine/image.hpp"
#include "gpu/testing/machine/texels.hpp"

namespace gpu::testing::machine {

/// A channel of the texels of two slices, four each, as it lies in memory, and how much each
/// counts: 256 together.
struct weighted_channel {
  std::array<std::uint32_t, 16> bits{};
  std::array<int, 16> weights{};
};

namespace detail {

constexpr std::uint32_t filter_nan = 0x7fff'ffff;

/// The exact sum of up to four floats after their alignment with the largest of them, which cuts
/// the bits below four guard bits off.
inline double sum_aligned(const std::array<float, 16>& values, const std::array<int, 16>& weights,
                          std::size_t first, int digits) {
  int largest = -1000;
  for (std::size_t k = first; k < first + 4; ++k)
    if (values[k] != 0) largest = std::max(largest, std::ilogb(values[k]));
  constexpr int guard = 4;
  const int unit = largest - (digits - 1) - guard;
  std::int64_t sum = 0;
  for (std::size_t k = first; k < first + 4; ++k)
    sum +=
        static_cast<std::int64_t>(std::ldexp(static_cast<double>(values[k]), -unit)) * weights[k];
  return std::ldexp(static_cast<double>(sum), unit - 8);
}

/// The sum of each slice is formed on its own; all together are rounded once, to the precision of
/// the format, halves away from zero. Subnormal numbers count as zero, but for those of halves.
inline float sum_floats(const weighted_channel& c, bool half) {
  const int digits = half ? 11 : 24;
  std::array<float, 16> values{};
  float infinite = 0;
  for (std::size_t k = 0; k < 16; ++k) {
    if (c.weights[k] == 0) continue;
    const float value = half ? half_value(c.bits[k]) : std::bit_cast<float>(c.bits[k]);
    if (std::isnan(value) || (std::isinf(value) && infinite == -value))
      return std::bit_cast<float>(filter_nan);
    if (std::isinf(value)) infinite = value;
    if (std::isnormal(value)) values[k] = value;
  }
  if (infinite != 0) return infinite;
  double sum = 0;
  for (std::size_t slice = 0; slice < 16; slice += 4)
    sum += sum_aligned(values, c.weights, slice, digits);
  if (sum == 0) return 0;
  const int least = half ? -14 : -126;
  if (!half && std::fabs(sum) < 0x1p-126) return 0;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(sum), least) - (digits - 1));
  const double rounded = std::floor(std::fabs(sum) / unit + 0.5) * unit;
  return static_cast<float>(sum < 0 ? -rounded : rounded);
}

/// Integers become numbers of 16 bits, which are then read as normalised.
inline float sum_integers(const weighted_channel& c, texel_format format) {
  const bool is_signed = has_sign(format);
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < c.bits.size(); ++k) {
    const std::int64_t value = integer_value(c.bits[k], format);
    const std::int64_t least = is_signed ? -greatest_integer(format) : 0;
    sum += std::max(value, least) * c.weights[k];
  }
  const std::int64_t most = is_signed ? 32767 : 65535;
  const std::int64_t one = greatest_integer(format) * 256;  // what a sum of 1.0 is
  const std::int64_t scaled = 2 * sum * most + one;         // rounds halves up
  const std::int64_t whole =
      scaled >= 0 ? scaled / (2 * one) : -((-scaled + 2 * one - 1) / (2 * one));
  return static_cast<float>(static_cast<double>(whole) / static_cast<double>(most));
}

}  // namespace detail

/// The sum of a channel over several texels. The colours of sRGB are added as halves.
inline std::uint32_t filter_channel(const texture& t, weighted_channel c, std::size_t channel) {
  const texel_format format = t.source.format;
  const bool srgb = is_srgb(t, channel);
  if (srgb) {
    for (std::uint32_t& bits : c.bits)
      bits = ptx::detail::to_half<ptx::f16>(static_cast<double>(detail::linear_of_srgb(bits))).bits;
  }
  return std::bit_cast<std::uint32_t>(srgb || format.kind == channel_kind::floating
                                          ? detail::sum_floats(c, format.channel_bytes < 4)
                                          : detail::sum_integers(c, format));
}

}  // namespace gpu::testing::machine
