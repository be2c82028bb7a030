// The caching allocators, used by several threads at once.

#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>

#include "support/results.hpp"

#include <gpu/memory/copy.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace caching_threads_test {

using gpu::caching_allocator;
using gpu::caching_pinned_allocator;
using gpu::device_buffer;
using gpu::pinned_buffer;
using test::value_of;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Runs `work` in so many threads; it returns how much was wrong.
template <class Work> int wrong_in_threads(int count, Work work) {
  std::vector<int> wrong(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] { wrong[static_cast<std::size_t>(t)] = work(t); });
  for (std::thread& each : threads) each.join();
  return std::accumulate(wrong.begin(), wrong.end(), 0);
}

/// Does `each(0)` to `each(count - 1)`, all in threads of their own and at the same moment.
template <class Each> void all_at_once(int count, Each each) {
  std::atomic<int> awaited{count};
  wrong_in_threads(count, [&](int t) {
    for (--awaited; awaited > 0;) {
    }
    each(t);
    return 0;
  });
}

/// Destroys two buffers that are the last of their allocator at the same moment: after its end, or
/// while it ends.
template <class Allocator, class Buffer>
void end_at_once(Allocator allocator, Buffer first, Buffer second, bool after) {
  std::optional<Allocator> last(std::move(allocator));
  std::optional<Buffer> buffers[] = {std::move(first), std::move(second)};
  if (after) last.reset();
  all_at_once(2, [&](int t) {
    if (t == 0) last.reset();
    buffers[t].reset();
  });
}

}  // namespace

TEST_CASE("caching_allocator: its end and that of its last buffers meet in several threads",
          "[memory][caching][cpu][thorough]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const std::size_t before = driver.live_objects();
  for (int round = 0; round < 500; ++round) {
    caching_allocator cache = value_of(caching_allocator::create(device));
    auto first = value_of(cache.allocate<char>(stream, 2 * mebibyte));
    auto second = value_of(cache.allocate<char>(stream, 2 * mebibyte));
    end_at_once(std::move(cache), std::move(first), std::move(second), round % 2 == 0);
  }
  INFO(driver.live_list());
  CHECK(driver.live_objects() == before);
}

TEST_CASE("caching_pinned_allocator: its end and that of its last buffers meet in several threads",
          "[memory][caching][cpu][thorough]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  REQUIRE(gpu::context::primary(device).has_value());
  const std::size_t before = driver.live_objects();
  for (int round = 0; round < 500; ++round) {
    auto cache = value_of(caching_pinned_allocator::create(device));
    auto first = value_of(cache.allocate<char>(2 * mebibyte));
    auto second = value_of(cache.allocate<char>(2 * mebibyte));
    end_at_once(std::move(cache), std::move(first), std::move(second), round % 2 == 0);
  }
  INFO(driver.live_list());
  CHECK(driver.live_objects() == before);
}

TEST_CASE("caching_allocator: a stream's memory is shared while threads give it back",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream shared = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  // Whole segments go back and forth: what `shared` frees is asked for by the threads' own streams,
  // and while one trims, what has nothing left is passed on to the next stream.
  const int wrong = wrong_in_threads(4, [&](int t) {
    int found = 0;
    for (int i = 0; i < 30; ++i) {
      auto own = gpu::stream::create(device);
      for (int k = 0; k < 5; ++k) {
        const auto on_own = cache.allocate<char>(*own, 2 * mebibyte);
        const auto on_shared = cache.allocate<char>(shared, 2 * mebibyte);
        found += !on_own.has_value() || !on_shared.has_value();
        found += on_own->native() == on_shared->native();
      }
      if (!cache.hand_over(*own).has_value()) ++found;
      if (t == 0 && i % 5 == 0) cache.trim();
    }
    return found;
  });
  CHECK(wrong == 0);
  CHECK(cache.statistics().used_blocks == 0);
  cache.trim();
  CHECK(cache.statistics().held_bytes == 0);
}

