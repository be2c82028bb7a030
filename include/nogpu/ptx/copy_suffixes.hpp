#pragma once
/// The suffixes of asynchronous copies, stores and reductions, and of tensor maps.

#include <cstdint>

#include <nogpu/ptx/suffix.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

inline constexpr suffix copy_suffixes[] = {
    {"to_shared", "shared", set<&modifiers::to_space, state_space::shared>},
    {"to_shared", "shared::cta", set<&modifiers::to_space, state_space::shared>},
    {"to_block", "shared::cluster", set<&modifiers::to_space, state_space::shared>},
    {"to_block", "shared::cta", set<&modifiers::to_space, state_space::shared>},
    {"to_cluster", "shared::cluster", set<&modifiers::to_space, state_space::shared>},
    {"multicast", "multicast::cluster", set<&modifiers::multicast, true>},
    {"to_memory", "global", set<&modifiers::to_space, state_space::global>},
    {"from_block", "shared::cta", in_space<state_space::shared>},
    {"completes", "mbarrier::complete_tx::bytes", no_effect},
    {"bulk_group", "bulk_group", no_effect},
    {"weak", "weak", no_effect},
    {"relaxed", "relaxed", ordered<memory_order::relaxed>},
    {"in_scope", "cluster", set<&modifiers::scope, memory_scope::cluster>},
    {"in_cluster", "shared::cluster", in_space<state_space::shared>},
    {"read", "read", no_effect},
    {"tensor", "1d", set<&modifiers::dimensions, std::uint8_t{1}>},
    {"tensor", "2d", set<&modifiers::dimensions, std::uint8_t{2}>},
    {"tensor", "3d", set<&modifiers::dimensions, std::uint8_t{3}>},
    {"tensor", "4d", set<&modifiers::dimensions, std::uint8_t{4}>},
    {"tensor", "5d", set<&modifiers::dimensions, std::uint8_t{5}>},
    {"images", "3d", set<&modifiers::dimensions, std::uint8_t{3}>},
    {"images", "4d", set<&modifiers::dimensions, std::uint8_t{4}>},
    {"images", "5d", set<&modifiers::dimensions, std::uint8_t{5}>},
    {"tiles", "tile", no_effect},
    {"im2col", "im2col", set<&modifiers::im2col, true>},
    {"im2col_no_offs", "im2col_no_offs", set<&modifiers::im2col, true>},
    {"map_address", "global_address", changes<map_field::global_address>},
    {"map_rank", "rank", changes<map_field::rank>},
    {"map_dimension", "box_dim", changes<map_field::box_dim>},
    {"map_dimension", "global_dim", changes<map_field::global_dim>},
    {"map_dimension", "element_stride", changes<map_field::element_stride>},
    {"map_stride", "global_stride", changes<map_field::global_stride>},
    {"map_setting", "elemtype", changes<map_field::elemtype>},
    {"map_setting", "interleave_layout", changes<map_field::interleave_layout>},
    {"map_setting", "swizzle_mode", changes<map_field::swizzle_mode>},
    {"map_setting", "fill_mode", changes<map_field::fill_mode>},
    {"map_space", "global", in_space<state_space::global>},
    {"map_space", "shared::cta", in_space<state_space::shared>},
    {"map_size", "b1024", no_effect},
    {"map_proxy", "tensormap::generic", no_effect},
    {"releases", "release", no_effect},
    {"bulk_reduction", "add", does<operation::add>},
    {"bulk_reduction", "min", does<operation::min>},
    {"bulk_reduction", "max", does<operation::max>},
    {"bulk_reduction", "inc", does<operation::inc>},
    {"bulk_reduction", "dec", does<operation::dec>},
    {"bulk_reduction", "and", does<operation::and_>},
    {"bulk_reduction", "or", does<operation::or_>},
    {"bulk_reduction", "xor", does<operation::xor_>},
};

}}}  // namespace nogpu::v1::ptx::detail
