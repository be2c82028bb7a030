// Products of sparse matrices (mma.sp) against arithmetic on the host.
#include "nogpu/machine/kernel_harness.hpp"
#include "nogpu/machine/matrix_numbers.hpp"

namespace sparse_rows_test {

using namespace machine_test;
using namespace matrix_numbers;

namespace {

struct form {
  u32 k;
  std::string d, a, b;
  u32 selectors;
  std::string more;
};

void check_sparse(const form& f) {
  generator g;
  const format &fa = format_of(f.a), &fb = format_of(f.b), &fc = format_of(f.d);
  for (u32 selector = 0; selector < f.selectors; ++selector) {
    const std::string mnemonic = std::string("mma.sp") +
                                 (selector % 2 ? "::ordered_metadata" : "") +
                                 ".sync.aligned.m16n8k" + std::to_string(f.k) + ".row.col" +
                                 f.more + "." + f.d + "." + f.a + "." + f.b + "." + f.d;
    INFO(mnemonic << ", " << selector);
    const sparse_matrix a = random_sparse(g, f.k, fa, selector);
    const matrix b = random_matrix(g, f.k, 8, fb), c = random_matrix(g, 16, 8, fc);
    const u32 na = f.k / 4, nb = f.k / 4, nc = 4;
    const auto count = [](u32 elements, const format& t) { return elements * t.bits / 32; };
    workbench bench(
        R"(.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 e) {
  .reg .b64 %rd<10>; .reg .b32 %l, %e; .reg .b32 %a<8>; .reg .b32 %b<8>; .reg .b32 %c<8>; .reg .b32 %d<8>;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u64 %rd4, [d];
  ld.param.u64 %rd5, [e]; mov.u32 %l, %laneid;
  mad.wide.u32 %rd6, %l, 4, %rd5; ld.global.b32 %e, [%rd6];
)" + move_registers(true, "a", count(na, fa), 4, "%rd1") +
        move_registers(true, "b", count(nb, fb), 4, "%rd2") +
        move_registers(true, "c", count(nc, fc), 4, "%rd3") + mnemonic + " " +
        registers("d", count(nc, fc)) + "," + registers("a", count(na, fa)) + "," +
        registers("b", count(nb, fb)) + "," + registers("c", count(nc, fc)) + ", %e, " +
        std::to_string(selector) + ";\n" + move_registers(false, "d", count(nc, fc), 4, "%rd4") +
        "ret; }");
    const auto in_a = [&](u32 lane, u32 i) { return place_of_a(16, fa, lane, i); };
    const auto in_b = [&](u32 lane, u32 i) { return place_of_b(fb, lane, i); };
    const auto expected = pack(multiply(a.whole, b, c, f.k), fc, nc, place_of_c);
    const address out = bench.allocate(expected.size());
    bench.run_well("k", {}, {32, 1, 1}, bench.upload(pack(a.packed, fa, na, in_a)),
                   bench.upload(pack(b, fb, nb, in_b)), bench.upload(pack(c, fc, nc, place_of_c)),
                   out, bench.upload(a.metadata));
    CHECK(bench.download<std::uint8_t>(out, expected.size()) == expected);
  }
}

/// What becomes of a product with this word of metadata in all lanes.
outcome run_with(const std::string& mnemonic, const std::string& operands, u32 word) {
  workbench bench(R"(.visible .entry k(.param .u32 e) {
  .reg .b32 %r<4>, %e; .reg .f32 %f<4>; mov.b32 %r0, 0; mov.b32 %r1, 0; mov.b32 %r2, 0;
  mov.b32 %r3, 0; mov.b32 %f0, 0; mov.b32 %f1, 0; mov.b32 %f2, 0; mov.b32 %f3, 0;
  ld.param.u32 %e, [e];
  )" + mnemonic + operands +
                  " ret; }");
  return bench.run("k", {}, {32, 1, 1}, word);
}

bool says(const std::optional<fault>& f, const std::string& text) {
  INFO((f ? f->text : std::string("no fault")));
  CHECK((f && f->text.find(text) != std::string::npos));
  return f.has_value();
}

}  // namespace

TEST_CASE("mma.sp multiplies in every shape and type, with every selector", "[machine]") {
  for (const char* d : {"f16", "f32"}) {
    check_sparse({16, d, "f16", "f16", 4, ""});
    check_sparse({32, d, "f16", "f16", 2, ""});
  }
  check_sparse({16, "f32", "bf16", "bf16", 4, ""});
  check_sparse({32, "f32", "bf16", "bf16", 2, ""});
  check_sparse({8, "f32", "tf32", "tf32", 4, ""});
  check_sparse({16, "f32", "tf32", "tf32", 2, ""});
  for (const char* a : {"s8", "u8"})
    for (const char* b : {"s8", "u8"}) {
      check_sparse({32, "s32", a, b, 2, ""});
      check_sparse({64, "s32", a, b, 1, ".satfinite"});
    }
  for (const char* a : {"s4", "u4"})
    for (const char* b : {"s4", "u4"}) {
      check_sparse({64, "s32", a, b, 2, ".satfinite"});
      check_sparse({128, "s32", a, b, 1, ""});
    }
  for (const char* a : {"e4m3", "e5m2"})
    for (const char* b : {"e4m3", "e5m2"}) check_sparse({64, "f32", a, b, 1, ""});
}

TEST_CASE("what a sparse product leaves out has no part in it", "[machine]") {
  // All of A is 1 in the second place of each two; B has infinities in the first.
  workbench bench(R"(.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %l, %one, %b, %e; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [out]; mov.u32 %l, %laneid; mul.wide.u32 %rd2, %l, 4;
  add.u64 %rd1, %rd1, %rd2; mov.b32 %e, 0xdddddddd; mov.b32 %one, 0x3c003c00;
  mov.b32 %b, 0x3c007c00; mov.b32 %f0, 0; mov.b32 %f1, 0; mov.b32 %f2, 0; mov.b32 %f3, 0;
  mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},
    {%one,%one}, {%b,%b}, {%f0,%f1,%f2,%f3}, %e, 0;
  st.global.f32 [%rd1], %f3; ret; })");
  const address out = bench.allocate(128);
  bench.run_well("k", {}, {32, 1, 1}, out);
  CHECK(bench.download<float>(out, 32) == std::vector<float>(32, 8.0f));
}

TEST_CASE("metadata that means nothing is a fault", "[machine]") {
  const std::string f16 = ".sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ";
  const std::string of_two = "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r2,%r3},{%f0,%f1,%f2,%f3},%e,0;";
  CHECK_FALSE(run_with("mma.sp" + f16, of_two, 0x11111111).error);
  CHECK_FALSE(run_with("mma.sp::ordered_metadata" + f16, of_two, 0xe4e4e4e4 & 0x44444444).error);
  says(run_with("mma.sp::ordered_metadata" + f16, of_two, 0x44444414).error,
       "the metadata of row 0 of A has 1: the lower of the two places comes first");
  says(run_with("mma.sp::ordered_metadata" + f16, of_two, 0x4a444444).error,
       "the metadata of row 8 of A has 10");
  says(
      run_with("mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 ", of_two, 0x444e4447).error,
      "the metadata of row 0 of A has 7: of two numbers of tf32, 4 stands for the first and 14 for "
      "the second");
}

}  // namespace sparse_rows_test
