#pragma once
/// \file
/// `graph_exec`, an executable graph; `launch` runs it on a stream any number of times.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/detail/ref_in_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/detail/explain_errors.hpp>
#include <gpu/graph/detail/graph_keeper.hpp>
#include <gpu/graph/detail/keep_alive.hpp>
#include <gpu/graph/detail/object_shares.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/graph_results.hpp>
#include <gpu/graph/node_description.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

struct graph_exec_options {
  /// A launch frees the memory that the launch before allocated and that was not freed since.
  /// Otherwise it fails if there is such memory.
  bool auto_free_on_launch = false;
  /// Kernels can launch the graph. Excludes `auto_free_on_launch`.
  bool device_launch = false;
  /// Kernels run with the priority of their node, not with that of the stream.
  bool use_node_priority = false;
};

class graph_exec;

namespace detail {

class graph_exec_handle : public ref_in_context<graph_exec_handle, CUgraphExec> {
 public:
  object_share* shares = nullptr;  ///< in code and events
};

inline result<> require(const graph_exec& exec, const char* function,
                        source_location where) noexcept;

struct destroy_graph_exec {
  void operator()(const graph_exec_handle& exec) const noexcept {
    driver::destroy<&driver::entry_points::graph_exec_destroy>(exec.native());
    drop_object_shares{}(exec.shares);
    destroy_put_aside();
  }
};

/// Fails for attributes: the driver cannot change them in an executable graph.
inline result<> require_no_attributes(const node_parameters& parameters,
                                      source_location where) noexcept {
  const std::size_t count = parameters.attribute_count + (parameters.cluster != nullptr ? 1 : 0) +
                            (parameters.cooperative != nullptr ? 1 : 0);
  if (count == 0) return {};
  text_builder out;
  out << "the description has " << count
      << " launch attributes (a cluster counts as one, and cooperative too), but a kernel node of "
         "an executable graph "
         "keeps those that it was instantiated with; omit them, or set them in the graph and call "
         "gpu::graph_exec::update.";
  return fail(refusal(errc::invalid_argument, "gpu::graph_exec::set", out.finish(), where, count));
}

}  // namespace detail

/// Owns an executable graph. Move-only; empty after a move.
/// The destructor does not wait: launches in progress run to completion. But if it is the last
/// owner of a module's code, it unloads the code, and blocks as the module's destructor does.
/// **Capture**: creating and destroying one is not allowed while a capture forbids such calls in
/// this thread, and invalidates the capture: see `capture_mode_scope`. The rest is allowed.
/// **Threads**: used by one thread at a time. **Errors**: `errc::empty_handle`, those of the driver
/// call named in parentheses, and `errc::out_of_host_memory`.
class graph_exec {
 public:
  /// Creates an empty object, to be assigned to.
  graph_exec() noexcept = default;

