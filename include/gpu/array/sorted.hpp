#pragma once
/// \file
/// `sorted`, `argsort` and `top_k` along an axis of an array.
///
/// Elements are what `sort` sorts, and so is the order: NaN comes last in ascending order, equal
/// elements keep theirs. **Ordering**: after the work queued on the stream; does not wait.
/// **Errors**: `errc::invalid_argument` for an axis out of range; the reason of a faulty view;
/// `errc::wrong_context`; `errc::empty_handle`; CUDA_ERROR_OUT_OF_MEMORY. **Cost**: that of `sort`
/// for one line, that of `sort_segments` for several; for another axis than the last, a transposed
/// copy before and after. **Capture**: as for `assign`; the memory then belongs to the graph.

#include <gpu/algorithm/sort.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/algorithm/top_k.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

/// Makes an array in which the lines along an axis are contiguous: the axis comes last.
template <class T, int Rank>
result<array<T, Rank>> make_lines(const stream_ref& stream, const array_view<const T, Rank>& view,
                                  int axis, source_location where) {
  return gpu::evaluate(stream, gpu::move_axis(view, axis, -1), where);
}

/// Moves the axis back to where it was.
template <class T, int Rank>
result<array<T, Rank>> lines_to_axis(const stream_ref& stream, array<T, Rank>&& lines, int axis,
                                     source_location where) {
  if (axis == Rank - 1) return std::move(lines);
  return gpu::evaluate(stream, gpu::move_axis(lines, -1, axis), where);
}

/// Sorts each line.
template <class T, int Rank>
result<> sort_lines(const stream_ref& stream, array<T, Rank>& lines, sort_order order,
                    source_location where) {
  const std::size_t length = lines.extent(Rank - 1);
  if (lines.size() == length) return gpu::sort(stream, lines.span(), order, where);
  const auto step = static_cast<long long>(length), end = static_cast<long long>(lines.size());
  if (end == 0) return {};
  const auto offsets = GPU_TRY(gpu::arange<long long>(stream, 0, end + 1, step, where));
  return gpu::sort_segments(stream, lines.span(), offsets.span(), order, where);
}

/// Sorts each line, and returns where its elements were.
template <class T, int Rank>
result<array<long long, Rank>> sort_lines_with_positions(const stream_ref& stream,
                                                         array<T, Rank>& lines, sort_order order,
                                                         source_location where) {
  const std::size_t length = lines.extent(Rank - 1);
  auto made = GPU_TRY((gpu::empty<long long>(stream, lines.shape(), where)));
  const auto step = static_cast<long long>(length), end = static_cast<long long>(lines.size());
  if (end == 0) return made;
  const auto counted = GPU_TRY(gpu::arange<long long>(stream, step, where));
  GPU_TRY(gpu::assign(stream, made, counted, where));
  if (lines.size() == length) {
    GPU_TRY(gpu::sort_pairs(stream, lines.span(), made.span(), order, where));
    return made;
  }
  const auto offsets = GPU_TRY(gpu::arange<long long>(stream, 0, end + 1, step, where));
  GPU_TRY(
      gpu::sort_segments_pairs(stream, lines.span(), made.span(), offsets.span(), order, where));
  return made;
}

/// Returns the view of an operand to sort, and counts `axis` from the first one.
template <class A>
result<array_view<const value_of_view<A>, viewed_rank<A>>> view_to_sort(const char* function,
                                                                        const stream_ref& stream,
                                                                        A&& a, int& axis,
                                                                        sort_order order,
                                                                        source_location where) {
  static_assert(viewed_rank<A> > 0, "an array of rank 0 has no axis to sort along");
  static_assert(sortable<value_of_view<A>>,
                "the elements are numbers of 8 to 64 bits (bool, integers, float, double, __half, "
                "__nv_bfloat16)");
  const array_view<const value_of_view<A>, viewed_rank<A>> view =
      array_view_of(static_cast<A&&>(a));
  GPU_TRY(require_operand(function, stream, "the operand", view, a, where));
  axis = GPU_TRY(require_axis(function, axis, viewed_rank<A>, where));
  GPU_TRY(require_enumerator(order, "sort_order", function, where));
  return view;
}

}  // namespace detail

