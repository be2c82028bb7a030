#pragma once
/// \file
/// Graphs, work that is described once and launched many times: `graph` owns one, `graph_ref` names
/// one. A graph is instantiated before it is launched: see graph_exec.hpp.

#include <gpu/core/unique_handle.hpp>
#include <gpu/graph/keep_alive.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/graph/nodes_before.hpp>

namespace gpu {

class graph_ref;
class graph_condition;
class graph_edge_list;

namespace detail {
result<> require(const graph_ref& graph, const char* function, source_location where) noexcept;
}

/// What `graph` and `graph_ref` can both do.
/// **Threads**: a graph is used by one thread at a time. **Capture**: allowed; a graph that is
/// being captured to can be added to, but neither be destroyed nor lose nodes.
/// **Errors**: `errc::empty_handle`, and those of the driver call named in parentheses;
/// `errc::out_of_host_memory` for lists.
template <class Self> class graph_operations {
 public:
  /// Adds a node that runs after the nodes in `after`, or, where `after` says so of two kernels,
  /// begins earlier:
  ///
  ///     auto first = GPU_TRY(graph.add({}, gpu::fill_node(x, 0.0f)));
  ///     GPU_TRY(graph.add(first, gpu::kernel_node({64, 256}, saxpy, 2.0f, x, y, n)));
  ///
  /// **Ownership**: what the description holds, such as a callable, is the graph's from now on,
  /// also where adding fails, but that a `child_graph_node` keeps a graph that could not be moved;
  /// buffers, modules and events that it names have to live, see `keep` and `keep_modules`.
  /// **Errors**: also `errc::invalid_launch` and the like for what is wrong with the description,
  /// `errc::invalid_argument` as `connect`, and `errc::out_of_host_memory`; a node of another graph
  /// is CUDA_ERROR_INVALID_VALUE. (cuGraphAddNode)
  template <node_description Description>
  result<graph_node> add(const nodes_before& after, Description&& description,
                         source_location where = source_location::current()) const noexcept;

  /// Removes a node and its edges. A graph that allocates memory keeps its nodes.
  /// (cuGraphDestroyNode)
  result<> remove(graph_node node,
                  source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::graph::remove", where));
    GPU_TRY(detail::require(node, "gpu::graph::remove", where));
    return driver::call<&driver::entry_points::graph_destroy_node>(where, node.native());
  }

  /// Makes `second` run after `first`, or, where both are kernels, begin as early as `dependency`
  /// says. An edge that is there already, or a node of another graph, is CUDA_ERROR_INVALID_VALUE;
  /// a circle is found when the graph is instantiated.
  /// **Errors**: also `errc::invalid_argument` for a node of another kind than `kernel`, unless the
  /// dependency is `full`, and for a value that is no dependency. (cuGraphAddDependencies, and
  /// cuGraphNodeGetType for what is not `full`)
  result<> connect(graph_node first, graph_node second,
                   graph_dependency dependency = graph_dependency::full,
                   source_location where = source_location::current()) const noexcept {
    if (dependency == graph_dependency::full) {
      return edge<&driver::entry_points::graph_add_dependencies>("gpu::graph::connect", first,
                                                                 second, where);
    }
    const CUgraphEdgeData data = detail::edge_data(dependency);
    GPU_TRY(require("gpu::graph::connect", where));
    GPU_TRY(detail::require_dependency(first, second, dependency, "gpu::graph::connect", where));
    return edge<&driver::entry_points::graph_add_dependencies>("gpu::graph::connect", first, second,
                                                               where, &data);
  }
  /// Removes the edge from `first` to `second`. (cuGraphRemoveDependencies)
  result<> disconnect(graph_node first, graph_node second,
                      source_location where = source_location::current()) const noexcept {
    return edge<&driver::entry_points::graph_remove_dependencies>("gpu::graph::disconnect", first,
                                                                  second, where);
  }

  /// All nodes. (cuGraphGetNodes)
  template <class List = graph_node_list>
  result<List> nodes(source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::graph::nodes", where));
    return detail::list_nodes<&driver::entry_points::graph_get_nodes, List>(
        self().native(), self().context(), where);
  }
  /// The nodes that depend on no other. (cuGraphGetRootNodes)
  template <class List = graph_node_list>
  result<List> root_nodes(source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::graph::root_nodes", where));
    return detail::list_nodes<&driver::entry_points::graph_get_root_nodes, List>(
        self().native(), self().context(), where);
  }
  /// All edges: see graph_edge.hpp. (cuGraphGetEdges)
  template <class List = graph_edge_list>
  result<List> edges(source_location where = source_location::current()) const noexcept;
  /// The node of this graph that was copied from `original` when it was cloned.
  /// (cuGraphNodeFindInClone)
  template <class Node = graph_node>
  result<Node> find_clone_of(graph_node original,
                             source_location where = source_location::current()) const noexcept {
    CUgraphNode found = nullptr;
    GPU_TRY(require("gpu::graph::find_clone_of", where));
    GPU_TRY(detail::require(original, "gpu::graph::find_clone_of", where));
    GPU_TRY(driver::call<&driver::entry_points::graph_node_find_in_clone>(
        where, &found, original.native(), self().native()));
    return Node::from_native(found, self().context());
  }

  /// Moves `object` (a buffer, a module, an event, or a struct of them) into the graph, which keeps
  /// it alive until neither the graph, nor a clone, nor what was instantiated from it needs it any
  /// more. It is destroyed by the operation on any graph that follows, or where this fails.
  /// **Errors**: also `errc::out_of_host_memory`. (cuUserObjectCreate, cuGraphRetainUserObject)
  template <class T>
  result<> keep(T object, source_location where = source_location::current()) const noexcept {
    static_assert(detail::nothrow_constructible<T, T>, "moving the object must not throw");
    GPU_TRY(require("gpu::graph::keep", where));
    detail::destroy_put_aside();
    auto* kept = new (std::nothrow) detail::kept_value<T>(static_cast<T&&>(object));
    if (kept == nullptr) {
      return detail::fail(
          detail::no_room_error("gpu::graph::keep", sizeof(detail::kept_value<T>), where));
    }
    return detail::keep_in_graph(self().native(), static_cast<detail::kept_object*>(kept),
                                 &detail::kept_object::put_aside_at, where);
  }

 private:
  friend Self;
  graph_operations() = default;

  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
  result<> require(const char* function, source_location where) const noexcept {
    return detail::require(self(), function, where);
  }
  template <auto Member>
  result<> edge(const char* function, graph_node first, graph_node second, source_location where,
                const CUgraphEdgeData* data = nullptr) const noexcept {
    GPU_TRY(require(function, where));
    GPU_TRY(detail::require(first, function, where));
    GPU_TRY(detail::require(second, function, where));
    const CUgraphNode from = first.native(), to = second.native();
    return driver::call<Member>(where, self().native(), &from, &to, data, std::size_t{1});
  }
};

/// Names a graph that something else keeps alive: an owner, the node that it is the child or the
/// body of, or a capture. Copy it freely. Default constructed it is empty.
class graph_ref : public graph_operations<graph_ref>,
                  public detail::name_in_context<graph_ref, CUgraph> {
 public:
  constexpr graph_ref() noexcept = default;
};

namespace detail {

inline result<> require(const graph_ref& graph, const char* function,
                        source_location where) noexcept {
  if (!graph) [[unlikely]]
    return fail(empty_handle_error(function, "graph", where));
  return {};
}

struct destroy_graph {
  template <class Graph> void operator()(const Graph& graph) const noexcept {
    driver::destroy<&driver::entry_points::graph_destroy>(graph.native());
    destroy_put_aside();
  }
};

/// Describes, keeps alive in `graph` what the description asks for, then does `work(parameters)`.
template <class Description, class Work>
result<> with_description(CUgraph graph, bool is_there, context_ref context,
                          Description& description, source_location where, Work work) noexcept {
  node_parameters parameters;
  parameters.graph = graph;
  parameters.is_there = is_there;
  GPU_TRY(node_access::describe(description, parameters, context, where));
  if (parameters.kept != nullptr)
    GPU_TRY(keep_in_graph(graph, parameters.kept, parameters.destroy_kept, where));
  return driver::in_context(context.native(), where, [&] { return work(parameters); });
}

inline result<> set_node_attribute(CUgraphNode node, const CUlaunchAttribute& attribute,
                                   source_location where) noexcept {
  return driver::call<&driver::entry_points::graph_kernel_node_set_attribute>(
      where, node, attribute.id, &attribute.value);
}

/// Sets the attributes of a kernel node that was made or changed.
template <class Builder = text_builder>
result<> set_node_attributes(CUgraphNode node, const node_parameters& parameters,
                             source_location where) noexcept {
  for (std::size_t i = 0; i < parameters.attribute_count; ++i)
    GPU_TRY(set_node_attribute(node, parameters.attributes[i], where));
  if (parameters.cluster != nullptr) GPU_TRY(set_node_attribute(node, *parameters.cluster, where));
  return {};
}

constexpr bool has_attribute(const node_parameters& parameters, CUlaunchAttributeID id) noexcept {
  for (std::size_t i = 0; i < parameters.attribute_count; ++i) {
    if (parameters.attributes[i].id == id) return true;
  }
  return id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && parameters.cluster != nullptr;
}

/// Takes back what a changed kernel node has and its new description lacks, for the driver would
/// keep it. A new node has zeros for all of them but the map of domains.
template <class Builder = text_builder>
result<> reset_other_attributes(graph_node node, const node_parameters& parameters,
                                source_location where) noexcept {
  if (parameters.native.type != CU_GRAPH_NODE_TYPE_KERNEL) return {};
  for (const CUlaunchAttributeID id :
       {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, CU_LAUNCH_ATTRIBUTE_PRIORITY,
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
        CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT}) {
    if (has_attribute(parameters, id)) continue;
    CUlaunchAttribute found{}, initial{};
    found.id = initial.id = id;
    result<> told = driver::call<&driver::entry_points::graph_kernel_node_get_attribute>(
        where, node.native(), id, &found.value);
    if (!told.has_value()) {
      // A driver that does not know an attribute has not set it.
      if (told.error().code() == CUDA_ERROR_INVALID_VALUE) continue;
      return told;
    }
    if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) {
      int domains = 0;
      GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(
          where, &domains, CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT,
          node.context().device().native()));
      initial.value.memSyncDomainMap.remote = domains > 1 ? 1 : 0;
    }
    if (__builtin_memcmp(&found.value, &initial.value, sizeof found.value) != 0)
      GPU_TRY(set_node_attribute(node.native(), initial, where));
  }
  return {};
}

}  // namespace detail

