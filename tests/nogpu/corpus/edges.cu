// Integer instructions, their operands crossing the edges of ranges.
#include "corpus.cuh"

#define EACH_ARITHMETIC(OP, type)                                                   \
  OP("add." type " %0, %1, %2;"), OP("sub." type " %0, %1, %2;"),                   \
      OP("mul.lo." type " %0, %1, %2;"), OP("mul.hi." type " %0, %1, %2;"),         \
      OP("div." type " %0, %1, %2;"), OP("rem." type " %0, %1, %2;"),               \
      OP("min." type " %0, %1, %2;"), OP("max." type " %0, %1, %2;"),               \
      OP("mad.lo." type " %0, %1, %2, %3;"), OP("mad.hi." type " %0, %1, %2, %3;"), \
      OP("sad." type " %0, %1, %2, %3;"), OP("div." type " %0, %1, 7;"),            \
      OP("rem." type " %0, %1, 1000;"), OP("div." type " %0, %1, 16;")
#define EACH_SIGNED(OP, type)                                                             \
  OP("abs." type " %0, %1;"), OP("neg." type " %0, %1;"), OP("div." type " %0, %1, -1;"), \
      OP("rem." type " %0, %1, -16;"), OP("div." type " %0, %1, -3;")

//! edges_of_16_bits grid=1 block=32 in=48 out=46 input=edges compare=exact
KERNEL(edges_of_16_bits) {
  digest_operations<u16>(
      in, out, EACH_ARITHMETIC(OP16, "u16"), EACH_ARITHMETIC(OP16, "s16"), EACH_SIGNED(OP16, "s16"),
      OP32_16("mul.wide.u16 %0, %1, %2;"), OP32_16("mul.wide.s16 %0, %1, %2;"),
      OP32_16("{ .reg .b32 x; mov.b32 x, {%1, %3}; mad.wide.u16 %0, %1, %2, x; }"),
      OP32_16("{ .reg .b32 x; mov.b32 x, {%1, %3}; mad.wide.s16 %0, %1, %2, x; }"),
      OP16("cnot.b16 %0, %1;"), OP16("{ .reg .b32 x; cvt.u32.u16 x, %2; shl.b16 %0, %1, x; }"),
      OP16("{ .reg .b32 x; cvt.u32.u16 x, %2; shr.u16 %0, %1, x; }"),
      OP16("{ .reg .b32 x; cvt.u32.u16 x, %2; shr.s16 %0, %1, x; }"),
      OP16("{ .reg .pred p; setp.hs.u16 p, %1, %2; selp.u16 %0, %1, %3, p; }"),
      OP16("{ .reg .pred p; setp.lt.s16 p, %1, %2; selp.u16 %0, %1, %3, p; }"),
      OP32_16("set.le.u32.s16 %0, %1, %2;"), OP32_16("set.hi.u32.u16 %0, %1, %2;"),
      OPF_16("set.gt.f32.s16 %0, %1, %2;"));
}

//! edges_of_32_bits grid=1 block=32 in=96 out=62 input=edges compare=exact
KERNEL(edges_of_32_bits) {
  digest_operations<u32>(
      in, out, EACH_ARITHMETIC(OP32, "u32"), EACH_ARITHMETIC(OP32, "s32"), EACH_SIGNED(OP32, "s32"),
      OP64_32("mul.wide.u32 %0, %1, %2;"), OP64_32("mul.wide.s32 %0, %1, %2;"),
      OP32("mul24.lo.u32 %0, %1, %2;"), OP32("mul24.hi.u32 %0, %1, %2;"),
      OP32("mul24.lo.s32 %0, %1, %2;"), OP32("mul24.hi.s32 %0, %1, %2;"),
      OP32("mad24.lo.u32 %0, %1, %2, %3;"), OP32("mad24.hi.u32 %0, %1, %2, %3;"),
      OP32("mad24.lo.s32 %0, %1, %2, %3;"), OP32("mad24.hi.s32 %0, %1, %2, %3;"),
      OP32("mad24.hi.sat.s32 %0, %1, %2, %3;"), OP32("mad.hi.sat.s32 %0, %1, %2, %3;"),
      OP32("add.sat.s32 %0, %1, %2;"), OP32("sub.sat.s32 %0, %1, %2;"),
      OP32("min.relu.s32 %0, %1, %2;"), OP32("max.relu.s32 %0, %1, %2;"),
      OP32("add.u16x2 %0, %1, %2;"), OP32("add.s16x2 %0, %1, %2;"), OP32("min.u16x2 %0, %1, %2;"),
      OP32("max.u16x2 %0, %1, %2;"), OP32("min.s16x2 %0, %1, %2;"), OP32("max.s16x2 %0, %1, %2;"),
      OP32("min.relu.s16x2 %0, %1, %2;"), OP32("max.relu.s16x2 %0, %1, %2;"),
      OP32("shl.b32 %0, %1, %2;"), OP32("shr.u32 %0, %1, %2;"), OP32("shr.s32 %0, %1, %2;"),
      OP32("cnot.b32 %0, %1;"), OP32("slct.u32.s32 %0, %1, %2, %3;"));
}

