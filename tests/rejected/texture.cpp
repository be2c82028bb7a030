// Misuse of arrays, textures and surfaces that must not compile, each beside a use that does.

#include <gpu/kernel.hpp>
#include <gpu/memory.hpp>
#include <gpu/texture.hpp>

#include <utility>
#include <vector>

#ifndef GPU_REJECTED
#  define GPU_REJECTED 0
#endif

inline gpu::result<> misuse(gpu::stream_ref stream, gpu::device device) {
  const gpu::array_shape shape{.width = 4, .flags = gpu::array_flags::surface_load_store};
  auto array = GPU_TRY(gpu::cuda_array<float>::create(device, shape));
  auto pinned = GPU_TRY(gpu::pinned_vector<float>::create(device, 4));
  std::vector<float> host(4);
  std::vector<int> integers(4);
  const std::vector<float> constant(4);
  auto texture = GPU_TRY(gpu::texture<float>::create(array));
  auto surface = GPU_TRY(gpu::surface<float>::create(array));

#if GPU_REJECTED == 1
  // expect 1: an asynchronous copy needs page-locked host memory
  GPU_TRY(gpu::copy(stream, host, array));
#elif GPU_REJECTED == 2
  // expect 2: the elements must be texels of the array's format
  GPU_TRY(gpu::copy(integers, array));
#elif GPU_REJECTED == 3
  // expect 3: the destination's elements are const
  GPU_TRY(gpu::copy(array, constant));
#elif GPU_REJECTED == 4
  // expect 4: a temporary cuda_array is destroyed before the copy runs
  GPU_TRY(gpu::copy(stream, GPU_TRY(gpu::cuda_array<float>::create(device, shape)), pinned));
#elif GPU_REJECTED == 5
  // expect 5: the other end of the copy must be an array, a pitched view
  GPU_TRY(gpu::copy(array, 3.0f));
#elif GPU_REJECTED == 6
  // expect 6: a texel has 1, 2 or 4 channels
  GPU_TRY(gpu::cuda_array<double>::create(device, shape));
#elif GPU_REJECTED == 7
  // expect 7: a texel has 1, 2 or 4 channels
  GPU_TRY(gpu::mipmapped_array<gpu::channels<float, 3>>::create(device, shape));
#elif GPU_REJECTED == 8
  // expect 8: a texel has 1, 2 or 4 channels
  GPU_TRY(gpu::texture<const float>::create(array));
#elif GPU_REJECTED == 9
  // expect 9: deleted
  gpu::cuda_array<float> twice = array;
#elif GPU_REJECTED == 10
  // expect 10: deleted
  gpu::cuda_array_ref<float> name = GPU_TRY(gpu::cuda_array<float>::create(device, shape));
#elif GPU_REJECTED == 11
  // expect 11: deleted
  gpu::texture_ref<float> name = GPU_TRY(gpu::texture<float>::create(array));
#elif GPU_REJECTED == 12
  // expect 12: no matching function
  GPU_TRY(gpu::texture<int>::create(array));
#elif GPU_REJECTED == 13
  // expect 13: conversion
  gpu::texture_ref<int> name = texture;
#elif GPU_REJECTED == 14
  // expect 14: conversion
  gpu::texture_ref<float> name = surface;
#elif GPU_REJECTED == 15
  // expect 15: to 'float'
  float number = gpu::texture_ref<float>(texture);
#elif GPU_REJECTED == 16
  // expect 16: no matching function
  GPU_TRY(gpu::surface<float>::create(GPU_TRY(gpu::device_buffer<float>::create(stream, 4))));
#else
  GPU_TRY(gpu::copy(stream, pinned, array));
  GPU_TRY(gpu::copy(constant, array));
  GPU_TRY(gpu::copy(array, host));
  GPU_TRY(gpu::copy(std::vector<gpu::channels<float, 1>>(4), array));
  gpu::texture_ref<float> name = texture;
  gpu::texture_ref<> any = name;
  const unsigned long long number = any;
  static_cast<void>(number);
  static_cast<void>(surface);
  GPU_TRY(gpu::texture<float>::create(std::move(array)));
#endif
  return {};
}

int main() { return 0; }
