#pragma once
/// \file
/// Allocators for the standard containers: `pinned_allocator<T>` and `managed_allocator<T>`.

#include <gpu/memory/detail/pinned_allocation.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/pinned_span.hpp>

#include <new>
#include <type_traits>
#include <vector>

namespace gpu::inline v0 {

/// What containers throw where there is no memory: a `std::bad_alloc` that knows why.
class bad_allocation : public std::bad_alloc {
 public:
  explicit bad_allocation(cuda_error error) noexcept
      : error_{detail::move(error)}, message_{error_.message()} {}

  const char* what() const noexcept override { return message_.c_str(); }
  const cuda_error& error() const noexcept { return error_; }

 private:
  cuda_error error_;
  text message_;
};

namespace detail {

/// Containers have no other way to hear of it. Without exceptions the program ends, with the
/// message on the error reporter.
[[noreturn]] inline void throw_bad_allocation(cuda_error error) {
#if defined(__cpp_exceptions)
  throw bad_allocation(detail::move(error));
#else
  report(error);
  __builtin_abort();
#endif
}

/// Refuses alignments that the driver's memory does not have.
inline result<> check_alignment(std::size_t alignment, const char* function) noexcept {
  constexpr std::size_t most = 256;
  if (alignment <= most) [[likely]]
    return {};
  text_builder out;
  out << "an alignment of " << alignment << " bytes was asked for, but the driver's memory has "
      << most << ". Use a type with a smaller alignment.";
  return fail(
      refusal(errc::invalid_argument, function, out.finish(), source_location{}, alignment, most));
}

inline result<> check_source(context_ref context, std::size_t alignment,
                             const char* function) noexcept {
  GPU_TRY(require(context, function, source_location{}));
  return check_alignment(alignment, function);
}

/// The address that devices have of managed memory: the host's.
inline CUdeviceptr managed_address(const void* elements) noexcept {
  return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(elements));
}

/// Where page-locked memory comes from: each allocation is one of the driver's.
struct pinned_source {
  using option = pinned_flags;
  static constexpr option usual = pinned_flags::none;

  context_ref context;
  option flags = usual;

  result<void*> allocate(std::size_t bytes, std::size_t alignment) const noexcept {
    GPU_TRY(check_source(context, alignment, "gpu::pinned_allocator::allocate"));
    pinned_memory memory;
    GPU_TRY(allocate_pinned(context, bytes, flags, memory, source_location{}));
    return memory.release().address;
  }
  void deallocate(void* address, std::size_t) const noexcept {
    if (address != nullptr) free_pinned_memory{}({address, context});
  }
  friend bool operator==(const pinned_source& a, const pinned_source& b) noexcept {
    return a.context == b.context && a.flags == b.flags;
  }
};

/// Where managed memory comes from: each allocation is one of the driver's.
struct managed_source {
  using option = memory_attach;
  static constexpr option usual = memory_attach::global;

  context_ref context;
  option attach = usual;

  result<void*> allocate(std::size_t bytes, std::size_t alignment) const noexcept {
    GPU_TRY(check_source(context, alignment, "gpu::managed_allocator::allocate"));
    device_memory memory;
    GPU_TRY(allocate_managed(context, bytes, attach, memory, source_location{}));
    return as_pointer(memory.release().address);
  }
  void deallocate(void* address, std::size_t) const noexcept {
    static_cast<void>(adopt_memory(managed_address(address),
                                   stream_ref::from_native(nullptr, context),
                                   allocation_kind::plain));
  }
  friend bool operator==(const managed_source& a, const managed_source& b) noexcept {
    return a.context == b.context && a.attach == b.attach;
  }
};

}  // namespace detail

