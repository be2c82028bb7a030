#pragma once
/// \file
/// The beginning and the end of a context, own or primary, and all that goes with it.

#include <nogpu/driver/accounts.hpp>
#include <nogpu/driver/device_attributes.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/graph_accounts.hpp>
#include <nogpu/driver/rollback.hpp>

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

inline constexpr int greatest_priority = -5;  // the least is 0

/// Returns whether a pool's memory may be touched from a device.
inline bool pool_reaches(const pool_state& pool, int device) {
  if (pool.device == device) return true;
  const auto found = pool.access.find(device);
  return found != pool.access.end() && found->second != CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

/// Gives a context the access to a mapping that its device was granted.
inline void let_in(driver_state& driver, const context_state& context,
                   const mapping_state& mapping) {
  const CUmemAccess_flags access = access_of(mapping, context.device->ordinal);
  driver.memory.allow(context.owner, mapping.owner, access != CU_MEM_ACCESS_FLAGS_PROT_NONE,
                      access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

/// Initializes a new context.
inline void begin_context(call& c, const context_ptr& context) {
  context->owner = c.driver.next_owner();
  context->fault = 0;
  context->fault_told = false;
  for (std::size_t i = 0; i < context->limits.size(); ++i)
    context->limits[i] = initial_limit(static_cast<CUlimit>(i));
  context->heap = std::make_unique<machine::device_heap>(c.driver.memory, context->owner);
  context->heap_used = false;
  context->printf_used = false;
  context->default_stream = std::make_shared<stream_state>();
  context->default_stream->context = context;
  context->default_stream->is_default = true;
  context->default_stream->handle = CU_STREAM_LEGACY;
  context->default_stream->id = ++c.driver.last_stream_id;
  // Contexts of one device reach each other's memory.
  for (const context_ptr& each : c.driver.contexts.all()) {
    if (!each->alive || each == context || each->device != context->device) continue;
    c.driver.memory.allow(context->owner, each->owner);
    c.driver.memory.allow(each->owner, context->owner);
  }
  for (const pool_ptr& pool : c.driver.pools.all())
    if (pool_reaches(*pool, context->device->ordinal))
      c.driver.memory.allow(context->owner, pool->owner);
  for (const auto& [base, block] : c.driver.blocks_of_memory)
    if (block.of_graph_for(context->device->ordinal))
      c.driver.memory.allow(context->owner, block.owner);
  for (const auto& [base, mapping] : c.driver.virtual_memory.mappings)
    let_in(c.driver, *context, mapping);
  context->alive = true;
}

/// Gives back the host memory that a block lies in.
inline void free_host_block(const memory_block& block) {
  std::free(reinterpret_cast<void*>(static_cast<std::uintptr_t>(block.base)));
}

/// Ends a block: its device memory, or the host memory that backs it, is gone.
inline void free_block(driver_state& driver, std::uint64_t base) {
  const auto found = driver.blocks_of_memory.find(base);
  if (found == driver.blocks_of_memory.end()) return;
  memory_block block = std::move(found->second);
  driver.blocks_of_memory.erase(found);
  (void)driver.memory.free(block.base);
  switch (block.from) {
    case memory_block::origin::device:
    case memory_block::origin::array:
      driver.devices[static_cast<std::size_t>(block.device)]->used -= block.charged;
      break;
    case memory_block::origin::pool:
      return_to_pool(driver, block);
      if (block.pool->device < 0) free_host_block(block);
      break;
    case memory_block::origin::graph: return_graph_memory(driver, block); break;
    case memory_block::origin::managed:
    case memory_block::origin::pinned: free_host_block(block); break;
    case memory_block::origin::registered:
    case memory_block::origin::imported:
    case memory_block::origin::external:
    case memory_block::origin::graphics: break;
  }
}

/// Waits for the context's work, then destroys everything in it. The handle stays in its table.
inline void end_context(call& c, const context_ptr& context) {
  c.finish(context);
  context->alive = false;
  driver_state& driver = c.driver;
  std::erase_if(driver.captures, [&](const capture_ptr& each) {
    if (each->origin->context != context) return false;
    each->ended = each->invalidated = true;
    each->streams.clear();
    return true;
  });
  for (const event_ptr& each : driver.events.all())
    if (each->context == context) driver.events.orphan(each->handle);
  for (const stream_ptr& each : driver.streams.all())
    if (each->context == context) driver.streams.orphan(each->handle);
  for (const stream_ptr& each : context->streams) driver.work.close(*each);
  driver.work.close(*context->default_stream);
  for (const module_ptr& each : driver.modules.all()) {
    if (each->context != context) continue;
    for (const auto& [name, function] : each->functions) driver.functions.orphan(function->handle);
    driver.modules.orphan(each->handle);
  }
  for (const library_ptr& each : driver.libraries.all()) each->modules.erase(context.get());

  for (const array_ptr& each : driver.arrays.all())
    if (each->context == context) driver.arrays.orphan(each->handle);
  for (const mipmapped_array_ptr& each : driver.mipmapped_arrays.all())
    if (each->context == context) driver.mipmapped_arrays.orphan(each->handle);
  std::erase_if(driver.textures, [&](const auto& each) {
    return each.second.context == context && driver.images.remove_texture(each.first);
  });
  std::erase_if(driver.surfaces, [&](const auto& each) {
    return each.second.context == context && driver.images.remove_surface(each.first);
  });

  const auto orphan_all = [&context](auto& table) {
    for (const auto& each : table.all())
      if (each->context == context) table.orphan(each->handle);
  };
  orphan_all(driver.external_memories);
  orphan_all(driver.external_semaphores);
  orphan_all(driver.graphics_resources);

  std::vector<std::uint64_t> own;
  for (const auto& [base, block] : driver.blocks_of_memory)
    if (block.context == context) own.push_back(base);
  for (const std::uint64_t base : own) free_block(driver, base);
  for (const context_ptr& each : driver.contexts.all()) each->peers.erase(context.get());

  context->streams.clear();
  context->thread_streams.clear();
  context->default_stream.reset();
  context->peers.clear();
  context->heap.reset();
  c.lock.unlock();
  driver.flush_prints();
  c.lock.lock();
}

/// Drops all work and everything that the driver holds, at its end.
inline void drop_everything(driver_state& driver) {
  for (const context_ptr& context : driver.contexts.all()) {
    std::vector<stream_ptr> all = context->streams;
    if (context->default_stream) all.push_back(context->default_stream);
    for (const stream_ptr& stream : all) {
      for (const operation_ptr& each : stream->pending) {
        each->work = nullptr;
        each->after.clear();
        each->queue.reset();
      }
      stream->pending.clear();
    }
    context->streams.clear();
    context->thread_streams.clear();
    context->default_stream.reset();
    context->heap.reset();
  }
  driver.captures.clear();
  driver.graph_execs.clear();
  for (const node_ptr& each : driver.graph_nodes.all()) each->after.clear();
  driver.graph_nodes.clear();
  driver.graphs.clear();
  driver.user_objects.clear();
  driver.events.clear();
  driver.streams.clear();
  driver.greens.all.clear();
  driver.greens.descriptions.clear();
  driver.functions.clear();
  driver.modules.clear();
  driver.kernels.clear();
  driver.libraries.clear();
  driver.textures.clear();
  driver.surfaces.clear();
  driver.arrays.clear();
  driver.mipmapped_arrays.clear();
  driver.graphics_resources.clear();
  driver.external_memories.clear();
  driver.external_semaphores.clear();
  while (!driver.blocks_of_memory.empty())
    free_block(driver, driver.blocks_of_memory.begin()->first);
  for (const auto& [base, mapping] : driver.virtual_memory.mappings) (void)driver.memory.free(base);
  driver.virtual_memory = {};
  driver.pools_of_places.clear();
  driver.pools.clear();
  driver.contexts.clear();
}

}}}  // namespace nogpu::v1::driver
