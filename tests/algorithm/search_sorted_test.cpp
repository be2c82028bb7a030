// Positions among sorted elements against std::lower_bound and std::upper_bound.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/search_sorted.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace search_sorted_test {

using algorithm_test::fixture;
using gpu::search_side;

template <class T> double as_double(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}
/// NumPy's order: NaN last.
template <class T> bool is_before(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else {
    const double x = as_double(a), y = as_double(b);
    return x < y || (std::isnan(y) && !std::isnan(x));
  }
}

template <class T> std::vector<T> some(std::size_t count, std::size_t seed) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<int>((i + seed) * 7919 % 251);
    if constexpr (std::is_integral_v<T>) {
      made[i] = static_cast<T>(number - 100);
    } else {
      made[i] = T(static_cast<float>(number) - 100.0f);
      if (number == 7) made[i] = T(std::numeric_limits<float>::quiet_NaN());
      if (number == 8) made[i] = T(-std::numeric_limits<float>::infinity());
      if (number == 9) made[i] = T(-0.0f);
      if (number == 10) made[i] = T(0.0f);
    }
  }
  return made;
}
template <class T> std::vector<T> sorted_ones(std::size_t count) {
  auto made = some<T>(count, 3);
  std::stable_sort(made.begin(), made.end(), is_before<T>);
  return made;
}
template <class Position, class T>
std::vector<Position> expected_positions(const std::vector<T>& sorted, const std::vector<T>& values,
                                         search_side side) {
  std::vector<Position> made;
  for (const T& each : values) {
    const auto found = side == search_side::left
                           ? std::lower_bound(sorted.begin(), sorted.end(), each, is_before<T>)
                           : std::upper_bound(sorted.begin(), sorted.end(), each, is_before<T>);
    made.push_back(static_cast<Position>(found - sorted.begin()));
  }
  return made;
}

template <class T, class Position> void check_search(std::size_t size, std::size_t count) {
  CAPTURE(size, count);
  const fixture f;
  const auto host = sorted_ones<T>(size);
  const auto host_values = some<T>(count, 11);
  const auto sorted = f.upload(host);
  const auto values = f.upload(host_values);
  for (const search_side side : {search_side::left, search_side::right}) {
    auto positions = f.upload(std::vector<Position>(count + 1, Position(77)));
    test::value_of(
        gpu::search_sorted(f.stream, sorted, values, positions.span().first(count), side));
    auto expected = expected_positions<Position>(host, host_values, side);
    expected.push_back(77);
    CHECK(f.download(positions) == expected);
  }
}

TEST_CASE("search_sorted finds where values belong", "[algorithm][search_sorted]") {
  for (const std::size_t size : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u}) {
    for (const std::size_t count : {0u, 1u, 33u, 1025u})
      check_search<float, std::int32_t>(size, count);
  }
}

TEMPLATE_TEST_CASE("numbers of any type are searched", "[algorithm][search_sorted]", std::int8_t,
                   std::uint8_t, std::int16_t, std::uint32_t, std::int64_t, std::uint64_t, float,
                   double, __half, __nv_bfloat16) {
  check_search<TestType, std::uint32_t>(1000, 3001);
}

TEMPLATE_TEST_CASE("positions of each type are written", "[algorithm][search_sorted]", std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
  check_search<double, TestType>(1000, 3001);
}

TEST_CASE("search_sorted takes memory at any address, and views", "[algorithm][search_sorted]") {
  const fixture f;
  const auto host = sorted_ones<float>(500);
  const auto host_values = some<float>(1200, 5);
  const auto sorted = f.upload(host);
  const auto values = f.upload(host_values);
  auto positions = f.make<std::int64_t>(1200);
  const auto turned =
      gpu::array_view<const float, 2>::from_native(values.span().native(), {30, 40}, {1, 30});
  const auto rows =
      gpu::array_view<std::int64_t, 2>::from_native(positions.span().native(), {30, 40}, {40, 1});
  test::value_of(gpu::search_sorted(f.stream, sorted.span().subspan(1), turned, rows));
  const auto found = f.download(positions);
  const std::vector<float> behind(host.begin() + 1, host.end());
  const auto expected = expected_positions<std::int64_t>(behind, host_values, search_side::left);
  std::size_t wrong = 0;
  for (std::size_t r = 0; r < 30; ++r) {
    for (std::size_t c = 0; c < 40; ++c) wrong += found[40 * r + c] != expected[30 * c + r];
  }
  CHECK(wrong == 0);
}

