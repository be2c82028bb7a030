#include <gpu/memory/caching_allocator.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace caching_allocator_test {

using gpu::caching_allocator;
using gpu::caching_options;
using gpu::device_buffer;
using test::error_of;
using test::value_of;

static_assert(!std::is_copy_constructible_v<caching_allocator>);
static_assert(std::is_nothrow_move_constructible_v<caching_allocator>);
static_assert(sizeof(caching_allocator) == sizeof(void*));

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

caching_allocator make(gpu::device device, caching_options options = {}) {
  return value_of(caching_allocator::create(device, options));
}

}  // namespace

TEST_CASE("caching_allocator: what was freed is handed out again, without the driver",
          "[memory][caching][cpu]") {
  test::own_cpu_driver driver;
  gpu::testing::fault_injection calls(driver.table());
  gpu::driver::scoped_entry_points in_force(calls.entry_points());
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  caching_allocator cache = make(device);
  CUdeviceptr first = value_of(cache.allocate<char>(stream, 5000)).native();
  const std::size_t before = calls.calls();
  for (int i = 0; i < 100; ++i) {
    CHECK(value_of(cache.allocate<char>(stream, 5000)).native() == first);
  }
  CHECK(calls.calls() == before + 100);
  CHECK(calls.calls("cuStreamGetId") >= 100);
  const gpu::caching_statistics now = cache.statistics();
  CHECK(now.hits == 100);
  CHECK(now.misses == 1);
  CHECK(now.used_blocks == 0);
  CHECK(now.free_blocks == 1);
  CHECK(now.segments == 1);
  CHECK(now.held_bytes == 2 * mebibyte);
}

TEST_CASE("caching_allocator: buffers never overlap, whatever the order", "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  caching_allocator cache = make(device);
  std::mt19937 random(7);
  std::vector<device_buffer<char>> live;
  std::size_t bytes_wanted = 0;
  for (int step = 0; step < 4000; ++step) {
    if (live.size() > 200 || (!live.empty() && random() % 2 == 0)) {
      const std::size_t at = random() % live.size();
      std::swap(live[at], live.back());
      live.pop_back();
    } else {
      const std::size_t bytes = 1 + random() % (step % 10 == 0 ? 3 * mebibyte : 20000);
      live.push_back(value_of(cache.allocate<char>(stream, bytes)));
    }
    if (step % 100 != 99) continue;
    std::sort(live.begin(), live.end(),
              [](const auto& a, const auto& b) { return a.native() < b.native(); });
    for (std::size_t i = 1; i < live.size(); ++i) {
      REQUIRE(live[i - 1].native() + live[i - 1].size() <= live[i].native());
    }
    bytes_wanted = 0;
    for (const auto& each : live) bytes_wanted += (each.size() + 511) / 512 * 512;
    REQUIRE(cache.statistics().used_bytes == bytes_wanted);
    REQUIRE(cache.statistics().used_blocks == live.size());
  }
  live.clear();
  const gpu::caching_statistics end = cache.statistics();
  CHECK(end.used_bytes == 0);
  CHECK(end.free_blocks == end.segments);  // neighbors have become one again
  CHECK(cache.trim() == end.held_bytes);
  CHECK(cache.statistics().held_bytes == 0);
}

TEST_CASE("caching_allocator: another stream gets memory behind an event",
          "[memory][caching][cpu]") {
  test::own_cpu_driver driver({.deferred = true});
  gpu::testing::fault_injection calls(driver.table());
  gpu::driver::scoped_entry_points in_force(calls.entry_points());
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  caching_allocator cache = make(device);
  auto kept = value_of(gpu::pinned_vector<int>::create(device, 1000));
  CUdeviceptr address = 0;
  {
    auto buffer = value_of(cache.allocate<int>(one, 1000));
    address = buffer.native();
    REQUIRE(fill(one, buffer, 1).has_value());
    REQUIRE(copy(one, buffer, kept).has_value());
  }
  {
    const auto other = value_of(cache.allocate<int>(two, 1000));
    CHECK(other.native() != address);  // what one freed is one's
  }
  REQUIRE(cache.hand_over(one).has_value());
  CHECK(calls.calls("cuEventRecord") == 1);
  REQUIRE(cache.trim() > 0);  // both segments; the driver waits
  CHECK(kept[0] == 1);
  {
    auto buffer = value_of(cache.allocate<int>(one, 1000));
    address = buffer.native();
    REQUIRE(fill(one, buffer, 2).has_value());
    REQUIRE(copy(one, buffer, kept).has_value());
  }
  REQUIRE(cache.hand_over(one).has_value());
  auto buffer = value_of(cache.allocate<int>(two, 1000));
  CHECK(buffer.native() == address);
  CHECK(calls.calls("cuStreamWaitEvent") == 1);
  REQUIRE(fill(two, buffer, 3).has_value());
  REQUIRE(two.synchronize().has_value());
  CHECK(kept[0] == 2);  // the fill of stream two came after the copy of stream one
  CHECK(cache.statistics().shared == 1);
}

