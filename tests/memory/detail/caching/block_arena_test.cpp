// How caching allocators divide their segments: the gaps that they fill, and the map that they
// print.

#include "support/noted_calls.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/system/mutex.hpp>

#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace block_arena_test {

using gpu::caching_allocator;
using gpu::device_buffer;
using test::error_of;
using test::says;
using test::value_of;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t unit = 512;

struct fixture {
  gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));

  device_buffer<char> bytes(std::size_t count) {
    return value_of(cache.allocate<char>(stream, count));
  }
  std::vector<device_buffer<char>> many(std::size_t count, std::size_t bytes_each) {
    std::vector<device_buffer<char>> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back(bytes(bytes_each));
    return made;
  }
  /// Everything that is left of the segments.
  device_buffer<char> rest() {
    const gpu::caching_statistics now = cache.statistics();
    return bytes(now.held_bytes - now.used_bytes);
  }
};

std::size_t count_of(const std::string& what, const gpu::cuda_error& error) {
  const std::string message = error.message().c_str();
  std::size_t found = 0;
  for (std::size_t at = 0; (at = message.find(what, at)) != std::string::npos; ++at) ++found;
  return found;
}

}  // namespace

TEST_CASE("block_arena: every hole is filled before the driver is asked for more",
          "[memory][caching]") {
  fixture f;
  auto all = f.many(512, 4096);
  std::set<CUdeviceptr> holes, filled;
  for (std::size_t i = 0; i < all.size(); i += 2) {
    holes.insert(all[i].native());
    const auto gone = std::move(all[i]);
  }
  CHECK(f.cache.statistics().free_blocks == 256);
  const auto again = f.many(256, 4096);
  for (const auto& each : again) filled.insert(each.native());
  CHECK(filled == holes);
  CHECK(f.cache.statistics().misses == 1);
  CHECK(f.cache.statistics().hits == 767);
}

TEST_CASE("block_arena: a hole is found behind many that are a little too small",
          "[memory][caching]") {
  for (const std::size_t asked : {257 * unit, 258 * unit}) {
    fixture f;
    std::optional large = f.bytes(258 * unit);
    const CUdeviceptr address = large->native();
    std::vector<device_buffer<char>> small, between;
    for (int i = 0; i < 12; ++i) {
      between.push_back(f.bytes(unit));
      small.push_back(f.bytes(256 * unit));
    }
    between.push_back(f.bytes(unit));
    const auto rest = f.rest();
    large.reset();
    CHECK(f.cache.statistics().free_blocks == 1);
    small.clear();
    CHECK(f.bytes(asked).native() == address);
    CHECK(f.cache.statistics().misses == 1);
  }
}

TEST_CASE("block_arena: neighbors that are free are one block for who asks next",
          "[memory][caching]") {
  fixture f;
  f.many(2, mebibyte).clear();
  {
    const test::noted_calls<&gpu::driver::entry_points::stream_is_capturing> asked;
    CHECK(f.bytes(2 * mebibyte).size() == 2 * mebibyte);
    CHECK(asked.count() == 0);  // as where a block has to come from elsewhere
  }
  CHECK(f.cache.statistics().misses == 1);
  CHECK(f.cache.statistics().free_blocks == 1);
}

