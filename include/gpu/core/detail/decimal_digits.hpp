#pragma once
/// \file
/// The decimal digits of floating-point numbers: as few as tell a number from its neighbors, or
/// exact ones down to a place. (The standard's conversions depend on the locale, or round elsewhere
/// than NumPy if digits are limited, and know no numbers of 16 bits.)

#include <gpu/core/detail/ieee_number.hpp>

#include <bit>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// An integer of up to 1,280 bits: what the exact digits of a double need.
class wide_number {
 public:
  explicit wide_number(std::uint64_t value) noexcept {
    for (; value != 0; value >>= 32) words_[count_++] = static_cast<std::uint32_t>(value);
  }

  void multiply(std::uint32_t factor) noexcept {
    std::uint64_t carry = 0;
    for (int i = 0; i < count_; ++i) {
      carry += std::uint64_t{words_[i]} * factor;
      words_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words_[count_++] = static_cast<std::uint32_t>(carry);
  }
  void multiply_by_power(std::uint32_t base, int exponent) noexcept {
    for (; exponent > 0; --exponent) multiply(base);
  }
  void shift_left(int bits) noexcept {
    for (; bits >= 31; bits -= 31) multiply(1u << 31);
    multiply(1u << bits);
  }

  /// Divides by `divisor`, of which this number is less than 10 times as much: returns the quotient
  /// and keeps the remainder.
  int divide(const wide_number& divisor) noexcept {
    int quotient = 0;
    for (; compare(*this, divisor) >= 0; ++quotient) subtract(divisor);
    return quotient;
  }

  friend int compare(const wide_number& a, const wide_number& b) noexcept {
    if (a.count_ != b.count_) return a.count_ < b.count_ ? -1 : 1;
    for (int i = a.count_; i-- > 0;) {
      if (a.words_[i] != b.words_[i]) return a.words_[i] < b.words_[i] ? -1 : 1;
    }
    return 0;
  }
  /// Compares a + b with c.
  friend int compare_sum(const wide_number& a, const wide_number& b,
                         const wide_number& c) noexcept {
    wide_number sum = a.count_ < b.count_ ? b : a;
    const wide_number& other = a.count_ < b.count_ ? a : b;
    std::uint64_t carry = 0;
    for (int i = 0; i < sum.count_; ++i) {
      carry += std::uint64_t{sum.words_[i]} + (i < other.count_ ? other.words_[i] : 0);
      sum.words_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) sum.words_[sum.count_++] = static_cast<std::uint32_t>(carry);
    return compare(sum, c);
  }

 private:
  void subtract(const wide_number& other) noexcept {
    std::uint64_t borrow = 0;
    for (int i = 0; i < count_; ++i) {
      const std::uint64_t taken = borrow + (i < other.count_ ? other.words_[i] : 0);
      borrow = words_[i] < taken ? 1 : 0;
      words_[i] = static_cast<std::uint32_t>(words_[i] - taken);
    }
    while (count_ > 0 && words_[count_ - 1] == 0) --count_;
  }

  std::uint32_t words_[40] = {};
  int count_ = 0;
};

/// The digits d0 d1 d2 ... of the number d0.d1d2... * 10^exponent.
struct decimal_digits {
  static constexpr int most = 40;
  char digits[most];
  int count = 0;
  int exponent = 0;
};

/// The decimal places at which digits may end: 0 is that of the ones, -1 that of the tenths; or, if
/// `relative`, 0 is that of the first digit. Digits end where they tell the number from its
/// neighbors, but not before `least`; the digit at `most` is rounded, to even if it is a tie.
struct digit_places {
  int least = 1000;
  int most = -1000;
  bool relative = false;
};

/// Appends a digit from 0 to 10.
inline void append_digit(decimal_digits& out, int digit) noexcept {
  while (digit == 10 && out.count > 0) digit = out.digits[--out.count] - '0' + 1;
  if (digit == 10) {
    digit = 1;
    ++out.exponent;
  }
  out.digits[out.count++] = static_cast<char>('0' + digit);
}

/// Returns the digits of a positive finite number of the format, by exact arithmetic: the remainder
/// of the number and half the distances to its neighbors are multiplied by 10 for each digit.
inline decimal_digits digits_of(ieee_number number, const float_format& format,
                                const digit_places& places = {}) noexcept {
  const std::uint64_t bits = number.to_bits(float64_format);
  const int biased = static_cast<int>(bits >> 52 & 0x7ff);
  std::uint64_t mantissa = bits & 0xfffffffffffffu;
  if (biased != 0) mantissa |= std::uint64_t{1} << 52;
  int exponent = (biased == 0 ? 1 : biased) - 1075;
  while (mantissa >> format.bits != 0 || exponent < format.lowest_exponent) {
    mantissa >>= 1;
    ++exponent;
  }
  while (mantissa >> (format.bits - 1) == 0 && exponent > format.lowest_exponent) {
    mantissa <<= 1;
    --exponent;
  }
  // At a power of two the neighbor below is only half as far away.
  const bool uneven =
      mantissa == std::uint64_t{1} << (format.bits - 1) && exponent > format.lowest_exponent;
  const bool even = mantissa % 2 == 0;

  // number = rest / unit; the neighbors are 2 * above and 2 * below away, in the same unit.
  wide_number rest(mantissa), unit(1), below(1);
  rest.shift_left((uneven ? 2 : 1) + (exponent > 0 ? exponent : 0));
  unit.shift_left((uneven ? 2 : 1) + (exponent < 0 ? -exponent : 0));
  below.shift_left(exponent > 0 ? exponent : 0);
  wide_number above = below;
  if (uneven) above.multiply(2);

  const int high_bit = 63 - std::countl_zero(mantissa) + exponent;
  const int scaled = high_bit * 30103;  // 0.30103 is log10(2), from above by 5e-9
  int place = (scaled - (scaled < 0 ? 99999 : 0)) / 100000;
  unit.multiply_by_power(10, place);
  wide_number* const parts[] = {&rest, &below, &above};
  for (wide_number* part : parts) part->multiply_by_power(10, -place);
  wide_number next = unit;
  next.multiply(10);
  if (compare(rest, next) >= 0) {
    unit = next;
    ++place;
  }

  decimal_digits out;
  out.exponent = place;
  const int least = places.least + (places.relative ? place : 0);
  const int most = places.most + (places.relative ? place : 0);
  for (;; --place) {
    const int digit = rest.divide(unit);
    const int to_below = compare(rest, below), to_above = compare_sum(rest, above, unit);
    const bool low = even ? to_below <= 0 : to_below < 0;
    const bool high = even ? to_above >= 0 : to_above > 0;
    if (((low || high) && place <= least) || place <= most ||
        out.count == decimal_digits::most - 1) {
      const int to_half = compare_sum(rest, rest, unit);
      const bool down = low != high ? low : to_half < 0 || (to_half == 0 && digit % 2 == 0);
      append_digit(out, down ? digit : digit + 1);
      return out;
    }
    append_digit(out, digit);
    for (wide_number* part : parts) part->multiply(10);
  }
}

}}}  // namespace gpu::v1::detail
