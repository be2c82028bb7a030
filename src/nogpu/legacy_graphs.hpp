#pragma once
/// \file
/// Functions for one kind of graph node, and older forms, over those that the driver has: it
/// creates and changes all kinds with one function.

#include "driver.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstring>

namespace nogpu::libcuda::legacy {

// The parameters of a node, from the type of each kind.

inline CUgraphNodeParams node(CUgraphNodeType type) noexcept {
  CUgraphNodeParams made{};
  made.type = type;
  return made;
}

/// Newer types of parameters begin with the members of older ones.
template <class Newer, class Older> void copy_members(Newer& to, const Older& from) noexcept {
  static_assert(sizeof(Newer) >= sizeof(Older));
  std::memcpy(&to, &from, sizeof from);
}

inline CUgraphNodeParams node_of(const CUDA_KERNEL_NODE_PARAMS_v1& kernel, CUcontext) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_KERNEL);
  copy_members(made.kernel, kernel);
  return made;
}
inline CUgraphNodeParams node_of(const CUDA_KERNEL_NODE_PARAMS_v2& kernel, CUcontext) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_KERNEL);
  copy_members(made.kernel, kernel);
  return made;
}
inline CUgraphNodeParams node_of(const CUDA_MEMCPY3D& copy, CUcontext context) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_MEMCPY);
  made.memcpy.copyCtx = context;
  made.memcpy.copyParams = copy;
  return made;
}
inline CUgraphNodeParams node_of(const CUDA_MEMSET_NODE_PARAMS_v1& fill,
                                 CUcontext context) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_MEMSET);
  copy_members(made.memset, fill);
  made.memset.ctx = context;
  return made;
}
inline CUgraphNodeParams node_of(const CUDA_HOST_NODE_PARAMS_v1& host, CUcontext) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_HOST);
  made.host.fn = host.fn;
  made.host.userData = host.userData;
  return made;
}
inline CUgraphNodeParams node_of(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1& signals,
                                 CUcontext) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
  copy_members(made.extSemSignal, signals);
  return made;
}
inline CUgraphNodeParams node_of(const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1& waits,
                                 CUcontext) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
  copy_members(made.extSemWait, waits);
  return made;
}
inline CUgraphNodeParams node_of(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v1& batch,
                                 CUcontext) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  made.memOp.ctx = batch.ctx;
  made.memOp.count = batch.count;
  made.memOp.paramArray = batch.paramArray;
  made.memOp.flags = batch.flags;
  return made;
}
inline CUgraphNodeParams child_node(CUgraph child) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_GRAPH);
  made.graph.graph = child;
  made.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
  return made;
}
inline CUgraphNodeParams event_record_node(CUevent event) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  made.eventRecord.event = event;
  return made;
}
inline CUgraphNodeParams event_wait_node(CUevent event) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  made.eventWait.event = event;
  return made;
}

// creating a node

inline CUresult graph_add_node(CUgraphNode* created, CUgraph graph, const CUgraphNode* after,
                               std::size_t count, CUgraphNodeParams* parameters) noexcept {
  return ask<&table::graph_add_node>(created, graph, after, nullptr, count, parameters);
}

template <class Parameters>
CUresult graph_add_in(CUgraphNode* created, CUgraph graph, const CUgraphNode* after,
                      std::size_t count, const Parameters* parameters, CUcontext context) noexcept {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams made = node_of(*parameters, context);
  return graph_add_node(created, graph, after, count, &made);
}

template <class Parameters>
CUresult graph_add(CUgraphNode* created, CUgraph graph, const CUgraphNode* after, std::size_t count,
                   const Parameters* parameters) noexcept {
  return graph_add_in(created, graph, after, count, parameters, nullptr);
}

inline CUresult graph_add_child(CUgraphNode* created, CUgraph graph, const CUgraphNode* after,
                                std::size_t count, CUgraph child) noexcept {
  CUgraphNodeParams made = child_node(child);
  return graph_add_node(created, graph, after, count, &made);
}

inline CUresult graph_add_empty(CUgraphNode* created, CUgraph graph, const CUgraphNode* after,
                                std::size_t count) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_EMPTY);
  return graph_add_node(created, graph, after, count, &made);
}

inline CUresult graph_add_event_record(CUgraphNode* created, CUgraph graph,
                                       const CUgraphNode* after, std::size_t count,
                                       CUevent event) noexcept {
  CUgraphNodeParams made = event_record_node(event);
  return graph_add_node(created, graph, after, count, &made);
}

inline CUresult graph_add_event_wait(CUgraphNode* created, CUgraph graph, const CUgraphNode* after,
                                     std::size_t count, CUevent event) noexcept {
  CUgraphNodeParams made = event_wait_node(event);
  return graph_add_node(created, graph, after, count, &made);
}

