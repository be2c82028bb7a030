#pragma once
/// \file
/// `concatenate` and `stack` join arrays; `split` and `split_at` are the parts of one, as views.

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/located.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/slice.hpp>

#include <concepts>
#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

/// Returns what a joined array of views has along the axis.
/// **Errors**: those of bad operands; `errc::size_mismatch` with two shapes.
inline result<std::size_t> require_joinable(const char* function, const stream_ref& stream,
                                            int axis, const loop_operand* operands,
                                            std::size_t count, const element_type& type,
                                            source_location where) noexcept {
  GPU_TRY(require(stream, function, where));
  std::size_t total = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const loop_operand& each = operands[k];
    if (each.fault) return fail(fault_error(each.fault, function, "an operand", where));
    GPU_TRY(require_usable(function, stream,
                           {"the operand", each.memory, type.bytes, type.alignment}, where));
    for (int other = 0; other < each.rank; ++other) {
      if (other == axis || each.extents[other] == operands[0].extents[other]) continue;
      return refuse_shapes(function, "join", operands[0], each,
                           "Pass arrays that differ in the extent of the joined axis alone.",
                           where);
    }
    if (__builtin_add_overflow(total, each.extents[axis], &total)) total = ~std::size_t{0};
  }
  return total;
}

/// Makes an array of views, one behind the other along an axis. The operands are those of the
/// views.
template <class T, int Rank>
result<array<T, Rank>> join_views(const char* function, const stream_ref& stream, int axis,
                                  const array_view<const T, Rank>* parts,
                                  const loop_operand* operands, std::size_t count,
                                  source_location where) {
  const std::size_t total = GPU_TRY(
      require_joinable(function, stream, axis, operands, count, element_type_of<T>(), where));
  auto made = GPU_TRY((gpu::empty<T>(stream, with_extent(parts[0].shape(), axis, total), where)));
  std::size_t at = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t extent = parts[k].extent(axis);
    GPU_TRY(gpu::assign(stream, part_along(made.view(), axis, at, extent), parts[k], where));
    at += extent;
  }
  return made;
}

// `auto` lets the compiler say this before what follows from it.
template <class First, class... Rest> constexpr auto check_joined() noexcept {
  static_assert((std::same_as<value_of_view<First>, value_of_view<Rest>> && ...),
                "the joined arrays have elements of one type; convert the others with gpu::assign");
  static_assert(((viewed_rank<First> == viewed_rank<Rest>) && ...),
                "the joined arrays have the same number of axes; add some with gpu::expand_dims");
}

}  // namespace detail

/// Makes an array of arrays that follow one another along an axis that they have:
/// `concatenate(stream, 0, a, b)`. As NumPy's `concatenate`; the elements have one type.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**:
/// `errc::size_mismatch` with two shapes, `errc::invalid_argument` for an axis out of range, the
/// reason of a faulty view, `errc::wrong_context`, `errc::empty_handle`, CUDA_ERROR_OUT_OF_MEMORY.
/// **Cost**: one launch for each operand. **Capture**: as for `assign`; the memory then belongs
/// to the graph.
template <detail::viewable First, detail::viewable... Rest>
auto concatenate(located<stream_ref> stream, int axis, First&& first, Rest&&... rest)
    -> result<array<detail::value_of_view<First>, detail::viewed_rank<First>>> {
  constexpr const char* function = "gpu::concatenate";
  constexpr int rank = detail::viewed_rank<First>;
  using element = detail::value_of_view<First>;
  detail::check_joined<First, Rest...>();
  static_assert(rank > 0, "gpu::concatenate: arrays of rank 0 have no axis; use gpu::stack");
  const array_view<const element, rank> parts[] = {
      detail::array_view_of(static_cast<First&&>(first)),
      detail::array_view_of(static_cast<Rest&&>(rest))...};
  const detail::loop_operand operands[] = {
      detail::operand_of(parts[0], first),
      detail::operand_of(detail::array_view_of(static_cast<Rest&&>(rest)), rest)...};
  axis = GPU_TRY(detail::require_axis(function, axis, rank, stream.where));
  return detail::join_views<element, rank>(function, stream.value, axis, parts, operands,
                                           1 + sizeof...(Rest), stream.where);
}

