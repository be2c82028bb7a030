// Triangles of matrices, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/triangle.hpp>

#include <limits>

namespace triangle_test { namespace {

using namespace array_test;

[[maybe_unused]] constexpr float nan = std::numeric_limits<float>::quiet_NaN();
[[maybe_unused]] constexpr float inf = std::numeric_limits<float>::infinity();

TEST_CASE("triangles of matrices are those of NumPy", "[array][triangle]") {
  const operands f;
  const auto& a = f.a;
  const auto& e = f.e;
#include "array/triangle_reference.inc"
}

TEST_CASE("a triangle of a faulty view is refused", "[array][triangle]") {
  const operands f;
  CHECK(test::says(test::error_of(gpu::tril(f.stream, f.a(-3))), "gpu::tril", "index -3"));
}

}}  // namespace triangle_test
