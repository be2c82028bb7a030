#pragma once
/// \file
/// `dependencies`: the nodes that a new node of a graph, or the next node of a capture, depends on.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/graph/graph_node.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 {

/// The part of a node that has to be done before a node that depends on it begins. All but `full`
/// are for two kernels: the second one calls `cudaGridDependencySynchronize()` before it reads what
/// the first one writes.
enum class graph_dependency : int {
  full = CU_GRAPH_KERNEL_NODE_PORT_DEFAULT,  ///< the first node is complete
  /// All blocks of the first kernel have called `cudaTriggerProgrammaticLaunchCompletion()`, or
  /// have ended.
  programmatic = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
  launch_order =
      CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,  ///< all blocks of the first kernel have begun
};

/// Returns the name, such as "programmatic", or null for a value that is not an enumerator.
constexpr const char* name_of(graph_dependency dependency) noexcept {
  using enum graph_dependency;
  return detail::find_name(
      dependency, {{full, "full"}, {programmatic, "programmatic"}, {launch_order, "launch_order"}});
}

/// A node that another node depends on, and how much of it has to be done.
struct node_dependency {
  constexpr node_dependency(graph_node on, graph_dependency how = graph_dependency::full) noexcept
      : node{on}, dependency{how} {}

  graph_node node;
  graph_dependency dependency;
};

namespace detail {

/// Returns the data of an edge with that dependency.
constexpr CUgraphEdgeData edge_data(graph_dependency dependency) noexcept {
  CUgraphEdgeData data{};
  data.from_port = static_cast<unsigned char>(dependency);
  data.type = dependency == graph_dependency::full ? CU_GRAPH_DEPENDENCY_TYPE_DEFAULT
                                                   : CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  return data;
}

}  // namespace detail

/// The nodes that another node depends on:
///
///     {}, a, {a, b}, list                            // none; full dependencies on nodes
///     {a, graph_dependency::programmatic}
///     {{a, graph_dependency::programmatic}, b}
///
/// Move-only.
class dependencies {
 public:
  dependencies() noexcept = default;
  dependencies(std::initializer_list<node_dependency> nodes) noexcept {
    if (reserve(nodes.size()))
      for (const node_dependency& each : nodes) put(each);
  }
  dependencies(graph_node node, graph_dependency dependency = graph_dependency::full) noexcept
      : dependencies({node_dependency{node, dependency}}) {}
  dependencies(const graph_node_list& nodes) noexcept {
    if (reserve(nodes.size()))
      for (std::size_t i = 0; i < nodes.size(); ++i) put(nodes[i]);
  }
  dependencies(dependencies&& other) noexcept { swap(other); }
  dependencies& operator=(dependencies&& other) noexcept {
    dependencies taken(static_cast<dependencies&&>(other));
    swap(taken);
    return *this;
  }
  ~dependencies() {
    delete[] all_.many_nodes;
    delete[] all_.many_edges;
  }

  /// Copies `count` nodes and the data of their edges; `edges` may be null if all of it is zero.
  static dependencies from_native(const CUgraphNode* nodes, const CUgraphEdgeData* edges,
                                  std::size_t count, context_ref context) noexcept {
    dependencies made;
    if (made.reserve(count)) {
      for (std::size_t i = 0; i < count; ++i) {
        made.put({graph_node::from_native(nodes[i], context),
                  static_cast<graph_dependency>(edges == nullptr ? 0 : edges[i].from_port)});
      }
    }
    return made;
  }

  std::size_t size() const noexcept { return all_.size; }
  bool empty() const noexcept { return all_.size == 0; }
  node_dependency operator[](std::size_t index) const noexcept {
    return {graph_node::from_native(native()[index], all_.context),
            static_cast<graph_dependency>(edges()[index].from_port)};
  }
  /// Returns the array of the nodes, `size()` long.
  const CUgraphNode* native() const noexcept {
    return all_.many_nodes != nullptr ? all_.many_nodes : all_.few_nodes;
  }
  /// Returns the data of the edges from the nodes; null if all dependencies are `full`.
  const CUgraphEdgeData* native_edges() const noexcept { return all_.full ? nullptr : edges(); }
  /// Returns false if the host had no memory for the nodes.
  bool complete() const noexcept { return all_.complete; }
  /// Returns a dependency that is not a valid enumerator, or `full` if all are valid.
  graph_dependency unknown() const noexcept { return all_.unknown; }

