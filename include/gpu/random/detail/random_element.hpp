#pragma once
/// \file
/// `random_element`: the type of the elements that random numbers are written to.

#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/number_type.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The type of the elements that are made, in device code and by its range.
struct random_element {
  element_type type;
  bool is_integer;
  double least, most;  ///< of integers

  constexpr bool is_double() const noexcept { return !is_integer && type.bytes == 8; }
  bool is_short() const noexcept { return !is_integer && type.bytes == 2; }
  bool is_half() const noexcept { return is_short() && type.name == string_ref("gpu::half"); }
  /// Returns how many bits a significand of 16-bit numbers has.
  int short_digits() const noexcept { return format().bits; }

  /// Returns the largest number of a floating-point type.
  double largest() const noexcept {
    return is_double()  ? 1.7976931348623157e308
           : is_half()  ? 65504
           : is_short() ? 0x1.fep127
                        : 0x1.fffffep127;
  }
  /// Returns the element that `x` is rounded to; an infinity if `x` is too large.
  ieee_number nearest(ieee_number x) const noexcept { return x.rounded_to(format()); }
  /// Returns the element beside `from`, which is one, on the side of `to`.
  ieee_number next_to(ieee_number from, ieee_number to) const noexcept {
    std::uint64_t bits = from.to_bits(format());
    if (from == 0) {
      bits = to < from ? format().sign() + 1 : 1;
    } else {
      // Of negative numbers, those with more bits are less.
      bits += (from < to) == from.is_negative() ? ~std::uint64_t{0} : 1;
    }
    return ieee_number::from_bits(bits, format());
  }

 private:
  const float_format& format() const noexcept {
    return is_double()  ? float64_format
           : is_half()  ? half_format
           : is_short() ? bfloat16_format
                        : float32_format;
  }
};

template <class T> constexpr random_element random_element_of() noexcept {
  random_element made{element_type_of<T>(), word_integer<T>, 0, 0};
  if constexpr (word_integer<T>) {
    made.least = static_cast<double>(lowest_of<T>());
    made.most = static_cast<double>(highest_of<T>());
  }
  return made;
}

}}}  // namespace gpu::v1::detail
