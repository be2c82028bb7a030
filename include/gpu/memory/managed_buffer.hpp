#pragma once
/// \file
/// `managed_buffer<T>`: owns elements that host and devices access at one address.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/library_pool.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// The streams that may access managed memory while kernels run; converts to `CUmemAttach_flags` by
/// cast.
enum class memory_attach : unsigned {
  global = CU_MEM_ATTACH_GLOBAL,  ///< every stream of every device
  host = CU_MEM_ATTACH_HOST,      ///< only the host, until it is attached again
  single = CU_MEM_ATTACH_SINGLE,  ///< one stream; the host too, while that stream is idle
};

/// The enumerator, such as "single"; null for a value that this library does not know.
constexpr const char* name_of(memory_attach attach) noexcept {
  using enum memory_attach;
  return detail::find_name(attach, {{global, "global"}, {host, "host"}, {single, "single"}});
}

namespace detail {

/// Sets `memory` to managed memory. (cuMemAllocManaged)
inline result<> allocate_managed(context_ref context, std::size_t bytes, memory_attach attach,
                                 device_memory& memory, source_location where) noexcept {
  constexpr const char* function = "gpu::managed_buffer::create";
  GPU_TRY(require_enumerator(attach, "memory_attach", function, where));
  if (attach == memory_attach::single) {
    return fail(refusal(errc::invalid_argument, function,
                        text("managed memory cannot be created as single, which needs a stream. "
                             "Create it with gpu::memory_attach::host, then call "
                             "gpu::attach(stream, buffer)."),
                        where, static_cast<unsigned>(attach)));
  }
  device_allocation made;
  made.stream = stream_ref::from_native(nullptr, context);
  return obtain(made, bytes, memory, [&](CUdeviceptr& address) {
    return with_kept_memory(made.stream, address, [&] {
      return driver::call_in<&driver::entry_points::mem_alloc_managed>(
          context.native(), where, &address, bytes, static_cast<unsigned>(attach));
    });
  });
}

}  // namespace detail

/// Owns `size()` elements of type `T` in managed memory. Host and devices use the same address;
/// pages move between them on access, or as `prefetch` and `advise` request. On the host it is a
/// contiguous range; for devices it converts to a `device_span`, and passes to kernels as a span or
/// a pointer. New elements have undefined values. Move-only; empty after a move.
/// **Ordering**: the host must not access the elements while a kernel uses them. While any kernel
/// runs on a device without `device_attribute::concurrent_managed_access`, the host must not access
/// them at all: synchronize first. The destructor waits for the device. **Threads**: as
/// `std::vector`.
template <class T> class managed_buffer : public detail::host_elements<detail::device_elements<T>> {
 public:
  /// Creates an empty object, to be assigned to.
  managed_buffer() noexcept = default;

  // Refuses common guesses; the error says what to write.
  template <detail::begins_creation First, class... Rest>
  explicit managed_buffer(const First&, const Rest&...) noexcept {
    static_assert(detail::always_false<First>,
                  "write gpu::managed_buffer<T>::create(device, count)");
  }
  template <detail::word_integer Count> static result<managed_buffer> create(Count) noexcept {
    static_assert(detail::always_false<Count>,
                  "write gpu::managed_buffer<T>::create(device, count)");
    return {};
  }

  static_assert(std::is_trivially_copyable_v<T> && std::same_as<T, std::remove_cv_t<T>>,
                "managed memory holds trivially copyable objects: pages move as bytes, and no "
                "constructor or destructor runs");
  static_assert(alignof(T) <= detail::memory_alignment,
                "the driver aligns memory to 256 bytes: elements cannot be aligned to more");

  /// Allocates `count` elements, which may be 0, for use with a device.
  /// **Capture**: not allowed. (cuMemAllocManaged, cuMemFree)
  /// **Errors**: `errc::invalid_argument` for `memory_attach::single`; `errc::size_overflow`; the
  /// driver's CUDA_ERROR_OUT_OF_MEMORY with the bytes requested, free and total.
  static result<managed_buffer> create(
      context_or_device on, std::size_t count, memory_attach attach = memory_attach::global,
      source_location where = source_location::current()) noexcept {
    const context_ref in = GPU_TRY(on.resolve("gpu::managed_buffer::create", where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes("gpu::managed_buffer::create", count, sizeof(T), bytes, where));
    detail::device_memory memory;
    GPU_TRY(detail::allocate_managed(in, bytes, attach, memory, where));
    return managed_buffer{std::move(memory), count};
  }

  /// Takes over memory from cuMemAllocManaged.
  static managed_buffer adopt(context_ref in, T* elements, std::size_t count) noexcept {
    return managed_buffer{
        detail::adopt_memory(static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(elements)),
                             stream_ref::from_native(nullptr, in), detail::allocation_kind::plain),
        count};
  }
  /// Releases ownership; the caller frees the memory with cuMemFree.
  [[nodiscard]] T* release() noexcept {
    this->size_ = 0;
    return static_cast<T*>(detail::as_pointer(this->memory_.release().address));
  }

 private:
  using detail::host_elements<detail::device_elements<T>>::host_elements;
};

template <class T>
struct kernel_argument<managed_buffer<T>> : detail::buffer_argument<managed_buffer<T>> {
  static constexpr bool any_context = true;
};

}}  // namespace gpu::v1
