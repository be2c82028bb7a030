// f16 and bf16, alone and in pairs.
#include "corpus.cuh"

//! f16_arithmetic grid=1 block=32 in=48 out=256 input=f16 compare=exact
KERNEL(f16_arithmetic) {
  fold_operations<u16>(in, out, OP16("add.f16 %0, %1, %2;"), OP16("sub.rn.f16 %0, %1, %2;"),
                       OP16("mul.f16 %0, %1, %2;"), OP16("fma.rn.f16 %0, %1, %2, %3;"),
                       OP16("add.ftz.f16 %0, %1, %2;"), OP16("mul.sat.f16 %0, %1, %2;"),
                       OP16("fma.rn.ftz.sat.f16 %0, %1, %2, %3;"),
                       OP16("fma.rn.relu.f16 %0, %1, %2, %3;"));
}

//! f16_flush grid=1 block=32 in=48 out=192 input=f16denormal compare=exact
KERNEL(f16_flush) {
  fold_operations<u16>(in, out, OP16("add.ftz.f16 %0, %1, %2;"),
                       OP16("sub.ftz.sat.f16 %0, %1, %2;"), OP16("mul.ftz.f16 %0, %1, %2;"),
                       OP16("fma.rn.ftz.f16 %0, %1, %2, %3;"), OP16("add.f16 %0, %1, %2;"),
                       OP16("mul.f16 %0, %1, %2;"));
}

//! f16x2_arithmetic grid=1 block=32 in=96 out=256 input=f16 compare=exact
KERNEL(f16x2_arithmetic) {
  fold_operations<u32>(in, out, OP32("add.f16x2 %0, %1, %2;"), OP32("sub.f16x2 %0, %1, %2;"),
                       OP32("mul.rn.f16x2 %0, %1, %2;"), OP32("fma.rn.f16x2 %0, %1, %2, %3;"),
                       OP32("add.sat.f16x2 %0, %1, %2;"), OP32("mul.ftz.f16x2 %0, %1, %2;"),
                       OP32("fma.rn.relu.f16x2 %0, %1, %2, %3;"),
                       OP32("fma.rn.sat.f16x2 %0, %1, %2, %3;"));
}

//! bf16_arithmetic grid=1 block=32 in=48 out=160 input=bf16 compare=exact
KERNEL(bf16_arithmetic) {
  fold_operations<u16>(in, out, OP16("add.bf16 %0, %1, %2;"), OP16("sub.bf16 %0, %1, %2;"),
                       OP16("mul.bf16 %0, %1, %2;"), OP16("fma.rn.bf16 %0, %1, %2, %3;"),
                       OP16("fma.rn.relu.bf16 %0, %1, %2, %3;"));
}

//! bf16x2_arithmetic grid=1 block=32 in=96 out=160 input=bf16 compare=exact
KERNEL(bf16x2_arithmetic) {
  fold_operations<u32>(in, out, OP32("add.rn.bf16x2 %0, %1, %2;"), OP32("sub.bf16x2 %0, %1, %2;"),
                       OP32("mul.bf16x2 %0, %1, %2;"), OP32("fma.rn.bf16x2 %0, %1, %2, %3;"),
                       OP32("fma.rn.relu.bf16x2 %0, %1, %2, %3;"));
}

//! f16_minimum_maximum grid=1 block=32 in=96 out=256 input=f16 compare=exact
KERNEL(f16_minimum_maximum) {
  fold_operations<u16>(in, out, OP16("min.f16 %0, %1, %2;"), OP16("max.NaN.f16 %0, %1, %2;"),
                       OP16("min.ftz.f16 %0, %1, %2;"), OP16("max.xorsign.abs.f16 %0, %1, %2;"));
  fold_operations<u32>(in, out + 128, OP32("max.f16x2 %0, %1, %2;"),
                       OP32("min.NaN.f16x2 %0, %1, %2;"), OP32("max.ftz.NaN.f16x2 %0, %1, %2;"),
                       OP32("min.NaN.xorsign.abs.f16x2 %0, %1, %2;"));
}

//! bf16_minimum_maximum grid=1 block=32 in=96 out=192 input=bf16 compare=exact
KERNEL(bf16_minimum_maximum) {
  fold_operations<u16>(in, out, OP16("min.bf16 %0, %1, %2;"), OP16("max.NaN.bf16 %0, %1, %2;"),
                       OP16("max.xorsign.abs.bf16 %0, %1, %2;"));
  fold_operations<u32>(in, out + 96, OP32("max.bf16x2 %0, %1, %2;"),
                       OP32("min.NaN.bf16x2 %0, %1, %2;"),
                       OP32("min.NaN.xorsign.abs.bf16x2 %0, %1, %2;"));
}

//! half_signs grid=1 block=32 in=96 out=256 input=f16number compare=exact
KERNEL(half_signs) {
  fold_operations<u16>(in, out, OP16("neg.f16 %0, %2;"), OP16("abs.f16 %0, %2;"),
                       OP16("neg.bf16 %0, %2;"), OP16("abs.bf16 %0, %2;"));
  fold_operations<u32>(in, out + 128, OP32("neg.f16x2 %0, %2;"), OP32("abs.f16x2 %0, %2;"),
                       OP32("neg.bf16x2 %0, %2;"), OP32("abs.bf16x2 %0, %2;"));
}

//! half_dot_product grid=2 block=64 in=256 out=128 input=f16unit compare=exact
KERNEL(half_dot_product) {
  // A sum of pairs in f16 that stays in order, then joined.
  const u32 t = global_thread();
  u32 sum = 0;
  for (u32 j = 0; j < 24; ++j) {
    asm("fma.rn.f16x2 %0, %1, %2, %0;"
        : "+r"(sum)
        : "r"(in[(t + j) % n]), "r"(in[(t * 3 + 2 * j) % n]));
  }
  u32 joined;
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; add.f16 l, l, h; cvt.f32.f16 %0, l; }"
      : "=r"(joined)
      : "r"(sum));
  out[t] = joined;
}
