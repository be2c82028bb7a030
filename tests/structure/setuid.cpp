// Reads of the environment by a program that may have more rights than its user.

#include <gpu/system/environment.hpp>

#include <cstdio>

int main() {
  const char* path = gpu::detail::environment_variable("CUDA_PATH");
  std::puts(path != nullptr ? path : "none");
}
