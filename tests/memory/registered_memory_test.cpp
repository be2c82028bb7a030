#include <gpu/memory/registered_memory.hpp>

#include "support/drivers.hpp"
#include "support/lacking_device.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/aligned_buffer.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/ranges.hpp>

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace registered_memory_test {

using gpu::aligned_buffer;
using gpu::registered_memory;
using gpu::registration_flags;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<registered_memory<int>>);
static_assert(std::is_nothrow_move_constructible_v<registered_memory<int>>);
static_assert(gpu::pinned_range<registered_memory<int>&>);
static_assert(!gpu::pinned_range<registered_memory<int>>);
static_assert(gpu::pinned_range<registered_memory<const int>&>);

TEST_CASE("registered_memory: asynchronous copies take it", "[memory][registered]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  std::vector<int> from(5000), to(5000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<int>(i * 3);
  auto buffer = value_of(gpu::device_buffer<int>::create(stream, from.size()));
  {
    const auto source = value_of(registered_memory<const int>::create(device, from));
    auto destination = value_of(registered_memory<int>::create(device, to));
    CUmemorytype type{};
    REQUIRE(test::driver().pointer_get_attribute(
                &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(from.data()))) ==
            CUDA_SUCCESS);
    CHECK(type == CU_MEMORYTYPE_HOST);
    CHECK(source.span().data() == from.data());
    CHECK(source.span().size() == from.size());
    REQUIRE(copy(stream, source, buffer).has_value());
    REQUIRE(copy(stream, buffer, destination).has_value());
    REQUIRE(stream.synchronize().has_value());
  }
  CHECK(to == from);
  // Both are free again, so they can be registered anew.
  CHECK(value_of(registered_memory<int>::create(device, from)).size() == 5000);
}

TEST_CASE("registered_memory: kernels see it where it is", "[memory][registered]") {
  const gpu::device device = test::first_device();
  std::vector<float> values(1000, 1.5f);
  auto memory =
      value_of(registered_memory<float>::create(device, values, registration_flags::mapped));
  auto span = value_of(memory.mapped_span());
  CHECK(span.size() == 1000);
  std::vector<float> back(1000);
  REQUIRE(copy(span, back).has_value());
  CHECK(back == values);
  const auto unmapped = value_of(registered_memory<float>::create(device, back));
  CHECK(says(error_of(unmapped.mapped_span()), "registration_flags::mapped"));
}

TEST_CASE("registered_memory: read-only memory is const", "[memory][registered]") {
  const gpu::device device = test::first_device();
  std::vector<int> values(1000);
  const auto flags = registration_flags::read_only | registration_flags::portable;
  const gpu::cuda_error writable = error_of(registered_memory<int>::create(device, values, flags));
  CHECK(writable == gpu::errc::invalid_argument);
  CHECK(says(writable, "must be const", "read_only"));
  const auto memory = value_of(registered_memory<const int>::create(device, values, flags));
  CHECK(memory.flags() == flags);
  CHECK(memory.data() == values.data());
}

