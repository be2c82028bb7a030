// Addresses and memory apart, and memory that other processes may have, with the codes that the
// driver of an H200 gives.

#include "driver_fixture.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace cpu_virtual_memory_test {

using test::driver_fixture;

namespace {

constexpr std::size_t unit = std::size_t{2} << 20;
constexpr auto by_file = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
constexpr CUmemLocation on_device{CU_MEM_LOCATION_TYPE_DEVICE, 0};

gpu::testing::cpu_driver_options small(int devices = 1) {
  gpu::testing::cpu_driver_options options = test::with_places();
  options.memory_per_device = 8 * unit;
  options.devices = static_cast<unsigned>(devices);
  options.record_locations = false;  // what made them is not asked for here, and takes long to tell
  return options;
}

CUmemAllocationProp properties(int handle_types = 0, CUmemLocation at = on_device) {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = at;
  wanted.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(handle_types);
  return wanted;
}

CUmemAccessDesc access(int flags, CUmemLocation by = on_device) {
  return {by, static_cast<CUmemAccess_flags>(flags)};
}

void* as_handle(int descriptor) {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
}

struct fixture : driver_fixture {
  explicit fixture(gpu::testing::cpu_driver_options options = small()) : driver_fixture(options) {}

  CUdeviceptr reserve(std::size_t size) {
    CUdeviceptr made = 0;
    REQUIRE(cu.mem_address_reserve(&made, size, 0, 0, 0) == CUDA_SUCCESS);
    CHECK(made % unit == 0);
    return made;
  }
  CUmemGenericAllocationHandle create(std::size_t size, int handle_types = 0) {
    CUmemGenericAllocationHandle made = 0;
    const CUmemAllocationProp wanted = properties(handle_types);
    REQUIRE(cu.mem_create(&made, size, &wanted, 0) == CUDA_SUCCESS);
    return made;
  }
  CUresult set_access(CUdeviceptr at, std::size_t size, const CUmemAccessDesc& wanted) {
    return cu.mem_set_access(at, size, &wanted, 1);
  }
  unsigned long long access_at(CUdeviceptr at, CUmemLocation by = on_device) {
    unsigned long long flags = 77;
    CHECK(cu.mem_get_access(&flags, &by, at) == CUDA_SUCCESS);
    return flags;
  }
  std::size_t free_memory() {
    std::size_t free = 0, total = 0;
    CHECK(cu.mem_get_info(&free, &total) == CUDA_SUCCESS);
    return free;
  }
  /// A mapping of one unit at the beginning of `at`, with that access.
  CUmemGenericAllocationHandle map(CUdeviceptr at, int flags, int handle_types = 0) {
    const CUmemGenericAllocationHandle memory = create(unit, handle_types);
    REQUIRE(cu.mem_map(at, unit, 0, memory, 0) == CUDA_SUCCESS);
    REQUIRE(set_access(at, unit, access(flags)) == CUDA_SUCCESS);
    return memory;
  }
};

const char loads_and_stores[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry move(.param .u64 from, .param .u64 to)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.global.u32 %r1, [%rd1];
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

CUresult run_move(driver_fixture& f, CUdeviceptr from, CUdeviceptr to) {
  CUmodule module = nullptr;
  CUfunction move = nullptr;
  REQUIRE(f.cu.module_load_data(&module, loads_and_stores) == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&move, module, "move") == CUDA_SUCCESS);
  void* arguments[] = {&from, &to};
  REQUIRE(f.cu.launch_kernel(move, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) ==
          CUDA_SUCCESS);
  return f.cu.ctx_synchronize();
}

}  // namespace

