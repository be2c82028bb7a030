// Shifts, fields, permutations, logic tables and dot products of bytes.
#include "corpus.cuh"

// Amounts from 0 to 127, so that a shift beyond the width occurs often.
#define AMOUNT "{ .reg .b32 s; and.b32 s, %3, 127; "
#define AMOUNT_64 "{ .reg .b32 s; cvt.u32.u64 s, %3; and.b32 s, s, 127; "
#define AMOUNT_16 "{ .reg .b32 s; cvt.u32.u16 s, %3; and.b32 s, s, 63; "

//! shift_32 grid=1 block=32 in=96 out=192 input=bits compare=exact
KERNEL(shift_32) {
  fold_operations<u32>(in, out, OP32("shl.b32 %0, %1, %2;"), OP32("shr.u32 %0, %1, %2;"),
                       OP32("shr.s32 %0, %1, %2;"), OP32(AMOUNT "shl.b32 %0, %1, s; }"),
                       OP32(AMOUNT "shr.b32 %0, %1, s; }"), OP32(AMOUNT "shr.s32 %0, %2, s; }"));
}

//! shift_64 grid=1 block=32 in=192 out=96 input=bits compare=exact
KERNEL(shift_64) {
  fold_operations<u64>(in, out, OP64(AMOUNT_64 "shl.b64 %0, %1, s; }"),
                       OP64(AMOUNT_64 "shr.u64 %0, %1, s; }"),
                       OP64(AMOUNT_64 "shr.s64 %0, %2, s; }"));
}

//! shift_16 grid=1 block=32 in=48 out=96 input=bits compare=exact
KERNEL(shift_16) {
  fold_operations<u16>(in, out, OP16(AMOUNT_16 "shl.b16 %0, %1, s; }"),
                       OP16(AMOUNT_16 "shr.u16 %0, %1, s; }"),
                       OP16(AMOUNT_16 "shr.s16 %0, %2, s; }"));
}

//! funnel_shift grid=1 block=32 in=96 out=192 input=bits compare=exact
KERNEL(funnel_shift) {
  fold_operations<u32>(
      in, out, OP32("shf.l.wrap.b32 %0, %1, %2, %3;"), OP32("shf.r.wrap.b32 %0, %1, %2, %3;"),
      OP32("shf.l.clamp.b32 %0, %1, %2, %3;"), OP32("shf.r.clamp.b32 %0, %1, %2, %3;"),
      OP32(AMOUNT "shf.l.clamp.b32 %0, %1, %2, s; }"),
      OP32(AMOUNT "shf.r.clamp.b32 %0, %1, %2, s; }"));
}

//! extract_field grid=1 block=32 in=96 out=192 input=bits compare=exact
KERNEL(extract_field) {
  fold_operations<u32>(in, out, OP32("bfe.u32 %0, %1, %2, %3;"), OP32("bfe.s32 %0, %1, %2, %3;"),
                       OP32(AMOUNT "bfe.u32 %0, %1, s, %2; }"),
                       OP32(AMOUNT "bfe.s32 %0, %1, %2, s; }"),
                       OP32(AMOUNT "and.b32 s, s, 31; bfe.s32 %0, %1, s, 9; }"),
                       OP32(AMOUNT "and.b32 s, s, 31; bfe.u32 %0, %2, 5, s; }"));
}

//! extract_field_64 grid=1 block=32 in=192 out=96 input=bits compare=exact
KERNEL(extract_field_64) {
  fold_operations<u64>(in, out, OP64(AMOUNT_64 "bfe.u64 %0, %1, s, 21; }"),
                       OP64(AMOUNT_64 "bfe.s64 %0, %1, s, 21; }"),
                       OP64(AMOUNT_64 "bfe.s64 %0, %1, 17, s; }"));
}

//! insert_field grid=1 block=32 in=192 out=128 input=bits compare=exact
KERNEL(insert_field) {
  fold_operations<u32>(in, out, OP32("bfi.b32 %0, %1, %2, %3, 11;"),
                       OP32(AMOUNT "bfi.b32 %0, %1, %2, s, 40; }"));
  fold_operations<u64>(in, out + 64, OP64(AMOUNT_64 "bfi.b64 %0, %1, %2, s, 30; }"),
                       OP64(AMOUNT_64 "bfi.b64 %0, %1, %2, 40, s; }"));
}

