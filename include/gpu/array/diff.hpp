#pragma once
/// \file
/// `diff`: the differences of neighbors along an axis.

#include <gpu/algorithm/detail/number_type.hpp>
#include <gpu/array/detail/along_axis.hpp>

namespace gpu::inline v1 {

namespace detail {

template <class T> struct diff_family;

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
  auto made = GPU_TRY(
      (gpu::empty<element>(stream, detail::with_extent(view.shape(), axis, extent - 1), where)));
  const detail::loop_operand out = detail::operand_of(made.view(), made);
  const detail::loop_operand x =
      detail::make_operand(detail::part_along(view, axis, 0, extent - 1));
  const detail::loop_operand y =
      detail::make_operand(detail::part_along(view, axis, 1, extent - 1));
  const detail::loop_argument arguments[] = {{&out, nullptr}, {&x, nullptr}, {&y, nullptr}};
  GPU_TRY(
      (detail::run_shared<detail::diff_family<element>, element*, const element*, const element*>(
          {function, "gpu_diff", "out, x, y"}, stream, where,
          [] {
            return text(detail::same<element, bool> ? "out[i] = y[i] != x[i]"
                                                    : "out[i] = y[i] - x[i]");
          },
          arguments)));
  if (times == 1) return made;
  return gpu::diff(stream, made, axis, times - 1, where);
}

}  // namespace gpu::inline v1
