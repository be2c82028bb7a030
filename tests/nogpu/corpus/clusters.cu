// Clusters of blocks: their places, their shared memory, their barrier, and copies, stores and
// reductions that arrive in other blocks.
#include "corpus.cuh"

#define SPECIAL(name)                                     \
  [] {                                                    \
    u32 value;                                            \
    asm volatile("mov.u32 %0, %" name ";" : "=r"(value)); \
    return value;                                         \
  }()

__device__ inline u32 rank_in_cluster() { return SPECIAL("%cluster_ctarank"); }
__device__ inline u32 blocks_in_cluster() { return SPECIAL("%cluster_nctarank"); }
__device__ inline u32 linear_block() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}
__device__ inline u32 shared_address(const void* p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}
__device__ inline u32 in_block(u32 address, u32 rank) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ inline void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
}
__device__ inline u32 load_from(u32 address) {
  u32 value;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}
__device__ inline void wait(u32 barrier) {
  u32 ended = 0;
  while (ended == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; "
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(ended)
        : "r"(barrier)
        : "memory");
  }
}
/// Makes the barrier expect `bytes`, in all blocks before any goes on.
__device__ inline void expect(u32 barrier, u32 bytes) {
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(barrier), "r"(bytes)
                 : "memory");
  }
  meet();
}

//! cluster_places grid=4x6x2 block=1 cluster=2x3x1 in=1 out=240 input=bits compare=exact
KERNEL(cluster_places) {
  u32* const to = out + 5 * linear_block();
  to[0] = SPECIAL("%cluster_ctaid.x") | SPECIAL("%cluster_ctaid.y") << 8 |
          SPECIAL("%cluster_ctaid.z") << 16;
  to[1] = SPECIAL("%cluster_nctaid.x") | SPECIAL("%cluster_nctaid.y") << 8 |
          SPECIAL("%cluster_nctaid.z") << 16;
  to[2] = SPECIAL("%clusterid.x") | SPECIAL("%clusterid.y") << 8 | SPECIAL("%clusterid.z") << 16;
  to[3] = SPECIAL("%nclusterid.x") | SPECIAL("%nclusterid.y") << 8 | SPECIAL("%nclusterid.z") << 16;
  u32 is_explicit;
  asm volatile("{ .reg .pred p; mov.pred p, %is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
               : "=r"(is_explicit));
  to[4] = rank_in_cluster() | blocks_in_cluster() << 8 | is_explicit << 16;
}

//! cluster_of_one grid=3 block=1 in=1 out=9 input=bits compare=exact
KERNEL(cluster_of_one) {
  u32 is_explicit;
  asm volatile("{ .reg .pred p; mov.pred p, %is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
               : "=r"(is_explicit));
  out[3 * blockIdx.x] = rank_in_cluster() | blocks_in_cluster() << 8 | is_explicit << 16;
  out[3 * blockIdx.x + 1] = SPECIAL("%clusterid.x");
  out[3 * blockIdx.x + 2] = SPECIAL("%nclusterid.x");
}

//! cluster_shared_memory grid=8 block=32 cluster=4 in=256 out=256 input=bits compare=exact
KERNEL(cluster_shared_memory) {
  __shared__ u32 own[32], sums[32], given[32];
  const u32 t = threadIdx.x, rank = rank_in_cluster();
  own[t] = in[32 * blockIdx.x + t];
  sums[t] = t;
  meet();
  // Lane t writes to block t % 4, at a place of its own, and adds to the next block.
  const u32 to = t % 4;
  asm volatile("st.shared::cluster.u32 [%0], %1;"
               :
               : "r"(in_block(shared_address(given + 8 * rank + t / 4), to)), "r"(own[t] * 3)
               : "memory");
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;"
               :
               : "r"(in_block(shared_address(sums + t / 2), (rank + 1) % 4)), "r"(own[t])
               : "memory");
  meet();
  u32 h = 1;
  for (u32 block = 0; block < 4; ++block) {
    fold(h, load_from(in_block(shared_address(own + t), block)));
    fold(h, load_from(in_block(shared_address(sums + t), block)));
  }
  fold(h, given[t]);
  out[32 * blockIdx.x + t] = h;
  meet();
}

