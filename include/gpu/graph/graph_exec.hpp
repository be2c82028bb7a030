#pragma once
/// \file
/// `graph_exec`, a graph made ready to run, any number of times; `launch` runs it on a stream.

#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_results.hpp>

namespace gpu::inline v0 {

struct graph_exec_options {
  /// Memory that a launch allocated and nobody freed is freed by the next launch, which otherwise
  /// is refused.
  bool auto_free_on_launch = false;
  bool device_launch = false;  ///< kernels can launch it; excludes `auto_free_on_launch`
  bool use_node_priority =
      false;  ///< kernels run with the priority of their node, not the stream's
};

class graph_exec;

namespace detail {

class graph_exec_name : public name_in_context<graph_exec_name, CUgraphExec> {
 public:
  object_share* shares = nullptr;  ///< in code and events
};

inline result<> require(const graph_exec& exec, const char* function,
                        source_location where) noexcept;

struct destroy_graph_exec {
  void operator()(const graph_exec_name& exec) const noexcept {
    driver::destroy<&driver::entry_points::graph_exec_destroy>(exec.native());
    drop_object_shares{}(exec.shares);
    destroy_put_aside();
  }
};

/// The driver changes no attributes in an executable graph.
inline result<> require_no_attributes(const node_parameters& parameters,
                                      source_location where) noexcept {
  const std::size_t count = parameters.attribute_count + (parameters.cluster != nullptr ? 1 : 0);
  if (count == 0) [[likely]]
    return {};
  text_builder out;
  out << count
      << " launch attributes, the cluster included, cannot be given to a kernel node of an "
      << "executable graph, which keeps those that it was instantiated with. Leave them out, or "
         "set them in the graph, and update.";
  return fail(refusal(errc::invalid_argument, "gpu::graph_exec::set", out.finish(), where, count));
}

}  // namespace detail

/// Owns an executable graph. Move-only; empty after a move.
/// The destructor does not wait: launches that are under way run to their end. Where it is the last
/// to need the code of a module, it unloads that, and waits as the module's destructor does.
/// **Capture**: making one and destroying one is not allowed while a capture forbids such calls in
/// this thread, and spoils it: see `capture_mode_scope`. The rest is allowed.
/// **Threads**: used by one thread at a time. **Errors**: `errc::empty_handle`, and those of the
/// driver call named in parentheses; where modules or events are to be kept,
/// `errc::out_of_host_memory`.
class graph_exec {
 public:
  /// Makes a graph ready to run, as it is now; it can be changed or destroyed afterwards, and so
  /// can its modules and events. For those of a graph from elsewhere it asks for each node.
  /// **Errors**: where nodes depend on each other in a circle, and the like, `asked()` is the
  /// `graph_instantiate_result`; CUDA_ERROR_NOT_SUPPORTED for a graph that was moved into another,
  /// and for one that allocates memory while there is an executable graph of it.
  /// (cuGraphInstantiateWithParams)
  static result<graph_exec> instantiate(
      graph_ref from, graph_exec_options options = {},
      source_location where = source_location::current()) noexcept {
    detail::destroy_put_aside();
    GPU_TRY(detail::require(from, "gpu::graph_exec::instantiate", where));
    if (options.device_launch && options.auto_free_on_launch) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::graph_exec::instantiate",
          text("a graph that kernels launch cannot free memory by itself. Leave device_launch or "
               "auto_free_on_launch out."),
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
      return detail::fail(detail::with_instantiate_result(detail::move(made).error(), parameters));
    }
    detail::share_taking shares{nullptr, "gpu::graph_exec::instantiate", where};
    GPU_TRY(detail::take_of_graph(shares, from));
    owner.keep(detail::move(shares.taken));
    return owner;
  }

  /// Takes over an executable graph that cuGraphInstantiate made. The modules of its kernels and
  /// the events of its nodes have to live as long as it does.
  static graph_exec adopt(CUgraphExec owned, context_ref context) noexcept {
    return graph_exec{detail::graph_exec_name::from_native(owned, context)};
  }
  /// Gives it up; the caller destroys it, and keeps its modules and events until then.
  [[nodiscard]] CUgraphExec release() noexcept {
    const detail::graph_exec_name given = handle_.release();
    detail::drop_object_shares{}(given.shares);
    detail::destroy_put_aside();
    return given.native();
  }

  CUgraphExec native() const noexcept { return handle_.get().native(); }
  context_ref context() const noexcept { return handle_.get().context(); }

