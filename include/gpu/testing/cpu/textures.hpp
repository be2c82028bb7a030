#pragma once
/// \file
/// Entry points: texture and surface objects.

#include <gpu/testing/cpu/driver_state.hpp>

#include <cuda.h>

#include <cstddef>

namespace gpu::testing::cpu::entry {

inline CUresult tex_object_create(call&, CUtexObject*, const CUDA_RESOURCE_DESC*,
                                  const CUDA_TEXTURE_DESC*, const CUDA_RESOURCE_VIEW_DESC*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult tex_object_destroy(call&, CUtexObject) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult tex_object_get_resource_desc(call&, CUDA_RESOURCE_DESC*, CUtexObject) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult tex_object_get_texture_desc(call&, CUDA_TEXTURE_DESC*, CUtexObject) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult tex_object_get_resource_view_desc(call&, CUDA_RESOURCE_VIEW_DESC*, CUtexObject) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult surf_object_create(call&, CUsurfObject*, const CUDA_RESOURCE_DESC*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult surf_object_destroy(call&, CUsurfObject) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult surf_object_get_resource_desc(call&, CUDA_RESOURCE_DESC*, CUsurfObject) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult device_get_texture_1d_linear_max_width(call&, std::size_t*, CUarray_format,
                                                       unsigned, CUdevice) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace gpu::testing::cpu::entry
