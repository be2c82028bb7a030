#pragma once
/// \file
/// The IEEE instructions on f32 and f64, bit for bit as on a GPU: one function for each
/// instruction, with its modifiers as template arguments, and `rounding::none` for the default
/// `.rn`.
///
/// NaN results of f32 are the canonical 0x7fffffff; those of f64 are the second operand if that is
/// a NaN, else the third, else the first (of div, the first, else the second), made quiet, or
/// 0xfff8000000000000 if there was none.
/// `.ftz` makes subnormal operands and results zeros of their sign. `.sat` limits to [0, 1] and
/// makes NaN +0.

#include <concepts>
#include <cstdint>

#include <nogpu/ptx/arithmetic/exact.hpp>
#include <nogpu/ptx/arithmetic/float_bits.hpp>
#include <nogpu/ptx/arithmetic/rounding.hpp>
#include <nogpu/ptx/modifiers.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

namespace detail {
constexpr bool to_nearest(rounding r) { return r == rounding::nearest_even || r == rounding::none; }
}  // namespace detail

template <rounding R = rounding::none, bool Ftz = false, bool Sat = false>
constexpr float add(float a, float b) {
  a = detail::flush<Ftz>(a);
  b = detail::flush<Ftz>(b);
  if constexpr (detail::to_nearest(R)) return detail::finish<Ftz, Sat>(a + b);
  return detail::finish_exact<R, Ftz, Sat>(detail::signed_sum_to_odd<R>(a, b));
}

template <rounding R = rounding::none> constexpr double add(double a, double b) {
  if constexpr (detail::to_nearest(R)) return detail::with_nan(a + b, a, b);
  return detail::with_nan(detail::exact_add<R>(a, b), a, b);
}

template <rounding R = rounding::none, bool Ftz = false, bool Sat = false>
constexpr float sub(float a, float b) {
  return add<R, Ftz, Sat>(a, -b);
}

template <rounding R = rounding::none> constexpr double sub(double a, double b) {
  if constexpr (detail::to_nearest(R)) return detail::with_nan(a - b, a, b);
  return detail::with_nan(detail::exact_add<R>(a, -b), a, b);
}

template <rounding R = rounding::none, bool Ftz = false, bool Sat = false>
constexpr float mul(float a, float b) {
  a = detail::flush<Ftz>(a);
  b = detail::flush<Ftz>(b);
  if constexpr (detail::to_nearest(R) && !Ftz) {
    return detail::finish<false, Sat>(detail::unfused_product(a, b));
  }
  return detail::finish_exact<R, Ftz, Sat>(static_cast<double>(a) * b);
}

template <rounding R = rounding::none> constexpr double mul(double a, double b) {
  if constexpr (detail::to_nearest(R)) {
    return detail::with_nan(detail::unfused_product(a, b), a, b);
  }
  return detail::with_nan(detail::exact_mul<R>(a, b), a, b);
}

/// fma, and mad of floating types: a * b + c with one rounding.
template <rounding R = rounding::none, bool Ftz = false, bool Sat = false>
constexpr float fma(float a, float b, float c) {
  a = detail::flush<Ftz>(a);
  b = detail::flush<Ftz>(b);
  c = detail::flush<Ftz>(c);
#if defined(__FMA__)
  if constexpr (detail::to_nearest(R) && !Ftz) {
    return detail::finish<false, Sat>(__builtin_fmaf(a, b, c));
  }
#endif
  // Vectorizes, which a call of the C library's fmaf would not; the product is exact.
  return detail::finish_exact<R, Ftz, Sat>(
      detail::signed_sum_to_odd<R>(static_cast<double>(a) * b, c));
}

template <rounding R = rounding::none> constexpr double fma(double a, double b, double c) {
  if constexpr (detail::to_nearest(R)) return detail::with_nan(__builtin_fma(a, b, c), a, b, c);
  return detail::with_nan(detail::exact_fma<R>(a, b, c), a, b, c);
}

