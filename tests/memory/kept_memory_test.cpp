#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/peer_access.hpp>
#include <gpu/driver/primary_context.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/growing_buffer.hpp>
#include <gpu/memory/kept_memory.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/memory_access.hpp>
#include <gpu/memory/memory_pool.hpp>
#include <gpu/memory/memory_pool_attribute.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/testing/fault_injection.hpp>
#include <gpu/texture/cuda_array.hpp>
#include <gpu/texture/mipmapped_array.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace kept_memory_test {

using gpu::device_buffer;
using gpu::memory_access;
using gpu::memory_pool;
using gpu::memory_pool_ref;
using attribute = gpu::memory_pool_attribute;
using test::error_of;
using test::says;
using test::value_of;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

struct fixture {
  gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));

  device_buffer<char> make(std::size_t bytes) const {
    return value_of(device_buffer<char>::create(stream, bytes));
  }
  /// What the library's pool holds, by the raw driver.
  std::uint64_t held() const { return figure(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT); }
  std::uint64_t used() const { return figure(CU_MEMPOOL_ATTR_USED_MEM_CURRENT); }

 private:
  std::uint64_t figure(CUmemPool_attribute which) const {
    const memory_pool_ref pool = value_of(gpu::library_pool_of(device));
    std::uint64_t value = 0;
    REQUIRE(test::driver().mem_pool_get_attribute(pool.native(), which, &value) == CUDA_SUCCESS);
    return value;
  }
};

CUmemoryPool pool_of(const device_buffer<char>& buffer) {
  CUmemoryPool pool = nullptr;
  REQUIRE(test::driver().pointer_get_attribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                                               buffer.native()) == CUDA_SUCCESS);
  return pool;
}

/// A CPU driver with faults over it.
struct faulty : test::own_cpu_driver {
  gpu::testing::fault_injection faults{table()};
  gpu::driver::scoped_entry_points in_force{faults.entry_points()};

  explicit faulty(test::cpu_driver_options options = {}) : test::own_cpu_driver{options} {}
  void run_out_of_memory(const char* call, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) faults.fail_call(call, i, CUDA_ERROR_OUT_OF_MEMORY);
  }
};

}  // namespace

TEST_CASE("kept memory: stays when the stream is synchronized, and comes again", "[memory][pool]") {
  const fixture f;
  {
    const auto buffer = f.make(64 * mebibyte);
    CHECK(pool_of(buffer) == value_of(gpu::library_pool_of(f.device)).native());
    CHECK(f.used() >= 64 * mebibyte);
  }
  value_of(f.stream.synchronize());
  CHECK(f.held() >= f.used() + 64 * mebibyte);
  value_of(f.stream.context().synchronize());
  CHECK(f.held() >= f.used() + 64 * mebibyte);
  const std::uint64_t before = f.held();
  static_cast<void>(f.make(64 * mebibyte));
  CHECK(f.held() == before);
}

TEST_CASE("kept memory: the driver's default pool is as it was", "[memory][pool]") {
  const fixture f;
  const memory_pool_ref standard = value_of(memory_pool_ref::default_of(f.device));
  const auto buffer = f.make(mebibyte);
  CHECK(pool_of(buffer) != standard.native());
  CHECK(value_of(memory_pool_ref::current_of(f.device)) == standard);
  CHECK(value_of(gpu::attribute<attribute::release_threshold>(standard)) == 0);
}

TEST_CASE("kept memory: trim gives back what is free, and only that", "[memory][pool]") {
  const fixture f;
  auto stays = f.make(32 * mebibyte);
  value_of(gpu::fill(f.stream, stays, char{7}));
  static_cast<void>(f.make(64 * mebibyte));  // freed, perhaps after work that is still to be done
  const std::uint64_t before = f.held();
  value_of(gpu::trim(f.device));
  CHECK(f.held() <= before - 64 * mebibyte);
  CHECK(f.held() >= 32 * mebibyte);
  std::vector<char> found(stays.size());
  value_of(gpu::copy(stays, found));
  CHECK(std::ranges::count(found, char{7}) == static_cast<std::ptrdiff_t>(found.size()));
  value_of(gpu::trim(f.device));  // nothing is left to give back
  CHECK(pool_of(f.make(mebibyte)) == value_of(gpu::library_pool_of(f.device)).native());
}

TEST_CASE("kept memory: trim of a device that has kept nothing", "[memory][pool][cpu]") {
  const test::own_cpu_driver driver({.devices = 2});
  const test::noted_calls<&gpu::driver::entry_points::mem_pool_create> made;
  value_of(gpu::trim(value_of(gpu::device::get(1))));
  CHECK(made.count() == 0);
}

