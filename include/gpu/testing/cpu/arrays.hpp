#pragma once
/// \file
/// Entry points: arrays and mipmapped arrays.

#include <gpu/testing/cpu/driver_state.hpp>

#include <cuda.h>

#include <cstddef>

namespace gpu::testing::cpu::entry {

inline CUresult array_create(call&, CUarray*, const CUDA_ARRAY_DESCRIPTOR*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult array_3d_create(call&, CUarray*, const CUDA_ARRAY3D_DESCRIPTOR*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult array_destroy(call&, CUarray) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult array_get_descriptor(call&, CUDA_ARRAY_DESCRIPTOR*, CUarray) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult array_3d_get_descriptor(call&, CUDA_ARRAY3D_DESCRIPTOR*, CUarray) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult array_get_plane(call&, CUarray*, CUarray, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult array_get_memory_requirements(call&, CUDA_ARRAY_MEMORY_REQUIREMENTS*, CUarray,
                                              CUdevice) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult array_get_sparse_properties(call&, CUDA_ARRAY_SPARSE_PROPERTIES*, CUarray) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult mipmapped_array_create(call&, CUmipmappedArray*, const CUDA_ARRAY3D_DESCRIPTOR*,
                                       unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult mipmapped_array_destroy(call&, CUmipmappedArray) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult mipmapped_array_get_level(call&, CUarray*, CUmipmappedArray, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult mipmapped_array_get_memory_requirements(call&, CUDA_ARRAY_MEMORY_REQUIREMENTS*,
                                                        CUmipmappedArray, CUdevice) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult mipmapped_array_get_sparse_properties(call&, CUDA_ARRAY_SPARSE_PROPERTIES*,
                                                      CUmipmappedArray) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace gpu::testing::cpu::entry
