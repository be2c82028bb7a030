#pragma once
/// \file
/// Shares of graphs in the code of their kernels and in the events of their nodes: the program may
/// destroy its modules and events before the graphs.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/host_call.hpp>
#include <gpu/graph/detail/shared_event.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/kernel/detail/shared_object.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// One share, in a list.
struct object_share {
  shared_object* object;
  object_share* next;
};

/// May be called from a callback that must not call CUDA.
struct drop_object_shares {
  void operator()(object_share* list) const noexcept {
    while (list != nullptr) {
      drop_share(*list->object);
      delete std::exchange(list, list->next);
    }
  }
};
using object_shares = unique_handle<object_share*, drop_object_shares>;

inline bool has_share(const object_share* list, const shared_object* object) noexcept {
  while (list != nullptr && list->object != object) list = list->next;
  return list != nullptr;
}

/// Moves shares into another list.
inline void add_shares(object_shares& to, object_shares&& shares) noexcept {
  object_share* first = shares.release();
  if (first == nullptr) return;
  object_share* last = first;
  while (last->next != nullptr) last = last->next;
  last->next = to.release();
  to.reset(first);
}

/// Takes shares that a list lacks, for a public function.
struct share_taking {
  const object_share* known;  ///< the list
  const char* function;
  source_location where;
  object_shares taken{};  ///< not in the list yet

  bool has(const shared_object* object) const noexcept {
    return has_share(known, object) || has_share(taken.get(), object);
  }

  /// Adds a share that was taken. Drops it if there is one in the same object.
  result<> add(shared_object* object) noexcept {
    auto* const made = has(object) ? nullptr : new (std::nothrow) object_share{object, taken.get()};
    if (made != nullptr) {
      (void)taken.release();
      taken.reset(made);
      return {};
    }
    const bool is_known = has(object);
    drop_share(*object);
    if (is_known) return {};
    return fail(no_room_error(function, sizeof(object_share), where));
  }

  /// Takes a share in an object that has an owner; null is code that does not belong to a module.
  result<> take(shared_object* object) noexcept {
    return object == nullptr || has(object) || !object->take_share() ? result<>() : add(object);
  }
};

/// Takes a share in an event, which a `gpu::event` need not own.
inline result<> take_of_event(share_taking& taking, CUevent event) noexcept {
  if (shared_event* const shared = take_share_in(event)) return taking.add(shared);
  return fail(no_room_error(taking.function, sizeof(shared_event), taking.where));
}

/// Takes a share for each kernel and event of a graph and of its children, however they got into
/// it. The driver does not list the bodies of conditional nodes. (cuGraphGetNodes,
/// cuGraphNodeGetType, cuGraphKernelNodeGetParams, cuGraphChildGraphNodeGetGraph)
inline result<> take_of_nodes(share_taking& taking, CUgraph graph, context_ref context) noexcept {
  const source_location where = taking.where;
  const graph_node_list nodes =
      GPU_TRY(list_nodes<&driver::entry_points::graph_get_nodes>(graph, context, where));
  CUkernel last = nullptr;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    CUgraphNodeType type{};
    const auto node = nodes.native()[i];
    GPU_TRY(driver::call<&driver::entry_points::graph_node_get_type>(where, node, &type));
    if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
      CUgraph child = nullptr;
      GPU_TRY(driver::call<&driver::entry_points::graph_child_graph_node_get_graph>(where, node,
                                                                                    &child));
      GPU_TRY(take_of_nodes(taking, child, context));
    }
    const bool records = type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    if (records || type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
      CUevent event = nullptr;
      GPU_TRY(records ? driver::call<&driver::entry_points::graph_event_record_node_get_event>(
                            where, node, &event)
                      : driver::call<&driver::entry_points::graph_event_wait_node_get_event>(
                            where, node, &event));
      GPU_TRY(take_of_event(taking, event));
    }
    if (type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
    CUDA_KERNEL_NODE_PARAMS found{};
    GPU_TRY(driver::call<&driver::entry_points::graph_kernel_node_get_params>(where, node, &found));
    if (found.kern == last) continue;
    last = found.kern;
    if (shared_object* const code = take_share_of(found.kern)) GPU_TRY(taking.add(code));
  }
  return {};
}

}}}  // namespace gpu::v1::detail
