#pragma once
/// \file
/// Entry points: nodes made and changed by their descriptions.

#include <nogpu/driver/copies_3d.hpp>
#include <nogpu/driver/external_semaphores.hpp>
#include <nogpu/driver/fills.hpp>
#include <nogpu/driver/graph_edges.hpp>
#include <nogpu/driver/graph_kernels.hpp>
#include <nogpu/driver/graph_memory.hpp>
#include <nogpu/driver/launches.hpp>
#include <nogpu/driver/pools.hpp>
#include <nogpu/driver/stream_memory_operations.hpp>
#include <nogpu/driver/streams.hpp>

#include <cuda.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// The context of a node: the one that it names, or else the current one.
inline CUresult node_context(call& c, CUcontext handle, context_ptr& context) {
  return handle == nullptr ? c.current(context) : c.find_context(handle, context);
}

/// A kernel node names a function, or a library's kernel and a context.
inline CUresult describe_kernel(call& c, const CUDA_KERNEL_NODE_PARAMS_v3& from, node_work& to) {
  operation_ptr made;
  function_ptr function;
  CUfunction handle = from.func;
  if (handle != nullptr) {
    function = c.driver.functions.find(handle);
    if (function) to.context = c.driver.contexts.find(function->context);
  }
  if (!to.context)
    if (const CUresult bad = node_context(c, from.ctx, to.context)) return bad;
  if (handle == nullptr) handle = reinterpret_cast<CUfunction>(from.kern);
  const launch_order order{{from.gridDimX, from.gridDimY, from.gridDimZ},
                           {from.blockDimX, from.blockDimY, from.blockDimZ},
                           from.sharedMemBytes,
                           nullptr,
                           false};
  if (const CUresult bad =
          prepare_launch(c, to.context, handle, order, from.kernelParams, from.extra, made))
    return bad;
  to.work = std::move(made->work);
  to.reads = std::move(made->reads);
  to.reads_mapped_host_memory = true;
  to.kernel = std::move(made->kernel);
  return CUDA_SUCCESS;
}

inline CUresult describe_copy(call& c, const CUDA_MEMCPY_NODE_PARAMS& from, node_work& to) {
  const CUDA_MEMCPY3D& copy = from.copyParams;
  if (from.flags != 0 || copy.srcLOD != 0 || copy.dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = node_context(c, from.copyCtx, to.context)) return bad;
  transfer what;
  what.width = copy.WidthInBytes;
  what.height = copy.Height;
  what.depth = copy.Depth;
  if (what.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = check_boxes(c, target_of(copy), source_of(copy), what)) return bad;
  to = transfer_node(c, to.context, what);
  return CUDA_SUCCESS;
}

