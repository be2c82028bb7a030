#pragma once
/// \file
/// Captures into graphs that are being captured to, of which a driver dies.

#include <gpu/graph/graph.hpp>
#include <gpu/kernel/shared_object.hpp>

namespace gpu::detail {

/// What is known of a capture that the library began.
struct known_capture : open_capture {
  stream_ref stream;
  CUgraph into;  ///< null where the graph is a new one

  known_capture(const stream_ref& of, CUgraph to) noexcept : stream{of}, into{to} {}
};

/// The graph that a capture makes or adds to; null where that cannot be told.
template <class Capture> CUgraph graph_of(const Capture& capture) noexcept {
  if (capture.into != nullptr) return capture.into;
  CUstreamCaptureStatus status{};
  CUgraph graph = nullptr;
  const result<> told = on_stream(capture.stream, source_location{}, [&] {
    return driver::call<&driver::entry_points::stream_get_capture_info>(
        source_location{}, capture.stream.native(), &status, static_cast<cuuint64_t*>(nullptr),
        &graph, static_cast<const CUgraphNode**>(nullptr),
        static_cast<const CUgraphEdgeData**>(nullptr), static_cast<std::size_t*>(nullptr));
  });
  return told.has_value() && status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? graph : nullptr;
}

/// `errc::invalid_argument` for a graph that a `stream_capture` makes or adds to.
/// (cuStreamGetCaptureInfo, for each capture into a new graph)
template <class Capture = known_capture, class Builder = text_builder>
result<> require_no_capture_to(CUgraph graph, const char* function,
                               source_location where) noexcept {
  live_objects& all = state_of_process().objects;
  bool is_captured_to = false;
  {
    const scoped_lock lock(all.lock);
    for (const open_capture* each = all.captures; each != nullptr && !is_captured_to;
         each = each->next) {
      is_captured_to = graph_of(*static_cast<const Capture*>(each)) == graph;
    }
  }
  if (!is_captured_to) [[likely]]
    return {};
  Builder out;
  out << "the graph is being captured to, and takes one capture at a time. End that one before, or "
         "capture into another graph, for a child_graph_node.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

}  // namespace gpu::detail
