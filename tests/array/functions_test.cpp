// Functions of arrays, against those of the host in double and long double.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace functions_test { namespace {

using algorithm_test::fixture;

/// Checks that values are those of a function of the host, but for some units in the last place.
template <class T, class Host>
void check_near(const char* name, const std::vector<T>& found, const std::vector<T>& x, Host host,
                double units = 6) {
  using wide = std::conditional_t<sizeof(T) == 4, double, long double>;
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO(name << '(' << x[i] << ')');
    const wide exact = host(static_cast<wide>(x[i]));
    const T expected = static_cast<T>(exact);
    if (std::isnan(expected)) {
      CHECK(std::isnan(found[i]));
    } else if (std::isinf(expected)) {
      CHECK(found[i] == expected);
    } else {
      const wide unit = static_cast<wide>(std::numeric_limits<T>::epsilon()) *
                        std::max(std::abs(exact), static_cast<wide>(std::numeric_limits<T>::min()));
      CHECK(std::abs(static_cast<wide>(found[i]) - exact) <= static_cast<wide>(units) * unit);
    }
  }
}

/// Evaluates several expressions in one kernel.
template <class T, class... E> auto evaluate_all(const fixture& f, std::size_t n, const E&... e) {
  auto made = test::value_of(gpu::empty<T>(f.stream, gpu::shape{sizeof...(E), n}));
  const auto run = [&]<std::size_t... K>(std::index_sequence<K...>) {
    return gpu::assign_all(f.stream, gpu::into(made(K), e)...);
  };
  test::value_of(run(std::index_sequence_for<E...>()));
  const auto all = f.download(made);
  std::vector<std::vector<T>> found;
  for (std::size_t k = 0; k < sizeof...(E); ++k) {
    const auto start = all.begin() + static_cast<std::ptrdiff_t>(k * n);
    found.emplace_back(start, start + static_cast<std::ptrdiff_t>(n));
  }
  return found;
}

TEMPLATE_TEST_CASE("functions are those of the host", "[array][functions]", float, double) {
  const fixture f;
  using limits = std::numeric_limits<TestType>;
  const std::vector<TestType> host{0,
                                   TestType(-0.0),
                                   TestType(0.5),
                                   TestType(-0.75),
                                   1,
                                   TestType(1.5),
                                   TestType(2.5),
                                   TestType(-3.25),
                                   10,
                                   TestType(1e-3),
                                   limits::infinity(),
                                   -limits::infinity(),
                                   limits::quiet_NaN()};
  const auto x = test::value_of(gpu::array<TestType>::from(f.stream, host));
  auto found = evaluate_all<TestType>(
      f, host.size(), gpu::sin(x), gpu::cos(x), gpu::tan(x), gpu::asin(x), gpu::acos(x),
      gpu::atan(x), gpu::sinh(x), gpu::cosh(x), gpu::tanh(x), gpu::asinh(x), gpu::acosh(x),
      gpu::atanh(x), gpu::exp(x), gpu::exp2(x), gpu::exp10(x), gpu::expm1(x));
  check_near("sin", found[0], host, [](auto a) { return std::sin(a); });
  check_near("cos", found[1], host, [](auto a) { return std::cos(a); });
  check_near("tan", found[2], host, [](auto a) { return std::tan(a); });
  check_near("asin", found[3], host, [](auto a) { return std::asin(a); });
  check_near("acos", found[4], host, [](auto a) { return std::acos(a); });
  check_near("atan", found[5], host, [](auto a) { return std::atan(a); });
  check_near("sinh", found[6], host, [](auto a) { return std::sinh(a); });
  check_near("cosh", found[7], host, [](auto a) { return std::cosh(a); });
  check_near("tanh", found[8], host, [](auto a) { return std::tanh(a); });
  check_near("asinh", found[9], host, [](auto a) { return std::asinh(a); });
  check_near("acosh", found[10], host, [](auto a) { return std::acosh(a); });
  check_near("atanh", found[11], host, [](auto a) { return std::atanh(a); });
  check_near("exp", found[12], host, [](auto a) { return std::exp(a); });
  check_near("exp2", found[13], host, [](auto a) { return std::exp2(a); });
  check_near("exp10", found[14], host, [](auto a) { return std::pow(decltype(a)(10), a); });
  check_near("expm1", found[15], host, [](auto a) { return std::expm1(a); });
  found = evaluate_all<TestType>(f, host.size(), gpu::log(x), gpu::log2(x), gpu::log10(x),
                                 gpu::log1p(x), gpu::sqrt(x), gpu::rsqrt(x), gpu::cbrt(x),
                                 gpu::erf(x), gpu::erfc(x), gpu::tgamma(x), gpu::lgamma(x),
                                 gpu::fabs(x), gpu::reciprocal(x), gpu::square(x));
  check_near("log", found[0], host, [](auto a) { return std::log(a); });
  check_near("log2", found[1], host, [](auto a) { return std::log2(a); });
  check_near("log10", found[2], host, [](auto a) { return std::log10(a); });
  check_near("log1p", found[3], host, [](auto a) { return std::log1p(a); });
  check_near("sqrt", found[4], host, [](auto a) { return std::sqrt(a); }, 0.5);
  check_near("rsqrt", found[5], host, [](auto a) { return 1 / std::sqrt(a); });
  check_near("cbrt", found[6], host, [](auto a) { return std::cbrt(a); });
  check_near("erf", found[7], host, [](auto a) { return std::erf(a); });
  check_near("erfc", found[8], host, [](auto a) { return std::erfc(a); }, 8);
  check_near("lgamma", found[10], host, [](auto a) { return std::lgamma(a); }, 8);
  check_near("fabs", found[11], host, [](auto a) { return std::fabs(a); }, 0);
  check_near("reciprocal", found[12], host, [](auto a) { return 1 / a; }, 1);
  check_near("square", found[13], host, [](auto a) { return a * a; }, 1);
  for (std::size_t i = 2; i < 10; ++i) {  // zeros and infinities are poles
    if (host[i] < 0) continue;
    CHECK(found[9][i] == Approx(std::tgamma(static_cast<double>(host[i]))).epsilon(1e-5));
  }
}

