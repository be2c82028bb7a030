#pragma once
/// \file
/// `child_graph_node`: a graph inside a graph.

#include <gpu/graph/graph.hpp>

namespace gpu {

/// A copy of a graph as one node. The graph itself can be changed or destroyed afterwards.
/// **Errors**: `errc::invalid_argument` for the graph that it is added to; CUDA_ERROR_NOT_SUPPORTED
/// for a graph that allocates memory or has conditions.
class child_graph_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::child_graph;

  explicit child_graph_node(graph_ref child) noexcept : child_{child} {}

 private:
  friend struct detail::node_access;
  template <class Builder = detail::text_builder>
  result<> describe(detail::node_parameters& to, context_ref,
                    source_location where) const noexcept {
    GPU_TRY(detail::require(child_, "gpu::child_graph_node", where));
    if (child_.native() == to.graph) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::child_graph_node",
          text("a graph cannot hold itself. Add a clone of it: see gpu::graph::clone."), where));
    }
    to.native.graph.graph = child_.native();
    return {};
  }

  graph_ref child_;
};

/// The graph inside a node, which the node keeps alive. **Errors**: `errc::empty_handle`;
/// CUDA_ERROR_INVALID_VALUE for a node of another kind. **Capture**, **Threads**: as `kind_of`.
/// (cuGraphChildGraphNodeGetGraph)
template <class Graph = graph_ref>
result<Graph> child_of(graph_node node,
                       source_location where = source_location::current()) noexcept {
  CUgraph child = nullptr;
  GPU_TRY(detail::require(node, "gpu::child_of", where));
  GPU_TRY(driver::call<&driver::entry_points::graph_child_graph_node_get_graph>(
      where, node.native(), &child));
  return Graph::from_native(child, node.context());
}

}  // namespace gpu
