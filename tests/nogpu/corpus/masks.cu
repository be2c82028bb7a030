// Lanes outside of the member mask: read by a shuffle, or executing without being named. The manual
// leaves the results open; these are the ones of the recorded device.
#include "corpus.cuh"

// With the mask in a register ("r") or in the instruction ("n").
#define SHFL(k, mode, v, b, c, kind, mask)                                         \
  {                                                                                \
    u32 d, inside;                                                                 \
    asm volatile("{ .reg .pred p; shfl.sync." mode ".b32 %0|p, %2, %3, " c ", %4;" \
                 " selp.u32 %1, 1, 0, p; }"                                        \
                 : "=r"(d), "=r"(inside)                                           \
                 : "r"(v), "r"(b), kind(mask));                                    \
    out[32 * k + lane] = d | inside << 31;                                         \
  }
#define SHUFFLES(v, kind, mask)                        \
  SHFL(0, "down", v, 16u, "31", kind, mask)            \
  SHFL(1, "down", v, 3u, "31", kind, mask)             \
  SHFL(2, "up", v, 5u, "0", kind, mask)                \
  SHFL(3, "bfly", v, 16u, "31", kind, mask)            \
  SHFL(4, "bfly", v, 1u, "31", kind, mask)             \
  SHFL(5, "idx", v, (lane * 7 + 11), "31", kind, mask) \
  SHFL(6, "down", v, 4u, "0x101f", kind, mask)         \
  SHFL(7, "idx", v, 20u, "0x181f", kind, mask)

/// Under a predicate.
#define SHFLP(k, mode, v, b, c, mask, when)                                                       \
  {                                                                                               \
    u32 d = 0x77, inside = 2;                                                                     \
    asm volatile("{ .reg .pred p, q; setp.ne.u32 q, %5, 0;"                                       \
                 " @q shfl.sync." mode ".b32 %0|p, %2, %3, " c ", %4; @q selp.u32 %1, 1, 0, p; }" \
                 : "+r"(d), "+r"(inside)                                                          \
                 : "r"(v), "r"(b), "r"(mask), "r"(when));                                         \
    out[32 * k + lane] = d | inside << 30;                                                        \
  }

//! shuffle_branch grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_branch) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane < 8) { SHUFFLES(v, "r", 0xffu) }
}

//! shuffle_branch_constant grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_branch_constant) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane < 8) { SHUFFLES(v, "n", 0xff) }
}

// The value is computed in the branch.
//! shuffle_branch_computed grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_branch_computed) {
  const u32 lane = threadIdx.x;
  u32 v = 0x1000 + in[lane];
  if (lane < 8) {
    v = v * 3 + in[lane + 1];
    SHUFFLES(v, "r", 0xffu)
  }
}

//! shuffle_branch_ballot grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_branch_ballot) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  const u32 mask = __ballot_sync(0xffffffff, lane < 8);
  if (lane < 8) { SHUFFLES(v, "r", mask) }
}

//! shuffle_third grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_third) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane % 3 == 0) { SHUFFLES(v, "r", 0x49249249u) }
}

// The other lanes are in the other branch.
//! shuffle_others_busy grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_others_busy) {
  const u32 lane = threadIdx.x;
  u32 v = 0x1000 + in[lane];
  if (lane % 3 == 0) {
    SHUFFLES(v, "r", 0x49249249u)
  } else {
    for (u32 k = 0; k < v % 16 + 2; ++k) v = v * 5 + in[k % 32];
    out[lane] = v;
  }
}

//! shuffle_two_sides grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_two_sides) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane & 1) {
    SHUFFLES(v, "r", 0xaaaaaaaau)
  } else {
    SHUFFLES(v, "r", 0x55555555u)
  }
}

// One instruction, several masks.
//! shuffle_masks_differ grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_masks_differ) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  const u32 mask = lane < 8 ? 0xffu : 0xffffff00u;
  SHUFFLES(v, "r", mask)
}

//! shuffle_masks_alternate grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_masks_alternate) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  const u32 mask = lane & 1 ? 0xaaaaaaaau : 0x55555555u;
  SHUFFLES(v, "r", mask)
}

// Lanes that have exited, and that the mask leaves out.
//! shuffle_exited grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_exited) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane >= 20) return;
  SHUFFLES(v, "r", 0xfffffu)
}

// The mask names lanes that have exited.
//! shuffle_exited_named grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_exited_named) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane >= 20) return;
  SHUFFLES(v, "r", 0xffffffffu)
}

//! shuffle_exited_named_constant grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_exited_named_constant) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane % 3 == 1) return;
  SHUFFLES(v, "n", 0xffffffff)
}

