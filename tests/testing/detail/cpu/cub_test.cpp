// Block and warp algorithms of CUB, which read shared memory that nobody wrote and select the value
// away: results as the host computes them, and no mistake found.

#include <gpu/compiler.hpp>

#include "driver_fixture.hpp"
#include "support/results.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace cub_test {
namespace {

constexpr const char* source = R"(
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_merge_sort.cuh>
struct less { __device__ bool operator()(int a, int b) const { return a < b; } };
constexpr int threads = 64, items = 4;
__device__ void load(const int* p, int n, int (&own)[items], int other) {
  for (int i = 0; i < items; ++i) {
    const int at = threadIdx.x * items + i;
    own[i] = at < n ? p[at] : other;
  }
}
__device__ void store(int* p, int n, const int (&own)[items]) {
  for (int i = 0; i < items; ++i) {
    const int at = threadIdx.x * items + i;
    if (at < n) p[at] = own[i];
  }
}
extern "C" {
__global__ void merge_sort(int* p, int n) {
  using algorithm = cub::BlockMergeSort<int, threads, items>;
  __shared__ typename algorithm::TempStorage room;
  int own[items];
  load(p, n, own, 0);
  algorithm(room).Sort(own, less{}, n, 0x7fffffff);
  store(p, n, own);
}
__global__ void merge_sort_all(int* p, int n) {
  using algorithm = cub::BlockMergeSort<int, threads, items>;
  __shared__ typename algorithm::TempStorage room;
  int own[items];
  load(p, n, own, 0x7fffffff);
  algorithm(room).StableSort(own, less{});
  store(p, n, own);
}
__global__ void warp_merge_sort(int* p, int n) {
  using algorithm = cub::WarpMergeSort<int, items, 32>;
  __shared__ typename algorithm::TempStorage room[threads / 32];
  int own[items];
  load(p, n, own, 0x7fffffff);
  algorithm(room[threadIdx.x / 32]).Sort(own, less{});
  store(p, n, own);
}
__global__ void radix_sort(int* p, int n) {
  using algorithm = cub::BlockRadixSort<int, threads, items>;
  __shared__ typename algorithm::TempStorage room;
  int own[items];
  load(p, n, own, 0x7fffffff);
  algorithm(room).Sort(own);
  store(p, n, own);
}
__global__ void scan(int* p, int n) {
  using algorithm = cub::BlockScan<int, threads>;
  __shared__ typename algorithm::TempStorage room;
  int own[items];
  load(p, n, own, 0);
  algorithm(room).InclusiveSum(own, own);
  store(p, n, own);
}
__global__ void raking_scan(int* p, int n) {
  using algorithm = cub::BlockScan<int, threads, cub::BLOCK_SCAN_RAKING>;
  __shared__ typename algorithm::TempStorage room;
  int own[items];
  load(p, n, own, 0);
  algorithm(room).InclusiveSum(own, own);
  store(p, n, own);
}
// What is wrong: a branch, and a result, of what nobody wrote.
__global__ void branches(int* p, int n) {
  __shared__ int room[threads];
  if (threadIdx.x < n / 2) room[threadIdx.x] = n;
  __syncthreads();
  if (room[threadIdx.x ^ 1] > 3) p[threadIdx.x] = 1;
}
__global__ void writes(int* p, int n) {
  __shared__ int room[threads];
  if (threadIdx.x < n / 2) room[threadIdx.x] = n;
  __syncthreads();
  p[threadIdx.x] = room[threadIdx.x ^ 1] + 1;
}
}
)";

/// Runs a kernel on numbers; returns them, and sets `reports`.
std::vector<int> run(const gpu::compiled_program& program, const char* kernel,
                     std::vector<int> numbers, std::string& reports) {
  gpu::testing::cpu_driver_options strict = test::without_places();
  strict.checks = {};
  test::driver_fixture f(strict);
  CUmodule module = nullptr;
  REQUIRE(f.cu.module_load_data(&module, program.ptx().c_str()) == CUDA_SUCCESS);
  CUfunction function = nullptr;
  REQUIRE(f.cu.module_get_function(&function, module, kernel) == CUDA_SUCCESS);
  CUdeviceptr p = 0;
  const std::size_t bytes = numbers.size() * sizeof(int);
  REQUIRE(f.cu.mem_alloc(&p, bytes) == CUDA_SUCCESS);
  REQUIRE(f.cu.memcpy_htod(p, numbers.data(), bytes) == CUDA_SUCCESS);
  int n = static_cast<int>(numbers.size());
  void* arguments[] = {&p, &n};
  (void)f.cu.launch_kernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr);
  const CUresult done = f.cu.ctx_synchronize();
  reports = f.reports();
  if (done == CUDA_SUCCESS) REQUIRE(f.cu.memcpy_dtoh(numbers.data(), p, bytes) == CUDA_SUCCESS);
  return numbers;
}

TEST_CASE("algorithms of CUB that select unwritten values away make no mistake", "[cpu]") {
  for (const bool debug : {false, true}) {
    gpu::compile_options options{.architecture = gpu::architecture::compute(90)};
    options.debug = debug;
    const auto program = test::value_of(gpu::compile(source, options));
    std::string reports;
    for (const int count : {256, 201, 130, 64, 7, 1}) {
      std::vector<int> numbers(static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) numbers[static_cast<std::size_t>(i)] = i * 7919 % 1009 - 300;
      const auto check = [&](const char* kernel, const std::vector<int>& expected) {
        INFO(kernel << " of " << count << (debug ? " for a debugger" : ""));
        CHECK(run(program, kernel, numbers, reports) == expected);
        CHECK(reports == "");
      };
      std::vector<int> sorted = numbers, sums = numbers, by_warps = numbers;
      std::sort(sorted.begin(), sorted.end());
      std::partial_sum(sums.begin(), sums.end(), sums.begin());
      const auto middle = by_warps.begin() + std::min(count, 128);
      std::sort(by_warps.begin(), middle);
      std::sort(middle, by_warps.end());
      check("merge_sort", sorted);
      check("merge_sort_all", sorted);
      if (debug) continue;  // those below read local memory that nobody wrote, there
      check("warp_merge_sort", by_warps);
      check("radix_sort", sorted);
      check("scan", sums);
      check("raking_scan", sums);
    }
    for (const char* kernel : {"branches", "writes"}) {
      INFO(kernel);
      (void)run(program, kernel, std::vector<int>(64), reports);
      CHECK(reports.find("read of memory that was never written") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace cub_test
