#pragma once
/// \file
/// Checks of arrays: shapes, flags and sizes.

#include <nogpu/driver/array_formats.hpp>
#include <nogpu/driver/device_attributes.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nogpu { inline namespace v1 { namespace driver {

/// The names of the limits of one kind of array; 0 if there is none.
struct array_limits {
  CUdevice_attribute width{}, height{}, depth{};
};

/// Those of three-dimensional arrays have an alternative.
inline constexpr array_limits narrow_limits{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE,
                                            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,
                                            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE};

/// Returns whether the third extent counts layers, or the faces of cubes.
inline bool has_layers(const CUDA_ARRAY3D_DESCRIPTOR& form) noexcept {
  return (form.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
}

inline array_limits limits_of(const CUDA_ARRAY3D_DESCRIPTOR& form, bool mipmapped) noexcept {
  const bool layered = (form.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  if ((form.Flags & CUDA_ARRAY3D_CUBEMAP) != 0) {
    if (!layered) return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, {}, {}};
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
            {},
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS};
  }
  if (layered && form.Height == 0)
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
            {},
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS};
  if (layered)
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS};
  if (form.Depth != 0)
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH};
  const bool surface = (form.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0;
  if (form.Height == 0)
    return {mipmapped ? CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH
            : surface ? CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH
                      : CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH,
            {},
            {}};
  if ((form.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0)
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT,
            {}};
  if (mipmapped)
    return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH,
            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT,
            {}};
  return {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH,
          CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT,
          {}};
}

inline bool fits(const CUDA_ARRAY3D_DESCRIPTOR& form, const array_limits& limits) noexcept {
  const auto within = [](std::size_t size, CUdevice_attribute limit) {
    int largest = 0;
    if (limit == CUdevice_attribute{}) return true;
    (void)device_attribute(limit, 0, largest);
    return size <= static_cast<std::size_t>(largest);
  };
  return within(form.Width, limits.width) && within(form.Height, limits.height) &&
         within(form.Depth, limits.depth);
}

/// Returns the driver's error for the description of an array, or of the finest level of a
/// mipmapped array.
inline CUresult check_array(const CUDA_ARRAY3D_DESCRIPTOR& form, bool mipmapped) noexcept {
  constexpr unsigned known = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |
                             CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER |
                             CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING |
                             CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
  const auto has = [&](unsigned flag) { return (form.Flags & flag) != 0; };
  if ((form.Flags & ~known) != 0 || form.Width == 0) return CUDA_ERROR_INVALID_VALUE;
  const format_facts format = find_format(form.Format, form.NumChannels);
  const auto planar = find_planar_format(form.Format);
  const bool fits_planes = planar && !mipmapped && has(CUDA_ARRAY3D_VIDEO_ENCODE_DECODE) &&
                           form.NumChannels == 3 && form.Height != 0 &&
                           form.Width % planar->columns == 0 && form.Height % planar->rows == 0;
  if (!format && !fits_planes) return CUDA_ERROR_INVALID_VALUE;
  const bool layers = has_layers(form);
  if (layers ? form.Depth == 0 : form.Depth != 0 && form.Height == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (has(CUDA_ARRAY3D_CUBEMAP)) {
    const bool faces = has(CUDA_ARRAY3D_LAYERED) ? form.Depth % 6 == 0 : form.Depth == 6;
    if (!faces || form.Width != form.Height) return CUDA_ERROR_INVALID_VALUE;
  }
  if (has(CUDA_ARRAY3D_TEXTURE_GATHER) && (form.Height == 0 || form.Depth != 0))
    return CUDA_ERROR_INVALID_VALUE;
  if (has(CUDA_ARRAY3D_SPARSE) &&
      (form.Height == 0 || has(CUDA_ARRAY3D_CUBEMAP) || has(CUDA_ARRAY3D_SURFACE_LDST) ||
       has(CUDA_ARRAY3D_DEFERRED_MAPPING)))
    return CUDA_ERROR_INVALID_VALUE;
  if (!fits(form, limits_of(form, mipmapped)) &&
      (layers || form.Depth == 0 || !fits(form, narrow_limits)))
    return CUDA_ERROR_INVALID_VALUE;
  const bool blocks = format.edge != 1;
  return blocks && has(CUDA_ARRAY3D_SURFACE_LDST) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

/// Returns the number of levels of a mipmapped array down to a single texel. The number of layers
/// is the same in each level.
inline unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR& form) noexcept {
  std::size_t longest = std::max(form.Width, form.Height);
  if (!has_layers(form)) longest = std::max(longest, form.Depth);
  unsigned levels = 1;
  while (longest >>= 1) ++levels;
  return levels;
}

/// The form of a level.
inline CUDA_ARRAY3D_DESCRIPTOR level_form(CUDA_ARRAY3D_DESCRIPTOR form, unsigned level) noexcept {
  const auto halve = [level](std::size_t size) {
    return size == 0 ? size : std::max<std::size_t>(size >> level, 1);
  };
  form.Width = halve(form.Width);
  form.Height = halve(form.Height);
  if (!has_layers(form)) form.Depth = halve(form.Depth);
  return form;
}

}}}  // namespace nogpu::v1::driver
