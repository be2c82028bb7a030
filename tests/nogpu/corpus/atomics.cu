// Atomics, with results that do not depend on the order. `out` begins as zeros.
#include "corpus.cuh"

__device__ inline void clear(u32* words, u32 count, u32 value = 0) {
  for (u32 k = threadIdx.x; k < count; k += blockDim.x) words[k] = value;
  __syncthreads();
}

//! atomic_sums grid=1 block=256 in=256 out=16 input=bits compare=exact
KERNEL(atomic_sums) {
  clear(out, 16);
  const u32 t = threadIdx.x, x = in[t];
  atomicAdd(out, x);
  atomicAdd(reinterpret_cast<s32*>(out + 1), static_cast<s32>(x));
  atomicAdd(reinterpret_cast<u64*>(out + 2), u64{x} * x);
  atomicSub(out + 4, x);
  atomicAdd(reinterpret_cast<float*>(out + 5), static_cast<float>(x % 1000));
  atomicAdd(reinterpret_cast<double*>(out + 6), static_cast<double>(x) * 0.25);
  atomicAdd_block(out + 8, x >> 3);
  atomicAdd_system(out + 9, x >> 5);
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(out + 10), "r"(x) : "memory");
  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(out + 12), "l"(u64{x} << 20) : "memory");
  asm volatile("red.release.sys.global.add.f32 [%0], %1;" ::"l"(out + 14), "f"(2.0f) : "memory");
  asm volatile("{ .reg .u32 d; atom.acq_rel.gpu.global.add.s32 d, [%0], %1; }" ::"l"(out + 15),
               "r"(x)
               : "memory");
}

//! atomic_extrema grid=1 block=256 in=256 out=16 input=bits compare=exact
KERNEL(atomic_extrema) {
  clear(out, 16, 0x7fffffff);
  const u32 x = in[threadIdx.x];
  const s64 wide = static_cast<s64>(u64{x} << 32 | in[255 - threadIdx.x]);
  atomicMin(out, x);
  atomicMax(out + 1, x);
  atomicMin(reinterpret_cast<s32*>(out + 2), static_cast<s32>(x));
  atomicMax(reinterpret_cast<s32*>(out + 3), static_cast<s32>(x >> 2));
  atomicMin(reinterpret_cast<u64*>(out + 4), static_cast<u64>(wide));
  atomicMax(reinterpret_cast<u64*>(out + 6), static_cast<u64>(wide));
  atomicMin(reinterpret_cast<s64*>(out + 8), wide);
  atomicMax(reinterpret_cast<s64*>(out + 10), wide);
  asm volatile("red.global.min.u32 [%0], %1;" ::"l"(out + 12), "r"(x) : "memory");
  asm volatile("red.global.max.s64 [%0], %1;" ::"l"(out + 14), "l"(wide) : "memory");
}

//! atomic_logic grid=1 block=256 in=256 out=16 input=bits compare=exact
KERNEL(atomic_logic) {
  clear(out, 16, 0xffff0000);
  const u32 x = in[threadIdx.x];
  const u64 wide = u64{x} << 32 | ~x;
  atomicAnd(out, x | 0x00ff00ff << threadIdx.x % 2);
  atomicOr(out + 1, x & 0x1111 << threadIdx.x % 2);
  atomicXor(out + 2, x);
  atomicAnd(reinterpret_cast<u64*>(out + 4), wide | 0xf0f0f0f0f0f0f0f0);
  atomicOr(reinterpret_cast<u64*>(out + 6), wide & 0x0000100000001000);
  atomicXor(reinterpret_cast<u64*>(out + 8), wide);
  asm volatile("red.global.xor.b32 [%0], %1;" ::"l"(out + 10), "r"(x) : "memory");
  asm volatile("red.global.and.b64 [%0], %1;" ::"l"(out + 12), "l"(wide | 0xff) : "memory");
}

//! atomic_counters grid=1 block=200 in=16 out=8 input=bits compare=exact
KERNEL(atomic_counters) {
  clear(out, 8);
  __shared__ u32 seen;
  if (threadIdx.x == 0) seen = 0;
  __syncthreads();
  const u32 ticket = atomicInc(out, 36);
  atomicDec(out + 1, 41);
  atomicAdd(out + 2, ticket);
  const u32 position = atomicAdd(&seen, 1);
  atomicAdd(out + 3, position * position);
  atomicXor(out + 4, atomicSub(out + 5, 1) * 3);
  __syncthreads();
  if (threadIdx.x == 0) out[6] = seen;
}

