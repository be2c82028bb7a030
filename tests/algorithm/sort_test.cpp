// Sorting, against std::stable_sort of positions by values in double or exact integers.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/sort.hpp>
#include <gpu/algorithm/sort/run_sort_inl.hpp>
#include <gpu/algorithm/sort/sort_kernel.hpp>
#include <gpu/algorithm/sort/sort_program.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace sort_test {

/// Numbers of 16 bits, under the names that the device knows.
struct half {
  std::uint16_t bits;
};
struct bfloat16 {
  std::uint16_t bits;
};

}  // namespace sort_test

template <> struct gpu::device_name<sort_test::half> {
  static constexpr const char value[] = "__half";
};
template <> struct gpu::device_name<sort_test::bfloat16> {
  static constexpr const char value[] = "__nv_bfloat16";
};

namespace sort_test {

using gpu::sort_order;

using algorithm_test::fixture;

float value_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const float mantissa = static_cast<float>(bits & 1023);
  const float sign = (bits & 0x8000) != 0 ? -1.f : 1.f;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

/// The number that a key stands for, in a type that compares it exactly.
template <class T> auto number(T key) {
  if constexpr (std::is_same_v<T, half>) {
    return value_of_half(key.bits);
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    float value;
    const std::uint32_t bits = std::uint32_t{key.bits} << 16;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  } else {
    return key;
  }
}

/// Returns whether a key comes before another one in NumPy's order.
template <class T> bool is_before(T a, T b) {
  const auto x = number(a), y = number(b);
  if constexpr (std::is_floating_point_v<decltype(x)>) {
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x);
  }
  return x < y;
}
template <class T> bool is_nan(T key) {
  if constexpr (std::is_floating_point_v<decltype(number(key))>) return std::isnan(number(key));
  return false;
}

/// std::stable_sort, of many positions in several threads: alone it takes minutes for the largest.
template <class Before>
void stable_sort(std::vector<std::size_t>::iterator first, std::vector<std::size_t>::iterator last,
                 const Before& before) {
  if (last - first < 1 << 20) return std::stable_sort(first, last, before);
  const auto middle = first + (last - first) / 2;
  const auto half = std::async(std::launch::async, [&] { stable_sort(first, middle, before); });
  stable_sort(middle, last, before);
  half.wait();
  std::inplace_merge(first, middle, last, before);
}

template <class T>
std::vector<std::size_t> expected_order(const std::vector<T>& keys, sort_order order) {
  std::vector<std::size_t> positions(keys.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  stable_sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) {
    if (is_nan(keys[a]) && is_nan(keys[b])) return false;
    return order == sort_order::ascending ? is_before(keys[a], keys[b])
                                          : is_before(keys[b], keys[a]);
  });
  return positions;
}
template <class T>
std::vector<T> gathered(const std::vector<T>& from, const std::vector<std::size_t>& order) {
  std::vector<T> made(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) made[i] = from[order[i]];
  return made;
}
template <class T> bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Keys of all bit patterns, with many equal ones and, among floating-point numbers, zeros,
/// infinities and NaN of both signs.
template <class T> std::vector<T> some_keys(std::size_t count, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<T> keys(count);
  constexpr std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(T) - 1);
  for (T& key : keys) {
    const std::uint64_t kind = random() % 16;
    std::uint64_t bits = random();
    if constexpr (std::is_floating_point_v<decltype(number(key))>) {
      if (kind == 0) bits &= sign;                        // 0, -0
      if (kind == 1) bits |= (sign - 1) & ~(sign >> 12);  // NaN: all bits of the exponent
    } else if (kind < 4) {
      bits %= 3;
    }
    std::memcpy(&key, &bits, sizeof key);
    if constexpr (std::is_floating_point_v<T>) {
      if (kind == 2) key = std::copysign(std::numeric_limits<T>::infinity(), key);
    }
  }
  return keys;
}

template <class T> void check_sort(fixture& f, std::size_t count, sort_order order) {
  CAPTURE(count, static_cast<int>(order));
  using stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
  std::vector<stored> host = some_keys<stored>(count + 1);
  if constexpr (std::is_same_v<T, bool>) {
    for (unsigned char& key : host) key &= 1;
  }
  auto device = f.upload(host);
  const auto keys =  // not aligned further
      gpu::device_span<T>::from_native(device.span().native() + sizeof(T), count);
  test::value_of(gpu::sort(f.stream, keys, order));
  const std::vector<stored> found = f.download(device);
  const std::vector<stored> unsorted(host.begin() + 1, host.end());
  std::vector<stored> expected = gathered(unsorted, expected_order(unsorted, order));
  expected.insert(expected.begin(), host[0]);
  CHECK(same_bits(found, expected));
}

