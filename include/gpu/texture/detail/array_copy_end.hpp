#pragma once
/// \file
/// One end of a copy with an array, in a form that does not depend on its type: an array, a pitched
/// view, or a range; and the checks of both ends against each other.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/copy_2d.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/region_side.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/memory/ranges.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/cuda_array.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

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
/// Also accepts a temporary owner, so that a static_assert can explain why it is rejected.
template <class A>
concept any_array_end = array_end<A> || is_array_owner<std::remove_cvref_t<A>>;

template <class A> struct end_element {
  using type = void;
};
template <array_end A> struct end_element<A> {
  using type = typename std::remove_cvref_t<A>::value_type;
};
template <pitched_range A> struct end_element<A> {
  using type = typename pitched_view_t<A>::element_type;
};
template <class A>
  requires(!array_end<A> && !pitched_range<A> && (host_range<A> || device_range<A>))
struct end_element<A> {
  using type = element_t<A>;
};

/// The elements of a range, as parts of texels: whole texels, channels, or bytes.
struct texel_part {
  texel_format format{array_format{}, 0};  // has 0 channels if the elements are not texels
  std::size_t size = 0;
  bool bytes = false;

  /// Returns how many elements make up a texel of that format; 0 if they cannot.
  constexpr std::size_t count_in(texel_format whole) const noexcept {
    if (bytes) return texel_bytes(whole);
    if (format.channels == 0 || format.format != whole.format) return 0;
    if (format.channels == whole.channels) return 1;
    return format.channels == 1 ? static_cast<std::size_t>(whole.channels) : 0;
  }
};

template <class E> constexpr texel_part texel_part_of() noexcept {
  return {texel_format_of<E>, sizeof(E), std::same_as<std::remove_cv_t<E>, std::byte>};
}

struct array_copy_end {
  enum class kind : unsigned char { array, pitched, range } kind = kind::range;
  texel_part elements{};
  // Only the member that `kind` names is set.
  cuda_array_ref<> array{};
  region_side pitched{};  // a pitched view; its width is in elements
  copy_end range{};

  bool is_array() const noexcept { return kind == kind::array; }
};

template <class A> array_copy_end array_copy_end_of(A& end) noexcept {
  using element = typename end_element<A&>::type;
  array_copy_end made;
  if constexpr (array_end<A&>) {
    made.array = array_ref_of(end);
    made.kind = array_copy_end::kind::array;
  } else {
    made.elements = texel_part_of<element>();
    if constexpr (pitched_range<A&>) {
      made.pitched = side_of(end);
      made.kind = array_copy_end::kind::pitched;
    } else {
      made.range = copy_end_of(end);
    }
  }
  return made;
}

inline cuda_error wrong_elements(const char* what, const texel_part& elements, texel_format format,
                                 source_location where) noexcept {
  text_builder out;
  out << "the array's texels have ";
  write_format(out, format);
  out << ", but the elements of the " << what << " are ";
  if (elements.format.channels != 0) {
    write_format(out, elements.format);
  } else {
    out << "not texels, with " << elements.size << (elements.size == 1 ? " byte" : " bytes")
        << " each";
  }
  out << ". Pass texels of that format, their channels, or std::byte.";
  return refusal(errc::invalid_argument, "gpu::copy", out.finish(), where);
}

inline result<> require_count(const char* what, std::size_t count, std::size_t per_texel,
                              const box_extent& extent, source_location where) noexcept {
  const std::size_t texels =
      saturated_product(saturated_product(extent.width, extent.height), extent.depth);
  const std::size_t wanted = saturated_product(texels, per_texel);
  if (count == wanted && wanted <= most_memory_bytes) return {};
  text_builder out;
  out << "the " << what << " has " << count << " elements, but a copy of " << extent.width << " x "
      << extent.height << " x " << extent.depth << " texels needs ";
  if (wanted > most_memory_bytes) {
    out << "more than memory can have";
  } else {
    out << wanted;
  }
  out << ". Pass that many elements, or pass a gpu::copy_region to copy a part.";
  return fail(refusal(errc::size_mismatch, "gpu::copy", out.finish(), where, count, wanted));
}

/// Converts an end to a region of texels of `format`. A range without a pitch has exactly `extent`.
inline result<> make_side(const array_copy_end& end, const char* what, texel_format format,
                          const box_extent& extent, region_side& side,
                          source_location where) noexcept {
  side.element = texel_bytes(format);
  if (end.is_array()) {
    GPU_TRY(require_array(end.array, "gpu::copy", what, where));
    if (!(end.array.format() == format)) {
      const texel_part elements{end.array.format(), texel_bytes(end.array.format())};
      return fail(wrong_elements(what, elements, format, where));
    }
    side.size = end.array.shape().extent();
    side.on_device = true;
    side.array = end.array.native();
    side.context = end.array.context();
    return {};
  }
  const std::size_t per_texel = end.elements.count_in(format);
  if (per_texel == 0) return fail(wrong_elements(what, end.elements, format, where));
  if (end.kind == array_copy_end::kind::range) {
    GPU_TRY(require_owner("gpu::copy", what, end.range, where));
    GPU_TRY(require_count(what, end.range.count, per_texel, extent, where));
    side.address = end.range.address;
    side.pitch = extent.width * side.element;
    side.size = extent;
    side.rows = extent.height;
    side.on_device = end.range.on_device;
    side.context = end.range.context;
    return {};
  }
  const std::size_t width = end.pitched.size.width;
  if (width % per_texel != 0) {
    text_builder out;
    out << "the rows of the " << what << " have " << width
        << " elements, which is not a multiple of the " << per_texel
        << " elements of a texel. Pass whole texels.";
    return fail(refusal(errc::size_mismatch, "gpu::copy", out.finish(), where, width, per_texel));
  }
  const std::size_t texel = side.element;
  side = end.pitched;
  side.size.width = width / per_texel;
  side.element = texel;
  return {};
}

/// Converts both ends, of which at least one is an array, to regions of texels.
inline result<> make_sides(const array_copy_end& source, const array_copy_end& destination,
                           const copy_region& region, region_side& from, region_side& to,
                           source_location where) noexcept {
  const bool reads = source.is_array();
  const cuda_array_ref<>& array = reads ? source.array : destination.array;
  GPU_TRY(require_array(array, "gpu::copy", reads ? "source" : "destination", where));
  const texel_format format = array.format();
  if (texel_bytes(format) == 0) {
    text_builder out;
    out << "an array with ";
    write_format(out, format);
    out << " cannot be copied: its texels have no size of their own. Copy its planes; for "
           "block-compressed data, create an array of unsigned_int32 and use a "
           "gpu::resource_view.";
    return fail(refusal(errc::invalid_argument, "gpu::copy", out.finish(), where));
  }
  // A range without a pitch has the extent of the copied part of the array.
  const box_extent extent =
      part_of(array.shape().extent(), reads ? region.source : region.destination, region.size);
  GPU_TRY(make_side(source, "source", format, extent, from, where));
  return make_side(destination, "destination", format, extent, to, where);
}

template <class Source, class Destination>
concept copies_array = any_array_end<Source> || any_array_end<Destination>;

}}}  // namespace gpu::v1::detail
