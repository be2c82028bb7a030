#pragma once
/// \file
/// Stream capture, in which the work of a stream becomes nodes of a graph; and its entry points.

#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/graph_edges.hpp>

#include <cuda.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// Adds to the nodes that a captured stream's next node depends on. Of two dependencies on a node
/// the stricter holds: ports count from the end of a kernel to its beginning.
inline void join_nodes(std::vector<node_dependency>& after,
                       const std::vector<node_dependency>& more) {
  for (const node_dependency& each : more) {
    const auto there = std::find_if(after.begin(), after.end(), [&](const node_dependency& other) {
      return other.node == each.node;
    });
    if (there == after.end()) {
      after.push_back(each);
    } else if (each.edge.from_port < there->edge.from_port) {
      there->edge = each.edge;
    }
  }
}

/// Finds the nodes after which a capture continues. They may be named twice. The data of their
/// edges must be valid for an edge to a kernel, whatever is captured next.
inline CUresult find_capture_nodes(call& c, const graph_state& graph, const CUgraphNode* list,
                                   const CUgraphEdgeData* edges, std::size_t count,
                                   std::vector<node_dependency>& nodes) {
  if (count != 0 && list == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<node_dependency> one;
    if (const CUresult bad =
            find_nodes(c, graph, list + i, edges == nullptr ? nullptr : edges + i, 1, one))
      return bad;
    if (!is_possible(one[0].edge, one[0].node->what.type, CU_GRAPH_NODE_TYPE_KERNEL))
      return CUDA_ERROR_INVALID_VALUE;
    join_nodes(nodes, one);
  }
  return CUDA_SUCCESS;
}

/// Returns whether all work of `stream` in the capture comes before the next work of the origin.
inline bool is_joined(const stream_state& origin, const stream_state& stream,
                      const std::vector<node_dependency>& let_go) {
  for (const auto& [each, edge] : stream.capture_after) {
    if (each->graph == nullptr || has(let_go, each)) continue;
    const bool found = std::any_of(
        origin.capture_after.begin(), origin.capture_after.end(),
        [&node = each](const node_dependency& end) { return comes_after(end.node, node); });
    if (!found) return false;
  }
  return true;
}

inline void end_capture(driver_state& driver, const capture_ptr& capture) {
  capture->ended = true;
  capture->graph->captured_into = false;
  std::erase(driver.captures, capture);
  for (const stream_ptr& each : capture->streams) {
    each->capture = nullptr;
    each->capture_after.clear();
  }
  capture->streams.clear();
}

/// Ends a capture whose stream is destroyed.
inline void abandon_capture(driver_state& driver, stream_state& stream) {
  const capture_ptr capture = stream.capture;
  end_capture(driver, capture);
  if (!capture->into_existing) destroy_graph(driver, capture->graph);
}

inline CUresult begin_capture(call& c, const stream_ptr& stream, graph_ptr graph,
                              CUstreamCaptureMode mode, bool into_existing) {
  auto made = std::make_shared<capture_state>();
  made->streams = {stream};
  c.driver.captures.push_back(made);
  made->graph = std::move(graph);
  made->graph->captured_into = true;
  made->mode = mode;
  made->id = ++c.driver.last_capture_id;
  made->origin = stream.get();
  made->thread = std::this_thread::get_id();
  made->into_existing = into_existing;
  stream->capture = std::move(made);
  stream->capture_after.clear();
  return CUDA_SUCCESS;
}

