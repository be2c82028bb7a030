// Pools of devices, of the host, and of managed memory: those from the start and those in force.

#include "small_device.hpp"

#include <cstddef>
#include <cstdint>

namespace current_pools_test {

using test::all_modes;
using test::attribute;
using test::driver_fixture;
using test::free_memory;
using test::mebibyte;
using test::small_device;

TEST_CASE("pools of places answer as an H200's driver does", "[cpu]") {
  driver_fixture f(small_device());
  // Nothing of this asks for a current context.
  REQUIRE(f.cu.ctx_set_current(nullptr) == CUDA_SUCCESS);
  const CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0}, ninth{CU_MEM_LOCATION_TYPE_DEVICE, 9},
      none{CU_MEM_LOCATION_TYPE_NONE, 0}, host{CU_MEM_LOCATION_TYPE_HOST, 0},
      node{CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}, far_node{CU_MEM_LOCATION_TYPE_HOST_NUMA, 99},
      current_node{CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0};
  constexpr auto pinned = CU_MEM_ALLOCATION_TYPE_PINNED, managed = CU_MEM_ALLOCATION_TYPE_MANAGED;
  CUmemoryPool pool = nullptr, standard = nullptr, current = nullptr;
  const auto ask = [&](CUmemLocation at, CUmemAllocationType type) {
    standard = current = nullptr;
    const CUresult code = f.cu.mem_get_default_mem_pool(&standard, &at, type);
    CHECK(f.cu.mem_get_mem_pool(&current, &at, type) == code);
    CHECK(current == standard);
    return code;
  };
  for (const CUmemAllocationType type : {pinned, managed}) {
    for (const CUmemLocation at : {device, host, node}) CHECK(ask(at, type) == CUDA_SUCCESS);
    CHECK(ask(ninth, type) == CUDA_ERROR_INVALID_VALUE);
    CHECK(ask(far_node, type) == CUDA_ERROR_INVALID_VALUE);
  }
  CHECK(ask(none, pinned) == CUDA_ERROR_INVALID_VALUE);
  CHECK(ask(none, managed) == CUDA_SUCCESS);
  for (const int type : {0, 3}) {
    for (const CUmemLocation at : {device, host, node, ninth, far_node, none})
      CHECK(ask(at, static_cast<CUmemAllocationType>(type)) == CUDA_ERROR_INVALID_VALUE);
  }
  for (const int type : {0, 1, 2, 3})
    CHECK(ask(current_node, static_cast<CUmemAllocationType>(type)) == CUDA_ERROR_NOT_SUPPORTED);

  const auto create = [&](CUmemLocation at, CUmemAllocationType type) {
    CUmemPoolProps properties{};
    properties.allocType = type;
    properties.location = at;
    return f.cu.mem_pool_create(&pool, &properties);
  };
  const auto set = [&](CUmemLocation at, CUmemAllocationType type, CUmemoryPool to) {
    return f.cu.mem_set_mem_pool(&at, type, to);
  };
  CHECK(f.cu.device_get_default_mem_pool(&standard, 0) == CUDA_SUCCESS);
  REQUIRE(create(device, pinned) == CUDA_SUCCESS);
  CHECK(set(device, pinned, pool) == CUDA_SUCCESS);
  CHECK(f.cu.device_get_mem_pool(&current, 0) == CUDA_SUCCESS);
  CHECK(current == pool);
  CHECK(set(host, pinned, pool) == CUDA_ERROR_INVALID_VALUE);
  CHECK(set(device, managed, pool) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_pool_destroy(pool) == CUDA_SUCCESS);
  CHECK(f.cu.device_get_mem_pool(&current, 0) == CUDA_SUCCESS);
  CHECK(current == standard);
  REQUIRE(create(node, pinned) == CUDA_SUCCESS);
  CHECK(set(node, pinned, pool) == CUDA_SUCCESS);
  CHECK(set(host, pinned, pool) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_pool_destroy(pool) == CUDA_SUCCESS);
  REQUIRE(create(device, managed) == CUDA_SUCCESS);
  CHECK(set(device, managed, pool) == CUDA_SUCCESS);
  CHECK(set(device, pinned, pool) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.device_set_mem_pool(0, pool) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_pool_destroy(pool) == CUDA_SUCCESS);
  REQUIRE(ask(host, managed) == CUDA_SUCCESS);
  CHECK(f.cu.mem_pool_destroy(standard) == CUDA_ERROR_INVALID_VALUE);
  CHECK(create(none, managed) == CUDA_SUCCESS);
  CHECK(f.cu.mem_pool_destroy(pool) == CUDA_SUCCESS);
  CHECK(create(current_node, pinned) == CUDA_ERROR_INVALID_VALUE);

