// Barriers of blocks and grids, fences, and what passes between warps.
#include "corpus.cuh"

//! block_barrier grid=2 block=256 in=512 out=256 input=bits compare=exact
KERNEL(block_barrier) {
  __shared__ u32 cells[2][256];
  const u32 t = threadIdx.x;
  cells[0][t] = in[global_thread()];
  for (u32 k = 0; k < 10; ++k) {
    __syncthreads();
    cells[(k + 1) % 2][t] = cells[k % 2][(t * 3 + k) % 256] * 5 + cells[k % 2][255 - t];
  }
  __syncthreads();
  if (t < 128) out[blockIdx.x * 128 + t] = cells[0][t] ^ cells[0][t + 128];
}

//! barrier_reductions grid=1 block=128 in=128 out=256 input=small compare=exact
KERNEL(barrier_reductions) {
  const u32 t = threadIdx.x, x = in[t];
  u32 h = 0;
  fold(h, __syncthreads_count(static_cast<int>(x % 3 == 0)));
  fold(h, __syncthreads_and(static_cast<int>(x < 256)));
  fold(h, __syncthreads_or(static_cast<int>(x == 300)));
  out[2 * t] = h;
  u32 count, any;
  asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 99; barrier.cta.red.popc.u32 %0, 3, p; }"
               : "=r"(count)
               : "r"(x)
               : "memory");
  asm volatile(
      "{ .reg .pred p, q; setp.eq.u32 p, %1, 7; bar.red.or.pred q, 2, 128, p; selp.u32 %0, 1, 0, "
      "q; }"
      : "=r"(any)
      : "r"(t)
      : "memory");
  out[2 * t + 1] = count << 1 | any;
}

//! named_barriers grid=1 block=128 in=128 out=128 input=bits compare=exact
KERNEL(named_barriers) {
  // Two halves of the block, each with a barrier of its own, run different numbers of rounds.
  __shared__ u32 cells[128];
  const u32 t = threadIdx.x, half = t / 64, base = half * 64;
  u32 x = in[t];
  for (u32 k = 0; k < 3 + half * 4; ++k) {
    cells[t] = x;
    asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
    x = x * 3 + cells[base + (t + 33 + k) % 64];
    asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  }
  out[t] = x;
}

//! producer_and_consumer grid=1 block=64 in=512 out=32 input=bits compare=exact
KERNEL(producer_and_consumer) {
  // Warp 0 fills a ring of two slots for warp 1: barriers 1 and 2 say full, 3 and 4 say empty.
  __shared__ u32 slots[2][32];
  const u32 lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (u32 k = 0; k < 16; ++k) {
      asm volatile("bar.sync %0, 64;" ::"r"(3 + k % 2) : "memory");
      slots[k % 2][lane] = in[k * 32 + lane] * (k + 1);
      __threadfence_block();
      asm volatile("bar.arrive %0, 64;" ::"r"(1 + k % 2) : "memory");
    }
  } else {
    u32 sum = 0;
    asm volatile("bar.arrive 3, 64; bar.arrive 4, 64;" ::: "memory");
    for (u32 k = 0; k < 16; ++k) {
      asm volatile("bar.sync %0, 64;" ::"r"(1 + k % 2) : "memory");
      sum = sum * 7 + slots[k % 2][31 - lane];
      __threadfence_block();
      if (k + 2 < 16) asm volatile("bar.arrive %0, 64;" ::"r"(3 + k % 2) : "memory");
    }
    out[lane] = sum;
  }
}

//! mbarrier grid=1 block=64 in=256 out=64 input=bits compare=exact
KERNEL(mbarrier) {
  __shared__ u64 barrier;
  __shared__ u32 cells[64];
  const u32 t = threadIdx.x, address = static_cast<u32>(__cvta_generic_to_shared(&barrier));
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(address) : "memory");
  __syncthreads();
  u32 sum = 0;
  for (u32 k = 0; k < 4; ++k) {
    cells[t] = in[k * 64 + t] + sum;
    u64 state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(address) : "memory");
    u32 done = 0;
    while (!done) {
      asm volatile(
          "{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(address), "l"(state)
          : "memory");
    }
    sum += cells[(t + k * 5 + 1) % 64];
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(address) : "memory");
    done = 0;
    while (!done) {
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 1; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(address)
          : "memory");
    }
  }
  __syncthreads();
  if (t == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(address) : "memory");
  out[t] = sum;
}

