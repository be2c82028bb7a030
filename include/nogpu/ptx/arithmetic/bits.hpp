#pragma once
/// \file
/// The instructions on bits: counting, fields, shifts, logic and byte permutation.

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <nogpu/ptx/arithmetic/integer.hpp>
#include <nogpu/ptx/modifiers.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

/// The number of ones. `T` is std::uint32_t or std::uint64_t.
template <std::unsigned_integral T> constexpr std::uint32_t popc(T a) {
  return static_cast<std::uint32_t>(std::popcount(a));
}

/// The number of leading zeros; the width of `T` for zero.
template <std::unsigned_integral T> constexpr std::uint32_t clz(T a) {
  return static_cast<std::uint32_t>(std::countl_zero(a));
}

/// The position of the highest one (of a negative signed value: of the highest zero), 0xffffffff if
/// there is none. `.shiftamt` instead gives the left shift that brings that bit to the top.
template <std::integral T, bool ShiftAmount = false> constexpr std::uint32_t bfind(T a) {
  using bits = std::make_unsigned_t<T>;
  const bits value = static_cast<bits>(std::is_signed_v<T> && a < 0 ? ~a : a);
  const auto zeros = static_cast<std::uint32_t>(std::countl_zero(value));
  if (value == 0) return 0xffffffffu;
  return ShiftAmount ? zeros : static_cast<std::uint32_t>(detail::width<T>) - 1 - zeros;
}

/// The position of the `offset`-th one, counted from bit `base`: upwards for a positive offset,
/// downwards for a negative one; 0 asks whether bit `base` itself is set. 0xffffffff if there is
/// none. A base above 31 finds nothing.
constexpr std::uint32_t fns(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  if (base > 31) return 0xffffffffu;
  if (offset == -0x7fffffff - 1) return 0;  // as on an H200
  if (offset == 0) return (mask >> base & 1u) != 0 ? base : 0xffffffffu;
  const int step = offset > 0 ? 1 : -1;
  std::uint32_t left = static_cast<std::uint32_t>(offset > 0 ? offset : -offset);
  for (int position = static_cast<int>(base); position >= 0 && position < 32; position += step) {
    left -= mask >> position & 1u;
    if (left == 0) return static_cast<std::uint32_t>(position);
  }
  return 0xffffffffu;
}

/// The bits in reverse order.
template <std::unsigned_integral T> constexpr T brev(T a) {
  constexpr T ones = static_cast<T>(~T{0});
  constexpr T pairs = ones / 3, nibbles = ones / 5, bytes = ones / 17, words = ones / 257;
  a = static_cast<T>((a >> 1 & pairs) | (a & pairs) << 1);
  a = static_cast<T>((a >> 2 & nibbles) | (a & nibbles) << 2);
  a = static_cast<T>((a >> 4 & bytes) | (a & bytes) << 4);
  a = static_cast<T>((a >> 8 & words) | (a & words) << 8);
  if constexpr (sizeof(T) == 8) {
    constexpr T halves = ones / 65537;
    a = static_cast<T>((a >> 16 & halves) | (a & halves) << 16);
  }
  return static_cast<T>(a >> detail::width<T> / 2 | a << detail::width<T> / 2);
}

namespace detail {

/// The position or length of a field that an operand of bfe or bfi gives: the low 8 bits with
/// fields of 32 bits, all of it with fields of 64, as on an H200; PTX leaves open what is above
/// 255.
template <class T> constexpr std::uint32_t field_operand(std::uint32_t operand) {
  if constexpr (sizeof(T) < 8) return operand & 0xff;
  return operand < 64 ? operand : 64;
}

}  // namespace detail

/// The field of `length` bits from bit `position`. Signed types extend its sign; bits beyond the
/// top of `a` are zero, or copies of the sign bit.
template <std::integral T> constexpr T bfe(T a, std::uint32_t position, std::uint32_t length) {
  constexpr std::uint32_t top = static_cast<std::uint32_t>(detail::width<T>) - 1;
  using bits = std::make_unsigned_t<T>;
  position = detail::field_operand<T>(position);
  length = detail::field_operand<T>(length);
  if (length == 0) return 0;
  const bits field = position > top ? bits{0} : static_cast<bits>(static_cast<bits>(a) >> position);
  const bits mask =
      length > top ? static_cast<bits>(~bits{0}) : static_cast<bits>((bits{1} << length) - 1);
  if constexpr (std::is_signed_v<T>) {
    const std::uint32_t last = position + length - 1 < top ? position + length - 1 : top;
    if ((static_cast<bits>(a) >> last & 1u) != 0) {
      // Ones above the sign bit, which is bit last - position of the field when it lies inside.
      const std::uint32_t kept = position > last ? 0 : last - position + 1;
      const bits above = kept > top ? bits{0} : static_cast<bits>(~bits{0} << kept);
      return static_cast<T>((field & mask) | above);
    }
  }
  return static_cast<T>(field & mask);
}

/// `b` with the low `length` bits of `a` put in at bit `position`.
template <std::unsigned_integral T>
constexpr T bfi(T a, T b, std::uint32_t position, std::uint32_t length) {
  constexpr std::uint32_t bits = static_cast<std::uint32_t>(detail::width<T>);
  position = detail::field_operand<T>(position);
  length = detail::field_operand<T>(length);
  const T low = length >= bits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  const T mask = position >= bits ? T{0} : static_cast<T>(low << position);
  const T moved = position >= bits ? T{0} : static_cast<T>(a << position);
  return static_cast<T>((b & ~mask) | (moved & mask));
}