/// Makes a sorted copy of an array: each line along the axis by itself. As NumPy's `sort`; to sort
/// all elements in place, use `sort`.
template <detail::viewable A>
auto sorted(const stream_ref& stream, A&& a, int axis = -1,
            sort_order order = sort_order::ascending,
            source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  const auto view =
      GPU_TRY(detail::view_to_sort("gpu::sorted", stream, static_cast<A&&>(a), axis, order, where));
  auto lines = GPU_TRY(detail::make_lines(stream, view, axis, where));
  GPU_TRY(detail::sort_lines(stream, lines, order, where));
  return detail::lines_to_axis(stream, std::move(lines), axis, where);
}

/// Makes an array of the indices along an axis that sort each line: `take_along_axis` of them is
/// `sorted`. As NumPy's `argsort` with `stable=True`.
template <detail::viewable A>
auto argsort(const stream_ref& stream, A&& a, int axis = -1,
             sort_order order = sort_order::ascending,
             source_location where = source_location::current())
    -> result<array<long long, detail::viewed_rank<A>>> {
  const auto view = GPU_TRY(
      detail::view_to_sort("gpu::argsort", stream, static_cast<A&&>(a), axis, order, where));
  auto lines = GPU_TRY(detail::make_lines(stream, view, axis, where));
  auto positions = GPU_TRY(detail::sort_lines_with_positions(stream, lines, order, where));
  return detail::lines_to_axis(stream, std::move(positions), axis, where);
}

/// The elements that come first in an order, and their indices along the axis.
template <class T, int Rank> struct top_k_result {
  array<T, Rank> values;
  array<long long, Rank> indices;
};

/// Makes arrays of the `k` largest elements of each line along an axis, largest first, and of their
/// indices; with `sort_order::ascending` of the smallest. Of equal elements the one with the lower
/// index comes first, and NaN is larger than all others, as for `sort`.
/// **Errors**: also `errc::invalid_argument` if the axis has fewer than `k` elements.
template <detail::viewable A>
auto top_k(const stream_ref& stream, A&& a, std::size_t k, int axis = -1,
           sort_order order = sort_order::descending,
           source_location where = source_location::current())
    -> result<top_k_result<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  constexpr const char* function = "gpu::top_k";
  constexpr int rank = detail::viewed_rank<A>;
  using element = detail::value_of_view<A>;
  const auto view =
      GPU_TRY(detail::view_to_sort(function, stream, static_cast<A&&>(a), axis, order, where));
  const std::size_t length = view.extent(axis);
  if (k > length) {
    detail::text_builder out;
    out << "axis " << axis << " has " << length << " elements, but the first " << k
        << " are asked for. Pass at most " << length << '.';
    return detail::fail(
        detail::refusal(errc::invalid_argument, function, out.finish(), where, k, length));
  }
  auto lines = GPU_TRY(detail::make_lines(stream, view, axis, where));
  const shape<rank> kept = detail::with_extent(lines.shape(), rank - 1, k);
  if (lines.size() == length) {
    auto values = GPU_TRY((gpu::empty<element>(stream, kept, where)));
    auto indices = GPU_TRY((gpu::empty<long long>(stream, kept, where)));
    GPU_TRY(gpu::top_k(stream, lines.span(), values.span(), indices.span(), order, where));
    auto first = GPU_TRY(detail::lines_to_axis(stream, std::move(values), axis, where));
    auto second = GPU_TRY(detail::lines_to_axis(stream, std::move(indices), axis, where));
    return top_k_result<element, rank>{std::move(first), std::move(second)};
  }
  const auto positions = GPU_TRY(detail::sort_lines_with_positions(stream, lines, order, where));
  const auto first_of = [&](const auto& all) {
    return gpu::move_axis(detail::part_along(all.view(), rank - 1, 0, k), -1, axis);
  };
  auto first = GPU_TRY(gpu::evaluate(stream, first_of(lines), where));
  auto second = GPU_TRY(gpu::evaluate(stream, first_of(positions), where));
  return top_k_result<element, rank>{std::move(first), std::move(second)};
}

}}  // namespace gpu::v1
