// The video instructions, scalar and SIMD.
#include "corpus.cuh"

//! video_add grid=1 block=32 in=96 out=224 input=bits compare=exact
KERNEL(video_add) {
  fold_operations<u32>(
      in, out, OP32("vadd.u32.u32.u32 %0, %1, %2;"), OP32("vadd.s32.s32.s32.sat %0, %1, %2;"),
      OP32("vadd.s32.u32.s32 %0, %1.b1, %2.h1;"), OP32("vadd.u32.s32.s32.sat %0, %1.b3, %2.b0;"),
      OP32("vadd.s32.s32.u32.add %0, %1.h0, %2.b2, %3;"),
      OP32("vadd.s32.s32.s32.max %0, %1.h1, %2.h0, %3;"),
      OP32("vadd.u32.u32.u32.sat %0.b2, %1, %2, %3;"));
}

//! video_subtract grid=1 block=32 in=96 out=224 input=bits compare=exact
KERNEL(video_subtract) {
  fold_operations<u32>(
      in, out, OP32("vsub.u32.u32.u32 %0, %1, %2;"), OP32("vsub.s32.s32.s32.sat %0, %1, %2;"),
      OP32("vsub.u32.u32.u32.sat %0, %1.b1, %2.b2;"), OP32("vsub.s32.u32.u32 %0, %1.h1, %2.b0;"),
      OP32("vabsdiff.u32.u32.u32 %0, %1, %2;"), OP32("vabsdiff.u32.s32.s32.add %0, %1, %2, %3;"),
      OP32("vabsdiff.s32.s32.s32.sat %0, %1, %2;"));
}

//! video_minimum_maximum grid=1 block=32 in=96 out=192 input=bits compare=exact
KERNEL(video_minimum_maximum) {
  fold_operations<u32>(
      in, out, OP32("vmin.u32.u32.u32 %0, %1, %2;"), OP32("vmax.s32.s32.s32 %0, %1, %2;"),
      OP32("vmin.s32.s32.s32.add %0, %1.h0, %2.h1, %3;"),
      OP32("vmax.u32.u32.u32.max %0, %1.b0, %2.b3, %3;"),
      OP32("vmin.s32.u32.s32 %0, %1.b1, %2.b1;"), OP32("vmax.s32.s32.s32 %0.b0, %1, %2.h0, %3;"));
}

//! video_shift grid=1 block=32 in=96 out=192 input=bits compare=exact
KERNEL(video_shift) {
  fold_operations<u32>(in, out, OP32("vshl.u32.u32.u32.clamp %0, %1, %2;"),
                       OP32("vshl.u32.u32.u32.wrap %0, %1, %2;"),
                       OP32("vshr.u32.u32.u32.clamp %0, %1, %2;"),
                       OP32("vshr.s32.s32.u32.wrap %0, %1, %2;"),
                       OP32("vshr.s32.s32.u32.clamp.add %0, %1, %2.b0, %3;"),
                       OP32("vshl.u32.u32.u32.wrap.add %0, %1.h1, %2.b1, %3;"));
}

//! video_multiply_add grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(video_multiply_add) {
  fold_operations<u32>(in, out, OP32("vmad.u32.u32.u32 %0, %1.h0, %2.h1, %3;"),
                       OP32("vmad.s32.s32.s32 %0, %1.h1, %2.b0, %3;"),
                       OP32("vmad.s32.s32.s32.shr7 %0, %1.h0, %2.h0, %3;"),
                       OP32("vmad.u32.u32.u32.shr15 %0, %1.b2, %2.h1, %3;"),
                       OP32("vmad.s32.u32.s32.sat %0, %1.h0, %2.h1, -%3;"),
                       OP32("vmad.s32.s32.s32.sat.shr7 %0, -%1.h0, %2.h1, %3;"),
                       OP32("vmad.u32.u32.u32.po %0, %1.b1, %2.h0, %3;"),
                       OP32("vmad.s32.s32.s32.po.shr15 %0, %1.h0, %2.b3, %3;"));
}

//! video_compare grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(video_compare) {
  fold_operations<u32>(
      in, out, OP32("vset.u32.u32.lt %0, %1, %2;"), OP32("vset.s32.s32.ge %0, %1, %2;"),
      OP32("vset.s32.u32.eq %0, %1.b0, %2.b1;"), OP32("vset.u32.s32.ne %0, %1.h0, %2.h1;"),
      OP32("vset.s32.s32.le.add %0, %1, %2, %3;"), OP32("vset.u32.u32.gt.max %0, %1, %2, %3;"),
      OP32("vset.s32.s32.gt.min %0, %1.h1, %2.b3, %3;"),
      OP32("vset.u32.u32.lt %0.b1, %1, %2, %3;"));
}

//! simd_halves grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(simd_halves) {
  fold_operations<u32>(
      in, out, OP32("vadd2.u32.u32.u32 %0, %1, %2, %3;"),
      OP32("vadd2.s32.s32.s32.sat %0, %1, %2, %3;"), OP32("vsub2.s32.s32.s32.sat %0, %1, %2, %3;"),
      OP32("vsub2.u32.u32.u32.add %0, %1, %2, %3;"), OP32("vavrg2.s32.s32.s32 %0, %1, %2, %3;"),
      OP32("vabsdiff2.u32.s32.s32 %0, %1, %2, %3;"), OP32("vmin2.s32.s32.s32 %0, %1, %2, %3;"),
      OP32("vmax2.u32.u32.u32 %0.h0, %1, %2, %3;"));
}

//! simd_bytes grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(simd_bytes) {
  fold_operations<u32>(
      in, out, OP32("vadd4.u32.u32.u32.sat %0, %1, %2, %3;"),
      OP32("vadd4.s32.s32.s32 %0, %1, %2, %3;"), OP32("vsub4.u32.u32.u32 %0, %1, %2, %3;"),
      OP32("vavrg4.u32.u32.u32 %0, %1, %2, %3;"), OP32("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;"),
      OP32("vmin4.u32.u32.u32 %0, %1, %2, %3;"), OP32("vmax4.s32.s32.s32 %0.b20, %1, %2, %3;"),
      OP32("vabsdiff4.s32.s32.s32.sat %0, %1, %2, %3;"));
}

//! simd_compare grid=1 block=32 in=96 out=192 input=bits compare=exact
KERNEL(simd_compare) {
  fold_operations<u32>(
      in, out, OP32("vset2.u32.u32.lt %0, %1, %2, %3;"), OP32("vset2.s32.s32.ge %0, %1, %2, %3;"),
      OP32("vset4.u32.u32.eq %0, %1, %2, %3;"), OP32("vset4.s32.s32.gt %0, %1, %2, %3;"),
      OP32("vset4.u32.u32.ne.add %0, %1, %2, %3;"), OP32("vset2.s32.s32.le.add %0, %1, %2, %3;"));
}

//! simd_intrinsics grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(simd_intrinsics) {
  fold_operations<u32>(
      in, out, [](u32 a, u32 b, u32) { return __vaddss2(a, b); },
      [](u32 a, u32 b, u32) { return __vavgu4(a, b); },
      [](u32 a, u32 b, u32) { return __vcmpgts4(a, b); },
      [](u32 a, u32 b, u32) { return __vsadu4(a, b); },
      [](u32 a, u32 b, u32) { return __vsubus2(a, b); },
      [](u32 a, u32 b, u32 c) { return __vimax3_s16x2_relu(a, b, c); },
      [](u32 a, u32 b, u32) { return __vhaddu4(a, b); },
      [](u32 a, u32 b, u32 c) { return __viaddmin_s32(a, b, c); });
}