TEST_CASE("caching_allocator: many threads, on streams of their own and on one",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream shared = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  const int wrong = wrong_in_threads(4, [&](int t) {
    int found = 0;
    auto own = gpu::stream::create(device);
    std::mt19937 random(static_cast<unsigned>(t));
    std::vector<device_buffer<int>> live;
    for (int i = 0; i < 300; ++i) {
      const gpu::stream_ref on = i % 3 == 0 ? gpu::stream_ref(shared) : gpu::stream_ref(*own);
      auto made = cache.allocate<int>(on, 1 + random() % 5000);
      if (!made.has_value() || !fill(on, *made, t).has_value()) {
        ++found;
        continue;
      }
      live.push_back(*std::move(made));
      if (live.size() > 20) live.erase(live.begin() + static_cast<int>(random() % 20));
    }
    for (auto& each : live) {
      std::vector<int> back(each.size());
      if (!copy(each, back).has_value() || back != std::vector<int>(each.size(), t)) ++found;
    }
    live.clear();
    if (!cache.hand_over(*own).has_value()) ++found;
    return found;
  });
  CHECK(wrong == 0);
  CHECK(cache.statistics().used_blocks == 0);
}

TEST_CASE("caching_allocator: what one thread had the driver give, no other takes",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  cache.stop_holding();  // so that every request is one to the driver
  const int wrong = wrong_in_threads(4, [&](int) {
    int found = 0;
    for (int i = 0; i < 1000; ++i) {
      const auto made = cache.allocate<char>(stream, 2 * mebibyte);
      found += !made.has_value() || made->native() == 0;
    }
    return found;
  });
  CHECK(wrong == 0);
}

TEST_CASE("caching_pinned_allocator: many threads", "[memory][caching]") {
  const gpu::device device = test::first_device();
  auto cache = value_of(caching_pinned_allocator::create(device));
  const int wrong = wrong_in_threads(4, [&](int t) {
    int found = 0;
    std::vector<pinned_buffer<int>> live;
    for (int i = 0; i < 500; ++i) {
      auto made = cache.allocate<int>(static_cast<std::size_t>(100 + i * 7 % 900));
      if (!made.has_value()) {
        ++found;
        continue;
      }
      std::fill(made->begin(), made->end(), t);
      live.push_back(*std::move(made));
      if (live.size() > 10) live.erase(live.begin());
    }
    for (auto& each : live)
      found +=
          static_cast<int>(each.size()) - static_cast<int>(std::count(each.begin(), each.end(), t));
    return found;
  });
  CHECK(wrong == 0);
  CHECK(cache.statistics().used_blocks == 0);
}

TEST_CASE("caching_pinned_allocator: what one thread had the driver give, no other takes",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  auto cache = value_of(caching_pinned_allocator::create(device));
  cache.stop_holding();
  // More threads than there are lanes, so that some share one.
  const int wrong = wrong_in_threads(12, [&](int) {
    int found = 0;
    for (int i = 0; i < 100; ++i) {
      const auto made = cache.allocate<char>(2 * mebibyte);
      found += !made.has_value() || made->data() == nullptr;
    }
    return found;
  });
  CHECK(wrong == 0);
}

TEST_CASE("caching_pinned_allocator: the counts are right while threads give segments back",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  auto cache = value_of(caching_pinned_allocator::create(device));
  cache.stop_holding();
  constexpr std::size_t threads = 4;
  const int wrong = wrong_in_threads(threads, [&](int) {
    int found = 0;
    for (int i = 0; i < 100; ++i) {
      const auto made = cache.allocate<char>(2 * mebibyte);
      const gpu::caching_statistics now = cache.statistics();
      found += !made.has_value() || now.held_bytes < 2 * mebibyte ||
               now.held_bytes > threads * 2 * mebibyte || now.segments > threads;
    }
    return found;
  });
  CHECK(wrong == 0);
  const gpu::caching_statistics end = cache.statistics();
  CHECK(end.held_bytes == 0);
  CHECK(end.segments == 0);
  CHECK(end.peak_held_bytes >= 2 * mebibyte);
  CHECK(end.peak_held_bytes <= threads * 2 * mebibyte);
  CHECK(end.misses == threads * 100);
}

}  // namespace caching_threads_test