  CUmemLocation at = device;
  CHECK(f.cu.mem_get_default_mem_pool(nullptr, &at, pinned) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_get_mem_pool(nullptr, &at, pinned) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_get_mem_pool(&pool, nullptr, pinned) == CUDA_ERROR_INVALID_VALUE);
  CHECK(set(device, pinned, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.ctx_set_current(f.context) == CUDA_SUCCESS);
  CHECK(f.live().empty());
}

TEST_CASE("memory of the host's pools costs no device anything", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(small_device(mode));
    CUstream stream = nullptr;
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    for (const CUmemAllocationType type :
         {CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_ALLOCATION_TYPE_MANAGED}) {
      CUmemPoolProps properties{};
      properties.allocType = type;
      properties.location.type = CU_MEM_LOCATION_TYPE_HOST;
      properties.maxSize = 32 * mebibyte;
      CUmemoryPool pool = nullptr;
      REQUIRE(f.cu.mem_pool_create(&pool, &properties) == CUDA_SUCCESS);
      const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                   CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
      REQUIRE(f.cu.mem_pool_set_access(pool, &access, 1) == CUDA_SUCCESS);
      CUdeviceptr memory = 0, more = 0;
      for (int i = 0; i < 3; ++i) {  // the second only when the first has gone
        CHECK(f.cu.mem_alloc_from_pool_async(&memory, 20 * mebibyte, pool, stream) == CUDA_SUCCESS);
        CHECK(f.cu.mem_alloc_from_pool_async(&more, 20 * mebibyte, pool, stream) ==
              CUDA_ERROR_OUT_OF_MEMORY);
        CHECK(f.cu.memset_d8_async(memory, 1, 20 * mebibyte, stream) == CUDA_SUCCESS);
        CHECK(f.cu.mem_free_async(memory, stream) == CUDA_SUCCESS);
      }
      CHECK(free_memory(f) == 16 * mebibyte);
      REQUIRE(f.cu.mem_alloc_from_pool_async(&memory, 100, pool, stream) == CUDA_SUCCESS);
      CHECK(attribute<CUmemoryPool>(f, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory) == pool);
      const bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
      CHECK(attribute<unsigned>(f, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory) == managed);
      CHECK(attribute<unsigned>(f, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory) ==
            (managed ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST));
      CHECK(f.cu.mem_pool_destroy(pool) == CUDA_SUCCESS);  // the memory stays
      CHECK(f.cu.memset_d8_async(memory, 1, 100, stream) == CUDA_SUCCESS);
      CHECK(f.cu.mem_free(memory) == CUDA_SUCCESS);
    }
    CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
    CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
    CHECK(f.live().empty());
    CHECK(f.reports().empty());
  }
}

TEST_CASE("a kernel reaches memory of the host's pools where it was given access", "[cpu]") {
  const char code[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 to)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [to];
  st.global.u32 [%rd1], 42;
  ret;
}
)";
  for (const bool allowed : {true, false}) {
    driver_fixture f(test::without_places());
    CUmodule loaded = nullptr;
    CUfunction store = nullptr;
    CUmemoryPool pool = nullptr;
    CUstream stream = nullptr;
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(f.cu.module_load_data(&loaded, code) == CUDA_SUCCESS);
    REQUIRE(f.cu.module_get_function(&store, loaded, "store") == CUDA_SUCCESS);
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    REQUIRE(f.cu.mem_pool_create(&pool, &properties) == CUDA_SUCCESS);
    CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemAccess_flags access{};
    CHECK(f.cu.mem_pool_get_access(&access, pool, &device) == CUDA_SUCCESS);
    CHECK(access == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    const CUmemAccessDesc wanted{device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (allowed) REQUIRE(f.cu.mem_pool_set_access(pool, &wanted, 1) == CUDA_SUCCESS);
    CUdeviceptr memory = 0;
    REQUIRE(f.cu.mem_alloc_from_pool_async(&memory, 4, pool, stream) == CUDA_SUCCESS);
    void* arguments[] = {&memory};
    CHECK(f.cu.launch_kernel(store, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr) ==
          CUDA_SUCCESS);
    CHECK(f.cu.stream_synchronize(stream) == (allowed ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS));
    CHECK((f.reports() == "") == allowed);
    if (allowed) CHECK(*reinterpret_cast<int*>(static_cast<std::uintptr_t>(memory)) == 42);
  }
}

}  // namespace current_pools_test
