// Complex numbers and 16-bit floats of generated kernels, against std::complex in double and
// against arithmetic on the bits.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace numbers_test {

// CUDA's own types come with headers that not every machine has.
struct half {
  unsigned short bits;
};
struct bfloat16 {
  unsigned short bits;
};

}  // namespace numbers_test

template <> struct gpu::device_name<numbers_test::half> {
  static constexpr const char value[] = "__half";
};
template <> struct gpu::device_name<numbers_test::bfloat16> {
  static constexpr const char value[] = "__nv_bfloat16";
};

namespace numbers_test {

using algorithm_test::fixture;
using complex = std::complex<float>;
using wide = std::complex<double>;

std::vector<complex> many_numbers(unsigned seed, float largest_exponent) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> mantissa(-1, 1),
      exponent(-largest_exponent, largest_exponent);
  std::vector<complex> made;
  for (int i = 0; i < 2000; ++i) {
    made.emplace_back(mantissa(random) * std::exp2(exponent(random)),
                      mantissa(random) * std::exp2(exponent(random)));
  }
  return made;
}

double relative_error(complex found, wide expected) {
  return std::abs(wide(found) - expected) / std::abs(expected);
}

TEST_CASE("complex arithmetic agrees with double", "[algorithm][numbers]") {
  const fixture f;
  const auto host_a = many_numbers(1, 20), host_b = many_numbers(2, 20);
  auto a = f.upload(host_a), b = f.upload(host_b);
  std::vector<gpu::device_buffer<complex>> out;
  for (int k = 0; k < 4; ++k) out.push_back(f.make<complex>(host_a.size()));
  auto kernel = test::value_of(
      gpu::elementwise<const complex*, const complex*, complex*, complex*, complex*,
                       complex*>::create("a, b, sum, difference, product, quotient",
                                         "sum[i] = a[i] + b[i]; difference[i] = a[i] - b[i];"
                                         "product[i] = a[i] * b[i]; quotient[i] = a[i] / b[i];"));
  test::value_of(kernel(f.stream, a, b, out[0], out[1], out[2], out[3]));
  const auto sum = f.download(out[0]), difference = f.download(out[1]);
  const auto product = f.download(out[2]), quotient = f.download(out[3]);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < host_a.size(); ++i) {
    const complex x = host_a[i], y = host_b[i];
    const wide p = wide(x) * wide(y), q = wide(x) / wide(y);
    wrong += sum[i] != x + y || difference[i] != x - y;
    // Parts may cancel, so the error is measured against the whole number.
    wrong += relative_error(product[i], p) > 3e-7 || relative_error(quotient[i], q) > 6e-7;
  }
  CHECK(wrong == 0);
}

TEST_CASE("complex division overflows only where the quotient does", "[algorithm][numbers]") {
  const fixture f;
  const float big = 1e38f, small = 1e-38f;
  const std::vector<complex> host_a = {{big, big}, {small, small}, {big, 0}, {1, 1}, {1, -2}};
  const std::vector<complex> host_b = {{big, big}, {small, small}, {0, big}, {big, small}, {0, 0}};
  auto a = f.upload(host_a), b = f.upload(host_b), q = f.upload(host_a);
  auto kernel = test::value_of(gpu::elementwise<const complex*, const complex*, complex*>::create(
      "a, b, q", "q[i] = a[i] / b[i]"));
  test::value_of(kernel(f.stream, a, b, q));
  const auto found = f.download(q);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(relative_error(found[i], wide(host_a[i]) / wide(host_b[i])) < 1e-6);
  }
  CHECK(std::isinf(found[4].real()));
  CHECK(std::isinf(found[4].imag()));
}