//! cluster_generic_addresses grid=4 block=32 cluster=2 in=128 out=128 input=bits compare=exact
KERNEL(cluster_generic_addresses) {
  __shared__ u32 own[32];
  const u32 t = threadIdx.x, rank = rank_in_cluster();
  own[t] = in[32 * blockIdx.x + t];
  meet();
  u32* there;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(own), "r"(rank ^ 1));
  u32 of, in_cluster, in_own;
  asm volatile("getctarank.u64 %0, %1;" : "=r"(of) : "l"(there));
  asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
               : "=r"(in_cluster)
               : "l"(there));
  asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }"
               : "=r"(in_own)
               : "l"(there));
  const u32 before = atomicXor(there + t, t << 8);
  meet();
  out[32 * blockIdx.x + t] = mixed(mixed(before, own[t]), of | in_cluster << 8 | in_own << 16);
}

//! cluster_barrier grid=4 block=96 cluster=4 in=1 out=12 input=bits compare=exact
KERNEL(cluster_barrier) {
  // Some threads exit early; the others count who was there before each phase.
  __shared__ u32 count;
  const u32 t = threadIdx.x, rank = rank_in_cluster();
  if (t == 0) count = 0;
  meet();
  if (rank == 1 && t >= 64) return;
  const u32 first = in_block(shared_address(&count), 0);
  for (u32 phase = 0; phase < 3; ++phase) {
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" : : "r"(first) : "memory");
    meet();
    if (t == 0) out[3 * rank + phase] = load_from(first);
    meet();
  }
}

//! cluster_remote_arrivals grid=4 block=32 cluster=4 in=1 out=4 input=bits compare=exact
KERNEL(cluster_remote_arrivals) {
  __shared__ u64 barrier;
  __shared__ u32 sum;
  const u32 at = shared_address(&barrier);
  if (threadIdx.x == 0) {
    sum = 0;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" : : "r"(at) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
  }
  meet();
  for (u32 block = 0; block < 4; ++block) {
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;"
                 :
                 : "r"(in_block(shared_address(&sum), block)), "r"(threadIdx.x + block)
                 : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
                 :
                 : "r"(in_block(at, block))
                 : "memory");
  }
  wait(at);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
  meet();
}

//! cluster_multicast grid=4 block=32 cluster=4 in=64 out=128 input=bits compare=exact
KERNEL(cluster_multicast) {
  __shared__ __align__(128) u32 tile[32];
  __shared__ u64 barrier;
  const u32 at = shared_address(&barrier);
  expect(at, rank_in_cluster() == 3 ? 64 : 128);
  // Block 1 copies to 0, 1, 2 and 3; block 2 to 0, 1 and 2.
  if (threadIdx.x == 0 && rank_in_cluster() == 1)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], 64, [%2], 15;"
        :
        : "r"(shared_address(tile)), "l"(in), "r"(at)
        : "memory");
  if (threadIdx.x == 0 && rank_in_cluster() == 2)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], 64, [%2], 7;"
        :
        : "r"(shared_address(tile + 16)), "l"(in + 16), "r"(at)
        : "memory");
  wait(at);
  if (threadIdx.x < 16 || rank_in_cluster() != 3)
    out[32 * blockIdx.x + threadIdx.x] = tile[threadIdx.x];
  meet();
}

