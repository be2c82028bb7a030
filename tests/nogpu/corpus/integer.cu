// Integer arithmetic of every width.
#include "corpus.cuh"

//! add_sub_16 grid=1 block=32 in=48 out=192 input=bits compare=exact
KERNEL(add_sub_16) {
  fold_operations<u16>(in, out, OP16("add.u16 %0, %1, %2;"), OP16("add.s16 %0, %1, %2;"),
                       OP16("sub.u16 %0, %1, %2;"), OP16("sub.s16 %0, %1, %2;"),
                       OP16("neg.s16 %0, %1;"), OP16("abs.s16 %0, %2;"));
}

//! add_sub_32 grid=1 block=32 in=96 out=192 input=bits compare=exact
KERNEL(add_sub_32) {
  fold_operations<u32>(in, out, OP32("add.u32 %0, %1, %2;"), OP32("sub.u32 %0, %1, %2;"),
                       OP32("add.sat.s32 %0, %1, %2;"), OP32("sub.sat.s32 %0, %1, %2;"),
                       OP32("neg.s32 %0, %2;"), OP32("abs.s32 %0, %2;"));
}

//! add_sub_64 grid=1 block=32 in=192 out=128 input=bits compare=exact
KERNEL(add_sub_64) {
  fold_operations<u64>(in, out, OP64("add.u64 %0, %1, %2;"), OP64("sub.s64 %0, %1, %2;"),
                       OP64("neg.s64 %0, %2;"), OP64("abs.s64 %0, %2;"));
}

//! add_min_max_16x2 grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(add_min_max_16x2) {
  fold_operations<u32>(in, out, OP32("add.u16x2 %0, %1, %2;"), OP32("add.s16x2 %0, %1, %2;"),
                       OP32("min.u16x2 %0, %1, %2;"), OP32("max.u16x2 %0, %1, %2;"),
                       OP32("min.s16x2 %0, %1, %2;"), OP32("max.s16x2 %0, %1, %2;"),
                       OP32("min.s16x2.relu %0, %1, %2;"), OP32("max.s16x2.relu %0, %1, %2;"));
}

//! multiply_16 grid=1 block=32 in=48 out=256 input=bits compare=exact
KERNEL(multiply_16) {
  fold_operations<u16>(in, out, OP16("mul.lo.u16 %0, %1, %2;"), OP16("mul.lo.s16 %0, %1, %2;"),
                       OP16("mul.hi.u16 %0, %1, %2;"), OP16("mul.hi.s16 %0, %1, %2;"),
                       OP32_16("mul.wide.u16 %0, %1, %2;"), OP32_16("mul.wide.s16 %0, %1, %2;"),
                       OP16("mad.lo.u16 %0, %1, %2, %3;"), OP16("mad.hi.s16 %0, %1, %2, %3;"));
}

//! multiply_32 grid=1 block=32 in=96 out=192 input=bits compare=exact
KERNEL(multiply_32) {
  fold_operations<u32>(in, out, OP32("mul.lo.u32 %0, %1, %2;"), OP32("mul.lo.s32 %0, %1, %2;"),
                       OP32("mul.hi.u32 %0, %1, %2;"), OP32("mul.hi.s32 %0, %1, %2;"),
                       OP64_32("mul.wide.u32 %0, %1, %2;"), OP64_32("mul.wide.s32 %0, %1, %2;"));
}

//! multiply_64 grid=1 block=32 in=192 out=192 input=bits compare=exact
KERNEL(multiply_64) {
  fold_operations<u64>(in, out, OP64("mul.lo.u64 %0, %1, %2;"), OP64("mul.hi.u64 %0, %1, %2;"),
                       OP64("mul.hi.s64 %0, %1, %2;"), OP64("mad.lo.s64 %0, %1, %2, %3;"),
                       OP64("mad.hi.u64 %0, %1, %2, %3;"), OP64("mad.hi.s64 %0, %1, %2, %3;"));
}

//! multiply_add_32 grid=1 block=32 in=96 out=224 input=bits compare=exact
KERNEL(multiply_add_32) {
  fold_operations<u32>(
      in, out, OP32("mad.lo.u32 %0, %1, %2, %3;"), OP32("mad.lo.s32 %0, %1, %2, %3;"),
      OP32("mad.hi.u32 %0, %1, %2, %3;"), OP32("mad.hi.s32 %0, %1, %2, %3;"),
      OP32("mad.hi.sat.s32 %0, %1, %2, %3;"),
      OP64_32("{ .reg .b64 w; mov.b64 w, {%3, %1}; mad.wide.u32 %0, %1, %2, w; }"),
      OP64_32("{ .reg .b64 w; mov.b64 w, {%3, %1}; mad.wide.s32 %0, %1, %2, w; }"));
}

