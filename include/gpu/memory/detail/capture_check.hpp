#pragma once
/// \file
/// A refusal before the driver is asked: for calls that a capture does not allow, and which the
/// driver would answer by spoiling the capture.

#include <gpu/driver/stream.hpp>

namespace gpu::inline v0::detail {

/// `errc::capture_prohibited` where `stream` is being captured; `cure` says what to do instead.
/// (cuStreamIsCapturing)
inline result<> require_no_capture(const stream_ref& stream, const char* function, const char* cure,
                                   source_location where) noexcept {
  CUstreamCaptureStatus status{};
  GPU_TRY(on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::stream_is_capturing>(where, stream.native(),
                                                                    &status);
  }));
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) [[likely]]
    return {};
  text_builder out;
  out << "the stream is being captured, and a graph cannot hold this. " << cure;
  return fail(refusal(errc::capture_prohibited, function, out.finish(), where));
}

}  // namespace gpu::inline v0::detail
