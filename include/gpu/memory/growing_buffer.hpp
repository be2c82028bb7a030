#pragma once
/// \file
/// `growing_buffer<T>`: device memory that grows without moving its elements.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/detail/library_pool.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/memory_access.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/physical_memory.hpp>
#include <gpu/memory/virtual_memory.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

/// Reserved addresses, the first part of which is mapped to memory.
struct growing_range {
  CUdeviceptr address = 0;
  std::size_t reserved = 0;  // bytes
  std::size_t mapped = 0;
  std::size_t unit = 0;
  context_ref context;
  friend bool operator==(const growing_range& a, const growing_range& b) noexcept {
    return a.address == b.address && a.context == b.context;
  }
};

inline context_ref context_of(const growing_range& range) noexcept { return range.context; }

struct free_growing_memory {
  void operator()(const growing_range& range) const noexcept {
    if (range.mapped != 0) {
      driver::destroy_in<&driver::entry_points::ctx_synchronize>(range.context.native());
      driver::destroy<&driver::entry_points::mem_unmap>(range.address, range.mapped);
    }
    if (range.reserved != 0) {
      driver::destroy<&driver::entry_points::mem_address_free>(range.address, range.reserved);
    }
  }
};

using growing_memory = unique_handle<growing_range, free_growing_memory>;

/// Maps `bytes` more of memory after the mapped part. If a step fails, nothing changes.
inline result<> extend(growing_range& range, std::size_t bytes, source_location where) noexcept {
  const memory_location at = range.context.device();
  const CUdeviceptr end = range.address + range.mapped;
  const CUmemAllocationProp wanted = native_properties(at, {});
  CUmemGenericAllocationHandle native = 0;
  result<> made = with_kept_memory(stream_ref::from_native(nullptr, range.context), native, [&] {
    return driver::call<&driver::entry_points::mem_create>(where, &native, bytes, &wanted, 0);
  });
  if (!made.has_value()) {
    return fail(explain_out_of_memory(std::move(made).error(), range.context, bytes));
  }
  const physical_memory memory = physical_memory::adopt(native, bytes);
  GPU_TRY(driver::call<&driver::entry_points::mem_map>(where, end, bytes, 0, native, 0));
  unique_handle<address_range, unmap_addresses> mapping{{end, bytes, range.unit}};
  GPU_TRY(set_access(end, bytes, at, memory_access::read_write, where));
  static_cast<void>(mapping.release());
  range.mapped += bytes;
  return {};
}

/// Unmaps the memory after the first `bytes`, as far as it was added in pieces that are entirely
/// after them. Nothing uses that memory.
inline result<> shorten(growing_range& range, std::size_t bytes, source_location where) noexcept {
  while (range.mapped > bytes) {
    CUdeviceptr piece = 0;
    GPU_TRY(driver::call<&driver::entry_points::pointer_get_attribute>(
        where, &piece, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, range.address + range.mapped - 1));
    const std::size_t before = piece - range.address;
    if (before < bytes) return {};
    GPU_TRY(driver::call<&driver::entry_points::mem_unmap>(where, piece, range.mapped - before));
    range.mapped = before;
  }
  return {};
}

}  // namespace detail

/// Owns `size()` elements in the memory of one device, and addresses for `max_size()` elements, so
/// that it grows without a copy: elements, spans and pointers stay valid. Memory is added in units
/// of the granularity, 2 MiB on current devices. New elements have undefined values. Move-only;
/// empty after a move. Converts to a `device_span` of its current elements, and passes to kernels
/// as a span or a pointer.
/// **Ordering**: belongs to no stream. Growing does not wait, and the new elements may be used at
/// once; `shrink_to_fit` and the destructor wait for the device. **Threads**: as `std::vector`.
template <class T>
class growing_buffer : public detail::device_elements<T, detail::growing_memory> {
 public:
  /// Creates an empty object, to be assigned to.
  growing_buffer() noexcept = default;

  static_assert(std::is_trivially_copyable_v<T> && std::same_as<T, std::remove_cv_t<T>>,
                "device memory holds trivially copyable objects: they are copied as bytes, and no "
                "constructor or destructor runs");