//! multiply_24 grid=1 block=32 in=96 out=256 input=bits compare=exact
KERNEL(multiply_24) {
  fold_operations<u32>(in, out, OP32("mul24.lo.u32 %0, %1, %2;"), OP32("mul24.hi.u32 %0, %1, %2;"),
                       OP32("mul24.lo.s32 %0, %1, %2;"), OP32("mul24.hi.s32 %0, %1, %2;"),
                       OP32("mad24.lo.u32 %0, %1, %2, %3;"), OP32("mad24.hi.s32 %0, %1, %2, %3;"),
                       OP32("mad24.hi.sat.s32 %0, %1, %2, %3;"),
                       OP32("mad24.lo.s32 %0, %1, %2, %3;"));
}

// A quotient by zero is not specified.
#define NONZERO_32 "{ .reg .pred z; .reg .b32 y; setp.eq.u32 z, %2, 0; selp.b32 y, 3, %2, z; "
#define NONZERO_64 "{ .reg .pred z; .reg .b64 y; setp.eq.u64 z, %2, 0; selp.b64 y, 3, %2, z; "
#define NONZERO_16 "{ .reg .pred z; .reg .b16 y; setp.eq.u16 z, %2, 0; selp.b16 y, 3, %2, z; "

//! divide_16 grid=1 block=32 in=48 out=128 input=bits compare=exact
KERNEL(divide_16) {
  fold_operations<u16>(
      in, out, OP16(NONZERO_16 "div.u16 %0, %1, y; }"), OP16(NONZERO_16 "rem.u16 %0, %1, y; }"),
      OP16(NONZERO_16 "div.s16 %0, %1, y; }"), OP16(NONZERO_16 "rem.s16 %0, %1, y; }"));
}

//! divide_32 grid=1 block=32 in=96 out=128 input=bits compare=exact
KERNEL(divide_32) {
  fold_operations<u32>(
      in, out, OP32(NONZERO_32 "div.u32 %0, %1, y; }"), OP32(NONZERO_32 "rem.u32 %0, %1, y; }"),
      OP32(NONZERO_32 "div.s32 %0, %1, y; }"), OP32(NONZERO_32 "rem.s32 %0, %1, y; }"));
}

//! divide_64 grid=1 block=32 in=192 out=128 input=bits compare=exact
KERNEL(divide_64) {
  fold_operations<u64>(
      in, out, OP64(NONZERO_64 "div.u64 %0, %1, y; }"), OP64(NONZERO_64 "rem.u64 %0, %1, y; }"),
      OP64(NONZERO_64 "div.s64 %0, %1, y; }"), OP64(NONZERO_64 "rem.s64 %0, %1, y; }"));
}

//! divide_by_constants grid=1 block=32 in=96 out=224 input=bits compare=exact
KERNEL(divide_by_constants) {
  fold_operations<u32>(
      in, out, [](u32 a, u32 b, u32) { return a / 7 + b / 1000; },
      [](u32 a, u32 b, u32) { return a % 10 * 3 + b % 641; },
      [](u32 a, u32 b, u32) { return static_cast<s32>(a) / 9 + static_cast<s32>(b) / -13; },
      [](u32 a, u32 b, u32) { return static_cast<s32>(a) % 125 + static_cast<s32>(b) % 8; },
      [](u32 a, u32 b, u32 c) { return (u64{a} << 32 | b) / 1000000007u + c; },
      [](u32 a, u32 b, u32 c) { return static_cast<s64>(u64{a} << 32 | b) % -86400 + c; },
      [](u32 a, u32 b, u32) { return static_cast<s16>(a) / 11 + static_cast<u16>(b) % 60; });
}

//! minimum_maximum grid=1 block=32 in=96 out=192 input=bits compare=exact
KERNEL(minimum_maximum) {
  fold_operations<u32>(in, out, OP32("min.u32 %0, %1, %2;"), OP32("max.u32 %0, %1, %2;"),
                       OP32("min.s32 %0, %1, %2;"), OP32("max.s32 %0, %1, %2;"),
                       OP32("min.relu.s32 %0, %1, %2;"), OP32("max.relu.s32 %0, %1, %2;"));
}

//! minimum_maximum_64 grid=1 block=32 in=192 out=128 input=bits compare=exact
KERNEL(minimum_maximum_64) {
  fold_operations<u64>(in, out, OP64("min.u64 %0, %1, %2;"), OP64("max.u64 %0, %1, %2;"),
                       OP64("min.s64 %0, %1, %2;"), OP64("max.s64 %0, %1, %2;"));
}

//! minimum_maximum_16 grid=1 block=32 in=48 out=192 input=bits compare=exact
KERNEL(minimum_maximum_16) {
  fold_operations<u16>(in, out, OP16("min.u16 %0, %1, %2;"), OP16("max.u16 %0, %1, %2;"),
                       OP16("min.s16 %0, %1, %2;"), OP16("max.s16 %0, %1, %2;"),
                       OP16("sad.u16 %0, %1, %2, %3;"), OP16("sad.s16 %0, %1, %2, %3;"));
}

//! absolute_differences grid=1 block=32 in=192 out=128 input=bits compare=exact
KERNEL(absolute_differences) {
  fold_operations<u32>(in, out, OP32("sad.u32 %0, %1, %2, %3;"), OP32("sad.s32 %0, %1, %2, %3;"));
  fold_operations<u64>(in, out + 64, OP64("sad.u64 %0, %1, %2, %3;"),
                       OP64("sad.s64 %0, %1, %2, %3;"));
}

