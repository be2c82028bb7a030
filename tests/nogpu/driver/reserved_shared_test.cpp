// The shared memory that the system reserves in each block: where it is, who may touch it, and
// large tiles of cooperative groups, whose barriers and scratch memory lie there.

#include <gpu/compiler.hpp>

#include "driver_fixture.hpp"
#include "support/results.hpp"

#include <string>
#include <vector>

namespace reserved_shared_test {

using test::driver_fixture;

namespace {

/// A kernel of a module, and memory for its results.
struct loaded {
  loaded(driver_fixture& fixture, const char* image, const char* name, unsigned results)
      : f{fixture}, count{results} {
    REQUIRE(f.cu.module_load_data(&module, image) == CUDA_SUCCESS);
    REQUIRE(f.cu.module_get_function(&function, module, name) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc(&out, count * 4) == CUDA_SUCCESS);
    REQUIRE(f.cu.memset_d32(out, 0, count) == CUDA_SUCCESS);
  }
  CUresult run(unsigned threads, unsigned shared = 0) {
    void* arguments[] = {&out};
    const CUresult bad =
        f.cu.launch_kernel(function, 2, 1, 1, threads, 1, 1, shared, nullptr, arguments, nullptr);
    return bad ? bad : f.cu.ctx_synchronize();
  }
  std::vector<unsigned> results() const {
    std::vector<unsigned> read(count);
    REQUIRE(f.cu.memcpy_dtoh(read.data(), out, count * 4) == CUDA_SUCCESS);
    return read;
  }

  driver_fixture& f;
  unsigned count;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
};

const std::string head = ".version 8.3\n.target sm_90\n.address_size 64\n";

/// Stores each of the registers.
std::string storing(const std::vector<std::string>& sources) {
  std::string text = "ld.param.u64 %rd1, [out];\n";
  for (std::size_t i = 0; i < sources.size(); ++i)
    text += "mov.u32 %r1, " + sources[i] + "; st.global.u32 [%rd1+" + std::to_string(4 * i) +
            "], %r1;\n";
  return ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
         ".shared .align 4 .b8 v[256];\n" +
         text + "ret; }\n";
}

constexpr const char* tiles = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(unsigned* out) {
  __shared__ unsigned mine[512];
  mine[threadIdx.x] = threadIdx.x * 3 + 1;
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<128>(block);
  unsigned sum = 0;
  for (unsigned round = 0; round < 3; ++round) {
    sum += cg::reduce(tile, threadIdx.x + round, cg::plus<unsigned>());
    tile.sync();
  }
  const auto pair = cg::tiled_partition<256>(block);
  const unsigned first = pair.shfl(threadIdx.x, 70);
  const unsigned i = blockIdx.x * 512 + threadIdx.x;
  out[3 * i] = sum;
  out[3 * i + 1] = first;
  out[3 * i + 2] = mine[threadIdx.x];
})";

}  // namespace

TEST_CASE("special registers say where the reserved shared memory is", "[cpu]") {
  driver_fixture f;
  // As an H200 says; it gives memory out in units of 128 bytes.
  const std::string text =
      head +
      storing({"%reserved_smem_offset_begin", "%reserved_smem_offset_end",
               "%reserved_smem_offset_cap", "%reserved_smem_offset_0", "%reserved_smem_offset_1",
               "%total_smem_size", "%dynamic_smem_size", "%aggr_smem_size", "v"});
  loaded k(f, text.c_str(), "k", 9);
  REQUIRE(k.run(1) == CUDA_SUCCESS);
  CHECK(k.results() == std::vector<unsigned>{0, 288, 1024, 0, 0, 256, 0, 1280, 1024});
  REQUIRE(k.run(1, 100) == CUDA_SUCCESS);
  CHECK(k.results() == std::vector<unsigned>{0, 288, 1024, 0, 0, 384, 100, 1380, 1024});
  int reserved = 0;
  REQUIRE(f.cu.device_get_attribute(&reserved, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
                                    0) == CUDA_SUCCESS);
  CHECK(reserved == 1024);
}

TEST_CASE("large tiles of cooperative groups leave shared variables alone", "[cpu]") {
  const auto made = test::value_of(
      gpu::compile(gpu::program(tiles), {.architecture = gpu::architecture::compute(90)}));
  const std::string ptx(made.ptx().data(), made.ptx().size());
  REQUIRE(ptx.find("%reserved_smem_offset_1") != std::string::npos);
  driver_fixture f;
  loaded k(f, ptx.c_str(), "k", 3 * 1024);
  REQUIRE(k.run(512) == CUDA_SUCCESS);
  CHECK(f.reports() == "");
  const std::vector<unsigned> out = k.results();
  for (unsigned i = 0; i < 1024; ++i) {
    const unsigned thread = i % 512, first = thread / 128 * 128;
    unsigned sum = 0;
    for (unsigned t = first; t < first + 128; ++t) sum += 3 * t + 3;  // rounds 0, 1 and 2
    REQUIRE(out[3 * i] == sum);
    REQUIRE(out[3 * i + 1] == thread / 256 * 256 + 70);
    REQUIRE(out[3 * i + 2] == thread * 3 + 1);
  }
}

TEST_CASE("a kernel that does not ask for the reserved shared memory cannot touch it", "[cpu]") {
  for (const char* where : {"mov.u32 %r1, 0;", "mov.u32 %r1, v; sub.u32 %r1, %r1, 4;"}) {
    CAPTURE(where);
    driver_fixture f;
    const std::string text =
        head +
        ".visible .entry k(.param .u64 out) { .reg .b32 %r<2>; .shared .align 4 .b8 v[8];\n" +
        where + "\nst.shared.u32 [%r1], 1; ret; }\n";
    loaded k(f, text.c_str(), "k", 1);
    CHECK(k.run(1) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(f.reports().find("the block has 8 bytes of shared memory, and this is ") !=
          std::string::npos);
    CHECK(f.reports().find(" bytes before the first of them") != std::string::npos);
  }
}

}  // namespace reserved_shared_test
