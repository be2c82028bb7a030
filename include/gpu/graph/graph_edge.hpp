#pragma once
/// \file
/// The list of all edges of a graph.

#include <gpu/graph/graph.hpp>

namespace gpu::inline v0 {

/// An edge: `to` runs after `from`.
struct graph_edge {
  graph_node from;
  graph_node to;
  graph_dependency dependency = graph_dependency::full;
};

/// Edges, in arrays of their own. Move-only.
class graph_edge_list {
 public:
  graph_edge_list() noexcept = default;
  graph_edge_list(graph_edge_list&& other) noexcept { swap(other); }
  graph_edge_list& operator=(graph_edge_list&& other) noexcept {
    graph_edge_list taken(static_cast<graph_edge_list&&>(other));
    swap(taken);
    return *this;
  }
  ~graph_edge_list() {
    delete[] nodes_;
    delete[] data_;
  }

  /// Takes over what `new[]` made: the first nodes of `size` edges with the second ones behind
  /// them, and the data of the edges.
  static graph_edge_list adopt(CUgraphNode* nodes, CUgraphEdgeData* data, std::size_t size,
                               context_ref context) noexcept {
    graph_edge_list list;
    list.nodes_ = nodes;
    list.data_ = data;
    list.size_ = size;
    list.context_ = context;
    return list;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  graph_edge operator[](std::size_t index) const noexcept {
    return {graph_node::from_native(nodes_[index], context_),
            graph_node::from_native(nodes_[size_ + index], context_),
            static_cast<graph_dependency>(data_[index].from_port)};
  }

 private:
  void swap(graph_edge_list& other) noexcept {
    nodes_ = detail::exchange(other.nodes_, nodes_);
    data_ = detail::exchange(other.data_, data_);
    size_ = detail::exchange(other.size_, size_);
    context_ = detail::exchange(other.context_, context_);
  }

  CUgraphNode* nodes_ = nullptr;
  CUgraphEdgeData* data_ = nullptr;
  std::size_t size_ = 0;
  context_ref context_;
};

template <class Self>
inline result<graph_edge_list> graph_operations<Self>::edges(source_location where) const noexcept {
  std::size_t count = 0;
  GPU_TRY(require("gpu::graph::edges", where));
  GPU_TRY(driver::call<&driver::entry_points::graph_get_edges>(where, self().native(), nullptr,
                                                               nullptr, nullptr, &count));
  if (count == 0) return graph_edge_list{};
  auto* nodes = new (std::nothrow) CUgraphNode[2 * count];
  auto* data = new (std::nothrow) CUgraphEdgeData[count];
  graph_edge_list list = graph_edge_list::adopt(nodes, data, count, self().context());
  if (nodes == nullptr || data == nullptr)
    return detail::fail(detail::no_room_for_nodes("gpu::graph::edges", count, where, "edges"));
  GPU_TRY(driver::call<&driver::entry_points::graph_get_edges>(where, self().native(), nodes,
                                                               nodes + count, data, &count));
  return list;
}

}  // namespace gpu::inline v0
