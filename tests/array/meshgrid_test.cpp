// Coordinates of grids, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/meshgrid.hpp>
#include <gpu/memory/slice.hpp>

#include <limits>

namespace meshgrid_test { namespace {

using namespace array_test;

[[maybe_unused]] constexpr float nan = std::numeric_limits<float>::quiet_NaN();
[[maybe_unused]] constexpr float inf = std::numeric_limits<float>::infinity();

TEST_CASE("grids are those of NumPy", "[array][meshgrid]") {
  const operands f;
  const auto& v = f.v;
#include "array/meshgrid_reference.inc"
}

TEST_CASE("grids of a faulty vector are faulty", "[array][meshgrid]") {
  const operands f;
  const auto grid = gpu::meshgrid(f.v, f.a(0, 7), f.a(8, 0, gpu::all()));
  for (const auto& each : grid)
    CHECK(test::says(test::error_of(each.checked()), "index 7 is out of range for axis 1"));
}

}}  // namespace meshgrid_test
