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
  mutex lock;
  primary_context_slot slots[capacity];
};

inline primary_context_cache& primary_contexts() noexcept {
  static primary_context_cache cache{};
  return cache;
}

/// Sets `context` to the primary context of `device`; retained on first use and then kept.
/// **Threads**: any number may ask at once; one of them retains.
template <class Context>
result<> find_primary_context(CUdevice device, Context& context, source_location where) noexcept {
  const bool unavailable = driver::current_entry_points().device_primary_ctx_retain == nullptr;
  if (unavailable || device < 0 || device >= primary_context_cache::capacity) {
    // Without a driver this says why; in a forked child it also stays away from the lock, which
    // another thread of the parent may have held.
    return driver::call<&driver::entry_points::device_primary_ctx_retain>(where, &context, device);
  }
  primary_context_cache& cache = primary_contexts();
  const scoped_lock lock(cache.lock);
  const std::uint64_t generation = driver::entry_points_generation() + 1;
  primary_context_slot& slot = cache.slots[device];
  const bool known = slot.generation == generation;
  result<> retained = known ? result<>{}
                            : driver::call<&driver::entry_points::device_primary_ctx_retain>(
                                  where, &context, device);
  if (!known && retained.has_value()) slot = {generation, context};
  if (retained.has_value()) context = slot.context;
  return retained;
}

/// Gives up the reference to a primary context that was reset, so that the next use retains it
/// anew.
template <class Result = result<>>
Result forget_primary_context(CUdevice device, source_location where) noexcept {
  if (device < 0 || device >= primary_context_cache::capacity) return {};
  bool known = false;
  {
    primary_context_cache& cache = primary_contexts();
    const scoped_lock lock(cache.lock);
    primary_context_slot& slot = cache.slots[device];
    known = slot.generation == driver::entry_points_generation() + 1;
    slot = {};
  }
  if (!known) return {};
  return driver::call<&driver::entry_points::device_primary_ctx_release>(where, device);
}

/// Sets `context` to a primary context that is retained already, or else to that of device 0.
template <class Context>
result<> find_any_primary_context(Context& context, source_location where) noexcept {
  CUdevice device = 0;
  if (driver::current_entry_points().device_primary_ctx_retain != nullptr) {
    primary_context_cache& cache = primary_contexts();
    const scoped_lock lock(cache.lock);
    const std::uint64_t generation = driver::entry_points_generation() + 1;
    for (CUdevice i = 0; i < primary_context_cache::capacity; ++i) {
      if (cache.slots[i].generation != generation) continue;
      device = i;
      break;
    }
  }
  return find_primary_context(device, context, where);
}

}  // namespace gpu::detail
