#pragma once
/// \file
/// `copy` of contiguous views.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/device_span.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

/// Satisfied by views, and by owners that have a `view()` and no `span()`, unless temporary.
template <class A>
concept copied_view = is_array_view<std::remove_cvref_t<A>> ||
                      (std::is_lvalue_reference_v<A> && has_elements<A> && !device_range<A>);

/// Returns the elements of a view one after the other, or the argument if it is a range.
/// **Errors**: those of a faulty view; `errc::invalid_argument` for one that is not contiguous,
/// with `cure`.
template <class A>
auto copied_range(A&& a, [[maybe_unused]] const char* what, [[maybe_unused]] const char* cure,
                  [[maybe_unused]] source_location where) noexcept {
  if constexpr (copied_view<A>) {
    const auto view = array_view_of(a);
    using element = typename decltype(view)::element_type;
    using span = device_span<element>;
    const view_fault fault = fault_at(view.native(), view.stride(0));
    if (fault) return result<span>(fail(fault_error(fault, "gpu::copy", what, where)));
    if (view.size() < 2 || view.is_contiguous())
      return result<span>(span::from_native(view.native(), view.size()));
    text_builder out;
    out << what << " is a view whose elements are not contiguous. " << cure;
    return result<span>(fail(refusal(errc::invalid_argument, "gpu::copy", out.finish(), where)));
  } else {
    return result<std::remove_reference_t<A>*>(&a);
  }
}

/// Returns what `copied_range` found, as the argument `A` was passed.
template <class A, class Found> auto&& range_in(Found& found) noexcept {
  if constexpr (copied_view<A>) {
    return found;
  } else {
    return static_cast<A&&>(*found);
  }
}

inline constexpr char copy_from_strides[] = "Copy what gpu::evaluate(stream, view) makes of it.";
inline constexpr char copy_to_strides[] =
    "Copy to device memory, and call gpu::assign(stream, view, memory).";

}  // namespace detail

/// Queues a copy of all elements of a contiguous view, or to one. The other side is a view, too, or
/// as for device ranges.
/// **Errors**: as for device ranges; the reason of a faulty view; `errc::invalid_argument` for a
/// view whose elements are not contiguous in C order.
template <class Source, class Destination>
  requires(detail::copied_view<Source> || detail::copied_view<Destination>)
result<> copy(stream_ref stream, Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  const auto from = GPU_TRY(detail::copied_range(static_cast<Source&&>(source), "the source",
                                                 detail::copy_from_strides, where));
  const auto to = GPU_TRY(detail::copied_range(static_cast<Destination&&>(destination),
                                               "the destination", detail::copy_to_strides, where));
  return gpu::copy(stream, detail::range_in<Source>(from), detail::range_in<Destination>(to),
                   where);
}

/// Copies all elements of a contiguous view, or to one, and returns when they have arrived.
/// Otherwise as above.
template <class Source, class Destination>
  requires(detail::no_stream<Source> &&
           (detail::copied_view<Source> || detail::copied_view<Destination>))
result<> copy(Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  const auto from = GPU_TRY(detail::copied_range(static_cast<Source&&>(source), "the source",
                                                 detail::copy_from_strides, where));
  const auto to = GPU_TRY(detail::copied_range(static_cast<Destination&&>(destination),
                                               "the destination", detail::copy_to_strides, where));
  return gpu::copy(detail::range_in<Source>(from), detail::range_in<Destination>(to), where);
}

}}  // namespace gpu::v1
