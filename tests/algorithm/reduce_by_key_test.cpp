// Values combined by key against a loop on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/reduce_by_key.hpp>
#include <gpu/algorithm/select/scan_compaction.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace reduce_by_key_test {

/// x -> factor * x + offset, modulo 2^32: the composition is associative and not commutative.
struct affine {
  std::uint32_t factor, offset;
  std::uint32_t unused[30];  // so that a thread holds one item only
};

}  // namespace reduce_by_key_test

template <> struct gpu::device_name<reduce_by_key_test::affine> {
  static constexpr const char* value = "affine";
  static constexpr const char* definition =
      "struct affine { unsigned factor, offset, unused[30]; };";
};

namespace reduce_by_key_test {

using algorithm_test::fixture;

std::vector<int> keys_of(std::size_t count, std::size_t longest) {
  std::vector<int> made;
  for (std::size_t run = 0; made.size() < count; ++run) {
    for (std::size_t k = 0; k < run * 7919 % longest + 1 && made.size() < count; ++k)
      made.push_back(static_cast<int>(run * 31 % 1000));
  }
  return made;
}

template <class R, class V, class Combine>
void reduce_on_host(const std::vector<int>& keys, const std::vector<V>& values,
                    std::vector<int>& out_keys, std::vector<R>& out_values, Combine combine) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i == 0 || keys[i] != keys[i - 1]) {
      out_keys.push_back(keys[i]);
      out_values.push_back(static_cast<R>(values[i]));
    } else {
      out_values.back() = combine(out_values.back(), static_cast<R>(values[i]));
    }
  }
}

