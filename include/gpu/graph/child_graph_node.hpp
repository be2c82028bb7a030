#pragma once
/// \file
/// `child_graph_node`: a graph inside a graph.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/version.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/driver_version.hpp>
#include <gpu/graph/detail/explain_errors.hpp>
#include <gpu/graph/detail/graph_keeper.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/node_description.hpp>

#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

/// Fails if the driver would copy a graph that is to be moved.
inline result<> require_moving_graphs(source_location where) noexcept {
  const version driver = GPU_TRY(driver_version(where));
  if (driver >= version{12, 9}) return {};
  text_builder out;
  out << "the driver supports CUDA " << driver.major << '.' << driver.minor
      << ", but moving a graph into another one needs CUDA 12.9; pass the graph as a "
         "gpu::graph_ref, which copies it, or update the NVIDIA driver.";
  return fail(refusal(errc::not_supported, "gpu::child_graph_node", out.finish(), where,
                      static_cast<std::uint64_t>(driver.major * 1000 + driver.minor * 10), 12090));
}

}  // namespace detail

/// Runs a graph as one node:
///
///     GPU_TRY(graph.add({}, gpu::child_graph_node(steps)));             // a copy of it
///     GPU_TRY(graph.add({}, gpu::child_graph_node(std::move(steps))));  // the graph itself
///
/// The original of a copied graph can be changed or destroyed afterwards. A graph that was moved
/// belongs to the node; refs to its nodes stay valid, and `child_of` returns a ref to it. It may
/// allocate memory, which the parent or the program may free after the node has run. It can no
/// longer get nodes that allocate or free, be instantiated alone, or become the child of another
/// graph.
/// **Ownership**: if the node cannot be added, the description keeps a graph that was moved into
/// it.
/// **Errors**: `errc::invalid_argument` for adding a graph to itself or moving it into a graph
/// inside of it, and for moving a graph with `set`, after which the driver would neither
/// instantiate nor destroy the parent; `errc::not_supported` for moving with a driver older than
/// CUDA 12.9; CUDA_ERROR_NOT_SUPPORTED for a graph that has conditions or was moved already, and
/// for copying a graph that allocates memory.
class child_graph_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::child_graph;

  explicit child_graph_node(graph_ref child) noexcept : child_{child} {}
  explicit child_graph_node(graph&& child) noexcept
      : owned_{static_cast<graph&&>(child)}, child_{owned_} {}

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref, source_location where) noexcept {
    GPU_TRY(detail::require(child_, "gpu::child_graph_node", where));
    detail::graph_keeper* const keeper = detail::graph_access::keeper_of(child_);
    const bool moves = owned_.native() != nullptr;
    const bool is_inside = moves && keeper != nullptr && keeper->holds(to.keeper);
    if (is_inside || child_.native() == to.graph) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::child_graph_node",
          text("a graph cannot contain itself; add a clone of it: see gpu::graph::clone."), where));
    }
    to.native.graph.graph = child_.native();
    to.child_keeper = keeper;
    if (!moves) return {};
    if (to.graph == nullptr || to.exists) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::child_graph_node",
          text("a graph cannot be moved into an existing node: the driver could then neither "
               "instantiate nor destroy the parent; pass it as a gpu::graph_ref, which copies it, "
               "or remove the node and add another."),
          where));
    }
    GPU_TRY(detail::require_moving_graphs(where));
    to.native.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    to.moved_keeper = keeper;
    return {};
  }
  void made(const detail::node_parameters& as, context_ref) noexcept {
    if (!detail::graph_access::release(owned_)) return;
    child_ = {};
    if (as.moved_keeper == nullptr) return;
    if (as.keeper != nullptr) {
      as.keeper->take_in(as.moved_keeper);
    } else {
      as.moved_keeper->drop();  // the driver has a share of it
    }
  }

  graph owned_ = graph::adopt({});  // empty if the graph is copied
  graph_ref child_;
};

/// Returns the graph that a child graph node owns. **Errors**: `errc::empty_handle`;
/// CUDA_ERROR_INVALID_VALUE, with both kinds, for a node of another kind. **Capture**, **Threads**:
/// as `kind_of`. (cuGraphChildGraphNodeGetGraph)
inline result<graph_ref> child_of(graph_node node,
                                  source_location where = source_location::current()) noexcept {
  CUgraph child = nullptr;
  GPU_TRY(detail::require(node, "gpu::child_of", where));
  result<> queried = driver::call<&driver::entry_points::graph_child_graph_node_get_graph>(
      where, node.native(), &child);
  if (!queried.has_value()) {
    return detail::fail(
        detail::explain_kind(std::move(queried).error(), node, graph_node_kind::child_graph));
  }
  return graph_ref::from_native(child, node.context());
}

}}  // namespace gpu::v1
