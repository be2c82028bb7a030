#pragma once
/// \file
/// `diff`: the differences of neighbors along an axis.

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>  // IWYU pragma: keep
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/evaluate.hpp>  // IWYU pragma: keep
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/array_view.hpp>

#include <concepts>
#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T> struct diff_family;

/// Makes an array of the differences of neighbors along an axis that has elements.
template <class T, int Rank>
result<array<T, Rank>> subtract_neighbors(const char* function, const stream_ref& stream,
                                          const array_view<const T, Rank>& view, int axis,
                                          source_location where) {
  const std::size_t count = view.extent(axis) - 1;
  auto made = GPU_TRY((gpu::empty<T>(stream, with_extent(view.shape(), axis, count), where)));
  const loop_operand out = operand_of(made.view(), made);
  const loop_operand x = make_operand(part_along(view, axis, 0, count));
  const loop_operand y = make_operand(part_along(view, axis, 1, count));
  const loop_argument arguments[] = {{&out, nullptr}, {&x, nullptr}, {&y, nullptr}};
  GPU_TRY((run_shared<diff_family<T>, T*, const T*, const T*>(
      {function, "gpu_diff", "out, x, y"}, stream, where,
      [] { return text(std::same_as<T, bool> ? "out[i] = y[i] != x[i]" : "out[i] = y[i] - x[i]"); },
      arguments)));
  return made;
}

}  // namespace detail

/// Makes an array of the differences of neighbors along an axis, `times` times over: `a(i + 1) -
/// a(i)`. As NumPy's `diff`: the elements keep their type, integers wrap around, and for `bool` the
/// difference is whether two differ. The axis has `times` elements fewer, or none.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**:
/// `errc::invalid_argument` for an axis out of range; the reason of a faulty view;
/// `errc::wrong_context`; `errc::empty_handle`; CUDA_ERROR_OUT_OF_MEMORY. **Cost**: one launch each
/// time. **Capture**: allowed; the memory then belongs to the graph.
template <detail::viewable A>
auto diff(const stream_ref& stream, A&& a, int axis = -1, std::size_t times = 1,
          source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  constexpr const char* function = "gpu::diff";
  constexpr int rank = detail::viewed_rank<A>;
  using element = detail::value_of_view<A>;
  static_assert(detail::number<element>, "gpu::diff: the elements are numbers");
  const array_view<const element, rank> view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand(function, stream, "the operand", view, a, where));
  axis = GPU_TRY(detail::require_axis(function, axis, rank, where));
  if (times == 0) return gpu::evaluate(stream, view, where);
  const std::size_t extent = view.extent(axis);
  if (times >= extent)
    return gpu::empty<element>(stream, detail::with_extent(view.shape(), axis, 0), where);
  auto made = GPU_TRY(detail::subtract_neighbors(function, stream, view, axis, where));
  for (std::size_t k = 1; k < times; ++k) {  // so that no more than two arrays are there at once
    const array_view<const element, rank> before = made.view();
    made = GPU_TRY(detail::subtract_neighbors(function, stream, before, axis, where));
  }
  return made;
}

}}  // namespace gpu::v1
