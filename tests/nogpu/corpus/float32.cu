// f32: every rounding mode, subnormals, saturation, NaN.
#include "corpus.cuh"

#define ROUNDED(instruction, operands)                                        \
  OPF(instruction ".rn.f32 " operands), OPF(instruction ".rz.f32 " operands), \
      OPF(instruction ".rm.f32 " operands), OPF(instruction ".rp.f32 " operands)
#define FLUSHED(instruction, operands)                                                \
  OPF(instruction ".rn.ftz.f32 " operands), OPF(instruction ".rz.ftz.f32 " operands), \
      OPF(instruction ".rm.ftz.f32 " operands), OPF(instruction ".rp.ftz.f32 " operands)

//! f32_add grid=1 block=32 in=96 out=256 input=f32 compare=exact
KERNEL(f32_add) {
  fold_operations<float>(in, out, ROUNDED("add", "%0, %1, %2;"), ROUNDED("sub", "%0, %1, %2;"));
}

//! f32_add_near grid=1 block=32 in=96 out=256 input=f32near compare=exact
KERNEL(f32_add_near) {
  fold_operations<float>(in, out, ROUNDED("add", "%0, %1, %2;"), ROUNDED("sub", "%0, %1, %2;"));
}

//! f32_multiply grid=1 block=32 in=96 out=256 input=f32 compare=exact
KERNEL(f32_multiply) {
  fold_operations<float>(in, out, ROUNDED("mul", "%0, %1, %2;"), FLUSHED("mul", "%0, %1, %2;"));
}

//! f32_fma grid=1 block=32 in=96 out=256 input=f32 compare=exact
KERNEL(f32_fma) {
  fold_operations<float>(in, out, ROUNDED("fma", "%0, %1, %2, %3;"),
                         FLUSHED("fma", "%0, %1, %2, %3;"));
}

//! f32_fma_near grid=1 block=32 in=96 out=192 input=f32near compare=exact
KERNEL(f32_fma_near) {
  fold_operations<float>(in, out, ROUNDED("fma", "%0, %1, %2, %3;"),
                         OPF("fma.rn.f32 %0, %1, %1, %3;"), OPF("mad.rz.f32 %0, %1, %2, %3;"));
}

//! f32_divide grid=1 block=32 in=96 out=256 input=f32 compare=exact
KERNEL(f32_divide) {
  fold_operations<float>(in, out, ROUNDED("div", "%0, %1, %2;"), FLUSHED("div", "%0, %1, %2;"));
}

//! f32_reciprocal grid=1 block=32 in=96 out=256 input=f32 compare=exact
KERNEL(f32_reciprocal) {
  fold_operations<float>(in, out, ROUNDED("rcp", "%0, %2;"), FLUSHED("rcp", "%0, %2;"));
}

//! f32_root grid=1 block=32 in=96 out=256 input=f32 compare=exact
KERNEL(f32_root) {
  fold_operations<float>(in, out, ROUNDED("sqrt", "%0, %2;"), FLUSHED("sqrt", "%0, %2;"));
}

//! f32_subnormal grid=1 block=32 in=96 out=256 input=denormal compare=exact
KERNEL(f32_subnormal) {
  fold_operations<float>(in, out, FLUSHED("add", "%0, %1, %2;"), OPF("mul.rn.f32 %0, %1, %2;"),
                         OPF("fma.rm.f32 %0, %1, %2, %3;"), OPF("div.rn.f32 %0, %1, %2;"),
                         OPF("sqrt.rp.f32 %0, %2;"));
}

//! f32_saturate grid=1 block=32 in=96 out=256 input=f32 compare=exact
KERNEL(f32_saturate) {
  fold_operations<float>(in, out, OPF("add.sat.f32 %0, %1, %2;"), OPF("sub.rz.sat.f32 %0, %1, %2;"),
                         OPF("mul.rp.sat.f32 %0, %1, %2;"), OPF("fma.rn.sat.f32 %0, %1, %2, %3;"),
                         OPF("add.rm.ftz.sat.f32 %0, %1, %2;"), OPF("mul.ftz.sat.f32 %0, %1, %2;"),
                         OPF("fma.rp.ftz.sat.f32 %0, %1, %2, %3;"), OPF("cvt.sat.f32.f32 %0, %2;"));
}

