#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace device_buffer_test {

using gpu::device_buffer;
using gpu::device_span;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<device_buffer<int>>);
static_assert(std::is_nothrow_move_constructible_v<device_buffer<int>>);
static_assert(std::is_nothrow_move_assignable_v<device_buffer<int>>);
static_assert(std::is_convertible_v<device_buffer<int>&, device_span<int>>);
static_assert(std::is_convertible_v<device_buffer<int>&, device_span<const int>>);
static_assert(std::is_convertible_v<const device_buffer<int>&, device_span<const int>>);
static_assert(!std::is_convertible_v<const device_buffer<int>&, device_span<int>>);
static_assert(!std::is_convertible_v<device_buffer<int>, device_span<int>>);
static_assert(!std::is_convertible_v<device_buffer<int>, device_span<const int>>);
static_assert(gpu::device_range<device_buffer<int>&>);
static_assert(gpu::device_range<const device_buffer<int>&>);
static_assert(!gpu::device_range<device_buffer<int>>);
static_assert(gpu::kernel_argument_for<device_buffer<int>&, int*>);
static_assert(gpu::kernel_argument_for<const device_buffer<int>&, const int*>);
static_assert(!gpu::kernel_argument_for<const device_buffer<int>&, int*>);
static_assert(!gpu::kernel_argument_for<device_buffer<int>, int*>);
static_assert(gpu::kernel_argument_for<device_buffer<int>&, device_span<int>>);
static_assert(gpu::kernel_argument_for<device_span<int>, int*>);
static_assert(gpu::kernel_argument_for<device_span<int>, device_span<const int>>);
static_assert(!gpu::kernel_argument_for<device_span<float>, int*>);

TEST_CASE("device_buffer: owns as many elements as asked for", "[memory][device_buffer]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  device_buffer<double> ordered = value_of(device_buffer<double>::create(stream, 1000));
  device_buffer<double> plain = value_of(device_buffer<double>::create(device, 1000));
  REQUIRE(stream.synchronize().has_value());
  for (device_buffer<double>* each : {&ordered, &plain}) {
    device_buffer<double>& buffer = *each;
    CHECK(buffer.size() == 1000);
    CHECK(buffer.size_bytes() == 8000);
    CHECK(!buffer.empty());
    CHECK(buffer.device() == device);
    CHECK(buffer.context() == stream.context());
    CHECK(buffer.span().native() == buffer.native());
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) == buffer.native());
    CUmemorytype type{};
    REQUIRE(test::driver().pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                 buffer.native()) == CUDA_SUCCESS);
    CHECK(type == CU_MEMORYTYPE_DEVICE);
    std::size_t bytes = 0;
    REQUIRE(test::driver().pointer_get_attribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                                 buffer.native()) == CUDA_SUCCESS);
    CHECK(bytes >= 8000);
  }
}

TEST_CASE("device_buffer: comes and goes in the order of its stream", "[memory][device_buffer]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  const test::noted_calls<&gpu::driver::entry_points::mem_alloc_from_pool_async> allocated;
  const test::noted_calls<&gpu::driver::entry_points::mem_free_async> freed;
  CUdeviceptr address = 0;
  {
    const auto buffer = value_of(device_buffer<int>::create(stream, 10));
    address = buffer.native();
    CHECK(allocated.last<1>() == 40);
    CHECK(allocated.last<3>() == stream.native());
    CHECK(freed.count() == 0);
  }
  CHECK(allocated.count() == 1);
  CHECK(freed.count() == 1);
  CHECK(freed.last<0>() == address);
  CHECK(freed.last<1>() == stream.native());
}

TEST_CASE("device_buffer: keeps what is copied into it", "[memory][device_buffer]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const std::vector<int> values{3, 1, 4, 1, 5, 9, 2, 6};
  device_buffer<int> ordered = value_of(device_buffer<int>::create(stream, values.size()));
  device_buffer<int> plain = value_of(device_buffer<int>::create(device, values.size()));
  for (device_buffer<int>* buffer : {&ordered, &plain}) {
    REQUIRE(copy(values, *buffer).has_value());
    std::vector<int> back(values.size());
    REQUIRE(copy(*buffer, back).has_value());
    CHECK(back == values);
  }
}

TEST_CASE("device_buffer: no elements need no memory", "[memory][device_buffer]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const device_buffer<int> ordered = value_of(device_buffer<int>::create(stream, 0));
  const device_buffer<int> plain = value_of(device_buffer<int>::create(device, 0));
  CHECK(ordered.empty());
  CHECK(ordered.native() == 0);
  CHECK(plain.empty());
  CHECK(plain.context() == stream.context());
}

TEST_CASE("device_buffer: gives its memory back once", "[memory][device_buffer][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const std::size_t before = driver.live_objects();
  {
    device_buffer<int> a = value_of(device_buffer<int>::create(stream, 10));
    device_buffer<int> b = value_of(device_buffer<int>::create(device, 20));
    CHECK(driver.live_objects() == before + 2);
    const CUdeviceptr kept = b.native();
    a = std::move(b);
    REQUIRE(stream.synchronize().has_value());
    CHECK(driver.live_objects() == before + 1);
    CHECK(a.native() == kept);
    CHECK(a.size() == 20);
    CHECK(b.size() == 0);
    device_buffer<int>& self = a;
    a = std::move(self);
    CHECK(a.size() == 20);
    CHECK(a.native() == kept);
  }
  REQUIRE(stream.synchronize().has_value());
  INFO(driver.live_list());
  CHECK(driver.live_objects() == before);
}

