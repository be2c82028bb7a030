#pragma once
/// \file
/// `array_shape`: the extents of a CUDA array, its layers or faces, and its flags.

#include <gpu/core/flags.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// The uses of an array; combine with `|`. Layers and cubemaps are members of `array_shape`.
enum class array_flags : unsigned {
  none = 0,                                          ///< sampled by textures, and copied
  surface_load_store = CUDA_ARRAY3D_SURFACE_LDST,    ///< read and written through surfaces
  texture_gather = CUDA_ARRAY3D_TEXTURE_GATHER,      ///< read by tex2Dgather
  depth_texture = CUDA_ARRAY3D_DEPTH_TEXTURE,        ///< a depth buffer
  color_attachment = CUDA_ARRAY3D_COLOR_ATTACHMENT,  ///< a render target of a graphics API
  sparse = CUDA_ARRAY3D_SPARSE,                      ///< created without memory; map tiles later
  deferred_mapping = CUDA_ARRAY3D_DEFERRED_MAPPING,  ///< created without memory; map it all later
  video = CUDA_ARRAY3D_VIDEO_ENCODE_DECODE,          ///< for the video engines
};
template <> inline constexpr bool is_flag_set<array_flags> = true;

/// The extents of an array in texels, its layers, and its flags:
///
///     {.width = 640, .height = 480}                             // a 2D array
///     {.width = 64, .height = 64, .depth = 32}                  // a 3D array
///     {.width = 256, .height = 256, .layers = 10}               // ten 2D layers
///     {.width = 128, .height = 128, .cubemap = true}            // six faces, +x -x +y -y +z -z
struct array_shape {
  std::size_t width = 0;
  std::size_t height = 0;  ///< 0 for a 1D array
  std::size_t depth = 0;   ///< 0 for a 1D or 2D array
  std::size_t layers = 0;  ///< 0 for an array without layers; for a cubemap, the number of cubes
  bool cubemap = false;
  array_flags flags = array_flags::none;

  /// Returns the extent as `copy` sees it: layers and faces are planes along z.
  constexpr box_extent extent() const noexcept {
    return {width, height == 0 ? 1 : height, planes() == 0 ? 1 : planes()};
  }

  /// Returns the shape of a level of a mipmapped array whose level 0 has this shape.
  constexpr array_shape level(unsigned index) const noexcept {
    const auto halved = [index](std::size_t length) {
      const std::size_t less = index < 64 ? length >> index : 0;
      return length == 0 || less != 0 ? less : 1;
    };
    array_shape shape = *this;
    shape.width = halved(width);
    shape.height = halved(height);
    shape.depth = halved(depth);
    return shape;
  }

  /// Returns the number of levels of a full mipmap chain, down to a single texel.
  constexpr unsigned max_levels() const noexcept {
    std::size_t longest = width > height ? width : height;
    if (depth > longest) longest = depth;
    unsigned count = 0;
    for (; longest != 0; longest >>= 1) ++count;
    return count;
  }

  /// Returns the depth, or the number of layers or faces; the driver calls each of them depth.
  /// Saturates at the largest `std::size_t`.
  constexpr std::size_t planes() const noexcept {
    constexpr std::size_t most = ~std::size_t{0};
    if (cubemap) return layers == 0 ? 6 : layers > most / 6 ? most : 6 * layers;
    return layers != 0 ? layers : depth;
  }

  friend constexpr bool operator==(const array_shape& a, const array_shape& b) noexcept {
    return a.width == b.width && a.height == b.height && a.depth == b.depth &&
           a.layers == b.layers && a.cubemap == b.cubemap && a.flags == b.flags;
  }
};

namespace detail {

constexpr CUDA_ARRAY3D_DESCRIPTOR native_descriptor(const array_shape& shape,
                                                    texel_format format) noexcept {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  descriptor.Width = shape.width;
  descriptor.Height = shape.height;
  descriptor.Depth = shape.planes();
  descriptor.Format = static_cast<CUarray_format>(format.format);
  descriptor.NumChannels = static_cast<unsigned>(format.channels);
  descriptor.Flags = static_cast<unsigned>(shape.flags);
  if (shape.layers != 0) descriptor.Flags |= CUDA_ARRAY3D_LAYERED;
  if (shape.cubemap) descriptor.Flags |= CUDA_ARRAY3D_CUBEMAP;
  return descriptor;
}

constexpr array_shape shape_of(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) noexcept {
  constexpr unsigned layout_flags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP;
  const bool layered = (descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  array_shape shape;
  shape.width = descriptor.Width;
  shape.height = descriptor.Height;
  shape.cubemap = (descriptor.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
  if (layered) shape.layers = shape.cubemap ? descriptor.Depth / 6 : descriptor.Depth;
  if (!layered && !shape.cubemap) shape.depth = descriptor.Depth;
  shape.flags = static_cast<array_flags>(descriptor.Flags & ~layout_flags);
  return shape;
}

/// Returns the size of all texels in bytes, without the padding of the device's layout; 0 for
/// formats without a texel size.
constexpr std::size_t array_bytes(const array_shape& shape, texel_format format) noexcept {
  const box_extent extent = shape.extent();
  return extent.width * extent.height * extent.depth * texel_bytes(format);
}

constexpr texel_format format_of(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) noexcept {
  return {static_cast<array_format>(descriptor.Format), static_cast<int>(descriptor.NumChannels)};
}

}  // namespace detail
}}  // namespace gpu::v1
