#pragma once
/// \file
/// `graph_edge` and `graph_edge_list`, which `graph::edges` returns.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/graph/dependencies.hpp>
#include <gpu/graph/graph_node.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 {

/// An edge of a graph: `to` depends on `from`.
struct graph_edge {
  graph_node from;
  graph_node to;
  graph_dependency dependency = graph_dependency::full;
};

/// A list of edges. Move-only.
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

  /// Takes ownership of two arrays that `new[]` made: 2 * `size` nodes, first all `from` and then
  /// all `to`, and the data of the `size` edges.
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
    nodes_ = std::exchange(other.nodes_, nodes_);
    data_ = std::exchange(other.data_, data_);
    size_ = std::exchange(other.size_, size_);
    context_ = std::exchange(other.context_, context_);
  }

  CUgraphNode* nodes_ = nullptr;
  CUgraphEdgeData* data_ = nullptr;
  std::size_t size_ = 0;
  context_ref context_;
};

namespace detail {

/// Returns all edges of a graph. (cuGraphGetEdges)
inline result<graph_edge_list> list_edges(CUgraph graph, context_ref context,
                                          source_location where) noexcept {
  std::size_t count = 0;
  GPU_TRY(driver::call<&driver::entry_points::graph_get_edges>(where, graph, nullptr, nullptr,
                                                               nullptr, &count));
  if (count == 0) return graph_edge_list{};
  auto* nodes = new (std::nothrow) CUgraphNode[2 * count];
  auto* data = new (std::nothrow) CUgraphEdgeData[count];
  graph_edge_list list = graph_edge_list::adopt(nodes, data, count, context);
  if (nodes == nullptr || data == nullptr)
    return fail(no_room_for_nodes("gpu::graph::edges", count, where, "edges"));
  GPU_TRY(driver::call<&driver::entry_points::graph_get_edges>(where, graph, nodes, nodes + count,
                                                               data, &count));
  return list;
}

}  // namespace detail

}}  // namespace gpu::v1
