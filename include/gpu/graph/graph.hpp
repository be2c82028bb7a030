#pragma once
/// \file
/// Graphs, work that is described once and launched many times: `graph` owns one, `graph_ref` names
/// one. A graph is instantiated before it is launched: see graph_exec.hpp.

#include <gpu/core/unique_handle.hpp>
#include <gpu/graph/detail/described_attributes.hpp>
#include <gpu/graph/detail/explain_errors.hpp>
#include <gpu/graph/detail/graph_keeper.hpp>
#include <gpu/graph/detail/keep_alive.hpp>
#include <gpu/graph/node_description.hpp>

namespace gpu::inline v0 {

class graph_ref;
class graph_condition;
class graph_edge_list;

namespace detail {
struct graph_access;
result<> require(const graph_ref& graph, const char* function, source_location where) noexcept;
}  // namespace detail

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
  /// also where adding fails, but that a `child_graph_node` keeps a graph that could not be moved.
  /// The modules of kernels and the events of nodes, those of a child graph too, may be destroyed:
  /// the graph and what is instantiated from it keep code and events, until the last of them is
  /// gone. Buffers have to live: see `keep`.
  /// **Errors**: also `errc::invalid_launch` and the like for what is wrong with the description,
  /// `errc::invalid_argument` as `connect`, and `errc::out_of_host_memory`; a node in `after` that
  /// is of another graph, or there twice, is CUDA_ERROR_INVALID_VALUE, and says which.
  /// (cuGraphAddNode)
  template <node_description Description>
  result<graph_node> add(const nodes_before& after, Description&& description,
                         source_location where = source_location::current()) const noexcept;

  /// Removes a node and its edges. A graph that allocates memory keeps its nodes.
  /// **Errors**: also `errc::invalid_argument` for a node of another graph, from which the driver
  /// would remove it. **Cost**: lists the nodes, so removing all of them one by one takes a time
  /// that grows with their number squared. (cuGraphGetNodes, cuGraphDestroyNode)
  result<> remove(graph_node node,
                  source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::graph::remove", where));
    GPU_TRY(detail::require(node, "gpu::graph::remove", where));
    GPU_TRY(detail::require_own_node(self().native(), node, "gpu::graph::remove", where));
    return driver::call<&driver::entry_points::graph_destroy_node>(where, node.native());
  }

  /// Makes `second` run after `first`, or, where both are kernels, begin as early as `dependency`
  /// says. A circle is found when the graph is instantiated.
  /// **Errors**: also `errc::invalid_argument` for a node and itself, for a node of another kind
  /// than `kernel`, unless the dependency is `full`, and for a value that is no dependency; an edge
  /// that is there already, and a node of another graph, is CUDA_ERROR_INVALID_VALUE, and says
  /// which. (cuGraphAddDependencies, and cuGraphNodeGetType for what is not `full`)
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
  /// Removes the edge from `first` to `second`. **Errors**: CUDA_ERROR_INVALID_VALUE, with why,
  /// where there is none. (cuGraphRemoveDependencies)
  result<> disconnect(graph_node first, graph_node second,
                      source_location where = source_location::current()) const noexcept {
    return edge<&driver::entry_points::graph_remove_dependencies>("gpu::graph::disconnect", first,
                                                                  second, where);
  }

  /// All nodes. (cuGraphGetNodes)
  result<graph_node_list> nodes(source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::graph::nodes", where));
    return detail::list_nodes<&driver::entry_points::graph_get_nodes>(self().native(),
                                                                      self().context(), where);
  }
  /// The nodes that depend on no other. (cuGraphGetRootNodes)
  result<graph_node_list> root_nodes(
      source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::graph::root_nodes", where));
    return detail::list_nodes<&driver::entry_points::graph_get_root_nodes>(self().native(),
                                                                           self().context(), where);
  }
  /// All edges: see graph_edge.hpp. (cuGraphGetEdges)
  result<graph_edge_list> edges(source_location where = source_location::current()) const noexcept;
  /// The node of this graph that was copied from `original` when it was cloned.
  /// **Errors**: also CUDA_ERROR_INVALID_VALUE where there is none. (cuGraphNodeFindInClone)
  result<graph_node> find_clone_of(
      graph_node original, source_location where = source_location::current()) const noexcept {
    CUgraphNode found = nullptr;
    GPU_TRY(require("gpu::graph::find_clone_of", where));
    GPU_TRY(detail::require(original, "gpu::graph::find_clone_of", where));
    GPU_TRY(detail::find_copy(found, original, self().native(), where));
    return graph_node::from_native(found, self().context());
  }

