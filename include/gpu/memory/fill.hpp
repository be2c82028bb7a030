#pragma once
/// \file
/// `fill`: one value into every element of device memory.

#include <gpu/memory/copy.hpp>
#include <gpu/memory/copy_request.hpp>

namespace gpu {

namespace detail {

/// Queues the fill; `pattern` holds an element of `element_size` bytes, which is 1, 2 or 4.
[[gnu::always_inline]] inline result<> queue_fill(const stream_ref& stream, CUdeviceptr address,
                                                  std::size_t count, unsigned pattern,
                                                  std::size_t element_size,
                                                  source_location where) noexcept {
  const CUstream native = stream.native();
  return noted(stream, fill_label, where, [=]() __attribute__((always_inline)) {
    switch (element_size) {
      case 1:
        return driver::call<&driver::entry_points::memset_d8_async>(
            where, address, static_cast<unsigned char>(pattern), count, native);
      case 2:
        return driver::call<&driver::entry_points::memset_d16_async>(
            where, address, static_cast<unsigned short>(pattern), count, native);
      default:
        return driver::call<&driver::entry_points::memset_d32_async>(where, address, pattern, count,
                                                                     native);
    }
  });
}

/// Queues the fill, or says what is wrong with it.
[[gnu::cold, gnu::noinline]] inline result<> fill_carefully(const stream_ref& stream,
                                                            const copy_end& destination,
                                                            unsigned pattern,
                                                            std::size_t element_size,
                                                            source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::fill", where));
  GPU_TRY(require_context("gpu::fill", stream, "destination", destination.context, where));
  if (destination.count == 0) return require_owner("gpu::fill", "destination", destination, where);
  return on_stream(stream, where, [&] {
    return queue_fill(stream, destination.device_address(), destination.count, pattern,
                      element_size, where);
  });
}

/// The usual fill, in as little code as can be. What the rest asks for is copied there alone: then
/// none of it has to be in memory here.
[[gnu::always_inline]] inline result<> fill_on(const stream_ref& stream, copy_end destination,
                                               unsigned pattern, std::size_t element_size,
                                               source_location where) noexcept {
  if (destination.count != 0 && is_usual(stream, destination.context)) [[likely]] {
    return queue_fill(stream, destination.device_address(), destination.count, pattern,
                      element_size, where);
  }
  const copy_end unusual = destination;
  return fill_carefully(stream, unusual, pattern, element_size, where);
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
result<> fill(stream_ref stream, Destination&& destination,
              const detail::remove_cv_t<detail::element_t<Destination>>& value,
              source_location where = source_location::current()) noexcept {
  return detail::fill_on(stream, detail::copy_end_of(destination),
                         detail::fill_pattern<detail::element_t<Destination>>(value), sizeof value,
                         where);
}

}  // namespace gpu
