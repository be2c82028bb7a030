#pragma once
/// \file
/// The axes of a view whose elements a generated kernel reads by index.

#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_operands.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// The axes of a view that is read by index, as the kernel has them; without a view, one axis.
/// Layout of `gpu::loops::layout<long long, Rank, 1>`: `offset(index, 0)` is the distance of an
/// element, by its index in C order, from the first one.
template <int Rank> struct indexed_axes {
  long long extents[std::size_t{Rank}], strides[std::size_t{Rank}];

  explicit indexed_axes(const loop_operand& view) noexcept {
    for (int axis = 0; axis < Rank; ++axis) {
      extents[axis] = static_cast<long long>(view.extents[axis]);
      strides[axis] = view.strides[axis];
    }
  }
};
inline constexpr const char* indexed_axes_names[most_axes + 1] = {
    "",
    "gpu::loops::layout<long long, 1, 1>",
    "gpu::loops::layout<long long, 2, 1>",
    "gpu::loops::layout<long long, 3, 1>",
    "gpu::loops::layout<long long, 4, 1>",
    "gpu::loops::layout<long long, 5, 1>",
    "gpu::loops::layout<long long, 6, 1>",
    "gpu::loops::layout<long long, 7, 1>",
    "gpu::loops::layout<long long, 8, 1>"};

/// The type of a parameter with these axes.
template <int Rank> constexpr element_type indexed_axes_type() noexcept {
  return {indexed_axes_names[Rank], {}, sizeof(indexed_axes<Rank>), alignof(indexed_axes<Rank>)};
}

}}}  // namespace gpu::v1::detail
