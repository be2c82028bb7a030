#pragma once
/// \file
/// `external_memory`: memory that another interface has allocated, such as Vulkan, imported through
/// a handle of the operating system.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cleared.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/interop/foreign_handle.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/detail/array_checks.hpp>
#include <gpu/texture/mipmapped_array.hpp>

#include <cuda.h>
#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

/// The kinds of handles of memory; converts to `CUexternalMemoryHandleType` by cast.
enum class external_memory_handle_type : int {
  opaque_fd = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,  ///< a file descriptor, as from Vulkan
  opaque_win32 = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32,
  opaque_win32_kmt = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT,
  d3d12_heap = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP,
  d3d12_resource = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE,
  d3d11_resource = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE,
  d3d11_resource_kmt = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE_KMT,
  nvscibuf = CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF,
  dmabuf_fd = CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD,  ///< of Linux; on Jetson Thor alone
};

/// Returns the enumerator's name, such as "opaque_fd"; null for an unknown value.
constexpr const char* name_of(external_memory_handle_type type) noexcept {
  using enum external_memory_handle_type;
  return detail::find_name(type, {{opaque_fd, "opaque_fd"},
                                  {opaque_win32, "opaque_win32"},
                                  {opaque_win32_kmt, "opaque_win32_kmt"},
                                  {d3d12_heap, "d3d12_heap"},
                                  {d3d12_resource, "d3d12_resource"},
                                  {d3d11_resource, "d3d11_resource"},
                                  {d3d11_resource_kmt, "d3d11_resource_kmt"},
                                  {nvscibuf, "nvscibuf"},
                                  {dmabuf_fd, "dmabuf_fd"}});
}

struct external_memory_options {
  external_memory_handle_type type = external_memory_handle_type::opaque_fd;
  /// The memory was allocated for a single image or buffer, as Vulkan's
  /// VkMemoryDedicatedAllocateInfo says. (CUDA_EXTERNAL_MEMORY_DEDICATED)
  bool dedicated = false;
};

namespace detail {

constexpr handle_system system_of(external_memory_handle_type type) noexcept {
  switch (type) {
    case external_memory_handle_type::opaque_fd:
    case external_memory_handle_type::dmabuf_fd: return handle_system::posix;
    case external_memory_handle_type::nvscibuf: return handle_system::nvsci;
    default: return handle_system::windows;
  }
}

/// External memory, its context and its size, which the driver does not report.
struct external_allocation {
  CUexternalMemory native = nullptr;
  context_ref context;
  std::size_t bytes = 0;
  friend bool operator==(const external_allocation& a, const external_allocation& b) noexcept {
    return a.native == b.native;
  }
};

struct destroy_external_memory {
  void operator()(const external_allocation& memory) const noexcept {
    driver::destroy_in<&driver::entry_points::destroy_external_memory>(memory.context.native(),
                                                                       memory.native);
  }
};

/// Imports memory into a context. `made` has it if the driver made it, even if the call fails.
inline result<> import_memory(context_ref in, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC& from,
                              external_allocation& made, source_location where) noexcept {
  CUexternalMemory native = nullptr;
  result<> done = driver::call_in<&driver::entry_points::import_external_memory>(in.native(), where,
                                                                                 &native, &from);
  if (native != nullptr) made = {native, in, static_cast<std::size_t>(from.size)};
  return done;
}

inline result<> check_external_size(const char* function, std::size_t bytes,
                                    source_location where) noexcept {
  if (bytes != 0) return {};
  return fail(refusal(errc::invalid_argument, function,
                      text("the size of the memory is 0. Pass the number of bytes that it was "
                           "allocated with: the driver cannot find it out."),
                      where));
}

/// Fails unless `bytes` from `offset` are in external memory.
inline result<> check_external_range(const char* function, std::size_t offset, std::size_t bytes,
                                     std::size_t available, source_location where) noexcept {
  if (offset <= available && bytes <= available - offset) return {};
  text_builder out;
  out << bytes << " bytes from byte " << offset << " go past the end of the external memory, which "
      << "has " << available << " bytes. Map less of it.";
  return fail(refusal(errc::index_out_of_range, function, out.finish(), where, bytes, available));
}

/// Maps a part of external memory to addresses.
inline result<> map_external_buffer(const external_allocation& memory, std::size_t offset,
                                    std::size_t count, std::size_t size, std::size_t alignment,
                                    CUdeviceptr& address, source_location where) noexcept {
  constexpr const char* function = "gpu::external_memory::map_buffer";
  if (count == 0 || offset % alignment != 0) {
    text_builder out;
    if (count == 0) {
      out << "the number of elements is 0; it must be at least 1.";
    } else {
      out << "the elements have to be aligned to " << alignment << " bytes, but begin at byte "
          << offset << " of the memory. Use a multiple of " << alignment << '.';
    }
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, offset, alignment));
  }
  const std::size_t most = ~std::size_t{0} / size;
  const std::size_t bytes = count > most ? ~std::size_t{0} : count * size;
  GPU_TRY(check_external_range(function, offset, bytes, memory.bytes, where));
  auto from = cleared<CUDA_EXTERNAL_MEMORY_BUFFER_DESC>();
  from.offset = offset;
  from.size = bytes;
  return driver::call_in<&driver::entry_points::external_memory_get_mapped_buffer>(
      memory.context.native(), where, &address, memory.native, &from);
}

