// Each value of an array once, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/unique_values.hpp>

#include <limits>

namespace unique_values_test { namespace {

using namespace array_test;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

TEST_CASE("the values of arrays are those of NumPy", "[array][unique_values][thorough]") {
  const operands f;
  const auto& e = f.e;
  const auto& v = f.v;
  const auto& p = f.p;
#include "array/unique_values_reference.inc"
}

TEST_CASE("the values of faulty views are refused", "[array][unique_values]") {
  const operands f;
  CHECK(
      test::says(test::error_of(gpu::unique_all(f.stream, f.a(2))), "gpu::unique_all", "index 2"));
  CHECK(test::says(test::error_of(gpu::unique_values(f.stream, f.a(2))), "gpu::unique_values",
                   "index 2"));
}

}}  // namespace unique_values_test
