#pragma once
/// \file
/// `pitched_buffer<T>`: owns rows and planes of elements in device memory, with a pitch that gives
/// fast access.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/pitched_span.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

inline cuda_error region_overflow_error(const char* function, const box_extent& size,
                                        std::size_t element, source_location where) noexcept {
  text_builder out;
  out << size.width << " x " << size.height << " x " << size.depth << " elements of " << element
      << " bytes are more bytes than memory can have. Request fewer elements.";
  return refusal(errc::size_overflow, function, out.finish(), where);
}

/// If cuMemAllocPitch failed because rows of `row` bytes are longer than the device allows, returns
/// an error with both lengths; otherwise returns `error`. (cuDeviceGetAttribute)
inline cuda_error explain_row(const char* function, cuda_error error, std::size_t row,
                              context_ref in) noexcept {
  int most = 0;
  if (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_INVALID_VALUE ||
      !driver::call<&driver::entry_points::device_get_attribute>(
           error.where(), &most, CU_DEVICE_ATTRIBUTE_MAX_PITCH, in.device().native())
           .has_value() ||
      row <= static_cast<std::size_t>(most))
    return error;
  text_builder out;
  out << "each row has " << row << " bytes, but device " << in.device().native()
      << " allows at most " << most << ". Use shorter rows, or allocate a device_buffer.";
  return refusal(errc::invalid_argument, function, out.finish(), error.where(), row,
                 static_cast<std::uint64_t>(most));
}

}  // namespace detail

/// Owns rows and planes of elements. Each row begins at an address that is aligned for fast access.
/// New elements have undefined values. Move-only; empty after a move.
template <class T> class pitched_buffer {
 public:
  /// Creates an empty object, to be assigned to.
  pitched_buffer() noexcept = default;

  using value_type = T;

  static_assert(std::is_trivially_copyable_v<T> && std::same_as<T, std::remove_cv_t<T>>,
                "device memory holds trivially copyable objects: they are copied as bytes, and no "
                "constructor or destructor runs");
  static_assert(alignof(T) <= detail::memory_alignment,
                "the driver aligns memory to 256 bytes: elements cannot be aligned to more");

  /// Allocates memory for `size`, in elements, which may be empty. The destructor waits for the
  /// device.
  /// **Capture**: not allowed. (cuMemAllocPitch, cuMemFree)
  /// **Errors**: `errc::size_overflow`; `errc::invalid_argument` for rows that are longer than the
  /// device allows; the driver's CUDA_ERROR_OUT_OF_MEMORY with the bytes requested, free and total.
  static result<pitched_buffer> create(
      context_or_device on, box_extent size,
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::pitched_buffer::create";
    const context_ref in = GPU_TRY(on.resolve(function, where));
    const std::size_t row = detail::saturated_product(size.width, sizeof(T));
    const std::size_t rows = detail::saturated_product(size.height, size.depth);
    const std::size_t bytes = detail::saturated_product(row, rows);
    if (bytes > detail::most_memory_bytes)
      return detail::fail(detail::region_overflow_error(function, size, sizeof(T), where));
    pitched_buffer made;
    made.size_ = size;
    detail::device_allocation got;
    got.stream = stream_ref::from_native(nullptr, in);
    constexpr unsigned element = sizeof(T) % 16 == 0 ? 16 : sizeof(T) % 8 == 0 ? 8 : 4;
    result<> done =
        detail::obtain(got, size.empty() ? 0 : bytes, made.memory_, [&](CUdeviceptr& address) {
          return detail::with_kept_memory(got.stream, address, [&] {
            return driver::call_in<&driver::entry_points::mem_alloc_pitch>(
                in.native(), where, &address, &made.pitch_, row, rows, element);
          });
        });
    if (!done.has_value())
      return detail::fail(detail::explain_row(function, std::move(done).error(), row, in));
    return made;
  }

  pitched_buffer(pitched_buffer&& other) noexcept
      : memory_{std::move(other.memory_)},
        pitch_{std::exchange(other.pitch_, 0u)},
        size_{std::exchange(other.size_, box_extent{})} {}
  pitched_buffer& operator=(pitched_buffer&& other) noexcept {
    memory_ = std::move(other.memory_);
    pitch_ = std::exchange(other.pitch_, 0u);
    size_ = std::exchange(other.size_, box_extent{});
    return *this;
  }

  pitched_span<T> span() & noexcept { return pitched_span<T>::from_native(data(), size_, pitch_); }
  pitched_span<const T> span() const& noexcept {
    return pitched_span<const T>::from_native(data(), size_, pitch_);
  }
  void span() const&& = delete;  // a span must not outlive the owner

  /// Returns the device's pointer to the first element. The host may pass it on, but not
  /// dereference it.
  T* data() noexcept { return reinterpret_cast<T*>(static_cast<std::uintptr_t>(native())); }
  const T* data() const noexcept {
    return reinterpret_cast<const T*>(static_cast<std::uintptr_t>(native()));
  }
  CUdeviceptr native() const noexcept { return memory_.get().address; }
  box_extent size() const noexcept { return size_; }
  /// Returns the number of bytes from one row to the next.
  std::size_t pitch() const noexcept { return pitch_; }
  bool empty() const noexcept { return size_.empty(); }
  /// Returns the context that the memory belongs to; empty after a move.
  context_ref context() const noexcept { return memory_.get().stream.context(); }
  gpu::device device() const noexcept { return context().device(); }

 private:
  detail::device_memory memory_;
  std::size_t pitch_ = 0;
  box_extent size_;
};

template <class T>
struct kernel_argument<pitched_buffer<T>> : detail::buffer_argument<pitched_buffer<T>> {};

}}  // namespace gpu::v1
