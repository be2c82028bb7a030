// Small matrices in shared memory, the rounding of products, and what matrix instructions demand of
// lanes and addresses.
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include <nogpu/ptx/arithmetic/matrix_products.hpp>
#include "nogpu/machine/kernel_harness.hpp"

namespace matrix_rules_test {

using namespace machine_test;
namespace ptx = nogpu::ptx;

namespace {

using u32 = std::uint32_t;

/// A sum of sixteen products of f16 and c.
template <int FractionBits = ptx::sum_model::fraction_bits>
float sum_of(std::initializer_list<std::pair<float, float>> products, float c) {
  float a[16] = {}, b[16] = {};
  std::int16_t ea[16], eb[16];
  bool special = false;
  unsigned n = 0;
  for (const auto& [x, y] : products) {
    a[n] = x;
    b[n++] = y;
  }
  for (n = 0; n < 16; ++n) {
    const auto fa = ptx::detail::factor_of_f16(ptx::detail::to_half<ptx::f16>(a[n]).bits);
    const auto fb = ptx::detail::factor_of_f16(ptx::detail::to_half<ptx::f16>(b[n]).bits);
    REQUIRE((fa.value == a[n] || a[n] != a[n]));
    ea[n] = fa.exponent;
    eb[n] = fb.exponent;
    special = special || fa.special || fb.special;
  }
  const ptx::factor_row<float> row{a, ea, special}, column{b, eb, special};
  return ptx::round_sum_to_f32<FractionBits>(ptx::cut_sum<16, FractionBits>(row, column, c));
}

constexpr float tiny = 0x1p-12f;

/// Faults of a kernel whose body is `text`; %l is the lane, %rd1 a parameter, %f0 to %f7 are zero.
outcome run_body(const std::string& text, u32 threads, bool faults, address a) {
  std::string zeros;
  for (int i = 0; i < 8; ++i) zeros += "mov.f32 %f" + std::to_string(i) + ", 0f00000000; ";
  workbench bench(R"(.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<4>; .reg .b32 %l, %r<9>, %t<4>; .reg .f32 %f<8>; .reg .pred %p;
  .shared .align 16 .b8 sh[1024]; .local .align 16 .b8 lo[1024];
  ld.param.u64 %rd1, [p]; mov.u32 %l, %tid.x; mov.u32 %t0, sh; setp.lt.u32 %p, %l, 16;
)" + zeros + text +
                  "\nret; }");
  if (faults) bench.what.check = checks{};
  bench.what.check.uninitialized_reads = false;
  const address data = bench.upload(std::vector<float>(1024));
  return bench.run("k", {}, {threads, 1, 1}, data + a);
}

const std::string load_c =
    "wmma.load.c.sync.aligned.row.m16n16k16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, ";
const std::string transpose = "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %l;";

bool says(const std::optional<fault>& f, fault_kind kind, const std::string& text) {
  INFO((f ? f->text : std::string("no fault")));
  CHECK((f && f->kind == kind));
  CHECK((f && f->text.find(text) != std::string::npos));
  return f && f->kind == kind;
}

}  // namespace

TEST_CASE("ldmatrix, stmatrix and movmatrix move 8 x 8 matrices", "[machine]") {
  // Matrix i has 64 i + 8 r + c in row r, column c; rows are 48 bytes apart in shared memory.
  for (const bool transposed : {false, true})
    for (const u32 count : {1u, 2u, 4u}) {
      const std::string suffix = ".x" + std::to_string(count) + (transposed ? ".trans" : "");
      const std::string regs = count == 1   ? "{%d0}"
                               : count == 2 ? "{%d0,%d1}"
                                            : "{%d0,%d1,%d2,%d3}";
      workbench bench(R"(.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<8>; .reg .b32 %l, %t<8>, %d<4>; .reg .b16 %h;
  .shared .align 16 .b8 sh[1536]; .shared .align 16 .b8 other[1536];
  ld.param.u64 %rd1, [out]; mov.u32 %l, %laneid; mov.u32 %t1, sh; mad.lo.u32 %t1, %l, 48, %t1;
  shl.b32 %t2, %l, 3;
)" +
                      [] {
                        std::string stores;
                        for (int c = 0; c < 8; ++c)
                          stores += "add.u32 %t3, %t2, " + std::to_string(c) +
                                    "; cvt.u16.u32 %h, %t3; st.shared.u16 [%t1+" +
                                    std::to_string(2 * c) + "], %h;\n";
                        return stores;
                      }() +
                      "bar.warp.sync -1;\nldmatrix.sync.aligned.m8n8" + suffix + ".shared.b16 " +
                      regs + ", [%t1];\n" + R"(
  mov.u32 %t4, other; mad.lo.u32 %t4, %l, 48, %t4; cvt.u64.u32 %rd3, %t4; cvta.shared.u64 %rd3, %rd3;
  stmatrix.sync.aligned.m8n8)" +
                      suffix + ".b16 [%rd3], " + regs + R"(;
  bar.warp.sync -1;
  movmatrix.sync.aligned.m8n8.trans.b16 %t5, %d0;
  mad.wide.u32 %rd2, %l, 16, %rd1; st.global.b32 [%rd2], %t5; ld.shared.u16 %h, [%t4];
  cvt.u32.u16 %t6, %h; st.global.b32 [%rd2+4], %t6; st.global.b32 [%rd2+8], %d0;
  st.global.b32 [%rd2+12], %d)" +
                      std::to_string(count - 1) + "; ret; }");
      const address out = bench.upload(std::vector<u32>(128, 0xdead));
      bench.what.check.uninitialized_reads = false;
      bench.run_well("k", {}, {32, 1, 1}, out);
      const auto words = bench.download<u32>(out, 128);
      const auto pair = [](u32 matrix, u32 lane, bool turned) {
        const u32 line = lane / 4, at = lane % 4 * 2;
        const u32 first = turned ? 8 * at + line : 8 * line + at;
        return (64 * matrix + first) | (64 * matrix + first + (turned ? 8 : 1)) << 16;
      };
      for (u32 lane = 0; lane < 32; ++lane) {
        CHECK(words[4 * lane] == pair(0, lane, !transposed));
        if (lane < 8 * count) CHECK(words[4 * lane + 1] == 8 * lane);
        CHECK(words[4 * lane + 2] == pair(0, lane, transposed));
        CHECK(words[4 * lane + 3] == pair(count - 1, lane, transposed));
      }
    }
}

