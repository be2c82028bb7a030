#pragma once
/// \file
/// The special function unit, which approximates functions of one float by a parabola for each
/// segment of the argument: Oberman and Siu, "A High-Performance Area-Efficient Multifunction
/// Interpolator", ARITH 2005. Coefficients, the squarer and the places where bits are cut off were
/// fitted to results recorded on an H100: they give the same bits for every argument.
///
/// As on the device, subnormal arguments and results are zeros here. The instructions that keep
/// subnormals scale their operands, as approximate.hpp does.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <nogpu/ptx/arithmetic/float_bits.hpp>
#include <nogpu/ptx/arithmetic/special_function_tables.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// Returns about x * x / 2^19 for x of 17 bits. The unit multiplies each pair of bits once, adds up
/// these rows, and has no column for a product below 2^19.
constexpr std::uint32_t sum_of_rows(std::uint32_t x) {
  std::uint32_t sum = 0;
  for (unsigned bit = 10; bit < 17; ++bit) {
    const std::uint32_t lower = x & ((1u << bit) - 1);
    if ((x >> bit & 1) != 0) sum += (1u << (2 * bit - 19)) + (lower >> (18 - bit));
  }
  return sum;
}

/// The sums of x's upper 11 bits, and what its bits 2 to 5 add to them: only the upper 4 bits make
/// products of these that count. Two small tables are much faster than seven rows.
inline constexpr std::array<std::uint16_t, 2048> upper_sums = [] {
  std::array<std::uint16_t, 2048> sums{};
  for (std::uint32_t i = 0; i < sums.size(); ++i) {
    sums[i] = static_cast<std::uint16_t>(sum_of_rows(i << 6));
  }
  return sums;
}();
inline constexpr std::array<std::uint8_t, 256> lower_sums = [] {
  std::array<std::uint8_t, 256> sums{};
  for (std::uint32_t i = 0; i < sums.size(); ++i) {
    const std::uint32_t upper = i >> 4 << 13;
    sums[i] = static_cast<std::uint8_t>(sum_of_rows(upper | (i & 15) << 2) - sum_of_rows(upper));
  }
  return sums;
}();

/// The same as sum_of_rows.
constexpr std::int64_t truncated_square(std::uint32_t x) {
  return upper_sums[x >> 6] + lower_sums[(x >> 9 & 0xf0) | (x >> 2 & 15)];
}

/// How far to the left the coefficients of a table stand, and what is added for rounding, all
/// counted in 2^-17 of the last place of the result, before any normalization.
struct interpolation_scale {
  int c0;
  int c1;
  int c2;
  int bias;
};

inline constexpr interpolation_scale reciprocal_scale{15, 1, 2, 8092};
inline constexpr interpolation_scale rsqrt_scale{15, 1, 3, -1};
inline constexpr interpolation_scale sqrt_scale{15, 0, 1, -1};
inline constexpr interpolation_scale exp2_scale{15, 2, 2, 24456};
inline constexpr interpolation_scale log2_scale{14, 2, 3, 3348};
inline constexpr interpolation_scale sine_scale{16, 4, 4, 0};
inline constexpr interpolation_scale tanh_scale{17, 0, 2, 0};

/// Returns the segment's polynomial at `x`, the 17 bits of the argument below the segment's number.
template <interpolation_scale Scale>
constexpr std::int64_t interpolate(const segment& s, std::uint32_t x) {
  return (std::int64_t{s.c0} << Scale.c0) + Scale.bias +
         ((std::int64_t{s.c1} * std::int64_t{x}) << Scale.c1) +
         ((std::int64_t{s.c2} * truncated_square(x)) << Scale.c2);
}

inline constexpr std::uint32_t mantissa_mask = 0x7fffff;
inline constexpr std::uint32_t low_17_bits = 0x1ffff;
inline constexpr float canonical_nan = std::bit_cast<float>(canonical_nan32);
inline constexpr float positive_infinity = std::numeric_limits<float>::infinity();

/// The parts of a float. A subnormal has the parts of a zero.
struct float_parts {
  std::uint32_t sign;  ///< in its place, the highest bit
  int exponent;        ///< -127 for zero, 128 for infinity and NaN
  std::uint32_t mantissa;
};
constexpr float_parts parts_of(float a) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(a);
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 127;
  return {bits & 0x80000000u, exponent, exponent == -127 ? 0 : bits & mantissa_mask};
}

/// Returns the float of this sign, whose exponent and mantissa are the sum of `mantissa` and an
/// exponent field: a mantissa of 2^23 counts one exponent up. Too small a result is zero.
constexpr float assemble(std::uint32_t sign, int exponent, std::int64_t mantissa) {
  const std::int64_t bits = std::int64_t{exponent + 127} * (1 << 23) + mantissa;
  return std::bit_cast<float>(sign | (bits < (1 << 23) ? 0u : static_cast<std::uint32_t>(bits)));
}

