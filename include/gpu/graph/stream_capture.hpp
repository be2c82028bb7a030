#pragma once
/// \file
/// Stream capture: what is put into a stream becomes a graph in place of being done.

#include <gpu/driver/capture_mode.hpp>
#include <gpu/graph/detail/active_capture.hpp>
#include <gpu/graph/graph.hpp>

namespace gpu::inline v0 {

namespace detail {

inline constexpr const char* one_capture_at_a_time =
    " already. End that capture first, or begin one of another stream.";

}  // namespace detail

/// A capture that is going on, from `begin` to `end`:
///
///     auto capture = GPU_TRY(gpu::stream_capture::begin(stream));
///     GPU_TRY(gpu::launch(stream, shape, first, x));
///     GPU_TRY(gpu::launch(stream, shape, second, x));
///     gpu::graph both = GPU_TRY(capture.end());
///
/// Other streams join where they `wait` for an event that was recorded in the capture, and have to
/// be joined again, by an event that the first stream waits for, before it ends. What is queued
/// names buffers, events, callables and modules: the callables are the graph's, which also keeps
/// the modules of the kernels loaded and the events of `record_external` and `wait_external`; the
/// buffers have to live as long as it does (see `graph::keep`). Where a module is destroyed while
/// there is a capture, its code is unloaded when no capture is left. Move-only. The destructor of
/// one that was not ended ends it, and drops what was captured.
/// **Threads**: ended in the thread that began it, unless its mode is `relaxed`.
class [[nodiscard]] stream_capture {
 public:
  /// Begins a capture into a new graph.
  /// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for the legacy default stream,
  /// which cannot be captured, and for a mode that is none; `errc::out_of_host_memory`;
  /// CUDA_ERROR_ILLEGAL_STATE where the stream is being captured. (cuStreamBeginCapture,
  /// cuStreamGetCaptureInfo)
  static result<stream_capture> begin(stream_ref stream, capture_mode mode = capture_mode::global,
                                      source_location where = source_location::current()) noexcept {
    GPU_TRY(check(stream, mode, where));
    result<stream_capture> begun = begin_with<stream_capture>(state{stream, {}}, where, [&] {
      return driver::call<&driver::entry_points::stream_begin_capture>(
          where, stream.native(), static_cast<CUstreamCaptureMode>(mode));
    });
    if (begun.has_value()) [[likely]]
      return begun;
    return detail::fail(detail::with_capture_state(detail::move(begun).error(), stream,
                                                   detail::one_capture_at_a_time));
  }

  /// Begins a capture that adds to a graph, after the nodes in `after`; the stream may be another
  /// device's than theirs. A dependency other than
  /// `graph_dependency::full` is for a kernel that is captured next: the driver takes other work as
  /// well, which then does not wait for the end of the node before.
  /// **Errors**: also `errc::invalid_argument` for such a dependency on a node of another kind than
  /// `kernel`, for a value that is none, and for a graph that another `stream_capture` makes or
  /// adds to (of captures begun elsewhere nothing is known: the driver dies of one); with which,
  /// CUDA_ERROR_INVALID_VALUE for a node of another graph. (cuStreamBeginCaptureToGraph, and
  /// cuGraphNodeGetType for what is not `full`; cuGraphGetNodes where it was refused)
  static result<stream_capture> begin(stream_ref stream, graph_ref into,
                                      const nodes_before& after = {},
                                      capture_mode mode = capture_mode::global,
                                      source_location where = source_location::current()) noexcept {
    GPU_TRY(check(stream, mode, where));
    GPU_TRY(detail::require(into, "gpu::stream_capture::begin", where));
    GPU_TRY(detail::require_before(after, "gpu::stream_capture::begin", where));
    GPU_TRY(detail::require_no_capture_to(into.native(), "gpu::stream_capture::begin", where));
    result<stream_capture> begun = begin_with<stream_capture>(state{stream, into}, where, [&] {
      return driver::call<&driver::entry_points::stream_begin_capture_to_graph>(
          where, stream.native(), into.native(), after.native(), after.native_edges(), after.size(),
          static_cast<CUstreamCaptureMode>(mode));
    });
    if (begun.has_value()) [[likely]]
      return begun;
    return detail::fail(detail::with_capture_state(
        detail::with_wrong_node(detail::move(begun).error(), into.native(), after, false), stream,
        detail::one_capture_at_a_time));
  }

  stream_ref stream() const noexcept { return state_.get().stream; }

