// Kernels with matrix instructions and bulk copies as people write them: nvcuda::wmma, inline PTX,
// libcu++. Their numbers are small integers, so that no sum is rounded.

#include <gpu/compiler.hpp>
#include <gpu/driver.hpp>
#include <gpu/kernel.hpp>

#include "support/results.hpp"

#include <cstddef>
#include <vector>

namespace matrix_kernels_test {
namespace {

// Each kernel multiplies 64 x 64 matrices with 128 threads: A by rows, B by columns, C by rows.
const char source[] = R"(
#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
using namespace nvcuda;

template <class T> __device__ T convert(int v) { return static_cast<T>(static_cast<float>(v)); }

// A warp has 16 rows of C.
template <class T, class Sum, class Fragment, int K>
__device__ void multiply(const int* a, const int* b, int* c) {
  __shared__ __align__(32) T as[64 * 64];
  __shared__ __align__(32) T bs[64 * 64];
  __shared__ __align__(32) Sum cs[64 * 64];
  for (int i = threadIdx.x; i < 4096; i += 128) {
    as[i] = convert<T>(a[i]);
    bs[i] = convert<T>(b[i]);
  }
  __syncthreads();
  const int row = threadIdx.x / 32 * 16;
  for (int column = 0; column < 64; column += 16) {
    wmma::fragment<wmma::accumulator, 16, 16, K, Sum> sum;
    wmma::fill_fragment(sum, Sum(1));
    for (int k = 0; k < 64; k += K) {
      wmma::fragment<wmma::matrix_a, 16, 16, K, Fragment, wmma::row_major> x;
      wmma::fragment<wmma::matrix_b, 16, 16, K, Fragment, wmma::col_major> y;
      wmma::load_matrix_sync(x, as + row * 64 + k, 64);
      wmma::load_matrix_sync(y, bs + column * 64 + k, 64);
      wmma::mma_sync(sum, x, y, sum);
    }
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] - Sum(1);
    wmma::store_matrix_sync(cs + row * 64 + column, sum, 64, wmma::mem_row_major);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 4096; i += 128) c[i] = static_cast<int>(cs[i]);
}

extern "C" __global__ void of_half(const int* a, const int* b, int* c) {
  multiply<half, float, half, 16>(a, b, c);
}
extern "C" __global__ void of_bfloat(const int* a, const int* b, int* c) {
  multiply<__nv_bfloat16, float, __nv_bfloat16, 16>(a, b, c);
}
extern "C" __global__ void of_bytes(const int* a, const int* b, int* c) {
  multiply<signed char, int, signed char, 16>(a, b, c);
}

// The usual loop over ldmatrix and mma, of rows that are padded to 72 elements.
extern "C" __global__ void of_ldmatrix(const int* a, const int* b, int* c) {
  __shared__ __align__(16) half as[64 * 72];
  __shared__ __align__(16) half bs[64 * 72];
  for (int i = threadIdx.x; i < 4096; i += 128) {
    as[i / 64 * 72 + i % 64] = __int2half_rn(a[i]);
    bs[i / 64 * 72 + i % 64] = __int2half_rn(b[i]);
  }
  __syncthreads();
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16;
  for (int column = 0; column < 64; column += 8) {
    float d[4] = {};
    for (int k = 0; k < 64; k += 16) {
      unsigned x[4], y[2];
      const auto from_a = static_cast<unsigned>(
          __cvta_generic_to_shared(as + (row + lane % 16) * 72 + k + lane / 16 * 8));
      const auto from_b = static_cast<unsigned>(
          __cvta_generic_to_shared(bs + (column + lane % 8) * 72 + k + lane / 8 % 2 * 8));
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from_a));
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                   : "=r"(y[0]), "=r"(y[1]) : "r"(from_b));
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                   "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    for (int i = 0; i < 4; ++i)
      c[(row + lane / 4 + i / 2 * 8) * 64 + column + lane % 4 * 2 + i % 2] = static_cast<int>(d[i]);
  }
}
)";

/// c = a, through shared memory by bulk copies, as libcu++ writes them for sm_90.
const char bulk_source[] = R"(
#include <cuda/barrier>
#include <cuda/std/utility>
extern "C" __global__ void by_bulk_copy(const int* a, const int* b, int* c) {
  __shared__ __align__(16) int room[1024];
  using barrier_t = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier_t arrived;
  if (threadIdx.x == 0) init(&arrived, blockDim.x);
  __syncthreads();
  for (int part = 0; part < 4; ++part) {
    barrier_t::arrival_token token;
    if (threadIdx.x == 0) {
      cuda::memcpy_async(room, a + 1024 * part, cuda::aligned_size_t<16>(4096), arrived);
    }
    token = arrived.arrive();
    arrived.wait(cuda::std::move(token));
    for (int i = threadIdx.x; i < 1024; i += 128) c[1024 * part + i] = room[i] + b[1024 * part + i];
    __syncthreads();
  }
}
)";

