// Scans against the same on the host, in exact integers, and in double.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/scan.hpp>
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

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace scan_test {

/// x -> factor * x + offset, modulo 2^32: the composition is associative and not commutative.
struct affine {
  std::uint32_t factor, offset;
  std::uint32_t unused[30];  // so that a thread holds one item only
};

}  // namespace scan_test

template <> struct gpu::device_name<scan_test::affine> {
  static constexpr const char* value = "affine";
  static constexpr const char* definition =
      "struct affine { unsigned factor, offset, unused[30]; };";
};

namespace scan_test {

using algorithm_test::fixture;
using int_scan = gpu::scan<std::int64_t, const int*, std::int64_t*>;

gpu::scan_text<std::int64_t> sums() {
  return {.parameters = "x, y",
          .map = "x[i]",
          .combine = "a + b",
          .store = "y[i] = item",
          .neutral = 100};
}

std::vector<int> numbers(std::size_t count) {
  std::vector<int> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<int>(i * 7919 % 1009) - 300;
  return made;
}

TEST_CASE("a scan combines each element with all before it", "[algorithm][scan]") {
  const fixture f;
  auto text = sums();
  const auto inclusive = test::value_of(int_scan::create(text));
  text.exclusive = true;
  const auto exclusive = test::value_of(int_scan::create(text));
  text.backwards = true;
  const auto backwards = test::value_of(int_scan::create(text));
  for (const std::size_t count :
       {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 8191u, 8192u, 8193u, 100'000u}) {
    CAPTURE(count);
    const auto host = numbers(count);
    auto x = f.upload(host);
    auto y = f.make<std::int64_t>(count);
    std::vector<std::int64_t> expected(count);
    test::value_of(inclusive(f.stream, x, y));
    std::inclusive_scan(host.begin(), host.end(), expected.begin(), std::plus<>(), std::int64_t{0});
    CHECK(f.download(y) == expected);
    test::value_of(exclusive(f.stream, x, y));
    std::exclusive_scan(host.begin(), host.end(), expected.begin(), std::int64_t{0});
    if (count > 0) expected[0] = 100;  // the neutral value is not combined with others
    CHECK(f.download(y) == expected);
    test::value_of(backwards(f.stream, x, y));
    std::exclusive_scan(host.rbegin(), host.rend(), expected.rbegin(), std::int64_t{0});
    if (count > 0) expected[count - 1] = 100;
    CHECK(f.download(y) == expected);
  }
}

TEST_CASE("a scan of more tiles than a group has is right", "[algorithm][scan]") {
  // Large items make small tiles: 512 elements each, so these are 300 tiles in 3 groups.
  const fixture f;
  const std::size_t count = 512 * 299 + 17;
  std::vector<affine> host(count);
  for (std::size_t i = 0; i < count; ++i)
    host[i] = {static_cast<std::uint32_t>(2 * i + 1), static_cast<std::uint32_t>(i * 7919), {}};
  auto x = f.upload(host);
  auto y = f.make<affine>(count);
  const auto compose = test::value_of(gpu::scan<affine, const affine*, affine*>::create(
      {.parameters = "x, y",
       .map = "x[i]",
       .combine = "affine{b.factor * a.factor, b.factor * a.offset + b.offset, {}}",
       .store = "y[i] = item",
       .neutral = {1, 0, {}}}));
  test::value_of(compose(f.stream, x, y));
  const auto found = f.download(y);
  affine expected{1, 0, {}};
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    expected = {
        host[i].factor * expected.factor, host[i].factor * expected.offset + host[i].offset, {}};
    wrong += found[i].factor != expected.factor || found[i].offset != expected.offset;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a scan of floats has the same bits for every alignment and in every run",
          "[algorithm][scan]") {
  const fixture f;
  const auto sum =
      test::value_of(gpu::scan<float, const float*, float*>::create({.parameters = "x, y",
                                                                     .map = "x[i]",
                                                                     .combine = "a + b",
                                                                     .store = "y[i] = item",
                                                                     .neutral = 0}));
  const std::size_t count = 50'001;
  std::mt19937 random(3);
  std::vector<float> host(count);
  for (float& each : host) each = std::uniform_real_distribution<float>(-1, 2)(random);
  auto x = f.upload(host), y = f.make<float>(count);
  test::value_of(sum(f.stream, x, y));
  const auto first = f.download(y);
  double exact = 0, worst = 0;
  for (std::size_t i = 0; i < count; ++i) {
    exact += host[i];
    worst = std::max(worst, std::fabs(first[i] - exact));
  }
  CHECK(worst < 0.05);
  const auto same_bits = [&](const std::vector<float>& other) {
    return std::equal(first.begin(), first.end(), other.begin(), [](float a, float b) {
      return std::bit_cast<int>(a) == std::bit_cast<int>(b);
    });
  };
  test::value_of(sum(f.stream, x, y));
  CHECK(same_bits(f.download(y)));
  for (std::size_t skipped = 1; skipped < 4; ++skipped) {
    auto longer = f.make<float>(count + 4);
    const auto part = longer.span().subspan(skipped, count);
    test::value_of(gpu::copy(x, part));
    test::value_of(sum(f.stream, part, part));  // in place
    CHECK(same_bits(f.download(part)));
  }
}

TEST_CASE("segments are scanned each by itself", "[algorithm][scan]") {
  const fixture f;
  for (const bool exclusive : {false, true}) {
    for (const bool backwards : {false, true}) {
      CAPTURE(exclusive, backwards);
      const auto by_key = test::value_of(gpu::scan<int, const int*, const int*, int*>::create(
          {.parameters = "key, x, y",
           .map = "x[i]",
           .combine = "a + b",
           .store = "y[i] = item",
           .neutral = -5,
           .exclusive = exclusive,
           .backwards = backwards,
           .segment_start = backwards ? "i == n - 1 || key[i] != key[i + 1]"
                                      : "i == 0 || key[i] != key[i - 1]"}));
      const std::size_t count = 40'000;
      const auto host = numbers(count);
      std::vector<int> keys(count), expected(count);
      for (std::size_t i = 0; i < count; ++i)
        keys[i] = static_cast<int>(std::sqrt(double(i)) * 3) / 2;
      int total = 0;
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t i = backwards ? count - 1 - k : k;
        const std::size_t before = backwards ? i + 1 : i - 1;
        const bool starts = k == 0 || keys[i] != keys[before];
        if (exclusive) {
          expected[i] = starts ? -5 : total;
          total = starts ? host[i] : total + host[i];
        } else {
          expected[i] = total = starts ? host[i] : total + host[i];
        }
      }
      auto key = f.upload(keys), x = f.upload(host), y = f.make<int>(count);
      test::value_of(by_key(f.stream, key, x, y));
      CHECK(f.download(y) == expected);
    }
  }
}

TEST_CASE("a scan whose store chooses the place selects elements", "[algorithm][scan]") {
  const fixture f;
  const auto select =
      test::value_of(gpu::scan<int, const int*, gpu::raw<int*>, gpu::raw<int*>>::create(
          {.parameters = "x, chosen, count",
           .map = "x[i] > 0",
           .combine = "a + b",
           .store = "if (x[i] > 0) chosen[item - 1] = x[i]; if (i == n - 1) *count = item;",
           .neutral = 0}));
  const auto host = numbers(30'000);
  std::vector<int> expected;
  for (const int each : host) {
    if (each > 0) expected.push_back(each);
  }
  auto x = f.upload(host), chosen = f.make<int>(expected.size()), count = f.make<int>(1);
  test::value_of(select(f.stream, x, chosen, count));
  CHECK(f.download(count)[0] == static_cast<int>(expected.size()));
  CHECK(f.download(chosen) == expected);
}

TEST_CASE("a scan works on views", "[algorithm][scan]") {
  const fixture f;
  const auto scan = test::value_of(int_scan::create(sums()));
  const auto host = numbers(60 * 70);
  auto x = f.upload(host);
  auto y = f.make<std::int64_t>(host.size());
  test::value_of(scan(
      f.stream, gpu::array_view<int, 2>::from_native(x.span().native(), {70, 60}, {1, 70}), y));
  const auto found = f.download(y);
  std::int64_t total = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    total += host[i / 60 + i % 60 * 70];
    wrong += found[i] != total;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a scan is captured, and refuses what does not fit", "[algorithm][scan]") {
  const fixture f;
  const auto scan = test::value_of(int_scan::create(sums()));
  const auto host = numbers(20'000);
  auto x = f.upload(host);
  auto y = f.make<std::int64_t>(host.size());
  const auto sizes = test::error_of(scan(f.stream, x, y.span().first(5)));
  CHECK(test::says(sizes, "x has 20000 elements", "y has 5"));
  CHECK(test::error_of(int_scan()(f.stream, x, y)) == gpu::errc::empty_handle);
  auto text = sums();
  text.combine = "a +* b";
  text.options.name = "broken";
  CHECK(test::says(test::error_of(int_scan::create(text)), "broken.combine:1"));

  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(scan(f.stream, x, y));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(y).back() == std::accumulate(host.begin(), host.end(), std::int64_t{0}));
}

TEST_CASE("each call of a scan may fail", "[algorithm][scan][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    auto y = GPU_TRY(gpu::device_buffer<std::int64_t>::create(stream, 20'000));
    const auto scan =
        GPU_TRY((gpu::scan<std::int64_t, const int*, std::int64_t*>::create({.parameters = "x, y",
                                                                             .map = "i",
                                                                             .combine = "a + b",
                                                                             .store = "y[i] = item",
                                                                             .neutral = 0})));
    GPU_TRY(scan(stream, x, y));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large scans", "[algorithm][scan][hardware]") {
  const fixture f;
  const auto positions =
      test::value_of(gpu::scan<std::int64_t, std::uint8_t*, gpu::raw<unsigned long long*>>::create(
          {.parameters = "x, wrong",
           .map = "1",
           .combine = "a + b",
           .store = "if (item != i + 1) atomicAdd(wrong, 1ull);",
           .neutral = 0}));
  for (const std::size_t count : {(std::size_t{1} << 20) - 1, (std::size_t{1} << 20) + 1,
                                  (std::size_t{1} << 24) + 5, (std::size_t{1} << 32) + 3}) {
    CAPTURE(count);
    auto x = f.make<std::uint8_t>(count);
    auto wrong = f.upload(std::vector<unsigned long long>{0});
    test::value_of(positions(f.stream, x, wrong));
    CHECK(f.download(wrong)[0] == 0);
  }
}

}  // namespace scan_test
