#pragma once
/// \file
/// `texture_resource`: what a texture or a surface reads, as the driver tells it.

#include <gpu/memory/detail/region_side.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/texture/mipmapped_array.hpp>
#include <gpu/texture/texture_options.hpp>

namespace gpu::inline v0 {

/// The counterpart of `cudaResourceDesc`: of an array its handle, of other memory its address,
/// format and extents.
struct texture_resource {
  resource_type type = resource_type::array;
  CUarray array = nullptr;  ///< for `cuda_array_ref<>::of`
  CUmipmappedArray mipmapped_array = nullptr;
  CUdeviceptr address = 0;
  texel_format format;
  std::size_t width = 0;   ///< texels
  std::size_t height = 0;  ///< rows, of pitched memory
  std::size_t pitch = 0;   ///< bytes, of pitched memory; 0 where the driver tells of a single row
};

/// How many texels of type `T` a texture of linear memory can have on a device.
/// **Errors**: the driver's. Not affected by capture. (cuDeviceGetTexture1DLinearMaxWidth)
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
    case resource_type::array:
      native.res.array.hArray = resource.array;
      break;
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
    case resource_type::array:
      resource.array = native.res.array.hArray;
      break;
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

inline result<> get_attribute(CUdevice_attribute which, device of, std::size_t& value,
                              source_location where) noexcept {
  int number = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(where, &number, which,
                                                                    of.native()));
  value = static_cast<std::size_t>(number);
  return {};
}

/// `errc::invalid_argument` where `value` is no multiple of what the device asks.
inline result<> require_multiple(const char* function, const char* what, std::size_t value,
                                 CUdevice_attribute attribute, device on, const char* cure,
                                 source_location where) noexcept {
  std::size_t step = 1;
  GPU_TRY(get_attribute(attribute, on, step, where));
  if (step == 0 || value % step == 0) [[likely]]
    return {};
  text_builder out;
  out << "the " << what << " is " << value % step << " bytes past a multiple of " << step
      << ", which textures on device " << on.native() << " ask for. " << cure;
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, value, step));
}

inline result<> require_at_most(const char* function, const char* what, std::size_t value,
                                std::size_t most, device on, source_location where) noexcept {
  if (value <= most) [[likely]]
    return {};
  text_builder out;
  out << "the texture has " << value << ' ' << what << ", and textures of such memory on device "
      << on.native() << " have at most " << most << ". Copy it to a cuda_array, or divide it.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, value, most));
}

/// Refuses linear memory that a texture cannot read.
/// (cuDeviceGetAttribute, cuDeviceGetTexture1DLinearMaxWidth)
inline result<> check_linear(const char* function, const texture_resource& resource, device on,
                             source_location where) noexcept {
  GPU_TRY(require_multiple(function, "address", resource.address,
                           CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, on,
                           "Begin with the buffer, and add an offset in the kernel.", where));
  std::size_t most = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_texture_1d_linear_max_width>(
      where, &most, static_cast<CUarray_format>(resource.format.format),
      static_cast<unsigned>(resource.format.channels), on.native()));
  return require_at_most(function, "texels", resource.width, most, on, where);
}

/// Refuses rows that a texture cannot read. (cuDeviceGetAttribute)
inline result<> check_pitched(const char* function, const texture_resource& resource, device on,
                              source_location where) noexcept {
  GPU_TRY(require_multiple(function, "address", resource.address,
                           CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, on,
                           "Begin with the buffer, and add an offset in the kernel.", where));
  GPU_TRY(require_multiple(function, "pitch", resource.pitch,
                           CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, on, "Use a pitched_buffer.",
                           where));
  std::size_t most = 0;
  GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, on, most, where));
  GPU_TRY(require_at_most(function, "columns", resource.width, most, on, where));
  GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, on, most, where));
  GPU_TRY(require_at_most(function, "rows", resource.height, most, on, where));
  GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, on, most, where));
  return require_at_most(function, "bytes from row to row", resource.pitch, most, on, where);
}

/// Refuses memory without texels, and formats that only arrays have.
inline result<> require_texture_memory(const char* function, const texture_resource& resource,
                                       source_location where) noexcept {
  const bool empty =
      resource.width == 0 || (resource.type == resource_type::pitched && resource.height == 0);
  if (empty) {
    return fail(refusal(errc::invalid_argument, function,
                        text("there are no texels. Pass memory that has some."), where));
  }
  GPU_TRY(check_format(function, resource.format, where));
  if (channel_bytes(resource.format.format) == 0) {
    text_builder out;
    out << "memory with ";
    write_format(out, resource.format);
    out << " is no texture without an array. Use a cuda_array.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where));
  }
  return {};
}

}  // namespace detail
}  // namespace gpu::inline v0