/// Owns a graph. Move-only; empty after a move.
/// What was instantiated from it stays valid when it is destroyed.
class graph : public graph_operations<graph> {
 public:
  /// An empty graph for work in a device's primary context. (cuGraphCreate)
  template <class Graph = graph>
  static result<Graph> create(device on,
                              source_location where = source_location::current()) noexcept {
    CUcontext primary = nullptr;
    GPU_TRY(detail::find_primary_context(on.native(), primary, where));
    return create<Graph>(context_ref::from_native(primary, on), where);
  }
  /// The same in a context of the caller's choice.
  template <class Graph = graph>
  static result<Graph> create(context_ref in,
                              source_location where = source_location::current()) noexcept {
    CUgraph native = nullptr;
    detail::destroy_put_aside();
    GPU_TRY(detail::require(in, "gpu::graph::create", where));
    GPU_TRY(driver::call<&driver::entry_points::graph_create>(where, &native, 0u));
    return adopt(graph_ref::from_native(native, in));
  }

  /// A copy of a graph and of all in it; what it keeps alive is kept by both.
  /// **Errors**: CUDA_ERROR_NOT_SUPPORTED for a graph that allocates memory. (cuGraphClone)
  template <class Graph = graph>
  static result<Graph> clone(graph_ref original,
                             source_location where = source_location::current()) noexcept {
    CUgraph native = nullptr;
    GPU_TRY(detail::require(original, "gpu::graph::clone", where));
    GPU_TRY(driver::call<&driver::entry_points::graph_clone>(where, &native, original.native()));
    return adopt(graph_ref::from_native(native, original.context()));
  }

