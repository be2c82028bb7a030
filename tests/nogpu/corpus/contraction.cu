// Products and sums without a rounding modifier, which the assembler may fuse: what it fuses and
// what it does not.
#include "corpus.cuh"

// Four results of four operands: %0 to %3 of %4 to %7.
#define FUSES(letter, operand, ...)                                            \
  asm(__VA_ARGS__                                                              \
      : "=" letter(r[0]), "=" letter(r[1]), "=" letter(r[2]), "=" letter(r[3]) \
      : letter(operand(0)), letter(operand(1)), letter(operand(2)), letter(operand(3)))

#define FUSES_F32(...)                                                                      \
  const auto operand = [&](u32 k) { return __uint_as_float(in[4 * global_thread() + k]); }; \
  float r[4];                                                                               \
  FUSES("f", operand, __VA_ARGS__);                                                         \
  for (u32 k = 0; k < 4; ++k) out[4 * global_thread() + k] = __float_as_uint(canonical(r[k]))

//! fused_single grid=2 block=32 in=256 out=256 input=f32near compare=exact
KERNEL(fused_single) {
  FUSES_F32("{ .reg .f32 m, n, o, p, q; mul.f32 m, %4, %5; add.f32 %0, m, %6;"
            " mul.f32 n, %4, %6; sub.f32 %1, n, %5; mul.f32 o, %5, %7; sub.f32 %2, %4, o;"
            " mul.f32 p, %4, %7; mul.f32 q, %5, %6; add.f32 %3, p, q; }");
}

//! fused_if_all_uses_are_sums grid=2 block=32 in=256 out=256 input=f32near compare=exact
KERNEL(fused_if_all_uses_are_sums) {
  FUSES_F32("{ .reg .f32 m, n, s; mul.f32 m, %4, %5; add.f32 %0, m, %6; sub.f32 %1, %7, m;"
            " mul.f32 n, %6, %7; sub.f32 %2, n, %4; mul.f32 %3, n, %5; }");
}

// Of two products the one with fewer uses is fused, or else the first; a product that stays for one
// sum stays for all.
//! fused_of_two grid=2 block=32 in=256 out=256 input=f32near compare=exact
KERNEL(fused_of_two) {
  FUSES_F32("{ .reg .f32 m, n, o, p; mul.f32 m, %4, %5; mul.f32 n, %6, %7; add.f32 %0, m, n;"
            " sub.f32 %1, m, %6; mul.f32 o, %4, %6; mul.f32 p, %5, %7; sub.f32 %2, o, p;"
            " sub.f32 %3, p, %4; }");
}

// A product in two words, as programs split floats that count on the rounding of each step.
//! fused_splitting grid=2 block=32 in=256 out=256 input=f32near compare=exact
KERNEL(fused_splitting) {
  FUSES_F32("{ .reg .f32 c, d, e, f, h, l, i, k, m, x; mul.f32 c, %4, 0f46000400;"
            " mul.f32 d, %5, 0f46000400; sub.f32 e, c, %4; sub.f32 h, c, e; sub.f32 f, d, %5;"
            " sub.f32 i, d, f; sub.f32 l, %4, h; sub.f32 k, %5, i; mul.f32 m, %4, %5;"
            " mul.f32 x, h, i; sub.f32 x, x, m; fma.rn.f32 x, h, k, x; fma.rn.f32 x, l, i, x;"
            " fma.rn.f32 %0, l, k, x; mov.f32 %1, m; mul.f32 d, %4, %7; mul.f32 e, %5, %6;"
            " add.f32 c, d, e; add.f32 %2, m, c; sub.f32 %3, %2, m; }");
}

//! not_fused grid=2 block=32 in=256 out=256 input=f32near compare=exact
KERNEL(not_fused) {
  FUSES_F32("{ .reg .f32 m, n, o, p; mul.rn.f32 m, %4, %5; add.f32 %0, m, %6;"
            " mul.f32 n, %4, %6; add.rn.f32 %1, n, %5; mul.sat.f32 o, %4, %7; add.f32 %2, o, %5;"
            " mul.f32 p, %5, %6; add.f32 %3, p, p; }");
}

//! fused_flushed grid=2 block=32 in=256 out=256 input=f32near compare=exact
KERNEL(fused_flushed) {
  FUSES_F32("{ .reg .f32 m, n, o, p; mul.ftz.f32 m, %4, %5; sub.ftz.f32 %0, m, %6;"
            " mul.ftz.f32 n, %4, %6; add.f32 %1, n, %5; mul.f32 o, %4, %7; add.ftz.f32 %2, o, %5;"
            " mul.f32 p, %5, %6; add.sat.f32 %3, p, %7; }");
}

//! fused_guarded grid=2 block=32 in=256 out=256 input=f32near compare=exact
KERNEL(fused_guarded) {
  FUSES_F32("{ .reg .f32 m, n, o, p; .reg .pred q; setp.gt.f32 q, %4, %5; mul.f32 m, %4, %5;"
            " mov.f32 %0, %6; @q add.f32 %0, m, %6; mul.f32 n, %4, %6; mov.f32 %1, n;"
            " @q sub.f32 %1, n, %5; mov.f32 o, %6; @q mul.f32 o, %4, %7; add.f32 %2, o, %5;"
            " mul.f32 p, %5, %6; sub.f32 %3, p, %7; @!q sub.f32 %3, %4, p; }");
}

