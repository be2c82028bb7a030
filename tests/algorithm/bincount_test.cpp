// Counts and sums of weights by integer against the same on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/bincount.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace bincount_test {

using algorithm_test::fixture;

/// Integers below `bins` for the most part; some are negative or larger.
template <class T> std::vector<T> integers(std::size_t count, std::size_t bins) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = i * 0x9e3779b97f4a7c15 >> 20;
    made[i] = static_cast<T>(i % 50 == 13 ? bits : bits % (bins + 1));
    if (std::is_signed_v<T> && i % 20 == 7) made[i] = static_cast<T>(-1 - static_cast<int>(i % 3));
  }
  return made;
}
template <class T> bool has_bin(T value, std::size_t bins) {
  if constexpr (std::is_signed_v<T>) {
    if (value < 0) return false;
  }
  return static_cast<std::uint64_t>(value) < bins;
}

template <class Count, class T>
void check_counts(const fixture& f, const std::vector<T>& host, std::size_t bins) {
  CAPTURE(host.size(), bins);
  std::vector<Count> expected(bins + 1);
  for (const T each : host) {
    if (has_bin(each, bins)) ++expected[static_cast<std::size_t>(each)];
  }
  expected[bins] = 77;
  const auto x = f.upload(host);
  auto counts = f.upload(std::vector<Count>(bins + 1, Count(77)));
  test::value_of(gpu::bincount(f.stream, x, counts.span().first(bins)));
  CHECK(f.download(counts) == expected);
}

TEST_CASE("bincount counts each integer", "[algorithm][bincount]") {
  const fixture f;
  for (const std::size_t count : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 70'001u}) {
    for (const std::size_t bins : {0u, 1u, 10u, 256u, 12'288u, 20'000u})
      check_counts<std::uint32_t>(f, integers<std::int32_t>(count, bins), bins);
  }
}

