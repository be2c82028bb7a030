// Euclidean norms against sums in long double on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/norm.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

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

namespace norm_test {

using algorithm_test::fixture;

template <class T> long double norm_of(const std::vector<T>& host, std::size_t count) {
  long double sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += static_cast<long double>(host[i]) * static_cast<long double>(host[i]);
  return std::sqrt(sum);
}

bool close(double found, long double expected) {
  return std::fabs(found - static_cast<double>(expected)) <=
         1e-15 * static_cast<double>(expected) * 4;
}

TEMPLATE_TEST_CASE("norms of every type and size", "[algorithm][norm]", std::int8_t, std::uint16_t,
                   std::int32_t, std::int64_t, float, double) {
  const fixture f;
  std::vector<TestType> host(1025);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<TestType>(i * 7919 % 113);
  auto x = f.upload(host);
  for (const std::size_t count : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u}) {
    CAPTURE(count);
    const auto found = test::value_of(gpu::norm(f.stream, x.span().first(count)));
    const long double expected = norm_of(host, count);
    if (std::is_same_v<TestType, float>) {
      CHECK(static_cast<float>(found) == static_cast<float>(expected));
    } else {
      CHECK(close(static_cast<double>(found), expected));
    }
  }
}

TEST_CASE("squares of a norm do not overflow or vanish", "[algorithm][norm]") {
  const fixture f;
  for (const auto& host : std::vector<std::vector<double>>{{3e200, 4e200},
                                                           {3e-200, 4e-200},
                                                           {3e200, 4e-200, 1},
                                                           {1e-170, 1e-160, 1e-150},
                                                           {1e145, 1e147, 1e150},
                                                           {5e-324, 5e-324, 5e-324},
                                                           std::vector<double>(5000, 1e306),
                                                           std::vector<double>(5000, -2e-310),
                                                           {1.0, 1e-160, 2.0}}) {
    long double scale = 0, sum = 0;
    for (const double each : host)
      scale = std::max(scale, std::fabs(static_cast<long double>(each)));
    for (const double each : host) sum += (each / scale) * (each / scale);
    const long double expected = scale * std::sqrt(sum);
    CAPTURE(host.size(), host[0]);
    const double found = test::value_of(gpu::norm(f.stream, f.upload(host)));
    CHECK((close(found, expected) || std::fabs(found - static_cast<double>(expected)) < 1e-323));
  }
  const auto floats = f.upload(std::vector<float>{3e38f, 1e38f, 1e-45f});
  CHECK(test::value_of(gpu::norm(f.stream, floats)) ==
        static_cast<float>(std::hypot(double{3e38f}, double{1e38f})));
  const auto tiny = f.upload(std::vector<float>(10'000, 1e-40f));
  CHECK(test::value_of(gpu::norm(f.stream, tiny)) == static_cast<float>(100.0 * 1e-40f));
}

TEST_CASE("norms of what is not finite", "[algorithm][norm]") {
  const fixture f;
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(test::value_of(gpu::norm(f.stream, f.upload(std::vector{1.0, -infinity, 1e-300}))) ==
        infinity);
  for (const double other : {1.0, 1e300, 1e-300, infinity, 0.0}) {
    CAPTURE(other);
    CHECK(std::isnan(test::value_of(gpu::norm(f.stream, f.upload(std::vector{other, nan})))));
  }
}

TEST_CASE("norms have types that hold them", "[algorithm][norm]") {
  const fixture f;
  const auto complex_numbers = f.upload(std::vector<std::complex<float>>{{1, 2}, {3, -4}});
  const auto doubles = f.upload(std::vector<std::complex<double>>{{3e200, 0}, {0, 4e200}});
  const auto halves = f.upload(std::vector<__half>(10'000, __float2half(1000.0f)));
  const auto of_complex = test::value_of(gpu::norm(f.stream, complex_numbers));
  const auto of_halves = test::value_of(gpu::norm(f.stream, halves));
  static_assert(std::is_same_v<decltype(of_complex), const float>);
  static_assert(std::is_same_v<decltype(of_halves), const float>);
  CHECK(of_complex == std::sqrt(30.0f));
  CHECK(close(test::value_of(gpu::norm(f.stream, doubles)), 5e200L));
  CHECK(of_halves == 1e5f);
  CHECK(test::value_of(gpu::norm<double>(f.stream, complex_numbers)) == std::sqrt(30.0));
}

TEST_CASE("norms of rows, in every layout and in a graph", "[algorithm][norm]") {
  const fixture f;
  const std::size_t rows = 20, columns = 300;
  std::vector<float> host(rows * columns);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 23) - 5;
  auto x = f.upload(host), found = f.make<float>(rows), again = f.make<float>(rows);
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::norm(f.stream, x, found));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  std::vector<float> expected(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += host[r * columns + c] * host[r * columns + c];
    expected[r] = static_cast<float>(std::sqrt(sum));
  }
  CHECK(f.download(found) == expected);
  std::vector<float> turned(host.size());
  for (std::size_t i = 0; i < host.size(); ++i) turned[i % columns * rows + i / columns] = host[i];
  auto y = f.upload(turned);
  test::value_of(gpu::norm(
      f.stream,
      gpu::array_view<const float, 2>::from_native(y.span().native(), {rows, columns}, {1, rows}),
      again));
  CHECK(f.download(again) == expected);
}

TEST_CASE("norms refuse what does not fit", "[algorithm][norm]") {
  const fixture f;
  auto x = f.upload(std::vector<float>(10)), results = f.make<float>(3);
  CHECK(test::says(test::error_of(gpu::norm(f.stream, x, results)), "gpu::norm",
                   "10 elements cannot be divided into 3 segments"));
  CHECK(test::says(test::error_of(gpu::norm(f.stream, x, x.span().first(1))), "overlap"));
  const auto moved = std::move(x);
  CHECK(test::error_of(gpu::norm(f.stream, x)) == gpu::errc::empty_handle);
}

TEST_CASE("each call of a norm may fail", "[algorithm][norm][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<float>::create(stream, 20'000));
    GPU_TRY(gpu::fill(stream, x, 1.0f));
    GPU_TRY(gpu::norm(stream, x));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large norms", "[algorithm][norm][hardware]") {
  const fixture f;
  for (const std::size_t count : {(std::size_t{1} << 24) + 5, (std::size_t{1} << 32) + 3}) {
    CAPTURE(count);
    auto x = f.make<std::uint8_t>(count);
    test::value_of(gpu::fill(f.stream, x, std::uint8_t{2}));
    CHECK(test::value_of(gpu::norm(f.stream, x)) == std::sqrt(4.0 * static_cast<double>(count)));
  }
}

}  // namespace norm_test
