#pragma once
/// The predefined registers: %tid, %laneid, %clock64 and the like.

#include <cstdint>
#include <string_view>

namespace gpu::testing::ptx {

/// The first seven (to `cluster_nctaid`) are vectors: an operand names a component x, y, z or w.
/// `envreg` has an index, 0 to 31, kept in the operand's `component`.
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
  current_graph_exec,
  envreg,
  pm,
  pm64,
};

constexpr bool is_vector(special_register r) { return r <= special_register::cluster_nctaid; }

}  // namespace gpu::testing::ptx