TEMPLATE_TEST_CASE("integers of any type are counted", "[algorithm][bincount]", std::int8_t,
                   std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
  const fixture f;
  for (const std::size_t bins : {1u, 100u, 256u, 300u, 40'000u}) {
    check_counts<std::int64_t>(f, integers<TestType>(5003, bins), bins);
    check_counts<std::int32_t>(f, integers<TestType>(5003, bins), bins);
  }
}

TEST_CASE("bincount_length is one more than the largest integer", "[algorithm][bincount]") {
  const fixture f;
  const auto length = [&](const auto& host, std::size_t minimum = 0) {
    const auto x = f.upload(host);
    return gpu::bincount_length(f.stream, x, minimum);
  };
  CHECK(test::value_of(length(std::vector<int>{})) == 0);
  CHECK(test::value_of(length(std::vector<int>{}, 5)) == 5);
  CHECK(test::value_of(length(std::vector<int>{0})) == 1);
  CHECK(test::value_of(length(std::vector<std::uint8_t>{3, 255, 0}, 10)) == 256);
  CHECK(test::value_of(length(std::vector<std::int64_t>{3, 1'000'000'000'000}, 10)) ==
        1'000'000'000'001);
  CHECK(test::value_of(length(std::vector<int>{3, 4}, 10)) == 10);
  std::vector<std::int16_t> many(50'000, 8);
  many[43'210] = 1234;
  CHECK(test::value_of(length(many)) == 1235);
  many[321] = -3;
  many[322] = -1;
  const auto negative = test::error_of(length(many));
  CHECK(negative == gpu::errc::index_out_of_range);
  CHECK(test::says(negative, "gpu::bincount_length", "element -3 at position 321 has no bin"));
  CHECK(
      test::says(test::error_of(length(std::vector<std::int8_t>{-1})), "element -1 at position 0"));
}

/// The sums must be exact here: the weights are integers.
template <class Weight, class Sum, class T>
void check_sums(const fixture& f, const std::vector<T>& host, std::size_t bins) {
  CAPTURE(host.size(), bins);
  std::vector<Weight> host_weights;
  std::vector<Sum> expected(bins + 1);
  for (std::size_t i = 0; i < host.size(); ++i) {
    host_weights.push_back(static_cast<Weight>(static_cast<std::int8_t>(i % 17)));
    if (has_bin(host[i], bins))
      expected[static_cast<std::size_t>(host[i])] +=
          static_cast<Sum>(static_cast<std::int8_t>(i % 17));
  }
  expected[bins] = Sum(77);
  const auto x = f.upload(host);
  const auto weights = f.upload(host_weights);
  auto sums = f.upload(std::vector<Sum>(bins + 1, Sum(77)));
  test::value_of(gpu::bincount(f.stream, x, weights, sums.span().first(bins)));
  CHECK(f.download(sums) == expected);
}

TEST_CASE("bincount adds weights up", "[algorithm][bincount]") {
  const fixture f;
  for (const std::size_t count : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1025u, 30'001u}) {
    for (const std::size_t bins : {0u, 1u, 10u, 3000u})
      check_sums<float, double>(f, integers<std::int32_t>(count, bins), bins);
  }
  check_sums<float, float>(f, integers<std::int8_t>(2000, 50), 50);
  check_sums<std::int32_t, std::int64_t>(f, integers<std::uint64_t>(2000, 50), 50);
  check_sums<std::complex<float>, std::complex<float>>(f, integers<std::int16_t>(2000, 50), 50);
}

TEST_CASE("sums of weights are near those in double, with the same bits each time",
          "[algorithm][bincount]") {
  const fixture f;
  const auto host = integers<std::int32_t>(50'000, 20);
  std::vector<float> host_weights;
  std::vector<double> expected(20), sizes(20);
  for (std::size_t i = 0; i < host.size(); ++i) {
    host_weights.push_back(std::sin(static_cast<float>(i)));
    if (!has_bin(host[i], 20)) continue;
    expected[static_cast<std::size_t>(host[i])] += static_cast<double>(host_weights.back());
    sizes[static_cast<std::size_t>(host[i])] += std::fabs(static_cast<double>(host_weights.back()));
  }
  const auto x = f.upload(host);
  const auto weights = f.upload(host_weights);
  auto sums = f.make<float>(20);
  std::vector<float> first;
  for (int round = 0; round < 3; ++round) {
    test::value_of(gpu::bincount(f.stream, x, weights, sums));
    const auto found = f.download(sums);
    if (round == 0) first = found;
    CHECK(std::memcmp(first.data(), found.data(), 20 * sizeof(float)) == 0);
    for (std::size_t k = 0; k < 20; ++k)
      CHECK(std::fabs(static_cast<double>(found[k]) - expected[k]) <= 1e-6 * sizes[k]);
  }
}

TEST_CASE("bincount refuses what does not fit", "[algorithm][bincount]") {
  const fixture f;
  auto x = f.upload(integers<std::int32_t>(100, 10));
  auto counts = f.make<std::int32_t>(10);
  const auto weights = f.upload(std::vector<float>(99));
  auto sums = f.make<float>(10);
  const auto sizes = test::error_of(gpu::bincount(f.stream, x, weights, sums));
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "gpu::bincount", "x has 100 elements", "weights has 99"));
  CHECK(test::says(test::error_of(gpu::bincount(f.stream, x, x.span().first(10))), "gpu::bincount",
                   "x and counts overlap"));
  CHECK(test::says(test::error_of(gpu::bincount(f.stream, x, x, x.span().first(10))),
                   "x and sums overlap"));
  const auto large =
      gpu::device_span<const char>::from_native(CUdeviceptr{1} << 40, std::size_t{1} << 31);
  CHECK(test::says(test::error_of(gpu::bincount(f.stream, large, counts)), "2147483648 elements",
                   "at most 2147483647", "64 bits"));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  const auto waiting = test::error_of(gpu::bincount_length(f.stream, x));
  CHECK(waiting == gpu::errc::capture_prohibited);
  CHECK(test::says(waiting, "gpu::bincount_length", "before the capture"));
  test::value_of(capture.end());
  auto moved = std::move(x);
  CHECK(test::error_of(gpu::bincount(f.stream, x, counts)) ==  // NOLINT
        gpu::errc::empty_handle);
}

TEST_CASE("sums of weights are captured into a graph", "[algorithm][bincount]") {
  const fixture f;
  const auto x = f.upload(std::vector<int>{1, 0, 1, 5, -1, 1});
  const auto weights = f.upload(std::vector<float>{1, 2, 3, 4, 5, 6});
  auto sums = f.make<float>(3);
  auto counts = f.make<std::uint32_t>(3);
  const auto both = [&] {
    test::value_of(gpu::bincount(f.stream, x, weights, sums));
    test::value_of(gpu::bincount(f.stream, x, counts));
  };
  both();  // compiles
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  both();
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  for (int round = 0; round < 2; ++round) {
    test::value_of(gpu::fill(f.stream, sums, 9.0f));
    test::value_of(gpu::launch(f.stream, executable));
    CHECK(f.download(sums) == std::vector<float>{2, 10, 0});
    CHECK(f.download(counts) == std::vector<std::uint32_t>{1, 3, 0});
  }
}

TEST_CASE("the first allocations of bincount may fail", "[algorithm][bincount][cpu]") {
  const fixture f;
  const auto x = f.upload(std::vector<std::uint16_t>{1, 0, 1});
  auto sums = f.make<std::uint16_t>(2);
  algorithm_test::check_first_allocations([&] { return gpu::bincount(f.stream, x, x, sums); });
  algorithm_test::check_first_allocations([&]() -> gpu::result<> {
    static_cast<void>(GPU_TRY(gpu::bincount_length(f.stream, x)));
    return {};
  });
}

TEST_CASE("each call of bincount may fail", "[algorithm][bincount][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 3000));
    auto weights = GPU_TRY(gpu::device_buffer<float>::create(stream, 3000));
    auto counts = GPU_TRY(gpu::device_buffer<std::uint32_t>::create(stream, 10));
    auto sums = GPU_TRY(gpu::device_buffer<float>::create(stream, 10));
    GPU_TRY(gpu::fill(stream, x, 3));
    GPU_TRY(gpu::fill(stream, weights, 1.0f));
    GPU_TRY(gpu::bincount(stream, x, counts));
    GPU_TRY(gpu::bincount(stream, x, weights, sums));
    GPU_TRY(gpu::bincount_length(stream, x));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large counts of integers", "[algorithm][bincount][hardware]") {
  const fixture f;
  for (const std::size_t count : {(1u << 20) - 1, (1u << 20) + 1, (1u << 24) + 5}) {
    for (const std::size_t bins : {10u, 256u, 12'288u, 1'000'000u}) {
      check_counts<std::uint32_t>(f, integers<std::int32_t>(count, bins), bins);
      check_sums<float, double>(f, integers<std::int32_t>(count, bins), bins);
    }
  }
  const std::size_t count = (std::size_t{1} << 32) + 17;
  auto x = f.make<std::uint8_t>(count);
  test::value_of(gpu::fill(f.stream, x, std::uint8_t{7}));
  auto counts = f.make<std::uint64_t>(8);
  test::value_of(gpu::bincount(f.stream, x, counts));
  CHECK(f.download(counts)[7] == count);
  CHECK(test::value_of(gpu::bincount_length(f.stream, x)) == 8);
}

}  // namespace bincount_test