TEST_CASE("complex functions agree with double", "[algorithm][numbers]") {
  const fixture f;
  const auto host = many_numbers(3, 2);
  auto z = f.upload(host);
  const char* const names[] = {"exp", "log", "sqrt", "sin", "cos", "sinh", "cosh"};
  using function = wide (*)(const wide&);
  const function expected[] = {
      [](const wide& x) { return std::exp(x); },  [](const wide& x) { return std::log(x); },
      [](const wide& x) { return std::sqrt(x); }, [](const wide& x) { return std::sin(x); },
      [](const wide& x) { return std::cos(x); },  [](const wide& x) { return std::sinh(x); },
      [](const wide& x) { return std::cosh(x); }};
  const std::size_t count = std::size(names);
  std::string body;
  for (std::size_t k = 0; k < count; ++k)
    body += "out[i * " + std::to_string(count) + " + " + std::to_string(k) + "] = " + names[k] +
            "(z[i]);\n";
  auto out = f.make<complex>(host.size() * count);
  auto kernel =
      test::value_of(gpu::elementwise<const complex*, gpu::raw<complex*>>::create("z, out", body));
  test::value_of(kernel(f.stream, z, out));
  const auto found = f.download(out);
  for (std::size_t k = 0; k < count; ++k) {
    double worst = 0;
    for (std::size_t i = 0; i < host.size(); ++i) {
      const wide exact = expected[k](host[i]);
      // log is small near 1, where its error is that of the absolute value.
      const double scale = k == 1 ? 1 : std::abs(exact);
      worst = std::max(worst, std::abs(wide(found[i * count + k]) - exact) / scale);
    }
    CAPTURE(names[k]);
    CHECK(worst < 1e-6);
  }
}

float half_value(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const float mantissa = static_cast<float>(bits & 1023);
  const float sign = (bits & 0x8000) != 0 ? -1.f : 1.f;
  if (exponent == 31)
    return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

TEST_CASE("every half becomes the float it stands for, and back", "[algorithm][numbers]") {
  const fixture f;
  std::vector<half> host(65536);
  for (unsigned i = 0; i < 65536; ++i) host[i].bits = static_cast<unsigned short>(i);
  auto h = f.upload(host), back = f.upload(host);
  auto values = f.make<float>(host.size());
  auto kernel = test::value_of(gpu::elementwise<const half*, float*, half*>::create(
      "h, x, back", "x[i] = h[i]; back[i] = gpu::half(x[i] + 0.0f);"));
  test::value_of(kernel(f.stream, h, values, back));
  const auto found = f.download(values);
  const auto returned = f.download(back);
  std::size_t wrong = 0;
  for (unsigned i = 0; i < 65536; ++i) {
    const float expected = half_value(i);
    if (std::isnan(expected)) {
      wrong += !std::isnan(found[i]) || (returned[i].bits & 0x7fff) <= 0x7c00;
    } else {
      wrong += found[i] != expected || (returned[i].bits != i && i != 0x8000);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("floats round to the nearest bfloat16", "[algorithm][numbers]") {
  const fixture f;
  std::mt19937 random(5);
  std::vector<float> host(20000);
  for (float& x : host) x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  host[0] = 1.00390625f;  // between two values: to the even one
  auto x = f.upload(host);
  auto out = f.make<bfloat16>(host.size());
  auto kernel = test::value_of(
      gpu::elementwise<const float*, bfloat16*>::create("x, out", "out[i] = gpu::bfloat16(x[i])"));
  test::value_of(kernel(f.stream, x, out));
  const auto found = f.download(out);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    const float got = std::bit_cast<float>(static_cast<std::uint32_t>(found[i].bits) << 16);
    if (std::isnan(host[i])) {
      wrong += !std::isnan(got);
      continue;
    }
    const std::uint32_t bits = found[i].bits;
    for (const std::uint32_t other : {bits - 1, bits + 1}) {  // neither neighbor is closer
      const float neighbor = std::bit_cast<float>(other << 16);
      if (!std::isfinite(neighbor) || !std::isfinite(got)) continue;
      const double mine = std::fabs(double{got} - host[i]),
                   theirs = std::fabs(double{neighbor} - host[i]);
      wrong += theirs < mine || (theirs == mine && bits % 2 == 1);
    }
  }
  CHECK(found[0].bits == 0x3f80);
  CHECK(wrong == 0);
}

}  // namespace numbers_test
