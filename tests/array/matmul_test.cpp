// Products of matrices, against NumPy and against sums in a larger type on the host.

#include "array/array_fixture.hpp"

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/matmul.hpp>
#include <gpu/array/view_shape.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

namespace matmul_test { namespace {

using namespace array_test;

TEST_CASE("matrix products are those of NumPy", "[array][matmul]") {
  const operands f;
#include "array/matmul_reference.inc"
}

template <class T> T number(std::mt19937& random) {
  const auto real = [&] {
    return static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 512;
  };
  if constexpr (requires { typename T::value_type; }) {
    using part = typename T::value_type;
    return T(static_cast<part>(real()), static_cast<part>(real()));
  } else {
    return static_cast<T>(real());
  }
}

template <class T> struct larger {
  using type = long double;
};
template <class T> struct larger<std::complex<T>> {
  using type = std::complex<long double>;
};
template <class T> typename larger<T>::type enlarge(const T& x) {
  if constexpr (requires { x.real(); }) {
    return {x.real(), x.imag()};
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<long double>(static_cast<float>(x));
  } else {
    return x;
  }
}

/// Multiplies on the host and on the device, and checks the error that the documentation states.
template <class T>
void check_product(const fixture& f, std::size_t m, std::size_t n, std::size_t k, double unit,
                   double final_unit = 0) {
  std::mt19937 random(static_cast<unsigned>(m * 100 + n * 10 + k));
  std::vector<T> host_a(m * k), host_b(k * n);
  for (T& each : host_a) each = number<T>(random);
  for (T& each : host_b) each = number<T>(random);
  const auto a = test::value_of(gpu::array<T, 2>::from(f.stream, host_a, {m, k}));
  const auto b = test::value_of(gpu::array<T, 2>::from(f.stream, host_b, {k, n}));
  const auto turned_a = test::value_of(gpu::evaluate(f.stream, gpu::transpose(a)));
  const auto found = f.download(test::value_of(gpu::matmul(f.stream, a, b)));
  const auto again = f.download(test::value_of(gpu::matmul(f.stream, gpu::transpose(turned_a), b)));
  const double bound = static_cast<double>(k) * unit / (1 - static_cast<double>(k) * unit);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      typename larger<T>::type sum{};
      long double absolute = 0;
      for (std::size_t p = 0; p < k; ++p) {
        const auto x = enlarge(host_a[i * k + p]), y = enlarge(host_b[p * n + j]);
        sum += x * y;
        absolute += std::abs(x) * std::abs(y);
      }
      const long double error = std::abs(enlarge(found[i * n + j]) - sum);
      CAPTURE(m, n, k, i, j);
      REQUIRE(error <= bound * absolute + (std::abs(sum) + bound * absolute) * final_unit);
      REQUIRE(std::memcmp(&found[i * n + j], &again[i * n + j], sizeof(T)) == 0);
    }
  }
}

TEST_CASE("matrix products are as accurate as stated", "[array][matmul]") {
  const fixture f;
  const double single = std::ldexp(1.0, -24), twice = std::ldexp(1.0, -53);
  check_product<float>(f, 33, 65, 40, single);
  check_product<double>(f, 35, 34, 17, twice);
  check_product<std::complex<float>>(f, 5, 33, 18, 2 * single);
  check_product<std::complex<double>>(f, 17, 3, 33, 2 * twice);
  check_product<__half>(f, 9, 33, 20, single, std::ldexp(1.0, -11));
  check_product<__nv_bfloat16>(f, 9, 33, 20, single, std::ldexp(1.0, -8));
}

TEST_CASE("large tiles give the bits of small ones", "[array][matmul]") {
  const fixture f;
  // 97 matrices, each of which is one large tile; by itself each is multiplied with small ones.
  constexpr std::size_t count = 97, m = 17, n = 18, k = 19;
  std::mt19937 random(7);
  std::vector<float> host(count * m * k), host_b(k * n);
  for (float& each : host) each = number<float>(random);
  for (float& each : host_b) each = number<float>(random);
  const auto a = test::value_of(gpu::array<float, 3>::from(f.stream, host, {count, m, k}));
  const auto b = test::value_of(gpu::array<float, 2>::from(f.stream, host_b, {k, n}));
  const auto all = f.download(test::value_of(gpu::matmul(f.stream, a, b)));
  for (const std::size_t each : {0u, 50u, 96u}) {
    const auto one = f.download(test::value_of(gpu::matmul(f.stream, a(each), b)));
    CHECK(std::memcmp(one.data(), all.data() + each * m * n, m * n * sizeof(float)) == 0);
    for (std::size_t i = 0; i < m * n; ++i) {
      float sum = 0;
      for (std::size_t p = 0; p < k; ++p)
        sum = std::fma(host[each * m * k + i / n * k + p], host_b[p * n + i % n], sum);
      REQUIRE(one[i] == sum);
    }
  }
}

