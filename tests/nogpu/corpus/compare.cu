// Comparisons, selections and predicates.
#include "corpus.cuh"

#define COMPARE(comparison, type) \
  "{ .reg .pred p; setp." comparison "." type " p, %1, %2; selp.u32 %0, 1, 0, p; }"

//! compare_unsigned_32 grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(compare_unsigned_32) {
  fold_operations<u32>(in, out, OP32(COMPARE("eq", "u32")), OP32(COMPARE("ne", "u32")),
                       OP32(COMPARE("lt", "u32")), OP32(COMPARE("le", "u32")),
                       OP32(COMPARE("gt", "u32")), OP32(COMPARE("ge", "u32")),
                       OP32(COMPARE("lo", "u32")), OP32(COMPARE("hs", "u32")));
}

//! compare_signed_32 grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(compare_signed_32) {
  fold_operations<u32>(in, out, OP32(COMPARE("eq", "s32")), OP32(COMPARE("ne", "b32")),
                       OP32(COMPARE("lt", "s32")), OP32(COMPARE("le", "s32")),
                       OP32(COMPARE("gt", "s32")), OP32(COMPARE("ge", "s32")),
                       OP32(COMPARE("ls", "u32")), OP32(COMPARE("hi", "u32")));
}

//! compare_integers_64 grid=1 block=32 in=192 out=192 input=bits compare=exact
KERNEL(compare_integers_64) {
  fold_operations<u64>(in, out, OP32_64(COMPARE("lt", "u64")), OP32_64(COMPARE("ge", "u64")),
                       OP32_64(COMPARE("lt", "s64")), OP32_64(COMPARE("ge", "s64")),
                       OP32_64(COMPARE("eq", "b64")), OP32_64(COMPARE("hi", "u64")));
}

//! compare_integers_16 grid=1 block=32 in=48 out=192 input=bits compare=exact
KERNEL(compare_integers_16) {
  fold_operations<u16>(in, out, OP32_16(COMPARE("lt", "u16")), OP32_16(COMPARE("ge", "u16")),
                       OP32_16(COMPARE("lt", "s16")), OP32_16(COMPARE("le", "s16")),
                       OP32_16(COMPARE("ne", "b16")), OP32_16(COMPARE("hi", "u16")));
}

//! compare_ordered_f32 grid=1 block=32 in=96 out=224 input=f32 compare=exact
KERNEL(compare_ordered_f32) {
  fold_operations<float>(in, out, OP32_F(COMPARE("eq", "f32")), OP32_F(COMPARE("ne", "f32")),
                         OP32_F(COMPARE("lt", "f32")), OP32_F(COMPARE("le", "f32")),
                         OP32_F(COMPARE("gt", "f32")), OP32_F(COMPARE("ge", "f32")),
                         OP32_F(COMPARE("num", "f32")));
}

//! compare_unordered_f32 grid=1 block=32 in=96 out=224 input=f32 compare=exact
KERNEL(compare_unordered_f32) {
  fold_operations<float>(in, out, OP32_F(COMPARE("equ", "f32")), OP32_F(COMPARE("neu", "f32")),
                         OP32_F(COMPARE("ltu", "f32")), OP32_F(COMPARE("leu", "f32")),
                         OP32_F(COMPARE("gtu", "f32")), OP32_F(COMPARE("geu", "f32")),
                         OP32_F(COMPARE("nan", "f32")));
}

//! compare_flushed_f32 grid=1 block=32 in=96 out=192 input=denormal compare=exact
KERNEL(compare_flushed_f32) {
  fold_operations<float>(in, out, OP32_F(COMPARE("eq.ftz", "f32")), OP32_F(COMPARE("ne", "f32")),
                         OP32_F(COMPARE("lt.ftz", "f32")), OP32_F(COMPARE("le", "f32")),
                         OP32_F(COMPARE("gtu.ftz", "f32")), OP32_F(COMPARE("geu.ftz", "f32")));
}

