// A product of matrices: a kernel template, tiles in shared memory, and a two-dimensional grid.
#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

constexpr const char* kernel_text = R"(
template <class T, int Tile>
__global__ void product(const T* a, const T* b, T* c, int n) {
  __shared__ T rows[Tile][Tile], columns[Tile][Tile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * Tile + y, column = blockIdx.x * Tile + x;
  T sum = 0;
  for (int first = 0; first < n; first += Tile) {
    rows[y][x] = row < n && first + x < n ? a[row * n + first + x] : T(0);
    columns[y][x] = first + y < n && column < n ? b[(first + y) * n + column] : T(0);
    __syncthreads();
    for (int k = 0; k < Tile; ++k) sum += rows[y][k] * columns[k][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
})";

using matrix = std::vector<float>;

gpu::result<matrix> product(const matrix& a, const matrix& b, int n) {
  gpu::device device = GPU_TRY(gpu::device::get(0));
  gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  const char* instance = "product<float, 16>";
  gpu::module code = GPU_TRY(
      gpu::module::load(GPU_TRY(gpu::compile(gpu::program(kernel_text).instance(instance)))));
  auto kernel = GPU_TRY(code.kernel<const float*, const float*, float*, int>(instance));

  matrix c(a.size());
  const unsigned blocks = (static_cast<unsigned>(n) + 15) / 16;
  // For data that is used once: copied there, and back when the kernel has run.
  GPU_TRY(gpu::launch(stream, {{blocks, blocks}, {16, 16}}, kernel, gpu::in(a), gpu::in(b),
                      gpu::out(c), n));
  return c;
}

int main() {
  gpu::testing::use_cpu_driver_if_no_gpu();
  const int n = 50;  // no multiple of a tile
  matrix a, b;
  for (int i = 0; i < n * n; ++i) {
    a.push_back(static_cast<float>(i % 7));
    b.push_back(static_cast<float>(i % 5 - 2));
  }
  const gpu::result<matrix> c = product(a, b, n);
  if (!c) {
    std::printf("%s\n", c.error().message().c_str());
    return 1;
  }
  float largest = 0;  // difference from the product on the host
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) {
        sum += a[static_cast<std::size_t>(i * n + k)] * b[static_cast<std::size_t>(k * n + j)];
      }
      largest = std::fmax(largest, std::fabs(sum - (*c)[static_cast<std::size_t>(i * n + j)]));
    }
  }
  std::printf("largest difference from the host: %g\n", double(largest));
}

// Prints:
// largest difference from the host: 0
