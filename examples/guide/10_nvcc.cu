// A kernel that nvcc compiled, launched by gpu on a stream of the CUDA runtime:
//   nvcc -std=c++20 -I include examples/guide/10_nvcc.cu -o nvcc_example
#include <gpu/gpu.hpp>
#include <gpu/interop/cuda_runtime.hpp>

#include <cstdio>
#include <vector>

__global__ void saxpy(float a, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

gpu::result<float> run(cudaStream_t theirs) {
  const std::size_t n = 1000;
  const gpu::stream_ref stream = GPU_TRY(gpu::from_runtime(theirs));
  // The parameters of the __global__ function are those of the kernel.
  const auto kernel = GPU_TRY(gpu::from_runtime(saxpy));
  std::vector<float> x(n, 20.0f), y(n, 2.0f);
  GPU_TRY(gpu::launch(stream, {gpu::grid_for(n, 256), 256}, kernel, 2.0f, gpu::in(x), gpu::inout(y),
                      n));
  return y[n / 2];
}

int main() {
  cudaStream_t stream = nullptr;
  gpu::result<> made = gpu::from_runtime(cudaStreamCreate(&stream), "cudaStreamCreate");
  const gpu::result<float> y =
      made ? run(stream) : gpu::result<float>(gpu::unexpected(made.error()));
  if (y)
    std::printf("2 * 20 + 2 = %g\n", double(*y));
  else
    std::printf("%s\n", y.error().message().c_str());
  return y ? 0 : 1;
}

// Prints:
// 2 * 20 + 2 = 42
