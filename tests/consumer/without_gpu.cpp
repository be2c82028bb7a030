// A test of a project without a GPU, linked with the CPU driver that is compiled once.
#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cstdio>

int main() {
  gpu::testing::cpu_driver& driver = gpu::testing::use_cpu_driver();
  const gpu::result<int> count = gpu::device::count();
  const auto stream = gpu::stream::create(gpu::device::from_native(0));
  const bool right = count && *count == 1 && stream && driver.live_count() == 1;
  if (!right) std::puts("the CPU driver does not work as linked");
  return right ? 0 : 1;
}