TEST_CASE("kept memory: at most what the limit says is kept", "[memory][pool]") {
  const fixture f;
  value_of(gpu::trim(f.device));
  const std::uint64_t others = f.held();  // in use by other tests
  const auto held_after_use = [&](std::uint64_t limit) {
    value_of(gpu::limit_kept_memory(f.device, limit));
    static_cast<void>(f.make(128 * mebibyte));
    value_of(f.stream.synchronize());
    return f.held();
  };
  CHECK(held_after_use(0) <= others);
  const std::uint64_t half = held_after_use(others + 64 * mebibyte);
  CHECK(half <= others + 64 * mebibyte);
  if (!test::on_hardware()) CHECK(half == others + 64 * mebibyte);  // without its granularity
  CHECK(held_after_use(others + 1024 * mebibyte) >= 128 * mebibyte);
  CHECK(held_after_use(~std::uint64_t{0}) >= 128 * mebibyte);
}

TEST_CASE("kept memory: a limit may be set before the first buffer", "[memory][pool][cpu]") {
  const test::own_cpu_driver driver;
  const fixture f;
  value_of(gpu::limit_kept_memory(f.device, 2 * mebibyte));
  static_cast<void>(f.make(8 * mebibyte));
  value_of(f.stream.synchronize());
  CHECK(f.held() == 2 * mebibyte);
}

TEST_CASE("kept memory: is there for others of the process who find too little",
          "[memory][pool][cpu]") {
  const test::own_cpu_driver driver({.memory_per_device = 64 * mebibyte});
  const fixture f;
  static_cast<void>(f.make(48 * mebibyte));
  value_of(f.stream.synchronize());
  REQUIRE(f.held() == 48 * mebibyte);
  CHECK(device_buffer<char>::create(f.device, 40 * mebibyte).has_value());
  static_cast<void>(f.make(48 * mebibyte));
  const memory_pool other = value_of(memory_pool::create(f.device));
  CHECK(other.allocate<char>(f.stream, 40 * mebibyte).has_value());
}

