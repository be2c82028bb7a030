#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cstdio>
#include <vector>

constexpr const char* kernel_text = R"(
extern "C" __global__ void saxpy(float a, const float* x, float* y, size_t n) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
})";

gpu::result<float> saxpy_on_gpu(std::size_t n) {
  gpu::device device = GPU_TRY(gpu::device::get(0));
  gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(kernel_text))));
  auto saxpy = GPU_TRY(code.kernel<float, const float*, float*, std::size_t>("saxpy"));

  std::vector<float> host(n, 2.0f);
  auto x = GPU_TRY(gpu::device_buffer<float>::create(device, n));
  auto y = GPU_TRY(gpu::device_buffer<float>::create(device, n));
  GPU_TRY(gpu::copy(host, x));
  GPU_TRY(gpu::copy(host, y));
  GPU_TRY(gpu::launch(stream, {gpu::grid_for(n, 256), 256}, saxpy, 20.0f, x, y, n));
  GPU_TRY(gpu::copy(y, host));  // waits for the kernel
  return host[n / 2];
}

int main() {
  gpu::testing::use_cpu_driver_if_no_gpu();
  gpu::result<float> y = saxpy_on_gpu(100'000);
  if (y)
    std::printf("20 * 2 + 2 = %g\n", *y);
  else
    std::printf("%s\n", y.error().message().c_str());
  return y ? 0 : 1;
}