/// Makes an array of arrays of one shape that follow one another along a new axis. As NumPy's
/// `stack`. Otherwise as `concatenate`.
template <detail::viewable First, detail::viewable... Rest>
auto stack(located<stream_ref> stream, int axis, First&& first, Rest&&... rest)
    -> result<array<detail::value_of_view<First>, detail::viewed_rank<First> + 1>> {
  constexpr const char* function = "gpu::stack";
  constexpr int rank = detail::viewed_rank<First> + 1;
  using element = detail::value_of_view<First>;
  detail::check_joined<First, Rest...>();
  axis = GPU_TRY(detail::require_axis(function, axis, rank, stream.where));
  const array_view<const element, rank> parts[] = {
      gpu::expand_dims(static_cast<First&&>(first), axis),
      gpu::expand_dims(static_cast<Rest&&>(rest), axis)...};
  const detail::loop_operand operands[] = {
      detail::operand_of(parts[0], first),
      detail::operand_of(gpu::expand_dims(static_cast<Rest&&>(rest), axis), rest)...};
  return detail::join_views<element, rank>(function, stream.value, axis, parts, operands,
                                           1 + sizeof...(Rest), stream.where);
}

/// Several views of one type: `parts[0]`, `for (auto part : parts)`.
template <class View, std::size_t Count> struct view_list {
  View views[Count];

  static constexpr std::size_t size() noexcept { return Count; }
  constexpr const View& operator[](std::size_t k) const noexcept { return views[k]; }
  constexpr const View* begin() const noexcept { return views; }
  constexpr const View* end() const noexcept { return views + Count; }
};

/// Returns views of `Count` equal parts of an axis: `split<3>(a, 0)`. As NumPy's `split`; nothing
/// is copied.
/// **Errors**: `errc::size_mismatch` if the extent of the axis is not a multiple of `Count`;
/// `errc::invalid_argument` for an axis out of range; the reason of a faulty view.
template <std::size_t Count, detail::viewable A>
auto split(A&& a, int axis = 0, source_location where = source_location::current()) noexcept
    -> result<view_list<detail::view_of_t<A>, Count>> {
  constexpr const char* function = "gpu::split";
  static_assert(Count > 0, "gpu::split: the number of parts is at least 1");
  const auto view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_sound(function, "the operand", view, where));
  axis = GPU_TRY(detail::require_axis(function, axis, view.rank, where));
  const std::size_t extent = view.extent(axis);
  if (extent % Count != 0) {
    detail::text_builder out;
    out << "axis " << axis << " has " << extent << " elements, which do not divide into " << Count
        << " equal parts. Name where the parts begin, with gpu::split_at.";
    return detail::fail(
        detail::refusal(errc::size_mismatch, function, out.finish(), where, extent, Count));
  }
  view_list<detail::view_of_t<A>, Count> made;
  for (std::size_t k = 0; k < Count; ++k)
    made.views[k] = detail::part_along(view, axis, k * (extent / Count), extent / Count);
  return made;
}

/// Returns views of the parts of an axis that begin at these indices, and of the part before the
/// first: `split_at(a, {2, 5}, 0)` are the elements before 2, those from 2 to 4, and those from 5
/// on. As NumPy's `split`: negative indices count from the end, and those past the end give empty
/// parts. Otherwise as `split`.
template <detail::viewable A, std::size_t Count>
auto split_at(A&& a, const std::ptrdiff_t (&begins)[Count], int axis = 0,
              source_location where = source_location::current()) noexcept
    -> result<view_list<detail::view_of_t<A>, Count + 1>> {
  constexpr const char* function = "gpu::split_at";
  const auto view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_sound(function, "the operand", view, where));
  axis = GPU_TRY(detail::require_axis(function, axis, view.rank, where));
  view_list<detail::view_of_t<A>, Count + 1> made;
  for (std::size_t k = 0; k <= Count; ++k) {
    const slice part(k == 0 ? 0 : begins[k - 1], k == Count ? to_end : begins[k]);
    const detail::index_sequence chosen = detail::select_indices(part, view.extent(axis));
    made.views[k] =
        detail::part_along(view, axis, static_cast<std::size_t>(chosen.start), chosen.count);
  }
  return made;
}

}}  // namespace gpu::v1
