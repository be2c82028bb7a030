// That instructions reach the function that computes them, with the right operands: one or two of
// each family, against host arithmetic. The functions themselves have tests of their own.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "nogpu/machine/kernel_harness.hpp"

namespace instructions_test {

using namespace machine_test;

namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

/// 37 elements: one full warp and a partial one.
constexpr std::size_t count = 37;

template <class T> std::vector<T> some(std::uint32_t seed) {
  std::vector<T> values;
  const auto words = random_words(2 * count, seed);
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(words[2 * i] | u64{words[2 * i + 1]} << 32));
  return values;
}

std::vector<float> some_floats(std::uint32_t seed) {
  std::vector<float> values;
  for (const u32 w : random_words(count, seed))
    values.push_back((static_cast<float>(w % 20000) - 10000.0f) / 64.0f);
  return values;
}

template <class R, class A, class B, class F>
void check(const std::string& instruction, const std::vector<A>& a, const std::vector<B>& b, F f) {
  const auto result = evaluate<R>(instruction, a, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO(instruction << " lane " << i);
    REQUIRE(std::bit_cast<std::array<u8, sizeof(R)>>(result[i]) ==
            std::bit_cast<std::array<u8, sizeof(R)>>(static_cast<R>(f(a[i], b[i]))));
  }
}

}  // namespace

TEST_CASE("integer arithmetic", "[machine]") {
  const auto a = some<u32>(1), b = some<u32>(2);
  const auto la = some<u64>(3), lb = some<u64>(4);
  const auto ha = some<u16>(5), hb = some<u16>(6);
  check<u32>("add.u32 %d, %a, %b;", a, b, [](u32 x, u32 y) { return x + y; });
  check<u32>("sub.s32 %d, %a, 17;", a, b, [](u32 x, u32) { return x - 17; });
  check<u16>("mul.lo.u16 %d, %a, %b;", ha, hb,
             [](u16 x, u16 y) { return static_cast<u16>(u32{x} * y); });
  check<u32>("mul.hi.u32 %d, %a, %b;", a, b, [](u32 x, u32 y) { return u64{x} * y >> 32; });
  check<u64>("mul.wide.s32 %d, %a, %b;", a, b, [](u32 x, u32 y) {
    return static_cast<u64>(s64{static_cast<s32>(x)} * static_cast<s32>(y));
  });
  check<u64>("mad.lo.u64 %d, %a, %b, 5;", la, lb, [](u64 x, u64 y) { return x * y + 5; });
  check<u32>("div.s32 %d, %a, %b;", a, b,
             [](u32 x, u32 y) { return static_cast<s32>(x) / static_cast<s32>(y); });
  check<u64>("rem.u64 %d, %a, 1000;", la, lb, [](u64 x, u64) { return x % 1000; });
  check<u32>("min.s32 %d, %a, %b;", a, b,
             [](u32 x, u32 y) { return std::min(static_cast<s32>(x), static_cast<s32>(y)); });
  check<u32>("dp4a.u32.u32 %d, %a, %b, 3;", a, b, [](u32 x, u32 y) {
    u32 sum = 3;
    for (int i = 0; i < 32; i += 8) sum += (x >> i & 255) * (y >> i & 255);
    return sum;
  });
  check<u32>("vadd4.u32.u32.u32 %d, %a, %b, %a;", a, b, [](u32 x, u32 y) {
    u32 sum = 0;
    for (int i = 0; i < 32; i += 8) sum |= (((x >> i) + (y >> i)) & 255) << i;
    return sum;
  });
}

