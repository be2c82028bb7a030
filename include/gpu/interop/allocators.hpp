#pragma once
/// \file
/// Allocators for the standard containers: `pinned_allocator<T>` and `managed_allocator<T>`.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/pinned_allocation.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/pinned_flags.hpp>
#include <gpu/memory/ranges.hpp>

#include <cuda.h>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpu { inline namespace v1 {

/// The exception of the allocators: a `std::bad_alloc` that has the `cuda_error`.
class bad_allocation : public std::bad_alloc {
 public:
  explicit bad_allocation(cuda_error error) noexcept
      : error_{std::move(error)}, message_{error_.message()} {}

  const char* what() const noexcept override { return message_.c_str(); }
  const cuda_error& error() const noexcept { return error_; }

 private:
  cuda_error error_;
  text message_;
};

namespace detail {

/// Throws `bad_allocation`: containers expect errors as exceptions. Without exceptions, ends the
/// program with the message on the error reporter.
[[noreturn]] inline void throw_bad_allocation(cuda_error error) {
#if defined(__cpp_exceptions)
  throw bad_allocation(std::move(error));
#else
  report(error);
  __builtin_abort();
#endif
}

/// Rejects alignments that the driver's memory does not have.
inline result<> check_alignment(std::size_t alignment, const char* function) noexcept {
  constexpr std::size_t most = 256;
  if (alignment <= most) return {};
  text_builder out;
  out << "an alignment of " << alignment << " bytes is more than the limit of " << most
      << ". Use a type with a smaller alignment.";
  return fail(
      refusal(errc::invalid_argument, function, out.finish(), source_location{}, alignment, most));
}

inline result<> check_allocation(context_ref context, std::size_t alignment,
                                 const char* function) noexcept {
  GPU_TRY(require(context, function, source_location{}));
  return check_alignment(alignment, function);
}

/// Returns the device address of managed memory, which is the host's.
inline CUdeviceptr managed_address(const void* elements) noexcept {
  return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(elements));
}

/// The source of page-locked memory. Each allocation is a driver call.
struct pinned_source {
  using option = pinned_flags;
  static constexpr option default_option = pinned_flags::none;

  context_ref context;
  option flags = default_option;

  result<void*> allocate(std::size_t bytes, std::size_t alignment) const noexcept {
    GPU_TRY(check_allocation(context, alignment, "gpu::pinned_allocator::allocate"));
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

/// The source of managed memory. Each allocation is a driver call.
struct managed_source {
  using option = memory_attach;
  static constexpr option default_option = memory_attach::global;

  context_ref context;
  option attach = default_option;

  result<void*> allocate(std::size_t bytes, std::size_t alignment) const noexcept {
    GPU_TRY(check_allocation(context, alignment, "gpu::managed_allocator::allocate"));
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
/// Two are equal if their contexts and flags are. It propagates when a container is move-assigned
/// or swapped, but not when one is copy-assigned.
/// **Errors**: `allocate` throws `bad_allocation`, a `std::bad_alloc` with the `cuda_error`.
/// Without exceptions it ends the program, with the message on the error reporter.
/// **Cost**: up to a millisecond per allocation, so reserve and keep containers, or use
/// `caching_pinned_memory_resource`. Not allowed during capture. **Threads**: any.
template <class T, class Source> class memory_allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  /// Creates an allocator for a context, or for the primary context of a device. `option` is a set
  /// of `pinned_flags` or a `memory_attach`. (cuDevicePrimaryCtxRetain)
  static result<memory_allocator> create(
      context_or_device with, typename Source::option option = Source::default_option,
      source_location where = source_location::current()) noexcept {
    return memory_allocator{GPU_TRY(with.resolve("gpu::memory_allocator::create", where)), option};
  }
  /// Creates an allocator for a context.
  explicit memory_allocator(context_ref in,
                            typename Source::option option = Source::default_option) noexcept
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

/// Allocates page-locked host memory for containers. A `std::vector` with it is a pinned range,
/// which asynchronous copies take:
///
///     auto memory = GPU_TRY(gpu::pinned_allocator<float>::create(device));
///     std::vector<float, gpu::pinned_allocator<float>> values(n, memory);
///
/// (cuMemHostAlloc, cuMemFreeHost)
template <class T> using pinned_allocator = memory_allocator<T, detail::pinned_source>;

/// Allocates memory for containers that host and devices access at one address. A `std::vector`
/// with it passes to kernels as a `device_span` or as a pointer. **Ordering**: as `managed_buffer`:
/// the host must not access, grow or destroy it while queued work uses it. (cuMemAllocManaged,
/// cuMemFree)
template <class T> using managed_allocator = memory_allocator<T, detail::managed_source>;

template <class T>
inline constexpr bool enable_pinned_range<std::vector<T, pinned_allocator<T>>> = true;

/// Returns the elements of a vector in managed memory as a span for devices.
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

}}  // namespace gpu::v1
