#include <gpu/memory/managed_buffer.hpp>

#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/ranges.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace managed_buffer_test {

using gpu::device_span;
using gpu::managed_buffer;
using gpu::memory_attach;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<managed_buffer<int>>);
static_assert(std::is_nothrow_move_constructible_v<managed_buffer<int>>);
static_assert(std::is_convertible_v<managed_buffer<int>&, device_span<int>>);
static_assert(std::is_convertible_v<managed_buffer<int>&, device_span<const int>>);
static_assert(std::is_convertible_v<const managed_buffer<int>&, device_span<const int>>);
static_assert(!std::is_convertible_v<managed_buffer<int>, device_span<const int>>);
static_assert(!std::is_convertible_v<const managed_buffer<int>&, device_span<int>>);
static_assert(!std::is_convertible_v<managed_buffer<int>, device_span<int>>);
static_assert(gpu::device_range<managed_buffer<int>&>);
static_assert(!gpu::device_range<managed_buffer<int>>);
static_assert(gpu::host_range<managed_buffer<int>&>);
static_assert(!gpu::pinned_range<managed_buffer<int>&>);
static_assert(gpu::kernel_argument_for<managed_buffer<int>&, int*>);
static_assert(gpu::kernel_argument_for<const managed_buffer<int>&, const int*>);
static_assert(!gpu::kernel_argument_for<const managed_buffer<int>&, int*>);
static_assert(!gpu::kernel_argument_for<managed_buffer<int>, int*>);

TEST_CASE("managed_buffer: host and device see the same elements", "[memory][managed]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  managed_buffer<int> buffer = value_of(managed_buffer<int>::create(device, 100));
  REQUIRE(buffer.size() == 100);
  CHECK(buffer.size_bytes() == 400);
  CHECK(buffer.device() == device);
  int next = 0;
  for (int& each : buffer) each = next++;
  std::vector<int> back(100);
  REQUIRE(copy(buffer, back).has_value());
  for (int i = 0; i < 100; ++i) CHECK(back[static_cast<std::size_t>(i)] == i);
  REQUIRE(fill(stream, buffer, 7).has_value());
  REQUIRE(stream.synchronize().has_value());
  for (const int each : buffer) CHECK(each == 7);
  CHECK(buffer.span().native() == buffer.native());
  REQUIRE(fill(stream, buffer.span().first(50), 8).has_value());
  REQUIRE(stream.synchronize().has_value());
  CHECK(buffer[49] == 8);
  CHECK(buffer[50] == 7);
  unsigned managed = 0;
  REQUIRE(test::driver().pointer_get_attribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                               buffer.native()) == CUDA_SUCCESS);
  CHECK(managed == 1);
}

TEST_CASE("managed_buffer: no elements need no memory, and more than there are bytes are refused",
          "[memory][managed]") {
  const gpu::device device = test::first_device();
  const managed_buffer<int> none = value_of(managed_buffer<int>::create(device, 0));
  CHECK(none.empty());
  CHECK(none.begin() == none.end());
  const gpu::cuda_error overflow =
      error_of(managed_buffer<int>::create(device, ~std::size_t{0} / 2));
  CHECK(overflow == gpu::errc::size_overflow);
  const gpu::cuda_error single =
      error_of(managed_buffer<int>::create(device, 1, memory_attach::single));
  CHECK(single == gpu::errc::invalid_argument);
  CHECK(says(single, "single", "gpu::memory_attach::host", "gpu::attach"));
  const gpu::cuda_error unknown =
      error_of(managed_buffer<int>::create(device, 1, memory_attach{9}));
  CHECK(says(unknown, "9 is not a valid gpu::memory_attach"));
  CHECK(error_of(managed_buffer<int>::create(gpu::context_ref{}, 1)) == gpu::errc::empty_handle);
}

TEST_CASE("managed_buffer: says how much was asked for where there is too little",
          "[memory][managed]") {
  const gpu::device device = test::first_device();
  const gpu::cuda_error error =
      error_of(managed_buffer<char>::create(device, std::size_t{1} << 50));
  CHECK(error.code() == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(error.kind() == gpu::error_kind::memory);
  CHECK(says(error, "asked for 1125899906842624 bytes", "are free on device 0"));
}

TEST_CASE("managed_buffer: gives its memory back once", "[memory][managed][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::context_ref context = value_of(gpu::context::primary(device));
  const std::size_t before = driver.live_objects();
  {
    managed_buffer<int> a = value_of(managed_buffer<int>::create(device, 10));
    managed_buffer<int> b = value_of(managed_buffer<int>::create(context, 20, memory_attach::host));
    CHECK(driver.live_objects() == before + 2);
    a = std::move(b);
    CHECK(driver.live_objects() == before + 1);
    CHECK(a.size() == 20);
    CHECK(b.size() == 0);
    int* const raw = a.release();
    CHECK(a.empty());
    CHECK(driver.live_objects() == before + 1);
    const managed_buffer<int> again = managed_buffer<int>::adopt(context, raw, 20);
    CHECK(again.data() == raw);
  }
  INFO(driver.live_list());
  CHECK(driver.live_objects() == before);
}

TEST_CASE("managed_buffer: survives every failing call", "[memory][managed][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              auto buffer = GPU_TRY(managed_buffer<int>::create(device, 100));
              buffer[0] = 1;
              return {};
            },
            {"cuCtxGetCurrent"}) == "");
}

TEST_CASE("managed_buffer: who may touch it at first reaches the driver", "[memory][managed]") {
  const gpu::device device = test::first_device();
  const test::noted_calls<&gpu::driver::entry_points::mem_alloc_managed> noted;
  value_of(managed_buffer<int>::create(device, 10));
  CHECK(noted.last<1>() == 40);
  CHECK(noted.last<2>() == CU_MEM_ATTACH_GLOBAL);
  value_of(managed_buffer<int>::create(device, 10, memory_attach::host));
  CHECK(noted.last<2>() == CU_MEM_ATTACH_HOST);
}

TEST_CASE("memory_attach: every value has a name", "[memory][managed]") {
  CHECK(gpu::name_of(memory_attach{CU_MEM_ATTACH_GLOBAL}) == std::string("global"));
  CHECK(gpu::name_of(memory_attach{CU_MEM_ATTACH_HOST}) == std::string("host"));
  CHECK(gpu::name_of(memory_attach{CU_MEM_ATTACH_SINGLE}) == std::string("single"));
  CHECK(gpu::name_of(memory_attach{3}) == nullptr);
}

}  // namespace managed_buffer_test
