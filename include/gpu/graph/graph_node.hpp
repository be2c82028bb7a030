#pragma once
/// \file
/// `graph_node` names a node of a graph; `graph_node_list` holds several.

#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>

#include <new>

namespace gpu::inline v0 {

/// What a node does.
enum class graph_node_kind : int {
  kernel = CU_GRAPH_NODE_TYPE_KERNEL,
  copy = CU_GRAPH_NODE_TYPE_MEMCPY,
  fill = CU_GRAPH_NODE_TYPE_MEMSET,
  host_function = CU_GRAPH_NODE_TYPE_HOST,
  child_graph = CU_GRAPH_NODE_TYPE_GRAPH,
  empty = CU_GRAPH_NODE_TYPE_EMPTY,
  event_wait = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
  event_record = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
  external_semaphores_signal = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL,
  external_semaphores_wait = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT,
  allocation = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
  free = CU_GRAPH_NODE_TYPE_MEM_FREE,
  batch_memory_operation = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
  conditional = CU_GRAPH_NODE_TYPE_CONDITIONAL,
};

namespace detail {

/// The name of an enumerator, which count up from 0; null for a value that is none.
template <std::size_t N>
constexpr const char* name_at(const char* const (&names)[N], int value) noexcept {
  return static_cast<unsigned>(value) < N ? names[value] : nullptr;
}

}  // namespace detail

/// The kind's name, such as "host_function"; null for a value that is none.
constexpr const char* name_of(graph_node_kind kind) noexcept {
  constexpr const char* names[] = {"kernel",
                                   "copy",
                                   "fill",
                                   "host_function",
                                   "child_graph",
                                   "empty",
                                   "event_wait",
                                   "event_record",
                                   "external_semaphores_signal",
                                   "external_semaphores_wait",
                                   "allocation",
                                   "free",
                                   "batch_memory_operation",
                                   "conditional"};
  return detail::name_at(names, static_cast<int>(kind));
}

namespace detail {

/// What names something of the driver's, and the context that it belongs to.
template <class Self, class Native> class name_in_context {
 public:
  constexpr name_in_context() noexcept = default;

  /// Something made elsewhere, of or for work in `context`.
  static constexpr Self from_native(Native native, context_ref context) noexcept {
    Self made;
    made.native_ = native;
    made.context_ = context;
    return made;
  }
  constexpr Native native() const noexcept { return native_; }
  constexpr context_ref context() const noexcept { return context_; }
  constexpr explicit operator bool() const noexcept { return native_ != nullptr; }
  friend constexpr bool operator==(const Self& a, const Self& b) noexcept {
    return a.native() == b.native();
  }

 private:
  Native native_ = nullptr;
  context_ref context_;
};

}  // namespace detail

/// Names a node of a graph, which keeps it alive; copy it freely. Default constructed it is empty.
class graph_node : public detail::name_in_context<graph_node, CUgraphNode> {
 public:
  constexpr graph_node() noexcept = default;
};

/// Nodes, in an array of their own. Move-only.
class graph_node_list {
 public:
  graph_node_list() noexcept = default;
  graph_node_list(graph_node_list&& other) noexcept
      : nodes_{detail::exchange(other.nodes_, nullptr)},
        size_{detail::exchange(other.size_, std::size_t{0})},
        context_{other.context_} {}
  graph_node_list& operator=(graph_node_list&& other) noexcept {
    CUgraphNode* mine = nodes_;
    nodes_ = detail::exchange(other.nodes_, nullptr);
    size_ = detail::exchange(other.size_, std::size_t{0});
    context_ = other.context_;
    if (mine != nodes_) delete[] mine;
    return *this;
  }
  ~graph_node_list() { delete[] nodes_; }

