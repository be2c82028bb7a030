#pragma once
/// \file
/// Writes floating-point numbers in sentences: with the fewest digits that round-trip, so that a
/// number beside a limit does not look like the limit.

#include <gpu/core/detail/decimal_digits.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/text.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Appends a positive finite number in the form of "%g", with as many digits as it has.
inline void write_digits(text_builder& out, const decimal_digits& number) noexcept {
  const int exponent = number.exponent;
  const bool scientific = exponent < -4 || exponent >= (number.count > 6 ? number.count : 6);
  const int ones = scientific ? 0 : exponent;  // the digit before the point
  for (int k = ones < 0 ? ones : 0; k < number.count || k <= ones; ++k) {
    out << (k >= 0 && k < number.count ? number.digits[k] : '0');
    if (k == ones && k + 1 < number.count) out << '.';
  }
  if (!scientific) return;
  const int size = exponent < 0 ? -exponent : exponent;
  out << 'e' << (exponent < 0 ? '-' : '+') << (size < 10 ? "0" : "") << size;
}

inline void write_number(text_builder& out, ieee_number number,
                         const float_format& format) noexcept {
  if (number.is_nan()) {
    out << "nan";
    return;
  }
  if (number.is_negative()) out << '-';
  if (!number.is_finite()) {
    out << "inf";
  } else if (number == 0) {
    out << '0';
  } else {
    write_digits(out, digits_of(number.magnitude(), format));
  }
}

inline text_builder& operator<<(text_builder& out, ieee_number number) noexcept {
  write_number(out, number, float64_format);
  return out;
}
inline text_builder& operator<<(text_builder& out, double number) noexcept {
  return out << ieee_number(number);
}
inline text_builder& operator<<(text_builder& out, float number) noexcept {
  write_number(out, number, float32_format);
  return out;
}

}}}  // namespace gpu::v1::detail
