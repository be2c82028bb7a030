// Compiles a kernel with random numbers, for which another source of the program has to include
// <gpu/random.hpp>. The code of gpu::compile is in a third one.

#ifdef GPU_TEST_OFFERS
#  include <gpu/random.hpp>
#else

#  include <gpu/compiler.hpp>

#  include <cstdio>

int main() {
  const auto made =
      gpu::compile(gpu::program("#include <gpu/random.hpp>\n"
                                "__global__ void f(unsigned* x) { *x = gpu::philox(1).next(); }\n"),
                   {.architecture = gpu::architecture::compute(90)});
  std::puts(made.has_value() ? "compiled" : made.error().details().c_str());
}

#endif
