#pragma once
/// \file
/// `copy` of 2D and 3D regions: rows and planes with a pitch, whole or in part.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/region_side.hpp>
#include <gpu/memory/pitched_span.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// The part of the source that is copied, and its position in the destination, in elements.
struct copy_region {
  box_position source{};
  box_position destination{};
  /// By default everything from the source position to the end of the source. A length of 0 copies
  /// nothing.
  box_extent size{to_the_edge, to_the_edge, to_the_edge};
};

namespace detail {

/// Fails with `errc::index_out_of_range` if a region is not entirely inside `side`.
inline result<> check_inside(const char* what, const region_side& side, const box_position& at,
                             const box_extent& size, source_location where) noexcept {
  const auto inside = [](std::size_t first, std::size_t count, std::size_t all) {
    return first <= all && count <= all - first;
  };
  if (inside(at.x, size.width, side.size.width) && inside(at.y, size.height, side.size.height) &&
      inside(at.z, size.depth, side.size.depth))
    return {};
  text_builder out;
  out << "the region of " << size.width << " x " << size.height << " x " << size.depth << " at ("
      << at.x << ", " << at.y << ", " << at.z << ") is not entirely inside the " << what
      << ", which is " << side.size.width << " x " << side.size.height << " x " << side.size.depth
      << ". Copy a smaller region, or start at a lower position.";
  return fail(refusal(errc::index_out_of_range, "gpu::copy", out.finish(), where));
}

/// Fills a driver struct: `CUDA_MEMCPY3D`, or `CUDA_MEMCPY3D_PEER` except for its contexts.
template <class Copy = CUDA_MEMCPY3D>
Copy native_copy(const region_side& source, const region_side& destination,
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

/// Checks both sides, and replaces `to_the_edge` in the region by lengths.
inline result<> complete_region(const region_side& source, const region_side& destination,
                                copy_region& region, source_location where) noexcept {
  GPU_TRY(check_side("gpu::copy", "source", source, where));
  GPU_TRY(check_side("gpu::copy", "destination", destination, where));
  region.size = part_of(source.size, region.source, region.size);
  GPU_TRY(check_inside("source", source, region.source, region.size, where));
  return check_inside("destination", destination, region.destination, region.size, where);
}

inline CUDA_MEMCPY3D_PEER native_peer_copy(const region_side& source, context_ref source_context,
                                           const region_side& destination,
                                           context_ref destination_context,
                                           const copy_region& region) noexcept {
  auto copy = native_copy<CUDA_MEMCPY3D_PEER>(source, destination, region);
  copy.srcContext = source_context.native();
  copy.dstContext = destination_context.native();
  return copy;
}

inline result<> copy_region_on(const stream_ref& stream, const region_side& source,
                               const region_side& destination, copy_region region,
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

inline copy_end device_end_of(const region_side& side) noexcept {
  copy_end end;
  end.address = side.address;
  end.on_device = true;
  end.context = side.context;
  return end;
}

inline result<> copy_region_now(const region_side& source, const region_side& destination,
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
    // As with 1D copies, the driver waits for one stream only and may return early.
    GPU_TRY(driver::call<&driver::entry_points::ctx_synchronize>(where));
    GPU_TRY(driver::call<&driver::entry_points::memcpy_3d>(where, &copy));
    if (!destination.on_device) return {};
    return driver::call<&driver::entry_points::ctx_synchronize>(where);
  });
}

/// Checks the element types of a copy.
template <class Source, class Destination> constexpr void check_region_copy() noexcept {
  using from = typename pitched_view_t<Source>::element_type;
  using to = typename pitched_view_t<Destination>::element_type;
  static_assert(!std::is_const_v<to>, "the destination's elements are const");
  static_assert(std::same_as<std::remove_cv_t<from>, to>,
                "the source's elements are of another type than the destination's: a copy moves "
                "bytes and converts nothing");
}

}  // namespace detail

/// Queues a copy of a 2D or 3D region, or of a part of it, on `stream`, and returns:
///
///     gpu::copy(stream, image, corner, {.source = {8, 8}, .size = {64, 64}});
///
/// Each side is a `pitched_buffer` or a pitched view, in device or page-locked memory, with the
/// same element type. A copy between two devices goes directly if they can reach each other; both
/// sides then have to know their context, as buffers and `gpu::peer` do.
/// **Ordering**: after the work already queued on `stream`, before work queued later. Both sides
/// must stay alive until the copy has run.
/// **Errors**: `errc::invalid_argument` if a pitch is smaller than a row; `errc::size_overflow` if
/// a side has more bytes than memory can have; `errc::index_out_of_range` if the region is not
/// inside both sides; `errc::wrong_context` if a buffer is known to belong to another context than
/// the stream; `errc::empty_handle` if it was moved from.
/// **Capture**: allowed. (cuMemcpy3DAsync; between contexts cuStreamIsCapturing and
/// cuMemcpy3DPeerAsync)
template <detail::pitched_range Source, detail::pitched_range Destination>
result<> copy(stream_ref stream, Source&& source, Destination&& destination, copy_region region,
              source_location where = source_location::current()) noexcept {
  detail::check_region_copy<Source, Destination>();
  static_assert(!detail::is_host_region<Source>() && !detail::is_host_region<Destination>(),
                "an asynchronous copy needs page-locked host memory: use a "
                "gpu::pitched_pinned_span, or leave out the stream for a copy that blocks");
  return detail::copy_region_on(stream, detail::side_of(source), detail::side_of(destination),
                                region, where);
}
template <detail::pitched_range Source, detail::pitched_range Destination>
result<> copy(stream_ref stream, Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  return copy(stream, source, destination, copy_region{}, where);
}

/// Copies a 2D or 3D region, or a part of it, and returns when it has arrived. One side is on a
/// device; the other is on a device too, or in any host memory.
/// **Ordering**: waits for all work of the contexts that the device memory belongs to.
/// **Errors**: as above; also those of earlier asynchronous work. **Capture**: not allowed.
/// (cuPointerGetAttributes, cuCtxSynchronize, cuMemcpy3D, cuMemcpy3DPeer)
template <detail::pitched_range Source, detail::pitched_range Destination>
  requires detail::no_stream<Source>
result<> copy(Source&& source, Destination&& destination, copy_region region,
              source_location where = source_location::current()) noexcept {
  detail::check_region_copy<Source, Destination>();
  static_assert(detail::is_device_region<Source>() || detail::is_device_region<Destination>(),
                "neither side is on a device: use std::copy for each row");
  return detail::copy_region_now(detail::side_of(source), detail::side_of(destination), region,
                                 where);
}
template <detail::pitched_range Source, detail::pitched_range Destination>
  requires detail::no_stream<Source>
result<> copy(Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  return copy(source, destination, copy_region{}, where);
}

}}  // namespace gpu::v1
