#pragma once
/// \file
/// `random_element`: the type of the elements that random numbers are written to.

#include <gpu/algorithm/detail/number_type.hpp>

namespace gpu::inline v1::detail {

/// The type of the elements that are made, in device code and by its range.
struct random_element {
  element_type type;
  bool is_integer;
  double least, most;  ///< of integers

  constexpr bool is_double() const noexcept { return !is_integer && type.bytes == 8; }
  bool is_short() const noexcept { return !is_integer && type.bytes == 2; }
  bool is_half() const noexcept { return is_short() && type.name == string_ref("gpu::half"); }
  /// Returns how many bits a significand of 16-bit numbers has.
  int short_digits() const noexcept { return is_half() ? 11 : 8; }

  /// Returns the largest number of a floating-point type.
  double largest() const noexcept {
    return is_double()  ? 1.7976931348623157e308
           : is_half()  ? 65504
           : is_short() ? 0x1.fep127
                        : 0x1.fffffep127;
  }
  /// Returns the element that `x` is rounded to; an infinity if `x` is too large.
  double nearest(double x) const noexcept {
    if (is_double()) return x;
    if (!is_short()) return double{static_cast<float>(x)};
    const double step = short_step(x), rounded = __builtin_rint(x / step) * step;
    return __builtin_fabs(rounded) > largest() ? __builtin_copysign(__builtin_inf(), x) : rounded;
  }
  /// Returns the element beside `from`, which is one, on the side of `to`.
  double next_to(double from, double to) const noexcept {
    if (is_double()) return __builtin_nextafter(from, to);
    if (!is_short())
      return double{__builtin_nextafterf(static_cast<float>(from), static_cast<float>(to))};
    const double step = __builtin_copysign(short_step(from), to - from);
    // Towards 0 from a power of two the numbers are twice as dense.
    return nearest(from + step / 2) == from + step / 2 ? from + step / 2 : from + step;
  }

 private:
  /// Returns the distance of the 16-bit numbers around `x`.
  double short_step(double x) const noexcept {
    const int least_exponent = is_half() ? -24 : -133;
    int exponent = 0;
    __builtin_frexp(x, &exponent);
    exponent -= short_digits();
    return __builtin_ldexp(1, x == 0 || exponent < least_exponent ? least_exponent : exponent);
  }
};

template <class T> constexpr random_element random_element_of() noexcept {
  random_element made{element_type_of<T>(), is_integral<T>, 0, 0};
  if constexpr (is_integral<T>) {
    made.least = static_cast<double>(lowest_of<T>());
    made.most = static_cast<double>(highest_of<T>());
  }
  return made;
}

}  // namespace gpu::inline v1::detail
