// Medians and quantiles along an axis, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/quantile.hpp>
#include <gpu/core/result.hpp>
#include <gpu/memory/shape.hpp>

#include <limits>

namespace quantile_test { namespace {

using namespace array_test;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

TEST_CASE("medians and quantiles are those of NumPy", "[array][quantile]") {
  const operands f;
  const auto& e = f.e;
  const auto& v = f.v;
  const auto& p = f.p;
  const auto scalar = [&]<class R>(gpu::result<R> value) {
    return gpu::full<R>(f.stream, gpu::shape<0>(), test::value_of(std::move(value)));
  };
#include "array/quantile_reference.inc"
}

TEST_CASE("quantiles out of range are refused", "[array][quantile]") {
  const operands f;
  CHECK(test::says(test::error_of(gpu::quantile(f.stream, f.a, 1.5)), "gpu::quantile",
                   "the quantile is too large", "from 0 to 1"));
  CHECK(test::says(test::error_of(gpu::quantile(f.stream, f.a, nan, 0)), "from 0 to 1"));
  CHECK(test::says(test::error_of(gpu::quantile(f.stream, f.a, {0.5, -0.5}, 0)), "below 0"));
  CHECK(test::says(test::error_of(gpu::percentile(f.stream, f.a, 101)), "gpu::percentile",
                   "from 0 to 100"));
  CHECK(test::says(test::error_of(gpu::median(f.stream, f.a, -4)), "gpu::median", "axis -4"));
  CHECK(test::says(test::error_of(gpu::median(f.stream, f.a(2))), "gpu::median", "index 2"));
}

}}  // namespace quantile_test
