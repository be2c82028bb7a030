#pragma once
/// \file
/// Nodes that record an event or wait for one: how a graph and the work outside are ordered.

#include <gpu/driver/event.hpp>
#include <gpu/graph/node_description.hpp>

namespace gpu {

/// Records `event` when the launch gets there. The event has to live as long as the graph.
class event_record_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::event_record;

  explicit event_record_node(event_ref event) noexcept : event_{event} {}

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref,
                    source_location where) const noexcept {
    GPU_TRY(detail::require(event_, "gpu::event_record_node", where));
    to.native.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    to.native.eventRecord.event = event_.native();
    return {};
  }

  event_ref event_;
};

/// Waits for what `event` marks when the graph is launched. The event has to live as long as the
/// graph.
class event_wait_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::event_wait;

  explicit event_wait_node(event_ref event) noexcept : event_{event} {}

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref,
                    source_location where) const noexcept {
    GPU_TRY(detail::require(event_, "gpu::event_wait_node", where));
    to.native.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    to.native.eventWait.event = event_.native();
    return {};
  }

  event_ref event_;
};

}  // namespace gpu