TEST_CASE("kept memory: before an error it is given back, and then after all work",
          "[memory][pool][faults][cpu]") {
  struct attempt {
    const char* call;
    std::function<gpu::result<>(const fixture&)> make;
  };
  const auto drop = [](auto made) -> gpu::result<> {
    static_cast<void>(GPU_TRY(std::move(made)));
    return {};
  };
  const attempt attempts[] = {
      {"cuMemAllocFromPoolAsync",
       [&](const fixture& f) { return drop(device_buffer<char>::create(f.stream, mebibyte)); }},
      {"cuMemAlloc",
       [&](const fixture& f) { return drop(device_buffer<char>::create(f.device, mebibyte)); }},
      {"cuMemAllocManaged",
       [&](const fixture& f) {
         return drop(gpu::managed_buffer<char>::create(f.device, mebibyte));
       }},
      {"cuMemAllocPitch",
       [&](const fixture& f) {
         return drop(gpu::pitched_buffer<char>::create(f.device, {1024, 1024}));
       }},
      {"cuMemCreate",
       [&](const fixture& f) -> gpu::result<> {
         auto buffer = GPU_TRY(gpu::growing_buffer<char>::create(f.device, 64 * mebibyte));
         return buffer.resize(mebibyte);
       }},
      {"cuArray3DCreate",
       [&](const fixture& f) { return drop(gpu::cuda_array<float>::create(f.device, {64, 64})); }},
      {"cuMipmappedArrayCreate", [&](const fixture& f) {
         return drop(gpu::mipmapped_array<float>::create(f.device, {64, 64}));
       }}};
  for (const attempt& each : attempts) {
    CAPTURE(each.call);
    faulty driver;
    const fixture f;
    const auto keep_some = [&] {
      value_of(gpu::trim(f.device));
      static_cast<void>(f.make(8 * mebibyte));
      value_of(f.stream.synchronize());
      REQUIRE(f.held() == 8 * mebibyte);
      static_cast<void>(gpu::take_last_error());
    };
    for (const std::size_t failures : {1u, 2u}) {
      CAPTURE(failures);
      keep_some();
      const std::size_t trims = driver.faults.calls("cuMemPoolTrimTo"),
                        waits = driver.faults.calls("cuCtxSynchronize");
      driver.run_out_of_memory(each.call, failures);
      CHECK(each.make(f).has_value());
      CHECK(driver.faults.injected() > 0);
      driver.faults.clear();
      CHECK(driver.faults.calls("cuMemPoolTrimTo") == trims + failures);
      CHECK(driver.faults.calls("cuCtxSynchronize") >= waits + failures - 1);
      CHECK(f.held() < 8 * mebibyte);
      CHECK(gpu::take_last_error().has_value());  // the library has recovered
    }
    keep_some();
    driver.run_out_of_memory(each.call, 3);
    const gpu::cuda_error error = error_of(each.make(f));
    driver.faults.clear();
    CHECK(error.code() == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(says(error, each.call, "asked for", "free on device 0",
               "arrays and buffers use 0 bytes, and the library keeps none for later ones",
               "Free buffers"));
    CHECK_FALSE(gpu::take_last_error().has_value());
  }
}

TEST_CASE("kept memory: an error says what is in use and kept", "[memory][pool][cpu]") {
  const test::own_cpu_driver driver({.memory_per_device = 16 * mebibyte});
  const fixture f;
  const auto used = f.make(4 * mebibyte);
  CHECK(says(error_of(device_buffer<char>::create(f.stream, 13 * mebibyte)),
             "asked for 13631488 bytes", "12582912 of 16777216 are free on device 0",
             "arrays and buffers use 4194304 bytes, and the library keeps none for later ones"));
}

TEST_CASE("kept memory: what cannot be given back is told, with what to call",
          "[memory][pool][faults][cpu]") {
  faulty driver;
  const fixture f;
  static_cast<void>(f.make(8 * mebibyte));
  value_of(f.stream.synchronize());
  driver.run_out_of_memory("cuMemAllocFromPoolAsync", 1);
  driver.faults.fail_call("cuMemPoolTrimTo", 0, CUDA_ERROR_UNKNOWN);
  CHECK(says(error_of(device_buffer<char>::create(f.stream, mebibyte)),
             "the library keeps 8388608 more for them, which gpu::trim(device) gives back"));
}

TEST_CASE("kept memory: what was allocated before an error is freed, not allocated twice",
          "[memory][pool][faults][cpu]") {
  faulty driver;
  const fixture f;
  static_cast<void>(f.make(mebibyte));
  value_of(f.stream.synchronize());
  const std::size_t before = driver.live_objects();
  driver.run_out_of_memory("cuCtxPopCurrent", 1);
  CHECK(error_of(device_buffer<char>::create(f.device, 1000)).code() == CUDA_ERROR_OUT_OF_MEMORY);
  driver.faults.clear();
  CHECK(driver.live_objects() == before);
}

TEST_CASE("kept memory: another driver has no pool of the one before", "[memory][pool][cpu]") {
  const fixture outside;
  static_cast<void>(outside.make(mebibyte));
  const memory_pool_ref before = value_of(gpu::library_pool_of(outside.device));
  {
    faulty driver;
    driver.run_out_of_memory("cuMemAlloc", 1);
    CHECK(error_of(device_buffer<char>::create(outside.device, 1000)).code() ==
          CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(driver.faults.calls("cuMemPoolTrimTo") == 0);
    driver.faults.clear();
    const fixture f;
    CHECK_FALSE(value_of(gpu::library_pool_of(f.device)) == before);
  }
  CHECK(value_of(gpu::library_pool_of(outside.device)) == before);
}

TEST_CASE("kept memory: running out of memory in a capture leaves the capture alone",
          "[memory][pool][capture][faults][cpu]") {
  faulty driver;
  const fixture f;
  static_cast<void>(f.make(8 * mebibyte));
  value_of(f.stream.synchronize());
  const test::captured made = test::capture(f.stream, [&] {
    driver.run_out_of_memory("cuMemAllocFromPoolAsync", 3);
    CHECK(error_of(device_buffer<char>::create(f.stream, mebibyte)).code() ==
          CUDA_ERROR_OUT_OF_MEMORY);
    driver.faults.clear();
  });
  CHECK(made.unharmed());
}

TEST_CASE("kept memory: a pool that somebody made current is used instead, from then on",
          "[memory][pool]") {
  const fixture f;
  const memory_pool_ref own = value_of(gpu::library_pool_of(f.device)),
                        standard = value_of(memory_pool_ref::default_of(f.device));
  CHECK(pool_of(f.make(mebibyte)) == own.native());
  {
    const memory_pool mine = value_of(memory_pool::create(f.device));
    REQUIRE(test::driver().device_set_mem_pool(f.device.native(), mine.native()) == CUDA_SUCCESS);
    CHECK(pool_of(f.make(mebibyte)) == mine.native());
    CHECK(value_of(gpu::library_pool_of(f.device)) == own);
    REQUIRE(test::driver().device_set_mem_pool(f.device.native(), standard.native()) ==
            CUDA_SUCCESS);
    CHECK(pool_of(f.make(mebibyte)) == own.native());
    value_of(gpu::set_current_pool(f.device, mine));
    CHECK(pool_of(f.make(mebibyte)) == mine.native());
  }
  CHECK(pool_of(f.make(mebibyte)) == own.native());  // a pool that is gone is current no more
}

TEST_CASE("kept memory: each device has a pool, and one table over another has the same",
          "[memory][pool][two_devices]") {
  const fixture f;
  const memory_pool_ref here = value_of(gpu::library_pool_of(f.device)),
                        there = value_of(gpu::library_pool_of(value_of(gpu::device::get(1))));
  CHECK(here);
  CHECK(there);
  CHECK_FALSE(here == there);
  const test::noted_calls<&gpu::driver::entry_points::mem_pool_create> made;
  CHECK(value_of(gpu::library_pool_of(f.device)) == here);
  CHECK(pool_of(f.make(mebibyte)) == here.native());
  CHECK(made.count() == 0);
}

TEST_CASE("kept memory: access to the default pool is access to buffers",
          "[memory][pool][peer][two_devices]") {
  const auto here = test::first_device(), there = value_of(gpu::device::get(1));
  if (!value_of(gpu::can_access_peer(here, there))) return;
  const auto access = [&] { return value_of(value_of(gpu::library_pool_of(there)).access(here)); };
  const memory_pool_ref standard = value_of(memory_pool_ref::default_of(there));
  CHECK(access() == memory_access::none);
  value_of(standard.set_access(here, memory_access::read_write));
  CHECK(access() == memory_access::read_write);
  value_of(standard.set_access(here, memory_access::none));
  CHECK(access() == memory_access::none);
  const memory_pool other = value_of(memory_pool::create(there));
  value_of(other.set_access(here, memory_access::read_write));
  CHECK(access() == memory_access::none);
}

TEST_CASE("kept memory: access that was given before the first buffer holds for buffers, too",
          "[memory][pool][peer][cpu]") {
  const test::own_cpu_driver driver({.devices = 3});
  const gpu::device second = value_of(gpu::device::get(1));
  CUmemoryPool standard = nullptr;
  REQUIRE(driver.table().device_get_default_mem_pool(&standard, 1) == CUDA_SUCCESS);
  CUmemAccessDesc given{};
  given.location = {CU_MEM_LOCATION_TYPE_DEVICE, 2};
  given.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  REQUIRE(driver.table().mem_pool_set_access(standard, &given, 1) == CUDA_SUCCESS);
  const memory_pool_ref pool = value_of(gpu::library_pool_of(second));
  CHECK(value_of(pool.access(value_of(gpu::device::get(0)))) == memory_access::none);
  CHECK(value_of(pool.access(second)) == memory_access::read_write);
  CHECK(value_of(pool.access(value_of(gpu::device::get(2)))) == memory_access::read_write);
}

TEST_CASE("kept memory: without pools nothing is kept", "[memory][pool][cpu]") {
  const test::own_cpu_driver driver;
  gpu::driver::entry_points poolless = driver.table();
  SECTION("the driver has no such functions") {
    poolless.mem_pool_create = nullptr;
    poolless.mem_alloc_async = nullptr;
  }
  SECTION("the device has no pools") {
    poolless.device_get_default_mem_pool = [](CUmemoryPool*, CUdevice) {
      return CUDA_ERROR_NOT_SUPPORTED;
    };
    poolless.mem_alloc_async = [](CUdeviceptr*, std::size_t, CUstream) {
      return CUDA_ERROR_NOT_SUPPORTED;
    };
  }
  poolless.mem_alloc_from_pool_async = nullptr;
  const gpu::driver::scoped_entry_points in_force(poolless);
  const fixture f;
  const test::noted_calls<&gpu::driver::entry_points::mem_alloc> allocated;
  static_cast<void>(f.make(mebibyte));
  CHECK(allocated.last<1>() == mebibyte);
  CHECK_FALSE(value_of(gpu::library_pool_of(f.device)));
  CHECK(gpu::limit_kept_memory(f.device, mebibyte).has_value());
  CHECK(gpu::trim(f.device).has_value());
}

TEST_CASE("kept memory: devices that do not exist", "[memory][pool]") {
  for (const int index : {-1, 64, 1000}) {
    CAPTURE(index);
    const gpu::device none = gpu::device::from_native(index);
    for (const gpu::cuda_error& error :
         {error_of(gpu::trim(none)), error_of(gpu::limit_kept_memory(none, 0)),
          error_of(gpu::library_pool_of(none))}) {
      CHECK(error == gpu::errc::index_out_of_range);
      CHECK(says(error, "device index ", std::to_string(index).c_str(), "gpu::device::count()"));
    }
  }
}

TEST_CASE("kept memory: in a capture trim is refused, and the limit is not", "[memory][capture]") {
  const fixture f;
  static_cast<void>(f.make(mebibyte));
  value_of(f.stream.synchronize());
  test::check_refused_in_capture(f.stream, "trim", [&] { return gpu::trim(f.device); });
  const test::captured made = test::capture(f.stream, [&] {
    value_of(gpu::limit_kept_memory(f.device, ~std::uint64_t{0}));
    CHECK(value_of(gpu::library_pool_of(f.device)));
  });
  CHECK(made.unharmed());
}

TEST_CASE("kept memory: child whose first buffer is in a capture", "[.child]") {
  const fixture f;
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                          CU_STREAM_CAPTURE_MODE_RELAXED}) {
    const test::captured made =
        test::capture(f.stream, [&] { static_cast<void>(f.make(mebibyte)); }, mode);
    CHECK(made.unharmed());
    CHECK(made.nodes == 2);  // the allocation and the free
  }
}

