// Functions of complex numbers, against mpmath and, for zeros, infinities and NaN, against NumPy.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/array.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace complex_functions_test { namespace {

using algorithm_test::fixture;

constexpr const char* reference =
#include "array/complex_reference.inc"
    ;

/// Returns the words of a line of the reference.
std::vector<std::string> words_of(const std::string& name, const std::string& kind) {
  std::istringstream lines(reference);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    if (first != name || second != kind) continue;
    std::vector<std::string> found;
    for (std::string word; words >> word;) found.push_back(word);
    return found;
  }
  FAIL("the reference has no line " << name << ' ' << kind);
  return {};
}

template <class T>
std::vector<std::complex<T>> numbers_of(const std::string& name, const std::string& kind) {
  std::vector<std::complex<T>> made;
  const auto words = words_of(name, kind);
  for (std::size_t k = 0; k + 1 < words.size(); k += 2) {
    const auto number = [](const std::string& word) {  // strtod knows no "-nan" of Python
      return static_cast<T>(std::strtod(word.c_str(), nullptr));
    };
    made.emplace_back(number(words[k]), number(words[k + 1]));
  }
  return made;
}

/// Returns the sum of the doubles whose bytes a text is.
long double number_at(std::string_view hex) {
  long double sum = -0.0L;
  for (; !hex.empty(); hex.remove_prefix(16)) {
    unsigned char bytes[8];
    for (std::size_t k = 0; k < 8; ++k) {
      const std::string each(hex.substr(2 * k, 2));
      bytes[k] = static_cast<unsigned char>(std::strtoul(each.c_str(), nullptr, 16));
    }
    double part = 0;
    std::memcpy(&part, bytes, sizeof part);
    sum += part;
  }
  return sum;
}

/// Returns the unit in the last place of a number of type T.
template <class T> long double unit_of(long double number) {
  using limits = std::numeric_limits<T>;
  const int least = limits::min_exponent - limits::digits;
  int exponent = 0;
  std::frexp(std::abs(number), &exponent);
  return std::ldexp(1.0L, number == 0 ? least : std::max(exponent - limits::digits, least));
}

/// Returns the distance of a number from the exact one in these units; 0 if both are infinite.
template <class T> double units_between(T found, long double exact, long double unit) {
  if (std::isinf(exact) || std::isinf(found))
    return static_cast<long double>(found) == exact ? 0 : HUGE_VAL;
  return static_cast<double>(std::abs(static_cast<long double>(found) - exact) / unit);
}

template <class T> constexpr const char* kind_of = sizeof(T) == 4 ? "f4" : "f8";

/// Checks the results of a function. Units are those of the parts, or of the whole number.
template <class T>
void check_near(const std::string& name, const std::vector<std::complex<T>>& found, double units,
                bool of_parts) {
  const auto expected = words_of(name, kind_of<T>);
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (expected[k] == "-") continue;
    const std::size_t middle = expected[k].find(':');
    const std::string_view text = expected[k];
    const long double real = number_at(text.substr(0, middle)),
                      imag = number_at(text.substr(middle + 1));
    const long double whole =
        unit_of<T>(std::isinf(real) || std::isinf(imag) ? std::numeric_limits<T>::max()
                                                        : std::hypot(real, imag));
    const double errors[] = {
        units_between(found[k].real(), real, of_parts ? unit_of<T>(real) : whole),
        units_between(found[k].imag(), imag, of_parts ? unit_of<T>(imag) : whole)};
    CAPTURE(name, k, found[k], real, imag, errors[0], errors[1]);
    CHECK((of_parts ? std::max(errors[0], errors[1]) : std::hypot(errors[0], errors[1])) <= units);
    // The sign of a zero tells the side of a branch cut.
    if (!of_parts) continue;
    CHECK(std::signbit(found[k].real()) == std::signbit(real));
    CHECK(std::signbit(found[k].imag()) == std::signbit(imag));
  }
}

bool is_as_coded(double value, char code) {
  const bool negative = std::signbit(value);
  switch (code) {
    case 'n': return std::isnan(value);
    case 'I': return std::isinf(value);
    case 'i': return std::isinf(value) && !negative;
    case 'j': return std::isinf(value) && negative;
    case 'Z': return value == 0;
    case 'z': return value == 0 && !negative;
    case 'y': return value == 0 && negative;
    case 'f': return std::isfinite(value);
    case 'p': return std::isfinite(value) && value > 0;
    case 'm': return std::isfinite(value) && value < 0;
    default: return false;
  }
}

template <class T>
void check_codes(const std::string& name, const std::vector<std::complex<T>>& found) {
  const std::string codes = words_of(name, "codes").front();
  REQUIRE(codes.size() == 2 * found.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    CAPTURE(name, k, found[k], codes.substr(2 * k, 2));
    CHECK(is_as_coded(static_cast<double>(found[k].real()), codes[2 * k]));
    CHECK(is_as_coded(static_cast<double>(found[k].imag()), codes[2 * k + 1]));
  }
}

