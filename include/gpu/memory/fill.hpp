#pragma once
/// \file
/// `fill`: writes one value to every element of device memory, also of 2D and 3D regions.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/region_side.hpp>
#include <gpu/memory/device_span.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

/// Returns the bits of `value`, an element to fill memory with.
template <class Element> unsigned fill_pattern(const std::remove_cv_t<Element>& value) noexcept {
  static_assert(!std::is_const_v<Element>, "the destination's elements are const");
  static_assert(sizeof(Element) == 1 || sizeof(Element) == 2 || sizeof(Element) == 4,
                "the driver fills with patterns of 1, 2 or 4 bytes; other values need a kernel, "
                "but zeros of any type are bytes: see gpu::as_writable_bytes");
  unsigned pattern = 0;
  std::memcpy(&pattern, &value, sizeof value);
  return pattern;
}

/// Queues a fill; `pattern` holds an element of `element_size` bytes, which is 1, 2 or 4.
inline result<> queue_fill(const stream_ref& stream, const copy_end& destination, unsigned pattern,
                           std::size_t element_size, source_location where) noexcept {
  const CUdeviceptr address = destination.device_address();
  const std::size_t count = destination.count;
  switch (element_size) {
    case 1:
      return queue<&driver::entry_points::memset_d8_async>(stream, fill_label, where, address,
                                                           static_cast<unsigned char>(pattern),
                                                           count, stream.native());
    case 2:
      return queue<&driver::entry_points::memset_d16_async>(stream, fill_label, where, address,
                                                            static_cast<unsigned short>(pattern),
                                                            count, stream.native());
    default:
      return queue<&driver::entry_points::memset_d32_async>(stream, fill_label, where, address,
                                                            pattern, count, stream.native());
  }
}

/// Checks and queues a fill. The usual one passes all checks at once, as with `copy_on`.
inline result<> fill_on(const stream_ref& stream, const copy_end& destination, unsigned pattern,
                        std::size_t element_size, source_location where) noexcept {
  std::size_t bytes = saturated_product(destination.count, element_size);
  if (is_fast_path(stream) && belongs_to(destination, stream) && bytes - 1 < most_memory_bytes) {
    return queue_fill(stream, destination, pattern, element_size, where);
  }
  GPU_TRY(require(stream, "gpu::fill", where));
  GPU_TRY(require_context("gpu::fill", stream, "destination", destination.context, where));
  if (destination.count == 0) return require_owner("gpu::fill", "destination", destination, where);
  GPU_TRY(get_bytes("gpu::fill", destination.count, element_size, bytes, where));
  return on_stream(stream, where,
                   [&] { return queue_fill(stream, destination, pattern, element_size, where); });
}

/// Fails with `errc::invalid_argument` if elements would not be aligned to their size.
inline result<> check_fill_alignment(const char* function, const region_side& side,
                                     source_location where) noexcept {
  if (side.address % side.element == 0 && side.pitch % side.element == 0) return {};
  text_builder out;
  out << "the region begins at a multiple of " << (side.address & (~side.address + 1))
      << " bytes and has a pitch of " << side.pitch << " bytes, but elements of " << side.element
      << " bytes have to be aligned to their size. Pass an address and a pitch that are multiples "
         "of it.";
  return fail(
      refusal(errc::invalid_argument, function, out.finish(), where, side.pitch, side.element));
}

/// Queues one fill for each plane. Only the first makes a launch record, which stands for all.
template <auto Member, class Pattern>
result<> fill_planes(const stream_ref& stream, const region_side& side, std::size_t planes,
                     std::size_t rows, Pattern pattern, source_location where) noexcept {
  for (std::size_t z = 0; z < planes; ++z) {
    const auto at = static_cast<CUdeviceptr>(side.address + z * side.rows * side.pitch);
    GPU_TRY(z == 0 ? queue<Member>(stream, fill_label, where, at, side.pitch, pattern,
                                   side.size.width, rows, stream.native())
                   : driver::call<Member>(where, at, side.pitch, pattern, side.size.width, rows,
                                          stream.native()));
  }
  return {};
}

