#pragma once
/// \file
/// Devices of the CPU driver with so little memory that tests can use it up, and what tells of it.

#include "driver_fixture.hpp"

#include <cstddef>

namespace test {

inline constexpr std::size_t mebibyte = std::size_t{1} << 20;

inline gpu::testing::cpu_driver_options small_device(
    gpu::testing::cpu_driver_options options = test::with_places()) {
  options.memory_per_device = 16 * mebibyte;
  return options;
}

template <class T>
T attribute(const driver_fixture& f, CUpointer_attribute which, CUdeviceptr pointer) {
  T value{};
  CHECK(f.cu.pointer_get_attribute(&value, which, pointer) == CUDA_SUCCESS);
  return value;
}

inline std::size_t free_memory(const driver_fixture& f) {
  std::size_t free = 0;
  std::size_t total = 0;
  CHECK(f.cu.mem_get_info(&free, &total) == CUDA_SUCCESS);
  CHECK(total == 16 * mebibyte);
  return free;
}

}  // namespace test
