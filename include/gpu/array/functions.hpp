#pragma once
/// \file
/// Functions of arrays, views and expressions, element by element: CUDA's math library by name, and
/// `where`, `minimum`, `maximum`, `clip`, `true_divide`, `floor_divide`, `remainder`.
///
/// Functions of floating-point numbers take integers too, which become float if they have up to 16
/// bits, else double. `__half` and `__nv_bfloat16` are computed as float and rounded. The accuracy
/// is the one that CUDA's documentation states; `sqrt` is exact. `docs/arrays.md` lists the
/// functions that take complex numbers, and their accuracy.

#include <gpu/array/detail/operation.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/generated/number_type.hpp>

#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

template <detail::any_operand A> auto sin(A&& a) noexcept {
  return detail::apply<detail::opcode::sin>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto cos(A&& a) noexcept {
  return detail::apply<detail::opcode::cos>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto tan(A&& a) noexcept {
  return detail::apply<detail::opcode::tan>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto asin(A&& a) noexcept {
  return detail::apply<detail::opcode::asin>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto acos(A&& a) noexcept {
  return detail::apply<detail::opcode::acos>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto atan(A&& a) noexcept {
  return detail::apply<detail::opcode::atan>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto sinh(A&& a) noexcept {
  return detail::apply<detail::opcode::sinh>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto cosh(A&& a) noexcept {
  return detail::apply<detail::opcode::cosh>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto tanh(A&& a) noexcept {
  return detail::apply<detail::opcode::tanh>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto asinh(A&& a) noexcept {
  return detail::apply<detail::opcode::asinh>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto acosh(A&& a) noexcept {
  return detail::apply<detail::opcode::acosh>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto atanh(A&& a) noexcept {
  return detail::apply<detail::opcode::atanh>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto exp(A&& a) noexcept {
  return detail::apply<detail::opcode::exp>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto exp2(A&& a) noexcept {
  return detail::apply<detail::opcode::exp2>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto exp10(A&& a) noexcept {
  return detail::apply<detail::opcode::exp10>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto expm1(A&& a) noexcept {
  return detail::apply<detail::opcode::expm1>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto log(A&& a) noexcept {
  return detail::apply<detail::opcode::log>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto log2(A&& a) noexcept {
  return detail::apply<detail::opcode::log2>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto log10(A&& a) noexcept {
  return detail::apply<detail::opcode::log10>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto log1p(A&& a) noexcept {
  return detail::apply<detail::opcode::log1p>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto sqrt(A&& a) noexcept {
  return detail::apply<detail::opcode::sqrt>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto rsqrt(A&& a) noexcept {
  return detail::apply<detail::opcode::rsqrt>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto cbrt(A&& a) noexcept {
  return detail::apply<detail::opcode::cbrt>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto erf(A&& a) noexcept {
  return detail::apply<detail::opcode::erf>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto erfc(A&& a) noexcept {
  return detail::apply<detail::opcode::erfc>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto erfinv(A&& a) noexcept {
  return detail::apply<detail::opcode::erfinv>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto erfcinv(A&& a) noexcept {
  return detail::apply<detail::opcode::erfcinv>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto tgamma(A&& a) noexcept {
  return detail::apply<detail::opcode::tgamma>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto lgamma(A&& a) noexcept {
  return detail::apply<detail::opcode::lgamma>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto fabs(A&& a) noexcept {
  return detail::apply<detail::opcode::fabs>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto floor(A&& a) noexcept {
  return detail::apply<detail::opcode::floor>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto ceil(A&& a) noexcept {
  return detail::apply<detail::opcode::ceil>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto trunc(A&& a) noexcept {
  return detail::apply<detail::opcode::trunc>(static_cast<A&&>(a));
}

/// Rounds to the nearest integer, halves to the even one, as NumPy's `round`. Of a complex number,
/// both parts.
template <detail::any_operand A> auto rint(A&& a) noexcept {
  return detail::apply<detail::opcode::rint>(static_cast<A&&>(a));
}

/// Rounds to the nearest integer, halves away from zero.
template <detail::any_operand A> auto round(A&& a) noexcept {
  return detail::apply<detail::opcode::round>(static_cast<A&&>(a));
}

/// Of a complex number, the distance from 0.
template <detail::any_operand A> auto abs(A&& a) noexcept {
  return detail::apply<detail::opcode::abs>(static_cast<A&&>(a));
}

/// -1, 0 or 1; NaN of NaN. Of a complex number, the number divided by its distance from 0.
template <detail::any_operand A> auto sign(A&& a) noexcept {
  return detail::apply<detail::opcode::sign>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto square(A&& a) noexcept {
  return detail::apply<detail::opcode::square>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto reciprocal(A&& a) noexcept {
  return detail::apply<detail::opcode::reciprocal>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto negative(A&& a) noexcept {
  return detail::apply<detail::opcode::negative>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto isnan(A&& a) noexcept {
  return detail::apply<detail::opcode::isnan>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto isinf(A&& a) noexcept {
  return detail::apply<detail::opcode::isinf>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto isfinite(A&& a) noexcept {
  return detail::apply<detail::opcode::isfinite>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto signbit(A&& a) noexcept {
  return detail::apply<detail::opcode::signbit>(static_cast<A&&>(a));
}

template <detail::any_operand A> auto conj(A&& a) noexcept {
  return detail::apply<detail::opcode::conj>(static_cast<A&&>(a));
}

/// The angle of a complex number, NumPy's `angle`. Of a real number 0, or pi if it is negative.
template <detail::any_operand A> auto arg(A&& a) noexcept {
  return detail::apply<detail::opcode::arg>(static_cast<A&&>(a));
}

/// The parts of a number: a significand from 0.5 to 1, and the exponent of the power of 2 by which
/// it is multiplied, an `int`; 0 for infinities and NaN. C's and NumPy's `frexp`.
template <detail::any_operand A> auto frexp_significand(A&& a) noexcept {
  return detail::apply<detail::opcode::frexp_significand>(static_cast<A&&>(a));
}
template <detail::any_operand A> auto frexp_exponent(A&& a) noexcept {
  return detail::apply<detail::opcode::frexp_exponent>(static_cast<A&&>(a));
}

/// The fractional part, with the sign of the number: `a - trunc(a)`. C's and NumPy's `modf`.
template <detail::any_operand A> auto modf_fraction(A&& a) noexcept {
  return detail::apply<detail::opcode::modf_fraction>(static_cast<A&&>(a));
}

/// The smaller one; NaN, if one of the two is NaN. Complex numbers are compared by their real
/// parts, then by their imaginary parts.
template <detail::any_operand A, detail::any_operand B> auto minimum(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::minimum>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <detail::any_operand A, detail::any_operand B> auto maximum(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::maximum>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// The smaller one; the other one, if one of the two is NaN.
template <detail::any_operand A, detail::any_operand B> auto fmin(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::fmin>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <detail::any_operand A, detail::any_operand B> auto fmax(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::fmax>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// The quotient; of integers, as double.
template <detail::any_operand A, detail::any_operand B> auto true_divide(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::true_divide>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// The quotient, rounded down: Python's `//`. An integer divided by 0 is 0.
template <detail::any_operand A, detail::any_operand B> auto floor_divide(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::floor_divide>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// Python's and NumPy's remainder, which has the sign of `b`. (That of IEEE 754, which
/// `std::remainder` is, has no function here.)
template <detail::any_operand A, detail::any_operand B> auto remainder(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::remainder>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// C's remainder, which has the sign of `a`.
template <detail::any_operand A, detail::any_operand B> auto fmod(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::fmod>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// Complex powers of 0 are 0 if the real part of `b` is positive, 1 if `b` is 0, else NaN.
template <detail::any_operand A, detail::any_operand B> auto pow(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::pow>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <detail::any_operand A, detail::any_operand B> auto atan2(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::atan2>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <detail::any_operand A, detail::any_operand B> auto hypot(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::hypot>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <detail::any_operand A, detail::any_operand B> auto fdim(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::fdim>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <detail::any_operand A, detail::any_operand B> auto copysign(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::copysign>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <detail::any_operand A, detail::any_operand B> auto nextafter(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::nextafter>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// `a` times 2 to the power of the integer `b`.
template <detail::any_operand A, detail::any_operand B> auto ldexp(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::ldexp>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// `a` where the condition holds, else `b`. Both are evaluated everywhere.
template <detail::any_operand C, detail::any_operand A, detail::any_operand B>
auto where(C&& condition, A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::where>(static_cast<C&&>(condition), static_cast<A&&>(a),
                                              static_cast<B&&>(b));
}

/// `a * b + c`, rounded once.
template <detail::any_operand A, detail::any_operand B, detail::any_operand C>
auto fma(A&& a, B&& b, C&& c) noexcept {
  return detail::apply<detail::opcode::fma>(static_cast<A&&>(a), static_cast<B&&>(b),
                                            static_cast<C&&>(c));
}

/// `a`, but at least `low` and at most `high`: NumPy's `clip`. (It is not called `clamp`, because
/// `std::clamp` would be taken for it.)
template <detail::any_operand A, detail::any_operand B, detail::any_operand C>
auto clip(A&& a, B&& low, C&& high) noexcept {
  return gpu::minimum(gpu::maximum(static_cast<A&&>(a), static_cast<B&&>(low)),
                      static_cast<C&&>(high));
}

/// The parts of the elements of an expression. (Those of an array or a view of complex numbers are
/// a view, from `gpu/array/view_elements.hpp`.) The imaginary parts of real numbers are 0.
template <class T, int Rank, std::size_t Words>
auto real(const expression<T, Rank, Words>& a) noexcept {
  return detail::apply<detail::opcode::real>(a);
}
template <class T, int Rank, std::size_t Words>
auto imag(const expression<T, Rank, Words>& a) noexcept {
  return detail::apply<detail::opcode::imag>(a);
}
template <detail::array_operand A>
  requires(detail::ordered_number<detail::operand_element_t<A>> &&
           !detail::is_expression<std::remove_cvref_t<A>>)
auto imag(A&& a) noexcept {
  return detail::apply<detail::opcode::imag>(static_cast<A&&>(a));
}

}}  // namespace gpu::v1
