// Floating-point instructions, their operands crossing the edges of ranges, NaNs among them. A NaN
// counts as its bits where one operand alone decides about it.
#include "corpus.cuh"

#define EACH_ROUNDING(OP, name, tail) \
  OP(name ".rn" tail), OP(name ".rz" tail), OP(name ".rm" tail), OP(name ".rp" tail)
#define EACH_LIMIT(OP, name, operands)                                                    \
  EACH_ROUNDING(OP, name, ".f32" operands), EACH_ROUNDING(OP, name, ".ftz.f32" operands), \
      EACH_ROUNDING(OP, name, ".sat.f32" operands),                                       \
      EACH_ROUNDING(OP, name, ".ftz.sat.f32" operands)

//! f32_sums_at_the_edges grid=1 block=32 in=96 out=64 input=f32edges compare=exact
KERNEL(f32_sums_at_the_edges) {
  digest_operations<u32>(
      in, out, EACH_LIMIT(OP32, "add", " %0, %1, %2;"), EACH_LIMIT(OP32, "sub", " %0, %1, %2;"),
      EACH_LIMIT(OP32, "mul", " %0, %1, %2;"), EACH_LIMIT(OP32, "fma", " %0, %1, %2, %3;"));
}

#define EACH_EXTREMUM(OP, name, type)                                     \
  OP(name "." type " %0, %1, %2;"), OP(name ".NaN." type " %0, %1, %2;"), \
      OP(name ".xorsign.abs." type " %0, %1, %2;"),                       \
      OP(name ".NaN.xorsign.abs." type " %0, %1, %2;")
#define EACH_COMPARISON(M, type)                                                            \
  M("eq." type), M("ne." type), M("lt." type), M("le." type), M("gt." type), M("ge." type), \
      M("equ." type), M("neu." type), M("ltu." type), M("leu." type), M("gtu." type),       \
      M("geu." type), M("num." type), M("nan." type)
#define CHOOSE(comparison) \
  OP32("{ .reg .pred p; setp." comparison " p, %1, %2; selp.b32 %0, %3, 7, p; }")
#define CLASSIFY(kind) OP32("{ .reg .pred p; testp." kind ".f32 p, %1; selp.b32 %0, 1, 2, p; }")

//! f32_quotients_at_the_edges grid=1 block=32 in=96 out=80 input=f32edges compare=exact
KERNEL(f32_quotients_at_the_edges) {
  digest_operations<u32>(
      in, out, EACH_ROUNDING(OP32, "div", ".f32 %0, %1, %2;"),
      EACH_ROUNDING(OP32, "div", ".ftz.f32 %0, %1, %2;"),
      EACH_ROUNDING(OP32, "rcp", ".f32 %0, %1;"), EACH_ROUNDING(OP32, "rcp", ".ftz.f32 %0, %1;"),
      EACH_ROUNDING(OP32, "sqrt", ".f32 %0, %1;"), EACH_ROUNDING(OP32, "sqrt", ".ftz.f32 %0, %1;"),
      EACH_EXTREMUM(OP32, "min", "f32"), EACH_EXTREMUM(OP32, "min.ftz", "f32"),
      EACH_EXTREMUM(OP32, "max", "f32"), EACH_EXTREMUM(OP32, "max.ftz", "f32"),
      OP32("abs.f32 %0, %1;"), OP32("abs.ftz.f32 %0, %1;"), OP32("neg.f32 %0, %1;"),
      OP32("neg.ftz.f32 %0, %1;"), OP32("copysign.f32 %0, %1, %2;"), CLASSIFY("finite"),
      CLASSIFY("infinite"), CLASSIFY("number"), CLASSIFY("notanumber"), CLASSIFY("normal"),
      CLASSIFY("subnormal"), OP32("slct.b32.f32 %0, %1, %2, %3;"), EACH_COMPARISON(CHOOSE, "f32"),
      EACH_COMPARISON(CHOOSE, "ftz.f32"));
}