  /// Moves `object` (a buffer, an event, or a struct of them) into the graph, which keeps it alive
  /// until neither the graph, nor a clone, nor what was instantiated from it needs it any more. It
  /// is destroyed by the operation on any graph that follows, or where this fails. **Cost**: each
  /// launch takes longer, by 1.5 to 2 us on an H200. **Errors**: also `errc::out_of_host_memory`.
  /// (cuUserObjectCreate, cuGraphRetainUserObject)
  template <class T>
  result<> keep(T object, source_location where = source_location::current()) const noexcept {
    static_assert(detail::nothrow_constructible<T, T>, "moving the object must not throw");
    GPU_TRY(require("gpu::graph::keep", where));
    detail::destroy_put_aside();
    auto* value = new (std::nothrow) detail::kept_value<T>(static_cast<T&&>(object));
    if (value == nullptr) {
      return detail::fail(
          detail::no_room_error("gpu::graph::keep", sizeof(detail::kept_value<T>), where));
    }
    result<> kept = detail::keep_in_graph(self().native(), static_cast<detail::kept_object*>(value),
                                          &detail::kept_object::put_aside_at, where);
    if (!kept.has_value()) detail::destroy_put_aside();
    return kept;
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
    return detail::change_edge<Member>(self().native(), first, second, data, where);
  }
};

/// Names a graph that something else keeps alive: an owner, the node that it is the child or the
/// body of, or a capture. Copy it freely. Default constructed it is empty.
/// **Cost**: a ref that comes of no `graph` (of `from_native`, `child_of` or `capture_of`) leaves
/// it to the driver to keep the code and the events of nodes that are added by it. Each launch of
/// what is instantiated then takes longer, by 1.5 to 2 us on an H200.
class graph_ref : public graph_operations<graph_ref>,
                  public detail::name_in_context<graph_ref, CUgraph> {
 public:
  constexpr graph_ref() noexcept = default;

 private:
  friend struct detail::graph_access;
  detail::graph_keeper* keeper_ = nullptr;
};

namespace detail {

inline result<> require(const graph_ref& graph, const char* function,
                        source_location where) noexcept {
  if (!graph) [[unlikely]]
    return fail(empty_handle_error(function, "graph", where));
  return {};
}

/// Graphs and their keepers.
struct graph_access {
  static graph_ref name(CUgraph native, context_ref context, graph_keeper* keeper) noexcept {
    graph_ref made = graph_ref::from_native(native, context);
    made.keeper_ = keeper;
    return made;
  }
  static graph_keeper* keeper_of(const graph_ref& graph) noexcept { return graph.keeper_; }

