#pragma once
/// \file
/// `roll` moves elements along an axis, and those beyond the end to the beginning.

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>  // IWYU pragma: keep
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/evaluate.hpp>    // IWYU pragma: keep
#include <gpu/array/view_shape.hpp>  // IWYU pragma: keep
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

/// Writes the elements of `from` to `to`, `shift` places later along an axis.
template <class T, int Rank>
result<> assign_rolled(const stream_ref& stream, const array_view<T, Rank>& to,
                       const array_view<const T, Rank>& from, std::ptrdiff_t shift, int axis,
                       source_location where) {
  const std::size_t extent = from.extent(axis);
  if (from.size() == 0) return {};
  const auto length = static_cast<std::ptrdiff_t>(extent);
  const auto later = static_cast<std::size_t>((shift % length + length) % length);
  GPU_TRY(gpu::assign(stream, part_along(to, axis, later, extent - later),
                      part_along(from, axis, 0, extent - later), where));
  if (later == 0) return {};
  return gpu::assign(stream, part_along(to, axis, 0, later),
                     part_along(from, axis, extent - later, later), where);
}

}  // namespace detail

/// Makes an array whose element `i + shift` along an axis is element `i` of `a`; elements that
/// leave the axis at one end come back at the other. As NumPy's `roll`.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**:
/// `errc::invalid_argument` for an axis out of range; the reason of a faulty view;
/// `errc::wrong_context`; `errc::empty_handle`; CUDA_ERROR_OUT_OF_MEMORY. **Cost**: at most two
/// launches. **Capture**: as for `assign`; the memory then belongs to the graph.
template <detail::viewable A>
auto roll(const stream_ref& stream, A&& a, std::ptrdiff_t shift, int axis,
          source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  constexpr int rank = detail::viewed_rank<A>;
  using element = detail::value_of_view<A>;
  const array_view<const element, rank> view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand("gpu::roll", stream, "the operand", view, a, where));
  axis = GPU_TRY(detail::require_axis("gpu::roll", axis, rank, where));
  auto made = GPU_TRY((gpu::empty<element>(stream, view.shape(), where)));
  GPU_TRY((detail::assign_rolled<element, rank>(stream, made.view(), view, shift, axis, where)));
  return made;
}

/// Moves elements in C order, over the ends of rows. As NumPy's `roll` without an axis. Otherwise
/// as above. **Cost**: for elements that are not in C order, also a copy.
template <detail::viewable A>
auto roll(const stream_ref& stream, A&& a, std::ptrdiff_t shift,
          source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  constexpr int rank = detail::viewed_rank<A>;
  using element = detail::value_of_view<A>;
  const array_view<const element, rank> view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand("gpu::roll", stream, "the operand", view, a, where));
  if (!view.is_contiguous()) {
    const auto copied = GPU_TRY(gpu::evaluate(stream, view, where));
    return gpu::roll(stream, copied, shift, where);
  }
  auto made = GPU_TRY((gpu::empty<element>(stream, view.shape(), where)));
  GPU_TRY((detail::assign_rolled<element, 1>(stream, gpu::ravel(made), gpu::ravel(view), shift, 0,
                                             where)));
  return made;
}

/// Returns a view that is turned by `turns` times 90 degrees, from axis `first` to axis `second`.
/// As NumPy's `rot90`; nothing is copied. An axis out of range makes the view faulty.
template <detail::viewable A>
auto rot90(A&& a, int turns = 1, int first = 0, int second = 1) noexcept {
  constexpr int rank = detail::viewed_rank<A>;
  static_assert(rank >= 2, "gpu::rot90 takes a view of at least two axes");
  const auto view = detail::array_view_of(static_cast<A&&>(a));
  switch ((turns % 4 + 4) % 4) {
    case 1: return gpu::swap_axes(gpu::reverse(view, second), first, second);
    case 2: return gpu::reverse(view, first, second);
    case 3: return gpu::reverse(gpu::swap_axes(view, first, second), second);
    default: return view;
  }
}

}}  // namespace gpu::v1