TEST_CASE("addresses are reserved in whole units, and freed as a whole", "[cpu]") {
  fixture f;
  CUdeviceptr at = 0;
  const auto reserve = [&](std::size_t size, std::size_t alignment, CUdeviceptr wish,
                           unsigned long long flags) {
    return f.cu.mem_address_reserve(&at, size, alignment, wish, flags);
  };
  CHECK(reserve(0, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(reserve(100, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(reserve(unit / 2, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(reserve(unit, 3, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(reserve(unit, 0, 100, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(reserve(unit, 0, 0, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(reserve(std::size_t{1} << 62, 0, 0, 0) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(reserve(4 * unit, 8 * unit, 0, 0) == CUDA_SUCCESS);
  CHECK(at % (8 * unit) == 0);
  CHECK(f.free_memory() == 8 * unit);  // addresses are no memory
  CHECK(f.live().size() == 1);
  CHECK(f.cu.mem_address_free(at, unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_address_free(at + unit, 3 * unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_address_free(at, 4 * unit) == CUDA_SUCCESS);
  CHECK(f.cu.mem_address_free(at, 4 * unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.live().empty());
}

TEST_CASE("physical memory is what a device has, in whole units", "[cpu]") {
  fixture f;
  CUmemGenericAllocationHandle memory = 0;
  const auto create = [&](std::size_t size, CUmemAllocationProp wanted,
                          unsigned long long flags = 0) {
    return f.cu.mem_create(&memory, size, &wanted, flags);
  };
  const auto place = [](CUmemLocationType type, int id) {
    return properties(0, CUmemLocation{type, id});
  };
  CHECK(create(0, properties()) == CUDA_ERROR_INVALID_VALUE);
  CHECK(create(100, properties()) == CUDA_ERROR_INVALID_VALUE);
  CHECK(create(unit, properties(), 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(create(unit, place(CU_MEM_LOCATION_TYPE_DEVICE, 9)) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(create(unit, place(CU_MEM_LOCATION_TYPE_HOST, 0)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(create(unit, place(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(create(unit, place(CU_MEM_LOCATION_TYPE_INVALID, 0)) == CUDA_ERROR_INVALID_VALUE);
  for (const int refused : {2, 3, 4})
    CHECK(create(unit, properties(refused)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(create(unit, properties(CU_MEM_HANDLE_TYPE_FABRIC)) == CUDA_ERROR_NOT_PERMITTED);
  for (const int type : {0, 2, 3}) {
    CUmemAllocationProp wanted = properties();
    wanted.type = static_cast<CUmemAllocationType>(type);
    CHECK(create(unit, wanted) == CUDA_ERROR_INVALID_VALUE);
  }
  CUmemAllocationProp compressed = properties();
  compressed.allocFlags.compressionType = 2;
  CHECK(create(unit, compressed) == CUDA_ERROR_INVALID_VALUE);
  CHECK(create(9 * unit, properties()) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(create(std::size_t{1} << 45, properties()) == CUDA_ERROR_OUT_OF_MEMORY);
  REQUIRE(create(8 * unit, properties(by_file)) == CUDA_SUCCESS);
  CHECK(f.free_memory() == 0);
  CUmemAllocationProp found{};
  CHECK(f.cu.mem_get_allocation_properties_from_handle(&found, memory) == CUDA_SUCCESS);
  CHECK(found.requestedHandleTypes == by_file);
  CHECK(found.location.id == 0);
  CHECK(f.cu.mem_release(memory) == CUDA_SUCCESS);
  CHECK(f.cu.mem_release(memory) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_release(0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.free_memory() == 8 * unit);
  std::size_t granularity = 0;
  const CUmemAllocationProp asked = properties(), ninth = place(CU_MEM_LOCATION_TYPE_DEVICE, 9);
  const auto minimum = CU_MEM_ALLOC_GRANULARITY_MINIMUM;
  CHECK(f.cu.mem_get_allocation_granularity(&granularity, &asked, minimum) == CUDA_SUCCESS);
  CHECK(granularity == unit);
  CHECK(f.cu.mem_get_allocation_granularity(&granularity, &ninth, minimum) ==
        CUDA_ERROR_INVALID_DEVICE);
  CHECK(f.cu.mem_get_allocation_granularity(nullptr, &asked, minimum) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("memory is mapped as a whole, at reserved addresses that are free", "[cpu]") {
  fixture f;
  const CUdeviceptr at = f.reserve(4 * unit);
  const CUmemGenericAllocationHandle memory = f.create(2 * unit);
  CUdeviceptr plain = 0;
  REQUIRE(f.cu.mem_alloc(&plain, 100) == CUDA_SUCCESS);
  const auto map = [&](CUdeviceptr to, std::size_t size, std::size_t offset = 0,
                       unsigned long long flags = 0) {
    return f.cu.mem_map(to, size, offset, memory, flags);
  };
  CHECK(map(at, unit) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(map(at, 100) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(map(at, 4 * unit) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(map(at, 2 * unit, unit) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(map(at, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(map(at, 2 * unit, 0, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(map(at + 100, 2 * unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(map(at + 3 * unit, 2 * unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(map(plain, 2 * unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_map(at, 2 * unit, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(map(at, 2 * unit) == CUDA_SUCCESS);
  CHECK(map(at, 2 * unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(map(at + unit, 2 * unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(map(at + 2 * unit, 2 * unit) == CUDA_SUCCESS);  // the same memory at two addresses
  CHECK(f.cu.mem_address_free(at, 4 * unit) == CUDA_ERROR_INVALID_VALUE);

  CHECK(f.cu.mem_unmap(at, unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_unmap(at + unit, 2 * unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_unmap(at + 100, unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_unmap(at, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_unmap(at, 8 * unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_unmap(at, 2 * unit) == CUDA_SUCCESS);
  CHECK(f.cu.mem_unmap(at, 2 * unit) == CUDA_SUCCESS);  // nothing is there
  CHECK(f.cu.mem_release(memory) == CUDA_SUCCESS);
  CHECK(f.free_memory() < 7 * unit);  // it is still mapped
  CHECK(f.cu.mem_unmap(at, 4 * unit) == CUDA_SUCCESS);
  CHECK(f.free_memory() > 7 * unit);
  CHECK(f.cu.mem_address_free(at, 4 * unit) == CUDA_SUCCESS);
}

TEST_CASE("memory is found by its address, also after its release", "[cpu]") {
  fixture f;
  const CUdeviceptr at = f.reserve(unit);
  const CUmemGenericAllocationHandle memory = f.map(at, 3);
  CUmemGenericAllocationHandle again = 0;
  const auto retain = [&](CUdeviceptr from) {
    return f.cu.mem_retain_allocation_handle(&again, reinterpret_cast<void*>(from));
  };
  CHECK(retain(at + 100) == CUDA_SUCCESS);
  CHECK(again == memory);
  CHECK(f.cu.mem_release(memory) == CUDA_SUCCESS);
  CHECK(f.cu.mem_release(again) == CUDA_SUCCESS);
  CHECK(retain(at) == CUDA_SUCCESS);
  CHECK(f.cu.mem_release(again) == CUDA_SUCCESS);
  CHECK(f.cu.mem_unmap(at, unit) == CUDA_SUCCESS);
  CHECK(retain(at) == CUDA_ERROR_INVALID_VALUE);
  const auto listed = [&](const char* what) {
    std::size_t count = 0;
    for (const std::string& each : f.live()) count += each.find(what) != each.npos;
    return count;
  };
  CHECK(listed("physical memory") == 0);
  const CUmemGenericAllocationHandle left = f.map(at, 3);
  CHECK(listed("physical memory") == 1);
  CHECK(f.cu.mem_release(left) == CUDA_SUCCESS);
  CHECK(listed("physical memory") == 0);
  CHECK(listed("mapping") == 1);
  CUdeviceptr plain = 0;
  REQUIRE(f.cu.mem_alloc(&plain, 100) == CUDA_SUCCESS);
  CHECK(retain(plain) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("access is set on whole mappings, by device", "[cpu]") {
  fixture f(small(2));
  const CUdeviceptr at = f.reserve(8 * unit);
  const CUmemGenericAllocationHandle one = f.create(unit), two = f.create(2 * unit);
  REQUIRE(f.cu.mem_map(at, unit, 0, one, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_map(at + unit, 2 * unit, 0, two, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_map(at + 4 * unit, unit, 0, one, 0) == CUDA_SUCCESS);
  CHECK(f.access_at(at) == 0);
  CHECK(f.set_access(at, 3 * unit, access(3)) == CUDA_SUCCESS);
  CHECK(f.set_access(at, 5 * unit, access(3)) == CUDA_SUCCESS);  // over what is not mapped
  CHECK(f.access_at(at + 4 * unit) == 3);
  CHECK(f.set_access(at + 3 * unit, unit, access(3)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.set_access(at + unit, unit, access(3)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.set_access(at, 2 * unit, access(1)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.set_access(at, 16 * unit, access(3)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.set_access(at, 100, access(3)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.set_access(at, 0, access(3)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_set_access(at, unit, nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.set_access(at, unit, access(2)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.set_access(at, unit, access(3, {CU_MEM_LOCATION_TYPE_DEVICE, 9})) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(f.set_access(at, unit, access(3, {CU_MEM_LOCATION_TYPE_HOST, 0})) ==
        CUDA_ERROR_NOT_SUPPORTED);
  CHECK(f.set_access(at, unit, access(0, {CU_MEM_LOCATION_TYPE_HOST, 0})) == CUDA_SUCCESS);
  CHECK(f.set_access(at, unit, access(3, {CU_MEM_LOCATION_TYPE_INVALID, 0})) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(f.access_at(at, {CU_MEM_LOCATION_TYPE_DEVICE, 1}) == 0);
  CHECK(f.set_access(at, unit, access(1, {CU_MEM_LOCATION_TYPE_DEVICE, 1})) == CUDA_SUCCESS);
  CHECK(f.access_at(at, {CU_MEM_LOCATION_TYPE_DEVICE, 1}) == 1);
  CHECK(f.access_at(at) == 3);
  unsigned long long flags = 77;
  const CUmemLocation ninth{CU_MEM_LOCATION_TYPE_DEVICE, 9};
  CHECK(f.cu.mem_get_access(&flags, &ninth, at) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(f.cu.mem_get_access(&flags, &on_device, at + 3 * unit) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("copies and fills go as far as mappings and their access do", "[cpu]") {
  fixture f;
  const CUdeviceptr at = f.reserve(4 * unit);
  CUdeviceptr plain = 0;
  REQUIRE(f.cu.mem_alloc(&plain, 100) == CUDA_SUCCESS);
  REQUIRE(f.cu.memset_d8(plain, 1, 100) == CUDA_SUCCESS);
  char host[100] = {};
  const CUmemGenericAllocationHandle memory = f.create(unit);
  REQUIRE(f.cu.mem_map(at, unit, 0, memory, 0) == CUDA_SUCCESS);
  for (const int flags : {-1, 0, 1, 3}) {
    if (flags >= 0) REQUIRE(f.set_access(at, unit, access(flags)) == CUDA_SUCCESS);
    const CUresult written = flags == 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    const CUresult read = flags >= 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    CHECK(f.cu.memcpy_htod(at, host, 100) == written);
    CHECK(f.cu.memcpy_dtod(at, plain, 100) == written);
    CHECK(f.cu.memset_d8(at, 1, 100) == written);
    CHECK(f.cu.memcpy_dtoh(host, at, 100) == read);
    CHECK(f.cu.memcpy_dtod(plain, at, 100) == read);
    CUdeviceptr base = 0, pointer = 0;
    std::size_t size = 0;
    CHECK(f.cu.mem_get_address_range(&base, &size, at + 8) ==
          (flags >= 1 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND));
    CHECK(f.cu.pointer_get_attribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at + 8) ==
          read);
    CHECK(pointer == (flags >= 1 ? at + 8 : 0));
  }
  CHECK(f.cu.memset_d8(at, 1, 2 * unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_dtod(plain, at + unit - 50, 100) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_dtoh(host, at + unit, 100) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_free(at) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_free_async(at, nullptr) == CUDA_ERROR_INVALID_VALUE);
  // A second mapping behind the first: one range for copies.
  f.map(at + unit, 3);
  CHECK(f.cu.memset_d8(at, 7, 2 * unit) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_dtoh(host, at + unit - 50, 100) == CUDA_SUCCESS);
  CHECK(std::string(host, 100) == std::string(100, '\7'));
  // The same memory at another address.
  REQUIRE(f.cu.mem_map(at + 3 * unit, unit, 0, memory, 0) == CUDA_SUCCESS);
  REQUIRE(f.set_access(at + 3 * unit, unit, access(1)) == CUDA_SUCCESS);
  CHECK(f.cu.memset_d8(at + 5, 9, 1) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_dtoh(host, at + 3 * unit, 10) == CUDA_SUCCESS);
  CHECK(std::string(host, 10) == "\7\7\7\7\7\11\7\7\7\7");
}

TEST_CASE("pointer attributes tell mapping and reservation apart", "[cpu]") {
  fixture f;
  const CUdeviceptr at = f.reserve(4 * unit);
  f.map(at + unit, 1, by_file);
  const auto ask = [&](CUpointer_attribute which) {
    unsigned long long value = 0;
    CHECK(f.cu.pointer_get_attribute(&value, which, at + unit + 8) == CUDA_SUCCESS);
    return value;
  };
  CHECK(ask(CU_POINTER_ATTRIBUTE_CONTEXT) == 0);
  CHECK(ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE) == CU_MEMORYTYPE_DEVICE);
  CHECK(ask(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) == 1);
  CHECK(ask(CU_POINTER_ATTRIBUTE_IS_MANAGED) == 0);
  CHECK(ask(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) == 0);
  CHECK(ask(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR) == at);
  CHECK(ask(CU_POINTER_ATTRIBUTE_RANGE_SIZE) == 4 * unit);
  CHECK(ask(CU_POINTER_ATTRIBUTE_MAPPED) == 1);
  CHECK(ask(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES) == by_file);
  CHECK(ask(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS) == 1);
  CHECK(ask(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE) == 0);
  CHECK(ask(CU_POINTER_ATTRIBUTE_MAPPING_SIZE) == unit);
  CHECK(ask(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR) == at + unit);
  unsigned long long value = 0;
  CHECK(f.cu.pointer_get_attribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) ==
        CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("kernels are held to mappings and their access", "[cpu]") {
  struct attempt {
    const char* what;
    int access;
    bool writes, unmapped;
    const char* report;
  };
  for (const attempt& each : {attempt{"reads with none", 0, false, false, "another context"},
                              {"reads to be read", 1, false, false, nullptr},
                              {"writes to be read", 1, true, false, "read-only"},
                              {"writes to be written", 3, true, false, nullptr},
                              {"reads what is gone", 3, false, true, "freed mapping"}}) {
    INFO(each.what);
    fixture f;
    const CUdeviceptr at = f.reserve(2 * unit);
    CUdeviceptr plain = 0;
    REQUIRE(f.cu.mem_alloc(&plain, 4) == CUDA_SUCCESS);
    REQUIRE(f.cu.memset_d32(plain, 1, 1) == CUDA_SUCCESS);
    f.map(at, 3);
    REQUIRE(f.cu.memset_d32(at, 1, 1) == CUDA_SUCCESS);
    REQUIRE(f.set_access(at, unit, access(each.access)) == CUDA_SUCCESS);
    if (each.unmapped) REQUIRE(f.cu.mem_unmap(at, unit) == CUDA_SUCCESS);
    const CUresult outcome = each.writes ? run_move(f, plain, at) : run_move(f, at, plain);
    CHECK(outcome == (each.report == nullptr ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS));
    INFO(f.reports());
    if (each.report != nullptr) CHECK(f.reports().find(each.report) != std::string::npos);
  }
  fixture f;
  CHECK(run_move(f, f.reserve(unit), f.reserve(unit)) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("a context that comes later reaches what its device was let in to", "[cpu]") {
  fixture f;
  const CUdeviceptr at = f.reserve(2 * unit);
  f.map(at, 3);
  f.map(at + unit, 1);
  REQUIRE(f.cu.memset_d8(at, 1, unit) == CUDA_SUCCESS);
  CUcontext later = nullptr;
  REQUIRE(f.cu.ctx_create(&later, nullptr, 0, 0) == CUDA_SUCCESS);
  CHECK(run_move(f, at, at + 4) == CUDA_SUCCESS);
  CHECK(run_move(f, at, at + unit) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("none of it needs a context, or minds a capture", "[cpu]") {
  fixture f;
  CUstream stream = nullptr;
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  REQUIRE(f.cu.ctx_set_current(nullptr) == CUDA_SUCCESS);
  const CUdeviceptr at = f.reserve(unit);
  const CUmemGenericAllocationHandle memory = f.map(at, 3, by_file);
  int file = -1;
  CHECK(f.cu.mem_export_to_shareable_handle(&file, memory, by_file, 0) == CUDA_SUCCESS);
  CHECK(::close(file) == 0);
  CHECK(f.cu.mem_unmap(at, unit) == CUDA_SUCCESS);
  CHECK(f.cu.mem_release(memory) == CUDA_SUCCESS);
  CHECK(f.cu.mem_address_free(at, unit) == CUDA_SUCCESS);
  CUgraph graph = nullptr;
  CHECK(f.cu.stream_end_capture(stream, &graph) == CUDA_SUCCESS);
}

TEST_CASE("physical memory goes through a file descriptor", "[cpu]") {
  fixture f;
  const CUmemGenericAllocationHandle memory = f.create(2 * unit, by_file), own = f.create(unit);
  int file = -1;
  const auto export_to = [&](void* to, CUmemGenericAllocationHandle which, int type,
                             unsigned long long flags) {
    return f.cu.mem_export_to_shareable_handle(to, which,
                                               static_cast<CUmemAllocationHandleType>(type), flags);
  };
  CHECK(export_to(nullptr, memory, by_file, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(export_to(&file, memory, by_file, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(export_to(&file, memory, CU_MEM_HANDLE_TYPE_FABRIC, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(export_to(&file, own, by_file, 0) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(export_to(&file, memory, by_file, 0) == CUDA_SUCCESS);
  CHECK(::fcntl(file, F_GETFD) == FD_CLOEXEC);

  CUmemGenericAllocationHandle there = 0;
  const auto import = [&](int from) {
    return f.cu.mem_import_from_shareable_handle(&there, as_handle(from), by_file);
  };
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  CHECK(import(-1) == CUDA_ERROR_UNKNOWN);
  CHECK(import(987) == CUDA_ERROR_UNKNOWN);
  CHECK(import(ends[0]) == CUDA_ERROR_UNKNOWN);
  CHECK(f.cu.mem_import_from_shareable_handle(&there, as_handle(file), CU_MEM_HANDLE_TYPE_NONE) ==
        CUDA_ERROR_INVALID_VALUE);
  REQUIRE(import(file) == CUDA_SUCCESS);
  CHECK(there != memory);
  CUmemoryPool pool = nullptr;
  CHECK(f.cu.mem_pool_import_from_shareable_handle(&pool, as_handle(file), by_file, 0) ==
        CUDA_ERROR_NOT_SUPPORTED);
  CHECK(f.free_memory() == 5 * unit);  // importing takes nothing
  CUmemAllocationProp found{};
  CHECK(f.cu.mem_get_allocation_properties_from_handle(&found, there) == CUDA_SUCCESS);
  CHECK(found.requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE);
  int second = -1;
  CHECK(export_to(&second, there, by_file, 0) == CUDA_ERROR_INVALID_VALUE);

  const CUdeviceptr at = f.reserve(4 * unit);
  CHECK(f.cu.mem_map(at, unit, 0, there, 0) == CUDA_ERROR_NOT_SUPPORTED);
  REQUIRE(f.cu.mem_map(at, 2 * unit, 0, there, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_map(at + 2 * unit, 2 * unit, 0, memory, 0) == CUDA_SUCCESS);
  REQUIRE(f.set_access(at, 4 * unit, access(3)) == CUDA_SUCCESS);
  REQUIRE(f.cu.memset_d8(at + unit, 9, 3) == CUDA_SUCCESS);
  char host[4] = {};
  CHECK(f.cu.memcpy_dtoh(host, at + 3 * unit, 4) == CUDA_SUCCESS);
  CHECK(std::memcmp(host, "\11\11\11\0", 4) == 0);
  for (const int each : {file, ends[0], ends[1]}) CHECK(::close(each) == 0);
}

TEST_CASE("pools and what they allocated go through a file descriptor", "[cpu]") {
  fixture f;
  CUstream stream = nullptr;
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  CUmemPoolProps wanted{};
  wanted.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = on_device;
  CUmemoryPool own = nullptr, shared = nullptr, imported = nullptr;
  REQUIRE(f.cu.mem_pool_create(&own, &wanted) == CUDA_SUCCESS);
  wanted.handleTypes = by_file;
  REQUIRE(f.cu.mem_pool_create(&shared, &wanted) == CUDA_SUCCESS);
  int file = -1;
  const auto export_to = [&](void* to, CUmemoryPool which, unsigned long long flags = 0) {
    return f.cu.mem_pool_export_to_shareable_handle(to, which, by_file, flags);
  };
  CHECK(export_to(&file, own) == CUDA_ERROR_INVALID_VALUE);
  CHECK(export_to(&file, shared, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(export_to(nullptr, shared) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(export_to(&file, shared) == CUDA_SUCCESS);
  const auto import = [&](int from, unsigned long long flags = 0) {
    return f.cu.mem_pool_import_from_shareable_handle(&imported, as_handle(from), by_file, flags);
  };
  CHECK(import(-1) == CUDA_ERROR_UNKNOWN);
  CHECK(import(0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(import(file, 1) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(import(file) == CUDA_SUCCESS);
  CHECK(imported != shared);
  CUmemGenericAllocationHandle memory = 0;
  CHECK(f.cu.mem_import_from_shareable_handle(&memory, as_handle(file), by_file) ==
        CUDA_ERROR_NOT_SUPPORTED);
  CHECK(::close(file) == 0);

  CUdeviceptr first = 0, second = 0, plain = 0, there = 0, again = 0;
  REQUIRE(f.cu.mem_alloc_from_pool_async(&first, 5000, shared, stream) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_from_pool_async(&second, 16, shared, stream) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_from_pool_async(&plain, 16, own, stream) == CUDA_SUCCESS);
  CUmemPoolPtrExportData data{}, zero{};
  CHECK(f.cu.mem_pool_export_pointer(&data, first + 8) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_pool_export_pointer(&data, plain) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(f.cu.mem_pool_export_pointer(&data, second) == CUDA_SUCCESS);
  CHECK(f.cu.mem_pool_import_pointer(&there, shared, &data) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_pool_import_pointer(&there, imported, &zero) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(f.cu.mem_pool_import_pointer(&there, imported, &data) == CUDA_SUCCESS);
  CHECK(there != second);
  CHECK(f.cu.mem_pool_import_pointer(&again, imported, &data) == CUDA_SUCCESS);
  CHECK(again == there);
  REQUIRE(f.cu.memset_d8(second, 5, 16) == CUDA_SUCCESS);
  char host[16] = {};
  CHECK(f.cu.memcpy_dtoh(host, there, 16) == CUDA_SUCCESS);
  CHECK(std::string(host, 16) == std::string(16, '\5'));

  // An imported pool hands nothing out and tells nothing about itself.
  cuuint64_t value = 0;
  CHECK(f.cu.mem_alloc_from_pool_async(&again, 16, imported, stream) == CUDA_ERROR_INVALID_VALUE);
  for (int each = 1; each <= 8; ++each)
    CHECK(f.cu.mem_pool_get_attribute(imported, static_cast<CUmemPool_attribute>(each), &value) ==
          CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_pool_trim_to(imported, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(export_to(&file, imported) == CUDA_ERROR_INVALID_VALUE);
  CUmemLocation by = on_device;
  CUmemAccess_flags flags{};
  CHECK(f.cu.mem_pool_get_access(&flags, imported, &by) == CUDA_SUCCESS);
  CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  const CUmemAccessDesc none = access(0);
  CHECK(f.cu.mem_pool_set_access(imported, &none, 1) == CUDA_ERROR_INVALID_DEVICE);

  CHECK(f.cu.mem_free(there) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free_async(there, stream) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_pool_destroy(imported) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_dtoh(host, second, 16) == CUDA_SUCCESS);
  for (const CUdeviceptr each : {first, second, plain})
    CHECK(f.cu.mem_free_async(each, stream) == CUDA_SUCCESS);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);

  REQUIRE(f.cu.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  CHECK(export_to(&file, shared) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

}  // namespace cpu_virtual_memory_test