TEMPLATE_TEST_CASE("few keys of each type are sorted as NumPy sorts them", "[algorithm][sort]",
                   bool, char, signed char, unsigned char, short, unsigned short, char16_t, int,
                   unsigned, long long, unsigned long, float, double, half, bfloat16) {
  fixture f;
  for (const sort_order order : {sort_order::ascending, sort_order::descending}) {
    for (const std::size_t count : {0u, 1u, 2u, 33u, 1023u}) check_sort<TestType>(f, count, order);
  }
}

TEST_CASE("one block sorts up to 4096 keys", "[algorithm][sort]") {
  fixture f;
  for (const std::size_t count : {31u, 32u, 511u, 512u, 513u, 1024u, 1025u, 4095u, 4096u})
    check_sort<int>(f, count, sort_order::ascending);
}

TEMPLATE_TEST_CASE("many keys are sorted as NumPy sorts them", "[algorithm][sort]", bool,
                   signed char, half, int, unsigned, float, double) {
  fixture f;
  check_sort<TestType>(f, 4097, sort_order::descending);
  check_sort<TestType>(f, 30'001, sort_order::ascending);
}

TEST_CASE("keys are sorted around the sizes of tiles", "[algorithm][sort]") {
  fixture f;
  const std::size_t small = gpu::detail::choose_sweep_tile(4, 0, 5000, 49152).size();
  for (const std::size_t count : {2 * small, 2 * small + 1, 9 * small - 1})
    check_sort<unsigned>(f, count, sort_order::ascending);
  const std::size_t large = gpu::detail::choose_sweep_tile(4, 0, 1 << 20, 49152).size();
  check_sort<unsigned>(f, (gpu::detail::least_large_sort / large + 1) * large,
                       sort_order::descending);
}

TEST_CASE("digits that all keys share are passed over", "[algorithm][sort]") {
  fixture f;
  const std::uint32_t masks[] = {0,      0xff,       0xff00,     0xff0000,   0xff000000,
                                 0xffff, 0xff0000ff, 0x00ffff00, 0xffffff00, 0xff00ffff};
  for (const std::uint32_t mask : masks) {
    CAPTURE(mask);
    std::vector<std::uint32_t> keys = some_keys<std::uint32_t>(5000);
    for (std::uint32_t& key : keys) key = (key & mask) | (0x12345678 & ~mask);
    const auto order = expected_order(keys, sort_order::ascending);
    auto device = f.upload(keys);
    auto indices = f.upload(std::vector<std::uint32_t>(keys.size()));
    test::value_of(gpu::argsort(f.stream, device, indices));
    test::value_of(gpu::sort(f.stream, device));
    const auto found = f.download(indices);
    CHECK(std::equal(found.begin(), found.end(), order.begin(), order.end()));
    CHECK(f.download(device) == gathered(keys, order));
  }
}

template <std::size_t Bytes, std::size_t Alignment> struct alignas(Alignment) value {
  unsigned char byte[Bytes];
};

template <class Key, class Value>
void check_pairs(fixture& f, std::size_t count, sort_order order) {
  CAPTURE(count);
  const std::vector<Key> keys = some_keys<Key>(count);
  std::vector<Value> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t mark[2] = {i * 0x9e3779b97f4a7c15u, i};
    std::memcpy(&values[i], mark, sizeof(Value));
  }
  auto device_keys = f.upload(keys);
  std::vector<unsigned char> bytes(alignof(Value) + sizeof(Value) * count);  // aligned no further
  const auto read_or_write = [&](auto copy) {
    for (std::size_t i = 0; i < count; ++i)
      copy(bytes.data() + alignof(Value) + i * sizeof(Value), &values[i]);
  };
  read_or_write([](void* to, const void* from) { std::memcpy(to, from, sizeof(Value)); });
  auto device_values = f.upload(bytes);
  const auto span =
      gpu::device_span<Value>::from_native(device_values.span().native() + alignof(Value), count);
  test::value_of(gpu::sort_pairs(f.stream, device_keys, span, order));
  const auto by = expected_order(keys, order);
  const std::vector<Value> expected = gathered(values, by);
  bytes = f.download(device_values);
  read_or_write([](const void* from, void* to) { std::memcpy(to, from, sizeof(Value)); });
  CHECK(same_bits(f.download(device_keys), gathered(keys, by)));
  CHECK(same_bits(values, expected));
}

