// Repeated elements and arrays, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/repeat.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <limits>

namespace repeat_test { namespace {

using namespace array_test;

TEST_CASE("elements and arrays are repeated as by NumPy", "[array][repeat]") {
  const operands f;
  const auto &a = f.a, &e = f.e;
  const auto& v = f.v;
  const auto& p = f.p;
#include "array/repeat_reference.inc"
}

TEST_CASE("what cannot be repeated is refused", "[array][repeat]") {
  const operands f;
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK(test::says(test::error_of(gpu::repeat(f.stream, f.a, 2, 3)), "gpu::repeat",
                   "axis 3 is out of range for 3 axes"));
  CHECK(test::says(test::error_of(gpu::repeat(f.stream, f.a(2), 2, 0)), "gpu::repeat", "index 2"));
  CHECK(test::says(test::error_of(gpu::repeat(f.stream, f.a(2), 2)), "gpu::repeat", "index 2"));
  CHECK(test::says(test::error_of(gpu::tile(f.stream, f.a(2), gpu::shape{2, 2})), "gpu::tile",
                   "index 2"));
  CHECK(test::error_of(gpu::repeat(f.stream, f.a, most, 0)) == gpu::errc::size_overflow);
  CHECK(test::error_of(gpu::repeat(f.stream, f.a, most / 8)) == gpu::errc::size_overflow);
  CHECK(test::error_of(gpu::tile(f.stream, f.v, gpu::shape{most, most})) ==
        gpu::errc::size_overflow);
}

}}  // namespace repeat_test
