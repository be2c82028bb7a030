#include <gpu/memory/growing_buffer.hpp>

#include "support/drivers.hpp"
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
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/physical_memory.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace growing_buffer_test {

using gpu::growing_buffer;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<growing_buffer<int>>);
static_assert(std::is_nothrow_move_constructible_v<growing_buffer<int>>);
static_assert(gpu::device_range<growing_buffer<int>&>);
static_assert(!gpu::device_range<growing_buffer<int>>);
static_assert(gpu::kernel_argument_for<growing_buffer<int>&, int*>);
static_assert(gpu::kernel_argument_for<const growing_buffer<int>&, gpu::device_span<const int>>);
static_assert(!gpu::kernel_argument_for<growing_buffer<int>, int*>);

TEST_CASE("growing_buffer: grows where it is", "[memory][growing_buffer]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const std::size_t unit = value_of(gpu::granularity_of(device)) / sizeof(int);
  auto buffer = value_of(growing_buffer<int>::create(device, 4 * unit - 5));
  CHECK(buffer.empty());
  CHECK(buffer.capacity() == 0);
  CHECK(buffer.max_size() == 4 * unit);
  CHECK(buffer.device() == device);
  REQUIRE(buffer.resize(100).has_value());
  CHECK(buffer.size() == 100);
  CHECK(buffer.capacity() == unit);
  const CUdeviceptr address = buffer.native();
  REQUIRE(fill(stream, buffer, 1).has_value());
  REQUIRE(buffer.resize(unit + 100).has_value());
  CHECK(buffer.capacity() == 2 * unit);
  CHECK(buffer.native() == address);
  REQUIRE(fill(stream, buffer.span().subspan(100), 2).has_value());
  REQUIRE(buffer.resize(4 * unit).has_value());
  REQUIRE(fill(stream, buffer.span().last(10), 3).has_value());
  std::vector<int> back;
  back.resize(unit + 100);
  REQUIRE(copy(buffer.span().first(unit + 100), back).has_value());
  CHECK(back[0] == 1);
  CHECK(back[99] == 1);
  CHECK(back[100] == 2);
  CHECK(back[unit + 99] == 2);
  std::vector<int> end(10);
  REQUIRE(copy(buffer.span().last(10), end).has_value());
  CHECK(end == std::vector<int>(10, 3));

  REQUIRE(buffer.resize(50).has_value());
  CHECK(buffer.capacity() == 4 * unit);  // fewer elements give nothing back
  REQUIRE(buffer.shrink_to_fit().has_value());
  CHECK(buffer.capacity() == unit);
  CHECK(buffer.max_size() == 4 * unit);
  REQUIRE(buffer.resize(2 * unit).has_value());
  CHECK(buffer.native() == address);
  REQUIRE(copy(buffer.span().first(10), end).has_value());
  CHECK(end == std::vector<int>(10, 1));
}

TEST_CASE("growing_buffer: gives back pieces as they came", "[memory][growing_buffer]") {
  const gpu::device device = test::first_device();
  const std::size_t unit = value_of(gpu::granularity_of(device));
  auto buffer = value_of(growing_buffer<char>::create(device, 8 * unit));
  REQUIRE(buffer.reserve(unit).has_value());
  REQUIRE(buffer.reserve(4 * unit).has_value());
  REQUIRE(buffer.reserve(3 * unit).has_value());  // there is room
  CHECK(buffer.capacity() == 4 * unit);
  REQUIRE(buffer.resize(2 * unit).has_value());
  REQUIRE(buffer.shrink_to_fit().has_value());
  CHECK(buffer.capacity() == 4 * unit);  // the second piece is in use
  REQUIRE(buffer.resize(0).has_value());
  REQUIRE(buffer.shrink_to_fit().has_value());
  CHECK(buffer.capacity() == 0);
  REQUIRE(buffer.shrink_to_fit().has_value());
}

