#pragma once
/// The scalar types and state spaces of PTX.

#include <cstdint>
#include <string_view>

namespace nogpu { inline namespace v1 { namespace ptx {

/// A fundamental, packed or opaque type. `pred` is one truth value per thread.
enum class type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  f32,
  f64,
  f16x2,
  bf16x2,
  u16x2,
  s16x2,
  f32x2,
  tf32,
  e4m3x2,
  e5m2x2,
  // Elements of matrices, which no register is declared as.
  e4m3,
  e5m2,
  s4,
  u4,
  b1,
};

/// Bytes that a value takes in memory; 0 for `none` and for what is smaller than a byte, 1 for
/// `pred`.
constexpr std::uint32_t size_of(type t) {
  switch (t) {
    case type::none:
    case type::s4:
    case type::u4:
    case type::b1: return 0;
    case type::pred:
    case type::b8:
    case type::u8:
    case type::s8:
    case type::e4m3:
    case type::e5m2: return 1;
    case type::b16:
    case type::u16:
    case type::s16:
    case type::f16:
    case type::bf16:
    case type::e4m3x2:
    case type::e5m2x2: return 2;
    case type::b64:
    case type::u64:
    case type::s64:
    case type::f64:
    case type::f32x2: return 8;
    case type::b128: return 16;
    default: return 4;
  }
}

constexpr bool is_signed(type t) {
  return t == type::s8 || t == type::s16 || t == type::s32 || t == type::s64 || t == type::s16x2;
}
constexpr bool is_unsigned(type t) {
  return t == type::u8 || t == type::u16 || t == type::u32 || t == type::u64 || t == type::u16x2;
}
constexpr bool is_bits(type t) { return t >= type::b8 && t <= type::b128; }
constexpr bool is_floating(type t) {
  return (t >= type::f16 && t <= type::bf16x2) || (t >= type::f32x2 && t <= type::e5m2);
}

constexpr std::string_view name_of(type t) {
  constexpr std::string_view names[] = {
      "none", "pred",   "b8",     "b16",   "b32",    "b64",   "b128",  "u8",
      "u16",  "u32",    "u64",    "s8",    "s16",    "s32",   "s64",   "f16",
      "bf16", "f32",    "f64",    "f16x2", "bf16x2", "u16x2", "s16x2", "f32x2",
      "tf32", "e4m3x2", "e5m2x2", "e4m3",  "e5m2",   "s4",    "u4",    "b1"};
  return names[static_cast<std::uint8_t>(t)];
}

/// The state space of an address. `generic` is an address without a state space.
enum class state_space : std::uint8_t { generic, constant, global, local, param, shared, reg };

constexpr std::string_view name_of(state_space s) {
  constexpr std::string_view names[] = {"generic", "const",  "global", "local",
                                        "param",   "shared", "reg"};
  return names[static_cast<std::uint8_t>(s)];
}

}}}  // namespace nogpu::v1::ptx