 private:
  static constexpr std::size_t few = 8;
  struct contents {
    CUgraphNode few_nodes[few] = {};
    CUgraphEdgeData few_edges[few] = {};
    CUgraphNode* many_nodes = nullptr;
    CUgraphEdgeData* many_edges = nullptr;
    std::size_t size = 0;
    context_ref context;
    graph_dependency unknown = graph_dependency::full;
    bool full = true;
    bool complete = true;
  };

  const CUgraphEdgeData* edges() const noexcept {
    return all_.many_edges != nullptr ? all_.many_edges : all_.few_edges;
  }
  void swap(dependencies& other) noexcept { other.all_ = std::exchange(all_, other.all_); }
  bool reserve(std::size_t count) noexcept {
    if (count <= few) return true;
    all_.many_nodes = new (std::nothrow) CUgraphNode[count];
    all_.many_edges = new (std::nothrow) CUgraphEdgeData[count];
    all_.complete = all_.many_nodes != nullptr && all_.many_edges != nullptr;
    if (!all_.complete) all_.size = count;
    return all_.complete;
  }
  void put(const node_dependency& each) noexcept {
    const std::size_t at = all_.size++;
    (all_.many_nodes != nullptr ? all_.many_nodes : all_.few_nodes)[at] = each.node.native();
    (all_.many_edges != nullptr ? all_.many_edges : all_.few_edges)[at] =
        detail::edge_data(each.dependency);
    if (at == 0) all_.context = each.node.context();
    if (each.dependency != graph_dependency::full) all_.full = false;
    if (name_of(each.dependency) == nullptr) all_.unknown = each.dependency;
  }

  contents all_;
};

namespace detail {

inline cuda_error not_a_kernel_error(const char* function, const char* which, graph_node_kind kind,
                                     graph_dependency dependency, source_location where) noexcept {
  text_builder out;
  out << "a " << name_of(dependency) << " dependency needs two kernel nodes, and the " << which
      << " node is of kind " << name_of(kind) << "; use gpu::graph_dependency::full.";
  return refusal(errc::invalid_argument, function, out.finish(), where,
                 static_cast<std::uint64_t>(kind),
                 static_cast<std::uint64_t>(graph_node_kind::kernel));
}

/// Fails for a node that cannot have such a dependency. `which` is "first" or "second", the end of
/// the edge that the node is at.
inline result<> require_kernel(graph_node node, const char* which, graph_dependency dependency,
                               const char* function, source_location where) noexcept {
  GPU_TRY(require(node, function, where));
  const graph_node_kind kind = GPU_TRY(kind_of(node, where));
  if (kind == graph_node_kind::kernel) return {};
  return fail(not_a_kernel_error(function, which, kind, dependency, where));
}

/// Fails for a dependency that is not a valid enumerator, or that the two nodes cannot have.
inline result<> require_dependency(graph_node first, graph_node second, graph_dependency dependency,
                                   const char* function, source_location where) noexcept {
  GPU_TRY(require_enumerator(dependency, "graph_dependency", function, where));
  GPU_TRY(require_kernel(first, "first", dependency, function, where));
  return require_kernel(second, "second", dependency, function, where);
}

/// Fails for dependencies that a node of kind `next` cannot have. The kind of the node that a
/// capture adds next is not known, so a kernel is assumed.
inline result<> require_dependencies(const dependencies& after, const char* function,
                                     source_location where,
                                     graph_node_kind next = graph_node_kind::kernel) noexcept {
  if (!after.complete()) return fail(no_room_for_nodes(function, after.size(), where));
  GPU_TRY(require_enumerator(after.unknown(), "graph_dependency", function, where));
  for (std::size_t i = 0; i < after.size(); ++i) {
    const node_dependency each = after[i];
    GPU_TRY(require(each.node, function, where));
    if (each.dependency == graph_dependency::full) continue;
    GPU_TRY(require_kernel(each.node, "first", each.dependency, function, where));
    if (next != graph_node_kind::kernel)
      return fail(not_a_kernel_error(function, "second", next, each.dependency, where));
  }
  return {};
}

}  // namespace detail

}}  // namespace gpu::v1
