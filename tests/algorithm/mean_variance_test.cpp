// Means and variances against two passes in long double on the host, and NumPy's rules for what is
// not finite.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/mean_variance.hpp>
#include <gpu/algorithm/sum.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <cuda_fp16.h>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace mean_variance_test {

using algorithm_test::fixture;

struct moments {
  long double mean = 0, variance = 0;
};
template <class Iterator> moments moments_of(Iterator begin, Iterator end, double correction = 0) {
  moments found;
  const auto count = static_cast<long double>(end - begin);
  for (Iterator each = begin; each != end; ++each) found.mean += static_cast<long double>(*each);
  found.mean /= count;
  for (Iterator each = begin; each != end; ++each) {
    const long double distance = static_cast<long double>(*each) - found.mean;
    found.variance += distance * distance;
  }
  found.variance /= count - static_cast<long double>(correction);
  return found;
}

template <class T> bool close(T found, long double expected, double ulps) {
  const double step = std::numeric_limits<T>::epsilon() * std::fabs(static_cast<double>(expected));
  return std::fabs(static_cast<double>(found) - static_cast<double>(expected)) <= ulps * step;
}

TEMPLATE_TEST_CASE("means and variances of every type and size",
                   "[algorithm][mean_variance][thorough]", std::int8_t, std::uint8_t, std::int16_t,
                   std::int32_t, std::uint64_t, float, double) {
  const fixture f;
  std::vector<TestType> host(1025);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<TestType>(i * 7919 % 119);
  auto x = f.upload(host);
  using type = std::conditional_t<std::is_same_v<TestType, float>, float, double>;
  for (const std::size_t count : {1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u}) {
    CAPTURE(count);
    const auto part = x.span().first(count);
    const auto end = host.begin() + static_cast<std::ptrdiff_t>(count);
    const moments expected = moments_of(host.begin(), end);
    const auto mean = test::value_of(gpu::mean(f.stream, part));
    const auto variance = test::value_of(gpu::variance(f.stream, part));
    const auto both = test::value_of(gpu::mean_variance(f.stream, part));
    static_assert(std::is_same_v<decltype(mean), const type>);
    static_assert(std::is_same_v<decltype(variance), const type>);
    CHECK(close(mean, expected.mean, 4));
    CHECK(close(variance, expected.variance, 16));
    CHECK(both.mean == mean);
    CHECK(both.variance == variance);
    const auto deviation = test::value_of(gpu::standard_deviation(f.stream, part));
    CHECK(close(deviation, std::sqrt(expected.variance), 16));
    if (count == 1) continue;
    const moments sample = moments_of(host.begin(), end, 1);
    CHECK(close(test::value_of(gpu::variance(f.stream, part, {.correction = 1})), sample.variance,
                16));
    CHECK(close(test::value_of(gpu::standard_deviation(f.stream, part, {.correction = 1})),
                std::sqrt(sample.variance), 16));
  }
}

