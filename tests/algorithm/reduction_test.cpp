// Reductions against sums in double and exact integers on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/reduction.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace reduction_test {

struct extremes {
  float lowest, highest;
  std::int64_t count;
};

}  // namespace reduction_test

template <> struct gpu::device_name<reduction_test::extremes> {
  static constexpr const char* value = "extremes";
  static constexpr const char* definition =
      "struct extremes { float lowest, highest; long long count; };";
};

namespace reduction_test {

using algorithm_test::fixture;
using float_sum = gpu::reduction<float, const float*>;

float_sum make_sum() {
  return test::value_of(
      float_sum::create({.parameters = "x", .map = "x[i]", .reduce = "a + b", .neutral = 0.0f}));
}

std::vector<float> random_floats(std::size_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> spread(-1, 2);
  std::vector<float> made(count);
  for (float& each : made) each = spread(random);
  return made;
}

TEST_CASE("a reduction combines all elements of every size", "[algorithm][reduction]") {
  const fixture f;
  const auto dot =
      test::value_of(gpu::reduction<std::int64_t, const int*, const std::uint8_t*>::create(
          {.parameters = "x, y",
           .map = "(long long)x[i] * y[i]",
           .reduce = "a + b",
           .neutral = 0}));
  const std::size_t most = (1 << 18) + 5;
  std::vector<int> host_x(most);
  std::vector<std::uint8_t> host_y(most);
  for (std::size_t i = 0; i < most; ++i) {
    host_x[i] = static_cast<int>(i * 7919 % 100'003) - 50'000;
    host_y[i] = static_cast<std::uint8_t>(i * 31);
  }
  auto x = f.upload(host_x);
  auto y = f.upload(host_y);
  for (const std::size_t count :
       {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 20'000u, (1u << 18) + 5}) {
    CAPTURE(count);
    std::int64_t expected = 0;
    for (std::size_t i = 0; i < count; ++i) expected += std::int64_t{host_x[i]} * host_y[i];
    CHECK(test::value_of(dot(f.stream, x.span().first(count), y.span().first(count))) == expected);
  }
}

TEST_CASE("a sum has the same bits for every alignment and layout", "[algorithm][reduction]") {
  const fixture f;
  const float_sum sum = make_sum();
  for (const std::size_t count : {1000u, 40'000u, 200'000u}) {
    CAPTURE(count);
    const auto host = random_floats(count);
    const double exact = std::accumulate(host.begin(), host.end(), 0.0);
    auto x = f.upload(host);
    const float first = test::value_of(sum(f.stream, x));
    CHECK(std::fabs(first - exact) < 1e-6 * static_cast<double>(count));
    CHECK(std::bit_cast<int>(test::value_of(sum(f.stream, x))) == std::bit_cast<int>(first));
    for (std::size_t skipped = 1; skipped < 4; ++skipped) {
      auto longer = f.make<float>(count + 4);
      test::value_of(gpu::copy(x, longer.span().subspan(skipped, count)));
      const float same = test::value_of(sum(f.stream, longer.span().subspan(skipped, count)));
      CHECK(std::bit_cast<int>(same) == std::bit_cast<int>(first));
    }
    std::vector<float> spread(count * 2);
    for (std::size_t i = 0; i < count; ++i) spread[2 * i] = host[count - 1 - i];
    auto wide = f.upload(spread);
    const auto backwards = gpu::array_view<float, 1>::from_native(
        wide.span().native() + (count - 1) * 8, {count}, {-2});
    CHECK(std::bit_cast<int>(test::value_of(sum(f.stream, backwards))) ==
          std::bit_cast<int>(first));
    // A snippet whose elements are not loaded beforehand.
    const auto other = test::value_of(float_sum::create(
        {.parameters = "x", .map = "*(x + i)", .reduce = "a + b", .neutral = 0.0f}));
    CHECK(std::bit_cast<int>(test::value_of(other(f.stream, x))) == std::bit_cast<int>(first));
  }
}

TEST_CASE("a reduction of segments has a result for each", "[algorithm][reduction]") {
  const fixture f;
  const auto largest = test::value_of(gpu::reduction<int, const int*>::create(
      {.parameters = "x", .map = "x[i]", .reduce = "max(a, b)", .neutral = INT32_MIN}));
  for (const auto& [segments, length] : {std::pair<std::size_t, std::size_t>{1, 5000},
                                         {7, 3},
                                         {100, 77},
                                         {33, 512},
                                         {5, 5000},
                                         {3, 40'000},
                                         {2000, 1}}) {
    CAPTURE(segments, length);
    std::vector<int> host(segments * length);
    for (std::size_t i = 0; i < host.size(); ++i)
      host[i] = static_cast<int>(i * 7919 % 65'537) - 70'000;
    auto x = f.upload(host), results = f.make<int>(segments);
    test::value_of(largest.into(f.stream, results, x));
    const auto found = f.download(results);
    std::size_t wrong = 0;
    for (std::size_t s = 0; s < segments; ++s) {
      const auto begin = host.begin() + static_cast<std::ptrdiff_t>(s * length);
      wrong += found[s] != *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(length));
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("short segments share a warp", "[algorithm][reduction]") {
  const fixture f;
  const auto sum = test::value_of(gpu::reduction<int, const int*>::create(
      {.parameters = "x", .map = "x[i]", .reduce = "a + b", .neutral = 0}));
  for (std::size_t length = 1; length < 140; length += length < 20 ? 1 : 17) {
    CAPTURE(length);
    constexpr std::size_t segments = 301;
    std::vector<int> host(segments * length), expected(segments);
    for (std::size_t i = 0; i < host.size(); ++i) {
      host[i] = static_cast<int>(i * 31 % 1013) - 500;
      expected[i / length] += host[i];
    }
    auto x = f.upload(host), results = f.make<int>(segments);
    test::value_of(sum.into(f.stream, results, x));
    CHECK(f.download(results) == expected);
  }
}

TEST_CASE("several results are a structure, in one pass", "[algorithm][reduction]") {
  const fixture f;
  const float infinity = std::numeric_limits<float>::infinity();
  const auto find = test::value_of(gpu::reduction<extremes, const float*, float>::create(
      {.parameters = "x, limit",
       .map = "extremes{x[i], x[i], x[i] > limit}",
       .reduce = "extremes{min(a.lowest, b.lowest), max(a.highest, b.highest), a.count + b.count}",
       .neutral = {infinity, -infinity, 0},
       .result = "extremes{a.lowest, a.highest, n - a.count}"}));
  const auto host = random_floats(70'001);
  auto x = f.upload(host);
  const extremes found = test::value_of(find(f.stream, x, 0.5f));
  const auto [lowest, highest] = std::minmax_element(host.begin(), host.end());
  CHECK(found.lowest == *lowest);
  CHECK(found.highest == *highest);
  CHECK(found.count == std::count_if(host.begin(), host.end(), [](float v) { return v <= 0.5f; }));
}

TEST_CASE("complex numbers are reduced", "[algorithm][reduction]") {
  const fixture f;
  using complex = std::complex<double>;
  const auto dot = test::value_of(gpu::reduction<complex, const complex*, const complex*>::create(
      {.parameters = "x, y", .map = "conj(x[i]) * y[i]", .reduce = "a + b", .neutral = 0.0}));
  std::vector<complex> host_x, host_y;
  complex expected = 0;
  for (int i = 0; i < 3000; ++i) {
    host_x.emplace_back(i % 7, 1);
    host_y.emplace_back(2, i % 5);
    expected += std::conj(host_x.back()) * host_y.back();
  }
  auto x = f.upload(host_x), y = f.upload(host_y);
  CHECK(test::value_of(dot(f.stream, x, y)) == expected);
}

TEST_CASE("a reduction refuses arguments that do not fit", "[algorithm][reduction]") {
  const fixture f;
  const float_sum sum = make_sum();
  auto x = f.upload(random_floats(100)), results = f.make<float>(7);
  const auto divided = test::error_of(sum.into(f.stream, results, x));
  CHECK(divided == gpu::errc::size_mismatch);
  CHECK(test::says(divided, "100 elements cannot be divided into 7 segments", "a divisor"));
  const auto overlap = test::error_of(sum.into(f.stream, x.span().first(1), x));
  CHECK(test::says(overlap, "results and x overlap"));
  const auto no_results = test::error_of(sum.into(f.stream, results.span().first(0), x));
  CHECK(test::says(no_results, "0 segments"));
  const auto constant = test::value_of(gpu::reduction<float, gpu::raw<const float*>>::create(
      {.parameters = "x", .map = "x[0]", .reduce = "a + b", .neutral = 0.0f}));
  CHECK(test::says(test::error_of(constant(f.stream, x)), "no parameter says how many"));
  const float_sum none;
  CHECK(test::error_of(none(f.stream, x)) == gpu::errc::empty_handle);

  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  const auto waiting = test::error_of(sum(f.stream, x));
  CHECK(waiting == gpu::errc::capture_prohibited);
  CHECK(test::says(waiting, "into(stream, result"));
  test::value_of(capture.end());
}

TEST_CASE("a mistake in a reduction is shown in the user's line", "[algorithm][reduction]") {
  const auto error = test::error_of(float_sum::create({.parameters = "x",
                                                       .map = "x[i]",
                                                       .reduce = "a + c",
                                                       .neutral = 0.0f,
                                                       .options = {.name = "broken"}}));
  CHECK(test::says(error, "broken.reduce:1", "\"c\" is undefined"));
}

TEST_CASE("a reduction is captured into a graph", "[algorithm][reduction]") {
  const fixture f;
  const float_sum sum = make_sum();
  const auto host = random_floats(100'000);
  auto x = f.upload(host), result = f.upload(std::vector<float>{0});
  const float expected = test::value_of(sum(f.stream, x));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(sum.into(f.stream, result, x));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(result)[0] == expected);
}

TEST_CASE("each call of a reduction may fail", "[algorithm][reduction][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 30'000));
    auto y = GPU_TRY(gpu::device_buffer<int>::create(stream, 1));
    const auto count = GPU_TRY((gpu::reduction<int, const int*>::create(
        {.parameters = "x", .map = "1", .reduce = "a + b", .neutral = 0})));
    GPU_TRY(count.into(stream, y, x));
    GPU_TRY(count(stream, x));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large reductions", "[algorithm][reduction][hardware]") {
  const fixture f;
  const auto count_odd = test::value_of(gpu::reduction<std::int64_t, const std::uint8_t*>::create(
      {.parameters = "x", .map = "x[i] & 1", .reduce = "a + b", .neutral = 0}));
  for (const std::size_t count : {(std::size_t{1} << 20) - 1, (std::size_t{1} << 20) + 1,
                                  (std::size_t{1} << 24) + 5, (std::size_t{1} << 32) + 3}) {
    CAPTURE(count);
    auto x = f.make<std::uint8_t>(count);
    test::value_of(gpu::fill(f.stream, x, std::uint8_t{3}));
    CHECK(test::value_of(count_odd(f.stream, x)) == static_cast<std::int64_t>(count));
  }
}

}  // namespace reduction_test
