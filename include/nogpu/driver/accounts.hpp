#pragma once
/// \file
/// Computes the free memory of each device: without allocations and memory that pools hold.

#include <nogpu/driver/driver_state.hpp>

#include <algorithm>
#include <cstdint>

namespace nogpu { inline namespace v1 { namespace driver {

/// Allocations are accounted in units of this many bytes, and begin at a multiple of it.
inline constexpr std::uint64_t allocation_unit = 512;

/// The bytes that an allocation of `size` costs, or 0 when that is more than any device has.
constexpr std::uint64_t charge_for(std::uint64_t size) noexcept {
  if (size > ~std::uint64_t{0} - allocation_unit) return 0;
  return (size + allocation_unit - 1) / allocation_unit * allocation_unit;
}

/// Returns the device of a pool's memory; null for a pool of host memory, which is not accounted.
inline device_state* device_of(driver_state& driver, const pool_state& pool) {
  return pool.device < 0 ? nullptr : driver.devices[static_cast<std::size_t>(pool.device)].get();
}

/// Gives memory that a pool holds but does not use back to its device, down to `keep` bytes.
inline void trim_pool(driver_state& driver, pool_state& pool, std::uint64_t keep) {
  const std::uint64_t target = std::max(pool.used, std::min(pool.reserved, keep));
  if (device_state* device = device_of(driver, pool)) device->used -= pool.reserved - target;
  pool.reserved = target;
}

inline void trim_all_pools(driver_state& driver, device_state& device) {
  for (const pool_ptr& pool : driver.pools.all())
    if (pool->device == device.ordinal) trim_pool(driver, *pool, 0);
}

/// Gives memory above the release thresholds of pools back to the device, as a synchronization
/// does.
inline void settle_pools(driver_state& driver, device_state& device) {
  for (const pool_ptr& pool : driver.pools.all())
    if (pool->device == device.ordinal || pool->device < 0)
      trim_pool(driver, *pool, pool->release_threshold);
}

/// Takes memory of a device; false when it has too little, also after pools gave back theirs.
inline bool charge_device(driver_state& driver, device_state& device, std::uint64_t bytes) {
  if (bytes > device.memory - device.used) trim_all_pools(driver, device);
  if (bytes > device.memory - device.used) return false;
  device.used += bytes;
  return true;
}

/// Takes memory of a pool, which grows if it has to.
inline bool charge_pool(driver_state& driver, pool_state& pool, std::uint64_t bytes) {
  device_state* device = device_of(driver, pool);
  if (device != nullptr && bytes > device->memory) return false;
  const std::uint64_t used = pool.used + bytes;
  if (pool.maximum != 0 && used > pool.maximum) return false;
  if (used > pool.reserved) {
    // Trimming changes what this pool holds too, so it comes before the difference is taken.
    if (device != nullptr && used - pool.reserved > device->memory - device->used)
      trim_all_pools(driver, *device);
    if (device != nullptr && !charge_device(driver, *device, used - pool.reserved)) return false;
    pool.reserved = used;
  }
  pool.used = used;
  ++pool.live;
  pool.used_high = std::max(pool.used_high, pool.used);
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
  return true;
}

/// Gives memory back to a pool, which keeps it until the next synchronization. A pool that was
/// destroyed ends with its last allocation.
inline void credit_pool(driver_state& driver, const pool_ptr& pool, std::uint64_t bytes) {
  pool->used -= bytes;
  --pool->live;
  if (pool->destroyed) trim_pool(driver, *pool, 0);
}

/// Gives an allocation back to its pool. Where it lies in a file, others may still have it mapped.
inline void return_to_pool(driver_state& driver, const memory_block& block) {
  pool_state& pool = *block.pool;
  if (pool.imported) {
    pool.opened.erase(block.offset);
  } else if (pool.file) {
    pool.file->discard(block.offset, block.size);
  }
  credit_pool(driver, block.pool, block.charged);
}

}}}  // namespace nogpu::v1::driver
