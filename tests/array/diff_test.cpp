// Differences along an axis, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/diff.hpp>

#include <limits>

namespace diff_test {
namespace {

using namespace array_test;

[[maybe_unused]] constexpr float nan = std::numeric_limits<float>::quiet_NaN();
[[maybe_unused]] constexpr float inf = std::numeric_limits<float>::infinity();

TEST_CASE("differences along an axis are those of NumPy", "[array][diff]") {
  const operands f;
  const auto& a = f.a;
  const auto& e = f.e;
#include "array/diff_reference.inc"
}

TEST_CASE("differences along no axis are refused", "[array][diff]") {
  const operands f;
  CHECK(test::says(test::error_of(gpu::diff(f.stream, f.a, 3)), "gpu::diff", "axis 3"));
  CHECK(test::says(test::error_of(gpu::diff(f.stream, f.a(2))), "gpu::diff", "index 2"));
}

}  // namespace
}  // namespace diff_test
