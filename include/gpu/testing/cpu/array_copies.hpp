#pragma once
/// \file
/// Entry points: copies of a run of bytes to and from arrays.

#include <gpu/testing/cpu/driver_state.hpp>

#include <cuda.h>

#include <cstddef>

namespace gpu::testing::cpu::entry {

inline CUresult memcpy_htoa(call&, CUarray, std::size_t, const void*, std::size_t) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult memcpy_htoa_async(call&, CUarray, std::size_t, const void*, std::size_t, CUstream) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult memcpy_atoh(call&, void*, CUarray, std::size_t, std::size_t) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult memcpy_atoh_async(call&, void*, CUarray, std::size_t, std::size_t, CUstream) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult memcpy_dtoa(call&, CUarray, std::size_t, CUdeviceptr, std::size_t) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult memcpy_atod(call&, CUdeviceptr, CUarray, std::size_t, std::size_t) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult memcpy_atoa(call&, CUarray, std::size_t, CUarray, std::size_t, std::size_t) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace gpu::testing::cpu::entry