inline CUresult check_begin(call& c, CUstream handle, CUstreamCaptureMode mode,
                            stream_ptr& stream) {
  if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (stream->is_default) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return stream->capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult stream_begin_capture(call& c, CUstream handle, CUstreamCaptureMode mode) {
  stream_ptr stream;
  if (const CUresult bad = check_begin(c, handle, mode, stream)) return bad;
  const graph_ptr graph = make_graph(c.driver);
  rollback dropped([&] { destroy_graph(c.driver, graph); });
  const CUresult begun = begin_capture(c, stream, graph, mode, false);
  dropped.keep();
  return begun;
}

inline CUresult stream_begin_capture_to_graph(call& c, CUstream handle, CUgraph graph_handle,
                                              const CUgraphNode* after,
                                              const CUgraphEdgeData* edges, std::size_t count,
                                              CUstreamCaptureMode mode) {
  stream_ptr stream;
  graph_ptr graph;
  std::vector<node_dependency> nodes;
  if (const CUresult bad = find_graph(c, graph_handle, graph)) return bad;
  if (const CUresult bad = find_capture_nodes(c, *graph, after, edges, count, nodes)) return bad;
  if (const CUresult bad = check_begin(c, handle, mode, stream)) return bad;
  if (graph->captured_into) return CUDA_ERROR_INVALID_VALUE;
  const CUresult begun = begin_capture(c, stream, graph, mode, true);
  stream->capture_after = std::move(nodes);
  return begun;
}

inline CUresult stream_end_capture(call& c, CUstream handle, CUgraph* graph) {
  stream_ptr stream;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  const capture_ptr capture = stream->capture;
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *graph = nullptr;
  if (capture->origin != stream.get()) {
    capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  const bool wrong_thread = capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
                            capture->thread != std::this_thread::get_id();
  // The capture is over even if an error follows.
  const graph_ptr made = capture->graph;
  rollback ended([&] {
    end_capture(c.driver, capture);
    if (!capture->into_existing) destroy_graph(c.driver, made);
  });
  CUresult answer = capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                    : wrong_thread       ? CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
                                         : CUDA_SUCCESS;
  for (const stream_ptr& each : capture->streams)
    if (answer == CUDA_SUCCESS && !is_joined(*stream, *each, capture->let_go))
      answer = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  if (answer != CUDA_SUCCESS) return answer;
  made->place = c.driver.place();
  ended.keep();
  end_capture(c.driver, capture);
  *graph = made->handle;
  return CUDA_SUCCESS;
}

inline CUresult stream_is_capturing(call& c, CUstream handle, CUstreamCaptureStatus* status) {
  stream_ptr stream;
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (const CUresult bad = c.refuse_implicit(*stream, false)) return bad;
  *status = !stream->capture               ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                           : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

inline CUresult stream_get_capture_info(call& c, CUstream handle, CUstreamCaptureStatus* status,
                                        cuuint64_t* id, CUgraph* graph, const CUgraphNode** after,
                                        const CUgraphEdgeData** edges, std::size_t* count) {
  stream_ptr stream;
  if (edges != nullptr && after == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = stream_is_capturing(c, handle, status)) return bad;
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  (void)c.find_stream(handle, stream);
  bool plain = true;
  for (const node_dependency& each : stream->capture_after) plain &= is_same(each.edge, {});
  if (after != nullptr && edges == nullptr && !plain) return CUDA_ERROR_LOSSY_QUERY;
  stream->capture_handles.clear();
  stream->capture_edges.clear();
  for (const node_dependency& each : stream->capture_after) {
    stream->capture_handles.push_back(each.node->handle);
    stream->capture_edges.push_back(each.edge);
  }
  if (id != nullptr) *id = stream->capture->id;
  if (graph != nullptr) *graph = stream->capture->graph->handle;
  if (after != nullptr) *after = stream->capture_handles.data();
  if (edges != nullptr) *edges = stream->capture_edges.data();
  if (count != nullptr) *count = stream->capture_handles.size();
  return CUDA_SUCCESS;
}

inline CUresult stream_update_capture_dependencies(call& c, CUstream handle, CUgraphNode* list,
                                                   const CUgraphEdgeData* edges, std::size_t count,
                                                   unsigned flags) {
  stream_ptr stream;
  std::vector<node_dependency> nodes;
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (!stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (stream->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (const CUresult bad =
          find_capture_nodes(c, *stream->capture->graph, list, edges, count, nodes))
    return bad;
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
    join_nodes(stream->capture->let_go, stream->capture_after);
    stream->capture_after.clear();
  }
  join_nodes(stream->capture_after, nodes);
  return CUDA_SUCCESS;
}

inline CUresult thread_exchange_stream_capture_mode(call& c, CUstreamCaptureMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = std::exchange(stack_of_thread(c.driver).capture_mode, *mode);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
