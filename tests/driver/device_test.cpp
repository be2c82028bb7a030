#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <cstdint>
#include <cstring>
#include <string>

namespace device_test {

using test::error_of;
using test::says;
using test::value_of;

TEST_CASE("device: the count is the driver's", "[driver][device]") {
  int expected = 0;
  REQUIRE(test::driver().device_get_count(&expected) == CUDA_SUCCESS);
  CHECK(value_of(gpu::device::count()) == expected);
  CHECK(expected >= 1);
  for (int index = 0; index < expected; ++index) {
    CUdevice native = -1;
    REQUIRE(test::driver().device_get(&native, index) == CUDA_SUCCESS);
    CHECK(value_of(gpu::device::get(index)).native() == native);
  }
}

TEST_CASE("device: an index outside the range names the index and the count", "[driver][device]") {
  const int count = value_of(gpu::device::count());
  for (const int index : {count, count + 7, -1}) {
    const gpu::cuda_error error = error_of(gpu::device::get(index));
    CHECK(error == gpu::errc::index_out_of_range);
    CHECK(error.limit() == static_cast<std::uint64_t>(count));
    CHECK(says(error, std::to_string(index).c_str(), std::to_string(count).c_str(),
               "gpu::device::count()", "device_test.cpp"));
  }
}

TEST_CASE("device: what it tells is what the driver tells", "[driver][device]") {
  // The last one: that it is the first goes without saying.
  const int index = test::device_count() - 1;
  const gpu::device device = value_of(gpu::device::get(index));
  const gpu::driver::entry_points& raw = test::driver();
  CUdevice native = -1;
  REQUIRE(raw.device_get(&native, index) == CUDA_SUCCESS);
  CHECK(device.native() == native);

  char name[256] = {};
  REQUIRE(raw.device_get_name(name, sizeof name, native) == CUDA_SUCCESS);
  CHECK(value_of(device.name()) == name);

  std::size_t bytes = 0;
  REQUIRE(raw.device_total_mem(&bytes, native) == CUDA_SUCCESS);
  CHECK(value_of(device.total_memory()) == bytes);

  int major = 0, minor = 0;
  raw.device_get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, native);
  raw.device_get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, native);
  const gpu::compute_capability capability = value_of(device.compute_capability());
  CHECK(capability.major == major);
  CHECK(capability.minor == minor);
  CHECK(capability.sm() == major * 10 + minor);

  CUuuid uuid{};
  REQUIRE(raw.device_get_uuid(&uuid, native) == CUDA_SUCCESS);
  CHECK(std::memcmp(value_of(device.uuid()).bytes, uuid.bytes, 16) == 0);

  char bus[32] = {};
  REQUIRE(raw.device_get_pci_bus_id(bus, sizeof bus, native) == CUDA_SUCCESS);
  CHECK(value_of(device.pci_bus_id()) == bus);
  CHECK(value_of(gpu::device::from_pci_bus_id(bus)) == device);
  CHECK(gpu::device::from_native(native) == device);
  CHECK(gpu::device::from_native(native + 1) != device);
}

TEST_CASE("device: a compute capability has a minor number", "[driver][device]") {
  const gpu::device device = test::first_device();
  gpu::driver::entry_points table = test::driver();
  table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice) {
    *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 8
             : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 6
                                                                     : 0;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  CHECK(value_of(device.compute_capability()) == gpu::compute_capability{8, 6});
}

