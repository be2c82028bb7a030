#include <gpu/memory/multicast_object.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/memory/physical_memory.hpp>
#include <gpu/memory/virtual_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// No test makes a multicast object on a GPU: machines with switches may be shared by many programs.

namespace multicast_object_test {

using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<gpu::multicast_object>);
static_assert(std::is_nothrow_move_constructible_v<gpu::multicast_object>);

namespace {

constexpr std::size_t unit = std::size_t{2} << 20;
constexpr CUmemGenericAllocationHandle object_handle = 0xabc0;

/// The calls that reached the driver of `switched`, each as a line.
std::vector<std::string> lines;
/// The number of the call among them that fails, from 1; 0: none.
std::size_t failing = 0;

template <class... Numbers> CUresult note(const char* call, Numbers... numbers) {
  std::string line = call;
  ((line += ' ' + std::to_string(numbers)), ...);
  lines.push_back(line);
  return lines.size() == failing ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

/// The driver in force, as on devices with a switch: objects of multicast are noted, not made.
class switched {
 public:
  switched() : table_{prepare()}, in_force_{table_} {}

 private:
  static gpu::driver::entry_points prepare() {
    lines.clear();
    gpu::driver::entry_points table = gpu::driver::current_entry_points();
    static decltype(table.device_get_attribute) attribute;
    static decltype(table.mem_release) release;
    attribute = table.device_get_attribute;
    release = table.mem_release;
    table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice on) {
      const CUresult code = attribute(value, which, on);
      if (which == CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED) *value = 1;
      return code;
    };
    table.multicast_get_granularity = [](std::size_t* found, const CUmulticastObjectProp* of,
                                         CUmulticastGranularity_flags which) {
      *found = which == CU_MULTICAST_GRANULARITY_RECOMMENDED ? 8 * unit : unit;
      return note("granularity", of->numDevices, of->size);
    };
    table.multicast_create = [](CUmemGenericAllocationHandle* made,
                                const CUmulticastObjectProp* of) {
      *made = object_handle;
      return note("create", of->numDevices, of->size, of->handleTypes, of->flags);
    };
    table.multicast_add_device = [](CUmemGenericAllocationHandle to, CUdevice added) {
      return note("add", to, added);
    };
    table.multicast_bind_mem = [](CUmemGenericAllocationHandle to, std::size_t offset,
                                  CUmemGenericAllocationHandle, std::size_t from, std::size_t bytes,
                                  unsigned long long flags) {
      return note("bind", to, offset, from, bytes, flags);
    };
    table.multicast_bind_addr = [](CUmemGenericAllocationHandle to, std::size_t offset,
                                   CUdeviceptr address, std::size_t bytes,
                                   unsigned long long flags) {
      return note("bind address", to, offset, address, bytes, flags);
    };
    table.multicast_unbind = [](CUmemGenericAllocationHandle from, CUdevice of, std::size_t offset,
                                std::size_t bytes) {
      return note("unbind", from, of, offset, bytes);
    };
    table.mem_release = [](CUmemGenericAllocationHandle handle) {
      return handle == object_handle ? note("release", handle) : release(handle);
    };
    return table;
  }

  gpu::driver::entry_points table_;
  gpu::driver::scoped_entry_points in_force_;
};

std::string numbers(const char* call, std::initializer_list<std::uint64_t> all) {
  std::string line = call;
  for (const std::uint64_t each : all) line += ' ' + std::to_string(each);
  return line;
}

}  // namespace

TEST_CASE("multicast_object: a device that cannot multicast is refused with the reason",
          "[memory][multicast]") {
  const gpu::device device = test::first_device();
  int raw = 0;
  REQUIRE(test::driver().device_get_attribute(&raw, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED,
                                              device.native()) == CUDA_SUCCESS);
  CHECK(value_of(gpu::attribute<gpu::device_attribute::multicast_supported>(device)) == (raw != 0));
  if (raw != 0) return;
  const gpu::cuda_error error = error_of(gpu::multicast_object::create(device, 1, unit));
  CHECK(error == gpu::errc::not_supported);
  CHECK(says(error, "device 0 cannot take part in multicast", "NVLink switch", "use NCCL"));
  CHECK(error_of(gpu::multicast_granularity(device, 1, unit)) == gpu::errc::not_supported);
}

