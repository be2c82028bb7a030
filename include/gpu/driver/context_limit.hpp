#pragma once
/// \file
/// `context_limit`: what a context sets aside for its kernels.

#include <gpu/driver/detail/cuda_header.hpp>

namespace gpu { inline namespace v1 {

/// A limit of a context; sizes are in bytes.
enum class context_limit : int {
  stack_size = CU_LIMIT_STACK_SIZE,              ///< of a thread
  printf_fifo_size = CU_LIMIT_PRINTF_FIFO_SIZE,  ///< output of kernels that was not printed yet
  malloc_heap_size = CU_LIMIT_MALLOC_HEAP_SIZE,  ///< for `malloc` in kernels
  dev_runtime_sync_depth = CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,  ///< nested grids that can wait
  dev_runtime_pending_launch_count = CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT,
  max_l2_fetch_granularity = CU_LIMIT_MAX_L2_FETCH_GRANULARITY,  ///< 0 to 128, a hint
  persisting_l2_cache_size = CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
  shmem_size = CU_LIMIT_SHMEM_SIZE,    ///< shared memory of kernels beside graphics
  cig_enabled = CU_LIMIT_CIG_ENABLED,  ///< whether the context works inside a graphics queue
  cig_shmem_fallback_enabled = CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED,
};

/// Returns the limit's name, such as "stack_size"; null for any other value.
constexpr const char* name_of(context_limit limit) noexcept {
  switch (limit) {
    case context_limit::stack_size: return "stack_size";
    case context_limit::printf_fifo_size: return "printf_fifo_size";
    case context_limit::malloc_heap_size: return "malloc_heap_size";
    case context_limit::dev_runtime_sync_depth: return "dev_runtime_sync_depth";
    case context_limit::dev_runtime_pending_launch_count: return "dev_runtime_pending_launch_count";
    case context_limit::max_l2_fetch_granularity: return "max_l2_fetch_granularity";
    case context_limit::persisting_l2_cache_size: return "persisting_l2_cache_size";
    case context_limit::shmem_size: return "shmem_size";
    case context_limit::cig_enabled: return "cig_enabled";
    case context_limit::cig_shmem_fallback_enabled: return "cig_shmem_fallback_enabled";
  }
  return nullptr;
}

}}  // namespace gpu::v1
