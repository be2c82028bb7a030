#pragma once
/// \file
/// Driver calls on nodes, edges and captured streams whose errors say what the driver rejected. The
/// graph, the node or the stream is queried only after a call has failed.
///
/// Each `explain_*` takes an error of the driver and returns it with a sentence, which the last
/// error then has too. It returns the error as it was if it knows nothing to add.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/dependencies.hpp>
#include <gpu/graph/graph_node.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

inline bool is_driver_error(const cuda_error& error, CUresult code) noexcept {
  return error.domain() == error_domain::driver && error.code() == code;
}

inline bool is_invalid_value(const cuda_error& error) noexcept {
  return is_driver_error(error, CUDA_ERROR_INVALID_VALUE);
}

/// Fails with `errc::invalid_argument` for a node of another graph: the driver would carry the call
/// out in the graph that the node is in.
inline result<> require_own_node(CUgraph graph, graph_node node, const char* function,
                                 source_location where) noexcept {
  const graph_node_list own =
      GPU_TRY(list_nodes<&driver::entry_points::graph_get_nodes>(graph, node.context(), where));
  if (own.contains(node)) return {};
  text_builder out;
  out << "the node is not one of the " << own.size()
      << " nodes of this graph: it is in another graph, or was removed; call the function of the "
         "graph that the node is in. A child graph and a clone have nodes of their own.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, 0, own.size()));
}

inline cuda_error same_node_error(source_location where) noexcept {
  return refusal(
      errc::invalid_argument, "gpu::graph::connect",
      text("a node cannot depend on itself; pass two nodes. For a loop, use a conditional_node."),
      where);
}

/// Says which of the nodes in `after` is not in the graph or, if `each_once`, is in `after` twice.
inline cuda_error explain_dependencies(cuda_error error, CUgraph graph, const dependencies& after,
                                       bool each_once) noexcept {
  if (!is_invalid_value(error) || after.empty()) return error;
  const result<graph_node_list> own =
      list_nodes<&driver::entry_points::graph_get_nodes>(graph, context_ref{}, error.where());
  for (std::size_t at = 0; at < after.size(); ++at) {
    const graph_node node = after[at].node;
    std::size_t first = 0;
    while (!(after[first].node == node)) ++first;
    text_builder out;
    out << "the dependency with index " << at << " of " << after.size() << " is ";
    if (own.has_value() && !own->contains(node)) {
      out << "not one of the " << own->size()
          << " nodes of this graph: it is in another graph, or was removed; pass nodes of this "
             "graph.";
    } else if (each_once && first != at) {
      out << "the same node as that with index " << first << "; pass each node once.";
    } else {
      continue;
    }
    return record_error(std::move(error).with_details(out.finish()).with_values(at, after.size()));
  }
  return record_error(std::move(error));
}

/// Says of an edge that could not be added or removed which end is not in the graph, or that the
/// edge exists already, or does not exist.
inline cuda_error explain_edge(cuda_error error, CUgraph graph, graph_node first,
                               graph_node second) noexcept {
  if (!is_invalid_value(error)) return error;
  const result<graph_node_list> own =
      list_nodes<&driver::entry_points::graph_get_nodes>(graph, first.context(), error.where());
  if (!own.has_value()) return record_error(std::move(error));
  text_builder out;
  if (const bool has_first = own->contains(first); !has_first || !own->contains(second)) {
    out << "the " << (has_first ? "second" : "first") << " node is not one of the " << own->size()
        << " nodes of this graph: it is in another graph, or was removed; pass two nodes of this "
           "graph.";
  } else {
    const result<graph_node_list> before =
        list_neighbors<&driver::entry_points::graph_node_get_dependencies>(second, error.where());
    if (!before.has_value()) return record_error(std::move(error));
    if (before->contains(first)) {
      out << "there is an edge from the first node to the second already; disconnect them first, "
             "or omit this call.";
    } else {
      out << "the graph has no edge from the first node to the second; pass the nodes in the order "
             "in "
             "which they run: gpu::dependencies_of lists the edges to a node.";
    }
  }
  return record_error(std::move(error).with_details(out.finish()));
}

/// Adds a node. (cuGraphAddNode)
inline result<> add_node(CUgraph graph, const dependencies& after, CUgraphNodeParams& description,
                         CUgraphNode& made, source_location where) noexcept {
  result<> added = driver::call<&driver::entry_points::graph_add_node>(
      where, &made, graph, after.native(), after.native_edges(), after.size(), &description);
  if (added.has_value()) return added;
  return fail(explain_dependencies(std::move(added).error(), graph, after, true));
}

/// Adds or removes the edge from `first` to `second`, as the driver's function `Member` does.
template <auto Member>
result<> change_edge(CUgraph graph, graph_node first, graph_node second,
                     const CUgraphEdgeData* data, source_location where) noexcept {
  if constexpr (Member == &driver::entry_points::graph_add_dependencies)
    if (first == second) return fail(same_node_error(where));
  const CUgraphNode from = first.native(), to = second.native();
  result<> changed = driver::call<Member>(where, graph, &from, &to, data, 1);
  if (changed.has_value()) return changed;
  return fail(explain_edge(std::move(changed).error(), graph, first, second));
}

