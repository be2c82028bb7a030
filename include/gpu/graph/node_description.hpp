#pragma once
/// \file
/// Descriptions of nodes. Each header ..._node.hpp has the description of one kind of node:
/// `graph::add` adds a node from it, and `set` changes a node to it.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/graph/graph_node.hpp>

#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

struct graph_keeper;
struct shared_object;

/// A description as the driver's parameters. Its pointers are valid as long as the description.
struct node_parameters {
  CUgraphNodeParams native{};
  CUgraph graph = nullptr;  ///< that has or gets the node; null for an executable graph
  bool exists = false;      ///< the node exists, and its parameters change
  bool done = false;        ///< the driver has taken the description
  /// Attributes of a kernel, which the driver takes one by one; `cluster` and `cooperative`, which
  /// the shape adds, may be null.
  const CUlaunchAttribute* attributes = nullptr;
  std::size_t attribute_count = 0;
  const CUlaunchAttribute* cluster = nullptr;
  const CUlaunchAttribute* cooperative = nullptr;
  /// An object that the graph must keep alive for the node, and the function that destroys it.
  void* kept = nullptr;
  CUhostFn destroy_kept = nullptr;
  // Each may be null.
  graph_keeper* keeper = nullptr;        ///< of the graph
  shared_object* code = nullptr;         ///< of a kernel from a module
  graph_keeper* child_keeper = nullptr;  ///< of the child graph
  graph_keeper* moved_keeper = nullptr;  ///< of the child graph, if that is moved into the node
};

/// The access of functions of graphs to the private members of descriptions.
struct node_access {
  template <class Description>
  static result<> describe(Description& description, node_parameters& to, context_ref context,
                           source_location where) noexcept {
    to.native.type = static_cast<CUgraphNodeType>(Description::node_kind);
    return description.describe(to, context, where);
  }
  /// Passes the driver's answers to a description that has a function for them.
  template <class Description>
  static void made(Description& description, const node_parameters& as,
                   context_ref context) noexcept {
    if constexpr (requires { description.made(as, context); }) description.made(as, context);
  }
};

}  // namespace detail

/// A description of a node, such as `kernel_node` or `host_node`.
template <class D>
concept node_description = requires { std::remove_reference_t<D>::node_kind; };

/// A node that does nothing; it joins dependencies.
class empty_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::empty;

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters&, context_ref, source_location) const noexcept {
    return {};
  }
};

}}  // namespace gpu::v1