//! cluster_of_tiles grid=4 block=32 cluster=4 in=160 out=128 input=bits compare=exact
//! tensor=u32,extents:16x8,strides:64,box:8x2,swizzle:1
KERNEL(cluster_of_tiles) {
  __shared__ __align__(1024) u32 tiles[4 * 32];
  __shared__ u64 barrier;
  const u32 at = shared_address(&barrier), rank = rank_in_cluster();
  expect(at, 128);
  // Each block brings two rows for itself and the next one, at places that differ.
  const u32 mask = 1u << rank | 1u << (rank + 1) % 4;
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {4, %3}], [%2], %4;"
        :
        : "r"(shared_address(tiles + 32 * rank)), "l"(in), "r"(at), "r"(2 * rank),
          "h"(static_cast<u16>(mask))
        : "memory");
  wait(at);
  const u32 before = (rank + 3) % 4, t = threadIdx.x;
  out[32 * blockIdx.x + t] = tiles[32 * (t < 16 ? rank : before) + t % 16];
  meet();
}

//! cluster_copies grid=4 block=32 cluster=4 in=128 out=128 input=bits compare=exact
KERNEL(cluster_copies) {
  __shared__ __align__(128) u32 from[32], to[32];
  __shared__ u64 barrier;
  const u32 at = shared_address(&barrier), next = (rank_in_cluster() + 1) % 4;
  from[threadIdx.x] = in[32 * blockIdx.x + threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  __syncthreads();
  expect(at, 128);
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 128, "
        "[%2];"
        :
        : "r"(in_block(shared_address(to), next)), "r"(shared_address(from)),
          "r"(in_block(at, next))
        : "memory");
  wait(at);
  out[32 * blockIdx.x + threadIdx.x] = to[threadIdx.x];
  meet();
}

// Stores to the next block, on whose barrier the bytes are counted.
#define STORE_ASYNC(form, to, values, ...)                                                        \
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes" form " [%0], " values \
               ", [%1];"                                                                          \
               :                                                                                  \
               : "r"(in_block(shared_address(to), next)), "r"(in_block(at, next)), __VA_ARGS__    \
               : "memory")

//! cluster_async_stores grid=4 block=32 cluster=4 in=512 out=128 input=bits compare=exact
KERNEL(cluster_async_stores) {
  __shared__ __align__(16) u32 given[32][16];
  __shared__ u64 barrier;
  const u32 at = shared_address(&barrier), next = (rank_in_cluster() + 1) % 4, t = threadIdx.x;
  u32 v[8];
  for (u32 i = 0; i < 8; ++i) v[i] = in[128 * blockIdx.x + (8 * i + 5 * t) % 128];
  const u64 wide = v[0] | static_cast<u64>(v[1]) << 32, other = wide * 3 + t;
  expect(at, 32 * 64);
  STORE_ASYNC(".b32", given[t], "%2", "r"(v[0]));
  STORE_ASYNC(".f32", given[t] + 1, "%2", "f"(__uint_as_float(v[1])));
  STORE_ASYNC(".v2.u32", given[t] + 2, "{%2, %3}", "r"(v[2]), "r"(v[3]));
  STORE_ASYNC(".v4.s32", given[t] + 4, "{%2, %3, %4, %5}", "r"(v[4]), "r"(v[5]), "r"(v[6]),
              "r"(v[7]));
  STORE_ASYNC(".u64", given[t] + 8, "%2", "l"(wide));
  STORE_ASYNC(".f64", given[t] + 10, "%2", "d"(__longlong_as_double(static_cast<s64>(other))));
  STORE_ASYNC(".v2.b64", given[t] + 12, "{%2, %3}", "l"(other), "l"(wide ^ other));
  wait(at);
  u32 h = 1;
  for (u32 i = 0; i < 16; ++i) fold(h, given[t][i]);
  out[32 * blockIdx.x + t] = h;
  meet();
}

#define REDUCE_ASYNC(form, to, letter, value)                                                      \
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." form      \
               " [%0], %1, [%2];"                                                                  \
               :                                                                                   \
               : "r"(in_block(shared_address(to), block)), letter(value), "r"(in_block(at, block)) \
               : "memory")

