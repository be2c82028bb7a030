#pragma once
/// \file
/// The reasons why a graph cannot be instantiated, or an executable graph cannot be updated.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/graph/graph_node.hpp>

#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

/// The reason why an executable graph could not be updated from another graph.
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

/// Returns the result's name, such as "topology_changed", or null for a value that is not an
/// enumerator.
constexpr const char* name_of(graph_update_result result) noexcept {
  using enum graph_update_result;
  return detail::find_name(result, {{success, "success"},
                                    {error, "error"},
                                    {topology_changed, "topology_changed"},
                                    {node_type_changed, "node_type_changed"},
                                    {function_changed, "function_changed"},
                                    {parameters_changed, "parameters_changed"},
                                    {not_supported, "not_supported"},
                                    {unsupported_function_change, "unsupported_function_change"},
                                    {attributes_changed, "attributes_changed"}});
}

/// The reason why a graph could not be instantiated.
enum class graph_instantiate_result : int {
  success = CUDA_GRAPH_INSTANTIATE_SUCCESS,
  error = CUDA_GRAPH_INSTANTIATE_ERROR,
  invalid_structure = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE,
  node_operation_not_supported = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED,
  multiple_contexts_not_supported = CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED,
  conditional_handle_unused = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED,
};

/// Returns the result's name, such as "invalid_structure", or null for a value that is not an
/// enumerator.
constexpr const char* name_of(graph_instantiate_result result) noexcept {
  using enum graph_instantiate_result;
  return detail::find_name(result,
                           {{success, "success"},
                            {error, "error"},
                            {invalid_structure, "invalid_structure"},
                            {node_operation_not_supported, "node_operation_not_supported"},
                            {multiple_contexts_not_supported, "multiple_contexts_not_supported"},
                            {conditional_handle_unused, "conditional_handle_unused"}});
}

namespace detail {

/// Says why a graph could not be instantiated.
inline cuda_error explain_instantiate_error(
    cuda_error error, const CUDA_GRAPH_INSTANTIATE_PARAMS& parameters) noexcept {
  text_builder out;
  switch (static_cast<graph_instantiate_result>(parameters.result_out)) {
    case graph_instantiate_result::invalid_structure:
      out << "the dependencies of the graph form a cycle; remove an edge of it with "
             "graph::disconnect.";
      break;
    case graph_instantiate_result::node_operation_not_supported:
      out << "the graph has a node that a graph launched by kernels cannot have; omit "
             "device_launch.";
      break;
    case graph_instantiate_result::multiple_contexts_not_supported:
      out << "the nodes of a graph that kernels launch must all belong to one context; create them "
             "in "
             "one context, or omit device_launch.";
      break;
    case graph_instantiate_result::conditional_handle_unused:
      out << "a condition of the graph does not belong to a node; add a conditional_node for it.";
      break;
    default:
      if (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_NOT_SUPPORTED)
        return error;
      out << "the graph was moved into another one, or it allocates memory and has an executable "
             "graph already; instantiate the other graph, or destroy the executable graph.";
  }
  return record_error(std::move(error)
                          .with_details(out.finish())
                          .with_values(static_cast<std::uint64_t>(parameters.result_out), 0));
}

/// Says why an executable graph could not be updated, and which kind of node is the reason.
inline cuda_error explain_update_error(cuda_error error, const CUgraphExecUpdateResultInfo& info,
                                       context_ref context) noexcept {
  const auto why = static_cast<graph_update_result>(info.result);
  const char* name = name_of(why);
  if (error.domain() != error_domain::driver ||
      error.code() != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE || name == nullptr) {
    return error;
  }
  text_builder out;
  out << "the executable graph cannot be updated from the new graph: " << name;
  if (info.errorNode != nullptr) {
    const auto kind = kind_of(graph_node::from_native(info.errorNode, context), error.where());
    if (kind.has_value()) out << ", for a node of kind " << name_of(*kind);
  }
  out << "; instantiate the new graph.";
  return record_error(std::move(error)
                          .with_details(out.finish())
                          .with_values(static_cast<std::uint64_t>(info.result), 0));
}

}  // namespace detail

}}  // namespace gpu::v1
