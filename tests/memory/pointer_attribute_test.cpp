#include <gpu/memory/pointer_attribute.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/peer_access.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/memory_access.hpp>
#include <gpu/memory/pinned_vector.hpp>

#include <strings.h>

#include <string>
#include <type_traits>

namespace pointer_attribute_test {

using gpu::memory_type;
using gpu::pointer_attribute;
using gpu::pointer_info;
using test::error_of;
using test::value_of;

static_assert(std::is_same_v<gpu::pointer_attribute_t<pointer_attribute::is_managed>, bool>);
static_assert(
    std::is_same_v<gpu::pointer_attribute_t<pointer_attribute::memory_type>, memory_type>);
static_assert(
    std::is_same_v<gpu::pointer_attribute_t<pointer_attribute::access_flags>, gpu::memory_access>);

TEST_CASE("pointer attributes: every value of the headers has a name", "[memory][pointer]") {
  for (int value = 1; value <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE; ++value) {
    INFO(value);
    CHECK(gpu::name_of(pointer_attribute{value}) != nullptr);
  }
#define GPU_POINTER_ATTRIBUTE(name, native, ...) \
  CHECK(::strcasecmp(gpu::name_of(pointer_attribute{CU_POINTER_ATTRIBUTE_##native}), #native) == 0);
#include <gpu/memory/detail/pointer_attribute.inc>
  CHECK(gpu::name_of(pointer_attribute{0}) == nullptr);
  const char* types[] = {"unregistered", "host", "device", "array", "unified"};
  for (unsigned value = 0; value <= CU_MEMORYTYPE_UNIFIED; ++value)
    CHECK(gpu::name_of(memory_type{value}) == std::string(types[value]));
  CHECK(gpu::name_of(memory_type{9}) == nullptr);
  CHECK(gpu::name_of(gpu::memory_access{CU_MEM_ACCESS_FLAGS_PROT_READWRITE}) ==
        std::string("read_write"));
  CHECK(gpu::name_of(gpu::memory_access{CU_MEM_ACCESS_FLAGS_PROT_READ}) == std::string("read"));
  CHECK(gpu::name_of(gpu::memory_access{CU_MEM_ACCESS_FLAGS_PROT_NONE}) == std::string("none"));
  CHECK(gpu::name_of(gpu::memory_access{2}) == nullptr);
}

TEST_CASE("pointer attributes: of device memory, from anywhere in it", "[memory][pointer]") {
  const gpu::device device = test::first_device();
  auto buffer = value_of(gpu::device_buffer<int>::create(device, 100));
  const int* inside = buffer.data() + 7;
  CHECK(value_of(gpu::attribute<pointer_attribute::context>(inside)) == buffer.context().native());
  CHECK(value_of(gpu::attribute<pointer_attribute::memory_type>(inside)) == memory_type::device);
  CHECK(value_of(gpu::attribute<pointer_attribute::device_pointer>(inside)) ==
        buffer.native() + 28);
  CHECK(!value_of(gpu::attribute<pointer_attribute::is_managed>(inside)));
  CHECK(value_of(gpu::attribute<pointer_attribute::device_ordinal>(inside)) == device.native());
  CHECK(value_of(gpu::attribute<pointer_attribute::range_start_addr>(inside)) == buffer.native());
  CHECK(value_of(gpu::attribute<pointer_attribute::range_size>(inside)) == 400);
  CHECK(value_of(gpu::attribute<pointer_attribute::mapped>(inside)));
  CHECK(value_of(gpu::attribute<pointer_attribute::access_flags>(inside)) ==
        gpu::memory_access::read_write);
  CHECK(value_of(gpu::attribute<pointer_attribute::mempool_handle>(inside)) == nullptr);
  CHECK(value_of(gpu::attribute<pointer_attribute::mapping_size>(inside)) >= 400);
  CHECK(value_of(gpu::attribute<pointer_attribute::buffer_id>(inside)) != 0);
  CHECK(error_of(gpu::attribute<pointer_attribute::host_pointer>(inside)).code() ==
        CUDA_ERROR_INVALID_VALUE);
  REQUIRE(gpu::set_sync_memops(inside, true).has_value());
  CHECK(value_of(gpu::attribute<pointer_attribute::sync_memops>(inside)));
  REQUIRE(gpu::set_sync_memops(inside, false).has_value());
  CHECK(!value_of(gpu::attribute<pointer_attribute::sync_memops>(inside)));
}

TEST_CASE("pointer_info: tells the kinds of memory apart", "[memory][pointer]") {
  const gpu::device device = test::first_device();
  // The last one: that it is the first goes without saying.
  const gpu::device last = value_of(gpu::device::get(test::device_count() - 1));
  const gpu::context_ref primary = value_of(gpu::context::primary(last));
  const gpu::context_scope scope = value_of(gpu::context_scope::enter(primary));
  auto plain = value_of(gpu::device_buffer<int>::create(last, 100));
  auto managed = value_of(gpu::managed_buffer<int>::create(device, 100));
  auto pinned = value_of(gpu::pinned_vector<int>::create(device, 100));
  const int local = 0;

  const pointer_info on_device = value_of(pointer_info::of(plain.data() + 1));
  CHECK(on_device.type == memory_type::device);
  CHECK(!on_device.is_managed);
  CHECK(on_device.device == last);
  CHECK(value_of(gpu::attribute<pointer_attribute::device_ordinal>(plain.data())) == last.native());
  CHECK(on_device.device_pointer == plain.native() + 4);
  CHECK(on_device.host_pointer == nullptr);
  CHECK(on_device.range_start == plain.native());
  CHECK(on_device.range_bytes == 400);
  CHECK(on_device.buffer_id != 0);

  const pointer_info both = value_of(pointer_info::of(managed.data()));
  CHECK(both.is_managed);
  CHECK(both.device_pointer == managed.native());
  CHECK(both.host_pointer == managed.data());

  const pointer_info on_host = value_of(pointer_info::of(pinned.data()));
  CHECK(on_host.type == memory_type::host);
  CHECK(!on_host.is_managed);
  CHECK(on_host.host_pointer == pinned.data());
  CHECK(value_of(gpu::attribute<pointer_attribute::host_pointer>(pinned.data() + 1)) ==
        pinned.data() + 1);

  const pointer_info unknown = value_of(pointer_info::of(&local));
  CHECK(unknown.type == memory_type::unregistered);
  CHECK(unknown.device_pointer == 0);
  // A device that can reach pageable memory tells the address as it was given.
  CHECK((unknown.host_pointer == nullptr || unknown.host_pointer == &local));
  CHECK(error_of(gpu::attribute<pointer_attribute::memory_type>(&local)).code() ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(value_of(pointer_info::of(nullptr)).type == memory_type::unregistered);
}

TEST_CASE("pointer_info: memory of another device has an address while it can be reached",
          "[memory][pointer][peer][two_devices]") {
  const gpu::device here = test::first_device();
  const gpu::device there = value_of(gpu::device::get(1));
  const auto buffer = value_of(gpu::device_buffer<int>::create(there, 100));
  const gpu::context_ref primary = value_of(gpu::context::primary(here));
  const gpu::context_scope scope = value_of(gpu::context_scope::enter(primary));
  const pointer_info apart = value_of(pointer_info::of(buffer.data()));
  CHECK(apart.device_pointer == 0);
  CHECK(apart.type == memory_type::device);
  CHECK(apart.device == there);
  CHECK(apart.range_start == buffer.native());
  if (!value_of(gpu::can_access_peer(here, there))) return;
  {
    const auto access = value_of(gpu::peer_access::enable(here, there));
    CHECK(value_of(pointer_info::of(buffer.data())).device_pointer == buffer.native());
  }
  CHECK(value_of(pointer_info::of(buffer.data())).device_pointer == 0);
}

TEST_CASE("pointer attributes: survive every failing call", "[memory][pointer][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              auto buffer = GPU_TRY(gpu::device_buffer<int>::create(device, 100));
              GPU_TRY(gpu::attribute<pointer_attribute::is_managed>(buffer.data()));
              GPU_TRY(pointer_info::of(buffer.data()));
              return gpu::set_sync_memops(buffer.data(), true);
            },
            {"cuCtxGetCurrent"}) == "");
}

}  // namespace pointer_attribute_test
