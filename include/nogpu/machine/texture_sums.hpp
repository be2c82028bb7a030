// Sums of texels as the filter of the hardware forms them, for many slices at once: each loop is
// one that compilers vectorize.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <nogpu/ptx/arithmetic/float_bits.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// A `T` for each of the four texels that a filter reads in a slice.
template <class T> using four = std::array<T, 4>;

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

}  // namespace detail

/// The sum of each slice is formed on its own; all together are rounded once, to the precision of
/// the format, halves away from zero. Subnormal numbers count as zero, but for those of halves.
template <detail::filter_precision Precision> struct float_filter {
  using number = float;
  using sum = double;  // infinite or NaN if a texel is

  /// Sums up the texels of `count` slices. Those that are missing are zeros.
  template <std::size_t N>
  static void sum_slices(const four<std::array<float, N>>& values,
                         const four<std::array<int, N>>& weights, std::size_t count,
                         std::array<double, N>& sums) {
    std::array<std::int32_t, N> exact{};
    for (std::size_t n = 0; n < count; ++n) {
      std::int32_t most = 0, least = 0x7f80'0000;  // without signs; zeros lose nothing
      double all = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        const std::int32_t size = std::bit_cast<std::int32_t>(values[k][n]) & 0x7fff'ffff;
        const std::int32_t not_zero = size == 0 ? 0x7f80'0000 : size;
        most = most < size ? size : most;
        least = not_zero < least ? not_zero : least;
        all += static_cast<double>(values[k][n]) * static_cast<double>(weights[k][n]);
      }
      sums[n] = all * 0x1p-8;  // weights are in 1/256
      // Without alignment the sum is exact, unless a digit of a small value is beyond those kept.
      constexpr int spare = Precision.kept - Precision.digits + 1;
      const bool is_near = (most >> 23) - (least >> 23) <= spare;
      const bool is_normal = most < 0x7f80'0000 && least >= 0x0080'0000;
      exact[n] = is_near && is_normal ? 1 : 0;
    }
    for (std::size_t n = 0; n < count; ++n)
      if (exact[n] == 0)
        sums[n] = sum_aligned({values[0][n], values[1][n], values[2][n], values[3][n]},
                              {weights[0][n], weights[1][n], weights[2][n], weights[3][n]});
  }

  static float result(double sum) {
    const double size = std::fabs(sum);
    double rounded = round_digits(size);
    if constexpr (Precision.digits != 24) {
      if (size < detail::power_of_two(Precision.least_exponent)) rounded = round_subnormal(size);
    }
    rounded = sum < 0 ? -rounded : rounded;
    if constexpr (Precision.digits == 24) rounded = size < 0x1p-126 ? 0 : rounded;
    const auto value = static_cast<float>(rounded);
    return sum != sum ? std::bit_cast<float>(detail::filter_nan) : value;
  }

 private:
  /// Rounds a number that is not negative to the digits of the format, halves up.
  static double round_digits(double size) {
    constexpr int surplus = 53 - Precision.digits;
    constexpr std::uint64_t half = std::uint64_t{1} << (surplus - 1);
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(size) + half) & ~(2 * half - 1));
  }

  static double round_subnormal(double size) {
    constexpr int unit = Precision.least_exponent - Precision.digits + 1;
    return std::floor(size * detail::power_of_two(-unit) + 0.5) * detail::power_of_two(unit);
  }

  /// The exact sum after the alignment of all with the largest of them.
  static double sum_aligned(const four<float>& values, const four<int>& weights) {
    int largest = -127;
    double infinite = 0;
    for (const float value : values) {
      largest = std::max(largest, exponent_of(value));
      if (!ptx::detail::is_finite(value)) infinite += static_cast<double>(value);
    }
    if (largest == 128) return infinite;  // or a NaN
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      if (exponent_of(values[k]) == -127) continue;
      const double units =
          static_cast<double>(values[k]) * detail::power_of_two(Precision.kept - largest);
      sum += static_cast<double>(static_cast<std::int64_t>(units) * weights[k]);
    }
    return sum * detail::power_of_two(largest - Precision.kept - 8);
  }

  /// The exponent of a normal number.
  static int exponent_of(float value) noexcept {
    return static_cast<int>(std::bit_cast<std::uint32_t>(value) >> 23 & 0xff) - 127;
  }
};

/// Integers become numbers of 16 bits, which are then read as normalized.
template <class T> struct integer_filter {
  using number = T;
  using sum = std::conditional_t<sizeof(T) < 4, std::int32_t, std::int64_t>;

  template <std::size_t N>
  static void sum_slices(const four<std::array<T, N>>& values,
                         const four<std::array<int, N>>& weights, std::size_t count,
                         std::array<sum, N>& sums) {
    for (std::size_t n = 0; n < count; ++n) {
      sum all = 0;
      for (std::size_t k = 0; k < 4; ++k) all += sum{values[k][n]} * sum{weights[k][n]};
      sums[n] = all;
    }
  }

  static float result(sum of) {
    constexpr std::int32_t most = std::is_signed_v<T> ? 32767 : 65535;
    constexpr std::int64_t one = std::int64_t{std::numeric_limits<T>::max()} * 256;  // is 1.0
    // The whole part of of / one * most, halves rounded up.
    std::int32_t whole = 0;
    if constexpr (most * std::int64_t{256} % one == 0) {
      whole = (of * std::int32_t{most * std::int64_t{256} / one} + 128) >> 8;
    } else if constexpr (sizeof(T) < 4) {  // in floating point, as that is vectorized
      const double quotient =
          (2.0 * of * most + static_cast<double>(one)) / (2.0 * static_cast<double>(one));
      whole = static_cast<std::int32_t>(quotient);
      whole -= static_cast<double>(whole) > quotient ? 1 : 0;
    } else {
      const std::int64_t scaled = 2 * of * most + one;
      whole = static_cast<std::int32_t>(scaled >= 0 ? scaled / (2 * one)
                                                    : -((-scaled + 2 * one - 1) / (2 * one)));
    }
    whole = whole < -most ? -most : whole;
    return static_cast<float>(whole) / static_cast<float>(most);
  }
};

}}}  // namespace nogpu::v1::machine