inline CUresult describe_fill(call& c, const CUDA_MEMSET_NODE_PARAMS_v2& from, node_work& to) {
  if (const CUresult bad = node_context(c, from.ctx, to.context)) return bad;
  if (from.width == 0 || from.height == 0) return CUDA_ERROR_INVALID_VALUE;
  transfer what;
  const auto describe = [&](auto value) {
    using type = decltype(value);
    const CUresult bad = check_fill<type>(c, from.dst, from.pitch, from.width, from.height, what);
    if (!bad) to = fill_node(c, to.context, what, value);
    return bad;
  };
  switch (from.elementSize) {
    case 1: return describe(static_cast<unsigned char>(from.value));
    case 2: return describe(static_cast<unsigned short>(from.value));
    case 4: return describe(from.value);
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

/// Returns whether a graph is another one, or is inside of it.
inline bool contains(const graph_state& outer, const graph_state& inner) {
  const auto has_inside = [&](const node_ptr& each) {
    return (each->what.child && contains(*each->what.child, inner)) ||
           std::any_of(each->what.bodies.begin(), each->what.bodies.end(),
                       [&](const graph_ptr& body) { return contains(*body, inner); });
  };
  return &outer == &inner || std::any_of(outer.nodes.begin(), outer.nodes.end(), has_inside);
}

/// A child is a copy, or the graph itself, which from then on belongs to the node.
inline CUresult describe_child(call& c, const CUDA_CHILD_GRAPH_NODE_PARAMS& from,
                               const graph_state& parent, node_work& to) {
  graph_ptr child;
  const bool move = number_of(from.ownership) == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  if (const CUresult bad = find_graph(c, from.graph, child)) return bad;
  if (move ? contains(*child, parent) : child.get() == &parent) return CUDA_ERROR_INVALID_VALUE;
  if (child->moved || (move && (child->owned_by_node || child->captured_into)))
    return CUDA_ERROR_NOT_SUPPORTED;
  if (!move && allocates(*child)) return CUDA_ERROR_NOT_SUPPORTED;
  for (const node_ptr& each : child->nodes)
    if (each->what.condition) return CUDA_ERROR_NOT_SUPPORTED;
  to.child = move ? child : clone_graph(c.driver, *child);
  to.child->owned_by_node = true;
  to.child->moved = move;
  return CUDA_SUCCESS;
}

inline CUresult describe_conditional(call& c, CUDA_CONDITIONAL_NODE_PARAMS& from,
                                     const graph_state& graph, node_work& to) {
  const bool right_size = from.type == CU_GRAPH_COND_TYPE_IF      ? from.size == 1 || from.size == 2
                          : from.type == CU_GRAPH_COND_TYPE_WHILE ? from.size == 1
                                                                  : from.size > 0;
  if (!right_size || from.type > CU_GRAPH_COND_TYPE_SWITCH) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = node_context(c, from.ctx, to.context)) return bad;
  std::shared_ptr<conditional_value> condition;
  for (const auto& each : graph.conditions)
    if (each->handle == from.handle) condition = each;
  if (!condition || condition->has_node || condition->context != to.context)
    return CUDA_ERROR_INVALID_VALUE;
  to.bodies.reserve(from.size);
  to.condition_type = from.type;
  for (unsigned i = 0; i < from.size; ++i) {
    to.bodies.push_back(make_graph(c.driver));
    to.bodies.back()->owned_by_node = to.bodies.back()->conditional_body = true;
    to.bodies.back()->conditions = graph.conditions;  // for what is nested
    to.body_handles.push_back(to.bodies.back()->handle);
  }
  condition->has_node = true;
  to.condition = std::move(condition);
  return CUDA_SUCCESS;
}

inline CUresult describe_allocation(call& c, CUDA_MEM_ALLOC_NODE_PARAMS_v2& from, node_work& to) {
  device_state* device = nullptr;
  if (from.bytesize == 0 || from.poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
      from.poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
      from.poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_device(from.poolProps.location.id, device)) return bad;
  if (from.accessDescCount > c.driver.devices.size() ||
      (from.accessDescCount != 0 && from.accessDescs == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  std::set<int> peers;
  for (std::size_t i = 0; i < from.accessDescCount; ++i) {
    const CUmemAccessDesc& each = from.accessDescs[i];
    device_state* peer = nullptr;
    if (each.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        each.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult bad = c.find_device(each.location.id, peer)) return bad;
    peers.insert(peer->ordinal);
  }
  if (const CUresult bad =
          make_graph_memory(c, device->ordinal, std::move(peers), from.bytesize, to))
    return bad;
  from.dptr = to.allocation->address;
  return CUDA_SUCCESS;
}

inline CUresult describe_memory_operations(call& c, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& from,
                                           node_work& to) {
  std::vector<memory_operation> all;
  if (from.ctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_context(from.ctx, to.context)) return bad;
  if (const CUresult bad =
          read_memory_operations(c, *to.context, from.count, from.paramArray, from.flags, all))
    return bad;
  to = memory_operations_node(c.driver, to.context, std::move(all));
  return CUDA_SUCCESS;
}

/// `from` are the parameters of signals or of waits.
template <class Parameters>
CUresult describe_semaphores(call& c, const Parameters& from, node_work& to) {
  std::vector<semaphore_operation> all;
  if (const CUresult bad = node_context(c, nullptr, to.context)) return bad;
  if (const CUresult bad =
          read_semaphores(c, from.extSemArray, from.paramsArray, from.numExtSems, all))
    return bad;
  to = semaphores_node(c.driver, to.context, std::move(all));
  return CUDA_SUCCESS;
}

/// Turns a description into the work of a node of `graph`.
inline CUresult describe(call& c, CUgraphNodeParams& from, const graph_state& graph,
                         node_work& to) {
  if (from.reserved2 != 0) return CUDA_ERROR_INVALID_VALUE;
  to.type = from.type;
  switch (from.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return describe_kernel(c, from.kernel, to);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return describe_copy(c, from.memcpy, to);
    case CU_GRAPH_NODE_TYPE_MEMSET: return describe_fill(c, from.memset, to);
    case CU_GRAPH_NODE_TYPE_HOST:
      if (from.host.fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
      to.reads_any_host_memory = true;
      to.work = [fn = from.host.fn, data = from.host.userData] {
        const host_function_scope inside;
        fn(data);
      };
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH: return describe_child(c, from.graph, graph, to);
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      if (from.eventWait.event == nullptr) return CUDA_ERROR_INVALID_VALUE;
      return c.find_event(from.eventWait.event, to.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      if (from.eventRecord.event == nullptr) return CUDA_ERROR_INVALID_VALUE;
      return c.find_event(from.eventRecord.event, to.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return describe_allocation(c, from.alloc, to);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return make_free_node(c, graph, from.free.dptr, to);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return describe_conditional(c, from.conditional, graph, to);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return describe_memory_operations(c, from.memOp, to);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: return describe_semaphores(c, from.extSemSignal, to);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return describe_semaphores(c, from.extSemWait, to);
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

/// Returns whether the body of a conditional node may have a node of a type.
inline bool fits_body(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_EMPTY ||
         type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_MEMSET ||
         type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

/// Returns whether a node allocates or frees memory. Child graphs accept no more of these.
inline bool is_memory_node(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

/// Returns whether a description moves a graph into its node.
inline bool moves_child(const CUgraphNodeParams* from) {
  return from != nullptr && from->type == CU_GRAPH_NODE_TYPE_GRAPH &&
         number_of(from->graph.ownership) == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
}

/// Undoes `describe` for a node that is not created: frees graphs and memory, and releases a child
/// or a condition for other nodes.
inline void undescribe(driver_state& driver, node_work& what) {
  if (what.child && what.child->moved) {
    what.child->moved = what.child->owned_by_node = false;
    what.child.reset();
  }
  if (what.condition) what.condition->has_node = false;
  drop_graphs(driver, what);
  drop_allocation(driver, what);
}

/// Changes the work of a node to other work of the same kind.
inline CUresult redescribe(call& c, CUgraphNodeParams* from, const graph_state& graph,
                           node_work& what) {
  if (from == nullptr || from->type != what.type) return CUDA_ERROR_INVALID_VALUE;
  if (what.allocation || what.condition || allocates(what)) return CUDA_ERROR_NOT_SUPPORTED;
  node_work made;
  if (const CUresult bad = describe(c, *from, graph, made)) return bad;
  made.attributes = what.attributes;
  if (const CUresult bad = apply_attributes(c, made, true)) return bad;
  if (what.child) destroy_graph(c.driver, what.child);
  what = std::move(made);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult graph_add_node(call& c, CUgraphNode* node, CUgraph handle, const CUgraphNode* after,
                               const CUgraphEdgeData* edges, std::size_t count,
                               CUgraphNodeParams* params) {
  graph_ptr graph;
  std::vector<node_dependency> nodes;
  node_work what;
  if (node == nullptr || params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_graph(c, handle, graph)) return bad;
  if (const CUresult bad = find_nodes(c, *graph, after, edges, count, nodes)) return bad;
  for (const node_dependency& each : nodes)
    if (!is_possible(each.edge, each.node->what.type, params->type))
      return CUDA_ERROR_INVALID_VALUE;
  if (graph->conditional_body && !fits_body(params->type)) return CUDA_ERROR_NOT_SUPPORTED;
  if (graph->owned_by_node && is_memory_node(params->type)) return CUDA_ERROR_NOT_SUPPORTED;
  rollback dropped([&] { undescribe(c.driver, what); });
  if (const CUresult bad = describe(c, *params, *graph, what)) return bad;
  const node_ptr made = c.driver.make_node(*graph, {}, std::move(nodes));
  made->what = std::move(what);
  dropped.keep();
  if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
    params->conditional.phGraph_out = made->what.body_handles.data();
  *node = made->handle;
  return CUDA_SUCCESS;
}

inline CUresult graph_node_set_params(call& c, CUgraphNode handle, CUgraphNodeParams* params) {
  node_ptr node;
  if (const CUresult bad = find_node(c, handle, node)) return bad;
  // NVIDIA's driver accepts it, and then can neither instantiate nor destroy the parent.
  if (moves_child(params)) return CUDA_ERROR_NOT_SUPPORTED;
  return redescribe(c, params, *node->graph, node->what);
}

inline CUresult graph_child_graph_node_get_graph(call& c, CUgraphNode handle, CUgraph* graph) {
  node_ptr node;
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_node(c, handle, node)) return bad;
  if (!node->what.child) return CUDA_ERROR_INVALID_VALUE;
  *graph = node->what.child->handle;
  return CUDA_SUCCESS;
}

/// The event of a node that records one, or waits for one, as the type says.
inline CUresult event_of(call& c, CUgraphNode handle, CUgraphNodeType type, CUevent* event) {
  node_ptr node;
  if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_node(c, handle, node)) return bad;
  if (node->what.type != type) return CUDA_ERROR_INVALID_VALUE;
  *event = node->what.event->handle;
  return CUDA_SUCCESS;
}

inline CUresult graph_event_record_node_get_event(call& c, CUgraphNode node, CUevent* event) {
  return event_of(c, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

inline CUresult graph_event_wait_node_get_event(call& c, CUgraphNode node, CUevent* event) {
  return event_of(c, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

inline CUresult graph_conditional_handle_create(call& c, CUgraphConditionalHandle* handle,
                                                CUgraph graph_handle, CUcontext context,
                                                unsigned initial, unsigned flags) {
  graph_ptr graph;
  if (handle == nullptr || flags > CU_GRAPH_COND_ASSIGN_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_graph(c, graph_handle, graph)) return bad;
  auto made = std::make_shared<conditional_value>();
  if (const CUresult bad = node_context(c, context, made->context)) return bad;
  made->handle = next_handle_number();
  made->initial = initial;
  made->set_at_launch = flags == CU_GRAPH_COND_ASSIGN_DEFAULT;
  {
    const std::lock_guard guard(c.driver.conditions_mutex);
    std::erase_if(c.driver.conditions, [](const auto& each) { return each.second.expired(); });
    c.driver.conditions[made->handle] = made;
  }
  *handle = made->handle;
  graph->conditions.push_back(std::move(made));
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