TEST_CASE("reduce_by_key sums the values of each run of keys", "[algorithm][reduce_by_key]") {
  const fixture f;
  for (const std::size_t count :
       {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 8192u, 8193u, 50'000u}) {
    for (const std::size_t longest : {1u, 3u, 50u, 30'000u}) {
      CAPTURE(count, longest);
      const auto host_keys = keys_of(count, longest);
      std::vector<std::int16_t> host(count);
      for (std::size_t i = 0; i < count; ++i)
        host[i] = static_cast<std::int16_t>(static_cast<int>(i * 7919 % 60'000) - 30'000);
      std::vector<int> expected_keys;
      std::vector<std::int64_t> expected;
      reduce_on_host(host_keys, host, expected_keys, expected, std::plus<>());
      auto keys = f.upload(host_keys), out_keys = f.make<int>(count);
      auto values = f.upload(host);
      auto out = f.make<std::int64_t>(count);
      REQUIRE(test::value_of(gpu::reduce_by_key(f.stream, keys, values, out_keys, out)) ==
              expected.size());
      const auto found_keys = f.download(out_keys);
      const auto found = f.download(out);
      CHECK(std::equal(expected_keys.begin(), expected_keys.end(), found_keys.begin()));
      CHECK(std::equal(expected.begin(), expected.end(), found.begin()));
    }
  }
}

TEST_CASE("values are combined in order, in more tiles than a group has",
          "[algorithm][reduce_by_key]") {
  // Large values make small tiles: 512 elements each, so these are 280 tiles in 3 groups.
  const fixture f;
  const std::size_t count = 512 * 279 + 17;
  for (const std::size_t longest : {20u, 90'000u}) {
    CAPTURE(longest);
    const auto host_keys = keys_of(count, longest);
    std::vector<affine> host(count);
    for (std::size_t i = 0; i < count; ++i)
      host[i] = {static_cast<std::uint32_t>(2 * i + 1), static_cast<std::uint32_t>(i * 7919), {}};
    std::vector<int> expected_keys;
    std::vector<affine> expected;
    reduce_on_host(host_keys, host, expected_keys, expected, [](const affine& a, const affine& b) {
      return affine{b.factor * a.factor, b.factor * a.offset + b.offset, {}};
    });
    auto keys = f.upload(host_keys), out_keys = f.make<int>(expected.size());
    auto values = f.upload(host), out = f.make<affine>(expected.size());
    REQUIRE(test::value_of(gpu::reduce_by_key(
                f.stream, keys, values, out_keys, out,
                "affine{b.factor * a.factor, b.factor * a.offset + b.offset, {}}")) ==
            expected.size());
    CHECK(f.download(out_keys) == expected_keys);
    const auto found = f.download(out);
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < expected.size(); ++k)
      wrong += found[k].factor != expected[k].factor || found[k].offset != expected[k].offset;
    CHECK(wrong == 0);
  }
}

TEST_CASE("sums by key have the same bits in every run and from every address",
          "[algorithm][reduce_by_key]") {
  const fixture f;
  const std::size_t count = 60'000;
  const auto host_keys = keys_of(count, 9000);
  std::mt19937 random(5);
  std::vector<float> host(count);
  for (float& each : host) each = std::uniform_real_distribution<float>(-1, 2)(random);
  std::vector<int> expected_keys;
  std::vector<double> expected;
  reduce_on_host(host_keys, host, expected_keys, expected, std::plus<>());
  auto keys = f.upload(host_keys), out_keys = f.make<int>(count);
  auto values = f.upload(host), out = f.make<float>(count);
  const std::size_t runs =
      test::value_of(gpu::reduce_by_key(f.stream, keys, values, out_keys, out));
  REQUIRE(runs == expected.size());
  const auto first = f.download(out);
  double worst = 0;
  for (std::size_t k = 0; k < runs; ++k)
    worst = std::max(worst, std::fabs(double{first[k]} - expected[k]));
  CHECK(worst < 0.01);
  const auto check = [&](const auto& sums) {
    const auto again = f.download(sums);
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < runs; ++k)
      wrong += std::bit_cast<int>(again[k]) != std::bit_cast<int>(first[k]);
    CHECK(wrong == 0);
  };
  test::value_of(gpu::reduce_by_key(f.stream, keys, values, out_keys, out));
  check(out);
  auto moved = f.make<float>(count + 1), out_moved = f.make<float>(count + 1);
  test::value_of(gpu::copy(values, moved.span().subspan(1)));
  test::value_of(gpu::reduce_by_key(f.stream, keys, moved.span().subspan(1), out_keys,
                                    out_moved.span().subspan(1).first(count)));
  check(out_moved.span().subspan(1));
}

TEST_CASE("counts of 64 bits and other snippets combine by key", "[algorithm][reduce_by_key]") {
  const fixture f;
  const auto host_keys = keys_of(30'000, 7);
  std::vector<int> expected_keys, expected;
  reduce_on_host(host_keys, host_keys, expected_keys, expected, [](int a, int b) { return a ^ b; });
  auto keys = f.upload(host_keys), out_keys = f.make<int>(expected.size());
  auto out = f.make<int>(expected.size()), count = f.make<int>(1);
  auto& wide = *test::value_of(
      gpu::detail::find_reduce_by_key<int, int, int, int>(std::size_t{1} << 32, "a ^ b", {}));
  CHECK(wide.wide);
  gpu::detail::bound_argument<const int*> of_runs(keys), values(keys);
  const gpu::detail::loop_argument list[] = {of_runs.get(), values.get()};
  test::value_of(gpu::detail::run_compaction(
      wide, f.stream, {}, list, 2,
      {gpu::detail::name_elements("out_keys", out_keys), gpu::detail::name_elements("out", out),
       gpu::detail::name_count(count)}));
  CHECK(f.download(count)[0] == static_cast<int>(expected.size()));
  CHECK(f.download(out_keys) == expected_keys);
  CHECK(f.download(out) == expected);
  test::value_of(gpu::reduce_by_key(f.stream, keys, keys, out_keys, out, count, "max(a, b)"));
  CHECK(f.download(out) == expected_keys);
}

TEST_CASE("reduce_by_key refuses what does not fit", "[algorithm][reduce_by_key]") {
  const fixture f;
  auto keys = f.upload(std::vector<int>(100, 1)), values = f.make<int>(99);
  auto out_keys = f.make<int>(50), out = f.make<int>(49);
  test::value_of(gpu::fill(f.stream, values, 1));
  const auto sizes = test::error_of(gpu::reduce_by_key(f.stream, keys, values, out_keys, out));
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "gpu::reduce_by_key", "out_keys has 50 elements", "out_values has 49"));
  const auto lengths =
      test::error_of(gpu::reduce_by_key(f.stream, keys, values, out_keys.span().first(49), out));
  CHECK(test::says(lengths, "keys has 100 elements", "values has 99"));
  const auto overlap =
      test::error_of(gpu::reduce_by_key(f.stream, keys, keys, keys.span().first(50), out_keys));
  CHECK(test::says(overlap, "keys and out_keys overlap"));
  const auto text = test::error_of(
      gpu::reduce_by_key(f.stream, values, values, out_keys, keys.span().first(50), "a + c"));
  CHECK(text == gpu::errc::compile_failed);
  CHECK(test::says(text, "combine:1"));
}

TEST_CASE("sums by key are captured into a graph", "[algorithm][reduce_by_key]") {
  const fixture f;
  const auto host_keys = keys_of(20'000, 5);
  std::vector<int> expected_keys, expected;
  reduce_on_host(host_keys, host_keys, expected_keys, expected, std::plus<>());
  auto keys = f.upload(host_keys), out_keys = f.make<int>(expected.size());
  auto out = f.make<int>(expected.size()), count = f.make<int>(1);
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  CHECK(test::error_of(gpu::reduce_by_key(f.stream, keys, keys, out_keys, out)) ==
        gpu::errc::capture_prohibited);
  test::value_of(gpu::reduce_by_key(f.stream, keys, keys, out_keys, out, count));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(out_keys) == expected_keys);
  CHECK(f.download(out) == expected);
}

TEST_CASE("each call of reduce_by_key may fail", "[algorithm][reduce_by_key][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    auto keys = GPU_TRY(gpu::device_buffer<int>::create(stream, 5));
    auto sums = GPU_TRY(gpu::device_buffer<int>::create(stream, 5));
    GPU_TRY(gpu::fill(stream, x, 1));
    GPU_TRY(gpu::reduce_by_key(stream, x, x, keys, sums));
    return {};
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}  // namespace reduce_by_key_test
