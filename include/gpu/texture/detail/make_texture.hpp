#pragma once
/// \file
/// The part of `texture::create` that does not depend on the type of the texels.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/region_side.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/cuda_array.hpp>
#include <gpu/texture/detail/array_checks.hpp>
#include <gpu/texture/detail/image_object.hpp>
#include <gpu/texture/detail/texture_checks.hpp>
#include <gpu/texture/mipmapped_array.hpp>
#include <gpu/texture/resource_view.hpp>
#include <gpu/texture/texture_options.hpp>
#include <gpu/texture/texture_resource.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// The memory of a texture, and the shape of its array.
struct texture_request {
  texture_resource resource;
  context_ref context;
  array_shape shape;
  unsigned levels = 1;

  template <class T>
  explicit texture_request(const cuda_array_ref<T>& array) noexcept
      : context{array.context()}, shape{array.shape()} {
    resource.array = array.native();
    resource.format = array.format();
  }
  template <class T>
  explicit texture_request(const mipmapped_array_ref<T>& array) noexcept
      : context{array.context()}, shape{array.shape()}, levels{array.levels()} {
    resource.type = resource_type::mipmapped_array;
    resource.mipmapped_array = array.native();
    resource.format = array.format();
  }
  texture_request(CUdeviceptr address, texel_format format, std::size_t count) noexcept {
    resource.type = resource_type::linear;
    resource.address = address;
    resource.format = format;
    resource.width = count;
  }
  texture_request(const region_side& rows, texel_format format, std::size_t width) noexcept {
    resource.type = resource_type::pitched;
    resource.address = static_cast<CUdeviceptr>(rows.address);
    resource.format = format;
    resource.width = width;
    resource.height = saturated_product(rows.size.height, rows.size.depth);
    resource.pitch = rows.pitch;
  }

  bool is_array() const noexcept {
    return resource.type == resource_type::array || resource.type == resource_type::mipmapped_array;
  }
};

/// Sets `texels` to the number of texels in `bytes`; returns `errc::size_mismatch` if there is a
/// remainder. `subject` begins the sentence of the error.
inline result<> count_texels(const char* subject, std::size_t bytes, texel_format format,
                             std::size_t& texels, source_location where) noexcept {
  GPU_TRY(check_format("gpu::texture::create", format, where));
  const std::size_t size = texel_bytes(format) == 0 ? 1 : texel_bytes(format);
  texels = bytes / size;
  if (bytes % size == 0) return {};
  text_builder out;
  out << subject << bytes << " bytes, which is not a multiple of the texel size of " << size
      << " bytes. Pass whole texels.";
  return fail(
      refusal(errc::size_mismatch, "gpu::texture::create", out.finish(), where, bytes, size));
}

/// Creates a texture object. (cuDeviceGetAttribute, cuDeviceGetTexture1DLinearMaxWidth,
/// cuPointerGetAttributes, cuTexObjectCreate)
inline result<> make_texture(texture_request request, texture_options options,
                             const resource_view& view, image_object& made,
                             source_location where) noexcept {
  constexpr const char* function = "gpu::texture::create";
  const bool partial = !(view == resource_view{});
  texel_format seen = request.resource.format;
  CUDA_RESOURCE_VIEW_DESC native_view{};
  if (request.is_array()) {
    if (request.resource.array == nullptr && request.resource.mipmapped_array == nullptr) {
      return fail(empty_handle_error(function, "array", where));
    }
    if (partial) {
      GPU_TRY(make_view(function, view, request.shape, seen, request.levels, native_view, where));
      seen = viewed_format(view.format, seen);
    }
    // The device samples a 1D array like the only row of a 2D one, halfway between the row and its
    // neighbor.
    if (request.shape.height == 0) options.address.y = options.address.z = address_mode::clamp;
    const auto last = static_cast<float>(request.levels - 1);
    if (options.max_mipmap_level > last && options.min_mipmap_level <= last) {
      options.max_mipmap_level = last;
    }
  } else {
    GPU_TRY(require_texture_memory(function, request.resource, where));
    copy_end end;
    end.address = request.resource.address;
    GPU_TRY(find_context(end, request.context, where, function));
    if (request.resource.type == resource_type::linear) {
      GPU_TRY(check_linear(function, request.resource, request.context.device(), where));
    } else {
      GPU_TRY(check_pitched(function, request.resource, request.context.device(), where));
    }
  }
  GPU_TRY(check_values(function, options, where));
  const char* problem = problem_with(options, request.resource.type, seen, request.shape.cubemap);
  if (problem != nullptr) {
    return fail(refusal(errc::invalid_argument, function, text(problem), where));
  }
  const CUDA_RESOURCE_DESC resource = native_resource(request.resource);
  const CUDA_TEXTURE_DESC native_texture = native_options(options);
  made.context = request.context;
  return driver::call_in<&driver::entry_points::tex_object_create>(
      request.context.native(), where, &made.native, &resource, &native_texture,
      partial ? &native_view : nullptr);
}

}}}  // namespace gpu::v1::detail
