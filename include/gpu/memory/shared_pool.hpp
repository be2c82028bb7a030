#pragma once
/// \file
/// Memory pools shared between processes: a pool is exported as a file descriptor, each allocation
/// as a handle of plain bytes.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/memory/memory_access.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/memory_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

/// Identifies an allocation of a shared pool in another process. A plain value; send it as bytes.
struct allocation_handle {
  CUmemPoolPtrExportData native = {};
  std::uint64_t bytes = 0;  ///< the size of the allocation
};

/// Returns a file descriptor of a pool, which other processes on this machine open with
/// `imported_memory_pool::open`. The pool must be created with
/// `{.handle_types = shareable_handle_types::posix_file_descriptor}`.
/// **Errors**: `errc::empty_handle`; the driver's CUDA_ERROR_INVALID_VALUE for a pool that was
/// created without that handle type. **Capture**: not allowed. **Threads**: any.
/// (cuMemPoolExportToShareableHandle)
inline result<file_descriptor> export_pool(
    memory_pool_ref pool, source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(pool, "gpu::export_pool", where));
  int native = -1;
  result<> done = driver::call<&driver::entry_points::mem_pool_export_to_shareable_handle>(
      where, &native, pool.native(), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  if (done.has_value()) return file_descriptor::adopt(native);
  return detail::fail(
      detail::explain_code(std::move(done).error(), CUDA_ERROR_INVALID_VALUE,
                           "only a pool that was created with .handle_types = "
                           "gpu::shareable_handle_types::posix_file_descriptor can be exported"));
}

/// Returns a handle of a whole buffer for processes that have imported its pool, which must be
/// exported first. The buffer must live until all of them have destroyed their buffers of it. Order
/// accesses by shared events, or by waiting.
/// **Errors**: `errc::invalid_argument` for an empty buffer; the driver's CUDA_ERROR_INVALID_VALUE
/// for memory that is not from an exported pool. **Capture**: not allowed. **Threads**: any.
/// (cuMemPoolExportPointer)
template <class T>
result<allocation_handle> export_allocation(
    const device_buffer<T>& buffer, source_location where = source_location::current()) noexcept {
  if (buffer.empty()) {
    return detail::fail(detail::refusal(
        errc::invalid_argument, "gpu::export_allocation",
        text("the buffer is empty. Export a buffer with at least one element."), where));
  }
  allocation_handle made;
  made.bytes = buffer.size_bytes();
  result<> done = driver::call<&driver::entry_points::mem_pool_export_pointer>(where, &made.native,
                                                                               buffer.native());
  if (done.has_value()) return made;
  return detail::fail(detail::explain_code(
      std::move(done).error(), CUDA_ERROR_INVALID_VALUE,
      "only memory of an exported pool can be exported. Export its pool first"));
}

/// Owns the import of a pool of another process. It cannot allocate; it opens allocations of the
/// other process. Move-only; empty after a move. Its buffers may outlive it.
/// **Threads**: any thread may call any member.
class imported_memory_pool {
 public:
  /// Creates an empty object, to be assigned to.
  imported_memory_pool() noexcept = default;

  /// Imports a pool from a descriptor of `export_pool`. `on` is the device of its memory, which has
  /// access to it. The descriptor may be closed afterwards.
  /// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for a descriptor that is not open;
  /// the driver's error for a descriptor that is not of a pool. **Capture**: not allowed.
  /// (cuMemPoolImportFromShareableHandle, cuMemPoolDestroy)
  static result<imported_memory_pool> open(
      device on, const file_descriptor& from,
      source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require_open(from, "gpu::imported_memory_pool::open", where));
    CUmemoryPool native = nullptr;
    result<> opened = driver::call<&driver::entry_points::mem_pool_import_from_shareable_handle>(
        where, &native, detail::as_shareable_handle(from), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        0);
    if (!opened.has_value()) {
      return detail::fail(
          detail::explain_descriptor(std::move(opened).error(), from, "a memory pool"));
    }
    return imported_memory_pool{memory_pool_ref::from_native(native, on)};
  }

  /// Opens an allocation from a handle of `export_allocation`. The destructor of the buffer closes
  /// it in stream order; until then the other process must not free the memory. Open each handle
  /// only once: opening it again returns the same memory, which can be closed only once.
  /// **Errors**: `errc::empty_handle`; `errc::size_mismatch` if the bytes are not whole elements;
  /// the driver's CUDA_ERROR_INVALID_VALUE for a handle of another pool. **Capture**: not allowed.
  /// (cuMemPoolImportPointer, cuMemFreeAsync)
  template <class T>
  result<device_buffer<T>> open_allocation(
      stream_ref stream, const allocation_handle& handle,
      source_location where = source_location::current()) const noexcept {
    constexpr const char* function = "gpu::imported_memory_pool::open_allocation";
    GPU_TRY(detail::require(handle_.get(), function, where));
    GPU_TRY(detail::require(stream, function, where));
    GPU_TRY(detail::check_whole_elements(handle.bytes, sizeof(T), function, where));
    CUdeviceptr address = 0;
    CUmemPoolPtrExportData native = handle.native;
    GPU_TRY(driver::call<&driver::entry_points::mem_pool_import_pointer>(
        where, &address, handle_.get().native(), &native));
    return device_buffer<T>::adopt(
        stream,
        device_span<T>::from_native(address, static_cast<std::size_t>(handle.bytes) / sizeof(T)));
  }

  /// Same as `memory_pool::access` and `memory_pool::set_access`.
  result<memory_access> access(device by,
                               source_location where = source_location::current()) const noexcept {
    return handle_.get().access(by, where);
  }
  result<> set_access(device by, memory_access access,
                      source_location where = source_location::current()) const noexcept {
    return handle_.get().set_access(by, access, where);
  }

  CUmemoryPool native() const noexcept { return handle_.get().native(); }
  memory_location location() const noexcept { return handle_.get().location(); }
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

 private:
  explicit imported_memory_pool(const memory_pool_ref& owned) noexcept : handle_{owned} {}

  unique_handle<memory_pool_ref, detail::destroy_memory_pool> handle_;
};

}}  // namespace gpu::v1
