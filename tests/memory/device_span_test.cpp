#include "support/catch.hpp"

#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pinned_span.hpp>
#include <gpu/memory/ranges.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <span>
#include <type_traits>
#include <vector>

namespace device_span_test {

using gpu::device_span;

static_assert(std::is_trivially_copyable_v<device_span<float>>);
static_assert(std::is_standard_layout_v<device_span<float>>);
static_assert(sizeof(device_span<float>) == 16);
static_assert(sizeof(device_span<float, 4>) == 16);
static_assert(std::is_default_constructible_v<device_span<float>>);
static_assert(std::is_default_constructible_v<device_span<float, 0>>);
static_assert(!std::is_default_constructible_v<device_span<float, 4>>);

// Const can be added, not taken away; static extents become dynamic by themselves only.
static_assert(std::is_convertible_v<device_span<float>, device_span<const float>>);
static_assert(!std::is_constructible_v<device_span<float>, device_span<const float>>);
static_assert(std::is_convertible_v<device_span<float, 4>, device_span<float>>);
static_assert(std::is_convertible_v<device_span<float, 4>, device_span<const float, 4>>);
static_assert(!std::is_constructible_v<device_span<float, 4>, device_span<float, 5>>);
static_assert(!std::is_convertible_v<device_span<float>, device_span<float, 4>>);
static_assert(std::is_constructible_v<device_span<float, 4>, device_span<float>>);
static_assert(!std::is_constructible_v<device_span<float>, device_span<double>>);

// Host memory is no device memory, and device memory no host memory.
static_assert(!std::is_constructible_v<device_span<float>, float*, std::size_t>);
static_assert(!std::is_constructible_v<device_span<float>, std::vector<float>&>);
static_assert(!std::is_constructible_v<device_span<float>, std::span<float>>);
static_assert(!std::is_constructible_v<device_span<float>, float (&)[4]>);
static_assert(!std::is_constructible_v<device_span<float>, std::array<float, 4>&>);
static_assert(!std::is_constructible_v<device_span<float>, gpu::pinned_span<float>>);
static_assert(!std::is_constructible_v<std::span<float>, device_span<float>>);

template <class Span>
concept can_be_read = requires(Span s) { s[0]; } || requires(Span s) { *s; } ||
                      requires(Span s) { s.begin(); } || requires(Span s) { s.front(); };
static_assert(!can_be_read<device_span<float>>);
static_assert(can_be_read<std::span<float>>);

// The memory in which ranges live.
static_assert(gpu::host_range<std::vector<int>&>);
static_assert(gpu::host_range<const std::array<int, 3>&>);
static_assert(gpu::host_range<int (&)[3]>);
static_assert(gpu::host_range<std::span<int>>);
static_assert(gpu::host_range<gpu::pinned_span<int>>);
static_assert(gpu::pinned_range<gpu::pinned_span<int>&>);
static_assert(gpu::pinned_range<gpu::pinned_span<int>>);
static_assert(!gpu::pinned_range<std::vector<int>&>);
static_assert(!gpu::host_range<std::list<int>&>);
static_assert(!gpu::host_range<std::vector<bool>&>);
static_assert(!gpu::host_range<device_span<int>>);
static_assert(gpu::device_range<device_span<int>>);
static_assert(gpu::device_range<const device_span<int, 3>&>);
static_assert(!gpu::device_range<std::vector<int>&>);
static_assert(!gpu::device_range<int*>);

TEST_CASE("device_span: it is a pointer and a length", "[memory][device_span]") {
  const auto span = device_span<float>::from_native(0x1000, 10);
  CHECK(span.native() == 0x1000);
  CHECK(span.data() == reinterpret_cast<float*>(0x1000));
  CHECK(span.size() == 10);
  CHECK(span.size_bytes() == 40);
  CHECK(!span.empty());
  CHECK(device_span<float>().empty());
  CHECK(device_span<float>().data() == nullptr);
  std::uint64_t words[2];
  std::memcpy(words, &span, sizeof words);
  CHECK(words[0] == 0x1000);
  CHECK(words[1] == 10);
}

TEST_CASE("device_span: parts of it", "[memory][device_span]") {
  const auto span = device_span<float>::from_native(0x1000, 10);
  CHECK(span.first(3).native() == 0x1000);
  CHECK(span.first(3).size() == 3);
  CHECK(span.last(3).native() == 0x1000 + 7 * 4);
  CHECK(span.last(3).size() == 3);
  CHECK(span.subspan(4).native() == 0x1000 + 4 * 4);
  CHECK(span.subspan(4).size() == 6);
  CHECK(span.subspan(4, 2).size() == 2);
  CHECK(span.subspan(10).empty());
  CHECK(span.first(0).empty());
  CHECK(span.last(10).native() == span.native());
}

TEST_CASE("device_span: static extents follow its parts", "[memory][device_span]") {
  const auto span = device_span<int, 8>::from_native(0x2000);
  STATIC_REQUIRE(decltype(span)::extent == 8);
  STATIC_REQUIRE(decltype(span.first<3>())::extent == 3);
  STATIC_REQUIRE(decltype(span.last<3>())::extent == 3);
  STATIC_REQUIRE(decltype(span.subspan<2>())::extent == 6);
  STATIC_REQUIRE(decltype(span.subspan<2, 3>())::extent == 3);
  STATIC_REQUIRE(decltype(span.first(3))::extent == gpu::dynamic_extent);
  CHECK(span.size() == 8);
  CHECK(span.last<3>().native() == 0x2000 + 5 * 4);
  CHECK(span.subspan<2, 3>().native() == 0x2000 + 2 * 4);
  const device_span<int, 8> again{device_span<int>(span)};
  CHECK(again.native() == span.native());
}

TEST_CASE("device_span: its bytes", "[memory][device_span]") {
  const auto span = device_span<const double>::from_native(0x3000, 5);
  const device_span<const std::byte> bytes = as_bytes(span);
  CHECK(bytes.size() == 40);
  CHECK(bytes.native() == 0x3000);
  const device_span<std::byte> writable =
      as_writable_bytes(device_span<double>::from_native(0x3000, 5));
  CHECK(writable.size() == 40);
}

TEST_CASE("pinned_span: a part of page-locked memory", "[memory][pinned_span]") {
  int values[5] = {1, 2, 3, 4, 5};
  const auto span = gpu::pinned_span<int>::from_native(values, 5);
  CHECK(span.size() == 5);
  CHECK(span.size_bytes() == 20);
  CHECK(span[2] == 3);
  CHECK(span.front() == 1);
  CHECK(span.back() == 5);
  CHECK(span.first(2).back() == 2);
  CHECK(span.last(2).front() == 4);
  CHECK(span.subspan(1, 3).size() == 3);
  CHECK(span.subspan(3).front() == 4);
  CHECK(span.subspan(5).empty());
  int sum = 0;
  for (int value : span) sum += value;
  CHECK(sum == 15);
  const gpu::pinned_span<const int> constant = span;
  CHECK(constant.data() == values);
}

}  // namespace device_span_test
