#pragma once
/// \file
/// Entry points: multicast objects. The simulated devices have no switch that multicasts, which the
/// attribute says, so every call is refused.

#include <nogpu/driver/driver_state.hpp>

#include <cuda.h>

#include <cstddef>

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult multicast_create(call&, CUmemGenericAllocationHandle*,
                                 const CUmulticastObjectProp*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult multicast_add_device(call&, CUmemGenericAllocationHandle, CUdevice) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult multicast_bind_mem(call&, CUmemGenericAllocationHandle, std::size_t,
                                   CUmemGenericAllocationHandle, std::size_t, std::size_t,
                                   unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult multicast_bind_addr(call&, CUmemGenericAllocationHandle, std::size_t, CUdeviceptr,
                                    std::size_t, unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult multicast_unbind(call&, CUmemGenericAllocationHandle, CUdevice, std::size_t,
                                 std::size_t) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult multicast_get_granularity(call&, std::size_t*, const CUmulticastObjectProp*,
                                          CUmulticastGranularity_flags) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

}}}  // namespace nogpu::v1::driver::entry
