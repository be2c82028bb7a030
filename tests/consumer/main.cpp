// What a project that uses gpu looks like at its smallest: it runs on any machine, and says what it
// found.
#include <gpu/gpu.hpp>

#include <cstdio>

int main() {
  const gpu::result<int> count = gpu::device::count();
  if (!count) {
    std::printf("%s\n", count.error().message().c_str());
    return count.error() == gpu::errc::no_driver ? 0 : 1;
  }
  std::printf("%d devices\n", *count);
  return 0;
}
