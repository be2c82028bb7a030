#pragma once
/// \file
/// What a node is made from: each header ..._node.hpp has a description of one kind of node, which
/// `graph::add` makes a node of, and `set` gives to one that is there.

#include <gpu/graph/graph_node.hpp>

namespace gpu::inline v0 {

namespace detail {

struct graph_keeper;
struct shared_object;

/// A description in the driver's terms. Pointers in it live as long as what it was made from.
struct node_parameters {
  CUgraphNodeParams native{};
  CUgraph graph = nullptr;  ///< that the node is, or will be, in; null in an executable graph
  bool is_there = false;    ///< the node is, and is described anew
  bool took_place = false;  ///< the graph has what is described by now
  /// Attributes of a kernel, which the driver takes one by one; the cluster, where there is one.
  const CUlaunchAttribute* attributes = nullptr;
  std::size_t attribute_count = 0;
  const CUlaunchAttribute* cluster = nullptr;
  /// What the graph has to keep alive for the node, and how that is destroyed.
  void* kept = nullptr;
  CUhostFn destroy_kept = nullptr;
  /// Where the graph has a keeper, that; where a kernel is a module's, its code; where a graph that
  /// the node runs has a keeper, that, which comes along where the graph is moved.
  graph_keeper* keeper = nullptr;
  shared_object* code = nullptr;
  graph_keeper* child_keeper = nullptr;
  graph_keeper* moved_keeper = nullptr;
};

/// How the functions of graphs talk to descriptions.
struct node_access {
  template <class Description>
  static result<> describe(Description& description, node_parameters& to, context_ref context,
                           source_location where) noexcept {
    to.native.type = static_cast<CUgraphNodeType>(Description::node_kind);
    return description.describe(to, context, where);
  }
  /// Gives the description what the driver answered, where it wants it.
  template <class Description>
  static void made(Description& description, const node_parameters& as,
                   context_ref context) noexcept {
    if constexpr (requires { description.made(as, context); }) description.made(as, context);
  }
};

}  // namespace detail

/// A description of a node, such as `kernel_node` or `host_node`.
template <class D>
concept node_description = requires { detail::remove_reference_t<D>::node_kind; };

/// A node that does nothing, and joins what comes before it with what comes after it.
class empty_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::empty;

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters&, context_ref, source_location) const noexcept {
    return {};
  }
};

}  // namespace gpu::inline v0
