// Conversions between all pairs of types, with rounding and saturation.
#include "corpus.cuh"

//! integers_narrowed grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(integers_narrowed) {
  fold_operations<u32>(in, out, OP32("cvt.u8.u32 %0, %2;"), OP32("cvt.s8.s32 %0, %2;"),
                       OP32("cvt.sat.u8.s32 %0, %2;"), OP32("cvt.sat.s8.s32 %0, %2;"),
                       OP16_32("cvt.u16.u32 %0, %2;"), OP16_32("cvt.sat.s16.s32 %0, %2;"),
                       OP16_32("cvt.sat.u16.s32 %0, %2;"), OP16_32("cvt.sat.s16.u32 %0, %2;"));
}

//! integers_widened grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(integers_widened) {
  fold_operations<u32>(in, out, OP64_32("cvt.u64.u32 %0, %2;"), OP64_32("cvt.s64.s32 %0, %2;"),
                       OP64_32("cvt.u64.s32 %0, %2;"), OP64_32("cvt.sat.u64.s32 %0, %2;"),
                       OP32("cvt.sat.s32.u32 %0, %2;"), OP32("cvt.sat.u32.s32 %0, %2;"),
                       OP32("{ .reg .b16 x; cvt.u16.u32 x, %2; cvt.s32.s8 %0, x; }"),
                       OP64_32("{ .reg .b16 x; cvt.u16.u32 x, %2; cvt.s64.s16 %0, x; }"));
}

//! integers_of_64_bits grid=1 block=32 in=192 out=256 input=bits compare=exact
KERNEL(integers_of_64_bits) {
  fold_operations<u64>(in, out, OP32_64("cvt.u32.u64 %0, %2;"), OP32_64("cvt.sat.s32.s64 %0, %2;"),
                       OP32_64("cvt.sat.u32.s64 %0, %2;"), OP32_64("cvt.sat.u32.u64 %0, %2;"),
                       OP64("cvt.sat.s64.u64 %0, %2;"), OP64("cvt.sat.u64.s64 %0, %2;"),
                       OP32_64("cvt.sat.s8.s64 %0, %2;"), OP32_64("cvt.sat.u16.s64 %0, %2;"));
}

//! packed_with_saturation grid=1 block=32 in=96 out=128 input=small_signed compare=exact
KERNEL(packed_with_saturation) {
  fold_operations<u32>(in, out, OP32("cvt.pack.sat.s16.s32 %0, %1, %2;"),
                       OP32("cvt.pack.sat.u16.s32 %0, %1, %2;"),
                       OP32("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"),
                       OP32("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;"));
}

//! packed_in_nibbles_and_pairs grid=1 block=32 in=96 out=128 input=small_signed compare=exact
KERNEL(packed_in_nibbles_and_pairs) {
  fold_operations<u32>(in, out, OP32("cvt.pack.sat.u4.s32.b32 %0, %1, %2, %3;"),
                       OP32("cvt.pack.sat.s4.s32.b32 %0, %1, %2, %3;"),
                       OP32("cvt.pack.sat.u2.s32.b32 %0, %1, %2, %3;"),
                       OP32("cvt.pack.sat.s2.s32.b32 %0, %1, %2, %3;"));
}

//! u32_to_f32 grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(u32_to_f32) {
  fold_operations<u32>(in, out, OPF_32("cvt.rn.f32.u32 %0, %2;"), OPF_32("cvt.rz.f32.u32 %0, %2;"),
                       OPF_32("cvt.rm.f32.u32 %0, %2;"), OPF_32("cvt.rp.f32.u32 %0, %2;"),
                       OPF_32("cvt.rn.f32.s32 %0, %2;"), OPF_32("cvt.rz.f32.s32 %0, %2;"),
                       OPF_32("cvt.rm.f32.s32 %0, %2;"), OPF_32("cvt.rp.f32.s32 %0, %2;"));
}

