// The capacities of a device, and what alignment follows from them.

#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_data.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <bit>
#include <cstddef>

namespace device_data_test {

using test::value_of;

TEST_CASE("device_data: the figures are the driver's", "[driver][device]") {
  const gpu::device device = test::first_device();
  const gpu::device_data data = value_of(gpu::device_data::of(device));
  const auto raw = [&](CUdevice_attribute which) {
    int value = 0;
    REQUIRE(test::driver().device_get_attribute(&value, which, device.native()) == CUDA_SUCCESS);
    return value;
  };
  const auto bytes = [&](CUdevice_attribute which) { return static_cast<std::size_t>(raw(which)); };
  CHECK(data.threads_per_block == bytes(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  CHECK(data.warp_size == bytes(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  CHECK(data.warps_per_multiprocessor * raw(CU_DEVICE_ATTRIBUTE_WARP_SIZE) ==
        raw(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR));
  CHECK(data.blocks_per_multiprocessor == raw(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR));
  CHECK(data.registers_per_block == raw(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK));
  CHECK(data.registers_per_multiprocessor ==
        raw(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR));
  CHECK(data.shared_memory_per_block == bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  CHECK(data.shared_memory_per_multiprocessor ==
        bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  CHECK(data.reserved_shared_memory == bytes(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
}

TEST_CASE("device_data: the units of the hardware are constants", "[driver][device]") {
  STATIC_REQUIRE(gpu::device_data::shared_memory_access_threads == 32);
  STATIC_REQUIRE(gpu::device_data::shared_memory_unit == 128);
  STATIC_REQUIRE(gpu::device_data::register_unit == 256);  // of a warp: 8 a thread
  STATIC_REQUIRE(gpu::device_data::cache_line == 4 * gpu::device_data::cache_sector);
}

TEST_CASE("device_data: warps that read in order begin at an alignment", "[driver][device]") {
  gpu::device_data data;
  data.warp_size = 32;
  CHECK(data.align_bytes() == 128);
  CHECK(data.align_bytes(1) == 32);
  CHECK(data.align_bytes(2) == 64);
  CHECK(data.align_bytes(4) == 128);
  CHECK(data.align_bytes(16) == 128);  // four lines a warp, each whole

  CHECK(data.align(0) == 0);
  CHECK(data.align(1) == 128);
  CHECK(data.align(128) == 128);
  CHECK(data.align(129) == 256);
  CHECK(data.align(33, 1) == 64);

  CHECK(data.align_words(4) == 32);
  CHECK(data.align_words(8) == 16);
  CHECK(data.align_words(256) == 1);
  CHECK(data.align_words(0) == 1);

  CHECK(data.align_elements(100, 4) == 128);
  CHECK(data.align_elements(100, 8) == 112);
  CHECK(data.align_elements(64, 2) == 64);

  CHECK(data.coalesce(1) == 32);
  CHECK(data.coalesce(64) == 64);
  CHECK(data.coalesce(65) == 96);
  CHECK(gpu::device_data{}.coalesce(65) == 65);  // of no device
}

TEST_CASE("device_data: texels have 1, 2 or 4 channels", "[driver][device]") {
  constexpr int wanted[] = {0, 1, 2, 4, 4, 0};  // for 0 to 5
  for (int channels = 0; channels <= 5; ++channels)
    CHECK(gpu::device_data::texture_channels(channels) == wanted[channels]);
  CHECK(gpu::device_data::texture_channels(-1) == 0);
}

TEST_CASE("device_data: the base-2 logarithm is the standard library's", "[driver][device]") {
  const gpu::device_data data = value_of(gpu::device_data::of(test::first_device()));
  CHECK(std::bit_width(data.warp_size) - 1 == 5);
  CHECK(1u << (std::bit_width(data.threads_per_block) - 1) == data.threads_per_block);
}

TEST_CASE("device_data: each call that fails is told", "[driver][device]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          GPU_TRY(gpu::device_data::of(GPU_TRY(gpu::device::get(0))));
          return {};
        }) == "");
}

}  // namespace device_data_test
