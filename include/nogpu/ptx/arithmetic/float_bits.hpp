#pragma once
/// \file
/// Rounding, flushing and NaNs of f32 and f64: the parts that the floating instructions share.
///
/// Nothing here touches the rounding mode of the processor, which is state of the thread and which
/// compilers ignore when they fold and move operations. Directed rounding starts from a result that
/// is exact, or rounded to odd with at least two bits to spare, and steps to the neighbor.

#include <bit>
#include <cfloat>
#include <cstdint>
#include <type_traits>

#include <nogpu/ptx/arithmetic/rounding.hpp>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#  error \
      "gpu: the CPU driver computes as a GPU does, which it cannot with -ffast-math or -Ofast. \
Compile the source that includes it without them; or link the CMake target gpu::cpu_driver, and \
compile your sources as you like (see gpu/testing/cpu_driver.hpp)."
#endif

static_assert(FLT_EVAL_METHOD == 0,
              "the PTX machine needs float arithmetic in float (SSE, not x87)");

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// Bits of a float or double as a signed integer: comparisons of signed lanes vectorize everywhere.
template <class F>
using float_bits = std::conditional_t<sizeof(F) == 4, std::int32_t, std::int64_t>;

template <class F>
inline constexpr float_bits<F> sign_bit =
    static_cast<float_bits<F>>(float_bits<F>{1} << (sizeof(F) * 8 - 1));
template <class F>
inline constexpr float_bits<F> infinity_bits =
    sizeof(F) == 4 ? static_cast<float_bits<F>>(0x7f800000)
                   : static_cast<float_bits<F>>(0x7ff0000000000000);

template <class F> constexpr float_bits<F> to_bits(F value) {
  return std::bit_cast<float_bits<F>>(value);
}

/// The NaN that single-precision instructions return, whatever NaN they were given.
inline constexpr std::int32_t canonical_nan32 = 0x7fffffff;
/// The NaN of an invalid double-precision operation. NaN operands of double-precision instructions
/// keep their payload and become quiet.
inline constexpr std::uint64_t default_nan64 = 0xfff8000000000000;

constexpr bool is_nan(float a) { return (to_bits(a) & 0x7fffffff) > infinity_bits<float>; }
constexpr bool is_nan(double a) { return a != a; }
constexpr bool is_finite(float a) {
  return (to_bits(a) & infinity_bits<float>) != infinity_bits<float>;
}

/// `r` with the NaN that the hardware gives. The operands are those of the instruction, in order:
/// the first NaN among them decides in double precision.
template <class... Operands> constexpr float with_nan(float r, Operands...) {
  const std::int32_t bits = to_bits(r);
  return std::bit_cast<float>((bits & 0x7fffffff) > infinity_bits<float> ? canonical_nan32 : bits);
}

constexpr double quiet(double nan) {
  return std::bit_cast<double>(to_bits(nan) | std::int64_t{1} << 51);
}
constexpr double with_nan(double r, double a) {
  const double nan = a != a ? quiet(a) : std::bit_cast<double>(default_nan64);
  return r != r ? nan : r;
}
constexpr double with_nan(double r, double a, double b) {
  const double first = a != a ? quiet(a) : std::bit_cast<double>(default_nan64);
  const double nan = b != b ? quiet(b) : first;
  return r != r ? nan : r;
}
constexpr double with_nan(double r, double a, double b, double c) {
  const double first = a != a ? quiet(a) : std::bit_cast<double>(default_nan64);
  const double third = c != c ? quiet(c) : first;
  const double nan = b != b ? quiet(b) : third;
  return r != r ? nan : r;
}

/// `.ftz`: a subnormal becomes a zero of its sign.
template <bool Ftz, class F> constexpr F flush(F value) {
  if constexpr (Ftz) {
    const float_bits<F> bits = to_bits(value);
    return std::bit_cast<F>((bits & infinity_bits<F>) == 0 ? bits & sign_bit<F> : bits);
  } else {
    return value;
  }
}

/// Finishes the rounded result of a single-precision instruction: applies `.ftz`, then `.sat`,
/// which makes a NaN +0.
template <bool Ftz, bool Sat> constexpr float finish(float r) {
  r = flush<Ftz>(r);
  if constexpr (Sat) return r > 0.0f ? (r < 1.0f ? r : 1.0f) : 0.0f;
  return with_nan(r);
}

