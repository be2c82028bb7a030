#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/ipc.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/testing/fault_injection.hpp>

#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/hex.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace ipc_test {

using test::error_of;
using test::says;
using test::value_of;

static_assert(std::is_trivially_copyable_v<gpu::memory_handle>);
static_assert(std::is_trivially_copyable_v<gpu::event_handle>);
static_assert(!std::is_copy_constructible_v<gpu::imported_memory<int>>);
static_assert(std::is_nothrow_move_constructible_v<gpu::imported_memory<int>>);

namespace {

/// A driver on which a handle is the address itself: what the wrapper makes of it can be seen
/// without a second process.
class sharing_driver {
 public:
  sharing_driver() : table_{cpu_.table()}, in_force_{prepare(table_)} { opened = closed = 0; }

  inline static int opened, closed;

 private:
  static const gpu::driver::entry_points& prepare(gpu::driver::entry_points& table) {
    table.ipc_get_mem_handle = [](CUipcMemHandle* handle, CUdeviceptr address) {
      std::memcpy(handle->reserved, &address, sizeof address);
      return CUDA_SUCCESS;
    };
    table.ipc_open_mem_handle = [](CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
      CHECK(flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
      std::memcpy(address, handle.reserved, sizeof *address);
      ++opened;
      return CUDA_SUCCESS;
    };
    table.ipc_get_event_handle = [](CUipcEventHandle* handle, CUevent event) {
      std::memcpy(handle->reserved, &event, sizeof event);
      return CUDA_SUCCESS;
    };
    table.ipc_open_event_handle = [](CUevent* event, CUipcEventHandle handle) {
      std::memcpy(event, handle.reserved, sizeof *event);
      return CUDA_SUCCESS;
    };
    table.ipc_close_mem_handle = [](CUdeviceptr) {
      ++closed;
      return CUDA_SUCCESS;
    };
    return table;
  }

  test::own_cpu_driver cpu_;
  gpu::driver::entry_points table_;
  gpu::driver::scoped_entry_points in_force_;
};

}  // namespace

TEST_CASE("ipc: a part of an allocation keeps its place in it", "[memory][ipc][cpu]") {
  const sharing_driver driver;
  const gpu::device device = test::first_device();
  auto buffer = value_of(gpu::device_buffer<int>::create(device, 1000));
  const gpu::device_span<int> part = buffer.span().subspan(100, 50);
  const gpu::memory_handle handle = value_of(gpu::export_memory(part));
  CHECK(handle.offset == 400);
  CHECK(handle.bytes == 200);
  {
    const auto imported = value_of(gpu::imported_memory<int>::open(device, handle));
    CHECK(imported);
    CHECK(imported.span().native() == part.native());
    CHECK(imported.span().size() == 50);
    CHECK(sharing_driver::opened == 1);
    CHECK(sharing_driver::closed == 0);
  }
  CHECK(sharing_driver::closed == 1);
}

TEST_CASE("ipc: imported memory is closed once, and moves", "[memory][ipc][cpu]") {
  const sharing_driver driver;
  const gpu::device device = test::first_device();
  auto buffer = value_of(gpu::device_buffer<float>::create(device, 8));
  const gpu::memory_handle handle = value_of(gpu::export_memory(buffer.span()));
  auto first = value_of(gpu::imported_memory<float>::open(device, handle));
  auto second = std::move(first);
  CHECK_FALSE(first);
  CHECK(first.span().size() == 0);
  CHECK(second.span().size() == 8);
  CHECK(second.close().has_value());
  CHECK(sharing_driver::closed == 1);
  CHECK(second.close().has_value());
  CHECK(sharing_driver::closed == 1);
}

TEST_CASE("ipc: another element type has to fit", "[memory][ipc][cpu]") {
  const sharing_driver driver;
  const gpu::device device = test::first_device();
  auto buffer = value_of(gpu::device_buffer<char>::create(device, 10));
  const gpu::memory_handle handle = value_of(gpu::export_memory(buffer.span()));
  const gpu::cuda_error error = error_of(gpu::imported_memory<int>::open(device, handle));
  CHECK(error == gpu::errc::size_mismatch);
  CHECK(says(error, "10 bytes", "of 4 bytes", "ipc_test.cpp"));
  CHECK(error_of(gpu::imported_memory<int>::open(device, gpu::memory_handle{})) ==
        gpu::errc::size_mismatch);
  CHECK(sharing_driver::opened == 0);
}

TEST_CASE("ipc: nothing cannot be exported, nor an event that notes the time", "[memory][ipc]") {
  const gpu::device device = test::first_device();
  const gpu::cuda_error nothing = error_of(gpu::export_memory(gpu::device_span<int>{}));
  CHECK(nothing == gpu::errc::invalid_argument);
  CHECK(says(nothing, "the span to export is empty"));
  auto buffer = value_of(gpu::device_buffer<int>::create(device, 1000));
  const CUdeviceptr address = buffer.span().subspan(900).native();
  CUdeviceptr base = 0;
  std::size_t size = 0;
  {
    const auto scope = value_of(gpu::context_scope::enter(value_of(gpu::context::primary(device))));
    REQUIRE(test::driver().mem_get_address_range(&base, &size, address) == CUDA_SUCCESS);
  }
  const std::size_t left = base + size - address;
  const auto beyond = gpu::device_span<char>::from_native(address, left + 1);
  const gpu::cuda_error much = error_of(gpu::export_memory(beyond));
  CHECK(much == gpu::errc::index_out_of_range);
  CHECK(much.asked() == left + 1);
  CHECK(much.limit() == left);
  CHECK(says(much, ("has " + std::to_string(left + 1) + " bytes").c_str(),
             ("ends after " + std::to_string(left)).c_str(),
             "Export a span inside one allocation"));
  static int local[4];
  const auto on_host = gpu::device_span<int>::from_native(
      static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(&local[0])), 4);
  const gpu::cuda_error unknown = error_of(gpu::export_memory(on_host));
  CHECK(unknown == gpu::errc::invalid_argument);
  CHECK(says(unknown, "gpu::export_memory", "does not name memory that the driver knows",
             "may have been freed"));
  const gpu::event timed = value_of(gpu::event::create(device));
  const gpu::cuda_error error = error_of(gpu::export_event(timed));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, ".timing = false, .interprocess = true"));
  CHECK(error_of(gpu::export_event(gpu::event_ref{})) == gpu::errc::empty_handle);
}

