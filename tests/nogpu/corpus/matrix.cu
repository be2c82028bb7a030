// Matrix instructions: results of single ones, word by word, so that their rounding can be told,
// and the places of elements in fragments.
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

// d, four words a lane, of `A` and `B` words and four words for C.
#define FOUR_TO_TWO(mnemonic, c_of)                                                           \
  const u32* const w = in + threadIdx.x;                                                      \
  float d[4];                                                                                 \
  asm volatile(mnemonic " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"          \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                               \
               : "r"(w[0]), "r"(w[32]), "r"(w[64]), "r"(w[96]), "r"(w[128]), "r"(w[160]),     \
                 "f"(c_of(w[192])), "f"(c_of(w[224])), "f"(c_of(w[256])), "f"(c_of(w[288]))); \
  for (u32 i = 0; i < 4; ++i) out[32 * i + threadIdx.x] = __float_as_uint(canonical(d[i]));
#define TWO_TO_ONE(mnemonic, c_of)                                                         \
  const u32* const w = in + threadIdx.x;                                                   \
  float d[4];                                                                              \
  asm volatile(mnemonic " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"                   \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                            \
               : "r"(w[0]), "r"(w[32]), "r"(w[128]), "f"(c_of(w[192])), "f"(c_of(w[224])), \
                 "f"(c_of(w[256])), "f"(c_of(w[288])));                                    \
  for (u32 i = 0; i < 4; ++i) out[32 * i + threadIdx.x] = __float_as_uint(canonical(d[i]));
#define TO_HALVES(mnemonic)                                                               \
  const u32* const w = in + threadIdx.x;                                                  \
  u32 d[2];                                                                               \
  asm volatile(mnemonic " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"                      \
               : "=r"(d[0]), "=r"(d[1])                                                   \
               : "r"(w[0]), "r"(w[32]), "r"(w[64]), "r"(w[96]), "r"(w[128]), "r"(w[160]), \
                 "r"(w[192]), "r"(w[224]));                                               \
  out[threadIdx.x] = d[0];                                                                \
  out[32 + threadIdx.x] = d[1];

//! mma_f16_of_all_sizes grid=1 block=32 in=320 out=128 input=f16number compare=exact
KERNEL(mma_f16_of_all_sizes){
    FOUR_TO_TWO("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", addend)}
//! mma_f16_of_one_size grid=1 block=32 in=320 out=128 input=f16unit compare=exact
KERNEL(mma_f16_of_one_size){
    FOUR_TO_TWO("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", addend)}
//! mma_f16_subnormal grid=1 block=32 in=320 out=128 input=f16denormal compare=exact
KERNEL(mma_f16_subnormal){FOUR_TO_TWO("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", addend)}
//! mma_f16_special grid=1 block=32 in=320 out=128 input=f16 compare=exact
KERNEL(mma_f16_special){FOUR_TO_TWO("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", addend)}
//! mma_f16_short grid=1 block=32 in=320 out=128 input=f16number compare=exact
KERNEL(mma_f16_short){TWO_TO_ONE("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", addend)}
//! mma_f16_to_f16 grid=1 block=32 in=256 out=64 input=f16unit compare=exact
KERNEL(mma_f16_to_f16){TO_HALVES("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16")}
//! mma_f16_to_f16_of_all_sizes grid=1 block=32 in=256 out=64 input=f16 compare=exact
KERNEL(mma_f16_to_f16_of_all_sizes){TO_HALVES("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16")}
//! mma_bf16_near grid=1 block=32 in=320 out=128 input=bf16near compare=exact
KERNEL(mma_bf16_near){
    FOUR_TO_TWO("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", bf16_addend)}
//! mma_bf16_any grid=1 block=32 in=320 out=128 input=bf16 compare=exact
KERNEL(mma_bf16_any){
    FOUR_TO_TWO("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", bf16_addend)}
//! mma_bf16_subnormal grid=1 block=32 in=320 out=128 input=denormal compare=exact
KERNEL(mma_bf16_subnormal){
    FOUR_TO_TWO("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", f32_addend)}
//! mma_bf16_short grid=1 block=32 in=320 out=128 input=bf16near compare=exact
KERNEL(mma_bf16_short){
    TWO_TO_ONE("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", bf16_addend)}