template <rounding R = rounding::none, bool Ftz = false> constexpr float div(float a, float b) {
  a = detail::flush<Ftz>(a);
  b = detail::flush<Ftz>(b);
  if constexpr (detail::to_nearest(R) && !Ftz) return detail::finish<false, false>(a / b);
  // A quotient of floats that is not a float itself is at least 2^-48 of its size away from every
  // float and every middle of two, so the double quotient lies on the same side of all of them.
  return detail::finish_exact<R, Ftz, false>(static_cast<double>(a) / b);
}

template <rounding R = rounding::none> constexpr double div(double a, double b) {
  if constexpr (detail::to_nearest(R)) return detail::with_nan(a / b, b, a);
  return detail::with_nan(detail::exact_div<R>(a, b), b, a);
}

template <rounding R = rounding::none, bool Ftz = false> constexpr float rcp(float a) {
  return div<R, Ftz>(1.0f, a);
}

template <rounding R = rounding::none> constexpr double rcp(double a) { return div<R>(1.0, a); }

template <rounding R = rounding::none, bool Ftz = false> constexpr float sqrt(float a) {
  a = detail::flush<Ftz>(a);
  if constexpr (detail::to_nearest(R)) return detail::finish<Ftz, false>(__builtin_sqrtf(a));
  // As for quotients: an irrational root keeps its distance from floats and their middles.
  return detail::finish<Ftz, false>(detail::to_float<R>(__builtin_sqrt(a)));
}

template <rounding R = rounding::none> constexpr double sqrt(double a) {
  if constexpr (detail::to_nearest(R)) return detail::with_nan(__builtin_sqrt(a), a);
  return detail::with_nan(detail::exact_sqrt<R>(a), a);
}

/// Clears the sign bit. An addition on the device, which gives of a NaN what arithmetic gives.
template <bool Ftz = false, std::floating_point F> constexpr F abs(F a) {
  const F flushed = detail::flush<Ftz>(a);
  const F r = std::bit_cast<F>(detail::to_bits(flushed) & ~detail::sign_bit<F>);
  return detail::with_nan(r, flushed);
}

/// Inverts the sign bit. An addition on the device, which gives of a NaN what arithmetic gives.
template <bool Ftz = false, std::floating_point F> constexpr F neg(F a) {
  const F flushed = detail::flush<Ftz>(a);
  const F r = std::bit_cast<F>(detail::to_bits(flushed) ^ detail::sign_bit<F>);
  return detail::with_nan(r, flushed);
}

/// `b` with the sign of `a`: PTX names the operands the other way round than C.
template <std::floating_point F> constexpr F copysign(F a, F b) {
  return std::bit_cast<F>((detail::to_bits(a) & detail::sign_bit<F>) |
                          (detail::to_bits(b) & ~detail::sign_bit<F>));
}

namespace detail {

/// -0 is less than +0. A NaN loses against a number, and wins with `.NaN`. With `.xorsign.abs` the
/// magnitudes are compared, and the sign is that of the product.
template <bool Max, bool Ftz, bool Nan, bool XorsignAbs, class F> constexpr F extremum(F a, F b) {
  a = flush<Ftz>(a);
  b = flush<Ftz>(b);
  const float_bits<F> sign = (to_bits(a) ^ to_bits(b)) & sign_bit<F>;
  if constexpr (XorsignAbs) {
    a = std::bit_cast<F>(to_bits(a) & ~sign_bit<F>);
    b = std::bit_cast<F>(to_bits(b) & ~sign_bit<F>);
  }
  // Equal operands differ at most in the sign of zero.
  const F tie = std::bit_cast<F>(Max ? to_bits(a) & to_bits(b) : to_bits(a) | to_bits(b));
  const bool a_wins = Max ? a > b : a < b;
  F result = a == b ? tie : a_wins ? a : b;
  const bool a_nan = a != a;
  const bool b_nan = b != b;
  if constexpr (XorsignAbs) result = std::bit_cast<F>(to_bits(result) | sign);
  if constexpr (!Nan) {
    F number = a_nan ? b : a;
    if constexpr (XorsignAbs) number = std::bit_cast<F>(to_bits(number) | sign);
    result = a_nan != b_nan ? number : result;
  }
  const bool is_nan = Nan ? a_nan || b_nan : a_nan && b_nan;
  F canonical;
  if constexpr (sizeof(F) == 4) {
    canonical = std::bit_cast<F>(canonical_nan32);
  } else {
    canonical = quiet(b_nan ? b : a);
  }
  return is_nan ? canonical : result;
}

}  // namespace detail

