#pragma once
/// \file
/// `copy` to, from and between CUDA arrays: whole or a box of them, with memory of any layout at
/// the other end.

#include <gpu/texture/detail/array_copy_end.hpp>

namespace gpu::inline v0 {

namespace detail {

/// What every copy with an array asks of its types, with a message for what is missing.
template <class Source, class Destination> constexpr void check_array_copy() noexcept {
  constexpr bool live = !(is_array_owner<remove_cvref_t<Source>> && !array_end<Source>) &&
                        !(is_array_owner<remove_cvref_t<Destination>> && !array_end<Destination>);
  static_assert(live, "a temporary cuda_array is gone before the copy runs");
  constexpr bool ends =
      (array_end<Source> || pitched_range<Source> || host_range<Source> || device_range<Source>) &&
      (array_end<Destination> || pitched_range<Destination> || host_range<Destination> ||
       device_range<Destination>);
  static_assert(!live || ends,
                "the other end of the copy is neither an array, nor a pitched view, nor a device "
                "range, nor a contiguous range in host memory");
  if constexpr (live && ends) {
    using from = typename end_element<Source>::type;
    using to = typename end_element<Destination>::type;
    static_assert(!is_const<to>, "the destination's elements are const");
    constexpr bool known = !is_void<from> && !is_void<to>;
    if constexpr (known) {
      constexpr texel_format format = texel_format_of<conditional_t<array_end<Source>, from, to>>;
      static_assert(
          texel_part_of<from>().count_in(format) != 0 && texel_part_of<to>().count_in(format) != 0,
          "the elements are neither texels of the array's format, nor their channels, "
          "nor std::byte: a copy moves bytes and converts nothing");
    }
  }
}

template <class A> constexpr bool is_asynchronous_end() noexcept {
  if constexpr (pitched_range<A>) {
    return !is_host_region<A>();
  } else {
    return array_end<A> || device_range<A> || pinned_range<A>;
  }
}

}  // namespace detail

/// Queues a copy to, from or between arrays on `stream`, and returns. The other end is an array, a
/// `pitched_buffer` or pitched view, or a device or pinned range without gaps; its elements are
/// texels of the array's format, their channels, or `std::byte`. Layers and faces are planes along
/// z.
///
///     GPU_TRY(gpu::copy(stream, pixels, image));
///
/// **Ordering**: after what was queued on `stream`, before what will be; both ends live until then.
/// Between devices it goes directly where they can.
/// **Errors**: `errc::size_mismatch` with both lengths; `errc::invalid_argument` where formats
/// differ that are known at run time only; `errc::wrong_context`. Allowed in a capture.
/// (cuMemcpy3DAsync, cuMemcpy3DPeerAsync)
template <class Source, class Destination>
  requires detail::copies_array<Source, Destination>
result<> copy(stream_ref stream, Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  return copy(stream, static_cast<Source&&>(source), static_cast<Destination&&>(destination),
              copy_region{}, where);
}

/// The same for a part of them, in texels. A range without a pitch is that part.
/// **Errors**: also `errc::index_out_of_range` where the part is not inside both.
template <class Source, class Destination>
  requires detail::copies_array<Source, Destination>
result<> copy(stream_ref stream, Source&& source, Destination&& destination, copy_region region,
              source_location where = source_location::current()) noexcept {
  detail::check_array_copy<Source, Destination>();
  static_assert(detail::is_asynchronous_end<Source>() && detail::is_asynchronous_end<Destination>(),
                "an asynchronous copy needs page-locked host memory: use a gpu::pinned_vector, or "
                "leave the stream out for a copy that blocks");
  detail::region_side from, to;
  GPU_TRY(detail::make_sides(detail::array_copy_end_of(source),
                             detail::array_copy_end_of(destination), region, from, to, where));
  return detail::copy_region_on(stream, from, to, region, where);
}

/// Copies to, from or between arrays, and returns when all has arrived. The other end may be in any
/// host memory.
/// **Ordering**: waits for all work of the context that the array belongs to.
/// **Errors**: as above; also those of earlier asynchronous work. Not allowed in a capture.
/// (cuCtxSynchronize, cuMemcpy3D, cuMemcpy3DPeer)
template <class Source, class Destination>
  requires(detail::no_stream<Source> && detail::copies_array<Source, Destination>)
result<> copy(Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  return copy(static_cast<Source&&>(source), static_cast<Destination&&>(destination), copy_region{},
              where);
}

/// The same for a part of them, in texels. A range without a pitch is that part.
template <class Source, class Destination>
  requires(detail::no_stream<Source> && detail::copies_array<Source, Destination>)
result<> copy(Source&& source, Destination&& destination, copy_region region,
              source_location where = source_location::current()) noexcept {
  detail::check_array_copy<Source, Destination>();
  detail::region_side from, to;
  GPU_TRY(detail::make_sides(detail::array_copy_end_of(source),
                             detail::array_copy_end_of(destination), region, from, to, where));
  return detail::copy_region_now(from, to, region, where);
}

}  // namespace gpu::inline v0
