#pragma once
/// \file
/// `managed_buffer<T>`: owns elements that host and devices reach at one address.

#include <gpu/memory/allocation.hpp>
#include <gpu/memory/device_span.hpp>

namespace gpu {

/// Who may touch managed memory while kernels run; converts to `CUmemAttach_flags` by cast.
enum class memory_attach : unsigned {
  global = CU_MEM_ATTACH_GLOBAL,  ///< every stream of every device
  host = CU_MEM_ATTACH_HOST,      ///< the host alone, until it is attached otherwise
  single = CU_MEM_ATTACH_SINGLE,  ///< one stream; the host too, while that stream is idle
};

/// The enumerator, such as "single"; null for a value that this library does not know.
constexpr const char* name_of(memory_attach attach) noexcept {
  switch (attach) {
    case memory_attach::global:
      return "global";
    case memory_attach::host:
      return "host";
    case memory_attach::single:
      return "single";
  }
  return nullptr;
}

namespace detail {

/// Sets `memory` to managed memory. (cuMemAllocManaged)
inline result<> allocate_managed(context_ref context, std::size_t bytes, memory_attach attach,
                                 device_memory& memory, source_location where) noexcept {
  if (attach != memory_attach::global && attach != memory_attach::host) [[unlikely]] {
    text_builder out;
    out << "managed memory cannot start out attached as ";
    if (const char* name = name_of(attach)) {
      out << name << ", which needs a stream. Create it with gpu::memory_attach::host, then call "
          << "gpu::attach(stream, buffer).";
    } else {
      out << static_cast<unsigned>(attach)
          << ", which is no gpu::memory_attach. Use global or host.";
    }
    return fail(refusal(errc::invalid_argument, "gpu::managed_buffer::create", out.finish(), where,
                        static_cast<unsigned>(attach)));
  }
  device_allocation made;
  made.stream = stream_ref::from_native(nullptr, context);
  if (bytes == 0) {
    memory.reset(made);
    return {};
  }
  result<> done = driver::call_in<&driver::entry_points::mem_alloc_managed>(
      context.native(), where, &made.address, bytes, static_cast<unsigned>(attach));
  memory.reset(made);
  if (done.has_value()) [[likely]]
    return done;
  memory.reset();
  return fail(with_memory_info(detail::move(done).error(), context, bytes));
}

}  // namespace detail

/// Owns `size()` elements of type `T` in managed memory: one address for the host and all devices,
/// between which pages move as they are touched, or as `prefetch` and `advise` say. On the host it
/// is a contiguous range; for devices it converts to a `device_span`, and passes to kernels as that
/// or as a pointer. What is in it is undefined until it is written. Move-only, empty after a move.
/// **Ordering**: the host must not touch the elements while a kernel uses them, nor at all while
/// any kernel runs on a device without `device_attribute::concurrent_managed_access`: synchronize
/// first. The destructor waits for the device. **Threads**: as `std::vector`.
template <class T> class managed_buffer {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  static_assert(detail::trivially_copyable<T> && detail::same<T, detail::remove_cv_t<T>>,
                "managed memory holds trivially copyable objects: pages move as bytes, and no "
                "constructor or destructor runs");

  /// `count` elements for use with a device; none are fine. Not allowed during capture.
  /// (cuMemAllocManaged, cuMemFree)
  /// **Errors**: `errc::invalid_argument` for `memory_attach::single`; `errc::size_overflow`; the
  /// driver's CUDA_ERROR_OUT_OF_MEMORY with the bytes asked, free and total.
  static result<managed_buffer> create(
      gpu::device with, std::size_t count, memory_attach attach = memory_attach::global,
      source_location where = source_location::current()) noexcept {
    CUcontext primary = nullptr;
    GPU_TRY(detail::find_primary_context(with.native(), primary, where));
    return create(context_ref::from_native(primary, with), count, attach, where);
  }
  static result<managed_buffer> create(
      context_ref in, std::size_t count, memory_attach attach = memory_attach::global,
      source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require(in, "gpu::managed_buffer::create", where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes("gpu::managed_buffer::create", count, sizeof(T), bytes, where));
    detail::device_memory memory;
    GPU_TRY(detail::allocate_managed(in, bytes, attach, memory, where));
    return managed_buffer{detail::move(memory), count};
  }

  /// Takes over memory of cuMemAllocManaged.
  static managed_buffer adopt(context_ref in, T* elements, std::size_t count) noexcept {
    detail::device_allocation owned;
    owned.address = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(elements));
    owned.stream = stream_ref::from_native(nullptr, in);
    return managed_buffer{detail::device_memory{owned}, count};
  }
  /// Gives the memory up; the caller frees it with cuMemFree.
  [[nodiscard]] T* release() noexcept {
    size_ = 0;
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(memory_.release().address));
  }

  managed_buffer(managed_buffer&& other) noexcept
      : memory_{detail::move(other.memory_)}, size_{detail::exchange(other.size_, 0u)} {}
  managed_buffer& operator=(managed_buffer&& other) noexcept {
    memory_ = detail::move(other.memory_);
    size_ = detail::exchange(other.size_, 0u);
    return *this;
  }

  T* data() noexcept { return reinterpret_cast<T*>(static_cast<std::uintptr_t>(native())); }
  const T* data() const noexcept {
    return reinterpret_cast<const T*>(static_cast<std::uintptr_t>(native()));
  }
  CUdeviceptr native() const noexcept { return memory_.get().address; }
  std::size_t size() const noexcept { return size_; }
  std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  bool empty() const noexcept { return size_ == 0; }

  T* begin() noexcept { return data(); }
  const T* begin() const noexcept { return data(); }
  const T* cbegin() const noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* end() const noexcept { return data() + size_; }
  const T* cend() const noexcept { return data() + size_; }
  T& operator[](std::size_t index) noexcept { return data()[index]; }
  const T& operator[](std::size_t index) const noexcept { return data()[index]; }

  /// The elements as devices see them.
  device_span<T> span() & noexcept { return device_span<T>::from_native(native(), size_); }
  device_span<const T> span() const& noexcept {
    return device_span<const T>::from_native(native(), size_);
  }
  void span() const&& = delete;  // a name must not outlive its owner

  operator device_span<T>() & noexcept { return span(); }
  operator device_span<const T>() const& noexcept { return span(); }
  operator device_span<T>() && = delete;
  operator device_span<const T>() const&& = delete;

  /// The context that the memory was made in; empty after a move.
  context_ref context() const noexcept { return memory_.get().stream.context(); }
  gpu::device device() const noexcept { return context().device(); }

 private:
  managed_buffer(detail::device_memory memory, std::size_t size) noexcept
      : memory_{detail::move(memory)}, size_{size} {}

  detail::device_memory memory_;
  std::size_t size_ = 0;
};

template <class T> struct kernel_argument<managed_buffer<T>> {
  static T* pointer(managed_buffer<T>& buffer) noexcept { return buffer.data(); }
  static const T* pointer(const managed_buffer<T>& buffer) noexcept { return buffer.data(); }
  static void pointer(const managed_buffer<T>&&) = delete;
  static device_span<T> value(managed_buffer<T>& buffer) noexcept { return buffer.span(); }
  static device_span<const T> value(const managed_buffer<T>& buffer) noexcept {
    return buffer.span();
  }
  static void value(const managed_buffer<T>&&) = delete;
};

}  // namespace gpu
