#pragma once
/// \file
/// Checks before a CUDA array is created: that its shape is consistent, that its format is valid,
/// and that its extents are within the device's limits.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The device attributes that limit one kind of array; 0 if the kind has no such extent.
struct array_limits {
  int width, height, planes;

  constexpr explicit operator bool() const noexcept { return width != 0; }
};

#define GPU_LIMIT(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_##name

/// Returns the limits of arrays that textures sample.
constexpr array_limits texture_limits(const array_shape& shape, bool mipmapped) noexcept {
  if (shape.cubemap) {
    if (shape.layers == 0) return {GPU_LIMIT(TEXTURECUBEMAP_WIDTH), 0, 0};
    return {GPU_LIMIT(TEXTURECUBEMAP_LAYERED_WIDTH), 0, GPU_LIMIT(TEXTURECUBEMAP_LAYERED_LAYERS)};
  }
  if (shape.layers != 0) {
    if (shape.height == 0) {
      return {GPU_LIMIT(TEXTURE1D_LAYERED_WIDTH), 0, GPU_LIMIT(TEXTURE1D_LAYERED_LAYERS)};
    }
    return {GPU_LIMIT(TEXTURE2D_LAYERED_WIDTH), GPU_LIMIT(TEXTURE2D_LAYERED_HEIGHT),
            GPU_LIMIT(TEXTURE2D_LAYERED_LAYERS)};
  }
  if (shape.depth != 0) {
    return {GPU_LIMIT(TEXTURE3D_WIDTH), GPU_LIMIT(TEXTURE3D_HEIGHT), GPU_LIMIT(TEXTURE3D_DEPTH)};
  }
  if (shape.height == 0) {
    return {mipmapped ? GPU_LIMIT(TEXTURE1D_MIPMAPPED_WIDTH) : GPU_LIMIT(TEXTURE1D_WIDTH), 0, 0};
  }
  if (mipmapped) {
    return {GPU_LIMIT(TEXTURE2D_MIPMAPPED_WIDTH), GPU_LIMIT(TEXTURE2D_MIPMAPPED_HEIGHT), 0};
  }
  if (has(shape.flags, array_flags::texture_gather)) {
    return {GPU_LIMIT(TEXTURE2D_GATHER_WIDTH), GPU_LIMIT(TEXTURE2D_GATHER_HEIGHT), 0};
  }
  return {GPU_LIMIT(TEXTURE2D_WIDTH), GPU_LIMIT(TEXTURE2D_HEIGHT), 0};
}

/// Returns the second set of limits of 3D arrays: an array has to be within one of the two sets.
constexpr array_limits alternate_limits(const array_shape& shape) noexcept {
  if (shape.depth == 0) return {0, 0, 0};
  return {GPU_LIMIT(TEXTURE3D_WIDTH_ALTERNATE), GPU_LIMIT(TEXTURE3D_HEIGHT_ALTERNATE),
          GPU_LIMIT(TEXTURE3D_DEPTH_ALTERNATE)};
}

/// Returns the limits of arrays that surfaces read and write.
constexpr array_limits surface_limits(const array_shape& shape) noexcept {
  if (!has(shape.flags, array_flags::surface_load_store)) return {0, 0, 0};
  if (shape.cubemap) {
    if (shape.layers == 0) return {GPU_LIMIT(SURFACECUBEMAP_WIDTH), 0, 0};
    return {GPU_LIMIT(SURFACECUBEMAP_LAYERED_WIDTH), 0, GPU_LIMIT(SURFACECUBEMAP_LAYERED_LAYERS)};
  }
  if (shape.layers != 0) {
    if (shape.height == 0) {
      return {GPU_LIMIT(SURFACE1D_LAYERED_WIDTH), 0, GPU_LIMIT(SURFACE1D_LAYERED_LAYERS)};
    }
    return {GPU_LIMIT(SURFACE2D_LAYERED_WIDTH), GPU_LIMIT(SURFACE2D_LAYERED_HEIGHT),
            GPU_LIMIT(SURFACE2D_LAYERED_LAYERS)};
  }
  if (shape.depth != 0) {
    return {GPU_LIMIT(SURFACE3D_WIDTH), GPU_LIMIT(SURFACE3D_HEIGHT), GPU_LIMIT(SURFACE3D_DEPTH)};
  }
  if (shape.height == 0) return {GPU_LIMIT(SURFACE1D_WIDTH), 0, 0};
  return {GPU_LIMIT(SURFACE2D_WIDTH), GPU_LIMIT(SURFACE2D_HEIGHT), 0};
}

#undef GPU_LIMIT

/// Sets `most` to the limits of a device, in texels and planes. Leaves the extents that the kind
/// does not have unchanged.
inline result<> read_limits(const array_limits& limits, device on, box_extent& most,
                            source_location where) noexcept {
  const int attributes[] = {limits.width, limits.height, limits.planes};
  std::size_t* const values[] = {&most.width, &most.height, &most.depth};
  for (int i = 0; i < 3; ++i) {
    if (attributes[i] == 0) continue;
    int value = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(
        where, &value, static_cast<CUdevice_attribute>(attributes[i]), on.native()));
    *values[i] = static_cast<std::size_t>(value);
  }
  return {};
}

inline void write_extent(text_builder& out, const box_extent& extent) noexcept {
  out << extent.width << " x " << extent.height << " x " << extent.depth;
}