TEST_CASE("carry chains", "[machine]") {
  const auto a = some<u64>(7), b = some<u64>(8);
  const std::string split =
      "{ .reg .b32 %al, %ah, %bl, %bh, %dl, %dh; mov.b64 {%al, %ah}, %a; mov.b64 {%bl, %bh}, %b;";
  check<u64>(split + "add.cc.u32 %dl, %al, %bl; addc.u32 %dh, %ah, %bh; mov.b64 %d, {%dl, %dh}; }",
             a, b, [](u64 x, u64 y) { return x + y; });
  check<u64>(split + "sub.cc.u32 %dl, %al, %bl; subc.u32 %dh, %ah, %bh; mov.b64 %d, {%dl, %dh}; }",
             a, b, [](u64 x, u64 y) { return x - y; });
  // The low 64 bits of a product from 32-bit pieces.
  check<u64>(split +
                 "mul.lo.u32 %dl, %al, %bl; mul.hi.u32 %dh, %al, %bl;"
                 "mad.lo.u32 %dh, %al, %bh, %dh; mad.lo.u32 %dh, %ah, %bl, %dh;"
                 "mov.b64 %d, {%dl, %dh}; }",
             a, b, [](u64 x, u64 y) { return x * y; });
}

TEST_CASE("bits and shifts", "[machine]") {
  const auto a = some<u32>(9), b = some<u32>(10);
  const auto la = some<u64>(11);
  check<u32>("and.b32 %d, %a, %b;", a, b, [](u32 x, u32 y) { return x & y; });
  check<u32>("shl.b32 %d, %a, 5;", a, b, [](u32 x, u32) { return x << 5; });
  check<u64>("shl.b64 %d, %a, %b;", la, some<u32>(12),
             [](u64 x, u32 n) { return n > 63 ? 0 : x << n; });
  check<u64>("shr.s64 %d, %a, 70;", la, b, [](u64 x, u32) { return static_cast<s64>(x) >> 63; });
  check<u32>("lop3.b32 %d, %a, %b, 0xff, 0x96;", a, b, [](u32 x, u32 y) { return x ^ y ^ 0xff; });
  check<u32>("popc.b64 %d, %a;", la, b, [](u64 x, u32) { return std::popcount(x); });
  check<u32>("clz.b32 %d, %a;", a, b, [](u32 x, u32) { return std::countl_zero(x); });
  check<u32>("bfe.u32 %d, %a, 4, 12;", a, b, [](u32 x, u32) { return x >> 4 & 0xfff; });
  check<u64>("bfi.b64 %d, %a, %a, 8, 4;", la, b,
             [](u64 x, u32) { return (x & ~u64{0xf00}) | (x & 15) << 8; });
  check<u32>("prmt.b32 %d, %a, %b, 0x3210;", a, b, [](u32 x, u32) { return x; });
  check<u32>("prmt.b32 %d, %a, %b, 0x0123;", a, b, [](u32 x, u32) { return __builtin_bswap32(x); });
  check<u32>("shf.l.wrap.b32 %d, %a, %a, 7;", a, b, [](u32 x, u32) { return std::rotl(x, 7); });
  check<u16>("not.b16 %d, %a;", some<u16>(13), b, [](u16 x, u32) { return ~x; });
}

TEST_CASE("floating-point arithmetic", "[machine]") {
  const auto a = some_floats(14), b = some_floats(15);
  check<float>("add.f32 %d, %a, %b;", a, b, [](float x, float y) { return x + y; });
  check<float>("add.f32 %d, %a, 0f3F800000;", a, b, [](float x, float) { return x + 1.0f; });
  check<float>("sub.rn.f32 %d, %a, %b;", a, b, [](float x, float y) { return x - y; });
  check<float>("fma.rn.f32 %d, %a, %b, %a;", a, b,
               [](float x, float y) { return std::fma(x, y, x); });
  check<float>("div.rn.f32 %d, %a, %b;", a, b, [](float x, float y) { return x / y; });
  check<float>("mul.sat.f32 %d, %a, %b;", a, b, [](float x, float y) {
    const float p = x * y;
    return p > 0 ? (p < 1 ? p : 1.0f) : 0.0f;
  });
  // Beyond 2^126 the approximation gives zero.
  const std::vector<float> huge(count, 0x1p127f);
  check<float>("div.full.f32 %d, %a, %b;", huge, huge, [](float, float) { return 1.0f; });
  check<float>("div.approx.f32 %d, %a, %b;", huge, huge, [](float, float) { return 0.0f; });
  check<float>("abs.f32 %d, %a;", a, b, [](float x, float) { return std::fabs(x); });
  check<float>("max.f32 %d, %a, %b;", a, b, [](float x, float y) { return std::fmax(x, y); });
  check<float>("sqrt.rn.f32 %d, %a;", std::vector<float>(count, 2.0f), b,
               [](float x, float) { return std::sqrt(x); });
  std::vector<double> da, db;
  for (std::size_t i = 0; i < count; ++i) {
    da.push_back(static_cast<double>(a[i]) / 3);
    db.push_back(static_cast<double>(b[i]) * 7);
  }
  check<double>("mul.f64 %d, %a, %b;", da, db, [](double x, double y) { return x * y; });
  check<double>("div.rn.f64 %d, %a, %b;", da, db, [](double x, double y) { return x / y; });
  check<double>("neg.f64 %d, %a;", da, db, [](double x, double) { return -x; });
  // An upper bound, a lower bound, one unit apart.
  const auto up = evaluate<double>("div.rp.f64 %d, %a, %b;", da, db);
  const auto down = evaluate<double>("div.rm.f64 %d, %a, %b;", da, db);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(up[i] >= da[i] / db[i]);
    CHECK(down[i] <= da[i] / db[i]);
    CHECK((up[i] == down[i] ||
           std::nextafter(down[i], std::numeric_limits<double>::infinity()) == up[i]));
  }
}