  /// Ends the capture and gives the graph that was made; empty where it was captured into a graph
  /// that was there. The stream is an ordinary one again, also where this fails.
  /// **Errors**: `errc::empty_handle` where it was ended or moved from; the driver's, such as
  /// CUDA_ERROR_STREAM_CAPTURE_INVALIDATED where a call in between spoiled the capture,
  /// CUDA_ERROR_STREAM_CAPTURE_UNJOINED and CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  /// `errc::out_of_host_memory` where there is no room to keep modules and events: a new graph is
  /// gone then, one that was there has the nodes. **Cost**: two short calls for each kernel.
  /// (cuStreamEndCapture, cuGraphGetNodes, cuGraphNodeGetType, cuGraphKernelNodeGetParams,
  /// cuGraphEventRecordNodeGetEvent, cuGraphEventWaitNodeGetEvent)
  result<graph> end(source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::stream_capture::end";
    const state ended = state_.release();
    GPU_TRY(detail::require(ended.stream, function, where));
    const listed_state held(ended);
    CUgraph native = nullptr;
    result<> done = detail::on_stream(ended.stream, where, [&] {
      return driver::call<&driver::entry_points::stream_end_capture>(where, ended.stream.native(),
                                                                     &native);
    });
    if (ended.into) native = nullptr;
    graph owner = graph::adopt(
        native == nullptr ? graph_ref{} : graph_ref::from_native(native, ended.stream.context()));
    if (!done.has_value()) [[unlikely]] {
      // Where the call was not even made the stream is still being captured.
      drop(ended);
      return detail::fail(detail::move(done).error());
    }
    if (native != nullptr) GPU_TRY(detail::graph_access::add_keeper(owner, function, where));
    const graph_ref made = ended.into ? ended.into : owner;
    detail::share_taking shares = detail::shares_for(made, function, where);
    GPU_TRY(detail::take_of_nodes(shares, made.native(), made.context()));
    GPU_TRY(detail::keep_taken(made, shares));
    return owner;
  }

 private:
  struct state {
    stream_ref stream;
    graph_ref into;  // empty where the graph is a new one
    detail::known_capture* listed = nullptr;

    friend bool operator==(const state& a, const state& b) noexcept { return a.listed == b.listed; }
  };
  struct take_from_list {
    void operator()(const state& over) const noexcept {
      detail::remove_capture(*over.listed);
      detail::forget_captured(detail::launches(), over.listed->first_launch,
                              detail::recorded_stream(over.stream.native()));
      delete over.listed;
      detail::destroy_put_aside();
    }
  };
  using listed_state = unique_handle<state, take_from_list>;
  struct abandon {
    void operator()(const state& open) const noexcept {
      drop(open);
      take_from_list{}(open);
    }
  };

  explicit stream_capture(const state& begun) noexcept : state_{begun} {}

  static result<> check(stream_ref stream, capture_mode mode, source_location where) noexcept {
    GPU_TRY(detail::require(stream, "gpu::stream_capture::begin", where));
    GPU_TRY(detail::require_enumerator(mode, "capture_mode", "gpu::stream_capture::begin", where));
    if (stream.native() == nullptr || stream.native() == CU_STREAM_LEGACY) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::stream_capture::begin",
          text("the legacy default stream cannot be captured. Use a stream of your own."), where));
    }
    return {};
  }
  template <class Capture, class Begin>
  static result<Capture> begin_with(state begun, source_location where, Begin begin) noexcept {
    begun.listed = new (std::nothrow) detail::known_capture(begun.into.native());
    if (begun.listed == nullptr) {
      return detail::fail(detail::no_room_error("gpu::stream_capture::begin",
                                                sizeof(detail::known_capture), where));
    }
    detail::add_capture(*begun.listed);
    listed_state held(begun);
    GPU_TRY(detail::on_stream(begun.stream, where, begin));
    Capture capture{held.release()};
    if (!begun.into) GPU_TRY(detail::learn_graph(*begun.listed, begun.stream, where));
    return capture;
  }
  /// Ends a capture that nobody wants; one that is spoiled, or over, is no news.
  static void drop(const state& open) noexcept {
    CUgraph native = nullptr;
    const result<> done = detail::on_stream(open.stream, source_location{}, [&] {
      return driver::call<&driver::entry_points::stream_end_capture>(source_location{},
                                                                     open.stream.native(), &native);
    });
    if (done.has_value() && native != nullptr && !open.into)
      driver::destroy<&driver::entry_points::graph_destroy>(native);
  }

  unique_handle<state, abandon> state_;
};

