#pragma once
/// \file
/// Entry points: arrays and mipmapped arrays.

#include <nogpu/driver/array_checks.hpp>
#include <nogpu/driver/array_mappings.hpp>
#include <nogpu/driver/array_memory.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/memory.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace nogpu { inline namespace v1 { namespace driver {

inline CUresult find_array(call& c, CUarray handle, array_ptr& array) {
  array = c.driver.arrays.find(handle);
  return array ? call::usable(*array->context) : c.driver.arrays.why_unknown(handle);
}

inline CUresult find_mipmapped(call& c, CUmipmappedArray handle, mipmapped_array_ptr& array) {
  array = c.driver.mipmapped_arrays.find(handle);
  return array ? call::usable(*array->context) : c.driver.mipmapped_arrays.why_unknown(handle);
}

/// An array whose form was checked, without memory and without a handle.
inline array_ptr make_array(const context_ptr& context, const CUDA_ARRAY3D_DESCRIPTOR& form,
                            const std::string& place) {
  auto made = std::make_shared<array_state>();
  made->context = context;
  made->form = form;
  made->place = place;
  made->format = find_format(form.Format, form.NumChannels);
  return made;
}

/// Makes the planes that an array of a planar format consists of.
inline void make_planes(array_state& array) {
  const auto planar = find_planar_format(array.form.Format);
  if (!planar) return;
  for (unsigned i = 0; i < planar->planes; ++i) {
    CUDA_ARRAY3D_DESCRIPTOR form = array.form;
    form.Format = planar->channel;
    form.NumChannels = i == 0 ? 1 : planar->chroma_channels();
    if (i != 0) form.Width /= planar->columns;
    if (i != 0) form.Height /= planar->rows;
    array.planes.push_back(make_array(array.context, form, array.place));
    array.planes.back()->borrowed = true;
  }
}

/// Assigns consecutive arrays their addresses in the memory at `base`.
inline void lay_out(std::uint64_t base, std::span<const array_ptr> arrays) {
  for (const array_ptr& each : arrays) {
    each->base = base;
    base += each->bytes();
  }
}

inline std::uint64_t bytes_of(std::span<const array_ptr> arrays) {
  std::uint64_t bytes = 0;
  for (const array_ptr& each : arrays) bytes += each->bytes();
  return bytes;
}

/// Returns whether the program itself is to map memory to an array.
inline bool is_unmapped(const CUDA_ARRAY3D_DESCRIPTOR& form) noexcept {
  return (form.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) != 0;
}

/// Gives consecutive new arrays memory, or only addresses if the program is to map memory there.
inline CUresult give_memory(call& c, const context_ptr& context, std::span<const array_ptr> arrays,
                            std::uint64_t& base) {
  const std::uint64_t bytes = bytes_of(arrays);
  if (!is_unmapped(arrays.front()->form))
    return allocate(c, context, bytes, memory_block::origin::array, base);
  const auto reserved = c.driver.memory.reserve(bytes, 512);
  if (!reserved) return CUDA_ERROR_OUT_OF_MEMORY;
  base = *reserved;
  const auto mapped = std::make_shared<array_mappings>(c.driver);
  for (const array_ptr& each : arrays) each->mapped = mapped;
  return CUDA_SUCCESS;
}

/// Fails a copy of an array without memory, with a fault of its context.
inline CUresult refuse_unmapped(call& c, const array_state& array) {
  set_fault(*array.context, CUDA_ERROR_LAUNCH_FAILED);
  c.lock.unlock();
  c.driver.report("a copy uses an array to which no memory is mapped" +
                  (array.place.empty() ? array.place : ", made by " + array.place));
  c.lock.lock();
  return c.tell_fault(*array.context);
}

/// The array of a copy, with memory and texels.
inline CUresult find_copied(call& c, CUarray handle, array_ptr& array) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_array(c, handle, array)) return bad;
  if (!array->planes.empty()) return CUDA_ERROR_INVALID_VALUE;
  return array->mapped && array->mapped->empty() ? refuse_unmapped(c, *array) : CUDA_SUCCESS;
}

/// Frees the memory of an array whose handle is gone, once all work that may use it is done.
inline CUresult free_array(call& c, const context_ptr& owner, std::uint64_t base) {
  c.finish(owner);
  free_block(c.driver, base);
  return c.tell_fault(*owner);
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult array_3d_create(call& c, CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* form) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  if (array == nullptr || form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = check_array(*form, false)) return bad;
  const array_ptr made = make_array(context, *form, c.driver.place());
  make_planes(*made);
  if (const CUresult bad = give_memory(c, context, {&made, 1}, made->base)) return bad;
  lay_out(made->base, made->planes);
  for (const array_ptr& each : made->planes) {
    each->mapped = made->mapped;
    c.driver.arrays.add(each);
  }
  *array = c.driver.arrays.add(made);
  return CUDA_SUCCESS;
}

inline CUresult array_create(call& c, CUarray* array, const CUDA_ARRAY_DESCRIPTOR* form) {
  if (form == nullptr) return array_3d_create(c, array, nullptr);
  const CUDA_ARRAY3D_DESCRIPTOR three{form->Width,  form->Height,      0,
                                      form->Format, form->NumChannels, 0};
  return array_3d_create(c, array, &three);
}