/// Adds a sentence about the kind of a node, and two kinds as the values of the error.
inline cuda_error with_kinds(cuda_error error, text sentence, graph_node_kind first,
                             graph_node_kind second) noexcept {
  return record_error(
      std::move(error)
          .with_details(std::move(sentence))
          .with_values(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(second)));
}

/// Says of a node whose parameters could not be set that it is of another kind than `described`, or
/// of a kind whose parameters cannot change.
inline cuda_error explain_description(cuda_error error, graph_node node,
                                      graph_node_kind described) noexcept {
  if (!is_driver_error(error, CUDA_ERROR_NOT_SUPPORTED) && !is_invalid_value(error)) return error;
  const result<graph_node_kind> kind = kind_of(node, error.where());
  if (!kind.has_value()) return record_error(std::move(error));
  text_builder out;
  if (*kind != described) {
    out << "the node is of kind " << name_of(*kind) << ", but the description is of kind "
        << name_of(described)
        << "; pass a description of the node's kind, or add another node to the graph and "
           "instantiate it again.";
  } else if (described == graph_node_kind::allocation || described == graph_node_kind::free ||
             described == graph_node_kind::conditional) {
    out << "the parameters of a node of kind " << name_of(described)
        << " cannot change; create another graph with the new node.";
  } else {
    return record_error(std::move(error));
  }
  return with_kinds(std::move(error), out.finish(), described, *kind);
}

/// Says that a node is not of the kind that a query is for.
inline cuda_error explain_kind(cuda_error error, graph_node node,
                               graph_node_kind expected) noexcept {
  if (!is_invalid_value(error)) return error;
  const result<graph_node_kind> kind = kind_of(node, error.where());
  if (!kind.has_value() || *kind == expected) return record_error(std::move(error));
  text_builder out;
  out << "the node is of kind " << name_of(*kind) << ", not " << name_of(expected)
      << "; pass a node of that kind.";
  return with_kinds(std::move(error), out.finish(), *kind, expected);
}

/// Finds the node of `clone` that was copied from `original`. (cuGraphNodeFindInClone)
inline result<> find_copy(CUgraphNode& found, graph_node original, CUgraph clone,
                          source_location where) noexcept {
  result<> done = driver::call<&driver::entry_points::graph_node_find_in_clone>(
      where, &found, original.native(), clone);
  if (done.has_value() || !is_invalid_value(done.error())) return done;
  return fail(record_error(std::move(done).error().with_details(
      text("no node of this graph is a copy of that node; pass a node that was in the original "
           "graph when this graph was cloned from it, and that was not removed since."))));
}

/// Sets the parameters of a node. (cuGraphNodeSetParams)
inline result<> describe_node(graph_node node, CUgraphNodeParams& description,
                              source_location where) noexcept {
  result<> set = driver::call<&driver::entry_points::graph_node_set_params>(where, node.native(),
                                                                            &description);
  if (set.has_value()) return set;
  return fail(explain_description(std::move(set).error(), node,
                                  static_cast<graph_node_kind>(description.type)));
}

/// Says why a node cannot be enabled or disabled.
inline cuda_error explain_set_enabled(cuda_error error, graph_node node) noexcept {
  if (!is_invalid_value(error)) return error;
  const result<graph_node_kind> kind = kind_of(node, error.where());
  if (!kind.has_value()) return record_error(std::move(error));
  text_builder out;
  if (*kind == graph_node_kind::kernel || *kind == graph_node_kind::copy ||
      *kind == graph_node_kind::fill) {
    out << "the executable graph has no counterpart of this " << name_of(*kind)
        << " node; pass a node of the graph that it was instantiated from, which must still be in "
           "that graph.";
  } else {
    out << "a node of kind " << name_of(*kind)
        << " cannot be enabled or disabled, only a kernel, copy or fill node; instantiate a graph "
           "without it.";
  }
  return record_error(std::move(error)
                          .with_details(out.finish())
                          .with_values(static_cast<std::uint64_t>(*kind), 0));
}

/// Says that the stream is being captured, if it is. `cure` continues that sentence.
inline cuda_error explain_capture(cuda_error error, const stream_ref& stream,
                                  const char* cure) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (error.domain() != error_domain::driver || error.is_sticky()) return error;
  const result<> queried = on_stream(stream, error.where(), [&] {
    return driver::call<&driver::entry_points::stream_is_capturing>(error.where(), stream.native(),
                                                                    &status);
  });
  if (!queried.has_value() || status == CU_STREAM_CAPTURE_STATUS_NONE)
    return record_error(std::move(error));
  text_builder out;
  out << "the stream is being captured" << cure;
  return record_error(std::move(error).with_details(out.finish()));
}

}}}  // namespace gpu::v1::detail
