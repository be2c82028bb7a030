#pragma once
/// \file
/// Views with other axes: `transpose`, `permute_axes`, `move_axis`, `swap_axes`, `reverse`,
/// `expand_dims`, `squeeze`, `diagonal`. None moves an element. All take views, and lvalues of
/// arrays, buffers and spans; negative axes count from the end. An axis that is out of range makes
/// the view faulty.

#include <gpu/array/detail/view_changes.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

template <class A> using view_of_t = decltype(detail::array_view_of(std::declval<A>()));
template <class A> using viewed_element_t = typename view_of_t<A>::element_type;
template <class A> inline constexpr int viewed_rank = view_of_t<A>::rank;

/// Returns a view of the rank `Rank`, to which `change` has changed the layout of `a`.
template <int Rank, class A, class Change>
array_view<viewed_element_t<A>, Rank> changed_view(A&& a, Change change) noexcept {
  view_layout layout = view_access::layout_of(detail::array_view_of(static_cast<A&&>(a)));
  change(layout);
  return view_access::make<viewed_element_t<A>, Rank>(layout);
}

}  // namespace detail

/// Returns a view with the axes in reverse order: `transpose(m)(i, j)` is `m(j, i)`.
template <detail::viewable A> auto transpose(A&& a) noexcept {
  constexpr int rank = detail::viewed_rank<A>;
  return detail::changed_view<rank>(static_cast<A&&>(a), [](detail::view_layout& view) {
    std::int64_t axes[detail::most_view_axes] = {};
    for (int axis = 0; axis < rank; ++axis) axes[axis] = rank - 1 - axis;
    detail::permute_layout(view, axes, detail::view_function::permute);
  });
}

/// Returns a view whose axis `k` is axis number `axes[k]` of `a`. Each axis is named once.
template <detail::viewable A, class... Axes>
  requires(detail::word_integer<Axes> && ...)
auto permute_axes(A&& a, Axes... axes) noexcept {
  constexpr int rank = detail::viewed_rank<A>;
  static_assert(sizeof...(Axes) == rank, "gpu::permute_axes names every axis of the view once");
  return detail::changed_view<rank>(static_cast<A&&>(a), [&](detail::view_layout& view) {
    const std::int64_t order[] = {detail::signed_index(axes)..., 0};
    detail::permute_layout(view, order, detail::view_function::permute);
  });
}

/// Returns a view with axis `from` at position `to`; the other axes keep their order.
template <detail::viewable A> auto move_axis(A&& a, int from, int to) noexcept {
  return detail::changed_view<detail::viewed_rank<A>>(
      static_cast<A&&>(a), [&](detail::view_layout& view) {
        detail::move_axis_of(view, from, to, detail::view_function::move_axis);
      });
}

/// Returns a view in which two axes have changed places.
template <detail::viewable A> auto swap_axes(A&& a, int first, int second) noexcept {
  constexpr int rank = detail::viewed_rank<A>;
  return detail::changed_view<rank>(static_cast<A&&>(a), [&](detail::view_layout& view) {
    constexpr auto function = detail::view_function::swap_axes;
    const int one = detail::resolve_axis(view, first, rank, function);
    const int other = detail::resolve_axis(view, second, rank, function);
    std::int64_t axes[detail::most_view_axes] = {};
    for (int axis = 0; axis < rank; ++axis)
      axes[axis] = axis == one ? other : axis == other ? one : axis;
    detail::permute_layout(view, axes, function);
  });
}

/// Returns a view with the elements of the named axes in reverse order, or of all axes if none is
/// named.
template <detail::viewable A, class... Axes>
  requires(detail::word_integer<Axes> && ...)
