#pragma once
/// \file
/// `graph`, the owner of a graph: work that is described once and launched many times. What `graph`
/// and `graph_ref` can do is in graph_ref.hpp. A graph is instantiated before it is launched: see
/// graph_exec.hpp.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/graph/detail/keep_alive.hpp>
#include <gpu/graph/detail/object_shares.hpp>
#include <gpu/graph/graph_ref.hpp>

namespace gpu { inline namespace v1 {

/// Owns a graph. Move-only; empty after a move.
/// Executable graphs stay valid when the graph that they were instantiated from is destroyed.
/// A graph belongs to a context, in which the nodes run that are added to it. It may span devices:
/// copies and fills reach the memory of all devices, events may belong to other devices, and a
/// capture of a stream of another device adds nodes of that device. It can be launched on a stream
/// of any device.
class graph : public graph_operations<graph> {
 public:
  /// Creates an empty object, to be assigned to.
  graph() noexcept = default;

  /// Creates an empty graph for work in a context, or in the primary context of a device.
  /// **Errors**: `errc::out_of_host_memory`, the driver's. (cuGraphCreate)
  static result<graph> create(context_or_device on,
                              source_location where = source_location::current()) noexcept {
    CUgraph native = nullptr;
    detail::destroy_put_aside();
    const context_ref in = GPU_TRY(on.resolve("gpu::graph::create", where));
    GPU_TRY(driver::call<&driver::entry_points::graph_create>(where, &native, 0));
    graph owner = graph::adopt(graph_ref::from_native(native, in));
    GPU_TRY(detail::graph_access::add_keeper(owner, "gpu::graph::create", where));
    return owner;
  }

  /// Copies a graph with its nodes. Both graphs keep alive what the original keeps alive.
  /// **Errors**: `errc::out_of_host_memory`; CUDA_ERROR_NOT_SUPPORTED for a graph that allocates
  /// memory. (cuGraphClone)
  static result<graph> clone(graph_ref original,
                             source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::graph::clone";
    CUgraph native = nullptr;
    detail::destroy_put_aside();
    GPU_TRY(detail::require(original, function, where));
    GPU_TRY(driver::call<&driver::entry_points::graph_clone>(where, &native, original.native()));
    graph owner = graph::adopt(graph_ref::from_native(native, original.context()));
    GPU_TRY(detail::graph_access::add_keeper(owner, function, where));
    detail::share_taking shares{nullptr, function, where};
    GPU_TRY(detail::take_of_graph(shares, original));
    GPU_TRY(detail::keep_taken(owner, shares));
    return owner;
  }

  /// Takes ownership of a graph that cuGraphCreate made. The modules and events of its nodes must
  /// live until it is instantiated; the executable graph then keeps them alive. For nodes that are
  /// added later, see `graph_ref`. A graph that was released keeps alive what it kept alive before.
  static graph adopt(const graph_ref& owned) noexcept {
    if (auto* const keeper = detail::graph_access::keeper_of(owned)) keeper->share();
    return graph{owned};
  }
  /// Releases ownership; the caller destroys the graph. The driver then keeps its modules and
  /// events alive, at the cost that `graph_ref` states; an error of that goes to the error
  /// reporter. (cuUserObjectCreate, cuGraphRetainUserObject)
  [[nodiscard]] graph_ref release() noexcept {
    return detail::graph_access::leave_keeper(handle_.release());
  }

  CUgraph native() const noexcept { return handle_.get().native(); }
  context_ref context() const noexcept { return handle_.get().context(); }
  operator graph_ref() const& noexcept { return handle_.get(); }
  operator graph_ref() const&& = delete;  // a ref must not outlive its owner

 private:
  friend struct detail::graph_access;
  explicit graph(const graph_ref& owned) noexcept : handle_{owned} {}

  unique_handle<graph_ref, detail::destroy_graph> handle_;
};

}}  // namespace gpu::v1
