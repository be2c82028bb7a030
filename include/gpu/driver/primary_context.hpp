#pragma once
/// \file
/// The primary contexts that the library holds on to: one reference a device, for as long as the
/// process runs, as the CUDA runtime does.

#include <gpu/driver/calls.hpp>

#include <cuda.h>

namespace gpu::detail {

/// What is remembered of one device. A driver table that is replaced makes it stale.
struct primary_context_slot {
  std::uint64_t generation;  // of the driver table, plus one; 0 is an empty slot
  CUcontext context;
};

/// Doubled where several shared libraries have their own: each then holds its own reference.
struct primary_context_cache {
  static constexpr int capacity = 128;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  primary_context_slot slots[capacity] = {};
};

inline primary_context_cache& primary_contexts() noexcept {
  static primary_context_cache cache;
  return cache;
}

/// The primary context of `device`; retained on first use and then kept.
/// **Threads**: any number may ask at once; one of them retains.
inline result<CUcontext> primary_context(CUdevice device, source_location where) noexcept {
  CUcontext context = nullptr;
  const bool unavailable = driver::current_entry_points().device_primary_ctx_retain == nullptr;
  if (unavailable || device < 0 || device >= primary_context_cache::capacity) {
    // Without a driver this says why; in a forked child it also stays away from the lock, which
    // another thread of the parent may have held.
    GPU_TRY(
        driver::call<&driver::entry_points::device_primary_ctx_retain>(where, &context, device));
    return context;
  }
  primary_context_cache& cache = primary_contexts();
  pthread_mutex_lock(&cache.lock);
  const std::uint64_t generation = driver::entry_points_generation() + 1;
  primary_context_slot& slot = cache.slots[device];
  result<> retained;
  if (slot.generation != generation) {
    retained =
        driver::call<&driver::entry_points::device_primary_ctx_retain>(where, &context, device);
    if (retained.has_value()) slot = {generation, context};
  }
  context = slot.context;
  pthread_mutex_unlock(&cache.lock);
  GPU_TRY(std::move(retained));
  return context;
}

}  // namespace gpu::detail