//! edges_of_64_bits grid=1 block=32 in=192 out=46 input=edges compare=exact
KERNEL(edges_of_64_bits) {
  digest_operations<u64>(
      in, out, EACH_ARITHMETIC(OP64, "u64"), EACH_ARITHMETIC(OP64, "s64"), EACH_SIGNED(OP64, "s64"),
      OP64("{ .reg .b32 x; cvt.u32.u64 x, %2; shl.b64 %0, %1, x; }"),
      OP64("{ .reg .b32 x; cvt.u32.u64 x, %2; shr.u64 %0, %1, x; }"),
      OP64("{ .reg .b32 x; cvt.u32.u64 x, %2; shr.s64 %0, %1, x; }"), OP64("cnot.b64 %0, %1;"),
      OP32_64("popc.b64 %0, %1;"), OP32_64("clz.b64 %0, %1;"), OP64("brev.b64 %0, %1;"),
      OP32_64("bfind.u64 %0, %1;"), OP32_64("bfind.s64 %0, %1;"),
      OP32_64("bfind.shiftamt.s64 %0, %1;"),
      OP64("{ .reg .b32 x, y; cvt.u32.u8 x, %2; cvt.u32.u8 y, %3; bfe.u64 %0, %1, x, y; }"),
      OP64("{ .reg .b32 x, y; cvt.u32.u8 x, %2; cvt.u32.u8 y, %3; bfe.s64 %0, %1, x, y; }"),
      OP64("{ .reg .b32 x, y; cvt.u32.u8 x, %2; cvt.u32.u8 y, %3; bfi.b64 %0, %1, %3, x, y; }"));
}

// A chain of two or three instructions: what it leaves and the carry at its end.
#define CHAIN(OP, type, first, second, third)                                                     \
  OP("{ .reg ." type " x, y; " first "." type " x, %1, %2; " second "." type " y, %2, %3; " third \
     "." type " %0, x, y; }")
#define EACH_CHAIN(OP, type)                                                                      \
  CHAIN(OP, type, "add.cc", "addc.cc", "addc"), CHAIN(OP, type, "add.cc", "addc.cc", "subc"),     \
      CHAIN(OP, type, "add.cc", "subc.cc", "addc"), CHAIN(OP, type, "add.cc", "subc.cc", "subc"), \
      CHAIN(OP, type, "sub.cc", "addc.cc", "addc"), CHAIN(OP, type, "sub.cc", "addc.cc", "subc"), \
      CHAIN(OP, type, "sub.cc", "subc.cc", "addc"), CHAIN(OP, type, "sub.cc", "subc.cc", "subc")
#define EACH_PRODUCT_CHAIN(OP, type)                                                             \
  OP("{ .reg ." type " x; mad.lo.cc." type " x, %1, %2, %3; madc.hi." type " %0, %1, %2, x; }"), \
      OP("{ .reg ." type " x; mad.hi.cc." type " x, %1, %2, %3; madc.lo." type                   \
         " %0, %1, %3, x; }"),                                                                   \
      OP("{ .reg ." type " x, y; sub.cc." type " x, %1, %2; madc.lo.cc." type                    \
         " y, %1, %3, %2; addc." type " %0, x, y; }"),                                           \
      OP("{ .reg ." type " x, y; add.cc." type " x, %1, %2; madc.hi.cc." type                    \
         " y, %3, %3, %2; subc." type " %0, y, x; }"),                                           \
      OP("{ .reg ." type " x; mad.hi.cc." type " x, %1, %2, %3; subc." type " %0, x, %1; }")

