#pragma once
/// \file
/// The memory that the library keeps when buffers and arrays free it: `trim` gives it back,
/// `limit_kept_memory` limits it, `library_pool_of` is the pool that it is in.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/library_pools.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/memory/detail/library_pool.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/memory_pool.hpp>
#include <gpu/memory/memory_pool_attribute.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 {

/// Returns the pool that the library keeps for a device, created if necessary. Buffers and arrays
/// that are created on a stream of the device take their memory from it, unless the program has
/// made a pool of its own current with `set_current_pool`. The pool lives until the process ends:
/// set its access or its attributes, but do not destroy it. It is empty if the device has no pools.
///
///     const auto pool = GPU_TRY(gpu::library_pool_of(device));
///     const auto held = GPU_TRY(
///         gpu::attribute<gpu::memory_pool_attribute::reserved_mem_current>(pool));
///
/// **Errors**: `errc::index_out_of_range` for a device that does not exist; those of
/// `memory_pool::create`. **Capture**: not affected. **Threads**: any; all libraries of the process
/// share the pool. (cuMemPoolCreate on first use)
inline result<memory_pool_ref> library_pool_of(
    device on, source_location where = source_location::current()) noexcept {
  if (!detail::library_pools::has(on.native())) return memory_pool_ref::default_of(on, where);
  CUmemoryPool pool = nullptr, standard = nullptr;
  GPU_TRY(detail::explain_location(detail::find_library_pool(on.native(), pool, standard, where),
                                   on, where));
  if (pool == nullptr) return memory_pool_ref();
  return memory_pool_ref::from_native(pool, on);
}

/// Gives all memory that the library keeps on a device, but no buffer or array uses, back to the
/// driver, so that other processes can have it. Waits for the work of the device's primary context
/// first, because memory becomes free when the work before its release is done.
/// **Errors**: `errc::index_out_of_range` for a device that does not exist; those of earlier work
/// of the context. **Capture**: not allowed, because it waits. **Threads**: any. Memory that other
/// threads use stays, and they may allocate meanwhile: their next allocations take memory from the
/// driver again. (cuCtxSynchronize, cuMemPoolTrimTo)
inline result<> trim(device of, source_location where = source_location::current()) noexcept {
  const context_ref primary = GPU_TRY(context::primary(of, where));
  CUmemoryPool pool = nullptr, standard = nullptr;
  GPU_TRY(detail::find_known_library_pool(of.native(), pool, standard, where));
  if (pool == nullptr) return {};
  GPU_TRY(primary.synchronize(where));
  return detail::trim_pool(pool, where);
}

/// Limits the memory that the library keeps on a device to `bytes`, those in use included. When
/// more is held, what is not in use goes back to the driver as soon as the program synchronizes.
/// With 0 nothing is kept, so that each allocation after a synchronization maps memory anew.
/// Without a limit, which is the default, all memory is kept until the device has too little, or
/// until `trim`.
///
///     GPU_TRY(gpu::limit_kept_memory(device, std::size_t{8} << 30));  // 8 GiB
///
/// **Errors**: `errc::index_out_of_range` for a device that does not exist. **Capture**: not
/// affected. **Threads**: any; the last call counts, for the whole process. Does nothing for a
/// device without pools. (cuMemPoolSetAttribute)
inline result<> limit_kept_memory(device of, std::uint64_t bytes,
                                  source_location where = source_location::current()) noexcept {
  const memory_pool_ref pool = GPU_TRY(library_pool_of(of, where));
  if (!pool) return {};
  const auto allowed = GPU_TRY(capture_mode_scope::enter(capture_mode::relaxed, where));
  return set_attribute<memory_pool_attribute::release_threshold>(pool, bytes, where);
}

}}  // namespace gpu::v1