TEST_CASE("multicast_object: the driver gets what was asked for", "[memory][multicast][cpu]") {
  const test::own_cpu_driver driver({.devices = 2});
  const auto first = gpu::device::from_native(0), second = gpu::device::from_native(1);
  const auto memory = value_of(gpu::physical_memory::create(first, unit));
  const auto addresses = value_of(gpu::address_reservation::create(first, unit));
  const auto mapping = value_of(gpu::memory_mapping::create(addresses, 0, memory));
  const switched in_force;
  CHECK(value_of(gpu::multicast_granularity(first, 2, 4 * unit)) == unit);
  CHECK(value_of(gpu::multicast_granularity(first, 2, 4 * unit, gpu::granularity::recommended)) ==
        8 * unit);
  CHECK(error_of(gpu::multicast_granularity(first, 2, unit, static_cast<gpu::granularity>(7))) ==
        gpu::errc::invalid_argument);
  lines.clear();
  {
    auto object = value_of(gpu::multicast_object::create(first, 2, 4 * unit));
    CHECK(object.size_bytes() == 4 * unit);
    CHECK(object.granularity() == unit);
    CHECK(object.native() == object_handle);
    CHECK(object.memory().native() == object_handle);
    CHECK(lines == std::vector<std::string>{numbers("granularity", {2, 4 * unit}),
                                            numbers("create", {2, 4 * unit, 0, 0}),
                                            numbers("add", {object_handle, 0})});
    CHECK(
        says(error_of(object.bind(0, memory)), "1 devices of the team are missing", "add_device"));
    value_of(object.add_device(second));
    lines.clear();
    value_of(object.bind(unit, memory));
    value_of(object.bind(2 * unit, mapping.span<int>()));
    value_of(object.unbind(second, unit, unit));
    CHECK(lines == std::vector<std::string>{numbers("bind", {object_handle, unit, 0, unit, 0}),
                                            numbers("bind address", {object_handle, 2 * unit,
                                                                     mapping.native(), unit, 0}),
                                            numbers("unbind", {object_handle, 1, unit, unit})});

    lines.clear();
    CHECK(says(error_of(object.bind(4 * unit, memory)), "past the end", "multicast object"));
    CHECK(error_of(object.bind(4 * unit, memory)) == gpu::errc::index_out_of_range);
    CHECK(says(error_of(object.bind(5, memory)), "an offset of 5 bytes", "granularity"));
    CHECK(says(error_of(object.unbind(first, 0, 7)), "memory to bind of 7 bytes"));
    CHECK(error_of(object.bind(0, gpu::physical_memory())) == gpu::errc::empty_handle);
    CHECK(lines.empty());

    gpu::multicast_object moved = std::move(object);
    CHECK_FALSE(object);
    CHECK(error_of(object.add_device(first)) == gpu::errc::empty_handle);
    CHECK(error_of(object.bind(0, memory)) == gpu::errc::empty_handle);
    CHECK(moved.native() == object_handle);
  }
  CHECK(lines == std::vector<std::string>{numbers("release", {object_handle})});
}

TEST_CASE("multicast_object: sizes and teams that cannot be are refused",
          "[memory][multicast][cpu]") {
  const test::own_cpu_driver driver({.devices = 2});
  const auto first = gpu::device::from_native(0);
  const switched in_force;
  CHECK(says(error_of(gpu::multicast_object::create(first, 3, unit)), "team of 3 devices",
             "there are 2"));
  CHECK(says(error_of(gpu::multicast_object::create(first, 0, unit)), "team of 0 devices"));
  CHECK(says(error_of(gpu::multicast_object::create(first, 2, unit + 1)), "a multicast object of",
             "granularity"));
  CHECK(error_of(gpu::multicast_object::create(
            first, 2, unit, {.handle_types = static_cast<gpu::shareable_handle_types>(64)})) ==
        gpu::errc::invalid_argument);
  CHECK(says(error_of(gpu::multicast_object::create(gpu::device::from_native(9), 2, unit)),
             "cuDeviceGetAttribute"));

  // Devices of other processes are theirs to add.
  const auto shared = value_of(gpu::multicast_object::create(
      first, 2, unit, {.handle_types = gpu::shareable_handle_types::posix_file_descriptor}));
  const auto memory = value_of(gpu::physical_memory::create(first, unit));
  CHECK(shared.bind(0, memory).has_value());
  CHECK(lines[lines.size() - 3] == numbers("create", {2, unit, 1, 0}));
  auto opened =
      gpu::multicast_object::adopt(gpu::physical_memory::adopt(object_handle, unit), unit);
  CHECK(opened.add_device(gpu::device::from_native(1)).has_value());
  CHECK(opened.bind(0, memory).has_value());
}

TEST_CASE("multicast_object: every operation fails with each of its calls, and leaves nothing",
          "[memory][multicast][cpu]") {
  const test::own_cpu_driver driver({.devices = 2});
  const auto first = gpu::device::from_native(0);
  const auto memory = value_of(gpu::physical_memory::create(first, unit));
  const auto all = [&]() -> gpu::result<> {
    static_cast<void>(GPU_TRY(gpu::multicast_granularity(first, 2, unit)));
    auto object = GPU_TRY(gpu::multicast_object::create(first, 2, unit));
    GPU_TRY(object.add_device(gpu::device::from_native(1)));
    GPU_TRY(object.bind(0, memory));
    return object.unbind(first, 0, unit);
  };
  for (failing = 1; failing <= 7; ++failing) {
    CAPTURE(failing);
    const switched in_force;
    CHECK(error_of(all()).code() == CUDA_ERROR_NOT_PERMITTED);
    // The call that makes the object is the third; what was made is released.
    CHECK((lines.back() == numbers("release", {object_handle})) == (failing > 3));
    CHECK(lines.size() == failing + (failing > 3 ? 1 : 0));
  }
  failing = 0;
  const switched in_force;
  CHECK(all().has_value());
  CHECK(lines.size() == 8);
}

TEST_CASE("multicast_object: the CPU driver has none", "[memory][multicast][cpu]") {
  const gpu::driver::entry_points& cu = test::driver();
  CUmulticastObjectProp wanted{};
  std::size_t found = 0;
  CUmemGenericAllocationHandle object = 0;
  CHECK(cu.multicast_create(&object, &wanted) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(cu.multicast_add_device(object, 0) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(cu.multicast_bind_mem(object, 0, 0, 0, 0, 0) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(cu.multicast_bind_addr(object, 0, 0, 0, 0) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(cu.multicast_unbind(object, 0, 0, 0) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(cu.multicast_get_granularity(&found, &wanted, CU_MULTICAST_GRANULARITY_MINIMUM) ==
        CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace multicast_object_test