//! carry_add grid=1 block=32 in=96 out=128 input=bits compare=exact
KERNEL(carry_add) {
  fold_operations<u32>(
      in, out,
      OP64_32("{ .reg .b32 l, h; add.cc.u32 l, %1, %2; addc.u32 h, %2, %3; mov.b64 %0, {l, h}; }"),
      OP64_32("{ .reg .b32 l, h; add.cc.s32 l, %1, %2; addc.cc.u32 l, l, %3; addc.u32 h, 0, 0;"
              " mov.b64 %0, {l, h}; }"),
      OP32("{ .reg .b32 l; add.cc.u32 l, %1, %2; addc.cc.u32 l, %3, 0xffffffff;"
           " addc.cc.u32 l, l, l; addc.u32 %0, l, 7; }"),
      OP32("{ .reg .b32 l; add.cc.u32 l, %1, %1; addc.cc.s32 l, %2, %2; addc.s32 %0, %3, l; }"));
}

//! carry_subtract grid=1 block=32 in=96 out=128 input=bits compare=exact
KERNEL(carry_subtract) {
  fold_operations<u32>(
      in, out,
      OP64_32("{ .reg .b32 l, h; sub.cc.u32 l, %1, %2; subc.u32 h, %2, %3; mov.b64 %0, {l, h}; }"),
      OP64_32("{ .reg .b32 l, h; sub.cc.s32 l, %1, %2; subc.cc.u32 l, l, %3; subc.u32 h, 0, 0;"
              " mov.b64 %0, {l, h}; }"),
      OP32("{ .reg .b32 l; sub.cc.u32 l, %1, %2; subc.cc.u32 l, 0, %3;"
           " subc.cc.u32 l, l, 0; subc.u32 %0, l, 7; }"),
      OP32("{ .reg .b32 l; sub.cc.u32 l, %3, %1; subc.cc.s32 l, %2, %2; subc.s32 %0, %3, l; }"));
}

//! carry_multiply grid=1 block=32 in=96 out=160 input=bits compare=exact
KERNEL(carry_multiply) {
  fold_operations<u32>(
      in, out,
      OP64_32("{ .reg .b32 l, h; mad.lo.cc.u32 l, %1, %2, %3; madc.hi.u32 h, %1, %2, 0;"
              " mov.b64 %0, {l, h}; }"),
      OP64_32("{ .reg .b32 l, h; mad.hi.cc.u32 l, %1, %2, %3; madc.lo.cc.u32 l, l, %2, %1;"
              " madc.hi.u32 h, %3, %1, 1; mov.b64 %0, {l, h}; }"),
      OP64_32("{ .reg .b32 l, h; mad.lo.cc.s32 l, %1, %2, %3; madc.hi.s32 h, %1, %2, 0;"
              " mov.b64 %0, {l, h}; }"),
      OP32("{ .reg .b32 l; mad.hi.cc.s32 l, %1, %2, %3; madc.hi.cc.s32 l, %3, %2, l;"
           " addc.u32 %0, l, 0; }"),
      OP32("{ .reg .b32 l; mad.lo.cc.u32 l, %1, %2, %3; subc.u32 %0, l, %1; }"));
}

//! carry_64 grid=1 block=32 in=192 out=128 input=bits compare=exact
KERNEL(carry_64) {
  fold_operations<u64>(
      in, out, OP64("{ .reg .b64 l; add.cc.u64 l, %1, %2; addc.u64 %0, l, %3; }"),
      OP64("{ .reg .b64 l; sub.cc.u64 l, %1, %2; subc.cc.u64 l, l, %3; subc.u64 %0, l, %1; }"),
      OP64("{ .reg .b64 l; mad.lo.cc.u64 l, %1, %2, %3; madc.hi.u64 %0, %1, %2, l; }"),
      OP64("{ .reg .b64 l; mad.hi.cc.u64 l, %1, %2, %3; madc.lo.cc.s64 l, l, %2, %1;"
           " addc.s64 %0, l, 0; }"));
}

//! sums_of_products_128 grid=2 block=32 in=256 out=256 input=bits compare=exact
KERNEL(sums_of_products_128) {
  const u64* values = reinterpret_cast<const u64*>(in);
  const u32 t = global_thread();
  unsigned __int128 sum = values[t];
  __int128 signed_sum = -static_cast<__int128>(values[t]);
  for (u32 j = 0; j < 16; ++j) {
    const u64 a = values[(t + j) % 128], b = values[(t * 5 + j * 3) % 128];
    sum += static_cast<unsigned __int128>(a) * b;
    signed_sum -= static_cast<__int128>(static_cast<s64>(a)) * static_cast<s64>(b);
  }
  const unsigned __int128 shifted = sum >> t % 97 ^ static_cast<unsigned __int128>(signed_sum);
  for (u32 k = 0; k < 4; ++k) out[t * 4 + k] = static_cast<u32>(shifted >> 32 * k);
}