TEMPLATE_TEST_CASE("functions that round are exact", "[array][functions]", float, double) {
  const fixture f;
  using limits = std::numeric_limits<TestType>;
  const std::vector<TestType> host{0,
                                   TestType(-0.0),
                                   TestType(0.5),
                                   TestType(1.5),
                                   2.5,
                                   TestType(-0.5),
                                   TestType(-2.5),
                                   TestType(7.75),
                                   limits::infinity()};
  const std::vector<TestType> other{3, -1, TestType(0.5), TestType(-0.75), 2, 0, 4, -3, 2};
  const auto x = test::value_of(gpu::array<TestType>::from(f.stream, host));
  const auto y = test::value_of(gpu::array<TestType>::from(f.stream, other));
  const auto found = evaluate_all<TestType>(
      f, host.size(), gpu::floor(x), gpu::ceil(x), gpu::trunc(x), gpu::rint(x), gpu::round(x),
      gpu::sign(x), gpu::abs(x), gpu::copysign(x, y), gpu::fmod(x, y), gpu::fdim(x, y),
      gpu::nextafter(x, y), gpu::ldexp(x, 3), gpu::minimum(x, y), gpu::maximum(x, y),
      gpu::clip(x, 0, 2), gpu::negative(x));
  for (std::size_t i = 0; i < host.size(); ++i) {
    const TestType a = host[i], b = other[i];
    CAPTURE(a, b);
    CHECK(found[0][i] == std::floor(a));
    CHECK(found[1][i] == std::ceil(a));
    CHECK(found[2][i] == std::trunc(a));
    CHECK(found[3][i] == std::rint(a));
    CHECK(found[4][i] == std::round(a));
    CHECK(found[5][i] == (a > 0 ? 1 : a < 0 ? -1 : 0));
    CHECK(found[6][i] == std::abs(a));
    CHECK(found[7][i] == std::copysign(a, b));
    const TestType rest = std::fmod(a, b);
    CHECK((found[8][i] == rest || (std::isnan(rest) && std::isnan(found[8][i]))));
    CHECK(found[9][i] == std::fdim(a, b));
    CHECK(found[10][i] == std::nextafter(a, b));
    CHECK(found[11][i] == a * 8);
    CHECK(found[12][i] == std::min(a, b));
    CHECK(found[13][i] == std::max(a, b));
    CHECK(found[14][i] == std::clamp(a, TestType(0), TestType(2)));
    CHECK(found[15][i] == -a);
  }
}

