// Variables of modules that would be gone, beside those of one that stays, and kernels and managed
// variables, which keep the code themselves.

#include <gpu/kernel.hpp>
#include <gpu/memory.hpp>

#include <utility>

#ifndef GPU_REJECTED
#  define GPU_REJECTED 0
#endif

inline gpu::result<> misuse(gpu::bytes_ref image, gpu::device device) {
  gpu::module code = GPU_TRY(gpu::module::load(image));
  const gpu::context own = GPU_TRY(gpu::context::create(device));

#if GPU_REJECTED == 1
  // expect 1: deleted
  GPU_TRY(gpu::module::load(image).value().global<int>("v", device));
#elif GPU_REJECTED == 2
  // expect 2: deleted
  GPU_TRY(GPU_TRY(gpu::module::load(image)).global<int>("v", own));
#elif GPU_REJECTED == 3
  // expect 3: deleted
  GPU_TRY(std::move(code).global<int>("v", own));
#else
  GPU_TRY(code.kernel<>("k"));
  GPU_TRY(code.kernel<float*>("k"));
  GPU_TRY(code.kernel<void(float*)>("k"));
  GPU_TRY(code.kernel("k"));
  GPU_TRY(code.global<int>("v", device));
  GPU_TRY(std::as_const(code).global<int>("v", own));
  GPU_TRY(code.managed<int>("v"));
  GPU_TRY(GPU_TRY(gpu::module::load(image)).kernel<>("k"));
  GPU_TRY(gpu::module::load(image).value().kernel<void(float*)>("k"));
  GPU_TRY(std::move(code).kernel("k"));
  GPU_TRY(GPU_TRY(gpu::module::load(image)).managed<int>("v"));
#endif
  return {};
}
