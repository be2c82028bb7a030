#pragma once
/// \file
/// Memory that graphs allocate. The address stays the same from launch to launch.

#include <gpu/testing/cpu/accounts.hpp>
#include <gpu/testing/cpu/captures.hpp>
#include <gpu/testing/cpu/memory.hpp>

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace gpu::testing::cpu {

/// Makes the memory of a node that allocates; it is charged to the pool while the node lives.
inline CUresult make_graph_memory(call& c, const pool_ptr& pool, std::size_t bytes,
                                  node_work& what) {
  const std::uint64_t charge = charge_for(bytes);
  if (charge == 0 || !charge_pool(c.driver, *pool, charge)) return CUDA_ERROR_OUT_OF_MEMORY;
  what.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  what.allocation = std::make_shared<graph_allocation>();
  memory_block block;
  block.size = bytes;
  block.charged = charge;
  block.from = memory_block::origin::pool;
  block.device = pool->device;
  block.pool = pool;
  block.graph = what.allocation;
  block.seen_by_device = true;
  const auto base = place_block(c, std::move(block), pool->owner);
  if (!base) {
    credit_pool(c.driver, pool, charge);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  what.allocation->address = *base;
  return CUDA_SUCCESS;
}

/// The node of a graph that allocates `pointer`, and whether another one frees it.
inline std::shared_ptr<graph_allocation> find_allocation(const graph_state& graph,
                                                         CUdeviceptr pointer, bool& freed) {
  std::shared_ptr<graph_allocation> found;
  for (const node_ptr& each : graph.nodes) {
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
  node_work what;
  if (const CUresult bad = make_graph_memory(c, pool, bytes, what)) return bad;
  pointer = what.allocation->address;
  return c.capture(stream, std::move(what));
}

inline CUresult capture_free(call& c, const stream_ptr& stream, CUdeviceptr pointer) {
  if (stream->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
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

}  // namespace gpu::testing::cpu
