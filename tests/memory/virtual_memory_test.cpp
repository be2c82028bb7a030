#include <gpu/memory/virtual_memory.hpp>

#include "support/descriptor_socket.hpp"
#include "support/drivers.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/memory/memory_access.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/physical_memory.hpp>

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace memory_virtual_memory_test {

using gpu::address_reservation;
using gpu::file_descriptor;
using gpu::memory_access;
using gpu::memory_location;
using gpu::memory_mapping;
using gpu::physical_memory;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<file_descriptor>);
static_assert(!std::is_copy_constructible_v<physical_memory>);
static_assert(!std::is_copy_constructible_v<address_reservation>);
static_assert(!std::is_copy_constructible_v<memory_mapping>);
static_assert(std::is_nothrow_move_constructible_v<memory_mapping>);
static_assert(std::is_nothrow_default_constructible_v<memory_mapping>);

namespace {

constexpr gpu::physical_memory_options shared{
    .handle_types = gpu::shareable_handle_types::posix_file_descriptor};

/// The answers of raw driver calls, as an oracle.
std::size_t driver_unit() {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  std::size_t unit = 0;
  REQUIRE(test::driver().mem_get_allocation_granularity(
              &unit, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS);
  return unit;
}

bool is_open(int file) { return ::fcntl(file, F_GETFD) >= 0; }

}  // namespace

TEST_CASE("virtual_memory: physical memory at reserved addresses", "[memory][virtual_memory]") {
  const gpu::device device = test::first_device();
  const std::size_t unit = driver_unit();
  CHECK(value_of(gpu::granularity_of(device)) == unit);
  CHECK(value_of(gpu::granularity_of(device, gpu::granularity::recommended)) % unit == 0);
  const auto addresses = value_of(address_reservation::create(device, 4 * unit));
  CHECK(addresses.size_bytes() == 4 * unit);
  CHECK(addresses.native() % unit == 0);
  CHECK(addresses.granularity() == unit);
  std::vector<int> back(3);
  {
    auto memory = value_of(physical_memory::create(device, unit));
    CHECK(memory.size_bytes() == unit);
    const auto first = value_of(memory_mapping::create(addresses, 0, memory));
    const auto second = value_of(memory_mapping::create(addresses, 2 * unit, memory));
    CHECK(second.native() == addresses.native() + 2 * unit);
    CHECK(value_of(first.access(device)) == memory_access::none);
    REQUIRE(first.set_access(device, memory_access::read_write).has_value());
    REQUIRE(second.set_access(device, memory_access::read).has_value());
    CHECK(value_of(first.access(device)) == memory_access::read_write);
    CHECK(value_of(second.access(device)) == memory_access::read);
    CHECK(first.span<int>().size() == unit / sizeof(int));
    CHECK(first.span<char[3]>().size() == unit / 3);
    REQUIRE(copy(std::vector<int>{7, 8, 9}, first.span<int>().first(3)).has_value());
    // One memory, two addresses; and it stays when its owner goes.
    memory = value_of(second.memory());
    CHECK(memory.size_bytes() == unit);
    {
      const auto third = value_of(memory_mapping::create(addresses, unit, memory));
      REQUIRE(third.set_access(device, memory_access::read).has_value());
      REQUIRE(copy(third.span<int>().first(3), back).has_value());
      CHECK(back == std::vector<int>{7, 8, 9});
    }
    memory = value_of(physical_memory::create(device, unit));
    REQUIRE(copy(second.span<int>().first(3), back).has_value());
    CHECK(back == std::vector<int>{7, 8, 9});
    CHECK(error_of(copy(back, second.span<int>().first(3))).code() == CUDA_ERROR_INVALID_VALUE);
    // Mappings that follow each other are one range.
    const auto between = value_of(memory_mapping::create(addresses, unit, memory));
    REQUIRE(between.set_access(device, memory_access::read_write).has_value());
    const auto both = gpu::device_span<int>::from_native(addresses.native(), 2 * unit / 4);
    REQUIRE(copy(std::vector<int>{1, 2, 3}, both.subspan(unit / 4 - 1, 3)).has_value());
    REQUIRE(copy(both.subspan(unit / 4 - 1, 3), back).has_value());
    CHECK(back == std::vector<int>{1, 2, 3});
  }
  CUmemAccess_flags ignored{};
  CHECK(test::driver().pointer_get_attribute(&ignored, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                             addresses.native()) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("virtual_memory: properties are those asked for", "[memory][virtual_memory]") {
  const gpu::device device = test::first_device();
  const auto memory = value_of(physical_memory::create(device, driver_unit(), shared));
  const gpu::physical_memory_properties found = value_of(memory.properties());
  CHECK(found.location == memory_location(device));
  CHECK(found.options.handle_types == gpu::shareable_handle_types::posix_file_descriptor);
  const auto own = value_of(physical_memory::create(device, driver_unit()));
  CHECK(value_of(own.properties()).options.handle_types == gpu::shareable_handle_types::none);
  CHECK_FALSE(found.options.compressible);
  CHECK_FALSE(found.options.gpu_direct_rdma);
  gpu::driver::entry_points able = test::driver();
  able.mem_get_allocation_properties_from_handle = [](CUmemAllocationProp* told,
                                                      CUmemGenericAllocationHandle) {
    *told = {};
    told->allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
    told->allocFlags.gpuDirectRDMACapable = 1;
    return CUDA_SUCCESS;
  };
  {
    const gpu::driver::scoped_entry_points in_force(able);
    const gpu::physical_memory_properties told = value_of(memory.properties());
    CHECK(told.options.compressible);
    CHECK(told.options.gpu_direct_rdma);
  }
  CHECK(gpu::name_of(gpu::granularity::minimum) == std::string("minimum"));
  CHECK(gpu::name_of(gpu::granularity::recommended) == std::string("recommended"));
  CHECK(gpu::name_of(gpu::granularity{9}) == nullptr);
}

TEST_CASE("virtual_memory: sizes and offsets are held to the granularity",
          "[memory][virtual_memory]") {
  const gpu::device device = test::first_device();
  const std::size_t unit = driver_unit();
  const std::string units = std::to_string(unit), twice = std::to_string(2 * unit);
  const gpu::cuda_error odd = error_of(physical_memory::create(device, unit + 1));
  CHECK(odd == gpu::errc::invalid_argument);
  CHECK(says(odd, ("not a multiple of the granularity of " + units).c_str(),
             ("Use " + twice).c_str()));
  CHECK(says(error_of(physical_memory::create(device, 0)), ("Use " + units).c_str()));
  CHECK(says(error_of(physical_memory::create(
                 device, unit, {.handle_types = static_cast<gpu::shareable_handle_types>(32)})),
             "32 has bits outside of gpu::shareable_handle_types"));
  CHECK(says(error_of(physical_memory::create(device, ~std::size_t{0})),
             "a size_t cannot hold the next multiple"));
  const std::size_t most = ~std::size_t{0} - unit + 1;  // of which it is a multiple
  CHECK(says(error_of(physical_memory::create(device, most - 1)),
             ("Use " + std::to_string(most)).c_str()));
  CHECK(says(error_of(physical_memory::create(device, most + 1)),
             "a size_t cannot hold the next multiple"));
  CHECK(says(error_of(address_reservation::create(device, 100)), "a reservation of 100 bytes"));
  CHECK(says(error_of(address_reservation::create(device, unit, {.alignment = 3})),
             "alignment of 3 bytes is not a power of two", "leave out alignment"));
  const gpu::cuda_error wished = error_of(address_reservation::create(device, unit, {.wish = 100}));
  CHECK(says(wished, "the address 100 in wish is not a multiple", "leave out wish"));
  CHECK(wished.asked() == 100);
  CHECK(wished.limit() == unit);
  const auto addresses =
      value_of(address_reservation::create(device, 2 * unit, {.alignment = 8 * unit}));
  CHECK(addresses.native() % (8 * unit) == 0);
  const auto memory = value_of(physical_memory::create(device, 2 * unit));
  CHECK(says(error_of(memory_mapping::create(addresses, 5, memory)), "an offset of 5 bytes"));
  const gpu::cuda_error past = error_of(memory_mapping::create(addresses, unit, memory));
  CHECK(past == gpu::errc::index_out_of_range);
  CHECK(
      says(past, ("past the end of the reservation, which has " + twice).c_str(), "Reserve more"));
  const auto mapping = value_of(memory_mapping::create(addresses, 0, memory));
  const gpu::cuda_error twice_there = error_of(memory_mapping::create(addresses, 0, memory));
  CHECK(twice_there.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(twice_there, "memory may already be mapped at this offset", "unmap it first"));
  const gpu::device none = gpu::device::from_native(99);
  for (const gpu::cuda_error& error :
       {error_of(mapping.set_access(none, memory_access::read_write)),
        error_of(mapping.access(none))}) {
    CHECK(error == gpu::errc::index_out_of_range);
    CHECK(says(error, "device index 99 is not below", "Choose an index below"));
    CHECK(error.limit() == static_cast<std::uint64_t>(test::device_count()));
  }
  CHECK(says(error_of(mapping.set_access(device, memory_access{2})),
             "2 is not a valid gpu::memory_access"));
  const gpu::memory_location nowhere;
  for (const gpu::cuda_error& error :
       {error_of(mapping.set_access(nowhere, memory_access::read_write)),
        error_of(mapping.access(nowhere))}) {
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error, "gpu::memory_mapping::", "the location is empty", "Pass a device"));
  }
}

TEST_CASE("virtual_memory: what is nowhere or moved from is refused", "[memory][virtual_memory]") {
  const gpu::device device = test::first_device();
  const std::size_t unit = driver_unit();
  CHECK(says(error_of(gpu::granularity_of(memory_location{})), "no location", "host_numa(node)"));
  const gpu::cuda_error granularity =
      error_of(gpu::granularity_of(device, static_cast<gpu::granularity>(7)));
  CHECK(granularity == gpu::errc::invalid_argument);
  CHECK(says(granularity, "7 is not a valid gpu::granularity", "pass one of its enumerators"));
  CHECK(error_of(physical_memory::create(memory_location::host(), unit)) ==
        gpu::errc::invalid_argument);
  CHECK(error_of(address_reservation::create(memory_location::host_numa_current(), unit)) ==
        gpu::errc::invalid_argument);
  auto addresses = value_of(address_reservation::create(device, unit));
  auto memory = value_of(physical_memory::create(device, unit));
  auto mapping = value_of(memory_mapping::create(addresses, 0, memory));
  const auto moved = std::move(mapping);
  CHECK_FALSE(mapping);
  CHECK(mapping.unmap().has_value());  // nothing to do
  CHECK(error_of(mapping.access(device)) == gpu::errc::empty_handle);
  CHECK(error_of(mapping.set_access(device, memory_access::read)) == gpu::errc::empty_handle);
  CHECK(error_of(mapping.memory()) == gpu::errc::empty_handle);
  const CUmemGenericAllocationHandle native = memory.release();
  CHECK(error_of(memory_mapping::create(addresses, 0, memory)) == gpu::errc::empty_handle);
  CHECK(error_of(memory.properties()) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::export_memory(memory)) == gpu::errc::empty_handle);
  memory = physical_memory::adopt(native, unit);
  auto others = value_of(address_reservation::create(device, unit));
  const auto elsewhere = std::move(others);
  const gpu::cuda_error nowhere = error_of(memory_mapping::create(others, 0, memory));
  CHECK(nowhere == gpu::errc::empty_handle);
  CHECK(says(nowhere, "the address reservation is empty"));
  const auto strange = memory_location::from_native({static_cast<CUmemLocationType>(77), 0});
  CHECK(says(error_of(physical_memory::create(strange, unit)), "a location of unknown type 77"));
  const gpu::cuda_error too_much = error_of(physical_memory::create(device, std::size_t{1} << 45));
  CHECK(too_much.code() == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(says(too_much, "asked for 35184372088832 bytes; ", "are free on device 0"));
  CHECK(too_much.asked() == std::size_t{1} << 45);
  CHECK(too_much.limit() != 0);
  const gpu::cuda_error missing =
      error_of(physical_memory::create(gpu::device::from_native(99), unit));
  CHECK(missing == gpu::errc::index_out_of_range);
  CHECK(says(missing, "device index 99", "Choose an index below gpu::device::count()"));
}

TEST_CASE("virtual_memory: a mapping that is left behind is reported", "[memory][virtual_memory]") {
  const gpu::device device = test::first_device();
  const auto memory = value_of(physical_memory::create(device, driver_unit()));
  auto addresses = value_of(address_reservation::create(device, driver_unit()));
  const CUdeviceptr native = addresses.native();
  {
    auto mapping = value_of(memory_mapping::create(addresses, 0, memory));
    const test::reported_errors reports;
    {
      const address_reservation gone = std::move(addresses);
    }
    CHECK(reports.count() == 1);
    CHECK(reports.last().find("cuMemAddressFree") != std::string::npos);
    CHECK(mapping.unmap().has_value());
  }
  CHECK(test::driver().mem_address_free(native, driver_unit()) == CUDA_SUCCESS);
}

TEST_CASE("file_descriptor: owns a number", "[memory][virtual_memory]") {
  const int native = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  REQUIRE(native >= 0);
  {
    file_descriptor file = file_descriptor::adopt(native);
    file_descriptor moved = std::move(file);
    CHECK_FALSE(file);
    CHECK(file.native() == -1);
    CHECK(moved.native() == native);
    CHECK(moved.release() == native);
    CHECK(is_open(native));
    moved = file_descriptor::adopt(native);
  }
  CHECK_FALSE(is_open(native));
}

TEST_CASE("virtual_memory: a descriptor that stands for nothing is refused",
          "[memory][virtual_memory]") {
  CHECK(error_of(physical_memory::open(file_descriptor{}, 1)) == gpu::errc::empty_handle);
  auto closed = file_descriptor::adopt(987);
  const gpu::cuda_error error = error_of(physical_memory::open(closed, 1));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "file descriptor 987 is not open", "SCM_RIGHTS", "virtual_memory_test.cpp"));
  static_cast<void>(closed.release());
  const auto other = file_descriptor::adopt(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const gpu::cuda_error stranger = error_of(physical_memory::open(other, 1));
  CHECK(stranger.domain() == gpu::error_domain::driver);
  CHECK(says(stranger, "does not refer to physical memory"));
  const auto own = value_of(physical_memory::create(test::first_device(), driver_unit()));
  const gpu::cuda_error kept = error_of(gpu::export_memory(own));
  CHECK(kept.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(kept, "created with .handle_types = gpu::shareable_handle_types::posix"));
}

