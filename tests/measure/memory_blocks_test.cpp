// The blocks of the caching allocators, as a list.

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/measure/memory_blocks.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>
#include <gpu/memory/device_buffer.hpp>

#include "support/host_memory.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

namespace memory_blocks_test {

using gpu::caching_allocator;
using gpu::caching_block;
using gpu::caching_pinned_allocator;
using test::error_of;
using test::value_of;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Counts the blocks as `statistics()` does, and checks that segments have no gaps.
gpu::caching_statistics counts_of(const gpu::sequence<caching_block>& blocks) {
  gpu::caching_statistics found;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const caching_block& each = blocks[i];
    const bool first = i == 0 || blocks[i - 1].segment != each.segment;
    CHECK(each.address == (first ? each.segment : blocks[i - 1].address + blocks[i - 1].bytes));
    if (first) ++found.segments;
    found.held_bytes += each.bytes;
    if (each.used) found.used_bytes += each.bytes;
    ++(each.used ? found.used_blocks : found.free_blocks);
  }
  return found;
}
template <class Allocator> void check_counts(const Allocator& cache) {
  const gpu::caching_statistics found = counts_of(value_of(list_blocks(cache))),
                                told = cache.statistics();
  CHECK(found.segments == told.segments);
  CHECK(found.held_bytes == told.held_bytes);
  CHECK(found.used_bytes == told.used_bytes);
  CHECK(found.used_blocks == told.used_blocks);
  CHECK(found.free_blocks == told.free_blocks);
}

}  // namespace

TEST_CASE("caching_allocator: its blocks are listed by segment", "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device)),
                    two = value_of(gpu::stream::create(device));
  auto cache = value_of(caching_allocator::create(device));
  CHECK(value_of(list_blocks(cache)).empty());
  const auto a = value_of(cache.allocate<char>(one, 1000));
  {
    const auto gone = value_of(cache.allocate<char>(one, 5000));
    const auto b = value_of(cache.allocate<char>(one, 512));
    const auto large = value_of(cache.allocate<char>(two, 3 * mebibyte));
    check_counts(cache);
    const auto blocks = value_of(list_blocks(cache));
    REQUIRE(blocks.size() == 6);
    for (const caching_block& each : blocks)
      CHECK((each.lane == blocks[0].lane) == (each.segment == blocks[0].segment));
  }
  check_counts(cache);  // the first buffer, and what is free behind it
  CHECK(value_of(list_blocks(cache)).size() == 3);
  // What no stream owns any more has no number.
  value_of(cache.hand_over(two));
  check_counts(cache);
  std::size_t shared = 0;
  for (const caching_block& each : value_of(list_blocks(cache))) {
    if (each.lane != 0) continue;
    ++shared;
    CHECK(each.bytes == 4 * mebibyte);
    CHECK_FALSE(each.used);
  }
  CHECK(shared == 1);
}

TEST_CASE("caching_pinned_allocator: its blocks are listed by segment", "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto cache = value_of(caching_pinned_allocator::create(device));
  CHECK(value_of(list_blocks(cache)).empty());
  const auto a = value_of(cache.allocate<char>(1000));
  auto waits = value_of(cache.allocate<char>(2000));
  check_counts(cache);
  const auto blocks = value_of(list_blocks(cache));
  REQUIRE(blocks.size() == 3);
  CHECK(blocks[0].address == reinterpret_cast<std::uintptr_t>(a.data()));
  CHECK(blocks[0].bytes == 1024);
  CHECK(blocks[0].used);
  CHECK(blocks[1].used);
  CHECK_FALSE(blocks[2].used);
  for (const caching_block& each : blocks) {
    CHECK(each.lane >= 1);
    CHECK(each.lane <= 8);
  }
  // A buffer that waits for its stream is in use until then.
  value_of(cache.free_after(stream, std::move(waits)));
  check_counts(cache);
  value_of(stream.synchronize());
  cache.trim();
  check_counts(cache);
  CHECK(value_of(list_blocks(cache)).size() == 2);
}

TEST_CASE("the blocks of a caching allocator can be listed while threads allocate",
          "[memory][caching][threads]") {
  const gpu::device device = test::first_device();
  auto cache = value_of(caching_allocator::create(device));
  bool done = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      const auto stream = gpu::stream::create(device);
      std::vector<gpu::device_buffer<char>> kept;
      for (std::size_t i = 0; i < 300 && stream.has_value(); ++i) {
        auto made = cache.allocate<char>(*stream, 512 * (i % 7 + 1));
        if (made.has_value() && i % 3 != 0) kept.push_back(std::move(*made));
        if (i % 50 == 49) kept.clear();
      }
    });
  }
  std::thread reader([&] {
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) static_cast<void>(gpu::list_blocks(cache));
  });
  for (std::thread& each : threads) each.join();
  __atomic_store_n(&done, true, __ATOMIC_RELEASE);
  reader.join();
  check_counts(cache);
}

TEST_CASE("an empty caching allocator has no list of blocks", "[memory][caching]") {
  CHECK(error_of(gpu::list_blocks(caching_allocator{})) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::list_blocks(caching_pinned_allocator{})) == gpu::errc::empty_handle);
}

TEST_CASE("memory_blocks: child that forks while allocators are locked", "[.child]") {
  const gpu::device device = test::first_device();
  const auto cache = value_of(caching_allocator::create(device));
  const auto pinned = value_of(caching_pinned_allocator::create(device));
  auto* const state = gpu::detail::caching_access::state_of(cache);
  auto* const pinned_state = gpu::detail::caching_access::state_of(pinned);
  // Another thread holds the locks, as it would while it asks the driver.
  std::thread([&] {
    state->growing.lock();
    pinned_state->growing.lock();
  }).join();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto blocks = list_blocks(cache);
    const auto of_pinned = list_blocks(pinned);
    const bool told = !blocks && blocks.error() == gpu::errc::process_forked &&  //
                      !of_pinned && of_pinned.error() == gpu::errc::process_forked;
    std::_Exit(told ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  state->growing.unlock();
  pinned_state->growing.unlock();
}

TEST_CASE("after fork the blocks of an allocator that was in use cannot be listed",
          "[memory][caching]") {
  const auto outcome =
      test::run_child("memory_blocks: child that forks while allocators are locked");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
}

TEST_CASE("the list of blocks may find no memory on the host", "[memory][caching][faults]") {
  if (!test::failing_allocation::possible_for_throwing()) return;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto cache = value_of(caching_allocator::create(device));
  const auto a = value_of(cache.allocate<char>(stream, 1000));
  auto pinned = value_of(caching_pinned_allocator::create(device));
  const auto b = value_of(pinned.allocate<char>(1000));
  const auto list = [&]() -> gpu::result<> {
    GPU_TRY(gpu::list_blocks(cache));
    GPU_TRY(gpu::list_blocks(pinned));
    return {};
  };
  const auto held = [&] { return cache.statistics().held_bytes + pinned.statistics().held_bytes; };
  CHECK(test::sweep_all_allocations(list, held) == "");
  check_counts(cache);
}

}  // namespace memory_blocks_test
