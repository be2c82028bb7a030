#pragma once
/// The suffixes of instructions as data: what each word does to `modifiers`, and the groups in
/// which the instruction table allows them. A word may mean different things in different groups
/// (.lo is half a product or an unsigned comparison).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <gpu/testing/detail/ptx/modifiers.hpp>

namespace gpu::inline v0::testing::ptx::detail {

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

template <std::uint16_t M, std::uint16_t N, std::uint16_t K>
inline constexpr void (*multiplies)(modifiers&) = [](modifiers& m) { m.shape = {M, N, K}; };

/// Rows of one group stand together; an instruction takes at most one word of a group.
inline constexpr auto suffixes = std::to_array<suffix>({
    {"round", "rn", rounds<rounding::nearest_even>},
    {"round", "rz", rounds<rounding::toward_zero>},
    {"round", "rm", rounds<rounding::toward_negative>},
    {"round", "rp", rounds<rounding::toward_positive>},
    {"rn", "rn", rounds<rounding::nearest_even>},
    {"rna", "rna", rounds<rounding::nearest_away>},
    {"rn_rz", "rn", rounds<rounding::nearest_even>},
    {"rn_rz", "rz", rounds<rounding::toward_zero>},
    {"rint", "rni", rounds_to_integer<rounding::nearest_even>},
    {"rint", "rzi", rounds_to_integer<rounding::toward_zero>},
    {"rint", "rmi", rounds_to_integer<rounding::toward_negative>},
    {"rint", "rpi", rounds_to_integer<rounding::toward_positive>},
    {"ftz", "ftz", set<&modifiers::ftz, true>},
    {"sat", "sat", set<&modifiers::sat, true>},
    {"satfinite", "satfinite", set<&modifiers::satfinite, true>},
    {"narrow", "u4", packs<4, false>},
    {"narrow", "s4", packs<4, true>},
    {"narrow", "u2", packs<2, false>},
    {"narrow", "s2", packs<2, true>},
    {"relu", "relu", set<&modifiers::relu, true>},
    {"oob", "oob", set<&modifiers::oob, true>},
    {"approx", "approx", set<&modifiers::approx, true>},
    {"full", "full", set<&modifiers::full, true>},
    {"nan", "NaN", set<&modifiers::nan, true>},
    {"xorsign", "xorsign", set<&modifiers::xorsign_abs, true>},
    {"xorsign_abs", "abs", no_effect},
    {"noftz", "noftz", set<&modifiers::no_ftz, true>},
    {"cc", "cc", set<&modifiers::carry_out, true>},
    {"shiftamt", "shiftamt", set<&modifiers::shift_amount, true>},
    {"po", "po", set<&modifiers::post_increment, true>},
    {"shr", "shr7", set<&modifiers::shift_right, std::uint8_t{7}>},
    {"shr", "shr15", set<&modifiers::shift_right, std::uint8_t{15}>},

    {"part", "lo", set<&modifiers::part, product::lo>},
    {"part", "hi", set<&modifiers::part, product::hi>},
    {"hi", "hi", set<&modifiers::part, product::hi>},
    {"wide", "wide", set<&modifiers::part, product::wide>},
    {"overflow", "clamp", set<&modifiers::overflow, overflow_mode::clamp>},
    {"overflow", "wrap", set<&modifiers::overflow, overflow_mode::wrap>},

    {"equality", "eq", compares<comparison::eq>},
    {"equality", "ne", compares<comparison::ne>},
    {"compare_signed", "eq", compares<comparison::eq>},
    {"compare_signed", "ne", compares<comparison::ne>},
    {"compare_signed", "lt", compares<comparison::lt>},
    {"compare_signed", "le", compares<comparison::le>},
    {"compare_signed", "gt", compares<comparison::gt>},
    {"compare_signed", "ge", compares<comparison::ge>},
    {"compare_unsigned", "eq", compares<comparison::eq>},
    {"compare_unsigned", "ne", compares<comparison::ne>},
    {"compare_unsigned", "lt", compares<comparison::lt>},
    {"compare_unsigned", "le", compares<comparison::le>},
    {"compare_unsigned", "gt", compares<comparison::gt>},
    {"compare_unsigned", "ge", compares<comparison::ge>},
    {"compare_unsigned", "lo", compares<comparison::lo>},
    {"compare_unsigned", "ls", compares<comparison::ls>},
    {"compare_unsigned", "hi", compares<comparison::hi>},
    {"compare_unsigned", "hs", compares<comparison::hs>},
    {"compare_floating", "eq", compares<comparison::eq>},
    {"compare_floating", "ne", compares<comparison::ne>},
    {"compare_floating", "lt", compares<comparison::lt>},
    {"compare_floating", "le", compares<comparison::le>},
    {"compare_floating", "gt", compares<comparison::gt>},
    {"compare_floating", "ge", compares<comparison::ge>},
    {"compare_floating", "equ", compares<comparison::equ>},
    {"compare_floating", "neu", compares<comparison::neu>},
    {"compare_floating", "ltu", compares<comparison::ltu>},
    {"compare_floating", "leu", compares<comparison::leu>},
    {"compare_floating", "gtu", compares<comparison::gtu>},
    {"compare_floating", "geu", compares<comparison::geu>},
    {"compare_floating", "num", compares<comparison::num>},
    {"compare_floating", "nan", compares<comparison::nan>},

    {"boolean", "and", does<operation::and_>},
    {"boolean", "or", does<operation::or_>},
    {"boolean", "xor", does<operation::xor_>},
    {"and_or", "and", does<operation::and_>},
    {"and_or", "or", does<operation::or_>},
    {"popc", "popc", does<operation::popc>},
    {"add", "add", does<operation::add>},
    {"min_max", "min", does<operation::min>},
    {"min_max", "max", does<operation::max>},
    {"reduction", "add", does<operation::add>},
    {"reduction", "min", does<operation::min>},
    {"reduction", "max", does<operation::max>},
    {"reduction", "and", does<operation::and_>},
    {"reduction", "or", does<operation::or_>},
    {"inc_dec", "inc", does<operation::inc>},
    {"inc_dec", "dec", does<operation::dec>},
    {"exch", "exch", does<operation::exch>},
    {"cas", "cas", does<operation::cas>},
    {"second", "add", does<operation::add>},
    {"second", "min", does<operation::min>},
    {"second", "max", does<operation::max>},

    {"shuffle", "up", set<&modifiers::shuffle, shuffle_mode::up>},
    {"shuffle", "down", set<&modifiers::shuffle, shuffle_mode::down>},
    {"shuffle", "bfly", set<&modifiers::shuffle, shuffle_mode::bfly>},
    {"shuffle", "idx", set<&modifiers::shuffle, shuffle_mode::idx>},
    {"vote", "all", set<&modifiers::vote, vote_mode::all>},
    {"vote", "any", set<&modifiers::vote, vote_mode::any>},
    {"vote", "uni", set<&modifiers::vote, vote_mode::uni>},
    {"ballot", "ballot", set<&modifiers::vote, vote_mode::ballot>},
    {"any", "any", set<&modifiers::vote, vote_mode::any>},
    {"all", "all", set<&modifiers::vote, vote_mode::all>},
    {"sync", "sync", set<&modifiers::sync, true>},
    {"permute", "f4e", set<&modifiers::permute, permute_mode::f4e>},
    {"permute", "b4e", set<&modifiers::permute, permute_mode::b4e>},
    {"permute", "rc8", set<&modifiers::permute, permute_mode::rc8>},
    {"permute", "ecl", set<&modifiers::permute, permute_mode::ecl>},
    {"permute", "ecr", set<&modifiers::permute, permute_mode::ecr>},
    {"permute", "rc16", set<&modifiers::permute, permute_mode::rc16>},
    {"classify", "finite", set<&modifiers::classify, float_class::finite>},
    {"classify", "infinite", set<&modifiers::classify, float_class::infinite>},
    {"classify", "number", set<&modifiers::classify, float_class::number>},
    {"classify", "notanumber", set<&modifiers::classify, float_class::not_a_number>},
    {"classify", "normal", set<&modifiers::classify, float_class::normal>},
    {"classify", "subnormal", set<&modifiers::classify, float_class::subnormal>},

    {"load_space", "const", in_space<state_space::constant>},
    {"load_space", "global", in_space<state_space::global>},
    {"load_space", "local", in_space<state_space::local>},
    {"load_space", "param", in_space<state_space::param>},
    {"load_space", "param::entry", in_space<state_space::param>},
    {"load_space", "param::func", in_space<state_space::param>},
    {"load_space", "shared", in_space<state_space::shared>},
    {"load_space", "shared::cta", in_space<state_space::shared>},
    {"load_space", "shared::cluster", in_space<state_space::shared>},
    {"store_space", "global", in_space<state_space::global>},
    {"store_space", "local", in_space<state_space::local>},
    {"store_space", "param", in_space<state_space::param>},
    {"store_space", "param::func", in_space<state_space::param>},
    {"store_space", "shared", in_space<state_space::shared>},
    {"store_space", "shared::cta", in_space<state_space::shared>},
    {"store_space", "shared::cluster", in_space<state_space::shared>},
    {"atomic_space", "global", in_space<state_space::global>},
    {"atomic_space", "shared", in_space<state_space::shared>},
    {"atomic_space", "shared::cta", in_space<state_space::shared>},
    {"atomic_space", "shared::cluster", in_space<state_space::shared>},
    {"cached_space", "global", in_space<state_space::global>},
    {"cached_space", "local", in_space<state_space::local>},
    {"global", "global", in_space<state_space::global>},
    {"shared", "shared", in_space<state_space::shared>},
    {"shared", "shared::cta", in_space<state_space::shared>},
    {"shared", "shared::cluster", in_cluster},
    {"to_shared", "shared", set<&modifiers::to_space, state_space::shared>},
    {"to_shared", "shared::cta", set<&modifiers::to_space, state_space::shared>},
    {"to", "to", set<&modifiers::to, true>},

    {"load_order", "weak", ordered<memory_order::weak>},
    {"load_order", "relaxed", ordered<memory_order::relaxed>},
    {"load_order", "acquire", ordered<memory_order::acquire>},
    {"load_order", "volatile", ordered<memory_order::volatile_>},
    {"store_order", "weak", ordered<memory_order::weak>},
    {"store_order", "relaxed", ordered<memory_order::relaxed>},
    {"store_order", "release", ordered<memory_order::release>},
    {"store_order", "volatile", ordered<memory_order::volatile_>},
    {"mmio", "mmio", ordered<memory_order::mmio>},
    {"mmio_relaxed", "relaxed", no_effect},
    {"red_order", "relaxed", ordered<memory_order::relaxed>},
    {"red_order", "release", ordered<memory_order::release>},
    {"atomic_order", "relaxed", ordered<memory_order::relaxed>},
    {"atomic_order", "acquire", ordered<memory_order::acquire>},
    {"atomic_order", "release", ordered<memory_order::release>},
    {"atomic_order", "acq_rel", ordered<memory_order::acq_rel>},
    {"fence_order", "acquire", ordered<memory_order::acquire>},
    {"fence_order", "release", ordered<memory_order::release>},
    {"fence_order", "acq_rel", ordered<memory_order::acq_rel>},
    {"fence_order", "sc", ordered<memory_order::sc>},
    {"scope", "cta", set<&modifiers::scope, memory_scope::cta>},
    {"scope", "cluster", set<&modifiers::scope, memory_scope::cluster>},
    {"scope", "gpu", set<&modifiers::scope, memory_scope::gpu>},
    {"scope", "sys", set<&modifiers::scope, memory_scope::sys>},
    {"membar_scope", "cta", set<&modifiers::scope, memory_scope::cta>},
    {"membar_scope", "gl", set<&modifiers::scope, memory_scope::gpu>},
    {"membar_scope", "sys", set<&modifiers::scope, memory_scope::sys>},

    {"nc", "nc", set<&modifiers::non_coherent, true>},
    {"load_cache", "ca", cached<cache_operator::ca>},
    {"load_cache", "cg", cached<cache_operator::cg>},
    {"load_cache", "cs", cached<cache_operator::cs>},
    {"load_cache", "lu", cached<cache_operator::lu>},
    {"load_cache", "cv", cached<cache_operator::cv>},
    {"store_cache", "wb", cached<cache_operator::wb>},
    {"store_cache", "cg", cached<cache_operator::cg>},
    {"store_cache", "cs", cached<cache_operator::cs>},
    {"store_cache", "wt", cached<cache_operator::wt>},
    {"ca_cg", "ca", cached<cache_operator::ca>},
    {"ca_cg", "cg", cached<cache_operator::cg>},
    {"evict_1", "L1::evict_normal", set<&modifiers::global_hint, true>},
    {"evict_1", "L1::evict_unchanged", set<&modifiers::global_hint, true>},
    {"evict_1", "L1::evict_first", set<&modifiers::global_hint, true>},
    {"evict_1", "L1::evict_last", set<&modifiers::global_hint, true>},
    {"evict_1", "L1::no_allocate", set<&modifiers::global_hint, true>},
    {"evict_normal", "L2::evict_normal", no_effect},
    {"hint", "L2::cache_hint", set<&modifiers::global_hint, true>},
    {"prefetch_size", "L2::64B", set<&modifiers::global_hint, true>},
    {"prefetch_size", "L2::128B", set<&modifiers::global_hint, true>},
    {"prefetch_size", "L2::256B", set<&modifiers::global_hint, true>},
    {"prefetch_level", "L1", no_effect},
    {"prefetch_level", "L2", no_effect},
    {"prefetch_level", "L2::evict_last", no_effect},
    {"prefetch_level", "L2::evict_normal", no_effect},
    {"prefetch_level", "L1::evict_normal", no_effect},
    {"l2", "L2", no_effect},
    {"primary", "L2::evict_last", no_effect},
    {"primary", "L2::evict_normal", no_effect},
    {"primary", "L2::evict_first", no_effect},
    {"primary", "L2::evict_unchanged", no_effect},
    {"secondary", "L2::evict_first", no_effect},
    {"secondary", "L2::evict_unchanged", no_effect},

    {"vector", "v2", set<&modifiers::vector, std::uint8_t{2}>},
    {"vector", "v4", set<&modifiers::vector, std::uint8_t{4}>},
    {"vector", "v8", set<&modifiers::vector, std::uint8_t{8}>},

    {"base", "base", no_effect},
    {"geometry", "1d", shaped<image_geometry::d1>},
    {"geometry", "2d", shaped<image_geometry::d2>},
    {"geometry", "3d", shaped<image_geometry::d3>},
    {"geometry", "a1d", shaped<image_geometry::a1d>},
    {"geometry", "a2d", shaped<image_geometry::a2d>},
    {"geometry", "cube", shaped<image_geometry::cube>},
    {"geometry", "acube", shaped<image_geometry::acube>},
    {"gather_geometry", "2d", shaped<image_geometry::d2>},
    {"gather_geometry", "a2d", shaped<image_geometry::a2d>},
    {"gather_geometry", "cube", shaped<image_geometry::cube>},
    {"gather_geometry", "acube", shaped<image_geometry::acube>},
    {"surface_geometry", "1d", shaped<image_geometry::d1>},
    {"surface_geometry", "2d", shaped<image_geometry::d2>},
    {"surface_geometry", "3d", shaped<image_geometry::d3>},
    {"surface_geometry", "a1d", shaped<image_geometry::a1d>},
    {"surface_geometry", "a2d", shaped<image_geometry::a2d>},
    {"flat_geometry", "1d", shaped<image_geometry::d1>},
    {"flat_geometry", "2d", shaped<image_geometry::d2>},
    {"flat_geometry", "3d", shaped<image_geometry::d3>},
    {"component", "r", set<&modifiers::component, std::uint8_t{0}>},
    {"component", "g", set<&modifiers::component, std::uint8_t{1}>},
    {"component", "b", set<&modifiers::component, std::uint8_t{2}>},
    {"component", "a", set<&modifiers::component, std::uint8_t{3}>},
    {"texture_query", "width", asks<image_query::width>},
    {"texture_query", "height", asks<image_query::height>},
    {"texture_query", "depth", asks<image_query::depth>},
    {"texture_query", "channel_data_type", asks<image_query::other>},
    {"texture_query", "channel_order", asks<image_query::other>},
    {"texture_query", "normalized_coords", asks<image_query::other>},
    {"texture_query", "force_unnormalized_coords", asks<image_query::other>},
    {"texture_query", "filter_mode", asks<image_query::other>},
    {"texture_query", "addr_mode_0", asks<image_query::other>},
    {"texture_query", "addr_mode_1", asks<image_query::other>},
    {"texture_query", "addr_mode_2", asks<image_query::other>},
    {"texture_query", "num_mipmap_levels", asks<image_query::other>},
    {"texture_query", "num_samples", asks<image_query::other>},
    {"texture_query", "array_size", asks<image_query::other>},
    {"level_query", "width", asks<image_query::width>},
    {"level_query", "height", asks<image_query::height>},
    {"level_query", "depth", asks<image_query::depth>},
    {"surface_query", "width", asks<image_query::width>},
    {"surface_query", "height", asks<image_query::height>},
    {"surface_query", "depth", asks<image_query::depth>},
    {"surface_query", "channel_data_type", asks<image_query::other>},
    {"surface_query", "channel_order", asks<image_query::other>},
    {"surface_query", "array_size", asks<image_query::other>},
    {"surface_query", "memory_layout", asks<image_query::other>},
    {"reference", "texref", no_effect},
    {"reference", "samplerref", no_effect},
    {"reference", "surfref", no_effect},
    {"bytes", "b", no_effect},
    {"texels", "p", set<&modifiers::formatted, true>},
    {"bounds", "trap", set<&modifiers::bounds, surface_bounds::trap>},
    {"bounds", "clamp", set<&modifiers::bounds, surface_bounds::clamp>},
    {"bounds", "zero", set<&modifiers::bounds, surface_bounds::zero>},

    {"m8n8k4", "m8n8k4", multiplies<8, 8, 4>},
    {"m8n8k16", "m8n8k16", multiplies<8, 8, 16>},
    {"m8n8k32", "m8n8k32", multiplies<8, 8, 32>},
    {"m8n8k128", "m8n8k128", multiplies<8, 8, 128>},
    {"m16n8k4", "m16n8k4", multiplies<16, 8, 4>},
    {"m16n8k8", "m16n8k8", multiplies<16, 8, 8>},
    {"m16n8k16", "m16n8k16", multiplies<16, 8, 16>},
    {"m16n8k32", "m16n8k32", multiplies<16, 8, 32>},
    {"m16n8k64", "m16n8k64", multiplies<16, 8, 64>},
    {"m16n8k128", "m16n8k128", multiplies<16, 8, 128>},
    {"m16n8k256", "m16n8k256", multiplies<16, 8, 256>},
    {"m16n16k8", "m16n16k8", multiplies<16, 16, 8>},
    {"tile", "m16n16k16", multiplies<16, 16, 16>},
    {"tile", "m8n32k16", multiplies<8, 32, 16>},
    {"tile", "m32n8k16", multiplies<32, 8, 16>},
    {"a_layout", "row", set<&modifiers::a_columns, false>},
    {"a_layout", "col", set<&modifiers::a_columns, true>},
    {"b_layout", "row", set<&modifiers::b_columns, false>},
    {"b_layout", "col", set<&modifiers::b_columns, true>},
    {"and_xor", "and", does<operation::and_>},
    {"and_xor", "xor", does<operation::xor_>},
    {"counted", "popc", no_effect},
    {"m8n8", "m8n8", no_effect},
    {"matrices", "x1", set<&modifiers::vector, std::uint8_t{1}>},
    {"matrices", "x2", set<&modifiers::vector, std::uint8_t{2}>},
    {"matrices", "x4", set<&modifiers::vector, std::uint8_t{4}>},
    {"transposed", "trans", set<&modifiers::transposed, true>},
    {"block_shared", "shared", in_space<state_space::shared>},
    {"block_shared", "shared::cta", in_space<state_space::shared>},
    {"matrix_space", "global", in_space<state_space::global>},
    {"matrix_space", "shared", in_space<state_space::shared>},
    {"matrix_space", "shared::cta", in_space<state_space::shared>},

    {"aligned", "aligned", no_effect},
    {"uniform", "uni", no_effect},
    {"parity", "parity", set<&modifiers::parity, true>},
    {"nocomplete", "noComplete", set<&modifiers::no_complete, true>},
    {"expect_tx", "expect_tx", set<&modifiers::expect_tx, true>},
    {"noinc", "noinc", set<&modifiers::no_increment, true>},
    {"cluster_arrive_order", "release", ordered<memory_order::release>},
    {"cluster_arrive_order", "relaxed", ordered<memory_order::relaxed>},
    {"cluster_wait_order", "acquire", ordered<memory_order::acquire>},
    {"proxy", "alias", no_effect},
    {"proxy", "async", no_effect},
    {"proxy_space", "global", no_effect},
    {"proxy_space", "shared::cta", no_effect},
    {"proxy_space", "shared::cluster", no_effect},
    {"mask", "mask", set<&modifiers::mask, true>},
    {"inc_or_dec_registers", "inc", no_effect},
    {"inc_or_dec_registers", "dec", no_effect},
});

}  // namespace gpu::inline v0::testing::ptx::detail