TEST_CASE("ipc: memory of a stream is not exported, and it is said which is", "[memory][ipc]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto buffer = value_of(gpu::device_buffer<int>::create(stream, 4));
  const gpu::cuda_error error = error_of(gpu::export_memory(buffer.span()));
  CHECK(error.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(error, "cuIpcGetMemHandle", "gpu::device_buffer::create(device, count)",
             "gpu::export_allocation"));
}

TEST_CASE("ipc: an imported event is one to record and to wait for", "[memory][ipc][cpu]") {
  const sharing_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  gpu::event event = value_of(gpu::event::create(device, {.timing = false, .interprocess = true}));
  const gpu::event_handle handle = value_of(gpu::export_event(event));
  gpu::event imported = value_of(gpu::import_event(device, handle));
  CHECK(imported.native() == event.native());
  CHECK(imported.context() == event.context());
  CHECK_FALSE(imported.has_timing());
  static_cast<void>(event.release());  // there is one event, in the end
  CHECK(gpu::record(stream, imported).has_value());
  CHECK(imported.synchronize().has_value());
}

TEST_CASE("ipc: a capture goes on while handles are made", "[memory][ipc][capture]") {
  const gpu::device device = test::first_device();
  const auto buffer = value_of(gpu::device_buffer<int>::create(device, 4));
  const gpu::event event =
      value_of(gpu::event::create(device, {.timing = false, .interprocess = true}));
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const test::captured made = test::capture(stream, [&] {
    CHECK(gpu::export_memory(buffer.span()).has_value());
    CHECK(gpu::export_event(event).has_value());
  });
  CHECK(made.unharmed());
}

TEST_CASE("ipc: every call that fails is told and nothing stays mapped", "[memory][ipc][cpu]") {
  const sharing_driver driver;
  const gpu::device device = test::first_device();
  auto buffer = value_of(gpu::device_buffer<int>::create(device, 4));
  gpu::testing::fault_injection faults(gpu::driver::current_entry_points());
  const gpu::driver::scoped_entry_points in_force(faults.entry_points());
  value_of(gpu::context::primary(device));
  const gpu::testing::fault_sweep outcome =
      gpu::testing::sweep_faults(faults, [&]() -> gpu::result<> {
        const gpu::memory_handle handle = GPU_TRY(gpu::export_memory(buffer.span()));
        auto imported = GPU_TRY(gpu::imported_memory<int>::open(device, handle));
        gpu::event event =
            GPU_TRY(gpu::event::create(device, {.timing = false, .interprocess = true}));
        const gpu::event_handle mark = GPU_TRY(gpu::export_event(event));
        gpu::event again = GPU_TRY(gpu::import_event(device, mark));
        static_cast<void>(again.release());
        return imported.close();
      });
  CHECK(outcome.text() == "");
  CHECK(sharing_driver::opened == sharing_driver::closed);
}

