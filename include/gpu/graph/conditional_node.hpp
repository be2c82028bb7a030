#pragma once
/// \file
/// Conditions and the nodes that look at them: parts of a graph that run if, while, or as often as
/// a number says that kernels set.

#include <gpu/graph/graph.hpp>

namespace gpu::inline v0 {

/// What a conditional node does with its bodies.
enum class conditional_kind : int {
  if_ = CU_GRAPH_COND_TYPE_IF,        ///< runs the first where the number is not 0, else the second
  while_ = CU_GRAPH_COND_TYPE_WHILE,  ///< runs its one body until the number is 0
  switch_ = CU_GRAPH_COND_TYPE_SWITCH,  ///< runs the body of that number, or none
};

/// The kind's name, such as "while"; null for a value that is none.
constexpr const char* name_of(conditional_kind kind) noexcept {
  switch (kind) {
    case conditional_kind::if_:
      return "if";
    case conditional_kind::while_:
      return "while";
    case conditional_kind::switch_:
      return "switch";
  }
  return nullptr;
}

/// A number of a graph's that kernels set with `cudaGraphSetConditional(handle, value)` and one
/// conditional node looks at. Pass `native()` to the kernel, for a parameter of the type
/// `cudaGraphConditionalHandle`, which is `unsigned long long`.
class graph_condition {
 public:
  constexpr graph_condition() noexcept = default;

  /// A condition of `of` that keeps its value from launch to launch; before the first it has none.
  /// **Errors**: `errc::empty_handle`, the driver's. **Capture**: allowed.
  /// (cuGraphConditionalHandleCreate)
  static result<graph_condition> create(
      graph_ref of, source_location where = source_location::current()) noexcept {
    return make<graph_condition>(of, 0, 0, where);
  }
  /// A condition of `of` that begins each launch with `initial`.
  static result<graph_condition> create(
      graph_ref of, unsigned initial, source_location where = source_location::current()) noexcept {
    return make<graph_condition>(of, initial, CU_GRAPH_COND_ASSIGN_DEFAULT, where);
  }

  static constexpr graph_condition from_native(CUgraphConditionalHandle native) noexcept {
    graph_condition condition;
    condition.native_ = native;
    return condition;
  }
  constexpr unsigned long long native() const noexcept { return native_; }
  constexpr explicit operator bool() const noexcept { return native_ != 0; }

 private:
  template <class Condition>
  static result<Condition> make(graph_ref of, unsigned initial, unsigned flags,
                                source_location where) noexcept {
    CUgraphConditionalHandle native = 0;
    GPU_TRY(detail::require(of, "gpu::graph_condition::create", where));
    GPU_TRY(driver::call_in<&driver::entry_points::graph_conditional_handle_create>(
        of.context().native(), where, &native, of.native(), of.context().native(), initial, flags));
    return from_native(native);
  }

  unsigned long long native_ = 0;
};

/// Runs one of its bodies, or none, as a condition says. The bodies are graphs that are there, and
/// empty, once the node was added, and that nodes are added to:
///
///     gpu::conditional_node loop(gpu::conditional_kind::while_, condition);
///     GPU_TRY(graph.add(before, loop));
///     GPU_TRY(loop.body().add({}, gpu::kernel_node(shape, step, x, condition.native())));
///
/// A body holds kernels, copies and fills on the device, empty and conditional nodes and child
/// graphs of these.
/// **Errors**: `errc::invalid_argument` for a number of bodies that the kind does not have, and for
/// a value that is no kind; the driver's for a condition of another graph, or that has a node
/// already.
class conditional_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::conditional;

  conditional_node(conditional_kind kind, graph_condition condition, unsigned bodies = 1) noexcept
      : kind_{kind}, condition_{condition}, count_{bodies} {}

  /// A body, once the node was added, which owns it; empty before, and for an index past the last.
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
      out << count_
          << " bodies are not what a conditional node of this kind has: an if has 1 or 2, "
          << "a while has 1, a switch has 1 or more.";
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

}  // namespace gpu::inline v0
