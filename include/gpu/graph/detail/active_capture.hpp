#pragma once
/// \file
/// Captures into graphs that are being captured to, of which a driver dies.

#include <gpu/graph/graph.hpp>
#include <gpu/kernel/detail/shared_object.hpp>

namespace gpu::inline v0::detail {

/// What is known of a capture that the library began.
struct known_capture : open_capture {
  CUgraph graph;  ///< that is captured to; null until it is known
  std::uint64_t first_launch = launches_so_far(launches());  ///< that it may have captured

  explicit known_capture(CUgraph into) noexcept : graph{into} {}
};

/// Takes back what was launched on `stream` from `first` on, which a capture kept from running.
template <class Ring>
void forget_captured(Ring& ring, std::uint64_t first, CUstream stream) noexcept {
  const std::uint64_t next = launches_so_far(ring);
  if (next > first + launch_ring::size) first = next - launch_ring::size;
  launch_record each;
  for (std::uint64_t ticket = first; ticket < next; ++ticket) {
    if (read_record(ring, ticket, each) && each.label != nullptr && each.stream == stream)
      forget_launch(ring, ticket);
  }
}

/// Notes which graph a capture makes. (cuStreamGetCaptureInfo)
template <class Capture>
result<> learn_graph(Capture& capture, const stream_ref& stream, source_location where) noexcept {
  CUstreamCaptureStatus status{};
  CUgraph graph = nullptr;
  GPU_TRY(on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::stream_get_capture_info>(
        where, stream.native(), &status, nullptr, &graph, nullptr, nullptr, nullptr);
  }));
  const scoped_lock lock(live_objects::of_process().lock);
  capture.graph = graph;
  return {};
}

/// `errc::invalid_argument` for a graph that a `stream_capture` makes or adds to.
inline result<> require_no_capture_to(CUgraph graph, const char* function,
                                      source_location where) noexcept {
  live_objects& all = live_objects::of_process();
  bool is_captured_to = false;
  {
    const scoped_lock lock(all.lock);
    for (const open_capture* each = all.captures; each != nullptr; each = each->next)
      is_captured_to = is_captured_to || static_cast<const known_capture*>(each)->graph == graph;
  }
  if (!is_captured_to) [[likely]]
    return {};
  text_builder out;
  out << "the graph is being captured to, and takes one capture at a time. End that one before, or "
         "capture into another graph, for a child_graph_node.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

}  // namespace gpu::inline v0::detail