//! mma_tf32_near grid=1 block=32 in=320 out=128 input=f32near compare=exact
KERNEL(mma_tf32_near){FOUR_TO_TWO("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", f32_addend)}
//! mma_tf32_any grid=1 block=32 in=320 out=128 input=f32 compare=exact
KERNEL(mma_tf32_any){FOUR_TO_TWO("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", f32_addend)}
//! mma_tf32_short grid=1 block=32 in=320 out=128 input=f32near compare=exact
KERNEL(mma_tf32_short){TWO_TO_ONE("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", f32_addend)}
//! mma_e4m3 grid=1 block=32 in=320 out=128 input=bits compare=exact
KERNEL(mma_e4m3){FOUR_TO_TWO("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", addend)}
//! mma_e4m3_finite grid=1 block=32 in=320 out=128 input=f16unit compare=exact
KERNEL(mma_e4m3_finite){FOUR_TO_TWO("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", addend)}
//! mma_e5m2 grid=1 block=32 in=320 out=128 input=bf16near compare=exact
KERNEL(mma_e5m2){FOUR_TO_TWO("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", addend)}
//! mma_e5m2_short grid=1 block=32 in=320 out=128 input=f16unit compare=exact
KERNEL(mma_e5m2_short){TWO_TO_ONE("mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32", addend)}
//! mma_e4m3_to_f16 grid=1 block=32 in=256 out=64 input=f16unit compare=exact
KERNEL(mma_e4m3_to_f16){TO_HALVES("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16")}

/// What one sum of sixteen products keeps. Row i of A has 1, 1.5 or 2^-12 at k = i and 2^-12 in
/// places that i chooses; column j of B has 2^-(3 + j) there, and 1 or 1.5 elsewhere.
__device__ inline u32 probe_a(u32 row, u32 k) {
  if (k == row) return row % 3 == 0 ? 0x3c00 : row % 3 == 1 ? 0x3e00 : 0xbc00;
  return (row * 5 + k * 3) % 4 == 0 ? 0x0c00 + (row % 2) * 0x8000 : 0;
}
__device__ inline u32 probe_b(u32 k, u32 column) {
  return (k + column) % 2 == 0 ? (15 - (9 + column)) << 10 : k % 3 == 0 ? 0x3e00 : 0x3c00;
}

//! mma_cut_addends grid=1 block=32 in=32 out=256 input=small compare=exact
KERNEL(mma_cut_addends) {
  const u32 t = threadIdx.x, group = t / 4, first = t % 4 * 2;
  u32 a[4], b[2];
  for (u32 i = 0; i < 4; ++i) {
    const u32 row = group + i % 2 * 8, k = first + i / 2 * 8;
    a[i] = probe_a(row, k) | probe_a(row, k + 1) << 16;
  }
  for (u32 i = 0; i < 2; ++i)
    b[i] = probe_b(first + 8 * i, group) | probe_b(first + 8 * i + 1, group) << 16;
  const float cs[2] = {1.0f, -0x1p-24f};
  for (u32 s = 0; s < 2; ++s) {
    float d[4] = {cs[s], -cs[s], cs[s] * 3, cs[s] * 0x1p-3f};
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (u32 i = 0; i < 4; ++i) out[128 * s + 32 * i + t] = __float_as_uint(d[i]);
  }
}

//! mma_of_quarters grid=1 block=32 in=384 out=256 input=f16unit compare=exact
KERNEL(mma_of_quarters) {
  const u32* const w = in + threadIdx.x;
  float d[8];
  for (u32 i = 0; i < 8; ++i) d[i] = addend(w[128 + 32 * i]);
  asm volatile(
      "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, "
      "{%10,%11}, {%0,%1,%2,%3,%4,%5,%6,%7};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7])
      : "r"(w[0]), "r"(w[32]), "r"(w[64]), "r"(w[96]));
  for (u32 i = 0; i < 8; ++i) out[32 * i + threadIdx.x] = __float_as_uint(d[i]);
}

