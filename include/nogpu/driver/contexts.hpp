#pragma once
/// \file
/// Entry points: contexts, each thread's stack of them, and their settings.

#include <nogpu/driver/context_life.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/enumeration.hpp>

#include <cuda.h>

#include <cstddef>

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline constexpr unsigned context_flags_mask = CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST |
                                               CU_CTX_LMEM_RESIZE_TO_MAX | CU_CTX_COREDUMP_ENABLE |
                                               0x40u | CU_CTX_SYNC_MEMOPS;

/// At most one way to wait may be named.
constexpr bool valid_context_flags(unsigned flags) noexcept {
  const unsigned way = flags & CU_CTX_SCHED_MASK;
  return (flags & ~context_flags_mask) == 0 && (way & (way - 1)) == 0;
}

inline CUresult ctx_create(call& c, CUcontext* context, CUctxCreateParams* parameters,
                           unsigned flags, CUdevice ordinal) {
  device_state* device = nullptr;
  if (context == nullptr || !valid_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  if (parameters != nullptr &&
      (parameters->numExecAffinityParams != 0 || parameters->cigParams != nullptr))
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  auto made = std::make_shared<context_state>();
  made->device = device;
  made->flags = flags;
  made->place = c.driver.place();
  begin_context(c, made);
  auto& stack = stack_of_thread(c.driver).contexts;
  stack.push_back(nullptr);
  rollback popped([&stack] { stack.pop_back(); });
  *context = stack.back() = c.driver.contexts.add(made);
  popped.keep();
  return CUDA_SUCCESS;
}

inline CUresult ctx_destroy(call& c, CUcontext handle) {
  context_ptr context;
  if (const CUresult bad = c.find_context(handle, context)) return bad;
  if (context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  auto& stack = stack_of_thread(c.driver).contexts;
  if (!stack.empty() && stack.back() == handle) stack.pop_back();
  end_context(c, context);
  (void)c.driver.contexts.take(handle);
  return CUDA_SUCCESS;
}

inline CUresult ctx_get_current(call& c, CUcontext* context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto& stack = stack_of_thread(c.driver).contexts;
  *context = stack.empty() ? nullptr : stack.back();
  return CUDA_SUCCESS;
}

inline CUresult ctx_set_current(call& c, CUcontext handle) {
  auto& stack = stack_of_thread(c.driver).contexts;
  if (handle == nullptr) {
    if (!stack.empty()) stack.pop_back();
    return CUDA_SUCCESS;
  }
  context_ptr context;
  if (const CUresult bad = c.find_context(handle, context)) return bad;
  if (stack.empty()) {
    stack.push_back(handle);
  } else {
    stack.back() = handle;
  }
  return CUDA_SUCCESS;
}

inline CUresult ctx_push_current(call& c, CUcontext handle) {
  context_ptr context;
  if (const CUresult bad = c.find_context(handle, context)) return bad;
  stack_of_thread(c.driver).contexts.push_back(handle);
  return CUDA_SUCCESS;
}

inline CUresult ctx_pop_current(call& c, CUcontext* context) {
  auto& stack = stack_of_thread(c.driver).contexts;
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}

inline CUresult ctx_get_device(call& c, CUdevice* device) {
  context_ptr context;
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current_in_any_state(context)) return bad;
  *device = context->device->ordinal;
  return CUDA_SUCCESS;
}

inline CUresult ctx_get_id(call& c, CUcontext handle, unsigned long long* id) {
  context_ptr context;
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult bad =
      handle == nullptr ? c.current_in_any_state(context) : c.find_context(handle, context);
  if (bad) return bad;
  *id = context->owner;
  return CUDA_SUCCESS;
}

inline CUresult ctx_get_flags(call& c, unsigned* flags) {
  context_ptr context;
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current_in_any_state(context)) return bad;
  *flags = context->flags;
  return CUDA_SUCCESS;
}

