// A program whose standard is not that of the library that it links with the code of gpu::compile.
#include <gpu/compiler.hpp>

#include <cstdio>

int main() {
  const auto compiled = gpu::compile("extern \"C\" __global__ void f() {}",
                                     {.architecture = gpu::architecture::compute(90)});
  const auto refused = gpu::compile("mistake", {.architecture = gpu::architecture::compute(90)});
  const bool right = compiled && compiled->ptx().contains(".entry f") && !refused &&
                     refused.error() == gpu::errc::compile_failed;
  if (!right) std::puts(compiled ? "no error" : compiled.error().message().c_str());
  return right ? 0 : 1;
}