//! carry_chains grid=1 block=32 in=192 out=52 input=edges compare=exact
KERNEL(carry_chains) {
  digest_operations<u32>(in, out, EACH_CHAIN(OP32, "u32"), EACH_CHAIN(OP32, "s32"),
                         EACH_PRODUCT_CHAIN(OP32, "u32"), EACH_PRODUCT_CHAIN(OP32, "s32"));
  digest_operations<u64>(in, out + 26, EACH_CHAIN(OP64, "u64"), EACH_CHAIN(OP64, "s64"),
                         EACH_PRODUCT_CHAIN(OP64, "u64"), EACH_PRODUCT_CHAIN(OP64, "s64"));
}

#define FIELD(instruction) \
  OP32("{ .reg .b32 x, y; and.b32 x, %2, 255; and.b32 y, %3, 255; " instruction " }")

//! fields_and_dot_products grid=1 block=32 in=96 out=49 input=edges compare=exact
KERNEL(fields_and_dot_products) {
  digest_operations<u32>(
      in, out, OP32("popc.b32 %0, %1;"), OP32("clz.b32 %0, %1;"), OP32("brev.b32 %0, %1;"),
      OP32("bfind.u32 %0, %1;"), OP32("bfind.s32 %0, %1;"), OP32("bfind.shiftamt.u32 %0, %1;"),
      OP32("bfind.shiftamt.s32 %0, %1;"), FIELD("bfe.u32 %0, %1, x, y;"),
      FIELD("bfe.s32 %0, %1, x, y;"), FIELD("bfi.b32 %0, %1, %3, x, y;"),
      FIELD("bfi.b32 %0, %1, %2, y, x;"), OP32("bmsk.clamp.b32 %0, %1, %2;"),
      OP32("bmsk.wrap.b32 %0, %1, %2;"), OP32("szext.clamp.u32 %0, %1, %2;"),
      OP32("szext.clamp.s32 %0, %1, %2;"), OP32("szext.wrap.u32 %0, %1, %2;"),
      OP32("szext.wrap.s32 %0, %1, %2;"), OP32("shf.l.clamp.b32 %0, %1, %2, %3;"),
      OP32("shf.l.wrap.b32 %0, %1, %2, %3;"), OP32("shf.r.clamp.b32 %0, %1, %2, %3;"),
      OP32("shf.r.wrap.b32 %0, %1, %2, %3;"), OP32("prmt.b32 %0, %1, %2, %3;"),
      OP32("prmt.b32.f4e %0, %1, %2, %3;"), OP32("prmt.b32.b4e %0, %1, %2, %3;"),
      OP32("prmt.b32.rc8 %0, %1, %2, %3;"), OP32("prmt.b32.ecl %0, %1, %2, %3;"),
      OP32("prmt.b32.ecr %0, %1, %2, %3;"), OP32("prmt.b32.rc16 %0, %1, %2, %3;"),
      OP32("{ .reg .b32 x; and.b32 x, %2, 31; fns.b32 %0, %1, x, %3; }"),
      OP32("dp4a.u32.u32 %0, %1, %2, %3;"), OP32("dp4a.u32.s32 %0, %1, %2, %3;"),
      OP32("dp4a.s32.u32 %0, %1, %2, %3;"), OP32("dp4a.s32.s32 %0, %1, %2, %3;"),
      OP32("dp2a.lo.u32.u32 %0, %1, %2, %3;"), OP32("dp2a.lo.u32.s32 %0, %1, %2, %3;"),
      OP32("dp2a.lo.s32.u32 %0, %1, %2, %3;"), OP32("dp2a.lo.s32.s32 %0, %1, %2, %3;"),
      OP32("dp2a.hi.u32.u32 %0, %1, %2, %3;"), OP32("dp2a.hi.u32.s32 %0, %1, %2, %3;"),
      OP32("dp2a.hi.s32.u32 %0, %1, %2, %3;"), OP32("dp2a.hi.s32.s32 %0, %1, %2, %3;"),
      OP32("cvt.pack.sat.u16.s32 %0, %1, %2;"), OP32("cvt.pack.sat.s16.s32 %0, %1, %2;"),
      OP32("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"),
      OP32("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;"),
      OP32("{ .reg .pred p, q; setp.lt.s32 q, %2, %3; setp.gt.and.u32 p|q, %1, %2, q;"
           " selp.u32 %0, 1, 2, p; @q add.u32 %0, %0, 4; }"),
      OP32("{ .reg .pred p, q; setp.lt.s32 q, %2, %3; setp.le.or.s32 p|q, %1, %2, !q;"
           " selp.u32 %0, 1, 2, p; @q add.u32 %0, %0, 4; }"),
      OP32("{ .reg .pred p, q; setp.lt.s32 q, %2, %3; setp.eq.xor.b32 p|q, %1, %2, q;"
           " selp.u32 %0, 1, 2, p; @q add.u32 %0, %0, 4; }"),
      OP32("{ .reg .pred q; setp.lt.s32 q, %2, %3; set.ge.xor.u32.s32 %0, %1, %2, q; }"));
}

