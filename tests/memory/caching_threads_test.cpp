// The caching allocator, used by several threads at once.

#include <gpu/memory/caching_allocator.hpp>

#include "support/results.hpp"

#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/fill.hpp>

#include <cstddef>
#include <numeric>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace caching_threads_test {

using gpu::caching_allocator;
using gpu::device_buffer;
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

}  // namespace

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

}  // namespace caching_threads_test
