#pragma once
/// \file
/// The small floating formats: what their bits mean, and rounding to them.

#include <bit>
#include <cstdint>

#include <nogpu/ptx/arithmetic/exact.hpp>
#include <nogpu/ptx/arithmetic/float_bits.hpp>
#include <nogpu/ptx/arithmetic/rounding.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

/// The bits of an `.f16` register.
struct f16 {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(f16, f16) = default;  ///< of the bits, not of the numbers
};

/// The bits of a `.bf16` register.
struct bf16 {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(bf16, bf16) = default;
};

/// One of the two numbers of an `.e4m3x2` register: no infinities, 0x7f is NaN, 448 the largest.
struct e4m3 {
  std::uint8_t bits = 0;
  friend constexpr bool operator==(e4m3, e4m3) = default;
};

/// One of the two numbers of an `.e5m2x2` register: the upper byte of an f16.
struct e5m2 {
  std::uint8_t bits = 0;
  friend constexpr bool operator==(e5m2, e5m2) = default;
};

namespace detail {

/// `limit` is the lowest magnitude that is not finite: infinity where the format has one.
template <class H> struct format;
template <> struct format<f16> {
  static constexpr int exponent = 5, mantissa = 10;
  static constexpr std::uint32_t limit = 0x7c00, nan = 0x7fff;
};
template <> struct format<bf16> {
  static constexpr int exponent = 8, mantissa = 7;
  static constexpr std::uint32_t limit = 0x7f80, nan = 0x7fff;
};
template <> struct format<e4m3> {
  static constexpr int exponent = 4, mantissa = 3;
  static constexpr std::uint32_t limit = 0x7f, nan = 0x7f;
};
template <> struct format<e5m2> {
  static constexpr int exponent = 5, mantissa = 2;
  static constexpr std::uint32_t limit = 0x7c, nan = 0x7f;
};
/// f32 with a mantissa of 10 bits; its encoding is the upper 19 bits of the float.
struct tf32 {};
template <> struct format<tf32> {
  static constexpr int exponent = 8, mantissa = 10;
  static constexpr std::uint32_t limit = 0x3fc00, nan = 0x3ffff;
};

/// The encoding in format `H` of `d`, rounded as `R` says. NaN becomes the canonical one. With
/// `Finite`, what would be infinite becomes the largest finite number.
template <class H, rounding R, bool Finite = false> constexpr std::uint32_t encode(double d) {
  using f = format<H>;
  constexpr int width = 1 + f::exponent + f::mantissa;
  constexpr int bias = (1 << (f::exponent - 1)) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(d);
  const bool negative = bits >> 63 != 0;
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  const std::uint32_t sign = static_cast<std::uint32_t>(negative) << (width - 1);
  constexpr auto infinity = static_cast<std::uint64_t>(infinity_bits<double>);
  if (magnitude > infinity) return f::nan;
  if (magnitude == infinity) return sign | (Finite ? f::limit - 1 : f::limit);

  int biased = static_cast<int>(magnitude >> 52);
  std::uint64_t significand = magnitude & 0xfffffffffffff;
  if (biased == 0) {
    biased = 1;
  } else {
    significand |= std::uint64_t{1} << 52;
  }
  biased += bias - 1023;
  int cut = 52 - f::mantissa;
  if (biased < 1) {  // subnormal in H: more bits are cut off
    cut += 1 - biased;
    biased = 1;
    if (cut > 63) cut = 63;
  }
  const std::uint64_t kept = significand >> cut;
  const std::uint64_t half = std::uint64_t{1} << (cut - 1);
  const std::uint64_t rest = significand & ((half << 1) - 1);
  // Without its implicit bit the result is subnormal by itself, a carry raises the exponent.
  std::uint64_t result = (static_cast<std::uint64_t>(biased - 1) << f::mantissa) + kept;
  if (rest != 0 && rounds_up<R>(negative, (kept & 1) != 0, rest > half, rest == half)) ++result;
  if (result >= f::limit) {
    const bool up = !Finite && rounds_up<R>(negative, true, true, false);
    result = up ? f::limit : f::limit - 1;
  }
  return sign | static_cast<std::uint32_t>(result);
}

/// Rounds to nearest even.
template <class H> constexpr H to_half(double d) {
  return H{static_cast<decltype(H::bits)>(encode<H, rounding::nearest_even>(d))};
}

}  // namespace detail

/// Returns the same number as a float; a NaN keeps its sign and payload.
constexpr float to_float(f16 a) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(a.bits & 0x7fff) << 13;
  // The multiplication moves the exponent bias from 15 to 127 and normalizes subnormals.
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const std::uint32_t bits =
      magnitude >= 0x0f800000 ? magnitude | 0x7f800000 : std::bit_cast<std::uint32_t>(scaled);
  return std::bit_cast<float>(bits | static_cast<std::uint32_t>(a.bits & 0x8000) << 16);
}

constexpr float to_float(bf16 a) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(a.bits) << 16);
}

constexpr float to_float(e5m2 a) { return to_float(f16{static_cast<std::uint16_t>(a.bits << 8)}); }

constexpr float to_float(e4m3 a) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(a.bits & 0x7f);
  const float scaled = std::bit_cast<float>(magnitude << 20) * 0x1p120f;
  const std::uint32_t bits = magnitude == 0x7f ? 0x7fffffffu : std::bit_cast<std::uint32_t>(scaled);
  return std::bit_cast<float>(bits | static_cast<std::uint32_t>(a.bits & 0x80) << 24);
}

}}}  // namespace nogpu::v1::ptx
