#pragma once
/// \file
/// `fill`: one value into every element of device memory.

#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/copy_request.hpp>

namespace gpu::inline v0 {

namespace detail {

/// Queues the fill; `pattern` holds an element of `element_size` bytes, which is 1, 2 or 4. See
/// `queue_or`.
template <class Otherwise>
[[gnu::always_inline]] inline result<> queue_fill(const stream_ref& stream, CUdeviceptr address,
                                                  std::size_t count, unsigned pattern,
                                                  std::size_t element_size, source_location where,
                                                  Otherwise otherwise) noexcept {
  const CUstream native = stream.native();
  switch (element_size) {
    case 1:
      return queue_or<&driver::entry_points::memset_d8_async>(
          stream, fill_label, where, otherwise, address, static_cast<unsigned char>(pattern), count,
          native);
    case 2:
      return queue_or<&driver::entry_points::memset_d16_async>(
          stream, fill_label, where, otherwise, address, static_cast<unsigned short>(pattern),
          count, native);
    default:
      return queue_or<&driver::entry_points::memset_d32_async>(stream, fill_label, where, otherwise,
                                                               address, pattern, count, native);
  }
}

/// Queues the fill, or says what is wrong with it.
template <class End>
[[gnu::cold, gnu::noinline]] result<> fill_carefully(const stream_ref& stream,
                                                     const End& destination, unsigned pattern,
                                                     std::size_t element_size,
                                                     source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::fill", where));
  GPU_TRY(require_context("gpu::fill", stream, "destination", destination.context, where));
  if (destination.count == 0) return require_owner("gpu::fill", "destination", destination, where);
  return on_stream(stream, where, [&] {
    return queue_fill(stream, destination.device_address(), destination.count, pattern,
                      element_size, where, unavailable_at(where));
  });
}

/// Apart, with the range as it came: then its end can stay in registers on the usual path.
template <class Destination>
[[gnu::cold, gnu::noinline]] result<> fill_unusual(const stream_ref& stream,
                                                   Destination& destination, unsigned pattern,
                                                   source_location where) noexcept {
  return fill_carefully(stream, copy_end_of(destination), pattern, sizeof(element_t<Destination>),
                        where);
}

}  // namespace detail

/// Queues writing `value` to every element of `destination` on `stream`, and returns. For elements
/// of 1, 2 or 4 bytes.
/// **Ordering**: after what was queued on `stream`, before what will be; `destination` has to live
/// until the stream got that far, `value` only for the call.
/// **Errors**: `errc::wrong_context` where a buffer is known to belong elsewhere than the stream;
/// `errc::empty_handle` where it was moved from.
/// Allowed in a capture. (cuMemsetD8Async, cuMemsetD16Async, cuMemsetD32Async)
template <device_range Destination>
[[gnu::always_inline]] inline result<> fill(
    stream_ref stream, Destination&& destination,
    const detail::remove_cv_t<detail::element_t<Destination>>& value,
    source_location where = source_location::current()) noexcept {
  const detail::copy_end end = detail::copy_end_of(destination);
  const unsigned pattern = detail::fill_pattern<detail::element_t<Destination>>(value);
  const auto otherwise = [&](std::size_t) __attribute__((always_inline)) {
    return detail::fill_unusual(detail::copy_of(stream), destination, pattern, where);
  };
  if (end.count == 0 || !detail::is_usual(stream) || !detail::is_usual(stream, end)) [[unlikely]]
    return otherwise(0);
  return detail::queue_fill(stream, end.device_address(), end.count, pattern, sizeof value, where,
                            otherwise);
}

}  // namespace gpu::inline v0