#define QUARTERS_TO_HALVES(layouts)                                                       \
  asm volatile("mma.sync.aligned.m8n8k4." layouts                                         \
               ".f16.f16.f16.f16 {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%9,%10,%11};"       \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                           \
               : "r"(w[0]), "r"(w[32]), "r"(w[64]), "r"(w[96]), "r"(w[128]), "r"(w[160]), \
                 "r"(w[192]), "r"(w[224]))
//! mma_of_quarters_to_f16 grid=1 block=32 in=256 out=128 input=f16unit compare=exact
KERNEL(mma_of_quarters_to_f16) {
  const u32* const w = in + threadIdx.x;
  u32 d[4], h[4] = {1, 1, 1, 1};
  QUARTERS_TO_HALVES("row.row");
  for (u32 i = 0; i < 4; ++i) fold(h[i], d[i]);
  QUARTERS_TO_HALVES("col.row");
  for (u32 i = 0; i < 4; ++i) fold(h[i], d[i]);
  QUARTERS_TO_HALVES("col.col");
  for (u32 i = 0; i < 4; ++i) fold(h[i], d[i]);
  QUARTERS_TO_HALVES("row.col");
  for (u32 i = 0; i < 4; ++i) out[32 * i + threadIdx.x] = mixed(h[i], d[i]);
}

//! mma_f64 grid=1 block=32 in=1024 out=256 input=f64near compare=exact
KERNEL(mma_f64) {
  const double* const w = reinterpret_cast<const double*>(in) + threadIdx.x;
  double d[4];
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
      "{%4,%5,%6,%7,%8,%9,%10,%11}, "
      "{%12,%13,%14,%15}, {%16,%17,%18,%19};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(w[0]), "d"(w[32]), "d"(w[64]), "d"(w[96]), "d"(w[128]), "d"(w[160]), "d"(w[192]),
        "d"(w[224]), "d"(w[256]), "d"(w[288]), "d"(w[320]), "d"(w[352]), "d"(w[384]), "d"(w[416]),
        "d"(w[448]), "d"(w[480]));
  for (u32 i = 0; i < 4; ++i) reinterpret_cast<double*>(out)[32 * i + threadIdx.x] = d[i];
}

#define F64_SMALL(modifier)                               \
  asm volatile("mma.sync.aligned.m8n8k4.row.col" modifier \
               ".f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, "   \
               "{%4,%5};"                                 \
               : "=d"(d[0]), "=d"(d[1])                   \
               : "d"(w[0]), "d"(w[32]), "d"(w[64]), "d"(w[96]))
//! mma_f64_rounded grid=1 block=32 in=256 out=64 input=f64near compare=exact
KERNEL(mma_f64_rounded) {
  const double* const w = reinterpret_cast<const double*>(in) + threadIdx.x;
  double d[2];
  u32 h[2] = {1, 1};
  const auto take = [&] {
    for (u32 i = 0; i < 2; ++i) fold(h[i], d[i]);
  };
  F64_SMALL("");
  take();
  F64_SMALL(".rz");
  take();
  F64_SMALL(".rm");
  take();
  F64_SMALL(".rp");
  take();
  for (u32 i = 0; i < 2; ++i) out[32 * i + threadIdx.x] = h[i];
}

#define INTEGERS_16(mnemonic, more)                                                       \
  asm volatile("mma.sync.aligned." mnemonic                                               \
               " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "                                 \
               "{%10,%11,%12,%13};"                                                       \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                           \
               : "r"(w[0]), "r"(w[32]), "r"(w[64]), "r"(w[96]), "r"(w[128]), "r"(w[160]), \
                 "r"(w[192]), "r"(w[224]), "r"(w[256]), "r"(w[288]));                     \
  for (u32 i = 0; i < 4; ++i) fold(h, d[i]);                                              \
  asm volatile("mma.sync.aligned." more " {%0,%1}, {%2}, {%3}, {%4,%5};"                  \
               : "=r"(d[0]), "=r"(d[1])                                                   \
               : "r"(w[0]), "r"(w[128]), "r"(w[192]), "r"(w[224]));                       \
  for (u32 i = 0; i < 2; ++i) fold(h, d[i]);                                              \
  *to = h;                                                                                \
  to += 32;
