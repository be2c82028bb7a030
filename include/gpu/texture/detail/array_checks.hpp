#pragma once
/// \file
/// What is refused before a CUDA array is made: shapes that contradict themselves, formats that no
/// array has, and extents beyond the device's limits.

#include <gpu/driver/context.hpp>
#include <gpu/texture/array_shape.hpp>

namespace gpu::inline v0::detail {

/// The attributes that limit one kind of array; 0 where the kind has no such extent.
struct array_limits {
  int width, height, planes;

  constexpr explicit operator bool() const noexcept { return width != 0; }
};

#define GPU_LIMIT(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_##name

/// The limits of arrays that textures sample.
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

/// A volume may have these extents in place of its first ones.
constexpr array_limits alternate_limits(const array_shape& shape) noexcept {
  if (shape.depth == 0) return {0, 0, 0};
  return {GPU_LIMIT(TEXTURE3D_WIDTH_ALTERNATE), GPU_LIMIT(TEXTURE3D_HEIGHT_ALTERNATE),
          GPU_LIMIT(TEXTURE3D_DEPTH_ALTERNATE)};
}

/// The limits of arrays that surfaces read and write.
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

/// Sets `most` to the limits on a device, in texels and planes; what a kind has no extent of stays.
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

template <class Out> void write_extent(Out& out, const box_extent& extent) noexcept {
  out << extent.width << " x " << extent.height << " x " << extent.depth;
}

/// `errc::invalid_argument` where an array is larger than `limits`, unless it is within `others`.
inline result<> check_limits(const char* function, const char* user, const array_shape& shape,
                             const array_limits& limits, const array_limits& others, device on,
                             source_location where) noexcept {
  box_extent extent = shape.extent();
  if (shape.cubemap) {  // its height is its width
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
  out << " texels is too large for the " << user << " of device " << on.native()
      << ", which go up to ";
  if (shape.cubemap) {
    out << most.width << " x " << most.width << " x " << (shape.layers == 0 ? 6 : most.depth);
  } else {
    write_extent(out, most);
  }
  if (others) {
    out << " or ";
    write_extent(out, alternate);
  }
  out << " for this kind. Make it smaller, or divide it.";
  return fail(
      refusal(errc::invalid_argument, function, out.finish(), where, shape.width, most.width));
}

/// What is wrong with a shape by itself; null where nothing is.
constexpr const char* fault_of(const array_shape& shape) noexcept {
  constexpr array_flags known = array_flags::surface_load_store | array_flags::texture_gather |
                                array_flags::depth_texture | array_flags::color_attachment |
                                array_flags::sparse | array_flags::deferred_mapping |
                                array_flags::video;
  if (!has(known, shape.flags)) {
    return "the flags have bits that are no gpu::array_flags. Layers and cubemaps are said by the "
           "members layers and cubemap.";
  }
  if (shape.width == 0) return "the width is 0. Give at least one texel.";
  if (shape.height == 0 && shape.depth != 0) {
    return "there is a depth but no height. Give all three extents for a volume, or layers for "
           "lines one above the other.";
  }
  if (shape.depth != 0 && shape.layers != 0) {
    return "there is a depth and there are layers. A volume has no layers: leave one of the two "
           "out.";
  }
  if (shape.cubemap && shape.depth != 0) {
    return "a cubemap has a depth. Leave it out: the six faces are implied.";
  }
  if (shape.cubemap && shape.width != shape.height) {
    return "the faces of a cubemap are not square. Give a height that is the width.";
  }
  if (has(shape.flags, array_flags::texture_gather) &&
      (shape.height == 0 || shape.depth != 0 || shape.layers != 0 || shape.cubemap)) {
    return "texture_gather is for arrays of two dimensions without layers. Leave the flag out.";
  }
  if ((shape.flags & (array_flags::depth_texture | array_flags::color_attachment)) !=
      array_flags::none) {
    return "depth_texture and color_attachment are of arrays that another interface makes. Leave "
           "them out.";
  }
  if (has(shape.flags, array_flags::sparse) && shape.height == 0) {
    return "a sparse array has two or three dimensions. Give a height.";
  }
  if (has(shape.flags, array_flags::sparse) && shape.cubemap) {
    return "a cubemap cannot be sparse. Give it 6 layers in place of faces, or leave the flag out.";
  }
  if (has(shape.flags, array_flags::sparse | array_flags::surface_load_store)) {
    return "surfaces cannot write a sparse array. Leave one of the flags out.";
  }
  if (has(shape.flags, array_flags::sparse | array_flags::deferred_mapping)) {
    return "sparse arrays are mapped tile by tile, those of deferred_mapping as a whole. Choose "
           "one "
           "of the flags.";
  }
  return nullptr;
}

/// Refuses formats that no texel has.
inline result<> check_format(const char* function, texel_format format,
                             source_location where) noexcept {
  GPU_TRY(require_enumerator(format.format, "array_format", function, where));
  const int channels = format.channels;
  const int stated = stated_channels(format.format);
  const bool plain = channel_bytes(format.format) != 0;
  const bool countable = channels == 1 || channels == 2 || channels == 4;
  if ((countable || !plain) && (stated == 0 || stated == channels)) [[likely]]
    return {};
  text_builder out;
  if (!countable && plain) {
    out << "a texel has 1, 2 or 4 channels, not " << channels
        << ". Leave the fourth of 4 unused where there are 3.";
  } else {
    out << "texels of " << name_of(format.format) << " have " << stated << " channels, not "
        << channels << ". Give that number: the format implies it.";
  }
  return fail(refusal(errc::invalid_argument, function, out.finish(), where,
                      static_cast<std::uint64_t>(channels),
                      static_cast<std::uint64_t>(stated != 0 ? stated : 4)));
}

/// Refuses what the driver would only call an invalid value. (cuDeviceGetAttribute)
inline result<> check_array(const char* function, device on, const array_shape& shape,
                            texel_format format, bool mipmapped, source_location where) noexcept {
  if (const char* why = fault_of(shape)) {
    return fail(refusal(errc::invalid_argument, function, text(why), where));
  }
  GPU_TRY(check_format(function, format, where));
  GPU_TRY(check_limits(function, "textures", shape, texture_limits(shape, mipmapped),
                       mipmapped ? array_limits{} : alternate_limits(shape), on, where));
  if (const array_limits limits = surface_limits(shape)) {
    GPU_TRY(check_limits(function, "surfaces", shape, limits, {}, on, where));
  }
  return {};
}

}  // namespace gpu::inline v0::detail
