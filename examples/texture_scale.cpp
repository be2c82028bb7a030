// Draws a disc in 16 x 16 pixels and lets the texture hardware enlarge it: bilinear filtering, and
// coordinates that do not care about the size of the picture.

#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>
#include <gpu/texture.hpp>

#include <cstdio>
#include <utility>
#include <vector>

struct picture {
  unsigned width, height;
  std::vector<unsigned char> pixels;
};

constexpr const char* kernel_text = R"(
extern "C" __global__ void scale(cudaTextureObject_t image, unsigned char* out, unsigned width,
                                 unsigned height) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float value = tex2D<float>(image, (x + 0.5f) / width, (y + 0.5f) / height);
  out[y * width + x] = (unsigned char)(value * 255 + 0.5f);
})";

gpu::result<picture> scale(const picture& from, unsigned width, unsigned height) {
  gpu::device device = GPU_TRY(gpu::device::get(0));
  gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(kernel_text))));
  using image = gpu::texture_ref<unsigned char>;
  auto kernel = GPU_TRY(code.kernel<image, unsigned char*, unsigned, unsigned>("scale"));

  auto array = GPU_TRY(
      gpu::cuda_array<unsigned char>::create(device, {.width = from.width, .height = from.height}));
  GPU_TRY(gpu::copy(from.pixels, array));
  auto texture = GPU_TRY(gpu::texture<unsigned char>::create(
      std::move(array), {.filter = gpu::filter_mode::linear,
                         .read = gpu::read_mode::normalized_float,
                         .normalized_coordinates = true}));

  picture to{width, height, std::vector<unsigned char>(std::size_t{width} * height)};
  auto pixels = GPU_TRY(gpu::device_buffer<unsigned char>::create(device, to.pixels.size()));
  const gpu::dims blocks{(width + 15) / 16, (height + 15) / 16};
  GPU_TRY(gpu::launch(stream, {blocks, {16, 16}}, kernel, texture, pixels, width, height));
  GPU_TRY(gpu::copy(pixels, to.pixels));  // waits for the kernel
  return to;
}

int main() {
  gpu::testing::use_cpu_driver_if_no_gpu();
  picture disc{16, 16, std::vector<unsigned char>(256)};
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 16; ++x) {
      const int dx = 2 * x - 15, dy = 2 * y - 15;
      disc.pixels[static_cast<std::size_t>(16 * y + x)] = dx * dx + dy * dy < 170 ? 255 : 0;
    }
  }
  gpu::result<picture> large = scale(disc, 64, 32);
  if (!large) {
    std::printf("%s\n", large.error().message().c_str());
    return 1;
  }
  for (std::size_t i = 0; i < large->pixels.size(); ++i) {
    std::putchar(" .:-=+*#%@"[large->pixels[i] * 9 / 255]);
    if (i % large->width == large->width - 1) std::putchar('\n');
  }
}