//! compare_f64 grid=1 block=32 in=192 out=256 input=f64 compare=exact
KERNEL(compare_f64) {
  fold_operations<double>(in, out, OP32_D(COMPARE("eq", "f64")), OP32_D(COMPARE("ne", "f64")),
                          OP32_D(COMPARE("lt", "f64")), OP32_D(COMPARE("le", "f64")),
                          OP32_D(COMPARE("gtu", "f64")), OP32_D(COMPARE("geu", "f64")),
                          OP32_D(COMPARE("nan", "f64")), OP32_D(COMPARE("equ", "f64")));
}

//! compare_f16 grid=1 block=32 in=48 out=256 input=f16 compare=exact
KERNEL(compare_f16) {
  fold_operations<u16>(in, out, OP32_16(COMPARE("eq", "f16")), OP32_16(COMPARE("ne", "f16")),
                       OP32_16(COMPARE("lt", "f16")), OP32_16(COMPARE("le.ftz", "f16")),
                       OP32_16(COMPARE("gtu", "f16")), OP32_16(COMPARE("geu.ftz", "f16")),
                       OP32_16(COMPARE("nan", "f16")), OP32_16(COMPARE("num", "f16")));
}

//! compare_bf16 grid=1 block=32 in=48 out=128 input=bf16 compare=exact
KERNEL(compare_bf16) {
  fold_operations<u16>(in, out, OP32_16(COMPARE("lt", "bf16")), OP32_16(COMPARE("neu", "bf16")),
                       OP32_16(COMPARE("ge", "bf16")), OP32_16(COMPARE("equ", "bf16")));
}

#define COMPARE_PAIR(comparison, type)                        \
  "{ .reg .pred p, q; .reg .b32 x; setp." comparison "." type \
  " p|q, %1, %2;"                                             \
  " selp.u32 %0, 1, 0, p; selp.u32 x, 2, 0, q; or.b32 %0, %0, x; }"

//! compare_pairs grid=1 block=32 in=96 out=192 input=f16 compare=exact
KERNEL(compare_pairs) {
  fold_operations<u32>(in, out, OP32(COMPARE_PAIR("lt", "f16x2")),
                       OP32(COMPARE_PAIR("neu", "f16x2")), OP32(COMPARE_PAIR("ge", "bf16x2")),
                       OP32(COMPARE_PAIR("ltu", "bf16x2")), OP32(COMPARE_PAIR("lt", "s32")),
                       OP32(COMPARE_PAIR("equ", "f32")));
}

#define COMPARE_AND(combination)                              \
  "{ .reg .pred p, q, r; .reg .b32 x; setp.lt.s32 r, %2, %3;" \
  " setp." combination " selp.u32 %0, 1, 0, p; selp.u32 x, 2, 0, q; or.b32 %0, %0, x; }"

//! compare_and_combine grid=1 block=32 in=96 out=192 input=bits compare=exact
KERNEL(compare_and_combine) {
  fold_operations<u32>(in, out, OP32(COMPARE_AND("lt.and.s32 p|q, %1, %2, r;")),
                       OP32(COMPARE_AND("gt.or.u32 p|q, %1, %2, r;")),
                       OP32(COMPARE_AND("le.xor.s32 p|q, %1, %2, r;")),
                       OP32(COMPARE_AND("eq.and.b32 p|q, %1, %3, !r;")),
                       OP32(COMPARE_AND("ge.or.s32 p|q, %1, 0, !r;")),
                       OP32(COMPARE_AND("num.xor.f32 p|q, %1, %2, r;")));
}

//! set_values grid=1 block=32 in=192 out=256 input=bits compare=exact
KERNEL(set_values) {
  fold_operations<u32>(
      in, out, OP32("set.lt.u32.s32 %0, %1, %2;"), OP32("set.hs.s32.u32 %0, %1, %2;"),
      OPF_32("set.ne.f32.s32 %0, %1, %2;"),
      OP32("{ .reg .pred r; setp.gt.u32 r, %3, %1; set.le.or.u32.s32 %0, %1, %2, r; }"));
  fold_operations<float>(in, out + 128, OP32_F("set.ltu.u32.f32 %0, %1, %2;"),
                         OPF("set.ge.ftz.f32.f32 %0, %1, %2;"));
  fold_operations<double>(in, out + 192, OPF_D("set.gt.f32.f64 %0, %1, %2;"),
                          OP32_D("set.nan.s32.f64 %0, %1, %2;"));
}