//! u64_to_f32 grid=1 block=32 in=192 out=256 input=bits compare=exact
KERNEL(u64_to_f32) {
  fold_operations<u64>(in, out, OPF_64("cvt.rn.f32.u64 %0, %2;"), OPF_64("cvt.rz.f32.u64 %0, %2;"),
                       OPF_64("cvt.rm.f32.u64 %0, %2;"), OPF_64("cvt.rp.f32.u64 %0, %2;"),
                       OPF_64("cvt.rn.f32.s64 %0, %2;"), OPF_64("cvt.rz.f32.s64 %0, %2;"),
                       OPF_64("cvt.rm.f32.s64 %0, %2;"), OPF_64("cvt.rp.f32.s64 %0, %2;"));
}

//! u64_to_f64 grid=1 block=32 in=192 out=256 input=bits compare=exact
KERNEL(u64_to_f64) {
  fold_operations<u64>(in, out, OPD_64("cvt.rn.f64.u64 %0, %2;"), OPD_64("cvt.rz.f64.u64 %0, %2;"),
                       OPD_64("cvt.rm.f64.u64 %0, %2;"), OPD_64("cvt.rp.f64.u64 %0, %2;"),
                       OPD_64("cvt.rn.f64.s64 %0, %2;"), OPD_64("cvt.rz.f64.s64 %0, %2;"),
                       OPD_64("cvt.rm.f64.s64 %0, %2;"), OPD_64("cvt.rp.f64.s64 %0, %2;"));
}

//! small_integers_to_floating grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(small_integers_to_floating) {
  fold_operations<u16>(in, out, OPF_16("cvt.rn.f32.u16 %0, %2;"), OPF_16("cvt.rn.f32.s8 %0, %2;"),
                       OPD_16("cvt.rn.f64.s16 %0, %2;"), OP16("cvt.rn.f16.u16 %0, %2;"),
                       OP16("cvt.rz.f16.s16 %0, %2;"));
  fold_operations<u32>(in, out + 160, OPD_32("cvt.rn.f64.u32 %0, %2;"),
                       OP16_32("cvt.rn.f16.s32 %0, %2;"), OP16_32("cvt.rp.f16.u32 %0, %2;"));
}

//! f32_to_s32 grid=1 block=32 in=96 out=256 input=f32near compare=exact
KERNEL(f32_to_s32) {
  fold_operations<float>(in, out, OP32_F("cvt.rni.s32.f32 %0, %2;"),
                         OP32_F("cvt.rzi.s32.f32 %0, %2;"), OP32_F("cvt.rmi.s32.f32 %0, %2;"),
                         OP32_F("cvt.rpi.s32.f32 %0, %2;"), OP32_F("cvt.rni.u32.f32 %0, %2;"),
                         OP32_F("cvt.rzi.ftz.u32.f32 %0, %2;"), OP32_F("cvt.rmi.u32.f32 %0, %2;"),
                         OP32_F("cvt.rpi.ftz.s32.f32 %0, %2;"));
}

//! f32_to_integers grid=1 block=32 in=96 out=256 input=f32 compare=exact
KERNEL(f32_to_integers) {
  fold_operations<float>(in, out, OP32_F("cvt.rni.s32.f32 %0, %2;"),
                         OP32_F("cvt.rzi.u32.f32 %0, %2;"), OP64_F("cvt.rni.s64.f32 %0, %2;"),
                         OP64_F("cvt.rpi.u64.f32 %0, %2;"), OP16_F("cvt.rzi.s16.f32 %0, %2;"),
                         OP16_F("cvt.rmi.u16.f32 %0, %2;"), OP32_F("cvt.rni.sat.s8.f32 %0, %2;"),
                         OP32_F("cvt.rni.sat.u8.f32 %0, %2;"));
}

//! f64_to_integers grid=1 block=32 in=192 out=256 input=f64 compare=exact
KERNEL(f64_to_integers) {
  fold_operations<double>(in, out, OP32_D("cvt.rni.s32.f64 %0, %2;"),
                          OP32_D("cvt.rzi.u32.f64 %0, %2;"), OP64_D("cvt.rmi.s64.f64 %0, %2;"),
                          OP64_D("cvt.rpi.u64.f64 %0, %2;"), OP16_D("cvt.rzi.s16.f64 %0, %2;"),
                          OP16_D("cvt.rni.u16.f64 %0, %2;"), OP32_D("cvt.rzi.sat.s8.f64 %0, %2;"),
                          OP32_D("cvt.rpi.s32.f64 %0, %2;"));
}