TEST_CASE("half precision", "[machine]") {
  // 1, 2, -0.5 in f16; sums are exact.
  const std::vector<u16> a{0x3c00, 0x4000, 0xb800}, b{0x3c00, 0x3c00, 0x3c00};
  CHECK(evaluate<u16>("add.f16 %d, %a, %b;", a, b) == std::vector<u16>{0x4000, 0x4200, 0x3800});
  CHECK(evaluate<u16>("fma.rn.f16 %d, %a, %b, %b;", a, b) ==
        std::vector<u16>{0x4000, 0x4200, 0x3800});
  const std::vector<u32> pa{0x40003c00}, pb{0x3c003c00};
  CHECK(evaluate<u32>("add.f16x2 %d, %a, %b;", pa, pb) == std::vector<u32>{0x42004000});
  // As an H100 does it: of all NaNs these two stand for what lies outside of a tensor.
  const std::vector<u16> oa{0x7ff7, 0xfff7, 0x7fff, 0x3c00}, ob{0x3c00, 0x7fff, 0x3c00, 0x3c00};
  CHECK(evaluate<u16>("fma.rn.oob.f16 %d, %a, %b, %b;", oa, ob) ==
        std::vector<u16>{0, 0, 0x7fff, 0x4000});
  CHECK(evaluate<u16>("fma.rn.oob.sat.f16 %d, %a, %b, %b;", oa, ob) ==
        std::vector<u16>{0, 0, 0, 0x3c00});
  CHECK(evaluate<u16>("fma.rn.oob.f16 %d, %b, %a, %b;", oa, ob) ==
        std::vector<u16>{0, 0, 0x7fff, 0x4000});
  CHECK(evaluate<u16>("fma.rn.oob.relu.bf16 %d, %b, %a, %b;", oa, ob) ==
        std::vector<u16>{0, 0, 0x7fff, 0x3c01});
  CHECK(evaluate<u16>("fma.rn.oob.f16 %d, %b, %b, %a;", oa, ob) ==
        std::vector<u16>{0x7fff, 0x7fff, 0x7fff, 0x4000});
  CHECK(evaluate<u32>("fma.rn.oob.bf16x2 %d, %a, %b, %b;", std::vector<u32>{0x7ff74000, 0xbf80fff7},
                      std::vector<u32>{0x3f803f80, 0x3f807fff}) == std::vector<u32>{0x00004040, 0});
  const std::vector<u32> ba{0x40003f80}, bb{0x3f803f80};  // bf16: {1, 2} and {1, 1}
  CHECK(evaluate<u32>("fma.rn.bf16x2 %d, %a, %b, %b;", ba, bb) == std::vector<u32>{0x40404000});
  CHECK(evaluate<u32>("cvt.rn.f16x2.f32 %d, %a, %b;", std::vector<float>{2.0f},
                      std::vector<float>{1.0f}) == std::vector<u32>{0x40003c00});
}

