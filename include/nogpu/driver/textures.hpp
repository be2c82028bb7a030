#pragma once
/// \file
/// Entry points: texture and surface objects.

#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/texture_images.hpp>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

/// A texture or surface object of the driver, which the call asks for in a current context.
template <class Handle>
CUresult find_image_object(call& c, const std::map<Handle, image_object>& objects, Handle handle,
                           const image_object*& object) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  const auto found = objects.find(handle);
  if (found == objects.end()) return CUDA_ERROR_INVALID_VALUE;
  object = &found->second;
  return CUDA_SUCCESS;
}

/// Returns the resource that a texture or surface object was created from.
template <class Handle>
CUresult give_resource(call& c, const std::map<Handle, image_object>& objects, Handle handle,
                       CUDA_RESOURCE_DESC* resource) {
  const image_object* object = nullptr;
  if (const CUresult bad = find_image_object(c, objects, handle, object)) return bad;
  if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *resource = object->resource;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult tex_object_create(call& c, CUtexObject* handle, const CUDA_RESOURCE_DESC* resource,
                                  const CUDA_TEXTURE_DESC* how,
                                  const CUDA_RESOURCE_VIEW_DESC* view) {
  image_object object;
  machine::texture made;
  if (const CUresult bad = c.current(object.context)) return bad;
  if (handle == nullptr || resource == nullptr || how == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = read_resource(c, *resource, made.source)) return bad;
  if (const CUresult bad = read_sampler(*how, made.source, made.how)) return bad;
  object.resource = *resource;
  // A device does not store the pitch of a resource with a single row.
  if (made.source.origin == machine::image_origin::pitched && resource->res.pitch2D.height == 1)
    object.resource.res.pitch2D.pitchInBytes = 0;
  object.how = *how;
  if (view != nullptr && made.source.origin == machine::image_origin::array) {
    if (const CUresult bad = apply_view(c, *view, *arrays_of(c, *resource).front(), made.source))
      return bad;
    object.view = *view;
  }
  object.place = made.site = c.driver.place();
  *handle = c.driver.images.add(std::move(made));
  c.driver.textures.emplace(*handle, std::move(object));
  return CUDA_SUCCESS;
}

/// Destroys a texture object. Succeeds for an invalid handle too.
inline CUresult tex_object_destroy(call& c, CUtexObject handle) {
  context_ptr context;
  if (const CUresult bad = c.current_in_any_state(context)) return bad;
  if (c.driver.textures.erase(handle) != 0) c.driver.images.remove_texture(handle);
  return CUDA_SUCCESS;
}

inline CUresult tex_object_get_resource_desc(call& c, CUDA_RESOURCE_DESC* resource,
                                             CUtexObject handle) {
  return give_resource(c, c.driver.textures, handle, resource);
}

/// Leaves out the color of the border, which drivers do not return.
inline CUresult tex_object_get_texture_desc(call& c, CUDA_TEXTURE_DESC* how, CUtexObject handle) {
  const image_object* object = nullptr;
  if (const CUresult bad = find_image_object(c, c.driver.textures, handle, object)) return bad;
  if (how == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(how, &object->how, offsetof(CUDA_TEXTURE_DESC, borderColor));
  return CUDA_SUCCESS;
}

/// Leaves the caller's description unchanged if the object has no view.
inline CUresult tex_object_get_resource_view_desc(call& c, CUDA_RESOURCE_VIEW_DESC* view,
                                                  CUtexObject handle) {
  const image_object* object = nullptr;
  if (const CUresult bad = find_image_object(c, c.driver.textures, handle, object)) return bad;
  if (view == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (object->view) *view = *object->view;
  return CUDA_SUCCESS;
}

inline CUresult surf_object_create(call& c, CUsurfObject* handle,
                                   const CUDA_RESOURCE_DESC* resource) {
  image_object object;
  machine::surface made;
  if (const CUresult bad = c.current(object.context)) return bad;
  if (handle == nullptr || resource == nullptr ||
      number_of(resource->resType) != CU_RESOURCE_TYPE_ARRAY)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = read_resource(c, *resource, made.source)) return bad;
  object.resource = *resource;
  object.place = made.site = c.driver.place();
  *handle = c.driver.images.add(std::move(made));
  c.driver.surfaces.emplace(*handle, std::move(object));
  return CUDA_SUCCESS;
}

/// Destroys a surface object. Succeeds for an invalid handle too.
inline CUresult surf_object_destroy(call& c, CUsurfObject handle) {
  context_ptr context;
  if (const CUresult bad = c.current_in_any_state(context)) return bad;
  if (c.driver.surfaces.erase(handle) != 0) c.driver.images.remove_surface(handle);
  return CUDA_SUCCESS;
}

inline CUresult surf_object_get_resource_desc(call& c, CUDA_RESOURCE_DESC* resource,
                                              CUsurfObject handle) {
  return give_resource(c, c.driver.surfaces, handle, resource);
}

inline CUresult device_get_texture_1d_linear_max_width(call& c, std::size_t* width,
                                                       CUarray_format format, unsigned channels,
                                                       CUdevice ordinal) {
  device_state* device = nullptr;
  if (width == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  const std::uint64_t greatest = greatest_linear_width(format, channels);
  if (greatest == 0) return CUDA_ERROR_INVALID_VALUE;
  *width = static_cast<std::size_t>(greatest);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