inline CUresult ctx_set_flags(call& c, unsigned flags) {
  context_ptr context;
  if (!valid_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  context->flags = flags;
  return CUDA_SUCCESS;
}

inline CUresult ctx_get_api_version(call& c, CUcontext handle, unsigned* version) {
  context_ptr context;
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult bad =
      handle == nullptr ? c.current_in_any_state(context) : c.find_context(handle, context);
  if (bad) return bad;
  *version = 3020;  // as every driver since CUDA 3.2
  return CUDA_SUCCESS;
}

inline CUresult ctx_get_limit(call& c, std::size_t* value, CUlimit limit) {
  context_ptr context;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  if (static_cast<unsigned>(limit) >= static_cast<unsigned>(CU_LIMIT_SHMEM_SIZE) ||
      limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = context->limits[static_cast<std::size_t>(limit)];
  return CUDA_SUCCESS;
}

inline CUresult ctx_set_limit(call& c, CUlimit limit, std::size_t value) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      if (value > 512 * 1024) return CUDA_ERROR_INVALID_VALUE;
      value = (value + 15) / 16 * 16;
      break;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      if (context->heap_used) return CUDA_ERROR_INVALID_VALUE;
      if (value > context->device->memory) return CUDA_ERROR_OUT_OF_MEMORY;
      if (!context->heap->resize(value)) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
      if (value > 128) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
      if (context->printf_used) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: break;
    default: return CUDA_ERROR_UNSUPPORTED_LIMIT;
  }
  context->limits[static_cast<std::size_t>(limit)] = value;
  return CUDA_SUCCESS;
}

inline CUresult ctx_get_cache_config(call& c, CUfunc_cache* config) {
  context_ptr context;
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  *config = context->cache_config;
  return CUDA_SUCCESS;
}

inline CUresult ctx_set_cache_config(call& c, CUfunc_cache config) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  if (number_of(config) > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  context->cache_config = config;
  return CUDA_SUCCESS;
}

inline CUresult ctx_get_stream_priority_range(call& c, int* least, int* greatest) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = greatest_priority;
  return CUDA_SUCCESS;
}

inline CUresult ctx_synchronize(call& c) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  if (const CUresult bad = c.refuse_capture(*context)) return bad;
  c.finish(context);
  settle_pools(c.driver, *context->device);
  return c.tell_fault(*context);
}

inline CUresult ctx_enable_peer_access(call& c, CUcontext handle, unsigned flags) {
  context_ptr context;
  context_ptr peer;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  if (const CUresult bad = c.find_context(handle, peer)) return bad;
  if (peer == context) return CUDA_ERROR_INVALID_CONTEXT;
  if (peer->device == context->device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  if (!context->peers.insert(peer.get()).second) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  c.driver.memory.allow(context->owner, peer->owner);
  return CUDA_SUCCESS;
}

inline CUresult ctx_disable_peer_access(call& c, CUcontext handle) {
  context_ptr context;
  context_ptr peer;
  if (const CUresult bad = c.current(context)) return bad;
  if (const CUresult bad = c.find_context(handle, peer)) return bad;
  if (context->peers.erase(peer.get()) == 0) return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  c.driver.memory.allow(context->owner, peer->owner, false);
  return CUDA_SUCCESS;
}

/// The CPU driver has no L2 cache, so no lines persist in it.
inline CUresult ctx_reset_persisting_l2_cache(call& c) {
  context_ptr context;
  return c.current(context);
}

/// No other device writes to this one's memory by the bus: see the attribute of the flush options.
inline CUresult flush_gpu_direct_rdma_writes(call& c, CUflushGPUDirectRDMAWritesTarget target,
                                             CUflushGPUDirectRDMAWritesScope scope) {
  context_ptr context;
  const bool known = target == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX &&
                     (scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER ||
                      scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES);
  if (!known) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  return CUDA_ERROR_NOT_SUPPORTED;
}

/// These do nothing, as on a device without an attached profiler.
inline CUresult profiler_start(call& c) {
  context_ptr context;
  return c.current(context);
}
inline CUresult profiler_stop(call& c) { return profiler_start(c); }

}}}  // namespace nogpu::v1::driver::entry
