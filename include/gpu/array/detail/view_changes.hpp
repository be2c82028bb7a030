#pragma once
/// \file
/// The arithmetic of views with other axes, shapes and element types, without types.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Counts a negative axis from the end. If it is out of range the view becomes faulty, and axis 0
/// is returned.
inline int resolve_axis(view_layout& view, std::int64_t axis, int rank,
                        view_function function) noexcept {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  view.refuse(fault_kind::axis, function, axis, rank);
  return 0;
}

/// Sets the axes of `view` to `axes` of `from`, in that order.
inline void permute_layout(view_layout& view, const std::int64_t* axes,
                           view_function function) noexcept {
  const view_layout from = view;
  std::uint32_t seen = 0;
  for (int to = 0; to < from.rank; ++to) {
    const int axis = resolve_axis(view, axes[to], from.rank, function);
    if ((seen >> axis & 1u) != 0) view.refuse(fault_kind::repeated_axis, function, axis);
    seen |= 1u << axis;
    view.extents[to] = from.extents[axis];
    view.strides[to] = from.strides[axis];
  }
}

/// Moves axis `from` to position `to`; the others keep their order.
inline void move_axis_of(view_layout& view, int from, int to, view_function function) noexcept {
  from = resolve_axis(view, from, view.rank, function);
  to = resolve_axis(view, to, view.rank, function);
  const std::size_t extent = view.extents[from];
  const std::ptrdiff_t stride = view.strides[from];
  view.remove_axis(from);
  view.insert_axis(to, extent, stride);
}

/// Sets the strides to those of contiguous elements in C order, in Fortran order, or with the axes
/// in the order of their present strides.
inline void set_dense_strides(view_layout& view, axis_order order = axis_order::c) noexcept {
  int axes[most_view_axes];  // from the outermost one in
  for (int axis = 0; axis < view.rank; ++axis) {
    const auto steps_over = [&](int other) {
      const std::ptrdiff_t mine = view.strides[axis], its = view.strides[other];
      return order == axis_order::fortran ||
             (order == axis_order::keep && (mine < 0 ? -mine : mine) > (its < 0 ? -its : its));
    };
    int at = axis;
    for (; at > 0 && steps_over(axes[at - 1]); --at) axes[at] = axes[at - 1];
    axes[at] = axis;
  }
  std::size_t dense = 1;
  for (int at = view.rank; at-- > 0;) {
    // Of no elements, a stride that memory cannot have means nothing.
    view.strides[axes[at]] = dense > most_memory_bytes ? 0 : static_cast<std::ptrdiff_t>(dense);
    dense = saturated_product(dense, view.extents[axes[at]]);
  }
}