TEST_CASE("functions of two operands, and what they ask", "[array][functions]") {
  const fixture f;
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> host{1.5, -2, nan, infinity, -0.0}, other{2, 3, 1, -1, nan};
  const auto x = test::value_of(gpu::array<double>::from(f.stream, host));
  const auto y = test::value_of(gpu::array<double>::from(f.stream, other));
  const auto values = evaluate_all<double>(f, 5, gpu::pow(x, y), gpu::atan2(x, y), gpu::hypot(x, y),
                                           gpu::fmin(x, y), gpu::fmax(x, y), gpu::minimum(x, y));
  const auto answers =
      evaluate_all<unsigned char>(f, 5, gpu::isnan(x), gpu::isinf(x), gpu::isfinite(x),
                                  gpu::signbit(x), x == y, !(x < y), x && y);
  for (std::size_t i = 0; i < 5; ++i) {
    const double a = host[i], b = other[i];
    CAPTURE(a, b);
    const auto same = [](double found, double expected) {
      return std::isnan(expected) ? std::isnan(found)
                                  : found == expected || std::abs(found - expected) < 1e-14;
    };
    CHECK(same(values[0][i], std::pow(a, b)));
    CHECK(same(values[1][i], std::atan2(a, b)));
    CHECK(same(values[2][i], std::hypot(a, b)));
    CHECK(same(values[3][i], std::fmin(a, b)));
    CHECK(same(values[4][i], std::fmax(a, b)));
    CHECK(same(values[5][i], std::isnan(a) || std::isnan(b) ? nan : std::min(a, b)));
    CHECK(answers[0][i] == std::isnan(a));
    CHECK(answers[1][i] == std::isinf(a));
    CHECK(answers[2][i] == std::isfinite(a));
    if (!std::isnan(a)) CHECK(answers[3][i] == std::signbit(a));
    CHECK(answers[4][i] == (a == b));
    CHECK(answers[5][i] == !(a < b));
    CHECK(answers[6][i] == (a != 0 && b != 0));
  }
}

TEMPLATE_TEST_CASE("numbers are taken apart as on the host", "[array][functions]", float, double) {
  const fixture f;
  const std::vector<TestType> host{1, TestType(-0.3), 1000, TestType(-0.0), TestType(1e-30), 2.5};
  const auto x = test::value_of(gpu::array<TestType>::from(f.stream, host));
  auto exponents = test::value_of(gpu::empty<int>(f.stream, gpu::shape{6}));
  auto parts = test::value_of(gpu::empty<TestType>(f.stream, gpu::shape{2, 6}));
  test::value_of(gpu::assign_all(f.stream, gpu::into(exponents, gpu::frexp_exponent(x)),
                                 gpu::into(parts(0), gpu::frexp_significand(x)),
                                 gpu::into(parts(1), gpu::modf_fraction(x))));
  const auto found = f.download(parts);
  const auto powers = f.download(exponents);
  for (std::size_t i = 0; i < host.size(); ++i) {
    int exponent = 0;
    TestType whole = 0;
    CHECK(found[i] == std::frexp(host[i], &exponent));
    CHECK(powers[i] == exponent);
    CHECK(found[6 + i] == std::modf(host[i], &whole));
    CHECK(std::signbit(found[6 + i]) == std::signbit(host[i]));
  }
  const TestType infinity = std::numeric_limits<TestType>::infinity();
  CHECK(test::value_of(gpu::item(f.stream, gpu::modf_fraction(x(0) * infinity))) == 0);
  CHECK(test::value_of(gpu::item(f.stream, gpu::frexp_exponent(x(0) * infinity))) == 0);
}

