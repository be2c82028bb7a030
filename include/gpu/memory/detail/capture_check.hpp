#pragma once
/// \file
/// Rejects calls that a stream capture does not allow before the driver sees them: the driver would
/// invalidate the capture.

#include <gpu/driver/stream.hpp>

namespace gpu::inline v0::detail {

/// Fails with `errc::capture_prohibited` if `stream` is being captured; `cure` says what to do
/// instead. (cuStreamIsCapturing)
inline result<> require_no_capture(const stream_ref& stream, const char* function, const char* cure,
                                   source_location where) noexcept {
  CUstreamCaptureStatus status{};
  GPU_TRY(on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::stream_is_capturing>(where, stream.native(),
                                                                    &status);
  }));
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) return {};
  text_builder out;
  out << "the stream is being captured, and a graph cannot contain this operation. " << cure;
  return fail(refusal(errc::capture_prohibited, function, out.finish(), where));
}

}  // namespace gpu::inline v0::detail
