#pragma once
/// \file
/// The conversions to packed and reduced formats: `.relu` and `.satfinite`, pairs of f16, bf16,
/// e4m3 and e5m2, tf32, and cvt.pack.

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <nogpu/ptx/arithmetic/half.hpp>
#include <nogpu/ptx/arithmetic/half_bits.hpp>
#include <nogpu/ptx/arithmetic/integer.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

namespace detail {

/// `.relu`: +0 for what is not positive. NaN stays, encode makes it the canonical one.
template <bool Relu> constexpr double rectified(double d) { return Relu && d <= 0.0 ? 0.0 : d; }

template <class F8, bool Relu> constexpr std::uint32_t encode_f8(float a) {
  return encode<F8, rounding::nearest_even, true>(rectified<Relu>(static_cast<double>(a)));
}

}  // namespace detail

/// cvt.{rn,rz}{.relu}{.satfinite}.f16.f32, .bf16.f32. With `.satfinite` infinities and numbers
/// beyond the largest finite one become that one.
template <half_float H, rounding R, bool Relu = false, bool Satfinite = false>
constexpr H cvt_to_half(float a) {
  return H{static_cast<std::uint16_t>(
      detail::encode<H, R, Satfinite>(detail::rectified<Relu>(static_cast<double>(a))))};
}

/// cvt.rn.f16x2.f32 d, a, b and .bf16x2: `a` goes to the upper half.
template <half_float H, rounding R, bool Relu = false, bool Satfinite = false>
constexpr std::uint32_t cvt_to_half_x2(float a, float b) {
  return static_cast<std::uint32_t>(cvt_to_half<H, R, Relu, Satfinite>(a).bits) << 16 |
         cvt_to_half<H, R, Relu, Satfinite>(b).bits;
}

/// cvt.{rna,rn,rz}{.relu}{.satfinite}.tf32.f32: the float rounded to 10 bits of mantissa, the low
/// 13 bits zero. NaN becomes 0x7fffe000. But `.rna`, which devices compute with integers, clears
/// the low bits of a NaN, which may leave an infinity; with `.satfinite` it then steps towards
/// zero.
template <rounding R, bool Relu = false, bool Satfinite = false>
constexpr std::uint32_t cvt_to_tf32(float a) {
  if (detail::is_nan(a)) {
    if constexpr (R != rounding::nearest_away) return 0x7fffe000u;
    const std::uint32_t cut = std::bit_cast<std::uint32_t>(a) & 0xffffe000u;
    return Satfinite ? cut - 0x2000u : cut;
  }
  return detail::encode<detail::tf32, R, Satfinite>(detail::rectified<Relu>(static_cast<double>(a)))
         << 13;
}

/// cvt.rn.satfinite{.relu}.e4m3x2.f32 d, a, b and .e5m2x2: `a` goes to the upper byte. `F8` is e4m3
/// or e5m2.
template <class F8, bool Relu = false> constexpr std::uint16_t cvt_to_f8_x2(float a, float b) {
  return static_cast<std::uint16_t>(detail::encode_f8<F8, Relu>(a) << 8 |
                                    detail::encode_f8<F8, Relu>(b));
}

/// cvt.rn.satfinite{.relu}.e4m3x2.f16x2 and .e5m2x2
template <class F8, bool Relu = false> constexpr std::uint16_t cvt_to_f8_x2(std::uint32_t a) {
  return cvt_to_f8_x2<F8, Relu>(to_float(f16{static_cast<std::uint16_t>(a >> 16)}),
                                to_float(f16{static_cast<std::uint16_t>(a)}));
}

/// cvt.rn{.relu}.f16x2.e4m3x2 and .e5m2x2: exact.
template <class F8, bool Relu = false>
constexpr std::uint32_t cvt_f8_x2_to_f16_x2(std::uint16_t a) {
  const auto one = [](std::uint32_t byte) {
    const float value = to_float(F8{static_cast<std::uint8_t>(byte)});
    return detail::encode<f16, rounding::nearest_even>(
        detail::rectified<Relu>(static_cast<double>(value)));
  };
  return one(a >> 8u) << 16 | one(a & 0xffu);
}

/// cvt.pack.sat.{u16,s16}.s32 d, a, b: `a` goes to the upper half. `To` is the type of a half.
template <std::integral To>
  requires(sizeof(To) == 2)
constexpr std::uint32_t cvt_pack(std::int32_t a, std::int32_t b) {
  const auto one = [](std::int32_t v) -> std::uint32_t {
    return static_cast<std::uint16_t>(detail::clamp_to<To>(std::int64_t{v}));
  };
  return one(a) << 16 | one(b);
}

/// cvt.pack.sat.{u8,s8,u4,s4,u2,s2}.s32.b32 d, a, b, c: `c` moves up by two fields of `Bits` bits,
/// `a` goes to the upper of the two low ones.
template <int Bits, bool Signed>
  requires(Bits == 2 || Bits == 4 || Bits == 8)
constexpr std::uint32_t cvt_pack(std::int32_t a, std::int32_t b, std::uint32_t c) {
  constexpr std::int32_t low = Signed ? -(1 << (Bits - 1)) : 0;
  constexpr std::int32_t high = Signed ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
  constexpr std::uint32_t mask = (1u << Bits) - 1;
  const auto one = [](std::int32_t v) {
    return static_cast<std::uint32_t>(v < low ? low : v > high ? high : v) & mask;
  };
  return c << 2 * Bits | one(a) << Bits | one(b);
}

}}}  // namespace nogpu::v1::ptx
