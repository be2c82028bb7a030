#pragma once
/// \file
/// `copy` and `fill` of boxes: rows and planes with a pitch, whole or in part.

#include <gpu/memory/detail/box_side.hpp>
#include <gpu/memory/detail/copy_request.hpp>

namespace gpu::inline v0 {

/// Which part of the source goes to which part of the destination, in elements.
struct copy_region {
  box_position source{};
  box_position destination{};
  /// As it stands all of the source, from its position on; a length of 0 copies nothing.
  box_extent size{to_the_edge, to_the_edge, to_the_edge};
};

namespace detail {

/// `errc::index_out_of_range` where a part is not all inside a box.
inline result<> check_part(const char* what, const box_side& box, const box_position& at,
                           const box_extent& size, source_location where) noexcept {
  const auto inside = [](std::size_t first, std::size_t count, std::size_t all) {
    return first <= all && count <= all - first;
  };
  if (inside(at.x, size.width, box.size.width) && inside(at.y, size.height, box.size.height) &&
      inside(at.z, size.depth, box.size.depth)) [[likely]]
    return {};
  text_builder out;
  out << "a box of " << size.width << " x " << size.height << " x " << size.depth << " at (" << at.x
      << ", " << at.y << ", " << at.z << ") is not all inside the " << what << ", which is "
      << box.size.width << " x " << box.size.height << " x " << box.size.depth
      << ". Copy less, or begin earlier.";
  return fail(refusal(errc::index_out_of_range, "gpu::copy", out.finish(), where));
}

/// A copy of a box in the driver's words: `CUDA_MEMCPY3D`, or `CUDA_MEMCPY3D_PEER` but for its
/// contexts.
template <class Copy = CUDA_MEMCPY3D>
Copy native_copy(const box_side& source, const box_side& destination,
                 const copy_region& region) noexcept {
  Copy copy{};
  copy.srcXInBytes = region.source.x * source.element;
  copy.srcY = region.source.y;
  copy.srcZ = region.source.z;
  copy.srcMemoryType = memory_type_of(source);
  copy.srcHost = reinterpret_cast<const void*>(source.on_device ? 0 : source.address);
  copy.srcDevice = source.on_device ? static_cast<CUdeviceptr>(source.address) : 0;
  copy.srcArray = source.array;
  copy.srcPitch = source.pitch;
  copy.srcHeight = source.rows;
  copy.dstXInBytes = region.destination.x * source.element;
  copy.dstY = region.destination.y;
  copy.dstZ = region.destination.z;
  copy.dstMemoryType = memory_type_of(destination);
  copy.dstHost = reinterpret_cast<void*>(destination.on_device ? 0 : destination.address);
  copy.dstDevice = destination.on_device ? static_cast<CUdeviceptr>(destination.address) : 0;
  copy.dstArray = destination.array;
  copy.dstPitch = destination.pitch;
  copy.dstHeight = destination.rows;
  copy.WidthInBytes = region.size.width * source.element;
  copy.Height = region.size.height;
  copy.Depth = region.size.depth;
  return copy;
}

/// Checks both ends and completes the region.
inline result<> complete_region(const box_side& source, const box_side& destination,
                                copy_region& region, source_location where) noexcept {
  GPU_TRY(check_box("gpu::copy", "source", source, where));
  GPU_TRY(check_box("gpu::copy", "destination", destination, where));
  region.size = part_of(source.size, region.source, region.size);
  GPU_TRY(check_part("source", source, region.source, region.size, where));
  return check_part("destination", destination, region.destination, region.size, where);
}

inline CUDA_MEMCPY3D_PEER native_peer_copy(const box_side& source, context_ref source_context,
                                           const box_side& destination,
                                           context_ref destination_context,
                                           const copy_region& region) noexcept {
  auto copy = native_copy<CUDA_MEMCPY3D_PEER>(source, destination, region);
  copy.srcContext = source_context.native();
  copy.dstContext = destination_context.native();
  return copy;
}

inline result<> copy_box_on(const stream_ref& stream, const box_side& source,
                            const box_side& destination, copy_region region,
                            source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::copy", where));
  GPU_TRY(complete_region(source, destination, region, where));
  if (region.size.empty()) return {};
  bool peers = false;
  GPU_TRY(find_peers(stream, source.context, destination.context, peers, where));
  if (peers) {
    const CUDA_MEMCPY3D_PEER copy =
        native_peer_copy(source, source.context, destination, destination.context, region);
    return on_stream(stream, where, [&] {
      return queue<&driver::entry_points::memcpy_3d_peer_async>(stream, copy_label, where, &copy,
                                                                stream.native());
    });
  }
  const CUDA_MEMCPY3D copy = native_copy(source, destination, region);
  return on_stream(stream, where, [&] {
    return queue<&driver::entry_points::memcpy_3d_async>(stream, copy_label, where, &copy,
                                                         stream.native());
  });
}

inline copy_end device_end_of(const box_side& side) noexcept {
  copy_end end;
  end.address = side.address;
  end.on_device = true;
  end.context = side.context;
  return end;
}

inline result<> copy_box_now(const box_side& source, const box_side& destination,
                             copy_region region, source_location where) noexcept {
  GPU_TRY(complete_region(source, destination, region, where));
  if (region.size.empty()) return {};
  context_ref context;
  GPU_TRY(
      find_context(device_end_of(destination.on_device ? destination : source), context, where));
  if (source.on_device && destination.on_device) {
    context_ref other;
    GPU_TRY(find_context(device_end_of(source), other, where));
    if (other != context) {
      GPU_TRY(other.synchronize(where));
      GPU_TRY(context.synchronize(where));
      const CUDA_MEMCPY3D_PEER copy = native_peer_copy(source, other, destination, context, region);
      GPU_TRY(
          driver::call_in<&driver::entry_points::memcpy_3d_peer>(context.native(), where, &copy));
      return context.synchronize(where);
    }
  }
  const CUDA_MEMCPY3D copy = native_copy(source, destination, region);
  return driver::in_context(context.native(), where, [&]() -> result<> {
    // As with copies of a run of bytes, the driver waits for one stream only, and may return early.
    GPU_TRY(driver::call<&driver::entry_points::ctx_synchronize>(where));
    GPU_TRY(driver::call<&driver::entry_points::memcpy_3d>(where, &copy));
    if (!destination.on_device) return {};
    return driver::call<&driver::entry_points::ctx_synchronize>(where);
  });
}

template <class Source, class Destination> constexpr void check_boxes() noexcept {
  using from = typename box_view_t<Source>::element_type;
  using to = typename box_view_t<Destination>::element_type;
  static_assert(!is_const<to>, "the destination's elements are const");
  static_assert(same<remove_cv_t<from>, to>,
                "the source's elements are of another type than the destination's: a copy moves "
                "bytes and converts nothing");
}

template <class Range> constexpr bool is_host_box() noexcept {
  return box_view_t<Range>::side == memory_side::host;
}
template <class Range> constexpr bool is_device_box() noexcept {
  return box_view_t<Range>::side == memory_side::device;
}

/// `errc::invalid_argument` where elements would be filled off their alignment.
inline result<> check_fill_alignment(const char* function, const box_side& box,
                                     source_location where) noexcept {
  if (box.address % box.element == 0 && box.pitch % box.element == 0) [[likely]]
    return {};
  text_builder out;
  out << "the box begins at a multiple of " << (box.address & (~box.address + 1))
      << " bytes and has a pitch of " << box.pitch << " bytes, but elements of " << box.element
      << " bytes are filled at multiples of that. Give a pitch that is one.";
  return fail(
      refusal(errc::invalid_argument, function, out.finish(), where, box.pitch, box.element));
}

/// One record stands for all planes.
template <auto Member, class Pattern>
result<> fill_planes(const stream_ref& stream, const box_side& box, std::size_t planes,
                     std::size_t rows, Pattern pattern, source_location where) noexcept {
  for (std::size_t z = 0; z < planes; ++z) {
    const auto at = static_cast<CUdeviceptr>(box.address + z * box.rows * box.pitch);
    GPU_TRY(z == 0 ? queue<Member>(stream, fill_label, where, at, box.pitch, pattern,
                                   box.size.width, rows, stream.native())
                   : driver::call<Member>(where, at, box.pitch, pattern, box.size.width, rows,
                                          stream.native()));
  }
  return {};
}

/// `pattern` holds an element of `box.element` bytes, which is 1, 2 or 4.
inline result<> fill_box_on(const stream_ref& stream, const box_side& box, unsigned pattern,
                            source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::fill", where));
  GPU_TRY(check_box("gpu::fill", "destination", box, where));
  GPU_TRY(require_context("gpu::fill", stream, "destination", box.context, where));
  if (box.size.empty()) return {};
  GPU_TRY(check_fill_alignment("gpu::fill", box, where));
  // Planes without a gap between them are one plane of more rows.
  const bool one_plane = box.rows == box.size.height || box.size.depth == 1;
  const std::size_t planes = one_plane ? 1 : box.size.depth;
  const std::size_t rows = one_plane ? box.size.height * box.size.depth : box.size.height;
  return on_stream(stream, where, [&] {
    switch (box.element) {
      case 1:
        return fill_planes<&driver::entry_points::memset_2d_d8_async>(
            stream, box, planes, rows, static_cast<unsigned char>(pattern), where);
      case 2:
        return fill_planes<&driver::entry_points::memset_2d_d16_async>(
            stream, box, planes, rows, static_cast<unsigned short>(pattern), where);
      default:
        return fill_planes<&driver::entry_points::memset_2d_d32_async>(stream, box, planes, rows,
                                                                       pattern, where);
    }
  });
}

}  // namespace detail

/// Queues a copy of a box, or of a part of it, on `stream`, and returns:
///
///     gpu::copy(stream, image, corner, {.source = {8, 8}, .size = {64, 64}});
///
/// Either end is a `pitched_buffer` or a pitched view, on a device or in page-locked memory.
/// Between two devices it goes directly where they can; both ends then have to say where they are,
/// as buffers do, and spans by `gpu::peer`. Elements are of one type.
/// **Ordering**: after what was queued on `stream`, before what will be; both ends live until then.
/// **Errors**: `errc::invalid_argument` where a pitch is below a row; `errc::size_overflow` where a
/// box has more bytes than there are addresses; `errc::index_out_of_range` where the part is not
/// inside both; `errc::wrong_context` where a buffer is known to belong
/// elsewhere than the stream; `errc::empty_handle` where it was moved from.
/// Allowed in a capture. (cuMemcpy3DAsync; between contexts cuStreamIsCapturing and
/// cuMemcpy3DPeerAsync)
template <detail::box_range Source, detail::box_range Destination>
result<> copy(stream_ref stream, Source&& source, Destination&& destination, copy_region region,
              source_location where = source_location::current()) noexcept {
  detail::check_boxes<Source, Destination>();
  static_assert(!detail::is_host_box<Source>() && !detail::is_host_box<Destination>(),
                "an asynchronous copy needs page-locked host memory: use a "
                "gpu::pitched_pinned_span, or leave the stream out for a copy that blocks");
  return detail::copy_box_on(stream, detail::side_of(source), detail::side_of(destination), region,
                             where);
}
template <detail::box_range Source, detail::box_range Destination>
result<> copy(stream_ref stream, Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  return copy(stream, source, destination, copy_region{}, where);
}

/// Copies a box, or a part of it, and returns when it has arrived. One end is on a device, the
/// other too or in any host memory.
/// **Ordering**: waits for all work of the contexts that the device memory belongs to.
/// **Errors**: as above; also those of earlier asynchronous work. Not allowed in a capture.
/// (cuPointerGetAttributes, cuCtxSynchronize, cuMemcpy3D, cuMemcpy3DPeer)
template <detail::box_range Source, detail::box_range Destination>
  requires detail::no_stream<Source>
result<> copy(Source&& source, Destination&& destination, copy_region region,
              source_location where = source_location::current()) noexcept {
  detail::check_boxes<Source, Destination>();
  static_assert(detail::is_device_box<Source>() || detail::is_device_box<Destination>(),
                "neither side is on a device: std::copy does that, row by row");
  return detail::copy_box_now(detail::side_of(source), detail::side_of(destination), region, where);
}
template <detail::box_range Source, detail::box_range Destination>
  requires detail::no_stream<Source>
result<> copy(Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  return copy(source, destination, copy_region{}, where);
}

/// Queues writing `value` to every element of a box on `stream`, and returns; what is between the
/// rows is left alone. For elements of 1, 2 or 4 bytes.
/// **Ordering**: after what was queued on `stream`, before what will be.
/// **Errors**: `errc::invalid_argument` where the pitch is below a row or no multiple of an
/// element; `errc::size_overflow` where the box has more bytes than there are addresses;
/// `errc::wrong_context` where a buffer is known to belong elsewhere than the stream;
/// `errc::empty_handle` where it was moved from.
/// Allowed in a capture. (cuMemsetD2D8Async, cuMemsetD2D16Async, cuMemsetD2D32Async)
template <detail::box_range Destination>
  requires(detail::is_device_box<Destination>())
result<> fill(
    stream_ref stream, Destination&& destination,
    const detail::remove_cv_t<typename detail::box_view_t<Destination>::element_type>& value,
    source_location where = source_location::current()) noexcept {
  using element = typename detail::box_view_t<Destination>::element_type;
  return detail::fill_box_on(stream, detail::side_of(destination),
                             detail::fill_pattern<element>(value), where);
}

}  // namespace gpu::inline v0