//! f32_minimum_maximum grid=1 block=32 in=96 out=256 input=f32 compare=exact
KERNEL(f32_minimum_maximum) {
  fold_operations<float>(in, out, OPF("min.f32 %0, %1, %2;"), OPF("max.f32 %0, %1, %2;"),
                         OPF("min.ftz.f32 %0, %1, %2;"), OPF("max.NaN.f32 %0, %1, %2;"),
                         OPF("min.NaN.f32 %0, %1, %2;"), OPF("max.ftz.NaN.f32 %0, %1, %2;"),
                         OPF("min.xorsign.abs.f32 %0, %1, %2;"),
                         OPF("max.NaN.xorsign.abs.f32 %0, %1, %2;"));
}

//! f32_extrema_of_subnormals grid=1 block=32 in=96 out=192 input=denormal compare=exact
KERNEL(f32_extrema_of_subnormals) {
  fold_operations<float>(in, out, OPF("min.f32 %0, %1, %2;"), OPF("max.f32 %0, %1, %2;"),
                         OPF("min.ftz.f32 %0, %1, %2;"), OPF("max.ftz.f32 %0, %1, %2;"),
                         OPF("max.ftz.NaN.f32 %0, %1, %2;"),
                         OPF("min.xorsign.abs.f32 %0, %1, %2;"));
}

// The bits of a NaN are not specified for the first four.
//! f32_signs grid=1 block=32 in=96 out=192 input=f32 compare=exact
KERNEL(f32_signs) {
#define NUMBER(instruction)                         \
  [](float, float b, float) {                       \
    float d;                                        \
    asm(instruction " %0, %1;" : "=f"(d) : "f"(b)); \
    return canonical(d);                            \
  }
  fold_operations<float>(in, out, NUMBER("neg.f32"), NUMBER("abs.f32"), NUMBER("neg.ftz.f32"),
                         NUMBER("abs.ftz.f32"), OPF("copysign.f32 %0, %1, %2;"),
                         OPF("{ .reg .b32 x; mov.b32 x, %2; mov.b32 %0, x; }"));
}

//! f32_round_to_integer grid=1 block=32 in=96 out=256 input=f32near compare=exact
KERNEL(f32_round_to_integer) {
  fold_operations<float>(in, out, OPF("cvt.rni.f32.f32 %0, %2;"), OPF("cvt.rzi.f32.f32 %0, %2;"),
                         OPF("cvt.rmi.f32.f32 %0, %2;"), OPF("cvt.rpi.f32.f32 %0, %2;"),
                         OPF("cvt.rni.ftz.f32.f32 %0, %1;"), OPF("cvt.rpi.ftz.f32.f32 %0, %1;"),
                         OPF("cvt.rzi.sat.f32.f32 %0, %1;"), OPF("cvt.rmi.f32.f32 %0, %1;"));
}

//! f32_special_to_integer grid=1 block=32 in=96 out=256 input=f32 compare=exact
KERNEL(f32_special_to_integer) {
  fold_operations<float>(in, out, OPF("cvt.rni.f32.f32 %0, %2;"), OPF("cvt.rzi.f32.f32 %0, %2;"),
                         OPF("cvt.rmi.f32.f32 %0, %2;"), OPF("cvt.rpi.f32.f32 %0, %2;"),
                         OPF("cvt.rni.ftz.f32.f32 %0, %1;"), OPF("cvt.rpi.ftz.f32.f32 %0, %1;"),
                         OPF("cvt.rzi.sat.f32.f32 %0, %1;"), OPF("cvt.rpi.sat.f32.f32 %0, %1;"));
}

//! f32_horner grid=2 block=64 in=128 out=128 input=f32unit compare=exact
KERNEL(f32_horner) {
  const u32 t = global_thread();
  const float x = __uint_as_float(in[t]);
  float value = 0, plain = 1;
  for (u32 k = 0; k < 12; ++k) {
    const float c = __uint_as_float(in[(t * 11 + k * 7) % n]) - 0.5f;
    value = __fmaf_rn(value, x, c);
    plain = plain * x + c;
  }
  out[t] = __float_as_uint(value) ^ __float_as_uint(plain) << 1;
}

//! f32_compensated_sum grid=1 block=64 in=256 out=64 input=f32near compare=exact
KERNEL(f32_compensated_sum) {
  float sum = 0, lost = 0;
  for (u32 k = threadIdx.x; k < threadIdx.x + 100; ++k) {
    const float term = __uint_as_float(in[k % n]) - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  u32 h = 0;
  fold(h, canonical(sum));
  fold(h, canonical(lost));
  out[threadIdx.x] = h;
}
