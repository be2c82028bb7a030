#pragma once
/// \file
/// Entry points: buffers and images of OpenGL, of which `gl_stand_in` has those of this process.
/// What is mapped has an address as long as it is mapped, so that later accesses are found.

#include <nogpu/driver/arrays.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/external_memory.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

inline CUresult find_graphics(call& c, CUgraphicsResource handle, graphics_resource_ptr& resource) {
  resource = c.driver.graphics_resources.find(handle);
  return resource ? call::usable(*resource->context)
                  : c.driver.graphics_resources.why_unknown(handle);
}

/// The resource of a call about what is mapped.
inline CUresult find_mapped(call& c, CUgraphicsResource handle, graphics_resource_ptr& resource,
                            bool image) {
  if (const CUresult bad = find_graphics(c, handle, resource)) return bad;
  if (!resource->mapped) return CUDA_ERROR_NOT_MAPPED;
  if (resource->object->is_image == image) return CUDA_SUCCESS;
  return image ? CUDA_ERROR_NOT_MAPPED_AS_ARRAY : CUDA_ERROR_NOT_MAPPED_AS_POINTER;
}

/// The flags of arrays that a registration asks for.
inline unsigned array_flags_of(unsigned flags) noexcept {
  unsigned made = 0;
  if ((flags & CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST) != 0) made |= CUDA_ARRAY3D_SURFACE_LDST;
  if ((flags & CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER) != 0) made |= CUDA_ARRAY3D_TEXTURE_GATHER;
  return made;
}

/// Registers the object of a name, if the current context of OpenGL has one of the kind.
inline CUresult register_graphics(call& c, CUgraphicsResource* resource, unsigned name,
                                  unsigned flags, const unsigned* target) {
  context_ptr context;
  constexpr unsigned both =
      CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY | CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD;
  const unsigned known = target == nullptr ? both : 15;
  if (resource == nullptr || (flags & ~known) != 0 || (flags & both) == both)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  const gl_stand_in* const gl = gl_stand_in::current();
  if (gl == nullptr) return CUDA_ERROR_OPERATING_SYSTEM;
  auto made = std::make_shared<graphics_resource_state>();
  made->object = gl->find(name);
  if (!made->object || made->object->is_image != (target != nullptr) || made->object->bytes.empty())
    return CUDA_ERROR_INVALID_VALUE;
  if (target != nullptr && made->object->image.target != *target) return CUDA_ERROR_INVALID_VALUE;
  made->context = context;
  made->flags = flags;
  made->map_flags = flags & both;
  made->place = c.driver.place();
  *resource = c.driver.graphics_resources.add(made);
  return CUDA_SUCCESS;
}

/// Makes the arrays of a mapped image.
inline void make_mapped_arrays(call& c, graphics_resource_state& resource) {
  const gl_object& object = *resource.object;
  const unsigned flags = array_flags_of(resource.flags);
  auto whole = std::make_shared<mipmapped_array_state>();
  whole->context = resource.context;
  whole->place = resource.place;
  whole->base = resource.base;
  whole->borrowed = true;
  const auto make = [&](CUDA_ARRAY3D_DESCRIPTOR form, std::uint64_t offset) {
    form.Flags |= flags;
    array_ptr made = make_array(resource.context, form, resource.place);
    made->borrowed = true;
    made->base = resource.base + offset;
    c.driver.arrays.add(made);
    return made;
  };
  for (unsigned level = 0; level < object.image.levels; ++level) {
    for (unsigned layer = 0; layer < object.layers(); ++layer)
      resource.arrays.push_back(make(object.part_form(level), object.offset(level, layer)));
    whole->levels.push_back(make(level_form(object.form, level), object.offset(level, 0)));
  }
  c.driver.mipmapped_arrays.add(whole);
  resource.whole = std::move(whole);
}

/// Ends the mapping of a resource: its addresses and arrays are gone.
inline void end_mapping(driver_state& driver, graphics_resource_state& resource) {
  if (!std::exchange(resource.mapped, false)) return;
  for (const array_ptr& each : resource.arrays) driver.arrays.take(each->handle);
  if (resource.whole) {
    for (const array_ptr& each : resource.whole->levels) driver.arrays.take(each->handle);
    driver.mipmapped_arrays.take(resource.whole->handle);
  }
  resource.arrays.clear();
  resource.whole.reset();
  free_block(driver, resource.base);
}

/// Maps a resource. What it held is destroyed if its flags say that it may be.
inline CUresult begin_mapping(call& c, graphics_resource_state& resource) {
  std::vector<std::byte>& bytes = resource.object->bytes;
  if (resource.map_flags == CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD)
    std::fill(bytes.begin(), bytes.end(), std::byte{0xdd});
  const auto from =
      resource.object->is_image ? memory_block::origin::array : memory_block::origin::graphics;
  const bool writable = resource.map_flags != CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY;
  if (const CUresult bad =
          show_memory(c, resource.context, machine::storage::wrap(bytes.data(), bytes.size()), 0,
                      bytes.size(), from, writable, resource.base))
    return bad;
  resource.mapped = true;
  if (resource.object->is_image) make_mapped_arrays(c, resource);
  return CUDA_SUCCESS;
}