TEST_CASE("the predefined predicate", "[machine]") {
  const std::vector<u32> a(64, 1), b(64, 2);
  CHECK(evaluate<u32>("setp.eq.u32 %p, %a, %a; mov.pred %p, %is_explicit_cluster; "
                      "selp.b32 %d, %a, %b, %p;",
                      a, b) == b);
}

TEST_CASE("comparison and selection", "[machine]") {
  const auto a = some<u32>(16), b = some<u32>(17);
  check<u32>("setp.lt.s32 %p, %a, %b; selp.b32 %d, %a, %b, %p;", a, b,
             [](u32 x, u32 y) { return static_cast<s32>(x) < static_cast<s32>(y) ? x : y; });
  check<u32>("setp.hi.u32 %p, %a, %b; selp.u32 %d, 1, 0, %p;", a, b,
             [](u32 x, u32 y) { return x > y; });
  check<u32>("setp.ge.u32 %p|%q, %a, %b; selp.u32 %d, 1, 2, %q;", a, b,
             [](u32 x, u32 y) { return x < y ? 1 : 2; });
  check<u32>("setp.ne.b32 %q, %a, 0; setp.lt.and.u32 %p, %a, %b, !%q; selp.u32 %d, 1, 0, %p;", a, b,
             [](u32, u32) { return 0; });
  check<u32>("setp.lt.u32 %p, %a, %b; not.pred %q, %p; selp.u32 %d, 3, 4, %q;", a, b,
             [](u32 x, u32 y) { return x < y ? 4 : 3; });
  check<u32>("set.gt.u32.u32 %d, %a, %b;", a, b, [](u32 x, u32 y) { return x > y ? ~0u : 0u; });
  check<u32>("mov.u32 %d, 7; setp.lt.u32 %p, %a, %b; @%p mov.u32 %d, 8; @!%p add.u32 %d, %d, 2;", a,
             b, [](u32 x, u32 y) { return x < y ? 8 : 9; });
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x{1, 2, nan, 3}, y{2, 1, 1, 3};
  CHECK(evaluate<u32>("setp.lt.f32 %p, %a, %b; selp.u32 %d, 1, 0, %p;", x, y) ==
        std::vector<u32>{1, 0, 0, 0});
  CHECK(evaluate<u32>("setp.ltu.f32 %p, %a, %b; selp.u32 %d, 1, 0, %p;", x, y) ==
        std::vector<u32>{1, 0, 1, 0});
  CHECK(evaluate<u32>("setp.nan.f32 %p, %a, %b; selp.u32 %d, 1, 0, %p;", x, y) ==
        std::vector<u32>{0, 0, 1, 0});
  CHECK(evaluate<u32>("testp.finite.f32 %p, %a; selp.u32 %d, 1, 0, %p;", x, y) ==
        std::vector<u32>{1, 1, 0, 1});
}

TEST_CASE("conversion", "[machine]") {
  const auto a = some<u32>(18), b = some<u32>(19);
  check<u64>("cvt.s64.s32 %d, %a;", a, b, [](u32 x, u32) { return s64{static_cast<s32>(x)}; });
  check<u64>("cvt.u64.u32 %d, %a;", a, b, [](u32 x, u32) { return u64{x}; });
  check<u16>("cvt.u16.u32 %d, %a;", a, b, [](u32 x, u32) { return static_cast<u16>(x); });
  check<u32>("cvt.s8.s32 %d, %a;", a, b,
             [](u32 x, u32) { return static_cast<u32>(static_cast<std::int8_t>(x)); });
  check<u32>("cvt.sat.u8.s32 %d, %a;", a, b, [](u32 x, u32) {
    const auto v = static_cast<s32>(x);
    return v < 0 ? 0 : v > 255 ? 255 : v;
  });
  check<float>("cvt.rn.f32.u32 %d, %a;", a, b, [](u32 x, u32) { return static_cast<float>(x); });
  check<double>("cvt.rn.f64.s32 %d, %a;", a, b,
                [](u32 x, u32) { return static_cast<double>(static_cast<s32>(x)); });
  const auto f = some_floats(20);
  check<u32>("cvt.rzi.s32.f32 %d, %a;", f, b, [](float x, u32) { return static_cast<s32>(x); });
  check<u64>("cvt.rzi.s64.f32 %d, %a;", f, b, [](float x, u32) { return static_cast<s64>(x); });
  check<u32>("cvt.rmi.s32.f32 %d, %a;", f, b,
             [](float x, u32) { return static_cast<s32>(std::floor(x)); });
  check<float>("cvt.rpi.f32.f32 %d, %a;", f, b, [](float x, u32) { return std::ceil(x); });
  check<double>("cvt.f64.f32 %d, %a;", f, b, [](float x, u32) { return double{x}; });
  CHECK(evaluate<u16>("cvt.rn.f16.f32 %d, %a;", std::vector<float>{1.0f}, b).at(0) == 0x3c00);
}