  /// Takes over the parameters of another graph that has the same nodes and edges, and what it
  /// keeps alive, in place of what it kept. Launches under way are not affected.
  /// **Errors**: where the graphs differ in more than parameters,
  /// CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE; `asked()` is the `graph_update_result`, and nothing has
  /// changed. CUDA_ERROR_INVALID_VALUE for a graph that was moved into another. (cuGraphExecUpdate)
  result<> update(graph_ref from, source_location where = source_location::current()) noexcept {
    detail::destroy_put_aside();
    GPU_TRY(detail::require(*this, "gpu::graph_exec::update", where));
    GPU_TRY(detail::require(from, "gpu::graph_exec::update", where));
    detail::share_taking shares{nullptr, "gpu::graph_exec::update", where};
    GPU_TRY(detail::take_of_graph(shares, from));
    CUgraphExecUpdateResultInfo info{};
    bool done = false;
    result<> updated = driver::in_context(context().native(), where, [&] {
      result<> told = driver::call<&driver::entry_points::graph_exec_update>(where, native(),
                                                                             from.native(), &info);
      done = told.has_value();
      return told;
    });
    if (done) {  // also where the context could not be left afterwards
      keep(detail::move(shares.taken));
      detail::destroy_put_aside();
      return updated;
    }
    return detail::fail(
        detail::with_update_result(detail::move(updated).error(), info, from.context()));
  }

  /// Gives a node another description of its kind, for launches from now on. `node` is the node of
  /// the graph that this was instantiated from, which has to be there still.
  /// A kernel node keeps the attributes and the cluster that it was instantiated with: set others
  /// in the graph, and `update`. A `host_node` with a callable is refused at compile time: nothing
  /// would keep it alive. Give it to a graph, and `update`. The code of a kernel's module is kept
  /// loaded, and an event kept; those of the description before, too, until the next `update`.
  /// **Errors**: as `graph::add`; `errc::invalid_argument` for a kernel node with attributes or a
  /// cluster; CUDA_ERROR_INVALID_VALUE, with both kinds, for a description of another kind,
  /// CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE for a child graph of another shape.
  /// (cuGraphExecNodeSetParams)
  template <node_description Description>
  result<> set(graph_node node, Description&& description,
               source_location where = source_location::current()) noexcept {
    static_assert(
        !requires { detail::remove_reference_t<Description>::keeps_callable; },
        "gpu::graph_exec::set: an executable graph cannot keep a callable alive: set it "
        "in a graph, and update from that");
    GPU_TRY(detail::require(*this, "gpu::graph_exec::set", where));
    GPU_TRY(detail::require(node, "gpu::graph_exec::set", where));
    detail::node_parameters parameters;
    GPU_TRY(detail::node_access::describe(description, parameters, context(), where));
    GPU_TRY(detail::require_no_attributes(parameters, where));
    detail::share_taking shares{handle_.get().shares, "gpu::graph_exec::set", where};
    GPU_TRY(detail::take_of_description(shares, parameters, context()));
    bool done = false;
    result<> set = driver::in_context(context().native(), where, [&] {
      result<> told = driver::call<&driver::entry_points::graph_exec_node_set_params>(
          where, native(), node.native(), &parameters.native);
      done = told.has_value();
      return told;
    });
    if (!done) {
      return detail::fail(detail::with_wrong_description(
          detail::move(set).error(), node, detail::remove_reference_t<Description>::node_kind));
    }
    detail::add_shares(shares.taken, keep({}));
    keep(detail::move(shares.taken));
    return set;  // an error where the context could not be left afterwards
  }

  /// Whether launches from now on do what a kernel, copy or fill node does, or pass over it.
  /// **Errors**: CUDA_ERROR_INVALID_VALUE, with which of both, for a node of another kind, and for
  /// one of another graph than this was instantiated from. (cuGraphNodeSetEnabled)
  result<> set_enabled(graph_node node, bool enabled,
                       source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require(*this, "gpu::graph_exec::set_enabled", where));
    GPU_TRY(detail::require(node, "gpu::graph_exec::set_enabled", where));
    result<> set = driver::call<&driver::entry_points::graph_node_set_enabled>(
        where, native(), node.native(), enabled ? 1u : 0u);
    if (set.has_value()) [[likely]]
      return set;
    return detail::fail(detail::with_no_switch(detail::move(set).error(), node));
  }
  /// Whether launches do what a node does; a kernel, copy or fill node. **Errors**: as
  /// `set_enabled`. (cuGraphNodeGetEnabled)
  result<bool> is_enabled(graph_node node,
                          source_location where = source_location::current()) const noexcept {
    unsigned enabled = 0;
    GPU_TRY(detail::require(*this, "gpu::graph_exec::is_enabled", where));
    GPU_TRY(detail::require(node, "gpu::graph_exec::is_enabled", where));
    result<> told = driver::call<&driver::entry_points::graph_node_get_enabled>(
        where, native(), node.native(), &enabled);
    if (!told.has_value())
      return detail::fail(detail::with_no_switch(detail::move(told).error(), node));
    return enabled != 0;
  }

  /// What the driver tells of the options; driver 580 leaves `use_node_priority` out.
  /// (cuGraphExecGetFlags)
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
  explicit graph_exec(const detail::graph_exec_name& owned) noexcept : handle_{owned} {}

  /// Keeps these shares, and gives those that it had.
  detail::object_shares keep(detail::object_shares shares) noexcept {
    detail::graph_exec_name name = handle_.release();
    detail::object_shares before(detail::exchange(name.shares, shares.release()));
    handle_.reset(name);
    return before;
  }

  unique_handle<detail::graph_exec_name, detail::destroy_graph_exec> handle_;
};