TEST_CASE("integers divide as in Python", "[array][functions]") {
  const fixture f;
  const std::vector<int> host{7, -7, 7, -7, 5, INT32_MIN, INT32_MIN, 0};
  const std::vector<int> other{2, 2, -2, -2, 0, -1, 10, -3};
  const auto x = test::value_of(gpu::array<int>::from(f.stream, host));
  const auto y = test::value_of(gpu::array<int>::from(f.stream, other));
  const auto found =
      evaluate_all<int>(f, host.size(), gpu::floor_divide(x, y), gpu::remainder(x, y));
  CHECK(found[0] == std::vector<int>{3, -4, -4, 3, 0, INT32_MIN, INT32_MIN / 10 - 1, 0});
  CHECK(found[1] == std::vector<int>{1, 1, -1, -1, 0, 0, 2, 0});
  const auto exact = f.download(test::value_of(gpu::evaluate(f.stream, gpu::true_divide(x, 2))));
  CHECK(exact ==
        std::vector<double>{3.5, -3.5, 3.5, -3.5, 2.5, INT32_MIN / 2.0, INT32_MIN / 2.0, 0});
}

TEMPLATE_TEST_CASE("the largest unsigned integer divides like any other", "[array][functions]",
                   std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t) {
  const fixture f;
  constexpr TestType most = std::numeric_limits<TestType>::max();
  const std::vector<TestType> host{most, static_cast<TestType>(most - 1), 0, 1, most / 2, most,
                                   200};
  const std::vector<TestType> other{
      most, most, most, most, most, 1, static_cast<TestType>(most - 1)};
  const auto x = test::value_of(gpu::array<TestType>::from(f.stream, host));
  const auto y = test::value_of(gpu::array<TestType>::from(f.stream, other));
  const auto found = evaluate_all<TestType>(f, host.size(), gpu::floor_divide(x, y),
                                            gpu::remainder(x, y), gpu::floor_divide(x, most),
                                            gpu::remainder(x, most), gpu::remainder(most, y));
  for (std::size_t i = 0; i < host.size(); ++i) {
    CAPTURE(i);
    CHECK(found[0][i] == host[i] / other[i]);
    CHECK(found[1][i] == host[i] % other[i]);
    CHECK(found[2][i] == host[i] / most);
    CHECK(found[3][i] == host[i] % most);
    CHECK(found[4][i] == most % other[i]);
  }
}

