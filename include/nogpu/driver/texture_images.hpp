#pragma once
/// \file
/// The sources of texture and surface objects, in the form that kernels use.

#include <nogpu/driver/array_checks.hpp>
#include <nogpu/driver/arrays.hpp>
#include <nogpu/driver/device_attributes.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/enumeration.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// The most texels of linear memory that a texture can have; 0 for a format that none has.
inline std::uint64_t greatest_linear_width(CUarray_format format, unsigned channels) noexcept {
  const format_facts found = find_format(format, channels);
  if (!found) return 0;
  return std::min(std::uint64_t{1} << 30, (std::uint64_t{1} << 32) / found.unit);
}

/// The texels of linear or pitched memory: formats that every device has, not the later ones.
inline format_facts find_linear_format(CUarray_format format, unsigned channels) noexcept {
  return format <= CU_AD_FORMAT_FLOAT ? find_format(format, channels) : format_facts{};
}

inline bool aligned(std::uint64_t value, CUdevice_attribute attribute) noexcept {
  int unit = 1;
  (void)device_attribute(attribute, 0, unit);
  return value % static_cast<std::uint64_t>(unit) == 0;
}

inline bool within(std::uint64_t value, CUdevice_attribute attribute) noexcept {
  int limit = 0;
  (void)device_attribute(attribute, 0, limit);
  return value <= static_cast<std::uint64_t>(limit);
}

