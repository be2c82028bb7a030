#pragma once
/// \file
/// `repeat` repeats each element, `tile` the whole array.

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>  // IWYU pragma: keep
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/evaluate.hpp>    // IWYU pragma: keep
#include <gpu/array/view_shape.hpp>  // IWYU pragma: keep
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

template <class A, int Counts>
inline constexpr int tiled_rank = viewed_rank<A> > Counts ? viewed_rank<A> : Counts;

}  // namespace detail

/// Makes an array that has each element `count` times in a row along an axis. As NumPy's
/// `repeat` with one number.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**:
/// `errc::invalid_argument` for an axis out of range; the reason of a faulty view;
/// `errc::wrong_context`; `errc::empty_handle`; `errc::size_overflow`; CUDA_ERROR_OUT_OF_MEMORY.
/// **Cost**: one launch. **Capture**: as for `assign`; the memory then belongs to the graph.
template <detail::viewable A>
auto repeat(const stream_ref& stream, A&& a, std::size_t count, int axis,
            source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  constexpr const char* function = "gpu::repeat";
  constexpr int rank = detail::viewed_rank<A>;
  using element = detail::value_of_view<A>;
  const array_view<const element, rank> view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand(function, stream, "the operand", view, a, where));
  axis = GPU_TRY(detail::require_axis(function, axis, rank, where));
  auto made = GPU_TRY((gpu::empty<element>(
      stream, detail::with_extent(view.shape(), axis, shape{view.extent(axis), count}.size()),
      where)));
  shape<rank + 1> pairs;
  for (int k = 0; k <= rank; ++k)
    pairs[k] = k <= axis ? view.extent(k) : k == axis + 1 ? count : view.extent(k - 1);
  GPU_TRY(gpu::assign(stream, gpu::reshape(made, pairs), gpu::expand_dims(view, axis + 1), where));
  return made;
}

/// Makes an array of one axis that has each element, in C order, `count` times in a row. As NumPy's
/// `repeat` without an axis. Otherwise as above.
template <detail::viewable A>
auto repeat(const stream_ref& stream, A&& a, std::size_t count,
            source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>>> {
  constexpr int rank = detail::viewed_rank<A>;
  using element = detail::value_of_view<A>;
  const array_view<const element, rank> view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand("gpu::repeat", stream, "the operand", view, a, where));
  auto made =
      GPU_TRY((gpu::empty<element>(stream, shape<1>{shape{view.size(), count}.size()}, where)));
  shape<rank + 1> pairs;
  for (int k = 0; k < rank; ++k) pairs[k] = view.extent(k);
  pairs[rank] = count;
  GPU_TRY(gpu::assign(stream, gpu::reshape(made, pairs), gpu::expand_dims(view, rank), where));
  return made;
}

/// Makes an array of copies of an array side by side: `tile(stream, a, gpu::shape{2, 3})` has 2 of
/// them along axis 0 and 3 along axis 1. As NumPy's `tile`: more numbers than axes add axes of 1
/// element in front, and fewer are those of the last axes. The result has at most 4 axes. Otherwise
/// as `repeat`.
template <detail::viewable A, int Counts>
auto tile(const stream_ref& stream, A&& a, const shape<Counts>& counts,
          source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::tiled_rank<A, Counts>>> {
  constexpr int own = detail::viewed_rank<A>;
  constexpr int rank = detail::tiled_rank<A, Counts>;
  static_assert(2 * rank <= detail::most_axes, "gpu::tile: the result has at most 4 axes");
  using element = detail::value_of_view<A>;
  const array_view<const element, own> view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand("gpu::tile", stream, "the operand", view, a, where));
  shape<rank> extents;
  shape<2 * rank> pairs;
  for (int axis = 0; axis < rank; ++axis) {
    const std::size_t extent = axis < rank - own ? 1 : view.extent(axis - (rank - own));
    const std::size_t count = axis < rank - Counts ? 1 : counts[axis - (rank - Counts)];
    extents[axis] = shape{extent, count}.size();
    pairs[2 * axis] = count;
    pairs[2 * axis + 1] = extent;
  }
  auto made = GPU_TRY((gpu::empty<element>(stream, extents, where)));
  const auto repeated = detail::changed_view<2 * rank>(view, [&](detail::view_layout& layout) {
    const detail::view_layout from = layout;
    layout.rank = 0;
    for (int axis = 0; axis < rank; ++axis) {
      const int source = axis - (rank - own);
      layout.add_axis(1, 0);
      layout.add_axis(pairs[2 * axis + 1], source < 0 ? 0 : from.strides[source]);
    }
  });
  GPU_TRY(gpu::assign(stream, gpu::reshape(made, pairs), repeated, where));
  return made;
}

}}  // namespace gpu::v1
