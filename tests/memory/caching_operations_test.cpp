
#include "support/drivers.hpp"
#include "support/host_memory.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>
#include <gpu/memory/pinned_flags.hpp>

#include <atomic>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace caching_operations_test {

using gpu::caching_options;
using test::error_of;
using test::says;
using test::value_of;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

struct of_devices {
  using allocator = gpu::caching_allocator;
  static constexpr const char* create_name = "gpu::caching_allocator::create";

  static auto create(caching_options options = {}) {
    return allocator::create(test::first_device(), options);
  }
  auto allocate(allocator& from, std::size_t bytes) const {
    return from.allocate<char>(stream, bytes);
  }
  gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
};

struct page_locked {
  using allocator = gpu::caching_pinned_allocator;
  static constexpr const char* create_name = "gpu::caching_pinned_allocator::create";

  static auto create(caching_options options = {}) {
    return allocator::create(test::first_device(), gpu::pinned_flags::none, options);
  }
  auto allocate(allocator& from, std::size_t bytes) const { return from.allocate<char>(bytes); }
};

/// Does `each(0)` to `each(count - 1)`, all in threads of their own and at the same moment. Returns
/// the sum of what they return.
template <class Each> int all_at_once(int count, Each each) {
  std::atomic<int> awaited{count};
  std::vector<int> found(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      for (--awaited; awaited > 0;) {
      }
      found[static_cast<std::size_t>(t)] = each(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return std::accumulate(found.begin(), found.end(), 0);
}

}  // namespace

TEMPLATE_TEST_CASE("caching allocators refuse limits and segments that cannot be",
                   "[memory][caching]", of_devices, page_locked) {
  for (const std::size_t bytes : {~std::size_t{0}, ~std::size_t{0} - mebibyte}) {
    const gpu::cuda_error error = error_of(TestType::create({.segment_bytes = bytes}));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error, TestType::create_name, ("segment_bytes is " + std::to_string(bytes)).c_str(),
               "it must be at most", "Lower it"));
    CHECK(error.asked() == bytes);
    CHECK(error.limit() < bytes);
  }
  const gpu::cuda_error low = error_of(TestType::create({.limit = mebibyte}));
  CHECK(low == gpu::errc::invalid_argument);
  CHECK(says(low, TestType::create_name, "1048576 bytes", "less than one segment of 2097152 bytes",
             "Raise the limit"));
  CHECK(says(error_of(TestType::create({.limit = 100, .segment_bytes = 0})), "100 bytes",
             "one segment of 512 bytes"));
  const auto most = static_cast<std::size_t>(
      error_of(TestType::create({.segment_bytes = ~std::size_t{0}})).limit());
  CHECK(says(error_of(TestType::create({.limit = most - 1, .segment_bytes = most})),
             "Raise the limit"));
  // The most that is allowed leads to a plain lack of memory, and the request alone is had.
  const TestType use;
  auto cache = value_of(TestType::create({.segment_bytes = most}));
  const auto buffer = value_of(use.allocate(cache, 1000));
  CHECK(cache.statistics().held_bytes == 1024);
}

