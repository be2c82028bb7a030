#pragma once
/// \file
/// The instructions on f16 and bf16, single and in pairs. `H` is `f16` or `bf16`. Arithmetic rounds
/// to nearest even, the only mode, and NaN results are 0x7fff. `.ftz` makes subnormal operands and
/// results zeros of their sign, `.sat` limits to [0, 1] with NaN as +0, `.relu` makes negative
/// results +0 and keeps NaN.

#include <concepts>
#include <cstdint>

#include <nogpu/ptx/arithmetic/floating.hpp>
#include <nogpu/ptx/arithmetic/half_bits.hpp>
#include <nogpu/ptx/arithmetic/special_functions.hpp>
#include <nogpu/ptx/modifiers.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

template <class H>
concept half_float = std::same_as<H, f16> || std::same_as<H, bf16>;

/// Applies `operation` to the low halves and to the high halves of packed registers: add.f16x2 is
/// apply_x2<f16>([](f16 x, f16 y) { return add(x, y); }, a, b).
template <half_float H, class Operation, std::same_as<std::uint32_t>... Packed>
constexpr std::uint32_t apply_x2(Operation operation, Packed... packed) {
  const H low = operation(H{static_cast<std::uint16_t>(packed)}...);
  const H high = operation(H{static_cast<std::uint16_t>(packed >> 16)}...);
  return low.bits | static_cast<std::uint32_t>(high.bits) << 16;
}

namespace detail {

template <bool Ftz, half_float H> constexpr H flush(H a) {
  constexpr std::uint32_t exponent = format<H>::limit;
  if (Ftz && (a.bits & exponent) == 0) a.bits = static_cast<std::uint16_t>(a.bits & 0x8000);
  return a;
}

template <half_float H> constexpr bool is_nan(H a) { return (a.bits & 0x7fffu) > format<H>::limit; }

/// Rounds to `H`, then applies the modifiers. `exact` may be rounded to odd.
template <half_float H, bool Ftz, bool Sat, bool Relu> constexpr H finish_half(double exact) {
  if constexpr (Sat) exact = exact > 0.0 ? (exact < 1.0 ? exact : 1.0) : 0.0;
  H result = to_half<H>(exact);
  if constexpr (Ftz) {
    // As in is_tiny for floats, a value that rounds up to the least normal number is kept.
    constexpr int bias = (1 << (format<H>::exponent - 1)) - 1;
    constexpr double least = std::bit_cast<double>(static_cast<std::uint64_t>(1024 - bias) << 52);
    constexpr double ulp = 1.0 / (1 << (format<H>::mantissa + 2));
    const bool tiny = __builtin_fabs(exact) < least - least * ulp;
    if (tiny) result.bits = static_cast<std::uint16_t>(result.bits & 0x8000);
  }
  if (Relu && (result.bits & 0x8000) != 0) result.bits = 0;  // the canonical NaN is positive
  return result;
}

/// The operand as a double, which holds products exactly, and sums but for a sticky bit.
template <bool Ftz, half_float H> constexpr double wide(H a) { return to_float(flush<Ftz>(a)); }

}  // namespace detail

template <bool Ftz = false, bool Sat = false, half_float H> constexpr H add(H a, H b) {
  return detail::finish_half<H, Ftz, Sat, false>(
      detail::sum_to_odd(detail::wide<Ftz>(a), detail::wide<Ftz>(b)));
}

template <bool Ftz = false, bool Sat = false, half_float H> constexpr H sub(H a, H b) {
  return detail::finish_half<H, Ftz, Sat, false>(
      detail::sum_to_odd(detail::wide<Ftz>(a), -detail::wide<Ftz>(b)));
}

template <bool Ftz = false, bool Sat = false, half_float H> constexpr H mul(H a, H b) {
  return detail::finish_half<H, Ftz, Sat, false>(detail::wide<Ftz>(a) * detail::wide<Ftz>(b));
}

template <bool Ftz = false, bool Sat = false, bool Relu = false, half_float H>
constexpr H fma(H a, H b, H c) {
  return detail::finish_half<H, Ftz, Sat, Relu>(
      detail::sum_to_odd(detail::wide<Ftz>(a) * detail::wide<Ftz>(b), detail::wide<Ftz>(c)));
}

/// fma.oob: +0 where a factor is the NaN that stands for what lies outside of a tensor. Which that
/// is, the manual leaves open; of all 65536 values, an H100 takes these two for it, whatever the
/// other operands are.
template <bool Relu = false, half_float H> constexpr H fma_oob(H a, H b, H c) {
  const bool outside = (a.bits & 0x7fff) == 0x7ff7 || (b.bits & 0x7fff) == 0x7ff7;
  return outside ? H{0} : fma<false, false, Relu>(a, b, c);
}

/// Clears the sign bit. A NaN becomes the canonical one.
template <bool Ftz = false, half_float H> constexpr H abs(H a) {
  if (detail::is_nan(a)) return H{0x7fff};
  return H{static_cast<std::uint16_t>(detail::flush<Ftz>(a).bits & 0x7fff)};
}

/// Inverts the sign bit. A NaN becomes the canonical one.
template <bool Ftz = false, half_float H> constexpr H neg(H a) {
  if (detail::is_nan(a)) return H{0x7fff};
  return H{static_cast<std::uint16_t>(detail::flush<Ftz>(a).bits ^ 0x8000)};
}

namespace detail {

template <bool Max, bool Ftz, bool Nan, bool XorsignAbs, half_float H>
constexpr H half_extremum(H a, H b) {
  const float wider =
      extremum<Max, false, Nan, XorsignAbs>(to_float(flush<Ftz>(a)), to_float(flush<Ftz>(b)));
  return to_half<H>(static_cast<double>(wider));  // one of the operands: exact
}

}  // namespace detail

template <bool Ftz = false, bool Nan = false, bool XorsignAbs = false, half_float H>
constexpr H min(H a, H b) {
  return detail::half_extremum<false, Ftz, Nan, XorsignAbs>(a, b);
}

template <bool Ftz = false, bool Nan = false, bool XorsignAbs = false, half_float H>
constexpr H max(H a, H b) {
  return detail::half_extremum<true, Ftz, Nan, XorsignAbs>(a, b);
}

/// Compares as `compare` of floats does.
template <comparison C, bool Ftz = false, half_float H> constexpr bool compare(H a, H b) {
  return compare<C, false>(to_float(detail::flush<Ftz>(a)), to_float(detail::flush<Ftz>(b)));
}

namespace detail {

/// A result of the special function unit is cut to the bits of a half; but one that is too large is
/// infinite.
template <half_float H> constexpr H cut_to_half(float a) {
  if (std::same_as<H, f16> && a >= 0x1p16f) a = positive_infinity;
  return H{static_cast<std::uint16_t>(encode<H, rounding::toward_zero>(static_cast<double>(a)))};
}

}  // namespace detail

/// tanh.approx
template <half_float H> constexpr H tanh_approx(H a) {
  return detail::cut_to_half<H>(detail::unit_tanh(to_float(a)));
}

/// ex2.approx: 2 to the power of `a`. Subnormal operands give one with and without `.ftz`; only
/// results of f16 can be subnormal.
template <half_float H> constexpr H ex2_approx(H a) {
  return detail::cut_to_half<H>(detail::unit_exp2(to_float(a)));
}

}}}  // namespace nogpu::v1::ptx