  /// Takes over a graph that cuGraphCreate made.
  static graph adopt(const graph_ref& owned) noexcept { return graph{owned}; }
  /// Gives the graph up; the caller destroys it.
  [[nodiscard]] graph_ref release() noexcept { return handle_.release(); }

  CUgraph native() const noexcept { return handle_.get().native(); }
  context_ref context() const noexcept { return handle_.get().context(); }
  operator graph_ref() const& noexcept { return handle_.get(); }
  operator graph_ref() const&& = delete;  // a name must not outlive its owner

 private:
  explicit graph(const graph_ref& owned) noexcept : handle_{owned} {}

  unique_handle<graph_ref, detail::destroy_graph> handle_;
};

template <class Self>
template <node_description Description>
result<graph_node> graph_operations<Self>::add(const nodes_before& after, Description&& description,
                                               source_location where) const noexcept {
  GPU_TRY(require("gpu::graph::add", where));
  GPU_TRY(detail::require_before(after, "gpu::graph::add", where,
                                 detail::remove_reference_t<Description>::node_kind));
  detail::destroy_put_aside();
  const CUgraph graph = self().native();
  const context_ref context = self().context();
  CUgraphNode made = nullptr;
  GPU_TRY(detail::with_description(
      graph, false, context, description, where,
      [&](detail::node_parameters& parameters) -> result<> {
        GPU_TRY(driver::call<&driver::entry_points::graph_add_node>(
            where, &made, graph, after.native(), after.native_edges(), after.size(),
            &parameters.native));
        result<> set = detail::set_node_attributes(made, parameters, where);
        if (!set.has_value()) {
          driver::destroy<&driver::entry_points::graph_destroy_node>(made);
          return set;
        }
        detail::node_access::made(description, parameters, context);
        return {};
      }));
  return graph_node::from_native(made, context);
}

/// Gives a node of a graph another description of its kind; a kernel node loses the attributes and
/// the cluster that the new one does not have. What was instantiated from the graph before stays as
/// it is: see `graph_exec::set` and `graph_exec::update`.
/// **Ownership**, **Errors**: as `graph::add`; a description of another kind, or of memory or of a
/// condition, is CUDA_ERROR_INVALID_VALUE. **Capture**: allowed. (cuGraphNodeSetParams,
/// cuGraphKernelNodeGetAttribute, cuGraphKernelNodeSetAttribute)
template <node_description Description>
result<> set(graph_ref graph, graph_node node, Description&& description,
             source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(graph, "gpu::set", where));
  GPU_TRY(detail::require(node, "gpu::set", where));
  return detail::with_description(
      graph.native(), true, graph.context(), description, where,
      [&](detail::node_parameters& parameters) -> result<> {
        GPU_TRY(driver::call<&driver::entry_points::graph_node_set_params>(where, node.native(),
                                                                           &parameters.native));
        GPU_TRY(detail::reset_other_attributes(node, parameters, where));
        return detail::set_node_attributes(node.native(), parameters, where);
      });
}

}  // namespace gpu
