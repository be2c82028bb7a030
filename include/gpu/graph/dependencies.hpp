#pragma once
/// \file
/// What a new node of a graph, or the next one of a capture, comes after.

#include <gpu/graph/graph_node.hpp>

#include <initializer_list>

namespace gpu::inline v0 {

/// What a node waits for of one before it. All but `full` are for two kernels; the second waits for
/// the memory that the first writes with `cudaGridDependencySynchronize()`.
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

/// A node that another one comes after, and what that one waits for.
struct node_before {
  constexpr node_before(graph_node before, graph_dependency how = graph_dependency::full) noexcept
      : node{before}, dependency{how} {}

  graph_node node;
  graph_dependency dependency;
};

namespace detail {

/// A dependency as the data of an edge.
constexpr CUgraphEdgeData edge_data(graph_dependency dependency) noexcept {
  CUgraphEdgeData data{};
  data.from_port = static_cast<unsigned char>(dependency);
  data.type = dependency == graph_dependency::full ? CU_GRAPH_DEPENDENCY_TYPE_DEFAULT
                                                   : CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  return data;
}

}  // namespace detail

/// The nodes that come before another one:
///
///     {}, a, {a, b}, list                            // nothing; the end of each node
///     {a, graph_dependency::programmatic}            // what one waits for of a kernel
///     {{a, graph_dependency::programmatic}, b}
///
/// Move-only.
class nodes_before {
 public:
  nodes_before() noexcept = default;
  nodes_before(std::initializer_list<node_before> nodes) noexcept {
    if (reserve(nodes.size()))
      for (const node_before& each : nodes) put(each);
  }
  nodes_before(graph_node node, graph_dependency dependency = graph_dependency::full) noexcept
      : nodes_before({node_before{node, dependency}}) {}
  nodes_before(const graph_node_list& nodes) noexcept {
    if (reserve(nodes.size()))
      for (std::size_t i = 0; i < nodes.size(); ++i) put(nodes[i]);
  }
  nodes_before(nodes_before&& other) noexcept { swap(other); }
  nodes_before& operator=(nodes_before&& other) noexcept {
    nodes_before taken(static_cast<nodes_before&&>(other));
    swap(taken);
    return *this;
  }
  ~nodes_before() {
    delete[] all_.many_nodes;
    delete[] all_.many_edges;
  }

  /// Copies what the driver told: nodes, and as much data of edges, or null where it is all zero.
  static nodes_before from_native(const CUgraphNode* nodes, const CUgraphEdgeData* edges,
                                  std::size_t count, context_ref context) noexcept {
    nodes_before made;
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
  node_before operator[](std::size_t index) const noexcept {
    return {graph_node::from_native(native()[index], all_.context),
            static_cast<graph_dependency>(edges()[index].from_port)};
  }
  const CUgraphNode* native() const noexcept {
    return all_.many_nodes != nullptr ? all_.many_nodes : all_.few_nodes;
  }
  /// The data of the edges from them; null where all dependencies are `full`.
  const CUgraphEdgeData* native_edges() const noexcept { return all_.full ? nullptr : edges(); }
  /// Whether the host had room for them.
  bool complete() const noexcept { return all_.complete; }
  /// A dependency of theirs that is no enumerator; `full` where there is none.
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
  void swap(nodes_before& other) noexcept { other.all_ = detail::exchange(all_, other.all_); }
  bool reserve(std::size_t count) noexcept {
    if (count <= few) return true;
    all_.many_nodes = new (std::nothrow) CUgraphNode[count];
    all_.many_edges = new (std::nothrow) CUgraphEdgeData[count];
    all_.complete = all_.many_nodes != nullptr && all_.many_edges != nullptr;
    if (!all_.complete) all_.size = count;
    return all_.complete;
  }
  void put(const node_before& each) noexcept {
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

[[gnu::cold, gnu::noinline]] inline cuda_error not_a_kernel_error(const char* function,
                                                                  const char* which,
                                                                  graph_node_kind kind,
                                                                  graph_dependency dependency,
                                                                  source_location where) noexcept {
  text_builder out;
  out << "a " << name_of(dependency) << " dependency is between two kernel nodes, and the " << which
      << " node is of kind " << name_of(kind) << ". Use gpu::graph_dependency::full.";
  return refusal(errc::invalid_argument, function, out.finish(), where,
                 static_cast<std::uint64_t>(kind),
                 static_cast<std::uint64_t>(graph_node_kind::kernel));
}

/// Refuses a node that cannot have such a dependency; `which` end of the edge it is.
inline result<> require_kernel(graph_node node, const char* which, graph_dependency dependency,
                               const char* function, source_location where) noexcept {
  GPU_TRY(require(node, function, where));
  const graph_node_kind kind = GPU_TRY(kind_of(node, where));
  if (kind == graph_node_kind::kernel) return {};
  return fail(not_a_kernel_error(function, which, kind, dependency, where));
}

/// Refuses a dependency that is none, or that two nodes cannot have.
inline result<> require_dependency(graph_node first, graph_node second, graph_dependency dependency,
                                   const char* function, source_location where) noexcept {
  GPU_TRY(require_enumerator(dependency, "graph_dependency", function, where));
  GPU_TRY(require_kernel(first, "first", dependency, function, where));
  return require_kernel(second, "second", dependency, function, where);
}

/// The same for some nodes and one of the kind `next` that is to come after them; what a capture
/// does next is not known.
inline result<> require_before(const nodes_before& nodes, const char* function,
                               source_location where,
                               graph_node_kind next = graph_node_kind::kernel) noexcept {
  if (!nodes.complete()) return fail(no_room_for_nodes(function, nodes.size(), where));
  GPU_TRY(require_enumerator(nodes.unknown(), "graph_dependency", function, where));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const node_before each = nodes[i];
    GPU_TRY(require(each.node, function, where));
    if (each.dependency == graph_dependency::full) continue;
    GPU_TRY(require_kernel(each.node, "first", each.dependency, function, where));
    if (next != graph_node_kind::kernel)
      return fail(not_a_kernel_error(function, "second", next, each.dependency, where));
  }
  return {};
}

}  // namespace detail

}  // namespace gpu::inline v0
