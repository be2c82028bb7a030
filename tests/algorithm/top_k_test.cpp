// The largest and smallest keys, against std::partial_sort of positions.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/algorithm/top_k.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace top_k_test {

using gpu::sort_order;

using algorithm_test::fixture;

template <class T> bool is_before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  }
  return a < b;
}

template <class T>
std::vector<std::size_t> expected_first(const std::vector<T>& keys, std::size_t count,
                                        sort_order order) {
  std::vector<std::size_t> positions(keys.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  const auto comes_first = [&](std::size_t a, std::size_t b) {
    const bool ascends = order == sort_order::ascending;
    if (is_before(keys[a], keys[b])) return ascends;
    if (is_before(keys[b], keys[a])) return !ascends;
    return a < b;
  };
  std::partial_sort(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(count),
                    positions.end(), comes_first);
  positions.resize(count);
  return positions;
}

/// Checks the first `count` of the keys, in both orders.
template <class Index, class T>
void check_top(fixture& f, const std::vector<T>& keys, std::size_t count) {
  const auto device_keys = f.upload(keys);
  for (const sort_order order : {sort_order::descending, sort_order::ascending}) {
    CAPTURE(keys.size(), count, static_cast<int>(order));
    auto out_keys = f.upload(std::vector<T>(count + 1, T(7)));
    auto out_indices = f.upload(std::vector<Index>(count + 1, Index(7)));
    test::value_of(gpu::top_k(f.stream, device_keys, out_keys.span().first(count),
                              out_indices.span().first(count), order));
    const auto expected = expected_first(keys, count, order);
    const auto found_keys = f.download(out_keys);
    const auto found_indices = f.download(out_indices);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      wrong += static_cast<std::size_t>(found_indices[i]) != expected[i];
      wrong += std::memcmp(&found_keys[i], &keys[expected[i]], sizeof(T)) != 0;
    }
    CHECK(wrong == 0);
    CHECK(found_keys[count] == T(7));
    CHECK(found_indices[count] == Index(7));
  }
}

template <class T> std::vector<T> bits_of_all_kinds(std::size_t count) {
  std::mt19937_64 random(5);
  std::vector<T> keys(count);
  for (T& key : keys) {
    const std::uint64_t bits = random();
    std::memcpy(&key, &bits, sizeof key);
  }
  return keys;
}

TEST_CASE("one block finds the first of few keys", "[algorithm][top_k]") {
  fixture f;
  for (const std::size_t n : {1u, 2u, 33u, 1000u, 4096u}) {
    const auto keys = bits_of_all_kinds<float>(n);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, n / 2, n})
      check_top<std::uint32_t>(f, keys, count);
  }
}

TEST_CASE("the first of many keys are found", "[algorithm][top_k]") {
  fixture f;
  for (const std::size_t n : {4097u, 30'000u}) {
    const auto floats = bits_of_all_kinds<float>(n);
    for (const std::size_t count : {1u, 2u, 100u, 4097u})
      check_top<std::uint32_t>(f, floats, count);
    check_top<std::uint32_t>(f, floats, n);
  }
  check_top<std::int64_t>(f, bits_of_all_kinds<double>(10'000), 50);
  check_top<std::int32_t>(f, bits_of_all_kinds<signed char>(10'000), 150);
}

TEST_CASE("of equal keys the first ones are selected", "[algorithm][top_k]") {
  fixture f;
  std::vector<float> keys(20'000);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = i % 7 == 0      ? 0.0f
              : i % 7 == 1    ? -0.0f
              : i % 1000 == 2 ? NAN
              : i % 1000 == 9 ? -NAN
                              : 1;
  }
  for (const std::size_t count : {1u, 39u, 41u, 5000u, 19'999u})
    check_top<std::uint32_t>(f, keys, count);
}

TEST_CASE("the first of equal keys alone are found", "[algorithm][top_k]") {
  fixture f;
  check_top<std::uint32_t>(f, std::vector<float>(9000, 2.5f), 1000);
}

TEST_CASE("the first of very many keys are found", "[algorithm][top_k][hardware]") {
  fixture f;
  const auto keys = bits_of_all_kinds<float>((1u << 24) + 5);
  for (const std::size_t count : {1u, 1000u, 100'000u}) check_top<std::uint32_t>(f, keys, count);
}

TEST_CASE("what top_k cannot do is rejected", "[algorithm][top_k]") {
  fixture f;
  auto keys = f.upload(std::vector<float>(10));
  auto out = f.upload(std::vector<float>(11));
  auto indices = f.upload(std::vector<int>(11));
  CHECK(test::says(test::error_of(gpu::top_k(f.stream, keys, out, indices)), "gpu::top_k",
                   "11 keys", "only 10", "at most"));
  CHECK(test::says(test::error_of(gpu::top_k(f.stream, keys, out.span().first(3), indices)),
                   "out_keys has 3", "out_indices has 11"));
  CHECK(test::says(
      test::error_of(gpu::top_k(f.stream, keys, keys.span().first(3), indices.span().first(3))),
      "keys and out_keys overlap"));
  CHECK(test::says(test::error_of(gpu::top_k(f.stream, keys, out.span().first(1),
                                             indices.span().first(1), static_cast<sort_order>(9))),
                   "9 is not a valid gpu::sort_order"));
  const std::size_t many = (std::size_t{1} << 31) + 1;
  const auto large = gpu::device_span<const float>::from_native(CUdeviceptr{1} << 40, many);
  CHECK(test::says(
      test::error_of(gpu::top_k(f.stream, large, out.span().first(1), indices.span().first(1))),
      "2147483649 elements", "out_indices", "2147483648"));
}

TEST_CASE("each call of top_k may fail", "[algorithm][top_k][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto keys = GPU_TRY(gpu::device_buffer<float>::create(stream, 5000));
    auto out = GPU_TRY(gpu::device_buffer<float>::create(stream, 5));
    auto indices = GPU_TRY(gpu::device_buffer<std::uint32_t>::create(stream, 5));
    GPU_TRY(gpu::fill(stream, keys, 3.0f));
    GPU_TRY(gpu::top_k(stream, keys, out, indices));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}  // namespace top_k_test
