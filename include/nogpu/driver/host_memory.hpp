#pragma once
/// \file
/// Entry points: page-locked host memory, allocated or registered.

#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/memory.hpp>

#include <cuda.h>

#include <cstddef>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult mem_host_alloc(call& c, void** pointer, std::size_t bytes, unsigned flags) {
  context_ptr context;
  constexpr unsigned known =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if (pointer == nullptr || bytes == 0 || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  memory_block block;
  block.size = bytes;
  block.from = memory_block::origin::pinned;
  block.context = context;
  block.device = context->device->ordinal;
  block.flags = flags;
  void* host = place_host_block(c, std::move(block), machine::memory_kind::pinned_host);
  if (host == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = host;
  return CUDA_SUCCESS;
}

inline CUresult mem_alloc_host(call& c, void** pointer, std::size_t bytes) {
  return mem_host_alloc(c, pointer, bytes, 0);
}

/// Waits for all work that may use the memory. Also frees what a context with a fault holds.
inline CUresult mem_free_host(call& c, void* pointer) {
  context_ptr context;
  if (const CUresult bad = c.current_in_any_state(context)) return bad;
  if (pointer == nullptr) return CUDA_SUCCESS;
  const auto found = c.driver.blocks_of_memory.find(address_of(pointer));
  if (found == c.driver.blocks_of_memory.end() ||
      found->second.from != memory_block::origin::pinned || found->second.free_enqueued)
    return CUDA_ERROR_INVALID_VALUE;
  const context_ptr user = found->second.context;
  found->second.free_enqueued = true;
  c.finish(user);
  if (user != context) c.finish(context);
  free_block(c.driver, address_of(pointer));
  return c.tell_fault(*context);
}

inline CUresult mem_host_get_device_pointer(call& c, CUdeviceptr* device, void* host,
                                            unsigned flags) {
  context_ptr context;
  if (device == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  memory_block* block = c.driver.find_block(address_of(host));
  if (block == nullptr || !block->on_host()) return CUDA_ERROR_INVALID_VALUE;
  block->seen_by_device = true;
  *device = address_of(host);
  return CUDA_SUCCESS;
}

inline CUresult mem_host_get_flags(call& c, unsigned* flags, void* host) {
  context_ptr context;
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  const memory_block* block = c.driver.find_block(address_of(host));
  if (block == nullptr || !block->on_host()) return CUDA_ERROR_INVALID_VALUE;
  // With unified addressing, all of it is mapped. The read-only flag is not reported.
  const unsigned told = block->from == memory_block::origin::registered
                            ? block->flags & CU_MEMHOSTREGISTER_PORTABLE
                            : block->flags;
  *flags = told | CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}

inline CUresult mem_host_register(call& c, void* host, std::size_t bytes, unsigned flags) {
  context_ptr context;
  constexpr unsigned known =
      CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
  if (host == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  memory_block block;
  block.base = address_of(host);
  block.size = bytes;
  block.from = memory_block::origin::registered;
  block.context = context;
  block.device = context->device->ordinal;
  block.flags = flags;
  block.id = next_handle_number();
  block.place = c.driver.place();
  if (block.base >= machine::device_window || bytes > machine::device_window - block.base)
    return CUDA_ERROR_INVALID_VALUE;
  // Memory that the driver allocated is page-locked already, and cannot be registered.
  const memory_block* there = c.driver.find_block(block.base);
  if (there != nullptr && there->from != memory_block::origin::registered)
    return CUDA_ERROR_INVALID_VALUE;
  const bool mapped =
      c.driver.memory.map_host(host, {.size = bytes,
                                      .kind = machine::memory_kind::registered_host,
                                      .writable = (flags & CU_MEMHOSTREGISTER_READ_ONLY) == 0,
                                      .tracked = false,
                                      .counts = false,
                                      .site = block.place});
  if (!mapped) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  rollback unmapped([&c, host] { (void)c.driver.memory.free(address_of(host)); });
  c.driver.blocks_of_memory.emplace(block.base, std::move(block));
  unmapped.keep();
  return CUDA_SUCCESS;
}

/// Waits for all work that may use the memory. Also frees what a context with a fault holds.
inline CUresult mem_host_unregister(call& c, void* host) {
  context_ptr context;
  if (host == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current_in_any_state(context)) return bad;
  const auto found = c.driver.blocks_of_memory.find(address_of(host));
  if (found == c.driver.blocks_of_memory.end() ||
      found->second.from != memory_block::origin::registered || found->second.free_enqueued) {
    // Memory that the driver knows, but not as the beginning of what was registered.
    const bool known = c.driver.find_block(address_of(host)) != nullptr;
    return known ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  }
  const context_ptr user = found->second.context;
  found->second.free_enqueued = true;
  c.finish(user);
  if (user != context) c.finish(context);
  free_block(c.driver, address_of(host));
  return c.tell_fault(*context);
}

}}}  // namespace nogpu::v1::driver::entry