  /// Reserves addresses for at least `max_size` elements, and has none yet. Addresses cost no
  /// memory: reserve as many as the buffer can ever need.
  /// **Capture**: allowed. (cuMemGetAllocationGranularity, cuMemAddressReserve)
  /// **Errors**: `errc::size_overflow`; the driver's CUDA_ERROR_OUT_OF_MEMORY if that many
  /// addresses are not free; CUDA_ERROR_NOT_SUPPORTED.
  static result<growing_buffer> create(
      context_or_device on, std::size_t max_size,
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::growing_buffer::create";
    const context_ref in = GPU_TRY(on.resolve(function, where));
    detail::growing_range made;
    made.context = in;
    GPU_TRY(detail::get_granularity(in.device(), granularity::minimum, function, made.unit, where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes(function, max_size, sizeof(T), bytes, where, made.unit));
    made.reserved = (bytes + made.unit - 1) / made.unit * made.unit;
    if (made.reserved != 0) {
      GPU_TRY(driver::call<&driver::entry_points::mem_address_reserve>(where, &made.address,
                                                                       made.reserved, 0, 0, 0));
    }
    return growing_buffer{detail::growing_memory{made}, 0};
  }

  /// Returns the number of elements that the addresses are reserved for.
  std::size_t max_size() const noexcept { return this->memory_.get().reserved / sizeof(T); }
  /// Returns the number of elements that there is memory for.
  std::size_t capacity() const noexcept { return this->memory_.get().mapped / sizeof(T); }

  /// Adds memory, in one piece, until there is room for `count` elements, so that growing up to
  /// `count` cannot fail.
  /// **Capture**: allowed. (cuMemCreate, cuMemMap, cuMemSetAccess)
  /// **Errors**: `errc::empty_handle`; `errc::index_out_of_range` for more than `max_size()`; the
  /// driver's CUDA_ERROR_OUT_OF_MEMORY with the bytes requested, free and total. After an error the
  /// buffer is unchanged.
  result<> reserve(std::size_t count, source_location where = source_location::current()) noexcept {
    if (count <= capacity()) return {};
    GPU_TRY(detail::require(this->context(), "gpu::growing_buffer", where));
    if (count > max_size()) {
      detail::text_builder out;
      out << count << " elements were requested, but addresses are reserved for only " << max_size()
          << ". Create the buffer with a larger max_size.";
      return detail::fail(detail::refusal(errc::index_out_of_range, "gpu::growing_buffer",
                                          out.finish(), where, count, max_size()));
    }
    return change([&](detail::growing_range& range) {
      const std::size_t bytes = (count * sizeof(T) + range.unit - 1) / range.unit * range.unit;
      return detail::extend(range, bytes - range.mapped, where);
    });
  }

  /// Changes the number of elements. Existing elements keep their values and addresses. Shrinking
  /// frees no memory.
  /// **Errors**, **Capture**: as `reserve`.
  result<> resize(std::size_t count, source_location where = source_location::current()) noexcept {
    GPU_TRY(reserve(count, where));
    this->size_ = count;
    return {};
  }

  /// Waits for the device, then frees the memory after the last element, as far as it was added in
  /// pieces that hold no element.
  /// **Capture**: not allowed. (cuCtxSynchronize, cuPointerGetAttribute, cuMemUnmap)
  result<> shrink_to_fit(source_location where = source_location::current()) noexcept {
    if (this->memory_.get().mapped == 0) return {};
    GPU_TRY(this->context().synchronize(where));
    return change([&](detail::growing_range& range) {
      return detail::shorten(range, this->size_bytes(), where);
    });
  }

 private:
  friend struct detail::buffer_maker;
  using detail::device_elements<T, detail::growing_memory>::device_elements;

  template <class Change> result<> change(Change what) noexcept {
    detail::growing_range range = this->memory_.release();
    result<> done = what(range);
    this->memory_.reset(range);
    return done;
  }
};

template <class T>
struct kernel_argument<growing_buffer<T>> : detail::buffer_argument<growing_buffer<T>> {};

}}  // namespace gpu::v1