/// Products of a warp group, of rows of 128 bytes that a swizzle turns: 16 of 64 along k at a time.
const char group_source[] = R"(
#include <cuda_fp16.h>

// Offsets count in 16 bytes; 1 << 62 is the swizzle of 128 bytes.
__device__ unsigned long long descriptor(const void* start) {
  const unsigned long long at = __cvta_generic_to_shared(start);
  return (at & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
__device__ int place(int row, int column) { return row * 64 + (column / 8 ^ row % 8) * 8 + column % 8; }

// A has its rows side by side, B its columns or, if turned, its rows.
template <int Turned> __device__ void multiply(const int* a, const int* b, int* c) {
  __shared__ __align__(1024) half as[4096];
  __shared__ __align__(1024) half bs[4096];
  for (int i = threadIdx.x; i < 4096; i += 128) {
    as[place(i / 64, i % 64)] = __int2half_rn(a[i]);
    bs[Turned ? place(i % 64, i / 64) : place(i / 64, i % 64)] = __int2half_rn(b[i]);
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float d[32];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int k = 0; k < 4; ++k)
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,"
        "%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, "
        "p, 1, 1, 0, %35; }"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
          "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
          "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
          "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
          "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(descriptor(as) + 2 * k), "l"(descriptor(bs) + (Turned ? 128 : 2) * k), "r"(k),
          "n"(Turned));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int i = 0; i < 32; ++i)
    c[(row + i / 2 % 2 * 8) * 64 + i / 4 * 8 + column + i % 2] = static_cast<int>(d[i]);
}
extern "C" __global__ void by_group(const int* a, const int* b, int* c) { multiply<0>(a, b, c); }
extern "C" __global__ void by_group_turned(const int* a, const int* b, int* c) {
  multiply<1>(a, b, c);
}
)";

std::vector<int> numbers(unsigned seed) {
  std::vector<int> made(4096);
  for (int& v : made) {
    seed = seed * 1664525 + 1013904223;
    v = static_cast<int>(seed >> 24) % 9 - 4;
  }
  return made;
}

/// A, by rows, times B, by columns.
std::vector<int> product(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> c(4096);
  for (std::size_t m = 0; m < 64; ++m)
    for (std::size_t n = 0; n < 64; ++n)
      for (std::size_t k = 0; k < 64; ++k) c[64 * m + n] += a[64 * m + k] * b[64 * n + k];
  return c;
}

std::vector<int> run(const gpu::module& module, const char* name, const std::vector<int>& a,
                     const std::vector<int>& b) {
  gpu::stream stream = test::value_of(gpu::stream::create(test::first_device()));
  const auto kernel = test::value_of(module.kernel<const int*, const int*, int*>(name));
  std::vector<int> c(4096, -1);
  test::value_of(
      gpu::launch(stream, {.grid = 1, .block = 128}, kernel, gpu::in(a), gpu::in(b), gpu::out(c)));
  test::value_of(stream.synchronize());
  return c;
}

gpu::module load(const char* text, char variant = '\0') {
  const auto compiled =
      gpu::compile(gpu::program(text), {.architecture = gpu::architecture::compute(90, variant)});
  return test::value_of(gpu::module::load(test::value_of(compiled)));
}

}  // namespace

TEST_CASE("kernels with nvcuda::wmma, ldmatrix and mma multiply matrices", "[matrix]") {
  const gpu::module module = load(source);
  const std::vector<int> a = numbers(1), b = numbers(2);
  const std::vector<int> expected = product(a, b);
  for (const char* name : {"of_half", "of_bfloat", "of_bytes", "of_ldmatrix"}) {
    CAPTURE(name);
    CHECK(run(module, name, a, b) == expected);
  }
}

TEST_CASE("kernels with wgmma multiply matrices", "[matrix]") {
  const gpu::module module = load(group_source, 'a');
  const std::vector<int> a = numbers(5), b = numbers(6);
  const std::vector<int> expected = product(a, b);
  for (const char* name : {"by_group", "by_group_turned"}) {
    CAPTURE(name);
    CHECK(run(module, name, a, b) == expected);
  }
}

TEST_CASE("cuda::memcpy_async copies in bulk, completed by a cuda::barrier", "[matrix][thorough]") {
  const gpu::module module = load(bulk_source);
  const std::vector<int> a = numbers(3), b = numbers(4);
  std::vector<int> expected(4096);
  for (std::size_t i = 0; i < 4096; ++i) expected[i] = a[i] + b[i];
  CHECK(run(module, "by_bulk_copy", a, b) == expected);
}

}  // namespace matrix_kernels_test
