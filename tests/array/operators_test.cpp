// Operators of arrays, against those of the host, and names that other namespaces have, too.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/driver/stream.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace operators_test { namespace {

using algorithm_test::fixture;

template <class T> struct operands {
  std::vector<T> x, y;
};

template <class T> operands<T> make_operands() {
  operands<T> made;
  for (int k = 0; k < 40; ++k) {
    made.x.push_back(static_cast<T>(k * 37 % 100 + 1));
    made.y.push_back(static_cast<T>(k * 11 % 30 + 1));
  }
  return made;
}

TEMPLATE_TEST_CASE("operators are those of the host", "[array][operators]", std::int8_t,
                   std::uint16_t, std::int32_t, std::uint64_t, float, double) {
  const fixture f;
  const auto host = make_operands<TestType>();
  const auto x = test::value_of(gpu::array<TestType>::from(f.stream, host.x));
  const auto y = test::value_of(gpu::array<TestType>::from(f.stream, host.y));
  const auto check = [&](const auto& e, auto expected) {
    const auto found = f.download(test::value_of(gpu::evaluate(f.stream, e)));
    for (std::size_t i = 0; i < found.size(); ++i)
      REQUIRE(found[i] == static_cast<TestType>(expected(host.x[i], host.y[i])));
  };
  check(x + y, [](auto a, auto b) { return a + b; });
  check(x - y, [](auto a, auto b) { return a - b; });
  check(x * y, [](auto a, auto b) { return a * b; });
  check(-x, [](auto a, auto) { return -a; });
  check(+x, [](auto a, auto) { return a; });
  check(x * 2 + 1 - y * (x - 3), [](auto a, auto b) {
    return static_cast<TestType>(a * 2 + 1) -
           static_cast<TestType>(b * static_cast<TestType>(a - 3));
  });
  check(gpu::where(x <= y, x, y), [](auto a, auto b) { return std::min(a, b); });
  check(gpu::cast<TestType>(x > y), [](auto a, auto b) { return a > b; });
  check(gpu::cast<TestType>(x != y && x >= y), [](auto a, auto b) { return a != b && a >= b; });
  check(gpu::cast<TestType>(x == y || !(x < y)), [](auto a, auto b) { return a == b || !(a < b); });
  if constexpr (std::is_integral_v<TestType>) {
    check(x & y, [](auto a, auto b) { return a & b; });
    check((x | y) ^ 5, [](auto a, auto b) { return (a | b) ^ 5; });
    check(~x, [](auto a, auto) { return ~a; });
    check(x << 2, [](auto a, auto) { return a << 2; });
    check(x >> 1, [](auto a, auto) { return a >> 1; });
    check(x << 100 >> 1, [](auto, auto) { return 0; });
  } else {
    check(x / y, [](auto a, auto b) { return a / b; });
    check(-x % y, [](auto a, auto b) { return std::fmod(-a, b) == 0 ? 0 : std::fmod(-a, b) + b; });
  }
}

namespace unqualified {

using namespace std;
using namespace gpu;

/// Every name without its namespace, on arrays whose elements bring namespace std with them.
auto use_names(gpu::stream_ref stream, gpu::array<std::complex<float>>& z, gpu::array<float>& x) {
  const auto parts =
      real(z + 1) + imag(z + 1) + abs(z) + arg(z) + abs(x) + real(x) + imag(x) + arg(x);
  const auto whole = exp(z) + log(z) + sqrt(z) + sin(z) + cos(z) + sinh(z) + cosh(z) + pow(z, z) +
                     conj(z) + square(z) + reciprocal(z) + sign(z) + minimum(z, z) + rint(z) +
                     where(isnan(z), z, -z);
  const auto values = sin(x) + tan(x) + atan2(x, x) + hypot(x, x) + fmod(x, x) + fmin(x, x) +
                      minimum(x, x) + maximum(x, 1) + clip(x, 0, 1) + fma(x, x, x) +
                      remainder(x, x) + copysign(x, x) + ldexp(x, 2) + floor(x) + round(x) +
                      cbrt(x) + erf(x) + tgamma(x) + lgamma(x) + floor_divide(x, x) + sign(x);
  return assign(stream, x, parts + real(whole) + values + cast<float>(isfinite(x)));
}

}  // namespace unqualified

TEST_CASE("names of functions need no namespace", "[array][operators]") {
  const fixture f;
  auto z = test::value_of(gpu::array<std::complex<float>>::from(f.stream, {{1, 2}, {3, 4}}));
  auto x = test::value_of(gpu::array<float>::from(f.stream, {1, 2}));
  test::value_of(unqualified::use_names(f.stream, z, x));
  CHECK(std::isfinite(f.download(x)[1]));
}

}}  // namespace operators_test
