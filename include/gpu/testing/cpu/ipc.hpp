#pragma once
/// \file
/// Entry points: sharing with other processes, which memory of the CPU driver cannot be.

#include <gpu/testing/cpu/driver_state.hpp>

#include <cuda.h>

namespace gpu::testing::cpu::entry {

/// What every call about sharing says: no device here supports it.
inline CUresult refuse_sharing(call& c, bool complete) {
  context_ptr context;
  if (!complete) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  return CUDA_ERROR_NOT_SUPPORTED;
}

inline CUresult ipc_get_event_handle(call& c, CUipcEventHandle* handle, CUevent event) {
  return refuse_sharing(c, handle != nullptr && event != nullptr);
}
inline CUresult ipc_open_event_handle(call& c, CUevent* event, CUipcEventHandle) {
  return refuse_sharing(c, event != nullptr);
}
inline CUresult ipc_get_mem_handle(call& c, CUipcMemHandle* handle, CUdeviceptr address) {
  return refuse_sharing(c, handle != nullptr && address != 0);
}
inline CUresult ipc_open_mem_handle(call& c, CUdeviceptr* address, CUipcMemHandle, unsigned flags) {
  return refuse_sharing(c, address != nullptr && flags <= CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}
inline CUresult ipc_close_mem_handle(call& c, CUdeviceptr address) {
  return refuse_sharing(c, address != 0);
}

}  // namespace gpu::testing::cpu::entry
