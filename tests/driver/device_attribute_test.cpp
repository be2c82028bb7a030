#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/driver/device_properties.hpp>
#include <gpu/driver/entry_points.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <strings.h>

#include <set>
#include <string>
#include <type_traits>

namespace device_attribute_test {

using test::error_of;
using test::value_of;

TEST_CASE("device attributes: the list has every one of the driver's, once", "[driver][device]") {
  std::set<int> seen;
  for (const gpu::device_attribute_info& info : gpu::device_attribute_list) {
    const int value = static_cast<int>(info.attribute);
    CHECK(value > 0);
    CHECK(value < CU_DEVICE_ATTRIBUTE_MAX);
    CHECK(seen.insert(value).second);
  }
  // 13.0 has no gap between 1 and the end marker; newer headers may add to it.
  for (int value = 1; value <= 147; ++value) {
    INFO(value);
    CHECK(seen.count(value) == 1);
  }
}

TEST_CASE("device attributes: their names are CUDA's in small letters", "[driver][device]") {
  const auto name = [](CUdevice_attribute native) {
    return std::string(gpu::name_of(static_cast<gpu::device_attribute>(native)));
  };
  CHECK(name(CU_DEVICE_ATTRIBUTE_WARP_SIZE) == "warp_size");
  CHECK(name(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) == "max_shared_memory_per_block");
  CHECK(name(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS) ==
        "maximum_surfacecubemap_layered_layers");
  CHECK(name(CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED) == "host_alloc_dma_buf_supported");
  CHECK(gpu::name_of(gpu::device_attribute{0}) == nullptr);
  CHECK(gpu::name_of(static_cast<gpu::device_attribute>(CU_DEVICE_ATTRIBUTE_MAX)) == nullptr);
}

TEST_CASE("device attributes: each has the driver's value", "[driver][device]") {
  const gpu::device device = test::first_device();
  const auto raw = [&](CUdevice_attribute which) {
    int value = -1;
    REQUIRE(test::driver().device_get_attribute(&value, which, device.native()) == CUDA_SUCCESS);
    return value;
  };
  using attribute = gpu::device_attribute;
  const int warp = value_of(gpu::attribute<attribute::warp_size>(device));
  CHECK(warp == raw(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  CHECK(warp == 32);
  CHECK(value_of(gpu::attribute(device, attribute::warp_size)) == warp);
  CHECK(value_of(gpu::attribute(device, attribute::max_pitch)) ==
        raw(CU_DEVICE_ATTRIBUTE_MAX_PITCH));
  // What has no enumerator is the driver's to judge: a newer one knows more.
  for (const int unknown : {0, 255}) {
    CHECK(error_of(gpu::attribute(device, static_cast<gpu::device_attribute>(unknown))).code() ==
          CUDA_ERROR_INVALID_VALUE);
  }
  const bool pools = value_of(gpu::attribute<attribute::memory_pools_supported>(device));
  CHECK(pools == (raw(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0));
  const gpu::compute_mode mode = value_of(gpu::attribute<attribute::compute_mode>(device));
  CHECK(static_cast<int>(mode) == raw(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE));
  // All of them, each in its own type, and CUDA's by name.
  const CUdevice ordinal = device.native();
#define GPU_DEVICE_ATTRIBUTE(name, native, ...)                                             \
  {                                                                                         \
    CHECK(::strcasecmp(#name, #native) == 0);                                               \
    int value = 0;                                                                          \
    const CUresult code =                                                                   \
        test::driver().device_get_attribute(&value, CU_DEVICE_ATTRIBUTE_##native, ordinal); \
    const gpu::result<__VA_ARGS__> answer = gpu::attribute<attribute::name>(device);        \
    CHECK(answer.has_value() == (code == CUDA_SUCCESS)); /* an older driver knows less */   \
    if (answer.has_value()) CHECK(static_cast<int>(*answer) == value);                      \
  }
#include <gpu/driver/detail/device_attribute.inc>
}

TEST_CASE("device attributes: their types follow from the attribute", "[driver][device]") {
  using attribute = gpu::device_attribute;
  STATIC_REQUIRE(std::is_same_v<gpu::device_attribute_t<attribute::warp_size>, int>);
  STATIC_REQUIRE(std::is_same_v<gpu::device_attribute_t<attribute::integrated>, bool>);
  STATIC_REQUIRE(
      std::is_same_v<gpu::device_attribute_t<attribute::compute_mode>, gpu::compute_mode>);
  STATIC_REQUIRE(std::is_same_v<gpu::device_attribute_t<attribute::mempool_supported_handle_types>,
                                gpu::shareable_handle_types>);
  // Every ability of the H200 answers 0 or 1, and so does every other device's.
  STATIC_REQUIRE(static_cast<int>(gpu::compute_mode::default_) == CU_COMPUTEMODE_DEFAULT);
  STATIC_REQUIRE(static_cast<int>(gpu::compute_mode::prohibited) == CU_COMPUTEMODE_PROHIBITED);
  STATIC_REQUIRE(static_cast<int>(gpu::compute_mode::exclusive_process) == 3);
  STATIC_REQUIRE(static_cast<int>(gpu::rdma_writes_ordering::all_devices) == 200);
}

TEST_CASE("device properties: each member is the attribute of its name", "[driver][device]") {
  const gpu::device device = test::first_device();
  const gpu::device_properties properties = value_of(device.properties());
  const auto compare = [&](const char* name, CUdevice_attribute which, int member) {
    int value = 0;
    INFO(name);
    const CUresult code = test::driver().device_get_attribute(&value, which, device.native());
    // A driver that is older than the headers does not know all.
    if (code != CUDA_SUCCESS) {
      CHECK(code == CUDA_ERROR_INVALID_VALUE);
      CHECK(member == 0);
    } else {
      CHECK(member == value);
    }
  };
#define GPU_DEVICE_ATTRIBUTE(name, native, ...) \
  compare(#name, CU_DEVICE_ATTRIBUTE_##native, static_cast<int>(properties.name));
#include <gpu/driver/detail/device_attribute.inc>
  CHECK(properties.name == value_of(device.name()));
  CHECK(properties.uuid == value_of(device.uuid()));
  CHECK(properties.pci_address == value_of(device.pci_bus_id()));
  CHECK(properties.total_memory == value_of(device.total_memory()));
  CHECK(properties.compute_capability_major * 10 + properties.compute_capability_minor ==
        value_of(device.compute_capability()).sm());
}

TEST_CASE("device properties: what the driver is too old to know stays 0", "[driver][device]") {
  const gpu::device device = test::first_device();
  const gpu::device_properties all = value_of(device.properties());
  static CUresult answer;
  static gpu::driver::entry_points real;
  real = test::driver();
  gpu::driver::entry_points older = real;
  older.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice of) {
    if (which == CU_DEVICE_ATTRIBUTE_WARP_SIZE) return answer;
    return real.device_get_attribute(value, which, of);
  };
  const gpu::driver::scoped_entry_points in_force(older);
  answer = CUDA_ERROR_INVALID_VALUE;
  const gpu::device_properties known = value_of(device.properties());
  CHECK(known.warp_size == 0);
  CHECK(known.max_threads_per_block == all.max_threads_per_block);
  CHECK(known.multiprocessor_count == all.multiprocessor_count);
  answer = CUDA_ERROR_INVALID_DEVICE;
  CHECK(error_of(device.properties()).code() == CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("device properties: every attribute that fails is told", "[driver][device]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const int warp = GPU_TRY(gpu::attribute<gpu::device_attribute::warp_size>(device));
          if (warp != 32) FAIL("no warp");
          GPU_TRY(gpu::attribute(device, gpu::device_attribute::warp_size));
          GPU_TRY(device.properties());
          return {};
        }) == "");
}

}  // namespace device_attribute_test
