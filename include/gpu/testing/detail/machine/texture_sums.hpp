// Sums of texels as the filter of the hardware forms them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace gpu::inline v1::testing::machine {

/// What belongs to each of the four texels that a filter reads in a slice.
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

/// The exponent of a normal number.
constexpr int exponent_of(double value) noexcept {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) - 1023;
}

}  // namespace detail

/// The sum of each slice is formed on its own; all together are rounded once, to the precision of
/// the format, halves away from zero. Subnormal numbers count as zero, but for those of halves.
template <detail::filter_precision Precision> class float_sum {
 public:
  /// Adds the texels of a slice. Those that are missing are zeros.
  [[gnu::always_inline]] void add(const four<float>& values, const four<int>& weights) {
    std::uint32_t most = 0, least = ~0u;  // without their signs
    for (const float value : values) {
      const std::uint32_t size = std::bit_cast<std::uint32_t>(value) & 0x7fff'ffff;
      most = std::max(most, size);
      least = std::min(least, size);
    }
    const int largest = static_cast<int>(most >> 23) - 127;
    const int smallest = static_cast<int>(least >> 23) - 127;
    if (largest == 128) return add_special(values);
    // Digits that each value may lie below the largest one and lose none.
    constexpr int spare = Precision.kept - Precision.digits + 1;
    const bool whole = smallest != -127 && largest - smallest <= spare;
    const auto part = [&](std::size_t k) {
      const auto value = static_cast<double>(values[k]);
      return (whole ? value : aligned(value, largest)) * weights[k];
    };
    sum_ += part(0) + part(1) + part(2) + part(3);
  }

  float result() const {
    if (special_ != 0) return special_;  // a NaN is not 0 either
    const double size = std::fabs(sum_);
    if (size == 0 || (Precision.digits == 24 && size < 0x1p-126)) return 0;
    const int exponent =
        std::max(detail::exponent_of(sum_), Precision.least_exponent) - Precision.digits + 1;
    const double and_half = size * detail::power_of_two(-exponent) + 0.5;
    const double rounded =
        static_cast<double>(static_cast<std::int64_t>(and_half)) * detail::power_of_two(exponent);
    return static_cast<float>(sum_ < 0 ? -rounded : rounded);
  }

 private:
  /// A value with the digits that are left if the largest one has this exponent.
  [[gnu::noinline]] static double aligned(double value, int largest) {
    if (std::fabs(value) < 0x1p-126) return 0;
    const auto units =
        static_cast<std::int64_t>(value * detail::power_of_two(Precision.kept - largest));
    return static_cast<double>(units) * detail::power_of_two(largest - Precision.kept);
  }

  [[gnu::noinline]] void add_special(const four<float>& values) {
    for (const float value : values) {
      if (std::isfinite(value)) continue;
      const bool none = std::isnan(value) || std::isnan(special_) || special_ == -value;
      special_ = none ? std::bit_cast<float>(detail::filter_nan) : value;
    }
  }

  double sum_ = 0;
  float special_ = 0;  // an infinity or a NaN, if there is one
};

/// Integers become numbers of 16 bits, which are then read as normalized.
template <class T> class integer_sum {
 public:
  void add(const four<T>& values, const four<int>& weights) {
    for (std::size_t k = 0; k < 4; ++k) sum_ += std::int64_t{values[k]} * weights[k];
  }

  float result() const {
    constexpr std::int64_t most = std::is_signed_v<T> ? 32767 : 65535;
    constexpr std::int64_t one = std::int64_t{std::numeric_limits<T>::max()} * 256;  // is 1.0
    const std::int64_t scaled = 2 * sum_ * most + one;  // rounds halves up
    const std::int64_t whole =
        scaled >= 0 ? scaled / (2 * one) : -((-scaled + 2 * one - 1) / (2 * one));
    return static_cast<float>(static_cast<double>(std::max(whole, -most)) /
                              static_cast<double>(most));
  }

 private:
  std::int64_t sum_ = 0;
};

}  // namespace gpu::inline v1::testing::machine
