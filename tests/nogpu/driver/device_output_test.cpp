// printf, assert and the device heap, as the host sees them.

#include "driver_fixture.hpp"

#include <string>

namespace device_output_test {

using test::all_modes;
using test::driver_fixture;

namespace {

const char text[] = R"(
.version 8.0
.target sm_90
.address_size 64

.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n,
                            .param .b64 s);
.global .align 1 .b8 format[11] = {110, 117, 109, 98, 101, 114, 32, 37, 100, 10, 0};
.global .align 1 .b8 message[6] = {120, 32, 62, 32, 48, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.global .align 1 .b8 name[2] = {107, 0};

.visible .entry speak(.param .u32 number)
{
  .local .align 8 .b8 depot[8];
  .reg .b32 %r<3>;
  .reg .b64 %rd<5>;
  ld.param.u32 %r1, [number];
  mov.u64 %rd1, depot;
  st.local.u32 [%rd1], %r1;
  cvta.local.u64 %rd2, %rd1;
  mov.u64 %rd3, format;
  cvta.global.u64 %rd4, %rd3;
  {
    .param .b64 p0;
    .param .b64 p1;
    .param .b32 q;
    st.param.b64 [p0], %rd4;
    st.param.b64 [p1], %rd2;
    call.uni (q), vprintf, (p0, p1);
    ld.param.b32 %r2, [q];
  }
  ret;
}

.visible .entry insist()
{
  .reg .b64 %rd<7>;
  mov.u64 %rd1, message;
  cvta.global.u64 %rd2, %rd1;
  mov.u64 %rd3, file;
  cvta.global.u64 %rd4, %rd3;
  mov.u64 %rd5, name;
  cvta.global.u64 %rd6, %rd5;
  {
    .param .b64 a;
    .param .b64 b;
    .param .b32 c;
    .param .b64 d;
    .param .b64 e;
    st.param.b64 [a], %rd2;
    st.param.b64 [b], %rd4;
    st.param.b32 [c], 12;
    st.param.b64 [d], %rd6;
    st.param.b64 [e], 1;
    call.uni __assertfail, (a, b, c, d, e);
  }
  ret;
}
)";

CUfunction load(const driver_fixture& f, const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  REQUIRE(f.cu.module_load_data(&module, text) == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&function, module, name) == CUDA_SUCCESS);
  return function;
}

}  // namespace

TEST_CASE("printf reaches the program when it synchronizes", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    const CUfunction speak = load(f, "speak");
    int number = 41;
    void* parameters[] = {&number};
    for (; number < 44; ++number)
      CHECK(f.cu.launch_kernel(speak, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) ==
            CUDA_SUCCESS);
    CHECK(f.prints().empty());
    CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
    CHECK(f.prints() == "number 41\nnumber 42\nnumber 43\n");
  }
}

TEST_CASE("a failed assertion ends the context with its own code", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    const CUfunction insist = load(f, "insist");
    CHECK(f.cu.launch_kernel(insist, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) ==
          CUDA_SUCCESS);
    CHECK(f.cu.ctx_synchronize() == CUDA_ERROR_ASSERT);
    CHECK(f.cu.ctx_synchronize() == CUDA_ERROR_ASSERT);
    const std::string all = f.prints() + f.reports();
    CHECK(all.find("x > 0") != std::string::npos);
    CHECK(all.find("a.cu:12") != std::string::npos);
  }
}

}  // namespace device_output_test
