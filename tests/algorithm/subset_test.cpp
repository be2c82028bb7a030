// Reductions of chosen elements against loops on the host.

#include "algorithm/algorithm_fixture.hpp"
#include "support/drivers.hpp"

#include <gpu/algorithm/subset.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace subset_test {

using algorithm_test::fixture;

template <class T> std::vector<T> numbers(std::size_t count) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<T>(i * 7919 % 113);
  return made;
}

TEMPLATE_TEST_CASE("chosen elements are reduced for every index type", "[algorithm][subset]",
                   std::uint32_t, std::int32_t, std::uint64_t, std::int64_t) {
  const fixture f;
  const auto host = numbers<std::int32_t>(5000);
  const auto other = numbers<std::int32_t>(5001);
  std::vector<TestType> chosen(1025);
  for (std::size_t k = 0; k < chosen.size(); ++k)
    chosen[k] = static_cast<TestType>(k * 7907 % 5000);
  auto x = f.upload(host), y = f.upload(other);
  auto indices = f.upload(chosen);
  for (const std::size_t count : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u}) {
    CAPTURE(count);
    std::int64_t sum = 0, dot = 0;
    std::int32_t least = INT32_MAX, most = INT32_MIN;
    for (std::size_t k = 0; k < count; ++k) {
      const auto at = static_cast<std::size_t>(chosen[k]);
      sum += host[at];
      dot += std::int64_t{host[at]} * other[at + 1];
      least = std::min(least, host[at]);
      most = std::max(most, host[at]);
    }
    const auto part = indices.span().first(count);
    CHECK(test::value_of(gpu::subset_sum(f.stream, x, part)) == sum);
    CHECK(test::value_of(gpu::subset_dot(f.stream, x, y.span().subspan(1), part)) == dot);
    if (count == 0) continue;
    CHECK(test::value_of(gpu::subset_min(f.stream, x, part)) == least);
    CHECK(test::value_of(gpu::subset_max(f.stream, x, part)) == most);
  }
}

TEST_CASE("chosen elements of views count in C order", "[algorithm][subset]") {
  const fixture f;
  const std::size_t rows = 30, columns = 50;
  const auto host = numbers<float>(rows * columns);
  auto x = f.upload(host);
  const auto turned = gpu::array_view<const float, 2>::from_native(x.span().native(),
                                                                   {columns, rows}, {1, columns});
  const auto backwards = gpu::array_view<const float, 1>::from_native(
      x.span().native() + (rows * columns - 1) * 4, {rows * columns}, {-1});
  std::vector<std::int64_t> chosen;
  for (std::size_t k = 0; k < 700; ++k)
    chosen.push_back(static_cast<std::int64_t>(k * k % (rows * columns)));
  double sum = 0, dot = 0;
  float least = 1000;
  for (const auto k : chosen) {
    const auto at = static_cast<std::size_t>(k);
    const float in_turned = host[at % rows * columns + at / rows];
    sum += in_turned;
    dot += double{in_turned} * double{host[rows * columns - 1 - at]};
    least = std::min(least, in_turned);
  }
  auto indices = f.upload(chosen);
  CHECK(test::value_of(gpu::subset_sum<double>(f.stream, turned, indices)) == sum);
  CHECK(test::value_of(gpu::subset_dot<double>(f.stream, turned, backwards, indices)) == dot);
  CHECK(test::value_of(gpu::subset_min(f.stream, turned, indices)) == least);
  // Indices from a view: every other one.
  const auto half =
      gpu::array_view<const std::int64_t, 1>::from_native(indices.span().native(), {350}, {2});
  double of_half = 0;
  for (std::size_t k = 0; k < 700; k += 2) of_half += host[static_cast<std::size_t>(chosen[k])];
  CHECK(test::value_of(gpu::subset_sum<double>(f.stream, x, half)) == of_half);
}

TEST_CASE("chosen elements have results for segments, types and NaN", "[algorithm][subset]") {
  const fixture f;
  auto host = numbers<float>(100);
  host[7] = std::numeric_limits<float>::quiet_NaN();
  auto x = f.upload(host);
  auto indices = f.upload(std::vector<std::int32_t>{1, 2, 3, 7, 4, 5, 8, 8, 8});
  auto found = f.make<float>(3), sums = f.make<float>(3), largest = f.make<float>(3),
       dots = f.make<float>(3);
  test::value_of(gpu::subset_min(f.stream, x, indices, found));
  test::value_of(gpu::subset_max(f.stream, x, indices, largest));
  test::value_of(gpu::subset_sum(f.stream, x, indices, sums));
  test::value_of(gpu::subset_dot(f.stream, x, x, indices, dots));
  const auto least = f.download(found), most = f.download(largest), total = f.download(sums),
             products = f.download(dots);
  CHECK((least[0] == std::min({host[1], host[2], host[3]}) && std::isnan(least[1]) &&
         least[2] == host[8]));
  CHECK((most[0] == std::max({host[1], host[2], host[3]}) && std::isnan(most[1]) &&
         most[2] == host[8]));
  CHECK(
      (total[0] == host[1] + host[2] + host[3] && std::isnan(total[1]) && total[2] == 3 * host[8]));
  CHECK((std::isnan(products[1]) && products[2] == 3 * host[8] * host[8]));
  auto numbers = f.upload(std::vector<std::complex<float>>{{1, 2}, {3, 4}});
  auto twice = f.upload(std::vector<std::uint64_t>{1, 1});
  CHECK(test::value_of(gpu::subset_sum(f.stream, numbers, twice)) == std::complex<float>(6, 8));
  CHECK(test::value_of(gpu::subset_dot(f.stream, numbers, numbers, twice)) ==
        std::complex<float>(-14, 48));
}

