// Conversions of all types in all modes, of the edges of ranges.
#include "corpus.cuh"

#define OP64_16(...) CORPUS_OPERATION(u64, "l", u16, "h", __VA_ARGS__)
#define OP16_64(...) CORPUS_OPERATION(u16, "h", u64, "l", __VA_ARGS__)

// From a type to all integer types, by instructions with 16, 32 and 64 bits of result.
#define TO_INTEGERS(OP_16, OP_32, OP_64, name, from)                            \
  OP_16(name ".u8." from " %0, %1;"), OP_16(name ".s8." from " %0, %1;"),       \
      OP_16(name ".u16." from " %0, %1;"), OP_16(name ".s16." from " %0, %1;"), \
      OP_32(name ".u32." from " %0, %1;"), OP_32(name ".s32." from " %0, %1;"), \
      OP_64(name ".u64." from " %0, %1;"), OP_64(name ".s64." from " %0, %1;")

//! integers_to_integers grid=1 block=32 in=192 out=96 input=edges compare=exact
KERNEL(integers_to_integers) {
  digest_operations<u16>(in, out, TO_INTEGERS(OP16, OP32_16, OP64_16, "cvt", "u8"),
                         TO_INTEGERS(OP16, OP32_16, OP64_16, "cvt", "s8"),
                         TO_INTEGERS(OP16, OP32_16, OP64_16, "cvt", "u16"),
                         TO_INTEGERS(OP16, OP32_16, OP64_16, "cvt", "s16"));
  digest_operations<u32>(in, out + 32, TO_INTEGERS(OP16_32, OP32, OP64_32, "cvt", "u32"),
                         TO_INTEGERS(OP16_32, OP32, OP64_32, "cvt", "s32"));
  digest_operations<u64>(in, out + 48, TO_INTEGERS(OP16_64, OP32_64, OP64, "cvt", "u64"),
                         TO_INTEGERS(OP16_64, OP32_64, OP64, "cvt", "s64"));
  digest_operations<u32>(
      in, out + 64, OP16_32("cvt.sat.u8.u32 %0, %1;"), OP16_32("cvt.sat.s8.u32 %0, %1;"),
      OP16_32("cvt.sat.u16.u32 %0, %1;"), OP16_32("cvt.sat.s16.u32 %0, %1;"),
      OP32("cvt.sat.s32.u32 %0, %1;"), OP64_32("cvt.sat.u64.s32 %0, %1;"),
      OP16_32("cvt.sat.u8.s32 %0, %1;"), OP16_32("cvt.sat.s8.s32 %0, %1;"),
      OP16_32("cvt.sat.u16.s32 %0, %1;"), OP16_32("cvt.sat.s16.s32 %0, %1;"),
      OP32("cvt.sat.u32.s32 %0, %1;"), OP32("cvt.sat.u8.s32 %0, %1;"), OP32("cvt.s8.u32 %0, %1;"),
      OP32("cvt.u16.s32 %0, %1;"), OP32("cvt.sat.s16.s32 %0, %1;"), OP32("cvt.s16.u32 %0, %1;"));
  digest_operations<u64>(in, out + 80, OP16_64("cvt.sat.u8.u64 %0, %1;"),
                         OP16_64("cvt.sat.s8.u64 %0, %1;"), OP16_64("cvt.sat.u16.u64 %0, %1;"),
                         OP16_64("cvt.sat.s16.u64 %0, %1;"), OP32_64("cvt.sat.u32.u64 %0, %1;"),
                         OP32_64("cvt.sat.s32.u64 %0, %1;"), OP64("cvt.sat.s64.u64 %0, %1;"),
                         OP16_64("cvt.sat.u8.s64 %0, %1;"), OP16_64("cvt.sat.s8.s64 %0, %1;"),
                         OP16_64("cvt.sat.u16.s64 %0, %1;"), OP16_64("cvt.sat.s16.s64 %0, %1;"),
                         OP32_64("cvt.sat.u32.s64 %0, %1;"), OP32_64("cvt.sat.s32.s64 %0, %1;"),
                         OP64("cvt.sat.u64.s64 %0, %1;"), OP32_64("cvt.s8.u64 %0, %1;"),
                         OP64("cvt.s16.s64 %0, %1;"));
}

