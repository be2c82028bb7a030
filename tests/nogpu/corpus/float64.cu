// f64: every rounding mode, and what NaNs carry.
#include "corpus.cuh"

#define ROUNDED(instruction, operands)                                        \
  OPD(instruction ".rn.f64 " operands), OPD(instruction ".rz.f64 " operands), \
      OPD(instruction ".rm.f64 " operands), OPD(instruction ".rp.f64 " operands)

//! f64_add grid=1 block=32 in=192 out=256 input=f64 compare=exact
KERNEL(f64_add) {
  fold_operations<double>(in, out, ROUNDED("add", "%0, %1, %2;"), ROUNDED("sub", "%0, %1, %2;"));
}

//! f64_add_near grid=1 block=32 in=192 out=256 input=f64near compare=exact
KERNEL(f64_add_near) {
  fold_operations<double>(in, out, ROUNDED("add", "%0, %1, %2;"), ROUNDED("sub", "%0, %1, %2;"));
}

//! f64_multiply grid=1 block=32 in=192 out=256 input=f64 compare=exact
KERNEL(f64_multiply) {
  fold_operations<double>(in, out, ROUNDED("mul", "%0, %1, %2;"),
                          ROUNDED("fma", "%0, %1, %2, %3;"));
}

//! f64_fma_near grid=1 block=32 in=192 out=160 input=f64near compare=exact
KERNEL(f64_fma_near) {
  fold_operations<double>(in, out, ROUNDED("fma", "%0, %1, %2, %3;"),
                          OPD("fma.rn.f64 %0, %1, %1, %3;"));
}

//! f64_divide grid=1 block=32 in=192 out=256 input=f64 compare=exact
KERNEL(f64_divide) {
  fold_operations<double>(in, out, ROUNDED("div", "%0, %1, %2;"), ROUNDED("rcp", "%0, %2;"));
}

//! f64_root grid=1 block=32 in=192 out=128 input=f64 compare=exact
KERNEL(f64_root) { fold_operations<double>(in, out, ROUNDED("sqrt", "%0, %2;")); }

//! f64_minimum_maximum grid=1 block=32 in=192 out=160 input=f64 compare=exact
KERNEL(f64_minimum_maximum) {
  fold_operations<double>(in, out, OPD("min.f64 %0, %1, %2;"), OPD("max.f64 %0, %1, %2;"),
                          OPD("copysign.f64 %0, %1, %2;"), OPD("neg.f64 %0, %2;"),
                          OPD("abs.f64 %0, %2;"));
}

//! f64_round_to_integer grid=1 block=32 in=192 out=128 input=f64near compare=exact
KERNEL(f64_round_to_integer) {
  fold_operations<double>(in, out, OPD("cvt.rni.f64.f64 %0, %2;"), OPD("cvt.rzi.f64.f64 %0, %2;"),
                          OPD("cvt.rmi.f64.f64 %0, %2;"), OPD("cvt.rpi.f64.f64 %0, %2;"));
}

//! f64_nan_bits grid=1 block=32 in=192 out=192 input=f64nan compare=exact
KERNEL(f64_nan_bits) {
  fold_operations<u64>(in, out,
                       OP64("{ .reg .f64 a, b; mov.b64 a, %1; mov.b64 b, %2;"
                            " add.rn.f64 a, a, b; mov.b64 %0, a; }"),
                       OP64("{ .reg .f64 a, b; mov.b64 a, %1; mov.b64 b, %2;"
                            " mul.rn.f64 a, a, b; mov.b64 %0, a; }"),
                       OP64("{ .reg .f64 a, b, c; mov.b64 a, %1; mov.b64 b, %2; mov.b64 c, %3;"
                            " fma.rn.f64 a, a, b, c; mov.b64 %0, a; }"),
                       OP64("{ .reg .f64 a, b; mov.b64 a, %1; mov.b64 b, %2;"
                            " sub.rn.f64 a, a, b; mov.b64 %0, a; }"),
                       OP64("{ .reg .f64 a, b; mov.b64 a, %1; mov.b64 b, %2;"
                            " min.f64 a, a, b; mov.b64 %0, a; }"),
                       OP64("{ .reg .f64 a, b; mov.b64 a, %1; mov.b64 b, %2;"
                            " max.f64 a, a, b; mov.b64 %0, a; }"));
}

//! f64_double_double grid=1 block=64 in=256 out=256 input=f64unit compare=exact
KERNEL(f64_double_double) {
  const double* x = reinterpret_cast<const double*>(in);
  double high = 0, low = 0;
  for (u32 k = 0; k < 40; ++k) {
    const double a = x[(threadIdx.x + k) % 128], b = x[(threadIdx.x * 3 + k) % 128];
    const double p = a * b, e = __fma_rn(a, b, -p);
    const double s = high + p, v = s - high;
    low += ((high - (s - v)) + (p - v)) + e;
    high = s;
  }
  const u64 h = static_cast<u64>(__double_as_longlong(high));
  const u64 l = static_cast<u64>(__double_as_longlong(low));
  u32* const mine = out + threadIdx.x * 4;
  mine[0] = static_cast<u32>(h);
  mine[1] = static_cast<u32>(h >> 32);
  mine[2] = static_cast<u32>(l);
  mine[3] = static_cast<u32>(l >> 32);
}
