// A texture between whose texels the hardware interpolates.
#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>
#include <gpu/texture.hpp>

#include <cstdio>
#include <utility>
#include <vector>

constexpr const char* kernel_text = R"(
extern "C" __global__ void sample(cudaTextureObject_t texture, const float* at, float* values) {
  values[threadIdx.x] = tex2D<float>(texture, at[threadIdx.x], 0.5f);
})";

gpu::result<> run() {
  gpu::device device = GPU_TRY(gpu::device::get(0));
  gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(kernel_text))));
  auto sample = GPU_TRY(code.kernel<gpu::texture_ref<float>, const float*, float*>("sample"));

  const std::vector<float> texels = {0, 10, 20, 40};
  auto array = GPU_TRY(gpu::cuda_array<float>::create(device, {.width = 4, .height = 1}));
  GPU_TRY(gpu::copy(texels, array));
  auto texture =
      GPU_TRY(gpu::texture<float>::create(std::move(array), {.filter = gpu::filter_mode::linear}));

  // Texel i has its center at i + 0.5; beyond the edges its value goes on.
  const std::vector<float> at = {0.5f, 1.0f, 2.5f, 3.25f, 9.0f};
  std::vector<float> values(at.size());
  const gpu::launch_config config{1, static_cast<unsigned>(at.size())};
  GPU_TRY(gpu::launch(stream, config, sample, texture, gpu::in(at), gpu::out(values)));
  for (float value : values) std::printf("%g ", double(value));
  std::printf("\n");
  return {};
}

int main() {
  gpu::testing::use_cpu_driver_if_no_gpu();
  return gpu::exit_status(run());
}

// Prints:
// 0 5 20 35 40
