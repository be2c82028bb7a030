#pragma once
/// \file
/// Entry points: arrays and mipmapped arrays.

#include <gpu/testing/cpu/array_checks.hpp>
#include <gpu/testing/cpu/driver_state.hpp>
#include <gpu/testing/cpu/memory.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace gpu::testing::cpu {

inline CUresult find_array(call& c, CUarray handle, array_ptr& array) {
  array = c.driver.arrays.find(handle);
  return array ? call::usable(*array->context) : c.driver.arrays.why_unknown(handle);
}

inline CUresult find_mipmapped(call& c, CUmipmappedArray handle, mipmapped_array_ptr& array) {
  array = c.driver.mipmapped_arrays.find(handle);
  return array ? call::usable(*array->context) : c.driver.mipmapped_arrays.why_unknown(handle);
}

/// An array whose form was checked, without memory and without a handle.
inline array_ptr make_array(call& c, const context_ptr& context,
                            const CUDA_ARRAY3D_DESCRIPTOR& form) {
  auto made = std::make_shared<array_state>();
  made->context = context;
  made->form = form;
  made->format = *find_format(form.Format, form.NumChannels);
  made->place = c.driver.place();
  return made;
}

/// Whether the program itself is to map memory to an array.
inline bool is_unmapped(const CUDA_ARRAY3D_DESCRIPTOR& form) noexcept {
  return (form.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) != 0;
}

/// What a copy of an array that has no memory comes to: a fault of its context.
inline CUresult refuse_unmapped(call& c, const array_state& array) {
  set_fault(*array.context, CUDA_ERROR_LAUNCH_FAILED);
  c.lock.unlock();
  c.driver.report("a copy of an array that no memory was mapped to, made by " + array.place);
  c.lock.lock();
  return c.tell_fault(*array.context);
}

/// The array of a copy, with memory.
inline CUresult find_copied(call& c, CUarray handle, array_ptr& array) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_array(c, handle, array)) return bad;
  return array->base == 0 ? refuse_unmapped(c, *array) : CUDA_SUCCESS;
}

/// Frees the memory of an array whose handle is gone, once all work that may use it is done.
inline CUresult free_array(call& c, const context_ptr& owner, std::uint64_t base) {
  c.finish(owner);
  if (base != 0) free_block(c.driver, base);
  return c.tell_fault(*owner);
}

inline constexpr std::uint64_t tile_bytes = 65536;

/// The memory that an array wants mapped to it, in whole tiles.
inline CUresult give_requirements(const CUDA_ARRAY3D_DESCRIPTOR& form, std::uint64_t bytes,
                                  CUDA_ARRAY_MEMORY_REQUIREMENTS& needs) {
  if ((form.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) == 0) return CUDA_ERROR_INVALID_VALUE;
  needs = {};
  needs.size = static_cast<std::size_t>((bytes + tile_bytes - 1) / tile_bytes * tile_bytes);
  needs.alignment = tile_bytes;
  return CUDA_SUCCESS;
}

/// The tiles of a sparse array, and which levels are too small for one of their own.
inline CUresult give_sparse_properties(std::span<const array_ptr> levels, bool mipmapped,
                                       CUDA_ARRAY_SPARSE_PROPERTIES& properties) {
  const CUDA_ARRAY3D_DESCRIPTOR& form = levels.front()->form;
  if ((form.Flags & CUDA_ARRAY3D_SPARSE) == 0) return CUDA_ERROR_INVALID_VALUE;
  const bool deep = form.Depth != 0 && !has_layers(form);
  // A tile is as near to a square or a cube as 64 KiB of texels allow: the first extents are the
  // larger ones.
  unsigned tile[3] = {1, 1, 1};
  const unsigned extents = deep ? 3 : 2;
  unsigned next = 0;
  for (std::uint64_t texels = tile_bytes / levels.front()->format.unit; texels > 1; texels /= 2)
    tile[next++ % extents] *= 2;
  const auto in_tail = [&](const array_ptr& level) {
    return level->form.Width < tile[0] || level->form.Height < tile[1] ||
           (deep && level->form.Depth < tile[2]);
  };
  unsigned first = 0;
  while (first < levels.size() && !in_tail(levels[first])) ++first;
  const bool tail = first < levels.size();
  properties = {};
  properties.tileExtent = {tile[0], tile[1], tile[2]};
  properties.miptailFirstLevel = mipmapped ? first : 0;
  properties.miptailSize = tail ? tile_bytes : 0;
  properties.flags = tail && !mipmapped ? CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL : 0u;
  return CUDA_SUCCESS;
}

}  // namespace gpu::testing::cpu

