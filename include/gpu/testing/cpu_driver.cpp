// The code of the CPU driver, compiled once for a program whose other sources are compiled with
// GPU_CPU_DRIVER_COMPILED: see gpu/testing/cpu_driver.hpp.

#include <nogpu/driver/driver.hpp>

const nogpu::driver::backend& nogpu::driver::current_backend() noexcept { return own_backend; }
