#pragma once
/// \file
/// Directed rounding in double precision, done in integers of 128 bits: no double-precision
/// operation of the host gives the information that it needs for every operand.

#include <bit>
#include <cstdint>

#include <nogpu/ptx/arithmetic/float_bits.hpp>
#include <nogpu/ptx/arithmetic/integer.hpp>
#include <nogpu/ptx/arithmetic/rounding.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// (-1)^negative * significand * 2^exponent. Bit 0 of the significand may stand for "and a bit
/// more" where a comment says so.
struct exact_value {
  bool negative = false;
  int exponent = 0;
  uint128 significand = 0;
};

constexpr int leading_zeros(uint128 v) {
  const auto high = static_cast<std::uint64_t>(v >> 64);
  return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(v));
}

/// Of a finite number.
constexpr exact_value unpack(double a) {
  const auto bits = std::bit_cast<std::uint64_t>(a);
  const auto biased = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & 0xfffffffffffff;
  if (biased == 0) return {bits >> 63 != 0, -1074, fraction};
  return {bits >> 63 != 0, biased - 1075, fraction | std::uint64_t{1} << 52};
}

/// Moves the highest one of a nonzero significand to bit 125.
constexpr exact_value normalized(exact_value v) {
  const int shift = leading_zeros(v.significand) - 2;
  if (shift >= 0) {
    v.significand <<= shift;
  } else {
    v.significand = v.significand >> -shift | static_cast<uint128>((v.significand & 3) != 0);
  }
  v.exponent -= shift;
  return v;
}

/// Returns whether a magnitude strictly between two neighbors is rounded to the one further from
/// zero.
template <rounding R>
constexpr bool rounds_up(bool negative, bool odd, bool above_half, bool half) {
  if constexpr (R == rounding::nearest_even || R == rounding::none) {
    return above_half || (half && odd);
  } else if constexpr (R == rounding::nearest_away) {
    return above_half || half;
  } else if constexpr (R == rounding::toward_negative) {
    return negative;
  } else if constexpr (R == rounding::toward_positive) {
    return !negative;
  } else {
    return false;
  }
}

/// The double nearest to `v` in the direction of `R`. Bit 0 of the significand may be sticky if at
/// least 55 bits are significant.
template <rounding R> constexpr double pack(exact_value v) {
  const std::uint64_t sign = std::uint64_t{v.negative} << 63;
  if (v.significand == 0) return std::bit_cast<double>(sign);
  v = normalized(v);
  // Bit 125 has weight 2^(exponent + 125); a normal result keeps bits 73 to 125.
  int cut = 73;
  int biased = v.exponent + 125 + 1023;
  if (biased < 1) {
    cut += 1 - biased;
    biased = 1;
  }
  if (cut > 127) cut = 127;  // bits 126 and 127 are zero: all of it lies below the half
  const auto kept = static_cast<std::uint64_t>(v.significand >> cut);
  const uint128 half = uint128{1} << (cut - 1);
  const uint128 rest = v.significand & ((half << 1) - 1);
  // A significand below 2^52 makes the result subnormal by itself, a carry raises the exponent.
  std::uint64_t bits = (static_cast<std::uint64_t>(biased - 1) << 52) + kept;
  if (rest != 0 && rounds_up<R>(v.negative, (kept & 1) != 0, rest > half, rest == half)) ++bits;
  if (biased > 2046 || bits >= std::uint64_t{0x7ff} << 52) {
    const bool up = rounds_up<R>(v.negative, true, true, false);
    bits = (std::uint64_t{0x7ff} << 52) - (up ? 0 : 1);
  }
  return std::bit_cast<double>(sign | bits);
}

/// The exact sum; bit 0 sticky.
template <rounding R> constexpr exact_value sum(exact_value x, exact_value y) {
  if (x.significand == 0 || y.significand == 0) {
    exact_value nonzero = x.significand != 0 ? x : y;
    if (x.significand == 0 && y.significand == 0 && x.negative != y.negative) {
      nonzero.negative = R == rounding::toward_negative;
    }
    return nonzero;
  }
  x = normalized(x);
  y = normalized(y);
  if (x.exponent < y.exponent) {
    const exact_value other = x;
    x = y;
    y = other;
  }
  const int distance = x.exponent - y.exponent;
  // The bits that are shifted out are at least 70 bits below the rounding position; one sticky bit
  // stands for them.
  const uint128 lost =
      distance >= 127 ? y.significand : y.significand & ((uint128{1} << distance) - 1);
  const uint128 aligned =
      (distance >= 127 ? uint128{0} : y.significand >> distance) | static_cast<uint128>(lost != 0);
  exact_value result = x;
  if (x.negative == y.negative) {
    result.significand = x.significand + aligned;
  } else if (x.significand > aligned) {
    result.significand = x.significand - aligned;
  } else if (x.significand < aligned) {
    result.significand = aligned - x.significand;
    result.negative = y.negative;
  } else {
    result.significand = 0;
    result.negative = R == rounding::toward_negative;
  }
  return result;
}

constexpr exact_value product(exact_value x, exact_value y) {
  return {x.negative != y.negative, x.exponent + y.exponent, x.significand * y.significand};
}

constexpr bool is_finite(double a) {
  return (std::bit_cast<std::uint64_t>(a) >> 52 & 0x7ff) != 0x7ff;
}

template <rounding R> constexpr double exact_fma(double a, double b, double c) {
  if (!is_finite(a) || !is_finite(b)) return a * b + c;
  if (!is_finite(c)) return c;
  return pack<R>(sum<R>(product(unpack(a), unpack(b)), unpack(c)));
}

template <rounding R> constexpr double exact_add(double a, double b) {
  if (!is_finite(a) || !is_finite(b)) return a + b;
  return pack<R>(sum<R>(unpack(a), unpack(b)));
}

template <rounding R> constexpr double exact_mul(double a, double b) {
  if (!is_finite(a) || !is_finite(b)) return a * b;
  return pack<R>(product(unpack(a), unpack(b)));
}

template <rounding R> constexpr double exact_div(double a, double b) {
  if (!is_finite(a) || !is_finite(b) || a == 0 || b == 0) return a / b;
  const exact_value x = unpack(a);
  const exact_value y = unpack(b);
  const int up = leading_zeros(x.significand);
  const uint128 numerator = x.significand << up;
  // 128 bits by at most 53 leave 75 or more; the remainder only tells exact from inexact.
  const uint128 quotient = numerator / y.significand;
  const bool inexact = numerator % y.significand != 0;
  return pack<R>({x.negative != y.negative, x.exponent - up - y.exponent,
                  quotient | static_cast<uint128>(inexact)});
}

template <rounding R> constexpr double exact_sqrt(double a) {
  if (!is_finite(a) || !(a > 0)) return __builtin_sqrt(a);
  exact_value x = unpack(a);
  int up = leading_zeros(x.significand) - 2;
  if (((x.exponent - up) & 1) != 0) ++up;  // an even exponent halves; bit 126 at most is the top
  x.significand <<= up;
  x.exponent -= up;
  uint128 root = 0;
  uint128 rest = x.significand;
  for (uint128 bit = uint128{1} << 126; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  // The root has 63 bits or more, so there is room for a sticky bit below it.
  return pack<R>({false, x.exponent / 2 - 1, root << 1 | static_cast<uint128>(rest != 0)});
}

}}}  // namespace nogpu::v1::ptx::detail