/// Gives a view another shape; an extent of -1 follows from the others. The elements keep their
/// order, and do not move: the view is faulty if no strides describe them.
inline void reshape_layout(view_layout& view, const std::int64_t* wanted, int rank) noexcept {
  constexpr auto function = view_function::reshape;
  if (view.fault) {
    view.rank = rank;
    return;
  }
  const std::size_t size = view.size();
  std::size_t extents[most_view_axes];
  int unknown = -1, unknown_count = 0;
  for (int axis = 0; axis < rank; ++axis) {
    extents[axis] = static_cast<std::size_t>(wanted[axis]);
    if (wanted[axis] >= 0) continue;
    ++unknown_count;
    unknown = axis;
    extents[axis] = 1;
  }
  if (unknown_count > 1) view.refuse(fault_kind::unknown_extents, function, unknown_count);
  const std::size_t known = saturated_product(extents, rank);
  const auto shown =
      static_cast<std::int64_t>(known < most_memory_bytes ? known : most_memory_bytes);
  if (unknown_count == 1) {
    if (known == 0 || size % known != 0) {
      view.refuse(fault_kind::unknown_extent, function, shown, static_cast<std::int64_t>(size));
    } else {
      extents[unknown] = size / known;
    }
  } else if (known != size) {
    view.refuse(fault_kind::size, function, shown, static_cast<std::int64_t>(size));
  }
  const view_layout from = view;
  view.rank = rank;
  for (int axis = 0; axis < rank; ++axis) view.extents[axis] = extents[axis];
  set_dense_strides(view);
  if (view.fault || size == 0) return;

  // Runs of old axes and of new ones with the same number of elements, from the outside in. Within
  // a run the old axes must continue each other.
  int old_axis = 0, new_axis = 0;
  while (new_axis < rank) {
    std::size_t old_count = 1, new_count = view.extents[new_axis];
    int run = new_axis + 1;
    std::ptrdiff_t step = 1;
    bool any = false;
    while (old_count != new_count || (old_axis < from.rank && from.extents[old_axis] == 1)) {
      if (old_count > new_count) {
        new_count *= view.extents[run++];
        continue;
      }
      const std::size_t extent = from.extents[old_axis];
      if (extent != 1) {
        const std::ptrdiff_t expected =
            from.strides[old_axis] * static_cast<std::ptrdiff_t>(extent);
        if (any && step != expected) view.refuse(fault_kind::strides, function, 0, 0, old_axis);
        step = from.strides[old_axis];
        any = true;
      }
      old_count *= extent;
      ++old_axis;
    }
    for (int axis = run; axis-- > new_axis;) {
      view.strides[axis] = step;
      step *= static_cast<std::ptrdiff_t>(view.extents[axis]);
    }
    new_axis = run;
  }
}

/// Repeats a view to a shape of at least as many axes, as NumPy does: missing axes are added in
/// front, and axes of 1 element are repeated.
inline void broadcast_layout(view_layout& view, const std::size_t* extents, int rank,
                             view_function function) noexcept {
  const int added = rank - view.rank;
  for (int axis = 0; axis < added; ++axis) view.insert_axis(0, 1, 0);
  for (int axis = 0; axis < rank; ++axis) {
    if (view.extents[axis] == extents[axis]) continue;
    if (view.extents[axis] != 1) {
      view.refuse(fault_kind::repeated_extent, function, static_cast<std::int64_t>(extents[axis]),
                  static_cast<std::int64_t>(view.extents[axis]), axis);
    }
    view.extents[axis] = extents[axis];
    view.strides[axis] = 0;
  }
  view.refuse_too_large(function);
}

/// Makes the last axis one of elements of another size.
inline void change_elements(view_layout& view, std::size_t bytes, std::size_t alignment) noexcept {
  constexpr auto function = view_function::view_as;
  const std::size_t misaligned = view.address % alignment;
  if (!view.fault && misaligned != 0) {
    view.refuse(fault_kind::layout, function, static_cast<std::int64_t>(misaligned),
                static_cast<std::int64_t>(alignment));
  }
  if (bytes == view.element_bytes || view.fault) return;
  const int last = view.rank - 1;
  if (view.strides[last] != 1 && view.extents[last] != 1)
    view.refuse(fault_kind::element_axis, function, view.strides[last]);
  const std::size_t row = view.extents[last] * view.element_bytes;
  bool divides = row % bytes == 0;
  for (int axis = 0; axis < last; ++axis) {
    const auto step = view.strides[axis] * static_cast<std::ptrdiff_t>(view.element_bytes);
    divides =
        divides && (view.extents[axis] == 1 || step % static_cast<std::ptrdiff_t>(bytes) == 0);
    view.strides[axis] = step / static_cast<std::ptrdiff_t>(bytes);
  }
  if (!divides) {
    view.refuse(fault_kind::element_count, function, static_cast<std::int64_t>(row),
                static_cast<std::int64_t>(bytes));
  }
  view.extents[last] = row / bytes;
  view.strides[last] = 1;
  view.element_bytes = bytes;
}

}}}  // namespace gpu::v1::detail