TEST_CASE("packs of fields of four and two bits", "[machine]") {
  const auto field = [](s32 v, s32 low, s32 high, u32 mask) {
    return static_cast<u32>(std::clamp(v, low, high)) & mask;
  };
  std::vector<s32> a, b;
  for (const u32 w : random_words(2 * count, 77))
    (a.size() < count ? a : b).push_back(static_cast<s32>(w % 23) - 11);
  const auto pack = [&](const char* type, s32 low, s32 high, unsigned bits) {
    const u32 mask = (1u << bits) - 1;
    check<u32>("cvt.pack.sat." + std::string(type) + ".s32.b32 %d, %a, %b, 0x01234567;", a, b,
               [&](s32 x, s32 y) {
                 return 0x01234567u << 2 * bits | field(x, low, high, mask) << bits |
                        field(y, low, high, mask);
               });
  };
  pack("u4", 0, 15, 4);
  pack("s4", -8, 7, 4);
  pack("u2", 0, 3, 2);
  pack("s2", -2, 1, 2);
}

TEST_CASE("movement within registers", "[machine]") {
  const auto a = some<u32>(21), b = some<u32>(22);
  check<u64>("mov.b64 %d, {%a, %b};", a, b, [](u32 x, u32 y) { return x | u64{y} << 32; });
  check<u32>("mov.b64 {%t, %d}, %a;", some<u64>(23), b, [](u64 x, u32) { return x >> 32; });
  check<u32>("mov.b64 {_, %d}, %a;", some<u64>(23), b, [](u64 x, u32) { return x >> 32; });
  check<u32>("{ .reg .b16 %l, %h; mov.b32 {%l, %h}, %a; mov.b32 %d, {%h, %l}; }", a, b,
             [](u32 x, u32) { return std::rotl(x, 16); });
  check<u32>("mov.u32 %d, %laneid; add.u32 %d, %d, %a;", std::vector<u32>(count, 0), b,
             [i = 0u](u32, u32) mutable { return i++ % 32; });
}

TEST_CASE("vector loads and stores of every width", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .b16 %h<8>; .reg .b128 %q;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
  st.global.v4.u32 [%rd2], {%r4, %r3, %r2, %r1};
  ld.global.v2.u64 {%rd3, %rd1}, [%rd1];
  st.global.v2.u64 [%rd2+16], {%rd1, %rd3};
  ld.param.u64 %rd1, [in];
  ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%rd1+4];
  st.global.v4.u8 [%rd2+32], {%h4, %h3, %h2, %h1};
  ld.global.s8 %r1, [%rd1+15];
  st.global.u32 [%rd2+36], %r1;
  st.global.v2.u32 [%rd2+40], {1, 2};
  ret;
})");
  std::vector<u8> in;
  for (int i = 0; i < 16; ++i) in.push_back(static_cast<u8>(0xf0 - i * 7));
  const address a = bench.upload(in), out = bench.allocate(48);
  bench.run_well("k", {}, {}, a, out);
  const auto bytes = bench.download<u8>(out, 48);
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(bytes[i] == in[(3 - i / 4) * 4 + i % 4]);
    CHECK(bytes[16 + i] == in[(1 - i / 8) * 8 + i % 8]);
  }
  for (std::size_t i = 0; i < 4; ++i) CHECK(bytes[32 + i] == in[7 - i]);
  CHECK(bench.download<s32>(out + 36, 3) ==
        std::vector<s32>{static_cast<std::int8_t>(in[15]), 1, 2});
}

