#pragma once
/// \file
/// Older and rarer functions for devices and contexts, over those that the driver has.

#include "driver.hpp"

#include <cuda.h>

#include <map>
#include <mutex>
#include <new>

namespace nogpu::libcuda::legacy {

/// Calls `work` while `context` is current; null stands for the one that is.
template <class Work> CUresult in_context(CUcontext context, Work work) noexcept {
  if (context == nullptr) return work();
  if (const CUresult bad = ask<&table::ctx_push_current>(context)) return bad;
  const CUresult answer = work();
  CUcontext popped = nullptr;
  (void)ask<&table::ctx_pop_current>(&popped);
  return answer;
}

// devices

inline CUresult device_compute_capability(int* major, int* minor, CUdevice device) noexcept {
  if (const CUresult bad = ask<&table::device_get_attribute>(
          major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    return bad;
  return ask<&table::device_get_attribute>(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                           device);
}

inline CUresult device_get_properties(CUdevprop* properties, CUdevice device) noexcept {
  if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const struct {
    int* value;
    CUdevice_attribute attribute;
  } all[] = {
      {&properties->maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
      {&properties->maxThreadsDim[0], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
      {&properties->maxThreadsDim[1], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
      {&properties->maxThreadsDim[2], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
      {&properties->maxGridSize[0], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
      {&properties->maxGridSize[1], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
      {&properties->maxGridSize[2], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
      {&properties->sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
      {&properties->totalConstantMemory, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
      {&properties->SIMDWidth, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
      {&properties->memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
      {&properties->regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
      {&properties->clockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
      {&properties->textureAlign, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
  };
  for (const auto& each : all) {
    if (const CUresult bad = ask<&table::device_get_attribute>(each.value, each.attribute, device))
      return bad;
  }
  return CUDA_SUCCESS;
}

/// Contexts with a part of the multiprocessors need MPS, which no such device has.
inline CUresult device_get_exec_affinity_support(int* supported, CUexecAffinityType,
                                                 CUdevice device) noexcept {
  if (supported == nullptr) return CUDA_ERROR_INVALID_VALUE;
  int major = 0;  // is there such a device?
  if (const CUresult bad = ask<&table::device_get_attribute>(
          &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    return bad;
  *supported = 0;
  return CUDA_SUCCESS;
}

// contexts

inline CUresult ctx_create_v2(CUcontext* context, unsigned flags, CUdevice device) noexcept {
  return ask<&table::ctx_create>(context, nullptr, flags, device);
}

inline CUresult ctx_create_v3(CUcontext* context, CUexecAffinityParam*, int count, unsigned flags,
                              CUdevice device) noexcept {
  if (count != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return ctx_create_v2(context, flags, device);
}

/// How often contexts were attached and not detached since.
struct attached_contexts {
  std::mutex guard;
  std::map<CUcontext, unsigned> uses;
};
inline attached_contexts& attached() {
  static auto& all = *new attached_contexts;  // also for calls while the process ends
  return all;
}

inline CUresult ctx_attach(CUcontext* context, unsigned flags) noexcept try {
  if (context == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  CUcontext current = nullptr;
  if (const CUresult bad = ask<&table::ctx_get_current>(&current)) return bad;
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const std::lock_guard lock(attached().guard);
  ++attached().uses[current];
  *context = current;
  return CUDA_SUCCESS;
} catch (const std::bad_alloc&) {
  return CUDA_ERROR_OUT_OF_MEMORY;
}

inline CUresult ctx_destroy(CUcontext context) noexcept {
  const CUresult answer = ask<&table::ctx_destroy>(context);
  if (answer == CUDA_SUCCESS) {
    const std::lock_guard lock(attached().guard);
    attached().uses.erase(context);
  }
  return answer;
}

inline CUresult ctx_detach(CUcontext context) noexcept {
  {
    const std::lock_guard lock(attached().guard);
    const auto found = attached().uses.find(context);
    if (found != attached().uses.end()) {
      if (--found->second == 0) attached().uses.erase(found);
      return CUDA_SUCCESS;
    }
  }
  return ctx_destroy(context);
}

inline CUresult ctx_get_device_v2(CUdevice* device, CUcontext context) noexcept {
  return in_context(context, [&] { return ask<&table::ctx_get_device>(device); });
}

inline CUresult ctx_synchronize_v2(CUcontext context) noexcept {
  return in_context(context, [] { return ask<&table::ctx_synchronize>(); });
}

// The banks of shared memory have had one size for long: setting it does nothing.

inline bool is_bank_size(CUsharedconfig config) noexcept {
  return config == CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE ||
         config == CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE ||
         config == CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
}

inline CUresult ctx_get_shared_mem_config(CUsharedconfig* config) noexcept {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUdevice device = 0;  // is a context current?
  if (const CUresult bad = ask<&table::ctx_get_device>(&device)) return bad;
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}

inline CUresult ctx_set_shared_mem_config(CUsharedconfig config) noexcept {
  CUdevice device = 0;
  if (const CUresult bad = ask<&table::ctx_get_device>(&device)) return bad;
  return is_bank_size(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline CUresult func_set_shared_mem_config(CUfunction function, CUsharedconfig config) noexcept {
  int threads = 0;  // is it a function?
  if (const CUresult bad = ask<&table::func_get_attribute>(
          &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function))
    return bad;
  return is_bank_size(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// others

/// The tables behind this function are not documented. NVRTC and the CUDA runtime ask for some.
inline CUresult get_export_table(const void** found, const CUuuid*) noexcept {
  if (found != nullptr) *found = nullptr;
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace nogpu::libcuda::legacy
