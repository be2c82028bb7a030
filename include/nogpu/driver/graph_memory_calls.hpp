#pragma once
/// \file
/// Entry points: query, reset and trim the memory that graphs hold on a device.

#include <nogpu/driver/graph_accounts.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>

namespace nogpu { inline namespace v1 { namespace driver {

/// The allocations of launches in progress.
inline std::set<const graph_allocation*> running_allocations(driver_state& driver) {
  std::set<const graph_allocation*> all;
  for (const exec_ptr& exec : driver.graph_execs.all()) {
    if (!exec->last || exec->last->state == operation::progress::done) continue;
    for (const exec_node* each : memory_nodes(*exec->body)) all.insert(each->what.allocation.get());
  }
  return all;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

/// Gives back the memory that no graph needs before its next launch.
inline CUresult device_graph_mem_trim(call& c, CUdevice ordinal) {
  device_state* device = nullptr;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  const std::set<const graph_allocation*> running = running_allocations(c.driver);
  for (auto& [base, block] : c.driver.blocks_of_memory) {
    const std::shared_ptr<graph_allocation> graph = block.graph.lock();
    if (graph && block.device == ordinal && !graph->in_use && running.count(graph.get()) == 0)
      return_graph_memory(c.driver, block);
  }
  graph_memory_state& held = device->graph_memory;
  const std::uint64_t keep = std::min(held.reserved, in_graph_memory_steps(held.used));
  device->used -= held.reserved - keep;
  held.reserved = keep;
  return CUDA_SUCCESS;
}

inline CUresult device_get_graph_mem_attribute(call& c, CUdevice ordinal,
                                               CUgraphMem_attribute attribute, void* value) {
  device_state* device = nullptr;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  const graph_memory_state& held = device->graph_memory;
  const auto give = [&](cuuint64_t what) {
    std::memcpy(value, &what, sizeof what);
    return CUDA_SUCCESS;
  };
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: return give(held.used);
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: return give(held.used_high);
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: return give(held.reserved);
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: return give(held.reserved_high);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

/// Only the high-water marks can be set, and only to zero.
inline CUresult device_set_graph_mem_attribute(call& c, CUdevice ordinal,
                                               CUgraphMem_attribute attribute, void* value) {
  device_state* device = nullptr;
  cuuint64_t wanted = 0;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  std::memcpy(&wanted, value, sizeof wanted);
  graph_memory_state& held = device->graph_memory;
  if (wanted == 0 && attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) {
    held.used_high = held.used;
  } else if (wanted == 0 && attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) {
    held.reserved_high = held.reserved;
  } else {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