template <u32 Table> struct look_up {
  __device__ u32 operator()(u32 a, u32 b, u32 c) const {
    u32 d;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(Table));
    return d;
  }
};
template <u32 First> __device__ void look_up_eight(const u32* in, u32* out) {
  digest_operations<u32>(in, out + First, look_up<First>{}, look_up<First + 1>{},
                         look_up<First + 2>{}, look_up<First + 3>{}, look_up<First + 4>{},
                         look_up<First + 5>{}, look_up<First + 6>{}, look_up<First + 7>{});
  if constexpr (First + 8 < 256) look_up_eight<First + 8>(in, out);
}

//! all_tables_of_three_inputs grid=1 block=32 in=96 out=256 input=edges compare=exact
KERNEL(all_tables_of_three_inputs) { look_up_eight<0>(in, out); }

#define SHUFFLE(mode, clamp)                                         \
  OP32("{ .reg .pred p; shfl.sync." mode ".b32 %0|p, %1, %2, " clamp \
       ", 0xffffffff;"                                               \
       " @!p xor.b32 %0, %0, 0x80000000; }")
#define EACH_SHUFFLE(mode)                                                                 \
  SHUFFLE(mode, "%3"), SHUFFLE(mode, "0x1f"), SHUFFLE(mode, "0"), SHUFFLE(mode, "0x101f"), \
      SHUFFLE(mode, "0x1807"), SHUFFLE(mode, "0x1e03"), SHUFFLE(mode, "0x1c1f")

//! lanes_at_the_edges grid=1 block=32 in=96 out=42 input=edges compare=exact
KERNEL(lanes_at_the_edges) {
  digest_operations<u32>(
      in, out, EACH_SHUFFLE("up"), EACH_SHUFFLE("down"), EACH_SHUFFLE("bfly"), EACH_SHUFFLE("idx"),
      OP32("redux.sync.add.u32 %0, %1, 0xffffffff;"),
      OP32("redux.sync.add.s32 %0, %1, 0xffffffff;"),
      OP32("redux.sync.min.u32 %0, %1, 0xffffffff;"),
      OP32("redux.sync.max.u32 %0, %1, 0xffffffff;"),
      OP32("redux.sync.min.s32 %0, %1, 0xffffffff;"),
      OP32("redux.sync.max.s32 %0, %1, 0xffffffff;"),
      OP32("redux.sync.and.b32 %0, %1, 0xffffffff;"), OP32("redux.sync.or.b32 %0, %1, 0xffffffff;"),
      OP32("redux.sync.xor.b32 %0, %3, 0xffffffff;"),
      OP32("{ .reg .b32 x; and.b32 x, %1, 3; match.any.sync.b32 %0, x, 0xffffffff; }"),
      OP32("{ .reg .b64 x; mov.b64 x, {%2, %2}; match.any.sync.b64 %0, x, 0xffffffff; }"),
      OP32("{ .reg .pred p; match.all.sync.b32 %0|p, %2, 0xffffffff; @p add.u32 %0, %0, 5; }"),
      OP32("{ .reg .pred p; setp.lt.s32 p, %1, %2; vote.sync.ballot.b32 %0, p, 0xffffffff; }"),
      OP32("{ .reg .pred p; setp.lt.u32 p, %1, %2; vote.sync.all.pred p, p, 0xffffffff;"
           " selp.u32 %0, 1, 2, p; }"));
}