//! f64_to_integers_near grid=1 block=32 in=192 out=256 input=f64near compare=exact
KERNEL(f64_to_integers_near) {
  fold_operations<double>(in, out, OP32_D("cvt.rni.s32.f64 %0, %2;"),
                          OP32_D("cvt.rzi.s32.f64 %0, %2;"), OP32_D("cvt.rmi.s32.f64 %0, %2;"),
                          OP32_D("cvt.rpi.u32.f64 %0, %2;"), OP64_D("cvt.rni.s64.f64 %0, %2;"),
                          OP64_D("cvt.rzi.s64.f64 %0, %2;"), OP64_D("cvt.rmi.u64.f64 %0, %2;"),
                          OP64_D("cvt.rpi.s64.f64 %0, %2;"));
}

//! f64_to_f32 grid=1 block=32 in=192 out=224 input=f64 compare=exact
KERNEL(f64_to_f32) {
  fold_operations<double>(in, out, OPF_D("cvt.rn.f32.f64 %0, %2;"), OPF_D("cvt.rz.f32.f64 %0, %2;"),
                          OPF_D("cvt.rm.f32.f64 %0, %2;"), OPF_D("cvt.rp.f32.f64 %0, %2;"),
                          OPF_D("cvt.rn.ftz.f32.f64 %0, %2;"), OPF_D("cvt.rn.sat.f32.f64 %0, %2;"),
                          OP16_D("cvt.rn.f16.f64 %0, %2;"));
}

//! f64_to_f32_near grid=1 block=32 in=192 out=160 input=f64near compare=exact
KERNEL(f64_to_f32_near) {
  fold_operations<double>(in, out, OPF_D("cvt.rn.f32.f64 %0, %2;"), OPF_D("cvt.rz.f32.f64 %0, %2;"),
                          OPF_D("cvt.rm.f32.f64 %0, %2;"), OPF_D("cvt.rp.f32.f64 %0, %2;"),
                          OP16_D("cvt.rn.f16.f64 %0, %2;"));
}

//! f32_to_f64 grid=1 block=32 in=96 out=96 input=f32 compare=exact
KERNEL(f32_to_f64) {
  fold_operations<float>(in, out, OPD_F("cvt.f64.f32 %0, %2;"), OPD_F("cvt.ftz.f64.f32 %0, %2;"),
                         OPD_F("{ .reg .f32 x; cvt.sat.f32.f32 x, %2; cvt.f64.f32 %0, x; }"));
}

//! f32_to_f16 grid=1 block=32 in=96 out=256 input=f32near compare=exact
KERNEL(f32_to_f16) {
  fold_operations<float>(
      in, out, OP16_F("cvt.rn.f16.f32 %0, %2;"), OP16_F("cvt.rz.f16.f32 %0, %2;"),
      OP16_F("cvt.rm.f16.f32 %0, %2;"), OP16_F("cvt.rp.f16.f32 %0, %2;"),
      OP16_F("cvt.rn.sat.f16.f32 %0, %2;"), OP16_F("cvt.rn.relu.f16.f32 %0, %2;"),
      OP16_F("cvt.rn.ftz.f16.f32 %0, %2;"), OP16_F("cvt.rn.satfinite.f16.f32 %0, %2;"));
}

//! f32_to_bf16 grid=1 block=32 in=96 out=256 input=f32 compare=exact
KERNEL(f32_to_bf16) {
  fold_operations<float>(in, out, OP16_F("cvt.rn.bf16.f32 %0, %2;"),
                         OP16_F("cvt.rz.bf16.f32 %0, %2;"), OP16_F("cvt.rn.relu.bf16.f32 %0, %2;"),
                         OP16_F("cvt.rn.f16.f32 %0, %2;"), OP32_F("cvt.rna.tf32.f32 %0, %2;"),
                         OP32_F("cvt.rn.tf32.f32 %0, %2;"), OP32_F("cvt.rz.tf32.f32 %0, %2;"),
                         OP32_F("cvt.rn.relu.tf32.f32 %0, %2;"));
}

