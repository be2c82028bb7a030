// Compiles a kernel with a header that the library offers, which another
// source of the program has to include. The code of gpu::compile is in a third one.

#ifdef GPU_TEST_OFFERS
#  include <gpu/random.hpp>
#  include <gpu/tensor_copy.hpp>
#else

#  include <gpu/compiler.hpp>

#  include <cstdio>

int main() {
  for (const char* text :
       {"#include <gpu/random.hpp>\n"
        "__global__ void f(unsigned* x) { *x = gpu::philox(1).next(); }\n",
        "#include <gpu/tensor_copy.hpp>\n"
        "__global__ void f() { __shared__ gpu::tile_barrier b; b.init(1); }\n"}) {
    const auto made =
        gpu::compile(gpu::program(text), {.architecture = gpu::architecture::compute(90)});
    std::puts(made.has_value() ? "compiled" : made.error().details().c_str());
  }
}

#endif
