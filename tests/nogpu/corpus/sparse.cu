// Products of sparse matrices (mma.sp): results of single ones, word by word, so that their
// rounding can be told, and which elements the metadata names.
#include "corpus.cuh"

__device__ inline float f16_value(u32 bits) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(static_cast<u16>(bits)));
  return f;
}
/// A C with a full mantissa, of the size of its upper half as f16.
__device__ inline float addend(u32 word) {
  return __fmaf_rn(f16_value(word), 0x1p-11f, f16_value(word >> 16));
}
__device__ inline float bf16_addend(u32 word) {
  return __fmaf_rn(__uint_as_float(word << 16), 0x1p-8f, __uint_as_float(word & 0xffff0000));
}
__device__ inline float f32_addend(u32 word) { return __uint_as_float(word); }

/// Metadata that means something: each four bits name two of four places, in order.
__device__ inline u32 two_of_four(u32 word) {
  u32 made = 0;
  for (u32 shift = 0; shift < 32; shift += 4)
    made |= (0xed9c84u >> (word >> shift & 15) % 6 * 4 & 15) << shift;
  return made;
}
/// Each four bits name one of two.
__device__ inline u32 one_of_two(u32 word) {
  u32 made = 0;
  for (u32 shift = 0; shift < 32; shift += 4)
    made |= ((word >> shift & 1) != 0 ? 14u : 4u) << shift;
  return made;
}

// d, four words a lane, of four words of A and B, four for C, and metadata.
#define FOUR_AND_FOUR(mnemonic, selector, c_of, metadata)                                          \
  const u32* const w = in + threadIdx.x;                                                           \
  float d[4];                                                                                      \
  asm volatile(mnemonic                                                                            \
               " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%12,%13,%14,%15}, %16, " selector \
               ";"                                                                                 \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                    \
               : "r"(w[0]), "r"(w[32]), "r"(w[64]), "r"(w[96]), "r"(w[128]), "r"(w[160]),          \
                 "r"(w[192]), "r"(w[224]), "f"(c_of(w[256])), "f"(c_of(w[288])),                   \
                 "f"(c_of(w[320])), "f"(c_of(w[352])), "r"(metadata(w[384])));                     \
  for (u32 i = 0; i < 4; ++i) out[32 * i + threadIdx.x] = __float_as_uint(canonical(d[i]));
#define TWO_AND_TWO(mnemonic, selector, c_of, metadata)                                           \
  const u32* const w = in + threadIdx.x;                                                          \
  float d[4];                                                                                     \
  asm volatile(mnemonic " {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%9,%10,%11}, %12, " selector ";"   \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                   \
               : "r"(w[0]), "r"(w[32]), "r"(w[128]), "r"(w[160]), "f"(c_of(w[256])),              \
                 "f"(c_of(w[288])), "f"(c_of(w[320])), "f"(c_of(w[352])), "r"(metadata(w[384]))); \
  for (u32 i = 0; i < 4; ++i) out[32 * i + threadIdx.x] = __float_as_uint(canonical(d[i]));
#define TO_HALVES(mnemonic, selector)                                                           \
  const u32* const w = in + threadIdx.x;                                                        \
  u32 d[2];                                                                                     \
  asm volatile(mnemonic " {%0,%1}, {%2,%3,%4,%5}, {%6,%7,%8,%9}, {%10,%11}, %12, " selector ";" \
               : "=r"(d[0]), "=r"(d[1])                                                         \
               : "r"(w[0]), "r"(w[32]), "r"(w[64]), "r"(w[96]), "r"(w[128]), "r"(w[160]),       \
                 "r"(w[192]), "r"(w[224]), "r"(w[256]), "r"(w[288]), "r"(two_of_four(w[384]))); \
  out[threadIdx.x] = d[0];                                                                      \
  out[32 + threadIdx.x] = d[1];
#define INTEGERS(mnemonic, selector)                                                               \
  const u32* const w = in + threadIdx.x;                                                           \
  u32 d[4];                                                                                        \
  asm volatile(mnemonic                                                                            \
               " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%12,%13,%14,%15}, %16, " selector \
               ";"                                                                                 \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                    \
               : "r"(w[0]), "r"(w[32]), "r"(w[64]), "r"(w[96]), "r"(w[128]), "r"(w[160]),          \
                 "r"(w[192]), "r"(w[224]), "r"(w[256]), "r"(w[288]), "r"(w[320]), "r"(w[352]),     \
                 "r"(two_of_four(w[384])));                                                        \
  for (u32 i = 0; i < 4; ++i) out[32 * i + threadIdx.x] = d[i];
