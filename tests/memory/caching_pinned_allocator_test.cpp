#include <gpu/memory/caching_pinned_allocator.hpp>

#include "support/host_memory.hpp"
#include "support/noted_calls.hpp"

#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <algorithm>
#include <thread>
#include <type_traits>
#include <vector>

namespace caching_pinned_allocator_test {

using gpu::caching_pinned_allocator;
using gpu::pinned_buffer;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<caching_pinned_allocator>);
static_assert(std::is_nothrow_move_constructible_v<pinned_buffer<int>>);
static_assert(gpu::pinned_range<pinned_buffer<int>&>);
static_assert(!gpu::device_range<pinned_buffer<int>&>);
static_assert(std::is_convertible_v<pinned_buffer<int>&, gpu::pinned_span<int>>);
static_assert(!std::is_convertible_v<pinned_buffer<int>, gpu::pinned_span<const int>>);

namespace {
constexpr std::size_t mebibyte = std::size_t{1} << 20;
}

TEST_CASE("caching_pinned_allocator: buffers are page-locked, and go through a device",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto cache = value_of(caching_pinned_allocator::create(device));
  auto from = value_of(cache.allocate<int>(1000));
  auto to = value_of(cache.allocate<int>(1000));
  auto between = value_of(gpu::device_buffer<int>::create(stream, 1000));
  CHECK(from.size_bytes() == 4000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<int>(i * i);
  REQUIRE(copy(stream, from, between).has_value());
  REQUIRE(copy(stream, between, to).has_value());
  REQUIRE(stream.synchronize().has_value());
  CHECK(std::equal(from.begin(), from.end(), to.begin()));
  CUmemorytype type{};
  REQUIRE(test::driver().pointer_get_attribute(
              &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
              static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(to.data()))) ==
          CUDA_SUCCESS);
  CHECK(type == CU_MEMORYTYPE_HOST);
  CHECK(value_of(cache.allocate<int>(0)).empty());
}

TEST_CASE("caching_pinned_allocator: a warm buffer needs no driver call",
          "[memory][caching][cpu]") {
  test::own_cpu_driver driver;
  gpu::testing::fault_injection calls(driver.table());
  gpu::driver::scoped_entry_points in_force(calls.entry_points());
  auto cache = value_of(caching_pinned_allocator::create(test::first_device()));
  const char* first = value_of(cache.allocate<char>(mebibyte)).data();
  const std::size_t before = calls.calls();
  for (int i = 0; i < 100; ++i) CHECK(value_of(cache.allocate<char>(mebibyte)).data() == first);
  CHECK(calls.calls() == before);
  CHECK(cache.statistics().hits == 100);
  CHECK(cache.statistics().misses == 1);
  CHECK(cache.trim() == 2 * mebibyte);
  CHECK(cache.statistics().held_bytes == 0);
  CHECK(cache.statistics().segments == 0);
}

TEST_CASE("caching_pinned_allocator: tells what is used and kept, and its flags hold for all",
          "[memory][caching]") {
  const test::noted_calls<&gpu::driver::entry_points::mem_host_alloc> noted;
  auto cache = value_of(caching_pinned_allocator::create(
      value_of(gpu::context::primary(test::first_device())), gpu::pinned_flags::portable));
  {
    const auto one = value_of(cache.allocate<char>(1000));
    const auto two = value_of(cache.allocate<int>(100));
    CHECK(noted.count() == 1);
    CHECK(noted.last<2>() == CU_MEMHOSTALLOC_PORTABLE);
    const gpu::caching_statistics now = cache.statistics();
    CHECK(now.used_blocks == 2);
    CHECK(now.used_bytes == 1024 + 512);
    CHECK(now.held_bytes == noted.last<1>());
  }
  const gpu::caching_statistics now = cache.statistics();
  CHECK(now.used_blocks == 0);
  CHECK(now.used_bytes == 0);
  CHECK(now.free_blocks > 0);
  CHECK(now.held_bytes == noted.last<1>());
}

TEST_CASE("caching_pinned_allocator: free_after keeps the bytes until the stream has used them",
          "[memory][caching][cpu]") {
  test::own_cpu_driver driver({.deferred = true});
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto cache = value_of(caching_pinned_allocator::create(device));
  auto buffer = value_of(gpu::device_buffer<int>::create(device, 100));
  auto source = value_of(cache.allocate<int>(100));
  std::fill(source.begin(), source.end(), 7);
  const int* address = source.data();
  REQUIRE(copy(stream, source, buffer).has_value());
  REQUIRE(cache.free_after(stream, std::move(source)).has_value());
  CHECK(source.empty());
  auto next = value_of(cache.allocate<int>(100));
  CHECK(next.data() != address);  // the copy has not read it yet
  std::fill(next.begin(), next.end(), 8);
  REQUIRE(stream.synchronize().has_value());
  std::vector<int> back(100);
  REQUIRE(copy(buffer, back).has_value());
  CHECK(back == std::vector<int>(100, 7));
  // Once the lane has nothing left, those that waited are looked at.
  std::vector<pinned_buffer<char>> rest;
  bool seen = false;
  for (int i = 0; i < 5000 && !seen; ++i) {
    rest.push_back(value_of(cache.allocate<char>(400)));
    seen = static_cast<const void*>(rest.back().data()) == address;
  }
  CHECK(seen);
  CHECK(cache.free_after(stream, value_of(cache.allocate<int>(0))).has_value());
}