//! fused_in_a_block grid=2 block=32 in=256 out=256 input=f32near compare=exact
KERNEL(fused_in_a_block) {
  FUSES_F32("{ .reg .f32 m, n, o; .reg .pred q; setp.gt.f32 q, %4, %5; mul.f32 m, %4, %5;"
            " mul.f32 n, %6, %7; add.f32 %0, n, %4; mov.f32 %3, %7; @q bra HIGHER;"
            " sub.f32 %1, m, %6; mul.f32 o, %5, %7; add.f32 %2, o, %4; bra.uni END;"
            "HIGHER: add.f32 %1, m, %7; mul.f32 o, %4, %7; sub.f32 %2, %6, o;"
            " sub.f32 %3, o, %5; END: }");
}

//! fused_f64 grid=1 block=32 in=256 out=256 input=f64near compare=exact
KERNEL(fused_f64) {
  const auto operand = [&](u32 k) {
    return reinterpret_cast<const double*>(in)[4 * threadIdx.x + k];
  };
  double r[4];
  FUSES("d", operand,
        "{ .reg .f64 m, n, o, p; mul.f64 m, %4, %5; sub.f64 %0, m, %6; mul.f64 n, %4, %6;"
        " sub.f64 %1, %7, n; mul.f64 o, %4, %7; add.f64 %2, o, %5; mul.f64 %3, o, %6; }");
  for (u32 k = 0; k < 4; ++k) reinterpret_cast<double*>(out)[4 * threadIdx.x + k] = r[k];
}

#define FUSES_HALVES(type)                                                                    \
  const auto operand = [&](u32 k) { return in[4 * global_thread() + k]; };                    \
  u32 r[4];                                                                                   \
  FUSES("r", operand,                                                                         \
        "{ .reg .b32 m, n, o; mul." type " m, %4, %5; add." type " %0, m, %6; mul." type      \
        " n, %4, %6; sub." type " %1, n, %7; mul." type " o, %5, %7; sub." type " %2, %4, o;" \
        " sub." type " %3, o, %6; }");                                                        \
  for (u32 k = 0; k < 4; ++k) out[4 * global_thread() + k] = r[k]

//! fused_f16x2 grid=2 block=32 in=256 out=256 input=f16unit compare=exact
KERNEL(fused_f16x2) { FUSES_HALVES("f16x2"); }
//! fused_bf16x2 grid=2 block=32 in=256 out=256 input=bf16near compare=exact
KERNEL(fused_bf16x2) { FUSES_HALVES("bf16x2"); }

#define FUSES_HALF(type)                                                                      \
  const auto operand = [&](u32 k) { return static_cast<u16>(in[4 * global_thread() + k]); };  \
  u16 r[4];                                                                                   \
  FUSES("h", operand,                                                                         \
        "{ .reg .b16 m, n, o; mul." type " m, %4, %5; add." type " %0, m, %6; mul." type      \
        " n, %4, %6; sub." type " %1, n, %7; mul." type " o, %5, %7; sub." type " %2, %4, o;" \
        " mul." type " %3, o, %6; }");                                                        \
  for (u32 k = 0; k < 4; ++k) out[4 * global_thread() + k] = r[k]

//! fused_f16 grid=2 block=32 in=256 out=256 input=f16unit compare=exact
KERNEL(fused_f16) { FUSES_HALF("f16"); }
//! fused_bf16 grid=2 block=32 in=256 out=256 input=bf16near compare=exact
KERNEL(fused_bf16) { FUSES_HALF("bf16"); }

// A division, a reciprocal or a square root that is rounded correctly ends a block: products from
// before it are not fused with sums behind it, unless a factor is a constant.
//! fused_around_division grid=2 block=32 in=256 out=256 input=f32near compare=exact
KERNEL(fused_around_division) {
  FUSES_F32("{ .reg .f32 m, n, o, d; mul.f32 m, %4, %5; mul.f32 o, %6, 0f3F7FF800;"
            " div.rn.f32 d, %6, %7; sub.f32 %0, m, d; mul.f32 n, %5, %6; sub.f32 %1, n, d;"
            " sub.f32 %2, o, d; mul.f32 m, %6, %7; div.full.f32 d, %4, %7; mul.f32 n, %4, %7;"
            " mul.f32 d, d, d; sub.f32 m, m, d; sub.f32 %3, n, m; }");
}
//! fused_around_root grid=2 block=32 in=256 out=256 input=f32near compare=exact
KERNEL(fused_around_root) {
  FUSES_F32("{ .reg .f32 m, n, o, d, e; mul.f32 m, %4, %5; abs.f32 d, %6; sqrt.rn.f32 e, d;"
            " sub.f32 %0, m, e; mul.f32 n, %5, %6; sub.f32 %1, n, e; mul.f32 o, %4, %7;"
            " rcp.rn.f32 e, %5; sub.f32 %2, o, e; mul.f32 m, %5, %7; rsqrt.approx.f32 e, d;"
            " sub.f32 %3, m, e; }");
}
