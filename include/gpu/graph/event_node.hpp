#pragma once
/// \file
/// Nodes that record an event or wait for one: they order a graph and work outside of it.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/node_description.hpp>

namespace gpu { inline namespace v1 {

namespace detail {

template <graph_node_kind Kind> class event_node {
 public:
  static constexpr graph_node_kind node_kind = Kind;

  explicit event_node(event_ref event) noexcept : event_{event} {}

 private:
  static constexpr bool records = Kind == graph_node_kind::event_record;

  friend struct node_access;
  result<> describe(node_parameters& to, context_ref, source_location where) const noexcept {
    GPU_TRY(require(event_, records ? "gpu::event_record_node" : "gpu::event_wait_node", where));
    (records ? to.native.eventRecord.event : to.native.eventWait.event) = event_.native();
    return {};
  }

  event_ref event_;
};

}  // namespace detail

/// Records an event, of any device, when the node runs. The event's owner may be destroyed once the
/// node was added: the event lives as long as the graph and its executable graphs.
/// **Errors**: `errc::empty_handle`.
using event_record_node = detail::event_node<graph_node_kind::event_record>;

/// Waits for the work that an event, of any device, marks when the graph is launched. The event's
/// owner may be destroyed, as above. **Errors**: `errc::empty_handle`.
using event_wait_node = detail::event_node<graph_node_kind::event_wait>;

}}  // namespace gpu::v1
