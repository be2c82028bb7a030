// The smallest and the largest element, and where they are, against std::min_element and NumPy's
// rules for NaN.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/argmin.hpp>
#include <gpu/algorithm/min_max.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace min_max_test {

using algorithm_test::fixture;

template <class T> std::vector<T> scattered(std::size_t count) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::int64_t>(i * 7919 % 1'000'003) - 400'000;
    made[i] = static_cast<T>(static_cast<T>(number) + static_cast<T>(1));
  }
  return made;
}

TEMPLATE_TEST_CASE("extremes of every type and size", "[algorithm][min_max]", std::int8_t,
                   std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t, float, double) {
  const fixture f;
  const auto host = scattered<TestType>(1025);
  auto x = f.upload(host);
  for (const std::size_t count : {1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u}) {
    CAPTURE(count);
    const auto end = host.begin() + static_cast<std::ptrdiff_t>(count);
    const auto part = x.span().first(count);
    const auto least = std::min_element(host.begin(), end);
    const auto most = std::max_element(host.begin(), end);  // both are the first of equal ones
    CHECK(test::value_of(gpu::min(f.stream, part)) == *least);
    CHECK(test::value_of(gpu::max(f.stream, part)) == *most);
    const auto both = test::value_of(gpu::minmax(f.stream, part));
    CHECK(both.min == *least);
    CHECK(both.max == *most);
    CHECK(test::value_of(gpu::argmin(f.stream, part)) ==
          static_cast<std::size_t>(least - host.begin()));
    CHECK(test::value_of(gpu::argmax(f.stream, part)) ==
          static_cast<std::size_t>(most - host.begin()));
  }
}

TEST_CASE("extremes of many elements, unaligned and strided", "[algorithm][min_max]") {
  const fixture f;
  for (const std::size_t count : {(1u << 20) - 1, (1u << 20) + 1}) {
    CAPTURE(count);
    const auto host = scattered<std::int32_t>(count);
    auto x = f.upload(host);
    const auto end = host.end();
    for (const std::size_t skipped : {0u, 1u, 3u}) {
      const auto begin = host.begin() + static_cast<std::ptrdiff_t>(skipped);
      const auto part = x.span().subspan(skipped);
      CHECK(test::value_of(gpu::min(f.stream, part)) == *std::min_element(begin, end));
      CHECK(test::value_of(gpu::argmax(f.stream, part)) ==
            static_cast<std::size_t>(std::max_element(begin, end) - begin));
    }
    const auto backwards = gpu::array_view<const std::int32_t, 1>::from_native(
        x.span().native() + (count - 1) * 4, {count / 2}, {-2});
    std::vector<std::int32_t> reversed(count / 2);
    for (std::size_t i = 0; i < reversed.size(); ++i) reversed[i] = host[count - 1 - 2 * i];
    CHECK(test::value_of(gpu::argmin(f.stream, backwards)) ==
          static_cast<std::size_t>(std::min_element(reversed.begin(), reversed.end()) -
                                   reversed.begin()));
    CHECK(test::value_of(gpu::max(f.stream, backwards)) ==
          *std::max_element(reversed.begin(), reversed.end()));
  }
}

TEST_CASE("ends of the ranges of types are extremes, too", "[algorithm][min_max]") {
  const fixture f;
  const double infinity = std::numeric_limits<double>::infinity();
  auto high = f.upload(std::vector<double>(100, infinity));
  auto low = f.upload(std::vector<double>(100, -infinity));
  CHECK(test::value_of(gpu::min(f.stream, high)) == infinity);
  CHECK(test::value_of(gpu::max(f.stream, low)) == -infinity);
  CHECK(test::value_of(gpu::argmin(f.stream, high)) == 0);
  CHECK(test::value_of(gpu::argmax(f.stream, low)) == 0);
  auto largest = f.upload(std::vector<std::int64_t>(70, INT64_MAX));
  auto smallest = f.upload(std::vector<std::int64_t>(70, INT64_MIN));
  CHECK(test::value_of(gpu::min(f.stream, largest)) == INT64_MAX);
  CHECK(test::value_of(gpu::max(f.stream, smallest)) == INT64_MIN);
  CHECK(test::value_of(gpu::argmin(f.stream, largest)) == 0);
  auto bools = f.make<bool>(40);
  test::value_of(gpu::fill(f.stream, bools, false));
  test::value_of(gpu::fill(f.stream, bools.span().subspan(7, 2), true));
  CHECK(test::value_of(gpu::max(f.stream, bools)));
  CHECK_FALSE(test::value_of(gpu::min(f.stream, bools)));
  CHECK(test::value_of(gpu::argmax(f.stream, bools)) == 7);
}