TEST_CASE("ipc: in the process that receives", "[.child]") {
  const gpu::device device = test::first_device();
  const auto memory = test::from_hex<gpu::memory_handle>("TEST_MEMORY_HANDLE");
  const auto mark = test::from_hex<gpu::event_handle>("TEST_EVENT_HANDLE");
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const test::captured spared = test::capture(stream, [&] {
    auto opened = value_of(gpu::imported_memory<int>::open(device, memory));
    CHECK(opened.close().has_value());
    value_of(gpu::import_event(device, mark));
  });
  CHECK(spared.unharmed());
  CHECK(spared.nodes == 0);
  const auto imported = value_of(gpu::imported_memory<int>::open(device, memory));
  REQUIRE(imported.span().size() == 1000);
  const gpu::event written = value_of(gpu::import_event(device, mark));
  REQUIRE(gpu::wait(stream, written).has_value());
  auto here = value_of(gpu::pinned_vector<int>::create(device, 1000));
  REQUIRE(gpu::copy(stream, imported.span(), here).has_value());
  REQUIRE(stream.synchronize().has_value());
  for (int i = 0; i < 1000; ++i) CHECK(here[static_cast<std::size_t>(i)] == i * 3);
  // And an answer, in the same memory.
  for (int& value : here) value = -value;
  REQUIRE(gpu::copy(stream, here, imported.span()).has_value());
  REQUIRE(gpu::record(stream, written).has_value());
  REQUIRE(written.synchronize().has_value());
}

TEST_CASE("ipc: two processes write to one memory, in order", "[memory][ipc]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto buffer = value_of(gpu::device_buffer<int>::create(device, 1100));
  const gpu::device_span<int> shared = buffer.span().subspan(100, 1000);
  auto here = value_of(gpu::pinned_vector<int>::create(device, 1000));
  for (int i = 0; i < 1000; ++i) here[static_cast<std::size_t>(i)] = i * 3;
  REQUIRE(gpu::copy(stream, here, shared).has_value());
  const gpu::event written =
      value_of(gpu::event::create(device, {.timing = false, .interprocess = true}));
  REQUIRE(gpu::record(stream, written).has_value());

  const test::program_outcome other =
      test::run_child("ipc: in the process that receives",
                      {{"TEST_MEMORY_HANDLE", test::as_hex(value_of(gpu::export_memory(shared)))},
                       {"TEST_EVENT_HANDLE", test::as_hex(value_of(gpu::export_event(written)))}});
  INFO(other.output);
  REQUIRE(other.succeeded());

  REQUIRE(gpu::wait(stream, written).has_value());  // as the other process recorded it
  REQUIRE(gpu::copy(stream, shared, here).has_value());
  REQUIRE(stream.synchronize().has_value());
  for (int i = 0; i < 1000; ++i) CHECK(here[static_cast<std::size_t>(i)] == i * -3);
}

TEST_CASE("ipc: memory is not imported where it was exported", "[memory][ipc]") {
  const gpu::device device = test::first_device();
  auto buffer = value_of(gpu::device_buffer<int>::create(device, 16));
  const gpu::memory_handle handle = value_of(gpu::export_memory(buffer.span()));
  const gpu::cuda_error error = error_of(gpu::imported_memory<int>::open(device, handle));
  CHECK(error.code() == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(says(error, "this process exported the handle itself"));
}

TEST_CASE("ipc: what is no handle is told as that", "[memory][ipc][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  gpu::memory_handle nothing;
  nothing.bytes = 8;
  const gpu::cuda_error memory = error_of(gpu::imported_memory<int>::open(device, nothing));
  CHECK(memory.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(memory, "the handle does not refer to a live object of another process",
             "Export it again"));
  const gpu::cuda_error mark = error_of(gpu::import_event(device, gpu::event_handle{}));
  CHECK(mark.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(mark, "the handle does not refer to a live object of another process",
             "Export it again"));
  const gpu::event own = value_of(gpu::event::create(device, {.timing = false}));
  const gpu::cuda_error kept = error_of(gpu::export_event(own));
  CHECK(kept.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(kept, "created with event_options{.timing = false, .interprocess = true}"));
}

}  // namespace ipc_test