//! set_halves grid=1 block=32 in=96 out=128 input=f16 compare=exact
KERNEL(set_halves) {
  fold_operations<u32>(
      in, out, OP32("set.lt.f16x2.f16x2 %0, %1, %2;"), OP32("set.geu.u32.f16x2 %0, %1, %2;"),
      OP32("set.ne.ftz.f16x2.f16x2 %0, %1, %2;"), OP32("set.lt.bf16x2.bf16x2 %0, %1, %2;"));
}

//! select_values grid=1 block=32 in=192 out=256 input=bits compare=exact
KERNEL(select_values) {
#define CHOOSE "{ .reg .pred p; setp.lt.u32 p, %3, 0x80000000; "
  fold_operations<u32>(in, out, OP32(CHOOSE "selp.b32 %0, %1, %2, p; }"),
                       OP32(CHOOSE "selp.s32 %0, %1, -5, !p; }"),
                       OP32("slct.u32.s32 %0, %1, %2, %3;"),
                       OP32("{ .reg .f32 f; mov.b32 f, %3; slct.b32.f32 %0, %1, %2, f; }"),
                       OP32("{ .reg .f32 f; mov.b32 f, %3; slct.s32.ftz.f32 %0, %1, %2, f; }"),
                       OP64_32("{ .reg .b64 x, y; mov.b64 x, {%1, %2}; mov.b64 y, {%3, %1};"
                               " slct.u64.s32 %0, x, y, %3; }"));
  fold_operations<double>(in, out + 192,
                          OPD("{ .reg .pred p; setp.gt.f64 p, %3, 0d0000000000000000;"
                              " selp.f64 %0, %1, %2, p; }"));
  fold_operations<u16>(in, out + 224,
                       OP16("{ .reg .pred p; setp.ge.s16 p, %3, -100;"
                            " selp.u16 %0, %1, %2, p; }"));
}

//! predicate_logic grid=1 block=32 in=96 out=128 input=bits compare=exact
KERNEL(predicate_logic) {
#define PREDICATES \
  "{ .reg .pred p, q, r, s; setp.lt.s32 p, %1, %2; setp.gt.u32 q, %2, %3; setp.ne.s32 r, %1, %3; "
  fold_operations<u32>(
      in, out, OP32(PREDICATES "and.pred s, p, q; or.pred s, s, r; selp.u32 %0, 1, 0, s; }"),
      OP32(PREDICATES "xor.pred s, p, q; not.pred s, s; selp.u32 %0, 1, 0, s; }"),
      OP32(PREDICATES "mov.u32 %0, 0; @p add.u32 %0, %0, 1; @!q add.u32 %0, %0, 2;"
                      " @r mul.lo.u32 %0, %0, 5; mov.pred s, p; @s xor.b32 %0, %0, 64; }"),
      OP32(PREDICATES "setp.eq.and.u32 s|r, %1, %1, p; selp.u32 %0, 3, 4, s;"
                      " @!r add.u32 %0, %0, 9; }"));
}

#define CLASSIFY(kind, type) \
  "{ .reg .pred p; testp." kind "." type " p, %2; selp.u32 %0, 1, 0, p; }"

//! classify grid=1 block=32 in=192 out=256 input=f64 compare=exact
KERNEL(classify) {
  fold_operations<float>(in, out, OP32_F(CLASSIFY("finite", "f32")),
                         OP32_F(CLASSIFY("infinite", "f32")), OP32_F(CLASSIFY("number", "f32")),
                         OP32_F(CLASSIFY("normal", "f32")), OP32_F(CLASSIFY("subnormal", "f32")));
  fold_operations<double>(in, out + 160, OP32_D(CLASSIFY("notanumber", "f64")),
                          OP32_D(CLASSIFY("normal", "f64")), OP32_D(CLASSIFY("subnormal", "f64")));
}