TEST_CASE("virtual_memory: in the process that receives", "[.child]") {
  const gpu::device device = test::first_device();
  std::size_t bytes = 0;
  const file_descriptor file = test::receive_descriptor(bytes);
  const auto memory = value_of(physical_memory::open(file, bytes));
  CHECK(is_open(file.native()));
  const auto addresses = value_of(address_reservation::create(device, bytes));
  const auto mapping = value_of(memory_mapping::create(addresses, 0, memory));
  REQUIRE(mapping.set_access(device, memory_access::read_write).has_value());
  std::vector<int> here(1000);
  REQUIRE(copy(mapping.span<int>().first(1000), here).has_value());
  for (int i = 0; i < 1000; ++i) CHECK(here[static_cast<std::size_t>(i)] == i * 3);
  for (int& value : here) value = -value;
  REQUIRE(copy(here, mapping.span<int>().last(1000)).has_value());
}

TEST_CASE("virtual_memory: two processes have the same memory", "[memory][virtual_memory]") {
  const gpu::device device = test::first_device();
  const std::size_t bytes = 2 * driver_unit();
  const auto memory = value_of(physical_memory::create(device, bytes, shared));
  const auto addresses = value_of(address_reservation::create(device, bytes));
  const auto mapping = value_of(memory_mapping::create(addresses, 0, memory));
  REQUIRE(mapping.set_access(device, memory_access::read_write).has_value());
  std::vector<int> here(1000);
  for (int i = 0; i < 1000; ++i) here[static_cast<std::size_t>(i)] = i * 3;
  REQUIRE(copy(here, mapping.span<int>().first(1000)).has_value());
  REQUIRE(copy(here, mapping.span<int>().last(1000)).has_value());
  const test::descriptor_socket socket;
  socket.send(value_of(gpu::export_memory(memory)), bytes);
  const test::program_outcome other =
      test::run_child("virtual_memory: in the process that receives", socket.for_child());
  INFO(other.output);
  REQUIRE(other.succeeded());
  REQUIRE(copy(mapping.span<int>().last(1000), here).has_value());
  for (int i = 0; i < 1000; ++i) CHECK(here[static_cast<std::size_t>(i)] == i * -3);
}

