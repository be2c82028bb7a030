#pragma once
/// \file
/// Shares device memory and events between processes: one exports a handle of plain bytes, which go
/// through any pipe, socket or file, and the other imports it.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/primary_context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/device_span.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// Refers to device memory of another process. A plain value, to be sent as bytes.
struct memory_handle {
  CUipcMemHandle native = {};
  std::uint64_t offset = 0;  ///< of the exported bytes in their allocation
  std::uint64_t bytes = 0;   ///< the number of exported bytes
};

/// Refers to an event of another process. A plain value, to be sent as bytes.
struct event_handle {
  CUipcEventHandle native = {};
};

namespace detail {

inline result<> export_memory(CUdeviceptr address, std::size_t bytes, memory_handle& made,
                              source_location where) noexcept {
  if (bytes == 0) {
    return fail(refusal(errc::invalid_argument, "gpu::export_memory",
                        text("the span to export is empty. Export a span with elements."), where));
  }
  CUdeviceptr base = 0;
  std::size_t size = 0;
  return driver::in_any_context(where, [&]() -> result<> {
    result<> found =
        driver::call<&driver::entry_points::mem_get_address_range>(where, &base, &size, address);
    if (!found.has_value()) {
      if (found.error().domain() != error_domain::driver ||
          found.error().code() != CUDA_ERROR_NOT_FOUND)
        return found;
      return fail(refusal(errc::invalid_argument, "gpu::export_memory",
                          text("the device_span does not name memory that the driver knows. It "
                               "may have been freed."),
                          where, address));
    }
    const std::size_t left = static_cast<std::size_t>(base + size - address);
    if (bytes > left) {
      text_builder out;
      out << "the span to export has " << bytes << " bytes, but its allocation ends after " << left
          << ". Export a span inside one allocation.";
      return fail(refusal(errc::index_out_of_range, "gpu::export_memory", out.finish(), where,
                          bytes, left));
    }
    result<> done =
        driver::call<&driver::entry_points::ipc_get_mem_handle>(where, &made.native, base);
    if (!done.has_value()) {
      return fail(explain_code(
          std::move(done).error(), CUDA_ERROR_INVALID_VALUE,
          "only memory of cuMemAlloc can be exported, which gpu::device_buffer::create(device, "
          "count) allocates; for memory of a stream or a pool use gpu::export_allocation"));
    }
    made.offset = address - base;
    made.bytes = bytes;
    return {};
  });
}

/// Adds to the driver's error why a handle of another process may not be valid here.
inline cuda_error explain_handle(cuda_error error) noexcept {
  constexpr const char* gone =
      "the handle does not refer to a live object of another process: that process may have "
      "exited, or not all bytes of the handle arrived. Export it again, and keep the object until "
      "it is closed here";
  error = explain_code(std::move(error), CUDA_ERROR_INVALID_VALUE, gone);
  error = explain_code(std::move(error), CUDA_ERROR_INVALID_HANDLE, gone);
  error = explain_code(std::move(error), CUDA_ERROR_MAP_FAILED, gone);
  return explain_code(
      std::move(error), CUDA_ERROR_INVALID_CONTEXT,
      "this process exported the handle itself, and can only import handles of others. Use the "
      "object directly");
}

/// Memory of another process, mapped into this one.
struct imported_mapping {
  CUdeviceptr base = 0;
  CUcontext context = nullptr;
  friend bool operator==(const imported_mapping&, const imported_mapping&) noexcept = default;
};

struct close_imported_memory {
  void operator()(const imported_mapping& mapping) const noexcept {
    driver::destroy_in<&driver::entry_points::ipc_close_mem_handle>(mapping.context, mapping.base);
  }
};

}  // namespace detail

/// Makes a handle of device memory for other processes on this machine. The memory must come from
/// cuMemAlloc, as from `device_buffer::create(device, n)`, and stay alive until all of them have
/// closed it. Order accesses between the processes by events, or by synchronizing.
/// **Errors**: `errc::invalid_argument` for an empty span, and for memory that the driver does not
/// know; `errc::index_out_of_range` for a span that goes past its allocation; the driver's
/// CUDA_ERROR_INVALID_VALUE for memory of other kinds (use `export_allocation` for memory of
/// streams and pools); CUDA_ERROR_NOT_SUPPORTED.
/// **Capture**: not affected. **Threads**: any. (cuIpcGetMemHandle, cuMemGetAddressRange)
template <class T>
result<memory_handle> export_memory(device_span<T> memory,
                                    source_location where = source_location::current()) noexcept {
  memory_handle made;
  GPU_TRY(detail::export_memory(memory.native(), memory.size_bytes(), made, where));
  return made;
}