/// An array, or the levels of a mipmapped array, as they are.
inline machine::image image_of(std::span<const array_ptr> levels) {
  const CUDA_ARRAY3D_DESCRIPTOR& form = levels.front()->form;
  machine::image made;
  made.shape = (form.Flags & CUDA_ARRAY3D_CUBEMAP) != 0 ? machine::image_shape::cube
               : form.Height == 0                       ? machine::image_shape::one
               : form.Depth == 0 || has_layers(form)    ? machine::image_shape::two
                                                        : machine::image_shape::three;
  made.layered = (form.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  if (has_layers(form)) made.layers = static_cast<std::uint32_t>(form.Depth);
  made.format = levels.front()->format.texel;
  for (const array_ptr& each : levels) {
    machine::image_level level;
    level.base = each->base;
    level.width = each->form.Width;
    level.height = std::max<std::uint64_t>(each->form.Height, 1);
    if (made.shape == machine::image_shape::three) level.depth = each->form.Depth;
    level.row_pitch = each->row_bytes();
    level.slice_pitch = each->slice_bytes();
    made.levels.push_back(level);
  }
  return made;
}

inline CUresult read_linear(const CUDA_RESOURCE_DESC& from, machine::image& made) {
  const auto& linear = from.res.linear;
  const format_facts format = find_linear_format(linear.format, linear.numChannels);
  if (!format || linear.devPtr == 0 ||
      !aligned(linear.devPtr, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT))
    return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t width = linear.sizeInBytes / format.unit;
  if (width > greatest_linear_width(linear.format, linear.numChannels))
    return CUDA_ERROR_INVALID_VALUE;
  made.origin = machine::image_origin::linear;
  made.format = format.texel;
  made.levels = {{linear.devPtr, width, 1, 1, linear.sizeInBytes, linear.sizeInBytes}};
  return CUDA_SUCCESS;
}

inline CUresult read_pitched(const CUDA_RESOURCE_DESC& from, machine::image& made) {
  const auto& pitched = from.res.pitch2D;
  const format_facts format = find_linear_format(pitched.format, pitched.numChannels);
  if (!format || pitched.devPtr == 0 ||
      !aligned(pitched.devPtr, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) ||
      !aligned(pitched.pitchInBytes, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) ||
      !within(pitched.width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) ||
      !within(pitched.height, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) ||
      !within(pitched.pitchInBytes, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH))
    return CUDA_ERROR_INVALID_VALUE;
  made.origin = machine::image_origin::pitched;
  made.shape = machine::image_shape::two;
  made.format = format.texel;
  made.levels = {{pitched.devPtr, pitched.width, pitched.height, 1, pitched.pitchInBytes,
                  pitched.pitchInBytes * pitched.height}};
  return CUDA_SUCCESS;
}

/// The arrays of a resource, the finest level first; empty if it has none or its handle is invalid.
inline std::vector<array_ptr> arrays_of(const call& c, const CUDA_RESOURCE_DESC& from) {
  const unsigned type = number_of(from.resType);
  if (type == CU_RESOURCE_TYPE_ARRAY) {
    const array_ptr found = c.driver.arrays.find(from.res.array.hArray);
    return found ? std::vector<array_ptr>{found} : std::vector<array_ptr>{};
  }
  if (type != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) return {};
  const mipmapped_array_ptr found = c.driver.mipmapped_arrays.find(from.res.mipmap.hMipmappedArray);
  return found ? found->levels : std::vector<array_ptr>{};
}

/// Reports that texels of a format can only be copied, and returns the error of the call.
inline CUresult refuse_format(call& c, CUarray_format format) {
  c.lock.unlock();
  c.driver.report("cannot create a texture or surface object of format " +
                  machine::detail::hexadecimal(static_cast<std::uint64_t>(format)) +
                  ": the CPU driver can copy block-compressed and packed formats, but not sample "
                  "them");
  c.lock.lock();
  return CUDA_ERROR_NOT_SUPPORTED;
}

inline CUresult read_resource(call& c, const CUDA_RESOURCE_DESC& from, machine::image& made) {
  const unsigned type = number_of(from.resType);
  if (from.flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type == CU_RESOURCE_TYPE_LINEAR) return read_linear(from, made);
  if (type == CU_RESOURCE_TYPE_PITCH2D) return read_pitched(from, made);
  const std::vector<array_ptr> levels = arrays_of(c, from);
  if (levels.empty() || !levels.front()->planes.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (!levels.front()->format.readable) return refuse_format(c, levels.front()->form.Format);
  made = image_of(levels);
  return CUDA_SUCCESS;
}

/// Applies a resource view to the image of an array. Its extents are those of the whole array, in
/// the view's own texels; levels beyond the last do not count.
inline CUresult apply_view(call& c, const CUDA_RESOURCE_VIEW_DESC& view, const array_state& finest,
                           machine::image& made) {
  const format_facts format = find_format(view.format);
  if (!format || format.unit != finest.format.unit) return CUDA_ERROR_INVALID_VALUE;
  const bool reserved = std::any_of(std::begin(view.reserved), std::end(view.reserved),
                                    [](unsigned each) { return each != 0; });
  const bool mipmapped = made.levels.size() > 1;
  if (reserved || view.width != finest.form.Width * format.edge ||
      view.height != finest.form.Height * format.edge || view.depth != finest.form.Depth ||
      view.firstMipmapLevel > view.lastMipmapLevel || view.firstMipmapLevel >= made.levels.size() ||
      (!mipmapped && view.lastMipmapLevel != 0) || view.firstLayer > view.lastLayer ||
      view.firstLayer >= made.layers || (finest.form.Depth == 0 && view.lastLayer != 0))
    return CUDA_ERROR_INVALID_VALUE;
  if (!format.readable) return refuse_format(c, finest.form.Format);
  made.format = format.texel;
  const auto all = std::move(made.levels);
  const std::size_t end = std::min<std::size_t>(view.lastMipmapLevel + 1u, all.size());
  made.levels.assign(all.begin() + view.firstMipmapLevel,
                     all.begin() + static_cast<std::ptrdiff_t>(end));
  // A device takes views that end beyond the last layer; there is nothing to read.
  made.layers = std::min(view.lastLayer, made.layers - 1) - view.firstLayer + 1;
  for (machine::image_level& each : made.levels) each.base += view.firstLayer * each.slice_pitch;
  return CUDA_SUCCESS;
}

/// Reads how an image with so many coordinates is sampled.
inline CUresult read_sampler(const CUDA_TEXTURE_DESC& from, const machine::image& source,
                             machine::sampler_state& made) {
  constexpr unsigned known = 0x3f | CU_TRSF_SEAMLESS_CUBEMAP;
  const bool reserved = std::any_of(std::begin(from.reserved), std::end(from.reserved),
                                    [](int each) { return each != 0; });
  const bool seamless = (from.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  if (reserved || (from.flags & ~known) != 0 ||
      number_of(from.filterMode) > CU_TR_FILTER_MODE_LINEAR ||
      number_of(from.mipmapFilterMode) > CU_TR_FILTER_MODE_LINEAR ||
      (seamless && source.shape != machine::image_shape::cube))
    return CUDA_ERROR_INVALID_VALUE;
  const std::size_t coordinates = source.shape == machine::image_shape::one     ? 1u
                                  : source.shape == machine::image_shape::three ? 3u
                                                                                : 2u;
  for (std::size_t i = 0; i < coordinates; ++i) {
    if (number_of(from.addressMode[i]) > CU_TR_ADDRESS_MODE_BORDER) return CUDA_ERROR_INVALID_VALUE;
    made.address[i] = static_cast<machine::address_mode>(from.addressMode[i]);
  }
  made.linear = from.filterMode == CU_TR_FILTER_MODE_LINEAR;
  made.normalized_coordinates = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  made.read_as_integer = (from.flags & CU_TRSF_READ_AS_INTEGER) != 0;
  made.srgb = (from.flags & CU_TRSF_SRGB) != 0;
  made.seamless_cube = seamless;
  made.linear_levels = from.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
  made.level_bias = from.mipmapLevelBias;
  made.least_level = from.minMipmapLevelClamp;
  made.greatest_level = from.maxMipmapLevelClamp;
  made.anisotropy = from.maxAnisotropy;
  std::copy(std::begin(from.borderColor), std::end(from.borderColor), made.border.begin());
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver
