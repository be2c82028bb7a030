#pragma once
/// \file
/// Allocates and frees page-locked host memory for the classes that own it.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/pinned_flags.hpp>
#include <gpu/memory/pinned_span.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Fails with `errc::invalid_argument` if `flags` has bits that `pinned_flags` does not have.
inline result<> check_pinned_flags(pinned_flags flags, const char* function,
                                   source_location where) noexcept {
  constexpr unsigned known =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  return require_flags(flags, known, "pinned_flags", function, where);
}

/// Memory with an `owner` is part of a larger allocation, so the driver cannot free it by itself.
struct pinned_allocation {
  void* address = nullptr;
  context_ref context;
  returnable* owner = nullptr;

  friend bool operator==(const pinned_allocation& a, const pinned_allocation& b) noexcept {
    return a.address == b.address;
  }
};

struct free_pinned_memory {
  void operator()(const pinned_allocation& a) const noexcept {
    if (a.owner != nullptr) return a.owner->give_back(*a.owner);
    driver::destroy_in<&driver::entry_points::mem_free_host>(a.context.native(), a.address);
  }
};

using pinned_memory = unique_handle<pinned_allocation, free_pinned_memory>;

/// Sets `memory` to page-locked memory. (cuMemHostAlloc)
inline result<> allocate_pinned(context_ref context, std::size_t bytes, pinned_flags flags,
                                pinned_memory& memory, source_location where) noexcept {
  if (bytes == 0) return {};
  pinned_allocation made;
  made.context = context;
  result<> done = driver::call_in<&driver::entry_points::mem_host_alloc>(
      context.native(), where, &made.address, bytes, static_cast<unsigned>(flags));
  memory.reset(made);
  if (done.has_value()) return done;
  memory.reset();
  cuda_error error = std::move(done).error();
  if (error.domain() == error_domain::driver && error.code() == CUDA_ERROR_OUT_OF_MEMORY) {
    text_builder out;
    out << "asked for " << bytes
        << " bytes of page-locked host memory, which the system has to keep in RAM";
    error = record_error(std::move(error).with_details(out.finish()).with_values(bytes, 0));
  }
  return fail(std::move(error));
}

/// Sets `mapped` to the device's address of `address`. (cuMemHostGetDevicePointer)
inline result<> get_mapped_address(void* address, context_ref context, pinned_flags flags,
                                   CUdeviceptr& mapped, source_location where) noexcept {
  GPU_TRY(require(context, "gpu::pinned_vector::mapped_span", where));
  if (!has(flags, pinned_flags::mapped)) {
    return fail(refusal(errc::invalid_argument, "gpu::pinned_vector::mapped_span",
                        text("the memory is not mapped. Create the vector with "
                             "gpu::pinned_flags::mapped."),
                        where));
  }
  if (address == nullptr) return {};
  return driver::call_in<&driver::entry_points::mem_host_get_device_pointer>(
      context.native(), where, &mapped, address, 0);
}

/// The parts that the owners of page-locked memory share: a range for the host, a span for copies.
template <class T> class pinned_elements : public host_elements<element_owner<T, pinned_memory>> {
 public:
  static_assert(alignof(T) <= memory_alignment,
                "the driver aligns memory to 256 bytes, and the elements need more. Register a "
                "gpu::aligned_buffer instead.");

  /// Returns a span of all elements, for asynchronous copies.
  pinned_span<T> span() & noexcept {
    return pinned_span<T>::from_native(this->data(), this->size_);
  }
  pinned_span<const T> span() const& noexcept {
    return pinned_span<const T>::from_native(this->data(), this->size_);
  }
  void span() const&& = delete;  // a span must not outlive the owner
  operator pinned_span<T>() & noexcept { return span(); }
  operator pinned_span<const T>() const& noexcept { return span(); }
  operator pinned_span<const T>() const&& = delete;

 protected:
  using host_elements<element_owner<T, pinned_memory>>::host_elements;
};

}}}  // namespace gpu::v1::detail