TEST_CASE("kept memory: the first buffer may be in a capture", "[memory][pool][capture]") {
  const auto outcome = test::run_child("kept memory: child whose first buffer is in a capture");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
}

TEST_CASE("kept memory: the pool belongs to the process, and is no leak", "[memory][pool][cpu]") {
  const test::own_cpu_driver driver;
  const fixture f;
  const std::size_t before = driver.live_objects();
  static_cast<void>(f.make(mebibyte));
  value_of(f.stream.synchronize());
  INFO(driver.live_list());
  CHECK(driver.live_objects() == before);
  const memory_pool other = value_of(memory_pool::create(f.device));
  CHECK(driver.live_objects() == before + 1);
}

TEST_CASE("kept memory: ends with the primary context, and begins anew", "[memory][pool][cpu]") {
  const test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  for (int i = 0; i < 3; ++i) {
    const fixture f;
    CHECK(f.held() == 0);
    static_cast<void>(f.make(mebibyte));
    value_of(f.stream.synchronize());
    CHECK(f.held() == mebibyte);
    value_of(gpu::reset_primary_context(device));
  }
  const auto context = value_of(gpu::context::primary(device));
  const gpu::memory_info memory = value_of(context.memory_info());
  CHECK(memory.free == memory.total);
}

TEST_CASE("kept memory: threads that come first at once make one pool",
          "[memory][pool][threads][cpu]") {
  const test::own_cpu_driver driver;
  const fixture f;
  static std::atomic<int> pools;
  static const gpu::driver::entry_points* real;
  pools = 0;
  real = &driver.table();
  gpu::driver::entry_points counting = driver.table();
  counting.mem_pool_create = [](CUmemoryPool* pool, const CUmemPoolProps* properties) {
    ++pools;
    return real->mem_pool_create(pool, properties);
  };
  const gpu::driver::scoped_entry_points in_force(counting);
  std::vector<std::thread> threads;
  std::atomic<int> made{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        made += device_buffer<char>::create(f.stream, 1000).has_value();
        made += gpu::trim(f.device).has_value();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(made == 160);
  CHECK(pools == 1);
}

TEST_CASE("kept memory: each driver call may fail", "[memory][pool][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              GPU_TRY(gpu::limit_kept_memory(device, 4 * mebibyte));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              GPU_TRY(device_buffer<char>::create(stream, mebibyte));
              GPU_TRY(gpu::library_pool_of(device));
              return gpu::trim(device);
            },
            {"cuThreadExchangeStreamCaptureMode", "cuCtxGetDevice"}) == "");
}

TEST_CASE("kept memory: each driver call that makes the pool may fail",
          "[memory][pool][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              GPU_TRY(gpu::library_pool_of(device));
              return gpu::reset_primary_context(device);
            },
            {"cuThreadExchangeStreamCaptureMode"}, {.devices = 2}) == "");
}

}  // namespace kept_memory_test