namespace detail {

inline result<> require(const graph_exec& exec, const char* function,
                        source_location where) noexcept {
  if (exec.native() == nullptr) [[unlikely]]
    return fail(empty_handle_error(function, "executable graph", where));
  return {};
}

/// Says of a launch or an upload that was refused that the stream is being captured, if so.
template <class Result>
[[gnu::cold, gnu::noinline]] Result explain_capture(Result refused,
                                                    const stream_ref& stream) noexcept {
  return fail(with_capture_state(
      detail::move(refused).error(), stream,
      ", which takes no launch of an executable graph, nor its upload, and is spoiled. End it and "
      "capture again, with the graph as a child_graph_node."));
}

/// The same of a launch on a usual stream, for which no context has to be current.
template <class Result>
[[gnu::cold, gnu::noinline]] Result graph_launch_failed(CUresult code, std::size_t index,
                                                        std::uint64_t ticket, source_location where,
                                                        CUstream stream) noexcept {
  return explain_capture(Result(queue_failed(code, index, ticket, where, stream)),
                         stream_ref::from_native(stream, context_ref{}));
}

/// Launches on any stream, or says what is wrong.
template <class Result>
[[gnu::cold, gnu::noinline]] Result launch_carefully(const stream_ref& stream,
                                                     const graph_exec& exec,
                                                     source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::launch", where));
  GPU_TRY(require(exec, "gpu::launch", where));
  Result queued = on_stream(stream, where, [&] {
    return queue<&driver::entry_points::graph_launch>(stream, graph_label, where, exec.native(),
                                                      stream.native());
  });
  return queued.has_value() ? queued : explain_capture(detail::move(queued), stream);
}

}  // namespace detail

/// Queues a run of the whole graph on `stream`, and returns.
/// **Ordering**: after what was queued on `stream` and after the graph's own earlier launches,
/// before what will be queued. Nodes that do not depend on each other may run at once.
/// **Errors**: `errc::empty_handle`, the driver's; faults of its kernels arrive later, and name
/// this launch and its place in the source.
/// **Capture**: not allowed, and spoils it: add a `child_graph_node` to what is captured.
/// **Threads**: any, but one at a time for one graph. (cuGraphLaunch)
[[gnu::always_inline]] inline result<> launch(
    stream_ref stream, const graph_exec& exec,
    source_location where = source_location::current()) noexcept {
  const CUgraphExec native = exec.native();
  const auto otherwise = [&](std::size_t) __attribute__((always_inline)) {
    return detail::launch_carefully<result<>>(detail::copy_of(stream), exec, where);
  };
  if (native == nullptr || !detail::is_usual(stream)) [[unlikely]]
    return otherwise(0);
  return detail::queue_or<&driver::entry_points::graph_launch,
                          &detail::graph_launch_failed<result<>>>(
      stream, detail::graph_label, where, otherwise, native, stream.native());
}

/// Queues the preparation that the first launch of a graph would do.
/// **Ordering**, **Capture**, **Threads**: as `launch`. **Errors**: `errc::empty_handle`, the
/// driver's. (cuGraphUpload)
inline result<> upload(stream_ref stream, const graph_exec& exec,
                       source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(stream, "gpu::upload", where));
  GPU_TRY(detail::require(exec, "gpu::upload", where));
  result<> queued = detail::on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::graph_upload>(where, exec.native(), stream.native());
  });
  return queued.has_value() ? queued : detail::explain_capture(detail::move(queued), stream);
}

}  // namespace gpu::inline v0
