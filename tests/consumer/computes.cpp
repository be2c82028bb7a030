// A program whose standard is not that of the library that it links with the code of arrays.
#include <gpu/array.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cstdio>
#include <vector>

gpu::result<bool> computes() {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  const auto x = GPU_TRY(gpu::arange<float>(stream, 0, 5, 1));
  auto y = GPU_TRY(gpu::evaluate(stream, 10 - 2 * x));  // 10 8 6 4 2
  const float sum = GPU_TRY(gpu::sum(stream, y));
  GPU_TRY(gpu::sort(stream, y));
  std::vector<float> host(5);
  GPU_TRY(gpu::copy(y, host));
  const auto seven = GPU_TRY(gpu::zeros<float>(stream, gpu::shape{7}));
  const gpu::result<> refused = gpu::assign(stream, y, seven);
  return sum == 30 && host == std::vector<float>{2, 4, 6, 8, 10} && !refused &&
         refused.error() == gpu::errc::size_mismatch;
}

int main() {
  gpu::testing::use_cpu_driver();
  const gpu::result<bool> right = computes();
  if (!right) std::puts(right.error().message().c_str());
  if (right && !*right) std::puts("arrays do not work as linked");
  return right && *right ? 0 : 1;
}
