#pragma once
/// \file
/// `to_text` prints an array as NumPy does.

#include <gpu/array/creation.hpp>  // IWYU pragma: keep
#include <gpu/array/detail/fetch.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/evaluate.hpp>  // IWYU pragma: keep
#include <gpu/array/io/array_text.hpp>
#include <gpu/array/io/host_bytes.hpp>
#include <gpu/array/io/host_numbers.hpp>
#include <gpu/array/io/number_text.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

namespace detail {

/// Copies the elements that are printed of a view: of long axes the first and the last ones. Each
/// corner is a view of its own.
template <class T, int Rank>
result<host_bytes> fetch_printed(const char* function, const stream_ref& stream,
                                 const array_view<const T, Rank>& view, source_location where) {
  const view_layout whole = view_access::layout_of(view), part = printed_part(whole);
  shape<Rank> extents;
  std::uint32_t long_axes = 0;
  for (int axis = 0; axis < Rank; ++axis) {
    extents[axis] = part.extents[axis];
    if (part.extents[axis] != whole.extents[axis]) long_axes |= 1u << axis;
  }
  if (long_axes == 0) return fetch(function, stream, view, where);
  auto gathered = GPU_TRY((gpu::empty<T>(stream, extents, where)));
  for (std::uint32_t ends = 0;; ends = (ends - long_axes) & long_axes) {  // all subsets
    view_layout from = whole, to = view_access::layout_of(gathered.view());
    for (int axis = 0; axis < Rank; ++axis) {
      if ((long_axes >> axis & 1u) == 0) continue;
      from.extents[axis] = to.extents[axis] = printed_edge;
      if ((ends >> axis & 1u) == 0) continue;
      from.advance(static_cast<std::ptrdiff_t>(whole.extents[axis] - printed_edge) *
                   from.strides[axis]);
      to.advance(static_cast<std::ptrdiff_t>(printed_edge) * to.strides[axis]);
    }
    GPU_TRY((gpu::assign(stream, view_access::make<T, Rank>(to),
                         view_access::make<const T, Rank>(from), where)));
    if (ends == long_axes) break;
  }
  return fetch(function, stream, array_view<const T, Rank>(gathered.view()), where);
}

}  // namespace detail

/// Returns the elements of a view or an array as NumPy 2 prints them: in brackets, with as many
/// digits as tell a number from its neighbors but at most 8 after the point, in columns, in lines
/// of 75 characters; of more than 1,000 elements the first and the last three along each axis. A
/// view of rank 0 is written as a scalar, with all digits.
///
///     std::puts(GPU_TRY(gpu::to_text(stream, a)).c_str());
///
/// **Ordering**: waits for the stream. **Errors**: `errc::out_of_host_memory`; the reason of a
/// faulty view; `errc::empty_handle`; `errc::wrong_context`; those of `evaluate`. **Cost**: only
/// what is printed is copied: at once if it is contiguous, else by a launch for each corner.
/// **Capture**: not allowed.
template <detail::viewable A>
  requires detail::number<detail::value_of_view<A>>
result<text> to_text(const stream_ref& stream, A&& a,
                     source_location where = source_location::current()) {
  using element = detail::value_of_view<A>;
  constexpr const char* function = "gpu::to_text";
  const auto view = detail::array_view_of(static_cast<A&&>(a));
  const array_view<const element, detail::viewed_rank<A>> source = view;
  GPU_TRY(detail::require_readable(function, stream, view, a, where));
  const auto copied = GPU_TRY(detail::fetch_printed(function, stream, source, where));
  const detail::view_layout shape = detail::view_access::layout_of(source);
  const detail::host_numbers numbers{copied.data(), detail::printed_part(shape).size(),
                                     detail::number_format_of<element>()};
  text made;
  if (detail::viewed_rank<A> == 0) {
    detail::number_word word;
    detail::write_scalar(word, numbers);
    made = text(word.characters, static_cast<std::size_t>(word.size));
  } else {
    made = detail::array_printer(shape, numbers).print();
  }
  if (made.lost()) return detail::fail(detail::out_of_host_memory_error(function, 0, where));
  return made;
}

}}  // namespace gpu::v1
