#pragma once
/// \file
/// Entry points: the edges of graphs, and their data, which says what each waits for.

#include <nogpu/driver/graph_structure.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

inline bool is_same(const CUgraphEdgeData& a, const CUgraphEdgeData& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Returns whether an edge with such data may connect nodes of these types: only an edge between
/// two kernels may wait for less than the end of the first.
inline bool is_possible(const CUgraphEdgeData& edge, CUgraphNodeType from, CUgraphNodeType to) {
  if (is_same(edge, {})) return true;
  CUgraphEdgeData known{};
  known.from_port = edge.from_port;
  known.type = edge.type;
  if (!is_same(edge, known)) return false;
  if (from != CU_GRAPH_NODE_TYPE_KERNEL || to != CU_GRAPH_NODE_TYPE_KERNEL) return false;
  return edge.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
             ? edge.type <= CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
             : edge.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC &&
                   edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
}

/// Writes the data of edges to an array of the caller, which is as long as that of their nodes,
/// `listed`; null means the same as in `give_nodes`. Data of edges that are not written must be
/// zero.
inline CUresult give_edges(const std::vector<CUgraphEdgeData>& all, bool listed,
                           CUgraphEdgeData* edges, const std::size_t* count) {
  if (!listed || count == nullptr) return CUDA_SUCCESS;
  if (edges == nullptr) {
    const bool plain = std::all_of(all.begin(), all.end(), [](const CUgraphEdgeData& each) {
      return is_same(each, CUgraphEdgeData{});
    });
    return plain ? CUDA_SUCCESS : CUDA_ERROR_LOSSY_QUERY;
  }
  for (std::size_t i = 0; i < *count; ++i) edges[i] = i < all.size() ? all[i] : CUgraphEdgeData{};
  return CUDA_SUCCESS;
}

struct edge_state {
  node_ptr from, to;
  const CUgraphEdgeData* data;  // null where the program gave none
};

/// Both ends of every edge have to be nodes of the graph, and different ones.
inline CUresult find_edges(call& c, CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                           const CUgraphEdgeData* data, std::size_t count,
                           std::vector<edge_state>& edges) {
  graph_ptr graph;
  if (const CUresult bad = find_graph(c, handle, graph)) return bad;
  if (count != 0 && (from == nullptr || to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    node_ptr first, second;
    if (const CUresult bad = find_node(c, from[i], first)) return bad;
    if (const CUresult bad = find_node(c, to[i], second)) return bad;
    if (first->graph != graph.get() || second->graph != graph.get() || first == second)
      return CUDA_ERROR_INVALID_VALUE;
    if (first->what.allocation || second->what.allocation) return CUDA_ERROR_NOT_SUPPORTED;
    edges.push_back({std::move(first), std::move(second), data == nullptr ? nullptr : data + i});
  }
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult graph_get_edges(call& c, CUgraph handle, CUgraphNode* from, CUgraphNode* to,
                                CUgraphEdgeData* edges, std::size_t* count) {
  graph_ptr graph;
  std::vector<CUgraphNode> froms;
  std::vector<CUgraphNode> tos;
  std::vector<CUgraphEdgeData> data;
  if (const CUresult bad = find_graph(c, handle, graph)) return bad;
  if (count == nullptr || (from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  for (const node_ptr& each : graph->nodes) {
    for (const node_dependency& before : each->after) {
      froms.push_back(before.node->handle);
      tos.push_back(each->handle);
      data.push_back(before.edge);
    }
  }
  if (const CUresult bad = give_edges(data, from != nullptr, edges, count)) return bad;
  std::size_t room = *count;
  (void)give_nodes(froms, from, &room);
  return give_nodes(tos, to, count);
}

inline CUresult graph_node_get_dependencies(call& c, CUgraphNode handle, CUgraphNode* list,
                                            CUgraphEdgeData* edges, std::size_t* count) {
  node_ptr node;
  std::vector<CUgraphNode> all;
  std::vector<CUgraphEdgeData> data;
  if (const CUresult bad = find_node(c, handle, node)) return bad;
  for (const node_dependency& each : node->after) {
    all.push_back(each.node->handle);
    data.push_back(each.edge);
  }
  if (const CUresult bad = give_edges(data, list != nullptr, edges, count)) return bad;
  return give_nodes(all, list, count);
}

inline CUresult graph_node_get_dependent_nodes(call& c, CUgraphNode handle, CUgraphNode* list,
                                               CUgraphEdgeData* edges, std::size_t* count) {
  node_ptr node;
  std::vector<CUgraphNode> all;
  std::vector<CUgraphEdgeData> data;
  if (const CUresult bad = find_node(c, handle, node)) return bad;
  for (const node_ptr& each : node->graph->nodes) {
    for (const node_dependency& before : each->after) {
      if (before.node != node) continue;
      all.push_back(each->handle);
      data.push_back(before.edge);
    }
  }
  if (const CUresult bad = give_edges(data, list != nullptr, edges, count)) return bad;
  return give_nodes(all, list, count);
}

inline CUresult graph_add_dependencies(call& c, CUgraph graph, const CUgraphNode* from,
                                       const CUgraphNode* to, const CUgraphEdgeData* data,
                                       std::size_t count) {
  std::vector<edge_state> edges;
  if (const CUresult bad = find_edges(c, graph, from, to, data, count, edges)) return bad;
  for (const edge_state& each : edges) {
    if (has(each.to->after, each.from)) return CUDA_ERROR_INVALID_VALUE;
    if (each.data && !is_possible(*each.data, each.from->what.type, each.to->what.type))
      return CUDA_ERROR_INVALID_VALUE;
  }
  for (const edge_state& each : edges)
    each.to->after.push_back({each.from, each.data ? *each.data : CUgraphEdgeData{}});
  return CUDA_SUCCESS;
}

/// Without data, an edge is removed whatever its data.
inline CUresult graph_remove_dependencies(call& c, CUgraph graph, const CUgraphNode* from,
                                          const CUgraphNode* to, const CUgraphEdgeData* data,
                                          std::size_t count) {
  std::vector<edge_state> edges;
  if (const CUresult bad = find_edges(c, graph, from, to, data, count, edges)) return bad;
  const auto is_it = [](const node_dependency& has, const edge_state& wanted) {
    return has.node == wanted.from && (!wanted.data || is_same(has.edge, *wanted.data));
  };
  for (const edge_state& each : edges)
    if (std::none_of(each.to->after.begin(), each.to->after.end(),
                     [&](const node_dependency& has) { return is_it(has, each); }))
      return CUDA_ERROR_INVALID_VALUE;
  for (const edge_state& each : edges)
    std::erase_if(each.to->after, [&](const node_dependency& has) { return is_it(has, each); });
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