//! mask_and_extend grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(mask_and_extend) {
  fold_operations<u32>(
      in, out, OP32("bmsk.clamp.b32 %0, %1, %2;"), OP32("bmsk.wrap.b32 %0, %1, %2;"),
      OP32(AMOUNT "bmsk.clamp.b32 %0, s, 12; }"), OP32(AMOUNT "bmsk.wrap.b32 %0, 9, s; }"),
      OP32(AMOUNT "szext.clamp.s32 %0, %1, s; }"), OP32(AMOUNT "szext.wrap.s32 %0, %1, s; }"),
      OP32(AMOUNT "szext.clamp.u32 %0, %1, s; }"), OP32(AMOUNT "szext.wrap.u32 %0, %1, s; }"));
}

//! count_and_find_32 grid=1 block=32 in=96 out=224 input=bits compare=exact
KERNEL(count_and_find_32) {
  fold_operations<u32>(in, out, OP32("popc.b32 %0, %2;"), OP32("clz.b32 %0, %2;"),
                       OP32("brev.b32 %0, %2;"), OP32("bfind.u32 %0, %2;"),
                       OP32("bfind.s32 %0, %2;"), OP32("bfind.shiftamt.u32 %0, %2;"),
                       OP32("bfind.shiftamt.s32 %0, %2;"));
}

//! count_and_find_64 grid=1 block=32 in=192 out=224 input=bits compare=exact
KERNEL(count_and_find_64) {
  fold_operations<u64>(in, out, OP32_64("popc.b64 %0, %2;"), OP32_64("clz.b64 %0, %2;"),
                       OP64("brev.b64 %0, %2;"), OP32_64("bfind.u64 %0, %2;"),
                       OP32_64("bfind.s64 %0, %2;"), OP32_64("bfind.shiftamt.u64 %0, %2;"),
                       OP32_64("bfind.shiftamt.s64 %0, %2;"));
}

//! find_nth_set grid=1 block=32 in=96 out=96 input=bits compare=exact
KERNEL(find_nth_set) {
  fold_operations<u32>(
      in, out, OP32(AMOUNT "and.b32 s, s, 31; fns.b32 %0, %1, s, 1; }"),
      OP32(AMOUNT "{ .reg .b32 o; and.b32 o, %2, 15; sub.s32 o, o, 7; and.b32 s, s, 31;"
                  " fns.b32 %0, %1, s, o; } }"),
      OP32(AMOUNT "and.b32 s, s, 31; fns.b32 %0, %1, s, 0; }"));
}

//! logic_tables grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(logic_tables) {
  fold_operations<u32>(
      in, out, OP32("lop3.b32 %0, %1, %2, %3, 0x96;"), OP32("lop3.b32 %0, %1, %2, %3, 0xe8;"),
      OP32("lop3.b32 %0, %1, %2, %3, 0xca;"), OP32("lop3.b32 %0, %1, %2, %3, 0x01;"),
      OP32("lop3.b32 %0, %1, %2, %3, 0x1e;"), OP32("lop3.b32 %0, %1, %2, %3, 0x7f;"),
      OP32("{ .reg .pred p, q; setp.lt.u32 q, %1, %2; lop3.or.b32 %0|p, %1, %2, %3, 0x80, q;"
           " @p add.u32 %0, %0, 1; }"),
      OP32("{ .reg .pred p, q; setp.lt.u32 q, %1, %2; lop3.and.b32 %0|p, %1, %2, %3, 0x28, q;"
           " @!p add.u32 %0, %0, 3; }"));
}

template <u32 Table> __device__ u32 looked_up(u32 a, u32 b, u32 c) {
  u32 d;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(Table));
  return d;
}
template <u32 First, u32 End> __device__ void fold_tables(u32& h, u32 a, u32 b, u32 c) {
  if constexpr (End - First == 1) {
    fold(h, looked_up<First>(a, b, c));
  } else {
    fold_tables<First, (First + End) / 2>(h, a, b, c);
    fold_tables<(First + End) / 2, End>(h, a, b, c);
  }
}

