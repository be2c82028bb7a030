#pragma once
/// \file
/// `view_layout`: a view without its type, with which ordinary functions do the arithmetic of
/// views.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/memory/detail/view_fault.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

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

  /// Returns the number of elements. Saturates at the largest `size_t`.
  std::size_t size() const noexcept { return saturated_product(extents, rank); }
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
  /// Makes the view faulty if its elements, each counted as often as it occurs, are more bytes than
  /// memory can have. So no number of elements or bytes of a sound view wraps around.
  void refuse_too_large(view_function function) noexcept {
    constexpr auto most = static_cast<std::int64_t>(most_memory_bytes);
    if (saturated_product(size(), element_bytes) > most_memory_bytes)
      refuse(fault_kind::too_large, function, 0, most);
  }
};

/// Returns what is wrong with a view of memory that somebody else describes. Strides that mean
/// nothing, and are so large that arithmetic would overflow, become 0.
inline view_fault check_foreign(std::uintptr_t address, std::size_t element_bytes,
                                const std::size_t* extents, std::ptrdiff_t* strides,
                                int rank) noexcept {
  constexpr auto function = view_function::from_native;
  if (is_fault_address(address))
    return {fault_kind::address, function, 0, 0, static_cast<std::int64_t>(address)};
  const std::size_t size = saturated_product(extents, rank);
  if (saturated_product(size, element_bytes) > most_memory_bytes)
    return {fault_kind::too_large, function, 0, 0, static_cast<std::int64_t>(most_memory_bytes)};
  std::size_t below = 0, above = element_bytes - 1;
  bool overflows = false;
  for (int axis = 0; axis < rank; ++axis) {
    const std::size_t step = saturated_product(magnitude(strides[axis]), element_bytes);
    const std::size_t reach = saturated_product(step, extents[axis] == 0 ? 0 : extents[axis] - 1);
    if (size != 0 && extents[axis] != 1) {
      std::size_t& side = strides[axis] < 0 ? below : above;
      overflows = __builtin_add_overflow(side, reach, &side) || overflows;
    } else if (step > most_memory_bytes || reach > most_memory_bytes) {
      strides[axis] = 0;
    }
  }
  const bool outside = overflows || below > most_memory_bytes || above > most_memory_bytes ||
                       below > address || above > ~std::uintptr_t{0} - address;
  if (size != 0 && outside) return {fault_kind::outside, function};
  return {};
}

}}}  // namespace gpu::v1::detail
