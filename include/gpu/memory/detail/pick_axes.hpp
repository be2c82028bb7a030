#pragma once
/// \file
/// The arguments of `array_view::operator()`, and what they do to a view.

#include <gpu/core/detail/traits.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/slice.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

template <class T, class... List>
inline constexpr int count_of = (int{std::same_as<T, List>} + ... + 0);

/// An argument that selects elements of an axis, or stands for axes.
template <class I>
concept axis_index = (word_integer<I> && !std::same_as<I, bool>) ||
                     one_of<I, slice, all_elements, ellipsis, new_axis>;

/// The number of axes that the arguments stand for, without the ellipsis.
template <class... Indices>
inline constexpr int consumed_axes =
    int{sizeof...(Indices)} - count_of<ellipsis, Indices...> - count_of<new_axis, Indices...>;

/// Returns the rank of a part of a view; 0 if there are too many indices, of which the call says
/// so.
template <class... Indices> constexpr int rank_after(int rank) noexcept {
  const int left = rank + count_of<new_axis, Indices...> - (int{word_integer<Indices>} + ... + 0);
  return left < 0 ? 0 : left;
}

/// An argument without its type.
struct axis_pick {
  enum class kind : unsigned char { index, unsigned_index, range, all, rest, added };
  kind what;
  slice range;

  template <class I> explicit constexpr axis_pick(const I& index) noexcept {
    if constexpr (word_integer<I>) {
      range.first = static_cast<std::ptrdiff_t>(index);
      // A number of an unsigned type is never negative, though the conversion may be.
      what = !std::is_signed_v<I> && range.first < 0 ? kind::unsigned_index : kind::index;
    } else if constexpr (std::same_as<I, slice>) {
      what = kind::range;
      range = index;
    } else {
      what = std::same_as<I, all_elements> ? kind::all
             : std::same_as<I, ellipsis>   ? kind::rest
                                           : kind::added;
    }
  }
};

/// Replaces a view by the part that `count` arguments select. `picks[count]` is an ellipsis.
inline void pick_axes(view_layout& view, const axis_pick* picks, int count) noexcept {
  constexpr auto function = view_function::index;
  using kind = axis_pick::kind;
  const view_layout from = view;
  int left = from.rank;
  bool has_rest = false;
  for (int p = 0; p < count; ++p) {
    has_rest = has_rest || picks[p].what == kind::rest;
    if (picks[p].what != kind::rest && picks[p].what != kind::added) --left;
  }
  view.rank = 0;
  int axis = 0;
  for (int p = 0; p < (has_rest ? count : count + 1); ++p) {
    const std::size_t extent = from.extents[axis];
    const std::ptrdiff_t stride = from.strides[axis];
    switch (picks[p].what) {
      case kind::index: {
        const auto length = static_cast<std::ptrdiff_t>(extent);
        const std::ptrdiff_t index = picks[p].range.first;
        if (index < -length || index >= length) {
          view.refuse(fault_kind::index, function, index, length, axis);
        } else {
          view.advance((index < 0 ? index + length : index) * stride);
        }
        ++axis;
        break;
      }
      case kind::unsigned_index:
        view.refuse(fault_kind::unsigned_index, function, picks[p].range.first,
                    static_cast<std::int64_t>(extent), axis);
        ++axis;
        break;
      case kind::range: {
        if (picks[p].range.step == 0) {
          view.refuse(fault_kind::step, function, 0, 0, axis);
          view.add_axis(0, 0);
        } else {
          const index_sequence chosen = select_indices(picks[p].range, extent);
          if (chosen.count != 0) view.advance(chosen.start * stride);
          // The step from the only element to no other may be any number.
          view.add_axis(chosen.count, chosen.count > 1 ? chosen.step * stride : stride);
        }
        ++axis;
        break;
      }
      case kind::all:
        view.add_axis(extent, stride);
        ++axis;
        break;
      case kind::rest:
        for (int each = 0; each < left; ++each, ++axis)
          view.add_axis(from.extents[axis], from.strides[axis]);
        break;
      case kind::added: view.add_axis(1, 0); break;
    }
  }
}

}}}  // namespace gpu::v1::detail
