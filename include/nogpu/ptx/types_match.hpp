#pragma once
/// Decides which registers an instruction's type accepts.

#include <nogpu/ptx/types.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

constexpr bool is_integer(type t) { return is_signed(t) || is_unsigned(t); }

/// Returns whether a register declared as `declared` may hold a value of the instruction type `t`:
/// they have the same size, and one is untyped bits, or both are integers, or they are the same.
constexpr bool accepts(type declared, type t) {
  if (declared == type::pred || t == type::pred) return declared == t;
  if (size_of(declared) != size_of(t)) return false;
  return declared == t || is_bits(declared) || is_bits(t) ||
         (is_integer(declared) && is_integer(t));
}

/// Returns the same for ld, st and cvt, for which an integer or untyped register may be wider.
constexpr bool accepts_wider(type declared, type t) {
  if (accepts(declared, t)) return true;
  if (declared == type::pred || t == type::pred || size_of(declared) < size_of(t)) return false;
  return is_bits(declared) || ((is_bits(t) || is_integer(t)) && is_integer(declared));
}

/// The type of twice the width, for .wide.
constexpr type twice_as_wide(type t) {
  switch (t) {
    case type::u16: return type::u32;
    case type::s16: return type::s32;
    case type::u32: return type::u64;
    case type::s32: return type::s64;
    default: return type::none;
  }
}

}}}  // namespace nogpu::v1::ptx::detail