TEST_CASE("a large mean costs a variance no digits", "[algorithm][mean_variance]") {
  const fixture f;
  std::mt19937 random(3);
  std::normal_distribution<double> spread(0, 1);
  for (const std::size_t count : {1000u, 100'003u, (1u << 20) + 1}) {
    std::vector<double> host(count);
    std::vector<float> floats(count);
    for (std::size_t i = 0; i < count; ++i) {
      host[i] = 1e9 + spread(random);
      floats[i] = static_cast<float>(4096 + spread(random));
    }
    CAPTURE(count);
    const moments expected = moments_of(host.begin(), host.end());
    const auto found = test::value_of(gpu::mean_variance(f.stream, f.upload(host)));
    CHECK(close(found.mean, expected.mean, 8));
    // A sum of squares without care has no correct digit here: 1e18 * 1e-16 is 100 times as much.
    CHECK(std::fabs(found.variance / static_cast<double>(expected.variance) - 1) < 1e-8);
    const moments in_floats = moments_of(floats.begin(), floats.end());
    auto y = f.upload(floats);
    CHECK(std::fabs(test::value_of(gpu::variance(f.stream, y)) /
                        static_cast<double>(in_floats.variance) -
                    1) < 1e-5);
    CHECK(std::fabs(test::value_of(gpu::variance<double>(f.stream, y)) /
                        static_cast<double>(in_floats.variance) -
                    1) < 1e-12);
  }
  // Numbers of which the squares overflow a float, with differences whose squares do not.
  std::vector<float> far(5000);
  for (std::size_t i = 0; i < far.size(); ++i) far[i] = i % 2 == 0 ? 1e25f : 1.0001e25f;
  const moments expected = moments_of(far.begin(), far.end());
  CHECK(test::value_of(gpu::variance<double>(f.stream, f.upload(far))) ==
        Approx(static_cast<double>(expected.variance)));
  for (const std::size_t count : {3u, 1000u, 30'000u}) {
    const auto equal = f.upload(std::vector<float>(count, 0.1f));
    CHECK(test::value_of(gpu::variance(f.stream, equal)) < 1e-15f);
  }
}

TEST_CASE("means and variances have the same bits for every layout", "[algorithm][mean_variance]") {
  const fixture f;
  for (const std::size_t count : {999u, 70'001u}) {
    CAPTURE(count);
    std::vector<float> host(count), spread(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
      host[i] = 1.0f / static_cast<float>(1 + i % 1000);
      spread[2 * (count - 1 - i)] = host[i];
    }
    auto x = f.upload(host), moved = f.make<float>(count + 1), wide = f.upload(spread);
    const auto first = test::value_of(gpu::mean_variance(f.stream, x));
    const auto bits = [](float value) { return std::bit_cast<int>(value); };
    CHECK(bits(first.mean) == bits(test::value_of(gpu::mean(f.stream, x))));
    CHECK(bits(first.mean) ==
          bits(test::value_of(gpu::sum(f.stream, x)) / static_cast<float>(count)));
    test::value_of(gpu::copy(x, moved.span().subspan(1)));
    const auto second = test::value_of(gpu::mean_variance(f.stream, moved.span().subspan(1)));
    const auto third = test::value_of(gpu::mean_variance(
        f.stream, gpu::array_view<const float, 1>::from_native(
                      wide.span().native() + 2 * (count - 1) * 4, {count}, {-2})));
    for (const auto& other : {second, third}) {
      CHECK(bits(other.mean) == bits(first.mean));
      CHECK(bits(other.variance) == bits(first.variance));
    }
  }
}

TEST_CASE("means and variances of nothing and of what is not finite",
          "[algorithm][mean_variance]") {
  const fixture f;
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto x = f.upload(std::vector<float>{2});
  CHECK(std::isnan(test::value_of(gpu::mean(f.stream, x.span().first(0)))));
  CHECK(std::isnan(test::value_of(gpu::variance(f.stream, x.span().first(0)))));
  CHECK(test::value_of(gpu::variance(f.stream, x)) == 0);
  CHECK(std::isnan(test::value_of(gpu::variance(f.stream, x, {.correction = 1}))));
  for (const std::size_t count : {1u, 4u, 5u, 3000u}) {
    CAPTURE(count);
    std::vector<float> host(count, 1);
    host[count / 2] = infinity;
    const auto found = test::value_of(gpu::mean_variance(f.stream, f.upload(host)));
    CHECK(found.mean == infinity);
    CHECK(std::isnan(found.variance));
    host[count / 2] = nan;
    const auto other = test::value_of(gpu::mean_variance(f.stream, f.upload(host)));
    CHECK((std::isnan(other.mean) && std::isnan(other.variance)));
  }
}

TEST_CASE("means and variances of complex and of short numbers", "[algorithm][mean_variance]") {
  const fixture f;
  using complex = std::complex<float>;
  std::vector<complex> host;
  std::vector<float> re, im;
  for (int i = 0; i < 3001; ++i) {
    re.push_back(static_cast<float>(i % 13));
    im.push_back(static_cast<float>(i % 7));
    host.emplace_back(re.back(), im.back());
  }
  const moments real = moments_of(re.begin(), re.end()),
                imaginary = moments_of(im.begin(), im.end());
  auto x = f.upload(host);
  const auto found = test::value_of(gpu::mean_variance(f.stream, x));
  CHECK(close(found.mean.real(), real.mean, 4));
  CHECK(close(found.mean.imag(), imaginary.mean, 4));
  CHECK(close(found.variance, real.variance + imaginary.variance, 16));
  CHECK(test::value_of(gpu::mean(f.stream, x)) == found.mean);
  CHECK(test::value_of(gpu::variance(f.stream, x)) == found.variance);

  const auto halves = f.upload(std::vector<__half>(100'000, __float2half(3.0f)));
  const auto of_halves = test::value_of(gpu::mean(f.stream, halves));
  static_assert(std::is_same_v<decltype(of_halves), const float>);
  CHECK(of_halves == 3);
  CHECK(__half2float(test::value_of(gpu::mean<__half>(f.stream, halves))) == 3);
  CHECK(__half2float(test::value_of(gpu::variance<__half>(f.stream, halves))) == 0);
}

TEST_CASE("means and variances of rows, in one pass and in a graph", "[algorithm][mean_variance]") {
  const fixture f;
  for (const auto& [rows, columns] :
       {std::pair<std::size_t, std::size_t>{40, 37}, {3, 5000}, {2, 40'000}}) {
    CAPTURE(rows, columns);
    std::vector<float> host(rows * columns);
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i * 7919 % 1009);
    auto x = f.upload(host), table = f.make<float>(2 * rows), means = f.make<float>(rows);
    auto variances = f.make<double>(rows), deviations = f.make<double>(rows);
    const auto left = gpu::array_view<float, 1>::from_native(table.span().native(), {rows}, {2});
    const auto right =
        gpu::array_view<float, 1>::from_native(table.span().native() + 4, {rows}, {2});
    auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
    test::value_of(gpu::mean_variance(f.stream, x, left, right, {.correction = 1}));
    test::value_of(gpu::mean(f.stream, x, means));
    test::value_of(gpu::variance(f.stream, x, variances, {.correction = 1}));
    test::value_of(gpu::standard_deviation(f.stream, x, deviations));
    const auto graph = test::value_of(capture.end());
    const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
    test::value_of(gpu::launch(f.stream, executable));
    test::value_of(f.stream.synchronize());
    const auto both = f.download(table), only_means = f.download(means);
    const auto only_variances = f.download(variances), only_deviations = f.download(deviations);
    for (std::size_t r = 0; r < rows; ++r) {
      const auto begin = host.begin() + static_cast<std::ptrdiff_t>(r * columns);
      const auto end = begin + static_cast<std::ptrdiff_t>(columns);
      const moments sample = moments_of(begin, end, 1), own = moments_of(begin, end);
      CHECK(close(both[2 * r], own.mean, 8));
      CHECK(both[2 * r] == only_means[r]);
      CHECK(close(both[2 * r + 1], sample.variance, 16));
      CHECK(close(only_variances[r], sample.variance, 16));
      CHECK(close(only_deviations[r], std::sqrt(own.variance), 16));
    }
  }
}

TEST_CASE("means and variances refuse what does not fit", "[algorithm][mean_variance]") {
  const fixture f;
  auto x = f.upload(std::vector<float>(10)), results = f.make<float>(6);
  CHECK(test::says(test::error_of(gpu::mean(f.stream, x, results)), "gpu::mean",
                   "10 elements cannot be divided into 6 segments"));
  CHECK(test::says(test::error_of(gpu::variance(f.stream, x, x.span().first(1))), "gpu::variance",
                   "out and x overlap"));
  CHECK(test::says(test::error_of(gpu::mean_variance(f.stream, x, results.span().first(2),
                                                     results.span().last(5))),
                   "gpu::mean_variance", "means has 2 elements, but variances has 5"));
  const auto moved = std::move(x);
  CHECK(test::error_of(gpu::standard_deviation(f.stream, x)) == gpu::errc::empty_handle);
}

TEST_CASE("each call of a variance may fail", "[algorithm][mean_variance][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<float>::create(stream, 20'000));
    auto y = GPU_TRY(gpu::device_buffer<float>::create(stream, 2));
    GPU_TRY(gpu::fill(stream, x, 1.0f));
    GPU_TRY(gpu::mean_variance(stream, x, y.span().first(1), y.span().last(1)));
    GPU_TRY(gpu::mean_variance(stream, x));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large means and variances", "[algorithm][mean_variance][hardware]") {
  const fixture f;
  for (const std::size_t count : {(std::size_t{1} << 24) + 5, (std::size_t{1} << 32) + 3}) {
    CAPTURE(count);
    auto x = f.make<std::uint8_t>(count);
    test::value_of(gpu::fill(f.stream, x, std::uint8_t{2}));
    test::value_of(gpu::fill(f.stream, x.span().first(1 << 20), std::uint8_t{6}));
    const long double part = static_cast<long double>(1 << 20) / static_cast<long double>(count);
    const auto found = test::value_of(gpu::mean_variance(f.stream, x));
    CHECK(found.mean == Approx(static_cast<double>(2 + 4 * part)).epsilon(1e-14));
    CHECK(found.variance == Approx(static_cast<double>(16 * part * (1 - part))).epsilon(1e-12));
  }
}

}  // namespace mean_variance_test
