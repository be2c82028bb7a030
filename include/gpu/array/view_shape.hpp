#pragma once
/// \file
/// Views of another shape: `reshape`, `ravel`, `broadcast_to`, `sliding_windows`. None moves an
/// element.

#include <gpu/array/detail/view_changes.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

/// Returns a view of the same elements, in C order, with other extents; one of them may be -1,
/// which follows from the others: `reshape(a, 3, -1)`. If the elements lie so that no strides
/// describe them in the new shape, as those of a transposed matrix in one axis, the view is faulty:
/// copy them first.
template <detail::viewable A, class... Extents>
  requires(detail::word_integer<Extents> && ...)
auto reshape(A&& a, Extents... extents) noexcept {
  constexpr int rank = int{sizeof...(Extents)};
  static_assert(rank < detail::most_view_axes, "functions of views take at most 15 axes");
  return detail::changed_view<rank>(static_cast<A&&>(a), [&](detail::view_layout& view) {
    const std::int64_t wanted[] = {detail::signed_index(extents)..., 0};
    detail::reshape_layout(view, wanted, rank);
  });
}
template <detail::viewable A, int Rank> auto reshape(A&& a, const shape<Rank>& extents) noexcept {
  static_assert(Rank < detail::most_view_axes, "functions of views take at most 15 axes");
  return detail::changed_view<Rank>(static_cast<A&&>(a), [&](detail::view_layout& view) {
    std::int64_t wanted[std::size_t{Rank} + 1] = {};
    for (int axis = 0; axis < Rank; ++axis) wanted[axis] = static_cast<std::int64_t>(extents[axis]);
    detail::reshape_layout(view, wanted, Rank);
  });
}

/// Returns a view of all elements along one axis, in C order. Faulty as `reshape`.
template <detail::viewable A> auto ravel(A&& a) noexcept {
  return gpu::reshape(static_cast<A&&>(a), -1);
}

/// Returns a view of a larger shape: axes that are missing are added in front, and axes with 1
/// element are repeated. Since an element may be at several indices, it is for reading.
template <detail::viewable A, int Rank>
auto broadcast_to(A&& a, const shape<Rank>& extents) noexcept {
  static_assert(detail::viewed_rank<A> <= Rank,
                "gpu::broadcast_to adds axes and removes none: the shape has fewer than the view");
  static_assert(Rank < detail::most_view_axes, "functions of views take at most 15 axes");
  auto view = detail::changed_view<Rank>(static_cast<A&&>(a), [&](detail::view_layout& layout) {
    detail::broadcast_layout(layout, extents.begin(), Rank, detail::view_function::broadcast_to);
  });
  return array_view<const typename decltype(view)::element_type, Rank>(view);
}

/// Returns a view of all windows of `length` elements along an axis: the axis counts where windows
/// begin, and a new last axis the elements of a window. An element is in several windows, so the
/// view is for reading.
template <detail::viewable A>
auto sliding_windows(A&& a, std::size_t length, int axis = -1) noexcept {
  constexpr int rank = detail::viewed_rank<A>;
  static_assert(rank > 0, "gpu::sliding_windows takes a view of at least one axis");
  auto view = detail::changed_view<rank + 1>(static_cast<A&&>(a), [&](detail::view_layout& layout) {
    constexpr auto function = detail::view_function::sliding_windows;
    const int along = detail::resolve_axis(layout, axis, rank, function);
    const std::size_t extent = layout.extents[along];
    if (length == 0 || length > extent) {
      layout.refuse(detail::fault_kind::window, function, static_cast<std::int64_t>(length),
                    static_cast<std::int64_t>(extent), along);
    }
    layout.extents[along] = extent - length + 1;
    layout.add_axis(length, layout.strides[along]);
    layout.refuse_too_large(function);
  });
  return array_view<const typename decltype(view)::element_type, rank + 1>(view);
}

}}  // namespace gpu::v1
