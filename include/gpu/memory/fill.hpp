#pragma once
/// \file
/// `fill`: one value into every element of device memory.

#include <gpu/memory/copy.hpp>
#include <gpu/memory/copy_request.hpp>

namespace gpu {

namespace detail {

/// `pattern` holds an element of `element_size` bytes, which is 1, 2 or 4.
inline result<> fill_on(const stream_ref& stream, const copy_end& destination, unsigned pattern,
                        std::size_t element_size, source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::fill", where));
  GPU_TRY(require_context("gpu::fill", stream, "destination", destination.context, where));
  if (destination.count == 0) [[unlikely]]
    return require_owner("gpu::fill", "destination", destination, where);
  const CUdeviceptr address = destination.device_address();
  const std::size_t count = destination.count;
  return queue_on(stream, fill_label, where, [&] {
    switch (element_size) {
      case 1:
        return driver::call<&driver::entry_points::memset_d8_async>(
            where, address, static_cast<unsigned char>(pattern), count, stream.native());
      case 2:
        return driver::call<&driver::entry_points::memset_d16_async>(
            where, address, static_cast<unsigned short>(pattern), count, stream.native());
      default:
        return driver::call<&driver::entry_points::memset_d32_async>(where, address, pattern, count,
                                                                     stream.native());
    }
  });
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
  using element = detail::element_t<Destination>;
  static_assert(!detail::is_const<element>, "the destination's elements are const");
  static_assert(sizeof(element) == 1 || sizeof(element) == 2 || sizeof(element) == 4,
                "the driver fills with patterns of 1, 2 or 4 bytes; zeros of any type are "
                "fill(stream, as_writable_bytes(span), std::byte{0}), other values need a kernel");
  unsigned pattern = 0;
  __builtin_memcpy(&pattern, &value, sizeof(element));
  return detail::fill_on(stream, detail::copy_end_of(destination), pattern, sizeof(element), where);
}

}  // namespace gpu
