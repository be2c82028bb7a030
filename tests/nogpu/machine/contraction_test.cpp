// Products and sums that become fused multiply-adds. The rule is what an H200 does, of which
// corpus/contraction.cu has a record; what is fused is told by the rounding of the result.
#include <nogpu/machine/contraction.hpp>

#include <cmath>
#include <string>

#include "nogpu/machine/kernel_harness.hpp"

namespace machine_contraction_test {
namespace {

using namespace machine_test;

// a * b is not a float: fused and unfused results differ.
constexpr float a = 1.0f + 0x1p-12f, b = 1.0f - 0x1p-13f, c = -1.0f;

/// %r after the instructions; %a, %b, %c as above, %m, %n free, %p a false predicate.
float result_of(const std::string& instructions, const std::string& target = "sm_90") {
  INFO(instructions);
  workbench bench(R"(
.const .f32 constant = 0f3F7FF800;
.visible .entry k(.param .u64 values, .param .f32 parameter) {
  .reg .b64 %rd1; .reg .f32 %a, %b, %c, %m, %n, %r; .reg .pred %p;
  ld.param.u64 %rd1, [values];
  ld.global.f32 %a, [%rd1]; ld.global.f32 %b, [%rd1+4]; ld.global.f32 %c, [%rd1+8];
  setp.lt.f32 %p, %a, %b;
)" + instructions + " st.global.f32 [%rd1+12], %r; ret; }",
                  1, target);
  const address values = bench.upload(std::vector<float>{a, b, c, 0});
  bench.run_well("k", {}, {}, values, b);
  return bench.download<float>(values, 4)[3];
}

float product() {
  volatile float rounded = a * b;
  return rounded;
}

}  // namespace

TEST_CASE("products that only sums of their block use are fused", "[machine]") {
  const float fused = std::fma(a, b, c);
  REQUIRE(fused != product() + c);
  CHECK(result_of("mul.f32 %m, %a, %b; add.f32 %r, %m, %c;") == fused);
  CHECK(result_of("mul.f32 %m, %a, %b; add.f32 %r, %c, %m;") == fused);
  CHECK(result_of("mul.f32 %m, %a, %b; neg.f32 %n, %c; sub.f32 %r, %m, %n;") == fused);
  CHECK(result_of("mul.f32 %m, %a, %b; sub.f32 %r, %c, %m;") == std::fma(-a, b, c));
  CHECK(result_of("mul.f32 %m, %a, %b; add.f32 %n, %m, %c; sub.f32 %r, %m, %c;"
                  " sub.f32 %r, %r, %n;") == std::fma(a, b, -c) - fused);
  // A register that is written again.
  CHECK(result_of("mul.f32 %m, %a, %b; add.f32 %m, %m, %c; mov.f32 %r, %m;") == fused);
  CHECK(result_of("mul.f32 %m, %a, %b; add.f32 %r, %m, %c; mul.f32 %m, %a, %a;"
                  " @%p mov.f32 %r, %m;") == fused);
}

TEST_CASE("products that are used otherwise, or elsewhere, stay", "[machine]") {
  const float apart = product() + c;
  CHECK(result_of("mul.f32 %m, %a, %b; mul.f32 %n, %m, %m; add.f32 %r, %m, %c;"
                  " @%p mov.f32 %r, %n;") == apart);
  CHECK(result_of("mul.rn.f32 %m, %a, %b; add.f32 %r, %m, %c;") == apart);
  CHECK(result_of("mul.f32 %m, %a, %b; add.rn.f32 %r, %m, %c;") == apart);
  CHECK(result_of("mul.f32 %m, %a, %b; add.ftz.f32 %r, %m, %c;") == apart);
  CHECK(result_of("mov.f32 %m, %c; @!%p mul.f32 %m, %a, %b; add.f32 %r, %m, %c;") == apart);
  CHECK(result_of("mul.f32 %m, %a, %b; add.f32 %r, %m, %m; sub.f32 %r, %r, %m;"
                  " add.f32 %r, %r, %c;") == apart);
  CHECK(result_of("mul.f32 %m, %a, %b; @%p bra END; add.f32 %r, %m, %c; END:") == apart);
  CHECK(result_of("mul.f32 %m, %a, %b; add.f32 %r, %m, %c;", "sm_90, debug") == apart);
}

TEST_CASE("divisions, reciprocals and roots that are rounded end a block", "[machine]") {
  const float fused = std::fma(a, b, c), apart = product() + c;
  for (const std::string between : {"div.rn.f32 %n, %a, %b;", "rcp.rn.f32 %n, %a;",
                                    "sqrt.rn.f32 %n, %a;", "sqrt.rz.ftz.f32 %n, %a;"})
    CHECK(result_of("mul.f32 %m, %a, %b; " + between + " add.f32 %r, %m, %c;") == apart);
  for (const std::string between :
       {"div.full.f32 %n, %a, %b;", "rcp.approx.f32 %n, %a;", "sqrt.approx.f32 %n, %a;"})
    CHECK(result_of("mul.f32 %m, %a, %b; " + between + " add.f32 %r, %m, %c;") == fused);
}

TEST_CASE("products with a constant are fused in other blocks, too", "[machine]") {
  const float fused = std::fma(a, b, c);
  const std::string elsewhere = " @%p bra END; add.f32 %r, %m, %c; END:";
  CHECK(result_of("mul.f32 %m, %a, 0f3F7FF800;" + elsewhere) == fused);
  CHECK(result_of("ld.param.f32 %n, [parameter]; mul.f32 %m, %n, %a;" + elsewhere) == fused);
  CHECK(result_of("ld.const.f32 %n, [constant]; mul.f32 %m, %a, %n;" + elsewhere) == fused);
  CHECK(result_of("mul.f32 %m, %a, 0f3F7FF800; div.rn.f32 %n, %a, %b; add.f32 %r, %m, %c;") ==
        fused);
  CHECK(result_of("mul.f32 %m, %a, 0f3F7FF800; mov.f32 %n, %m;" + elsewhere) == product() + c);
}

}  // namespace machine_contraction_test
