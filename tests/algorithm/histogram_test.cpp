// Histograms against counting on the host, with edges as NumPy computes them.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/histogram.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace histogram_test {

using algorithm_test::fixture;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T> double as_double(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

/// Numbers of all kinds: in range, outside, on the edges of round bins, not finite.
template <class T> std::vector<T> some(std::size_t count, std::size_t seed = 1) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = (i + seed) * 0x9e3779b97f4a7c15;
    if constexpr (std::is_integral_v<T>) {
      made[i] = static_cast<T>(bits >> 17);
      if (sizeof(T) > 1 && i % 3 != 0) made[i] = static_cast<T>(bits >> 40 & 0x7f);
    } else {
      const double fraction = static_cast<double>(bits >> 20) * 0x1p-44;
      made[i] = T(static_cast<float>(fraction * 120 - 10));
      if constexpr (sizeof(T) == 8) made[i] = fraction * 120 - 10;
      if (i % 5 == 0) made[i] = T(static_cast<float>(bits >> 57));
      if (i % 97 == 0) made[i] = T(static_cast<float>(nan));
      if (i % 89 == 0) made[i] = T(static_cast<float>(i % 2 ? infinity : -infinity));
    }
  }
  return made;
}

/// numpy.linspace(low, high, bins + 1)
std::vector<double> even_edges(double low, double high, std::size_t bins) {
  const double width = (high - low) / static_cast<double>(bins);
  std::vector<double> edges(bins + 1);
  for (std::size_t k = 0; k < bins; ++k) {
    const volatile double offset = static_cast<double>(k) * width;  // rounded by itself
    edges[k] = offset + low;
  }
  edges[bins] = high;
  return edges;
}

template <class Count, class T>
std::vector<Count> counted(const std::vector<T>& x, const std::vector<double>& edges) {
  std::vector<Count> counts(edges.size() - 1);
  for (const T& each : x) {
    const double value = as_double(each);
    if (!(value >= edges.front() && value <= edges.back())) continue;
    const auto behind = std::upper_bound(edges.begin(), edges.end(), value) - edges.begin();
    ++counts[std::min(static_cast<std::size_t>(behind), counts.size()) - 1];
  }
  return counts;
}

template <class Count, class T>
void check_even(const fixture& f, const std::vector<T>& host, double low, double high,
                std::size_t bins) {
  CAPTURE(host.size(), low, high, bins);
  const auto x = f.upload(host);
  auto counts = f.upload(std::vector<Count>(bins + 1, Count(77)));
  test::value_of(gpu::histogram(f.stream, x, low, high, counts.span().first(bins)));
  auto expected = counted<Count>(host, even_edges(low, high, bins));
  expected.push_back(77);
  CHECK(f.download(counts) == expected);
}

TEST_CASE("a histogram counts the elements of even bins", "[algorithm][histogram]") {
  const fixture f;
  for (const std::size_t count : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 70'001u}) {
    const auto floats = some<float>(count);
    for (const std::size_t bins : {1u, 2u, 7u, 256u}) {
      check_even<std::uint32_t>(f, floats, 0, 100, bins);
      check_even<std::uint32_t>(f, floats, -1.3, 77.7, bins);
    }
    check_even<std::uint32_t>(f, some<std::uint8_t>(count), 0, 256, 256);
  }
}

