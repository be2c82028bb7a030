#pragma once
/// \file
/// `graph_keeper`: what a graph keeps alive without the driver's help. Its owner has it, and every
/// `graph_ref` that was made from the owner points to it. User objects of the driver would do the
/// same, but make each launch take longer.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/host_call.hpp>
#include <gpu/graph/detail/object_shares.hpp>
#include <gpu/graph/node_description.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// The shares of a graph in code and events. An executable graph has shares of its own.
struct graph_keeper {
  object_shares shares{};
  /// The keepers of the graphs that were moved into this one: the program may have refs to these.
  /// A cycle cannot arise, since `child_graph_node` rejects a graph that would close one.
  graph_keeper* moved_in = nullptr;
  graph_keeper* next = nullptr;  ///< in that list
  std::size_t owners = 1;

  void share() noexcept { atomic_fetch_add<memory_order::relaxed>(owners, 1); }
  /// May be called from a callback that must not call CUDA.
  void drop() noexcept {
    if (atomic_fetch_sub<memory_order::acq_rel>(owners, 1) != 1) return;
    while (moved_in != nullptr) std::exchange(moved_in, moved_in->next)->drop();
    delete this;
  }
  static void CUDA_CB drop_at(void* self) noexcept { static_cast<graph_keeper*>(self)->drop(); }

  void take_in(graph_keeper* child) noexcept { child->next = std::exchange(moved_in, child); }

  /// Returns whether this is `other`, or `other` was moved into it, directly or not.
  bool holds(const graph_keeper* other) const noexcept {
    const graph_keeper* each = this == other ? nullptr : moved_in;
    while (each != nullptr && !each->holds(other)) each = each->next;
    return this == other || each != nullptr;
  }
};

/// Takes a share in everything that a graph needs: what its keeper has or, without a keeper, what
/// its nodes name.
inline result<> take_of_graph(share_taking& taking, CUgraph graph, const graph_keeper* keeper,
                              context_ref context) noexcept {
  if (keeper == nullptr) return take_of_nodes(taking, graph, context);
  for (const object_share* each = keeper->shares.get(); each != nullptr; each = each->next)
    GPU_TRY(taking.take(each->object));
  for (const graph_keeper* each = keeper->moved_in; each != nullptr; each = each->next)
    GPU_TRY(take_of_graph(taking, graph, each, context));
  return {};
}

/// Takes a share in what a node needs. A graph that is moved into the node brings its own keeper.
inline result<> take_of_description(share_taking& taking, const node_parameters& node,
                                    context_ref context) noexcept {
  if (node.code != nullptr) return taking.take(node.code);
  if (node.native.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
    return take_of_event(taking, node.native.eventRecord.event);
  if (node.native.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
    return take_of_event(taking, node.native.eventWait.event);
  if (node.native.type != CU_GRAPH_NODE_TYPE_GRAPH || node.moved_keeper != nullptr) return {};
  return take_of_graph(taking, node.native.graph.graph, node.child_keeper, context);
}

/// Has the driver keep shares for a graph without a keeper. (cuUserObjectCreate,
/// cuGraphRetainUserObject)
inline result<> keep_by_driver(CUgraph graph, object_shares&& shares, const char* function,
                               source_location where) noexcept {
  if (!shares) return {};
  auto* const kept = new (std::nothrow) graph_keeper{static_cast<object_shares&&>(shares)};
  if (kept == nullptr) return fail(no_room_error(function, sizeof(graph_keeper), where));
  return keep_in_graph(graph, kept, &graph_keeper::drop_at, where);
}

}}}  // namespace gpu::v1::detail