//! mma_integers grid=1 block=32 in=320 out=256 input=bits compare=exact
KERNEL(mma_integers) {
  const u32* const w = in + threadIdx.x;
  u32* to = out + threadIdx.x;
  u32 d[4], h = 1;
  INTEGERS_16("m16n8k32.row.col.s32.s8.s8.s32", "m8n8k16.row.col.s32.s8.s8.s32")
  INTEGERS_16("m16n8k32.row.col.satfinite.s32.s8.u8.s32", "m8n8k16.row.col.satfinite.s32.u8.s8.s32")
  INTEGERS_16("m16n8k32.row.col.s32.u8.u8.s32", "m8n8k16.row.col.s32.u8.u8.s32")
  INTEGERS_16("m16n8k64.row.col.s32.s4.s4.s32", "m8n8k32.row.col.s32.s4.s4.s32")
  INTEGERS_16("m16n8k64.row.col.satfinite.s32.s4.u4.s32", "m8n8k32.row.col.satfinite.s32.u4.s4.s32")
  INTEGERS_16("m16n8k64.row.col.s32.u4.u4.s32", "m8n8k32.row.col.s32.u4.u4.s32")
  INTEGERS_16("m16n8k256.row.col.s32.b1.b1.s32.and.popc", "m8n8k128.row.col.s32.b1.b1.s32.and.popc")
  INTEGERS_16("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "m8n8k128.row.col.s32.b1.b1.s32.xor.popc")
}

// The fragments of matrices whose elements are their numbers in memory, register by register.
#define LOAD_EIGHT(role, layout, shape, type)                                            \
  asm volatile("wmma.load." role ".sync.aligned." layout "." shape ".shared." type       \
               " {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 32;"                                   \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), \
                 "=r"(r[6]), "=r"(r[7])                                                  \
               : "r"(address))
#define LOAD_FOUR(role, layout, shape, type)                                       \
  asm volatile("wmma.load." role ".sync.aligned." layout "." shape ".shared." type \
               " {%0,%1,%2,%3}, [%4], 32;"                                         \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                    \
               : "r"(address))
#define LOAD_TWO(role, layout, shape, type)                                        \
  asm volatile("wmma.load." role ".sync.aligned." layout "." shape ".shared." type \
               " {%0,%1}, [%2], 32;"                                               \
               : "=r"(r[0]), "=r"(r[1])                                            \
               : "r"(address))

/// Halves or words that count, in 32 lines of 32 elements.
template <class T> __device__ inline u32 numbered(T* room) {
  for (u32 i = threadIdx.x; i < 1024; i += 32) room[i] = static_cast<T>(i * 0x9e37u + 1);
  __syncwarp();
  return static_cast<u32>(__cvta_generic_to_shared(room));
}

//! wmma_fragments_of_halves grid=1 block=32 in=32 out=256 input=small compare=exact
KERNEL(wmma_fragments_of_halves) {
  __shared__ __align__(32) u16 room[1024];
  const u32 address = numbered(room);
  u32 r[8], k = 0;
  const auto keep = [&](u32 count) {
    u32 h = 1;
    for (u32 i = 0; i < count; ++i) fold(h, r[i]);
    out[32 * k++ + threadIdx.x] = h;
  };
  LOAD_EIGHT("a", "row", "m16n16k16", "f16");
  keep(8);
  LOAD_EIGHT("b", "row", "m16n16k16", "f16");
  keep(8);
  LOAD_EIGHT("a", "col", "m32n8k16", "f16");
  keep(8);
  LOAD_EIGHT("b", "col", "m32n8k16", "f16");
  keep(8);
  LOAD_EIGHT("a", "row", "m8n32k16", "f16");
  keep(8);
  LOAD_EIGHT("b", "row", "m8n32k16", "f16");
  keep(8);
  LOAD_FOUR("a", "row", "m16n16k16", "bf16");
  keep(4);
  LOAD_FOUR("c", "row", "m8n32k16", "f16");
  keep(4);
}

