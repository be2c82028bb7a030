// Sums of texels as the filter of the hardware forms them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <gpu/testing/detail/machine/image.hpp>
#include <gpu/testing/detail/machine/texels.hpp>

namespace gpu::inline v1::testing::machine {

/// A channel of the texels of two slices, four each, as in memory, and their weights, whose sum is
/// 256.
struct weighted_channel {
  std::array<std::uint32_t, 16> bits{};
  std::array<int, 16> weights{};
};

namespace detail {

constexpr std::uint32_t filter_nan = 0x7fff'ffff;

/// The precision in which the filter keeps floats: the binary digits of the result, and the number
/// of digits below the leading one of the largest texel that all texels keep.
struct filter_precision {
  int digits = 24;
  int kept = 27;
  int least_exponent = -126;  // of the result
};
inline constexpr filter_precision single_precision{};
inline constexpr filter_precision half_precision{11, 14, -14};
inline constexpr filter_precision srgb_precision{11, 7, -14};

/// The exact sum of up to four floats after their alignment with the largest of them.
inline double sum_aligned(const std::array<float, 16>& values, const std::array<int, 16>& weights,
                          std::size_t first, int kept) {
  int largest = -1000;
  for (std::size_t k = first; k < first + 4; ++k)
    if (values[k] != 0) largest = std::max(largest, std::ilogb(values[k]));
  const int unit = largest - kept;
  std::int64_t sum = 0;
  for (std::size_t k = first; k < first + 4; ++k)
    sum +=
        static_cast<std::int64_t>(std::ldexp(static_cast<double>(values[k]), -unit)) * weights[k];
  return std::ldexp(static_cast<double>(sum), unit - 8);
}

/// The sum of each slice is formed on its own; all together are rounded once, to the precision of
/// the format, halves away from zero. Subnormal numbers count as zero, but for those of halves.
inline float sum_floats(const weighted_channel& c, const filter_precision& precision) {
  const bool half = precision.digits == 11;
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
    sum += sum_aligned(values, c.weights, slice, precision.kept);
  if (sum == 0) return 0;
  if (!half && std::fabs(sum) < 0x1p-126) return 0;
  const int exponent = std::max(std::ilogb(sum), precision.least_exponent);
  const double unit = std::ldexp(1.0, exponent - (precision.digits - 1));
  const double rounded = std::floor(std::fabs(sum) / unit + 0.5) * unit;
  return static_cast<float>(sum < 0 ? -rounded : rounded);
}

/// Integers become numbers of 16 bits, which are then read as normalized.
inline float sum_integers(const weighted_channel& c, texel_format format) {
  const bool is_signed = has_sign(format);
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < c.bits.size(); ++k) {
    sum += integer_value(c.bits[k], format) * c.weights[k];
  }
  const std::int64_t most = is_signed ? 32767 : 65535;
  const std::int64_t one = greatest_integer(format) * 256;  // the sum that stands for 1.0
  const std::int64_t scaled = 2 * sum * most + one;         // rounds halves up
  const std::int64_t whole =
      scaled >= 0 ? scaled / (2 * one) : -((-scaled + 2 * one - 1) / (2 * one));
  return static_cast<float>(static_cast<double>(std::max(whole, -most)) /
                            static_cast<double>(most));
}

}  // namespace detail

/// The sum of a channel over several texels. The colors of sRGB are added as halves.
inline std::uint32_t filter_channel(const texture& t, weighted_channel c, std::size_t channel) {
  const texel_format format = t.source.format;
  float sum = 0;
  if (is_srgb(t, channel)) {
    for (std::uint32_t& bits : c.bits)
      bits = ptx::detail::to_half<ptx::f16>(static_cast<double>(detail::linear_of_srgb(bits))).bits;
    sum = detail::sum_floats(c, detail::srgb_precision);
  } else if (format.kind == channel_kind::floating) {
    sum = detail::sum_floats(
        c, format.channel_bytes == 2 ? detail::half_precision : detail::single_precision);
  } else {
    sum = detail::sum_integers(c, format);
  }
  return std::bit_cast<std::uint32_t>(sum);
}

}  // namespace gpu::inline v1::testing::machine
