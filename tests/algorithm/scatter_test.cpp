// Scattered elements against writing one after the other on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/scatter.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace scatter_test {

using algorithm_test::fixture;
using algorithm_test::indices_below;
using algorithm_test::numbers;

template <class T, class Index>
std::vector<T> scattered(const std::vector<T>& values, const std::vector<Index>& indices,
                         std::vector<T> x) {
  for (std::size_t i = 0; i < values.size(); ++i)
    x[static_cast<std::size_t>(indices[i])] = values[i];
  return x;
}

template <class T, class Index> void check_scatter(std::size_t count, std::size_t size) {
  CAPTURE(count, size);
  const fixture f;
  const auto host = numbers<T>(count);
  const auto host_indices = indices_below<Index>(count, size);
  const std::vector<T> before(size, T(99));
  const auto values = f.upload(host);
  const auto indices = f.upload(host_indices);
  for (const bool check : {false, true}) {
    auto x = f.upload(before);
    test::value_of(gpu::scatter(f.stream, values, indices, x, {.check = check}));
    CHECK(f.download(x) == scattered(host, host_indices, before));
  }
}

TEST_CASE("of several values for one element the last one stays", "[algorithm][scatter]") {
  for (const std::size_t count : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 50'001u}) {
    check_scatter<float, std::int32_t>(count, 1);
    check_scatter<float, std::int32_t>(count, 777);
  }
  check_scatter<float, std::int32_t>(0, 0);
}

TEMPLATE_TEST_CASE("elements of any type are scattered", "[algorithm][scatter]", std::int8_t,
                   std::uint16_t, std::int64_t, double, std::complex<double>) {
  check_scatter<TestType, std::uint32_t>(3001, 500);
}

TEMPLATE_TEST_CASE("indices of each type scatter", "[algorithm][scatter]", std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
  check_scatter<double, TestType>(3001, 100'000);
}

TEST_CASE("a permutation is scattered in one pass", "[algorithm][scatter]") {
  const fixture f;
  const std::size_t count = 10'007;  // a prime: each index occurs once
  const auto host = numbers<int>(count);
  std::vector<std::uint32_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = static_cast<std::uint32_t>(i * 3001 % count);
  const auto values = f.upload(host);
  const auto indices = f.upload(order);
  auto x = f.make<int>(count);
  test::value_of(gpu::scatter(f.stream, values, indices, x, {.unique = true}));
  CHECK(f.download(x) == scattered(host, order, std::vector<int>(count)));
}

TEST_CASE("scatter takes memory at any address, and views", "[algorithm][scatter]") {
  const fixture f;
  const auto host = numbers<float>(1201);
  const auto host_indices = indices_below<std::int32_t>(1200, 500);
  const auto values = f.upload(host);
  const auto indices = f.upload(host_indices);
  const std::vector<float> before(501, -1.0f);
  auto x = f.upload(before);
  test::value_of(gpu::scatter(f.stream, values.span().subspan(1), indices, x.span().subspan(1)));
  const std::vector<float> behind(host.begin() + 1, host.end());
  auto expected = scattered(behind, host_indices, std::vector<float>(500, -1.0f));
  expected.insert(expected.begin(), -1.0f);
  CHECK(f.download(x) == expected);

  // Positions count in C order: of one element the value in the last row stays.
  std::vector<int> four{1, 2, 3, 4};
  std::vector<std::uint32_t> zeros(4);
  const auto square = f.upload(four);
  const auto to = f.upload(zeros);
  const auto turned =
      gpu::array_view<const int, 2>::from_native(square.span().native(), {2, 2}, {1, -2});
  const auto last = gpu::array_view<const int, 2>::from_native(
      square.span().native() + 2 * sizeof(int), {2, 2}, {1, -2});
  static_cast<void>(turned);
  auto one = f.upload(std::vector<int>{9});
  const auto rows =
      gpu::array_view<const std::uint32_t, 2>::from_native(to.span().native(), {2, 2}, {2, 1});
  test::value_of(gpu::scatter(f.stream, last, rows, one));
  CHECK(f.download(one)[0] == 2);  // the view is ((3, 1), (4, 2))
}

TEST_CASE("a checked scatter names the first bad index and writes nothing",
          "[algorithm][scatter]") {
  const fixture f;
  auto x = f.upload(std::vector<float>(10, 5.0f));
  auto host_indices = indices_below<std::int64_t>(1000, 10);
  host_indices[3] = 10;
  host_indices[2] = -3;
  const auto values = f.upload(numbers<float>(1000));
  const auto indices = f.upload(host_indices);
  for (const bool unique : {false, true}) {
    const auto error = test::error_of(
        gpu::scatter(f.stream, values, indices, x, {.check = true, .unique = unique}));
    CHECK(error == gpu::errc::index_out_of_range);
    CHECK(test::says(error, "gpu::scatter",
                     "index -3 at position 2 is out of range: x has 10 elements"));
  }
  CHECK(f.download(x) == std::vector<float>(10, 5.0f));
}

TEST_CASE("scatter refuses what does not fit", "[algorithm][scatter]") {
  const fixture f;
  auto x = f.upload(numbers<float>(100));
  const auto values = f.upload(numbers<float>(50));
  const auto indices = f.upload(indices_below<std::int32_t>(51, 100));
  const auto sizes = test::error_of(gpu::scatter(f.stream, values, indices, x));
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "gpu::scatter", "values has 50 elements", "indices has 51"));
  const auto some = indices.span().first(50);
  const auto overlap = test::error_of(gpu::scatter(f.stream, x.span().first(50), some, x));
  CHECK(overlap == gpu::errc::invalid_argument);
  CHECK(test::says(overlap, "gpu::scatter", "x and values overlap"));
  const auto none = test::error_of(gpu::scatter(f.stream, values, some, x.span().first(0)));
  CHECK(none == gpu::errc::index_out_of_range);
  auto moved = std::move(x);
  CHECK(test::error_of(gpu::scatter(f.stream, values, some, x)) ==  // NOLINT
        gpu::errc::empty_handle);
}