/// What is known of a stream's capture.
struct capture_info {
  capture_status status = capture_status::none;
  unsigned long long id = 0;  ///< a number that no other capture of the process has or had
  graph_ref graph;            ///< being captured to; it can be added to
  nodes_before after;         ///< what the next captured node will depend on
};

/// What a stream is being captured to; all but the status is empty where the capture is not active.
/// The capture goes on.
/// **Errors**: `errc::empty_handle`, `errc::out_of_host_memory`, the driver's. **Threads**: as the
/// capture. (cuStreamGetCaptureInfo)
inline result<capture_info> capture_of(
    stream_ref stream, source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(stream, "gpu::capture_of", where));
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  GPU_TRY(detail::on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::stream_get_capture_info>(
        where, stream.native(), &status, &id, &graph, &nodes, &edges, &count);
  }));
  capture_info info;
  info.status = static_cast<capture_status>(status);
  if (info.status != capture_status::active) return info;
  info.id = id;
  info.graph = graph_ref::from_native(graph, stream.context());
  info.after = nodes_before::from_native(nodes, edges, count, stream.context());
  if (!info.after.complete())
    return detail::fail(detail::no_room_for_nodes("gpu::capture_of", count, where));
  return info;
}

namespace detail {

/// Says of dependencies that a capture did not take which node is none of its graph's, or that
/// there is no capture.
[[gnu::cold, gnu::noinline]] inline cuda_error with_wrong_dependency(
    cuda_error error, const stream_ref& stream, const nodes_before& nodes) noexcept {
  if (!is_invalid_value(error) &&
      (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_ILLEGAL_STATE))
    return error;
  const result<capture_info> info = capture_of(stream, error.where());
  if (!info.has_value()) return noted_error(detail::move(error));
  if (info->status == capture_status::none) {
    return noted_error(detail::move(error).with_details(
        text("the stream is not being captured, so that nothing is captured next. Begin a capture "
             "before.")));
  }
  return with_wrong_node(detail::move(error), info->graph.native(), nodes, false);
}

inline result<> change_capture_dependencies(const char* function, const stream_ref& stream,
                                            const nodes_before& nodes, unsigned flags,
                                            source_location where) noexcept {
  GPU_TRY(require(stream, function, where));
  GPU_TRY(require_before(nodes, function, where));
  result<> changed = on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::stream_update_capture_dependencies>(
        where, stream.native(), const_cast<CUgraphNode*>(nodes.native()), nodes.native_edges(),
        nodes.size(), flags);
  });
  if (changed.has_value()) [[likely]]
    return changed;
  return fail(with_wrong_dependency(detail::move(changed).error(), stream, nodes));
}

}  // namespace detail

/// Makes the next captured node of a stream depend on these nodes too: some that were added to the
/// graph by hand, or kernels whose end it need not wait for:
///
///     auto kernel = GPU_TRY(gpu::capture_of(stream)).after[0].node;
///     GPU_TRY(gpu::set_capture_dependencies(stream, {kernel, graph_dependency::programmatic}));
///
/// A node that it depends on already is waited for as long as the stricter of both says.
/// **Errors**: as `stream_capture::begin` of such nodes; CUDA_ERROR_ILLEGAL_STATE where the stream
/// is not being captured, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED where the capture is spoiled.
/// **Threads**: as the capture. (cuStreamUpdateCaptureDependencies, and cuStreamGetCaptureInfo and
/// cuGraphGetNodes where that was refused)
inline result<> add_capture_dependencies(
    stream_ref stream, const nodes_before& nodes,
    source_location where = source_location::current()) noexcept {
  return detail::change_capture_dependencies("gpu::add_capture_dependencies", stream, nodes,
                                             CU_STREAM_ADD_CAPTURE_DEPENDENCIES, where);
}

/// Makes the next captured node of a stream depend on these nodes alone. **Errors**, **Threads**:
/// as `add_capture_dependencies`. (cuStreamUpdateCaptureDependencies)
inline result<> set_capture_dependencies(
    stream_ref stream, const nodes_before& nodes,
    source_location where = source_location::current()) noexcept {
  return detail::change_capture_dependencies("gpu::set_capture_dependencies", stream, nodes,
                                             CU_STREAM_SET_CAPTURE_DEPENDENCIES, where);
}

}  // namespace gpu::inline v0
