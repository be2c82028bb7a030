#pragma once
/// \file
/// Conditional nodes and their conditions: parts of a graph that run if, while, or as selected by,
/// a value that kernels set.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/graph/detail/graph_keeper.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/node_description.hpp>

namespace gpu { inline namespace v1 {

/// The way in which a conditional node selects a body.
enum class conditional_kind : int {
  if_ = CU_GRAPH_COND_TYPE_IF,          ///< runs the first if the value is not 0, else the second
  while_ = CU_GRAPH_COND_TYPE_WHILE,    ///< runs its only body while the value is not 0
  switch_ = CU_GRAPH_COND_TYPE_SWITCH,  ///< runs the body with that index, if there is one
};

/// Returns the kind's name, such as "while", or null for a value that is not an enumerator.
constexpr const char* name_of(conditional_kind kind) noexcept {
  using enum conditional_kind;
  return detail::find_name(kind, {{if_, "if"}, {while_, "while"}, {switch_, "switch"}});
}

/// Refers to a value of a graph that kernels set with `cudaGraphSetConditional(handle, value)` and
/// one conditional node reads. Pass `native()` to the kernel, for a parameter of the type
/// `cudaGraphConditionalHandle`, which is `unsigned long long`. The function and the type are in
/// `<cuda_device_runtime_api.h>`.
class graph_condition {
 public:
  constexpr graph_condition() noexcept = default;

  /// Creates a condition of a graph that keeps its value from launch to launch. The value is
  /// undefined before the first launch.
  /// **Errors**: `errc::empty_handle`, the driver's. **Capture**: allowed.
  /// (cuGraphConditionalHandleCreate)
  static result<graph_condition> create(
      graph_ref of, source_location where = source_location::current()) noexcept {
    return make(of, 0, 0, where);
  }
  /// Creates a condition of a graph that has the value `initial` at the begin of each launch.
  static result<graph_condition> create(
      graph_ref of, unsigned initial, source_location where = source_location::current()) noexcept {
    return make(of, initial, CU_GRAPH_COND_ASSIGN_DEFAULT, where);
  }

  static constexpr graph_condition from_native(CUgraphConditionalHandle native) noexcept {
    graph_condition condition;
    condition.native_ = native;
    return condition;
  }
  constexpr unsigned long long native() const noexcept { return native_; }
  constexpr explicit operator bool() const noexcept { return native_ != 0; }

 private:
  static result<graph_condition> make(graph_ref of, unsigned initial, unsigned flags,
                                      source_location where) noexcept {
    CUgraphConditionalHandle native = 0;
    GPU_TRY(detail::require(of, "gpu::graph_condition::create", where));
    GPU_TRY(driver::call_in<&driver::entry_points::graph_conditional_handle_create>(
        of.context().native(), where, &native, of.native(), of.context().native(), initial, flags));
    return from_native(native);
  }

  unsigned long long native_ = 0;
};

/// Runs one of its bodies, or none, depending on a condition. The bodies are graphs, which are
/// created empty when the node is added:
///
///     gpu::conditional_node loop(gpu::conditional_kind::while_, condition);
///     GPU_TRY(graph.add(before, loop));
///     GPU_TRY(loop.body().add({}, gpu::kernel_node(shape, step, x, condition.native())));
///
/// A body may contain kernels, copies and fills on the device, empty nodes, conditional nodes, and
/// child graphs of these.
/// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for a number of bodies that the kind
/// cannot have, and for a value that is not a valid kind; the driver's for a condition of another
/// graph, and for one that has a node already.
class conditional_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::conditional;

  conditional_node(conditional_kind kind, graph_condition condition, unsigned bodies = 1) noexcept
      : kind_{kind}, condition_{condition}, count_{bodies} {}

  /// Returns a body, which the node owns; empty before the node was added, and for an index that is
  /// too large.
  graph_ref body(unsigned index = 0) const noexcept {
    return bodies_ == nullptr || index >= count_
               ? graph_ref{}
               : detail::graph_access::name(bodies_[index], context_, keeper_);
  }

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref context,
                    source_location where) const noexcept {
    if (!condition_)
      return detail::fail(detail::empty_handle_error("gpu::conditional_node", "condition", where));
    GPU_TRY(detail::require_enumerator(kind_, "conditional_kind", "gpu::conditional_node", where));
    const unsigned most = kind_ == conditional_kind::if_      ? 2
                          : kind_ == conditional_kind::while_ ? 1
                                                              : 0xffff'ffff;
    if (count_ == 0 || count_ > most) {
      detail::text_builder out;
      out << "a conditional node of kind " << name_of(kind_) << " cannot have " << count_
          << " bodies: an if has 1 or 2, a while has 1, a switch has 1 or more.";
      return detail::fail(detail::refusal(errc::invalid_argument, "gpu::conditional_node",
                                          out.finish(), where, count_, most));
    }
    to.native.conditional.handle = condition_.native();
    to.native.conditional.type = static_cast<CUgraphConditionalNodeType>(kind_);
    to.native.conditional.size = count_;
    to.native.conditional.ctx = context.native();
    return {};
  }
  void made(const detail::node_parameters& as, context_ref context) noexcept {
    bodies_ = as.native.conditional.phGraph_out;
    context_ = context;
    keeper_ = as.keeper;
  }

  conditional_kind kind_;
  graph_condition condition_;
  unsigned count_;
  const CUgraph* bodies_ = nullptr;
  context_ref context_;
  detail::graph_keeper* keeper_ = nullptr;  // of the graph that has the node
};

}}  // namespace gpu::v1
