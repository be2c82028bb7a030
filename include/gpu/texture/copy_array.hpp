#pragma once
/// \file
/// `copy` to, from and between CUDA arrays: whole or a box of them, with memory of any layout at
/// the other end.

#include <gpu/memory/copy.hpp>
#include <gpu/memory/copy_box.hpp>
#include <gpu/texture/cuda_array.hpp>

namespace gpu {

namespace detail {

template <class T> cuda_array_ref<T> array_ref_of(const cuda_array_ref<T>& array) noexcept {
  return array;
}
template <class T> cuda_array_ref<T> array_ref_of(const cuda_array<T>& array) noexcept {
  return array;
}
template <class T> void array_ref_of(const cuda_array<T>&&) = delete;

/// An array, not a temporary owner of one.
template <class A>
concept array_end = requires(A&& a) { detail::array_ref_of(static_cast<A&&>(a)).native(); };
template <class> inline constexpr bool is_array_owner = false;
template <class T> inline constexpr bool is_array_owner<cuda_array<T>> = true;
/// A temporary owner too, so that there is a word to say about it.
template <class A>
concept any_array_end = array_end<A> || is_array_owner<remove_cvref_t<A>>;

template <class> inline constexpr bool is_pitched_type = false;
template <class T, memory_side Side>
inline constexpr bool is_pitched_type<pitched_view<T, Side>> = true;
template <class A>
concept pitched_end = is_pitched_type<remove_cvref_t<A>>;

template <class A> struct end_element {
  using type = void;
};
template <array_end A> struct end_element<A> {
  using type = typename remove_cvref_t<A>::value_type;
};
template <pitched_end A> struct end_element<A> {
  using type = typename remove_cvref_t<A>::element_type;
};
template <class A>
  requires(!array_end<A> && !pitched_end<A> && (host_range<A> || device_range<A>))
struct end_element<A> {
  using type = element_t<A>;
};

/// Whether elements of type `E` are texels of a format, channels of them, or their bytes: how many
/// there are in a texel, or 0.
template <class E> constexpr std::size_t elements_in(texel_format format) noexcept {
  constexpr texel_format mine = texel_format_of<E>;
  if (same<remove_cv_t<E>, std::byte>) return texel_bytes(format);
  if (mine.channels == 0 || mine.format != format.format) return 0;
  if (mine.channels == format.channels) return 1;
  return mine.channels == 1 ? static_cast<std::size_t>(format.channels) : 0;
}

template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] cuda_error wrong_elements(const char* what, texel_format mine,
                                                       std::size_t size, texel_format format,
                                                       source_location where) noexcept {
  Builder out;
  out << "the array's texels have ";
  write_format(out, format);
  out << ", but the elements of the " << what << " are ";
  if (mine.channels != 0) {
    write_format(out, mine);
  } else {
    out << "no texels, of " << size << (size == 1 ? " byte" : " bytes");
  }
  out << ". Pass texels of that format, their channels, or std::byte.";
  return refusal(errc::invalid_argument, "gpu::copy", out.finish(), where);
}

/// Sets `per_texel` to how many elements of type `E` are in a texel of that format.
template <class E>
result<> get_elements(const char* what, texel_format format, std::size_t& per_texel,
                      source_location where) noexcept {
  per_texel = elements_in<E>(format);
  if (per_texel != 0) [[likely]]
    return {};
  return fail(wrong_elements(what, texel_format_of<E>, sizeof(E), format, where));
}

template <class Builder = text_builder>
result<> require_count(const char* what, std::size_t count, std::size_t per_texel,
                       const box_extent& extent, source_location where) noexcept {
  const std::size_t wanted = extent.width * extent.height * extent.depth * per_texel;
  if (count == wanted) [[likely]]
    return {};
  Builder out;
  out << "the " << what << " has " << count << " elements, but " << extent.width << " x "
      << extent.height << " x " << extent.depth << " texels are copied, which are " << wanted
      << ". Pass as many, or say with a gpu::copy_region which part is copied.";
  return fail(refusal(errc::size_mismatch, "gpu::copy", out.finish(), where, count, wanted));
}

/// One end as a box of texels of `format`. A range without a pitch is one of `extent`.
template <class A>
result<> make_side(A&& end, const char* what, texel_format format, const box_extent& extent,
                   box_side& side, source_location where) noexcept {
  using element = typename end_element<A>::type;
  if constexpr (array_end<A>) {
    const auto array = array_ref_of(end);
    GPU_TRY(require_array(array, "gpu::copy", what, where));
    if (!(array.format() == format)) {
      return fail(wrong_elements(what, array.format(), texel_bytes(array.format()), format, where));
    }
    side.size = array.shape().extent();
    side.on_device = true;
    side.array = array.native();
    side.context = array.context();
  } else {
    std::size_t per_texel = 0;
    GPU_TRY(get_elements<element>(what, format, per_texel, where));
    if constexpr (pitched_end<A>) {
      side = side_of(end);
      if (side.size.width % per_texel != 0) {
        text_builder out;
        out << "the rows of the " << what << " have " << side.size.width
            << " elements, which are not whole texels of " << per_texel << ". Pass whole texels.";
        return fail(refusal(errc::size_mismatch, "gpu::copy", out.finish(), where, side.size.width,
                            per_texel));
      }
      side.size.width /= per_texel;
    } else {
      const copy_end range = copy_end_of(end);
      GPU_TRY(require_count(what, range.count, per_texel, extent, where));
      side.address = range.address;
      side.pitch = extent.width * texel_bytes(format);
      side.size = extent;
      side.rows = extent.height;
      side.on_device = range.on_device;
      side.context = range.context;
    }
  }
  side.element = texel_bytes(format);
  return {};
}

/// The part of an array that a copy of its own is about, where the other end is a range without
/// pitch and says nothing of extents.
inline box_extent copied_extent(const array_shape& shape, const box_position& at,
                                const box_extent& size) noexcept {
  if (size.width != 0) return size;
  const box_extent all = shape.extent();
  const auto left = [](std::size_t length, std::size_t begin) {
    return begin < length ? length - begin : 0;
  };
  return {left(all.width, at.x), left(all.height, at.y), left(all.depth, at.z)};
}

template <class Source, class Destination>
result<> make_sides(Source&& source, Destination&& destination, box_side& from, box_side& to,
                    const copy_region& region, source_location where) noexcept {
  texel_format format;
  box_extent extent;
  if constexpr (array_end<Source>) {
    GPU_TRY(require_array(array_ref_of(source), "gpu::copy", "source", where));
    format = array_ref_of(source).format();
    extent = copied_extent(array_ref_of(source).shape(), region.source, region.size);
  } else {
    GPU_TRY(require_array(array_ref_of(destination), "gpu::copy", "destination", where));
    format = array_ref_of(destination).format();
    extent = copied_extent(array_ref_of(destination).shape(), region.destination, region.size);
  }
  if (texel_bytes(format) == 0) [[unlikely]] {
    text_builder out;
    out << "an array with ";
    write_format(out, format);
    out << " has no texels of a size of their own. Copy its planes; for blocks, make an array of "
           "unsigned_int32 and see them through a gpu::resource_view.";
    return fail(refusal(errc::invalid_argument, "gpu::copy", out.finish(), where));
  }
  GPU_TRY(make_side(source, "source", format, extent, from, where));
  return make_side(destination, "destination", format, extent, to, where);
}

/// What every copy with an array asks of its types, with a message for what is missing.
template <class Source, class Destination> constexpr void check_array_copy() noexcept {
  constexpr bool live = !(is_array_owner<remove_cvref_t<Source>> && !array_end<Source>) &&
                        !(is_array_owner<remove_cvref_t<Destination>> && !array_end<Destination>);
  static_assert(live, "a temporary cuda_array is gone before the copy runs");
  constexpr bool ends =
      (array_end<Source> || pitched_end<Source> || host_range<Source> || device_range<Source>) &&
      (array_end<Destination> || pitched_end<Destination> || host_range<Destination> ||
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
      static_assert(elements_in<from>(format) != 0 && elements_in<to>(format) != 0,
                    "the elements are neither texels of the array's format, nor their channels, "
                    "nor std::byte: a copy moves bytes and converts nothing");
    }
  }
}

template <class A> constexpr bool is_asynchronous_end() noexcept {
  if constexpr (pitched_end<A>) {
    return remove_cvref_t<A>::side != memory_side::host;
  } else {
    return array_end<A> || device_range<A> || pinned_range<A>;
  }
}

template <class Source, class Destination>
concept copies_array = any_array_end<Source> || any_array_end<Destination>;

}  // namespace detail

/// Queues a copy to, from or between arrays on `stream`, and returns. The other end is an array, a
/// pitched view, or a device or pinned range without gaps; its elements are texels of the array's
/// format, their channels, or `std::byte`. Layers and faces are planes along z.
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
  detail::box_side from, to;
  GPU_TRY(detail::make_sides(source, destination, from, to, region, where));
  return detail::copy_box_on(stream, from, to, region, where);
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
  detail::box_side from, to;
  GPU_TRY(detail::make_sides(source, destination, from, to, region, where));
  return detail::copy_box_now(from, to, region, where);
}

}  // namespace gpu
