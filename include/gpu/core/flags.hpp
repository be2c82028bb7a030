#pragma once
/// \file
/// Bitwise operators for enumerations of flags.

#include <type_traits>

namespace gpu { inline namespace v1 {

/// Specialize as `true` for an `enum class` whose enumerators are bits.
template <class Enum> inline constexpr bool is_flag_set = false;

template <class Enum>
concept flag_set = std::is_enum_v<Enum> && is_flag_set<Enum>;

template <flag_set Enum> constexpr Enum operator|(Enum a, Enum b) noexcept {
  using bits = std::underlying_type_t<Enum>;
  return static_cast<Enum>(static_cast<bits>(a) | static_cast<bits>(b));
}
template <flag_set Enum> constexpr Enum operator&(Enum a, Enum b) noexcept {
  using bits = std::underlying_type_t<Enum>;
  return static_cast<Enum>(static_cast<bits>(a) & static_cast<bits>(b));
}
template <flag_set Enum> constexpr Enum& operator|=(Enum& a, Enum b) noexcept { return a = a | b; }

/// Returns whether `set` contains all bits of `wanted`.
template <flag_set Enum> constexpr bool has(Enum set, Enum wanted) noexcept {
  return (set & wanted) == wanted;
}

}}  // namespace gpu::v1
