#pragma once
/// \file
/// `device_buffer<T>`: owns elements in device memory.

#include <gpu/memory/allocation.hpp>
#include <gpu/memory/device_span.hpp>

namespace gpu {

template <class T> class device_buffer;

namespace detail {

/// How pools and caches make buffers of the memory that they hand out.
struct buffer_maker {
  template <class T> static device_buffer<T> make(device_memory memory, std::size_t size) noexcept {
    return device_buffer<T>{detail::move(memory), size};
  }
};

}  // namespace detail

/// Owns `size()` elements of type `T` in device memory; move-only, empty after a move. What is in
/// it is undefined until something is copied, filled or computed into it.
/// It converts to a `device_span`, and passes to kernels as that or as a pointer; never as a
/// temporary, whose memory would be gone before the kernel runs. A const buffer gives spans that
/// can only be read.
template <class T> class device_buffer {
 public:
  using value_type = T;

  static_assert(detail::trivially_copyable<T> && detail::same<T, detail::remove_cv_t<T>>,
                "device memory holds trivially copyable objects: they are copied as bytes, and no "
                "constructor or destructor runs");

  /// Memory in the order of a stream, from the device's pool where it has one: work queued on
  /// `stream` from now on may use it, and so may other streams that wait for an event recorded
  /// after this call. The destructor returns it in the order of the same stream, which has to live
  /// until then; it does not block. No elements are fine. Allowed during capture, where the memory
  /// belongs to the graph. (cuMemAllocAsync, cuMemFreeAsync)
  /// **Errors**: `errc::size_overflow`; the driver's CUDA_ERROR_OUT_OF_MEMORY with the bytes asked,
  /// free and total.
  static result<device_buffer> create(stream_ref stream, std::size_t count,
                                      source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require(stream, "gpu::device_buffer::create", where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes("gpu::device_buffer::create", count, sizeof(T), bytes, where));
    detail::device_memory memory;
    GPU_TRY(detail::allocate(stream, bytes, memory, where));
    return device_buffer{detail::move(memory), count};
  }

  /// Memory apart from any stream, which every stream may use at once. The destructor waits for
  /// the device. Not allowed during capture. (cuMemAlloc, cuMemFree)
  /// **Errors**: as above.
  static result<device_buffer> create(device on, std::size_t count,
                                      source_location where = source_location::current()) noexcept {
    CUcontext primary = nullptr;
    GPU_TRY(detail::find_primary_context(on.native(), primary, where));
    return create(context_ref::from_native(primary, on), count, where);
  }
  static result<device_buffer> create(context_ref in, std::size_t count,
                                      source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require(in, "gpu::device_buffer::create", where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes("gpu::device_buffer::create", count, sizeof(T), bytes, where));
    detail::device_memory memory;
    GPU_TRY(detail::allocate(in, bytes, memory, where));
    return device_buffer{detail::move(memory), count};
  }

  /// Takes over memory of cuMemAllocAsync, to be freed in the order of `stream`.
  static device_buffer adopt(stream_ref stream, device_span<T> elements) noexcept {
    return adopt(elements, stream, detail::allocation_kind::stream_ordered);
  }
  /// Takes over memory of cuMemAlloc.
  static device_buffer adopt(context_ref context, device_span<T> elements) noexcept {
    return adopt(elements, stream_ref::from_native(nullptr, context),
                 detail::allocation_kind::plain);
  }
  /// Gives the memory up; the caller frees it.
  [[nodiscard]] device_span<T> release() noexcept {
    return device_span<T>::from_native(memory_.release().address, detail::exchange(size_, 0u));
  }

  device_buffer(device_buffer&& other) noexcept
      : memory_{detail::move(other.memory_)}, size_{detail::exchange(other.size_, 0u)} {}
  device_buffer& operator=(device_buffer&& other) noexcept {
    memory_ = detail::move(other.memory_);
    size_ = detail::exchange(other.size_, 0u);
    return *this;
  }

  device_span<T> span() & noexcept { return device_span<T>::from_native(native(), size_); }
  device_span<const T> span() const& noexcept {
    return device_span<const T>::from_native(native(), size_);
  }
  void span() const&& = delete;  // a name must not outlive its owner

  operator device_span<T>() & noexcept { return span(); }
  operator device_span<const T>() const& noexcept { return span(); }
  operator device_span<T>() && = delete;
  operator device_span<const T>() const&& = delete;

  /// The device's pointer to the first element: good for passing on, not for following.
  T* data() noexcept { return reinterpret_cast<T*>(static_cast<std::uintptr_t>(native())); }
  const T* data() const noexcept {
    return reinterpret_cast<const T*>(static_cast<std::uintptr_t>(native()));
  }
  CUdeviceptr native() const noexcept { return memory_.get().address; }
  std::size_t size() const noexcept { return size_; }
  std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  bool empty() const noexcept { return size_ == 0; }

  /// The context that the memory belongs to; empty after a move.
  context_ref context() const noexcept { return memory_.get().stream.context(); }
  /// The device that the memory is on.
  gpu::device device() const noexcept { return context().device(); }

 private:
  friend struct detail::buffer_maker;

  device_buffer(detail::device_memory memory, std::size_t size) noexcept
      : memory_{detail::move(memory)}, size_{size} {}

  static device_buffer adopt(device_span<T> elements, const stream_ref& stream,
                             detail::allocation_kind kind) noexcept {
    detail::device_allocation owned;
    owned.address = elements.native();
    owned.stream = stream;
    owned.kind = kind;
    return device_buffer{detail::device_memory{owned}, elements.size()};
  }

  detail::device_memory memory_;
  std::size_t size_ = 0;
};

template <class T> struct kernel_argument<device_buffer<T>> {
  static T* pointer(device_buffer<T>& buffer) noexcept { return buffer.data(); }
  static const T* pointer(const device_buffer<T>& buffer) noexcept { return buffer.data(); }
  static void pointer(const device_buffer<T>&&) = delete;
  static device_span<T> value(device_buffer<T>& buffer) noexcept { return buffer.span(); }
  static device_span<const T> value(const device_buffer<T>& buffer) noexcept {
    return buffer.span();
  }
  static void value(const device_buffer<T>&&) = delete;
};

}  // namespace gpu
