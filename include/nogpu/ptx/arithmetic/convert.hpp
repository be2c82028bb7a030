#pragma once
/// \file
/// Conversions between two scalar types by `cvt`. The conversions to packed and to narrower formats
/// are in convert_packed.hpp.

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <nogpu/ptx/arithmetic/exact.hpp>
#include <nogpu/ptx/arithmetic/float_bits.hpp>
#include <nogpu/ptx/arithmetic/half.hpp>
#include <nogpu/ptx/arithmetic/half_bits.hpp>
#include <nogpu/ptx/arithmetic/integer.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

namespace detail {

template <class T>
concept floating = std::floating_point<T> || half_float<T>;

/// A magnitude as a double that rounds to any narrower format as the integer itself would: bits
/// beyond the 53rd are left as a sticky one.
constexpr double to_sticky_double(std::uint64_t magnitude) {
  const bool inexact = (magnitude & 0x7ff) != 0;
  const std::uint64_t top = (magnitude & ~std::uint64_t{0x7ff}) | std::uint64_t{inexact} << 11;
  return static_cast<double>(magnitude >> 53 != 0 ? top : magnitude);
}

template <std::integral From>
constexpr double to_sticky_double(From value)
  requires(sizeof(From) == 8 && std::is_signed_v<From>)
{
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? -to_sticky_double(0 - bits) : to_sticky_double(bits);
}

/// `a` rounded to an integer in its own type. Zeros keep the sign of `a`.
template <rounding R, std::floating_point F> constexpr F to_integral(F a) {
  // From here on every number is an integer; adding it rounds what lies below to nearest even.
  constexpr F threshold = sizeof(F) == 4 ? F(0x1p23) : F(0x1p52);
  const F magnitude = std::bit_cast<F>(to_bits(a) & ~sign_bit<F>);
  F rounded = (magnitude + threshold) - threshold;
  const bool negative = to_bits(a) < 0;
  if constexpr (R == rounding::toward_zero) {
    rounded = rounded > magnitude ? rounded - 1 : rounded;
  } else if constexpr (R == rounding::toward_negative || R == rounding::toward_positive) {
    const bool away = negative == (R == rounding::toward_negative);
    const F lower = rounded > magnitude ? rounded - 1 : rounded;
    const F upper = rounded < magnitude ? rounded + 1 : rounded;
    rounded = away ? upper : lower;
  } else {
    static_assert(R == rounding::nearest_even, "cvt to an integer rounds .rni, .rzi, .rmi or .rpi");
  }
  const F result = std::bit_cast<F>(to_bits(rounded) | (to_bits(a) & sign_bit<F>));
  return magnitude < threshold ? result : a;
}

/// Clamps to the range of `To`. A NaN becomes zero, or only the top bit set if either type has 64
/// bits.
template <class To, rounding R, bool From64, std::floating_point F>
constexpr To float_to_integer(F a) {
  if constexpr (R != rounding::toward_zero) a = to_integral<R>(a);
  const bool nan = is_nan(a);
  constexpr To nan_result = static_cast<To>(
      From64 || sizeof(To) == 8 ? std::uint64_t{1} << (width<To> - 1) : std::uint64_t{0});
  if constexpr (sizeof(To) == 8) {
    constexpr F low = static_cast<F>(lowest<To>);
    constexpr F beyond = std::is_signed_v<To> ? F(0x1p63) : F(0x1p64);
    if (nan) return nan_result;
    if (a >= beyond) return highest<To>;
    return a <= low ? lowest<To> : static_cast<To>(a);
  } else {
    // A double holds both limits; truncating between them cannot leave the range.
    using wide =
        std::conditional_t<sizeof(To) == 4 && !std::is_signed_v<To>, std::int64_t, std::int32_t>;
    constexpr double low = lowest<To>;
    constexpr double high = highest<To>;
    const double number = nan ? 0.0 : static_cast<double>(a);
    const double above = number < low ? low : number;
    const To result = static_cast<To>(static_cast<wide>(above > high ? high : above));
    return From64 && nan ? nan_result : result;
  }
}

template <class To, rounding R, std::integral From> constexpr To integer_to_float(From a) {
  if constexpr (half_float<To>) {
    double d = 0;
    if constexpr (sizeof(From) == 8) {
      d = to_sticky_double(a);
    } else {
      d = static_cast<double>(a);
    }
    return To{static_cast<std::uint16_t>(encode<To, R>(d))};
  } else if constexpr (R == rounding::nearest_even || R == rounding::none) {
    return static_cast<To>(a);
  } else if constexpr (sizeof(From) < 8) {
    if constexpr (sizeof(To) == 8) return static_cast<double>(a);
    if constexpr (sizeof(To) == 4) return to_float<R>(static_cast<double>(a));
  } else if constexpr (sizeof(To) == 4) {
    return to_float<R>(to_sticky_double(a));
  } else {
    const bool negative = std::is_signed_v<From> && a < 0;
    const auto bits = static_cast<std::uint64_t>(a);
    return pack<R>({negative, 0, negative ? 0 - bits : bits});
  }
}

/// `.ftz` concerns f32 alone.
template <bool Ftz, floating F> constexpr F flush_single(F a) {
  if constexpr (std::same_as<F, float>) return flush<Ftz>(a);
  return a;
}

template <floating F> constexpr auto widened(F a) {
  if constexpr (half_float<F>) {
    return to_float(a);
  } else {
    return a;
  }
}

template <class To, rounding R, bool Ftz, floating From> constexpr To float_to_float(From a) {
  if constexpr (half_float<To>) {
    if constexpr (std::same_as<From, double>) {
      if (is_nan(a)) {  // keeps its sign and what fits of its payload
        const std::int64_t bits = to_bits(a);
        constexpr int dropped = std::same_as<To, f16> ? 42 : 45;
        constexpr std::int64_t quiet_nan = std::same_as<To, f16> ? 0x7e00 : 0x7fc0;
        const std::int64_t payload = bits >> dropped & ((std::int64_t{1} << (52 - dropped)) - 1);
        return To{static_cast<std::uint16_t>((bits >> 48 & 0x8000) | quiet_nan | payload)};
      }
    }
    return To{static_cast<std::uint16_t>(encode<To, R>(static_cast<double>(widened(a))))};
  } else if constexpr (std::same_as<To, float> && std::same_as<From, bf16>) {
    // Nothing but a shift, for NaN too, unless `.ftz` asks for arithmetic.
    return Ftz ? with_nan(flush<Ftz>(to_float(a))) : to_float(a);
  } else if constexpr (std::same_as<To, From> && !Ftz) {
    return a;
  } else if constexpr (std::same_as<To, double>) {
    const auto wider = widened(a);
    return with_nan(static_cast<double>(wider), static_cast<double>(wider));
  } else if constexpr (std::same_as<From, double>) {
    // Unlike arithmetic, this conversion keeps what fits of a NaN's payload.
    const float rounded = to_float<R>(a);
    const float zero = std::bit_cast<float>(to_bits(rounded) & sign_bit<float>);
    return Ftz && is_tiny<R>(a) ? zero : rounded;
  } else {
    return with_nan(flush<Ftz>(widened(a)));
  }
}

/// `.sat` of a floating result: [0, 1], NaN becomes +0.
template <floating F> constexpr F saturate(F a) {
  if constexpr (half_float<F>) {
    constexpr F one = std::same_as<F, f16> ? F{0x3c00} : F{0x3f80};
    if ((a.bits & 0x8000) != 0 || is_nan(a)) return F{0};
    return a.bits > one.bits ? one : a;
  } else {
    return a > F{0} ? (a < F{1} ? a : F{1}) : F{0};
  }
}

}  // namespace detail