TEST_CASE("registered_memory: refuses what cannot be", "[memory][registered]") {
  const gpu::device device = test::first_device();
  std::vector<int> values(1000), none;
  CHECK(value_of(registered_memory<int>::create(device, none)).empty());
  CHECK(says(error_of(registered_memory<int>::create(device, values, registration_flags{16})),
             "16 has bits outside of gpu::registration_flags"));
  auto once = value_of(registered_memory<int>::create(device, values));
  CHECK(error_of(registered_memory<int>::create(device, values)).code() ==
        CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  REQUIRE(once.unregister().has_value());
  CHECK(once.empty());
  CHECK(once.unregister().has_value());
  CHECK(registered_memory<int>::create(device, values).has_value());
  CHECK(error_of(registered_memory<int>::create(gpu::context_ref{}, values)) ==
        gpu::errc::empty_handle);
}

TEST_CASE("registered_memory: what the device cannot do is said", "[memory][registered]") {
  const gpu::device device = test::first_device();
  const std::vector<int> values(100);
  const auto create = [&] {
    return registered_memory<const int>::create(device, values, registration_flags::read_only);
  };
  {
    const test::lacking_device lacking(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
    const gpu::cuda_error error = error_of(create());
    CHECK(error == gpu::errc::not_supported);
    CHECK(says(error, "device 0 cannot use registered host memory", "gpu::pinned_vector"));
  }
  const test::lacking_device lacking(CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED);
  const gpu::cuda_error error = error_of(create());
  CHECK(error == gpu::errc::not_supported);
  CHECK(says(error, "may only read", "Leave out read_only"));
  CHECK(registered_memory<const int>::create(device, values).has_value());
}

TEST_CASE("registered_memory: is given back once, and each call may fail",
          "[memory][registered][cpu]") {
  {
    test::own_cpu_driver driver;
    const gpu::device device = test::first_device();
    value_of(gpu::context::primary(device));
    std::vector<int> values(100), others(100);
    const std::size_t before = driver.live_objects();
    {
      auto a = value_of(registered_memory<int>::create(device, values));
      auto b =
          value_of(registered_memory<int>::create(device, others, registration_flags::portable));
      CHECK(driver.live_objects() == before + 2);
      a = std::move(b);
      CHECK(driver.live_objects() == before + 1);
      CHECK(a.data() == others.data());
      CHECK(a.flags() == registration_flags::portable);
      CHECK(b.empty());
    }
    CHECK(driver.live_objects() == before);
  }
  CHECK(test::sweep(
            []() -> gpu::result<> {
              std::vector<int> values(100);
              gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              auto memory = GPU_TRY(
                  registered_memory<int>::create(device, values, registration_flags::mapped));
              GPU_TRY(memory.mapped_span());
              return memory.unregister();
            },
            {"cuCtxGetCurrent"}) == "");
}

TEST_CASE("registered_memory: its flags reach the driver", "[memory][registered]") {
  const gpu::device device = test::first_device();
  const std::vector<int> values(100);
  // Few devices know a range of I/O memory, so that the driver is not asked.
  const test::noted_calls<&gpu::driver::entry_points::mem_host_register> noted(false);
  const test::noted_calls<&gpu::driver::entry_points::mem_host_unregister> gone(false);
  const auto given = [&](registration_flags flags) {
    const auto made = value_of(registered_memory<const int>::create(device, values, flags));
    CHECK(made.flags() == flags);
    CHECK(noted.last<0>() == values.data());
    CHECK(noted.last<1>() == 400);
    return noted.last<2>();
  };
  CHECK(given(registration_flags::none) == 0);
  CHECK(given(registration_flags::portable) == CU_MEMHOSTREGISTER_PORTABLE);
  CHECK(given(registration_flags::mapped) == CU_MEMHOSTREGISTER_DEVICEMAP);
  CHECK(given(registration_flags::io_memory) == CU_MEMHOSTREGISTER_IOMEMORY);
  CHECK(given(registration_flags::read_only) == CU_MEMHOSTREGISTER_READ_ONLY);
  CHECK(gone.count() == 5);
  CHECK(gone.last<0>() == values.data());
}

TEST_CASE("registration_flags: every value has a name", "[memory][registered]") {
  CHECK(gpu::name_of(registration_flags{CU_MEMHOSTREGISTER_PORTABLE}) == std::string("portable"));
  CHECK(gpu::name_of(registration_flags{CU_MEMHOSTREGISTER_DEVICEMAP}) == std::string("mapped"));
  CHECK(gpu::name_of(registration_flags{CU_MEMHOSTREGISTER_IOMEMORY}) == std::string("io_memory"));
  CHECK(gpu::name_of(registration_flags{CU_MEMHOSTREGISTER_READ_ONLY}) == std::string("read_only"));
  CHECK(gpu::name_of(registration_flags::none) == std::string("none"));
  CHECK(gpu::name_of(registration_flags{3}) == nullptr);
}

TEST_CASE("aligned_buffer: begins where it was asked to", "[memory][registered]") {
  for (const std::size_t alignment :
       {std::size_t{1}, std::size_t{64}, std::size_t{4096}, std::size_t{1} << 21}) {
    auto buffer = value_of(aligned_buffer<double>::create(1000, alignment));
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % alignment == 0);
    for (double& each : buffer) each = 1;
    CHECK(buffer[999] == 1);
  }
  const gpu::device device = test::first_device();
  auto buffer = value_of(aligned_buffer<int>::create(10));
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 4096 == 0);
  CHECK(::malloc_usable_size(buffer.data()) >= 4096);  // all of the page is the buffer's
  const auto memory = value_of(registered_memory<int>::create(device, buffer));
  CHECK(memory.data() == buffer.data());
  CHECK(value_of(aligned_buffer<int>::create(0)).empty());
  CHECK(says(error_of(aligned_buffer<int>::create(10, 48)), "48 bytes is not a power of two"));
  CHECK(error_of(aligned_buffer<int>::create(10, 0)) == gpu::errc::invalid_argument);
  CHECK(error_of(aligned_buffer<int>::create(~std::size_t{0} / 4)) == gpu::errc::size_overflow);
  auto moved = std::move(buffer);
  CHECK(moved.size() == 10);
  CHECK(buffer.empty());
}

TEST_CASE("aligned_buffer: elements are aligned as their type asks", "[memory][registered]") {
  struct alignas(64) line {
    char bytes[64];
  };
  struct alignas(8192) pages {
    char bytes[8192];
  };
  std::vector<aligned_buffer<line>> lines;
  std::vector<aligned_buffer<pages>> boundaries;
  for (int i = 0; i < 16; ++i) {
    lines.push_back(value_of(aligned_buffer<line>::create(1, 16)));
    boundaries.push_back(value_of(aligned_buffer<pages>::create(1)));
    CHECK(reinterpret_cast<std::uintptr_t>(lines.back().data()) % 64 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(boundaries.back().data()) % 8192 == 0);
  }
}

TEST_CASE("aligned_buffer: says that the host has no such memory", "[memory][registered]") {
  const gpu::cuda_error error =
      error_of(aligned_buffer<std::byte>::create(std::size_t{1} << 60, 1 << 21));
  CHECK(error == gpu::errc::out_of_host_memory);
  CHECK(says(error, "could not allocate 1152921504606846976 bytes aligned to 2097152",
             "Request fewer"));
}

}  // namespace registered_memory_test
