#pragma once
/// \file
/// The structure of graphs: nodes, edges, clones, and objects that a graph keeps alive.

#include <nogpu/driver/context_life.hpp>
#include <nogpu/driver/driver_state.hpp>

#include <cuda.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

inline CUresult find_graph(call& c, CUgraph handle, graph_ptr& graph) {
  graph = handle == nullptr ? nullptr : c.driver.graphs.find(handle);
  return graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline CUresult find_node(call& c, CUgraphNode handle, node_ptr& node) {
  node = handle == nullptr ? nullptr : c.driver.graph_nodes.find(handle);
  return node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Returns whether a list has a node.
inline bool has(const std::vector<node_dependency>& list, const node_ptr& node) {
  return std::any_of(list.begin(), list.end(),
                     [&](const node_dependency& each) { return each.node == node; });
}

/// The nodes of a list, which have to be different nodes of one graph, with the data of the edges
/// to them, which may be null.
inline CUresult find_nodes(call& c, const graph_state& graph, const CUgraphNode* list,
                           const CUgraphEdgeData* edges, std::size_t count,
                           std::vector<node_dependency>& nodes) {
  if (count != 0 && list == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    node_ptr node;
    if (const CUresult bad = find_node(c, list[i], node)) return bad;
    if (node->graph != &graph || has(nodes, node)) return CUDA_ERROR_INVALID_VALUE;
    nodes.push_back({std::move(node), edges == nullptr ? CUgraphEdgeData{} : edges[i]});
  }
  return CUDA_SUCCESS;
}

inline graph_ptr make_graph(driver_state& driver, std::string place = {}) {
  auto made = std::make_shared<graph_state>();
  made->place = std::move(place);
  (void)driver.graphs.add(made);
  return made;
}

/// Returns whether `first` is `last` or comes before it.
inline bool comes_after(const node_ptr& last, const node_ptr& first) {
  std::set<const graph_node_state*> seen;
  std::vector<const graph_node_state*> open{last.get()};
  while (!open.empty()) {
    const graph_node_state* next = open.back();
    open.pop_back();
    if (next == first.get()) return true;
    if (!seen.insert(next).second) continue;
    for (const node_dependency& each : next->after) open.push_back(each.node.get());
  }
  return false;
}

/// The nodes in an order that their dependencies allow, otherwise that of their creation; fewer if
/// some depend on themselves.
inline std::vector<node_ptr> in_order(const graph_state& graph) {
  std::vector<node_ptr> order;
  std::set<const graph_node_state*> done;
  for (bool progress = true; progress && order.size() < graph.nodes.size();) {
    progress = false;
    for (const node_ptr& each : graph.nodes) {
      if (done.count(each.get()) != 0) continue;
      const bool ready = std::all_of(
          each->after.begin(), each->after.end(),
          [&](const node_dependency& before) { return done.count(before.node.get()) != 0; });
      if (!ready) continue;
      done.insert(each.get());
      order.push_back(each);
      progress = true;
    }
  }
  return order;
}

inline bool allocates(const graph_state& graph);

/// Returns whether a node allocates or frees memory, or has a child that does.
inline bool allocates(const node_work& what) {
  return what.allocation || (what.child && allocates(*what.child));
}

inline bool allocates(const graph_state& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const node_ptr& each) { return allocates(each->what); });
}

/// Frees memory that no other node has. If a launch left it in use, it belongs to the program
/// instead.
inline void drop_allocation(driver_state& driver, node_work& what) {
  if (what.allocation && what.allocation.use_count() == 1 && !what.allocation->in_use)
    free_block(driver, what.allocation->address);
  what.allocation.reset();
}

inline void destroy_graph(driver_state& driver, const graph_ptr& graph);

/// Destroys the graphs inside of a node.
inline void drop_graphs(driver_state& driver, const node_work& what) {
  if (what.child) destroy_graph(driver, what.child);
  for (const graph_ptr& each : what.bodies) destroy_graph(driver, each);
}

inline void end_node(driver_state& driver, const node_ptr& node) {
  (void)driver.graph_nodes.take(node->handle);
  node->graph = nullptr;
  node->after.clear();
  drop_graphs(driver, node->what);
  drop_allocation(driver, node->what);
}

inline void destroy_graph(driver_state& driver, const graph_ptr& graph) {
  if (graph->handle != nullptr) (void)driver.graphs.take(graph->handle);
  for (const node_ptr& each : graph->nodes) end_node(driver, each);
  graph->nodes.clear();
  graph->kept.clear();
}

inline graph_ptr clone_graph(driver_state& driver, const graph_state& from);