// From a type to all floating types in all roundings.
#define EACH_ROUNDING(OP, tail) \
  OP("cvt.rn" tail), OP("cvt.rz" tail), OP("cvt.rm" tail), OP("cvt.rp" tail)
#define TO_FLOATING(OP_16, OP_32, OP_64, from)                                                  \
  EACH_ROUNDING(OP_16, ".f16." from " %0, %1;"), EACH_ROUNDING(OP_32, ".f32." from " %0, %1;"), \
      EACH_ROUNDING(OP_64, ".f64." from " %0, %1;")

//! integers_to_floating grid=1 block=32 in=192 out=100 input=edges compare=exact
KERNEL(integers_to_floating) {
  digest_operations<u16>(
      in, out, TO_FLOATING(OP16, OP32_16, OP64_16, "u8"), TO_FLOATING(OP16, OP32_16, OP64_16, "s8"),
      TO_FLOATING(OP16, OP32_16, OP64_16, "u16"), TO_FLOATING(OP16, OP32_16, OP64_16, "s16"));
  digest_operations<u32>(in, out + 48, TO_FLOATING(OP16_32, OP32, OP64_32, "u32"),
                         TO_FLOATING(OP16_32, OP32, OP64_32, "s32"),
                         OP32("cvt.rn.sat.f32.s32 %0, %1;"), OP16_32("cvt.rn.sat.f16.s32 %0, %1;"));
  digest_operations<u64>(in, out + 74, TO_FLOATING(OP16_64, OP32_64, OP64, "u64"),
                         TO_FLOATING(OP16_64, OP32_64, OP64, "s64"),
                         OP32_64("cvt.rz.sat.f32.u64 %0, %1;"), OP64("cvt.rn.sat.f64.s64 %0, %1;"));
}

//! floating_to_integers grid=1 block=32 in=192 out=128 input=f64edges compare=exact
KERNEL(floating_to_integers) {
  digest_operations<u64>(in, out, TO_INTEGERS(OP16_64, OP32_64, OP64, "cvt.rni", "f64"),
                         TO_INTEGERS(OP16_64, OP32_64, OP64, "cvt.rzi.sat", "f64"),
                         TO_INTEGERS(OP16_64, OP32_64, OP64, "cvt.rmi", "f64"),
                         TO_INTEGERS(OP16_64, OP32_64, OP64, "cvt.rpi", "f64"));
  digest_operations<u32>(in, out + 32, TO_INTEGERS(OP16_32, OP32, OP64_32, "cvt.rni", "f32"),
                         TO_INTEGERS(OP16_32, OP32, OP64_32, "cvt.rzi.ftz", "f32"),
                         TO_INTEGERS(OP16_32, OP32, OP64_32, "cvt.rmi.sat", "f32"),
                         TO_INTEGERS(OP16_32, OP32, OP64_32, "cvt.rpi.ftz", "f32"));
  digest_operations<u16>(in, out + 64, TO_INTEGERS(OP16, OP32_16, OP64_16, "cvt.rni", "f16"),
                         TO_INTEGERS(OP16, OP32_16, OP64_16, "cvt.rzi", "f16"),
                         TO_INTEGERS(OP16, OP32_16, OP64_16, "cvt.rmi.sat", "f16"),
                         TO_INTEGERS(OP16, OP32_16, OP64_16, "cvt.rpi", "f16"));
  // Of the same words, numbers of all sizes.
  digest_operations<u32>(in, out + 96, EACH_ROUNDING(OP32, "i.f32.f32 %0, %1;"),
                         EACH_ROUNDING(OP32, "i.ftz.f32.f32 %0, %1;"),
                         EACH_ROUNDING(OP32, "i.sat.f32.f32 %0, %1;"),
                         EACH_ROUNDING(OP32, "i.ftz.sat.f32.f32 %0, %1;"));
  digest_operations<u64>(in, out + 112, EACH_ROUNDING(OP64, "i.f64.f64 %0, %1;"),
                         EACH_ROUNDING(OP64, "i.sat.f64.f64 %0, %1;"));
  digest_operations<u16>(in, out + 120, EACH_ROUNDING(OP16, "i.f16.f16 %0, %1;"),
                         EACH_ROUNDING(OP16, "i.sat.f16.f16 %0, %1;"));
}

