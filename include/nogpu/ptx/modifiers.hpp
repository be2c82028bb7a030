#pragma once
/// The modifiers that the suffixes of an instruction state, except types.

#include <cstddef>
#include <cstdint>

#include <nogpu/ptx/arithmetic/rounding.hpp>
#include <nogpu/ptx/types.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

/// `.lo`, `.hi`, `.wide` of mul, mad and madc; `.lo`/`.hi` of mul24, mad24 and dp2a.
enum class product : std::uint8_t { none, lo, hi, wide };

/// Comparison of setp, set, slct and the video compare instructions. `lo`..`hs` are the unsigned
/// orderings, `equ`..`geu` hold when an operand is a NaN, `num`/`nan` test for one.
enum class comparison : std::uint8_t {
  none,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  lo,
  ls,
  hi,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan
};

/// The operation of atom, red, redux and bar.red; the Boolean operation that combines a comparison
/// with a predicate in setp and set; the second operation of the video instructions; the merge of a
/// multimem reduction.
enum class operation : std::uint8_t {
  none,
  add,
  inc,
  dec,
  min,
  max,
  and_,
  or_,
  xor_,
  cas,
  exch,
  popc
};

enum class shuffle_mode : std::uint8_t { none, up, down, bfly, idx };
/// vote takes all four, match takes `all` and `any`.
enum class vote_mode : std::uint8_t { none, all, any, uni, ballot };
enum class permute_mode : std::uint8_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };
enum class float_class : std::uint8_t {
  none,
  finite,
  infinite,
  number,
  not_a_number,
  normal,
  subnormal
};
/// `.clamp`/`.wrap` of shf, bmsk, szext and the video shifts.
enum class overflow_mode : std::uint8_t { none, clamp, wrap };
/// The part of the destination that the result of a scalar video instruction replaces; the rest
/// comes from c.
enum class merge_position : std::uint8_t { none, h0, h1, b0, b1, b2, b3 };

enum class memory_order : std::uint8_t {
  weak,
  volatile_,
  relaxed,
  acquire,
  release,
  acq_rel,
  sc,
  mmio
};
enum class memory_scope : std::uint8_t { none, cta, cluster, gpu, sys };
enum class cache_operator : std::uint8_t { none, ca, cg, cs, lu, cv, wb, wt };

/// The coordinates of a texture or surface instruction. `a` is a layer, which precedes them.
enum class image_geometry : std::uint8_t { none, d1, d2, d3, a1d, a2d, cube, acube };
/// Returns the number of coordinates, the layer included, of an instruction of this geometry.
constexpr std::size_t coordinates_of(image_geometry g) {
  switch (g) {
    case image_geometry::d1: return 1;
    case image_geometry::d2:
    case image_geometry::a1d: return 2;
    case image_geometry::acube: return 4;
    default: return 3;
  }
}

constexpr bool has_layer(image_geometry g) {
  return g == image_geometry::a1d || g == image_geometry::a2d || g == image_geometry::acube;
}

/// `.trap`, `.clamp`, `.zero` of the surface instructions: what is done outside the surface.
enum class surface_bounds : std::uint8_t { trap, clamp, zero };
/// The queries of txq and suq that drivers support for texture and surface objects.
enum class image_query : std::uint8_t { width, height, depth, other };

/// The field of a tensor map that tensormap.replace changes.
enum class map_field : std::uint8_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode
};

/// `.m16n8k16`: D and C have m x n elements, A has m x k, B has k x n. `m` is 0 without.
struct matrix_shape {
  std::uint16_t m = 0, n = 0, k = 0;
  friend constexpr bool operator==(const matrix_shape&, const matrix_shape&) = default;
};

/// All suffixes, each in one place. Fields that an instruction does not have keep their default.
/// Hints without effect on results (eviction priorities, L2 prefetch sizes, `.uni`, `.aligned`,
/// cache policies) are checked and dropped.
struct modifiers {
  rounding round = rounding::none;
  bool round_to_integer = false;  ///< .rni .rzi .rmi .rpi: `round` says which
  bool ftz = false;
  bool sat = false;
  bool satfinite = false;
  bool relu = false;
  bool packed_signed = false;    ///< .s4, .s2 of cvt.pack
  std::uint8_t packed_bits = 0;  ///< .u4, .s4, .u2, .s2 of cvt.pack
  bool oob = false;              ///< fma.oob
  bool approx = false;           ///< .approx
  bool full = false;             ///< div.full
  bool nan = false;              ///< .NaN of min and max
  bool xorsign_abs = false;      ///< .xorsign.abs of min and max
  bool abs = false;              ///< .abs of redux
  bool carry_out = false;        ///< .cc
  bool shift_amount = false;     ///< bfind.shiftamt
  bool post_increment = false;   ///< .po of vmad
  bool to = false;               ///< cvta.to: generic to space; without it, space to generic
  bool non_coherent = false;     ///< ld.global.nc
  bool no_ftz = false;           ///< .noftz of atom and red
  bool parity = false;           ///< mbarrier.test_wait.parity, try_wait.parity
  bool no_complete = false;      ///< mbarrier.arrive.noComplete
  bool expect_tx = false;        ///< mbarrier.arrive.expect_tx
  bool no_increment = false;     ///< cp.async.mbarrier.arrive.noinc
  bool sync = false;  ///< shfl.sync, vote.sync, match.sync: the last operand is a member mask
  product part = product::none;
  comparison compare = comparison::none;
  operation op = operation::none;
  shuffle_mode shuffle = shuffle_mode::none;
  vote_mode vote = vote_mode::none;
  permute_mode permute = permute_mode::index;
  float_class classify = float_class::none;
  overflow_mode overflow = overflow_mode::none;
  merge_position merge = merge_position::none;
  std::uint8_t shift_right = 0;  ///< .shr7, .shr15 of vmad
  state_space space = state_space::generic;
  state_space to_space = state_space::generic;  ///< destination space of cp.async
  memory_order order = memory_order::weak;
  memory_scope scope = memory_scope::none;
  cache_operator cache = cache_operator::none;
  std::uint8_t vector = 1;      ///< elements of .v2, .v4, .v8; 1 without
  bool global_hint = false;     ///< an L1 priority, prefetch size or cache policy
  bool cluster = false;         ///< .shared::cluster of an mbarrier instruction
  bool mask = false;            ///< pmevent.mask
  std::uint8_t dimensions = 0;  ///< .1d to .5d of a tensor
  bool im2col = false;          ///< .im2col, .im2col_no_offs
  bool multicast = false;       ///< .multicast::cluster
  map_field field = map_field::global_address;
  image_geometry geometry = image_geometry::none;
  std::uint8_t component = 0;  ///< .r, .g, .b, .a of tld4
  bool formatted = false;      ///< sust.p, sured.p: coordinates count texels, not bytes
  surface_bounds bounds = surface_bounds::trap;
  image_query query = image_query::width;
  matrix_shape shape;
  bool a_columns = false;   ///< the first of .row, .col: the matrix of a wmma.load, or A
  bool b_columns = false;   ///< the second: B
  bool transposed = false;  ///< .trans
  bool sparse = false;      ///< .sp: half of A is zeros, which are left out
  bool ordered = false;     ///< .sp::ordered_metadata
};

}}}  // namespace nogpu::v1::ptx
