#include <gpu/memory/prefetch.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/memory_location.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace managed_hints_test {

using gpu::managed_buffer;
using gpu::memory_advice;
using gpu::memory_attach;
using gpu::memory_location;
using test::error_of;
using test::says;
using test::value_of;

namespace {

/// One of the driver's own answers about the range, as a number.
int raw(CUmem_range_attribute which, CUdeviceptr address, std::size_t bytes) {
  int value = -77;
  const gpu::context_scope scope =
      value_of(gpu::context_scope::enter(value_of(gpu::context::primary(test::first_device()))));
  REQUIRE(test::driver().mem_range_get_attribute(&value, sizeof value, which, address, bytes) ==
          CUDA_SUCCESS);
  return value;
}

constexpr std::size_t page = 1 << 21;  // more than a page of host or device

}  // namespace

TEST_CASE("prefetch: the driver remembers where the range went", "[memory][managed]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto buffer = value_of(managed_buffer<char>::create(device, 2 * page));
  for (char& each : buffer) each = 1;
  REQUIRE(prefetch(stream, buffer.span().first(page), device).has_value());
  REQUIRE(prefetch(stream, buffer.span().last(page), memory_location::host()).has_value());
  REQUIRE(stream.synchronize().has_value());
  const auto last = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
  CHECK(raw(last, buffer.native(), page) == device.native());
  CHECK(raw(last, buffer.native() + page, page) == CU_DEVICE_CPU);
  CHECK(raw(last, buffer.native(), 2 * page) == CU_DEVICE_INVALID);
  CHECK(buffer[0] == 1);
  REQUIRE(prefetch(stream, buffer.span().first(0), device).has_value());
}

TEST_CASE("prefetch: refuses what it cannot do", "[memory][managed]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto buffer = value_of(managed_buffer<char>::create(device, 10));
  const gpu::cuda_error nowhere = error_of(prefetch(stream, buffer, memory_location{}));
  CHECK(nowhere == gpu::errc::invalid_argument);
  CHECK(says(nowhere, "location to prefetch to is empty", "gpu::memory_location::host()"));
  CHECK(error_of(prefetch(gpu::stream_ref{}, buffer, device)) == gpu::errc::empty_handle);
  auto plain = value_of(gpu::device_buffer<char>::create(device, 10));
  const gpu::cuda_error unmanaged = error_of(prefetch(stream, plain, device));
  CHECK(unmanaged.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(unmanaged, "cuMemPrefetchAsync", "the range is not managed memory",
             "Take it from a gpu::managed_buffer"));
  const gpu::cuda_error missing = error_of(prefetch(stream, buffer, gpu::device::from_native(99)));
  CHECK(missing == gpu::errc::index_out_of_range);
  CHECK(says(missing, "device index 99", "Choose an index below gpu::device::count()"));
  const auto kept = std::move(buffer);
  const gpu::cuda_error gone = error_of(prefetch(stream, buffer, device));
  CHECK(gone == gpu::errc::empty_handle);
  CHECK(says(gone, "gpu::prefetch", "the range is empty: it was moved from"));
  CHECK(error_of(gpu::advise(buffer, gpu::memory_advice::set_read_mostly)) ==
        gpu::errc::empty_handle);
}

// A device that reaches all host memory may have something to move there.
TEST_CASE("prefetch, advise: say how much there is of an allocation", "[memory][managed][cpu]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const auto buffer = value_of(managed_buffer<char>::create(device, 10));
  const auto beyond = gpu::device_span<char>::from_native(buffer.native() + 4, 7);
  for (const gpu::cuda_error& error : {error_of(prefetch(stream, beyond, device)),
                                       error_of(advise(beyond, memory_advice::set_read_mostly))}) {
    CHECK(error.code() == CUDA_ERROR_INVALID_VALUE);
    CHECK(says(error, "the range has 7 bytes, but its allocation ends after 6",
               "Pass a range inside one allocation"));
  }
}

TEST_CASE("advise: the driver remembers what was said", "[memory][managed]") {
  const gpu::device device = test::first_device();
  auto buffer = value_of(managed_buffer<char>::create(device, page));
  const auto has = [&](CUmem_range_attribute which) { return raw(which, buffer.native(), page); };
  REQUIRE(advise(buffer, memory_advice::set_read_mostly).has_value());
  CHECK(has(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY) == 1);
  REQUIRE(advise(buffer, memory_advice::unset_read_mostly).has_value());
  CHECK(has(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY) == 0);
  REQUIRE(advise(buffer, memory_advice::set_preferred_location, device).has_value());
  CHECK(has(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION) == device.native());
  REQUIRE(
      advise(buffer, memory_advice::set_preferred_location, memory_location::host()).has_value());
  CHECK(has(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION) == CU_DEVICE_CPU);
  REQUIRE(advise(buffer, memory_advice::unset_preferred_location).has_value());
  CHECK(has(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION) == CU_DEVICE_INVALID);
  REQUIRE(advise(buffer, memory_advice::set_accessed_by, device).has_value());
  CHECK(has(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) == device.native());
  REQUIRE(advise(buffer, memory_advice::unset_accessed_by, device).has_value());
  CHECK(has(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) == CU_DEVICE_INVALID);
}