/// A product that no compiler fuses with a later addition, not even under -ffp-contract=fast and
/// with FMA instructions enabled: `mul` followed by `add` are two instructions with two roundings.
template <class F> constexpr F unfused_product(F a, F b) {
#if defined(__clang__)
#  pragma clang fp contract(off)
  return a * b;
#elif defined(__GNUC__) && __GNUC__ >= 12
  return __builtin_assoc_barrier(a * b);
#else
  return a * b;
#endif
}

/// x + y rounded to odd in double: the truncated sum with its last bit set if anything was cut off.
/// Rounding that to float, in any mode, is rounding the exact sum. Both must be so far from the
/// largest double that nothing overflows, as float values and their products are.
///
/// Where x is a product, fusing it into the sums below changes nothing: it is exact.
constexpr double sum_to_odd(double x, double y) {
  const double sum = x + y;
  const double part = sum - x;
  const double error = (x - (sum - part)) + (y - part);
  const std::int64_t bits = to_bits(sum);
  // Of an infinity or NaN the error is a NaN, and the bits stay as they are.
  const bool inexact = error > 0.0 || error < 0.0;
  const std::uint64_t opposite = static_cast<std::uint64_t>(bits ^ to_bits(error)) >> 63;
  const std::int64_t step = 1 - 2 * static_cast<std::int64_t>(opposite);
  return std::bit_cast<double>(inexact && (bits & 1) == 0 ? bits + step : bits);
}

/// The double `d` as float, rounded as `R` says.
template <rounding R> constexpr float to_float(double d) {
  const float nearest = static_cast<float>(d);
  if constexpr (R == rounding::nearest_even || R == rounding::none) {
    return nearest;
  } else {
    const double back = nearest;
    const std::int32_t bits = to_bits(nearest);
    const std::int32_t away = bits < 0 ? -1 : 1;  // one step up, in the order of the numbers
    std::int32_t step = 0;
    if constexpr (R == rounding::toward_zero) {
      step = __builtin_fabs(back) > __builtin_fabs(d) ? -1 : 0;
    } else if constexpr (R == rounding::toward_negative) {
      step = back > d ? -away : 0;
    } else {
      static_assert(R == rounding::toward_positive, "float arithmetic rounds .rn, .rz, .rm or .rp");
      step = back < d ? away : 0;
    }
    return std::bit_cast<float>(bits + step);
  }
}

/// Returns whether `.ftz` flushes the result: GPUs flush it if it is below the normal numbers after
/// rounding to 24 bits with an unlimited exponent. `exact` may be rounded to odd, as for to_float.
template <rounding R> constexpr bool is_tiny(double exact) {
  constexpr double least = 0x1p-126;
  const double magnitude = __builtin_fabs(exact);
  if constexpr (R == rounding::nearest_even || R == rounding::none) {
    return magnitude < least - 0x1p-151;  // the middle itself rounds to the even neighbor, 2^-126
  } else if constexpr (R == rounding::toward_zero) {
    return magnitude < least;
  } else {
    const bool away = (to_bits(exact) < 0) == (R == rounding::toward_negative);
    return away ? magnitude <= least - 0x1p-150 : magnitude < least;
  }
}

/// An exact result, or one rounded to odd, as the result of a single-precision instruction.
template <rounding R, bool Ftz, bool Sat> constexpr float finish_exact(double exact) {
  const float rounded = to_float<R>(exact);
  if constexpr (Ftz) {
    const float zero = std::bit_cast<float>(to_bits(rounded) & sign_bit<float>);
    return finish<false, Sat>(is_tiny<R>(exact) ? zero : rounded);
  } else {
    return finish<false, Sat>(rounded);
  }
}

/// x + y rounded to odd, for operands that hold floats or exact products of floats. An exact zero
/// has the sign that it has when rounding as `R` says.
template <rounding R> constexpr double signed_sum_to_odd(double x, double y) {
  // Towards minus infinity an exact zero is -0; the mirrored sum gives +0 there.
  if constexpr (R == rounding::toward_negative) return -sum_to_odd(-x, -y);
  return sum_to_odd(x, y);
}

}}}  // namespace nogpu::v1::ptx::detail
