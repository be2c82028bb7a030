#pragma once
/// \file
/// Numbers as text, as NumPy writes them: the columns of an array, and single numbers.

#include <gpu/array/io/host_numbers.hpp>
#include <gpu/core/detail/decimal_digits.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/generated/number_type.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The characters of one element.
struct number_word {
  char characters[160];
  int size = 0;

  void add(char c) noexcept { characters[size++] = c; }
  void add(char c, int times) noexcept {
    for (; times > 0; --times) add(c);
  }
  void add(const char* string) noexcept {
    while (*string != '\0') add(*string++);
  }
  void add(std::uint64_t value, int least_digits = 1) noexcept {
    char reversed[20];
    int count = 0;
    for (; value != 0 || count < least_digits; value /= 10)
      reversed[count++] = static_cast<char>('0' + value % 10);
    while (count > 0) add(reversed[--count]);
  }
  /// Inserts blanks at `start` until `width` characters follow it.
  void align_right(int start, int width) noexcept {
    const int missing = width - (size - start);
    if (missing <= 0) return;
    for (int i = size; i-- > start;) characters[i + missing] = characters[i];
    for (int i = 0; i < missing; ++i) characters[start + i] = ' ';
    size += missing;
  }
};

/// The form of a real number as text.
struct real_style {
  bool scientific = false;
  bool plus = false;        ///< positive numbers have a sign
  bool keep_zeros = false;  ///< to `most_digits` after the point
  int most_digits = 8;      ///< after the point; -1: as many as the number needs
  int left = 0, right = 0;  ///< characters before and after the point
  int exponent_digits = 2;  ///< at least
  const char* bare = ".";   ///< the end of a number without digits after the point
};

inline int decimal_length(int value) noexcept {
  int length = 1;
  for (value = value < 0 ? -value : value; value >= 10; value /= 10) ++length;
  return length;
}

/// The characters of a number before the point, after it (without padding) and in the exponent.
struct written_lengths {
  int before, after, exponent_digits;
};
/// Appends a finite number.
inline written_lengths write_real(number_word& out, ieee_number number, const float_format& format,
                                  const real_style& style) noexcept {
  decimal_digits digits;
  if (number == 0) {
    digits.digits[digits.count++] = '0';
  } else {
    digit_places places;
    places.relative = style.scientific;
    if (style.most_digits >= 0) places.most = -style.most_digits;
    if (style.keep_zeros) places.least = -style.most_digits;
    digits = digits_of(number.magnitude(), format, places);
  }
  const int point = style.scientific ? 0 : digits.exponent;  // the last digit before it
  const int start = out.size;
  if (number.is_negative()) {
    out.add('-');
  } else if (style.plus) {
    out.add('+');
  }
  if (point < 0) out.add('0');
  for (int i = 0; i <= point; ++i) out.add(i < digits.count ? digits.digits[i] : '0');
  const int before = out.size - start;
  out.align_right(start, style.left);

  int last = digits.count;
  while (last > point + 1 && last > 0 && digits.digits[last - 1] == '0') --last;
  int after = 0;
  const int point_at = out.size;
  out.add('.');
  if (last > point + 1 && last > 0) {
    for (int i = point + 1; i < 0; ++i) out.add('0');
    for (int i = point < 0 ? 0 : point + 1; i < last; ++i) out.add(digits.digits[i]);
    after = out.size - point_at - 1;
  }
  if (style.keep_zeros) out.add('0', style.most_digits - after);
  if (after == 0 && !style.keep_zeros) {
    out.size = point_at;
    out.add(style.bare);
  }
  if (!style.scientific) {
    out.add(' ', style.right - after);
    return {before, after, 0};
  }
  out.add('e');
  out.add(digits.exponent < 0 ? '-' : '+');
  const int magnitude = digits.exponent < 0 ? -digits.exponent : digits.exponent;
  out.add(static_cast<std::uint64_t>(magnitude), style.exponent_digits);
  const int length = decimal_length(digits.exponent);
  return {before, after, length < 2 ? 2 : length};
}

/// Appends any number; NaN and infinities take the whole width.
inline void write_number(number_word& out, ieee_number number, const float_format& format,
                         const real_style& style) noexcept {
  if (number.is_finite()) {
    write_real(out, number, format, style);
    return;
  }
  const int start = out.size;
  const bool nan = number.is_nan();
  if (!nan && number.is_negative()) {
    out.add('-');
  } else if (style.plus) {
    out.add('+');
  }
  out.add(nan ? "nan" : "inf");
  out.align_right(start, style.left + style.right + 1);
}

/// Returns the number from which on the numbers of an array are written with exponents.
inline double largest_written_out(const float_format& format) noexcept {
  return format.bits == 11 ? 1e3 : format.bits == 53 ? 1e8 : 1e6;
}