//! ring_between_warps grid=1 block=64 in=128 out=32 input=bits compare=exact
KERNEL(ring_between_warps) {
  // One producer thread and one consumer thread in different warps, with a head and a tail.
  __shared__ u32 ring[8], head, tail;
  if (threadIdx.x == 0) head = tail = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (u32 k = 0; k < 128; ++k) {
      while (k - atomicAdd(&tail, 0) >= 8) {
      }
      atomicExch(&ring[k % 8], in[k]);
      __threadfence_block();
      atomicExch(&head, k + 1);
    }
  } else if (threadIdx.x == 32) {
    u32 h = 0;
    for (u32 k = 0; k < 128; ++k) {
      while (atomicAdd(&head, 0) <= k) __nanosleep(10);
      fold(h, atomicAdd(&ring[k % 8], 0));
      __threadfence_block();
      atomicExch(&tail, k + 1);
      if (k % 4 == 3) out[k / 4] = h;
    }
  }
}

__device__ u32 arrived, generation;

__device__ void grid_barrier() {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const u32 mine = atomicAdd(&generation, 0);
    if (atomicAdd(&arrived, 1) + 1 == gridDim.x) {
      atomicExch(&arrived, 0);
      __threadfence();
      atomicAdd(&generation, 1);
    } else {
      while (atomicAdd(&generation, 0) == mine) __nanosleep(50);
    }
    __threadfence();
  }
  __syncthreads();
}

//! grid_barrier_rounds grid=6 block=32 cooperative=1 in=192 out=192 input=bits compare=exact
KERNEL(grid_barrier_rounds) {
  const u32 t = global_thread();
  volatile u32* const cells = out;
  cells[t] = in[t];
  for (u32 k = 0; k < 5; ++k) {
    grid_barrier();
    const u32 x = cells[(t * 5 + k) % 192] + 3 * cells[191 - t];
    grid_barrier();
    cells[t] = x;
  }
}

__device__ u32 finished_blocks;

//! last_block_finishes grid=7 block=64 in=448 out=9 input=bits compare=exact
KERNEL(last_block_finishes) {
  __shared__ bool last;
  __shared__ u32 sums[2];
  const u32 t = threadIdx.x;
  const u32 sum = __reduce_add_sync(0xffffffff, in[global_thread()]);
  if (t % 32 == 0) sums[t / 32] = sum;
  __syncthreads();
  if (t == 0) {
    out[blockIdx.x] = sums[0] + sums[1];
    __threadfence();
    last = atomicAdd(&finished_blocks, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    u32 total = 0;
    for (u32 k = 0; k < gridDim.x; ++k) total += static_cast<volatile u32*>(out)[k];
    out[7] = total;
    out[8] = gridDim.x;
    finished_blocks = 0;
  }
}

//! store_buffering grid=1 block=64 in=64 out=1 input=small compare=exact
KERNEL(store_buffering) {
  // With a sequentially consistent fence between store and load, not both threads see the old
  // value.
  __shared__ u32 x, y, seen[2];
  u32 bad = 0;
  for (u32 k = 0; k < 50; ++k) {
    if (threadIdx.x == 0) x = y = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicExch(&x, 1);
      asm volatile("fence.sc.cta;" ::: "memory");
      seen[0] = atomicAdd(&y, 0);
    } else if (threadIdx.x == 32) {
      atomicExch(&y, 1);
      asm volatile("fence.sc.cta;" ::: "memory");
      seen[1] = atomicAdd(&x, 0);
    }
    __syncthreads();
    bad += seen[0] == 0 && seen[1] == 0;
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = bad;
}