inline node_work clone_work(driver_state& driver, const node_work& from) {
  node_work copy = from;
  // The copy must not destroy objects that it only points to.
  copy.child = nullptr;
  copy.bodies.clear();
  rollback dropped([&] { drop_graphs(driver, copy); });
  if (from.child) {
    copy.child = clone_graph(driver, *from.child);
    copy.child->owned_by_node = true;
  }
  copy.body_handles.clear();
  copy.bodies.reserve(from.bodies.size());
  for (const graph_ptr& each : from.bodies) {
    copy.bodies.push_back(clone_graph(driver, *each));
    copy.bodies.back()->owned_by_node = copy.bodies.back()->conditional_body = true;
    copy.body_handles.push_back(copy.bodies.back()->handle);
  }
  dropped.keep();
  return copy;
}

inline graph_ptr clone_graph(driver_state& driver, const graph_state& from) {
  graph_ptr copy = make_graph(driver);
  rollback dropped([&] { destroy_graph(driver, copy); });
  copy->original = from.handle;
  copy->kept = from.kept;
  copy->conditions = from.conditions;
  std::map<const graph_node_state*, node_ptr> twin;
  for (const node_ptr& each : from.nodes) {
    node_ptr& node = twin[each.get()];
    node = driver.make_node(*copy, {}, {});
    node->what = clone_work(driver, each->what);
    node->original = each->handle;
  }
  for (const node_ptr& each : from.nodes)
    for (const node_dependency& before : each->after)
      twin[each.get()]->after.push_back({twin[before.node.get()], before.edge});
  dropped.keep();
  return copy;
}

/// Writes handles into an array of the caller's that has room for `*count`: as many as fit, then
/// null. Without an array it only counts.
inline CUresult give_nodes(const std::vector<CUgraphNode>& all, CUgraphNode* list,
                           std::size_t* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (list == nullptr) {
    *count = all.size();
    return CUDA_SUCCESS;
  }
  for (std::size_t i = 0; i < *count; ++i) list[i] = i < all.size() ? all[i] : nullptr;
  *count = std::min(*count, all.size());
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult graph_create(call& c, CUgraph* graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *graph = make_graph(c.driver, c.driver.place())->handle;
  return CUDA_SUCCESS;
}

inline CUresult graph_destroy(call& c, CUgraph handle) {
  graph_ptr graph;
  if (const CUresult bad = find_graph(c, handle, graph)) return bad;
  if (graph->captured_into) return CUDA_ERROR_ILLEGAL_STATE;
  if (graph->owned_by_node) return CUDA_ERROR_INVALID_VALUE;
  destroy_graph(c.driver, graph);
  return CUDA_SUCCESS;
}

inline CUresult graph_clone(call& c, CUgraph* clone, CUgraph handle) {
  graph_ptr graph;
  if (clone == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_graph(c, handle, graph)) return bad;
  if (allocates(*graph)) return CUDA_ERROR_NOT_SUPPORTED;
  std::string place = c.driver.place();
  const graph_ptr made = clone_graph(c.driver, *graph);
  made->place = std::move(place);
  *clone = made->handle;
  return CUDA_SUCCESS;
}

inline CUresult graph_node_find_in_clone(call& c, CUgraphNode* found, CUgraphNode original,
                                         CUgraph clone) {
  graph_ptr graph;
  if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_graph(c, clone, graph)) return bad;
  for (const node_ptr& each : graph->nodes) {
    if (original == nullptr || each->original != original) continue;
    *found = each->handle;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

inline CUresult graph_node_get_type(call& c, CUgraphNode handle, CUgraphNodeType* type) {
  node_ptr node;
  if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_node(c, handle, node)) return bad;
  *type = node->what.type;
  return CUDA_SUCCESS;
}

inline CUresult graph_get_nodes(call& c, CUgraph handle, CUgraphNode* list, std::size_t* count) {
  graph_ptr graph;
  std::vector<CUgraphNode> all;
  if (const CUresult bad = find_graph(c, handle, graph)) return bad;
  for (const node_ptr& each : graph->nodes) all.push_back(each->handle);
  return give_nodes(all, list, count);
}

inline CUresult graph_get_root_nodes(call& c, CUgraph handle, CUgraphNode* list,
                                     std::size_t* count) {
  graph_ptr graph;
  std::vector<CUgraphNode> all;
  if (const CUresult bad = find_graph(c, handle, graph)) return bad;
  for (const node_ptr& each : graph->nodes)
    if (each->after.empty()) all.push_back(each->handle);
  return give_nodes(all, list, count);
}

inline CUresult graph_destroy_node(call& c, CUgraphNode handle) {
  node_ptr node;
  if (const CUresult bad = find_node(c, handle, node)) return bad;
  if (allocates(node->what)) return CUDA_ERROR_NOT_SUPPORTED;
  graph_state& graph = *node->graph;
  std::erase(graph.nodes, node);
  for (const node_ptr& each : graph.nodes)
    std::erase_if(each->after, [&](const node_dependency& before) { return before.node == node; });
  end_node(c.driver, node);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
