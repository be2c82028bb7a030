#pragma once
/// \file
/// `copy`: copies elements between host and device memory, on a stream or blocking.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/ranges.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

template <class Range> constexpr auto elements_of(Range& range) noexcept {
  if constexpr (device_range<Range&>) {
    return device_span_of(range);
  } else if constexpr (is_result<Range>) {
    return device_span<char>{};  // the functions refuse it
  } else {
    return device_span<std::remove_pointer_t<decltype(data_of(range))>>{};
  }
}

/// The type of the elements of any range; const if they cannot be written.
template <class Range>
using element_t =
    typename decltype(elements_of(std::declval<std::remove_reference_t<Range>&>()))::element_type;

template <class Range> copy_end copy_end_of(Range& range) noexcept {
  copy_end end;
  if constexpr (device_range<Range&>) {
    const auto span = device_span_of(range);
    end.address = static_cast<std::uintptr_t>(span.native());
    end.count = span.size();
    end.on_device = true;
    end.needs_context = knows_context<Range>;
    if constexpr (knows_context<Range>) end.context = range.context();
  } else {
    end.address = reinterpret_cast<std::uintptr_t>(data_of(range));
    end.count = size_of(range);
    if constexpr (knows_context<Range>) end.needs_context = !range.context();
  }
  return end;
}

/// Checks the ranges of a copy, with a message for each requirement. Returns whether all hold.
template <class Source, class Destination> constexpr bool check_copied_ranges() noexcept {
  constexpr bool from_range = host_range<Source> || device_range<Source>;
  constexpr bool to_range = host_range<Destination> || device_range<Destination>;
  static_assert(from_range,
                "the source is neither a device range nor a contiguous range in host memory (one "
                "object x is std::span(&x, 1)). Of a view with strides or an expression of arrays, "
                "copy what gpu::evaluate makes. A temporary device_buffer is not one, because its "
                "memory is gone before the copy runs");
  static_assert(to_range,
                "the destination is neither a device range nor a contiguous range in host memory "
                "(one object x is std::span(&x, 1)); a temporary device_buffer is not one, because "
                "its memory is gone before the copy "
                "runs");
  if constexpr (from_range && to_range) {
    using from = element_t<Source>;
    using to = element_t<Destination>;
    constexpr bool writes = !std::is_const_v<to>;
    constexpr bool equal = std::same_as<std::remove_cv_t<from>, std::remove_cv_t<to>>;
    static_assert(writes, "the destination's elements are const");
    static_assert(equal,
                  "the source's elements are of another type than the destination's: a copy moves "
                  "bytes and converts nothing");
    static_assert(std::is_trivially_copyable_v<to>,
                  "a copy moves bytes, which only trivially copyable elements allow");
    return writes && equal && std::is_trivially_copyable_v<to>;
  }
  return false;
}

/// Checks the types of a copy, and that none is a result. Returns whether all is well.
template <class Source, class Destination> constexpr bool check_copy() noexcept {
  // The message of refuse_result, stated here so that the compiler has fewer lines around it.
  constexpr bool results =
      is_result<std::remove_cvref_t<Source>> || is_result<std::remove_cvref_t<Destination>>;
  static_assert(!results,
                "this is a result<T>, not a T: write GPU_TRY(...) around the call that "
                "returned it");
  if constexpr (results)
    return false;
  else
    return check_copied_ranges<Source, Destination>();
}

}  // namespace detail

/// Queues a copy of all elements of `source` to `destination` on `stream`, and returns. Each is a
/// device range or a pinned range: a `device_span`, `device_buffer`, `pinned_span` or
/// `pinned_vector`. Both have the same element type and length. A copy between two devices goes
/// directly if they can reach each other.
/// **Ordering**: after the work already queued on `stream`, before work queued later. Both ranges
/// must stay alive, the source unchanged and the destination unread, until the copy has run.
/// **Errors**: `errc::size_mismatch` with both lengths; `errc::wrong_context` if a buffer is known
/// to belong to another context than the stream; `errc::empty_handle` if it was moved from.
/// **Capture**: allowed. (cuMemcpyHtoDAsync, cuMemcpyDtoHAsync, cuMemcpyDtoDAsync, cuMemcpyAsync;
/// between contexts cuStreamIsCapturing and cuMemcpyPeerAsync)
template <class Source, class Destination>
result<> copy(stream_ref stream, Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  constexpr bool stays = (device_range<Source> || pinned_range<Source>) &&
                         (device_range<Destination> || pinned_range<Destination>);
  constexpr bool valid = detail::check_copy<Source, Destination>();
  static_assert(stays || !valid,
                "an asynchronous copy needs page-locked host memory that lives until it runs: use "
                "a gpu::pinned_vector, not a temporary one, or leave out the stream for a copy "
                "that blocks");
  if constexpr (valid && stays) {
    return detail::copy_on(stream, detail::copy_end_of(source), detail::copy_end_of(destination),
                           sizeof(detail::element_t<Destination>), where);
  } else {
    return {};
  }
}

/// Copies all elements of `source` to `destination`, and returns when they have arrived. One of the
/// two is a device range; the other is a device range or any contiguous range in host memory, such
/// as a `std::vector`. Both have the same element type and length.
/// **Ordering**: waits for all work, on all streams, of the context that the device memory belongs
/// to, so that results are complete and nothing still reads what is overwritten.
/// **Errors**: `errc::size_mismatch` with both lengths; `errc::empty_handle` if a buffer was moved
/// from; also the errors of earlier asynchronous work.
/// **Capture**: not allowed. (cuCtxSynchronize, and cuMemcpyHtoD, cuMemcpyDtoH, cuMemcpyDtoD or
/// cuMemcpyPeer)
template <class Source, class Destination>
  requires detail::no_stream<Source>
result<> copy(Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  constexpr bool on_device = device_range<Source> || device_range<Destination>;
  constexpr bool valid = detail::check_copy<Source, Destination>();
  static_assert(on_device || !valid, "neither side is on a device: use std::copy");
  if constexpr (valid && on_device) {
    return detail::copy_now(detail::copy_end_of(source), detail::copy_end_of(destination),
                            sizeof(detail::element_t<Destination>), where);
  } else {
    return {};
  }
}

}}  // namespace gpu::v1
