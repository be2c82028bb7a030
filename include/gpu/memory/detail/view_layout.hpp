#pragma once
/// \file
/// `view_layout`: a view without its type, with which ordinary functions do the arithmetic of
/// views.

#include <gpu/memory/detail/view_fault.hpp>

#include <cstddef>

namespace gpu::inline v1::detail {

/// The largest number of axes of a view that the functions of views make.
inline constexpr int most_view_axes = 16;

/// A view without its type.
struct view_layout {
  std::uintptr_t address = 0;
  std::size_t element_bytes = 1;
  int rank = 0;
  std::size_t extents[most_view_axes] = {};
  std::ptrdiff_t strides[most_view_axes] = {};
  view_fault fault;

  std::size_t size() const noexcept {
    std::size_t product = 1;
    for (int axis = 0; axis < rank; ++axis) product *= extents[axis];
    return product;
  }
  /// Moves the start by `elements` elements.
  void advance(std::ptrdiff_t elements) noexcept {
    address += static_cast<std::uintptr_t>(elements) * element_bytes;
  }
  void add_axis(std::size_t extent, std::ptrdiff_t stride) noexcept {
    extents[rank] = extent;
    strides[rank++] = stride;
  }
  void insert_axis(int at, std::size_t extent, std::ptrdiff_t stride) noexcept {
    for (int axis = rank++; axis > at; --axis) {
      extents[axis] = extents[axis - 1];
      strides[axis] = strides[axis - 1];
    }
    extents[at] = extent;
    strides[at] = stride;
  }
  void remove_axis(int at) noexcept {
    --rank;
    for (int axis = at; axis < rank; ++axis) {
      extents[axis] = extents[axis + 1];
      strides[axis] = strides[axis + 1];
    }
  }
  /// Makes the view faulty, unless it is so already: the first mistake is the one to report.
  void refuse(fault_kind kind, view_function function, std::int64_t asked, std::int64_t limit = 0,
              int axis = 0) noexcept {
    if (!fault) fault = {kind, function, axis, asked, limit};
  }
};

}  // namespace gpu::inline v1::detail
