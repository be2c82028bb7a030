#pragma once
/// \file
/// The `.approx` and `.full` instructions of f32 and f64: what the device's compiler makes of them
/// around the special function unit, bit for bit as on an H100. Without `.ftz` that is scaling,
/// because the unit takes subnormals for zeros.

#include <bit>
#include <cstdint>
#include <limits>

#include <nogpu/ptx/arithmetic/float_bits.hpp>
#include <nogpu/ptx/arithmetic/floating.hpp>
#include <nogpu/ptx/arithmetic/special_functions.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

namespace detail {

constexpr bool is_subnormal_or_zero(float a) { return a > -0x1p-126f && a < 0x1p-126f; }
constexpr bool is_beyond_2_to_126(float a) { return a < -0x1p126f || a > 0x1p126f; }

/// Turns of a full circle for an angle in radians. The factor is 1 / (2 * pi).
constexpr float turns(float radians) {
  return mul<rounding::toward_zero>(radians, std::bit_cast<float>(0x3e22f983));
}

}  // namespace detail

/// rcp.approx.f32
template <bool Ftz = false> constexpr float rcp_approx(float a) {
  if constexpr (Ftz) return detail::unit_reciprocal(a);
  const float scale = detail::is_beyond_2_to_126(a)     ? 0.25f
                      : detail::is_subnormal_or_zero(a) ? 0x1p24f
                                                        : 1.0f;
  return detail::with_nan(scale * detail::unit_reciprocal(a * scale));
}

/// sqrt.approx.f32
template <bool Ftz = false> constexpr float sqrt_approx(float a) {
  if (Ftz || !detail::is_subnormal_or_zero(a)) return detail::unit_sqrt(a);
  return detail::with_nan(detail::unit_sqrt(a * 0x1p24f) * 0x1p-12f);
}

/// rsqrt.approx.f32: an infinity of its sign for a zero.
template <bool Ftz = false> constexpr float rsqrt_approx(float a) {
  if (Ftz || !detail::is_subnormal_or_zero(a)) return detail::unit_rsqrt(a);
  return detail::with_nan(detail::unit_rsqrt(a * 0x1p24f) * 0x1p12f);
}

/// rsqrt.approx.f64: the unit's result of 20 bits, made better by one step of third order.
inline double rsqrt_approx(double a) {
  if (a == 0.0) return 1.0 / a;
  if (a == std::numeric_limits<double>::infinity()) return 0.0;
  if (!(a > 0.0)) return detail::with_nan(std::numeric_limits<double>::quiet_NaN(), a);
  const bool scaled = a < 0x1p-1022;
  if (scaled) a = detail::unfused_product(a, 0x1p54);
  const double r = detail::unit_rsqrt(a);
  const double error = __builtin_fma(a, -detail::unfused_product(r, r), 1.0);
  const double better =
      __builtin_fma(__builtin_fma(error, 0.375, 0.5), detail::unfused_product(r, error), r);
  return scaled ? better * 0x1p27 : better;
}

/// div.approx.f32: a * (1 / b), where the reciprocal of a divisor beyond 2^126 is zero: then the
/// quotient is zero too, or NaN if `a` is infinite.
template <bool Ftz = false> constexpr float div_approx(float a, float b) {
  if (!Ftz && detail::is_subnormal_or_zero(b)) {
    a *= 0x1p24f;
    b *= 0x1p24f;
  }
  return mul<rounding::none, Ftz>(a, detail::unit_reciprocal(b));
}

/// div.full.f32: as div.approx, for every divisor.
template <bool Ftz = false> constexpr float div_full(float a, float b) {
  if (detail::is_beyond_2_to_126(b)) {
    a = mul<rounding::none, Ftz>(a, 0.25f);
    b *= 0.25f;
  }
  return div_approx<Ftz>(a, b);
}

/// ex2.approx.f32: 2 to the power of `a`. A power that may be subnormal is a square.
template <bool Ftz = false> constexpr float ex2_approx(float a) {
  if (Ftz || !(a < -126.0f)) return detail::unit_exp2(a);
  const float root = detail::unit_exp2(a * 0.5f);
  return root * root;
}

/// lg2.approx.f32: the logarithm to base 2, -infinity for both zeros.
template <bool Ftz = false> constexpr float lg2_approx(float a) {
  if (Ftz || !detail::is_subnormal_or_zero(a)) return detail::unit_log2(a);
  return detail::with_nan(detail::unit_log2(a * 0x1p24f) - 24.0f);
}

/// sin.approx.f32
constexpr float sin_approx(float a) { return detail::unit_sine<false>(detail::turns(a)); }

/// cos.approx.f32
constexpr float cos_approx(float a) { return detail::unit_sine<true>(detail::turns(a)); }

/// tanh.approx.f32
constexpr float tanh_approx(float a) { return detail::unit_tanh(a); }

/// rcp.approx.ftz.f64
constexpr double rcp_approx_ftz(double a) { return detail::unit_reciprocal(a); }

/// rsqrt.approx.ftz.f64
constexpr double rsqrt_approx_ftz(double a) { return detail::unit_rsqrt(a); }

}}}  // namespace nogpu::v1::ptx
