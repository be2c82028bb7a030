#pragma once
/// \file
/// `ieee_number`: floating-point numbers by their bits, for sources compiled with -ffast-math.
///
/// Such a source assumes that no number is NaN or infinite and that zeros have no sign, and a
/// program linked with -ffast-math takes subnormal numbers for 0. The linker keeps one copy of an
/// inline function, so what that source makes of it also runs in sources compiled otherwise. Code
/// of the host that meets any number therefore classifies, compares and converts it by its bits.

#include <bit>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A floating-point type, whose numbers are m * 2^e with m < 2^bits and e >= lowest_exponent.
struct float_format {
  int bits;
  int lowest_exponent;

  constexpr int fraction_bits() const noexcept { return bits - 1; }
  constexpr int bias() const noexcept { return 2 - bits - lowest_exponent; }
  constexpr std::uint64_t infinity() const noexcept {
    return static_cast<std::uint64_t>(2 * bias() + 1) << fraction_bits();
  }
  constexpr std::uint64_t sign() const noexcept {
    return infinity() + (std::uint64_t{1} << fraction_bits());
  }
};
inline constexpr float_format half_format{11, -24}, bfloat16_format{8, -133},
    float32_format{24, -149}, float64_format{53, -1074};

/// A number that a double can hold. Comparisons with NaN are false.
class ieee_number {
 public:
  constexpr ieee_number() noexcept = default;
  // A compiler deduces nothing about what it reads from a volatile variable.
  ieee_number(double number) noexcept {
    const volatile double written = number;
    const double read = written;
    bits_ = std::bit_cast<std::uint64_t>(read);
  }
  ieee_number(float number) noexcept {
    const volatile float written = number;
    const float read = written;
    *this = from_bits(std::bit_cast<std::uint32_t>(read), float32_format);
  }
  ieee_number(int number) noexcept : ieee_number(static_cast<double>(number)) {}

  /// Returns the number that has these bits in a format. NaN is quiet.
  static constexpr ieee_number from_bits(std::uint64_t bits, const float_format& format) noexcept {
    const int stored = format.fraction_bits(), missing = 52 - stored;
    const std::uint64_t size = bits & (format.sign() - 1), hidden = std::uint64_t{1} << stored;
    std::uint64_t fraction = size & (hidden - 1);
    std::uint64_t exponent = size >> stored;  // as it is stored
    ieee_number made;
    if ((bits & format.sign()) != 0) made.bits_ = sign_bit;
    if (size >= format.infinity()) {
      made.bits_ |= infinity_bits | fraction << missing;
      if (fraction != 0) made.bits_ |= std::uint64_t{1} << 51;
      return made;
    }
    if (size == 0) return made;
    if (exponent == 0 && missing != 0) {  // subnormal here, but not as a double
      const int shift = stored - (63 - std::countl_zero(fraction));
      fraction = (fraction << shift) & (hidden - 1);
      exponent = static_cast<std::uint64_t>(1 - shift + 1023 - format.bias());
    } else {
      exponent += static_cast<std::uint64_t>(1023 - format.bias());
    }
    made.bits_ |= exponent << 52 | fraction << missing;
    return made;
  }
  /// Returns the bits of the nearest number of a format, of two the even one. NaN stays NaN.
  constexpr std::uint64_t to_bits(const float_format& format) const noexcept {
    const int stored = format.fraction_bits();
    if (stored == 52) return bits_;
    const std::uint64_t sign = is_negative() ? format.sign() : 0;
    std::uint64_t fraction = bits_ & fraction_mask;
    if (is_nan())
      return sign | format.infinity() | fraction >> (52 - stored) |
             std::uint64_t{1} << (stored - 1);
    if (!is_finite()) return sign | format.infinity();
    int exponent = static_cast<int>(size() >> 52);
    if (exponent != 0) fraction |= std::uint64_t{1} << 52;
    exponent += format.bias() - 1023;
    int dropped = 52 - stored;
    if (exponent < 1) {  // subnormal in the format
      dropped = dropped + 1 - exponent < 63 ? dropped + 1 - exponent : 63;
      exponent = 1;
    }
    const std::uint64_t rest = fraction & ((std::uint64_t{1} << dropped) - 1);
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    std::uint64_t rounded = fraction >> dropped;
    if (rest > half || (rest == half && rounded % 2 != 0)) ++rounded;
    // The exponent follows where the leading bit of the fraction or a carry is added to it.
    rounded += static_cast<std::uint64_t>(exponent - 1) << stored;
    return sign | (rounded < format.infinity() ? rounded : format.infinity());
  }
  /// Returns the nearest number of a format.
  constexpr ieee_number rounded_to(const float_format& format) const noexcept {
    return from_bits(to_bits(format), format);
  }
  double value() const noexcept { return std::bit_cast<double>(bits_); }

  constexpr bool is_nan() const noexcept { return size() > infinity_bits; }
  constexpr bool is_finite() const noexcept { return size() < infinity_bits; }
  constexpr bool is_negative() const noexcept { return (bits_ & sign_bit) != 0; }  ///< also -0
  constexpr ieee_number magnitude() const noexcept {
    ieee_number made;
    made.bits_ = size();
    return made;
  }

  friend constexpr bool operator==(ieee_number a, ieee_number b) noexcept {
    return !a.is_nan() && !b.is_nan() && a.order() == b.order();
  }
  friend constexpr bool operator<(ieee_number a, ieee_number b) noexcept {
    return !a.is_nan() && !b.is_nan() && a.order() < b.order();
  }
  friend constexpr bool operator<=(ieee_number a, ieee_number b) noexcept {
    return !a.is_nan() && !b.is_nan() && a.order() <= b.order();
  }
  friend constexpr bool operator>(ieee_number a, ieee_number b) noexcept { return b < a; }
  friend constexpr bool operator>=(ieee_number a, ieee_number b) noexcept { return b <= a; }

 private:
  static constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
  static constexpr std::uint64_t infinity_bits = std::uint64_t{0x7ff} << 52;
  static constexpr std::uint64_t fraction_mask = (std::uint64_t{1} << 52) - 1;

  constexpr std::uint64_t size() const noexcept { return bits_ & ~sign_bit; }
  constexpr std::int64_t order() const noexcept {
    const auto magnitude = static_cast<std::int64_t>(size());
    return is_negative() ? -magnitude : magnitude;
  }

  std::uint64_t bits_ = 0;
};

inline bool is_finite(ieee_number number) noexcept { return number.is_finite(); }

/// Returns the result of an operation, which is not combined with those that use it.
inline double uncombined(double result) noexcept {
  const volatile double written = result;
  return written;
}

}}}  // namespace gpu::v1::detail
