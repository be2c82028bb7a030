#pragma once
/// \file
/// `strided_span<T, Rank>`: a view of device memory in several dimensions.

#include <gpu/core/result.hpp>
#include <gpu/memory/device_span.hpp>

namespace gpu::inline v0 {

/// A view of elements in device memory that something else keeps alive, with one index for each
/// dimension: `(i, j)` is `stride(0) * i + stride(1) * j` elements after the first. Strides count
/// elements; they may be negative, and a stride of 0 repeats one element along a dimension. Copy it
/// freely. As a kernel argument it passes by value: the pointer, the extents, the strides. Device
/// code has a type of the same name in `<gpu/device.hpp>`, which accesses elements as `view(i, j)`.
template <class T, int Rank> class strided_span {
  static_assert(Rank > 0, "a strided_span has at least one dimension");

 public:
  using element_type = T;
  static constexpr int rank = Rank;

  /// Makes an empty view.
  constexpr strided_span() noexcept = default;

  /// Converts to a view of const elements.
  template <class U>
    requires(detail::convertible<U (*)[], T (*)[]>)
  constexpr strided_span(const strided_span<U, Rank>& other) noexcept : data_{other.data()} {
    for (int axis = 0; axis < Rank; ++axis) {
      extents_[axis] = other.extent(axis);
      strides_[axis] = other.stride(axis);
    }
  }

  /// Makes a view of all `elements` in row-major order: the last index is contiguous.
  /// **Errors**: `errc::size_mismatch` if the product of the extents is not the number of elements.
  static result<strided_span> row_major(device_span<T> elements,
                                        const std::size_t (&extents)[std::size_t{Rank}],
                                        source_location where = source_location::current()) {
    strided_span view;
    view.data_ = elements.data();
    std::size_t product = 1;
    bool overflows = false, empty = false;
    for (int axis = Rank; axis-- > 0;) {
      view.extents_[axis] = extents[axis];
      view.strides_[axis] = static_cast<std::ptrdiff_t>(product);
      empty = empty || extents[axis] == 0;
      overflows = __builtin_mul_overflow(product, extents[axis], &product) || overflows;
    }
    if (empty ? elements.empty() : !overflows && product == elements.size()) return view;
    detail::text_builder out;
    for (int axis = 0; axis < Rank; ++axis) out << (axis == 0 ? "" : " x ") << extents[axis];
    out << " elements do not match the span, which has " << elements.size()
        << ". Pass extents whose product is the number of elements, or a part of the span.";
    return detail::fail(detail::refusal(errc::size_mismatch, "gpu::strided_span::row_major",
                                        out.finish(), where, product, elements.size()));
  }

  /// Makes a view of elements at an address from the driver.
  static strided_span from_native(CUdeviceptr address,
                                  const std::size_t (&extents)[std::size_t{Rank}],
                                  const std::ptrdiff_t (&strides)[std::size_t{Rank}]) noexcept {
    strided_span view;
    view.data_ = reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
    for (int axis = 0; axis < Rank; ++axis) {
      view.extents_[axis] = extents[axis];
      view.strides_[axis] = strides[axis];
    }
    return view;
  }

  /// Returns the device's pointer to the element with all indices 0. The host may pass it on, but
  /// not dereference it.
  constexpr T* data() const noexcept { return data_; }
  CUdeviceptr native() const noexcept {
    return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(data_));
  }
  constexpr std::size_t extent(int axis) const noexcept { return extents_[axis]; }
  constexpr std::ptrdiff_t stride(int axis) const noexcept { return strides_[axis]; }
  /// Returns the number of elements: the product of the extents.
  constexpr std::size_t size() const noexcept {
    std::size_t product = 1;
    for (const std::size_t extent : extents_) product *= extent;
    return product;
  }

 private:
  T* data_ = nullptr;
  std::size_t extents_[std::size_t{Rank}] = {};
  std::ptrdiff_t strides_[std::size_t{Rank}] = {};
};

// The device's type of the same name has this layout.
static_assert(sizeof(strided_span<char, 3>) == 56 && alignof(strided_span<char, 3>) == 8);

}  // namespace gpu::inline v0
