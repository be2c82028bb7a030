#pragma once
/// \file
/// `memory_operation_node`: a node that waits for values in memory and writes values to it.

#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/memory/ranges.hpp>
#include <gpu/memory/stream_memory_operation.hpp>

#include <cstddef>
#include <initializer_list>

namespace gpu { inline namespace v1 {

/// Performs operations one after the other at each launch:
///
///     using op = gpu::memory_operation;
///     GPU_TRY(graph.add({}, gpu::memory_operation_node{op::wait(ready, 1u), op::write(busy,
///     1u)}));
///
/// In an executable graph, the addresses, values and conditions can change, but not the number and
/// the kinds of the operations. The memory must live as long as the graph and its executable
/// graphs: see `graph::keep`.
/// **Errors**: as `gpu::perform`.
class memory_operation_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::batch_memory_operation;

  memory_operation_node(std::initializer_list<memory_operation> operations)
      : operations_(operations), natives_(operations.size()) {}
  /// Takes any other contiguous range of operations.
  template <host_range Operations>
  explicit memory_operation_node(const Operations& operations)
      : operations_(operations), natives_(operations_.size()) {}

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref context,
                    source_location where) noexcept {
    GPU_TRY(detail::check_memory_operations("gpu::memory_operation_node", operations_.begin(),
                                            operations_.size(), context, where));
    for (std::size_t i = 0; i < operations_.size(); ++i) natives_[i] = operations_[i].native();
    to.native.memOp.ctx = context.native();
    to.native.memOp.count = static_cast<unsigned>(operations_.size());
    to.native.memOp.paramArray = natives_.begin();
    return {};
  }

  sequence<memory_operation> operations_;
  sequence<CUstreamBatchMemOpParams> natives_;
};

}}  // namespace gpu::v1
