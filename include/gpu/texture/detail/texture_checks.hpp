#pragma once
/// \file
/// Checks before a texture is created: of its options, and of the memory that it reads.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/detail/array_checks.hpp>
#include <gpu/texture/texture_options.hpp>
#include <gpu/texture/texture_resource.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns `errc::invalid_argument` for values that are invalid for every texture.
inline result<> check_values(const char* function, const texture_options& options,
                             source_location where) noexcept {
  GPU_TRY(require_enumerator(options.address.x, "address_mode", function, where));
  GPU_TRY(require_enumerator(options.address.y, "address_mode", function, where));
  GPU_TRY(require_enumerator(options.address.z, "address_mode", function, where));
  GPU_TRY(require_enumerator(options.filter, "filter_mode", function, where));
  GPU_TRY(require_enumerator(options.mipmap_filter, "filter_mode", function, where));
  GPU_TRY(require_enumerator(options.read, "read_mode", function, where));
  constexpr unsigned most = 16;
  if (options.max_anisotropy <= most) return {};
  text_builder out;
  out << "max_anisotropy is " << options.max_anisotropy << "; it must be at most " << most << '.';
  return fail(
      refusal(errc::invalid_argument, function, out.finish(), where, options.max_anisotropy, most));
}

constexpr bool repeats(address_mode mode) noexcept {
  return mode == address_mode::wrap || mode == address_mode::mirror;
}

/// Returns why the options cannot be used with a source; null if they can. Of these mistakes the
/// driver rejects only a seamless cubemap that is not a cubemap; with the others it would sample
/// wrong values.
constexpr const char* problem_with(const texture_options& options, resource_type source,
                                   texel_format format, bool cubemap) noexcept {
  const address_modes& address = options.address;
  if ((repeats(address.x) || repeats(address.y) || repeats(address.z)) &&
      !options.normalized_coordinates && source != resource_type::linear) {
    return "the address modes wrap and mirror require normalized coordinates; without them the "
           "device would clamp. Set normalized_coordinates.";
  }
  const bool integers = is_integer_format(format.format);
  const bool wide = integers && channel_bytes(format.format) == 4;
  if (wide && options.read == read_mode::normalized_float) {
    return "32-bit integers cannot be read as normalized floats. Use gpu::read_mode::element.";
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
    return "a texture of linear memory is read by the index of a texel, without filtering and "
           "without normalized coordinates. Copy the data to a cuda_array.";
  }
  if (source == resource_type::mipmapped_array && !options.normalized_coordinates) {
    return "a texture of a mipmapped array requires normalized coordinates. Set "
           "normalized_coordinates.";
  }
  if (options.srgb &&
      (format.format != array_format::unsigned_int8 || options.read == read_mode::element)) {
    return "srgb requires unsigned 8-bit channels that are read as normalized floats. Use "
           "gpu::read_mode::normalized_float, or leave srgb out.";
  }
  if (options.seamless_cubemap && !cubemap) {
    return "seamless_cubemap requires an array that is a cubemap. Leave it out.";
  }
  if (!(options.mipmap_bias == options.mipmap_bias) ||
      !(options.min_mipmap_level <= options.max_mipmap_level)) {
    return "min_mipmap_level must be at most max_mipmap_level, and neither they nor mipmap_bias "
           "may be NaN.";
  }
  return nullptr;
}

inline result<> get_attribute(CUdevice_attribute which, device of, std::size_t& value,
                              source_location where) noexcept {
  int number = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(where, &number, which,
                                                                    of.native()));
  value = static_cast<std::size_t>(number);
  return {};
}

/// Returns `errc::invalid_argument` unless `value` is a multiple of a device attribute.
inline result<> require_multiple(const char* function, const char* what, std::size_t value,
                                 CUdevice_attribute attribute, device on, const char* cure,
                                 source_location where) noexcept {
  std::size_t step = 1;
  GPU_TRY(get_attribute(attribute, on, step, where));
  if (step == 0 || value % step == 0) return {};
  text_builder out;
  out << "the " << what << " is " << value % step << " bytes past a multiple of " << step
      << ", which textures on device " << on.native() << " require. " << cure;
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, value, step));
}

inline result<> require_at_most(const char* function, const char* what, std::size_t value,
                                std::size_t most, device on, source_location where) noexcept {
  if (value <= most) return {};
  text_builder out;
  out << "the texture has " << value << ' ' << what << ", but textures of such memory on device "
      << on.native() << " have at most " << most << ". Copy the data to a cuda_array, or split it.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, value, most));
}

/// Checks linear memory against the device's limits.
/// (cuDeviceGetAttribute, cuDeviceGetTexture1DLinearMaxWidth)
inline result<> check_linear(const char* function, const texture_resource& resource, device on,
                             source_location where) noexcept {
  GPU_TRY(require_multiple(function, "address", resource.address,
                           CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, on,
                           "Pass the whole buffer, and add an offset in the kernel.", where));
  std::size_t most = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_texture_1d_linear_max_width>(
      where, &most, static_cast<CUarray_format>(resource.format.format),
      static_cast<unsigned>(resource.format.channels), on.native()));
  return require_at_most(function, "texels", resource.width, most, on, where);
}

/// Checks pitched memory against the device's limits. (cuDeviceGetAttribute)
inline result<> check_pitched(const char* function, const texture_resource& resource, device on,
                              source_location where) noexcept {
  GPU_TRY(require_multiple(function, "address", resource.address,
                           CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, on,
                           "Pass the whole buffer, and add an offset in the kernel.", where));
  GPU_TRY(require_multiple(function, "pitch", resource.pitch,
                           CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, on, "Use a pitched_buffer.",
                           where));
  std::size_t most = 0;
  GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, on, most, where));
  GPU_TRY(require_at_most(function, "columns", resource.width, most, on, where));
  GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, on, most, where));
  GPU_TRY(require_at_most(function, "rows", resource.height, most, on, where));
  GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, on, most, where));
  return require_at_most(function, "bytes of pitch", resource.pitch, most, on, where);
}

/// Returns `errc::invalid_argument` for empty memory, and for formats that only arrays can have.
inline result<> require_texture_memory(const char* function, const texture_resource& resource,
                                       source_location where) noexcept {
  const bool empty =
      resource.width == 0 || (resource.type == resource_type::pitched && resource.height == 0);
  if (empty) {
    return fail(refusal(errc::invalid_argument, function,
                        text("the memory has no texels. Pass memory that is not empty."), where));
  }
  GPU_TRY(check_format(function, resource.format, where));
  if (channel_bytes(resource.format.format) == 0) {
    text_builder out;
    out << "only arrays can have ";
    write_format(out, resource.format);
    out << ", not linear or pitched memory. Use a cuda_array.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where));
  }
  return {};
}

}}}  // namespace gpu::v1::detail