/// Owns a mapping of device memory of another process. Move-only; empty after a move.
template <class T> class imported_memory {
 public:
  /// Creates an empty object, to be assigned to.
  imported_memory() noexcept = default;

  static_assert(std::is_trivially_copyable_v<T>, "device memory holds trivially copyable objects");

  /// Maps the memory into the primary context of `on`: the device that it was exported on, or one
  /// that can access that device, in which case peer access is enabled when it is needed.
  /// **Errors**: `errc::size_mismatch` if the bytes are not a whole number of `T`; the driver's,
  /// with an explanation if the handle is not valid; CUDA_ERROR_INVALID_CONTEXT in the process that
  /// exported it.
  /// **Capture**: not affected. **Threads**: any. (cuIpcOpenMemHandle)
  static result<imported_memory> open(device on, const memory_handle& handle,
                                      source_location where = source_location::current()) noexcept {
    GPU_TRY(
        detail::check_whole_elements(handle.bytes, sizeof(T), "gpu::imported_memory::open", where));
    detail::imported_mapping mapping;
    GPU_TRY(detail::find_primary_context(on.native(), mapping.context, where));
    result<> opened = driver::call_in<&driver::entry_points::ipc_open_mem_handle>(
        mapping.context, where, &mapping.base, handle.native, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    imported_memory made{mapping.base == 0 ? detail::imported_mapping{} : mapping, handle};
    if (!opened.has_value()) return detail::fail(detail::explain_handle(std::move(opened).error()));
    return made;
  }

  /// Unmaps the memory now, and returns the error that the destructor could only report. Waits for
  /// work that uses the memory.
  /// **Capture**: not affected. (cuIpcCloseMemHandle)
  result<> close(source_location where = source_location::current()) noexcept {
    if (!mapping_) return {};
    const detail::imported_mapping mapping = mapping_.get();
    // If the context cannot be made current, the mapping stays, so that the caller can try again.
    return driver::in_context(mapping.context, where, [&] {
      static_cast<void>(mapping_.release());
      return driver::call<&driver::entry_points::ipc_close_mem_handle>(where, mapping.base);
    });
  }

  /// Returns the exported elements; none after a move or `close`.
  device_span<T> span() const& noexcept {
    const CUdeviceptr base = mapping_.get().base;
    return base == 0 ? device_span<T>{} : device_span<T>::from_native(base + offset_, size_);
  }
  void span() const&& = delete;  // a span must not outlive the owner
  operator device_span<T>() const& noexcept { return span(); }
  operator device_span<T>() const&& = delete;

  explicit operator bool() const noexcept { return static_cast<bool>(mapping_); }

 private:
  imported_memory(const detail::imported_mapping& mapping, const memory_handle& handle) noexcept
      : mapping_{mapping},
        offset_{handle.offset},
        size_{static_cast<std::size_t>(handle.bytes) / sizeof(T)} {}

  unique_handle<detail::imported_mapping, detail::close_imported_memory> mapping_;
  CUdeviceptr offset_ = 0;
  std::size_t size_ = 0;
};

/// Makes a handle of an event for other processes on this machine. The event must be created with
/// `{.timing = false, .interprocess = true}`.
/// **Errors**: `errc::invalid_argument` for an event with timing; `errc::empty_handle`; the
/// driver's, with an explanation if the event is not `interprocess`.
/// **Capture**: not affected.
/// **Threads**: any. (cuIpcGetEventHandle)
inline result<event_handle> export_event(
    event_ref event, source_location where = source_location::current()) noexcept {
  constexpr const char* function = "gpu::export_event";
  GPU_TRY(detail::require(event, function, where));
  if (event.has_timing()) {
    return detail::fail(
        detail::refusal(errc::invalid_argument, function,
                        text("an event with timing cannot be exported. Create it with "
                             "event_options{.timing = false, .interprocess = true}."),
                        where));
  }
  event_handle made;
  result<> done = driver::call_in<&driver::entry_points::ipc_get_event_handle>(
      event.context().native(), where, &made.native, event.native());
  if (done.has_value()) return made;
  constexpr const char* which =
      "only an event that was created with event_options{.timing = false, .interprocess = true} "
      "can be exported";
  return detail::fail(detail::explain_code(
      detail::explain_code(std::move(done).error(), CUDA_ERROR_INVALID_VALUE, which),
      CUDA_ERROR_INVALID_HANDLE, which));
}

/// Opens the event of another process in the primary context of a device. Both processes can record
/// it and wait for it.
/// **Errors**: the driver's, with an explanation if the handle is not valid.
/// **Capture**: not affected. **Threads**: any. (cuIpcOpenEventHandle)
inline result<event> import_event(device on, const event_handle& handle,
                                  source_location where = source_location::current()) noexcept {
  CUcontext primary = nullptr;
  GPU_TRY(detail::find_primary_context(on.native(), primary, where));
  CUevent native = nullptr;
  result<> opened = driver::call_in<&driver::entry_points::ipc_open_event_handle>(
      primary, where, &native, handle.native);
  event made = event::adopt(event_ref::from_native(native, context_ref::from_native(primary, on),
                                                   {.timing = false, .interprocess = true}));
  if (!opened.has_value()) return detail::fail(detail::explain_handle(std::move(opened).error()));
  return made;
}

}}  // namespace gpu::v1