/// Leaves levels and planes to their owners. Also frees what a context with a fault holds.
inline CUresult array_destroy(call& c, CUarray handle) {
  const array_ptr array = c.driver.arrays.find(handle);
  if (!array) return c.driver.arrays.why_unknown(handle);
  if (array->borrowed) return CUDA_SUCCESS;
  c.driver.arrays.take(handle);
  for (const array_ptr& each : array->planes) c.driver.arrays.take(each->handle);
  return free_array(c, array->context, array->base);
}

inline CUresult array_3d_get_descriptor(call& c, CUDA_ARRAY3D_DESCRIPTOR* form, CUarray handle) {
  array_ptr array;
  if (const CUresult bad = find_array(c, handle, array)) return bad;
  if (form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *form = array->form;
  return CUDA_SUCCESS;
}

inline CUresult array_get_descriptor(call& c, CUDA_ARRAY_DESCRIPTOR* form, CUarray handle) {
  array_ptr array;
  if (const CUresult bad = find_array(c, handle, array)) return bad;
  if (form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *form = {array->form.Width, array->form.Height, array->form.Format, array->form.NumChannels};
  return CUDA_SUCCESS;
}

inline CUresult array_get_plane(call& c, CUarray* plane, CUarray handle, unsigned index) {
  array_ptr array;
  if (const CUresult bad = find_array(c, handle, array)) return bad;
  if (plane == nullptr || index >= array->planes.size()) return CUDA_ERROR_INVALID_VALUE;
  *plane = array->planes[index]->handle;
  return CUDA_SUCCESS;
}

inline CUresult array_get_memory_requirements(call& c, CUDA_ARRAY_MEMORY_REQUIREMENTS* needs,
                                              CUarray handle, CUdevice) {
  const array_ptr array = c.driver.arrays.find(handle);
  if (needs == nullptr || !array || array->borrowed) return CUDA_ERROR_INVALID_VALUE;
  return give_requirements({&array, 1}, *needs);
}

inline CUresult array_get_sparse_properties(call& c, CUDA_ARRAY_SPARSE_PROPERTIES* properties,
                                            CUarray handle) {
  const array_ptr array = c.driver.arrays.find(handle);
  if (properties == nullptr || !array) return CUDA_ERROR_INVALID_VALUE;
  const CUresult bad = give_sparse_properties({&array, 1}, *properties);
  if (!bad) properties->miptailFirstLevel = 0;  // it has no level that could be the first
  return bad;
}

inline CUresult mipmapped_array_create(call& c, CUmipmappedArray* array,
                                       const CUDA_ARRAY3D_DESCRIPTOR* form, unsigned levels) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  if (array == nullptr || form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = check_array(*form, true)) return bad;
  const unsigned count = std::clamp(levels, 1u, most_levels(*form));
  auto made = std::make_shared<mipmapped_array_state>();
  made->context = context;
  made->place = c.driver.place();
  for (unsigned i = 0; i < count; ++i) {
    made->levels.push_back(make_array(context, level_form(*form, i), made->place));
    made->levels.back()->borrowed = true;
  }
  if (const CUresult bad = give_memory(c, context, made->levels, made->base)) return bad;
  lay_out(made->base, made->levels);
  for (const array_ptr& each : made->levels) c.driver.arrays.add(each);
  *array = c.driver.mipmapped_arrays.add(made);
  return CUDA_SUCCESS;
}

inline CUresult mipmapped_array_destroy(call& c, CUmipmappedArray handle) {
  const mipmapped_array_ptr array = c.driver.mipmapped_arrays.find(handle);
  if (!array) return c.driver.mipmapped_arrays.why_unknown(handle);
  if (array->borrowed) return CUDA_SUCCESS;
  c.driver.mipmapped_arrays.take(handle);
  for (const array_ptr& each : array->levels) c.driver.arrays.take(each->handle);
  return free_array(c, array->context, array->base);
}

inline CUresult mipmapped_array_get_level(call& c, CUarray* level, CUmipmappedArray handle,
                                          unsigned index) {
  mipmapped_array_ptr array;
  if (const CUresult bad = find_mipmapped(c, handle, array)) return bad;
  if (level == nullptr || index >= array->levels.size()) return CUDA_ERROR_INVALID_VALUE;
  *level = array->levels[index]->handle;
  return CUDA_SUCCESS;
}

inline CUresult mipmapped_array_get_memory_requirements(call& c,
                                                        CUDA_ARRAY_MEMORY_REQUIREMENTS* needs,
                                                        CUmipmappedArray handle, CUdevice ordinal) {
  device_state* device = nullptr;
  const mipmapped_array_ptr array = c.driver.mipmapped_arrays.find(handle);
  if (needs == nullptr || !array || c.find_device(ordinal, device)) return CUDA_ERROR_INVALID_VALUE;
  return give_requirements(array->levels, *needs);
}

inline CUresult mipmapped_array_get_sparse_properties(call& c,
                                                      CUDA_ARRAY_SPARSE_PROPERTIES* properties,
                                                      CUmipmappedArray handle) {
  const mipmapped_array_ptr array = c.driver.mipmapped_arrays.find(handle);
  if (properties == nullptr || !array) return CUDA_ERROR_INVALID_VALUE;
  return give_sparse_properties(array->levels, *properties);
}

}}}  // namespace nogpu::v1::driver::entry