/// An allocator over a source of memory; its names are `pinned_allocator` and `managed_allocator`.
/// Equal where context and flags are. Goes along when a container is moved or swapped, and stays
/// when one is copied to.
/// **Errors**: `allocate` throws `bad_allocation`, a `std::bad_alloc` with the `cuda_error`.
/// Without exceptions it ends the program, with the message on the error reporter.
/// **Cost**: the driver takes up to a millisecond each time, so reserve, and keep containers; or
/// use `caching_pinned_memory_resource`. Not allowed during capture. **Threads**: any.
template <class T, class Source> class memory_allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  /// For a device's primary context; `option` is a set of `pinned_flags` or a `memory_attach`.
  /// (cuDevicePrimaryCtxRetain)
  static result<memory_allocator> create(
      device with, typename Source::option option = Source::usual,
      source_location where = source_location::current()) noexcept {
    return memory_allocator{GPU_TRY(context::primary(with, where)), option};
  }
  /// For a context.
  explicit memory_allocator(context_ref in, typename Source::option option = Source::usual) noexcept
      : source_{in, option} {}
  template <class U>
  memory_allocator(const memory_allocator<U, Source>& other) noexcept : source_{other.source()} {}

  [[nodiscard]] T* allocate(std::size_t count) {
    std::size_t bytes = 0;
    result<> counted = detail::get_bytes("gpu::memory_allocator::allocate", count, sizeof(T), bytes,
                                         source_location{});
    if (!counted.has_value()) detail::throw_bad_allocation(counted.error());
    result<void*> made = source_.allocate(bytes, alignof(T));
    if (!made.has_value()) detail::throw_bad_allocation(made.error());
    return static_cast<T*>(*made);
  }
  void deallocate(T* elements, std::size_t count) noexcept {
    source_.deallocate(elements, count * sizeof(T));
  }

  const Source& source() const noexcept { return source_; }
  template <class U>
  friend bool operator==(const memory_allocator& a, const memory_allocator<U, Source>& b) noexcept {
    return a.source() == b.source();
  }

 private:
  Source source_;
};

/// Page-locked host memory for containers. A `std::vector` with it is a pinned range, which
/// asynchronous copies take:
///
///     auto memory = GPU_TRY(gpu::pinned_allocator<float>::create(device));
///     std::vector<float, gpu::pinned_allocator<float>> values(n, memory);
///
/// (cuMemHostAlloc, cuMemFreeHost)
template <class T> using pinned_allocator = memory_allocator<T, detail::pinned_source>;

/// Memory for containers that host and devices reach at one address. A `std::vector` with it passes
/// to kernels as a `device_span` or as a pointer. **Ordering**: as `managed_buffer`: the host must
/// not touch, grow or destroy it while work uses it. (cuMemAllocManaged, cuMemFree)
template <class T> using managed_allocator = memory_allocator<T, detail::managed_source>;

template <class T>
inline constexpr bool enable_pinned_range<std::vector<T, pinned_allocator<T>>> = true;

/// The elements of a vector in managed memory as devices see them.
template <class T>
device_span<T> as_device_span(std::vector<T, managed_allocator<T>>& elements) noexcept {
  return device_span<T>::from_native(detail::managed_address(elements.data()), elements.size());
}
template <class T>
device_span<const T> as_device_span(const std::vector<T, managed_allocator<T>>& elements) noexcept {
  return device_span<const T>::from_native(detail::managed_address(elements.data()),
                                           elements.size());
}
template <class T> void as_device_span(const std::vector<T, managed_allocator<T>>&&) = delete;

template <class T> struct kernel_argument<std::vector<T, managed_allocator<T>>> {
  using elements = std::vector<T, managed_allocator<T>>;
  static T* pointer(elements& argument) noexcept { return argument.data(); }
  static const T* pointer(const elements& argument) noexcept { return argument.data(); }
  static void pointer(const elements&&) = delete;
  static device_span<T> value(elements& argument) noexcept { return as_device_span(argument); }
  static device_span<const T> value(const elements& argument) noexcept {
    return as_device_span(argument);
  }
  static void value(const elements&&) = delete;
};

}  // namespace gpu::inline v0
