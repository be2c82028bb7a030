#pragma once
/// \file
/// `texture_resource`: the memory that a texture or a surface accesses, as the driver describes it.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cleared.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/texture/array_format.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// The kind of memory that a texture reads; converts to `CUresourcetype` by cast.
enum class resource_type : int {
  array = CU_RESOURCE_TYPE_ARRAY,
  mipmapped_array = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
  linear = CU_RESOURCE_TYPE_LINEAR,
  pitched = CU_RESOURCE_TYPE_PITCH2D,
};

/// The enumerator, such as "linear"; null for a value that this library does not know.
constexpr const char* name_of(resource_type type) noexcept {
  using enum resource_type;
  return detail::find_name(type, {{array, "array"},
                                  {mipmapped_array, "mipmapped_array"},
                                  {linear, "linear"},
                                  {pitched, "pitched"}});
}

/// The counterpart of `cudaResourceDesc`: the handle of an array, or the address, format and
/// extents of other memory.
struct texture_resource {
  resource_type type = resource_type::array;
  CUarray array = nullptr;  ///< for `cuda_array_ref<>::of`
  CUmipmappedArray mipmapped_array = nullptr;
  CUdeviceptr address = 0;
  texel_format format;
  std::size_t width = 0;   ///< texels
  std::size_t height = 0;  ///< rows, of pitched memory
  std::size_t pitch = 0;   ///< bytes, of pitched memory; the driver may report 0 for a single row
};

/// Returns how many texels of type `T` a texture of linear memory can have on a device.
/// **Errors**: the driver's. **Capture**: not affected. (cuDeviceGetTexture1DLinearMaxWidth)
template <texel T>
result<std::size_t> max_linear_texture_width(
    device of, source_location where = source_location::current()) noexcept {
  std::size_t width = 0;
  constexpr texel_format format = texel_format_of<T>;
  GPU_TRY(driver::call<&driver::entry_points::device_get_texture_1d_linear_max_width>(
      where, &width, static_cast<CUarray_format>(format.format),
      static_cast<unsigned>(format.channels), of.native()));
  return width;
}

namespace detail {

inline CUDA_RESOURCE_DESC native_resource(const texture_resource& resource) noexcept {
  auto native = cleared<CUDA_RESOURCE_DESC>();
  native.resType = static_cast<CUresourcetype>(resource.type);
  const auto format = static_cast<CUarray_format>(resource.format.format);
  const auto channels = static_cast<unsigned>(resource.format.channels);
  switch (resource.type) {
    case resource_type::array: native.res.array.hArray = resource.array; break;
    case resource_type::mipmapped_array:
      native.res.mipmap.hMipmappedArray = resource.mipmapped_array;
      break;
    case resource_type::linear:
      native.res.linear = {resource.address, format, channels,
                           resource.width * texel_bytes(resource.format)};
      break;
    case resource_type::pitched:
      native.res.pitch2D = {resource.address, format,          channels,
                            resource.width,   resource.height, resource.pitch};
      break;
  }
  return native;
}

inline texture_resource resource_of(const CUDA_RESOURCE_DESC& native) noexcept {
  const auto format = [](CUarray_format channel, unsigned channels) {
    return texel_format{static_cast<array_format>(channel), static_cast<int>(channels)};
  };
  texture_resource resource;
  resource.type = static_cast<resource_type>(native.resType);
  switch (resource.type) {
    case resource_type::array: resource.array = native.res.array.hArray; break;
    case resource_type::mipmapped_array:
      resource.mipmapped_array = native.res.mipmap.hMipmappedArray;
      break;
    case resource_type::linear: {
      const auto& linear = native.res.linear;
      resource.address = linear.devPtr;
      resource.format = format(linear.format, linear.numChannels);
      const std::size_t size = texel_bytes(resource.format);
      resource.width = size == 0 ? 0 : linear.sizeInBytes / size;
      break;
    }
    case resource_type::pitched: {
      const auto& pitched = native.res.pitch2D;
      resource.address = pitched.devPtr;
      resource.format = format(pitched.format, pitched.numChannels);
      resource.width = pitched.width;
      resource.height = pitched.height;
      resource.pitch = pitched.pitchInBytes;
      break;
    }
  }
  return resource;
}

}  // namespace detail
}}  // namespace gpu::v1