TEST_CASE("growing_buffer: refuses what it has no addresses or memory for",
          "[memory][growing_buffer]") {
  const gpu::device device = test::first_device();
  const std::size_t unit = value_of(gpu::granularity_of(device));
  auto buffer = value_of(growing_buffer<char>::create(device, 10));
  const gpu::cuda_error error = error_of(buffer.resize(unit + 1));
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(error.limit() == unit);
  CHECK(says(error, "Create the buffer with a larger max_size", "growing_buffer_test.cpp"));
  CHECK(error_of(growing_buffer<double>::create(device, ~std::size_t{0} / 4)) ==
        gpu::errc::size_overflow);
  CHECK(error_of(growing_buffer<int>::create(gpu::context_ref{}, 4)) == gpu::errc::empty_handle);
  auto moved = std::move(buffer);
  CHECK(error_of(buffer.resize(1)) == gpu::errc::empty_handle);
  CHECK(buffer.resize(0).has_value());
  CHECK(buffer.shrink_to_fit().has_value());
  auto huge = value_of(growing_buffer<char>::create(device, std::size_t{1} << 44));
  REQUIRE(huge.resize(5).has_value());
  const gpu::cuda_error none = error_of(huge.resize(std::size_t{1} << 44));
  CHECK(none.code() == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(says(none, "asked for ", "are free on device 0"));
  CHECK(huge.size() == 5);
  CHECK(huge.capacity() == unit);
  auto nothing = value_of(growing_buffer<char>::create(device, 0));
  CHECK(nothing.max_size() == 0);
}

TEST_CASE("growing_buffer: may grow while a stream is captured, and shrink afterwards",
          "[memory][growing_buffer]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto buffer = value_of(growing_buffer<int>::create(device, 100));
  REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
  CHECK(growing_buffer<int>::create(device, 100).has_value());
  CHECK(buffer.resize(100).has_value());
  CHECK(fill(stream, buffer, 4).has_value());
  CUgraph graph = nullptr;
  REQUIRE(test::driver().stream_end_capture(stream.native(), &graph) == CUDA_SUCCESS);
  CHECK(test::driver().graph_destroy(graph) == CUDA_SUCCESS);
  REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
  REQUIRE(buffer.resize(0).has_value());
  CHECK(error_of(buffer.shrink_to_fit()).code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(buffer.capacity() != 0);
  CHECK(test::driver().stream_end_capture(stream.native(), &graph) ==
        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(buffer.shrink_to_fit().has_value());
  CHECK(buffer.capacity() == 0);
}

TEST_CASE("growing_buffer: a driver that refuses access leaves it as it was",
          "[memory][growing_buffer][cpu]") {
  test::own_cpu_driver driver;
  gpu::testing::fault_injection faults(driver.table());
  const gpu::driver::scoped_entry_points in_force(faults.entry_points());
  const gpu::device device = test::first_device();
  auto buffer = value_of(growing_buffer<char>::create(device, 100));
  const std::size_t before = driver.live_objects();
  for (const char* each : {"cuMemCreate", "cuMemMap", "cuMemSetAccess"}) {
    faults.fail_call(each, 0, CUDA_ERROR_UNKNOWN);
    CHECK(error_of(buffer.resize(1)).code() == CUDA_ERROR_UNKNOWN);
    CHECK(driver.live_objects() == before);
    CHECK(buffer.size() == 0);
  }
  CHECK(buffer.resize(1).has_value());
}

TEST_CASE("growing_buffer: survives every failing call", "[memory][growing_buffer][cpu]") {
  // Of the calls that wait, those of shrink_to_fit fail for its caller, those of the destructor for
  // the error reporter; cuCtxGetDevice only notes for later errors what has finished.
  CHECK(test::sweep(
            []() -> gpu::result<> {
              gpu::device device = GPU_TRY(gpu::device::get(0));
              auto buffer = GPU_TRY(growing_buffer<int>::create(device, 2 << 20));
              GPU_TRY(buffer.resize(10));
              GPU_TRY(buffer.resize(1 << 20));
              GPU_TRY(buffer.resize(5));
              GPU_TRY(buffer.reserve(1 << 21));
              return buffer.shrink_to_fit();
            },
            {"cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxSynchronize", "cuCtxGetDevice"}) == "");
}

TEST_CASE("growing_buffer: says when it could not wait", "[memory][growing_buffer][cpu]") {
  test::own_cpu_driver driver;
  gpu::testing::fault_injection faults(driver.table());
  const gpu::driver::scoped_entry_points in_force(faults.entry_points());
  const test::reported_errors reports;
  {
    auto buffer = value_of(growing_buffer<char>::create(test::first_device(), 100));
    REQUIRE(buffer.resize(1).has_value());
    faults.fail_call("cuCtxSynchronize", 0, CUDA_ERROR_UNKNOWN);
    CHECK(error_of(buffer.shrink_to_fit()).code() == CUDA_ERROR_UNKNOWN);
    CHECK(buffer.capacity() != 0);
    faults.fail_call("cuCtxSynchronize", 0, CUDA_ERROR_UNKNOWN);
  }
  CHECK(reports.count() == 1);
  CHECK(reports.last().find("cuCtxSynchronize") != std::string::npos);
  CHECK(driver.live_objects() == 0);
}

}  // namespace growing_buffer_test
