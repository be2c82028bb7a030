#include <gpu/memory/memory_pool.hpp>

#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/memory_access.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/memory_pool_attribute.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace memory_pool_test {

using gpu::memory_access;
using gpu::memory_location;
using gpu::memory_pool;
using gpu::memory_pool_attribute;
using gpu::memory_pool_ref;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<memory_pool>);
static_assert(std::is_nothrow_move_constructible_v<memory_pool>);
static_assert(!std::is_convertible_v<memory_pool, memory_pool_ref>);
static_assert(
    std::is_same_v<gpu::memory_pool_attribute_t<memory_pool_attribute::reuse_allow_opportunistic>,
                   bool>);
static_assert(std::is_same_v<gpu::memory_pool_attribute_t<memory_pool_attribute::release_threshold>,
                             std::uint64_t>);

TEST_CASE("memory_pool: hands out memory in the order of a stream", "[memory][pool]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const memory_pool pool = value_of(memory_pool::create(device));
  CHECK(pool.location() == memory_location(device));
  auto buffer = value_of(pool.allocate<int>(stream, 1000));
  REQUIRE(fill(stream, buffer, 5).has_value());
  std::vector<int> back(1000);
  REQUIRE(copy(buffer, back).has_value());
  CHECK(back == std::vector<int>(1000, 5));
  CUmemoryPool home = nullptr;
  REQUIRE(test::driver().pointer_get_attribute(&home, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                                               buffer.native()) == CUDA_SUCCESS);
  CHECK(home == pool.native());
  const gpu::stream_ref legacy = value_of(gpu::stream_ref::legacy_default(device));
  const test::noted_calls<&gpu::driver::entry_points::mem_free_async> freed;
  static_cast<void>(value_of(pool.allocate<int>(legacy, 1000)));
  CHECK(freed.last<1>() == legacy.native());
  CHECK(value_of(pool.allocate<int>(stream, 0)).empty());
}

