#pragma once
/// \file
/// `graph_ref`, a reference to a graph: adds nodes and edges, lists them, changes them.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/host_call.hpp>
#include <gpu/driver/detail/ref_in_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/graph/dependencies.hpp>
#include <gpu/graph/detail/described_attributes.hpp>
#include <gpu/graph/detail/explain_errors.hpp>
#include <gpu/graph/detail/graph_keeper.hpp>
#include <gpu/graph/detail/keep_alive.hpp>
#include <gpu/graph/detail/object_shares.hpp>
#include <gpu/graph/graph_edge.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/node_description.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

class graph_ref;

namespace detail {
struct graph_access;
result<> require(const graph_ref& graph, const char* function, source_location where) noexcept;
}  // namespace detail

/// The operations that `graph` and `graph_ref` share.
/// **Threads**: a graph is used by one thread at a time. **Capture**: allowed; nodes can be added
/// to a graph that a capture adds to, but it must not be destroyed, nor nodes be removed from it.
/// **Errors**: `errc::empty_handle`, and those of the driver call named in parentheses;
/// `errc::out_of_host_memory` for lists.
template <class Self> class graph_operations {
 public:
  // Refuses common guesses; the error says what to write.
  template <class... Arguments> void instantiate(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Self, Arguments...>,
                  "write gpu::graph_exec::instantiate(graph)");
  }
  template <class... Arguments> void launch(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Self, Arguments...>,
                  "write gpu::launch(stream, exec), with gpu::graph_exec::instantiate(graph)");
  }

  /// Adds a node that depends on the nodes in `after`: it runs when they are complete, or earlier
  /// if a `graph_dependency` says so.
  ///
  ///     auto first = GPU_TRY(graph.add({}, gpu::fill_node(x, 0.0f)));
  ///     GPU_TRY(graph.add(first, gpu::kernel_node({64, 256}, saxpy, 2.0f, x, y, n)));
  ///
  /// **Ownership**: the graph takes what the description owns, such as a callable, even if the call
  /// fails; only a `child_graph_node` keeps a graph that could not be moved. The program may
  /// destroy the modules of kernels and the events of nodes, also those of a child graph: the graph
  /// and its executable graphs keep code and events until the last of them is destroyed. Buffers
  /// must outlive them: see `keep`.
  /// **Errors**: also those of the description, such as `errc::invalid_launch`;
  /// `errc::invalid_argument` as `connect`; `errc::out_of_host_memory`; CUDA_ERROR_INVALID_VALUE,
  /// with the index, if a node in `after` belongs to another graph or occurs twice.
  /// (cuGraphAddNode)
  template <node_description Description>
  result<graph_node> add(const dependencies& after, Description&& description,
                         source_location where = source_location::current()) const noexcept;

  /// Removes a node and its edges. The driver removes no nodes from a graph that allocates memory.
  /// **Errors**: also `errc::invalid_argument` for a node of another graph, from which the driver
  /// would remove it. **Cost**: lists all nodes, so removing them one by one takes quadratic time.
  /// (cuGraphGetNodes, cuGraphDestroyNode)
  result<> remove(graph_node node,
                  source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::graph::remove", where));
    GPU_TRY(detail::require(node, "gpu::graph::remove", where));
    GPU_TRY(detail::require_own_node(self().native(), node, "gpu::graph::remove", where));
    return driver::call<&driver::entry_points::graph_destroy_node>(where, node.native());
  }

  /// Makes `second` depend on `first`. A cycle is an error of `graph_exec::instantiate`.
  /// **Errors**: also `errc::invalid_argument` if both are the same node, if the dependency is not
  /// `full` and a node is not a kernel, and for a value that is not a valid `graph_dependency`;
  /// CUDA_ERROR_INVALID_VALUE, with the reason, if the edge exists already or a node belongs to
  /// another graph. (cuGraphAddDependencies; cuGraphNodeGetType if the dependency is not `full`)
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
  /// Removes the edge from `first` to `second`. **Errors**: also CUDA_ERROR_INVALID_VALUE, with the
  /// reason, if the graph has no such edge. (cuGraphRemoveDependencies)
  result<> disconnect(graph_node first, graph_node second,
                      source_location where = source_location::current()) const noexcept {
    return edge<&driver::entry_points::graph_remove_dependencies>("gpu::graph::disconnect", first,
                                                                  second, where);
  }

  /// Returns all nodes. (cuGraphGetNodes)
  result<graph_node_list> nodes(source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::graph::nodes", where));
    return detail::list_nodes<&driver::entry_points::graph_get_nodes>(self().native(),
                                                                      self().context(), where);
  }
  /// Returns the nodes without dependencies. (cuGraphGetRootNodes)
  result<graph_node_list> root_nodes(
      source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::graph::root_nodes", where));
    return detail::list_nodes<&driver::entry_points::graph_get_root_nodes>(self().native(),
                                                                           self().context(), where);
  }
  /// Returns all edges. (cuGraphGetEdges)
  result<graph_edge_list> edges(source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::graph::edges", where));
    return detail::list_edges(self().native(), self().context(), where);
  }
  /// Returns the node of this graph that is the copy of `original`, a node of the graph that this
  /// one was cloned from.
  /// **Errors**: also CUDA_ERROR_INVALID_VALUE if the clone has no such node.
  /// (cuGraphNodeFindInClone)
  result<graph_node> find_clone_of(
      graph_node original, source_location where = source_location::current()) const noexcept {
    CUgraphNode found = nullptr;
    GPU_TRY(require("gpu::graph::find_clone_of", where));
    GPU_TRY(detail::require(original, "gpu::graph::find_clone_of", where));
    GPU_TRY(detail::find_copy(found, original, self().native(), where));
    return graph_node::from_native(found, self().context());
  }

  /// Moves `object` (a buffer, an event, or a struct of them) into the graph, which keeps it alive
  /// as long as the graph, its clones and their executable graphs need it. The next operation on
  /// any graph then destroys it. If the call fails, the object is destroyed at once. **Cost**: each
  /// launch takes 1.5 to 2 us longer on an H200. **Errors**: also `errc::out_of_host_memory`.
  /// (cuUserObjectCreate, cuGraphRetainUserObject)
  template <class T>
  result<> keep(T object, source_location where = source_location::current()) const noexcept {
    static_assert(std::is_nothrow_constructible_v<T, T>, "moving the object must not throw");
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

/// Refers to a graph that is owned by a `graph`, by the node whose child or body it is, or by a
/// capture. Copy it freely. A default constructed one is empty.
/// **Cost**: the code and the events of nodes that are added through a ref from `from_native`,
/// `child_of` or `capture_of` are kept alive by the driver, which makes each launch of the graph
/// take 1.5 to 2 us longer on an H200.
class graph_ref : public graph_operations<graph_ref>,
                  public detail::ref_in_context<graph_ref, CUgraph> {
 public:
  constexpr graph_ref() noexcept = default;

 private:
  friend struct detail::graph_access;
  detail::graph_keeper* keeper_ = nullptr;
};

namespace detail {

inline result<> require(const graph_ref& graph, const char* function,
                        source_location where) noexcept {
  if (!graph) return fail(empty_handle_error(function, "graph", where));
  return {};
}

/// The access of internal functions to the keepers of graphs.
struct graph_access {
  static graph_ref name(CUgraph native, context_ref context, graph_keeper* keeper) noexcept {
    graph_ref made = graph_ref::from_native(native, context);
    made.keeper_ = keeper;
    return made;
  }
  static graph_keeper* keeper_of(const graph_ref& graph) noexcept { return graph.keeper_; }

  /// Makes a keeper for a graph without one. (A template, since `graph` is defined later.)
  template <class Graph>
  static result<> add_keeper(Graph& owner, const char* function, source_location where) noexcept {
    auto* const made = new (std::nothrow) graph_keeper;
    if (made == nullptr) return fail(no_room_error(function, sizeof(graph_keeper), where));
    graph_ref named = owner.handle_.release();
    named.keeper_ = made;
    owner.handle_.reset(named);
    return {};
  }
  /// Hands the keeper of a graph over to the driver.
  static graph_ref leave_keeper(const graph_ref& graph) noexcept {
    if (graph.keeper_ == nullptr) return graph;
    const result<> left =
        keep_in_graph(graph.native(), graph.keeper_, &graph_keeper::drop_at, source_location{});
    if (left.has_value()) return graph;
    report(left.error());
    destroy_put_aside();
    return graph_ref::from_native(graph.native(), graph.context());
  }
  /// Releases a graph together with its keeper.
  template <class Graph> static graph_ref release(Graph& owner) noexcept {
    return owner.handle_.release();
  }
};

struct destroy_graph {
  void operator()(const graph_ref& graph) const noexcept {
    driver::destroy<&driver::entry_points::graph_destroy>(graph.native());
    if (auto* const keeper = graph_access::keeper_of(graph)) keeper->drop();
    destroy_put_aside();
  }
};

/// Takes a share in everything that a graph needs.
inline result<> take_of_graph(share_taking& taking, const graph_ref& graph) noexcept {
  return take_of_graph(taking, graph.native(), graph_access::keeper_of(graph), graph.context());
}

/// Returns an object that takes shares for a graph.
inline share_taking shares_for(const graph_ref& graph, const char* function,
                               source_location where) noexcept {
  const graph_keeper* const keeper = graph_access::keeper_of(graph);
  return {keeper != nullptr ? keeper->shares.get() : nullptr, function, where};
}

/// Gives the shares that were taken to a graph.
inline result<> keep_taken(const graph_ref& graph, share_taking& taking) noexcept {
  graph_keeper* const keeper = graph_access::keeper_of(graph);
  if (keeper == nullptr)
    return keep_by_driver(graph.native(), std::move(taking.taken), taking.function, taking.where);
  add_shares(keeper->shares, std::move(taking.taken));
  return {};
}

/// Makes the driver's parameters from a description, has the graph keep alive what they need, and
/// calls `work(parameters)`.
template <class Description, class Work>
result<> with_description(const char* function, const graph_ref& graph, bool exists,
                          Description& description, source_location where, Work work) noexcept {
  node_parameters parameters;
  parameters.graph = graph.native();
  parameters.exists = exists;
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
  result<> worked =
      driver::in_context(graph.context().native(), where, [&] { return work(parameters); });
  // Even if something failed after the driver took the description.
  if (parameters.done) GPU_TRY(keep_taken(graph, shares));
  return worked;
}

}  // namespace detail

template <class Self>
template <node_description Description>
result<graph_node> graph_operations<Self>::add(const dependencies& after, Description&& description,
                                               source_location where) const noexcept {
  GPU_TRY(require("gpu::graph::add", where));
  GPU_TRY(detail::require_dependencies(after, "gpu::graph::add", where,
                                       std::remove_reference_t<Description>::node_kind));
  detail::destroy_put_aside();
  const graph_ref graph = self();
  CUgraphNode made = nullptr;
  const result<> added = detail::with_description(
      "gpu::graph::add", graph, false, description, where,
      [&](detail::node_parameters& parameters) -> result<> {
        GPU_TRY(detail::add_node(graph.native(), after, parameters.native, made, where));
        GPU_TRY(detail::set_node_attributes(made, parameters, where));
        parameters.done = true;
        detail::node_access::made(description, parameters, graph.context());
        return {};
      });
  if (!added.has_value()) {
    if (made != nullptr) driver::destroy<&driver::entry_points::graph_destroy_node>(made);
    return detail::fail(added.error());
  }
  return graph_node::from_native(made, graph.context());
}

/// Sets the parameters of a node to those of another description of its kind. A kernel node loses
/// the attributes and the cluster that the new description does not have. Executable graphs do not
/// change: see `graph_exec::set` and `graph_exec::update`.
/// **Ownership**, **Errors**: as `graph::add`; also `errc::invalid_argument` for a node of another
/// graph; CUDA_ERROR_INVALID_VALUE, with both kinds, for a description of another kind;
/// CUDA_ERROR_NOT_SUPPORTED for an allocation, free or conditional node. **Capture**: allowed.
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
        parameters.done = true;
        GPU_TRY(detail::reset_other_attributes(node, parameters, where));
        return detail::set_node_attributes(node.native(), parameters, where);
      });
}

}}  // namespace gpu::v1
