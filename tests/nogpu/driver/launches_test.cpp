// Launches that are refused, and what they leave as it was.

#include "driver_fixture.hpp"

#include <string>

namespace launches_test {

using test::driver_fixture;

namespace {

/// Kernels beside one, two of them, that need what the CPU driver does not execute.
const char mixed[] = R"(
.version 8.0
.target sm_90
.address_size 64
.func fenced()
{
  multimem.red.global.add.f32 [%rd1], %f1;
  ret;
}
.func (.reg .b32 r) three() { mov.u32 r, 3; ret; }
.visible .entry tensor(.param .u64 out)
{
  .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<3>;
  cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd1, {%r2,
    %r3, %r3, %r3, %r3}], [%r4];
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];
  multimem.red.global.add.f32 [%rd1], %f1;
  ret;
}
.visible .entry caller() { call fenced; ret; }
.visible .entry plain(.param .u64 out)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  call (%r1), three;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

CUresult launch(const driver_fixture& f, CUfunction function, unsigned threads, void** arguments,
                unsigned shared = 0) {
  return f.cu.launch_kernel(function, 1, 1, 1, threads, 1, 1, shared, nullptr, arguments, nullptr);
}

}  // namespace

TEST_CASE("a kernel that cannot be executed leaves its module the others", "[cpu]") {
  driver_fixture f;
  CUmodule module = nullptr;
  CUfunction tensor = nullptr, caller = nullptr, plain = nullptr;
  REQUIRE(f.cu.module_load_data(&module, mixed) == CUDA_SUCCESS);
  CHECK(f.reports().empty());
  REQUIRE(f.cu.module_get_function(&tensor, module, "tensor") == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&caller, module, "caller") == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&plain, module, "plain") == CUDA_SUCCESS);
  CUdeviceptr out = 0;
  REQUIRE(f.cu.mem_alloc(&out, 4) == CUDA_SUCCESS);
  void* arguments[] = {&out};

  CHECK(launch(f, tensor, 32, arguments) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(
      f.reports().find("kernel tensor cannot be launched here: PTX line 14: "
                       "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group: bulk "
                       "copies by a mask of bytes, of rows that are gathered, and of newer devices "
                       "are not executed on the CPU") != std::string::npos);
  CHECK(launch(f, caller, 32, nullptr) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(f.reports().find("kernel caller cannot be launched here: function fenced, PTX line 7: "
                         "multimem.red.global.add.f32: accesses to multicast memory") !=
        std::string::npos);

  REQUIRE(launch(f, plain, 1, arguments) == CUDA_SUCCESS);
  int result = 0;
  REQUIRE(f.cu.memcpy_dtoh(&result, out, 4) == CUDA_SUCCESS);
  CHECK(result == 3);

  int threads = 0;
  CHECK(f.cu.func_get_attribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, tensor) ==
        CUDA_SUCCESS);
  CHECK(threads == 1024);
  CHECK(f.cu.module_unload(module) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free(out) == CUDA_SUCCESS);
}

TEST_CASE("a broken statement beside one that is not executed is still refused", "[cpu]") {
  driver_fixture f;
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {\n";
  CUmodule module = nullptr;
  for (const char* body : {"st.bulk [%r1], 8, 0; nonsense; ret; }", "st.bulk }", "st.bulk",
                           "st.bulk [%r1], 8, 0; bra away; ret; }"}) {
    CAPTURE(body);
    CHECK(f.cu.module_load_data(&module, (head + body).c_str()) == CUDA_ERROR_INVALID_PTX);
  }
}

TEST_CASE("a launch is not refused for registers that are only estimated", "[cpu]") {
  driver_fixture f;
  // A sum of 1000 values that are all loaded first: a compiler may need few registers or many.
  std::string body = "{ .reg .b32 %r<1001>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [out];\n";
  for (int i = 1; i <= 1000; ++i) body += "ld.global.u32 %r" + std::to_string(i) + ", [%rd1];\n";
  for (int i = 2; i <= 1000; ++i) body += "add.u32 %r1, %r1, %r" + std::to_string(i) + ";\n";
  body += "st.global.u32 [%rd1+4], %r1; ret; }\n";
  const std::string head = "(.param .u64 out) ";
  const std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry any" +
                           head + body + ".visible .entry bounded" + head + ".maxntid 256 " + body +
                           ".visible .entry crowded" + head + ".maxntid 256 .minnctapersm 4 " +
                           body + ".visible .entry few" + head + ".maxnreg 40 " + body +
                           ".visible .entry small" + head + ".maxntid 64 " + body;
  CUmodule module = nullptr;
  REQUIRE(f.cu.module_load_data(&module, text.c_str()) == CUDA_SUCCESS);
  CUdeviceptr out = 0;
  REQUIRE(f.cu.mem_alloc(&out, 8) == CUDA_SUCCESS);
  void* arguments[] = {&out};
  struct row {
    const char* kernel;
    int threads, blocks, registers;  // the largest block, how many must fit, the most registers
  };
  // 65,536 registers, in quarters, given to warps in units of 256.
  for (const row& r :
       {row{"any", 1024, 1, 64}, row{"bounded", 256, 1, 255}, row{"crowded", 256, 4, 64},
        row{"few", 1024, 1, 40}, row{"small", 64, 1, 255}}) {
    CAPTURE(r.kernel);
    CUfunction k = nullptr;
    int registers = 0, blocks = 0, size = 0, grid = 0;
    REQUIRE(f.cu.module_get_function(&k, module, r.kernel) == CUDA_SUCCESS);
    CHECK(f.cu.func_get_attribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, k) == CUDA_SUCCESS);
    CHECK(registers <= r.registers);
    CHECK(registers >= 8);
    CHECK(f.cu.occupancy_max_active_blocks_per_multiprocessor(&blocks, k, r.threads, 0) ==
          CUDA_SUCCESS);
    CHECK(blocks >= r.blocks);
    CHECK(f.cu.occupancy_max_potential_block_size(&grid, &size, k, nullptr, 0, 0) == CUDA_SUCCESS);
    CHECK(size > 0);
    const unsigned one = 1;
    REQUIRE(f.cu.memcpy_htod(out, &one, 4) == CUDA_SUCCESS);
    CHECK(launch(f, k, static_cast<unsigned>(r.threads), arguments) == CUDA_SUCCESS);
    unsigned sum = 0;
    REQUIRE(f.cu.memcpy_dtoh(&sum, out + 4, 4) == CUDA_SUCCESS);
    CHECK(sum == 1000);
  }
}

TEST_CASE("a cooperative launch is not refused for registers that are only estimated", "[cpu]") {
  driver_fixture f;
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry idle() { .reg .b32 "
      "%r<1001>; bra END;\n";
  for (int i = 1; i <= 1000; ++i) text += "mov.u32 %r" + std::to_string(i) + ", 1;\n";
  text += "END: ret; }\n";
  CUmodule module = nullptr;
  CUfunction idle = nullptr;
  REQUIRE(f.cu.module_load_data(&module, text.c_str()) == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&idle, module, "idle") == CUDA_SUCCESS);
  const auto cooperative = [&](unsigned blocks) {
    return f.cu.launch_cooperative_kernel(idle, blocks, 1, 1, 1024, 1, 1, 0, nullptr, nullptr);
  };
  CHECK(cooperative(2 * 132) == CUDA_SUCCESS);  // two blocks of 1024 threads on each multiprocessor
  CHECK(cooperative(2 * 132 + 1) == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

}  // namespace launches_test
