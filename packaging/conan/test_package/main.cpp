// Runs on any machine: asks for devices, and says why there are none.
#include <gpu/driver.hpp>

#include <cstdio>

int main() {
  const gpu::result<int> count = gpu::device::count();
  std::printf("%s\n", count ? "a driver answers" : count.error().message().c_str());
  return count || count.error() == gpu::errc::no_driver ? 0 : 1;
}
