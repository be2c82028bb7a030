#pragma once
/// \file
/// Entry points: memory pools and the allocations of stream order.

#include <nogpu/driver/accounts.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/graph_memory.hpp>
#include <nogpu/driver/memory.hpp>
#include <nogpu/driver/memory_places.hpp>

#include <cuda.h>

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

inline CUresult find_pool(call& c, CUmemoryPool handle, pool_ptr& pool) {
  pool = handle == nullptr ? nullptr : c.driver.pools.find(handle);
  return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// A pool of this process, not an imported one.
inline CUresult find_own_pool(call& c, CUmemoryPool handle, pool_ptr& pool) {
  if (const CUresult bad = find_pool(c, handle, pool)) return bad;
  return pool->imported ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/// Grants or revokes the access of a device's contexts to the memory of a pool.
inline void set_reach(driver_state& driver, const pool_state& pool, int device, bool allowed) {
  for (const context_ptr& each : driver.contexts.all())
    if (each->alive && each->device->ordinal == device)
      driver.memory.allow(each->owner, pool.owner, allowed);
}

/// Creates a pool of memory at a valid location.
inline pool_ptr make_pool(driver_state& driver, const CUmemLocation& location,
                          CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED) {
  auto pool = std::make_shared<pool_state>();
  pool->type = type;
  pool->location = location;
  if (type == CU_MEM_ALLOCATION_TYPE_PINNED && location.type == CU_MEM_LOCATION_TYPE_DEVICE)
    pool->device = location.id;
  pool->owner = driver.next_owner();
  set_reach(driver, *pool, pool->device, true);
  (void)driver.pools.add(pool);
  return pool;
}

/// Returns the pools of a valid location, which has one from the start.
inline place_pools& pools_at(driver_state& driver, const CUmemLocation& location,
                             CUmemAllocationType type) {
  const bool numbered = location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
                        location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  place_pools& pools = driver.pools_of_places[{static_cast<int>(location.type),
                                               numbered ? location.id : 0, static_cast<int>(type)}];
  if (!pools.standard) {
    pools.standard = pools.current = make_pool(driver, location, type);
    pools.standard->is_default = true;
  }
  return pools;
}
/// The pools of a device's own memory.
inline place_pools& pools_of(driver_state& driver, const device_state& device) {
  return pools_at(driver, {CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal},
                  CU_MEM_ALLOCATION_TYPE_PINNED);
}

/// Returns whether a pool can have memory of this type at a location, which must exist.
inline bool can_be_pool(call& c, const CUmemLocation& location, CUmemAllocationType type) {
  if (type == CU_MEM_ALLOCATION_TYPE_MANAGED && location.type == CU_MEM_LOCATION_TYPE_NONE)
    return true;
  return (type == CU_MEM_ALLOCATION_TYPE_PINNED || type == CU_MEM_ALLOCATION_TYPE_MANAGED) &&
         location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT && exists(c, location);
}

/// Makes host memory of a pool. All devices can access managed memory; other memory is accessible
/// to the host and to devices that were given access.
inline std::optional<std::uint64_t> place_host_pool_block(call& c, memory_block block,
                                                          const pool_state& pool) {
  const bool managed = pool.type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  const void* host =
      place_host_block(c, std::move(block),
                       managed ? machine::memory_kind::managed : machine::memory_kind::pinned_host,
                       managed ? 0 : pool.owner);
  if (host == nullptr) return std::nullopt;
  return address_of(host);
}

/// Makes a block of memory in the pool's file, which other processes may have too.
inline std::optional<std::uint64_t> place_shared_block(call& c, memory_block block,
                                                       const pool_state& pool) {
  const auto memory = pool.file->map(block.offset, in_pages(block.size));
  if (!memory) return std::nullopt;
  const auto base = c.driver.memory.reserve(block.size, allocation_unit);
  if (!base) return std::nullopt;
  block.place = c.driver.place();
  if (!c.driver.memory.map(*base, memory, 0,
                           {.size = block.size, .owner = pool.owner, .site = block.place}))
    return std::nullopt;
  block.base = *base;
  block.id = next_handle_number();
  c.driver.blocks_of_memory.emplace(*base, std::move(block));
  return base;
}

inline CUresult allocate_from_pool(call& c, CUdeviceptr* pointer, std::size_t bytes, pool_ptr pool,
                                   const stream_ptr& stream) {
  if (pool->imported) return CUDA_ERROR_INVALID_VALUE;
  if (stream->capture) return capture_allocation(c, stream, pool, bytes, *pointer);
  if (const CUresult bad = c.refuse_unsafe_call()) return bad;
  const std::uint64_t charge = charge_for(bytes);
  if (charge == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!charge_pool(c.driver, *pool, charge)) {
    device_state* device = device_of(c.driver, *pool);
    reclaim(c, device != nullptr ? *device : *stream->context->device);
    if (!charge_pool(c.driver, *pool, charge)) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  rollback credited([&] { credit_pool(c.driver, pool, charge); });
  memory_block block;
  block.size = bytes;
  block.charged = charge;
  block.from = memory_block::origin::pool;
  block.device = pool->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? pool->location.id : -2;
  block.pool = pool;
  block.seen_by_device = true;
  std::optional<std::uint64_t> base;
  if (pool->device < 0) {
    base = place_host_pool_block(c, std::move(block), *pool);
  } else if (!pool->file) {
    base = place_block(c, std::move(block), pool->owner);
  } else if (pool->file->grow(pool->next_offset + in_pages(bytes))) {
    block.offset = pool->next_offset;
    base = place_shared_block(c, std::move(block), *pool);
    pool->next_offset += in_pages(bytes);
  }
  if (!base) return CUDA_ERROR_OUT_OF_MEMORY;
  credited.keep();
  rollback freed([&] { free_block(c.driver, *base); });
  // The allocation is an operation of the stream, so queries of the stream see it.
  if (const CUresult bad = c.enqueue(stream, std::make_shared<operation>())) return bad;
  freed.keep();
  *pointer = *base;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult mem_alloc_async(call& c, CUdeviceptr* pointer, std::size_t bytes, CUstream handle) {
  stream_ptr stream;
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  return allocate_from_pool(c, pointer, bytes, pools_of(c.driver, *stream->context->device).current,
                            stream);
}

inline CUresult mem_alloc_from_pool_async(call& c, CUdeviceptr* pointer, std::size_t bytes,
                                          CUmemoryPool pool_handle, CUstream handle) {
  stream_ptr stream;
  pool_ptr pool;
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (const CUresult bad = find_pool(c, pool_handle, pool)) return bad;
  return allocate_from_pool(c, pointer, bytes, pool, stream);
}

/// Frees in stream order. Memory of cuMemAlloc may be freed this way too. Also frees what a context
/// with a fault holds.
inline CUresult mem_free_async(call& c, CUdeviceptr pointer, CUstream handle) {
  stream_ptr stream;
  const CUresult bad = c.find_stream(handle, stream);
  if (!stream || pointer == 0) return bad;
  const auto found = c.driver.blocks_of_memory.find(pointer);
  if (stream->capture) return capture_free(c, stream, pointer);
  if (!bad)
    if (const CUresult unsafe = c.refuse_unsafe_call()) return unsafe;
  if (found != c.driver.blocks_of_memory.end() && !found->second.graph.expired())
    return free_graph_memory(c, stream, pointer);
  if (found == c.driver.blocks_of_memory.end() || found->second.on_host() ||
      found->second.from == memory_block::origin::managed ||
      found->second.from == memory_block::origin::imported ||
      found->second.from == memory_block::origin::graphics || found->second.free_enqueued)
    return bad ? bad : CUDA_ERROR_INVALID_VALUE;
  auto what = std::make_shared<operation>();
  what->work = [&driver = c.driver, pointer] {  // also if the context has a fault
    const std::lock_guard guard(driver.mutex);
    free_block(driver, pointer);
  };
  found->second.free_enqueued = true;
  rollback kept([&] {
    if (what->queue) return;  // it will be done
    if (memory_block* block = c.driver.find_block(pointer)) block->free_enqueued = false;
  });
  const CUresult refused = c.enqueue(stream, what);
  if (!refused) kept.keep();
  return bad ? bad : refused;
}

inline CUresult mem_pool_create(call& c, CUmemoryPool* pool, const CUmemPoolProps* properties) {
  if (pool == nullptr || properties == nullptr ||
      !can_be_pool(c, properties->location, properties->allocType))
    return CUDA_ERROR_INVALID_VALUE;
  constexpr int shareable = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;
  if ((static_cast<int>(properties->handleTypes) & ~shareable) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const bool of_device = properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
                         properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (!of_device && properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
    return CUDA_ERROR_INVALID_VALUE;
  shared_file_ptr file;
  if (properties->handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    shared_header header;
    header.content = shared_content::pool;
    header.device = properties->location.id;
    header.number = shared_number();
    file = shared_file::create(header);
    if (!file) return CUDA_ERROR_OPERATING_SYSTEM;
  } else if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
    return CUDA_ERROR_NOT_SUPPORTED;  // the CPU driver has no fabric
  }
  std::string place = c.driver.place();
  const pool_ptr made = make_pool(c.driver, properties->location, properties->allocType);
  made->file = std::move(file);
  made->maximum = properties->maxSize;
  made->place = std::move(place);
  *pool = made->handle;
  return CUDA_SUCCESS;
}

/// Allocations of the pool stay until they are freed.
inline CUresult mem_pool_destroy(call& c, CUmemoryPool handle) {
  pool_ptr pool;
  if (const CUresult bad = find_pool(c, handle, pool)) return bad;
  if (pool->is_default) return CUDA_ERROR_INVALID_VALUE;
  for (auto& [place, pools] : c.driver.pools_of_places)
    if (pools.current == pool) pools.current = pools.standard;
  pool->destroyed = true;
  trim_pool(c.driver, *pool, 0);
  (void)c.driver.pools.take(handle);
  return CUDA_SUCCESS;
}

inline CUresult mem_pool_get_attribute(call& c, CUmemoryPool handle, CUmemPool_attribute attribute,
                                       void* value) {
  pool_ptr pool;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_own_pool(c, handle, pool)) return bad;
  const auto give = [&](auto what) {
    std::memcpy(value, &what, sizeof what);
    return CUDA_SUCCESS;
  };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: return give(pool->reuse[0]);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: return give(pool->reuse[1]);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: return give(pool->reuse[2]);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return give(pool->release_threshold);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return give(pool->reserved);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return give(pool->reserved_high);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return give(pool->used);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return give(pool->used_high);
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

inline CUresult mem_pool_set_attribute(call& c, CUmemoryPool handle, CUmemPool_attribute attribute,
                                       void* value) {
  pool_ptr pool;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_own_pool(c, handle, pool)) return bad;
  const auto take_flag = [&](int& flag) {
    std::memcpy(&flag, value, sizeof flag);
    return CUDA_SUCCESS;
  };
  // The high-water marks can only be set to zero.
  const auto reset = [&](std::uint64_t& high, std::uint64_t now) {
    cuuint64_t wanted = 0;
    std::memcpy(&wanted, value, sizeof wanted);
    if (wanted != 0) return CUDA_ERROR_INVALID_VALUE;
    high = now;
    return CUDA_SUCCESS;
  };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: return take_flag(pool->reuse[0]);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: return take_flag(pool->reuse[1]);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: return take_flag(pool->reuse[2]);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: {
      cuuint64_t wanted = 0;
      std::memcpy(&wanted, value, sizeof wanted);
      pool->release_threshold = wanted;
      return CUDA_SUCCESS;
    }
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return reset(pool->reserved_high, pool->reserved);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return reset(pool->used_high, pool->used);
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

inline CUresult mem_pool_get_access(call& c, CUmemAccess_flags* flags, CUmemoryPool handle,
                                    CUmemLocation* location) {
  pool_ptr pool;
  device_state* device = nullptr;
  if (flags == nullptr || location == nullptr || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_pool(c, handle, pool)) return bad;
  if (const CUresult bad = c.find_device(location->id, device)) return bad;
  const auto found = pool->access.find(location->id);
  const bool own = pool->device == location->id || pool->type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  *flags = own                           ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
           : found != pool->access.end() ? found->second
                                         : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

inline CUresult mem_pool_set_access(call& c, CUmemoryPool handle, const CUmemAccessDesc* list,
                                    std::size_t count) {
  pool_ptr pool;
  if (list == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_pool(c, handle, pool)) return bad;
  for (std::size_t i = 0; i < count; ++i) {
    device_state* device = nullptr;
    if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
      return CUDA_ERROR_NOT_SUPPORTED;
    if (const CUresult bad = c.find_device(list[i].location.id, device)) return bad;
    // A device always reaches its own pool.
    const bool own = list[i].location.id == pool->device;
    if (own && list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) return CUDA_ERROR_INVALID_DEVICE;
    if (list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
        list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return CUDA_ERROR_INVALID_VALUE;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].location.id == pool->device) continue;
    pool->access[list[i].location.id] = list[i].flags;
    set_reach(c.driver, *pool, list[i].location.id, list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE);
  }
  return CUDA_SUCCESS;
}

inline CUresult mem_pool_trim_to(call& c, CUmemoryPool handle, std::size_t keep) {
  pool_ptr pool;
  if (const CUresult bad = find_own_pool(c, handle, pool)) return bad;
  trim_pool(c.driver, *pool, keep);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
