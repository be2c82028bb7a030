#pragma once
/// \file
/// The locations of memory.

#include <nogpu/driver/driver_state.hpp>

#include <cuda.h>

namespace nogpu { inline namespace v1 { namespace driver {

/// Returns whether a location is valid. The host has one NUMA node, number 0.
inline bool exists(call& c, const CUmemLocation& location) {
  device_state* device = nullptr;
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return c.find_device(location.id, device) == CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return true;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: return location.id == 0;
    default: return false;
  }
}

}}}  // namespace nogpu::v1::driver