TEST_CASE("block_arena: a request fails where no hole is large enough, and never else",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device, {.limit = 2 * mebibyte}));
  const CUdeviceptr begin = value_of(cache.allocate<char>(stream, 2 * mebibyte)).native();
  const CUdeviceptr end = begin + 2 * mebibyte;
  std::map<CUdeviceptr, device_buffer<char>> live;
  const auto rounded = [](std::size_t bytes) { return (bytes + unit - 1) / unit * unit; };
  const auto holes = [&] {
    std::vector<std::size_t> found;
    CUdeviceptr at = begin;
    const auto add = [&](CUdeviceptr to) {
      if (to > at) found.push_back(to - at);
    };
    for (const auto& [address, buffer] : live) {
      add(address);
      at = address + rounded(buffer.size());
    }
    add(end);
    return found;
  };
  std::mt19937 random(5);
  int refused = 0, given = 0;
  for (int step = 0; step < 4000; ++step) {
    if (!live.empty() && random() % 100 < (live.size() > 60 ? 60 : 40)) {
      live.erase(std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size())));
    } else {
      const std::size_t ranges[] = {20, 300, 16, 500};
      const std::size_t from[] = {1, 1, 256, 100};
      const std::size_t kind = random() % 4;
      const std::size_t bytes = (from[kind] + random() % ranges[kind]) * unit - random() % unit;
      const std::vector<std::size_t> free = holes();
      const std::size_t largest = free.empty() ? 0 : *std::max_element(free.begin(), free.end());
      gpu::result<device_buffer<char>> made = cache.allocate<char>(stream, bytes);
      REQUIRE(made.has_value() == (bytes <= largest));
      if (made.has_value()) {
        const CUdeviceptr address = made->native();
        const auto after = live.emplace(address, *std::move(made)).first;
        REQUIRE(address >= begin);
        REQUIRE((std::next(after) == live.end() ? end : std::next(after)->first) - address >=
                rounded(bytes));
        if (after != live.begin()) {
          const auto& [other, before] = *std::prev(after);
          REQUIRE(other + rounded(before.size()) <= address);
        }
        ++given;
      } else {
        ++refused;
      }
    }
    if (step % 8 != 7) continue;
    const gpu::caching_statistics now = cache.statistics();
    REQUIRE(now.free_blocks == holes().size());
    REQUIRE(now.used_blocks == live.size());
  }
  CHECK(given > 1000);
  CHECK(refused > 100);
}

TEST_CASE("block_arena: a map shows parts of what a column stands for", "[memory][caching]") {
  fixture f;
  f.cache = value_of(caching_allocator::create(f.device, {.limit = 2 * mebibyte}));
  std::optional first = f.bytes(96 << 10);  // a column is 64 KiB
  const auto second = f.bytes(unit);
  const auto third = f.bytes(32 << 10);
  const auto map = [&] { return error_of(f.cache.allocate<char>(f.stream, 2 * mebibyte)); };
  CHECK(says(map(), "2097152 bytes [##+.............................]"));
  first.reset();
  CHECK(says(map(), "2097152 bytes [.++.............................]"));
  const auto last = f.bytes(2 * mebibyte - (160 << 10));
  CHECK(says(map(), "2097152 bytes [.+#############################+]"));
}

TEST_CASE("block_arena: a map has so many lines, and says where there were more",
          "[memory][caching]") {
  fixture f;
  f.cache = value_of(caching_allocator::create(f.device, {.limit = 50 * mebibyte}));
  std::vector<gpu::stream> streams;
  std::vector<device_buffer<char>> shown;
  for (std::size_t i = 0; i < 24; ++i) {
    if (i % 6 == 0) streams.push_back(value_of(gpu::stream::create(f.device)));
    shown.push_back(value_of(f.cache.allocate<char>(streams.back(), 2 * mebibyte)));
  }
  const auto too_much = [&] { return error_of(f.cache.allocate<char>(f.stream, 4 * mebibyte)); };
  gpu::cuda_error error = too_much();
  CHECK(count_of("\n  stream ", error) == 4);
  CHECK(count_of("\n    2097152 bytes [###", error) == 24);
  CHECK(count_of("and more", error) == 0);
  shown.push_back(value_of(f.cache.allocate<char>(f.stream, 2 * mebibyte)));
  error = too_much();
  CHECK(says(error, "in 25 segments", "]\n  (and more segments)"));
  CHECK(count_of("\n    2097152 bytes [###", error) == 24);
  CHECK(count_of(":\n  (and more segments)", error) == 0);  // no stream without a segment
}

TEST_CASE("block_arena: child that forks while a lock is held", "[.child]") {
  test::first_device();
  gpu::detail::mutex lock;
  lock.lock();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(20);
    lock.lock();  // nobody here would let go of it
    std::_Exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
}

TEST_CASE("block_arena: a lock is waited for, but in a child whose parent has it",
          "[memory][caching]") {
  gpu::detail::mutex lock;
  std::atomic<bool> entered = false;
  lock.lock();
  std::thread other([&] {
    lock.lock();
    entered = true;
    lock.unlock();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(entered);
  lock.unlock();
  other.join();
  CHECK(entered);
  const test::program_outcome outcome =
      test::run_child("block_arena: child that forks while a lock is held");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
}

}  // namespace block_arena_test
