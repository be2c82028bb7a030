#pragma once
/// \file
/// Entry points: executable graphs. A launch puts the nodes' work into its stream one after the
/// other, in an order that the dependencies allow.

#include <nogpu/driver/event_marks.hpp>
#include <nogpu/driver/graph_needs.hpp>
#include <nogpu/driver/graph_nodes.hpp>

#include <cuda.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

inline CUresult find_exec(call& c, CUgraphExec handle, exec_ptr& exec) {
  exec = handle == nullptr ? nullptr : c.driver.graph_execs.find(handle);
  return exec ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline std::shared_ptr<exec_body> make_body(const graph_state& graph);

/// Sets the work of a node and all members that depend on it. Its bodies become those of `what`.
inline void set_work(exec_node& node, const node_work& what) {
  node.what = what;
  if (what.kernel) note_runtime_use(*what.context, *what.kernel->kernel);
  node.bodies.clear();
  if (what.child) node.bodies.push_back(make_body(*what.child));
  for (const graph_ptr& each : what.bodies) node.bodies.push_back(make_body(*each));
}

/// Makes the body of an executable graph; null if the dependencies of the nodes form a cycle.
inline std::shared_ptr<exec_body> make_body(const graph_state& graph) {
  auto body = std::make_shared<exec_body>();
  const std::vector<node_ptr> order = in_order(graph);
  if (order.size() != graph.nodes.size()) return nullptr;
  for (const node_ptr& each : order) {
    exec_node node;
    node.source = each->handle;
    set_work(node, each->what);
    for (const auto& inner : node.bodies)
      if (!inner) return nullptr;
    body->nodes.push_back(std::move(node));
  }
  return body;
}

/// Makes `body` the work of `exec`, taken from `graph`; its nodes have the handles in `sources`.
inline void set_body(call& c, graph_exec_state& exec, const graph_state& graph,
                     std::shared_ptr<exec_body> body) {
  const graph_ptr snapshot = clone_graph(c.driver, graph);
  if (exec.snapshot) destroy_graph(c.driver, exec.snapshot);
  exec.body = std::move(body);
  exec.snapshot = snapshot;
  exec.snapshot->owned_by_node = true;
}

inline operation_ptr operation_of(const exec_node& node) {
  auto made = std::make_shared<operation>();
  made->work = node.what.work;
  made->reads = node.what.reads;
  made->reads_any_host_memory = node.what.reads_any_host_memory;
  made->reads_mapped_host_memory = node.what.reads_mapped_host_memory;
  return made;
}

/// Returns whether there is an executable graph already for memory that a new one allocates.
inline bool is_instantiated(driver_state& driver, exec_body& body) {
  std::set<const graph_allocation*> own;
  for (const exec_node* each : memory_nodes(body))
    if (each->what.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) own.insert(each->what.allocation.get());
  if (own.empty()) return false;
  for (const exec_ptr& exec : driver.graph_execs.all())
    for (const exec_node* each : memory_nodes(*exec->body))
      if (each->what.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
          own.count(each->what.allocation.get()) != 0)
        return true;
  return false;
}

/// Reserves the memory that launches allocate.
inline CUresult back_allocations(driver_state& driver, exec_body& body) {
  for (const exec_node* each : memory_nodes(body)) {
    if (each->what.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) continue;
    const auto block = driver.blocks_of_memory.find(each->what.allocation->address);
    if (block != driver.blocks_of_memory.end() && !take_graph_memory(driver, block->second))
      return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_SUCCESS;
}

/// Takes or gives back the memory that a launch allocates or frees.
inline CUresult pass_allocations(driver_state& driver, exec_body& body, bool automatic) {
  const std::vector<exec_node*> nodes = memory_nodes(body);
  for (const exec_node* each : nodes)
    if (!automatic && each->what.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
        each->what.allocation->in_use)
      return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = back_allocations(driver, body)) return bad;
  for (exec_node* each : nodes)
    each->what.allocation->in_use = each->what.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  return CUDA_SUCCESS;
}

/// Lists the objects that a graph and its children keep alive.
inline void list_kept(const graph_state& graph, std::vector<std::shared_ptr<user_object>>& all) {
  for (const kept_object& each : graph.kept) all.push_back(each.object);
  for (const node_ptr& each : graph.nodes)
    if (each->what.child) list_kept(*each->what.child, all);
}

/// The work of a body without events and host functions, as one piece.
inline std::function<void()> body_work(driver_state& driver,
                                       const std::shared_ptr<exec_body>& body);

inline std::function<void()> conditional_work(driver_state& driver, const exec_node& node) {
  std::vector<std::function<void()>> bodies;
  for (const auto& each : node.bodies) bodies.push_back(body_work(driver, each));
  return [&driver, bodies = std::move(bodies), condition = node.what.condition,
          type = node.what.condition_type] {
    const auto goes_on = [&] {
      return condition->context->fault.load() == 0 && !driver.canceled.load();
    };
    switch (type) {
      case CU_GRAPH_COND_TYPE_IF:
        if (condition->now.load() != 0) {
          bodies[0]();
        } else if (bodies.size() > 1) {
          bodies[1]();
        }
        break;
      case CU_GRAPH_COND_TYPE_WHILE:
        while (condition->now.load() != 0 && goes_on()) bodies[0]();
        break;
      default:
        if (condition->now.load() < bodies.size()) bodies[condition->now.load()]();
    }
  };
}

inline std::function<void()> body_work(driver_state& driver,
                                       const std::shared_ptr<exec_body>& body) {
  std::vector<std::function<void()>> all;
  for (const exec_node& each : body->nodes) {
    if (each.what.child) {
      all.push_back(body_work(driver, each.bodies[0]));
    } else if (each.what.condition) {
      all.push_back(conditional_work(driver, each));
    } else if (each.what.work) {
      all.push_back(each.what.work);
    }
  }
  return [all = std::move(all)] {
    for (const auto& each : all) each();
  };
}

/// Queues the work of a body. What it keeps alive lives until its last piece is done.
inline CUresult enqueue_body(call& c, const stream_ptr& stream,
                             const std::shared_ptr<exec_body>& body) {
  for (const exec_node& each : body->nodes) {
    if (!each.enabled) continue;
    if (each.what.child) {
      if (const CUresult bad = enqueue_body(c, stream, each.bodies[0])) return bad;
      continue;
    }
    const operation_ptr made = operation_of(each);
    if (each.what.type == CU_GRAPH_NODE_TYPE_HOST) {
      made->work = [context = stream->context, work = each.what.work] {
        if (context->fault.load() == 0) work();
      };
    }
    if (each.what.condition) made->work = conditional_work(c.driver, each);
    if (each.what.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
      wait_for(c.driver, *each.what.event, stream->context, *made);
    if (each.what.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) record(*each.what.event, made);
    if (each.what.when_enqueued) each.what.when_enqueued(c, *made);
    if (const CUresult bad = c.enqueue(stream, made)) return bad;
    if (each.what.event && each.what.event->shared) c.driver.work.advance(made, c.lock);
  }
  return CUDA_SUCCESS;
}

/// The nodes of an executable graph have the handles of the nodes that it was made from, as long as
/// these exist.
inline exec_node* find_in(call& c, const graph_exec_state& exec, CUgraphNode source) {
  if (source == nullptr || !c.driver.graph_nodes.find(source)) return nullptr;
  for (exec_node& each : exec.body->nodes)
    if (each.source == source) return &each;
  return nullptr;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult graph_instantiate_with_params(call& c, CUgraphExec* exec, CUgraph handle,
                                              CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  graph_ptr graph;
  stream_ptr stream;
  constexpr cuuint64_t known =
      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
      CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  if (exec == nullptr || params == nullptr || (params->flags & ~known) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  params->hErrNode_out = nullptr;
  params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  if (const CUresult bad = find_graph(c, handle, graph)) return bad;
  if (graph->moved || (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0)
    return CUDA_ERROR_NOT_SUPPORTED;
  if ((params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0)
    if (const CUresult bad = c.find_stream(params->hUploadStream, stream)) return bad;
  for (const auto& each : graph->conditions) {
    if (each->has_node) continue;
    params->result_out = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (const CUresult bad = refuse_missing(c, *graph)) return bad;
  std::shared_ptr<exec_body> body = make_body(*graph);
  if (!body) {
    params->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (is_instantiated(c.driver, *body)) return CUDA_ERROR_NOT_SUPPORTED;
  auto made = std::make_shared<graph_exec_state>();
  made->flags = params->flags;
  made->place = c.driver.place();
  for (const node_ptr& each : graph->nodes) made->sources.push_back(each->handle);
  set_body(c, *made, *graph, std::move(body));
  rollback dropped([&] { destroy_graph(c.driver, made->snapshot); });
  *exec = c.driver.graph_execs.add(made);
  dropped.keep();
  params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return CUDA_SUCCESS;
}

inline CUresult graph_exec_get_flags(call& c, CUgraphExec handle, cuuint64_t* flags) {
  exec_ptr exec;
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_exec(c, handle, exec)) return bad;
  // Driver 580 reports only this flag.
  *flags = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  return CUDA_SUCCESS;
}

/// Launches in progress finish, and keep what they need until then.
inline CUresult graph_exec_destroy(call& c, CUgraphExec handle) {
  exec_ptr exec;
  if (const CUresult bad = find_exec(c, handle, exec)) return bad;
  (void)c.driver.graph_execs.take(handle);
  // To free memory needs the driver's lock, which ending work does not hold.
  const std::vector<exec_node*> nodes = memory_nodes(*exec->body);
  if (!nodes.empty()) c.driver.work.finish(exec->last, c.lock);
  for (exec_node* each : nodes) drop_allocation(c.driver, each->what);
  destroy_graph(c.driver, exec->snapshot);
  return CUDA_SUCCESS;
}

inline CUresult graph_upload(call& c, CUgraphExec handle, CUstream stream_handle) {
  exec_ptr exec;
  stream_ptr stream;
  if (const CUresult bad = find_exec(c, handle, exec)) return bad;
  if (const CUresult bad = c.find_stream(stream_handle, stream)) return bad;
  if (const CUresult bad = back_allocations(c.driver, *exec->body)) return bad;
  return c.enqueue(stream, std::make_shared<operation>());
}

inline CUresult graph_launch(call& c, CUgraphExec handle, CUstream stream_handle) {
  exec_ptr exec;
  stream_ptr stream;
  if (const CUresult bad = find_exec(c, handle, exec)) return bad;
  if (const CUresult bad = c.find_stream(stream_handle, stream)) return bad;
  if (stream->capture) return c.refuse_capture(*stream);
  if (const CUresult bad = c.refuse_implicit(*stream)) return bad;
  if (const CUresult bad = refuse_missing(c, *exec->body)) return bad;
  const bool automatic = (exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
  if (const CUresult bad = pass_allocations(c.driver, *exec->body, automatic)) return bad;
  // One launch of a graph comes after the one before, whatever their streams.
  auto first = std::make_shared<operation>();
  first->work = [conditions = exec->snapshot->conditions] {
    for (const auto& each : conditions)
      if (each->set_at_launch) each->now.store(each->initial);
  };
  if (exec->last && exec->last->state != operation::progress::done)
    first->after.push_back(exec->last);
  if (const CUresult bad = c.enqueue(stream, first)) return bad;
  if (const CUresult bad = enqueue_body(c, stream, exec->body)) return bad;
  std::vector<std::shared_ptr<user_object>> kept;
  list_kept(*exec->snapshot, kept);
  auto last = std::make_shared<operation>();
  last->work = [kept = std::move(kept)] {};
  exec->last = last;
  return c.enqueue(stream, last);
}

inline bool can_be_disabled(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
         type == CU_GRAPH_NODE_TYPE_MEMSET;
}

inline CUresult graph_node_set_enabled(call& c, CUgraphExec handle, CUgraphNode source,
                                       unsigned enabled) {
  exec_ptr exec;
  if (const CUresult bad = find_exec(c, handle, exec)) return bad;
  exec_node* node = find_in(c, *exec, source);
  if (node == nullptr || !can_be_disabled(node->what.type)) return CUDA_ERROR_INVALID_VALUE;
  node->enabled = enabled != 0;
  return CUDA_SUCCESS;
}

inline CUresult graph_node_get_enabled(call& c, CUgraphExec handle, CUgraphNode source,
                                       unsigned* enabled) {
  exec_ptr exec;
  if (enabled == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_exec(c, handle, exec)) return bad;
  const exec_node* node = find_in(c, *exec, source);
  if (node == nullptr || !can_be_disabled(node->what.type)) return CUDA_ERROR_INVALID_VALUE;
  *enabled = node->enabled ? 1 : 0;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