TEST_CASE("device_buffer: releasing and adopting move the ownership",
          "[memory][device_buffer][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const std::size_t before = driver.live_objects();
  {
    device_buffer<int> ordered = value_of(device_buffer<int>::create(stream, 10));
    const device_span<int> raw = ordered.release();
    CHECK(ordered.size() == 0);
    CHECK(raw.size() == 10);
    device_buffer<int> plain = value_of(device_buffer<int>::create(device, 10));
    const device_span<int> plain_raw = plain.release();
    REQUIRE(stream.synchronize().has_value());
    CHECK(driver.live_objects() == before + 2);
    const device_buffer<int> again = device_buffer<int>::adopt(stream, raw);
    const device_buffer<int> plain_again = device_buffer<int>::adopt(stream.context(), plain_raw);
    CHECK(again.native() == raw.native());
    CHECK(plain_again.size() == 10);
  }
  REQUIRE(stream.synchronize().has_value());
  CHECK(driver.live_objects() == before);
}

TEST_CASE("device_buffer: works in a thread that has no context", "[memory][device_buffer]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  bool all = false;
  std::thread([&] {
    auto ordered = device_buffer<int>::create(stream, 10);
    auto plain = device_buffer<int>::create(device, 10);
    CUcontext left = nullptr;
    test::driver().ctx_get_current(&left);
    all = ordered.has_value() && plain.has_value() && left == nullptr;
  }).join();
  CHECK(all);
}

TEST_CASE("device_buffer: without pools memory comes from cuMemAlloc",
          "[memory][device_buffer][cpu]") {
  test::own_cpu_driver driver;
  gpu::driver::entry_points poolless = driver.table();
  SECTION("the driver has no such function") {
    poolless.mem_pool_create = nullptr;
    poolless.mem_alloc_async = nullptr;
  }
  SECTION("the device has no pools") {
    poolless.device_get_default_mem_pool = [](CUmemoryPool*, CUdevice) {
      return CUDA_ERROR_NOT_SUPPORTED;
    };
    poolless.mem_alloc_async = [](CUdeviceptr*, std::size_t, CUstream) {
      return CUDA_ERROR_NOT_SUPPORTED;
    };
  }
  poolless.mem_free_async = nullptr;
  gpu::driver::scoped_entry_points in_force(poolless);
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  const std::size_t before = driver.live_objects();
  {
    device_buffer<int> buffer = value_of(device_buffer<int>::create(stream, 10));
    CHECK(driver.live_objects() == before + 1);
    CHECK(copy(std::vector<int>(10), buffer).has_value());
  }
  CHECK(driver.live_objects() == before);
}

TEST_CASE("device_buffer: on a default stream", "[memory][device_buffer]") {
  const gpu::device device = test::first_device();
  const gpu::stream_ref legacy = value_of(gpu::stream_ref::legacy_default(device));
  bool made = false;
  const test::reported_errors reports;
  const test::noted_calls<&gpu::driver::entry_points::mem_free_async> freed;
  std::thread([&] { made = device_buffer<int>::create(legacy, 10).has_value(); }).join();
  CHECK(made);
  INFO(reports.last());
  CHECK(reports.count() == 0);  // it went back in that thread, too
  CHECK(freed.last<1>() == legacy.native());
}

TEST_CASE("device_buffer: more bytes than can be counted", "[memory][device_buffer]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const std::size_t most = ~std::size_t{0} / 2 / sizeof(double);
  const gpu::cuda_error error = error_of(device_buffer<double>::create(stream, most + 1));
  CHECK(error == gpu::errc::size_overflow);
  CHECK(error.asked() == most + 1);
  CHECK(error.limit() == most);
  CHECK(says(error, "1152921504606846976 elements of 8 bytes", "1152921504606846975"));
  CHECK(error_of(device_buffer<double>::create(device, most + 1)) == gpu::errc::size_overflow);
  const int difference = 3 - 5;
  CHECK(says(error_of(device_buffer<double>::create(device, static_cast<std::size_t>(difference))),
             "(-2, if the number was negative)"));
}

TEST_CASE("device_buffer: out of memory says asked, free and total",
          "[memory][device_buffer][cpu]") {
  test::own_cpu_driver driver({.memory_per_device = std::size_t{16} << 20});
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const std::size_t too_much = std::size_t{32} << 20;
  for (const gpu::cuda_error& error : {error_of(device_buffer<char>::create(stream, too_much)),
                                       error_of(device_buffer<char>::create(device, too_much))}) {
    CHECK(error.domain() == gpu::error_domain::driver);
    CHECK(error.code() == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(error.kind() == gpu::error_kind::memory);
    CHECK(error.asked() == too_much);
    CHECK(error.limit() <= std::size_t{16} << 20);
    CHECK(says(error, "33554432", "16777216", "device 0", "Free buffers"));
  }
  CHECK(device_buffer<char>::create(stream, 1000).has_value());
}

TEST_CASE("device_buffer: an empty stream is refused by name", "[memory][device_buffer]") {
  CHECK(says(error_of(device_buffer<int>::create(gpu::stream_ref{}, 1)),
             "gpu::device_buffer::create", "stream is empty"));
  CHECK(error_of(device_buffer<int>::create(gpu::context_ref{}, 1)) == gpu::errc::empty_handle);
}

TEST_CASE("device_buffer: each driver call may fail", "[memory][device_buffer][faults][cpu]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
          GPU_TRY(device_buffer<int>::create(stream, 10));
          return stream.synchronize();
        }) == "");
}

TEST_CASE("device_buffer: each driver call may fail where a context is needed",
          "[memory][device_buffer][faults][cpu]") {
  // Where the destructor cannot find out what is current, it reports that and frees all the same.
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              GPU_TRY(device_buffer<int>::create(device, 10));
              const gpu::stream_ref legacy = gpu::stream_ref::legacy_default(primary);
              GPU_TRY(device_buffer<int>::create(legacy, 10));
              return legacy.synchronize();
            },
            {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace device_buffer_test