//! cluster_async_reductions grid=4 block=32 cluster=4 in=512 out=208 input=bits compare=exact
KERNEL(cluster_async_reductions) {
  // Two other blocks change each word, each with four of its threads. Where the order would be seen
  // in the result, all bring the same value.
  __shared__ u32 words[11][8];
  __shared__ u64 sums[8];
  __shared__ u64 barrier;
  const u32 at = shared_address(&barrier), rank = rank_in_cluster(), t = threadIdx.x, k = t % 8;
  for (u32 i = t; i < 88; i += 32)
    words[i / 8][i % 8] = i < 16 ? 3 * i % 11 : in[128 * blockIdx.x + i];
  if (t < 8) sums[t] = in[128 * blockIdx.x + 88 + t] * 0x1'0000'0001ull;
  __syncthreads();
  expect(at, 2 * 32 * (11 * 4 + 8));
  const u32 value = in[128 * blockIdx.x + 96 + t];
  for (u32 step = 1; step < 3; ++step) {
    const u32 block = (rank + step) % 4;
    REDUCE_ASYNC("inc.u32", words[0] + k, "r", 4 + k);
    REDUCE_ASYNC("dec.u32", words[1] + k, "r", 9 + k);
    REDUCE_ASYNC("min.u32", words[2] + k, "r", value);
    REDUCE_ASYNC("max.u32", words[3] + k, "r", value);
    REDUCE_ASYNC("add.u32", words[4] + k, "r", value);
    REDUCE_ASYNC("min.s32", words[5] + k, "r", value);
    REDUCE_ASYNC("max.s32", words[6] + k, "r", value);
    REDUCE_ASYNC("add.s32", words[7] + k, "r", value);
    REDUCE_ASYNC("and.b32", words[8] + k, "r", value | 1u << t);
    REDUCE_ASYNC("or.b32", words[9] + k, "r", value & 0x0f0f << k);
    REDUCE_ASYNC("xor.b32", words[10] + k, "r", value);
    REDUCE_ASYNC("add.u64", sums + k, "l", value * 0x8000'0001ull);
  }
  wait(at);
  if (rank < 2)
    for (u32 i = t; i < 88; i += 32) out[104 * rank + i] = words[i / 8][i % 8];
  if (rank < 2 && t < 8) {
    out[104 * rank + 88 + t] = static_cast<u32>(sums[t]);
    out[104 * rank + 96 + t] = static_cast<u32>(sums[t] >> 32);
  }
  meet();
}

//! cluster_bulk_reductions grid=4 block=32 cluster=4 in=768 out=192 input=bits compare=exact
KERNEL(cluster_bulk_reductions) {
  __shared__ __align__(128) u32 from[12][8], to[12][8];
  __shared__ u64 barrier;
  const u32 at = shared_address(&barrier), rank = rank_in_cluster(), next = (rank + 1) % 4;
  for (u32 i = threadIdx.x; i < 96; i += 32) {
    from[i / 8][i % 8] = in[192 * rank + i];
    to[i / 8][i % 8] = in[192 * rank + 96 + i];
  }
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  __syncthreads();
  expect(at, 12 * 32);
  u32 k = 0;
#define REDUCE_BULK(form)                                                                   \
  asm volatile(                                                                             \
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." form \
      " [%0], [%1], 32, [%2];"                                                              \
      :                                                                                     \
      : "r"(in_block(shared_address(to[k]), next)), "r"(shared_address(from[k])),           \
        "r"(in_block(at, next))                                                             \
      : "memory");                                                                          \
  ++k;
  if (threadIdx.x == 0) {
    REDUCE_BULK("add.u32")
    REDUCE_BULK("min.u32")
    REDUCE_BULK("max.u32")
    REDUCE_BULK("inc.u32")
    REDUCE_BULK("dec.u32")
    REDUCE_BULK("add.s32")
    REDUCE_BULK("min.s32")
    REDUCE_BULK("max.s32")
    REDUCE_BULK("and.b32")
    REDUCE_BULK("or.b32")
    REDUCE_BULK("xor.b32")
    REDUCE_BULK("add.u64")
  }
  wait(at);
  if (rank < 2)
    for (u32 i = threadIdx.x; i < 96; i += 32) out[96 * rank + i] = to[i / 8][i % 8];
  meet();
}