  /// Takes over `size` nodes of an array that `new[]` made.
  static graph_node_list adopt(CUgraphNode* nodes, std::size_t size, context_ref context) noexcept {
    graph_node_list list;
    list.nodes_ = nodes;
    list.size_ = size;
    list.context_ = context;
    return list;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const CUgraphNode* native() const noexcept { return nodes_; }
  graph_node operator[](std::size_t index) const noexcept {
    return graph_node::from_native(nodes_[index], context_);
  }
  /// Whether the list has the node.
  bool contains(graph_node node) const noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      if (nodes_[i] == node.native()) return true;
    }
    return false;
  }

 private:
  CUgraphNode* nodes_ = nullptr;
  std::size_t size_ = 0;
  context_ref context_;
};

namespace detail {

inline result<> require(const graph_node& node, const char* function,
                        source_location where) noexcept {
  if (!node) [[unlikely]]
    return fail(empty_handle_error(function, "graph node", where));
  return {};
}

[[gnu::cold, gnu::noinline]] inline cuda_error no_room_for_nodes(
    const char* function, std::size_t count, source_location where,
    const char* what = "nodes") noexcept {
  text_builder out;
  out << "the host had no room for " << count << ' ' << what << ". Free host memory.";
  return refusal(errc::out_of_host_memory, function, out.finish(), where, count);
}

/// The nodes that a driver function of the form `f(of, nodes, more..., &count)` tells.
template <auto Member, class Of, class... More>
result<graph_node_list> list_nodes(Of of, context_ref context, source_location where,
                                   More... more) noexcept {
  std::size_t count = 0;
  GPU_TRY(driver::call<Member>(where, of, nullptr, more..., &count));
  if (count == 0) return graph_node_list{};
  auto* nodes = new (std::nothrow) CUgraphNode[count];
  if (nodes == nullptr) return fail(no_room_for_nodes("gpu::graph::nodes", count, where));
  graph_node_list list = graph_node_list::adopt(nodes, count, context);
  // Without an array for edge data, the driver refuses to leave out what is not plain.
  if constexpr (sizeof...(More) == 0) {
    GPU_TRY(driver::call<Member>(where, of, nodes, &count));
  } else {
    auto* edges = new (std::nothrow) CUgraphEdgeData[count];
    if (edges == nullptr) return fail(no_room_for_nodes("gpu::graph::nodes", count, where));
    result<> told = driver::call<Member>(where, of, nodes, edges, &count);
    delete[] edges;
    GPU_TRY(detail::move(told));
  }
  return list;
}

}  // namespace detail

/// What the node does. **Errors**: `errc::empty_handle`, the driver's. **Capture**: not affected.
/// **Threads**: a graph is used by one thread at a time. (cuGraphNodeGetType)
inline result<graph_node_kind> kind_of(
    graph_node node, source_location where = source_location::current()) noexcept {
  CUgraphNodeType type{};
  GPU_TRY(detail::require(node, "gpu::kind_of", where));
  GPU_TRY(driver::call<&driver::entry_points::graph_node_get_type>(where, node.native(), &type));
  return static_cast<graph_node_kind>(type);
}

/// The nodes that come right before a node. **Errors**, **Capture**, **Threads**: as `kind_of`;
/// `errc::out_of_host_memory`. (cuGraphNodeGetDependencies)
inline result<graph_node_list> dependencies_of(
    graph_node node, source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(node, "gpu::dependencies_of", where));
  return detail::list_nodes<&driver::entry_points::graph_node_get_dependencies>(
      node.native(), node.context(), where, nullptr);
}

/// The nodes that come right after a node. **Errors**, **Capture**, **Threads**: as `kind_of`;
/// `errc::out_of_host_memory`. (cuGraphNodeGetDependentNodes)
inline result<graph_node_list> dependents_of(
    graph_node node, source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(node, "gpu::dependents_of", where));
  return detail::list_nodes<&driver::entry_points::graph_node_get_dependent_nodes>(
      node.native(), node.context(), where, nullptr);
}

}  // namespace gpu::inline v0