/// min; `.NaN` and `.xorsign.abs` exist for f32 alone.
template <bool Ftz = false, bool Nan = false, bool XorsignAbs = false, std::floating_point F>
constexpr F min(F a, F b) {
  return detail::extremum<false, Ftz, Nan, XorsignAbs>(a, b);
}

template <bool Ftz = false, bool Nan = false, bool XorsignAbs = false, std::floating_point F>
constexpr F max(F a, F b) {
  return detail::extremum<true, Ftz, Nan, XorsignAbs>(a, b);
}

/// The truth of a comparison of setp, set or vset. `T` is the instruction's type; `lo`, `ls`, `hi`
/// and `hs` compare as unsigned.
template <comparison C, bool Ftz = false, class T>
  requires(std::integral<T> || std::floating_point<T>)
constexpr bool compare(T a, T b) {
  using enum comparison;
  if constexpr (std::floating_point<T>) {
    a = detail::flush<Ftz>(a);
    b = detail::flush<Ftz>(b);
    if constexpr (C == equ) return !(a < b || a > b);
    if constexpr (C == neu) return a != b;
    if constexpr (C == ltu) return !(a >= b);
    if constexpr (C == leu) return !(a > b);
    if constexpr (C == gtu) return !(a <= b);
    if constexpr (C == geu) return !(a < b);
    if constexpr (C == num) return a == a && b == b;
    if constexpr (C == nan) return a != a || b != b;
    if constexpr (C == ne) return a < b || a > b;
  } else {
    using bits = std::make_unsigned_t<T>;
    if constexpr (C == lo) return static_cast<bits>(a) < static_cast<bits>(b);
    if constexpr (C == ls) return static_cast<bits>(a) <= static_cast<bits>(b);
    if constexpr (C == hi) return static_cast<bits>(a) > static_cast<bits>(b);
    if constexpr (C == hs) return static_cast<bits>(a) >= static_cast<bits>(b);
    if constexpr (C == ne) return a != b;
  }
  if constexpr (C == eq) return a == b;
  if constexpr (C == lt) return a < b;
  if constexpr (C == le) return a <= b;
  if constexpr (C == gt) return a > b;
  if constexpr (C == ge) return a >= b;
  return false;
}

/// `number` is everything but NaN; zeros count as normal.
template <float_class Class, std::floating_point F> constexpr bool testp(F a) {
  constexpr auto infinity = detail::infinity_bits<F>;
  const auto magnitude = detail::to_bits(a) & ~detail::sign_bit<F>;
  if constexpr (Class == float_class::finite) return magnitude < infinity;
  if constexpr (Class == float_class::infinite) return magnitude == infinity;
  if constexpr (Class == float_class::number) return magnitude <= infinity;
  if constexpr (Class == float_class::not_a_number) return magnitude > infinity;
  const bool subnormal = magnitude != 0 && (magnitude & infinity) == 0;
  if constexpr (Class == float_class::normal) return magnitude < infinity && !subnormal;
  if constexpr (Class == float_class::subnormal) return subnormal;
  return false;
}

/// c >= 0 ? a : b, for slct with an `.f32` condition: -0 chooses a, NaN chooses b.
template <bool Ftz = false, class T> constexpr T slct(T a, T b, float c) {
  return detail::flush<Ftz>(c) >= 0.0f ? a : b;
}

}}}  // namespace nogpu::v1::ptx
