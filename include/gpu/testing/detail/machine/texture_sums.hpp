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

/// Up to four texels of a slice, as in memory, and their weights.
struct weighted_slice {
  std::array<texel, 4> values;
  std::array<int, 4> weights;
  std::size_t count = 0;

  void add(const texel& value, int weight) {
    values[count] = value;
    weights[count++] = weight;
  }
};

/// Two slices of each of two levels. The sum of all weights is 256.
using weighted_texels = std::array<weighted_slice, 4>;

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

/// 2 to this power, as a double has it.
constexpr double power_of_two(int exponent) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

/// The exponent of a normal number.
constexpr int exponent_of(float value) noexcept {
  return static_cast<int>(std::bit_cast<std::uint32_t>(value) >> 23 & 0xff) - 127;
}
constexpr int exponent_of(double value) noexcept {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) - 1023;
}

/// Normal floats or zeros with their weights.
struct weighted_floats {
  std::array<float, 4> values;
  std::array<int, 4> weights;
  std::size_t count = 0;
};

/// The exact sum after the alignment of all with the largest of them.
inline double sum_aligned(const weighted_floats& of, int kept) {
  int largest = -127;
  for (std::size_t k = 0; k < of.count; ++k) largest = std::max(largest, exponent_of(of.values[k]));
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < of.count; ++k) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(of.values[k]);
    const std::int64_t mantissa = (bits & 0x7f'ffff) | 0x80'0000;
    const int lost = largest - exponent_of(of.values[k]) - kept + 23;  // digits, if above 0
    const std::int64_t aligned = lost <= 0 ? mantissa << -lost : lost < 24 ? mantissa >> lost : 0;
    sum += (bits >> 31 != 0 ? -aligned : aligned) * of.weights[k];
  }
  return static_cast<double>(sum) * power_of_two(largest - kept - 8);
}

/// The sum of each slice is formed on its own; all together are rounded once, to the precision of
/// the format, halves away from zero. Subnormal numbers count as zero, but for those of halves.
/// `value_of(bits)` is the value of a channel.
template <class ValueOf>
float sum_floats(const weighted_texels& texels, std::size_t channel,
                 const filter_precision& precision, ValueOf value_of) {
  float infinite = 0;
  double sum = 0;
  for (const weighted_slice& slice : texels) {
    weighted_floats normal;
    for (std::size_t k = 0; k < slice.count; ++k) {
      const float value = value_of(slice.values[k][channel]);
      const int exponent = exponent_of(value);
      if (exponent == 128) {
        if (std::isnan(value) || infinite == -value) return std::bit_cast<float>(filter_nan);
        infinite = value;
      } else if (exponent != -127) {
        normal.values[normal.count] = value;
        normal.weights[normal.count++] = slice.weights[k];
      }
    }
    if (normal.count != 0) sum += sum_aligned(normal, precision.kept);
  }
  if (infinite != 0) return infinite;
  if (sum == 0) return 0;
  if (precision.digits == 24 && std::fabs(sum) < 0x1p-126) return 0;
  const int exponent = std::max(exponent_of(sum), precision.least_exponent) - precision.digits + 1;
  const double and_half = std::fabs(sum) * power_of_two(-exponent) + 0.5;
  const double rounded =
      static_cast<double>(static_cast<std::int64_t>(and_half)) * power_of_two(exponent);
  return static_cast<float>(sum < 0 ? -rounded : rounded);
}

/// Integers become numbers of 16 bits, which are then read as normalized.
inline float sum_integers(const weighted_texels& texels, std::size_t channel, texel_format format) {
  std::int64_t sum = 0;
  for (const weighted_slice& slice : texels)
    for (std::size_t k = 0; k < slice.count; ++k)
      sum += integer_value(slice.values[k][channel], format) * slice.weights[k];
  const std::int64_t most = has_sign(format) ? 32767 : 65535;
  const std::int64_t one = greatest_integer(format) * 256;  // the sum that stands for 1.0
  const std::int64_t scaled = 2 * sum * most + one;         // rounds halves up
  const std::int64_t whole =
      scaled >= 0 ? scaled / (2 * one) : -((-scaled + 2 * one - 1) / (2 * one));
  return static_cast<float>(static_cast<double>(std::max(whole, -most)) /
                            static_cast<double>(most));
}

}  // namespace detail

/// The sum of a channel over several texels. The colors of sRGB are added as halves.
inline std::uint32_t filter_channel(const texture& t, const weighted_texels& texels,
                                    std::size_t channel) {
  const texel_format format = t.source.format;
  float sum = 0;
  if (is_srgb(t, channel)) {
    sum = detail::sum_floats(texels, channel, detail::srgb_precision, [](std::uint32_t bits) {
      const auto linear = static_cast<double>(detail::linear_of_srgb(bits));
      return ptx::to_float(ptx::detail::to_half<ptx::f16>(linear));
    });
  } else if (format.kind != channel_kind::floating) {
    sum = detail::sum_integers(texels, channel, format);
  } else if (format.channel_bytes == 2) {
    sum = detail::sum_floats(texels, channel, detail::half_precision, detail::half_value);
  } else {
    sum = detail::sum_floats(texels, channel, detail::single_precision,
                             [](std::uint32_t bits) { return std::bit_cast<float>(bits); });
  }
  return std::bit_cast<std::uint32_t>(sum);
}

}  // namespace gpu::inline v1::testing::machine
