#pragma once
/// \file
/// `strided_span<T, Rank>`: elements of device memory in several dimensions.

#include <gpu/core/result.hpp>
#include <gpu/memory/device_span.hpp>

namespace gpu::inline v0 {

/// Names elements in device memory that something else keeps alive, by as many indices as there are
/// dimensions: `(i, j)` is `stride(0) * i + stride(1) * j` elements behind the first. Strides count
/// elements; they may be negative, and 0 where all indices of a dimension mean one element. Copy it
/// freely. It is a kernel argument as it stands: the pointer, the extents, the strides. Device code
/// has a type of the same name in `<gpu/device.hpp>`, which reads and writes elements by
/// `view(i, j)`.
template <class T, int Rank> class strided_span {
  static_assert(Rank > 0, "a strided_span has at least one dimension");

 public:
  using element_type = T;
  static constexpr int rank = Rank;

  /// No elements.
  constexpr strided_span() noexcept = default;

  /// A view of the same elements that may only be read.
  template <class U>
    requires(detail::convertible<U (*)[], T (*)[]>)
  constexpr strided_span(const strided_span<U, Rank>& other) noexcept : data_{other.data()} {
    for (int axis = 0; axis < Rank; ++axis) {
      extents_[axis] = other.extent(axis);
      strides_[axis] = other.stride(axis);
    }
  }

  /// All elements of `elements` in rows, the last index running fastest.
  /// **Errors**: `errc::size_mismatch` where the extents do not multiply to the number of elements.
  static result<strided_span> row_major(device_span<T> elements, const std::size_t (&extents)[Rank],
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
    out << " elements are not the " << elements.size()
        << " of the span. Pass extents that multiply to its size, or a part of it.";
    return detail::fail(detail::refusal(errc::size_mismatch, "gpu::strided_span::row_major",
                                        out.finish(), where, product, elements.size()));
  }

  /// Elements at an address that the driver gave.
  static strided_span from_native(CUdeviceptr address, const std::size_t (&extents)[Rank],
                                  const std::ptrdiff_t (&strides)[Rank]) noexcept {
    strided_span view;
    view.data_ = reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
    for (int axis = 0; axis < Rank; ++axis) {
      view.extents_[axis] = extents[axis];
      view.strides_[axis] = strides[axis];
    }
    return view;
  }

  /// The device's pointer to the element of all indices 0: good for passing on, not for following.
  constexpr T* data() const noexcept { return data_; }
  CUdeviceptr native() const noexcept {
    return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(data_));
  }
  constexpr std::size_t extent(int axis) const noexcept { return extents_[axis]; }
  constexpr std::ptrdiff_t stride(int axis) const noexcept { return strides_[axis]; }
  /// How many elements there are in all dimensions together.
  constexpr std::size_t size() const noexcept {
    std::size_t product = 1;
    for (const std::size_t extent : extents_) product *= extent;
    return product;
  }

 private:
  T* data_ = nullptr;
  std::size_t extents_[Rank] = {};
  std::ptrdiff_t strides_[Rank] = {};
};

// Device code lays it out so.
static_assert(sizeof(strided_span<char, 3>) == 56 && alignof(strided_span<char, 3>) == 8);

}  // namespace gpu::inline v0