TEST_CASE("device: the launch limits are its attributes", "[driver][device]") {
  const gpu::device device = test::first_device();
  const gpu::device_limits limits = value_of(device.limits());
  const auto raw = [&](CUdevice_attribute which) {
    int value = -1;
    test::driver().device_get_attribute(&value, which, device.native());
    return static_cast<std::uint32_t>(value);
  };
  CHECK(limits.threads_per_block == raw(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  CHECK(limits.block.x == raw(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X));
  CHECK(limits.block.y == raw(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y));
  CHECK(limits.block.z == raw(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z));
  CHECK(limits.grid.x == raw(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X));
  CHECK(limits.grid.y == raw(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y));
  CHECK(limits.grid.z == raw(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z));
  CHECK(limits.shared_memory_per_block == raw(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  CHECK(limits.shared_memory_opt_in == raw(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  CHECK(limits.multiprocessors == raw(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  CHECK(limits.warp_size == raw(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  CHECK(limits.memory_pools == (raw(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0));
  CHECK(limits.cooperative_launch == (raw(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0));
}

TEST_CASE("device: free memory shrinks by what is allocated", "[driver][device][cpu]") {
  test::own_cpu_driver driver({.memory_per_device = std::size_t{64} << 20});
  const gpu::device device = test::first_device();
  const gpu::memory_info before = value_of(device.memory_info());
  CHECK(before.total == std::size_t{64} << 20);
  const gpu::context_scope scope =
      value_of(gpu::context_scope::enter(value_of(gpu::context::primary(device))));
  CUdeviceptr address = 0;
  REQUIRE(driver.table().mem_alloc(&address, std::size_t{8} << 20) == CUDA_SUCCESS);
  CHECK(value_of(device.memory_info()).free <= before.free - (std::size_t{8} << 20));
  driver.table().mem_free(address);
}

TEST_CASE("device: a compute capability is ordered", "[driver][device]") {
  constexpr gpu::compute_capability hopper{9, 0}, ada{8, 9}, ampere{8, 0};
  STATIC_REQUIRE(ada < hopper);
  STATIC_REQUIRE(ampere < ada);
  STATIC_REQUIRE(hopper >= ada);
  STATIC_REQUIRE(hopper > ampere);
  STATIC_REQUIRE(ada <= ada);
  STATIC_REQUIRE(ada == gpu::compute_capability{8, 9});
  STATIC_REQUIRE(ada.sm() == 89);
}

TEST_CASE("device: the driver's refusal comes through", "[driver][device]") {
  const gpu::cuda_error error = error_of(gpu::device::from_native(4711).name());
  CHECK(error.domain() == gpu::error_domain::driver);
  CHECK(error.code() == CUDA_ERROR_INVALID_DEVICE);
  CHECK(std::strcmp(error.call(), "cuDeviceGetName") == 0);
}

TEST_CASE("device: a place on the bus where no device is", "[driver][device]") {
  for (const char* nowhere : {"no such bus", "", "ffff:ff:1f.7"}) {
    const gpu::cuda_error error = error_of(gpu::device::from_pci_bus_id(nowhere));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error, "gpu::device::from_pci_bus_id",
               ("no device is at \"" + std::string(nowhere) + "\"").c_str(), "0000:3b:00.0"));
  }
  const gpu::cuda_error null = error_of(gpu::device::from_pci_bus_id(nullptr));
  CHECK(null == gpu::errc::invalid_argument);
  CHECK(says(null, "the id is null", "0000:3b:00.0"));
}

TEST_CASE("device: what is made on a device that does not exist says which, and how many there are",
          "[driver][device]") {
  const int count = test::device_count();
  for (const int index : {count, 77, 4711, -3}) {
    const gpu::device none = gpu::device::from_native(index);
    for (const gpu::cuda_error& error :
         {error_of(gpu::stream::create(none)), error_of(gpu::event::create(none)),
          error_of(gpu::device_buffer<int>::create(none, 1)), error_of(gpu::context::primary(none)),
          error_of(gpu::context::create(none)), error_of(none.memory_info()),
          error_of(none.synchronize())}) {
      CHECK(error == gpu::errc::index_out_of_range);
      CHECK(error.asked() == static_cast<std::uint64_t>(std::int64_t{index}));
      CHECK(error.limit() == static_cast<std::uint64_t>(count));
      CHECK(says(error, ("device index " + std::to_string(index) + " is not below").c_str(),
                 ("devices, " + std::to_string(count)).c_str(), "gpu::device::count()"));
    }
  }
}

TEST_CASE("device: a refusal that is not about the index stays as the driver said it",
          "[driver][device]") {
  gpu::driver::entry_points odd = test::driver();
  odd.ctx_create = [](CUcontext*, CUctxCreateParams*, unsigned, CUdevice) {
    return CUDA_ERROR_INVALID_DEVICE;
  };
  gpu::driver::scoped_entry_points in_force(odd);
  const gpu::cuda_error existing = error_of(gpu::context::create(test::first_device()));
  CHECK(existing.domain() == gpu::error_domain::driver);
  CHECK(existing.code() == CUDA_ERROR_INVALID_DEVICE);
  odd.device_get_count = [](int*) { return CUDA_ERROR_UNKNOWN; };
  const gpu::cuda_error uncounted = error_of(gpu::context::create(gpu::device::from_native(4711)));
  CHECK(uncounted.code() == CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("device: each driver call may fail", "[driver][device][faults][cpu]") {
  CHECK(test::sweep([] { return gpu::device::count(); }) == "");
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              GPU_TRY(device.name());
              GPU_TRY(device.total_memory());
              GPU_TRY(device.memory_info());
              GPU_TRY(device.synchronize());
              GPU_TRY(device.compute_capability());
              GPU_TRY(device.limits());
              GPU_TRY(device.uuid());
              const gpu::text bus = GPU_TRY(device.pci_bus_id());
              GPU_TRY(gpu::device::from_pci_bus_id(bus.c_str()));
              return {};
            },
            {"cuCtxGetDevice"}) == "");
}

TEST_CASE("device: without a driver everything says so", "[driver][device]") {
  gpu::driver::entry_points none{};
  none.unavailable = gpu::errc::no_driver;
  none.unavailable_detail = "libcuda.so.1: no such file";
  gpu::driver::scoped_entry_points in_force(none);
  const gpu::cuda_error error = error_of(gpu::device::count());
  CHECK(error == gpu::errc::no_driver);
  CHECK(says(error, "libcuda.so.1: no such file", "Install the NVIDIA driver", "cpu_driver.hpp"));
  CHECK(error_of(gpu::device::get(0)) == gpu::errc::no_driver);
  CHECK(error_of(gpu::context::primary(gpu::device::from_native(0))) == gpu::errc::no_driver);
}

TEST_CASE("device: a driver too old and a missing function are other errors", "[driver][device]") {
  gpu::driver::entry_points old{};
  old.unavailable = gpu::errc::driver_too_old;
  old.unavailable_detail = "this driver supports CUDA 11.4";
  {
    gpu::driver::scoped_entry_points in_force(old);
    const gpu::cuda_error error = error_of(gpu::device::count());
    CHECK(error == gpu::errc::driver_too_old);
    CHECK(says(error, "12.0", "CUDA 11.4", "Update the NVIDIA driver"));
  }
  gpu::driver::entry_points exiting{};
  exiting.unavailable = gpu::errc::process_exiting;
  {
    gpu::driver::scoped_entry_points in_force(exiting);
    const gpu::cuda_error error = error_of(gpu::device::count());
    CHECK(error == gpu::errc::process_exiting);
    CHECK(says(error, "process exit has begun", "before main returns"));
  }
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  gpu::driver::entry_points lacking = test::driver();
  lacking.device_get_uuid = nullptr;
  lacking.stream_query = nullptr;
  gpu::driver::scoped_entry_points in_force(lacking);
  const gpu::device device = test::first_device();
  const gpu::cuda_error error = error_of(device.uuid());
  CHECK(error == gpu::errc::not_supported);
  CHECK(says(error, "cuDeviceGetUuid", "CUDA 11.4"));
  CHECK(error.asked() == 11040);
  CHECK(device.name().has_value());
  CHECK(error_of(stream.is_done()) == gpu::errc::not_supported);
}

}  // namespace device_test