// Lanes that the block does not have.
//! shuffle_never_there grid=1 block=20 in=64 out=256 input=small compare=exact
KERNEL(shuffle_never_there) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  SHUFFLES(v, "r", 0xfffffu)
}

//! shuffle_never_there_named grid=1 block=20 in=64 out=256 input=small compare=exact
KERNEL(shuffle_never_there_named) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  SHUFFLES(v, "n", 0xffffffff)
}

//! shuffle_predicated grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_predicated) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane], q = in[lane] < 0xabc && lane % 3 == 0;
  const u32 mask = 0x49249249u;
  SHFLP(0, "down", v, 16u, "31", mask, q)
  SHFLP(1, "down", v, 3u, "31", mask, q)
  SHFLP(2, "up", v, 5u, "0", mask, q)
  SHFLP(3, "bfly", v, 16u, "31", mask, q)
  SHFLP(4, "bfly", v, 1u, "31", mask, q)
  SHFLP(5, "idx", v, (lane * 7 + 11), "31", mask, q)
  SHFLP(6, "down", v, 4u, "0x101f", mask, q)
  SHFLP(7, "idx", v, 20u, "0x181f", mask, q)
}

// All lanes come to one of two instructions with the same mask.
//! shuffle_together grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_together) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  u32 d;
  if (lane & 1) {
    asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(d) : "r"(v * 3));
    d += 5;
  } else {
    asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(d) : "r"(v + 7));
  }
  out[lane] = d;
  if (lane < 11) {
    d = __reduce_add_sync(0xffffffff, v) + 1;
  } else {
    d = __reduce_add_sync(0xffffffff, v * 2);
  }
  out[32 + lane] = d;
  if (lane < 11) {
    d = __ballot_sync(0xffffffff, v & 1) + 1;
  } else {
    d = __ballot_sync(0xffffffff, v & 2);
  }
  out[64 + lane] = d;
  if (lane < 11) {
    d = __match_any_sync(0xffffffff, v & 7) ^ 1;
  } else {
    d = __match_any_sync(0xffffffff, v & 3);
  }
  out[96 + lane] = d;
}

// A reduction over more lanes than take part, as in reductions of whole blocks.
//! shuffle_wide_outside grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(shuffle_wide_outside) {
  const u32 lane = threadIdx.x;
  u64 v = 0x100000000000ull + in[lane] * 0x1000001ull;
  if (lane < 8) {
    const u32 mask = 0xff;
    for (s32 k = 16; k > 0; k /= 2) v += __shfl_down_sync(mask, v, static_cast<u32>(k));
    out[2 * lane] = static_cast<u32>(v);
    out[2 * lane + 1] = static_cast<u32>(v >> 32);
  }
}

#define VOTES(v, mask)                                                                       \
  {                                                                                          \
    const u32 ballot = __ballot_sync(mask, v & 1);                                           \
    const u32 any = static_cast<u32>(__any_sync(mask, (v & 7) == 7));                        \
    const u32 every = static_cast<u32>(__all_sync(mask, v > 2));                             \
    u32 uniform, nobody;                                                                     \
    asm volatile(                                                                            \
        "{ .reg .pred p, q; setp.gt.u32 p, %2, 2; vote.sync.uni.pred q, p, %3;"              \
        " selp.u32 %0, 1, 0, q; setp.gt.u32 p, %2, 0x700000; vote.sync.uni.pred q, p, %3;"   \
        " selp.u32 %1, 1, 0, q; }"                                                           \
        : "=r"(uniform), "=r"(nobody)                                                        \
        : "r"(v), "r"(mask));                                                                \
    s32 same, other;                                                                         \
    out[lane] = ballot;                                                                      \
    out[32 + lane] = any | every << 1 | uniform << 2 | nobody << 3;                          \
    out[64 + lane] = __match_any_sync(mask, v % 5);                                          \
    out[96 + lane] = __match_all_sync(mask, v & 0x1000, &same);                              \
    out[96 + lane] ^= __match_all_sync(mask, v % 5, &other);                                 \
    out[128 + lane] = static_cast<u32>(same) | static_cast<u32>(other) << 1;                 \
    out[160 + lane] = __reduce_add_sync(mask, v);                                            \
    out[192 + lane] = __reduce_min_sync(mask, v);                                            \
    out[192 + lane] ^= static_cast<u32>(__reduce_max_sync(mask, static_cast<s32>(v))) << 16; \
    out[224 + lane] = __reduce_and_sync(mask, v) ^ __reduce_or_sync(mask, v) << 8;           \
    out[224 + lane] ^= __reduce_xor_sync(mask, v) << 16;                                     \
  }

//! votes_branch grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(votes_branch) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane < 8) VOTES(v, 0xffu)
}

