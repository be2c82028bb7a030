#pragma once
/// \file
/// Why a graph could not be instantiated, or be taken over by what was instantiated before.

#include <gpu/graph/graph_node.hpp>

namespace gpu::inline v0 {

/// Why an executable graph could not take over another graph.
enum class graph_update_result : int {
  success = CU_GRAPH_EXEC_UPDATE_SUCCESS,
  error = CU_GRAPH_EXEC_UPDATE_ERROR,
  topology_changed = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
  node_type_changed = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED,
  function_changed = CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED,
  parameters_changed = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
  not_supported = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED,
  unsupported_function_change = CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE,
  attributes_changed = CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED,
};

/// The result's name, such as "topology_changed"; null for a value that is none.
constexpr const char* name_of(graph_update_result result) noexcept {
  constexpr const char* names[] = {"success",           "error",
                                   "topology_changed",  "node_type_changed",
                                   "function_changed",  "parameters_changed",
                                   "not_supported",     "unsupported_function_change",
                                   "attributes_changed"};
  return detail::name_at(names, static_cast<int>(result));
}

/// Why a graph could not be instantiated.
enum class graph_instantiate_result : int {
  success = CUDA_GRAPH_INSTANTIATE_SUCCESS,
  error = CUDA_GRAPH_INSTANTIATE_ERROR,
  invalid_structure = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE,
  node_operation_not_supported = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED,
  multiple_contexts_not_supported = CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED,
  conditional_handle_unused = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED,
};

/// The result's name, such as "invalid_structure"; null for a value that is none.
constexpr const char* name_of(graph_instantiate_result result) noexcept {
  constexpr const char* names[] = {"success",
                                   "error",
                                   "invalid_structure",
                                   "node_operation_not_supported",
                                   "multiple_contexts_not_supported",
                                   "conditional_handle_unused"};
  return detail::name_at(names, static_cast<int>(result));
}

namespace detail {

[[gnu::cold, gnu::noinline]] inline cuda_error with_instantiate_result(
    cuda_error error, const CUDA_GRAPH_INSTANTIATE_PARAMS& parameters) noexcept {
  text_builder out;
  switch (static_cast<graph_instantiate_result>(parameters.result_out)) {
    case graph_instantiate_result::invalid_structure:
      out << "nodes of the graph depend on each other in a circle. Remove an edge of it with "
             "graph::disconnect.";
      break;
    case graph_instantiate_result::node_operation_not_supported:
      out << "a graph that kernels launch cannot hold such a node. Leave device_launch out.";
      break;
    case graph_instantiate_result::multiple_contexts_not_supported:
      out << "the nodes of a graph that kernels launch belong to different contexts. Make them in "
             "one.";
      break;
    case graph_instantiate_result::conditional_handle_unused:
      out << "a condition of the graph has no node that looks at it. Add a conditional_node for "
             "it.";
      break;
    default:
      if (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_NOT_SUPPORTED)
        return error;
      out << "the graph is part of another since it was moved into that, or it allocates memory "
             "and was instantiated already. Instantiate the other, or destroy what was "
             "instantiated.";
  }
  return noted_error(detail::move(error)
                         .with_details(out.finish())
                         .with_values(static_cast<std::uint64_t>(parameters.result_out), 0));
}

/// Says what the driver minds about an update, and about which node.
[[gnu::cold, gnu::noinline]] inline cuda_error with_update_result(
    cuda_error error, const CUgraphExecUpdateResultInfo& info, context_ref context) noexcept {
  const auto why = static_cast<graph_update_result>(info.result);
  const char* name = name_of(why);
  if (error.domain() != error_domain::driver ||
      error.code() != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE || name == nullptr) {
    return error;
  }
  text_builder out;
  out << "the executable graph cannot take the new graph over: " << name;
  if (info.errorNode != nullptr) {
    const auto kind = kind_of(graph_node::from_native(info.errorNode, context), error.where());
    if (kind.has_value()) out << ", at a node of kind " << name_of(*kind);
  }
  out << ". Instantiate the new graph.";
  return noted_error(detail::move(error)
                         .with_details(out.finish())
                         .with_values(static_cast<std::uint64_t>(info.result), 0));
}

}  // namespace detail

}  // namespace gpu::inline v0