/// Multiplies large matrices, and compares some elements with the sum on the host bit by bit.
void check_some(const fixture& f, std::size_t m, std::size_t n, std::size_t k) {
  std::mt19937 random(11);
  std::vector<double> host_a(m * k), host_b(k * n);
  for (double& each : host_a) each = number<double>(random);
  for (double& each : host_b) each = number<double>(random);
  const auto a = test::value_of(gpu::array<double, 2>::from(f.stream, host_a, {m, k}));
  const auto b = test::value_of(gpu::array<double, 2>::from(f.stream, host_b, {k, n}));
  const auto found = f.download(test::value_of(gpu::matmul(f.stream, a, b, {.same_bits = true})));
  for (int each = 0; each < 200; ++each) {
    const std::size_t i = each == 0 ? m - 1 : random() % m, j = each == 0 ? n - 1 : random() % n;
    double sum = 0;
    for (std::size_t p = 0; p < k; ++p) sum = std::fma(host_a[i * k + p], host_b[p * n + j], sum);
    CAPTURE(i, j);
    REQUIRE(found[i * n + j] == sum);
  }
}

TEST_CASE("a product has the bits of the sums on the host", "[array][matmul]") {
  check_some(fixture(), 70, 35, 50);
}

TEST_CASE("large products", "[array][matmul][hardware]") {
  const fixture f;
  check_some(f, 1031, 2053, 777);
  check_some(f, 129, 4099, 3001);
}

TEST_CASE("products are written into memory that is there", "[array][matmul]") {
  const fixture f;
  const auto a = test::value_of(gpu::array<int, 2>::from(f.stream, {{1, 2}, {3, 4}}));
  auto out = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{2, 4}));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::matmul(f.stream, a, a, out(gpu::all(), gpu::slice(1, 4, 2))));
  const auto graph = test::value_of(capture.end());
  CHECK(f.download(out) == std::vector<int>(8));
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(out) == std::vector<int>{0, 7, 0, 10, 0, 15, 0, 22});
  test::value_of(gpu::matmul(f.stream, a, a(0), out(gpu::all(), 0)));
  CHECK(f.download(out)[4] == 11);
  auto apart = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{2, 3, 2}));
  const auto twice = gpu::broadcast_to(a, gpu::shape{2, 2, 2});
  test::value_of(gpu::matmul(f.stream, twice, a(0), apart(gpu::all(), gpu::slice(0, 2), 0)));
  CHECK(f.download(apart) == std::vector<int>{5, 0, 11, 0, 0, 0, 5, 0, 11, 0, 0, 0});
  CHECK(test::says(test::error_of(gpu::matmul(f.stream, a, a, out)), "gpu::matmul",
                   "the product has the shape (2, 2), but out has (2, 4)"));
  auto same = test::value_of(gpu::evaluate(f.stream, a));
  CHECK(test::says(test::error_of(gpu::matmul(f.stream, a, same, same)), "gpu::matmul", "overlap"));
}

TEST_CASE("operands that do not fit are refused by matmul", "[array][matmul]") {
  const operands f;
  CHECK(test::says(test::error_of(gpu::matmul(f.stream, f.a, f.a)), "gpu::matmul",
                   "cannot multiply (2, 3, 4) and (2, 3, 4)", "as many rows"));
  CHECK(test::says(test::error_of(gpu::matmul(f.stream, f.a, f.v)), "(2, 3, 4) and (5,)"));
  CHECK(test::says(test::error_of(gpu::matmul(f.stream, f.v, f.a)), "(5,) and (2, 3, 4)"));
  const auto three = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{3, 4, 1}));
  CHECK(test::says(test::error_of(gpu::matmul(f.stream, f.a, three)),
                   "cannot multiply the batches (2, 3, 4) and (3, 4, 1)"));
  CHECK(test::says(test::error_of(gpu::matmul(f.stream, f.a(2), f.a)), "index 2"));
}

}}  // namespace matmul_test
