#pragma once
/// \file
/// Entry points: the default and current pools of devices and other locations.

#include <nogpu/driver/pools.hpp>

#include <cuda.h>

namespace nogpu { inline namespace v1 { namespace driver {

inline CUresult find_pools_of(call& c, CUdevice ordinal, place_pools*& pools) {
  device_state* device = nullptr;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  pools = &pools_of(c.driver, *device);
  return CUDA_SUCCESS;
}

inline CUresult find_pools_at(call& c, const CUmemLocation* location, CUmemAllocationType type,
                              place_pools*& pools) {
  if (location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT) return CUDA_ERROR_NOT_SUPPORTED;
  if (!can_be_pool(c, *location, type)) return CUDA_ERROR_INVALID_VALUE;
  pools = &pools_at(c.driver, *location, type);
  return CUDA_SUCCESS;
}

/// The pool must be at that location.
inline CUresult set_current_pool(call& c, place_pools& pools, CUmemoryPool handle) {
  pool_ptr pool;
  if (const CUresult bad = find_pool(c, handle, pool)) return bad;
  if (&pools_at(c.driver, pool->location, pool->type) != &pools) return CUDA_ERROR_INVALID_VALUE;
  pools.current = pool;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult device_get_default_mem_pool(call& c, CUmemoryPool* pool, CUdevice device) {
  place_pools* pools = nullptr;
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_pools_of(c, device, pools)) return bad;
  *pool = pools->standard->handle;
  return CUDA_SUCCESS;
}

inline CUresult device_get_mem_pool(call& c, CUmemoryPool* pool, CUdevice device) {
  place_pools* pools = nullptr;
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_pools_of(c, device, pools)) return bad;
  *pool = pools->current->handle;
  return CUDA_SUCCESS;
}

inline CUresult device_set_mem_pool(call& c, CUdevice device, CUmemoryPool pool) {
  place_pools* pools = nullptr;
  if (const CUresult bad = find_pools_of(c, device, pools)) return bad;
  return set_current_pool(c, *pools, pool);
}

inline CUresult mem_get_default_mem_pool(call& c, CUmemoryPool* pool, CUmemLocation* location,
                                         CUmemAllocationType type) {
  place_pools* pools = nullptr;
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_pools_at(c, location, type, pools)) return bad;
  *pool = pools->standard->handle;
  return CUDA_SUCCESS;
}

inline CUresult mem_get_mem_pool(call& c, CUmemoryPool* pool, CUmemLocation* location,
                                 CUmemAllocationType type) {
  place_pools* pools = nullptr;
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_pools_at(c, location, type, pools)) return bad;
  *pool = pools->current->handle;
  return CUDA_SUCCESS;
}

inline CUresult mem_set_mem_pool(call& c, CUmemLocation* location, CUmemAllocationType type,
                                 CUmemoryPool pool) {
  place_pools* pools = nullptr;
  if (const CUresult bad = find_pools_at(c, location, type, pools)) return bad;
  return set_current_pool(c, *pools, pool);
}

}}}  // namespace nogpu::v1::driver::entry