TEST_CASE("caching_allocator: a stream that frees answers those that had to ask the driver",
          "[memory][caching][cpu]") {
  test::own_cpu_driver driver;
  gpu::testing::fault_injection calls(driver.table());
  gpu::driver::scoped_entry_points in_force(calls.entry_points());
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  caching_allocator cache = make(device);
  const CUdeviceptr address = value_of(cache.allocate<char>(one, 100)).native();
  const auto first = value_of(cache.allocate<char>(two, 2 * mebibyte));  // asks the driver
  CHECK(calls.calls("cuEventRecord") == 0);
  CHECK(value_of(cache.allocate<char>(one, 100)).native() == address);  // and frees it again
  CHECK(calls.calls("cuEventRecord") == 1);
  const auto second = value_of(cache.allocate<char>(two, 100));
  CHECK(second.native() == address);
  CHECK(cache.statistics().misses == 2);
}

TEST_CASE("caching_allocator: a new stream with an old one's handle is another stream",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  caching_allocator cache = make(device);
  CUdeviceptr address = 0;
  {
    const gpu::stream stream = value_of(gpu::stream::create(device));
    address = value_of(cache.allocate<char>(stream, 100)).native();
  }
  const gpu::stream stream = value_of(gpu::stream::create(device));
  CHECK(value_of(cache.allocate<char>(stream, 100)).native() != address);
}

TEST_CASE("caching_allocator: takes what others have free before it gives up",
          "[memory][caching][cpu]") {
  test::own_cpu_driver driver({.memory_per_device = 16 * mebibyte});
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  caching_allocator cache = make(device);
  {
    const auto all = value_of(cache.allocate<char>(one, 12 * mebibyte));
  }
  {
    const auto all = value_of(cache.allocate<char>(two, 12 * mebibyte));
  }
  CHECK(cache.statistics().shared == 1);
  CHECK(cache.statistics().trims == 0);
  {  // no segment is large enough, so the driver gets all back and gives a new one
    const auto all = value_of(cache.allocate<char>(one, 14 * mebibyte));
    CHECK(cache.statistics().held_bytes == 14 * mebibyte);
  }
  CHECK(cache.statistics().trims == 1);
}

TEST_CASE("caching_allocator: refuses streams of other contexts", "[memory][caching]") {
  const gpu::device device = test::first_device();
  caching_allocator cache = make(device);
  const gpu::context apart = value_of(gpu::context::create(device));
  const gpu::stream elsewhere = value_of(gpu::stream::create(apart));
  CHECK(error_of(cache.allocate<char>(elsewhere, 1)) == gpu::errc::wrong_context);
  CHECK(error_of(cache.hand_over(elsewhere)) == gpu::errc::wrong_context);
}

TEST_CASE("caching_allocator: default streams have numbers too", "[memory][caching]") {
  const gpu::device device = test::first_device();
  caching_allocator cache = make(device);
  const gpu::stream_ref legacy = value_of(gpu::stream_ref::legacy_default(device));
  const gpu::stream_ref own = value_of(gpu::stream_ref::per_thread_default(device));
  const CUdeviceptr address = value_of(cache.allocate<char>(legacy, 100)).native();
  CHECK(value_of(cache.allocate<char>(legacy, 100)).native() == address);
  CHECK(value_of(cache.allocate<char>(own, 100)).native() != address);
  CUdeviceptr in_thread = 0;
  const CUdeviceptr here = value_of(cache.allocate<char>(own, 100)).native();
  std::thread([&] {
    auto made = cache.allocate<char>(own, 100);
    if (made.has_value()) in_thread = made->native();
  }).join();
  CHECK(in_thread != 0);
  CHECK(in_thread != here);
}

TEST_CASE("caching_allocator: buffers outlive it, and all goes back", "[memory][caching][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  const std::size_t before = driver.live_objects();
  {
    std::vector<device_buffer<char>> live;
    {
      caching_allocator cache = make(device);
      for (int i = 0; i < 5; ++i) {
        live.push_back(value_of(cache.allocate<char>(one, mebibyte)));
        live.push_back(value_of(cache.allocate<char>(two, mebibyte)));
      }
      {
        const auto freed = value_of(cache.allocate<char>(one, 5 * mebibyte));
      }
      REQUIRE(cache.hand_over(one).has_value());
    }
    CHECK(driver.live_objects() > before);
    REQUIRE(fill(one, live[0], 'x').has_value());
  }
  INFO(driver.live_list());
  CHECK(driver.live_objects() == before);
}

TEST_CASE("caching_allocator: child: static buffers at exit", "[.child]") {
  static caching_allocator cache = value_of(caching_allocator::create(test::first_device()));
  static gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  static auto first = value_of(cache.allocate<int>(stream, 100));
  static auto second = value_of(cache.allocate<int>(stream, 100));
  CHECK(first.native() != second.native());
  std::exit(0);
}

TEST_CASE("caching_allocator: is safe where static objects outlive main", "[memory][caching]") {
  const test::program_outcome outcome =
      test::run_child("caching_allocator: child: static buffers at exit");
  INFO(outcome.output);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output.find("gpu:") == std::string::npos);
}

}  // namespace caching_allocator_test
