#pragma once
/// \file
/// Edges of graphs that let a kernel begin before the one ahead of it has ended, and the list of
/// all edges.

#include <gpu/graph/graph.hpp>

namespace gpu {

/// What the second node of an edge waits for. All but `full` are for two kernels; the second waits
/// for the memory that the first writes with `cudaGridDependencySynchronize()`.
enum class graph_dependency : int {
  full = CU_GRAPH_KERNEL_NODE_PORT_DEFAULT,  ///< the end of the first
  /// Until all blocks of the first have called `cudaTriggerProgrammaticLaunchCompletion()`, or have
  /// ended.
  programmatic = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
  launch_order = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,  ///< all blocks of the first have begun
};

/// The enumerator, such as "programmatic"; null for a value that is none.
constexpr const char* name_of(graph_dependency dependency) noexcept {
  constexpr const char* names[] = {"full", "programmatic", "launch_order"};
  return detail::name_at(names, static_cast<int>(dependency));
}

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

namespace detail {

/// Refuses a dependency that a node other than a kernel cannot have; `which` end it is.
template <class Builder = text_builder>
result<> require_kernel(graph_node node, const char* which, graph_dependency dependency,
                        source_location where) noexcept {
  const graph_node_kind kind = GPU_TRY(kind_of(node, where));
  if (kind == graph_node_kind::kernel) return {};
  Builder out;
  out << "a " << name_of(dependency) << " dependency is between two kernel nodes, and the " << which
      << " node is of kind " << name_of(kind) << ". Connect them with gpu::graph_dependency::full.";
  return fail(refusal(errc::invalid_argument, "gpu::graph::connect", out.finish(), where,
                      static_cast<std::uint64_t>(kind),
                      static_cast<std::uint64_t>(graph_node_kind::kernel)));
}

}  // namespace detail

template <class Self>
result<> graph_operations<Self>::connect(graph_node first, graph_node second,
                                         graph_dependency dependency,
                                         source_location where) const noexcept {
  GPU_TRY(require("gpu::graph::connect", where));
  GPU_TRY(detail::require(first, "gpu::graph::connect", where));
  GPU_TRY(detail::require(second, "gpu::graph::connect", where));
  GPU_TRY(detail::require_enumerator(dependency, "graph_dependency", "gpu::graph::connect", where));
  if (dependency == graph_dependency::full) return connect(first, second, where);
  GPU_TRY(detail::require_kernel(first, "first", dependency, where));
  GPU_TRY(detail::require_kernel(second, "second", dependency, where));
  CUgraphEdgeData data{};
  data.from_port = static_cast<unsigned char>(dependency);
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  return edge<&driver::entry_points::graph_add_dependencies>("gpu::graph::connect", first, second,
                                                             where, &data);
}

template <class Self>
template <class List>
result<List> graph_operations<Self>::edges(source_location where) const noexcept {
  std::size_t count = 0;
  GPU_TRY(require("gpu::graph::edges", where));
  GPU_TRY(driver::call<&driver::entry_points::graph_get_edges>(
      where, self().native(), static_cast<CUgraphNode*>(nullptr),
      static_cast<CUgraphNode*>(nullptr), static_cast<CUgraphEdgeData*>(nullptr), &count));
  if (count == 0) return List{};
  auto* nodes = new (std::nothrow) CUgraphNode[2 * count];
  auto* data = new (std::nothrow) CUgraphEdgeData[count];
  List list = List::adopt(nodes, data, count, self().context());
  if (nodes == nullptr || data == nullptr)
    return detail::fail(detail::no_room_for_nodes("gpu::graph::edges", count, where, "edges"));
  GPU_TRY(driver::call<&driver::entry_points::graph_get_edges>(where, self().native(), nodes,
                                                               nodes + count, data, &count));
  return list;
}

}  // namespace gpu