/// Returns magnitude / 2^scale, truncated to the 24 bits of a float.
constexpr float normalize(std::uint32_t sign, std::uint64_t magnitude, int scale) {
  if (magnitude == 0) return std::bit_cast<float>(sign);
  const int width = 64 - std::countl_zero(magnitude);
  const std::uint64_t mantissa = width > 24 ? magnitude >> (width - 24) : magnitude << (24 - width);
  return assemble(sign, width - 1 - scale, static_cast<std::int64_t>(mantissa & mantissa_mask));
}

/// Returns 2 / m for m in [1, 2) with this mantissa, as a number in [1, 2] less one, scaled by
/// 2^40.
constexpr std::int64_t reciprocal_of_mantissa(std::uint32_t mantissa) {
  const std::uint32_t x = (mantissa & 0xffff) << 1;
  return interpolate<reciprocal_scale>(reciprocal_segments[mantissa >> 16], x);
}

/// Returns 2 / sqrt(m), or 2 / sqrt(2 * m) for an odd exponent, likewise. For one it is two: the
/// only result that the parabola misses.
constexpr std::int64_t rsqrt_of_mantissa(int exponent, std::uint32_t mantissa) {
  const std::uint32_t odd = static_cast<std::uint32_t>(exponent) & 1u;
  if (odd == 0 && mantissa == 0) return std::int64_t{1} << 40;
  return interpolate<rsqrt_scale>(rsqrt_segments[odd * 64 + (mantissa >> 17)],
                                  mantissa & low_17_bits);
}

/// MUFU.RCP: 1 / a
constexpr float unit_reciprocal(float a) {
  const float_parts p = parts_of(a);
  if (p.exponent == 128) {
    return p.mantissa != 0 ? canonical_nan : std::bit_cast<float>(p.sign);
  }
  if (p.exponent == -127) return p.sign != 0 ? -positive_infinity : positive_infinity;
  return assemble(p.sign, -p.exponent - 1, reciprocal_of_mantissa(p.mantissa) >> 17);
}

/// MUFU.RSQ: 1 / sqrt(a)
constexpr float unit_rsqrt(float a) {
  const float_parts p = parts_of(a);
  if (p.exponent == -127) return p.sign != 0 ? -positive_infinity : positive_infinity;
  if (p.sign != 0 || (p.exponent == 128 && p.mantissa != 0)) return canonical_nan;
  if (p.exponent == 128) return 0.0f;
  const std::int64_t y = rsqrt_of_mantissa(p.exponent, p.mantissa);
  return assemble(0, -(p.exponent >> 1) - 1, y >> 17);
}

/// MUFU.SQRT: the square root of `a`
constexpr float unit_sqrt(float a) {
  const float_parts p = parts_of(a);
  if (p.exponent == -127) return std::bit_cast<float>(p.sign);
  if (p.sign != 0 || (p.exponent == 128 && p.mantissa != 0)) return canonical_nan;
  if (p.exponent == 128) return positive_infinity;
  const std::uint32_t odd = static_cast<std::uint32_t>(p.exponent) & 1u;
  const segment& s = sqrt_segments[odd * 64 + (p.mantissa >> 17)];
  const std::int64_t y = interpolate<sqrt_scale>(s, p.mantissa & low_17_bits);
  return assemble(0, p.exponent >> 1, y >> 17);
}

/// MUFU.EX2: 2 to the power of `a`, which is cut to 23 bits after the point.
constexpr float unit_exp2(float a) {
  if (!(a >= -126.0f && a < 128.0f)) {
    if (is_nan(a)) return canonical_nan;
    return a < 0.0f ? 0.0f : positive_infinity;
  }
  const auto fixed = static_cast<std::int32_t>(a * 0x1p23f);
  // The negative of a magnitude is its complement, but for an integer. Without branches: signs are
  // hard to predict.
  const std::uint32_t not_integer = (fixed & std::int32_t{mantissa_mask}) != 0 ? 1u : 0u;
  const std::uint32_t power =
      static_cast<std::uint32_t>(fixed) - (std::bit_cast<std::uint32_t>(a) >> 31 & not_integer);
  const std::uint32_t fraction = power & mantissa_mask;
  const std::int64_t y =
      interpolate<exp2_scale>(exp2_segments[fraction >> 17], fraction & low_17_bits);
  return std::bit_cast<float>(power - fraction + 0x3f800000u + static_cast<std::uint32_t>(y >> 17));
}

/// MUFU.LG2: the logarithm to base 2
constexpr float unit_log2(float a) {
  const float_parts p = parts_of(a);
  if (p.exponent == -127) return -positive_infinity;
  if (p.sign != 0 || (p.exponent == 128 && p.mantissa != 0)) return canonical_nan;
  if (p.exponent == 128) return positive_infinity;
  if (p.exponent == 0 && p.mantissa == 0) return 0.0f;
  const std::int64_t fraction =
      interpolate<log2_scale>(log2_segments[p.mantissa >> 17], p.mantissa & low_17_bits);
  // A sum with 36 bits after the point. The magnitude of a negative one is its complement.
  const std::int64_t sum = (fraction >> 4) + (std::int64_t{p.exponent} * (std::int64_t{1} << 36));
  return sum < 0 ? normalize(0x80000000u, static_cast<std::uint64_t>(~sum), 36)
                 : normalize(0, static_cast<std::uint64_t>(sum), 36);
}

