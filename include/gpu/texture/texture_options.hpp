#pragma once
/// \file
/// `texture_options`: how a texture answers a coordinate.

#include <gpu/driver/detail/refusals.hpp>
#include <gpu/texture/array_shape.hpp>

namespace gpu::inline v0 {

/// What kind of memory a texture reads; converts to `CUresourcetype` by cast.
enum class resource_type : int {
  array = CU_RESOURCE_TYPE_ARRAY,
  mipmapped_array = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
  linear = CU_RESOURCE_TYPE_LINEAR,
  pitched = CU_RESOURCE_TYPE_PITCH2D,
};

/// The enumerator, such as "linear"; null for a value that this library does not know.
constexpr const char* name_of(resource_type type) noexcept {
  switch (type) {
    case resource_type::array:
      return "array";
    case resource_type::mipmapped_array:
      return "mipmapped_array";
    case resource_type::linear:
      return "linear";
    case resource_type::pitched:
      return "pitched";
  }
  return nullptr;
}

/// What a coordinate outside the image means; converts to `CUaddress_mode` by cast.
enum class address_mode : int {
  wrap = CU_TR_ADDRESS_MODE_WRAP,      ///< the image repeats
  clamp = CU_TR_ADDRESS_MODE_CLAMP,    ///< the texel at the edge
  mirror = CU_TR_ADDRESS_MODE_MIRROR,  ///< the image repeats, every other time reversed
  border = CU_TR_ADDRESS_MODE_BORDER,  ///< the border colour
};

/// The enumerator, such as "wrap"; null for a value that this library does not know.
constexpr const char* name_of(address_mode mode) noexcept {
  switch (mode) {
    case address_mode::wrap:
      return "wrap";
    case address_mode::clamp:
      return "clamp";
    case address_mode::mirror:
      return "mirror";
    case address_mode::border:
      return "border";
  }
  return nullptr;
}

/// What a coordinate between texels gets; converts to `CUfilter_mode` by cast.
enum class filter_mode : int {
  point = CU_TR_FILTER_MODE_POINT,    ///< the nearest texel
  linear = CU_TR_FILTER_MODE_LINEAR,  ///< a mean of the nearest, weighted to 1/256
};

/// The enumerator, such as "linear"; null for a value that this library does not know.
constexpr const char* name_of(filter_mode mode) noexcept {
  switch (mode) {
    case filter_mode::point:
      return "point";
    case filter_mode::linear:
      return "linear";
  }
  return nullptr;
}

/// What the kernel gets for integer channels.
enum class read_mode : int {
  element,           ///< the integer
  normalized_float,  ///< a float from 0 to 1, or from -1 to 1 for signed ones
};

/// The enumerator, such as "element"; null for a value that this library does not know.
constexpr const char* name_of(read_mode mode) noexcept {
  switch (mode) {
    case read_mode::element:
      return "element";
    case read_mode::normalized_float:
      return "normalized_float";
  }
  return nullptr;
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

/// The counterpart of `cudaTextureDesc`. As it stands, a texture gives the nearest texel as it is,
/// at coordinates that count texels, and the one at the edge outside.
struct texture_options {
  address_modes address{};
  filter_mode filter = filter_mode::point;
  read_mode read = read_mode::element;
  bool normalized_coordinates = false;  ///< from 0 to 1 across the image; mipmaps need them
  bool srgb = false;                    ///< undo the sRGB curve of 8-bit channels
  bool seamless_cubemap = false;        ///< filter across the edges of the faces
  bool trilinear_optimization = true;   ///< let the device do with less where it hardly shows
  unsigned max_anisotropy = 0;          ///< up to 16
  filter_mode mipmap_filter = filter_mode::point;  ///< between levels
  float mipmap_bias = 0;                           ///< added to the level
  float min_mipmap_level = 0;
  float max_mipmap_level = 1000;         ///< no more than the last level counts
  float border_color[4] = {0, 0, 0, 0};  ///< the driver does not tell it again
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

/// Refuses values that are none, whatever the source.
inline result<> check_values(const char* function, const texture_options& options,
                             source_location where) noexcept {
  for (const address_mode mode : {options.address.x, options.address.y, options.address.z})
    GPU_TRY(require_enumerator(mode, "address_mode", function, where));
  GPU_TRY(require_enumerator(options.filter, "filter_mode", function, where));
  GPU_TRY(require_enumerator(options.mipmap_filter, "filter_mode", function, where));
  GPU_TRY(require_enumerator(options.read, "read_mode", function, where));
  constexpr unsigned most = 16;
  if (options.max_anisotropy <= most) [[likely]]
    return {};
  text_builder out;
  out << "max_anisotropy is " << options.max_anisotropy << ". Give at most " << most << '.';
  return fail(
      refusal(errc::invalid_argument, function, out.finish(), where, options.max_anisotropy, most));
}

/// What is wrong with options for a source; null where nothing is. Of all this the driver refuses
/// only seams without a cubemap: the rest samples wrongly.
constexpr const char* fault_of(const texture_options& options, resource_type source,
                               texel_format format, bool cubemap) noexcept {
  for (const address_mode mode : {options.address.x, options.address.y, options.address.z}) {
    const bool repeats = mode == address_mode::wrap || mode == address_mode::mirror;
    if (repeats && !options.normalized_coordinates && source != resource_type::linear) {
      return "wrap and mirror are for coordinates from 0 to 1, and would be clamp without a word. "
             "Set normalized_coordinates.";
    }
  }
  const bool integers = is_integer_format(format.format);
  const bool wide = integers && channel_bytes(format.format) == 4;
  if (wide && options.read == read_mode::normalized_float) {
    return "integers of 32 bits cannot be read as normalized floats. Use gpu::read_mode::element.";
  }
  const bool filters =
      options.filter == filter_mode::linear ||
      (options.mipmap_filter == filter_mode::linear && source == resource_type::mipmapped_array);
  if (filters && integers && options.read == read_mode::element) {
    return "integers cannot be filtered. Read them as gpu::read_mode::normalized_float, or use "
           "gpu::filter_mode::point.";
  }
  if (source == resource_type::linear &&
      (options.filter == filter_mode::linear || options.normalized_coordinates)) {
    return "linear memory is fetched by the index of a texel, neither filtered nor by coordinates "
           "from 0 to 1. Copy it to a cuda_array.";
  }
  if (source == resource_type::mipmapped_array && !options.normalized_coordinates) {
    return "the levels of a mipmapped array differ in size, so coordinates have to go from 0 to 1. "
           "Set normalized_coordinates.";
  }
  if (options.srgb &&
      (format.format != array_format::unsigned_int8 || options.read == read_mode::element)) {
    return "sRGB is a curve over unsigned channels of 8 bits that are read as normalized floats. "
           "Use gpu::read_mode::normalized_float, or leave srgb out.";
  }
  if (options.seamless_cubemap && !cubemap) {
    return "seamless_cubemap is for arrays that are cubemaps. Leave it out.";
  }
  if (!(options.mipmap_bias == options.mipmap_bias) ||
      !(options.min_mipmap_level <= options.max_mipmap_level)) {
    return "the mipmap levels are no range: min_mipmap_level has to be at most max_mipmap_level, "
           "and none of them a NaN.";
  }
  return nullptr;
}

}  // namespace detail
}  // namespace gpu::inline v0