TEST_CASE("memory_pool: attributes are the driver's", "[memory][pool]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const memory_pool pool = value_of(memory_pool::create(device));
  using attribute = memory_pool_attribute;
  const auto raw = [&](CUmemPool_attribute which) {
    std::uint64_t value = 0;
    REQUIRE(test::driver().mem_pool_get_attribute(pool.native(), which, &value) == CUDA_SUCCESS);
    return value;
  };
  CHECK(value_of(gpu::attribute<attribute::reuse_follow_event_dependencies>(pool)));
  REQUIRE(gpu::set_attribute<attribute::reuse_follow_event_dependencies>(pool, false).has_value());
  CHECK(!value_of(gpu::attribute<attribute::reuse_follow_event_dependencies>(pool)));
  CHECK(raw(CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES) == 0);
  CHECK(value_of(gpu::attribute<attribute::reuse_allow_opportunistic>(pool)));
  CHECK(value_of(gpu::attribute<attribute::reuse_allow_internal_dependencies>(pool)));
  REQUIRE(gpu::set_attribute<attribute::reuse_allow_opportunistic>(pool, false).has_value());
  CHECK(raw(CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC) == 0);
  CHECK(raw(CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES) == 1);
  REQUIRE(
      gpu::set_attribute<attribute::reuse_allow_internal_dependencies>(pool, false).has_value());
  CHECK(raw(CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES) == 0);
  CHECK(value_of(gpu::attribute<attribute::release_threshold>(pool)) == 0);
  REQUIRE(gpu::set_attribute<attribute::release_threshold>(pool, ~std::uint64_t{0}).has_value());
  CHECK(raw(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) == ~std::uint64_t{0});
  {
    const auto buffer = value_of(pool.allocate<char>(stream, 1 << 20));
    CHECK(value_of(gpu::attribute<attribute::used_mem_current>(pool)) >= 1 << 20);
    CHECK(value_of(gpu::attribute<attribute::reserved_mem_current>(pool)) >= 1 << 20);
  }
  REQUIRE(stream.synchronize().has_value());
  CHECK(value_of(gpu::attribute<attribute::used_mem_current>(pool)) == 0);
  const std::uint64_t high = raw(CU_MEMPOOL_ATTR_USED_MEM_HIGH);
  CHECK(high >= 1 << 20);
  CHECK(value_of(gpu::attribute<attribute::used_mem_high>(pool)) == high);
  CHECK(value_of(gpu::attribute<attribute::reserved_mem_current>(pool)) ==
        raw(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  CHECK(value_of(gpu::attribute<attribute::reserved_mem_high>(pool)) ==
        raw(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH));
  REQUIRE(gpu::set_attribute<attribute::used_mem_high>(pool, 0).has_value());
  CHECK(value_of(gpu::attribute<attribute::used_mem_high>(pool)) == 0);
  const gpu::cuda_error mark = error_of(gpu::set_attribute<attribute::used_mem_high>(pool, 5));
  CHECK(mark == gpu::errc::invalid_argument);
  CHECK(says(mark, "used_mem_high can only be reset, not set to 5"));
  CHECK(raw(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) > 0);
  REQUIRE(pool.trim(std::size_t{1} << 30).has_value());
  CHECK(raw(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) > 0);
  REQUIRE(pool.trim().has_value());
  CHECK(raw(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
}

TEST_CASE("memory_pool: its properties reach the driver", "[memory][pool]") {
  static CUmemPoolProps given;
  static decltype(gpu::driver::entry_points::mem_pool_create) real;
  real = test::driver().mem_pool_create;
  gpu::driver::entry_points noting = test::driver();
  noting.mem_pool_create = [](CUmemoryPool* pool, const CUmemPoolProps* properties) {
    given = *properties;
    return real(pool, properties);
  };
  const gpu::driver::scoped_entry_points in_force(noting);
  const gpu::device device = value_of(gpu::device::get(test::device_count() - 1));
  const memory_pool pool = value_of(memory_pool::create(
      device, {.max_bytes = std::size_t{64} << 20,
               .handle_types = gpu::shareable_handle_types::posix_file_descriptor}));
  CHECK(given.allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
  CHECK(given.handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  CHECK(given.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
  CHECK(given.location.id == device.native());
  CHECK(given.maxSize == std::size_t{64} << 20);
  CHECK(given.usage == 0);
  CHECK(pool.location() == memory_location(device));
  const memory_pool plain = value_of(memory_pool::create(test::first_device()));
  CHECK(given.handleTypes == CU_MEM_HANDLE_TYPE_NONE);
  CHECK(given.location.id == test::first_device().native());
  CHECK(given.maxSize == 0);
}

TEST_CASE("memory_pool: says that its limit is what is exhausted", "[memory][pool]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const memory_pool pool =
      value_of(memory_pool::create(device, {.max_bytes = std::size_t{64} << 20}));
  const auto some = value_of(pool.allocate<char>(stream, std::size_t{1} << 20));
  const gpu::cuda_error error = error_of(pool.allocate<char>(stream, std::size_t{128} << 20));
  CHECK(error.code() == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(says(error, "asked for 134217728 bytes", "The device has enough free memory",
             "reached its limit, memory_pool_options::max_bytes", "create it with a larger limit"));
  const gpu::cuda_error much = error_of(pool.allocate<char>(stream, std::size_t{1} << 60));
  CHECK(much.code() == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_FALSE(much.message().contains("max_bytes"));
}

TEST_CASE("memory_pool: a device has one from the start, and can be given another",
          "[memory][pool]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const memory_pool_ref first = value_of(memory_pool_ref::default_of(device));
  CHECK(value_of(memory_pool_ref::current_of(device)) == first);
  {
    const memory_pool pool = value_of(memory_pool::create(device));
    REQUIRE(gpu::set_current_pool(device, pool).has_value());
    CHECK(value_of(memory_pool_ref::current_of(device)) == memory_pool_ref(pool));
    const auto buffer = value_of(gpu::device_buffer<int>::create(stream, 10));
    CHECK(value_of(gpu::attribute<memory_pool_attribute::used_mem_current>(pool)) > 0);
    REQUIRE(gpu::set_current_pool(device, first).has_value());
  }
  CHECK(value_of(memory_pool_ref::current_of(device)) == first);
  const auto elsewhere = memory_pool_ref::from_native(first.native(), memory_location::host());
  CHECK(says(error_of(gpu::set_current_pool(device, elsewhere)), "on the host", "device 0"));
}

TEST_CASE("memory_pool: places have pools from the start, and can be given others",
          "[memory][pool]") {
  const gpu::device device = test::first_device();
  using gpu::allocation_type;
  const auto current = [](memory_location at, allocation_type type) {
    return value_of(memory_pool_ref::current_of(at, type));
  };
  CHECK(value_of(memory_pool_ref::default_of(device, allocation_type::pinned)) ==
        value_of(memory_pool_ref::default_of(device)));
  std::vector<CUmemoryPool> seen;
  for (const memory_location at : {memory_location(device), memory_location::host(),
                                   memory_location::host_numa(0), memory_location{}}) {
    for (const allocation_type type : {allocation_type::pinned, allocation_type::managed}) {
      if (!at && type == allocation_type::pinned) continue;
      const memory_pool_ref first = value_of(memory_pool_ref::default_of(at, type));
      CHECK(first.location() == at);
      CHECK(current(at, type) == first);
      {
        const memory_pool pool = value_of(memory_pool::create(at, {.type = type}));
        value_of(gpu::set_current_pool(at, type, pool));
        CHECK(current(at, type) == memory_pool_ref(pool));
        value_of(gpu::set_current_pool(at, type, first));
        CHECK(current(at, type) == first);
      }
      for (const CUmemoryPool other : seen) CHECK(first.native() != other);
      seen.push_back(first.native());
    }
  }
  {
    const memory_pool pool = value_of(memory_pool::create(device));
    value_of(gpu::set_current_pool(device, allocation_type::pinned, pool));
    CHECK(value_of(memory_pool_ref::current_of(device)) == memory_pool_ref(pool));
  }
  CHECK(value_of(memory_pool_ref::current_of(device)) ==
        value_of(memory_pool_ref::default_of(device)));
}

TEST_CASE("memory_pool: managed memory of a pool is the host's too", "[memory][pool][managed]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const memory_pool pool =
      value_of(memory_pool::create(device, {.type = gpu::allocation_type::managed}));
  auto buffer = value_of(pool.allocate<int>(stream, 1000));
  value_of(fill(stream, buffer, 5));
  value_of(stream.synchronize());
  int* const elements = reinterpret_cast<int*>(static_cast<std::uintptr_t>(buffer.native()));
  CHECK(std::count(elements, elements + 1000, 5) == 1000);
  elements[999] = 6;
  std::vector<int> back(1000);
  value_of(copy(buffer, back));
  CHECK(back[0] == 5);
  CHECK(back[999] == 6);
}

TEST_CASE("memory_pool: memory of the host's pool is for those who were given access",
          "[memory][pool][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const memory_pool pool = value_of(memory_pool::create(memory_location::host()));
  CHECK(value_of(pool.access(device)) == memory_access::none);
  auto buffer = value_of(pool.allocate<int>(stream, 4));
  value_of(pool.set_access(device, memory_access::read_write));
  value_of(fill(stream, buffer, 1));
  value_of(stream.synchronize());
  CHECK(*reinterpret_cast<int*>(static_cast<std::uintptr_t>(buffer.native())) == 1);
  CHECK(value_of(gpu::attribute<memory_pool_attribute::used_mem_current>(pool)) >= 16);
}

TEST_CASE("memory_pool: what is no place of pools is said", "[memory][pool]") {
  const gpu::device device = test::first_device();
  using gpu::allocation_type;
  const auto node = memory_location::host_numa_current();
  const memory_pool_ref first = value_of(memory_pool_ref::default_of(device));
  for (const gpu::cuda_error& error :
       {error_of(memory_pool_ref::default_of(node, allocation_type::pinned)),
        error_of(memory_pool_ref::current_of(node, allocation_type::managed)),
        error_of(gpu::set_current_pool(node, allocation_type::pinned, first))}) {
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error, "a pool cannot be at the thread's NUMA node", "host_numa(node)"));
  }
  CHECK(says(error_of(memory_pool_ref::default_of(memory_location{}, allocation_type::pinned)),
             "a pool cannot be at no location"));
  CHECK(says(error_of(memory_pool_ref::current_of(device, allocation_type{9})),
             "gpu::memory_pool_ref::current_of", "9 is not a valid gpu::allocation_type"));
  CHECK(error_of(
            memory_pool_ref::default_of(gpu::device::from_native(99), allocation_type::pinned)) ==
        gpu::errc::index_out_of_range);
  CHECK(
      says(error_of(gpu::set_current_pool(memory_location::host(), allocation_type::pinned, first)),
           "on device 0", "the current pool of the host", "Create a pool at that location"));
  const gpu::cuda_error type =
      error_of(gpu::set_current_pool(device, allocation_type::managed, first));
  CHECK(type.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(type, "the pool's memory is not managed", "gpu::allocation_type"));
  CHECK(error_of(gpu::set_current_pool(device, allocation_type::pinned, memory_pool_ref{})) ==
        gpu::errc::empty_handle);

  gpu::driver::entry_points older = test::driver();
  older.mem_get_default_mem_pool = older.mem_get_mem_pool = nullptr;
  older.mem_set_mem_pool = nullptr;
  const gpu::driver::scoped_entry_points in_force(older);
  for (const gpu::cuda_error& error :
       {error_of(memory_pool_ref::default_of(device, allocation_type::pinned)),
        error_of(memory_pool_ref::current_of(device, allocation_type::pinned)),
        error_of(gpu::set_current_pool(device, allocation_type::pinned, first))}) {
    CHECK(error == gpu::errc::not_supported);
    CHECK(says(error, "came with CUDA 13.0"));
  }
}

TEST_CASE("memory_pool: a device that there is not has no access", "[memory][pool]") {
  const memory_pool pool = value_of(memory_pool::create(test::first_device()));
  const gpu::device none = gpu::device::from_native(99);
  for (const gpu::cuda_error& error :
       {error_of(pool.access(none)), error_of(pool.set_access(none, memory_access::read_write))}) {
    CHECK(error == gpu::errc::index_out_of_range);
    CHECK(says(error, "device index 99 is not below", "Choose an index below"));
    CHECK(error.limit() == static_cast<std::uint64_t>(test::device_count()));
  }
}

TEST_CASE("memory_pool: access is the own device's, and can be given to peers",
          "[memory][pool][cpu]") {
  test::own_cpu_driver driver({.devices = 2});
  const gpu::device one = value_of(gpu::device::get(0)), two = value_of(gpu::device::get(1));
  const memory_pool pool = value_of(memory_pool::create(one));
  CHECK(value_of(pool.access(one)) == memory_access::read_write);
  CHECK(value_of(pool.access(two)) == memory_access::none);
  REQUIRE(pool.set_access(two, memory_access::read_write).has_value());
  CHECK(value_of(pool.access(two)) == memory_access::read_write);
  REQUIRE(pool.set_access(two, memory_access::none).has_value());
  CHECK(value_of(pool.access(two)) == memory_access::none);
  CHECK(says(error_of(pool.set_access(one, memory_access::none)),
             "the pool is on device 0, which always has access"));
  CHECK(says(error_of(pool.set_access(two, memory_access::read)), "read_write"));
  CHECK(says(error_of(pool.set_access(two, memory_access{2})),
             "2 is not a valid gpu::memory_access"));
}

TEST_CASE("memory_pool: refuses what cannot be", "[memory][pool]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  CHECK(says(error_of(memory_pool::create(memory_location::host_numa_current())),
             "the thread's NUMA node", "host_numa(node)"));
  CHECK(error_of(memory_pool::create(memory_location{})) == gpu::errc::invalid_argument);
  CHECK(says(error_of(memory_pool::create(device, {.type = gpu::allocation_type{9}})),
             "9 is not a valid gpu::allocation_type"));
  CHECK(says(error_of(memory_pool::create(
                 device, {.handle_types = static_cast<gpu::shareable_handle_types>(16)})),
             "16 has bits outside of gpu::shareable_handle_types"));
  const int count = value_of(gpu::device::count());
  const auto missing = gpu::device::from_native(count);
  const std::string devices = "device index " + std::to_string(count) +
                              " is not below the number of devices, " + std::to_string(count);
  for (const gpu::cuda_error& error :
       {error_of(memory_pool::create(missing)), error_of(memory_pool_ref::default_of(missing)),
        error_of(memory_pool_ref::current_of(missing)),
        error_of(memory_pool_ref::default_of(missing, gpu::allocation_type::managed)),
        error_of(memory_pool_ref::current_of(missing, gpu::allocation_type::pinned))}) {
    CHECK(error == gpu::errc::index_out_of_range);
    CHECK(says(error, devices.c_str(), "Choose an index below gpu::device::count()"));
  }
  const gpu::cuda_error node = error_of(memory_pool::create(memory_location::host_numa(99)));
  CHECK(node.domain() == gpu::error_domain::driver);  // no index of a device
  const memory_pool pool = value_of(memory_pool::create(device));
  CHECK(error_of(memory_pool_ref{}.trim()) == gpu::errc::empty_handle);
  for (const gpu::cuda_error& error :
       {error_of(gpu::attribute<memory_pool_attribute::used_mem_current>(memory_pool_ref{})),
        error_of(
            gpu::set_attribute<memory_pool_attribute::release_threshold>(memory_pool_ref{}, 0))}) {
    CHECK(error == gpu::errc::empty_handle);
    CHECK(says(error, "attribute", "pool is empty"));
  }
  const gpu::cuda_error too_much = error_of(pool.allocate<char>(stream, std::size_t{1} << 46));
  CHECK(too_much.code() == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(says(too_much, "asked for 70368744177664 bytes", "are free on device 0"));
}

TEST_CASE("memory_pool: is destroyed once, and buffers may outlive it", "[memory][pool][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const std::size_t before = driver.live_objects();
  {
    memory_pool pool = value_of(memory_pool::create(device));
    auto buffer = value_of(pool.allocate<int>(stream, 100));
    memory_pool moved = std::move(pool);
    CHECK(error_of(pool.trim()) == gpu::errc::empty_handle);
    const memory_pool_ref raw = moved.release();
    {
      const memory_pool again = memory_pool::adopt(raw);
    }
    REQUIRE(fill(stream, buffer, 1).has_value());
  }
  REQUIRE(stream.synchronize().has_value());
  INFO(driver.live_list());
  CHECK(driver.live_objects() == before);
}

TEST_CASE("memory_pool: survives every failing call", "[memory][pool][cpu]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          gpu::device device = GPU_TRY(gpu::device::get(0));
          gpu::stream stream = GPU_TRY(gpu::stream::create(device));
          memory_pool pool = GPU_TRY(memory_pool::create(device));
          auto buffer = GPU_TRY(pool.allocate<int>(stream, 100));
          GPU_TRY(gpu::set_attribute<memory_pool_attribute::release_threshold>(pool, 1000));
          GPU_TRY(gpu::attribute<memory_pool_attribute::used_mem_current>(pool));
          GPU_TRY(pool.set_access(device, memory_access::read_write));
          GPU_TRY(pool.access(device));
          GPU_TRY(gpu::set_current_pool(device, GPU_TRY(memory_pool_ref::default_of(device))));
          GPU_TRY(memory_pool_ref::current_of(device));
          const memory_location host = memory_location::host();
          using gpu::allocation_type;
          GPU_TRY(memory_pool_ref::current_of(host, allocation_type::managed));
          GPU_TRY(gpu::set_current_pool(
              host, allocation_type::pinned,
              GPU_TRY(memory_pool_ref::default_of(host, allocation_type::pinned))));
          GPU_TRY(pool.trim());
          return stream.synchronize();
        }) == "");
}

TEST_CASE("memory_pool_attribute: every value has a name", "[memory][pool]") {
  const char* names[] = {"reuse_follow_event_dependencies",
                         "reuse_allow_opportunistic",
                         "reuse_allow_internal_dependencies",
                         "release_threshold",
                         "reserved_mem_current",
                         "reserved_mem_high",
                         "used_mem_current",
                         "used_mem_high"};
  for (int value = 1; value <= CU_MEMPOOL_ATTR_USED_MEM_HIGH; ++value)
    CHECK(gpu::name_of(memory_pool_attribute{value}) == std::string(names[value - 1]));
  CHECK(gpu::name_of(memory_pool_attribute{0}) == nullptr);
  CHECK(gpu::name_of(gpu::allocation_type{CU_MEM_ALLOCATION_TYPE_PINNED}) == std::string("pinned"));
  CHECK(gpu::name_of(gpu::allocation_type{CU_MEM_ALLOCATION_TYPE_MANAGED}) ==
        std::string("managed"));
}

}  // namespace memory_pool_test