//! f64_at_the_edges grid=1 block=32 in=192 out=41 input=f64edges compare=exact
KERNEL(f64_at_the_edges) {
  digest_operations<double>(
      in, out, EACH_ROUNDING(OPD, "add", ".f64 %0, %1, %2;"),
      EACH_ROUNDING(OPD, "sub", ".f64 %0, %1, %2;"), EACH_ROUNDING(OPD, "mul", ".f64 %0, %1, %2;"),
      EACH_ROUNDING(OPD, "fma", ".f64 %0, %1, %2, %3;"),
      EACH_ROUNDING(OPD, "div", ".f64 %0, %1, %2;"), OPD("min.f64 %0, %1, %2;"),
      OPD("max.f64 %0, %1, %2;"), OPD("copysign.f64 %0, %1, %2;"));
  digest_operations<u64>(
      in, out + 23, EACH_ROUNDING(OP64, "rcp", ".f64 %0, %1;"),
      EACH_ROUNDING(OP64, "sqrt", ".f64 %0, %1;"), OP64("abs.f64 %0, %1;"), OP64("neg.f64 %0, %1;"),
      OP32_64("set.lt.u32.f64 %0, %1, %2;"), OP32_64("set.geu.u32.f64 %0, %1, %2;"),
      OP32_64("set.equ.s32.f64 %0, %1, %2;"), OP32_64("set.ne.s32.f64 %0, %1, %2;"),
      OP32_64("set.nan.f32.f64 %0, %1, %2;"), OP32_64("set.num.f32.f64 %0, %1, %2;"),
      OP32_64("{ .reg .pred p; testp.normal.f64 p, %1; selp.b32 %0, 1, 2, p; }"),
      OP32_64("{ .reg .pred p; testp.finite.f64 p, %1; selp.b32 %0, 1, 2, p; }"));
}

#define EACH_HALF_OPERATION(OP, type)                                                             \
  OP("add." type " %0, %1, %2;"), OP("sub." type " %0, %1, %2;"), OP("mul." type " %0, %1, %2;"), \
      OP("fma.rn." type " %0, %1, %2, %3;"), OP("fma.rn.relu." type " %0, %1, %2, %3;"),          \
      OP("abs." type " %0, %1;"), OP("neg." type " %0, %1;"), EACH_EXTREMUM(OP, "min", type),     \
      EACH_EXTREMUM(OP, "max", type)
#define EACH_F16_OPERATION(OP, type)                                                     \
  OP("add.ftz." type " %0, %1, %2;"), OP("sub.sat." type " %0, %1, %2;"),                \
      OP("mul.ftz.sat." type " %0, %1, %2;"), OP("fma.rn.ftz." type " %0, %1, %2, %3;"), \
      OP("fma.rn.ftz.sat." type " %0, %1, %2, %3;"), OP("abs.ftz." type " %0, %1;"),     \
      OP("fma.rn.ftz.relu." type " %0, %1, %2, %3;"), OP("neg.ftz." type " %0, %1;"),    \
      EACH_EXTREMUM(OP, "min.ftz", type), EACH_EXTREMUM(OP, "max.ftz", type)

// Twice the low half: the upper one of a 16-bit register is nobody's.
#define SET_HALF(comparison, type) \
  OP32_16("{ .reg .b16 d; set." comparison "." type "." type " d, %1, %2; mov.b32 %0, {d, d}; }")
#define SET_F16(comparison) SET_HALF(comparison, "f16")
#define SET_FLUSHED_F16(comparison) SET_HALF(comparison ".ftz", "f16")
#define SET_BF16(comparison) SET_HALF(comparison, "bf16")
#define EACH_SET(M)                                                                             \
  M("eq"), M("ne"), M("lt"), M("le"), M("gt"), M("ge"), M("equ"), M("neu"), M("ltu"), M("leu"), \
      M("gtu"), M("geu"), M("num"), M("nan")

//! f16_at_the_edges grid=1 block=32 in=96 out=59 input=f16edges compare=exact
KERNEL(f16_at_the_edges) {
  digest_operations<u16>(in, out, EACH_HALF_OPERATION(OP16, "f16"), EACH_F16_OPERATION(OP16, "f16"),
                         EACH_SET(SET_F16), EACH_SET(SET_FLUSHED_F16));
}

//! bf16_at_the_edges grid=1 block=32 in=96 out=29 input=bf16edges compare=exact
KERNEL(bf16_at_the_edges) {
  digest_operations<u16>(in, out, EACH_HALF_OPERATION(OP16, "bf16"), EACH_SET(SET_BF16));
}

#define SET_F16X2(comparison) OP32("set." comparison ".f16x2.f16x2 %0, %1, %2;")
#define SET_BF16X2(comparison) OP32("set." comparison ".bf16x2.bf16x2 %0, %1, %2;")

//! f16x2_at_the_edges grid=1 block=32 in=96 out=45 input=f16edges compare=exact
KERNEL(f16x2_at_the_edges) {
  digest_operations<u32>(in, out, EACH_HALF_OPERATION(OP32, "f16x2"),
                         EACH_F16_OPERATION(OP32, "f16x2"), EACH_SET(SET_F16X2));
}

//! bf16x2_at_the_edges grid=1 block=32 in=96 out=29 input=bf16edges compare=exact
KERNEL(bf16x2_at_the_edges) {
  digest_operations<u32>(in, out, EACH_HALF_OPERATION(OP32, "bf16x2"), EACH_SET(SET_BF16X2));
}
