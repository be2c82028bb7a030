#pragma once
/// \file
/// `stream_capture`: work that is queued on a stream becomes nodes of a graph instead of running.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/host_call.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/dependencies.hpp>
#include <gpu/graph/detail/active_capture.hpp>
#include <gpu/graph/detail/explain_errors.hpp>
#include <gpu/graph/detail/keep_alive.hpp>
#include <gpu/graph/detail/object_shares.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/kernel/detail/shared_object.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

inline constexpr const char* one_capture_at_a_time =
    " already; end that capture first, or capture another stream.";

}  // namespace detail

/// Owns a capture in progress, from `begin` to `end`:
///
///     auto capture = GPU_TRY(gpu::stream_capture::begin(stream));
///     GPU_TRY(gpu::launch(stream, shape, first, x));
///     GPU_TRY(gpu::launch(stream, shape, second, x));
///     gpu::graph both = GPU_TRY(capture.end());
///
/// Another stream joins the capture by waiting for an event that was recorded in it, and must be
/// joined again before the end: the first stream waits for an event that the other one recorded.
/// The graph owns captured callables, and keeps alive the modules of captured kernels and the
/// events of `record_external` and `wait_external`. Buffers must outlive the graph (see
/// `graph::keep`). The code of a module that is destroyed during a capture is unloaded when no
/// capture is in progress. Move-only. The destructor ends a capture that was not ended, and
/// discards its graph.
/// **Threads**: must end in the thread that began it, unless its mode is `relaxed`.
class [[nodiscard]] stream_capture {
 public:
  /// Begins a capture into a new graph.
  /// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for the legacy default stream,
  /// which cannot be captured, and for a value that is not a valid mode;
  /// `errc::out_of_host_memory`; CUDA_ERROR_ILLEGAL_STATE if the stream is being captured already.
  /// (cuStreamBeginCapture, cuStreamGetCaptureInfo)
  static result<stream_capture> begin(stream_ref stream, capture_mode mode = capture_mode::global,
                                      source_location where = source_location::current()) noexcept {
    GPU_TRY(check(stream, mode, where));
    result<stream_capture> begun = begin_with(state{stream, {}}, where, [&] {
      return driver::call<&driver::entry_points::stream_begin_capture>(
          where, stream.native(), static_cast<CUstreamCaptureMode>(mode));
    });
    if (begun.has_value()) return begun;
    return detail::fail(
        detail::explain_capture(std::move(begun).error(), stream, detail::one_capture_at_a_time));
  }

  /// Begins a capture that adds to an existing graph. Its first node depends on the nodes in
  /// `after`, which may be of another device than the stream. If a dependency is not
  /// `graph_dependency::full`, a kernel must be captured next: the driver accepts other work too,
  /// but that does not wait for the end of the node.
  /// **Errors**: also `errc::invalid_argument` if a dependency is not `full` and its node is not a
  /// kernel, for a value that is not a valid `graph_dependency`, and for a graph that another
  /// `stream_capture` adds to (the library does not know captures that it did not begin, with which
  /// the driver crashes); CUDA_ERROR_INVALID_VALUE, with the index, for a node of another graph.
  /// (cuStreamBeginCaptureToGraph; cuGraphNodeGetType if a dependency is not `full`;
  /// cuGraphGetNodes after an error)
  static result<stream_capture> begin(stream_ref stream, graph_ref into,
                                      const dependencies& after = {},
                                      capture_mode mode = capture_mode::global,
                                      source_location where = source_location::current()) noexcept {
    GPU_TRY(check(stream, mode, where));
    GPU_TRY(detail::require(into, "gpu::stream_capture::begin", where));
    GPU_TRY(detail::require_dependencies(after, "gpu::stream_capture::begin", where));
    GPU_TRY(detail::require_no_capture_to(into.native(), "gpu::stream_capture::begin", where));
    result<stream_capture> begun = begin_with(state{stream, into}, where, [&] {
      return driver::call<&driver::entry_points::stream_begin_capture_to_graph>(
          where, stream.native(), into.native(), after.native(), after.native_edges(), after.size(),
          static_cast<CUstreamCaptureMode>(mode));
    });
    if (begun.has_value()) return begun;
    return detail::fail(detail::explain_capture(
        detail::explain_dependencies(std::move(begun).error(), into.native(), after, false), stream,
        detail::one_capture_at_a_time));
  }

  stream_ref stream() const noexcept { return state_.get().stream; }