/// Maps a mipmapped array onto external memory. The flags that only other interfaces give to an
/// image of theirs are passed on.
inline result<> map_external_array(const external_allocation& memory, texel_format format,
                                   const array_shape& shape, unsigned& levels, std::size_t offset,
                                   CUmipmappedArray& array, source_location where) noexcept {
  constexpr const char* function = "gpu::external_memory::map_mipmapped_array";
  constexpr array_flags theirs = array_flags::depth_texture | array_flags::color_attachment;
  array_shape plain = shape;
  plain.flags =
      static_cast<array_flags>(static_cast<unsigned>(shape.flags) & ~static_cast<unsigned>(theirs));
  GPU_TRY(check_array(function, memory.context.device(), plain, format, true, where));
  GPU_TRY(resolve_levels(function, shape, levels, where));
  if (has(shape.flags, array_flags::sparse) || has(shape.flags, array_flags::deferred_mapping)) {
    return fail(refusal(errc::invalid_argument, function,
                        text("an array of external memory cannot be sparse or deferred_mapping: "
                             "its memory is there already. Remove the flag."),
                        where));
  }
  std::size_t bytes = 0;
  for (unsigned i = 0; i < levels; ++i) bytes += array_bytes(shape.level(i), format);
  GPU_TRY(check_external_range(function, offset, bytes, memory.bytes, where));
  auto from = cleared<CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC>();
  from.offset = offset;
  from.arrayDesc = native_descriptor(shape, format);
  from.numLevels = levels;
  return driver::call_in<&driver::entry_points::external_memory_get_mapped_mipmapped_array>(
      memory.context.native(), where, &array, memory.native, &from);
}

}  // namespace detail

/// Owns the import of memory that another interface allocated. Move-only; empty after a move.
///
/// Its bytes are used through what `map_buffer` and `map_mipmapped_array` return: owners of their
/// own, which unmap in their destructors. Destroy them before the import, and wait for the work
/// that uses them. Order accesses of both sides by an `external_semaphore`, or let the host wait.
/// **Capture**: not allowed, as for other memory. **Threads**: any thread may call any member.
class external_memory {
 public:
  /// Creates an empty object, to be assigned to.
  external_memory() noexcept = default;

  /// Imports `bytes` bytes of memory behind a file descriptor into a device (its primary context)
  /// or a context: the whole size that it was allocated with.
  /// **Ownership**: on success, the descriptor belongs to the driver, and `file` is empty. On
  /// failure, `file` still owns it; if it does not, only what followed the import failed.
  /// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for a descriptor that is not open,
  /// a size of 0, and a type that does not go with a file descriptor; `errc::not_supported` for
  /// types of other systems; the driver's, with an explanation, for a descriptor of something else.
  /// (cuImportExternalMemory, cuDestroyExternalMemory)
  static result<external_memory> open(context_or_device on, file_descriptor&& file,
                                      std::size_t bytes, external_memory_options options = {},
                                      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::external_memory::open";
    GPU_TRY(check(function, options, detail::handle_system::posix, bytes, where));
    GPU_TRY(detail::require_open(file, function, where));
    detail::descriptor_copy copy(file);
    GPU_TRY(copy.require(function, where));
    auto from = detail::cleared<CUDA_EXTERNAL_MEMORY_HANDLE_DESC>();
    from.handle.fd = copy.native();
    external_memory made;
    result<> done = made.import(function, on, from, options, bytes, where);
    if (made) {
      copy.release();
      file = file_descriptor();
    }
    if (!done.has_value()) {
      return detail::fail(
          made ? std::move(done).error()
               : detail::explain_descriptor(std::move(done).error(), file, "external memory"));
    }
    return made;
  }
  /// Does not import memory of Windows: returns `errc::not_supported`, with the system that the
  /// type needs. `handle` stays the caller's.
  static result<external_memory> open(context_or_device, win32_handle, std::size_t,
                                      external_memory_options options,
                                      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::external_memory::open";
    GPU_TRY(
        detail::require_enumerator(options.type, "external_memory_handle_type", function, where));
    return detail::fail(detail::wrong_handle_error(function, "memory", name_of(options.type),
                                                   detail::system_of(options.type),
                                                   detail::handle_system::windows, where));
  }
  /// Imports an NvSciBufObj, which stays the caller's and has to live as long as the import.
  /// **Errors**: `errc::not_supported` on machines without NvSci. (cuImportExternalMemory)
  static result<external_memory> open(context_or_device on, nvscibuf_object object,
                                      std::size_t bytes,
                                      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::external_memory::open";
    const external_memory_options options{.type = external_memory_handle_type::nvscibuf};
    GPU_TRY(check(function, options, detail::handle_system::nvsci, bytes, where));
    auto from = detail::cleared<CUDA_EXTERNAL_MEMORY_HANDLE_DESC>();
    from.handle.nvSciBufObject = object.native;
    external_memory made;
    GPU_TRY(made.import(function, on, from, options, bytes, where));
    return made;
  }

