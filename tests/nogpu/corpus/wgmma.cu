// Products of warp groups (wgmma): D of single ones, word by word, so that their rounding can be
// told, and the places of elements in shared memory, which is filled word after word: what a
// descriptor makes of it shows its layouts and swizzles.
#include "corpus.cuh"

__device__ inline u32 shared_address(const void* p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}
__device__ inline u64 descriptor(const u32* start, u32 leading, u32 stride, u32 mode) {
  return u64{shared_address(start) / 16} | u64{leading / 16} << 16 | u64{stride / 16} << 32 |
         u64{mode} << 62;
}
__device__ inline float f32_of(u32 word) { return __uint_as_float(word); }
__device__ inline float f16_of(u32 word) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(static_cast<u16>(word)));
  return f;
}
__device__ inline float small_of(u32 word) { return static_cast<float>(word % 1024) / 16; }

// Fills 8 KiB for A and 2 KiB for B; the addends follow in the input.
#define FILL                                                             \
  __shared__ __align__(1024) u32 tile_a[2048];                           \
  __shared__ __align__(1024) u32 tile_b[512];                            \
  for (u32 i = threadIdx.x; i < 2048; i += 128) tile_a[i] = in[i];       \
  for (u32 i = threadIdx.x; i < 512; i += 128) tile_b[i] = in[2048 + i]; \
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");         \
  __syncthreads();                                                       \
  const u32* const w = in + 2560 + threadIdx.x;                          \
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");

__device__ inline void wait_for_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
}

// A 64 x 16 matrix of D: eight words of each thread.
#define TO_F32(mnemonic, tail, c_of, desc_a, desc_b)                                     \
  FILL float d[8];                                                                       \
  for (u32 i = 0; i < 8; ++i) d[i] = c_of(w[128 * i]);                                   \
  asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; " mnemonic                          \
               " {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, p" tail "; }"                        \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), \
                 "+f"(d[6]), "+f"(d[7])                                                  \
               : "l"(desc_a), "l"(desc_b)                                                \
               : "memory");                                                              \
  wait_for_group();                                                                      \
  for (u32 i = 0; i < 8; ++i) out[128 * i + threadIdx.x] = __float_as_uint(canonical(d[i]));
#define FROM_REGISTERS(mnemonic, tail, c_of, desc_b)                                     \
  FILL float d[8];                                                                       \
  for (u32 i = 0; i < 8; ++i) d[i] = c_of(w[128 * i]);                                   \
  const u32* const a = in + threadIdx.x;                                                 \
  asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; " mnemonic                          \
               " {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11}, %12, p" tail "; }"          \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), \
                 "+f"(d[6]), "+f"(d[7])                                                  \
               : "r"(a[0]), "r"(a[128]), "r"(a[256]), "r"(a[384]), "l"(desc_b)           \
               : "memory");                                                              \
  wait_for_group();                                                                      \
  for (u32 i = 0; i < 8; ++i) out[128 * i + threadIdx.x] = __float_as_uint(canonical(d[i]));
#define TO_HALVES(mnemonic, tail)                                                                \
  FILL u32 d[4];                                                                                 \
  for (u32 i = 0; i < 4; ++i) d[i] = w[128 * i];                                                 \
  asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; " mnemonic " {%0,%1,%2,%3}, %4, %5, p" tail \
               "; }"                                                                             \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                  \
               : "l"(PLAIN_A), "l"(PLAIN_B)                                                      \
               : "memory");                                                                      \
  wait_for_group();                                                                              \
  for (u32 i = 0; i < 4; ++i) out[128 * i + threadIdx.x] = d[i];
#define INTEGERS(mnemonic, desc_a, desc_b)                                               \
  FILL u32 d[8];                                                                         \
  for (u32 i = 0; i < 8; ++i) d[i] = w[128 * i];                                         \
  asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; " mnemonic                          \
               " {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, p; }"                                \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), \
                 "+r"(d[6]), "+r"(d[7])                                                  \
               : "l"(desc_a), "l"(desc_b)                                                \
               : "memory");                                                              \
  wait_for_group();                                                                      \
  for (u32 i = 0; i < 8; ++i) out[128 * i + threadIdx.x] = d[i];

// Without a swizzle, core matrices one after the other along k.
#define PLAIN_A descriptor(tile_a, 128, 256, 0)
#define PLAIN_B descriptor(tile_b, 128, 256, 0)

//! wgmma_f16_all_sizes grid=1 block=128 in=3584 out=1024 input=f16number compare=exact
KERNEL(wgmma_f16_all_sizes){TO_F32("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16",
                                   ", 1, 1, 0, 0", f16_of, PLAIN_A, PLAIN_B)}
//! wgmma_f16_one_size grid=1 block=128 in=3584 out=1024 input=f16unit compare=exact
KERNEL(wgmma_f16_one_size){TO_F32("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16",
                                  ", 1, 1, 0, 0", f16_of, PLAIN_A, PLAIN_B)}
//! wgmma_f16_subnormal grid=1 block=128 in=3584 out=1024 input=f16denormal compare=exact
KERNEL(wgmma_f16_subnormal){TO_F32("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16",
                                   ", 1, 1, 0, 0", f16_of, PLAIN_A, PLAIN_B)}
//! wgmma_f16_special grid=1 block=128 in=3584 out=1024 input=f16 compare=exact
KERNEL(wgmma_f16_special){TO_F32("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16",
                                 ", 1, 1, 0, 0", f16_of, PLAIN_A, PLAIN_B)}
//! wgmma_f16_negated grid=1 block=128 in=3584 out=1024 input=f16unit compare=exact
KERNEL(wgmma_f16_negated){TO_F32("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16",
                                 ", -1, 1, 0, 0", f16_of, PLAIN_A, PLAIN_B)}
