#pragma once
/// \file
/// `resource_view`: the levels and layers of an array that a texture sees, and their format.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// The format in which a texture sees the texels of an array; converts to `CUresourceViewFormat` by
/// cast.
enum class resource_view_format : int {
#define GPU_RESOURCE_VIEW_FORMAT(name, native) name = CU_RES_VIEW_FORMAT_##native,
#include <gpu/texture/detail/resource_view_format.inc>
};

/// The enumerator, such as "uint_1x8"; null for a value that this library does not know.
constexpr const char* name_of(resource_view_format format) noexcept {
  switch (format) {
#define GPU_RESOURCE_VIEW_FORMAT(name, native) \
  case resource_view_format::name: return #name;
#include <gpu/texture/detail/resource_view_format.inc>
  }
  return nullptr;
}

/// The counterpart of `cudaResourceViewDesc`. A default-constructed view is the whole array in its
/// own format. The extents follow from the array, also for block-compressed formats.
struct resource_view {
  /// `none` is the array's own format. Any other format must have texels of the same size. The
  /// block-compressed formats see blocks of 4 x 4 texels in an array of `unsigned_int32`: with 2
  /// channels for bc1 and bc4, whose blocks have 8 bytes, and 4 channels for the others.
  resource_view_format format = resource_view_format::none;
  unsigned first_level = 0;
  unsigned last_level = ~0u;  ///< inclusive; clamped to the array's last level
  unsigned first_layer = 0;
  unsigned last_layer = ~0u;  ///< inclusive; clamped to the array's last layer; faces are layers

  friend constexpr bool operator==(const resource_view& a, const resource_view& b) noexcept {
    return a.format == b.format && a.first_level == b.first_level && a.last_level == b.last_level &&
           a.first_layer == b.first_layer && a.last_layer == b.last_layer;
  }
};

namespace detail {

/// Returns the view format that matches an array's format; `none` if nothing matches.
constexpr resource_view_format view_format_of(texel_format format) noexcept {
  constexpr resource_view_format none = resource_view_format::none;
  const int steps = format.channels == 1 ? 0 : format.channels == 2 ? 1 : 2;
  const auto at = [&](resource_view_format single) {
    return static_cast<resource_view_format>(static_cast<int>(single) + steps);
  };
  switch (format.format) {
    case array_format::unsigned_int8: return at(resource_view_format::uint_1x8);
    case array_format::signed_int8: return at(resource_view_format::sint_1x8);
    case array_format::unsigned_int16: return at(resource_view_format::uint_1x16);
    case array_format::signed_int16: return at(resource_view_format::sint_1x16);
    case array_format::unsigned_int32: return at(resource_view_format::uint_1x32);
    case array_format::signed_int32: return at(resource_view_format::sint_1x32);
    case array_format::half: return at(resource_view_format::float_1x16);
    case array_format::float_: return at(resource_view_format::float_1x32);
    default: return none;
  }
}

constexpr bool is_compressed(resource_view_format format) noexcept {
  return format >= resource_view_format::unsigned_bc1;
}

/// Returns the format of the texels that a texture reads through a view.
constexpr texel_format viewed_format(resource_view_format format, texel_format own) noexcept {
  if (format == resource_view_format::none) return own;
  if (is_compressed(format)) return {array_format::float_, 4};
  constexpr array_format channels[] = {array_format::unsigned_int8,  array_format::signed_int8,
                                       array_format::unsigned_int16, array_format::signed_int16,
                                       array_format::unsigned_int32, array_format::signed_int32,
                                       array_format::half,           array_format::float_};
  const int index = static_cast<int>(format) - 1;
  return {channels[index / 3], 1 << (index % 3)};
}

/// Returns the array format that a view of a block-compressed format requires.
constexpr texel_format blocks_of(resource_view_format format) noexcept {
  const bool half = format == resource_view_format::unsigned_bc1 ||
                    format == resource_view_format::unsigned_bc4 ||
                    format == resource_view_format::signed_bc4;
  return {array_format::unsigned_int32, half ? 2 : 4};
}

/// Returns `errc::invalid_argument` for a view whose texels have another size than those of the
/// array, and for a block-compressed view of an array that cannot hold the blocks.
inline result<> check_view_format(const char* function, resource_view_format seen, texel_format own,
                                  source_location where) noexcept {
  const std::size_t size = texel_bytes(own);
  const std::size_t wanted = texel_bytes(viewed_format(seen, own));
  const bool blocks = is_compressed(seen);
  // Formats without a texel size are left to the driver.
  if (size == 0 || (blocks ? own == blocks_of(seen) : wanted == size)) return {};
  text_builder out;
  if (blocks) {
    out << "a view of " << name_of(seen) << " needs an array with ";
    write_format(out, blocks_of(seen));
    out << ", but this one has ";
    write_format(out, own);
    out << ". Create an array of that format, with one texel for each block.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where));
  }
  out << "a view of " << name_of(seen) << " has texels of " << wanted
      << " bytes, but those of the array, with ";
  write_format(out, own);
  out << ", have " << size << ". Use a format of the same size.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, wanted, size));
}

/// Sets `native` to a view of an array, or returns what is wrong with it.
inline result<> make_view(const char* function, const resource_view& view, const array_shape& shape,
                          texel_format format, unsigned levels, CUDA_RESOURCE_VIEW_DESC& native,
                          source_location where) noexcept {
  const unsigned planes = static_cast<unsigned>(shape.planes());
  const unsigned layers = shape.layers != 0 || shape.cubemap ? planes : 1;
  const auto clamp = [](unsigned last, unsigned count) { return last < count ? last : count - 1; };
  const unsigned last_level = clamp(view.last_level, levels);
  const unsigned last_layer = clamp(view.last_layer, layers);
  const auto out_of_range = [&](const char* what, unsigned first, unsigned last, unsigned count) {
    text_builder out;
    out << "the view has " << what << ' ' << first << " to " << last << ", but the array has "
        << count << ". The first must be less than that, and at most the last.";
    return fail(refusal(errc::index_out_of_range, function, out.finish(), where, first, count));
  };
  if (view.first_level > last_level)
    return out_of_range("levels", view.first_level, last_level, levels);
  if (view.first_layer > last_layer)
    return out_of_range("layers", view.first_layer, last_layer, layers);
  const resource_view_format seen =
      view.format == resource_view_format::none ? view_format_of(format) : view.format;
  GPU_TRY(require_enumerator(seen, "resource_view_format", function, where));
  if (seen == resource_view_format::none) {
    text_builder out;
    out << "an array with ";
    write_format(out, format);
    out << " has no matching gpu::resource_view_format. Set the format of the view.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where));
  }
  GPU_TRY(check_view_format(function, seen, format, where));
  const std::size_t block = is_compressed(seen) ? 4 : 1;
  native = {};
  native.format = static_cast<CUresourceViewFormat>(seen);
  native.width = shape.width * block;
  native.height = shape.height * block;
  native.depth = planes;
  native.firstMipmapLevel = view.first_level;
  native.lastMipmapLevel = last_level;
  native.firstLayer = view.first_layer;
  native.lastLayer = last_layer;
  return {};
}

inline resource_view view_of(const CUDA_RESOURCE_VIEW_DESC& native) noexcept {
  resource_view view;
  view.format = static_cast<resource_view_format>(native.format);
  view.first_level = native.firstMipmapLevel;
  view.last_level = native.lastMipmapLevel;
  view.first_layer = native.firstLayer;
  view.last_layer = native.lastLayer;
  return view;
}

}  // namespace detail
}}  // namespace gpu::v1