TEST_CASE("NaN is the extreme of what has one, and the first counts", "[algorithm][min_max]") {
  const fixture f;
  for (const std::size_t count : {5u, 1000u, 40'000u}) {
    for (const std::size_t place : {std::size_t{0}, count / 2, count - 1}) {
      CAPTURE(count, place);
      auto host = scattered<float>(count);
      host[count - 1] = std::numeric_limits<float>::quiet_NaN();
      host[place] = std::numeric_limits<float>::quiet_NaN();
      if (place > 0) host[place - 1] = -std::numeric_limits<float>::infinity();
      auto x = f.upload(host);
      CHECK(std::isnan(test::value_of(gpu::min(f.stream, x))));
      CHECK(std::isnan(test::value_of(gpu::max(f.stream, x))));
      const auto both = test::value_of(gpu::minmax(f.stream, x));
      CHECK((std::isnan(both.min) && std::isnan(both.max)));
      CHECK(test::value_of(gpu::argmin(f.stream, x)) == place);
      CHECK(test::value_of(gpu::argmax(f.stream, x)) == place);
    }
  }
  auto zeros = f.upload(std::vector<float>{0.0f, -0.0f, 0.0f});
  CHECK(test::value_of(gpu::argmin(f.stream, zeros)) == 0);
  CHECK(test::value_of(gpu::argmax(f.stream, zeros)) == 0);
}

TEST_CASE("extremes of numbers of 16 bits", "[algorithm][min_max]") {
  const fixture f;
  std::vector<__half> halves;
  std::vector<__nv_bfloat16> shorts;
  for (int i = 0; i < 3000; ++i) {
    const float value = static_cast<float>(i * 37 % 2001 - 1000);
    halves.push_back(__float2half(value));
    shorts.push_back(__float2bfloat16(static_cast<float>(i * 37 % 201 - 100)));
  }
  auto x = f.upload(halves);
  auto y = f.upload(shorts);
  CHECK(__half2float(test::value_of(gpu::min(f.stream, x))) == -1000);
  CHECK(__bfloat162float(test::value_of(gpu::max(f.stream, y))) == 100);
  CHECK(__half2float(halves[test::value_of(gpu::argmax(f.stream, x))]) == 1000);
  CHECK(__half2float(test::value_of(gpu::minmax(f.stream, x)).max) == 1000);
}

TEST_CASE("extremes of each row", "[algorithm][min_max]") {
  const fixture f;
  for (const auto& [rows, columns] :
       {std::pair<std::size_t, std::size_t>{70, 33}, {3, 5000}, {2, 40'000}}) {
    CAPTURE(rows, columns);
    auto host = scattered<float>(rows * columns);
    host[columns + 3] = host[columns + 1] = std::numeric_limits<float>::quiet_NaN();
    auto x = f.upload(host);
    auto least = f.make<float>(rows), most = f.make<float>(rows), table = f.make<float>(2 * rows);
    auto at = f.make<std::int32_t>(rows);
    auto last = f.make<std::uint64_t>(rows);
    test::value_of(gpu::min(f.stream, x, least));
    test::value_of(gpu::max(f.stream, x, most));
    test::value_of(gpu::argmin(f.stream, x, at));
    test::value_of(gpu::argmax(f.stream, x, last));
    const auto left = gpu::array_view<float, 1>::from_native(table.span().native(), {rows}, {2});
    const auto right =
        gpu::array_view<float, 1>::from_native(table.span().native() + 4, {rows}, {2});
    test::value_of(gpu::minmax(f.stream, x, left, right));
    const auto lows = f.download(least), highs = f.download(most), both = f.download(table);
    const auto low_places = f.download(at);
    const auto high_places = f.download(last);
    for (std::size_t r = 0; r < rows; ++r) {
      if (r == 1) {
        CHECK((std::isnan(lows[r]) && std::isnan(highs[r]) && std::isnan(both[2]) &&
               std::isnan(both[3]) && low_places[r] == 1 && high_places[r] == 1));
        continue;
      }
      const auto begin = host.begin() + static_cast<std::ptrdiff_t>(r * columns);
      const auto end = begin + static_cast<std::ptrdiff_t>(columns);
      const auto low = std::min_element(begin, end), high = std::max_element(begin, end);
      CHECK((lows[r] == *low && both[2 * r] == *low && low_places[r] == low - begin));
      CHECK((highs[r] == *high && both[2 * r + 1] == *high &&
             high_places[r] == static_cast<std::uint64_t>(high - begin)));
    }
  }
}

TEST_CASE("an extreme of no elements is refused", "[algorithm][min_max]") {
  const fixture f;
  auto x = f.make<float>(4);
  const auto none = x.span().first(0);
  auto results = f.make<float>(3);
  auto places = f.make<int>(3);
  for (const auto& error :
       {test::error_of(gpu::min(f.stream, none)), test::error_of(gpu::argmin(f.stream, none)),
        test::error_of(gpu::min(f.stream, none, results)),
        test::error_of(gpu::argmin(f.stream, none, places))}) {
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(test::says(error, "the smallest element is asked for, but x has 0 elements",
                     "Pass at least 1"));
  }
  CHECK(test::says(test::error_of(gpu::max(f.stream, none)), "gpu::max", "the largest element"));
  CHECK(test::says(test::error_of(gpu::argmax(f.stream, none)), "gpu::argmax"));
  CHECK(test::says(test::error_of(gpu::minmax(f.stream, none)), "gpu::minmax",
                   "the smallest and the largest element"));
  test::value_of(gpu::min(f.stream, none, results.span().first(0)));  // a matrix without rows
}

TEST_CASE("minmax refuses results that do not fit", "[algorithm][min_max]") {
  const fixture f;
  auto x = f.upload(scattered<float>(60)), results = f.make<float>(10);
  const auto lengths =
      test::error_of(gpu::minmax(f.stream, x, results.span().first(3), results.span().last(4)));
  CHECK(lengths == gpu::errc::size_mismatch);
  CHECK(test::says(lengths, "smallest has 3 elements", "largest has 4"));
  const auto overlap =
      test::error_of(gpu::minmax(f.stream, x, results.span().first(6), results.span().last(6)));
  CHECK(test::says(overlap, "largest and smallest overlap"));
}

TEST_CASE("extremes are captured into a graph", "[algorithm][min_max]") {
  const fixture f;
  const auto host = scattered<float>(70'000);
  auto x = f.upload(host), low = f.make<float>(1), high = f.make<float>(1);
  auto at = f.make<std::int64_t>(1);
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::minmax(f.stream, x, low, high));
  test::value_of(gpu::argmax(f.stream, x, at));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  const auto [least, most] = std::minmax_element(host.begin(), host.end());
  CHECK(f.download(low)[0] == *least);
  CHECK(f.download(high)[0] == *most);
  CHECK(f.download(at)[0] == std::max_element(host.begin(), host.end()) - host.begin());
}

TEST_CASE("each call of an extreme may fail", "[algorithm][min_max][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    auto y = GPU_TRY(gpu::device_buffer<int>::create(stream, 2));
    GPU_TRY(gpu::fill(stream, x, 1));
    GPU_TRY(gpu::minmax(stream, x, y.span().first(1), y.span().last(1)));
    GPU_TRY(gpu::min(stream, x));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large extremes", "[algorithm][min_max][hardware]") {
  const fixture f;
  for (const std::size_t count : {(std::size_t{1} << 24) + 5, (std::size_t{1} << 32) + 3}) {
    CAPTURE(count);
    auto x = f.make<std::uint8_t>(count);
    test::value_of(gpu::fill(f.stream, x, std::uint8_t{7}));
    test::value_of(gpu::fill(f.stream, x.span().subspan(count - 2, 1), std::uint8_t{9}));
    CHECK(test::value_of(gpu::min(f.stream, x)) == 7);
    CHECK(test::value_of(gpu::max(f.stream, x)) == 9);
    CHECK(test::value_of(gpu::argmin(f.stream, x)) == 0);
    CHECK(test::value_of(gpu::argmax(f.stream, x)) == count - 2);
    if (count < (std::size_t{1} << 32)) continue;
    auto at = f.make<std::uint32_t>(1);
    const auto narrow = test::error_of(gpu::argmax(f.stream, x, at));
    CHECK(narrow == gpu::errc::invalid_argument);
    CHECK(test::says(narrow, "integers of at most 4294967295", "4294967299", "64 bits"));
  }
}

}  // namespace min_max_test
