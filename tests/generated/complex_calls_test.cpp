// Which headers of complex functions the text of a kernel needs.

#include "support/catch.hpp"

#include <gpu/generated/complex_calls.hpp>

namespace complex_calls_test { namespace {

gpu::detail::complex_calls calls_of(const char* code) {
  gpu::detail::complex_calls found;
  found.note(code);
  return found;
}

TEST_CASE("kernels have headers of complex functions if they call some", "[algorithm][complex]") {
  CHECK(!calls_of("gpu::complex<float> z = a * b; // a distance").functions());
  CHECK(!calls_of("complex z = {expf(x), sinf_of(x)}; mypow(2);").functions());
  CHECK(!calls_of("float y = exp(x) + pow(x, 2);").functions());
  CHECK(!calls_of("#include <gpu/device/numbers.cuh>\ncomplex z;").functions());
  CHECK(!calls_of("#include <cuda_fp16.h>\n").functions());
  CHECK(calls_of("gpu::complex<float> z = exp (a);").functions());
  CHECK(!calls_of("gpu::complex<float> z = exp (a);").power());
  CHECK(calls_of("complex z = pow(a, 2);").power());
  CHECK(calls_of("#define ROOT sqrt\ncomplex z = ROOT(a);").functions());
  // A header of the user's may call anything.
  CHECK(calls_of("#include \"waves.h\"\n").power());
  CHECK(calls_of("complex z;\n#include <waves.h>\n").power());
}

}}  // namespace complex_calls_test