TEST_CASE("elements that are not sorted give positions in range", "[algorithm][search_sorted]") {
  const fixture f;
  const auto sorted = f.upload(some<int>(1000, 1));
  const auto values = f.upload(some<int>(1000, 2));
  auto positions = f.make<std::int32_t>(1000);
  test::value_of(gpu::search_sorted(f.stream, sorted, values, positions));
  for (const std::int32_t each : f.download(positions)) CHECK((each >= 0 && each <= 1000));
}

TEST_CASE("search_sorted refuses what does not fit", "[algorithm][search_sorted]") {
  const fixture f;
  auto sorted = f.upload(std::vector<int>{1, 2, 3});
  const auto values = f.upload(some<int>(50, 2));
  auto positions = f.make<std::int32_t>(51);
  const auto sizes = test::error_of(gpu::search_sorted(f.stream, sorted, values, positions));
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "gpu::search_sorted", "values has 50 elements", "positions has 51"));
  const auto few = sorted.span().first(2);
  const auto overlap = test::error_of(
      gpu::search_sorted(f.stream, sorted, values.span().first(2), sorted.span().subspan(1)));
  CHECK(overlap == gpu::errc::invalid_argument);
  CHECK(test::says(overlap, "sorted and positions overlap"));
  // The same elements are read twice: both ranges are only read.
  test::value_of(gpu::search_sorted(f.stream, sorted, few, positions.span().first(2)));
  CHECK(
      test::says(test::error_of(gpu::search_sorted(f.stream, sorted, few, positions.span().first(2),
                                                   static_cast<search_side>(7))),
                 "7 is not a valid gpu::search_side"));
  const std::size_t many = std::size_t{1} << 31;
  const auto large = gpu::device_span<const char>::from_native(CUdeviceptr{1} << 40, many);
  const auto keys = f.upload(std::vector<char>{1, 2});
  const auto narrow =
      test::error_of(gpu::search_sorted(f.stream, large, keys, positions.span().first(2)));
  CHECK(narrow == gpu::errc::invalid_argument);
  CHECK(test::says(narrow, "2147483648 elements", "up to 2147483647", "integer of 64 bits"));
  auto moved = std::move(sorted);
  CHECK(test::error_of(gpu::search_sorted(f.stream, sorted, values,  // NOLINT
                                          positions.span().first(50))) == gpu::errc::empty_handle);
}

TEST_CASE("a search is captured into a graph", "[algorithm][search_sorted]") {
  const fixture f;
  const auto host = sorted_ones<float>(500);
  const auto host_values = some<float>(1200, 5);
  const auto sorted = f.upload(host);
  const auto values = f.upload(host_values);
  auto positions = f.make<std::int32_t>(1200);
  test::value_of(gpu::search_sorted(f.stream, sorted, values, positions));  // compiles
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::search_sorted(f.stream, sorted, values, positions));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::fill(f.stream, positions, -1));
  test::value_of(gpu::launch(f.stream, executable));
  CHECK(f.download(positions) ==
        expected_positions<std::int32_t>(host, host_values, search_side::left));
}

TEST_CASE("the first allocations of a search may fail", "[algorithm][search_sorted][cpu]") {
  const fixture f;
  const auto sorted = f.upload(std::vector<std::uint16_t>{5, 6});
  auto positions = f.make<std::uint64_t>(2);
  algorithm_test::check_first_allocations(
      [&] { return gpu::search_sorted(f.stream, sorted, sorted, positions); });
}

TEST_CASE("each call of a search may fail", "[algorithm][search_sorted][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto values = GPU_TRY(gpu::device_buffer<float>::create(stream, 3000));
    auto positions = GPU_TRY(gpu::device_buffer<int>::create(stream, 3000));
    GPU_TRY(gpu::fill(stream, values, 1.0f));
    GPU_TRY(gpu::search_sorted(stream, values, values, positions));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large searches", "[algorithm][search_sorted][hardware]") {
  for (const std::size_t count : {(1u << 20) - 1, (1u << 20) + 1, (1u << 24) + 5})
    check_search<float, std::int32_t>(1 << 20, count);
  const fixture f;
  const std::size_t size = (std::size_t{1} << 32) + 3;
  auto sorted = f.make<std::uint8_t>(size);
  test::value_of(gpu::fill(f.stream, sorted, std::uint8_t{1}));
  test::value_of(gpu::fill(f.stream, sorted.span().subspan(size - 2), std::uint8_t{9}));
  const auto values = f.upload(std::vector<std::uint8_t>{0, 1, 5, 9});
  auto positions = f.make<std::int64_t>(4);
  test::value_of(gpu::search_sorted(f.stream, sorted, values, positions));
  const auto end = static_cast<std::int64_t>(size);
  CHECK(f.download(positions) == std::vector<std::int64_t>{0, 0, end - 2, end - 2});
}

}  // namespace search_sorted_test
