#pragma once
/// \file
/// Memory that graphs allocate. The address stays the same from launch to launch.

#include <nogpu/driver/captures.hpp>
#include <nogpu/driver/graph_accounts.hpp>
#include <nogpu/driver/memory.hpp>

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <set>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

/// Reserves the address of a node that allocates; a launch takes the memory from the device.
inline CUresult make_graph_memory(call& c, int device, std::set<int> peers, std::size_t bytes,
                                  node_work& what) {
  const std::uint64_t charge = charge_for(bytes);
  if (charge == 0 || charge > c.driver.devices[static_cast<std::size_t>(device)]->memory)
    return CUDA_ERROR_OUT_OF_MEMORY;
  what.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  what.allocation = std::make_shared<graph_allocation>();
  memory_block block;
  block.size = bytes;
  block.from = memory_block::origin::graph;
  block.device = device;
  block.graph = what.allocation;
  block.owner = c.driver.next_owner();
  block.peers = std::move(peers);
  block.seen_by_device = true;
  const auto base = place_block(c, block, block.owner);
  if (!base) return CUDA_ERROR_OUT_OF_MEMORY;
  for (const context_ptr& each : c.driver.contexts.all())
    if (each->alive && block.of_graph_for(each->device->ordinal))
      c.driver.memory.allow(each->owner, block.owner);
  what.allocation->address = *base;
  return CUDA_SUCCESS;
}

/// The node of a graph, or of its children, that allocates `pointer`, and whether another one frees
/// it.
inline std::shared_ptr<graph_allocation> find_allocation(const graph_state& graph,
                                                         CUdeviceptr pointer, bool& freed) {
  std::shared_ptr<graph_allocation> found;
  for (const node_ptr& each : graph.nodes) {
    if (each->what.child) {
      if (auto inner = find_allocation(*each->what.child, pointer, freed)) found = std::move(inner);
    }
    if (!each->what.allocation || each->what.allocation->address != pointer) continue;
    if (each->what.type == CU_GRAPH_NODE_TYPE_MEM_FREE) freed = true;
    found = each->what.allocation;
  }
  return found;
}

/// Makes the node that frees what another node of the graph, or another graph, allocates.
inline CUresult make_free_node(call& c, const graph_state& graph, CUdeviceptr pointer,
                               node_work& what) {
  bool freed = false;
  what.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  what.allocation = find_allocation(graph, pointer, freed);
  if (freed) return CUDA_ERROR_INVALID_VALUE;
  if (!what.allocation) {
    const auto found = c.driver.blocks_of_memory.find(pointer);
    if (found != c.driver.blocks_of_memory.end()) what.allocation = found->second.graph.lock();
  }
  return what.allocation ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline CUresult capture_allocation(call& c, const stream_ptr& stream, const pool_ptr& pool,
                                   std::size_t bytes, CUdeviceptr& pointer) {
  if (stream->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (stream->capture->graph->owned_by_node) return CUDA_ERROR_NOT_SUPPORTED;
  if (pool->device < 0) return CUDA_ERROR_NOT_SUPPORTED;
  node_work what;
  std::set<int> peers;  // as the pool has them now
  for (const auto& [device, access] : pool->access)
    if (access != CU_MEM_ACCESS_FLAGS_PROT_NONE) peers.insert(device);
  if (const CUresult bad = make_graph_memory(c, pool->device, std::move(peers), bytes, what))
    return bad;
  pointer = what.allocation->address;
  return c.capture(stream, std::move(what));
}

inline CUresult capture_free(call& c, const stream_ptr& stream, CUdeviceptr pointer) {
  if (stream->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (stream->capture->graph->owned_by_node) return CUDA_ERROR_NOT_SUPPORTED;
  node_work what;
  if (const CUresult bad = make_free_node(c, *stream->capture->graph, pointer, what)) return bad;
  return c.capture(stream, std::move(what));
}

/// Frees, outside of any graph, what a launch of a graph allocated.
inline CUresult free_graph_memory(call& c, const stream_ptr& stream, CUdeviceptr pointer) {
  const auto graph = c.driver.blocks_of_memory.find(pointer)->second.graph.lock();
  if (!std::exchange(graph->in_use, false)) return CUDA_ERROR_INVALID_VALUE;
  return c.enqueue(stream, std::make_shared<operation>());
}

}}}  // namespace nogpu::v1::driver