//! f32_pairs_to_halves grid=1 block=32 in=96 out=256 input=f32near compare=exact
KERNEL(f32_pairs_to_halves) {
  fold_operations<float>(
      in, out, OP32_F("cvt.rn.f16x2.f32 %0, %1, %2;"), OP32_F("cvt.rz.f16x2.f32 %0, %1, %2;"),
      OP32_F("cvt.rn.relu.f16x2.f32 %0, %1, %2;"), OP32_F("cvt.rn.bf16x2.f32 %0, %1, %2;"),
      OP32_F("cvt.rz.bf16x2.f32 %0, %1, %2;"), OP32_F("cvt.rn.relu.bf16x2.f32 %0, %1, %2;"),
      OP16_F("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"),
      OP16_F("cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;"));
}

//! bytes_of_floating grid=1 block=32 in=96 out=224 input=f16 compare=exact
KERNEL(bytes_of_floating) {
  fold_operations<u16>(in, out, OP32_16("cvt.rn.f16x2.e4m3x2 %0, %2;"),
                       OP32_16("cvt.rn.f16x2.e5m2x2 %0, %2;"),
                       OP32_16("cvt.rn.relu.f16x2.e4m3x2 %0, %2;"));
  fold_operations<u32>(in, out + 96, OP16_32("cvt.rn.satfinite.e4m3x2.f16x2 %0, %2;"),
                       OP16_32("cvt.rn.satfinite.e5m2x2.f16x2 %0, %2;"),
                       OP16_32("cvt.rn.satfinite.relu.e4m3x2.f16x2 %0, %2;"),
                       OP16_32("cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %2;"));
}

//! halves_widened grid=1 block=32 in=48 out=224 input=f16 compare=exact
KERNEL(halves_widened) {
  fold_operations<u16>(in, out, OPF_16("cvt.f32.f16 %0, %2;"), OPF_16("cvt.ftz.f32.f16 %0, %2;"),
                       OPD_16("cvt.f64.f16 %0, %2;"), OPF_16("cvt.f32.bf16 %0, %2;"),
                       OPF_16("cvt.sat.f32.f16 %0, %2;"), OP16("cvt.rni.f16.f16 %0, %2;"),
                       OP16("cvt.rmi.f16.f16 %0, %2;"));
}

//! halves_to_integers grid=1 block=32 in=48 out=256 input=f16 compare=exact
KERNEL(halves_to_integers) {
  fold_operations<u16>(in, out, OP32_16("cvt.rni.s32.f16 %0, %2;"),
                       OP32_16("cvt.rzi.u32.f16 %0, %2;"), OP16("cvt.rmi.s16.f16 %0, %2;"),
                       OP16("cvt.rpi.u16.f16 %0, %2;"), OP32_16("cvt.rzi.s32.bf16 %0, %2;"),
                       OP16("cvt.rn.bf16.s16 %0, %2;"), OP16("cvt.rn.bf16.f16 %0, %2;"),
                       OP16("cvt.rz.f16.bf16 %0, %2;"));
}

//! conversions_of_the_language grid=1 block=64 in=64 out=256 input=f32near compare=exact
KERNEL(conversions_of_the_language) {
  const float x = __uint_as_float(in[threadIdx.x]);
  u32* const mine = out + threadIdx.x * 4;
  mine[0] = x > -100 && x < 100 ? static_cast<u32>(static_cast<s8>(x)) : 77;
  mine[1] = static_cast<u32>(__float2int_rd(x)) ^ static_cast<u32>(__float2ll_ru(x));
  mine[2] = static_cast<u32>(__double2int_rn(static_cast<double>(x) * 3));
  mine[3] = __float_as_uint(__ll2float_rz(static_cast<s64>(in[threadIdx.x]) * -12345));
}