/// Returns `errc::invalid_argument` if an array exceeds both `limits` and `others`.
inline result<> check_limits(const char* function, const char* user, const array_shape& shape,
                             const array_limits& limits, const array_limits& others, device on,
                             source_location where) noexcept {
  box_extent extent = shape.extent();
  if (shape.cubemap) {  // the faces are square: the width limits the height too
    extent.height = 1;
    if (shape.layers == 0) extent.depth = 1;
  }
  const auto within = [&extent](const box_extent& most) {
    return extent.width <= most.width && extent.height <= most.height && extent.depth <= most.depth;
  };
  box_extent most, alternate;
  GPU_TRY(read_limits(limits, on, most, where));
  if (within(most)) return {};
  if (others) {
    GPU_TRY(read_limits(others, on, alternate, where));
    if (within(alternate)) return {};
  }
  text_builder out;
  out << "an array of " << shape.width << " x " << shape.extent().height << " x ";
  if (shape.cubemap)
    out << "6 x " << (shape.layers == 0 ? 1 : shape.layers);
  else
    out << extent.depth;
  out << " texels is too large: " << user << " on device " << on.native() << " have a limit of ";
  if (shape.cubemap) {
    out << most.width << " x " << most.width << " x " << (shape.layers == 0 ? 6 : most.depth);
  } else {
    write_extent(out, most);
  }
  if (others) {
    out << " or ";
    write_extent(out, alternate);
  }
  out << " for this kind of array. Make the array smaller, or split it.";
  return fail(
      refusal(errc::invalid_argument, function, out.finish(), where, shape.width, most.width));
}

/// Returns what is wrong with a shape, apart from the device's limits; null if nothing is.
constexpr const char* problem_with(const array_shape& shape) noexcept {
  constexpr array_flags known = array_flags::surface_load_store | array_flags::texture_gather |
                                array_flags::depth_texture | array_flags::color_attachment |
                                array_flags::sparse | array_flags::deferred_mapping |
                                array_flags::video;
  if (!has(known, shape.flags)) {
    return "the flags have bits that are not in gpu::array_flags. For layers and cubemaps, set the "
           "members layers and cubemap.";
  }
  if (shape.width == 0) return "the width is 0; it must be at least 1.";
  if (shape.height == 0 && shape.depth != 0) {
    return "the depth is set, but the height is 0. Set all three extents for a 3D array, or use "
           "layers for a stack of 1D arrays.";
  }
  if (shape.depth != 0 && shape.layers != 0) {
    return "both depth and layers are set, but a 3D array cannot have layers. Set one of them to "
           "0.";
  }
  if (shape.cubemap && shape.depth != 0) {
    return "a cubemap cannot have a depth; its six faces are implied. Set depth to 0.";
  }
  if (shape.cubemap && shape.width != shape.height) {
    return "the faces of a cubemap must be square. Set height to the width.";
  }
  if (has(shape.flags, array_flags::texture_gather) &&
      (shape.height == 0 || shape.depth != 0 || shape.layers != 0 || shape.cubemap)) {
    return "texture_gather requires a 2D array without layers. Remove the flag.";
  }
  if ((shape.flags & (array_flags::depth_texture | array_flags::color_attachment)) !=
      array_flags::none) {
    return "depth_texture and color_attachment are only for arrays that a graphics API creates. "
           "Remove these flags.";
  }
  if (has(shape.flags, array_flags::sparse) && shape.height == 0) {
    return "a sparse array must be 2D or 3D. Set a height.";
  }
  if (has(shape.flags, array_flags::sparse) && shape.cubemap) {
    return "a cubemap cannot be sparse. Use 6 layers instead of faces, or remove the flag.";
  }
  if (has(shape.flags, array_flags::sparse | array_flags::surface_load_store)) {
    return "surfaces cannot write to a sparse array. Remove sparse or surface_load_store.";
  }
  if (has(shape.flags, array_flags::sparse | array_flags::deferred_mapping)) {
    return "an array cannot be both sparse, which is mapped in tiles, and deferred_mapping, which "
           "is mapped as a whole. Remove one of the two flags.";
  }
  return nullptr;
}

/// Returns `errc::invalid_argument` unless texels can have that format.
inline result<> check_format(const char* function, texel_format format,
                             source_location where) noexcept {
  GPU_TRY(require_enumerator(format.format, "array_format", function, where));
  const int channels = format.channels;
  const int implied = implied_channels(format.format);
  const bool any_number = channel_bytes(format.format) != 0;
  const bool valid_number = channels == 1 || channels == 2 || channels == 4;
  if ((valid_number || !any_number) && (implied == 0 || implied == channels)) return {};
  text_builder out;
  if (!valid_number && any_number) {
    out << "a texel has 1, 2 or 4 channels, not " << channels
        << ". For 3 channels, use 4 and leave the last one unused.";
  } else {
    out << "texels of " << name_of(format.format) << " have " << implied << " channels, not "
        << channels << ". Set the number of channels to " << implied << '.';
  }
  return fail(refusal(errc::invalid_argument, function, out.finish(), where,
                      static_cast<std::uint64_t>(channels),
                      static_cast<std::uint64_t>(implied != 0 ? implied : 4)));
}

/// Returns a precise error for arrays to which the driver would say only that a value is invalid.
/// (cuDeviceGetAttribute)
inline result<> check_array(const char* function, device on, const array_shape& shape,
                            texel_format format, bool mipmapped, source_location where) noexcept {
  if (const char* problem = problem_with(shape)) {
    return fail(refusal(errc::invalid_argument, function, text(problem), where));
  }
  GPU_TRY(check_format(function, format, where));
  GPU_TRY(check_limits(function, "textures", shape, texture_limits(shape, mipmapped),
                       mipmapped ? array_limits{} : alternate_limits(shape), on, where));
  if (const array_limits limits = surface_limits(shape)) {
    GPU_TRY(check_limits(function, "surfaces", shape, limits, {}, on, where));
  }
  return {};
}

}}}  // namespace gpu::v1::detail
