#pragma once
/// \file
/// The parts that the owners of page-locked host memory share: a range for the host, a span for
/// copies.

#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/pinned_allocation.hpp>
#include <gpu/memory/pinned_span.hpp>

namespace gpu { inline namespace v1 { namespace detail {

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
