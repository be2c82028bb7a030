#pragma once
/// \file
/// Entry points: device memory, managed memory included, that calls allocate and free at once.

#include <nogpu/driver/accounts.hpp>
#include <nogpu/driver/context_life.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/virtual_memory.hpp>

#include <cuda.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

inline void* host_pointer(std::uint64_t address) noexcept {
  return reinterpret_cast<void*>(address);
}
inline std::uint64_t address_of(const void* host) noexcept {
  return reinterpret_cast<std::uintptr_t>(host);
}

/// Runs all pending work of a device, so that memory whose release is queued becomes free.
inline void reclaim(call& c, device_state& device) {
  c.finish(device);
  trim_all_pools(c.driver, device);
}

/// Makes a device allocation whose bytes were charged already.
inline std::optional<std::uint64_t> place_block(call& c, memory_block block, std::uint64_t owner) {
  block.place = c.driver.place();
  const auto base = c.driver.memory.allocate({.size = block.size,
                                              .alignment = allocation_unit,
                                              .kind = block.from == memory_block::origin::array
                                                          ? machine::memory_kind::array
                                                          : machine::memory_kind::device,
                                              .owner = owner,
                                              .counts = false,
                                              .site = block.place});
  if (!base) return std::nullopt;
  rollback freed([&] { (void)c.driver.memory.free(*base); });
  block.base = *base;
  block.id = next_handle_number();
  c.driver.blocks_of_memory.emplace(*base, std::move(block));
  freed.keep();
  return base;
}

/// Memory of a context's device, or `CUDA_ERROR_OUT_OF_MEMORY`.
inline CUresult allocate(call& c, const context_ptr& context, std::uint64_t bytes,
                         memory_block::origin from, std::uint64_t& base) {
  device_state& device = *context->device;
  const std::uint64_t charge = charge_for(bytes);
  if (charge == 0 || charge > device.memory) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!charge_device(c.driver, device, charge)) {
    reclaim(c, device);
    if (!charge_device(c.driver, device, charge)) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  rollback credited([&] { device.used -= charge; });
  memory_block block;
  block.size = bytes;
  block.charged = charge;
  block.from = from;
  block.context = context;
  block.device = device.ordinal;
  const auto placed = place_block(c, std::move(block), context->owner);
  if (!placed) return CUDA_ERROR_OUT_OF_MEMORY;
  credited.keep();
  base = *placed;
  return CUDA_SUCCESS;
}

/// Makes host memory that devices see at the same address: all of them, or those that may access
/// memory of `owner`.
inline void* place_host_block(call& c, memory_block block, machine::memory_kind kind,
                              std::uint64_t owner = 0) {
  constexpr std::uint64_t page = 4096;
  if (block.size > (std::uint64_t{1} << 46)) return nullptr;
  const std::uint64_t bytes = (block.size + page - 1) / page * page;
  void* host = std::aligned_alloc(page, static_cast<std::size_t>(bytes));
  if (host == nullptr) return nullptr;
  bool mapped = false;
  rollback freed([&] {
    if (mapped) (void)c.driver.memory.free(address_of(host));
    std::free(host);
  });
  block.base = address_of(host);
  block.id = next_handle_number();
  block.place = c.driver.place();
  mapped = c.driver.memory.map_host(host, {.size = block.size,
                                           .kind = kind,
                                           .owner = owner,
                                           .tracked = false,
                                           .counts = false,
                                           .site = block.place});
  if (!mapped) return nullptr;
  c.driver.blocks_of_memory.emplace(block.base, std::move(block));
  freed.keep();
  return host;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult mem_alloc(call& c, CUdeviceptr* pointer, std::size_t bytes) {
  context_ptr context;
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  std::uint64_t base = 0;
  if (const CUresult bad = allocate(c, context, bytes, memory_block::origin::device, base))
    return bad;
  *pointer = base;
  return CUDA_SUCCESS;
}

inline CUresult mem_alloc_pitch(call& c, CUdeviceptr* pointer, std::size_t* pitch,
                                std::size_t width, std::size_t height, unsigned element_size) {
  if (pointer == nullptr || pitch == nullptr || width == 0 || height == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (element_size != 4 && element_size != 8 && element_size != 16) return CUDA_ERROR_INVALID_VALUE;
  constexpr std::size_t largest_pitch = 0x7fffffff;
  if (width > largest_pitch / 512 * 512) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t row = (width + 511) / 512 * 512;
  if (height > ~std::size_t{0} / row) return CUDA_ERROR_OUT_OF_MEMORY;
  const CUresult bad = mem_alloc(c, pointer, row * height);
  if (!bad) *pitch = row;
  return bad;
}

inline CUresult mem_alloc_managed(call& c, CUdeviceptr* pointer, std::size_t bytes,
                                  unsigned flags) {
  context_ptr context;
  if (pointer == nullptr || bytes == 0 ||
      (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  memory_block block;
  block.size = bytes;
  block.from = memory_block::origin::managed;
  block.context = context;
  block.device = context->device->ordinal;
  block.flags = flags;
  block.seen_by_device = true;
  void* host = place_host_block(c, std::move(block), machine::memory_kind::managed);
  if (host == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = address_of(host);
  return CUDA_SUCCESS;
}

/// Waits for all work that may use the memory, whichever way it was allocated. Also frees what a
/// context with a fault holds.
inline CUresult mem_free(call& c, CUdeviceptr pointer) {
  context_ptr context;
  if (const CUresult bad = c.current_in_any_state(context)) return bad;
  if (pointer == 0) return CUDA_SUCCESS;
  const auto waits_for = [&](const memory_block& block) {
    return block.context ? block.context : context;
  };
  auto found = c.driver.blocks_of_memory.find(pointer);
  if (found == c.driver.blocks_of_memory.end() || found->second.on_host() ||
      found->second.from == memory_block::origin::imported ||
      found->second.from == memory_block::origin::graphics || found->second.free_enqueued)
    return CUDA_ERROR_INVALID_VALUE;
  const context_ptr user = waits_for(found->second);
  if (const auto graph = found->second.graph.lock()) {  // its node keeps the address
    if (!std::exchange(graph->in_use, false)) return CUDA_ERROR_INVALID_VALUE;
    c.finish(context);
    return c.tell_fault(*context);
  }
  found->second.free_enqueued = true;  // for others, while this call waits
  c.finish(user);
  if (user != context) c.finish(context);
  free_block(c.driver, pointer);
  return c.tell_fault(*context);
}

inline CUresult mem_get_info(call& c, std::size_t* free, std::size_t* total) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  const device_state& device = *context->device;
  if (free != nullptr) *free = device.memory - device.used;
  if (total != nullptr) *total = static_cast<std::size_t>(device.memory);
  return CUDA_SUCCESS;
}

inline CUresult mem_get_address_range(call& c, CUdeviceptr* base, std::size_t* size,
                                      CUdeviceptr pointer) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  const auto found = c.driver.memory.find(pointer);
  if (!found || reachable(c, *found, pointer, false) == 0) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = found->base;
  if (size != nullptr) *size = static_cast<std::size_t>(found->size);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
