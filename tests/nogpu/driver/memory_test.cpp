// Allocations of every kind: sizes, shortage, attributes, pools.

#include "small_device.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace memory_test {

using test::all_modes;
using test::attribute;
using test::driver_fixture;
using test::free_memory;
using test::mebibyte;
using test::small_device;

TEST_CASE("a device has as much memory as it was given", "[cpu]") {
  driver_fixture f(small_device());
  CHECK(free_memory(f) == 16 * mebibyte);
  CUdeviceptr large = 0;
  CUdeviceptr more = 0;
  CHECK(f.cu.mem_alloc(&large, 12 * mebibyte) == CUDA_SUCCESS);
  CHECK(free_memory(f) == 4 * mebibyte);
  CHECK(f.cu.mem_alloc(&more, 4 * mebibyte + 1) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(f.cu.mem_alloc(&more, ~std::size_t{0}) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(f.cu.mem_alloc(&more, 4 * mebibyte) == CUDA_SUCCESS);
  CHECK(free_memory(f) == 0);
  CHECK(f.cu.mem_free(large) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free(more) == CUDA_SUCCESS);
  CHECK(free_memory(f) == 16 * mebibyte);
}

TEST_CASE("what can be allocated and freed, and what not", "[cpu]") {
  driver_fixture f(small_device());
  CUdeviceptr memory = 0;
  CHECK(f.cu.mem_alloc(&memory, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_alloc(nullptr, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_free(0) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc(&memory, 100) == CUDA_SUCCESS);
  CHECK(memory % 256 == 0);
  CHECK(memory >= std::uint64_t{1} << 47);  // no host pointer
  CHECK(f.cu.mem_free(memory + 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_free(memory) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free(memory) == CUDA_ERROR_INVALID_VALUE);
  std::size_t pitch = 0;
  CHECK(f.cu.mem_alloc_pitch(&memory, &pitch, 10, 10, 3) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_alloc_pitch(&memory, &pitch, 10, ~std::size_t{0}, 4) == CUDA_ERROR_OUT_OF_MEMORY);
  void* host = nullptr;
  CHECK(f.cu.mem_host_alloc(&host, 8, 0x100) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(f.cu.mem_alloc_host(&host, 8) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free(reinterpret_cast<CUdeviceptr>(host)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_free_host(static_cast<char*>(host) + 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_free_host(host) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free_host(host) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("attributes tell what a pointer is", "[cpu]") {
  driver_fixture f;
  CUdeviceptr device = 0;
  CUdeviceptr managed = 0;
  void* pinned = nullptr;
  REQUIRE(f.cu.mem_alloc(&device, 1000) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_managed(&managed, 500, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_host_alloc(&pinned, 300, CU_MEMHOSTALLOC_PORTABLE) == CUDA_SUCCESS);
  const auto host = reinterpret_cast<CUdeviceptr>(pinned);
  CHECK(attribute<unsigned>(f, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device) == CU_MEMORYTYPE_DEVICE);
  CHECK(attribute<unsigned>(f, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host) == CU_MEMORYTYPE_HOST);
  CHECK(attribute<unsigned>(f, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed) == 1);
  CHECK(attribute<unsigned>(f, CU_POINTER_ATTRIBUTE_IS_MANAGED, device) == 0);
  CHECK(attribute<CUcontext>(f, CU_POINTER_ATTRIBUTE_CONTEXT, device + 10) == f.context);
  CHECK(attribute<int>(f, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device) == 0);
  CHECK(attribute<unsigned>(f, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, device) == 1);
  CHECK(attribute<unsigned>(f, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, host) == 0);
  CHECK(attribute<CUdeviceptr>(f, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, device + 999) == device);
  CHECK(attribute<std::size_t>(f, CU_POINTER_ATTRIBUTE_RANGE_SIZE, device + 999) == 1000);
  CHECK(attribute<void*>(f, CU_POINTER_ATTRIBUTE_HOST_POINTER, host + 4) ==
        static_cast<char*>(pinned) + 4);
  CHECK(attribute<unsigned long long>(f, CU_POINTER_ATTRIBUTE_BUFFER_ID, device) !=
        attribute<unsigned long long>(f, CU_POINTER_ATTRIBUTE_BUFFER_ID, managed));
  int local = 0;
  unsigned type = 99;
  CHECK(f.cu.pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   reinterpret_cast<CUdeviceptr>(&local)) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device + 1000) ==
        CUDA_ERROR_INVALID_VALUE);
  CUpointer_attribute both[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  int ordinal = 9;
  void* places[] = {&type, &ordinal};
  CHECK(f.cu.pointer_get_attributes(2, both, places, reinterpret_cast<CUdeviceptr>(&local)) ==
        CUDA_SUCCESS);
  CHECK(type == 0);
  CHECK(ordinal == -2);

  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  CHECK(f.cu.mem_get_address_range(&base, &bytes, device + 500) == CUDA_SUCCESS);
  CHECK(base == device);
  CHECK(bytes == 1000);
  CHECK(f.cu.mem_get_address_range(&base, &bytes, 4096) == CUDA_ERROR_NOT_FOUND);

  CUdeviceptr mapped = 0;
  unsigned flags = 0;
  CHECK(f.cu.mem_host_get_device_pointer(&mapped, pinned, 0) == CUDA_SUCCESS);
  CHECK(mapped == host);
  CHECK(f.cu.mem_host_get_flags(&flags, pinned) == CUDA_SUCCESS);
  CHECK((flags & CU_MEMHOSTALLOC_PORTABLE) != 0);
  CHECK(f.cu.mem_host_get_device_pointer(&mapped, &local, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_free(managed) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free(device) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free_host(pinned) == CUDA_SUCCESS);
}

TEST_CASE("managed memory is the host's and the device's at one address", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    CUdeviceptr managed = 0;
    REQUIRE(f.cu.mem_alloc_managed(&managed, 64, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
    CHECK(f.cu.memset_d32(managed, 5, 16) == CUDA_SUCCESS);
    CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
    const auto* numbers = reinterpret_cast<const int*>(static_cast<std::uintptr_t>(managed));
    CHECK(numbers[0] == 5);
    CHECK(numbers[15] == 5);
    CUmemLocation host{};
    host.type = CU_MEM_LOCATION_TYPE_HOST;
    CUmemLocation device{};
    device.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CHECK(f.cu.mem_advise(managed, 64, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device) ==
          CUDA_SUCCESS);
    CHECK(f.cu.mem_prefetch_async(managed, 64, host, 0, nullptr) == CUDA_SUCCESS);
    int answer = -9;
    CHECK(f.cu.mem_range_get_attribute(&answer, sizeof answer,
                                       CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed,
                                       64) == CUDA_SUCCESS);
    CHECK(answer == 0);
    CHECK(f.cu.mem_range_get_attribute(&answer, sizeof answer,
                                       CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, managed,
                                       64) == CUDA_SUCCESS);
    CHECK(answer == CU_DEVICE_CPU);
    CHECK(f.cu.mem_advise(managed, 65, CU_MEM_ADVISE_SET_READ_MOSTLY, device) ==
          CUDA_ERROR_INVALID_VALUE);
    device.id = 7;
    CHECK(f.cu.mem_prefetch_async(managed, 64, device, 0, nullptr) == CUDA_ERROR_INVALID_DEVICE);
    CHECK(f.cu.stream_attach_mem_async(nullptr, managed, 0, CU_MEM_ATTACH_HOST) == CUDA_SUCCESS);
    CHECK(f.cu.stream_attach_mem_async(nullptr, managed, 64, CU_MEM_ATTACH_HOST) == CUDA_SUCCESS);
    for (const std::size_t part : {32u, 65u})
      CHECK(f.cu.stream_attach_mem_async(nullptr, managed, part, CU_MEM_ATTACH_HOST) ==
            CUDA_ERROR_INVALID_VALUE);
    CHECK(f.cu.mem_alloc_managed(&managed, 4, 0) == CUDA_ERROR_INVALID_VALUE);
  }
}

TEST_CASE("host memory is registered once and given back", "[cpu]") {
  driver_fixture f(test::deferred());
  std::vector<int> host(100, 3);
  const std::size_t bytes = host.size() * sizeof(int);
  CHECK(f.cu.mem_host_register(host.data(), bytes, 0) == CUDA_SUCCESS);
  CHECK(f.cu.mem_host_register(host.data() + 10, 4, 0) ==
        CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CHECK(f.cu.mem_host_register(nullptr, 4, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_host_register(host.data(), bytes, CU_MEMHOSTREGISTER_IOMEMORY) ==
        CUDA_ERROR_INVALID_VALUE);
  unsigned flags = 0;
  CHECK(f.cu.mem_host_get_flags(&flags, host.data()) == CUDA_SUCCESS);
  CHECK(flags == CU_MEMHOSTALLOC_DEVICEMAP);
  CHECK(f.cu.mem_host_unregister(host.data() + 1) == CUDA_ERROR_INVALID_VALUE);
  void* pinned = nullptr;
  REQUIRE(f.cu.mem_host_alloc(&pinned, 100, 0) == CUDA_SUCCESS);
  CHECK(f.cu.mem_host_register(pinned, 100, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_host_unregister(pinned) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_free_host(pinned) == CUDA_SUCCESS);
  CUdeviceptr device = 0;
  CUstream stream = nullptr;
  REQUIRE(f.cu.mem_alloc(&device, bytes) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  CHECK(f.cu.memset_d32_async(device, 9, 100, stream) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_dtoh_async(host.data(), device, bytes, stream) == CUDA_SUCCESS);
  CHECK(host[50] == static_cast<int>(0xcdcdcdcdu));              // registered, hence asynchronous
  CHECK(f.cu.mem_host_unregister(host.data()) == CUDA_SUCCESS);  // waits
  CHECK(host[50] == 9);
  CHECK(f.cu.mem_host_unregister(host.data()) == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  CHECK(f.cu.memcpy_dtoh_async(host.data(), device, bytes, stream) == CUDA_SUCCESS);
  CHECK(host[50] == 9);  // pageable again, hence done
}

TEST_CASE("memory is freed after the work of the current context, too", "[cpu]") {
  driver_fixture f(test::deferred());
  std::vector<int> host(100, 3);
  const std::size_t bytes = host.size() * sizeof(int);
  CUdeviceptr first = 0;
  CUdeviceptr own = 0;
  CUcontext other = nullptr;
  CUstream stream = nullptr;
  void* pinned = nullptr;
  REQUIRE(f.cu.mem_host_alloc(&pinned, bytes, CU_MEMHOSTALLOC_PORTABLE) == CUDA_SUCCESS);
  std::memset(pinned, 6, bytes);
  REQUIRE(f.cu.mem_host_register(host.data(), bytes, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc(&first, bytes) == CUDA_SUCCESS);
  REQUIRE(f.cu.memset_d32(first, 4, 100) == CUDA_SUCCESS);
  REQUIRE(f.cu.ctx_synchronize() == CUDA_SUCCESS);
  REQUIRE(f.cu.ctx_create(&other, nullptr, 0, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc(&own, bytes) == CUDA_SUCCESS);
  int found = 0;
  REQUIRE(f.cu.memcpy_htod_async(own, host.data(), bytes, stream) == CUDA_SUCCESS);
  CHECK(f.cu.mem_host_unregister(host.data()) == CUDA_SUCCESS);
  host.assign(100, 5);
  CHECK(f.cu.memcpy_dtoh_async(&found, own + bytes - 4, 4, stream) == CUDA_SUCCESS);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  CHECK(found == 3);
  REQUIRE(f.cu.memcpy_peer_async(own, other, first, f.context, bytes, stream) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free(first) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_dtoh_async(&found, own + bytes - 4, 4, stream) == CUDA_SUCCESS);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  CHECK(found == 4);
  REQUIRE(f.cu.memcpy_htod_async(own, pinned, bytes, stream) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free_host(pinned) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_dtoh_async(&found, own + bytes - 4, 4, stream) == CUDA_SUCCESS);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  CHECK(found == 0x06060606);
  CHECK(f.reports().empty());
}

TEST_CASE("memory of a pool comes and goes in stream order", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(small_device(mode));
    CUstream stream = nullptr;
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    // Three times as much as there is, one after the other.
    for (int i = 0; i < 6; ++i) {
      CUdeviceptr memory = 0;
      CHECK(f.cu.mem_alloc_async(&memory, 8 * mebibyte, stream) == CUDA_SUCCESS);
      CHECK(f.cu.memset_d8_async(memory, 1, 8 * mebibyte, stream) == CUDA_SUCCESS);
      CHECK(f.cu.mem_free_async(memory, stream) == CUDA_SUCCESS);
      CHECK(f.cu.mem_free_async(memory, stream) == CUDA_ERROR_INVALID_VALUE);
    }
    CUdeviceptr memory = 0;
    CHECK(f.cu.mem_alloc_async(&memory, 17 * mebibyte, stream) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(f.cu.mem_alloc_async(&memory, 0, stream) == CUDA_ERROR_INVALID_VALUE);
    CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    CHECK(free_memory(f) == 16 * mebibyte);
    // Either kind may be freed the other way.
    CHECK(f.cu.mem_alloc_async(&memory, 100, stream) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free(memory) == CUDA_SUCCESS);
    CHECK(f.cu.mem_alloc(&memory, 100) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free_async(memory, stream) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free_async(0, stream) == CUDA_SUCCESS);
    CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
    CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
    CHECK(f.live().empty());
    CHECK(f.reports().empty());
  }
}

TEST_CASE("a pool keeps what it is told to keep, and says so", "[cpu]") {
  driver_fixture f(small_device());
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemoryPool pool = nullptr;
  CUstream stream = nullptr;
  REQUIRE(f.cu.stream_create(&stream, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_pool_create(&pool, &properties) == CUDA_SUCCESS);
  const auto figure = [&](CUmemPool_attribute which) {
    cuuint64_t value = 0;
    CHECK(f.cu.mem_pool_get_attribute(pool, which, &value) == CUDA_SUCCESS);
    return value;
  };
  cuuint64_t threshold = mebibyte;
  CHECK(f.cu.mem_pool_set_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold) ==
        CUDA_SUCCESS);
  CHECK(figure(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) == mebibyte);
  CUdeviceptr memory = 0;
  REQUIRE(f.cu.mem_alloc_from_pool_async(&memory, 2 * mebibyte, pool, stream) == CUDA_SUCCESS);
  CHECK(figure(CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 2 * mebibyte);
  CHECK(attribute<CUmemoryPool>(f, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory) == pool);
  CHECK(f.cu.mem_free_async(memory, stream) == CUDA_SUCCESS);
  CHECK(figure(CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
  CHECK(figure(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 2 * mebibyte);
  CHECK(free_memory(f) == 14 * mebibyte);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  CHECK(figure(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == mebibyte);
  // What it does not use goes to those who find no other.
  CUdeviceptr plain = 0;
  CHECK(f.cu.mem_alloc(&plain, 16 * mebibyte) == CUDA_SUCCESS);
  CHECK(figure(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
  CHECK(f.cu.mem_free(plain) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_from_pool_async(&memory, mebibyte, pool, stream) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free_async(memory, stream) == CUDA_SUCCESS);
  CHECK(figure(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == mebibyte);
  CHECK(f.cu.mem_pool_trim_to(pool, 0) == CUDA_SUCCESS);
  CHECK(figure(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
  CHECK(figure(CU_MEMPOOL_ATTR_USED_MEM_HIGH) == 2 * mebibyte);
  cuuint64_t reset = 1;
  CHECK(f.cu.mem_pool_set_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &reset) ==
        CUDA_ERROR_INVALID_VALUE);
  reset = 0;
  CHECK(f.cu.mem_pool_set_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &reset) == CUDA_SUCCESS);
  CHECK(figure(CU_MEMPOOL_ATTR_USED_MEM_HIGH) == 0);

  CUmemoryPool standard = nullptr;
  CUmemoryPool current = nullptr;
  CHECK(f.cu.device_get_default_mem_pool(&standard, 0) == CUDA_SUCCESS);
  CHECK(f.cu.device_set_mem_pool(0, pool) == CUDA_SUCCESS);
  CHECK(f.cu.device_get_mem_pool(&current, 0) == CUDA_SUCCESS);
  CHECK(current == pool);
  CHECK(f.cu.mem_pool_destroy(standard) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_pool_destroy(pool) == CUDA_SUCCESS);
  CHECK(f.cu.mem_pool_destroy(pool) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.device_get_mem_pool(&current, 0) == CUDA_SUCCESS);
  CHECK(current == standard);
  properties.location.id = 5;
  CHECK(f.cu.mem_pool_create(&pool, &properties) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a copy of memory that nobody wrote is reported", "[cpu]") {
  driver_fixture f(test::with_places());
  CUdeviceptr memory = 0;
  int host[4] = {};
  REQUIRE(f.cu.mem_alloc(&memory, sizeof host) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_dtoh(host, memory, sizeof host) == CUDA_SUCCESS);
  CHECK(f.reports().find("which were never written") != std::string::npos);
  CHECK(test::names_place(f.reports(), "memory_test.cpp"));
}

TEST_CASE("work on memory that was freed in the meantime is a fault", "[cpu]") {
  driver_fixture f(test::deferred());
  CUstream first = nullptr;
  CUstream second = nullptr;
  CUdeviceptr memory = 0;
  REQUIRE(f.cu.stream_create(&first, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_create(&second, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_async(&memory, 64, first) == CUDA_SUCCESS);
  CHECK(f.cu.memset_d8_async(memory, 0, 64, second) == CUDA_SUCCESS);  // no event in between
  CHECK(f.cu.mem_free_async(memory, first) == CUDA_SUCCESS);
  CHECK(f.cu.stream_synchronize(first) == CUDA_SUCCESS);
  CHECK(f.cu.stream_synchronize(second) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(f.reports().find("freed memory") != std::string::npos);
}

TEST_CASE("a pool remembers its settings, and its high-water marks go back", "[cpu]") {
  driver_fixture f(small_device());
  CUmemoryPool pool = nullptr;
  CUstream stream = nullptr;
  REQUIRE(f.cu.device_get_default_mem_pool(&pool, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_create(&stream, 0) == CUDA_SUCCESS);
  for (const CUmemPool_attribute which :
       {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES}) {
    int value = 5;
    CHECK(f.cu.mem_pool_get_attribute(pool, which, &value) == CUDA_SUCCESS);
    CHECK(value == 1);
    value = 0;
    CHECK(f.cu.mem_pool_set_attribute(pool, which, &value) == CUDA_SUCCESS);
    value = 5;
    CHECK(f.cu.mem_pool_get_attribute(pool, which, &value) == CUDA_SUCCESS);
    CHECK(value == 0);
  }
  CUdeviceptr memory = 0;
  REQUIRE(f.cu.mem_alloc_async(&memory, mebibyte, stream) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_free_async(memory, stream) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  for (const CUmemPool_attribute which :
       {CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, CU_MEMPOOL_ATTR_USED_MEM_HIGH}) {
    cuuint64_t value = 0;
    CHECK(f.cu.mem_pool_get_attribute(pool, which, &value) == CUDA_SUCCESS);
    CHECK(value >= mebibyte);
    CHECK(f.cu.mem_pool_set_attribute(pool, which, &value) == CUDA_ERROR_INVALID_VALUE);
    value = 0;
    CHECK(f.cu.mem_pool_set_attribute(pool, which, &value) == CUDA_SUCCESS);
    CHECK(f.cu.mem_pool_get_attribute(pool, which, &value) == CUDA_SUCCESS);
    CHECK(value == 0);
  }
  cuuint64_t value = 0;
  CHECK(f.cu.mem_pool_set_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_pool_set_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_pool_get_attribute(pool, static_cast<CUmemPool_attribute>(0), &value) ==
        CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("pools refuse what an H200's driver refuses, with its codes", "[cpu]") {
  driver_fixture f(small_device());
  const auto create = [&](CUmemAllocationType type, int handles, CUmemLocation location) {
    CUmemPoolProps properties{};
    properties.allocType = type;
    properties.handleTypes = static_cast<CUmemAllocationHandleType>(handles);
    properties.location = location;
    CUmemoryPool pool = nullptr;
    return f.cu.mem_pool_create(&pool, &properties);
  };
  const CUmemLocation first{CU_MEM_LOCATION_TYPE_DEVICE, 0}, none{CU_MEM_LOCATION_TYPE_NONE, 0},
      ninth{CU_MEM_LOCATION_TYPE_DEVICE, 9}, host{CU_MEM_LOCATION_TYPE_HOST, 0};
  CHECK(create(CU_MEM_ALLOCATION_TYPE_INVALID, 0, first) == CUDA_ERROR_INVALID_VALUE);
  CHECK(create(CU_MEM_ALLOCATION_TYPE_PINNED, 0, ninth) == CUDA_ERROR_INVALID_VALUE);
  CHECK(create(CU_MEM_ALLOCATION_TYPE_PINNED, 0, none) == CUDA_ERROR_INVALID_VALUE);
  CHECK(create(CU_MEM_ALLOCATION_TYPE_PINNED, 2, first) == CUDA_ERROR_INVALID_VALUE);
  CUmemoryPool pool = nullptr;
  REQUIRE(f.cu.device_get_default_mem_pool(&pool, 0) == CUDA_SUCCESS);
  const auto access = [&](CUmemLocation location, int flags) {
    const CUmemAccessDesc wanted{location, static_cast<CUmemAccess_flags>(flags)};
    return f.cu.mem_pool_set_access(pool, &wanted, 1);
  };
  CHECK(access(first, 0) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(access(first, 1) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(access(first, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(access(first, 3) == CUDA_SUCCESS);
  CHECK(access(ninth, 3) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(access(host, 3) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(f.cu.mem_pool_set_access(pool, nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
}

}  // namespace memory_test
