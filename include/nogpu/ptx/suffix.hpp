#pragma once
/// What a suffix of an instruction does to `modifiers`.

#include <cstdint>
#include <string_view>

#include <nogpu/ptx/modifiers.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

struct suffix {
  std::string_view group;
  std::string_view word;  ///< without the dot
  void (*apply)(modifiers&);
};

inline constexpr void (*no_effect)(modifiers&) = [](modifiers&) {};

template <auto Member, auto Value>
inline constexpr void (*set)(modifiers&) = [](modifiers& m) { m.*Member = Value; };

template <state_space Space>
inline constexpr void (*in_space)(modifiers&) = set<&modifiers::space, Space>;
inline constexpr void (*in_cluster)(modifiers&) = [](modifiers& m) {
  m.space = state_space::shared;
  m.cluster = true;
};
template <comparison Comparison>
inline constexpr void (*compares)(modifiers&) = set<&modifiers::compare, Comparison>;
template <operation Operation>
inline constexpr void (*does)(modifiers&) = set<&modifiers::op, Operation>;
template <map_field Field>
inline constexpr void (*changes)(modifiers&) = set<&modifiers::field, Field>;
template <memory_order Order>
inline constexpr void (*ordered)(modifiers&) = set<&modifiers::order, Order>;
template <cache_operator Cache>
inline constexpr void (*cached)(modifiers&) = set<&modifiers::cache, Cache>;

template <image_geometry Geometry>
inline constexpr void (*shaped)(modifiers&) = set<&modifiers::geometry, Geometry>;
template <image_query Query>
inline constexpr void (*asks)(modifiers&) = set<&modifiers::query, Query>;

template <rounding Mode> inline constexpr void (*rounds)(modifiers&) = set<&modifiers::round, Mode>;
template <rounding Mode>
inline constexpr void (*rounds_to_integer)(modifiers&) = [](modifiers& m) {
  m.round = Mode;
  m.round_to_integer = true;
};

template <std::uint8_t Bits, bool Signed>
inline constexpr void (*packs)(modifiers&) = [](modifiers& m) {
  m.packed_bits = Bits;
  m.packed_signed = Signed;
};

inline constexpr void (*in_order)(modifiers&) = [](modifiers& m) { m.sparse = m.ordered = true; };

template <std::uint16_t M, std::uint16_t N, std::uint16_t K>
inline constexpr void (*multiplies)(modifiers&) = [](modifiers& m) { m.shape = {M, N, K}; };

}}}  // namespace nogpu::v1::ptx::detail
