#pragma once
/// \file
/// Entry points: each device's primary context, which all code in the process shares.

#include <nogpu/driver/context_life.hpp>
#include <nogpu/driver/contexts.hpp>
#include <nogpu/driver/driver_state.hpp>

#include <cuda.h>

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult device_primary_ctx_retain(call& c, CUcontext* context, CUdevice ordinal) {
  device_state* device = nullptr;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  if (!device->primary->alive) {
    device->primary->place = c.driver.place();
    begin_context(c, device->primary);
  }
  ++device->primary_count;
  *context = device->primary->handle;
  return CUDA_SUCCESS;
}

inline CUresult device_primary_ctx_release(call& c, CUdevice ordinal) {
  device_state* device = nullptr;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  if (device->primary_count == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--device->primary_count == 0 && device->primary->alive) end_context(c, device->primary);
  return CUDA_SUCCESS;
}

/// Every retain still has to be matched by a release; the next retain revives the context.
inline CUresult device_primary_ctx_reset(call& c, CUdevice ordinal) {
  device_state* device = nullptr;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  if (device->primary->alive) end_context(c, device->primary);
  return CUDA_SUCCESS;
}

inline CUresult device_primary_ctx_get_state(call& c, CUdevice ordinal, unsigned* flags,
                                             int* active) {
  device_state* device = nullptr;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = device->primary->flags;
  *active = device->primary->alive ? 1 : 0;
  return CUDA_SUCCESS;
}

inline CUresult device_primary_ctx_set_flags(call& c, CUdevice ordinal, unsigned flags) {
  device_state* device = nullptr;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  if (!valid_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
  device->primary->flags = flags;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