//! wmma_fragments_of_words grid=1 block=32 in=32 out=256 input=small compare=exact
KERNEL(wmma_fragments_of_words) {
  __shared__ __align__(32) u32 room[1024];
  const u32 address = numbered(room);
  u32 r[8], k = 0;
  const auto keep = [&](u32 count) {
    u32 h = 1;
    for (u32 i = 0; i < count; ++i) fold(h, r[i]);
    out[32 * k++ + threadIdx.x] = h;
  };
  LOAD_EIGHT("c", "row", "m16n16k16", "s32");
  keep(8);
  LOAD_EIGHT("c", "col", "m32n8k16", "s32");
  keep(8);
  LOAD_EIGHT("c", "row", "m8n32k16", "s32");
  keep(8);
  LOAD_FOUR("a", "row", "m16n16k8", "tf32");
  keep(4);
  LOAD_FOUR("b", "row", "m16n16k8", "tf32");
  keep(4);
  LOAD_TWO("a", "row", "m16n16k16", "s8");
  keep(2);
  LOAD_TWO("b", "col", "m16n16k16", "u8");
  keep(2);
  LOAD_TWO("c", "col", "m8n8k32", "s32");
  keep(2);
}

//! wmma_of_f16 grid=1 block=32 in=512 out=256 input=f16unit compare=exact
KERNEL(wmma_of_f16) {
  float d[8];
  asm volatile(
      "{ .reg .b32 a<8>, b<8>; .reg .f32 c<8>;\n"
      "wmma.load.a.sync.aligned.row.m16n16k16.f16 {a0,a1,a2,a3,a4,a5,a6,a7}, [%8], 16;\n"
      "wmma.load.b.sync.aligned.col.m16n16k16.f16 {b0,b1,b2,b3,b4,b5,b6,b7}, [%9], 16;\n"
      "wmma.load.c.sync.aligned.row.m16n16k16.f32 {c0,c1,c2,c3,c4,c5,c6,c7}, [%10], 16;\n"
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7},\n"
      "{a0,a1,a2,a3,a4,a5,a6,a7}, {b0,b1,b2,b3,b4,b5,b6,b7}, {c0,c1,c2,c3,c4,c5,c6,c7}; }"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]),
        "=f"(d[7])
      : "l"(in), "l"(in + 128), "l"(in + 256));
  for (u32 i = 0; i < 8; ++i) out[32 * i + threadIdx.x] = __float_as_uint(d[i]);
}

// Four products and four more, one sum after the other, unlike mma.sync.
//! wmma_of_tf32 grid=1 block=32 in=512 out=256 input=f32near compare=exact
KERNEL(wmma_of_tf32) {
  float d[8];
  asm volatile(
      "{ .reg .b32 a<4>, b<4>; .reg .f32 c<8>;\n"
      "wmma.load.a.sync.aligned.row.m16n16k8.tf32 {a0,a1,a2,a3}, [%8], 8;\n"
      "wmma.load.b.sync.aligned.col.m16n16k8.tf32 {b0,b1,b2,b3}, [%9], 8;\n"
      "wmma.load.c.sync.aligned.row.m16n16k8.f32 {c0,c1,c2,c3,c4,c5,c6,c7}, [%10], 16;\n"
      "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%0,%1,%2,%3,%4,%5,%6,%7},\n"
      "{a0,a1,a2,a3}, {b0,b1,b2,b3}, {c0,c1,c2,c3,c4,c5,c6,c7}; }"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]),
        "=f"(d[7])
      : "l"(in), "l"(in + 128), "l"(in + 256));
  for (u32 i = 0; i < 8; ++i) out[32 * i + threadIdx.x] = __float_as_uint(d[i]);
}

//! small_matrices grid=1 block=32 in=128 out=256 input=bits compare=exact
KERNEL(small_matrices) {
  __shared__ __align__(16) u32 room[128], other[128];
  const u32 t = threadIdx.x;
  for (u32 i = 0; i < 4; ++i) room[32 * i + t] = in[32 * i + t];
  __syncwarp();
  const auto from = static_cast<u32>(__cvta_generic_to_shared(room)) + 16 * ((t * 5 + 3) % 32);
  const auto to = static_cast<u32>(__cvta_generic_to_shared(other)) + 16 * ((t * 11 + 7) % 32);
  u32 r[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from));
  for (u32 i = 0; i < 4; ++i) out[32 * i + t] = r[i];
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(from));
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r[3]) : "r"(r[0]));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(to),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
  __syncwarp();
  for (u32 i = 0; i < 4; ++i) out[128 + 32 * i + t] = other[32 * i + t];
}
