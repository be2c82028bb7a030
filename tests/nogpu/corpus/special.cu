// Where a thread is: special registers, grids of three dimensions, clocks.
#include "corpus.cuh"

#define SPECIAL(type, constraint, name)                           \
  [] {                                                            \
    type d;                                                       \
    asm volatile("mov." constraint " %0, %%" name ";" : "=r"(d)); \
    return d;                                                     \
  }()

//! places_in_the_grid grid=2x3x2 block=4x2x2 in=1 out=192 input=bits compare=exact
KERNEL(places_in_the_grid) {
  const u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const u32 thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  u32 h = 0;
  fold(h, threadIdx.x | threadIdx.y << 10 | threadIdx.z << 20);
  fold(h, blockIdx.x | blockIdx.y << 10 | blockIdx.z << 20);
  fold(h, blockDim.x | blockDim.y << 10 | blockDim.z << 20);
  fold(h, gridDim.x | gridDim.y << 10 | gridDim.z << 20);
  out[block * 16 + thread] = h;
}

//! places_in_other_forms grid=2x3x2 block=4x2x2 in=1 out=192 input=bits compare=exact
KERNEL(places_in_other_forms) {
  const u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const u32 thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  u32 x, y, z, w;
  u16 narrow, converted;
  u64 pair;
  u32 h = 0;
  asm volatile("mov.v4.u32 {%0, %1, %2, %3}, %%tid;" : "=r"(x), "=r"(y), "=r"(z), "=r"(w));
  fold(h, x | y << 10 | z << 20 | w << 30);
  asm volatile("mov.v4.u32 {%0, %1, %2, %3}, %%ntid;" : "=r"(x), "=r"(y), "=r"(z), "=r"(w));
  fold(h, x | y << 10 | z << 20 | w << 30);
  asm volatile("mov.v4.u32 {%0, %1, _, _}, %%ctaid;" : "=r"(x), "=r"(y));
  fold(h, x | y << 10);
  asm volatile("mov.u16 %0, %%ctaid.y;" : "=h"(narrow));
  asm volatile("cvt.u16.u32 %0, %%tid.x;" : "=h"(converted));
  asm volatile("mov.b64 %0, {%%tid.y, %1};" : "=l"(pair) : "r"(block));
  fold(h, narrow);
  fold(h, converted);
  fold(h, pair);
  out[block * 16 + thread] = h;
}

//! flat_grid grid=3x5x1 block=8x1x4 in=1 out=15 input=bits compare=exact
KERNEL(flat_grid) {
  const u32 thread = threadIdx.x + 8 * threadIdx.z;
  atomicAdd(out + blockIdx.y * 3 + blockIdx.x,
            (thread + 1) * (threadIdx.z + 3) * (threadIdx.y + 1));
}

//! lanes_and_warps grid=1 block=96 in=1 out=192 input=bits compare=exact
KERNEL(lanes_and_warps) {
  const u32 t = threadIdx.x;
  u32 h = 0;
  fold(h, SPECIAL(u32, "u32", "laneid"));
  fold(h, SPECIAL(u32, "u32", "lanemask_eq"));
  fold(h, SPECIAL(u32, "u32", "lanemask_lt"));
  fold(h, SPECIAL(u32, "u32", "lanemask_le"));
  fold(h, SPECIAL(u32, "u32", "lanemask_gt"));
  fold(h, SPECIAL(u32, "u32", "lanemask_ge"));
  out[2 * t] = h;
  out[2 * t + 1] = static_cast<u32>(warpSize) + SPECIAL(u32, "u32", "ntid.x");
}

//! places_within_bounds grid=4 block=64 in=1 out=256 input=bits compare=exact
KERNEL(places_within_bounds) {
  // What differs from machine to machine is compared with what bounds it.
  u32 good = 0;
  good |= (SPECIAL(u32, "u32", "smid") < SPECIAL(u32, "u32", "nsmid")) << 0;
  good |= (SPECIAL(u32, "u32", "warpid") < SPECIAL(u32, "u32", "nwarpid")) << 1;
  good |= (SPECIAL(u32, "u32", "dynamic_smem_size") == 0) << 2;
  good |= (SPECIAL(u32, "u32", "cluster_nctaid.x") == 1) << 3;
  good |= (SPECIAL(u32, "u32", "cluster_ctarank") == 0) << 4;
  good |= (SPECIAL(u32, "u32", "nclusterid.x") == gridDim.x) << 5;
  good |= (SPECIAL(u32, "u32", "clusterid.x") == blockIdx.x) << 6;
  out[global_thread()] = good;
}

//! dynamic_shared_size grid=2 block=32 shared=1300 in=64 out=64 input=bits compare=exact
KERNEL(dynamic_shared_size) {
  extern __shared__ u32 words[];
  const u32 t = threadIdx.x, bytes = SPECIAL(u32, "u32", "dynamic_smem_size");
  for (u32 k = t; k < bytes / 4; k += 32) words[k] = in[global_thread()] + k;
  __syncthreads();
  out[global_thread()] = bytes * 7 + words[(t * 37 + 11) % (bytes / 4)];
}

//! clocks grid=1 block=64 in=64 out=64 input=small compare=exact
KERNEL(clocks) {
  const u64 wide = static_cast<u64>(clock64());
  const u32 narrow = static_cast<u32>(clock());
  u64 wall, wall_later;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(wall));
  u32 work = in[threadIdx.x];
  for (u32 k = 0; k < 50; ++k) work = work * 1664525 + 1013904223;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(wall_later));
  const u32 elapsed = static_cast<u32>(clock()) - narrow;
  const u64 elapsed_wide = static_cast<u64>(clock64()) - wide;
  out[threadIdx.x] = (elapsed > 0 && elapsed < 1u << 30) | (elapsed_wide > 0) << 1 |
                     (wall_later >= wall) << 2 | (wall != 0) << 3 | (work == 12345) << 4;
}

//! more_blocks_than_processors grid=700 block=32 in=700 out=256 input=bits compare=exact
KERNEL(more_blocks_than_processors) {
  const u32 x = in[blockIdx.x] * (threadIdx.x + 1);
  const u32 sum = __reduce_add_sync(0xffffffff, x);
  if (threadIdx.x == 0) atomicAdd(out + blockIdx.x % 256, sum ^ blockIdx.x);
}

//! full_block grid=1 block=1024 in=1024 out=32 input=bits compare=exact
KERNEL(full_block) {
  __shared__ u32 words[1024];
  const u32 t = threadIdx.x;
  words[t] = in[t];
  __syncthreads();
  const u32 x = words[1023 - t] * 3 + words[(t + 512) % 1024];
  const u32 sum = __reduce_add_sync(0xffffffff, x);
  if (t % 32 == 0) out[t / 32] = sum;
}

//! incomplete_warp grid=3 block=45 in=135 out=135 input=bits compare=exact
KERNEL(incomplete_warp) {
  __shared__ u32 words[45];
  const u32 t = threadIdx.x;
  words[t] = in[global_thread()];
  __syncthreads();
  const u32 mask = t < 32 ? 0xffffffff : 0x1fff;
  const u32 ballot = __ballot_sync(mask, words[44 - t] & 1);
  out[global_thread()] = ballot + words[(t + 1) % 45];
}