TEMPLATE_TEST_CASE("numbers of any type are counted in even bins", "[algorithm][histogram]",
                   std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t, float, double, __half,
                   __nv_bfloat16) {
  const fixture f;
  const auto host = some<TestType>(5003);
  for (const std::size_t bins : {1u, 10u, 100u, 300u, 5000u, 13'000u}) {
    check_even<std::uint64_t>(f, host, 0, 100, bins);
    check_even<std::int32_t>(f, host, -7.25, 100.1, bins);
  }
}

TEST_CASE("the bins of a histogram are exact at their edges", "[algorithm][histogram]") {
  const fixture f;
  for (const auto& [low, high, bins] : {std::tuple{0.1, 0.7, std::size_t{6}},
                                        {1.0, 1.0001, std::size_t{100}},
                                        {-3e38, 3e38, std::size_t{11}},
                                        {1e30, 1e31, std::size_t{37}},
                                        {0.0, 1e-40, std::size_t{9}},
                                        {16'777'216.0, 16'777'300.0, std::size_t{84}},
                                        {1e300, 1e301, std::size_t{4}}}) {
    const auto edges = even_edges(low, high, bins);
    std::vector<double> doubles;
    std::vector<float> floats;
    for (const double edge : edges) {
      for (const double each :
           {edge, std::nextafter(edge, -infinity), std::nextafter(edge, infinity)})
        doubles.push_back(each);
      const auto near = static_cast<float>(edge);
      for (const float each : {near, std::nextafter(near, -1e38f), std::nextafter(near, 1e38f)})
        floats.push_back(each);
    }
    check_even<std::uint32_t>(f, doubles, low, high, bins);
    check_even<std::uint32_t>(f, floats, low, high, bins);
  }
}

TEST_CASE("a histogram takes memory at any address", "[algorithm][histogram]") {
  const fixture f;
  const auto host = some<std::uint16_t>(6000);
  const auto x = f.upload(host);
  for (const std::size_t first : {1u, 3u, 7u, 8u}) {
    for (const std::size_t count : {1u, 5u, 9u, 4096u, 5000u}) {
      CAPTURE(first, count);
      auto counts = f.make<std::uint32_t>(100);
      test::value_of(gpu::histogram(f.stream, x.span().subspan(first, count), 0, 100, counts));
      const auto begin = host.begin() + static_cast<std::ptrdiff_t>(first);
      const std::vector<std::uint16_t> part(begin, begin + static_cast<std::ptrdiff_t>(count));
      CHECK(f.download(counts) == counted<std::uint32_t>(part, even_edges(0, 100, 100)));
    }
  }
}

TEST_CASE("equal elements are counted", "[algorithm][histogram]") {
  const fixture f;
  check_even<std::uint32_t>(f, std::vector<float>(100'000, 3.5f), 0, 10, 10);
  check_even<std::uint64_t>(f, std::vector<std::int8_t>(100'000, -5), -10, 10, 10);
}

template <class T, class Edge>
void check_edges(const fixture& f, const std::vector<T>& host, const std::vector<double>& edges) {
  CAPTURE(host.size(), edges.size());
  std::vector<Edge> typed;
  for (const double each : edges) {
    if constexpr (std::is_arithmetic_v<Edge>) {
      typed.push_back(static_cast<Edge>(each));
    } else {
      typed.push_back(Edge(static_cast<float>(each)));
    }
  }
  std::vector<double> rounded;
  for (const Edge& each : typed) rounded.push_back(as_double(each));
  const auto x = f.upload(host);
  const auto device_edges = f.upload(typed);
  auto counts = f.make<std::uint32_t>(edges.size() - 1);
  test::value_of(gpu::histogram(f.stream, x, device_edges, counts));
  CHECK(f.download(counts) == counted<std::uint32_t>(host, rounded));
}

std::vector<double> uneven_edges(std::size_t bins) {
  std::vector<double> edges;
  for (std::size_t k = 0; k <= bins; ++k)
    edges.push_back(static_cast<double>(k * k) * 100 / static_cast<double>(bins * bins));
  return edges;
}

TEST_CASE("a histogram counts the elements between edges", "[algorithm][histogram]") {
  const fixture f;
  for (const std::size_t count : {0u, 1u, 33u, 1025u, 70'001u}) {
    const auto host = some<float>(count);
    for (const std::size_t bins : {1u, 2u, 100u}) {
      check_edges<float, float>(f, host, uneven_edges(bins));
      check_edges<float, double>(f, host, uneven_edges(bins));
    }
  }
  const auto host = some<float>(5003);
  for (const std::size_t bins : {3000u, 9000u, 13'000u}) {  // the edges do not fit in shared memory
    check_edges<float, float>(f, host, uneven_edges(bins));
    check_edges<float, double>(f, host, uneven_edges(bins));
  }
  check_edges<float, float>(f, host, {-infinity, 0, 50, infinity});
  check_edges<float, double>(f, host, {5, 5, 10, 10, 10, 20, 20});
}

TEMPLATE_TEST_CASE("numbers of any type are counted between edges", "[algorithm][histogram]",
                   std::int8_t, std::uint8_t, std::int16_t, std::uint32_t, std::int64_t, double,
                   __half, __nv_bfloat16) {
  const fixture f;
  const auto host = some<TestType>(5003);
  check_edges<TestType, TestType>(f, host, {0, 1, 5, 20, 21, 100});
  check_edges<TestType, double>(f, host, {-3.5, 0.5, 5, 20, 77.25, 100});
}

TEST_CASE("edges that decrease write nothing outside of the counts", "[algorithm][histogram]") {
  const fixture f;
  const auto x = f.upload(some<float>(3000));
  for (const std::vector<float>& host_edges :
       {std::vector<float>{50, 10, 70, 0}, {NAN, NAN, NAN, NAN}, {0, NAN, 10, NAN}}) {
    const auto edges = f.upload(host_edges);
    auto counts = f.upload(std::vector<std::uint32_t>(5, 77));
    test::value_of(gpu::histogram(f.stream, x, edges, counts.span().subspan(1, 3)));
    const auto found = f.download(counts);
    CHECK(found[0] == 77);
    CHECK(found[4] == 77);
  }
}

TEST_CASE("what cannot be a histogram is rejected", "[algorithm][histogram]") {
  const fixture f;
  auto x = f.upload(some<float>(100));
  auto counts = f.make<std::int32_t>(10);
  const auto error = [&](double low, double high) {
    const auto found = test::error_of(gpu::histogram(f.stream, x, low, high, counts));
    CHECK(found == gpu::errc::invalid_argument);
    return found;
  };
  CHECK(test::says(error(1, 1), "gpu::histogram", "low is 1 and high is 1", "less than"));
  CHECK(test::says(error(2, 1), "low is 2 and high is 1"));
  CHECK(test::says(error(nan, 1), "from nan to 1 is not finite"));
  CHECK(test::says(error(0, nan), "from 0 to nan is not finite"));
  CHECK(test::says(error(0, infinity), "from 0 to inf is not finite"));
  CHECK(test::says(error(-1.5e308, 1.5e308), "is not finite"));
  CHECK(test::says(error(1, std::nextafter(1.0, 2.0)), "too small for 10 bins", "fewer counts"));
  CHECK(test::says(error(0, 5e-324), "too small for 10 bins"));
  const auto no_bins = test::error_of(gpu::histogram(f.stream, x, 0, 1, counts.span().first(0)));
  CHECK(no_bins == gpu::errc::invalid_argument);
  CHECK(test::says(no_bins, "counts has 0 elements", "at least 1 bin"));
  auto edges = f.upload(std::vector<float>(10));
  const auto sizes = test::error_of(gpu::histogram(f.stream, x, edges, counts));
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "edges has 10 elements", "counts has 10", "11 edges"));
  const auto words = gpu::device_span<std::int32_t>::from_native(x.span().native(), 10);
  CHECK(
      test::says(test::error_of(gpu::histogram(f.stream, x, 0, 1, words)), "x and counts overlap"));
  const auto edge_words = gpu::device_span<std::int32_t>::from_native(edges.span().native(), 9);
  CHECK(test::says(test::error_of(gpu::histogram(f.stream, x, edges, edge_words)),
                   "edges and counts overlap"));
  CHECK(test::error_of(gpu::histogram(gpu::stream_ref(), x, 0, 1, counts)) ==
        gpu::errc::empty_handle);
  // The memory of these spans is not there, but it is not looked at either.
  const std::size_t many = std::size_t{1} << 31;
  const auto large = gpu::device_span<const char>::from_native(CUdeviceptr{1} << 40, many);
  CHECK(test::says(test::error_of(gpu::histogram(f.stream, large, 0, 1, counts)),
                   "2147483648 elements", "at most 2147483647", "64 bits"));
  const auto too_many = gpu::device_span<std::uint64_t>::from_native(CUdeviceptr{1} << 40, many);
  CHECK(test::says(test::error_of(gpu::histogram(f.stream, x, 0, 1, too_many)),
                   "counts has 2147483648 elements", "at most 2147483646 bins"));
  auto moved = std::move(x);
  CHECK(test::error_of(gpu::histogram(f.stream, x, 0, 1, counts)) ==  // NOLINT
        gpu::errc::empty_handle);
}

TEST_CASE("a histogram is captured into a graph", "[algorithm][histogram]") {
  const fixture f;
  const auto host = some<float>(3000);
  const auto x = f.upload(host);
  auto counts = f.make<std::uint32_t>(10);
  test::value_of(gpu::histogram(f.stream, x, 0, 100, counts));  // compiles
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::histogram(f.stream, x, 0, 100, counts));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  for (int round = 0; round < 2; ++round) {
    test::value_of(gpu::launch(f.stream, executable));
    CHECK(f.download(counts) == counted<std::uint32_t>(host, even_edges(0, 100, 10)));
  }
}

TEST_CASE("the first allocations of a histogram may fail", "[algorithm][histogram][cpu]") {
  const fixture f;
  const auto x = f.upload(std::vector<std::int8_t>{5, 6});
  const auto edges = f.upload(std::vector<double>{1, 2});
  auto counts = f.make<std::int64_t>(1);
  algorithm_test::check_first_allocations(
      [&] { return gpu::histogram(f.stream, x, edges, counts); });
}

TEST_CASE("each call of a histogram may fail", "[algorithm][histogram][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<float>::create(stream, 3000));
    auto counts = GPU_TRY(gpu::device_buffer<std::uint32_t>::create(stream, 10));
    GPU_TRY(gpu::fill(stream, x, 1.0f));
    GPU_TRY(gpu::histogram(stream, x, 0, 2, counts));
    GPU_TRY(gpu::histogram(stream, x, x.span().first(11), counts));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large histograms", "[algorithm][histogram][hardware]") {
  const fixture f;
  for (const std::size_t count : {(1u << 20) - 1, (1u << 20) + 1}) {
    for (const std::size_t bins : {16u, 256u, 4096u, 100'000u}) {
      check_even<std::uint32_t>(f, some<float>(count), 0, 100, bins);
      check_even<std::uint32_t>(f, some<double>(count), 0, 100, bins);
      check_even<std::uint32_t>(f, some<std::uint8_t>(count), 0, 256, bins);
      check_edges<float, float>(f, some<float>(count), uneven_edges(bins));
    }
  }
  check_even<std::uint32_t>(f, some<float>((1u << 24) + 5), 0, 100, 256);
}

TEST_CASE("more than 2^32 elements fall into one bin", "[algorithm][histogram][hardware]") {
  const fixture f;
  const std::size_t count = (std::size_t{1} << 32) + 17;
  auto x = f.make<std::uint8_t>(count);
  test::value_of(gpu::fill(f.stream, x, std::uint8_t{7}));
  auto counts = f.make<std::uint64_t>(10);
  test::value_of(gpu::histogram(f.stream, x, 0, 10, counts));
  std::vector<std::uint64_t> expected(10);
  expected[7] = count;
  CHECK(f.download(counts) == expected);
}

}  // namespace histogram_test