//! f32_to_narrower grid=1 block=32 in=96 out=63 input=f32edges compare=exact
KERNEL(f32_to_narrower) {
  digest_operations<u32>(
      in, out, EACH_ROUNDING(OP16_32, ".f16.f32 %0, %1;"),
      EACH_ROUNDING(OP16_32, ".ftz.f16.f32 %0, %1;"),
      EACH_ROUNDING(OP16_32, ".sat.f16.f32 %0, %1;"), EACH_ROUNDING(OP16_32, ".bf16.f32 %0, %1;"),
      EACH_ROUNDING(OP16_32, ".ftz.bf16.f32 %0, %1;"), OP16_32("cvt.rn.relu.f16.f32 %0, %1;"),
      OP16_32("cvt.rz.relu.bf16.f32 %0, %1;"), OP16_32("cvt.rn.satfinite.f16.f32 %0, %1;"),
      OP16_32("cvt.rz.satfinite.bf16.f32 %0, %1;"), OP32("cvt.rn.f16x2.f32 %0, %1, %2;"),
      OP32("cvt.rz.relu.f16x2.f32 %0, %1, %2;"), OP32("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;"),
      OP32("cvt.rz.relu.satfinite.f16x2.f32 %0, %1, %2;"), OP32("cvt.rn.bf16x2.f32 %0, %1, %2;"),
      OP32("cvt.rz.relu.bf16x2.f32 %0, %1, %2;"), OP32("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;"),
      OP32("cvt.rz.relu.satfinite.bf16x2.f32 %0, %1, %2;"), OP32("cvt.rna.tf32.f32 %0, %1;"),
      OP32("cvt.rna.satfinite.tf32.f32 %0, %1;"), OP32("cvt.rn.tf32.f32 %0, %1;"),
      OP32("cvt.rz.tf32.f32 %0, %1;"), OP32("cvt.rn.relu.tf32.f32 %0, %1;"),
      OP32("cvt.rz.relu.tf32.f32 %0, %1;"), OP16_32("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"),
      OP16_32("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;"),
      OP16_32("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;"),
      OP16_32("cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;"),
      OP16_32("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;"),
      OP16_32("cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %1;"), OP32("cvt.sat.f32.f32 %0, %1;"),
      OP32("cvt.ftz.f32.f32 %0, %1;"), OP64_32("cvt.f64.f32 %0, %1;"),
      OP64_32("cvt.ftz.f64.f32 %0, %1;"), OP64_32("cvt.sat.f64.f32 %0, %1;"));
  digest_operations<u16>(in, out + 49, OP32_16("cvt.rn.f16x2.e4m3x2 %0, %1;"),
                         OP32_16("cvt.rn.relu.f16x2.e4m3x2 %0, %1;"),
                         OP32_16("cvt.rn.f16x2.e5m2x2 %0, %1;"),
                         OP32_16("cvt.rn.relu.f16x2.e5m2x2 %0, %1;"),
                         OP32_16("cvt.f32.bf16 %0, %1;"), OP32_16("cvt.rn.ftz.f32.bf16 %0, %1;"),
                         OP64_16("cvt.f64.bf16 %0, %1;"), OP16("cvt.rn.f16.bf16 %0, %1;"),
                         OP16("cvt.rm.f16.bf16 %0, %1;"), OP16("cvt.rn.bf16.f16 %0, %1;"),
                         OP16("cvt.rp.bf16.f16 %0, %1;"), OP32_16("cvt.f32.f16 %0, %1;"),
                         OP32_16("cvt.ftz.f32.f16 %0, %1;"), OP64_16("cvt.f64.f16 %0, %1;"));
}

//! f64_to_narrower grid=1 block=32 in=192 out=28 input=f64edges compare=exact
KERNEL(f64_to_narrower) {
  digest_operations<u64>(
      in, out, EACH_ROUNDING(OP32_64, ".f32.f64 %0, %1;"),
      EACH_ROUNDING(OP32_64, ".ftz.f32.f64 %0, %1;"),
      EACH_ROUNDING(OP32_64, ".sat.f32.f64 %0, %1;"), EACH_ROUNDING(OP16_64, ".f16.f64 %0, %1;"),
      EACH_ROUNDING(OP16_64, ".sat.f16.f64 %0, %1;"), EACH_ROUNDING(OP16_64, ".bf16.f64 %0, %1;"),
      EACH_ROUNDING(OP32_64, ".ftz.sat.f32.f64 %0, %1;"));
}