#define SHORT_INTEGERS(mnemonic, selector)                                                      \
  const u32* const w = in + threadIdx.x;                                                        \
  u32 d[4];                                                                                     \
  asm volatile(mnemonic " {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%9,%10,%11}, %12, " selector ";" \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                 \
               : "r"(w[0]), "r"(w[32]), "r"(w[128]), "r"(w[160]), "r"(w[256]), "r"(w[288]),     \
                 "r"(w[320]), "r"(w[352]), "r"(two_of_four(w[384])));                           \
  for (u32 i = 0; i < 4; ++i) out[32 * i + threadIdx.x] = d[i];

//! sparse_f16_all_sizes grid=1 block=32 in=416 out=128 input=f16number compare=exact
KERNEL(sparse_f16_all_sizes){
    FOUR_AND_FOUR("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "1",
                  addend, two_of_four)}
//! sparse_f16_one_size grid=1 block=32 in=416 out=128 input=f16unit compare=exact
KERNEL(sparse_f16_one_size){
    FOUR_AND_FOUR("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "1",
                  addend, two_of_four)}
//! sparse_f16_subnormal grid=1 block=32 in=416 out=128 input=f16denormal compare=exact
KERNEL(sparse_f16_subnormal){
    FOUR_AND_FOUR("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "1",
                  addend, two_of_four)}
//! sparse_f16_special grid=1 block=32 in=416 out=128 input=f16 compare=exact
KERNEL(sparse_f16_special){
    FOUR_AND_FOUR("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "1",
                  addend, two_of_four)}
//! sparse_f16_short grid=1 block=32 in=416 out=128 input=f16number compare=exact
KERNEL(sparse_f16_short){
    TWO_AND_TWO("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "2",
                addend, two_of_four)}
//! sparse_f16_to_f16 grid=1 block=32 in=416 out=64 input=f16unit compare=exact
KERNEL(sparse_f16_to_f16){
    TO_HALVES("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16", "0")}
//! sparse_bf16_near grid=1 block=32 in=416 out=128 input=bf16near compare=exact
KERNEL(sparse_bf16_near){
    FOUR_AND_FOUR("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", "0",
                  bf16_addend, two_of_four)}
//! sparse_bf16_short grid=1 block=32 in=416 out=128 input=bf16near compare=exact
KERNEL(sparse_bf16_short){
    TWO_AND_TWO("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "3",
                bf16_addend, two_of_four)}
//! sparse_tf32_near grid=1 block=32 in=416 out=128 input=f32near compare=exact
KERNEL(sparse_tf32_near){
    FOUR_AND_FOUR("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", "1",
                  f32_addend, one_of_two)}
//! sparse_tf32_short grid=1 block=32 in=416 out=128 input=f32near compare=exact
KERNEL(sparse_tf32_short){
    TWO_AND_TWO("mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "1",
                f32_addend, one_of_two)}
//! sparse_e4m3_e5m2 grid=1 block=32 in=416 out=128 input=bits compare=exact
KERNEL(sparse_e4m3_e5m2){
    FOUR_AND_FOUR("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32", "0",
                  addend, two_of_four)}
//! sparse_e5m2_e4m3 grid=1 block=32 in=416 out=128 input=bits compare=exact
KERNEL(sparse_e5m2_e4m3){
    FOUR_AND_FOUR("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e5m2.e4m3.f32", "0",
                  addend, two_of_four)}
//! sparse_s8_u8 grid=1 block=32 in=416 out=128 input=bits compare=exact
KERNEL(sparse_s8_u8){
    INTEGERS("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.s8.u8.s32", "0")}
//! sparse_s8_u8_short grid=1 block=32 in=416 out=128 input=bits compare=exact
KERNEL(sparse_s8_u8_short){
    SHORT_INTEGERS("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", "1")}
//! sparse_u8_s8 grid=1 block=32 in=416 out=128 input=bits compare=exact
KERNEL(sparse_u8_s8){
    INTEGERS("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.u8.s8.s32", "0")}
//! sparse_u8_s8_short grid=1 block=32 in=416 out=128 input=bits compare=exact
KERNEL(sparse_u8_s8_short){
    SHORT_INTEGERS("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", "1")}
//! sparse_s4_u4 grid=1 block=32 in=416 out=128 input=bits compare=exact
KERNEL(sparse_s4_u4){
    INTEGERS("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.s4.u4.s32", "0")}
//! sparse_s4_u4_short grid=1 block=32 in=416 out=128 input=bits compare=exact
KERNEL(sparse_s4_u4_short){
    SHORT_INTEGERS("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", "0")}
//! sparse_u4_s4 grid=1 block=32 in=416 out=128 input=bits compare=exact
KERNEL(sparse_u4_s4){
    INTEGERS("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.u4.s4.s32", "0")}
//! sparse_u4_s4_short grid=1 block=32 in=416 out=128 input=bits compare=exact
KERNEL(sparse_u4_s4_short) {
  SHORT_INTEGERS("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32", "0")
}