TEMPLATE_TEST_CASE("caching allocators keep to their limit, and use all that it leaves",
                   "[memory][caching]", of_devices, page_locked) {
  const TestType use;
  auto cache = value_of(TestType::create({.limit = 6 * mebibyte}));
  {
    const auto most = value_of(use.allocate(cache, 6 * mebibyte));
    const gpu::cuda_error error = error_of(use.allocate(cache, 1));
    CHECK(error.code() == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(says(error, "asked for 512 bytes",
               "the limit of this allocator is 6291456 bytes, of which 6291456 are held"));
    CHECK(error.limit() == 6 * mebibyte);
  }
  const auto two = value_of(use.allocate(cache, 2 * mebibyte));
  CHECK(cache.statistics().held_bytes <= 6 * mebibyte);
  CHECK(cache.statistics().peak_held_bytes == 6 * mebibyte);
  auto odd = value_of(TestType::create({.limit = 3 * mebibyte + 100}));
  const auto first = value_of(use.allocate(odd, 2 * mebibyte));
  const auto second = value_of(use.allocate(odd, 1000));
  CHECK(odd.statistics().held_bytes == 3 * mebibyte);
  // Segments may be smaller than the driver's own unit.
  auto small = value_of(TestType::create({.limit = mebibyte, .segment_bytes = mebibyte / 2}));
  const auto quarter = value_of(use.allocate(small, mebibyte / 4));
  const auto rest = value_of(use.allocate(small, 3 * mebibyte / 4));
  CHECK(small.statistics().misses == 1);
}

TEMPLATE_TEST_CASE("caching allocators draw a map where there is no memory", "[memory][caching]",
                   of_devices, page_locked) {
  const TestType use;
  auto cache = value_of(TestType::create({.limit = 6 * mebibyte}));
  const auto first = value_of(use.allocate(cache, 4 * mebibyte));
  const auto second = value_of(use.allocate(cache, mebibyte));
  const gpu::cuda_error error = error_of(use.allocate(cache, 2 * mebibyte));
  CHECK(error.kind() == gpu::error_kind::memory);
  CHECK(error.asked() == 2 * mebibyte);
  CHECK(says(error, "asked for 2097152 bytes", "holds 6291456 bytes in 2 segments",
             "5242880 of them in 2 buffers", "4194304 bytes [################################]",
             "2097152 bytes [################................]"));
  CHECK(value_of(use.allocate(cache, mebibyte)).size() == mebibyte);
}

TEMPLATE_TEST_CASE("caching allocators give back what is free after stop_holding, now and later",
                   "[memory][caching]", of_devices, page_locked) {
  const TestType use;
  auto cache = value_of(TestType::create());
  {
    const auto small = value_of(use.allocate(cache, 100));
    static_cast<void>(value_of(use.allocate(cache, 5 * mebibyte)));
    CHECK(cache.statistics().segments == 2);
    cache.stop_holding();
    CHECK(cache.statistics().segments == 1);
    static_cast<void>(value_of(use.allocate(cache, 5 * mebibyte)));
    CHECK(cache.statistics().segments == 1);
  }
  CHECK(cache.statistics().segments == 0);
  CHECK(cache.statistics().held_bytes == 0);
}

TEMPLATE_TEST_CASE("caching allocators are empty after a move", "[memory][caching]", of_devices,
                   page_locked) {
  const TestType use;
  auto cache = value_of(TestType::create());
  auto moved = std::move(cache);
  CHECK_FALSE(cache.context());
  CHECK(moved.context() == value_of(gpu::context::primary(test::first_device())));
  CHECK(cache.trim() == 0);
  CHECK(cache.statistics().segments == 0);
  CHECK(error_of(use.allocate(cache, 1)) == gpu::errc::empty_handle);
  CHECK(value_of(use.allocate(moved, 1)).size() == 1);
  CHECK(moved.trim() == 2 * mebibyte);
}

TEMPLATE_TEST_CASE("caching allocators say that the host has no memory, wherever they need some",
                   "[memory][caching][faults][cpu]", of_devices, page_locked) {
  CHECK(test::sweep_host_memory([]() -> gpu::result<> {
          const TestType use;
          auto cache = GPU_TRY(TestType::create());
          GPU_TRY(use.allocate(cache, 2 * mebibyte));
          return {};
        }) == "");
}

TEMPLATE_TEST_CASE("caching allocators and their last buffers end in several threads at once",
                   "[memory][caching][cpu][thorough]", of_devices, page_locked) {
  test::own_cpu_driver driver;
  const TestType use;
  REQUIRE(gpu::context::primary(test::first_device()).has_value());
  const std::size_t before = driver.live_objects();
  for (int round = 0; round < 500; ++round) {
    std::optional cache(value_of(TestType::create()));
    std::optional first(value_of(use.allocate(*cache, 2 * mebibyte)));
    std::optional second(value_of(use.allocate(*cache, 2 * mebibyte)));
    if (round % 2 == 0) cache.reset();
    all_at_once(2, [&](int t) {
      if (t == 0) cache.reset();
      (t == 0 ? first : second).reset();
      return 0;
    });
  }
  INFO(driver.live_list());
  CHECK(driver.live_objects() == before);
}

TEMPLATE_TEST_CASE("what a caching allocator had the driver give one thread, no other takes",
                   "[memory][caching]", of_devices, page_locked) {
  const TestType use;
  auto cache = value_of(TestType::create());
  cache.stop_holding();        // so that every request is one to the driver
  constexpr int threads = 12;  // more than page-locked memory has lanes, so that some share one
  const int wrong = all_at_once(threads, [&](int) {
    int found = 0;
    for (int i = 0; i < 100; ++i) {
      const auto made = use.allocate(cache, 2 * mebibyte);
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
}

}  // namespace caching_operations_test
