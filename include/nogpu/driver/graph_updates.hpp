#pragma once
/// \file
/// Entry points: update executable graphs from graphs of the same topology.

#include <nogpu/driver/graph_execs.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// The reason why an executable graph cannot be updated from a graph, and the node that it is
/// about.
struct graph_difference {
  CUgraphExecUpdateResult why = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  CUgraphNode node = nullptr;
  CUgraphNode from = nullptr;
};

inline graph_difference compare(const graph_state& old, const graph_state& fresh) {
  const std::vector<node_ptr>& before = old.nodes;
  const std::vector<node_ptr>& now = fresh.nodes;
  if (before.size() != now.size()) return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED};
  std::map<const graph_node_state*, const graph_node_state*> twin;
  for (std::size_t i = 0; i < now.size(); ++i) twin[now[i].get()] = before[i].get();
  for (std::size_t i = 0; i < now.size(); ++i) {
    const node_work& is = now[i]->what;
    const node_work& was = before[i]->what;
    if (now[i]->after.size() != before[i]->after.size())
      return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, now[i]->handle};
    for (const node_dependency& each : now[i]->after) {
      const bool same = std::any_of(
          before[i]->after.begin(), before[i]->after.end(), [&](const node_dependency& other) {
            return other.node.get() == twin[each.node.get()] && is_same(other.edge, each.edge);
          });
      if (!same)
        return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, now[i]->handle, each.node->handle};
    }
    if (is.type != was.type) return {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, now[i]->handle};
    if (is.shape != was.shape)
      return {CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, now[i]->handle};
    if (is.allocation) return {CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, now[i]->handle};
    if (is.context != was.context)
      return {is.type == CU_GRAPH_NODE_TYPE_KERNEL
                  ? CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE
                  : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
              now[i]->handle};
    if (!is.child) continue;
    const graph_difference inside = compare(*was.child, *is.child);
    if (inside.why != CU_GRAPH_EXEC_UPDATE_SUCCESS) return inside;
  }
  return {};
}

/// Gives a node the work of a graph like the one that it has; `what.child` is a copy of it.
inline CUresult set_child(call& c, graph_exec_state& exec, exec_node& node, const node_work& what) {
  CUresult answer = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  for (std::size_t i = 0; i < exec.sources.size(); ++i) {
    if (exec.sources[i] != node.source) continue;
    const graph_difference found = compare(*exec.snapshot->nodes[i]->what.child, *what.child);
    if (found.why == CU_GRAPH_EXEC_UPDATE_SUCCESS) answer = CUDA_SUCCESS;
  }
  if (!answer) {
    set_work(node, what);
    std::vector<kept_object>& kept = exec.snapshot->kept;
    kept.insert(kept.end(), what.child->kept.begin(), what.child->kept.end());
  }
  destroy_graph(c.driver, what.child);
  return answer;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

/// Compares the structure of a graph with that of the one that was instantiated, then copies the
/// work of the nodes.
inline CUresult graph_exec_update(call& c, CUgraphExec handle, CUgraph graph_handle,
                                  CUgraphExecUpdateResultInfo* info) {
  exec_ptr exec;
  graph_ptr graph;
  if (info == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *info = {};
  info->result = CU_GRAPH_EXEC_UPDATE_ERROR;
  if (const CUresult bad = find_exec(c, handle, exec)) return bad;
  if (const CUresult bad = find_graph(c, graph_handle, graph)) return bad;
  if (const CUresult bad = refuse_missing(c, *graph)) return bad;
  if (graph->moved) return CUDA_ERROR_INVALID_VALUE;
  const auto refuse = [&](const graph_difference& difference) {
    info->result = difference.why;
    info->errorNode = difference.node;
    info->errorFromNode = difference.from;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  };
  const graph_difference found = compare(*exec->snapshot, *graph);
  if (found.why != CU_GRAPH_EXEC_UPDATE_SUCCESS) return refuse(found);
  std::shared_ptr<exec_body> body = make_body(*graph);
  if (!body) return refuse({CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED});
  const std::vector<node_ptr>& now = graph->nodes;
  for (exec_node& each : body->nodes) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i]->handle != each.source) continue;
      each.source = exec->sources[i];
      if (const exec_node* old = find_in(c, *exec, each.source)) each.enabled = old->enabled;
      break;
    }
  }
  set_body(c, *exec, *graph, std::move(body));
  info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  return CUDA_SUCCESS;
}

inline CUresult graph_exec_node_set_params(call& c, CUgraphExec handle, CUgraphNode source,
                                           CUgraphNodeParams* params) {
  exec_ptr exec;
  if (const CUresult bad = find_exec(c, handle, exec)) return bad;
  exec_node* node = find_in(c, *exec, source);
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  node_work what = node->what;
  what.child = nullptr;
  if (moves_child(params)) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = redescribe(c, params, *exec->snapshot, what)) return bad;
  if (what.child) return set_child(c, *exec, *node, what);
  if (what.context != node->what.context && node->what.context) return CUDA_ERROR_INVALID_VALUE;
  if (what.shape != node->what.shape) return CUDA_ERROR_INVALID_VALUE;
  set_work(*node, what);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