// An H200 took a node of the host as well, and went on naming the device that was preferred before.
TEST_CASE("advise: a node of the host may be preferred", "[memory][managed][cpu]") {
  auto buffer = value_of(managed_buffer<char>::create(test::first_device(), page));
  REQUIRE(advise(buffer, memory_advice::set_preferred_location, memory_location::host_numa(0))
              .has_value());
  CHECK(raw(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, buffer.native(), page) ==
        CU_MEM_LOCATION_TYPE_HOST_NUMA);
}

TEST_CASE("advise: location and advice have to go together", "[memory][managed]") {
  const gpu::device device = test::first_device();
  auto buffer = value_of(managed_buffer<char>::create(device, 10));
  for (const memory_advice each :
       {memory_advice::set_preferred_location, memory_advice::set_accessed_by,
        memory_advice::unset_accessed_by}) {
    const gpu::cuda_error error = error_of(advise(buffer, each));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error, gpu::name_of(each), "needs a location"));
  }
  for (const memory_advice each : {memory_advice::set_read_mostly, memory_advice::unset_read_mostly,
                                   memory_advice::unset_preferred_location}) {
    const gpu::cuda_error error = error_of(advise(buffer, each, device));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error, gpu::name_of(each), "does not take a location", "device 0"));
  }
  CHECK(
      says(error_of(advise(buffer, memory_advice::set_accessed_by, memory_location::host_numa(0))),
           "a device or the host as a whole", "NUMA node 0"));
  CHECK(says(error_of(advise(buffer, memory_advice{9})), "9 is not a valid gpu::memory_advice"));
  auto plain = value_of(gpu::device_buffer<char>::create(device, 10));
  const gpu::cuda_error unmanaged = error_of(advise(plain, memory_advice::set_read_mostly));
  CHECK(unmanaged.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(unmanaged, "cuMemAdvise", "the range is not managed memory",
             "Take it from a gpu::managed_buffer"));
  CHECK(says(error_of(advise(buffer, memory_advice::set_accessed_by, gpu::device::from_native(99))),
             "device index 99", "Choose an index below gpu::device::count()"));
}

TEST_CASE("attach: to one stream, the host, or all", "[memory][managed]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto buffer = value_of(managed_buffer<int>::create(device, 10, memory_attach::host));
  static unsigned seen;
  static decltype(gpu::driver::entry_points::stream_attach_mem_async) real;
  real = test::driver().stream_attach_mem_async;
  gpu::driver::entry_points noting = test::driver();
  noting.stream_attach_mem_async = [](CUstream on, CUdeviceptr address, std::size_t length,
                                      unsigned flags) {
    seen = flags;
    return real(on, address, length, flags);
  };
  {
    const gpu::driver::scoped_entry_points in_force(noting);
    REQUIRE(attach(stream, buffer).has_value());
    CHECK(seen == CU_MEM_ATTACH_SINGLE);
    REQUIRE(attach(stream, buffer, memory_attach::host).has_value());
    CHECK(seen == CU_MEM_ATTACH_HOST);
    REQUIRE(attach(stream, buffer, memory_attach::global).has_value());
    CHECK(seen == CU_MEM_ATTACH_GLOBAL);
  }
  REQUIRE(stream.synchronize().has_value());
  const gpu::stream_ref legacy = value_of(gpu::stream_ref::legacy_default(device));
  REQUIRE(attach(legacy, buffer, memory_attach::global).has_value());
  const gpu::cuda_error single = error_of(attach(legacy, buffer));
  CHECK(single == gpu::errc::invalid_argument);
  CHECK(says(single, "default stream", "gpu::stream"));
  CHECK(says(error_of(attach(stream, buffer, memory_attach{3})),
             "3 is not a valid gpu::memory_attach"));
  auto none = value_of(managed_buffer<int>::create(device, 0));
  CHECK(attach(stream, none).has_value());
}

TEST_CASE("attach: the stream has to be of the buffer's context", "[memory][managed]") {
  const gpu::device device = test::first_device();
  const gpu::context other = value_of(gpu::context::create(device));
  const gpu::stream stream = value_of(gpu::stream::create(other));
  auto buffer = value_of(managed_buffer<int>::create(device, 10));
  CHECK(error_of(attach(stream, buffer)) == gpu::errc::wrong_context);
}

TEST_CASE("prefetch, advise, attach: survive every failing call", "[memory][managed][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              auto buffer = GPU_TRY(managed_buffer<int>::create(device, 100));
              GPU_TRY(advise(buffer, memory_advice::set_preferred_location, device));
              GPU_TRY(prefetch(stream, buffer, device));
              GPU_TRY(attach(stream, buffer));
              return stream.synchronize();
            },
            {"cuCtxGetCurrent"}) == "");
}

TEST_CASE("memory_advice: every value has a name", "[memory][managed]") {
  const char* names[] = {"set_read_mostly",          "unset_read_mostly", "set_preferred_location",
                         "unset_preferred_location", "set_accessed_by",   "unset_accessed_by"};
  for (int value = 1; value <= CU_MEM_ADVISE_UNSET_ACCESSED_BY; ++value)
    CHECK(gpu::name_of(memory_advice{value}) == std::string(names[value - 1]));
  CHECK(gpu::name_of(memory_advice{0}) == nullptr);
  CHECK(gpu::name_of(memory_advice{7}) == nullptr);
}

}  // namespace managed_hints_test
