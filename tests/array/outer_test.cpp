// Outer products and traces, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/outer.hpp>
#include <gpu/core/result.hpp>
#include <gpu/memory/shape.hpp>

#include <limits>

namespace outer_test { namespace {

using namespace array_test;

[[maybe_unused]] constexpr float nan = std::numeric_limits<float>::quiet_NaN();
[[maybe_unused]] constexpr float inf = std::numeric_limits<float>::infinity();

TEST_CASE("outer products and traces are those of NumPy", "[array][outer]") {
  const operands f;
  const auto& a = f.a;
  const auto& v = f.v;
  const auto scalar = [&]<class R>(gpu::result<R> value) {
    return gpu::full<R>(f.stream, gpu::shape<0>(), test::value_of(std::move(value)));
  };
#include "array/outer_reference.inc"
}

TEST_CASE("traces and outer products of faulty views are refused", "[array][outer]") {
  const operands f;
  CHECK(test::says(test::error_of(gpu::trace(f.stream, f.a(5))), "gpu::trace", "index 5"));
  CHECK(test::says(test::error_of(gpu::outer(f.stream, f.a(5, 0), f.v)), "gpu::outer", "index 5"));
}

}}  // namespace outer_test
