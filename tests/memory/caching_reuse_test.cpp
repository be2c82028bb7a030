// What the streams of a caching allocator get of each other's memory.

#include <gpu/memory/caching_allocator.hpp>

#include "support/results.hpp"

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

}  // namespace caching_reuse_test
