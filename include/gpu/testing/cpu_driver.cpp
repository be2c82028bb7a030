// The code of the CPU driver, compiled once for a program whose other sources are compiled with
// GPU_CPU_DRIVER_COMPILED: see gpu/testing/cpu_driver.hpp.

#include <gpu/testing/detail/cpu/driver.hpp>

const gpu::testing::cpu::backend& gpu::testing::cpu::current_backend() noexcept {
  return own_backend;
}