//! votes_others_busy grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(votes_others_busy) {
  const u32 lane = threadIdx.x;
  u32 v = 0x1000 + in[lane];
  if (lane % 3 == 0) VOTES(v, 0x49249249u)
  else {
    for (u32 k = 0; k < v % 16 + 2; ++k) v = v * 5 + in[k % 32];
    out[lane] = v;
  }
}

//! votes_two_sides grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(votes_two_sides) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane & 1) VOTES(v, 0xaaaaaaaau) else VOTES(v, 0x55555555u)
}

//! votes_masks_differ grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(votes_masks_differ) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  const u32 mask = lane % 3 == 0 ? 0x49249249u : ~0x49249249u;
  VOTES(v, mask)
}

//! votes_exited grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(votes_exited) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane % 3 == 1) return;
  VOTES(v, ~0x92492492u)
}

//! votes_exited_named grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(votes_exited_named) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane % 3 == 1) return;
  VOTES(v, 0xffffffffu)
}

//! votes_exited_named_variable grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(votes_exited_named_variable) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  const u32 mask = in[lane] > 0xabc ? 0 : 0xffffffffu;
  if (lane % 3 == 1) return;
  VOTES(v, mask)
}

//! votes_never_there_named grid=1 block=20 in=64 out=256 input=small compare=exact
KERNEL(votes_never_there_named) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  VOTES(v, 0xffffffffu)
}

//! votes_never_there grid=1 block=20 in=64 out=256 input=small compare=exact
KERNEL(votes_never_there) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  VOTES(v, 0xfffffu)
}

//! elect_exited grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(elect_exited) {
  const u32 lane = threadIdx.x;
  if (lane % 3 == 0) return;
  u32 leader, chosen;
  asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p; }"
               : "=r"(leader), "=r"(chosen));
  out[lane] = leader | chosen << 8;
}

//! elect_two_sides grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(elect_two_sides) {
  const u32 lane = threadIdx.x;
  u32 leader, chosen;
  if (lane % 3 == 0)
    asm volatile("{ .reg .pred p; elect.sync %0|p, 0x49249249; selp.u32 %1, 1, 0, p; }"
                 : "=r"(leader), "=r"(chosen));
  else
    asm volatile("{ .reg .pred p; elect.sync %0|p, 0xb6db6db6; selp.u32 %1, 1, 0, p; }"
                 : "=r"(leader), "=r"(chosen));
  out[lane] = leader | chosen << 8;
}

//! unnamed_shuffle grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_shuffle) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  SHUFFLES(v, "n", 0xff)
}

//! unnamed_shuffle_variable grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_shuffle_variable) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane], mask = 0xff + (in[40] >> 8);
  SHUFFLES(v, "r", mask)
}

//! unnamed_shuffle_branch grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_shuffle_branch) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane < 8) { SHUFFLES(v, "n", 0xf0) }
}

//! unnamed_shuffle_branch_none grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_shuffle_branch_none) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  if (lane < 8) { SHUFFLES(v, "n", 0xff00) }
}

//! unnamed_shuffle_empty_mask grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_shuffle_empty_mask) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  SHUFFLES(v, "n", 0)
}

//! unnamed_vote grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_vote) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  out[lane] = __ballot_sync(0xff, v & 1);
  out[32 + lane] = __any_sync(0xff, (v & 7) == 7);
  out[64 + lane] = __all_sync(0xff, v > 2);
}

//! unnamed_vote_variable grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_vote_variable) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane], mask = 0xff + (in[40] >> 8);
  out[lane] = __ballot_sync(mask, v & 1);
}

//! unnamed_match grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_match) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  out[lane] = __match_any_sync(0xff, v % 5);
}

//! unnamed_match_variable grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_match_variable) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane], mask = 0xff + (in[40] >> 8);
  out[lane] = __match_any_sync(mask, v % 5);
}

//! unnamed_reduction grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_reduction) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane];
  out[lane] = __reduce_add_sync(0xff, v);
}

//! unnamed_reduction_variable grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_reduction_variable) {
  const u32 lane = threadIdx.x, v = 0x1000 + in[lane], mask = 0xff + (in[40] >> 8);
  out[lane] = __reduce_add_sync(mask, v);
}

//! unnamed_barrier grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_barrier) { __syncwarp(0xff); out[threadIdx.x] = 1; }

//! unnamed_barrier_variable grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_barrier_variable) { __syncwarp(0xff + (in[40] >> 8)); out[threadIdx.x] = 1; }

//! unnamed_elect grid=1 block=32 in=64 out=256 input=small compare=exact
KERNEL(unnamed_elect) {
  u32 leader;
  asm volatile("{ .reg .pred p; elect.sync %0|p, 0xff; }" : "=r"(leader));
  out[threadIdx.x] = leader;
}