TEMPLATE_TEST_CASE("ldexp takes every exponent and rounds once", "[array][functions]", float,
                   double) {
  const fixture f;
  const std::vector<std::int64_t> large{INT64_MAX, INT64_MIN, 1LL << 32,   (1LL << 32) + 1,
                                        INT32_MIN, INT32_MAX, -(1LL << 32)};
  const auto exponents = test::value_of(gpu::array<std::int64_t>::from(f.stream, large));
  const auto x = test::value_of(gpu::array<TestType, 2>::from(
      f.stream, {{TestType(-1.5)}, {0}, {std::numeric_limits<TestType>::denorm_min()}}));
  const auto found = f.download(test::value_of(gpu::evaluate(f.stream, gpu::ldexp(x, exponents))));
  const TestType infinity = std::numeric_limits<TestType>::infinity();
  for (std::size_t i = 0; i < large.size(); ++i) {
    CAPTURE(large[i]);
    CHECK(found[i] == (large[i] > 0 ? -infinity : TestType(-0.0)));
    CHECK(std::signbit(found[i]));
    CHECK(found[large.size() + i] == 0);
    CHECK(found[2 * large.size() + i] == (large[i] > 0 ? infinity : 0));
  }
  const auto powers = test::value_of(
      gpu::array<std::uint64_t>::from(f.stream, {0, 3, std::uint64_t{1} << 32, UINT64_MAX}));
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, gpu::ldexp(x(0), powers)))) ==
        std::vector<TestType>{TestType(-1.5), -12, -infinity, -infinity});
  CHECK(test::value_of(gpu::item(f.stream, gpu::ldexp(x(0, 0), 1LL << 32))) == -infinity);
  // Through the subnormal numbers, where bits are rounded away.
  std::vector<int> steps;
  for (int n = -2200; n <= 2200; ++n) steps.push_back(n);
  const std::vector<TestType> numbers{TestType(1) + std::numeric_limits<TestType>::epsilon(),
                                      TestType(1.75),
                                      TestType(-0x1.555554p0),
                                      TestType(0x1.8p-100),
                                      std::numeric_limits<TestType>::max(),
                                      7 * std::numeric_limits<TestType>::denorm_min()};
  const auto each = test::value_of(gpu::array<int>::from(f.stream, steps));
  const auto a = test::value_of(gpu::array<TestType>::from(f.stream, numbers));
  const auto scaled = f.download(
      test::value_of(gpu::evaluate(f.stream, gpu::ldexp(a(gpu::all(), gpu::new_axis()), each))));
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < scaled.size(); ++k) {
    const TestType expected = std::ldexp(numbers[k / steps.size()], steps[k % steps.size()]);
    wrong += scaled[k] == expected ? 0u : 1u;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("functions of complex numbers are those of the host", "[array][functions]",
                   float, double) {
  const fixture f;
  using complex = std::complex<TestType>;
  using wide = std::complex<double>;
  const std::vector<complex> host{{1, 2}, {-0.5, 0.25}, {3, -4}, {0, 1}, {-2, 0}, {0.125, -3}};
  const auto z = test::value_of(gpu::array<complex>::from(f.stream, host));
  const auto found =
      evaluate_all<complex>(f, host.size(), gpu::exp(z), gpu::log(z), gpu::sqrt(z), gpu::sin(z),
                            gpu::cos(z), gpu::sinh(z), gpu::cosh(z), gpu::pow(z, z), gpu::conj(z),
                            z * z - z / complex(2, 1), gpu::reciprocal(z), -z + 1);
  const auto parts = evaluate_all<TestType>(f, host.size(), gpu::abs(z), gpu::arg(z),
                                            gpu::real(z * 1), gpu::imag(z * 1));
  for (std::size_t i = 0; i < host.size(); ++i) {
    const wide a = host[i];
    CAPTURE(a);
    const wide expected[] = {
        std::exp(a),  std::log(a),  std::sqrt(a),   std::sin(a),  std::cos(a),
        std::sinh(a), std::cosh(a), std::pow(a, a), std::conj(a), a * a - a / wide(2, 1),
        1.0 / a,      1.0 - a};
    for (std::size_t k = 0; k < found.size(); ++k) {
      CAPTURE(k);
      const double epsilon = static_cast<double>(std::numeric_limits<TestType>::epsilon());
      CHECK(std::abs(wide(found[k][i]) - expected[k]) <=
            16 * epsilon * (1 + std::abs(expected[k])));
    }
    CHECK(parts[0][i] == Approx(std::abs(a)));
    CHECK(parts[1][i] == Approx(std::arg(a)));
    CHECK(parts[2][i] == host[i].real());
    CHECK(parts[3][i] == host[i].imag());
  }
  const auto answers = evaluate_all<unsigned char>(f, host.size(), gpu::isnan(z), z == z, z != 0);
  CHECK(answers[0] == std::vector<unsigned char>(6, 0));
  CHECK(answers[1] == std::vector<unsigned char>(6, 1));
}

/// Rounds after each operation, as the host's own operators of these types do.
TEMPLATE_TEST_CASE("numbers of 16 bits are rounded after each operation", "[array][functions]",
                   __half, __nv_bfloat16) {
  const fixture f;
  std::vector<TestType> host, other;
  for (int i = 0; i < 200; ++i) {
    host.push_back(TestType(static_cast<float>(i) * 0.37f - 31.4f));
    other.push_back(TestType(static_cast<float>(i * i % 97) * 1.7f + 0.3f));
  }
  const auto x = test::value_of(gpu::array<TestType>::from(f.stream, host));
  const auto y = test::value_of(gpu::array<TestType>::from(f.stream, other));
  const auto found = evaluate_all<TestType>(f, host.size(), x * y + x, x / y - 1, gpu::sqrt(y),
                                            gpu::abs(x) + 0.1, gpu::where(x < y, x, y));
  const auto round = [](float value) { return static_cast<float>(TestType(value)); };
  for (std::size_t i = 0; i < host.size(); ++i) {
    const float a = static_cast<float>(host[i]), b = static_cast<float>(other[i]);
    CAPTURE(i, a, b);
    CHECK(static_cast<float>(found[0][i]) == round(round(a * b) + a));
    CHECK(static_cast<float>(found[1][i]) == round(round(a / b) - 1));
    CHECK(static_cast<float>(found[2][i]) == round(std::sqrt(b)));
    CHECK(static_cast<float>(found[3][i]) == round(std::abs(a) + round(0.1f)));
    CHECK(static_cast<float>(found[4][i]) == (a < b ? a : b));
  }
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, x * 1e39)), "does not fit"));
}

}}  // namespace functions_test