TEST_CASE("bytes of a warp group are added with 13 bits below the largest addend", "[machine]") {
  const auto sum = [](std::initializer_list<std::pair<float, float>> products, float c) {
    return sum_of<ptx::sum_model::fraction_bits_of_bytes>(products, c);
  };
  CHECK(sum({{1, 1}, {0x1p-6f, 0x1p-7f}}, 0) == 1 + 0x1p-13f);
  CHECK(sum({{1, 1}, {0x1p-7f, 0x1p-7f}, {0x1p-7f, 0x1p-7f}}, 0) == 1);
  CHECK(sum({{1, 1}}, 0x1p-13f) == 1 + 0x1p-13f);
  CHECK(sum({{1, 1}}, -0x1p-14f) == 1);
  // The sum has 13 bits below its own exponent, even if all addends are smaller.
  CHECK(sum({{1, 1}, {1, 1}, {0x1p-6f, 0x1p-7f}}, 0) == 2);
  CHECK(sum({{1, 1}, {1, 1}, {0x1p-6f, 0x1p-6f}}, 0) == 2 + 0x1p-12f);
}

TEST_CASE("addends of a matrix product are cut to 25 bits below the largest, the sum to an f32",
          "[machine]") {
  CHECK(sum_of({}, 3.5f) == 3.5f);
  CHECK(sum_of({{2, 3}, {-1, 6}}, 0) == 0);
  // 2^-24 twice is a bit of the result; once it is below.
  CHECK(sum_of({{tiny, tiny}, {tiny, tiny}}, 1) == 1 + 0x1p-23f);
  CHECK(sum_of({{tiny, tiny}}, 1) == 1);
  CHECK(sum_of({{tiny, -tiny}}, 1) == 1 - 0x1p-24f);
  // 2^-25 is kept, 2^-26 is not, however often it comes.
  CHECK(sum_of({{tiny, -tiny / 2}}, 1) == 1 - 0x1p-24f);
  CHECK(sum_of({{tiny, -tiny / 4}, {tiny, -tiny / 4}, {tiny, -tiny / 4}, {tiny, -tiny / 4}}, 1) ==
        1);
  // 1.5 * 1.5 = 2.25 counts with the exponent of 1.
  CHECK(sum_of({{1.5f, 1.5f}, {tiny, -tiny / 2}}, 0) == std::nextafter(2.25f, 0.0f));
  // The sum is exact where addends cancel.
  CHECK(sum_of({{1, 1}, {-1, 1}, {tiny, tiny}}, 0) == 0x1p-24f);
  CHECK(sum_of({{65504, 65504}}, 0x1p-126f) == 65504.0f * 65504.0f);
  CHECK(sum_of({}, 0x1p-149f) == 0x1p-149f);
  CHECK(std::bit_cast<u32>(sum_of({{0, -1}}, -0.0f)) == 0);
}

TEST_CASE("infinities and NaNs go through a matrix product", "[machine]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto is_nan = [](float v) { return std::bit_cast<u32>(v) == 0x7fffffff; };
  CHECK(sum_of({{infinity, 2}, {1, 1}}, 3) == infinity);
  CHECK(sum_of({{infinity, -2}}, 3) == -infinity);
  CHECK(sum_of({}, infinity) == infinity);
  CHECK(is_nan(sum_of({{infinity, 0}}, 3)));
  CHECK(is_nan(sum_of({{infinity, 1}}, -infinity)));
  CHECK(is_nan(sum_of({{nan, 1}}, 0)));
  CHECK(is_nan(sum_of({{1, 1}}, nan)));
  CHECK(sum_of({{65504, 65504}}, 0x1.fffffep127f) == 0x1.fffffep127f);
  CHECK(ptx::round_sum_to_f32(0x1p128) == infinity);
  CHECK(ptx::round_sum_to_f16(65520.0).bits == 0x7c00);
  CHECK(ptx::round_sum_to_f16(1.0 + 0x1p-11).bits == 0x3c00);
}

