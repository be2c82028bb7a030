// Comparisons of arrays, against the host.

#include "array/array_fixture.hpp"

#include <gpu/array/array.hpp>
#include <gpu/array/compare.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <vector>

namespace compare_test { namespace {

using namespace array_test;

TEST_CASE("arrays are equal if shape and elements are", "[array][compare]") {
  const operands f;
  const auto copied = test::value_of(gpu::evaluate(f.stream, f.a));
  const auto equal = [&](const auto& x, const auto& y, auto... options) {
    return test::value_of(gpu::array_equal(f.stream, x, y, options...));
  };
  CHECK(equal(f.a, copied));
  CHECK(!equal(f.a, gpu::reverse(f.a)));
  CHECK(!equal(f.a, gpu::transpose(f.a)));
  CHECK(!equal(f.a, f.a(0)));
  CHECK(equal(gpu::transpose(f.a), gpu::transpose(copied)));
  CHECK(equal(f.e, f.e));
  CHECK(equal(f.p, f.p));
  CHECK(!equal(f.v, f.v(gpu::slice(0, 4))));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto x = test::value_of(gpu::array<double>::from(f.stream, {1.0, nan, -0.0}));
  const auto y = test::value_of(gpu::array<double>::from(f.stream, {1.0, nan, 0.0}));
  CHECK(!equal(x, y));
  CHECK(equal(x, y, true));
  using complex = std::complex<float>;
  const auto z = test::value_of(gpu::array<complex>::from(f.stream, {complex(1, 2), complex(3)}));
  CHECK(equal(z, z));
  CHECK(!equal(z, gpu::reverse(z)));
}

/// NumPy's `isclose` on the host.
template <class T> bool is_close(T a, T b, double rtol, double atol, bool equal_nan) {
  if (a == b || (equal_nan && std::isnan(a) && std::isnan(b))) return true;
  return std::isfinite(b) && std::abs(a - b) <= T(atol) + T(rtol) * std::abs(b);
}

TEMPLATE_TEST_CASE("near elements are those of the formula", "[array][compare]", float, double) {
  const fixture f;
  const TestType nan = std::numeric_limits<TestType>::quiet_NaN();
  const TestType inf = std::numeric_limits<TestType>::infinity();
  const std::vector<TestType> values{0,
                                     TestType(1e-8),
                                     TestType(1.1e-8),
                                     1,
                                     TestType(1.00001),
                                     nan,
                                     inf,
                                     -inf,
                                     -1,
                                     TestType(0.99999),
                                     100,
                                     TestType(100.1)};
  const auto x = test::value_of(gpu::array<TestType>::from(f.stream, values));
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      for (const bool equal_nan : {false, true}) {
        CAPTURE(i, j, equal_nan);
        CHECK(test::value_of(gpu::allclose(f.stream, x(i), x(j), {.equal_nan = equal_nan})) ==
              is_close(values[i], values[j], 1e-5, 1e-8, equal_nan));
        CHECK(test::value_of(gpu::allclose(f.stream, x(i), x(j), {1e-2, 1e-9, equal_nan})) ==
              is_close(values[i], values[j], 1e-2, 1e-9, equal_nan));
      }
    }
  }
}

TEST_CASE("arrays that are compared are repeated to one shape", "[array][compare]") {
  const operands f;
  const auto ones = test::value_of(gpu::ones<int>(f.stream, gpu::shape{3, 4}));
  const auto one = test::value_of(gpu::full<int>(f.stream, gpu::shape<0>(), 1));
  CHECK(test::value_of(gpu::allclose(f.stream, ones, one)));
  CHECK(test::value_of(gpu::allclose(f.stream, one, ones(gpu::all(), gpu::slice(0, 1)))));
  CHECK(!test::value_of(gpu::allclose(f.stream, ones, f.p)));
  CHECK(test::value_of(gpu::allclose(f.stream, f.a, f.a, {0, 0})));
  CHECK(test::value_of(gpu::allclose(f.stream, f.a, f.p, {.absolute = 16})));
  CHECK(!test::value_of(gpu::allclose(f.stream, f.a, f.p, {0, 15})));
  CHECK(test::value_of(gpu::allclose(f.stream, f.e, f.p)));
  using complex = std::complex<double>;
  const auto z = test::value_of(gpu::array<complex>::from(f.stream, {complex(3, 4)}));
  const auto near = test::value_of(gpu::array<complex>::from(f.stream, {complex(3, 4.00004)}));
  CHECK(test::value_of(gpu::allclose(f.stream, near, z)));
  CHECK(!test::value_of(gpu::allclose(f.stream, near, z, {1e-6})));
  CHECK(test::says(test::error_of(gpu::allclose(f.stream, f.a, ones(gpu::slice(0, 2)))),
                   "gpu::allclose", "cannot compare (2, 3, 4) and (2, 4)", "from the last one"));
}

}}  // namespace compare_test
