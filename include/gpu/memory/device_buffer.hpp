#pragma once
/// \file
/// `device_buffer<T>`: owns elements in device memory.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/device_span.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

/// Makes the stream that frees memory wait for the work that is queued on another one. Memory that
/// belongs to no stream waits for all of them anyway.
inline result<> order_end(const char* function, const device_allocation& memory,
                          const stream_ref& other, source_location where) noexcept {
  GPU_TRY(require(other, function, where));
  if (!memory.stream.context()) return fail(empty_handle_error(function, "memory", where));
  GPU_TRY(require_no_capture(other, function, "Call it after the capture.", where));
  if (memory.stream == other ||
      (memory.owner == nullptr && memory.kind == allocation_kind::plain)) {
    return {};
  }
  GPU_TRY(require_no_capture(memory.stream, function, "Call it after the capture.", where));
  const event used = GPU_TRY(event::create(other.context(), {.timing = false}, where));
  GPU_TRY(gpu::record(other, used, where));
  return gpu::wait(memory.stream, used, where);
}

/// An owner of memory that devices can access, with its spans.
template <class T, class Memory = device_memory>
class device_elements : public element_owner<T, Memory> {
 public:
  /// Returns a span of all elements.
  device_span<T> span() & noexcept { return device_span<T>::from_native(native(), this->size_); }
  device_span<const T> span() const& noexcept {
    return device_span<const T>::from_native(native(), this->size_);
  }
  void span() const&& = delete;  // a span must not outlive the owner

  operator device_span<T>() & noexcept { return span(); }
  operator device_span<const T>() const& noexcept { return span(); }
  operator device_span<const T>() & noexcept {
    return span();
  }  // preferred to the constructor from a host range
  operator device_span<T>() && = delete;
  operator device_span<const T>() const&& = delete;

  CUdeviceptr native() const noexcept { return this->memory_.get().address; }

  /// Returns the context that the memory belongs to; empty after a move.
  context_ref context() const noexcept { return context_of(this->memory_.get()); }
  /// Returns the device of that context.
  gpu::device device() const noexcept { return context().device(); }

  // Refuses common guesses; the error says what to write.
  template <class... Arguments> void copy_to(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Arguments...>, "write gpu::copy(buffer, host)");
  }
  template <class... Arguments> void copy_from(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Arguments...>, "write gpu::copy(host, buffer)");
  }
  template <class... Arguments> void fill(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Arguments...>, "write gpu::fill(stream, buffer, value)");
  }
  template <class Index> auto operator[](const Index&) const noexcept {
    static_assert(detail::always_false<Index>,
                  "the host cannot access device memory: write gpu::copy(buffer, host)");
  }

 protected:
  using element_owner<T, Memory>::element_owner;
};

}  // namespace detail

