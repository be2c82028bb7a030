#pragma once
/// \file
/// Memory pools of one process in another: the pool goes through a file descriptor, each allocation
/// as plain bytes.

#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/memory/memory_pool.hpp>

namespace gpu::inline v0 {

/// Stands for memory of a shared pool in another process. A plain value, to be sent as bytes.
struct allocation_handle {
  CUmemPoolPtrExportData native = {};
  std::uint64_t bytes = 0;  ///< how many were exported
};

/// Makes a descriptor of a pool for other processes on this machine, who open it with
/// `imported_memory_pool::open`. The pool has to be created with
/// `{.handle_types = shareable_handle_types::posix_file_descriptor}`.
/// **Errors**: `errc::empty_handle`; the driver's CUDA_ERROR_INVALID_VALUE for a pool that was
/// created for this process alone. **Capture**: not allowed. **Threads**: any.
/// (cuMemPoolExportToShareableHandle)
inline result<file_descriptor> export_pool(
    memory_pool_ref pool, source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(pool, "gpu::export_pool", where));
  int native = -1;
  result<> done = driver::call<&driver::entry_points::mem_pool_export_to_shareable_handle>(
      where, static_cast<void*>(&native), pool.native(), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
      static_cast<unsigned long long>(0));
  if (done.has_value()) [[likely]]
    return file_descriptor::adopt(native);
  return detail::fail(
      detail::explain_code(detail::move(done).error(), CUDA_ERROR_INVALID_VALUE,
                           "a pool can be exported that was created with .handle_types = "
                           "gpu::shareable_handle_types::posix_file_descriptor"));
}

/// Makes a handle of all of a buffer for the processes that have its pool, which has to be exported
/// before. The buffer has to live
/// until all of them have given theirs up; what is written to it is ordered by events that are
/// shared too, or by waiting.
/// **Errors**: `errc::invalid_argument` for a buffer without elements; the driver's
/// CUDA_ERROR_INVALID_VALUE for memory of no pool that was exported. **Capture**: not allowed.
/// **Threads**: any. (cuMemPoolExportPointer)
template <class T>
result<allocation_handle> export_allocation(
    const device_buffer<T>& buffer, source_location where = source_location::current()) noexcept {
  if (buffer.empty()) {
    return detail::fail(detail::refusal(
        errc::invalid_argument, "gpu::export_allocation",
        text("there are no elements to export. Export a buffer that is not empty."), where));
  }
  allocation_handle made;
  made.bytes = buffer.size_bytes();
  result<> done = driver::call<&driver::entry_points::mem_pool_export_pointer>(where, &made.native,
                                                                               buffer.native());
  if (done.has_value()) [[likely]]
    return made;
  return detail::fail(detail::explain_code(
      detail::move(done).error(), CUDA_ERROR_INVALID_VALUE,
      "only memory of a pool that was exported can be exported. Export its pool first"));
}

/// Owns this process's side of a pool of another process. It allocates nothing; it opens what the
/// other process allocated. Move-only; empty after a move. Buffers of it may outlive it.
/// **Threads**: any thread may call any member.
class imported_memory_pool {
 public:
  /// The pool behind a descriptor of `export_pool`, with memory of device `on`, which may read and
  /// write it at once. The descriptor may be closed afterwards.
  /// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for a descriptor that is not open;
  /// the driver's for one of something else. **Capture**: not allowed.
  /// (cuMemPoolImportFromShareableHandle, cuMemPoolDestroy)
  static result<imported_memory_pool> open(
      device on, const file_descriptor& from,
      source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require_open(from, "gpu::imported_memory_pool::open", where));
    CUmemoryPool native = nullptr;
    result<> opened = driver::call<&driver::entry_points::mem_pool_import_from_shareable_handle>(
        where, &native, detail::as_shareable_handle(from), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        static_cast<unsigned long long>(0));
    if (!opened.has_value()) {
      return detail::fail(
          detail::explain_descriptor(detail::move(opened).error(), from, "a memory pool"));
    }
    return imported_memory_pool{memory_pool_ref::from_native(native, on)};
  }

  /// The memory behind a handle of `export_allocation`, given up in the order of `stream`; before
  /// that the process that allocated it must not free it. A handle that is open already gives the
  /// same memory, and is given up once: open each handle once.
  /// **Errors**: `errc::empty_handle`; `errc::size_mismatch` where the bytes are not whole
  /// elements; the driver's CUDA_ERROR_INVALID_VALUE for a handle of another pool. **Capture**: not
  /// allowed. (cuMemPoolImportPointer, cuMemFreeAsync)
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

  /// As `memory_pool::access` and `memory_pool::set_access`.
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

}  // namespace gpu::inline v0