/// Queues a fill of a region; `pattern` holds an element of `side.element` bytes, which is 1, 2 or
/// 4.
inline result<> fill_region_on(const stream_ref& stream, const region_side& side, unsigned pattern,
                               source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::fill", where));
  GPU_TRY(check_side("gpu::fill", "destination", side, where));
  GPU_TRY(require_context("gpu::fill", stream, "destination", side.context, where));
  if (side.size.empty()) return {};
  GPU_TRY(check_fill_alignment("gpu::fill", side, where));
  // Planes without a gap between them are one plane of more rows.
  const bool one_plane = side.rows == side.size.height || side.size.depth == 1;
  const std::size_t planes = one_plane ? 1 : side.size.depth;
  const std::size_t rows = one_plane ? side.size.height * side.size.depth : side.size.height;
  return on_stream(stream, where, [&] {
    switch (side.element) {
      case 1:
        return fill_planes<&driver::entry_points::memset_2d_d8_async>(
            stream, side, planes, rows, static_cast<unsigned char>(pattern), where);
      case 2:
        return fill_planes<&driver::entry_points::memset_2d_d16_async>(
            stream, side, planes, rows, static_cast<unsigned short>(pattern), where);
      default:
        return fill_planes<&driver::entry_points::memset_2d_d32_async>(stream, side, planes, rows,
                                                                       pattern, where);
    }
  });
}

}  // namespace detail

/// Queues writing `value` to every element of `destination` on `stream`, and returns. For elements
/// of 1, 2 or 4 bytes.
/// **Ordering**: after the work already queued on `stream`, before work queued later. `destination`
/// must stay alive until the fill has run, `value` only during the call.
/// **Errors**: `errc::wrong_context` if a buffer is known to belong to another context than the
/// stream; `errc::empty_handle` if it was moved from.
/// **Capture**: allowed. (cuMemsetD8Async, cuMemsetD16Async, cuMemsetD32Async)
template <device_range Destination>
result<> fill(stream_ref stream, Destination&& destination,
              const std::remove_cv_t<detail::element_t<Destination>>& value,
              source_location where = source_location::current()) noexcept {
  return detail::fill_on(stream, detail::copy_end_of(destination),
                         detail::fill_pattern<detail::element_t<Destination>>(value), sizeof value,
                         where);
}

/// Does not compile, and says so: the destination is a result.
template <class T, class Value>
result<> fill(const stream_ref&, const expected<T, cuda_error>&, const Value&) noexcept {
  detail::refuse_result<T>();
  return {};
}

/// Does not compile, and says so: a fill is queued on a stream.
template <class Destination, class Value>
  requires detail::no_stream<Destination>
result<> fill(Destination&&, const Value&) noexcept {
  static_assert(detail::always_false<Destination>,
                "gpu::fill: the stream is missing; write gpu::fill(stream, destination, value)");
  return {};
}

/// Queues writing `value` to every element of a 2D or 3D region on `stream`, and returns. The gaps
/// between the rows are not written. For elements of 1, 2 or 4 bytes.
/// **Ordering**: after the work already queued on `stream`, before work queued later.
/// **Errors**: `errc::invalid_argument` if the pitch is smaller than a row or not a multiple of the
/// element size; `errc::size_overflow` if the region has more bytes than memory can have;
/// `errc::wrong_context` if a buffer is known to belong to another context than the stream;
/// `errc::empty_handle` if it was moved from.
/// **Capture**: allowed. (cuMemsetD2D8Async, cuMemsetD2D16Async, cuMemsetD2D32Async)
template <detail::pitched_range Destination>
  requires(detail::is_device_region<Destination>())
result<> fill(
    stream_ref stream, Destination&& destination,
    const std::remove_cv_t<typename detail::pitched_view_t<Destination>::element_type>& value,
    source_location where = source_location::current()) noexcept {
  using element = typename detail::pitched_view_t<Destination>::element_type;
  return detail::fill_region_on(stream, detail::side_of(destination),
                                detail::fill_pattern<element>(value), where);
}

}}  // namespace gpu::v1
