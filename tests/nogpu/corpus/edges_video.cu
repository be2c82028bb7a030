// The video instructions in all combinations of types, their operands crossing the edges of ranges:
// what a device without these instructions makes of them is not what the PTX manual says.
#include "corpus.cuh"

#define EACH_SIGN(name, tail)                                                                     \
  OP32(name ".u32.u32.u32" tail), OP32(name ".u32.u32.s32" tail), OP32(name ".u32.s32.u32" tail), \
      OP32(name ".u32.s32.s32" tail), OP32(name ".s32.u32.u32" tail),                             \
      OP32(name ".s32.u32.s32" tail), OP32(name ".s32.s32.u32" tail),                             \
      OP32(name ".s32.s32.s32" tail)

#define EACH_FORM(name)                                                                            \
  EACH_SIGN(name, " %0, %1, %2;"), EACH_SIGN(name, ".sat %0, %1, %2;"),                            \
      EACH_SIGN(name, ".min %0, %1, %2, %3;"), EACH_SIGN(name, ".max %0, %1.h1, %2, %3;"),         \
      EACH_SIGN(name, ".sat.min %0, %1, %2.b3, %3;"), EACH_SIGN(name, ".sat.max %0, %1, %2, %3;"), \
      EACH_SIGN(name, " %0.h1, %1, %2, %3;"), EACH_SIGN(name, ".sat %0.h1, %1.b1, %2, %3;"),       \
      EACH_SIGN(name, ".sat %0.b2, %1, %2, %3;")

//! video_sums grid=1 block=32 in=96 out=144 input=edges compare=exact
KERNEL(video_sums) { digest_operations<u32>(in, out, EACH_FORM("vadd"), EACH_FORM("vsub")); }

//! video_differences grid=1 block=32 in=96 out=72 input=edges compare=exact
KERNEL(video_differences) { digest_operations<u32>(in, out, EACH_FORM("vabsdiff")); }

//! video_extrema grid=1 block=32 in=96 out=144 input=edges compare=exact
KERNEL(video_extrema) { digest_operations<u32>(in, out, EACH_FORM("vmin"), EACH_FORM("vmax")); }

#define EACH_SHIFTED(name, tail)                                                                  \
  OP32(name ".u32.u32.u32" tail), OP32(name ".u32.s32.u32" tail), OP32(name ".s32.u32.u32" tail), \
      OP32(name ".s32.s32.u32" tail)

#define EACH_SHIFT(name, mode)                                                             \
  EACH_SHIFTED(name, mode " %0, %1, %2;"), EACH_SHIFTED(name, ".sat" mode " %0, %1, %2;"), \
      EACH_SHIFTED(name, mode ".min %0, %1, %2.b0, %3;"),                                  \
      EACH_SHIFTED(name, mode ".max %0, %1, %2.h0, %3;"),                                  \
      EACH_SHIFTED(name, ".sat" mode ".min %0, %1, %2, %3;"),                              \
      EACH_SHIFTED(name, ".sat" mode " %0.b1, %1, %2, %3;"),                               \
      EACH_SHIFTED(name, ".sat" mode " %0.h1, %1.h0, %2, %3;"),                            \
      EACH_SHIFTED(name, mode " %0.h1, %1, %2, %3;")

//! video_shifts_left grid=1 block=32 in=96 out=64 input=edges compare=exact
KERNEL(video_shifts_left) {
  digest_operations<u32>(in, out, EACH_SHIFT("vshl", ".clamp"), EACH_SHIFT("vshl", ".wrap"));
}

//! video_shifts_right grid=1 block=32 in=96 out=64 input=edges compare=exact
KERNEL(video_shifts_right) {
  digest_operations<u32>(in, out, EACH_SHIFT("vshr", ".clamp"), EACH_SHIFT("vshr", ".wrap"));
}

//! video_products grid=1 block=32 in=96 out=80 input=edges compare=exact
KERNEL(video_products) {
  digest_operations<u32>(
      in, out, EACH_SIGN("vmad", " %0, %1.h0, %2, %3;"), EACH_SIGN("vmad", " %0, %1, %2.b3, %3;"),
      EACH_SIGN("vmad", ".sat %0, %1.h1, %2.h0, %3;"), EACH_SIGN("vmad", ".sat %0, %1, %2.b0, %3;"),
      EACH_SIGN("vmad", ".shr7 %0, %1, %2.h1, %3;"),
      EACH_SIGN("vmad", ".sat.shr7 %0, %1.b2, %2, %3;"),
      EACH_SIGN("vmad", ".po.sat.shr15 %0, %1.h1, %2.h1, %3;"),
      EACH_SIGN("vmad", ".po.shr15 %0, %1, %2.b1, %3;"),
      EACH_SIGN("vmad", ".sat %0, -%1.h0, %2, %3;"),
      EACH_SIGN("vmad", ".sat.shr7 %0, %1, %2.h0, -%3;"));
}

#define EACH_COMPARED(types, tail)                                                                \
  OP32("vset." types ".eq" tail), OP32("vset." types ".ne" tail), OP32("vset." types ".lt" tail), \
      OP32("vset." types ".le" tail), OP32("vset." types ".gt" tail),                             \
      OP32("vset." types ".ge" tail)
#define EACH_COMPARISON(types)                                                                \
  EACH_COMPARED(types, ".min %0, %1, %2, %3;"), EACH_COMPARED(types, ".max %0, %1, %2, %3;"), \
      EACH_COMPARED(types, " %0.h1, %1.b0, %2, %3;")

//! video_comparisons grid=1 block=32 in=96 out=72 input=edges compare=exact
KERNEL(video_comparisons) {
  digest_operations<u32>(in, out, EACH_COMPARISON("u32.u32"), EACH_COMPARISON("u32.s32"),
                         EACH_COMPARISON("s32.u32"), EACH_COMPARISON("s32.s32"));
}

#define EACH_PAIR(name)                                                                    \
  EACH_SIGN(name, " %0.h1, %1.h13, %2.h02, %3;"), EACH_SIGN(name, ".sat %0, %1, %2, %3;"), \
      EACH_SIGN(name, ".add %0, %1, %2.h20, %3;")

//! simd_pairs grid=1 block=32 in=96 out=144 input=edges compare=exact
KERNEL(simd_pairs) {
  digest_operations<u32>(in, out, EACH_PAIR("vadd2"), EACH_PAIR("vsub2"), EACH_PAIR("vavrg2"),
                         EACH_PAIR("vabsdiff2"), EACH_PAIR("vmin2"), EACH_PAIR("vmax2"));
}

#define EACH_QUAD(name)                                                                         \
  EACH_SIGN(name, " %0.b31, %1.b7045, %2.b0123, %3;"), EACH_SIGN(name, ".sat %0, %1, %2, %3;"), \
      EACH_SIGN(name, ".add %0.b210, %1, %2, %3;")

//! simd_quads grid=1 block=32 in=96 out=144 input=edges compare=exact
KERNEL(simd_quads) {
  digest_operations<u32>(in, out, EACH_QUAD("vadd4"), EACH_QUAD("vsub4"), EACH_QUAD("vavrg4"),
                         EACH_QUAD("vabsdiff4"), EACH_QUAD("vmin4"), EACH_QUAD("vmax4"));
}
