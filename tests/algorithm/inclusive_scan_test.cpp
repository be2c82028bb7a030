// Running sums and the like against std::inclusive_scan and std::exclusive_scan.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/inclusive_scan.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace inclusive_scan_test {

/// 2 x 2 matrices of integers modulo 2^32: the product is associative and not commutative.
struct matrix {
  std::uint32_t a, b, c, d;
  friend bool operator==(const matrix&, const matrix&) = default;
};
matrix operator*(const matrix& x, const matrix& y) {
  return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
          x.c * y.b + x.d * y.d};
}

}  // namespace inclusive_scan_test

template <> struct gpu::device_name<inclusive_scan_test::matrix> {
  static constexpr const char* value = "matrix";
  static constexpr const char* definition =
      "struct matrix { unsigned a, b, c, d; };\n"
      "inline matrix operator*(const matrix& x, const matrix& y) {\n"
      "  return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,\n"
      "          x.c * y.b + x.d * y.d};\n}";
};

namespace inclusive_scan_test {

using algorithm_test::fixture;

template <class T> std::vector<T> numbers(std::size_t count) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<T>(i * 7919 % 101);
  return made;
}

TEMPLATE_TEST_CASE("running sums are exact for every type", "[algorithm][inclusive_scan]",
                   std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, float, double) {
  const fixture f;
  for (const std::size_t count : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 20'000u}) {
    CAPTURE(count);
    const auto host = numbers<TestType>(count);
    auto x = f.upload(host), y = f.make<TestType>(count);
    // Integers wrap, and sums of floats are exact, so that the order does not matter.
    std::vector<TestType> expected(count);
    const auto plus = [](TestType a, TestType b) { return static_cast<TestType>(a + b); };
    test::value_of(gpu::inclusive_scan(f.stream, x, y));
    std::inclusive_scan(host.begin(), host.end(), expected.begin(), plus);
    CHECK(f.download(y) == expected);
    test::value_of(gpu::exclusive_scan(f.stream, x, y, TestType{5}));
    std::exclusive_scan(host.begin(), host.end(), expected.begin(), TestType{5}, plus);
    CHECK(f.download(y) == expected);
  }
}

TEST_CASE("a running sum is computed in the type of its results", "[algorithm][inclusive_scan]") {
  const fixture f;
  const auto host = numbers<std::uint8_t>(40'000);
  auto x = f.upload(host);
  auto y = f.make<std::int64_t>(host.size());
  std::vector<std::int64_t> expected(host.size());
  test::value_of(gpu::inclusive_scan(f.stream, x.span().subspan(1), y.span().first(39'999)));
  std::inclusive_scan(host.begin() + 1, host.end(), expected.begin(), std::plus<>(),
                      std::int64_t{0});
  auto found = f.download(y);
  found.back() = expected.back();
  CHECK(found == expected);
}

TEST_CASE("a scan takes any associative snippet", "[algorithm][inclusive_scan]") {
  const fixture f;
  std::vector<matrix> host(30'000), expected(host.size());
  for (std::size_t i = 0; i < host.size(); ++i) {
    const auto k = static_cast<std::uint32_t>(i);
    host[i] = {k * 3 + 1, k, 7, k ^ 5};
  }
  auto x = f.upload(host), y = f.make<matrix>(host.size());
  test::value_of(gpu::inclusive_scan(f.stream, x, y, "a * b"));
  std::inclusive_scan(host.begin(), host.end(), expected.begin(), std::multiplies<>());
  CHECK(f.download(y) == expected);
  const matrix initial{1, 2, 3, 4};
  test::value_of(gpu::exclusive_scan(f.stream, x, x, initial, "a * b"));  // in place
  std::exclusive_scan(host.begin(), host.end(), expected.begin(), initial, std::multiplies<>());
  CHECK(f.download(x) == expected);
}

TEST_CASE("different snippets are different kernels", "[algorithm][inclusive_scan]") {
  const fixture f;
  const std::vector<int> host = {3, 1, 4, 1, 5, 9, 2, 6};
  auto x = f.upload(host), y = f.make<int>(host.size());
  test::value_of(gpu::inclusive_scan(f.stream, x, y, "max(a, b)"));
  CHECK(f.download(y) == std::vector{3, 3, 4, 4, 5, 9, 9, 9});
  test::value_of(gpu::inclusive_scan(f.stream, x, y, "min(a, b)"));
  CHECK(f.download(y) == std::vector{3, 1, 1, 1, 1, 1, 1, 1});
  test::value_of(gpu::exclusive_scan(f.stream, x, y, -1, "max(a, b)"));
  CHECK(f.download(y) == std::vector{-1, 3, 3, 4, 4, 5, 9, 9});
  test::value_of(gpu::exclusive_scan(f.stream, x, y));
  CHECK(f.download(y) == std::vector{0, 3, 4, 8, 9, 14, 23, 25});
}

TEST_CASE("complex numbers and views have running sums", "[algorithm][inclusive_scan]") {
  const fixture f;
  using complex = std::complex<float>;
  std::vector<complex> host;
  for (int i = 0; i < 600; ++i)
    host.emplace_back(static_cast<float>(i), static_cast<float>(i % 7 - 3));
  auto x = f.upload(host), y = f.make<complex>(300);
  const auto backwards = gpu::array_view<complex, 1>::from_native(
      x.span().native() + 599 * sizeof(complex), {300}, {-2});
  test::value_of(gpu::inclusive_scan(f.stream, backwards, y));
  const auto found = f.download(y);
  complex total = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    total += host[599 - 2 * i];
    wrong += found[i] != total;
  }
  CHECK(wrong == 0);
}

TEST_CASE("running sums refuse what does not fit", "[algorithm][inclusive_scan]") {
  const fixture f;
  auto x = f.upload(numbers<int>(100)), y = f.make<int>(99);
  const auto sizes = test::error_of(gpu::inclusive_scan(f.stream, x, y));
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "gpu::inclusive_scan", "x has 100 elements", "out has 99"));
  const auto overlap =
      test::error_of(gpu::exclusive_scan(f.stream, x.span().first(50), x.span().subspan(25, 50)));
  CHECK(test::says(overlap, "gpu::exclusive_scan", "out is written and overlaps x"));
  const auto text = test::error_of(gpu::inclusive_scan(f.stream, y, y, "a + * b"));
  CHECK(text == gpu::errc::compile_failed);
  CHECK(test::says(text, "combine:1"));
  const auto moved = std::move(x);
  CHECK(test::error_of(gpu::inclusive_scan(f.stream, x, y)) == gpu::errc::empty_handle);
}

TEST_CASE("a running sum is captured into a graph", "[algorithm][inclusive_scan]") {
  const fixture f;
  const auto host = numbers<int>(40'000);
  auto x = f.upload(host), y = f.make<int>(host.size());
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::inclusive_scan(f.stream, x, y));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(y).back() == std::accumulate(host.begin(), host.end(), 0));
}

TEST_CASE("each call of a running sum may fail", "[algorithm][inclusive_scan][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    GPU_TRY(gpu::fill(stream, x, 1));
    GPU_TRY(gpu::inclusive_scan(stream, x, x));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}  // namespace inclusive_scan_test
