#pragma once
/// \file
/// `copy`: elements from anywhere to anywhere, on a stream or at once.

#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/device_span.hpp>

namespace gpu::inline v0 {

namespace detail {

template <class Range> constexpr auto elements_of(Range& range) noexcept {
  if constexpr (device_range<Range&>) {
    return device_span_of(range);
  } else {
    return device_span<remove_pointer_t<decltype(data_of(range))>>{};
  }
}

/// The type of the elements of any range, const where they cannot be written.
template <class Range>
using element_t =
    typename decltype(elements_of(declval<remove_reference_t<Range>&>()))::element_type;

template <class Range> [[gnu::always_inline]] inline copy_end copy_end_of(Range& range) noexcept {
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

/// What every copy asks of its types, with a message for what is missing.
template <class Source, class Destination> constexpr void check_copy() noexcept {
  static_assert(host_range<Source> || device_range<Source>,
                "the source is neither a device range nor a contiguous range in host memory; a "
                "temporary device_buffer is none, because its memory is gone before the copy runs");
  static_assert(host_range<Destination> || device_range<Destination>,
                "the destination is neither a device range nor a contiguous range in host memory; "
                "a temporary device_buffer is none, because its memory is gone before the copy "
                "runs");
  if constexpr ((host_range<Source> || device_range<Source>) &&
                (host_range<Destination> || device_range<Destination>)) {
    using from = element_t<Source>;
    using to = element_t<Destination>;
    static_assert(!is_const<to>, "the destination's elements are const");
    static_assert(same<remove_cv_t<from>, remove_cv_t<to>>,
                  "the source's elements are of another type than the destination's: a copy moves "
                  "bytes and converts nothing");
    static_assert(trivially_copyable<to>,
                  "a copy moves bytes, which only trivially copyable elements allow");
  }
}

/// Apart, with the ranges as they came: then their ends can stay in registers on the usual path.
template <class Source, class Destination>
[[gnu::cold, gnu::noinline]] result<> copy_unusual(const stream_ref& stream, Source& source,
                                                   Destination& destination,
                                                   source_location where) noexcept {
  return copy_carefully(stream, copy_end_of(source), copy_end_of(destination),
                        sizeof(element_t<Destination>), where);
}

}  // namespace detail

/// Queues a copy of all elements of `source` to `destination` on `stream`, and returns. Either is a
/// device range or a pinned range: a `device_span`, `device_buffer`, `pinned_span` or
/// `pinned_vector`; between two devices it goes directly where they can. Both have the same element
/// type and length.
/// **Ordering**: after what was queued on `stream`, before what will be. Both ranges have to live,
/// the source unchanged and the destination unread, until the stream got that far.
/// **Errors**: `errc::size_mismatch` with both lengths; `errc::wrong_context` where a buffer is
/// known to belong elsewhere than the stream; `errc::empty_handle` where it was moved from.
/// Allowed in a capture. (cuMemcpyHtoDAsync, cuMemcpyDtoHAsync, cuMemcpyDtoDAsync, cuMemcpyAsync;
/// between contexts cuStreamIsCapturing and cuMemcpyPeerAsync)
template <class Source, class Destination>
[[gnu::always_inline]] inline result<> copy(
    stream_ref stream, Source&& source, Destination&& destination,
    source_location where = source_location::current()) noexcept {
  detail::check_copy<Source, Destination>();
  static_assert((device_range<Source> || pinned_range<Source>) &&
                    (device_range<Destination> || pinned_range<Destination>),
                "an asynchronous copy needs page-locked host memory that is there until it runs: "
                "use a gpu::pinned_vector, no temporary one, or leave the stream out for a copy "
                "that blocks");
  const detail::copy_end from = detail::copy_end_of(source), to = detail::copy_end_of(destination);
  const auto otherwise = [&](std::size_t) __attribute__((always_inline)) {
    return detail::copy_unusual(detail::copy_of(stream), source, destination, where);
  };
  if (!detail::is_usual(stream, from, to)) [[unlikely]]
    return otherwise(0);
  return detail::queue_copy(stream, from, to, from.count * sizeof(detail::element_t<Destination>),
                            where, otherwise);
}

/// Copies all elements of `source` to `destination`, and returns when they have arrived. One of the
/// two is a device range; the other is one too, or any contiguous range in host memory, such as a
/// `std::vector`. Both have the same element type and length.
/// **Ordering**: waits for all work of the context that the device memory belongs to, whatever its
/// stream, so that results are there and nothing still reads what is written over.
/// **Errors**: `errc::size_mismatch` with both lengths; `errc::empty_handle` where a buffer was
/// moved from; also those of earlier asynchronous work.
/// Not allowed in a capture. (cuCtxSynchronize, and cuMemcpyHtoD, cuMemcpyDtoH, cuMemcpyDtoD or
/// cuMemcpyPeer)
template <class Source, class Destination>
  requires detail::no_stream<Source>
result<> copy(Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  detail::check_copy<Source, Destination>();
  static_assert(device_range<Source> || device_range<Destination>,
                "neither side is on a device: std::copy does that");
  return detail::copy_now(detail::copy_end_of(source), detail::copy_end_of(destination),
                          sizeof(detail::element_t<Destination>), where);
}

}  // namespace gpu::inline v0