TEST_CASE("registers of 8 and 128 bits", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .b8 %c<4>; .reg .b128 %q<3>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  ld.global.b128 %q1, [%rd1]; mov.b128 %q2, %q1; st.global.b128 [%rd2], %q2;
  mov.b128 {%rd3, %rd4}, %q1; mov.b128 %q2, {%rd4, %rd3}; st.global.b128 [%rd2+16], %q2;
  ld.global.b8 %c1, [%rd1+3]; st.global.b8 [%rd2+32], %c1;
  cvt.s32.s8 %r1, %c1; st.global.u32 [%rd2+36], %r1;
  ret;
})");
  std::vector<u8> in;
  for (int i = 0; i < 16; ++i) in.push_back(static_cast<u8>(0xf0 - i * 7));
  const address a = bench.upload(in);
  const address out = bench.upload(std::vector<u8>(48, 0));
  bench.run_well("k", {}, {}, a, out);
  const auto bytes = bench.download<u8>(out, 48);
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(bytes[i] == in[i]);
    CHECK(bytes[16 + i] == in[(i + 8) % 16]);
  }
  CHECK(bytes[32] == in[3]);
  CHECK(bench.download<s32>(out + 36, 1)[0] == static_cast<std::int8_t>(in[3]));
}

TEST_CASE("addresses of variables and parameters in the generic space", "[machine]") {
  workbench bench(R"(
.global .align 4 .u32 wide = 11;
.visible .entry k(.param .u64 out, .param .u32 n) {
  .shared .align 4 .b8 block[16]; .local .align 4 .b8 own[16];
  .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<5>;
  ld.param.u64 %rd1, [out];
  st.shared.u32 [block+4], 22; st.local.u32 [own+8], 33;
  cvta.global.u64 %rd2, wide; ld.u32 %r1, [%rd2];
  cvta.shared.u64 %rd3, block; ld.u32 %r2, [%rd3+4];
  cvta.local.u64 %rd4, own; ld.u32 %r3, [%rd4+8];
  mov.b64 %rd5, n; cvta.param.u64 %rd6, %rd5; ld.u32 %r4, [%rd6];
  isspacep.param %p1, %rd6; isspacep.param %p2, %rd4; selp.u32 %r5, 1, 0, %p1;
  @%p2 add.u32 %r5, %r5, 2;
  st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4}; st.global.u32 [%rd1+16], %r5; ret; }
.func (.param .b32 result) callee() {
  .shared .align 4 .b8 block[16]; .local .align 4 .b8 own[16];
  .reg .b64 %rd<5>; .reg .b32 %r<4>;
  st.shared.u32 [block+4], 55; st.local.u32 [own+8], 600;
  cvta.shared.u64 %rd1, block; ld.u32 %r1, [%rd1+4];
  cvta.local.u64 %rd2, own; ld.u32 %r2, [%rd2+8]; add.u32 %r3, %r1, %r2;
  mov.u64 %rd3, own; ld.local.u32 %r2, [%rd3+8]; add.u32 %r3, %r3, %r2;
  mov.u64 %rd4, wide; ld.global.u32 %r2, [%rd4]; add.u32 %r3, %r3, %r2;
  st.param.u32 [result], %r3; ret; }
.visible .entry calls(.param .u64 out) {
  .local .align 8 .b8 own[16];
  .reg .b64 %rd<5>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [out]; st.local.v2.u32 [own+8], {7, 8};
  { .param .b32 got; call (got), callee, (); ld.param.u32 %r1, [got]; }
  ld.local.u32 %r2, [own+8]; add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; ret; }
.visible .entry write_parameter(.param .u32 n) {
  .reg .b64 %rd<3>; mov.b64 %rd1, n; cvta.param.u64 %rd2, %rd1; st.u32 [%rd2], 1; ret; })");
  const address out = bench.upload(std::vector<u32>(5, 0));
  bench.run_well("k", {}, {}, out, 44u);
  CHECK(bench.download<u32>(out, 5) == std::vector<u32>{11, 22, 33, 44, 1});
  CHECK(bench.run_well("calls", {}, {}, out).reports.empty());
  CHECK(bench.download<u32>(out, 1)[0] == 55 + 600 + 600 + 11 + 7);
  const outcome written = bench.run("write_parameter", {}, {}, 5u);
  REQUIRE(written.error);
  CHECK(written.error->kind == fault_kind::read_only);
}

