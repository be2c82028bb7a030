// The caching allocator if a driver call or an allocation on the host fails.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/pinned_buffer.hpp>
#include <gpu/memory/pinned_flags.hpp>
#include <gpu/testing/fault_injection.hpp>

#include "support/drivers.hpp"
#include "support/host_memory.hpp"
#include "support/results.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace caching_faults_test {

using gpu::caching_allocator;
using test::error_of;
using test::value_of;

namespace {
constexpr std::size_t mebibyte = std::size_t{1} << 20;
}

TEST_CASE("caching_allocator: survives every failing call", "[memory][caching][cpu]") {
  const auto operation = []() -> gpu::result<> {
    gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
    const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
    gpu::stream one = GPU_TRY(gpu::stream::create(device));
    gpu::stream two = GPU_TRY(gpu::stream::create(device));
    auto cache = GPU_TRY(caching_allocator::create(device));
    {
      auto buffer = GPU_TRY(cache.allocate<int>(one, 100));
    }
    GPU_TRY(cache.hand_over(one));
    auto buffer = GPU_TRY(cache.allocate<int>(two, 100));
    return two.synchronize();
  };
  // A stream whose number the short path cannot get is asked again on the long one.
  CHECK(test::sweep(operation, {"cuCtxGetCurrent", "cuStreamGetId"}) == "");
}

TEST_CASE("caching_allocator: says how much the host lacks, and what to do",
          "[memory][caching][faults][cpu]") {
  if (!test::failing_allocation::possible()) return;
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  // The record of a stream; that of a segment, now with one of the stream; that of its blocks.
  for (const std::size_t n : {0u, 1u, 1u}) {
    const test::failing_allocation failing(n);
    const gpu::cuda_error error = error_of(cache.allocate<char>(stream, 100));
    CHECK(failing.happened());
    CHECK(error == gpu::errc::out_of_host_memory);
    CHECK(error.asked() > 0);
    CHECK(test::says(error, "gpu::caching_allocator::allocate",
                     (std::to_string(error.asked()) + " bytes").c_str(), "Free host memory"));
  }
  CHECK(value_of(cache.allocate<char>(stream, 100)).size() == 100);
}

TEST_CASE("caching_allocator: streams that are gone leave no records behind",
          "[memory][caching][faults][cpu]") {
  if (!test::failing_allocation::possible()) return;
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  caching_allocator cache = value_of(caching_allocator::create(device));
  constexpr std::size_t streams = 256;
  const auto use_streams = [&](auto finish) {
    for (std::size_t i = 0; i < streams; ++i) {
      const gpu::stream stream = value_of(gpu::stream::create(device));
      value_of(cache.allocate<char>(stream, 100));
      finish(stream);
    }
  };
  const auto trim = [&](const gpu::stream&) { CHECK(cache.trim() == 2 * mebibyte); };
  use_streams(trim);
  {
    const test::failing_allocation beyond(streams);  // one for each segment, and none for a stream
    use_streams(trim);
    CHECK_FALSE(beyond.happened());
  }
  {
    const test::failing_allocation beyond(1);
    use_streams([&](const gpu::stream& stream) { value_of(cache.hand_over(stream)); });
    CHECK_FALSE(beyond.happened());
  }
}

TEST_CASE("caching_allocator: does without what others have where the host has no memory for it",
          "[memory][caching][faults][cpu]") {
  if (!test::failing_allocation::possible()) return;
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  {
    const auto first = value_of(cache.allocate<char>(one, 2 * mebibyte));
    const auto second = value_of(cache.allocate<char>(one, 2 * mebibyte));
  }
  value_of(cache.hand_over(one));
  {
    const test::failing_allocation failing(1);  // after the record of the stream, that of a block
    const auto buffer = value_of(cache.allocate<char>(two, 2 * mebibyte));
    CHECK(failing.happened());
    CHECK(buffer.native() != 0);
    CHECK(cache.statistics().shared == 0);
    CHECK(cache.statistics().segments == 2);  // a new one, and the other of those handed over
    CHECK(cache.statistics().held_bytes == 4 * mebibyte);
    const auto other = value_of(cache.allocate<char>(two, 2 * mebibyte));
    CHECK(cache.statistics().shared == 1);
  }
  CHECK(cache.statistics().held_bytes == 4 * mebibyte);
}

TEST_CASE("caching_allocator: a failing wait for the device loses nothing",
          "[memory][caching][cpu]") {
  test::own_cpu_driver driver({.memory_per_device = 16 * mebibyte});
  gpu::testing::fault_injection faults(driver.table());
  gpu::driver::scoped_entry_points in_force(faults.entry_points());
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  const CUdeviceptr address = value_of(cache.allocate<char>(one, 12 * mebibyte)).native();
  faults.fail_call("cuCtxSynchronize", 0, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(error_of(cache.allocate<char>(two, 12 * mebibyte)).code() ==
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(value_of(cache.allocate<char>(one, 12 * mebibyte)).native() == address);
}

TEST_CASE("caching_allocator: counts as hits what was had without the driver, whatever it refused",
          "[memory][caching][cpu]") {
  test::own_cpu_driver driver({.memory_per_device = 16 * mebibyte});
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  std::vector<gpu::device_buffer<char>> buffers;
  for (int i = 0; i < 10; ++i) buffers.push_back(value_of(cache.allocate<char>(one, mebibyte)));
  CHECK(cache.statistics().hits == 5);
  for (int i = 0; i < 10; ++i) error_of(cache.allocate<char>(one, 512 * mebibyte));
  CHECK(cache.statistics().hits == 5);
  CHECK(cache.statistics().misses == 5 + 10 * 2);
  buffers.clear();
  // No segment has so much; the driver has it once it got them back.
  buffers.push_back(value_of(cache.allocate<char>(one, 12 * mebibyte)));
  CHECK(cache.statistics().misses == 25 + 2);
  CHECK(cache.statistics().hits == 5);
  buffers.clear();
  // The driver refuses, and the stream gets what the other one had free.
  buffers.push_back(value_of(cache.allocate<char>(two, 12 * mebibyte)));
  CHECK(cache.statistics().misses == 28);
  CHECK(cache.statistics().shared == 1);
  CHECK(cache.statistics().hits == 5);
}

TEST_CASE("caching_pinned_allocator: counts as hits what was had without the driver",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  auto cache = value_of(gpu::caching_pinned_allocator::create(device, gpu::pinned_flags::none,
                                                              {.limit = 4 * mebibyte}));
  std::vector<gpu::pinned_buffer<char>> buffers;
  for (int i = 0; i < 4; ++i) buffers.push_back(value_of(cache.allocate<char>(mebibyte)));
  CHECK(cache.statistics().misses == 2);
  for (int i = 0; i < 3; ++i) error_of(cache.allocate<char>(mebibyte));
  CHECK(cache.statistics().misses == 2);  // the limit refused it
  CHECK(cache.statistics().hits == 2);
  // A lack of memory that the driver tells counts as asking, and is no hit.
  gpu::testing::fault_injection faults(gpu::driver::current_entry_points());
  const gpu::driver::scoped_entry_points in_force(faults.entry_points());
  auto other = value_of(gpu::caching_pinned_allocator::create(device));
  for (std::size_t n = 0; n < 4; ++n) {
    if (n % 2 == 0) faults.fail_call("cuMemHostAlloc", 0, CUDA_ERROR_OUT_OF_MEMORY);
    static_cast<void>(value_of(other.allocate<char>(2 * mebibyte)));
    CHECK(other.statistics().hits == (n + 1) / 2);
    if (n % 2 == 1) other.trim();
  }
}

}  // namespace caching_faults_test
