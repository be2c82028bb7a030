#pragma once
/// \file
/// What a graph keeps without the driver's help: an object of its owner's, which every
/// `graph_ref` that was made from the owner knows. With what the driver would keep instead, user
/// objects, each launch takes longer.

#include <gpu/graph/detail/object_shares.hpp>
#include <gpu/graph/node_description.hpp>

namespace gpu::inline v0::detail {

/// The shares of a graph in code and events. An executable graph has copies of them.
struct graph_keeper {
  object_shares shares{};
  /// The keepers of the graphs that were moved into this one, for the program can have refs to
  /// these. In no circle: `child_graph_node` refuses what would close one.
  graph_keeper* moved_in = nullptr;
  graph_keeper* next = nullptr;  ///< in such a list
  std::size_t owners = 1;

  void share() noexcept { __atomic_add_fetch(&owners, 1u, __ATOMIC_RELAXED); }
  /// Also where CUDA must not be called.
  void drop() noexcept {
    if (__atomic_sub_fetch(&owners, 1u, __ATOMIC_ACQ_REL) != 0) return;
    while (moved_in != nullptr) exchange(moved_in, moved_in->next)->drop();
    delete this;
  }
  static void CUDA_CB drop_at(void* self) noexcept { static_cast<graph_keeper*>(self)->drop(); }

  void take_in(graph_keeper* child) noexcept { child->next = exchange(moved_in, child); }

  /// Whether it is `other`, or has it.
  bool holds(const graph_keeper* other) const noexcept {
    const graph_keeper* each = this == other ? nullptr : moved_in;
    while (each != nullptr && !each->holds(other)) each = each->next;
    return this == other || each != nullptr;
  }
};

/// Takes a share in all that a graph needs: of its keeper's, where it has one, else of its nodes'.
template <class Taking>
result<> take_of_graph(Taking& taking, CUgraph graph, const graph_keeper* keeper,
                       context_ref context) noexcept {
  if (keeper == nullptr) return take_of_nodes(taking, graph, context);
  for (const object_share* each = keeper->shares.get(); each != nullptr; each = each->next)
    GPU_TRY(taking.take(each->object));
  for (const graph_keeper* each = keeper->moved_in; each != nullptr; each = each->next)
    GPU_TRY(take_of_graph(taking, graph, each, context));
  return {};
}

/// Takes a share in what a node needs. A graph that is moved into it brings its keeper.
template <class Taking>
result<> take_of_description(Taking& taking, const node_parameters& node,
                             context_ref context) noexcept {
  if (node.code != nullptr) return taking.take(node.code);
  if (node.native.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
    return take_of_event(taking, node.native.eventRecord.event);
  if (node.native.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
    return take_of_event(taking, node.native.eventWait.event);
  if (node.native.type != CU_GRAPH_NODE_TYPE_GRAPH || node.moved_keeper != nullptr) return {};
  return take_of_graph(taking, node.native.graph.graph, node.child_keeper, context);
}

/// Has a graph without a keeper hold shares.
inline result<> keep_by_driver(CUgraph graph, object_shares&& shares, const char* function,
                               source_location where) noexcept {
  if (!shares) return {};
  auto* const kept = new (std::nothrow) graph_keeper{static_cast<object_shares&&>(shares)};
  if (kept == nullptr) return fail(no_room_error(function, sizeof(graph_keeper), where));
  return keep_in_graph(graph, kept, &graph_keeper::drop_at, where);
}

}  // namespace gpu::inline v0::detail
