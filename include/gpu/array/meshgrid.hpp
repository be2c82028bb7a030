#pragma once
/// \file
/// `meshgrid`: the coordinates of a grid, as views.

#include <gpu/array/concatenate.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/shape.hpp>

#include <concepts>
#include <cstddef>

namespace gpu { inline namespace v1 {

/// The order of the axes of `meshgrid`.
enum class grid_axes : unsigned char {
  xy,  ///< the second one first, as rows of a picture are counted first
  ij,  ///< as the coordinates
};

/// Returns, for each of several vectors of coordinates, a view of the shape of the grid that has
/// the coordinate of each point: `meshgrid(x, y)[1](i, j)` is `y(i)`. As NumPy's `meshgrid` with
/// `copy=False`: nothing is copied, and the views are for reading. `meshgrid<grid_axes::ij>(x, y)`
/// has the axes in the order of the vectors. If a vector is faulty, so are all views.
template <grid_axes Axes = grid_axes::xy, detail::viewable First, detail::viewable... Rest>
auto meshgrid(First&& first, Rest&&... rest) noexcept {
  constexpr std::size_t count = 1 + sizeof...(Rest);
  constexpr int rank = int{count};
  using element = detail::value_of_view<First>;
  static_assert(detail::viewed_rank<First> == 1 && ((detail::viewed_rank<Rest> == 1) && ...),
                "gpu::meshgrid: coordinates have one axis each");
  static_assert((std::same_as<element, detail::value_of_view<Rest>> && ...),
                "gpu::meshgrid: coordinates have one type");
  const array_view<const element> coordinates[] = {
      detail::array_view_of(static_cast<First&&>(first)),
      detail::array_view_of(static_cast<Rest&&>(rest))...};
  const auto axis_of = [](int k) { return Axes == grid_axes::xy && rank > 1 && k < 2 ? 1 - k : k; };
  shape<rank> extents;
  detail::view_fault fault;
  for (int k = rank; k-- > 0;) {
    extents[axis_of(k)] = coordinates[k].extent(0);
    const detail::view_fault own =
        detail::fault_at(coordinates[k].native(), coordinates[k].stride(0));
    if (own) fault = own;
  }
  view_list<array_view<const element, rank>, count> made;
  for (int k = 0; k < rank; ++k) {
    made.views[k] = detail::changed_view<rank>(coordinates[k], [&](detail::view_layout& layout) {
      const std::ptrdiff_t stride = layout.strides[0];
      layout.rank = 0;
      layout.fault = fault;
      for (int axis = 0; axis < rank; ++axis)
        layout.add_axis(extents[axis], axis == axis_of(k) ? stride : 0);
      layout.refuse_too_large(detail::view_function::meshgrid);
    });
  }
  return made;
}

}}  // namespace gpu::v1