//! wgmma_f16_to_f16 grid=1 block=128 in=3584 out=512 input=f16unit compare=exact
KERNEL(wgmma_f16_to_f16){
    TO_HALVES("wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16", ", 1, 1, 0, 0")}
//! wgmma_f16_of_registers grid=1 block=128 in=3584 out=1024 input=f16unit compare=exact
KERNEL(wgmma_f16_of_registers){FROM_REGISTERS("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16",
                                              ", 1, 1, 0", f16_of, PLAIN_B)}
//! wgmma_bf16 grid=1 block=128 in=3584 out=1024 input=bf16near compare=exact
KERNEL(wgmma_bf16){TO_F32("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16", ", 1, 1, 0, 0",
                          f32_of, PLAIN_A, PLAIN_B)}
//! wgmma_tf32 grid=1 block=128 in=3584 out=1024 input=f32near compare=exact
KERNEL(wgmma_tf32){TO_F32("wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32", ", 1, 1", f32_of,
                          PLAIN_A, PLAIN_B)}
//! wgmma_e4m3 grid=1 block=128 in=3584 out=1024 input=bits compare=exact
KERNEL(wgmma_e4m3){TO_F32("wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3", ", 1, 1",
                          small_of, PLAIN_A, PLAIN_B)}
//! wgmma_e5m2 grid=1 block=128 in=3584 out=1024 input=bits compare=exact
KERNEL(wgmma_e5m2){TO_F32("wgmma.mma_async.sync.aligned.m64n16k32.f32.e5m2.e5m2", ", 1, 1",
                          small_of, PLAIN_A, PLAIN_B)}
//! wgmma_e4m3_to_f16 grid=1 block=128 in=3584 out=512 input=f16unit compare=exact
KERNEL(wgmma_e4m3_to_f16){
    TO_HALVES("wgmma.mma_async.sync.aligned.m64n16k32.f16.e4m3.e5m2", ", 1, 1")}
//! wgmma_s8 grid=1 block=128 in=3584 out=1024 input=bits compare=exact
KERNEL(wgmma_s8){
    INTEGERS("wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8.satfinite", PLAIN_A, PLAIN_B)}
//! wgmma_u8 grid=1 block=128 in=3584 out=1024 input=bits compare=exact
KERNEL(wgmma_u8){INTEGERS("wgmma.mma_async.sync.aligned.m64n16k32.s32.u8.s8", PLAIN_A, PLAIN_B)}
//! wgmma_b1 grid=1 block=128 in=3584 out=1024 input=bits compare=exact
KERNEL(wgmma_b1){
    INTEGERS("wgmma.mma_async.sync.aligned.m64n16k256.s32.b1.b1.and.popc", PLAIN_A, PLAIN_B)}
//! wgmma_swizzle_32 grid=1 block=128 in=3584 out=1024 input=bits compare=exact
KERNEL(wgmma_swizzle_32){INTEGERS("wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8",
                                  descriptor(tile_a, 16, 256, 3), descriptor(tile_b, 16, 256, 3))}
//! wgmma_swizzle_32_turned grid=1 block=128 in=3584 out=1024 input=f16unit compare=exact
KERNEL(wgmma_swizzle_32_turned){TO_F32("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16",
                                       ", 1, 1, 1, 1", f16_of, descriptor(tile_a, 512, 256, 3),
                                       descriptor(tile_b, 512, 256, 3))}
//! wgmma_swizzle_64 grid=1 block=128 in=3584 out=1024 input=bits compare=exact
KERNEL(wgmma_swizzle_64){INTEGERS("wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8",
                                  descriptor(tile_a, 16, 512, 2), descriptor(tile_b, 16, 512, 2))}
//! wgmma_swizzle_64_turned grid=1 block=128 in=3584 out=1024 input=f16unit compare=exact
KERNEL(wgmma_swizzle_64_turned){TO_F32("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16",
                                       ", 1, 1, 1, 1", f16_of, descriptor(tile_a, 1024, 512, 2),
                                       descriptor(tile_b, 1024, 512, 2))}
//! wgmma_swizzle_128 grid=1 block=128 in=3584 out=1024 input=bits compare=exact
KERNEL(wgmma_swizzle_128){INTEGERS("wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8",
                                   descriptor(tile_a, 16, 1024, 1),
                                   descriptor(tile_b, 16, 1024, 1))}
//! wgmma_swizzle_128_turned grid=1 block=128 in=3584 out=1024 input=f16unit compare=exact
KERNEL(wgmma_swizzle_128_turned){TO_F32("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16",
                                        ", 1, 1, 1, 1", f16_of, descriptor(tile_a, 2048, 1024, 1),
                                        descriptor(tile_b, 2048, 1024, 1))}
//! wgmma_plain_turned grid=1 block=128 in=3584 out=1024 input=f16unit compare=exact
KERNEL(wgmma_plain_turned){TO_F32("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16",
                                  ", 1, 1, 1, 1", f16_of, PLAIN_A, PLAIN_B)}
//! wgmma_within_swizzle grid=1 block=128 in=3584 out=1024 input=bits compare=exact
KERNEL(wgmma_within_swizzle){INTEGERS("wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8",
                                      descriptor(tile_a + 8, 16, 1024, 1),
                                      descriptor(tile_b + 16, 16, 1024, 1))}
//! wgmma_base_offset grid=1 block=128 in=3584 out=1024 input=bits compare=exact
KERNEL(wgmma_base_offset) {
  INTEGERS("wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8",
           descriptor(tile_a + 64, 16, 512, 1) | u64{2} << 49, descriptor(tile_b, 16, 1024, 1))
}