/// Evaluates several expressions in one kernel.
template <class T, class... E>
std::vector<std::vector<T>> evaluate_all(const fixture& f, std::size_t n, const E&... e) {
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

/// Checks all functions of one operand on the points of the reference.
template <class T> void check_functions(const fixture& f) {
  auto host = numbers_of<T>("points", kind_of<T>);
  const std::size_t points = host.size();
  const auto special = numbers_of<T>("special", "f8");
  host.insert(host.end(), special.begin(), special.end());
  const auto z = test::value_of(gpu::array<std::complex<T>>::from(f.stream, host));
  const auto check = [&](std::initializer_list<const char*> names, const auto& results) {
    std::size_t k = 0;
    for (const std::string name : names) {
      const auto middle = results[k].begin() + static_cast<std::ptrdiff_t>(points);
      check_near<T>(name, {results[k].begin(), middle}, 8, name != "expm1");
      check_codes<T>(name, {middle, results[k].end()});
      ++k;
    }
  };
  const std::size_t n = host.size();
  check({"exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh"},
        evaluate_all<std::complex<T>>(f, n, gpu::exp(z), gpu::exp2(z), gpu::expm1(z), gpu::sin(z),
                                      gpu::cos(z), gpu::tan(z), gpu::sinh(z), gpu::cosh(z),
                                      gpu::tanh(z)));
  check({"log", "log2", "log10", "log1p", "sqrt", "reciprocal", "sign", "atan", "atanh"},
        evaluate_all<std::complex<T>>(f, n, gpu::log(z), gpu::log2(z), gpu::log10(z), gpu::log1p(z),
                                      gpu::sqrt(z), gpu::reciprocal(z), gpu::sign(z), gpu::atan(z),
                                      gpu::atanh(z)));
  check({"asin", "acos", "asinh", "acosh"},
        evaluate_all<std::complex<T>>(f, n, gpu::asin(z), gpu::acos(z), gpu::asinh(z),
                                      gpu::acosh(z)));
}

TEST_CASE("complex functions of float are near the exact values", "[array][complex]") {
  check_functions<float>(fixture());
}

TEST_CASE("complex functions of double are near the exact values", "[array][complex][thorough]") {
  check_functions<double>(fixture());
}

TEMPLATE_TEST_CASE("complex powers are near the exact values", "[array][complex][thorough]", float,
                   double) {
  const fixture f;
  const auto parts = numbers_of<TestType>("pairs", kind_of<TestType>);
  const auto special = numbers_of<TestType>("special_pairs", "f8");
  std::vector<std::complex<TestType>> bases, exponents;
  for (const auto* each : {&parts, &special}) {
    for (std::size_t k = 0; k < each->size(); k += 2) {
      bases.push_back((*each)[k]);
      exponents.push_back((*each)[k + 1]);
    }
  }
  const auto a = test::value_of(gpu::array<std::complex<TestType>>::from(f.stream, bases));
  const auto b = test::value_of(gpu::array<std::complex<TestType>>::from(f.stream, exponents));
  const auto found = f.download(test::value_of(gpu::evaluate(f.stream, gpu::pow(a, b))));
  const auto middle = found.begin() + static_cast<std::ptrdiff_t>(parts.size() / 2);
  check_near<TestType>("pow", {found.begin(), middle}, 8, false);
  check_codes<TestType>("pow", {middle, found.end()});
}

TEMPLATE_TEST_CASE("complex numbers are compared and rounded part by part", "[array][complex]",
                   float, double) {
  const fixture f;
  using complex = std::complex<TestType>;
  const TestType nan = std::numeric_limits<TestType>::quiet_NaN(),
                 infinity = std::numeric_limits<TestType>::infinity();
  // Pairs with what NumPy's minimum, maximum, fmin and fmax of them are.
  const complex table[][6] = {
      {{1, 2}, {1, 3}, {1, 2}, {1, 3}, {1, 2}, {1, 3}},
      {{2, -5}, {1, 9}, {1, 9}, {2, -5}, {1, 9}, {2, -5}},
      {{-infinity, 0},
       {0, -infinity},
       {-infinity, 0},
       {0, -infinity},
       {-infinity, 0},
       {0, -infinity}},
      {{nan, 1}, {2, 3}, {nan, 1}, {nan, 1}, {2, 3}, {2, 3}},
      {{2, 3}, {5, nan}, {5, nan}, {5, nan}, {2, 3}, {2, 3}},
      {{1, nan}, {nan, 2}, {1, nan}, {1, nan}, {1, nan}, {1, nan}},
      {{0.5, -1.5}, {0.5, -1.5}, {0.5, -1.5}, {0.5, -1.5}, {0.5, -1.5}, {0.5, -1.5}}};
  std::vector<complex> left, right;
  for (const auto& row : table) {
    left.push_back(row[0]);
    right.push_back(row[1]);
  }
  const std::size_t n = left.size();
  const auto x = test::value_of(gpu::array<complex>::from(f.stream, left));
  const auto y = test::value_of(gpu::array<complex>::from(f.stream, right));
  const auto found =
      evaluate_all<complex>(f, n, gpu::minimum(x, y), gpu::maximum(x, y), gpu::fmin(x, y),
                            gpu::fmax(x, y), gpu::rint(x), gpu::clip(x, 0, complex(1, 2)));
  const auto same = [](complex a, complex b) {
    const auto part = [](TestType p, TestType q) {
      return p == q || (std::isnan(p) && std::isnan(q));
    };
    return part(a.real(), b.real()) && part(a.imag(), b.imag());
  };
  for (std::size_t i = 0; i < n; ++i) {
    CAPTURE(i);
    for (std::size_t k = 0; k < 4; ++k) CHECK(same(found[k][i], table[i][2 + k]));
    CHECK(same(found[4][i], {std::rint(left[i].real()), std::rint(left[i].imag())}));
  }
  CHECK(found[5][1] == complex(1, 2));
  CHECK(found[5][2] == complex(0));
  CHECK(std::isnan(found[5][3].real()));
  const auto answers =
      evaluate_all<unsigned char>(f, n, gpu::isnan(y), gpu::isinf(y), gpu::isfinite(y));
  CHECK(answers[0] == std::vector<unsigned char>{0, 0, 0, 0, 1, 1, 0});
  CHECK(answers[1] == std::vector<unsigned char>{0, 0, 1, 0, 0, 0, 0});
  CHECK(answers[2] == std::vector<unsigned char>{1, 1, 0, 1, 0, 0, 1});
}

TEST_CASE("real numbers have a real part, an imaginary part and an angle", "[array][complex]") {
  const fixture f;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> host{1.5f, -2, 0, -0.0f, nan};
  auto x = test::value_of(gpu::array<float>::from(f.stream, host));
  STATIC_REQUIRE(std::is_same_v<decltype(gpu::real(x)), gpu::array_view<float>>);
  test::value_of(gpu::assign(f.stream, gpu::real(x)(0), 2.5f));
  CHECK(f.download(x)[0] == 2.5f);
  const auto found = evaluate_all<float>(f, 5, gpu::imag(x), gpu::imag(x + 1), gpu::arg(x),
                                         gpu::conj(x), gpu::real(2 * x));
  const float pi = 3.14159265f;
  CHECK(found[0] == std::vector<float>(5, 0));
  CHECK(found[1] == std::vector<float>(5, 0));
  CHECK(std::vector<float>(found[2].begin(), found[2].begin() + 4) ==
        std::vector<float>{0, pi, 0, pi});
  CHECK(std::isnan(found[2][4]));
  CHECK(found[3][1] == -2);
  CHECK(found[4][1] == -4);
  const auto n = test::value_of(gpu::array<int>::from(f.stream, {3, -4, 0}));
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, gpu::imag(n)))) == std::vector<int>(3));
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, gpu::arg(n)))) ==
        std::vector<double>{0, 3.141592653589793, 0});
  CHECK(test::value_of(gpu::item(f.stream, gpu::all_of(gpu::imag(n) == 0))));  // NumPy's isreal
}

