#pragma once
/// \file
/// `array_shape`: how large a CUDA array is, how it is divided, and what it is for.

#include <gpu/core/flags.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>

namespace gpu::inline v0 {

/// What an array is to be used for; combine with `|`. Layers and cubemaps are said by the shape.
enum class array_flags : unsigned {
  none = 0,                                          ///< sampled by textures, and copied
  surface_load_store = CUDA_ARRAY3D_SURFACE_LDST,    ///< read and written through surfaces
  texture_gather = CUDA_ARRAY3D_TEXTURE_GATHER,      ///< read by tex2Dgather
  depth_texture = CUDA_ARRAY3D_DEPTH_TEXTURE,        ///< a depth buffer
  color_attachment = CUDA_ARRAY3D_COLOR_ATTACHMENT,  ///< a render target of another interface
  sparse = CUDA_ARRAY3D_SPARSE,                      ///< without memory; tiles are mapped later
  deferred_mapping = CUDA_ARRAY3D_DEFERRED_MAPPING,  ///< without memory; it is mapped later
  video = CUDA_ARRAY3D_VIDEO_ENCODE_DECODE,          ///< for the video engines
};
template <> inline constexpr bool is_flag_set<array_flags> = true;

/// The extents of an array in texels, its layers, and its use:
///
///     {.width = 640, .height = 480}                             // a plane
///     {.width = 64, .height = 64, .depth = 32}                  // a volume
///     {.width = 256, .height = 256, .layers = 10}               // ten planes
///     {.width = 128, .height = 128, .cubemap = true}            // six faces, +x -x +y -y +z -z
struct array_shape {
  std::size_t width = 0;
  std::size_t height = 0;  ///< 0 for one dimension
  std::size_t depth = 0;   ///< 0 for one or two dimensions
  std::size_t layers = 0;  ///< 0 for an array that is not layered; of a cubemap, how many cubes
  bool cubemap = false;
  array_flags flags = array_flags::none;

  /// What `copy` sees: layers and faces are planes along z.
  constexpr box_extent extent() const noexcept {
    return {width, height == 0 ? 1 : height, planes() == 0 ? 1 : planes()};
  }

  /// The shape of a level of a mipmapped array whose first level has this one.
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

  /// How many levels there are until all extents are 1.
  constexpr unsigned max_levels() const noexcept {
    std::size_t longest = width > height ? width : height;
    if (depth > longest) longest = depth;
    unsigned count = 0;
    for (; longest != 0; longest >>= 1) ++count;
    return count;
  }

  /// Depth, or layers, or faces: what the driver calls depth in all three cases. The largest number
  /// where there are more faces than that.
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
  constexpr unsigned divided = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP;
  const bool layered = (descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  array_shape shape;
  shape.width = descriptor.Width;
  shape.height = descriptor.Height;
  shape.cubemap = (descriptor.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
  if (layered) shape.layers = shape.cubemap ? descriptor.Depth / 6 : descriptor.Depth;
  if (!layered && !shape.cubemap) shape.depth = descriptor.Depth;
  shape.flags = static_cast<array_flags>(descriptor.Flags & ~divided);
  return shape;
}

/// The bytes of all texels, without what the layout adds; 0 for formats whose texels have none.
constexpr std::size_t array_bytes(const array_shape& shape, texel_format format) noexcept {
  const box_extent extent = shape.extent();
  return extent.width * extent.height * extent.depth * texel_bytes(format);
}

constexpr texel_format format_of(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) noexcept {
  return {static_cast<array_format>(descriptor.Format), static_cast<int>(descriptor.NumChannels)};
}

}  // namespace detail
}  // namespace gpu::inline v0