namespace gpu::testing::cpu::entry {

inline CUresult array_3d_create(call& c, CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* form) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  if (array == nullptr || form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = check_array(*form, false)) return bad;
  const array_ptr made = make_array(c, context, *form);
  if (!is_unmapped(*form))
    if (const CUresult bad =
            allocate(c, context, made->bytes(), memory_block::origin::array, made->base))
      return bad;
  *array = c.driver.arrays.add(made);
  return CUDA_SUCCESS;
}

inline CUresult array_create(call& c, CUarray* array, const CUDA_ARRAY_DESCRIPTOR* form) {
  if (form == nullptr) return array_3d_create(c, array, nullptr);
  const CUDA_ARRAY3D_DESCRIPTOR three{form->Width,  form->Height,      0,
                                      form->Format, form->NumChannels, 0};
  return array_3d_create(c, array, &three);
}

inline CUresult array_destroy(call& c, CUarray handle) {
  array_ptr array;
  if (const CUresult bad = find_array(c, handle, array)) return bad;
  if (array->borrowed) return CUDA_ERROR_INVALID_VALUE;
  c.driver.arrays.take(handle);
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

/// Planar formats are not among those of this driver, so no array has planes.
inline CUresult array_get_plane(call& c, CUarray*, CUarray handle, unsigned) {
  array_ptr array;
  if (const CUresult bad = find_array(c, handle, array)) return bad;
  return CUDA_ERROR_INVALID_VALUE;
}

inline CUresult array_get_memory_requirements(call& c, CUDA_ARRAY_MEMORY_REQUIREMENTS* needs,
                                              CUarray handle, CUdevice ordinal) {
  device_state* device = nullptr;
  const array_ptr array = c.driver.arrays.find(handle);
  if (needs == nullptr || !array || c.find_device(ordinal, device)) return CUDA_ERROR_INVALID_VALUE;
  return give_requirements(array->form, array->bytes(), *needs);
}

inline CUresult array_get_sparse_properties(call& c, CUDA_ARRAY_SPARSE_PROPERTIES* properties,
                                            CUarray handle) {
  const array_ptr array = c.driver.arrays.find(handle);
  if (properties == nullptr || !array) return CUDA_ERROR_INVALID_VALUE;
  return give_sparse_properties({&array, 1}, false, *properties);
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
  std::uint64_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    made->levels.push_back(make_array(c, context, level_form(*form, i)));
    made->levels.back()->borrowed = true;
    made->levels.back()->base = bytes;
    bytes += made->levels.back()->bytes();
  }
  const bool unmapped = is_unmapped(*form);
  if (!unmapped)
    if (const CUresult bad = allocate(c, context, bytes, memory_block::origin::array, made->base))
      return bad;
  for (const array_ptr& each : made->levels) {
    each->base = unmapped ? 0 : made->base + each->base;
    c.driver.arrays.add(each);
  }
  *array = c.driver.mipmapped_arrays.add(made);
  return CUDA_SUCCESS;
}

inline CUresult mipmapped_array_destroy(call& c, CUmipmappedArray handle) {
  mipmapped_array_ptr array;
  if (const CUresult bad = find_mipmapped(c, handle, array)) return bad;
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
  std::uint64_t bytes = 0;
  for (const array_ptr& each : array->levels) bytes += each->bytes();
  return give_requirements(array->levels.front()->form, bytes, *needs);
}

inline CUresult mipmapped_array_get_sparse_properties(call& c,
                                                      CUDA_ARRAY_SPARSE_PROPERTIES* properties,
                                                      CUmipmappedArray handle) {
  const mipmapped_array_ptr array = c.driver.mipmapped_arrays.find(handle);
  if (properties == nullptr || !array) return CUDA_ERROR_INVALID_VALUE;
  return give_sparse_properties(array->levels, true, *properties);
}

}  // namespace gpu::testing::cpu::entry
