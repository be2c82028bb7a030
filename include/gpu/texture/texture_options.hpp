#pragma once
/// \file
/// `texture_options`: how a texture is sampled.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/driver/detail/cuda_header.hpp>

namespace gpu { inline namespace v1 {

/// The handling of coordinates outside the image; converts to `CUaddress_mode` by cast.
enum class address_mode : int {
  wrap = CU_TR_ADDRESS_MODE_WRAP,      ///< the image repeats
  clamp = CU_TR_ADDRESS_MODE_CLAMP,    ///< the texel at the edge
  mirror = CU_TR_ADDRESS_MODE_MIRROR,  ///< the image repeats, reversed every other time
  border = CU_TR_ADDRESS_MODE_BORDER,  ///< the border color
};

/// The enumerator, such as "wrap"; null for a value that this library does not know.
constexpr const char* name_of(address_mode mode) noexcept {
  using enum address_mode;
  return detail::find_name(
      mode, {{wrap, "wrap"}, {clamp, "clamp"}, {mirror, "mirror"}, {border, "border"}});
}

/// The value at a coordinate between texels; converts to `CUfilter_mode` by cast.
enum class filter_mode : int {
  point = CU_TR_FILTER_MODE_POINT,    ///< the nearest texel
  linear = CU_TR_FILTER_MODE_LINEAR,  ///< interpolated, with weights in steps of 1/256
};

/// The enumerator, such as "linear"; null for a value that this library does not know.
constexpr const char* name_of(filter_mode mode) noexcept {
  using enum filter_mode;
  return detail::find_name(mode, {{point, "point"}, {linear, "linear"}});
}

/// The value that a kernel reads from integer channels.
enum class read_mode : int {
  element,           ///< the integer
  normalized_float,  ///< a float from 0 to 1, or from -1 to 1 for signed channels
};

/// The enumerator, such as "element"; null for a value that this library does not know.
constexpr const char* name_of(read_mode mode) noexcept {
  using enum read_mode;
  return detail::find_name(mode, {{element, "element"}, {normalized_float, "normalized_float"}});
}

/// An address mode for each dimension, or one for all.
struct address_modes {
  address_mode x = address_mode::clamp, y = address_mode::clamp, z = address_mode::clamp;

  constexpr address_modes() noexcept = default;
  constexpr address_modes(address_mode all) noexcept : x{all}, y{all}, z{all} {}
  constexpr address_modes(address_mode along_x, address_mode along_y,
                          address_mode along_z = address_mode::clamp) noexcept
      : x{along_x}, y{along_y}, z{along_z} {}
  friend constexpr bool operator==(address_modes a, address_modes b) noexcept {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

/// The counterpart of `cudaTextureDesc`. By default a texture returns the nearest texel without
/// conversion, at coordinates in texels, and clamps coordinates outside the image.
struct texture_options {
  address_modes address{};
  filter_mode filter = filter_mode::point;
  read_mode read = read_mode::element;
  bool normalized_coordinates = false;  ///< from 0 to 1 across the image; required for mipmaps
  bool srgb = false;                    ///< convert 8-bit channels from sRGB to linear
  bool seamless_cubemap = false;        ///< filter across the edges of the faces
  bool trilinear_optimization = true;   ///< allow the device to approximate trilinear filtering
  unsigned max_anisotropy = 0;          ///< up to 16
  filter_mode mipmap_filter = filter_mode::point;  ///< between levels
  float mipmap_bias = 0;                           ///< added to the level
  float min_mipmap_level = 0;
  float max_mipmap_level = 1000;         ///< clamped to the array's last level
  float border_color[4] = {0, 0, 0, 0};  ///< `texture::options` does not return it
};

namespace detail {

inline CUDA_TEXTURE_DESC native_options(const texture_options& options) noexcept {
  CUDA_TEXTURE_DESC native{};
  native.addressMode[0] = static_cast<CUaddress_mode>(options.address.x);
  native.addressMode[1] = static_cast<CUaddress_mode>(options.address.y);
  native.addressMode[2] = static_cast<CUaddress_mode>(options.address.z);
  native.filterMode = static_cast<CUfilter_mode>(options.filter);
  if (options.read == read_mode::element) native.flags |= CU_TRSF_READ_AS_INTEGER;
  if (options.normalized_coordinates) native.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (options.srgb) native.flags |= CU_TRSF_SRGB;
  if (options.seamless_cubemap) native.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
  if (!options.trilinear_optimization) native.flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
  native.maxAnisotropy = options.max_anisotropy;
  native.mipmapFilterMode = static_cast<CUfilter_mode>(options.mipmap_filter);
  native.mipmapLevelBias = options.mipmap_bias;
  native.minMipmapLevelClamp = options.min_mipmap_level;
  native.maxMipmapLevelClamp = options.max_mipmap_level;
  for (int i = 0; i < 4; ++i) native.borderColor[i] = options.border_color[i];
  return native;
}

inline texture_options options_of(const CUDA_TEXTURE_DESC& native) noexcept {
  const auto flag = [&](unsigned bit) { return (native.flags & bit) != 0; };
  texture_options options;
  options.address = {static_cast<address_mode>(native.addressMode[0]),
                     static_cast<address_mode>(native.addressMode[1]),
                     static_cast<address_mode>(native.addressMode[2])};
  options.filter = static_cast<filter_mode>(native.filterMode);
  options.read = flag(CU_TRSF_READ_AS_INTEGER) ? read_mode::element : read_mode::normalized_float;
  options.normalized_coordinates = flag(CU_TRSF_NORMALIZED_COORDINATES);
  options.srgb = flag(CU_TRSF_SRGB);
  options.seamless_cubemap = flag(CU_TRSF_SEAMLESS_CUBEMAP);
  options.trilinear_optimization = !flag(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  options.max_anisotropy = native.maxAnisotropy;
  options.mipmap_filter = static_cast<filter_mode>(native.mipmapFilterMode);
  options.mipmap_bias = native.mipmapLevelBias;
  options.min_mipmap_level = native.minMipmapLevelClamp;
  options.max_mipmap_level = native.maxMipmapLevelClamp;
  for (int i = 0; i < 4; ++i) options.border_color[i] = native.borderColor[i];
  return options;
}

}  // namespace detail
}}  // namespace gpu::v1