  // Refuses common guesses; the error says what to write.
  template <class... Arguments> static void create(const Arguments&...) noexcept {
    static_assert(detail::always_false<Arguments...>, "write gpu::graph_exec::instantiate(graph)");
  }
  template <class... Arguments> void launch(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Arguments...>, "write gpu::launch(stream, exec)");
  }

  /// Creates an executable graph from the current state of a graph, which can be changed or
  /// destroyed afterwards, as can its modules and events. Queries each node of a graph that the
  /// library did not create, to find them.
  /// **Errors**: if the graph is not valid, as with a cycle, `asked()` is the
  /// `graph_instantiate_result`; CUDA_ERROR_NOT_SUPPORTED for a graph that was moved into another,
  /// and for a graph that allocates memory and has an executable graph already.
  /// (cuGraphInstantiateWithParams)
  static result<graph_exec> instantiate(
      graph_ref from, graph_exec_options options = {},
      source_location where = source_location::current()) noexcept {
    detail::destroy_put_aside();
    GPU_TRY(detail::require(from, "gpu::graph_exec::instantiate", where));
    if (options.device_launch && options.auto_free_on_launch) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::graph_exec::instantiate",
          text("device_launch and auto_free_on_launch exclude each other; omit one of them."),
          where));
    }
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    if (options.auto_free_on_launch)
      parameters.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    if (options.device_launch) parameters.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    if (options.use_node_priority)
      parameters.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    CUgraphExec native = nullptr;
    result<> made = driver::call_in<&driver::entry_points::graph_instantiate_with_params>(
        from.context().native(), where, &native, from.native(), &parameters);
    graph_exec owner = graph_exec::adopt(native, from.context());
    if (!made.has_value()) {
      return detail::fail(detail::explain_instantiate_error(std::move(made).error(), parameters));
    }
    detail::share_taking shares{nullptr, "gpu::graph_exec::instantiate", where};
    GPU_TRY(detail::take_of_graph(shares, from));
    owner.keep(std::move(shares.taken));
    return owner;
  }

  /// Takes ownership of an executable graph that cuGraphInstantiate made. The modules of its
  /// kernels and the events of its nodes must outlive it.
  static graph_exec adopt(CUgraphExec owned, context_ref context) noexcept {
    return graph_exec{detail::graph_exec_handle::from_native(owned, context)};
  }
  /// Releases ownership; the caller destroys it, and its modules and events after that.
  [[nodiscard]] CUgraphExec release() noexcept {
    const detail::graph_exec_handle given = handle_.release();
    detail::drop_object_shares{}(given.shares);
    detail::destroy_put_aside();
    return given.native();
  }

  CUgraphExec native() const noexcept { return handle_.get().native(); }
  context_ref context() const noexcept { return handle_.get().context(); }

  /// Sets all parameters to those of a graph that has the same nodes and edges, and keeps alive
  /// what that graph keeps alive instead of what it kept before. Does not affect launches in
  /// progress.
  /// **Errors**: CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE if the graphs differ in more than parameters;
  /// `asked()` is then the `graph_update_result`, and nothing has changed. CUDA_ERROR_INVALID_VALUE
  /// for a graph that was moved into another. (cuGraphExecUpdate)
  result<> update(graph_ref from, source_location where = source_location::current()) noexcept {
    detail::destroy_put_aside();
    GPU_TRY(detail::require(*this, "gpu::graph_exec::update", where));
    GPU_TRY(detail::require(from, "gpu::graph_exec::update", where));
    detail::share_taking shares{nullptr, "gpu::graph_exec::update", where};
    GPU_TRY(detail::take_of_graph(shares, from));
    CUgraphExecUpdateResultInfo info{};
    bool done = false;
    result<> updated = driver::in_context(context().native(), where, [&] {
      result<> called = driver::call<&driver::entry_points::graph_exec_update>(
          where, native(), from.native(), &info);
      done = called.has_value();
      return called;
    });
    if (done) {  // even if the context could not be restored afterwards
      keep(std::move(shares.taken));
      detail::destroy_put_aside();
      return updated;
    }
    return detail::fail(
        detail::explain_update_error(std::move(updated).error(), info, from.context()));
  }

  /// Sets the parameters of a node to those of another description of its kind, for later launches.
  /// `node` is a node of the graph that this was instantiated from, and must still be in it.
  /// A kernel node keeps the attributes and the cluster that it was instantiated with: to change
  /// them, set them in the graph and call `update`. A `host_node` does not compile, since an
  /// executable graph cannot keep its callable alive: set it in the graph and call `update`. The
  /// code of a kernel's module, or an event, is kept alive, and so are those of the previous
  /// description until the next `update`.
  /// **Errors**: as `graph::add`; `errc::invalid_argument` for a kernel node with attributes or a
  /// cluster; CUDA_ERROR_INVALID_VALUE, with both kinds, for a description of another kind;
  /// CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE for a child graph with other nodes or edges.
  /// (cuGraphExecNodeSetParams)
  template <node_description Description>
  result<> set(graph_node node, Description&& description,
               source_location where = source_location::current()) noexcept {
    static_assert(
        !requires { std::remove_reference_t<Description>::keeps_callable; },
        "gpu::graph_exec::set: an executable graph cannot keep a callable alive: set it "
        "in the graph, and call gpu::graph_exec::update");
    GPU_TRY(detail::require(*this, "gpu::graph_exec::set", where));
    GPU_TRY(detail::require(node, "gpu::graph_exec::set", where));
    detail::node_parameters parameters;
    GPU_TRY(detail::node_access::describe(description, parameters, context(), where));
    GPU_TRY(detail::require_no_attributes(parameters, where));
    detail::share_taking shares{handle_.get().shares, "gpu::graph_exec::set", where};
    GPU_TRY(detail::take_of_description(shares, parameters, context()));
    bool done = false;
    result<> set = driver::in_context(context().native(), where, [&] {
      result<> called = driver::call<&driver::entry_points::graph_exec_node_set_params>(
          where, native(), node.native(), &parameters.native);
      done = called.has_value();
      return called;
    });
    if (!done) {
      return detail::fail(detail::explain_description(
          std::move(set).error(), node, std::remove_reference_t<Description>::node_kind));
    }
    detail::add_shares(shares.taken, keep({}));
    keep(std::move(shares.taken));
    return set;  // an error if the context could not be restored afterwards
  }

  /// Enables or disables a kernel, copy or fill node for later launches. A disabled node does
  /// nothing.
  /// **Errors**: CUDA_ERROR_INVALID_VALUE, with the reason, for a node of another kind, and for a
  /// node of a graph that this was not instantiated from. (cuGraphNodeSetEnabled)
  result<> set_enabled(graph_node node, bool enabled,
                       source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require(*this, "gpu::graph_exec::set_enabled", where));
    GPU_TRY(detail::require(node, "gpu::graph_exec::set_enabled", where));
    result<> set = driver::call<&driver::entry_points::graph_node_set_enabled>(
        where, native(), node.native(), enabled);
    if (set.has_value()) return set;
    return detail::fail(detail::explain_set_enabled(std::move(set).error(), node));
  }
  /// Returns whether a kernel, copy or fill node is enabled. **Errors**: as `set_enabled`.
  /// (cuGraphNodeGetEnabled)
  result<bool> is_enabled(graph_node node,
                          source_location where = source_location::current()) const noexcept {
    unsigned enabled = 0;
    GPU_TRY(detail::require(*this, "gpu::graph_exec::is_enabled", where));
    GPU_TRY(detail::require(node, "gpu::graph_exec::is_enabled", where));
    result<> queried = driver::call<&driver::entry_points::graph_node_get_enabled>(
        where, native(), node.native(), &enabled);
    if (!queried.has_value())
      return detail::fail(detail::explain_set_enabled(std::move(queried).error(), node));
    return enabled != 0;
  }

  /// Returns the options as the driver reports them; driver 580 does not report
  /// `use_node_priority`. (cuGraphExecGetFlags)
  result<graph_exec_options> options(
      source_location where = source_location::current()) const noexcept {
    cuuint64_t flags = 0;
    GPU_TRY(detail::require(*this, "gpu::graph_exec::options", where));
    GPU_TRY(driver::call<&driver::entry_points::graph_exec_get_flags>(where, native(), &flags));
    return graph_exec_options{(flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0,
                              (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0,
                              (flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0};
  }

 private:
  explicit graph_exec(const detail::graph_exec_handle& owned) noexcept : handle_{owned} {}

  /// Replaces the shares that are kept, and returns the previous ones.
  detail::object_shares keep(detail::object_shares shares) noexcept {
    detail::graph_exec_handle name = handle_.release();
    detail::object_shares before(std::exchange(name.shares, shares.release()));
    handle_.reset(name);
    return before;
  }

  unique_handle<detail::graph_exec_handle, detail::destroy_graph_exec> handle_;
};

namespace detail {

inline result<> require(const graph_exec& exec, const char* function,
                        source_location where) noexcept {
  if (exec.native() == nullptr)
    return fail(empty_handle_error(function, "executable graph", where));
  return {};
}

/// Says that the stream of a launch or an upload is being captured, if it is.
inline result<> explain_launch_in_capture(result<> failed, const stream_ref& stream) noexcept {
  return fail(explain_capture(
      std::move(failed).error(), stream,
      ", and a capture cannot contain the launch or upload of an executable graph, which has "
      "invalidated it; end it and capture again, with the graph as a child_graph_node."));
}

/// The error of a launch on the fast path.
inline result<> graph_launch_failed(CUresult code, std::size_t index, std::uint64_t ticket,
                                    source_location where, CUstream stream) noexcept {
  return explain_launch_in_capture(queue_failed(code, index, ticket, where, stream),
                                   stream_ref::from_native(stream, context_ref{}));
}

/// Checks the handles and launches on any stream.
inline result<> launch_checked(stream_ref stream, const graph_exec& exec,
                               source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::launch", where));
  GPU_TRY(require(exec, "gpu::launch", where));
  result<> queued = on_stream(stream, where, [&] {
    return queue<&driver::entry_points::graph_launch>(stream, graph_label, where, exec.native(),
                                                      stream.native());
  });
  return queued.has_value() ? queued : explain_launch_in_capture(std::move(queued), stream);
}

}  // namespace detail

/// Queues a run of the whole graph on `stream`, and returns.
/// **Ordering**: after the work queued on `stream` before and after the graph's earlier launches,
/// before work that is queued on `stream` later. Nodes that do not depend on each other may run
/// concurrently.
/// **Errors**: `errc::empty_handle`, the driver's. Faults of the graph's kernels are reported
/// later, with the source location of this launch.
/// **Capture**: not allowed, and invalidates the capture: add a `child_graph_node` instead.
/// **Threads**: any, but one at a time for each graph. (cuGraphLaunch)
inline result<> launch(stream_ref stream, const graph_exec& exec,
                       source_location where = source_location::current()) noexcept {
  const CUgraphExec native = exec.native();
  if (native == nullptr || !detail::is_fast_path(stream))
    return detail::launch_checked(stream, exec, where);
  const auto without_function = [&](std::size_t) {
    return detail::launch_checked(stream, exec, where);
  };
  return detail::queue_or<&driver::entry_points::graph_launch, &detail::graph_launch_failed>(
      stream, detail::graph_label, where, without_function, native, stream.native());
}

/// Queues the preparation that the first launch of a graph would do, and returns.
/// **Ordering**, **Capture**, **Threads**: as `launch`. **Errors**: `errc::empty_handle`, the
/// driver's. (cuGraphUpload)
inline result<> upload(stream_ref stream, const graph_exec& exec,
                       source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(stream, "gpu::upload", where));
  GPU_TRY(detail::require(exec, "gpu::upload", where));
  result<> queued = detail::on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::graph_upload>(where, exec.native(), stream.native());
  });
  if (queued.has_value()) return queued;
  return detail::explain_launch_in_capture(std::move(queued), stream);
}

}}  // namespace gpu::v1