TEST_CASE("snippets call functions of complex numbers by their names", "[array][complex]") {
  const fixture f;
  using complex = std::complex<float>;
  const std::vector<complex> host{{1, 2}, {-0.5f, 0.25f}, {3, -4}};
  const auto z = test::value_of(gpu::array<complex>::from(f.stream, host));
  auto out = test::value_of(gpu::empty<complex>(f.stream, gpu::shape{3}));
  auto kernel = test::value_of(gpu::elementwise<const complex*, complex*>::create(
      "z, out", "out[i] = pow (z[i], 2) + TAN(z[i]) * asinh(z[i]) - maximum(z[i], rint(z[i]));",
      {.preamble = "#define TAN tan"}));
  test::value_of(kernel(f.stream, z, out));
  const auto by_formula = test::value_of(
      gpu::evaluate(f.stream, gpu::formula<complex>("isfinite(a) ? atan(a) : a", z)));
  const auto found = f.download(out), arcs = f.download(by_formula);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::complex<double> a = host[i], whole(std::rint(a.real()), std::rint(a.imag()));
    const bool is_less =
        a.real() < whole.real() || (a.real() == whole.real() && a.imag() < whole.imag());
    const auto expected = a * a + std::tan(a) * std::asinh(a) - (is_less ? whole : a);
    CHECK(std::abs(std::complex<double>(found[i]) - expected) <= 1e-5 * std::abs(expected));
    CHECK(std::abs(std::complex<double>(arcs[i]) - std::atan(a)) <= 1e-6);
  }
}

}}  // namespace complex_functions_test
