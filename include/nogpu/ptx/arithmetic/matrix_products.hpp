#pragma once
/// \file
/// Products of matrices as the matrix units of a device of compute capability 9.0 compute them.
/// Everything that is an assumption about their rounding is in this file.
///
/// f16, bf16 and tf32: an instruction of the machine takes up to 16 products (8 of tf32) and C into
/// one sum. Products are exact. The largest exponent among the products, taken before they are
/// normalized, and C says what the sum counts in: each addend is cut, toward zero, to
/// `sum_model::fraction_bits` bits below that exponent. The cut addends are added exactly; the sum
/// is cut toward zero to an f32, or rounded to nearest even to an f16. Subnormals count; a sum of
/// nothing is +0; NaNs are the canonical one. wmma.mma of tf32 has 4 products in a sum, then 4
/// more.
///
/// e4m3 and e5m2 of a warp group (wgmma): the same with 32 products and C in a sum, whose addends
/// are cut, as is an f32 sum, to `fraction_bits_of_bytes`.
///
/// e4m3 and e5m2 of a warp (mma): the assembler turns them into f16, multiplies the first two of
/// each four elements and then the other two as above, beginning with 0, and adds C to the result
/// as add.f32 or add.f16 does. The four products of mma.m8n8k4 of f16 are instructions of the plain
/// units. f64: fused multiply-adds in the order of k. Integers: exact, then wrapped, or clamped by
/// .satfinite.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <nogpu/ptx/arithmetic/float_bits.hpp>
#include <nogpu/ptx/arithmetic/floating.hpp>
#include <nogpu/ptx/arithmetic/half_bits.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

struct sum_model {
  static constexpr int fraction_bits = 25;
  static constexpr int fraction_bits_of_bytes = 13;  ///< e4m3 and e5m2 of a warp group
  /// An f32 sum beyond the largest f32 becomes an infinity, although it is cut.
  static constexpr bool overflows_to_infinity = true;
};

/// Numbers of A or B in a row along k, as the unit sees them: exact values and exponents before
/// normalization. `special`: there are infinities or NaNs among them.
template <class Real> struct factor_row {
  const Real* values = nullptr;
  const std::int16_t* exponents = nullptr;
  bool special = false;
};

namespace detail {

/// The exponent of a zero: below that of every product that is not zero.
inline constexpr std::int16_t zero_exponent = -0x1000;
inline constexpr int lowest_exponent = -0x800;

/// A number of A or B of which `mantissa` bits and `exponent` bits are stored in `bits`.
template <class Real> struct factor {
  Real value = 0;
  std::int16_t exponent = zero_exponent;
  bool special = false;
};

template <class Real, unsigned Exponent, unsigned Mantissa>
constexpr factor<Real> factor_of(std::uint32_t bits, float value) {
  constexpr std::uint32_t most = (1u << Exponent) - 1;
  constexpr int bias = static_cast<int>(most / 2);
  const std::uint32_t field = bits >> Mantissa & most;
  const int exponent = static_cast<int>(field == 0 ? 1 : field) - bias;
  return {static_cast<Real>(value),
          value == 0 ? zero_exponent : static_cast<std::int16_t>(exponent), field == most};
}

constexpr factor<float> factor_of_f16(std::uint16_t bits) {
  return factor_of<float, 5, 10>(bits, to_float(f16{bits}));
}
constexpr factor<double> factor_of_bf16(std::uint16_t bits) {
  return factor_of<double, 8, 7>(bits, to_float(bf16{bits}));
}
/// The unit takes the upper 19 bits of a float.
constexpr factor<double> factor_of_tf32(std::uint32_t bits) {
  bits &= 0xffff'e000u;
  return factor_of<double, 8, 23>(bits, std::bit_cast<float>(bits));
}
template <class F8> constexpr factor<float> factor_of_f8(std::uint8_t bits) {
  return factor_of_f16(static_cast<std::uint16_t>(
      encode<f16, rounding::nearest_even>(static_cast<double>(to_float(F8{bits})))));
}

/// A sum with an infinity or a NaN among its addends.
template <class Real>
[[gnu::cold, gnu::noinline]] inline double special_sum(const factor_row<Real>& a,
                                                       const factor_row<Real>& b, unsigned count,
                                                       double c) {
  double sum = c - c == 0 ? 0 : c;
  for (unsigned k = 0; k < count; ++k) {
    const double product = static_cast<double>(a.values[k]) * static_cast<double>(b.values[k]);
    if (product - product != 0) sum += product;  // infinite or NaN
  }
  // Without any, the products of infinities with something were not among these elements.
  return sum;
}

template <class Real> constexpr Real power_of_two(int exponent) {
  if constexpr (sizeof(Real) == 4)
    return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
  else
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// The exponent of an addend C, an f32 or an f16 as a float.
constexpr int exponent_of(float c) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(c) & 0x7fff'ffffu;
  if (bits == 0) return 2 * zero_exponent;
  return static_cast<int>(bits >> 23 == 0 ? 1 : bits >> 23) - 127;
}

}  // namespace detail