  /// Takes over memory that other code has imported in a context.
  static external_memory adopt(CUexternalMemory native, context_ref context,
                               std::size_t bytes) noexcept {
    external_memory made;
    made.memory_.reset({native, context, bytes});
    return made;
  }
  /// Releases ownership; the caller destroys the import.
  [[nodiscard]] CUexternalMemory release() noexcept { return memory_.release().native; }

  CUexternalMemory native() const noexcept { return memory_.get().native; }
  context_ref context() const noexcept { return memory_.get().context; }
  std::size_t size_bytes() const noexcept { return memory_.get().bytes; }
  explicit operator bool() const noexcept { return static_cast<bool>(memory_); }

  /// Maps `count` elements from byte `offset` of the memory. Map a range once: two mappings of the
  /// same bytes need volatile accesses. The driver's alignment is that of the other interface.
  /// **Errors**: `errc::empty_handle`; `errc::index_out_of_range` if they go past the end;
  /// `errc::invalid_argument` for 0 elements, and elements that are not aligned.
  /// (cuExternalMemoryGetMappedBuffer, cuMemFree)
  template <class T>
  result<device_buffer<T>> map_buffer(
      std::size_t offset, std::size_t count,
      source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::external_memory::map_buffer", where));
    CUdeviceptr address = 0;
    result<> done = detail::map_external_buffer(memory_.get(), offset, count, sizeof(T), alignof(T),
                                                address, where);
    auto made =
        device_buffer<T>::adopt(address == 0 ? context_ref{} : context(),
                                device_span<T>::from_native(address, address == 0 ? 0 : count));
    GPU_TRY(std::move(done));
    return made;
  }

  /// Maps an image of texels of type `T`, whose level 0 begins at byte `offset`. The shape, the
  /// format and the number of levels are those of the other interface's image, which needs its
  /// optimal tiling; `array_flags::color_attachment` is needed if the image is a render target.
  /// **Errors**: as `mipmapped_array::create`; `errc::index_out_of_range` if the texels alone need
  /// more memory than there is.
  /// (cuDeviceGetAttribute, cuExternalMemoryGetMappedMipmappedArray, cuMipmappedArrayDestroy)
  template <texel T>
  result<mipmapped_array<T>> map_mipmapped_array(
      const array_shape& shape, unsigned levels = 1, std::size_t offset = 0,
      source_location where = source_location::current()) const noexcept {
    return map_array<T>(texel_format_of<T>, shape, levels, offset, where);
  }
  /// Maps an image whose format is known only at run time.
  result<mipmapped_array<>> map_mipmapped_array(
      texel_format format, const array_shape& shape, unsigned levels = 1, std::size_t offset = 0,
      source_location where = source_location::current()) const noexcept {
    return map_array<void>(format, shape, levels, offset, where);
  }

  /// Fails with `errc::empty_handle` if it is empty.
  result<> require(const char* function, source_location where) const noexcept {
    if (memory_) return {};
    return detail::fail(detail::empty_handle_error(function, "external memory", where));
  }

 private:
  static result<> check(const char* function, const external_memory_options& options,
                        detail::handle_system given, std::size_t bytes,
                        source_location where) noexcept {
    GPU_TRY(
        detail::require_enumerator(options.type, "external_memory_handle_type", function, where));
    GPU_TRY(detail::require_system(function, "memory", name_of(options.type),
                                   detail::system_of(options.type), given, where));
    return detail::check_external_size(function, bytes, where);
  }

  result<> import(const char* function, context_or_device on,
                  CUDA_EXTERNAL_MEMORY_HANDLE_DESC& from, const external_memory_options& options,
                  std::size_t bytes, source_location where) noexcept {
    const context_ref in = GPU_TRY(on.resolve(function, where));
    from.type = static_cast<CUexternalMemoryHandleType>(options.type);
    from.size = bytes;
    from.flags = options.dedicated ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0;
    detail::external_allocation made;
    result<> done = detail::import_memory(in, from, made, where);
    memory_.reset(made);
    return done;
  }

  template <class T>
  result<mipmapped_array<T>> map_array(texel_format format, const array_shape& shape,
                                       unsigned levels, std::size_t offset,
                                       source_location where) const noexcept {
    GPU_TRY(require("gpu::external_memory::map_mipmapped_array", where));
    CUmipmappedArray native = nullptr;
    result<> done =
        detail::map_external_array(memory_.get(), format, shape, levels, offset, native, where);
    auto made = mipmapped_array<T>::adopt(
        native == nullptr
            ? mipmapped_array_ref<T>{}
            : mipmapped_array_ref<T>::from_native(native, context(), shape, format, levels));
    GPU_TRY(std::move(done));
    return made;
  }

  unique_handle<detail::external_allocation, detail::destroy_external_memory> memory_;
};

}}  // namespace gpu::v1
