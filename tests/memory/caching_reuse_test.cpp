// Reuse of memory between the streams of a caching allocator.

#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_allocator.hpp>

#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace caching_reuse_test {

using gpu::caching_allocator;
using gpu::device_buffer;
using test::value_of;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST_CASE("caching_allocator: all segments that are free are handed over", "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  std::set<CUdeviceptr> freed, got;
  std::vector<device_buffer<char>> buffers;
  const auto take = [&](const gpu::stream& on, std::set<CUdeviceptr>& addresses) {
    buffers.push_back(value_of(cache.allocate<char>(on, 2 * mebibyte)));
    addresses.insert(buffers.back().native());
  };
  for (int i = 0; i < 3; ++i) take(one, freed);
  buffers.clear();
  REQUIRE(cache.hand_over(one).has_value());
  CHECK(cache.statistics().free_blocks == 3);
  for (int i = 0; i < 3; ++i) take(two, got);
  CHECK(got == freed);
  CHECK(cache.statistics().shared == 3);
  CHECK(cache.statistics().misses == 3);
}

TEST_CASE("caching_allocator: another stream gets the smallest segment that is large enough",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  std::vector<device_buffer<char>> buffers;
  std::vector<CUdeviceptr> addresses;
  for (const std::size_t size : {6 * mebibyte, 2 * mebibyte, 4 * mebibyte, 8 * mebibyte}) {
    buffers.push_back(value_of(cache.allocate<char>(one, size)));
    addresses.push_back(buffers.back().native());
  }
  buffers.clear();
  REQUIRE(cache.hand_over(one).has_value());
  const auto exact = value_of(cache.allocate<char>(two, 4 * mebibyte));
  CHECK(exact.native() == addresses[2]);
  const auto next = value_of(cache.allocate<char>(two, 3 * mebibyte));
  CHECK(next.native() == addresses[0]);
  CHECK(cache.statistics().shared == 2);
  CHECK(cache.statistics().misses == 4);
}

TEST_CASE("caching_allocator: what several streams have free goes back to make room",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  const gpu::stream three = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device, {.limit = 8 * mebibyte}));
  static_cast<void>(value_of(cache.allocate<char>(one, 2 * mebibyte)));
  static_cast<void>(value_of(cache.allocate<char>(two, 2 * mebibyte)));
  static_cast<void>(value_of(cache.allocate<char>(two, 4 * mebibyte)));
  CHECK(cache.statistics().segments == 3);
  const auto all = value_of(cache.allocate<char>(three, 8 * mebibyte));
  CHECK(cache.statistics().trims == 1);
  CHECK(cache.statistics().segments == 1);
  CHECK(cache.statistics().held_bytes == 8 * mebibyte);
}

TEST_CASE("caching_allocator: after a wait for the device a stream waits for no other",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  const gpu::stream three = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device, {.limit = 2 * mebibyte}));
  const test::noted_calls<&gpu::driver::entry_points::stream_wait_event> waits;
  static_cast<void>(value_of(cache.allocate<char>(one, 2 * mebibyte)));
  REQUIRE(cache.hand_over(one).has_value());
  static_cast<void>(value_of(cache.allocate<char>(two, 2 * mebibyte)));
  CHECK(waits.count() == 1);
  static_cast<void>(value_of(cache.allocate<char>(three, 2 * mebibyte)));
  CHECK(waits.count() == 1);
  CHECK(cache.statistics().shared == 2);
  CHECK(cache.statistics().trims == 0);
}

TEST_CASE("caching_allocator: a stream answers others once", "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  const auto kept = value_of(cache.allocate<char>(one, 100));
  static_cast<void>(value_of(cache.allocate<char>(one, 2 * mebibyte)));
  const auto asks = value_of(cache.allocate<char>(two, 4 * mebibyte));  // has the driver give it
  const test::noted_calls<&gpu::driver::entry_points::event_record> records;
  const test::noted_calls<&gpu::driver::entry_points::stream_is_capturing> looks;
  for (int i = 0; i < 3; ++i) static_cast<void>(value_of(cache.allocate<char>(one, 100)));
  CHECK(records.count() == 1);
  CHECK(looks.count() == 1);
}

TEST_CASE("caching_allocator: a stream that has much gets more at a time", "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  {
    const auto much = value_of(cache.allocate<char>(stream, 32 * mebibyte));
    const auto little = value_of(cache.allocate<char>(stream, 1));
    CHECK(cache.statistics().held_bytes == 36 * mebibyte);
  }
  CHECK(cache.trim() == 36 * mebibyte);
  const auto little = value_of(cache.allocate<char>(stream, 1));
  CHECK(cache.statistics().held_bytes == 2 * mebibyte);
}

}  // namespace caching_reuse_test