/// The sum of `Count` products and C before it is rounded to the type of D. It is exact as a
/// double.
template <unsigned Count, int FractionBits = sum_model::fraction_bits, class Real>
inline double cut_sum(const factor_row<Real>& a, const factor_row<Real>& b, float c) {
  const int of_c = detail::exponent_of(c);
  if (a.special || b.special || of_c > 127) {
    const double sum = detail::special_sum(a, b, Count, static_cast<double>(c));
    if (sum - sum != 0) return sum;
  }
  std::int16_t top = 2 * detail::zero_exponent;
  for (unsigned k = 0; k < Count; ++k) {
    const auto e = static_cast<std::int16_t>(a.exponents[k] + b.exponents[k]);
    top = e > top ? e : top;
  }
  const int unit = of_c > top ? of_c : top;
  if (unit < detail::lowest_exponent) return 0.0;
  if (top < detail::lowest_exponent) return static_cast<double>(c);
  const Real scale = detail::power_of_two<Real>(FractionBits - unit);
  std::int64_t sum = static_cast<std::int64_t>(static_cast<double>(c) *
                                               detail::power_of_two<double>(FractionBits - unit));
  // Less than 2^27 each: eight fit into 32 bits.
  constexpr unsigned part = Count < 8 ? Count : 8;
  for (unsigned first = 0; first < Count; first += part) {
    std::int32_t some = 0;
    for (unsigned k = 0; k < part; ++k)
      some += static_cast<std::int32_t>(a.values[first + k] * b.values[first + k] * scale);
    sum += some;
  }
  return static_cast<double>(sum) * detail::power_of_two<double>(unit - FractionBits);
}

/// Cuts a sum to the f32 of D, and to the bits that were added.
template <int FractionBits = sum_model::fraction_bits> inline float round_sum_to_f32(double sum) {
  if (sum != sum) return std::bit_cast<float>(detail::canonical_nan32);
  const double magnitude = sum < 0 ? -sum : sum;
  if (magnitude >= 0x1p128) {
    const float most = sum_model::overflows_to_infinity || magnitude - magnitude != 0
                           ? std::numeric_limits<float>::infinity()
                           : std::numeric_limits<float>::max();
    return sum < 0 ? -most : most;
  }
  const float cut = detail::to_float<rounding::toward_zero>(sum);
  if constexpr (FractionBits >= 23) return cut;
  constexpr std::uint32_t kept = ~std::uint32_t{0} << (FractionBits < 23 ? 23 - FractionBits : 0);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(cut) & kept);
}
inline f16 round_sum_to_f16(double sum) { return detail::to_half<f16>(sum); }

/// a[0] * b[0] + a[1] * b[1] + ... + c of mma.m8n8k4 of f16 with a C of f32, or of f16.
inline float four_products_and_f32(const float* a, const float* b, float c) {
  float sum = 0;
  for (unsigned k = 0; k < 4; ++k) sum = fma<rounding::nearest_even>(a[k], b[k], sum);
  return add<rounding::nearest_even>(sum, c);
}
inline float four_products_and_f16(const float* a, const float* b, float c) {
  constexpr auto rn = rounding::nearest_even;
  const float first = fma<rn>(a[1], b[1], mul<rn>(a[0], b[0]));
  const float second = fma<rn>(a[3], b[3], mul<rn>(a[2], b[2]));
  return add<rn>(add<rn>(c, first), second);
}

/// A dot product of doubles and C.
template <rounding R>
inline double chain_of_products(const double* a, const double* b, unsigned count, double c) {
  for (unsigned k = 0; k < count; ++k) c = fma<R>(a[k], b[k], c);
  return c;
}

/// A dot product of integers and C.
inline std::int32_t sum_of_integers(const std::int16_t* a, const std::int16_t* b, unsigned count,
                                    std::int32_t c, bool satfinite) {
  std::int32_t products = 0;  // of at most 64 products below 2^16
  for (unsigned k = 0; k < count; ++k) products += std::int32_t{a[k]} * b[k];
  const std::int64_t sum = std::int64_t{products} + c;
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const std::int64_t clamped = sum < least ? least : sum > most ? most : sum;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(satfinite ? clamped : sum));
}

}}}  // namespace nogpu::v1::ptx
