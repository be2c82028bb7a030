#pragma once
/// \file
/// The `.approx` and `.full` instructions. A GPU looks their results up in tables that are not
/// documented, so the last bits may differ here. A result is within one unit in the last place of
/// the correctly rounded value, which lies within every documented error bound, and has the
/// documented result for each special operand.

#include <bit>
#include <cstdint>

#include <gpu/testing/detail/ptx/arithmetic/float_bits.hpp>

namespace gpu::inline v1::testing::ptx {

/// rcp.approx.f32
template <bool Ftz = false> constexpr float rcp_approx(float a) {
  return detail::finish<Ftz, false>(1.0f / detail::flush<Ftz>(a));
}

/// sqrt.approx.f32
template <bool Ftz = false> inline float sqrt_approx(float a) {
  return detail::finish<Ftz, false>(__builtin_sqrtf(detail::flush<Ftz>(a)));
}

/// rsqrt.approx.f32: an infinity of its sign for a zero.
template <bool Ftz = false> inline float rsqrt_approx(float a) {
  const double root = __builtin_sqrt(static_cast<double>(detail::flush<Ftz>(a)));
  return detail::finish<Ftz, false>(static_cast<float>(1.0 / root));
}

/// rsqrt.approx.f64
inline double rsqrt_approx(double a) { return detail::with_nan(1.0 / __builtin_sqrt(a), a); }

/// div.approx.f32: a * (1 / b), where the reciprocal of a divisor beyond 2^126 is zero: then the
/// quotient is zero too, or NaN if `a` is infinite.
template <bool Ftz = false> constexpr float div_approx(float a, float b) {
  a = detail::flush<Ftz>(a);
  b = detail::flush<Ftz>(b);
  const bool beyond = b > 0x1p126f || b < -0x1p126f;
  const float zero = b < 0.0f ? -0.0f : 0.0f;
  return detail::finish<Ftz, false>(beyond ? a * zero : a / b);
}

/// div.full.f32: as div.approx, for every divisor.
template <bool Ftz = false> constexpr float div_full(float a, float b) {
  return detail::finish<Ftz, false>(detail::flush<Ftz>(a) / detail::flush<Ftz>(b));
}

/// ex2.approx.f32: 2 to the power of `a`.
template <bool Ftz = false> inline float ex2_approx(float a) {
  const double power = __builtin_exp2(static_cast<double>(detail::flush<Ftz>(a)));
  return detail::finish<Ftz, false>(static_cast<float>(power));
}

/// lg2.approx.f32: the logarithm to base 2, -infinity for both zeros.
template <bool Ftz = false> inline float lg2_approx(float a) {
  const double logarithm = __builtin_log2(static_cast<double>(detail::flush<Ftz>(a)));
  return detail::finish<Ftz, false>(static_cast<float>(logarithm));
}

/// sin.approx.f32
template <bool Ftz = false> inline float sin_approx(float a) {
  const double sine = __builtin_sin(static_cast<double>(detail::flush<Ftz>(a)));
  return detail::finish<Ftz, false>(static_cast<float>(sine));
}

/// cos.approx.f32
template <bool Ftz = false> inline float cos_approx(float a) {
  const double cosine = __builtin_cos(static_cast<double>(detail::flush<Ftz>(a)));
  return detail::finish<Ftz, false>(static_cast<float>(cosine));
}

/// tanh.approx.f32
inline float tanh_approx(float a) {
  return detail::with_nan(static_cast<float>(__builtin_tanh(static_cast<double>(a))));
}

namespace detail {

/// The gross f64 approximations read and write the high 32 bits of a double alone, so that a NaN
/// whose payload lies in the low half is an infinity to them; subnormals are zeros, a NaN is the
/// canonical one of these two instructions.
constexpr double upper_word(double a) {
  return std::bit_cast<double>(to_bits(flush<true>(a)) & static_cast<std::int64_t>(~0ull << 32));
}
constexpr double gross_result(double r) {
  return r != r ? std::bit_cast<double>(std::uint64_t{0x7fffffff00000000}) : upper_word(r);
}

}  // namespace detail

/// rcp.approx.ftz.f64
constexpr double rcp_approx_ftz(double a) {
  return detail::gross_result(1.0 / detail::upper_word(a));
}

/// rsqrt.approx.ftz.f64
inline double rsqrt_approx_ftz(double a) {
  return detail::gross_result(1.0 / __builtin_sqrt(detail::upper_word(a)));
}

}  // namespace gpu::inline v1::testing::ptx
