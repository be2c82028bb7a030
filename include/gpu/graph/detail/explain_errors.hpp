#pragma once
/// \file
/// Calls about nodes, streams and captures that say what the driver minds where it refuses: the
/// graph, the node or the stream is asked once the call has failed.

#include <gpu/graph/dependencies.hpp>

namespace gpu::inline v0::detail {

inline bool is_invalid_value(const cuda_error& error) noexcept {
  return error.domain() == error_domain::driver && error.code() == CUDA_ERROR_INVALID_VALUE;
}

/// `errc::invalid_argument` for a node that is none of the graph's, with which the driver does what
/// it is told in the graph that the node is in.
inline result<> require_own_node(CUgraph graph, graph_node node, const char* function,
                                 source_location where) noexcept {
  const graph_node_list own =
      GPU_TRY(list_nodes<&driver::entry_points::graph_get_nodes>(graph, node.context(), where));
  if (own.contains(node)) [[likely]]
    return {};
  text_builder out;
  out << "the node is none of the " << own.size()
      << " nodes of this graph: it is in another one, or was removed. Name the graph that it is "
         "in: that inside of a node has nodes of its own, and a clone as well.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, 0, own.size()));
}

/// A node was to come after itself.
[[gnu::cold, gnu::noinline]] inline cuda_error same_node_error(source_location where) noexcept {
  text_builder out;
  out << "both nodes are the same one, which cannot run after itself. Name two nodes; what is done "
         "again and again is the body of a conditional_node.";
  return refusal(errc::invalid_argument, "gpu::graph::connect", out.finish(), where);
}

/// Says which of the nodes that something new is to come after is none of the graph's, or, unless
/// that is allowed, is there twice.
[[gnu::cold, gnu::noinline]] inline cuda_error with_wrong_node(cuda_error error, CUgraph graph,
                                                               const nodes_before& after,
                                                               bool each_once) noexcept {
  if (!is_invalid_value(error) || after.empty()) return error;
  const result<graph_node_list> own =
      list_nodes<&driver::entry_points::graph_get_nodes>(graph, context_ref{}, error.where());
  for (std::size_t at = 0; at < after.size(); ++at) {
    const graph_node node = after[at].node;
    std::size_t first = 0;
    while (!(after[first].node == node)) ++first;
    text_builder out;
    out << "the node with index " << at << " of the " << after.size() << " to come after ";
    if (own.has_value() && !own->contains(node)) {
      out << "is none of the " << own->size()
          << " nodes of this graph: it is in another one, or was removed. Name nodes of this "
             "graph.";
    } else if (each_once && first != at) {
      out << "is that with index " << first << " once more. Name each once.";
    } else {
      continue;
    }
    return noted_error(
        detail::move(error).with_details(out.finish()).with_values(at, after.size()));
  }
  return noted_error(detail::move(error));
}

/// Says of an edge that could not be added, or removed, which end is none of the graph's, or that
/// it is there already, or not there.
[[gnu::cold, gnu::noinline]] inline cuda_error with_wrong_edge(cuda_error error, CUgraph graph,
                                                               graph_node first,
                                                               graph_node second) noexcept {
  if (!is_invalid_value(error)) return error;
  const result<graph_node_list> own =
      list_nodes<&driver::entry_points::graph_get_nodes>(graph, first.context(), error.where());
  if (!own.has_value()) return noted_error(detail::move(error));
  text_builder out;
  if (const bool has_first = own->contains(first); !has_first || !own->contains(second)) {
    out << "the " << (has_first ? "second" : "first") << " node is none of the " << own->size()
        << " nodes of this graph: it is in another one, or was removed. Name two nodes of this "
           "graph.";
  } else {
    const result<graph_node_list> before =
        list_nodes<&driver::entry_points::graph_node_get_dependencies>(
            second.native(), second.context(), error.where(), nullptr);
    if (!before.has_value()) return noted_error(detail::move(error));
    if (before->contains(first)) {
      out << "there is an edge from the first node to the second already. Leave this one out, or "
             "disconnect them before.";
    } else {
      out << "there is no edge from the first node to the second. Name them in the order in which "
             "they run, as dependencies_of tells.";
    }
  }
  return noted_error(detail::move(error).with_details(out.finish()));
}

/// Adds a node of the description.
template <class Node>
result<> add_node(CUgraph graph, const nodes_before& after, CUgraphNodeParams& description,
                  Node& made, source_location where) noexcept {
  result<> added = driver::call<&driver::entry_points::graph_add_node>(
      where, &made, graph, after.native(), after.native_edges(), after.size(), &description);
  if (added.has_value()) [[likely]]
    return added;
  return fail(with_wrong_node(detail::move(added).error(), graph, after, true));
}

/// Adds the edge from `first` to `second`, or removes it, as the driver's function does.
template <auto Member>
result<> change_edge(CUgraph graph, graph_node first, graph_node second,
                     const CUgraphEdgeData* data, source_location where) noexcept {
  if constexpr (Member == &driver::entry_points::graph_add_dependencies)
    if (first == second) return fail(same_node_error(where));
  const CUgraphNode from = first.native(), to = second.native();
  result<> changed = driver::call<Member>(where, graph, &from, &to, data, std::size_t{1});
  if (changed.has_value()) [[likely]]
    return changed;
  return fail(with_wrong_edge(detail::move(changed).error(), graph, first, second));
}

/// Says of a node that could not be described anew of which kind it is.
[[gnu::cold, gnu::noinline]] inline cuda_error with_wrong_description(
    cuda_error error, graph_node node, graph_node_kind described) noexcept {
  const bool is_unsupported =
      error.domain() == error_domain::driver && error.code() == CUDA_ERROR_NOT_SUPPORTED;
  if (!is_unsupported && !is_invalid_value(error)) return error;
  const result<graph_node_kind> kind = kind_of(node, error.where());
  if (!kind.has_value()) return noted_error(detail::move(error));
  text_builder out;
  if (*kind != described) {
    out << "the node is of kind " << name_of(*kind) << ", and the description of kind "
        << name_of(described)
        << ". Describe the kind that it is, or add another node, and instantiate the graph then.";
  } else if (described == graph_node_kind::allocation || described == graph_node_kind::free ||
             described == graph_node_kind::conditional) {
    out << "a node of kind " << name_of(described)
        << " stays as it was added. Make another graph with the node that it takes.";
  } else {
    return noted_error(detail::move(error));
  }
  return noted_error(
      detail::move(error)
          .with_details(out.finish())
          .with_values(static_cast<std::uint64_t>(described), static_cast<std::uint64_t>(*kind)));
}

/// Says of a node that is asked for what another kind of nodes has of which kind it is.
template <class Kind>
[[gnu::cold, gnu::noinline]] cuda_error with_other_kind(cuda_error error, graph_node node,
                                                        Kind asked) noexcept {
  if (!is_invalid_value(error)) return error;
  const result<graph_node_kind> kind = kind_of(node, error.where());
  if (!kind.has_value() || *kind == asked) return noted_error(detail::move(error));
  text_builder out;
  out << "the node is of kind " << name_of(*kind) << ", not " << name_of(asked)
      << ". Name one of that kind.";
  return noted_error(
      detail::move(error)
          .with_details(out.finish())
          .with_values(static_cast<std::uint64_t>(*kind), static_cast<std::uint64_t>(asked)));
}

/// Finds the node of `clone` that was copied from `original`.
template <class Node>
result<> find_copy(Node& found, graph_node original, CUgraph clone,
                   source_location where) noexcept {
  result<> told = driver::call<&driver::entry_points::graph_node_find_in_clone>(
      where, &found, original.native(), clone);
  if (told.has_value() || !is_invalid_value(told.error())) return told;
  return fail(noted_error(detail::move(told).error().with_details(
      text("no node of this graph was copied from that one. Name a node that was in the original "
           "when this graph was cloned from it, and is there still."))));
}

/// Describes a node anew.
template <class Parameters>
result<> describe_node(graph_node node, Parameters& description, source_location where) noexcept {
  result<> set = driver::call<&driver::entry_points::graph_node_set_params>(where, node.native(),
                                                                            &description);
  if (set.has_value()) [[likely]]
    return set;
  return fail(with_wrong_description(detail::move(set).error(), node,
                                     static_cast<graph_node_kind>(description.type)));
}

/// Says of a node that the driver does not switch off or on why not.
[[gnu::cold, gnu::noinline]] inline cuda_error with_no_switch(cuda_error error,
                                                              graph_node node) noexcept {
  if (!is_invalid_value(error)) return error;
  const result<graph_node_kind> kind = kind_of(node, error.where());
  if (!kind.has_value()) return noted_error(detail::move(error));
  text_builder out;
  if (*kind == graph_node_kind::kernel || *kind == graph_node_kind::copy ||
      *kind == graph_node_kind::fill) {
    out << "the driver finds no such " << name_of(*kind)
        << " node in the executable graph. Name a node of the graph that this was instantiated "
           "from, which has to be there still.";
  } else {
    out << "a node of kind " << name_of(*kind)
        << " is not switched off and on: a kernel, a copy and a fill are. Instantiate a graph "
           "without it.";
  }
  return noted_error(detail::move(error)
                         .with_details(out.finish())
                         .with_values(static_cast<std::uint64_t>(*kind), 0));
}

/// Says of a call that the driver refused that the stream is being captured, where it is; `cure`
/// begins with what of that.
[[gnu::cold, gnu::noinline]] inline cuda_error with_capture_state(cuda_error error,
                                                                  const stream_ref& stream,
                                                                  const char* cure) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (error.domain() != error_domain::driver || error.is_sticky()) return error;
  const result<> told = on_stream(stream, error.where(), [&] {
    return driver::call<&driver::entry_points::stream_is_capturing>(error.where(), stream.native(),
                                                                    &status);
  });
  if (!told.has_value() || status == CU_STREAM_CAPTURE_STATUS_NONE)
    return noted_error(detail::move(error));
  text_builder out;
  out << "the stream is being captured" << cure;
  return noted_error(detail::move(error).with_details(out.finish()));
}

}  // namespace gpu::inline v0::detail