  /// Ends the capture and returns the new graph, or an empty one if the capture added to an
  /// existing graph. Capture of the stream ends, even if the call fails.
  /// **Errors**: `errc::empty_handle` if the capture was ended already or moved from; the driver's,
  /// such as CUDA_ERROR_STREAM_CAPTURE_INVALIDATED if a call during the capture invalidated it,
  /// CUDA_ERROR_STREAM_CAPTURE_UNJOINED and CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  /// `errc::out_of_host_memory` if modules and events cannot be kept alive: a new graph is then
  /// destroyed, an existing one has the nodes. **Cost**: two short driver calls for each kernel.
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
    if (!done.has_value()) {
      // If the driver was not even called, the stream is still being captured.
      drop(ended);
      return detail::fail(std::move(done).error());
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
    graph_ref into;  // empty if the capture creates a graph
    detail::active_capture* listed = nullptr;

    friend bool operator==(const state& a, const state& b) noexcept { return a.listed == b.listed; }
  };
  struct take_from_list {
    void operator()(const state& over) const noexcept {
      detail::remove_capture(*over.listed);
      detail::forget_captured(over.listed->first_launch,
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
          text("the legacy default stream cannot be captured; create a stream and capture that."),
          where));
    }
    return {};
  }
  template <class Begin>
  static result<stream_capture> begin_with(state begun, source_location where,
                                           Begin begin) noexcept {
    begun.listed = new (std::nothrow) detail::active_capture(begun.into.native());
    if (begun.listed == nullptr) {
      return detail::fail(detail::no_room_error("gpu::stream_capture::begin",
                                                sizeof(detail::active_capture), where));
    }
    detail::add_capture(*begun.listed);
    listed_state held(begun);
    GPU_TRY(detail::on_stream(begun.stream, where, begin));
    stream_capture capture{held.release()};
    if (!begun.into) GPU_TRY(detail::find_captured_graph(*begun.listed, begun.stream, where));
    return capture;
  }
  /// Ends a capture and discards its graph. Ignores that it may have been invalidated or ended.
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

/// The state of a stream's capture.
struct capture_info {
  capture_status status = capture_status::none;
  unsigned long long id = 0;  ///< unique in the process, for all time
  graph_ref graph;            ///< the graph that the capture adds to; nodes can be added to it
  dependencies after;         ///< the nodes that the next captured node depends on
};

// Refuses common guesses; the error says what to write.
template <class Stream, class Function> void capture(const Stream&, const Function&) noexcept {
  static_assert(
      detail::always_false<Stream>,
      "write capture = gpu::stream_capture::begin(stream), queue the work, capture.end()");
}

/// Returns the state of a stream's capture; everything but the status is empty if no capture is
/// active. Does not affect the capture.
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
  info.after = dependencies::from_native(nodes, edges, count, stream.context());
  if (!info.after.complete())
    return detail::fail(detail::no_room_for_nodes("gpu::capture_of", count, where));
  return info;
}

namespace detail {

/// Says which dependency of a capture is not a node of its graph, or that nothing is being
/// captured.
inline cuda_error explain_capture_dependencies(cuda_error error, const stream_ref& stream,
                                               const dependencies& nodes) noexcept {
  if (!is_invalid_value(error) && !is_driver_error(error, CUDA_ERROR_ILLEGAL_STATE)) return error;
  const result<capture_info> info = capture_of(stream, error.where());
  if (!info.has_value()) return record_error(std::move(error));
  if (info->status == capture_status::none) {
    return record_error(std::move(error).with_details(
        text("the stream is not being captured; call gpu::stream_capture::begin first.")));
  }
  return explain_dependencies(std::move(error), info->graph.native(), nodes, false);
}

inline result<> change_capture_dependencies(const char* function, const stream_ref& stream,
                                            const dependencies& nodes, unsigned flags,
                                            source_location where) noexcept {
  GPU_TRY(require(stream, function, where));
  GPU_TRY(require_dependencies(nodes, function, where));
  result<> changed = on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::stream_update_capture_dependencies>(
        where, stream.native(), const_cast<CUgraphNode*>(nodes.native()), nodes.native_edges(),
        nodes.size(), flags);
  });
  if (changed.has_value()) return changed;
  return fail(explain_capture_dependencies(std::move(changed).error(), stream, nodes));
}

}  // namespace detail

/// Adds dependencies to the next captured node of a stream, such as nodes that were added to the
/// graph by hand:
///
///     auto kernel = GPU_TRY(gpu::capture_of(stream)).after[0].node;
///     GPU_TRY(gpu::set_capture_dependencies(stream, {kernel, graph_dependency::programmatic}));
///
/// If the node has a dependency on one of them already, the stricter of both holds.
/// **Errors**: as `stream_capture::begin` for such nodes; CUDA_ERROR_ILLEGAL_STATE if the stream is
/// not being captured, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED if the capture was invalidated.
/// **Threads**: as the capture. (cuStreamUpdateCaptureDependencies; cuStreamGetCaptureInfo and
/// cuGraphGetNodes after an error)
inline result<> add_capture_dependencies(
    stream_ref stream, const dependencies& nodes,
    source_location where = source_location::current()) noexcept {
  return detail::change_capture_dependencies("gpu::add_capture_dependencies", stream, nodes,
                                             CU_STREAM_ADD_CAPTURE_DEPENDENCIES, where);
}

/// Replaces the dependencies of the next captured node of a stream. **Errors**, **Threads**: as
/// `add_capture_dependencies`. (cuStreamUpdateCaptureDependencies)
inline result<> set_capture_dependencies(
    stream_ref stream, const dependencies& nodes,
    source_location where = source_location::current()) noexcept {
  return detail::change_capture_dependencies("gpu::set_capture_dependencies", stream, nodes,
                                             CU_STREAM_SET_CAPTURE_DEPENDENCIES, where);
}

}}  // namespace gpu::v1