TEST_CASE("caching_pinned_allocator: threads use what others freed", "[memory][caching]") {
  const gpu::device device = test::first_device();
  auto cache = value_of(caching_pinned_allocator::create(device));
  const char* here = value_of(cache.allocate<char>(mebibyte)).data();
  const char* there = nullptr;
  std::thread([&] {
    auto made = cache.allocate<char>(mebibyte);
    if (made.has_value()) there = made->data();
  }).join();
  CHECK(there == here);
}

TEST_CASE("caching_pinned_allocator: keeps to its limit, and refuses what cannot be",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  auto cache = value_of(caching_pinned_allocator::create(device, gpu::pinned_flags::portable,
                                                         {.limit = 4 * mebibyte}));
  {
    const auto most = value_of(cache.allocate<char>(3 * mebibyte));
    const gpu::cuda_error error = error_of(cache.allocate<char>(2 * mebibyte));
    CHECK(error.kind() == gpu::error_kind::memory);
    CHECK(says(error, "asked for 2097152 bytes", "the limit of this allocator is 4194304 bytes"));
  }
  CHECK(value_of(cache.allocate<char>(4 * mebibyte)).size() == 4 * mebibyte);
  CHECK(error_of(cache.allocate<double>(~std::size_t{0} / 4)) == gpu::errc::size_overflow);
  auto moved = std::move(cache);
  CHECK(error_of(cache.allocate<char>(1)) == gpu::errc::empty_handle);
  CHECK(error_of(moved.free_after(gpu::stream_ref{}, value_of(moved.allocate<char>(1)))) ==
        gpu::errc::empty_handle);
  CHECK(says(error_of(caching_pinned_allocator::create(device, static_cast<gpu::pinned_flags>(16))),
             "gpu::caching_pinned_allocator::create", "16 has bits that are no gpu::pinned_flags"));
}

TEST_CASE("caching_pinned_allocator: buffers outlive it, and all goes back",
          "[memory][caching][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const std::size_t before = driver.live_objects();
  {
    std::vector<pinned_buffer<char>> live;
    {
      auto cache = value_of(caching_pinned_allocator::create(device));
      for (int i = 0; i < 5; ++i) live.push_back(value_of(cache.allocate<char>(mebibyte)));
      REQUIRE(cache.free_after(stream, value_of(cache.allocate<char>(mebibyte))).has_value());
    }
    live[0][0] = 'x';
    CHECK(driver.live_objects() > before);
  }
  INFO(driver.live_list());
  CHECK(driver.live_objects() == before);
}

TEST_CASE("caching_pinned_allocator: stop_holding gives back what is free, now and later",
          "[memory][caching]") {
  auto cache = value_of(caching_pinned_allocator::create(test::first_device()));
  {
    const auto small = value_of(cache.allocate<char>(100));
    {
      const auto large = value_of(cache.allocate<char>(5 * mebibyte));
    }
    CHECK(cache.statistics().segments == 2);
    cache.stop_holding();
    CHECK(cache.statistics().segments == 1);
  }
  CHECK(cache.statistics().segments == 0);
  CHECK(cache.statistics().held_bytes == 0);
}

TEST_CASE("caching_pinned_allocator: survives every failing call", "[memory][caching][cpu]") {
  const auto operation = []() -> gpu::result<> {
    gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
    const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
    gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto cache = GPU_TRY(caching_pinned_allocator::create(device));
    auto buffer = GPU_TRY(cache.allocate<int>(100));
    return cache.free_after(stream, std::move(buffer));
  };
  CHECK(test::sweep(operation, {"cuCtxGetCurrent", "cuEventSynchronize"}) == "");
}

TEST_CASE("caching_pinned_allocator: says that the host has no memory, wherever it needs some",
          "[memory][caching][faults][cpu]") {
  CHECK(test::sweep_host_memory([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
          auto cache = GPU_TRY(caching_pinned_allocator::create(device));
          auto whole = GPU_TRY(cache.allocate<char>(2 * mebibyte));
          return cache.free_after(stream, std::move(whole));
        }) == "");
}

}  // namespace caching_pinned_allocator_test
