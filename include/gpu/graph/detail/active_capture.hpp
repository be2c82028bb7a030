#pragma once
/// \file
/// The captures that this library has begun: the driver crashes if a second one adds to the same
/// graph.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_origin.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/detail/shared_object.hpp>
#include <gpu/system/mutex.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A capture in progress that the library began.
struct active_capture : open_capture {
  CUgraph graph;  ///< that the capture adds to; null until it is known
  std::uint64_t first_launch = launches_so_far(launches());  ///< that may have been captured

  explicit active_capture(CUgraph into) noexcept : graph{into} {}
};

/// Forgets the launches on `stream` from number `first` on: they were captured, and did not run.
inline void forget_captured(std::uint64_t first, CUstream stream) noexcept {
  launch_ring& ring = launches();
  const std::uint64_t next = launches_so_far(ring);
  if (next > first + launch_ring::size) first = next - launch_ring::size;
  launch_record each;
  for (std::uint64_t ticket = first; ticket < next; ++ticket) {
    if (read_record(ring, ticket, each) && each.label != nullptr && each.stream == stream)
      forget_launch(ring, ticket);
  }
}

/// Records which graph a capture adds to. (cuStreamGetCaptureInfo)
inline result<> find_captured_graph(active_capture& capture, const stream_ref& stream,
                                    source_location where) noexcept {
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

/// Fails with `errc::invalid_argument` for a graph that a `stream_capture` creates or adds to.
inline result<> require_no_capture_to(CUgraph graph, const char* function,
                                      source_location where) noexcept {
  live_objects& all = live_objects::of_process();
  bool is_captured_to = false;
  {
    const scoped_lock lock(all.lock);
    for (const open_capture* each = all.captures; each != nullptr; each = each->next)
      is_captured_to = is_captured_to || static_cast<const active_capture*>(each)->graph == graph;
  }
  if (!is_captured_to) return {};
  return fail(refusal(
      errc::invalid_argument, function,
      text("another capture is adding to the graph, and only one can at a time; end that one "
           "first, or capture into another graph and add it as a child_graph_node."),
      where));
}

}}}  // namespace gpu::v1::detail
