#include <gpu/memory/caching_pinned_allocator.hpp>

#include "support/drivers.hpp"
#include "support/host_memory.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pinned_flags.hpp>
#include <gpu/memory/pinned_span.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/memory/ranges.hpp>
#include <gpu/memory/stream_memory_operation.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
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
  CHECK(cache.context() == between.context());
  CHECK(from.context() == between.context());
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

TEST_CASE("caching_pinned_allocator: no stream keeps the blocks of another waiting",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  auto cache = value_of(caching_pinned_allocator::create(device));
  std::vector<gpu::pinned_vector<unsigned>> flags;
  std::vector<gpu::stream> streams;
  for (int i = 0; i < 3; ++i) {
    flags.push_back(value_of(gpu::pinned_vector<unsigned>::create(device, 1)));
    flags.back()[0] = 0;
    streams.push_back(value_of(gpu::stream::create(device)));
    REQUIRE(
        gpu::perform(streams.back(), gpu::memory_operation::wait(flags.back(), 1u)).has_value());
  }
  // Two whole segments for each stream, in turns.
  std::vector<const char*> given[3];
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < 3; ++i) {
      auto buffer = value_of(cache.allocate<char>(2 * mebibyte));
      given[i].push_back(buffer.data());
      CHECK(cache.free_after(streams[i], std::move(buffer)).has_value());
    }
  }
  CHECK(cache.statistics().misses == 6);
  std::vector<pinned_buffer<char>> kept;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}, std::size_t{0}}) {
    __atomic_store_n(flags[i].data(), 1u, __ATOMIC_RELEASE);
    CHECK(streams[i].synchronize().has_value());
    for (int k = 0; k < 2; ++k) {
      kept.push_back(value_of(cache.allocate<char>(2 * mebibyte)));
      CHECK(std::count(given[i].begin(), given[i].end(), kept.back().data()) == 1);
    }
  }
  CHECK(cache.statistics().misses == 6);
}

TEST_CASE("caching_pinned_allocator: the default streams of two threads are two streams",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream_ref own = value_of(gpu::stream_ref::per_thread_default(device));
  auto cache = value_of(caching_pinned_allocator::create(device));
  auto flag = value_of(gpu::pinned_vector<unsigned>::create(device, 1));
  flag[0] = 0;
  auto here = value_of(cache.allocate<char>(2 * mebibyte));
  auto there = value_of(cache.allocate<char>(2 * mebibyte));
  const char *kept = here.data(), *done = there.data();
  REQUIRE(gpu::perform(own, gpu::memory_operation::wait(flag, 1u)).has_value());
  CHECK(cache.free_after(own, std::move(here)).has_value());
  bool freed = false;
  std::thread([&] {
    freed = cache.free_after(own, std::move(there)).has_value() && own.synchronize().has_value();
  }).join();
  CHECK(freed);
  const auto again = value_of(cache.allocate<char>(2 * mebibyte));
  CHECK(again.data() == done);
  __atomic_store_n(flag.data(), 1u, __ATOMIC_RELEASE);
  REQUIRE(own.synchronize().has_value());
  CHECK(value_of(cache.allocate<char>(2 * mebibyte)).data() == kept);
  CHECK(cache.statistics().misses == 2);
}

TEST_CASE("caching_pinned_allocator: blocks come back as their stream gets on",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto cache = value_of(caching_pinned_allocator::create(device));
  auto flag = value_of(gpu::pinned_vector<unsigned>::create(device, 1));
  flag[0] = 0;
  std::vector<pinned_buffer<char>> all, again;
  std::vector<const char*> given;
  for (int i = 0; i < 4; ++i) {
    all.push_back(value_of(cache.allocate<char>(2 * mebibyte)));
    given.push_back(all.back().data());
  }
  const auto free_after = [&](std::size_t i) {
    CHECK(cache.free_after(stream, std::move(all[i])).has_value());
  };
  free_after(0);
  REQUIRE(stream.synchronize().has_value());
  REQUIRE(gpu::perform(stream, gpu::memory_operation::wait(flag, 1u)).has_value());
  free_after(1);
  free_after(2);
  again.push_back(value_of(cache.allocate<char>(2 * mebibyte)));
  CHECK(again.back().data() == given[0]);
  free_after(3);  // behind those that wait
  __atomic_store_n(flag.data(), 1u, __ATOMIC_RELEASE);
  CHECK(stream.synchronize().has_value());
  for (int i = 0; i < 3; ++i) again.push_back(value_of(cache.allocate<char>(2 * mebibyte)));
  CHECK(cache.statistics().misses == 4);
}