/// The resources and the stream of a call that maps or unmaps.
inline CUresult find_resources(call& c, unsigned count, const CUgraphicsResource* handles,
                               CUstream handle, bool mapped, stream_ptr& stream,
                               std::vector<graphics_resource_ptr>& all) {
  if (count == 0 || handles == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (const CUresult bad = c.refuse_capture(*stream)) return bad;
  for (unsigned i = 0; i < count; ++i) {
    graphics_resource_ptr found;
    if (const CUresult bad = find_graphics(c, handles[i], found)) return bad;
    if (found->mapped && !mapped) return CUDA_ERROR_ALREADY_MAPPED;
    if (!found->mapped && mapped) return CUDA_ERROR_NOT_MAPPED;
    if (std::find(all.begin(), all.end(), found) != all.end()) return CUDA_ERROR_INVALID_VALUE;
    all.push_back(std::move(found));
  }
  return gl_stand_in::current() == nullptr ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult gl_get_devices(call& c, unsigned* count, CUdevice* devices, unsigned capacity,
                               unsigned list) {
  if (count == nullptr || (devices == nullptr && capacity != 0) || list < 1 || list > 3)
    return CUDA_ERROR_INVALID_VALUE;
  if (gl_stand_in::current() == nullptr) return CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
  *count = 1;
  if (capacity != 0) devices[0] = c.driver.devices.front()->ordinal;
  return CUDA_SUCCESS;
}

inline CUresult graphics_gl_register_buffer(call& c, CUgraphicsResource* resource, unsigned buffer,
                                            unsigned flags) {
  return register_graphics(c, resource, buffer, flags, nullptr);
}

inline CUresult graphics_gl_register_image(call& c, CUgraphicsResource* resource, unsigned image,
                                           unsigned target, unsigned flags) {
  return register_graphics(c, resource, image, flags, &target);
}

inline CUresult graphics_unregister_resource(call& c, CUgraphicsResource handle) {
  const graphics_resource_ptr resource = c.driver.graphics_resources.find(handle);
  if (!resource) return c.driver.graphics_resources.why_unknown(handle);
  c.driver.graphics_resources.take(handle);
  if (!resource->mapped) return CUDA_SUCCESS;
  c.finish(resource->context);
  end_mapping(c.driver, *resource);
  return c.tell_fault(*resource->context);
}

inline CUresult graphics_resource_set_map_flags(call& c, CUgraphicsResource handle,
                                                unsigned flags) {
  graphics_resource_ptr resource;
  if (flags > CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_graphics(c, handle, resource)) return bad;
  if (resource->mapped) return CUDA_ERROR_ALREADY_MAPPED;
  resource->map_flags = flags;
  return CUDA_SUCCESS;
}

inline CUresult graphics_map_resources(call& c, unsigned count, CUgraphicsResource* handles,
                                       CUstream handle) {
  stream_ptr stream;
  std::vector<graphics_resource_ptr> all;
  if (const CUresult bad = find_resources(c, count, handles, handle, false, stream, all))
    return bad;
  rollback unmapped([&] {
    for (const graphics_resource_ptr& each : all) end_mapping(c.driver, *each);
  });
  for (const graphics_resource_ptr& each : all)
    if (const CUresult bad = begin_mapping(c, *each)) return bad;
  unmapped.keep();
  return CUDA_SUCCESS;
}

/// Waits for the work of the stream, so that OpenGL sees it.
inline CUresult graphics_unmap_resources(call& c, unsigned count, CUgraphicsResource* handles,
                                         CUstream handle) {
  stream_ptr stream;
  std::vector<graphics_resource_ptr> all;
  if (const CUresult bad = find_resources(c, count, handles, handle, true, stream, all)) return bad;
  c.finish(stream);
  for (const graphics_resource_ptr& each : all) end_mapping(c.driver, *each);
  return CUDA_SUCCESS;
}

inline CUresult graphics_resource_get_mapped_pointer(call& c, CUdeviceptr* address,
                                                     std::size_t* bytes,
                                                     CUgraphicsResource handle) {
  graphics_resource_ptr resource;
  if (address == nullptr || bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_mapped(c, handle, resource, false)) return bad;
  *address = resource->base;
  *bytes = resource->object->bytes.size();
  return CUDA_SUCCESS;
}

inline CUresult graphics_sub_resource_get_mapped_array(call& c, CUarray* array,
                                                       CUgraphicsResource handle, unsigned index,
                                                       unsigned level) {
  graphics_resource_ptr resource;
  if (array == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_mapped(c, handle, resource, true)) return bad;
  const gl_object& object = *resource->object;
  if (index >= object.layers() || level >= object.image.levels) return CUDA_ERROR_INVALID_VALUE;
  *array = resource->arrays[level * object.layers() + index]->handle;
  return CUDA_SUCCESS;
}

inline CUresult graphics_resource_get_mapped_mipmapped_array(call& c, CUmipmappedArray* array,
                                                             CUgraphicsResource handle) {
  graphics_resource_ptr resource;
  if (array == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_mapped(c, handle, resource, true)) return bad;
  *array = resource->whole->handle;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