//! atomic_old_values grid=1 block=32 in=32 out=256 input=bits compare=exact
KERNEL(atomic_old_values) {
  // Each thread has its own words, so that what an atomic returns is determined.
  u32* const mine = out + threadIdx.x * 8;
  const u32 x = in[threadIdx.x];
  for (u32 k = 0; k < 8; ++k) mine[k] = x + k;
  u32 h = 0;
  fold(h, atomicAdd(mine, 5));
  fold(h, atomicExch(mine, x * 3));
  fold(h, atomicMin(mine, x));
  fold(h, atomicMax(reinterpret_cast<s32*>(mine), 7));
  fold(h, atomicInc(mine, x / 2));
  fold(h, atomicDec(mine, x / 3));
  fold(h, atomicCAS(mine + 1, x + 1, 99));
  fold(h, atomicCAS(mine + 1, x, 98));
  fold(h, atomicAnd(mine + 1, 0xfe));
  fold(h, atomicOr(mine + 1, 0x700));
  fold(h, atomicXor(mine + 1, x));
  fold(h, atomicExch(reinterpret_cast<u64*>(mine + 2), u64{x} << 13));
  fold(h, atomicCAS(reinterpret_cast<u64*>(mine + 2), u64{x} << 13, u64{x} << 7));
  fold(h, atomicAdd(reinterpret_cast<float*>(mine + 4), 1.5f) == 0.0f);
  fold(h, atomicExch(reinterpret_cast<float*>(mine + 4), 2.5f) > 1);
  fold(h, static_cast<u32>(atomicCAS(reinterpret_cast<u16*>(mine + 5), static_cast<u16>(x + 5),
                                     static_cast<u16>(4))));
  mine[6] = h;
}

//! atomic_halves grid=1 block=32 in=32 out=128 input=f16unit compare=exact
KERNEL(atomic_halves) {
  u32* const mine = out + threadIdx.x * 4;
  const u32 x = in[threadIdx.x];
  mine[0] = 0x3c003800;
  mine[1] = 0x3f803f00;
  mine[2] = 0x3c004000;
  u32 old;
  u16 old_half;
  asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;"
               : "=r"(old)
               : "l"(mine), "r"(x)
               : "memory");
  asm volatile("atom.global.add.noftz.bf16x2 %0, [%1], %2;"
               : "=r"(old)
               : "l"(mine + 1), "r"(0x3e803f00)
               : "memory");
  asm volatile("atom.global.add.noftz.f16 %0, [%1], %2;"
               : "=h"(old_half)
               : "l"(mine + 2), "h"(static_cast<u16>(x))
               : "memory");
  asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(mine + 1), "r"(0x3f003e00) : "memory");
  mine[3] = old ^ old_half;
}

//! atomic_128 grid=1 block=32 in=32 out=256 input=bits compare=exact
KERNEL(atomic_128) {
  alignas(16) __shared__ u64 cells[64];
  const u32 t = threadIdx.x;
  cells[2 * t] = in[t];
  cells[2 * t + 1] = ~u64{in[t]};
  __syncwarp();
  u64 low, high, old_low, old_high;
  const u32 address = static_cast<u32>(__cvta_generic_to_shared(&cells[2 * t]));
  asm volatile(
      "{ .reg .b128 c, v, d; mov.b128 c, {%3, %4}; mov.b128 v, {%5, %6};"
      " atom.shared.cas.b128 d, [%2], c, v; mov.b128 {%0, %1}, d; }"
      : "=l"(old_low), "=l"(old_high)
      : "r"(address), "l"(u64{in[t]}), "l"(~u64{in[t]}), "l"(u64{t}), "l"(u64{7} << 60)
      : "memory");
  asm volatile(
      "{ .reg .b128 v, d; mov.b128 v, {%3, %4};"
      " atom.shared.exch.b128 d, [%2], v; mov.b128 {%0, %1}, d; }"
      : "=l"(low), "=l"(high)
      : "r"(address), "l"(u64{5}), "l"(u64{t})
      : "memory");
  u64* const results = reinterpret_cast<u64*>(out) + 4 * t;
  results[0] = old_low ^ low << 1;
  results[1] = old_high ^ high << 1;
  results[2] = cells[2 * t];
  results[3] = cells[2 * t + 1];
}