TEST_CASE("caching_pinned_allocator: a stream that is not ready is not asked each time",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream ready = value_of(gpu::stream::create(device));
  const gpu::stream busy = value_of(gpu::stream::create(device));
  auto cache = value_of(caching_pinned_allocator::create(device));
  auto flag = value_of(gpu::pinned_vector<unsigned>::create(device, 1));
  flag[0] = 0;
  std::vector<pinned_buffer<char>> whole;
  for (int i = 0; i < 3; ++i) whole.push_back(value_of(cache.allocate<char>(2 * mebibyte)));
  for (auto& each : whole) REQUIRE(cache.free_after(ready, std::move(each)).has_value());
  REQUIRE(gpu::perform(busy, gpu::memory_operation::wait(flag, 1u)).has_value());
  for (int i = 0; i < 5; ++i) {  // its list now comes before the other stream's
    REQUIRE(cache.free_after(busy, value_of(cache.allocate<char>(500))).has_value());
  }
  REQUIRE(ready.synchronize().has_value());
  const std::size_t misses = cache.statistics().misses;
  const test::noted_calls<&gpu::driver::entry_points::event_query> asked;
  for (int i = 0; i < 20; ++i) {
    auto again = value_of(cache.allocate<char>(2 * mebibyte));
    REQUIRE(cache.free_after(ready, std::move(again)).has_value());
    REQUIRE(ready.synchronize().has_value());
  }
  CHECK(asked.count() == 21);  // the busy stream once
  CHECK(cache.statistics().misses == misses);
  __atomic_store_n(flag.data(), 1u, __ATOMIC_RELEASE);
  CHECK(busy.synchronize().has_value());
}

TEST_CASE("caching_pinned_allocator: free_after uses its events again", "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto cache = value_of(caching_pinned_allocator::create(device));
  const test::noted_calls<&gpu::driver::entry_points::event_create> made;
  const test::noted_calls<&gpu::driver::entry_points::event_destroy> gone;
  const auto use = [&](const gpu::stream& on) {
    for (int i = 0; i < 10; ++i) {
      auto buffer = value_of(cache.allocate<char>(2 * mebibyte));
      REQUIRE(cache.free_after(on, std::move(buffer)).has_value());
      REQUIRE(on.synchronize().has_value());
    }
  };
  use(stream);
  CHECK(made.count() == 1);
  CHECK(gone.count() == 0);
  static_cast<void>(value_of(cache.allocate<char>(2 * mebibyte)));  // now no buffer has the event
  CHECK(cache.trim() == 2 * mebibyte);
  CHECK(gone.count() == 1);
  // An event of another context could be gone with it before it is used again.
  const gpu::context other = value_of(gpu::context::create(device));
  const gpu::stream apart = value_of(gpu::stream::create(other));
  use(apart);
  CHECK(made.count() == 11);
  cache.trim();
  CHECK(gone.count() == 11);
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

TEST_CASE("caching_pinned_allocator: makes room within its limit, and refuses what cannot be",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  auto cache = value_of(caching_pinned_allocator::create(device, gpu::pinned_flags::portable,
                                                         {.limit = 4 * mebibyte}));
  {
    const auto most = value_of(cache.allocate<char>(3 * mebibyte));
    error_of(cache.allocate<char>(2 * mebibyte));
  }
  CHECK(value_of(cache.allocate<char>(4 * mebibyte)).size() == 4 * mebibyte);
  CHECK(cache.statistics().trims == 1);  // in vain
  auto moved = std::move(cache);
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::cuda_error gone =
      error_of(cache.free_after(stream, value_of(moved.allocate<char>(1))));
  CHECK(gone == gpu::errc::empty_handle);
  CHECK(says(gone, "gpu::caching_pinned_allocator::free_after", "the allocator is empty"));
  CHECK(error_of(moved.free_after(gpu::stream_ref{}, value_of(moved.allocate<char>(1)))) ==
        gpu::errc::empty_handle);
  CHECK(says(error_of(caching_pinned_allocator::create(device, static_cast<gpu::pinned_flags>(16))),
             "gpu::caching_pinned_allocator::create", "16 has bits outside of gpu::pinned_flags"));
  CHECK(says(error_of(caching_pinned_allocator::create(gpu::context_ref{})),
             "gpu::caching_pinned_allocator::create", "context is empty"));
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

TEST_CASE("caching_pinned_allocator: says how much the host lacks, and what to do",
          "[memory][caching][faults][cpu]") {
  if (!test::failing_allocation::possible()) return;
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto cache = value_of(caching_pinned_allocator::create(device));
  const auto check = [](const gpu::cuda_error& error, const char* function) {
    CHECK(error == gpu::errc::out_of_host_memory);
    CHECK(error.asked() > 0);
    CHECK(says(error, function, (std::to_string(error.asked()) + " bytes").c_str(),
               "Free host memory"));
  };
  for (std::size_t n = 0; n < 2; ++n) {  // the records of a segment and its blocks
    const test::failing_allocation failing(n);
    check(error_of(cache.allocate<char>(100)), "gpu::caching_pinned_allocator::allocate");
  }
  auto buffer = value_of(cache.allocate<char>(100));
  const test::failing_allocation failing(0);
  check(error_of(cache.free_after(stream, std::move(buffer))),
        "gpu::caching_pinned_allocator::free_after");
  CHECK(cache.statistics().used_blocks == 0);
}

}  // namespace caching_pinned_allocator_test
