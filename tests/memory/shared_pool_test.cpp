#include <gpu/memory/shared_pool.hpp>

#include "support/captured.hpp"
#include "support/descriptor_socket.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/memory/memory_access.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/memory_pool.hpp>

#include <fcntl.h>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace shared_pool_test {

using gpu::file_descriptor;
using gpu::imported_memory_pool;
using gpu::memory_pool;
using test::error_of;
using test::says;
using test::value_of;

static_assert(std::is_trivially_copyable_v<gpu::allocation_handle>);
static_assert(!std::is_copy_constructible_v<imported_memory_pool>);
static_assert(std::is_nothrow_move_constructible_v<imported_memory_pool>);
static_assert(!std::is_convertible_v<imported_memory_pool&, gpu::memory_pool_ref>);

namespace {

constexpr gpu::memory_pool_options shared{.handle_types =
                                              gpu::shareable_handle_types::posix_file_descriptor};

}  // namespace

TEST_CASE("shared_pool: in the process that receives", "[.child]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  gpu::allocation_handle handle;
  const file_descriptor file = test::receive_descriptor(handle);
  const auto pool = value_of(imported_memory_pool::open(device, file));
  CHECK(pool.location() == gpu::memory_location(device));
  CHECK(value_of(pool.access(device)) == gpu::memory_access::read_write);
  CHECK(says(error_of(pool.set_access(device, gpu::memory_access::none)), "always has access"));
  auto buffer = value_of(pool.open_allocation<int>(stream, handle));
  REQUIRE(buffer.size() == 1000);
  std::vector<int> here(1000);
  REQUIRE(copy(buffer, here).has_value());
  for (int i = 0; i < 1000; ++i) CHECK(here[static_cast<std::size_t>(i)] == i * 3);
  for (int& value : here) value = -value;
  REQUIRE(copy(here, buffer).has_value());
  CHECK(error_of(gpu::export_allocation(buffer)).code() == CUDA_ERROR_INVALID_VALUE);
  gpu::allocation_handle damaged = handle;
  damaged.native.reserved[3] ^= 0x55;
  CHECK(error_of(pool.open_allocation<int>(stream, damaged)).code() == CUDA_ERROR_INVALID_VALUE);
  damaged = handle;
  damaged.bytes -= 1;
  const gpu::cuda_error part = error_of(pool.open_allocation<int>(stream, damaged));
  CHECK(part == gpu::errc::size_mismatch);
  CHECK(says(part, "3999 bytes", "of 4 bytes"));
}

TEST_CASE("shared_pool: two processes have the same memory", "[memory][pool][shared_pool]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const memory_pool pool = value_of(memory_pool::create(device, shared));
  const auto before = value_of(pool.allocate<int>(stream, 10));
  auto buffer = value_of(pool.allocate<int>(stream, 1000));
  std::vector<int> here(1000);
  for (int i = 0; i < 1000; ++i) here[static_cast<std::size_t>(i)] = i * 3;
  REQUIRE(copy(here, buffer).has_value());
  const test::descriptor_socket socket;
  CHECK(says(error_of(gpu::export_allocation(buffer)), "Export its pool first"));
  const file_descriptor file = value_of(gpu::export_pool(pool));
  socket.send(file, value_of(gpu::export_allocation(buffer)));
  const test::program_outcome other =
      test::run_child("shared_pool: in the process that receives", socket.for_child());
  INFO(other.output);
  REQUIRE(other.succeeded());
  REQUIRE(copy(buffer, here).has_value());
  for (int i = 0; i < 1000; ++i) CHECK(here[static_cast<std::size_t>(i)] == i * -3);
}

TEST_CASE("shared_pool: what stands for nothing is refused", "[memory][pool][shared_pool]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const memory_pool own = value_of(memory_pool::create(device));
  const gpu::cuda_error kept = error_of(gpu::export_pool(own));
  CHECK(kept.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(kept, ".handle_types = gpu::shareable_handle_types::posix_file_descriptor"));
  CHECK(error_of(gpu::export_pool(gpu::memory_pool_ref{})) == gpu::errc::empty_handle);
  const auto buffer = value_of(own.allocate<int>(stream, 10));
  CHECK(error_of(gpu::export_allocation(buffer)).code() == CUDA_ERROR_INVALID_VALUE);
  const auto nothing = value_of(own.allocate<int>(stream, 0));
  CHECK(says(error_of(gpu::export_allocation(nothing)), "the buffer is empty"));
  CHECK(error_of(imported_memory_pool::open(device, file_descriptor{})) == gpu::errc::empty_handle);
  auto closed = file_descriptor::adopt(987);
  CHECK(says(error_of(imported_memory_pool::open(device, closed)),
             "file descriptor 987 is not open", "SCM_RIGHTS"));
  static_cast<void>(closed.release());
  const auto stranger = file_descriptor::adopt(::open("/dev/null", O_RDWR | O_CLOEXEC));
  CHECK(says(error_of(imported_memory_pool::open(device, stranger)),
             "does not refer to a memory pool"));
}

TEST_CASE("shared_pool: is not exported while a stream is captured",
          "[memory][pool][shared_pool][capture]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const memory_pool pool = value_of(memory_pool::create(device, shared));
  const auto buffer = value_of(pool.allocate<int>(stream, 100));
  const file_descriptor file = value_of(gpu::export_pool(pool));
  test::check_refused_in_capture(stream, "pool", [&] { return gpu::export_pool(pool); });
  test::check_refused_in_capture(stream, "allocation",
                                 [&] { return gpu::export_allocation(buffer); });
}

TEST_CASE("shared_pool: is not opened while a stream is captured",
          "[memory][pool][shared_pool][capture][cpu]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const memory_pool pool = value_of(memory_pool::create(device, shared));
  const auto buffer = value_of(pool.allocate<int>(stream, 100));
  const file_descriptor file = value_of(gpu::export_pool(pool));
  const gpu::allocation_handle handle = value_of(gpu::export_allocation(buffer));
  const auto imported = value_of(imported_memory_pool::open(device, file));
  test::check_refused_in_capture(stream, "pool",
                                 [&] { return imported_memory_pool::open(device, file); });
  test::check_refused_in_capture(stream, "allocation",
                                 [&] { return imported.open_allocation<int>(stream, handle); });
}

TEST_CASE("shared_pool: survives every failing call", "[memory][pool][shared_pool][cpu]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          gpu::device device = GPU_TRY(gpu::device::get(0));
          gpu::stream stream = GPU_TRY(gpu::stream::create(device));
          const memory_pool pool = GPU_TRY(memory_pool::create(device, shared));
          auto buffer = GPU_TRY(pool.allocate<int>(stream, 100));
          const file_descriptor file = GPU_TRY(gpu::export_pool(pool));
          const gpu::allocation_handle handle = GPU_TRY(gpu::export_allocation(buffer));
          auto imported = GPU_TRY(imported_memory_pool::open(device, file));
          const auto moved = std::move(imported);
          GPU_TRY(moved.access(device));
          GPU_TRY(moved.set_access(device, gpu::memory_access::read_write));
          const auto same = GPU_TRY(moved.open_allocation<int>(stream, handle));
          return stream.synchronize();
        }) == "");
}

}  // namespace shared_pool_test