//! atomics_in_shared_memory grid=4 block=128 in=512 out=64 input=bits compare=exact
KERNEL(atomics_in_shared_memory) {
  __shared__ u32 words[8];
  __shared__ u64 wide[4];
  __shared__ float real;
  const u32 t = threadIdx.x, x = in[global_thread()];
  if (t < 8) words[t] = t < 4 ? 0 : 0x40000000;
  if (t < 4) wide[t] = 0;
  if (t == 0) real = 0;
  __syncthreads();
  atomicAdd(words, x);
  atomicXor(words + 1, x);
  atomicOr(words + 2, x & 0x01010101u << t % 8);
  atomicInc(words + 3, 100);
  atomicMin(words + 4, x);
  atomicMax(words + 5, x);
  atomicAnd(words + 6, x | 0xff00ff00);
  atomicMin(reinterpret_cast<s32*>(words + 7), static_cast<s32>(x));
  atomicAdd(wide, u64{x} * 5);
  atomicMax(wide + 1, u64{x} << 8);
  atomicXor(wide + 2, u64{x} << 16);
  u64 old = 0;
  while (true) {
    const u64 found = atomicCAS(wide + 3, old, old + x % 16);
    if (found == old) break;
    old = found;
  }
  atomicAdd(&real, static_cast<float>(x & 0xff));
  __syncthreads();
  if (t < 8) out[blockIdx.x * 16 + t] = words[t];
  if (t < 3) out[blockIdx.x * 16 + 8 + t] = static_cast<u32>(wide[t] ^ wide[t] >> 32);
  if (t == 3) out[blockIdx.x * 16 + 11] = static_cast<u32>(wide[3]);
  if (t == 4) out[blockIdx.x * 16 + 12] = __float_as_uint(real);
  if (t > 4 && t < 8) out[blockIdx.x * 16 + 8 + t] = 0;
}

//! atomics_between_blocks grid=8 block=64 in=512 out=16 input=bits compare=exact
KERNEL(atomics_between_blocks) {
  const u32 x = in[global_thread()];
  atomicAdd(out, x);
  atomicMax(out + 1, x);
  atomicOr(out + 2, 1u << blockIdx.x);
  atomicAdd(reinterpret_cast<u64*>(out + 4), u64{x});
  atomicXor(out + 6, x);
  atomicAdd(reinterpret_cast<double*>(out + 8), static_cast<double>(x >> 8));
  u32 old = out[10], expected;
  do {
    expected = old;
    old = atomicCAS(out + 10, expected, expected ^ (x | 1));
  } while (old != expected);
}

//! message_passing grid=4 block=32 in=128 out=128 input=bits compare=exact
KERNEL(message_passing) {
  // Blocks take turns in the order of their tickets, so that none waits for one that never started.
  __device__ static u32 tickets, turn;
  __shared__ u32 ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(&tickets, 1);
  __syncthreads();
  const u32 t = threadIdx.x;
  if (t == 0) {
    u32 now;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(&turn) : "memory");
    } while (now != ticket);
  }
  __syncthreads();
  const u32 before = ticket == 0 ? 1 : out[(ticket - 1) * 32 + (t + 1) % 32];
  out[ticket * 32 + t] = before * 31 + in[ticket * 32 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) {
    asm volatile(
        "fence.acq_rel.gpu; fence.sc.gpu; st.release.gpu.global.u32 [%0], %1;" ::"l"(&turn),
        "r"(ticket + 1)
        : "memory");
    if (ticket + 1 == gridDim.x) {
      tickets = 0;
      turn = 0;
    }
  }
}

//! lock_between_lanes grid=1 block=64 in=64 out=2 input=small compare=exact
KERNEL(lock_between_lanes) {
  __shared__ u32 lock, guarded[2];
  if (threadIdx.x == 0) lock = guarded[0] = guarded[1] = 0;
  __syncthreads();
  volatile u32* const shared = guarded;
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence_block();
      shared[0] = shared[0] + in[threadIdx.x];
      shared[1] = shared[1] + 1;
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  }
  __syncthreads();
  if (threadIdx.x < 2) out[threadIdx.x] = guarded[threadIdx.x];
}

//! lock_between_blocks grid=6 block=32 in=192 out=4 input=small compare=exact
KERNEL(lock_between_blocks) {
  bool done = false;
  while (!done) {
    if (atomicCAS(out, 0, 1) == 0) {
      __threadfence();
      volatile u32* const shared = out;
      shared[1] = shared[1] + in[global_thread()];
      shared[2] = shared[2] ^ in[global_thread()] << global_thread() % 24;
      __threadfence();
      atomicExch(out, 0);
      done = true;
    } else {
      __nanosleep(20);
    }
  }
}