TEST_CASE("a scatter is captured into a graph", "[algorithm][scatter]") {
  const fixture f;
  const auto host = numbers<float>(3000);
  const auto host_indices = indices_below<std::int32_t>(3000, 100);
  const auto values = f.upload(host);
  const auto indices = f.upload(host_indices);
  const std::vector<float> before(100, -1.0f);
  auto x = f.upload(before);
  test::value_of(gpu::scatter(f.stream, values, indices, x));  // compiles
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::scatter(f.stream, values, indices, x));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  for (int round = 0; round < 2; ++round) {
    test::value_of(gpu::copy(before, x));
    test::value_of(gpu::launch(f.stream, executable));
    CHECK(f.download(x) == scattered(host, host_indices, before));
  }
}

TEST_CASE("the first allocations of a scatter may fail", "[algorithm][scatter][cpu]") {
  const fixture f;
  auto x = f.upload(std::vector<unsigned long long>{5, 6});
  const auto indices = f.upload(std::vector<std::uint32_t>{1, 0, 1});
  const auto values = f.upload(std::vector<unsigned long long>{1, 2, 3});
  algorithm_test::check_first_allocations(
      [&] { return gpu::scatter(f.stream, values, indices, x); });
}

TEST_CASE("each call of a scatter may fail", "[algorithm][scatter][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<float>::create(stream, 5));
    auto indices = GPU_TRY(gpu::device_buffer<int>::create(stream, 3000));
    auto values = GPU_TRY(gpu::device_buffer<float>::create(stream, 3000));
    GPU_TRY(gpu::fill(stream, values, 1.0f));
    GPU_TRY(gpu::fill(stream, indices, 3));
    GPU_TRY(gpu::scatter(stream, values, indices, x));
    GPU_TRY(gpu::scatter(stream, values, indices, x, {.check = true, .unique = true}));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large scatters", "[algorithm][scatter][hardware]") {
  for (const std::size_t count : {(1u << 20) - 1, (1u << 20) + 1, (1u << 24) + 5})
    check_scatter<float, std::int32_t>(count, 1 << 22);
  const fixture f;  // more positions than 32 bits hold
  const std::size_t count = (std::size_t{1} << 32) + 3;
  auto values = f.make<std::uint8_t>(count);
  test::value_of(gpu::fill(f.stream, values, std::uint8_t{1}));
  test::value_of(gpu::fill(f.stream, values.span().subspan(count - 1), std::uint8_t{9}));
  auto indices = f.make<std::uint32_t>(count);
  test::value_of(gpu::fill(f.stream, indices, 2u));
  auto x = f.upload(std::vector<std::uint8_t>(4, 7));
  test::value_of(gpu::scatter(f.stream, values, indices, x));
  CHECK(f.download(x) == std::vector<std::uint8_t>{7, 7, 9, 7});
}

}  // namespace scatter_test
