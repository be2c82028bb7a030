#pragma once
/// The predefined registers: %tid, %laneid, %clock64 and the like.

#include <cstdint>
#include <string_view>

#include <nogpu/ptx/types.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

/// The first seven (to `cluster_nctaid`) are vectors: an operand names a component x, y, z or w.
/// `envreg`, `pm` and `pm64` have an index, kept in the operand's `component`.
enum class special_register : std::uint8_t {
  tid,
  ntid,
  ctaid,
  nctaid,
  clusterid,
  nclusterid,
  cluster_ctaid,
  cluster_nctaid,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  dynamic_smem_size,
  total_smem_size,
  aggr_smem_size,
  reserved_smem_offset_begin,
  reserved_smem_offset_end,
  reserved_smem_offset_cap,
  reserved_smem_offset_0,
  reserved_smem_offset_1,
  current_graph_exec,
  envreg,
  pm,
  pm64,
};

constexpr bool is_vector(special_register r) { return r <= special_register::cluster_nctaid; }

namespace detail {

struct special_register_name {
  std::string_view name;  ///< without the %
  special_register which;
  type value_type;
};

/// %pm0 to %pm7, %pm0_64 to %pm7_64 and %envreg0 to %envreg31 have their number behind the name.
inline constexpr special_register_name special_register_names[] = {
    {"tid", special_register::tid, type::u32},
    {"ntid", special_register::ntid, type::u32},
    {"ctaid", special_register::ctaid, type::u32},
    {"nctaid", special_register::nctaid, type::u32},
    {"clusterid", special_register::clusterid, type::u32},
    {"nclusterid", special_register::nclusterid, type::u32},
    {"cluster_ctaid", special_register::cluster_ctaid, type::u32},
    {"cluster_nctaid", special_register::cluster_nctaid, type::u32},
    {"cluster_ctarank", special_register::cluster_ctarank, type::u32},
    {"cluster_nctarank", special_register::cluster_nctarank, type::u32},
    {"is_explicit_cluster", special_register::is_explicit_cluster, type::pred},
    {"laneid", special_register::laneid, type::u32},
    {"warpid", special_register::warpid, type::u32},
    {"nwarpid", special_register::nwarpid, type::u32},
    {"smid", special_register::smid, type::u32},
    {"nsmid", special_register::nsmid, type::u32},
    {"gridid", special_register::gridid, type::u64},
    {"lanemask_eq", special_register::lanemask_eq, type::u32},
    {"lanemask_le", special_register::lanemask_le, type::u32},
    {"lanemask_lt", special_register::lanemask_lt, type::u32},
    {"lanemask_ge", special_register::lanemask_ge, type::u32},
    {"lanemask_gt", special_register::lanemask_gt, type::u32},
    {"clock", special_register::clock, type::u32},
    {"clock_hi", special_register::clock_hi, type::u32},
    {"clock64", special_register::clock64, type::u64},
    {"globaltimer", special_register::globaltimer, type::u64},
    {"globaltimer_lo", special_register::globaltimer_lo, type::u32},
    {"globaltimer_hi", special_register::globaltimer_hi, type::u32},
    {"dynamic_smem_size", special_register::dynamic_smem_size, type::u32},
    {"total_smem_size", special_register::total_smem_size, type::u32},
    {"aggr_smem_size", special_register::aggr_smem_size, type::u32},
    {"reserved_smem_offset_begin", special_register::reserved_smem_offset_begin, type::b32},
    {"reserved_smem_offset_end", special_register::reserved_smem_offset_end, type::b32},
    {"reserved_smem_offset_cap", special_register::reserved_smem_offset_cap, type::b32},
    {"reserved_smem_offset_0", special_register::reserved_smem_offset_0, type::b32},
    {"reserved_smem_offset_1", special_register::reserved_smem_offset_1, type::b32},
    {"current_graph_exec", special_register::current_graph_exec, type::u64},
};

/// Finds the special register `name` (with its %). Returns false if it does not exist.
constexpr bool find_special_register(std::string_view name, special_register& which,
                                     type& value_type, std::uint8_t& number) {
  if (name.size() < 2 || name[0] != '%') return false;
  name.remove_prefix(1);
  number = 0;
  for (const special_register_name& row : special_register_names) {
    if (row.name != name) continue;
    which = row.which;
    value_type = row.value_type;
    return true;
  }
  const bool environment = name.starts_with("envreg");
  if (!environment && !name.starts_with("pm")) return false;
  name.remove_prefix(environment ? 6 : 2);
  const bool wide = !environment && name.ends_with("_64");
  if (wide) name.remove_suffix(3);
  if (name.empty() || name.size() > 2 || (name.size() == 2 && name[0] == '0')) return false;
  unsigned value = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  if (value >= (environment ? 32u : 8u)) return false;
  which = environment ? special_register::envreg
                      : (wide ? special_register::pm64 : special_register::pm);
  value_type = environment ? type::b32 : (wide ? type::u64 : type::u32);
  number = static_cast<std::uint8_t>(value);
  return true;
}

}  // namespace detail
}}}  // namespace nogpu::v1::ptx