TEST_CASE("virtual_memory: is allowed while a stream is captured", "[memory][virtual_memory]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
  {
    const auto memory = value_of(physical_memory::create(device, driver_unit(), shared));
    const auto addresses = value_of(address_reservation::create(device, driver_unit()));
    const auto mapping = value_of(memory_mapping::create(addresses, 0, memory));
    CHECK(mapping.set_access(device, memory_access::read_write).has_value());
    CHECK(value_of(mapping.access(device)) == memory_access::read_write);
    CHECK(mapping.memory().has_value());
    CHECK(memory.properties().has_value());
    CHECK(gpu::granularity_of(device).has_value());
    const auto file = value_of(gpu::export_memory(memory));
    const auto opened = value_of(physical_memory::open(file, driver_unit()));
    auto elsewhere = value_of(address_reservation::create(device, driver_unit()));
    auto other = value_of(memory_mapping::create(elsewhere, 0, opened));
    CHECK(other.unmap().has_value());
  }
  CUgraph graph = nullptr;
  CHECK(test::driver().stream_end_capture(stream.native(), &graph) == CUDA_SUCCESS);
  CHECK(test::driver().graph_destroy(graph) == CUDA_SUCCESS);
}

TEST_CASE("virtual_memory: memory of a NUMA node is the host's and the device's",
          "[memory][virtual_memory][hardware]") {
  const gpu::device device = test::first_device();
  const memory_location node = memory_location::host_numa(0);
  const std::size_t unit = value_of(gpu::granularity_of(node));
  const auto memory = value_of(physical_memory::create(node, unit));
  CHECK(value_of(memory.properties()).location == node);
  const auto addresses = value_of(address_reservation::create(node, unit));
  const auto mapping = value_of(memory_mapping::create(addresses, 0, memory));
  REQUIRE(mapping.set_access(device, memory_access::read_write).has_value());
  REQUIRE(mapping.set_access(node, memory_access::read_write).has_value());
  CHECK(value_of(mapping.access(node)) == memory_access::read_write);
  REQUIRE(copy(std::vector<int>{7, 8, 9}, mapping.span<int>().first(3)).has_value());
  CHECK(*reinterpret_cast<const volatile int*>(mapping.native() + 8) == 9);
}

TEST_CASE("virtual_memory: survives every failing call", "[memory][virtual_memory][cpu]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          gpu::device device = GPU_TRY(gpu::device::get(0));
          const std::size_t unit = GPU_TRY(gpu::granularity_of(device));
          const auto memory = GPU_TRY(physical_memory::create(device, unit, shared));
          GPU_TRY(memory.properties());
          const auto file = GPU_TRY(gpu::export_memory(memory));
          const auto opened = GPU_TRY(physical_memory::open(file, unit));
          const auto addresses = GPU_TRY(address_reservation::create(device, 2 * unit));
          const auto mapping = GPU_TRY(memory_mapping::create(addresses, 0, memory));
          auto other = GPU_TRY(memory_mapping::create(addresses, unit, opened));
          GPU_TRY(mapping.set_access(device, memory_access::read_write));
          GPU_TRY(mapping.access(device));
          GPU_TRY(other.memory());
          return other.unmap();
        }) == "");
}

}  // namespace memory_virtual_memory_test