//! all_logic_tables grid=1 block=32 in=96 out=32 input=bits compare=exact
KERNEL(all_logic_tables) {
  u32 h = 1;
  fold_tables<0, 256>(h, in[threadIdx.x], in[32 + threadIdx.x], in[64 + threadIdx.x]);
  out[threadIdx.x] = h;
}

//! logic grid=1 block=32 in=192 out=256 input=bits compare=exact
KERNEL(logic) {
  fold_operations<u16>(in, out, OP16("and.b16 %0, %1, %2;"), OP16("xor.b16 %0, %1, %2;"),
                       OP16("{ .reg .b16 x; not.b16 x, %1; or.b16 x, x, %2; cnot.b16 %0, x; }"));
  fold_operations<u32>(in, out + 96, OP32("or.b32 %0, %1, %2;"), OP32("cnot.b32 %0, %2;"));
  fold_operations<u64>(in, out + 160, OP64("not.b64 %0, %2;"), OP64("xor.b64 %0, %1, %2;"),
                       OP64("{ .reg .b64 x; and.b64 x, %1, %2; cnot.b64 %0, x; }"));
}

//! permute_bytes grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(permute_bytes) {
  fold_operations<u32>(in, out, OP32("prmt.b32 %0, %1, %2, %3;"),
                       OP32("prmt.b32 %0, %1, %2, 0x5140;"), OP32("prmt.b32.f4e %0, %1, %2, %3;"),
                       OP32("prmt.b32.b4e %0, %1, %2, %3;"), OP32("prmt.b32.rc8 %0, %1, %2, %3;"),
                       OP32("prmt.b32.ecl %0, %1, %2, %3;"), OP32("prmt.b32.ecr %0, %1, %2, %3;"),
                       OP32("prmt.b32.rc16 %0, %1, %2, %3;"));
}

//! dot_products_of_bytes grid=1 block=32 in=96 out=128 input=bits compare=exact
KERNEL(dot_products_of_bytes) {
  fold_operations<u32>(in, out, OP32("dp4a.u32.u32 %0, %1, %2, %3;"),
                       OP32("dp4a.u32.s32 %0, %1, %2, %3;"), OP32("dp4a.s32.u32 %0, %1, %2, %3;"),
                       OP32("dp4a.s32.s32 %0, %1, %2, %3;"));
}

//! dot_products_of_halves grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(dot_products_of_halves) {
  fold_operations<u32>(
      in, out, OP32("dp2a.lo.u32.u32 %0, %1, %2, %3;"), OP32("dp2a.lo.u32.s32 %0, %1, %2, %3;"),
      OP32("dp2a.lo.s32.u32 %0, %1, %2, %3;"), OP32("dp2a.lo.s32.s32 %0, %1, %2, %3;"),
      OP32("dp2a.hi.u32.u32 %0, %1, %2, %3;"), OP32("dp2a.hi.u32.s32 %0, %1, %2, %3;"),
      OP32("dp2a.hi.s32.u32 %0, %1, %2, %3;"), OP32("dp2a.hi.s32.s32 %0, %1, %2, %3;"));
}

//! split_and_join grid=1 block=32 in=192 out=128 input=bits compare=exact
KERNEL(split_and_join) {
  fold_operations<u64>(
      in, out, OP64("{ .reg .b32 l, h; mov.b64 {l, h}, %1; mov.b64 %0, {h, l}; }"),
      OP64("{ .reg .b16 p, q, r, s; mov.b64 {p, q, r, s}, %1; mov.b64 %0, {s, q, p, r}; }"),
      OP32_64("{ .reg .b32 x; .reg .b16 l, h; cvt.u32.u64 x, %2; mov.b32 {l, h}, x;"
              " mov.b32 %0, {h, l}; }"),
      OP32_64("{ .reg .b8 a, b, c, d; .reg .b32 x; .reg .b16 l, h; cvt.u32.u64 x, %1;"
              " mov.b32 {a, b, c, d}, x; mov.b32 %0, {d, b, a, c}; }"));
}