TEST_CASE("special registers are read as wide as they once were, whole, and by cvt", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<20>; .reg .b16 %h<5>; .reg .b64 %rd<3>; .reg .pred %p;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 7; mov.u32 %r2, 7;
  mov.u32 %r10, %tid.x; setp.lt.u32 %p, %r10, 2;
  @%p mov.v4.u32 {%r1, %r2, _, %r4}, %tid;
  mov.v4.u16 {%h1, %h2, %h3, %h4}, %ntid;
  mov.u16 %h3, %tid.x;
  mov.b64 %rd2, {%tid.x, %r10};
  cvt.u16.u32 %h4, %tid.x; cvt.s32.s8 %r5, %tid.x;
  mad.lo.u32 %r11, %r10, 32, 0; cvt.u64.u32 %rd2, %r11; add.u64 %rd1, %rd1, %rd2;
  cvt.u32.u16 %r6, %h1; cvt.u32.u16 %r7, %h3; cvt.u32.u16 %r8, %h4;
  cvt.u32.u32 %r9, %ntid.y; mov.b64 %rd2, {%tid.x, %r10}; mov.b64 {%r12, %r13}, %rd2;
  st.global.v4.u32 [%rd1], {%r1, %r2, %r5, %r6};
  st.global.v4.u32 [%rd1+16], {%r7, %r8, %r9, %r12};
  ret; })");
  const std::uint32_t threads = 300;
  const address out = bench.allocate(threads * 32);
  bench.run_well("k", {}, {threads, 1, 1}, out);
  const auto result = bench.download<u32>(out, threads * 8);
  for (u32 t = 0; t < threads; ++t) {
    INFO("thread " << t);
    const std::vector<u32> row(result.begin() + t * 8, result.begin() + t * 8 + 8);
    const auto low_byte = static_cast<u32>(static_cast<s32>(static_cast<std::int8_t>(t)));
    REQUIRE(row == std::vector<u32>{t < 2 ? t : 7, t < 2 ? 0 : 7u, low_byte, threads, t, t, 1, t});
  }
}

TEST_CASE("a launch's number and the clocks", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<5>;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, %gridid; st.global.u64 [%rd1], %rd2;
  mov.u64 %rd3, %clock64; mov.u32 %r1, %clock_hi; mov.u64 %rd4, %globaltimer;
  mov.u32 %r2, %globaltimer_hi; mov.u32 %r3, %globaltimer_lo; mov.u32 %r4, %clock;
  mov.u64 %rd5, %clock64;
  setp.ge.u64 %p1, %rd5, %rd3; selp.u32 %r5, 1, 0, %p1; st.global.u32 [%rd1+8], %r5;
  shr.u64 %rd6, %rd3, 32; cvt.u32.u64 %r6, %rd6; sub.u32 %r6, %r1, %r6;
  st.global.u32 [%rd1+12], %r6;
  shr.u64 %rd6, %rd4, 32; cvt.u32.u64 %r6, %rd6; sub.u32 %r6, %r2, %r6;
  st.global.u32 [%rd1+16], %r6;
  cvt.u32.u64 %r6, %rd4; sub.u32 %r6, %r3, %r6; st.global.u32 [%rd1+20], %r6;
  ret; })");
  bench.what.grid_id = 77;
  const address out = bench.allocate(24);
  bench.run_well("k", {}, {}, out);
  CHECK(bench.download<u64>(out, 1)[0] == 77);
  const auto words = bench.download<u32>(out + 8, 4);
  CHECK(words[0] == 1);
  CHECK(words[1] <= 1);  // the upper words, read a moment later
  CHECK(words[2] <= 1);
  CHECK(words[3] < 2'000'000'000);  // nanoseconds between two reads
}

}  // namespace instructions_test