TEMPLATE_TEST_CASE("values of each size are moved with few keys", "[algorithm][sort]",
                   (value<1, 1>), (value<2, 2>), float, (value<8, 8>), (value<16, 16>),
                   (value<4, 1>), (value<16, 4>)) {
  fixture f;
  check_pairs<int, TestType>(f, 1000, sort_order::ascending);
  check_pairs<int, TestType>(f, 4096, sort_order::descending);
}

TEST_CASE("values are moved with many keys", "[algorithm][sort]") {
  fixture f;
  check_pairs<float, float>(f, 20'000, sort_order::ascending);
  check_pairs<float, float>(f, 5000, sort_order::descending);
  check_pairs<unsigned char, double>(f, 20'000, sort_order::ascending);
  check_pairs<unsigned short, value<16, 4>>(f, 10'000, sort_order::descending);
}

TEST_CASE("values are moved with the keys of large tiles", "[algorithm][sort]") {
  fixture f;
  check_pairs<unsigned short, unsigned short>(f, gpu::detail::least_large_sort + 77,
                                              sort_order::ascending);
}

template <class Key, class Index> void check_argsort(fixture& f, std::size_t count) {
  CAPTURE(count);
  for (const sort_order order : {sort_order::ascending, sort_order::descending}) {
    const std::vector<Key> keys = some_keys<Key>(count);
    const auto device_keys = f.upload(keys);
    auto indices = f.upload(std::vector<Index>(count));
    test::value_of(gpu::argsort(f.stream, device_keys, indices, order));
    const auto expected = expected_order(keys, order);
    const auto found = f.download(indices);
    CHECK(std::ranges::equal(
        found, expected, [](Index a, std::size_t b) { return static_cast<std::size_t>(a) == b; }));
    CHECK(same_bits(f.download(device_keys), keys));
  }
}

TEST_CASE("argsort writes the order and leaves the keys alone", "[algorithm][sort]") {
  fixture f;
  for (const std::size_t count : {0u, 1u, 2u, 1000u, 4096u, 20'000u}) {
    check_argsort<float, std::uint32_t>(f, count);
    check_argsort<unsigned char, std::int32_t>(f, count);
  }
  check_argsort<half, std::int64_t>(f, 2000);
  check_argsort<half, std::int64_t>(f, 9000);
  check_argsort<double, std::uint64_t>(f, 9000);
}

template <class Offset, class Key>
void check_segments(fixture& f, const std::vector<Key>& keys, const std::vector<Offset>& offsets) {
  CAPTURE(keys.size(), offsets.size());
  for (const sort_order order : {sort_order::ascending, sort_order::descending}) {
    std::vector<std::size_t> by(keys.size());
    std::iota(by.begin(), by.end(), std::size_t{0});
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
      const auto begin = static_cast<std::ptrdiff_t>(offsets[s]);
      const auto end = static_cast<std::ptrdiff_t>(offsets[s + 1]);
      const std::vector<Key> part(keys.begin() + begin, keys.begin() + end);
      auto to = by.begin() + begin;
      for (const std::size_t i : expected_order(part, order))
        *to++ = i + static_cast<std::size_t>(begin);
    }
    const auto device_offsets = f.upload(offsets);
    auto device_keys = f.upload(keys);
    test::value_of(gpu::sort_segments(f.stream, device_keys, device_offsets, order));
    CHECK(same_bits(f.download(device_keys), gathered(keys, by)));
    std::vector<double> values(keys.size());
    std::iota(values.begin(), values.end(), 0.0);
    device_keys = f.upload(keys);
    auto device_values = f.upload(values);
    test::value_of(
        gpu::sort_segments_pairs(f.stream, device_keys, device_values, device_offsets, order));
    CHECK(same_bits(f.download(device_keys), gathered(keys, by)));
    CHECK(f.download(device_values) == gathered(values, by));
  }
}

TEST_CASE("each segment is sorted", "[algorithm][sort]") {
  fixture f;
  const auto few = some_keys<float>(3000), many = some_keys<float>(12'000);
  check_segments<std::int32_t>(f, few, {0, 3000});
  check_segments<std::int32_t>(f, few, {5, 5, 6, 8, 8, 1000, 2990, 2990});
  check_segments<std::uint32_t>(f, few, {17, 18});
  check_segments<std::int64_t>(f, many, {0, 100, 11'000, 12'000});
  std::vector<std::uint64_t> short_ones;
  for (std::uint64_t begin = 3; begin < 11'990; begin += 1 + begin % 67)
    short_ones.push_back(begin);
  check_segments<std::uint64_t>(f, many, short_ones);
}

TEST_CASE("many and large segments are sorted", "[algorithm][sort][hardware]") {
  fixture f;
  check_segments<std::int32_t>(f, some_keys<float>((1u << 24) + 5), {7, 1 << 23, 1 << 24});
  const std::size_t n = (1u << 20) + 1;
  const auto keys = some_keys<float>(n);
  std::vector<std::uint32_t> offsets;
  for (std::uint32_t begin = 3; begin < n; begin += 1 + begin % 67) offsets.push_back(begin);
  check_segments<std::uint32_t>(f, keys, offsets);
}

TEST_CASE("offsets that make no sense write nothing outside of the keys", "[algorithm][sort]") {
  fixture f;
  const auto host = some_keys<int>(1200);
  for (const std::vector<std::int32_t>& offsets :
       {std::vector<std::int32_t>{900, 100, 5000, -7, 300},
        {-5, 2'000'000'000},
        {7, 3},
        {1200, 0}}) {
    auto keys = f.upload(host);
    const auto device_offsets = f.upload(offsets);
    test::value_of(gpu::sort_segments(f.stream, keys.span().subspan(100, 1000), device_offsets));
    const auto found = f.download(keys);
    CHECK(std::equal(found.begin(), found.begin() + 100, host.begin()));
    CHECK(std::equal(found.end() - 100, found.end(), host.end() - 100));
  }
}

TEST_CASE("segments without offsets are rejected", "[algorithm][sort]") {
  fixture f;
  auto keys = f.upload(std::vector<int>(10));
  const gpu::device_span<std::int32_t> none;
  CHECK(test::says(test::error_of(gpu::sort_segments(f.stream, keys, none)), "gpu::sort_segments",
                   "offsets has 0 elements", "one for the end"));
  CHECK(test::says(test::error_of(gpu::sort_segments(f.stream, keys, keys)),
                   "keys and offsets overlap"));
  const auto one = f.upload(std::vector<std::int32_t>{3});
  test::value_of(gpu::sort_segments(f.stream, keys, one));  // no segment
}

TEST_CASE("a sort has the same bits whatever the memory held before", "[algorithm][sort]") {
  fixture f;
  const auto host = some_keys<float>(40'000, 9);
  const auto expected = gathered(host, expected_order(host, sort_order::ascending));
  auto keys = f.upload(host);
  for (int round = 0; round < 2; ++round) {  // the temporary memory comes back with old contents
    test::value_of(gpu::copy(host, keys));
    test::value_of(gpu::sort(f.stream, keys));
    CHECK(same_bits(f.download(keys), expected));
  }
}

TEST_CASE("large sorts agree with std::stable_sort", "[algorithm][sort][hardware]") {
  fixture f;
  for (const std::size_t count : {(1u << 20) - 1, (1u << 20) + 1, (1u << 24) + 5}) {
    check_sort<int>(f, count, sort_order::ascending);
    check_sort<float>(f, count, sort_order::descending);
    check_sort<double>(f, count, sort_order::ascending);
    check_pairs<float, float>(f, count, sort_order::ascending);
    check_pairs<unsigned long long, value<16, 16>>(f, count, sort_order::descending);
    check_argsort<half, std::int64_t>(f, count);
  }
}

TEST_CASE("counts of 64 bits, as for more than 2^30 keys, sort fewer, too", "[algorithm][sort]") {
  fixture f;
  const auto host = some_keys<std::uint16_t>(20'000);
  const auto keys = f.upload(host);
  auto indices = f.upload(std::vector<std::uint64_t>(host.size()));
  gpu::detail::sort_request request{"gpu::argsort",
                                    f.stream,
                                    gpu::source_location::current(),
                                    gpu::detail::sort_key_of<std::uint16_t>(),
                                    sort_order::descending,
                                    host.size(),
                                    keys.span().native(),
                                    0,
                                    {8, 8},
                                    0,
                                    indices.span().native()};
  test::value_of(gpu::detail::sort_in_sweeps(request, true));
  const auto expected = expected_order(host, sort_order::descending);
  const auto found = f.download(indices);
  CHECK(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
}

TEST_CASE("more than 2^30 keys are sorted", "[algorithm][sort][hardware]") {
  fixture f;
  const std::size_t count = (std::size_t{1} << 32) + 17;
  std::vector<unsigned char> host(count);
  std::vector<std::size_t> counts(256);
  for (std::size_t i = 0; i < count; ++i) {
    host[i] = static_cast<unsigned char>(i * 0x9e3779b97f4a7c15 >> 40);
    ++counts[host[i]];
  }
  auto keys = f.upload(host);
  test::value_of(gpu::sort(f.stream, keys));
  const auto found = f.download(keys);
  std::size_t at = 0, wrong = 0;
  for (std::size_t digit = 0; digit < 256; ++digit) {
    for (std::size_t i = 0; i < counts[digit]; ++i) wrong += found[at++] != digit;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a sort is captured into a graph", "[algorithm][sort]") {
  fixture f;
  const auto host = some_keys<int>(9000);
  auto keys = f.upload(host);
  test::value_of(gpu::sort(f.stream, keys));  // compiles
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::sort(f.stream, keys));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  for (int round = 0; round < 2; ++round) {
    test::value_of(gpu::copy(host, keys));
    test::value_of(gpu::launch(f.stream, executable));
    test::value_of(f.stream.synchronize());
    CHECK(f.download(keys) == gathered(host, expected_order(host, sort_order::ascending)));
  }
}

TEST_CASE("what cannot be sorted is rejected", "[algorithm][sort]") {
  fixture f;
  auto keys = f.upload(std::vector<float>(10));
  auto values = f.upload(std::vector<int>(10));
  const auto order = static_cast<sort_order>(7);
  CHECK(test::says(test::error_of(gpu::sort(f.stream, keys, order)), "gpu::sort",
                   "7 is not a valid gpu::sort_order"));
  CHECK(test::says(test::error_of(gpu::sort_pairs(f.stream, keys, values.span().first(9))),
                   "keys has 10 elements", "values has 9", "take first(9)"));
  CHECK(test::says(
      test::error_of(gpu::sort_pairs(f.stream, keys.span().first(6), keys.span().subspan(4))),
      "keys and values overlap"));
  CHECK(test::says(test::error_of(gpu::argsort(f.stream, keys, values.span().first(3))),
                   "gpu::argsort", "keys has 10 elements", "indices has 3"));
  CHECK(test::says(test::error_of(gpu::sort(gpu::stream_ref(), keys)), "gpu::sort"));
  auto moved = std::move(keys);
  CHECK(test::error_of(gpu::sort(f.stream, keys)) == gpu::errc::empty_handle);  // NOLINT
  // The memory of these spans is not there, but it is not looked at either.
  const std::size_t many = (std::size_t{1} << 31) + 1;
  const auto large = gpu::device_span<const char>::from_native(0x10000, many);
  const auto narrow = gpu::device_span<std::int32_t>::from_native(CUdeviceptr{1} << 40, many);
  CHECK(test::says(test::error_of(gpu::argsort(f.stream, large, narrow)), "2147483649 elements",
                   "2147483648", "integer of 64 bits"));
}

TEST_CASE("each call of a sort may fail", "[algorithm][sort][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto keys = GPU_TRY(gpu::device_buffer<unsigned char>::create(stream, 5000));
    GPU_TRY(gpu::fill(stream, keys, static_cast<unsigned char>(3)));
    GPU_TRY(gpu::sort(stream, keys));
    GPU_TRY(gpu::sort(stream, keys.span().first(100)));
    auto offsets = GPU_TRY(gpu::device_buffer<std::int32_t>::create(stream, 3));
    GPU_TRY(gpu::fill(stream, offsets, 7));
    GPU_TRY(gpu::sort_segments(stream, keys.span().first(100), offsets));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}  // namespace sort_test