/// cvt.To.From with the rounding `R`: of a floating result, or the integer one if `To` is an
/// integer. `.sat` clamps integers to the range of `To` (which conversions from floats always do)
/// and floating results to [0, 1]. Types: std::int8_t to std::uint64_t, f16, bf16, float, double.
template <class To, rounding R = rounding::none, bool Ftz = false, bool Sat = false, class From>
constexpr To cvt(From a) {
  if constexpr (std::integral<To> && std::integral<From>) {
    if constexpr (!Sat) return static_cast<To>(a);
    if constexpr (Sat && std::is_signed_v<From>) {
      const auto wide = static_cast<std::int64_t>(a);
      if constexpr (std::is_signed_v<To>) return detail::clamp_to<To>(wide);
      if (wide < 0) return To{0};
      return static_cast<To>(static_cast<std::uint64_t>(wide) > detail::highest<To>
                                 ? detail::highest<To>
                                 : static_cast<To>(wide));
    } else if constexpr (Sat) {
      const auto limit = static_cast<std::uint64_t>(detail::highest<To>);
      const auto wide = static_cast<std::uint64_t>(a);
      return static_cast<To>(wide > limit ? limit : wide);
    }
  } else if constexpr (std::integral<To>) {
    constexpr rounding mode = R == rounding::none ? rounding::toward_zero : R;
    return detail::float_to_integer<To, mode, std::same_as<From, double>>(
        detail::widened(detail::flush_single<Ftz>(a)));
  } else {
    To result{};
    if constexpr (std::integral<From>) {
      result = detail::integer_to_float<To, R>(a);
    } else {
      // A value that becomes an f16 is not flushed, as rounding away from zero shows.
      constexpr bool flushes = Ftz && !std::same_as<To, f16>;
      if constexpr (flushes && std::same_as<From, float>)
        a = detail::with_nan(detail::flush<true>(a));
      result = detail::float_to_float<To, R, Ftz>(a);
    }
    if constexpr (Sat) result = detail::saturate(result);
    return result;
  }
}

/// cvt between a floating type and itself with integer rounding: `a` rounded to an integer.
template <rounding R, bool Ftz = false, bool Sat = false, class F>
constexpr F round_to_integer(F a) {
  if constexpr (half_float<F>) {
    F result = detail::to_half<F>(static_cast<double>(detail::to_integral<R>(to_float(a))));
    if constexpr (Sat) result = detail::saturate(result);
    return result;
  } else {
    a = detail::flush_single<Ftz>(a);
    const F result = detail::with_nan(detail::to_integral<R>(a), a);
    if constexpr (Sat) return detail::saturate(result);
    return result;
  }
}

}}}  // namespace nogpu::v1::ptx