/// MUFU.SIN and MUFU.COS: the sine of `a` turns, or of a quarter of a turn more. The angle is cut
/// to 25 bits after the point, of which two are the quadrant.
template <bool Cosine> constexpr float unit_sine(float a) {
  const float_parts p = parts_of(a);
  if (p.exponent == 128) return canonical_nan;
  const std::uint32_t magnitude = p.exponent == -127 ? 0 : p.mantissa | (1u << 23);
  const int shift = p.exponent + 2;
  const std::uint32_t angle = shift >= 25    ? 0
                              : shift >= 0   ? magnitude << shift
                              : shift >= -24 ? magnitude >> -shift
                                             : 0;
  const std::uint32_t quadrant = (angle >> 23) + (Cosine ? 1 : 0);
  const std::uint32_t falling = 0u - (quadrant & 1u);
  const std::uint32_t fraction = (angle ^ falling) & mantissa_mask;
  const std::uint32_t sign = (quadrant & 2u) << 30 ^ (Cosine ? 0 : p.sign);
  const std::int64_t y =
      interpolate<sine_scale>(sine_segments[fraction >> 17], fraction & low_17_bits);
  return normalize(sign, static_cast<std::uint64_t>(y), 41);
}

/// MUFU.TANH: the argument itself below 2^-8, 1 from 8 on.
constexpr float unit_tanh(float a) {
  // For each power of two: the first segment, and how many bits of the mantissa pick the segment.
  constexpr std::array<std::uint8_t, 11> first_segments{0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};
  constexpr std::array<std::uint8_t, 11> index_bits{0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3};
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(a);
  const std::uint32_t sign = bits & 0x80000000u;
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 127;
  const std::uint32_t mantissa = bits & mantissa_mask;
  if (exponent < -8) return a;
  if (exponent == 128 && mantissa != 0) return canonical_nan;
  if (exponent >= 3) return std::bit_cast<float>(sign | 0x3f800000u);
  const auto binade = static_cast<std::size_t>(exponent + 8);
  const int index = index_bits[binade];
  const segment& s = tanh_segments[first_segments[binade] + (mantissa >> (23 - index))];
  const std::uint32_t x = (mantissa >> (6 - index)) & low_17_bits;
  return normalize(sign, static_cast<std::uint64_t>(interpolate<tanh_scale>(s, x)), 41);
}

/// Returns the double of this sign, whose upper word without the sign is `word`, and whose lower is
/// zero. Too small a result is zero.
constexpr double assemble_upper(std::uint32_t sign, std::int64_t word) {
  const std::uint32_t magnitude = word < (1 << 20) ? 0u : static_cast<std::uint32_t>(word);
  return std::bit_cast<double>(std::uint64_t{sign | magnitude} << 32);
}

/// The parts of the upper word of a double, which is all that the unit reads and writes of one: a
/// NaN whose payload lies in the lower word is an infinity to it. It has the segments of floats.
constexpr float_parts upper_parts_of(double a) {
  const auto word = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(a) >> 32);
  const int exponent = static_cast<int>(word >> 20 & 0x7ff) - 1023;
  return {word & 0x80000000u, exponent, (word & 0xfffff) << 3};
}

inline constexpr std::int64_t upper_infinity = 0x7ff00000;
inline constexpr double upper_nan = std::bit_cast<double>(std::uint64_t{0x7fffffff00000000});

/// MUFU.RCP64H: 1 / a
constexpr double unit_reciprocal(double a) {
  const float_parts p = upper_parts_of(a);
  if (p.exponent == 1024) return p.mantissa != 0 ? upper_nan : assemble_upper(p.sign, 0);
  if (p.exponent == -1023) return assemble_upper(p.sign, upper_infinity);
  const std::int64_t y = reciprocal_of_mantissa(p.mantissa);
  return assemble_upper(p.sign, (y >> 20) + std::int64_t{1022 - p.exponent} * (1 << 20));
}

/// MUFU.RSQ64H: 1 / sqrt(a)
constexpr double unit_rsqrt(double a) {
  const float_parts p = upper_parts_of(a);
  if (p.exponent == -1023) return assemble_upper(p.sign, upper_infinity);
  if (p.sign != 0 || (p.exponent == 1024 && p.mantissa != 0)) return upper_nan;
  if (p.exponent == 1024) return 0.0;
  const std::int64_t y = rsqrt_of_mantissa(p.exponent, p.mantissa);
  return assemble_upper(0, (y >> 20) + std::int64_t{1022 - (p.exponent >> 1)} * (1 << 20));
}

}}}  // namespace nogpu::v1::ptx::detail
