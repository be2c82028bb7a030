#pragma once
/// \file
/// The memory pools that the library keeps: one for each device, shared by all libraries of the
/// process.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/system/mutex.hpp>
#include <gpu/system/process_wide.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The pool of one device. All zero before the first use.
struct library_pool {
  std::uint64_t generation;  // of the driver table, plus one: stale once the table is replaced
  CUmemoryPool standard;     // the driver's default pool of the device
  CUmemoryPool pool;         // null if the device has no pools
};

struct library_pools {
  static constexpr const char* name = "library-pools";
  static constexpr CUdevice capacity = 128;

  mutex changing;  // readers take no lock: `generation` is written last
  library_pool of_device[capacity];

  static library_pools& of_process() noexcept { return process_wide<library_pools>::get(); }
  /// Another thread of the parent may have held the lock. The child has no driver.
  void after_fork() noexcept { changing.reset(); }

  /// Returns whether there is an entry for a device, as for all devices that machines have.
  static constexpr bool has(CUdevice device) noexcept { return device >= 0 && device < capacity; }

  /// Returns the entry of a device if it is valid for the driver table in force, else null.
  const library_pool* find(CUdevice device) const noexcept {
    if (!has(device)) return nullptr;
    const library_pool& entry = of_device[device];
    const std::uint64_t generation = atomic_load<memory_order::acquire>(entry.generation);
    return generation == driver::entry_points_generation() + 1 ? &entry : nullptr;
  }
  /// Returns the pool of a device, or null if it has none that is valid for the table in force.
  CUmemoryPool pool_of(CUdevice device) const noexcept {
    const library_pool* const entry = find(device);
    return entry != nullptr ? atomic_load<memory_order::relaxed>(entry->pool) : nullptr;
  }
  /// Returns whether a pool was made for a device, be it for a table that is not in force any more.
  bool was_made(CUdevice device) const noexcept {
    return has(device) && atomic_load<memory_order::relaxed>(of_device[device].pool) != nullptr;
  }
  /// Returns whether `pool` is one of the library's.
  bool contain(CUmemoryPool pool) const noexcept {
    for (const library_pool& each : of_device)
      if (atomic_load<memory_order::relaxed>(each.pool) == pool) return true;
    return false;
  }

  /// Makes the entry of a device valid if its pool was made for the driver with this default pool,
  /// under another table. Returns whether it is valid. Call it under `changing`.
  bool make_valid(CUdevice device, CUmemoryPool standard) noexcept {
    const library_pool& entry = of_device[device];
    if (find(device) != nullptr) return true;
    if (entry.pool == nullptr || entry.standard != standard) return false;
    set(device, standard, entry.pool);
    return true;
  }
  /// Call it under `changing`.
  void set(CUdevice device, CUmemoryPool standard, CUmemoryPool pool) noexcept {
    library_pool& entry = of_device[device];
    atomic_store<memory_order::relaxed>(entry.standard, standard);
    atomic_store<memory_order::relaxed>(entry.pool, pool);
    atomic_store<memory_order::release>(entry.generation, driver::entry_points_generation() + 1);
  }
  /// Removes the entry of a device, and returns the pool that was in it if it is valid.
  CUmemoryPool remove(CUdevice device) noexcept {
    const scoped_lock held(changing);
    const CUmemoryPool pool = pool_of(device);
    if (pool != nullptr) {
      atomic_store<memory_order::relaxed>(of_device[device].generation, std::uint64_t{0});
      atomic_store<memory_order::relaxed>(of_device[device].standard, CUmemoryPool{});
      atomic_store<memory_order::relaxed>(of_device[device].pool, CUmemoryPool{});
    }
    return pool;
  }
};

}}}  // namespace gpu::v1::detail