  /// Makes a keeper for a graph that has none.
  template <class Graph>
  static result<> add_keeper(Graph& owner, const char* function, source_location where) noexcept {
    auto* const made = new (std::nothrow) graph_keeper;
    if (made == nullptr) return fail(no_room_error(function, sizeof(graph_keeper), where));
    graph_ref named = owner.handle_.release();
    named.keeper_ = made;
    owner.handle_.reset(named);
    return {};
  }
  /// Has the driver own the keeper of a graph.
  template <class Graph> static Graph leave_keeper(const Graph& graph) noexcept {
    if (graph.keeper_ == nullptr) return graph;
    const result<> left =
        keep_in_graph(graph.native(), graph.keeper_, &graph_keeper::drop_at, source_location{});
    if (left.has_value()) return graph;
    report(left.error());
    destroy_put_aside();
    return Graph::from_native(graph.native(), graph.context());
  }
  /// Gives a graph up with its keeper.
  template <class Graph> static graph_ref release(Graph& owner) noexcept {
    return owner.handle_.release();
  }
};

struct destroy_graph {
  template <class Graph> void operator()(const Graph& graph) const noexcept {
    driver::destroy<&driver::entry_points::graph_destroy>(graph.native());
    if (auto* const keeper = graph_access::keeper_of(graph)) keeper->drop();
    destroy_put_aside();
  }
};

/// Takes a share in all that a graph needs.
template <class Taking> result<> take_of_graph(Taking& taking, const graph_ref& graph) noexcept {
  return take_of_graph(taking, graph.native(), graph_access::keeper_of(graph), graph.context());
}

/// Shares to be taken for a graph.
inline share_taking shares_for(const graph_ref& graph, const char* function,
                               source_location where) noexcept {
  const graph_keeper* const keeper = graph_access::keeper_of(graph);
  return {keeper != nullptr ? keeper->shares.get() : nullptr, function, where};
}

/// Has a graph hold shares that were taken.
template <class Taking> result<> keep_taken(const graph_ref& graph, Taking& taking) noexcept {
  graph_keeper* const keeper = graph_access::keeper_of(graph);
  if (keeper == nullptr)
    return keep_by_driver(graph.native(), move(taking.taken), taking.function, taking.where);
  add_shares(keeper->shares, move(taking.taken));
  return {};
}

/// Describes, keeps alive in `graph` what the description asks for, then does `work(parameters)`.
template <class Description, class Work>
result<> with_description(const char* function, const graph_ref& graph, bool is_there,
                          Description& description, source_location where, Work work) noexcept {
  node_parameters parameters;
  parameters.graph = graph.native();
  parameters.is_there = is_there;
  parameters.keeper = graph_access::keeper_of(graph);
  GPU_TRY(node_access::describe(description, parameters, graph.context(), where));
  if (parameters.kept != nullptr)
    GPU_TRY(keep_in_graph(graph.native(), parameters.kept, parameters.destroy_kept, where));
  share_taking shares = shares_for(graph, function, where);
  GPU_TRY(take_of_description(shares, parameters, graph.context()));
  if (parameters.keeper == nullptr) {
    GPU_TRY(keep_taken(graph, shares));
    if (parameters.moved_keeper != nullptr) {
      parameters.moved_keeper->share();
      GPU_TRY(
          keep_in_graph(graph.native(), parameters.moved_keeper, &graph_keeper::drop_at, where));
    }
  }
  result<> done =
      driver::in_context(graph.context().native(), where, [&] { return work(parameters); });
  // Also where something failed after that.
  if (parameters.took_place) GPU_TRY(keep_taken(graph, shares));
  return done;
}

}  // namespace detail

/// Owns a graph. Move-only; empty after a move.
/// What was instantiated from it stays valid when it is destroyed.
/// A graph belongs to a context, in which the nodes are made that are added to it, and may span
/// devices: copies and fills reach the memory of all of them, events may be another device's, and a
/// capture of another device's stream brings nodes of that. It is launched on a stream of any.
class graph : public graph_operations<graph> {
 public:
  /// Creates an empty graph for work in a context, or in the primary context of a device.
  /// **Errors**: `errc::out_of_host_memory`, the driver's. (cuGraphCreate)
  static result<graph> create(context_or_device on,
                              source_location where = source_location::current()) noexcept {
    CUgraph native = nullptr;
    detail::destroy_put_aside();
    const context_ref in = GPU_TRY(on.resolve("gpu::graph::create", where));
    GPU_TRY(driver::call<&driver::entry_points::graph_create>(where, &native, 0u));
    graph owner = graph::adopt(graph_ref::from_native(native, in));
    GPU_TRY(detail::graph_access::add_keeper(owner, "gpu::graph::create", where));
    return owner;
  }

