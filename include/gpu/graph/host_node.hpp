#pragma once
/// \file
/// `host_node`: a callable as a node of a graph.

#include <gpu/driver/detail/host_call.hpp>
#include <gpu/graph/node_description.hpp>

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/graph/graph_node.hpp>

#include <new>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// Calls `function()` at each launch, in a thread of the driver. The graph keeps the callable
/// alive. An exception that it throws, and the error of a `result` that it returns, go to the error
/// reporter. Neither the callable nor its destructor may call CUDA; one whose destructor may throw
/// does not compile.
/// **Errors**: `errc::out_of_host_memory`.
template <class Function> class host_node {
  static_assert(
      requires(Function& callable) { callable(); },
      "gpu::host_node: the callable must take no arguments");

 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::host_function;
  static constexpr bool keeps_callable = true;

  explicit host_node(Function function) noexcept(
      std::is_nothrow_constructible_v<Function, Function>)
      : function_(static_cast<Function&&>(function)) {}

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref, source_location where) noexcept {
    using call_type = detail::host_call<Function>;
    auto* call =
        new (std::nothrow) call_type{static_cast<Function&&>(function_), "gpu::host_node", where};
    if (call == nullptr)
      return detail::fail(detail::no_room_error("gpu::host_node", sizeof(call_type), where));
    to.native.host.fn = &call_type::run_at;
    to.native.host.userData = call;
    to.kept = call;
    to.destroy_kept = &call_type::destroy_at;
    return {};
  }

  Function function_;
};

}}  // namespace gpu::v1
