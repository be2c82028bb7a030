#pragma once
/// \file
/// `copy` to, from and between CUDA arrays: all of them or a region, from and to memory of any
/// layout.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy_2d.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/region_side.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/ranges.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/detail/array_copy_end.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

/// Checks the types of a copy with an array, with a message for each mistake. Returns false if the
/// rest of the copy would only add errors.
template <class Source, class Destination> constexpr bool check_array_copy() noexcept {
  constexpr bool live =
      !(is_array_owner<std::remove_cvref_t<Source>> && !array_end<Source>) &&
      !(is_array_owner<std::remove_cvref_t<Destination>> && !array_end<Destination>);
  static_assert(live, "a temporary cuda_array is destroyed before the copy runs");
  constexpr bool ends =
      (array_end<Source> || pitched_range<Source> || host_range<Source> || device_range<Source>) &&
      (array_end<Destination> || pitched_range<Destination> || host_range<Destination> ||
       device_range<Destination>);
  static_assert(!live || ends,
                "the other end of the copy must be an array, a pitched view, a device range or a "
                "contiguous range in host memory");
  if constexpr (live && ends) {
    using from = typename end_element<Source>::type;
    using to = typename end_element<Destination>::type;
    static_assert(!std::is_const_v<to>, "the destination's elements are const");
    constexpr bool known = !std::is_void_v<from> && !std::is_void_v<to>;
    if constexpr (known) {
      constexpr texel_format format =
          texel_format_of<std::conditional_t<array_end<Source>, from, to>>;
      static_assert(
          texel_part_of<from>().count_in(format) != 0 && texel_part_of<to>().count_in(format) != 0,
          "the elements must be texels of the array's format, their channels, or std::byte: a copy "
          "does not convert");
    }
  }
  return live && ends;
}

template <class A> constexpr bool is_asynchronous_end() noexcept {
  if constexpr (pitched_range<A>) {
    return !is_host_region<A>();
  } else {
    return array_end<A> || device_range<A> || pinned_range<A>;
  }
}

}  // namespace detail

/// Queues a copy to, from or between arrays on `stream`; does not block. The other end is an array,
/// a `pitched_buffer` or pitched view, or a device or pinned range without gaps. Its elements are
/// texels of the array's format, their channels, or `std::byte`. Layers and faces are planes along
/// z.
///
///     GPU_TRY(gpu::copy(stream, pixels, image));
///
/// **Ordering**: the copy runs in stream order; both ends must live until it has finished. Between
/// devices it goes directly if they are peers.
/// **Errors**: `errc::size_mismatch` with both lengths; `errc::invalid_argument` if formats that
/// are known only at run time differ; `errc::wrong_context`. **Capture**: allowed.
/// (cuMemcpy3DAsync, cuMemcpy3DPeerAsync)
template <class Source, class Destination>
  requires detail::copies_array<Source, Destination>
result<> copy(stream_ref stream, Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  return copy(stream, static_cast<Source&&>(source), static_cast<Destination&&>(destination),
              copy_region{}, where);
}

/// Queues a copy of a region, in texels. A range without a pitch has exactly the extent of the
/// region. **Errors**: also `errc::index_out_of_range` if the region is not inside both ends.
template <class Source, class Destination>
  requires detail::copies_array<Source, Destination>
result<> copy(stream_ref stream, Source&& source, Destination&& destination, copy_region region,
              source_location where = source_location::current()) noexcept {
  if constexpr (detail::check_array_copy<Source, Destination>()) {
    static_assert(
        detail::is_asynchronous_end<Source>() && detail::is_asynchronous_end<Destination>(),
        "an asynchronous copy needs page-locked host memory: use a gpu::pinned_vector, or leave "
        "the stream out for a copy that blocks");
    detail::region_side from, to;
    GPU_TRY(detail::make_sides(detail::array_copy_end_of(source),
                               detail::array_copy_end_of(destination), region, from, to, where));
    return detail::copy_region_on(stream, from, to, region, where);
  } else {
    return {};
  }
}

/// Copies to, from or between arrays; blocks until the copy has finished. The other end may be in
/// any host memory.
/// **Ordering**: waits for all work in the context of the array.
/// **Errors**: as above; also those of earlier asynchronous work. **Capture**: not allowed.
/// (cuCtxSynchronize, cuMemcpy3D, cuMemcpy3DPeer)
template <class Source, class Destination>
  requires(detail::no_stream<Source> && detail::copies_array<Source, Destination>)
result<> copy(Source&& source, Destination&& destination,
              source_location where = source_location::current()) noexcept {
  return copy(static_cast<Source&&>(source), static_cast<Destination&&>(destination), copy_region{},
              where);
}

/// Copies a region, in texels. A range without a pitch has exactly the extent of the region.
template <class Source, class Destination>
  requires(detail::no_stream<Source> && detail::copies_array<Source, Destination>)
result<> copy(Source&& source, Destination&& destination, copy_region region,
              source_location where = source_location::current()) noexcept {
  if constexpr (detail::check_array_copy<Source, Destination>()) {
    detail::region_side from, to;
    GPU_TRY(detail::make_sides(detail::array_copy_end_of(source),
                               detail::array_copy_end_of(destination), region, from, to, where));
    return detail::copy_region_now(from, to, region, where);
  } else {
    return {};
  }
}

}}  // namespace gpu::v1