  /// A copy of a graph and of all in it; what it keeps alive is kept by both.
  /// **Errors**: `errc::out_of_host_memory`; CUDA_ERROR_NOT_SUPPORTED for a graph that allocates
  /// memory. (cuGraphClone)
  static result<graph> clone(graph_ref original,
                             source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::graph::clone";
    CUgraph native = nullptr;
    detail::destroy_put_aside();
    GPU_TRY(detail::require(original, function, where));
    GPU_TRY(driver::call<&driver::entry_points::graph_clone>(where, &native, original.native()));
    graph owner = graph::adopt(graph_ref::from_native(native, original.context()));
    GPU_TRY(detail::graph_access::add_keeper(owner, function, where));
    detail::share_taking shares{nullptr, function, where};
    GPU_TRY(detail::take_of_graph(shares, original));
    GPU_TRY(detail::keep_taken(owner, shares));
    return owner;
  }

  /// Takes over a graph that cuGraphCreate made. The modules and events of the nodes that it has
  /// are kept by what is instantiated from it, and have to live until then; for nodes that are
  /// added later see `graph_ref`. One that was released keeps what it kept.
  static graph adopt(const graph_ref& owned) noexcept {
    if (auto* const keeper = detail::graph_access::keeper_of(owned)) keeper->share();
    return graph{owned};
  }
  /// Gives the graph up; the caller destroys it. The driver has it keep its modules and events, at
  /// the cost that `graph_ref` tells; where it does not, the error reporter hears of it.
  /// (cuUserObjectCreate, cuGraphRetainUserObject)
  [[nodiscard]] graph_ref release() noexcept {
    return detail::graph_access::leave_keeper(handle_.release());
  }

  CUgraph native() const noexcept { return handle_.get().native(); }
  context_ref context() const noexcept { return handle_.get().context(); }
  operator graph_ref() const& noexcept { return handle_.get(); }
  operator graph_ref() const&& = delete;  // a name must not outlive its owner

 private:
  friend struct detail::graph_access;
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
  const graph_ref graph = self();
  CUgraphNode made = nullptr;
  const result<> added = detail::with_description(
      "gpu::graph::add", graph, false, description, where,
      [&](detail::node_parameters& parameters) -> result<> {
        GPU_TRY(detail::add_node(graph.native(), after, parameters.native, made, where));
        GPU_TRY(detail::set_node_attributes(made, parameters, where));
        parameters.took_place = true;
        detail::node_access::made(description, parameters, graph.context());
        return {};
      });
  if (!added.has_value()) {
    if (made != nullptr) driver::destroy<&driver::entry_points::graph_destroy_node>(made);
    return detail::fail(added.error());
  }
  return graph_node::from_native(made, graph.context());
}

/// Gives a node of a graph another description of its kind; a kernel node loses the attributes and
/// the cluster that the new one does not have. What was instantiated from the graph before stays as
/// it is: see `graph_exec::set` and `graph_exec::update`.
/// **Ownership**, **Errors**: as `graph::add`; also `errc::invalid_argument` for a node of another
/// graph, which would not keep what the description holds; a description of another kind is
/// CUDA_ERROR_INVALID_VALUE, and one of memory or of a condition CUDA_ERROR_NOT_SUPPORTED; both say
/// so. **Capture**: allowed.
/// **Cost**: lists the nodes of the graph; `graph_exec::set` does not. (cuGraphGetNodes,
/// cuGraphNodeSetParams, cuGraphKernelNodeGetAttribute, cuGraphKernelNodeSetAttribute)
template <node_description Description>
result<> set(graph_ref graph, graph_node node, Description&& description,
             source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(graph, "gpu::set", where));
  GPU_TRY(detail::require(node, "gpu::set", where));
  GPU_TRY(detail::require_own_node(graph.native(), node, "gpu::set", where));
  return detail::with_description(
      "gpu::set", graph, true, description, where,
      [&](detail::node_parameters& parameters) -> result<> {
        GPU_TRY(detail::describe_node(node, parameters.native, where));
        parameters.took_place = true;
        GPU_TRY(detail::reset_other_attributes(node, parameters, where));
        return detail::set_node_attributes(node.native(), parameters, where);
      });
}

}  // namespace gpu::inline v0