/// Returns the form in which NumPy writes the real or imaginary parts of these numbers below each
/// other.
inline real_style style_of(const host_numbers& numbers, int part) noexcept {
  const float_format& format = numbers.format.real_part;
  ieee_number largest, smallest;
  bool finite = false, special = false, minus_infinity = false;
  for (std::size_t i = 0; i < numbers.count; ++i) {
    const ieee_number number = numbers.real(i, part);
    if (!number.is_finite()) {
      special = true;
      minus_infinity = minus_infinity || number < 0;
      continue;
    }
    finite = true;
    const ieee_number magnitude = number.magnitude();
    if (magnitude == 0) continue;
    if (magnitude > largest) largest = magnitude;
    if (smallest == 0 || magnitude < smallest) smallest = magnitude;
  }
  real_style style;
  style.plus = part == 1;
  if (finite) {
    // NumPy compares in the precision of the numbers.
    const bool half = format.bits == 11, wide = format.bits == 53;
    const double small = half ? 1678.0 / (1 << 24) : wide ? 1e-4 : static_cast<double>(1e-4f);
    if (largest != 0) {
      // The ratios that are rounded to more than 1000.
      const double most_spread = half ? 1000.25 : wide ? 1000 : 1000 + 0x1p-15;
      style.scientific = largest >= largest_written_out(format) || smallest < small ||
                         largest.value() / smallest.value() > most_spread;
    }
    written_lengths most{0, 0, 0};
    for (std::size_t i = 0; i < numbers.count; ++i) {
      const ieee_number number = numbers.real(i, part);
      if (!number.is_finite()) continue;
      number_word word;
      const written_lengths lengths = write_real(word, number, format, style);
      if (lengths.before > most.before) most.before = lengths.before;
      if (lengths.after > most.after) most.after = lengths.after;
      if (lengths.exponent_digits > most.exponent_digits)
        most.exponent_digits = lengths.exponent_digits;
    }
    style.left = most.before;
    style.right = most.after;
    if (style.scientific) {
      style.keep_zeros = true;
      style.most_digits = most.after;
      style.exponent_digits = most.exponent_digits;
      style.right = most.after + most.exponent_digits + 2;
    }
  }
  if (special) {
    const int others = style.right + 1;  // with the point
    const int infinity = (style.plus || minus_infinity ? 4 : 3) - others;
    if (style.left < 3 - others) style.left = 3 - others;
    if (style.left < infinity) style.left = infinity;
  }
  return style;
}

/// Writes the elements of an array, which get the same width.
class number_column {
 public:
  explicit number_column(const host_numbers& numbers) noexcept : numbers_{numbers} {
    switch (numbers.format.kind) {
      case number_kind::boolean: break;
      case number_kind::integer:
        for (std::size_t i = 0; i < numbers.count; ++i) {
          number_word word;
          write_integer(word, i);
          if (word.size > width_) width_ = word.size;
        }
        break;
      case number_kind::complex: imaginary_ = style_of(numbers, 1); [[fallthrough]];
      default: real_ = style_of(numbers, 0);
    }
  }

  void write(number_word& out, std::size_t i) const noexcept {
    switch (numbers_.format.kind) {
      case number_kind::boolean: out.add(*numbers_.at(i) != 0 ? " True" : "False"); return;
      case number_kind::integer:
        write_integer(out, i);
        out.align_right(0, width_);
        return;
      default: write_number(out, numbers_.real(i), numbers_.format.real_part, real_);
    }
    if (numbers_.format.kind != number_kind::complex) return;
    write_number(out, numbers_.real(i, 1), numbers_.format.real_part, imaginary_);
    int end = out.size;
    while (out.characters[end - 1] == ' ') --end;
    for (int c = out.size++; c > end; --c) out.characters[c] = out.characters[c - 1];
    out.characters[end] = 'j';
  }

 private:
  void write_integer(number_word& out, std::size_t i) const noexcept {
    bool negative = false;
    const std::uint64_t magnitude = numbers_.integer(i, negative);
    if (negative) out.add('-');
    out.add(magnitude);
  }

  host_numbers numbers_;
  int width_ = 0;
  real_style real_, imaginary_;
};

/// Appends a number by itself, with all its digits, as NumPy writes a scalar.
inline void write_scalar(number_word& out, const host_numbers& number) noexcept {
  const float_format& format = number.format.real_part;
  const double limit = format.bits == 53 ? 1e16 : largest_written_out(format);
  const auto style_for = [limit](ieee_number value, const char* bare) {
    const ieee_number magnitude = value.magnitude();
    real_style style;
    style.scientific = magnitude != 0 && (magnitude >= limit || magnitude < 1e-4);
    style.most_digits = -1;
    style.bare = style.scientific ? "" : bare;
    return style;
  };
  switch (number.format.kind) {
    case number_kind::boolean: out.add(*number.at(0) != 0 ? "True" : "False"); return;
    case number_kind::integer: number_column(number).write(out, 0); return;
    case number_kind::complex: {
      const ieee_number real = number.real(0), imaginary = number.real(0, 1);
      const bool pair = real != 0 || real.is_negative();
      if (pair) {
        out.add('(');
        write_number(out, real, format, style_for(real, ""));
      }
      real_style style = style_for(imaginary, "");
      style.plus = pair;
      write_number(out, imaginary, format, style);
      out.add(pair ? "j)" : "j");
      return;
    }
    default: write_number(out, number.real(0), format, style_for(number.real(0), ".0"));
  }
}

}}}  // namespace gpu::v1::detail