TEST_CASE("reductions of chosen elements refuse what does not fit", "[algorithm][subset]") {
  const fixture f;
  auto x = f.upload(numbers<float>(10)), results = f.make<float>(2);
  auto indices = f.upload(std::vector<std::int32_t>{1, 2, 3});
  CHECK(test::says(test::error_of(gpu::subset_sum(f.stream, x, indices, results)),
                   "gpu::subset_sum", "3 elements cannot be divided into 2 segments"));
  const auto empty = test::error_of(gpu::subset_sum(f.stream, x.span().first(0), indices));
  CHECK(empty == gpu::errc::invalid_argument);
  CHECK(test::says(empty, "x has 0 elements, but indices has 3"));
  CHECK(test::says(test::error_of(gpu::subset_dot(f.stream, x, x.span().first(0), indices)),
                   "y has 0 elements"));
  const auto none = test::error_of(gpu::subset_max(f.stream, x, indices.span().first(0)));
  CHECK(test::says(none, "gpu::subset_max", "the largest element", "indices has 0 elements"));
  CHECK(test::says(test::error_of(gpu::subset_sum(f.stream, x, indices, x.span().last(1))),
                   "out and x overlap"));
  CHECK(test::says(test::error_of(gpu::subset_dot(f.stream, results, x, indices, x.span().last(1))),
                   "out and y overlap"));
  const auto moved = std::move(x);
  CHECK(test::error_of(gpu::subset_min(f.stream, x, indices)) == gpu::errc::empty_handle);
  const auto gone = std::move(indices);
  CHECK(test::error_of(gpu::subset_min(f.stream, moved, indices)) == gpu::errc::empty_handle);
}

TEST_CASE("reductions of chosen elements are captured into a graph", "[algorithm][subset]") {
  const fixture f;
  auto x = f.upload(std::vector<int>(100, 4)), found = f.make<int>(1);
  auto indices = f.upload(std::vector<std::int32_t>(20'000, 99));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::subset_sum(f.stream, x, indices, found));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(found)[0] == 80'000);
}

TEST_CASE("an index out of range is reported by the CPU driver", "[algorithm][subset][cpu]") {
  for (const std::int32_t wrong : {-5, 1 << 20}) {
    CAPTURE(wrong);
    const test::own_cpu_driver driver;
    const gpu::device device = test::first_device();
    const gpu::stream stream = test::value_of(gpu::stream::create(device));
    auto x = test::value_of(gpu::device_buffer<float>::create(device, 100));
    auto indices = test::value_of(gpu::device_buffer<std::int32_t>::create(device, 2));
    test::value_of(gpu::copy(std::vector<float>(100), x));
    test::value_of(gpu::copy(std::vector{3, wrong}, indices));
    const auto error = test::error_of(gpu::subset_sum(stream, x, indices));
    CHECK(error.code() == CUDA_ERROR_ILLEGAL_ADDRESS);
  }
}

TEST_CASE("each call of a subset's sum may fail", "[algorithm][subset][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<float>::create(stream, 10));
    auto indices = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    GPU_TRY(gpu::fill(stream, x, 1.0f));
    GPU_TRY(gpu::fill(stream, indices, 1));
    GPU_TRY(gpu::subset_sum(stream, x, indices));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large subsets", "[algorithm][subset][hardware]") {
  const fixture f;
  const std::size_t size = (std::size_t{1} << 32) + 3, count = (1 << 24) + 5;
  auto x = f.make<std::uint8_t>(size);
  test::value_of(gpu::fill(f.stream, x, std::uint8_t{1}));
  test::value_of(gpu::fill(f.stream, x.span().last(1), std::uint8_t{3}));
  std::vector<std::uint64_t> chosen(count, size - 1);
  chosen[0] = 0;
  auto indices = f.upload(chosen);
  CHECK(test::value_of(gpu::subset_sum(f.stream, x, indices)) == 3 * (count - 1) + 1);
  CHECK(test::value_of(gpu::subset_min(f.stream, x, indices)) == 1);
}

}  // namespace subset_test
