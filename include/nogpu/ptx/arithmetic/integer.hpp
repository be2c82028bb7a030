#pragma once
/// \file
/// The integer arithmetic instructions: one function for each instruction, named after it. `T` is
/// the instruction's type (`std::uint16_t` for `.u16`, `std::int64_t` for `.s64`). All wrap around
/// as the hardware does, and have no undefined behavior for any operand, all are `constexpr` and
/// free of branches wherever a loop over lanes is to be vectorized.

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace nogpu { inline namespace v1 { namespace ptx {

namespace detail {

/// An unsigned type in which arithmetic on `T` is done: at least 32 bits, so that the promotion of
/// 16-bit operands to `int` cannot overflow.
template <class T> using modular = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;

template <class T> constexpr modular<T> to_modular(T value) {
  return static_cast<modular<T>>(value);
}

template <std::size_t Bytes, bool Signed> struct integer_of;
template <> struct integer_of<2, false> {
  using type = std::uint16_t;
};
template <> struct integer_of<2, true> {
  using type = std::int16_t;
};
template <> struct integer_of<4, false> {
  using type = std::uint32_t;
};
template <> struct integer_of<4, true> {
  using type = std::int32_t;
};
template <> struct integer_of<8, false> {
  using type = std::uint64_t;
};
template <> struct integer_of<8, true> {
  using type = std::int64_t;
};
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
template <> struct integer_of<16, false> {
  using type = uint128;
};
template <> struct integer_of<16, true> {
  using type = int128;
};

/// The type twice as wide as `T`, with the same signedness.
template <class T> using doubled = typename integer_of<sizeof(T) * 2, std::is_signed_v<T>>::type;

template <class T> inline constexpr int width = static_cast<int>(sizeof(T) * 8);

template <class T>
inline constexpr T lowest = std::is_signed_v<T> ? static_cast<T>(T{1} << (width<T> - 1)) : T{0};
template <class T> inline constexpr T highest = static_cast<T>(~lowest<T>);

/// `wide` limited to what `T` holds.
template <class T, class Wide> constexpr T clamp_to(Wide wide) {
  const Wide low = static_cast<Wide>(lowest<T>);
  const Wide high = static_cast<Wide>(highest<T>);
  return static_cast<T>(wide < low ? low : wide > high ? high : wide);
}

}  // namespace detail

/// The result type of `.wide`.
template <std::integral T> using wide_t = detail::doubled<T>;

template <std::integral T> constexpr T add(T a, T b) {
  return static_cast<T>(detail::to_modular(a) + detail::to_modular(b));
}

template <std::integral T> constexpr T sub(T a, T b) {
  return static_cast<T>(detail::to_modular(a) - detail::to_modular(b));
}

/// add.sat.s32
constexpr std::int32_t add_sat(std::int32_t a, std::int32_t b) {
  return detail::clamp_to<std::int32_t>(std::int64_t{a} + b);
}

/// sub.sat.s32
constexpr std::int32_t sub_sat(std::int32_t a, std::int32_t b) {
  return detail::clamp_to<std::int32_t>(std::int64_t{a} - b);
}

template <std::integral T> constexpr T mul_lo(T a, T b) {
  return static_cast<T>(detail::to_modular(a) * detail::to_modular(b));
}

template <std::integral T> constexpr T mul_hi(T a, T b) {
  using wide = detail::doubled<T>;
  return static_cast<T>((static_cast<wide>(a) * static_cast<wide>(b)) >> detail::width<T>);
}

/// Of the 16 and 32-bit types.
template <std::integral T>
  requires(sizeof(T) <= 4)
constexpr wide_t<T> mul_wide(T a, T b) {
  using wide = wide_t<T>;
  return static_cast<wide>(static_cast<wide>(a) * static_cast<wide>(b));
}

template <std::integral T> constexpr T mad_lo(T a, T b, T c) { return add(mul_lo(a, b), c); }

template <std::integral T> constexpr T mad_hi(T a, T b, T c) { return add(mul_hi(a, b), c); }

/// mad.hi.sat.s32
constexpr std::int32_t mad_hi_sat(std::int32_t a, std::int32_t b, std::int32_t c) {
  return add_sat(mul_hi(a, b), c);
}

template <std::integral T>
  requires(sizeof(T) <= 4)
constexpr wide_t<T> mad_wide(T a, T b, wide_t<T> c) {
  return add(mul_wide(a, b), c);
}

namespace detail {

/// The 48-bit product of the low 24 bits, those of `.s24` being sign-extended.
template <class T> constexpr wide_t<T> product24(T a, T b) {
  const auto low24 = [](T v) {
    return static_cast<wide_t<T>>(static_cast<T>(static_cast<T>(to_modular(v) << 8) >> 8));
  };
  return low24(a) * low24(b);
}

}  // namespace detail

/// mul24.lo: bits 0 to 31 of the 48-bit product. `T` is 32 bits wide here and in the next five.
template <std::integral T>
  requires(sizeof(T) == 4)
constexpr T mul24_lo(T a, T b) {
  return static_cast<T>(detail::product24(a, b));
}

/// mul24.hi: bits 16 to 47 of the 48-bit product.
template <std::integral T>
  requires(sizeof(T) == 4)
constexpr T mul24_hi(T a, T b) {
  return static_cast<T>(detail::product24(a, b) >> 16);
}

template <std::integral T>
  requires(sizeof(T) == 4)
constexpr T mad24_lo(T a, T b, T c) {
  return add(mul24_lo(a, b), c);
}

template <std::integral T>
  requires(sizeof(T) == 4)
constexpr T mad24_hi(T a, T b, T c) {
  return add(mul24_hi(a, b), c);
}

/// mad24.hi.sat.s32
constexpr std::int32_t mad24_hi_sat(std::int32_t a, std::int32_t b, std::int32_t c) {
  return add_sat(mul24_hi(a, b), c);
}

/// c + |a - b|
template <std::integral T> constexpr T sad(T a, T b, T c) {
  return add(c, a < b ? sub(b, a) : sub(a, b));
}

/// A quotient by zero is unspecified in PTX; this gives all ones, as GPUs do. The lowest signed
/// value divided by -1 wraps to itself.
template <std::integral T> constexpr T div(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return sub(T{0}, a);
  }
  return static_cast<T>(a / b);
}

/// The remainder has the sign of `a`; by zero it is unspecified in PTX, and all ones here, as on
/// GPUs.
template <std::integral T> constexpr T rem(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

/// The lowest value is its own absolute value.
template <std::signed_integral T> constexpr T abs(T a) { return a < 0 ? sub(T{0}, a) : a; }

template <std::signed_integral T> constexpr T neg(T a) { return sub(T{0}, a); }

template <std::integral T> constexpr T min(T a, T b) { return a < b ? a : b; }

template <std::integral T> constexpr T max(T a, T b) { return a > b ? a : b; }

/// min.relu.s32: negative results become zero.
constexpr std::int32_t min_relu(std::int32_t a, std::int32_t b) { return max(min(a, b), 0); }
/// max.relu.s32
constexpr std::int32_t max_relu(std::int32_t a, std::int32_t b) { return max(max(a, b), 0); }

/// c >= 0 ? a : b, for slct with a `.s32` condition.
template <class T> constexpr T slct(T a, T b, std::int32_t c) { return c >= 0 ? a : b; }

// The carry chain. `T` is std::uint32_t or std::uint64_t (the instructions do the same for the
// signed types). `carry` is the condition code CC.CF, 0 or 1; after a subtraction it is the borrow.
// The plain forms read it, those with `_cc` also write it.

/// add.cc: writes the carry, does not read it.
template <std::unsigned_integral T> constexpr T add_cc(T a, T b, std::uint32_t& carry) {
  const T sum = static_cast<T>(a + b);
  carry = sum < a;
  return sum;
}

/// addc
template <std::unsigned_integral T> constexpr T addc(T a, T b, std::uint32_t carry) {
  return static_cast<T>(a + b + carry);
}

/// addc.cc
template <std::unsigned_integral T> constexpr T addc_cc(T a, T b, std::uint32_t& carry) {
  const T partial = static_cast<T>(a + b);
  const T sum = static_cast<T>(partial + carry);
  carry = static_cast<std::uint32_t>(partial < a) | static_cast<std::uint32_t>(sum < partial);
  return sum;
}

/// sub.cc
template <std::unsigned_integral T> constexpr T sub_cc(T a, T b, std::uint32_t& carry) {
  carry = a < b;
  return static_cast<T>(a - b);
}

/// subc
template <std::unsigned_integral T> constexpr T subc(T a, T b, std::uint32_t carry) {
  return static_cast<T>(a - b - carry);
}

/// subc.cc
template <std::unsigned_integral T> constexpr T subc_cc(T a, T b, std::uint32_t& carry) {
  const T partial = static_cast<T>(a - b);
  const T difference = static_cast<T>(partial - carry);
  carry = static_cast<std::uint32_t>(a < b) | static_cast<std::uint32_t>(partial < carry);
  return difference;
}

// mad.lo.cc, mad.hi.cc, madc.lo, madc.hi, madc.lo.cc and madc.hi.cc are add_cc, addc and addc_cc of
// mul_lo(a, b) or of mul_hi(a, b) and c. For the signed types the high half is that of the signed
// product: cast what mul_hi gives.

}}}  // namespace nogpu::v1::ptx