/// Ones from bit `position`, `length` of them. `.clamp` limits both to 32, `.wrap` takes both
/// modulo 32.
template <overflow_mode Mode>
constexpr std::uint32_t bmsk(std::uint32_t position, std::uint32_t length) {
  static_assert(Mode != overflow_mode::none, "bmsk is .clamp or .wrap");
  if constexpr (Mode == overflow_mode::wrap) {
    position &= 31;
    length &= 31;
  }
  if (position > 31) return 0;
  const std::uint32_t low = length > 31 ? 0xffffffffu : (1u << length) - 1;
  return low << position;
}

/// `a` sign or zero-extended from its low `bits` bits. `.clamp` limits `bits` to 32, `.wrap` takes
/// it modulo 32. Zero bits give zero.
template <overflow_mode Mode, std::integral T>
  requires(sizeof(T) == 4)
constexpr T szext(T a, std::uint32_t bits) {
  static_assert(Mode != overflow_mode::none, "szext is .clamp or .wrap");
  if constexpr (Mode == overflow_mode::wrap) bits &= 31;
  if (bits > 31) return a;
  if (bits == 0) return 0;
  const std::uint32_t unused = 32 - bits;
  return static_cast<T>(static_cast<T>(static_cast<std::uint32_t>(a) << unused) >> unused);
}

/// The bitwise function of three operands whose truth table is `table` (0xf0, 0xcc and 0xaa stand
/// for a, b and c).
constexpr std::uint32_t lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                             std::uint8_t table) {
  const auto row = [table](int number) { return 0u - (std::uint32_t{table} >> number & 1u); };
  const auto choose = [](std::uint32_t by, std::uint32_t if_set, std::uint32_t if_clear) {
    return if_clear ^ (by & (if_set ^ if_clear));
  };
  const std::uint32_t with_a = choose(b, choose(c, row(7), row(6)), choose(c, row(5), row(4)));
  const std::uint32_t without_a = choose(b, choose(c, row(3), row(2)), choose(c, row(1), row(0)));
  return choose(a, with_a, without_a);
}

/// Logical negation: 1 for zero, else 0.
template <std::unsigned_integral T> constexpr T cnot(T a) { return a == 0; }

/// A shift by the width of `T` or more gives zero.
template <std::integral T> constexpr T shl(T a, std::uint32_t amount) {
  constexpr std::uint32_t top = static_cast<std::uint32_t>(detail::width<T>) - 1;
  return amount > top ? T{0} : static_cast<T>(detail::to_modular(a) << (amount & top));
}

/// A shift by the width of `T` or more gives zero; of a signed type copies of the sign bit.
template <std::integral T> constexpr T shr(T a, std::uint32_t amount) {
  constexpr std::uint32_t top = static_cast<std::uint32_t>(detail::width<T>) - 1;
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(a >> (amount > top ? top : amount));
  } else {
    return amount > top ? T{0} : static_cast<T>(a >> (amount & top));
  }
}

/// shf.l: the upper half of b:a shifted left. `.clamp` limits the amount to 32, `.wrap` takes it
/// modulo 32.
template <overflow_mode Mode>
constexpr std::uint32_t shf_l(std::uint32_t a, std::uint32_t b, std::uint32_t amount) {
  static_assert(Mode != overflow_mode::none, "shf is .clamp or .wrap");
  const std::uint32_t n = Mode == overflow_mode::wrap ? amount & 31 : amount > 32 ? 32 : amount;
  return static_cast<std::uint32_t>((std::uint64_t{b} << 32 | a) << n >> 32);
}

/// shf.r: the lower half of b:a shifted right.
template <overflow_mode Mode>
constexpr std::uint32_t shf_r(std::uint32_t a, std::uint32_t b, std::uint32_t amount) {
  static_assert(Mode != overflow_mode::none, "shf is .clamp or .wrap");
  const std::uint32_t n = Mode == overflow_mode::wrap ? amount & 31 : amount > 32 ? 32 : amount;
  return static_cast<std::uint32_t>((std::uint64_t{b} << 32 | a) >> n);
}

/// Four of the eight bytes of b:a. In the plain mode each nibble of `selector` picks a byte, its
/// top bit asks for copies of that byte's sign bit instead; the others pick by the low two bits.
template <permute_mode Mode = permute_mode::index>
constexpr std::uint32_t prmt(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  const std::uint32_t s = selector & 3;
  const auto chosen_by = [&](std::uint32_t i) {
    if constexpr (Mode == permute_mode::index) return selector >> 4 * i & 7;
    if constexpr (Mode == permute_mode::f4e) return s + i;
    if constexpr (Mode == permute_mode::b4e) return (s - i) & 7;
    if constexpr (Mode == permute_mode::rc8) return s;
    if constexpr (Mode == permute_mode::ecl) return i > s ? i : s;
    if constexpr (Mode == permute_mode::ecr) return i < s ? i : s;
    return (s & 1) * 2 + (i & 1);
  };
  const auto result_byte = [&](std::uint32_t i) {
    const auto byte = static_cast<std::uint32_t>(bytes >> 8 * chosen_by(i) & 0xff);
    const bool sign = Mode == permute_mode::index && (selector >> (4 * i + 3) & 1) != 0;
    return (sign ? (0u - (byte >> 7)) & 0xff : byte) << 8 * i;
  };
  return result_byte(0) | result_byte(1) | result_byte(2) | result_byte(3);
}

}}}  // namespace nogpu::v1::ptx
