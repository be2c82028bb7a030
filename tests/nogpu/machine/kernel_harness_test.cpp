#include "nogpu/machine/kernel_harness.hpp"

namespace kernel_harness_test {

using namespace machine_test;

namespace {

constexpr const char* saxpy = R"(
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n) {
  .reg .pred %p1; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<6>;
  ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
  mad.wide.s32 %rd3, %r5, 4, %rd3; mad.wide.s32 %rd4, %r5, 4, %rd4;
  ld.global.f32 %f2, [%rd3]; ld.global.f32 %f3, [%rd4];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd4], %f4;
DONE: ret;
})";

}  // namespace

TEST_CASE("a grid computes what the host computes", "[machine]") {
  for (const unsigned threads : {1u, 4u}) {
    workbench bench(saxpy, threads);
    std::vector<float> x, y;
    for (int i = 0; i < 1000; ++i) {
      x.push_back(static_cast<float>(i) * 0.5f);
      y.push_back(static_cast<float>(1000 - i));
    }
    const address px = bench.upload(x), py = bench.upload(y);
    bench.run_well("saxpy", {32, 1, 1}, {32, 1, 1}, 2.0f, px, py, 1000u);
    const auto result = bench.download<float>(py, 1000);
    for (std::size_t i = 0; i < 1000; ++i) REQUIRE(result[i] == 2.0f * x[i] + y[i]);
  }
}

TEST_CASE("a launch runs every block and thread of three dimensions once", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<30>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z;
  mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;
  mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1;
  mov.u32 %r7, %tid.x; mov.u32 %r8, %tid.y; mov.u32 %r9, %tid.z;
  mov.u32 %r10, %ntid.x; mov.u32 %r11, %ntid.y; mov.u32 %r12, %ntid.z;
  mad.lo.u32 %r13, %r9, %r11, %r8; mad.lo.u32 %r13, %r13, %r10, %r7;
  mul.lo.u32 %r14, %r10, %r11; mul.lo.u32 %r14, %r14, %r12;
  mad.lo.u32 %r15, %r6, %r14, %r13;
  mad.wide.u32 %rd2, %r15, 4, %rd1;
  add.u32 %r16, %r15, 1;
  atom.global.add.u32 %r17, [%rd2], %r16;
  ret;
})",
                  3);
  const extent grid{3, 2, 4}, block{5, 3, 7};
  const std::size_t total = grid.count() * block.count();
  const address out = bench.upload(std::vector<std::uint32_t>(total, 0));
  bench.run_well("k", grid, block, out);
  const auto result = bench.download<std::uint32_t>(out, total);
  for (std::size_t i = 0; i < total; ++i) REQUIRE(result[i] == i + 1);
}

}  // namespace kernel_harness_test
