#include <gpu/memory/caching_allocator.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <vector>

namespace caching_reuse_test {

using test::value_of;

constexpr std::size_t unit = 512, mebibyte = std::size_t{1} << 20;

TEST_CASE("caching_allocator: a free block is found behind many that are hardly smaller",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  gpu::caching_allocator cache = value_of(gpu::caching_allocator::create(device));
  // Blocks with a neighbour that stays, so that they do not grow together with what is behind them.
  std::vector<gpu::device_buffer<char>> blocks, neighbours;
  // Sizes of which the allocator remembers the last block in one place, so that it has to search.
  constexpr std::size_t wanted = 4080 * unit, less = 3983 * unit;
  do {
    const std::size_t bytes = blocks.empty() ? wanted : less;
    blocks.push_back(value_of(cache.allocate<char>(stream, bytes)));
    neighbours.push_back(value_of(cache.allocate<char>(stream, 2 * mebibyte - bytes)));
  } while (blocks.size() < 21 || cache.statistics().free_blocks != 0);
  const std::size_t segments = cache.statistics().segments;
  const CUdeviceptr large = blocks[0].native();
  const std::size_t misses = cache.statistics().misses;
  blocks.erase(blocks.begin());
  blocks.clear();
  REQUIRE(cache.statistics().free_blocks == neighbours.size());

  const auto again = value_of(cache.allocate<char>(stream, wanted));
  CHECK(again.native() == large);
  CHECK(cache.statistics().segments == segments);
  CHECK(cache.statistics().misses == misses);

  // Those that are left are too small.
  const auto another = value_of(cache.allocate<char>(stream, wanted));
  CHECK(cache.statistics().segments == segments + 1);
  CHECK(cache.statistics().misses == misses + 1);
}

}  // namespace caching_reuse_test
