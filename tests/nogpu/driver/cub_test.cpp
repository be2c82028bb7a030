// Block and warp algorithms of CUB, which read shared memory that nobody wrote and select the value
// away: results as the host computes them, and no mistake found.

#include <gpu/compiler.hpp>

#include "driver_fixture.hpp"
#include "support/results.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace cub_test { namespace {

constexpr const char* source = R"(
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_scan.cuh>
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
// The sum of the first n, by three algorithms and by warps.
template <cub::BlockReduceAlgorithm Algorithm> __device__ void sum(int* p, int n) {
  using algorithm = cub::BlockReduce<int, threads, Algorithm>;
  __shared__ typename algorithm::TempStorage room;
  int own[items];
  load(p, n, own, 0);
  const int all = algorithm(room).Sum(own);
  if (threadIdx.x == 0) p[0] = all;
}
__device__ void partial(int* p, int n) {
  using algorithm = cub::BlockReduce<int, threads>;
  __shared__ typename algorithm::TempStorage room;
  int own;
  if (threadIdx.x < n) own = p[threadIdx.x];
  const int all = algorithm(room).Sum(own, n < threads ? n : threads);
  if (threadIdx.x == 0) p[0] = all;
}
// As many of the first n as there are of each remainder modulo 8, in the first ones.
template <cub::BlockHistogramAlgorithm Algorithm> __device__ void count(int* p, int n) {
  using algorithm = cub::BlockHistogram<unsigned char, threads, items, 9, Algorithm>;
  __shared__ typename algorithm::TempStorage room;
  __shared__ int counts[9];
  unsigned char own[items];
  for (int i = 0; i < items; ++i) {
    const int at = threadIdx.x * items + i;
    own[i] = at < n ? p[at] & 7 : 8;
  }
  algorithm(room).Histogram(own, counts);
  __syncthreads();
  if (threadIdx.x < 8 && threadIdx.x < n) p[threadIdx.x] = counts[threadIdx.x];
}
// The values of threads without one are exchanged, too.
template <bool Warps> __device__ void there_and_back(int* p, int n) {
  using algorithm = cub::BlockExchange<int, threads, items, Warps>;
  __shared__ typename algorithm::TempStorage room;
  int own[items];
  for (int i = 0; i < items; ++i) {
    const int at = threadIdx.x * items + i;
    if (at < n) own[i] = p[at];
  }
  algorithm(room).BlockedToStriped(own, own);
  __syncthreads();
  algorithm(room).StripedToBlocked(own, own);
  store(p, n, own);
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
__global__ void reduce(int* p, int n) { sum<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(p, n); }
__global__ void raking_reduce(int* p, int n) { sum<cub::BLOCK_REDUCE_RAKING>(p, n); }
__global__ void commutative_reduce(int* p, int n) {
  sum<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(p, n);
}
__global__ void partial_reduce(int* p, int n) { partial(p, n); }
__global__ void histogram(int* p, int n) { count<cub::BLOCK_HISTO_ATOMIC>(p, n); }
__global__ void sorting_histogram(int* p, int n) { count<cub::BLOCK_HISTO_SORT>(p, n); }
__global__ void exchange(int* p, int n) { there_and_back<false>(p, n); }
__global__ void sliced_exchange(int* p, int n) { there_and_back<true>(p, n); }
// A scan of tiles with a carry, as DeviceScan's: the threads past the end scan what they have.
__global__ void tiles(int* p, int n) {
  using algorithm = cub::BlockScan<int, threads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename algorithm::TempStorage room;
  int carry = 0;
  for (int begin = 0; begin < n; begin += threads) {
    const int at = begin + threadIdx.x;
    int own, all;
    if (at < n) own = p[at];
    algorithm(room).InclusiveSum(own, own, all);
    if (at < n) p[at] = own + carry;
    carry += all;
    __syncthreads();
  }
}
__global__ void warp_scan(int* p, int n) {
  using algorithm = cub::WarpScan<int>;
  __shared__ typename algorithm::TempStorage room[threads / 32];
  int own = threadIdx.x < n ? p[threadIdx.x] : 0;
  algorithm(room[threadIdx.x / 32]).InclusiveSum(own, own);
  if (threadIdx.x < n) p[threadIdx.x] = own;
}
// A scan that reads a whole tile of shared memory, of which the threads of the end wrote nothing,
// and adds those of before only up to the end.
__global__ void scan_of_a_tile(int* p, int n) {
  __shared__ int tile[items + 1][threads + 1];
  for (int i = 0; i < items; ++i) {
    const int at = i * threads + threadIdx.x;
    if (at < n) tile[at % items][at / items] = p[at];
  }
  __syncthreads();
  const int first = items * threadIdx.x;
  int sum = tile[0][threadIdx.x];
  for (int i = 1; i < items; ++i)
    if (first + i < n) tile[i][threadIdx.x] = sum += tile[i][threadIdx.x];
  tile[items][threadIdx.x] = sum;
  __syncthreads();
  int value = tile[items][threadIdx.x];
  for (int step = 1; step < threads; step *= 2) {
    if (threadIdx.x >= step) {
      const int before = tile[items][threadIdx.x - step];
      value = first < n ? before + value : value;
    }
    __syncthreads();
    tile[items][threadIdx.x] = value;
    __syncthreads();
  }
  if (threadIdx.x > 0) {
    sum = tile[items][threadIdx.x - 1];
    for (int i = 0; i < items; ++i) {
      const int own = tile[i][threadIdx.x];
      tile[i][threadIdx.x] = first + i < n ? sum + own : own;
    }
  }
  __syncthreads();
  for (int i = 0; i < items; ++i) {
    const int at = i * threads + threadIdx.x;
    if (at < n) p[at] = tile[at % items][at / items];
  }
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
      check("warp_merge_sort", by_warps);
      check("radix_sort", sorted);
      check("scan", sums);
      check("raking_scan", sums);
      check("tiles", sums);
      check("scan_of_a_tile", sums);
      std::vector<int> sum = numbers, partial = numbers, counts = numbers, scanned = numbers;
      sum[0] = sums.back();
      const std::size_t some = std::min(numbers.size(), std::size_t{64});
      partial[0] = sums[some - 1];
      for (std::size_t i = 0; i < counts.size() && i < 8; ++i)
        counts[i] = static_cast<int>(std::count_if(
            numbers.begin(), numbers.end(), [&](int x) { return (x & 7) == static_cast<int>(i); }));
      for (std::size_t i = 0; i < some; ++i) scanned[i] = sums[i] - (i < 32 ? 0 : sums[31]);
      for (const char* kernel : {"reduce", "raking_reduce", "commutative_reduce"})
        check(kernel, sum);
      check("partial_reduce", partial);
      check("histogram", counts);
      check("sorting_histogram", counts);
      check("exchange", numbers);
      check("sliced_exchange", numbers);
      check("warp_scan", scanned);
    }
    for (const char* kernel : {"branches", "writes"}) {
      INFO(kernel);
      (void)run(program, kernel, std::vector<int>(64), reports);
      CHECK(reports.find("read of memory that was never written") != std::string::npos);
    }
  }
}

}}  // namespace cub_test