TEST_CASE("integer products wrap or are clamped", "[machine]") {
  const std::int16_t a[2] = {127, 127};
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  CHECK(ptx::sum_of_integers(a, a, 2, most, true) == most);
  CHECK(ptx::sum_of_integers(a, a, 2, most, false) ==
        static_cast<std::int32_t>(0x7fffffffu + 2 * 127 * 127));
}

TEST_CASE("lanes that come one after the other execute a matrix instruction together",
          "[machine]") {
  // The lanes below 16 take another way, and each arrives alone.
  const outcome result = run_body(
      "@%p bra A; add.u32 %r2, %l, 1; bra B; A: add.u32 %r2, %l, 2; B: " + transpose, 32, true, 0);
  CHECK_FALSE(result.error);
  CHECK(result.reports.empty());
}

TEST_CASE("a matrix instruction that lanes miss is a mistake", "[machine]") {
  says(run_body(transpose, 16, true, 0).error, fault_kind::mask_misuse, "lanes 0xffff0000");
  says(run_body("@%p " + transpose, 64, true, 0).error, fault_kind::mask_misuse, "needs all 32");
  says(run_body("@%p exit; " + transpose, 32, true, 0).error, fault_kind::mask_misuse,
       "lanes 0xffff");
  const outcome reported = run_body(transpose, 16, false, 0);
  CHECK_FALSE(reported.error);
  REQUIRE(reported.reports.size() == 1);
  CHECK(reported.reports[0].kind == fault_kind::mask_misuse);
  says(run_body("@%p bra A; " + transpose + " bra B; A: " + transpose + " B: ", 32, true, 0).error,
       fault_kind::illegal_instruction, "different matrix instructions");
}

TEST_CASE("matrices are aligned, in memory that can hold them, at one address", "[machine]") {
  CHECK_FALSE(run_body(load_c + "[%rd1], 20;", 32, true, 16).error);
  says(run_body(load_c + "[%rd1], 16;", 32, true, 8).error, fault_kind::misaligned,
       "a multiple of 16");
  says(run_body(load_c + "[%rd1], 17;", 32, true, 0).error, fault_kind::misaligned,
       "a multiple of 16");
  says(run_body(load_c + "[%rd1], 80;", 32, true, 0).error, fault_kind::out_of_bounds,
       "past the end");
  says(run_body("add.u32 %r1, %l, 16; shl.b32 %r1, %r1, 2; " + load_c + "[%rd1], %r1;", 32, true, 0)
           .error,
       fault_kind::illegal_instruction, "not the same in all lanes");
  says(run_body("mov.u64 %rd2, lo; cvta.local.u64 %rd2, %rd2; " + load_c + "[%rd2], 16;", 32, true,
                0)
           .error,
       fault_kind::wrong_space, "global or shared memory");
  const std::string small = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%t1];";
  CHECK_FALSE(run_body("mad.lo.u32 %t1, %l, 16, %t0; " + small, 32, true, 0).error);
  says(run_body("mad.lo.u32 %t1, %l, 24, %t0; " + small, 32, true, 0).error, fault_kind::misaligned,
       "a multiple of 16");
  says(run_body("mad.lo.u32 %t1, %l, 256, %t0; " + small, 32, true, 0).error,
       fault_kind::shared_out_of_bounds, "1024 bytes of shared memory");
  says(run_body("ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%rd1];", 32, true, 0).error,
       fault_kind::wrong_space, "must be in shared memory");
}

TEST_CASE("a matrix of bytes that nobody wrote is a mistake, and a race between warps",
          "[machine]") {
  workbench bench(R"(.visible .entry parts() {
  .reg .b32 %l, %t<4>; .shared .align 16 .b8 sh[512];
  mov.u32 %l, %tid.x; mov.u32 %t0, sh; mad.lo.u32 %t1, %l, 16, %t0; st.shared.b32 [%t1], %l;
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%t2}, [%t1]; ret; }
.visible .entry race() {
  .reg .b32 %l, %t<4>; .reg .pred %p; .shared .align 16 .b8 sh[512];
  mov.u32 %l, %tid.x; mov.u32 %t0, sh; and.b32 %t1, %l, 31; mad.lo.u32 %t1, %t1, 16, %t0;
  setp.lt.u32 %p, %l, 32; @%p st.shared.v4.b32 [%t1], {%l, %l, %l, %l};
  @!%p ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%t2}, [%t1]; ret; })");
  bench.what.check = checks{};
  says(bench.run("parts", {}, {32, 1, 1}).error, fault_kind::uninitialized_read, "byte 4 of sh");
  says(bench.run("race", {}, {64, 1, 1}).error, fault_kind::shared_race, "no barrier in between");
}

}  // namespace matrix_rules_test
