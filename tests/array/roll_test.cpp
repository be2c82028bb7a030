// Elements that move along an axis, and turned views, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/roll.hpp>

namespace roll_test { namespace {

using namespace array_test;

TEST_CASE("elements roll and matrices turn as in NumPy", "[array][roll]") {
  const operands f;
  const auto &a = f.a, &e = f.e;
  const auto& p = f.p;
#include "array/roll_reference.inc"
}

TEST_CASE("what cannot roll is refused", "[array][roll]") {
  const operands f;
  CHECK(test::says(test::error_of(gpu::roll(f.stream, f.a, 1, 3)), "gpu::roll",
                   "axis 3 is out of range for 3 axes"));
  CHECK(test::says(test::error_of(gpu::roll(f.stream, f.a(2), 1, 0)), "gpu::roll", "index 2"));
  CHECK(test::says(test::error_of(gpu::roll(f.stream, f.a(2), 1)), "gpu::roll", "index 2"));
  CHECK(test::says(test::error_of(gpu::rot90(f.a, 1, 0, 3).checked()), "axis 3"));
}

}}  // namespace roll_test