/// Owns `size()` elements of type `T`, which are `size_bytes()` bytes, in device memory. Move-only;
/// empty after a move. New elements have undefined values. Converts to a `device_span`, and passes
/// to kernels as a span or a pointer; a temporary does not, because its memory would be gone before
/// the kernel runs. A const buffer converts to spans of const elements.
template <class T> class device_buffer : public detail::device_elements<T> {
 public:
  /// Creates an empty object, to be assigned to.
  device_buffer() noexcept = default;

  // Refuses common guesses; the error says what to write.
  template <detail::begins_creation First, class... Rest>
  explicit device_buffer(const First&, const Rest&...) noexcept {
    static_assert(detail::always_false<First>,
                  "write gpu::device_buffer<T>::create(stream, count)");
  }
  template <detail::word_integer Count> static result<device_buffer> create(Count) noexcept {
    static_assert(detail::always_false<Count>,
                  "write gpu::device_buffer<T>::create(stream, count)");
    return {};
  }

  static_assert(std::is_trivially_copyable_v<T> && std::same_as<T, std::remove_cv_t<T>>,
                "device memory holds trivially copyable objects: they are copied as bytes, and no "
                "constructor or destructor runs");
  static_assert(alignof(T) <= detail::memory_alignment,
                "the driver aligns memory to 256 bytes: elements cannot be aligned to more");

  /// Allocates memory in stream order, from the pool that the library keeps for the device (see
  /// gpu/memory/kept_memory.hpp), or from the current pool if you have chosen one with
  /// `set_current_pool`, or by cuMemAlloc if the device has no pools. Work queued on
  /// `stream` from now on may use it, and so may other streams that wait for an event recorded
  /// after this call. The destructor frees the memory in the order of the same stream, which must
  /// still exist then; it does not block. The per-thread default stream is a different stream in
  /// each thread: destroy such a buffer in the thread that made it. `count` may be 0.
  /// **Capture**: allowed; the memory then belongs to the graph. (cuMemAllocFromPoolAsync or
  /// cuMemAllocAsync, cuMemFreeAsync)
  /// **Errors**: `errc::size_overflow`; the driver's CUDA_ERROR_OUT_OF_MEMORY with the bytes
  /// requested, free, total and kept. Before that error the library gives back what it keeps, and
  /// waits for the work of the context, which spoils captures of other streams in the context.
  static result<device_buffer> create(stream_ref stream, std::size_t count,
                                      source_location where = source_location::current()) noexcept {
    return create_from(stream, count, where);
  }

  /// Allocates memory that belongs to no stream and that every stream may use at once. The
  /// destructor waits for the device.
  /// **Capture**: not allowed. (cuMemAlloc, cuMemFree)
  /// **Errors**: as above.
  static result<device_buffer> create(context_or_device on, std::size_t count,
                                      source_location where = source_location::current()) noexcept {
    const context_ref in = GPU_TRY(on.resolve("gpu::device_buffer::create", where));
    return create_from(in, count, where);
  }

  /// Takes over memory from cuMemAllocAsync, to be freed in the order of `stream`.
  static device_buffer adopt(stream_ref stream, device_span<T> elements) noexcept {
    return device_buffer{
        detail::adopt_memory(elements.native(), stream, detail::allocation_kind::stream_ordered),
        elements.size()};
  }
  /// Takes over memory from cuMemAlloc.
  static device_buffer adopt(context_ref context, device_span<T> elements) noexcept {
    return device_buffer{
        detail::adopt_memory(elements.native(), stream_ref::from_native(nullptr, context),
                             detail::allocation_kind::plain),
        elements.size()};
  }
  /// Releases ownership; the caller frees the memory.
  [[nodiscard]] device_span<T> release() noexcept {
    return device_span<T>::from_native(this->memory_.release().address,
                                       std::exchange(this->size_, 0u));
  }

  /// Declares that work which is queued on `other` uses the elements: later work of the stream that
  /// frees them, and so the end of the memory, waits for it. Call it when that work is queued, and
  /// again after more of it.
  ///
  ///     GPU_TRY(gpu::copy(other, a, pinned));
  ///     GPU_TRY(a.also_used_on(other));
  ///
  /// **Errors**: `errc::empty_handle`. **Capture**: not allowed. (cuEventRecord, cuStreamWaitEvent)
  result<> also_used_on(const stream_ref& other,
                        source_location where = source_location::current()) const noexcept {
    return detail::order_end("gpu::device_buffer::also_used_on", this->memory_.get(), other, where);
  }

 private:
  friend struct detail::buffer_maker;
  using detail::device_elements<T>::device_elements;

  template <class Origin>
  static result<device_buffer> create_from(const Origin& origin, std::size_t count,
                                           source_location where) noexcept {
    GPU_TRY(detail::require(origin, "gpu::device_buffer::create", where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes("gpu::device_buffer::create", count, sizeof(T), bytes, where));
    detail::device_memory memory;
    GPU_TRY(detail::allocate(origin, bytes, memory, where));
    return device_buffer{std::move(memory), count};
  }
};

template <class T>
struct kernel_argument<device_buffer<T>> : detail::buffer_argument<device_buffer<T>> {};

}}  // namespace gpu::v1
