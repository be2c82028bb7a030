#pragma once
/// \file
/// `graph_node` refers to a node of a graph; `graph_node_list` holds several.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/ref_in_context.hpp>
#include <gpu/driver/detail/refusals.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 {

/// The kind of a node.
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

/// Returns the kind's name, such as "host_function", or null for a value that is not an enumerator.
constexpr const char* name_of(graph_node_kind kind) noexcept {
  using enum graph_node_kind;
  return detail::find_name(kind, {{kernel, "kernel"},
                                  {copy, "copy"},
                                  {fill, "fill"},
                                  {host_function, "host_function"},
                                  {child_graph, "child_graph"},
                                  {empty, "empty"},
                                  {event_wait, "event_wait"},
                                  {event_record, "event_record"},
                                  {external_semaphores_signal, "external_semaphores_signal"},
                                  {external_semaphores_wait, "external_semaphores_wait"},
                                  {allocation, "allocation"},
                                  {free, "free"},
                                  {batch_memory_operation, "batch_memory_operation"},
                                  {conditional, "conditional"}});
}

/// Refers to a node, which its graph owns. Copy it freely. A default constructed one is empty.
class graph_node : public detail::ref_in_context<graph_node, CUgraphNode> {
 public:
  constexpr graph_node() noexcept = default;
};

/// An array of nodes. Move-only.
class graph_node_list {
 public:
  graph_node_list() noexcept = default;
  graph_node_list(graph_node_list&& other) noexcept
      : nodes_{std::exchange(other.nodes_, nullptr)},
        size_{std::exchange(other.size_, std::size_t{0})},
        context_{other.context_} {}
  graph_node_list& operator=(graph_node_list&& other) noexcept {
    CUgraphNode* mine = nodes_;
    nodes_ = std::exchange(other.nodes_, nullptr);
    size_ = std::exchange(other.size_, std::size_t{0});
    context_ = other.context_;
    if (mine != nodes_) delete[] mine;
    return *this;
  }
  ~graph_node_list() { delete[] nodes_; }

  /// Takes ownership of an array of `size` nodes that `new[]` made.
  static graph_node_list adopt(CUgraphNode* nodes, std::size_t size, context_ref context) noexcept {
    graph_node_list list;
    list.nodes_ = nodes;
    list.size_ = size;
    list.context_ = context;
    return list;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// Returns the array, `size()` long; null if the list is empty.
  const CUgraphNode* native() const noexcept { return nodes_; }
  graph_node operator[](std::size_t index) const noexcept {
    return graph_node::from_native(nodes_[index], context_);
  }
  /// Returns whether `node` is in the list.
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
  if (!node) return fail(empty_handle_error(function, "graph node", where));
  return {};
}

inline cuda_error no_room_for_nodes(const char* function, std::size_t count, source_location where,
                                    const char* what = "nodes") noexcept {
  text_builder out;
  out << "the host has no memory for a list of " << count << ' ' << what << "; free host memory.";
  return refusal(errc::out_of_host_memory, function, out.finish(), where, count);
}

/// Returns the nodes of a graph that a driver function of the form `f(graph, nodes, &count)` lists.
template <auto Member>
result<graph_node_list> list_nodes(CUgraph graph, context_ref context,
                                   source_location where) noexcept {
  std::size_t count = 0;
  GPU_TRY(driver::call<Member>(where, graph, nullptr, &count));
  if (count == 0) return graph_node_list{};
  auto* nodes = new (std::nothrow) CUgraphNode[count];
  if (nodes == nullptr) return fail(no_room_for_nodes("gpu::graph::nodes", count, where));
  graph_node_list list = graph_node_list::adopt(nodes, count, context);
  GPU_TRY(driver::call<Member>(where, graph, nodes, &count));
  return list;
}

/// Returns the neighbors of a node that a driver function of the form
/// `f(node, nodes, edges, &count)` lists.
template <auto Member>
result<graph_node_list> list_neighbors(graph_node node, source_location where) noexcept {
  std::size_t count = 0;
  GPU_TRY(driver::call<Member>(where, node.native(), nullptr, nullptr, &count));
  if (count == 0) return graph_node_list{};
  auto* nodes = new (std::nothrow) CUgraphNode[count];
  // Without an array for edge data, the driver fails if a dependency is not a full one.
  auto* edges = new (std::nothrow) CUgraphEdgeData[count];
  graph_node_list list = graph_node_list::adopt(nodes, count, node.context());
  if (nodes == nullptr || edges == nullptr) {
    delete[] edges;
    return fail(no_room_for_nodes("gpu::graph::nodes", count, where));
  }
  result<> listed = driver::call<Member>(where, node.native(), nodes, edges, &count);
  delete[] edges;
  GPU_TRY(std::move(listed));
  return list;
}

}  // namespace detail

/// Returns the kind of a node. **Errors**: `errc::empty_handle`, the driver's. **Capture**: not
/// affected. **Threads**: a graph is used by one thread at a time. (cuGraphNodeGetType)
inline result<graph_node_kind> kind_of(
    graph_node node, source_location where = source_location::current()) noexcept {
  CUgraphNodeType type{};
  GPU_TRY(detail::require(node, "gpu::kind_of", where));
  GPU_TRY(driver::call<&driver::entry_points::graph_node_get_type>(where, node.native(), &type));
  return static_cast<graph_node_kind>(type);
}

/// Returns the nodes that a node depends on directly. **Errors**, **Capture**, **Threads**: as
/// `kind_of`; `errc::out_of_host_memory`. (cuGraphNodeGetDependencies)
inline result<graph_node_list> dependencies_of(
    graph_node node, source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(node, "gpu::dependencies_of", where));
  return detail::list_neighbors<&driver::entry_points::graph_node_get_dependencies>(node, where);
}

/// Returns the nodes that depend on a node directly. **Errors**, **Capture**, **Threads**: as
/// `kind_of`; `errc::out_of_host_memory`. (cuGraphNodeGetDependentNodes)
inline result<graph_node_list> dependents_of(
    graph_node node, source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(node, "gpu::dependents_of", where));
  return detail::list_neighbors<&driver::entry_points::graph_node_get_dependent_nodes>(node, where);
}

}}  // namespace gpu::v1