auto reverse(A&& a, Axes... axes) noexcept {
  constexpr int rank = detail::viewed_rank<A>;
  return detail::changed_view<rank>(static_cast<A&&>(a), [&](detail::view_layout& view) {
    constexpr auto function = detail::view_function::reverse;
    const std::int64_t named[] = {detail::signed_index(axes)..., 0};
    bool reversed[detail::most_view_axes] = {};
    for (std::size_t k = 0; k < sizeof...(Axes); ++k) {
      const int axis = detail::resolve_axis(view, named[k], rank, function);
      if (reversed[axis]) view.refuse(detail::fault_kind::repeated_axis, function, axis);
      reversed[axis] = true;
    }
    for (int axis = 0; axis < rank; ++axis) {
      if (sizeof...(Axes) != 0 && !reversed[axis]) continue;
      if (view.extents[axis] != 0)
        view.advance(static_cast<std::ptrdiff_t>(view.extents[axis] - 1) * view.strides[axis]);
      view.strides[axis] = -view.strides[axis];
    }
  });
}

/// Returns a view with one more axis, of 1 element, at position `at`.
template <detail::viewable A> auto expand_dims(A&& a, int at) noexcept {
  constexpr int rank = detail::viewed_rank<A> + 1;
  return detail::changed_view<rank>(static_cast<A&&>(a), [&](detail::view_layout& view) {
    view.insert_axis(detail::resolve_axis(view, at, rank, detail::view_function::expand_dims), 1,
                     0);
  });
}

/// Returns a view without the named axes, each of which has 1 element. (Which axes have 1 element
/// is known only at run time, so they are named.)
template <detail::viewable A, class... Axes>
  requires(sizeof...(Axes) > 0 && (detail::word_integer<Axes> && ...))
auto squeeze(A&& a, Axes... axes) noexcept {
  constexpr int before = detail::viewed_rank<A>;
  static_assert(sizeof...(Axes) <= before, "gpu::squeeze names more axes than the view has");
  constexpr int rank = before - int{sizeof...(Axes)};
  return detail::changed_view<rank>(static_cast<A&&>(a), [&](detail::view_layout& view) {
    constexpr auto function = detail::view_function::squeeze;
    const std::int64_t named[] = {detail::signed_index(axes)...};
    bool removed[detail::most_view_axes] = {};
    for (const std::int64_t each : named) {
      const int axis = detail::resolve_axis(view, each, before, function);
      if (removed[axis]) view.refuse(detail::fault_kind::repeated_axis, function, axis);
      if (view.extents[axis] != 1) {
        view.refuse(detail::fault_kind::squeezed_extent, function,
                    static_cast<std::int64_t>(view.extents[axis]), 0, axis);
      }
      removed[axis] = true;
    }
    for (int axis = before; axis-- > 0;) {
      if (removed[axis]) view.remove_axis(axis);
    }
  });
}

/// Returns the diagonal of two axes as a last axis: the elements `(i, i + offset)`. The other axes
/// come first.
template <detail::viewable A>
auto diagonal(A&& a, std::ptrdiff_t offset = 0, int first = 0, int second = 1) noexcept {
  constexpr int before = detail::viewed_rank<A>;
  static_assert(before >= 2, "gpu::diagonal takes a view of at least two axes");
  return detail::changed_view<before - 1>(static_cast<A&&>(a), [&](detail::view_layout& view) {
    constexpr auto function = detail::view_function::diagonal;
    const int row = detail::resolve_axis(view, first, before, function);
    const int column = detail::resolve_axis(view, second, before, function);
    if (row == column) view.refuse(detail::fault_kind::repeated_axis, function, row);
    const auto rows = static_cast<std::ptrdiff_t>(view.extents[row]);
    const auto columns = static_cast<std::ptrdiff_t>(view.extents[column]);
    const std::ptrdiff_t down = offset >= 0 ? 0 : offset < -to_end ? to_end : -offset;
    const std::ptrdiff_t right = offset > 0 ? offset : 0;
    const std::ptrdiff_t left = columns - right, below = rows - down;
    const std::ptrdiff_t length = left < below ? left : below;
    const std::ptrdiff_t row_step = view.strides[row], column_step = view.strides[column];
    if (length > 0) view.advance(down * row_step + right * column_step);
    view.remove_axis(row > column ? row : column);
    view.remove_axis(row > column ? column : row);
    view.add_axis(length > 0 ? static_cast<std::size_t>(length) : 0, row_step + column_step);
  });
}

}}  // namespace gpu::v1