inline CUresult graph_add_mem_alloc(CUgraphNode* created, CUgraph graph, const CUgraphNode* after,
                                    std::size_t count,
                                    CUDA_MEM_ALLOC_NODE_PARAMS_v1* allocation) noexcept {
  if (allocation == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  copy_members(made.alloc, *allocation);
  const CUresult answer = graph_add_node(created, graph, after, count, &made);
  if (answer == CUDA_SUCCESS) allocation->dptr = made.alloc.dptr;
  return answer;
}

inline CUresult graph_add_mem_free(CUgraphNode* created, CUgraph graph, const CUgraphNode* after,
                                   std::size_t count, CUdeviceptr memory) noexcept {
  CUgraphNodeParams made = node(CU_GRAPH_NODE_TYPE_MEM_FREE);
  made.free.dptr = memory;
  return graph_add_node(created, graph, after, count, &made);
}

// changing a node of a graph

template <class Parameters>
CUresult graph_set(CUgraphNode changed, const Parameters* parameters) noexcept {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams made = node_of(*parameters, nullptr);
  return ask<&table::graph_node_set_params>(changed, &made);
}

inline CUresult graph_set_event_record(CUgraphNode changed, CUevent event) noexcept {
  CUgraphNodeParams made = event_record_node(event);
  return ask<&table::graph_node_set_params>(changed, &made);
}

inline CUresult graph_set_event_wait(CUgraphNode changed, CUevent event) noexcept {
  CUgraphNodeParams made = event_wait_node(event);
  return ask<&table::graph_node_set_params>(changed, &made);
}

// changing a node of an instantiated graph

template <class Parameters>
CUresult graph_exec_set_in(CUgraphExec exec, CUgraphNode changed, const Parameters* parameters,
                           CUcontext context) noexcept {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams made = node_of(*parameters, context);
  return ask<&table::graph_exec_node_set_params>(exec, changed, &made);
}

template <class Parameters>
CUresult graph_exec_set(CUgraphExec exec, CUgraphNode changed,
                        const Parameters* parameters) noexcept {
  return graph_exec_set_in(exec, changed, parameters, nullptr);
}

inline CUresult graph_exec_set_child(CUgraphExec exec, CUgraphNode changed,
                                     CUgraph child) noexcept {
  CUgraphNodeParams made = child_node(child);
  return ask<&table::graph_exec_node_set_params>(exec, changed, &made);
}

inline CUresult graph_exec_set_event_record(CUgraphExec exec, CUgraphNode changed,
                                            CUevent event) noexcept {
  CUgraphNodeParams made = event_record_node(event);
  return ask<&table::graph_exec_node_set_params>(exec, changed, &made);
}

inline CUresult graph_exec_set_event_wait(CUgraphExec exec, CUgraphNode changed,
                                          CUevent event) noexcept {
  CUgraphNodeParams made = event_wait_node(event);
  return ask<&table::graph_exec_node_set_params>(exec, changed, &made);
}

// asking

inline CUresult graph_kernel_node_get_params_v1(CUgraphNode of,
                                                CUDA_KERNEL_NODE_PARAMS_v1* found) noexcept {
  if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS_v2 newer{};
  const CUresult answer = ask<&table::graph_kernel_node_get_params>(of, &newer);
  if (answer == CUDA_SUCCESS) std::memcpy(found, &newer, sizeof *found);
  return answer;
}

// Edges without data: the driver refuses to leave out what an edge has.

inline CUresult graph_add_dependencies_v1(CUgraph graph, const CUgraphNode* from,
                                          const CUgraphNode* to, std::size_t count) noexcept {
  return ask<&table::graph_add_dependencies>(graph, from, to, nullptr, count);
}

inline CUresult graph_remove_dependencies_v1(CUgraph graph, const CUgraphNode* from,
                                             const CUgraphNode* to, std::size_t count) noexcept {
  return ask<&table::graph_remove_dependencies>(graph, from, to, nullptr, count);
}

inline CUresult graph_get_edges_v1(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                                   std::size_t* count) noexcept {
  return ask<&table::graph_get_edges>(graph, from, to, nullptr, count);
}

inline CUresult graph_node_get_dependencies_v1(CUgraphNode of, CUgraphNode* found,
                                               std::size_t* count) noexcept {
  return ask<&table::graph_node_get_dependencies>(of, found, nullptr, count);
}

inline CUresult graph_node_get_dependent_nodes_v1(CUgraphNode of, CUgraphNode* found,
                                                  std::size_t* count) noexcept {
  return ask<&table::graph_node_get_dependent_nodes>(of, found, nullptr, count);
}

// instantiating and updating

inline CUresult graph_instantiate_with_flags(CUgraphExec* exec, CUgraph graph,
                                             unsigned long long flags) noexcept {
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  parameters.flags = flags;
  return ask<&table::graph_instantiate_with_params>(exec, graph, &parameters);
}

/// The log is always empty: the node is all that the driver tells.
inline CUresult graph_instantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* failed,
                                     char* log, std::size_t log_size) noexcept {
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  const CUresult answer = ask<&table::graph_instantiate_with_params>(exec, graph, &parameters);
  if (failed != nullptr) *failed = answer != CUDA_SUCCESS ? parameters.hErrNode_out : nullptr;
  if (log != nullptr && log_size != 0) *log = '\0';
  return answer;
}

/// The upload goes to the stream of the calling thread if none is named.
inline CUresult graph_instantiate_per_thread(CUgraphExec* exec, CUgraph graph,
                                             CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) noexcept {
  if (parameters == nullptr || parameters->hUploadStream != nullptr)
    return ask<&table::graph_instantiate_with_params>(exec, graph, parameters);
  parameters->hUploadStream = CU_STREAM_PER_THREAD;
  const CUresult answer = ask<&table::graph_instantiate_with_params>(exec, graph, parameters);
  parameters->hUploadStream = nullptr;
  return answer;
}

inline CUresult graph_exec_update_v1(CUgraphExec exec, CUgraph graph, CUgraphNode* failed,
                                     CUgraphExecUpdateResult* result) noexcept {
  CUgraphExecUpdateResultInfo found{};
  const CUresult answer = ask<&table::graph_exec_update>(exec, graph, &found);
  if (failed != nullptr) *failed = found.errorNode;
  if (result != nullptr) *result = found.result;
  return answer;
}

}  // namespace nogpu::libcuda::legacy
