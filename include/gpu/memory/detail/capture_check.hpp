#pragma once
/// \file
/// Checks whether a stream is being captured, and rejects calls that a capture does not allow
/// before the driver sees them: the driver would invalidate the capture.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/stream.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Sets `captured` to whether `stream` is being captured. (cuStreamIsCapturing)
inline result<> get_captured(const stream_ref& stream, bool& captured,
                             source_location where) noexcept {
  CUstreamCaptureStatus status{};
  GPU_TRY(on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::stream_is_capturing>(where, stream.native(),
                                                                    &status);
  }));
  captured = status != CU_STREAM_CAPTURE_STATUS_NONE;
  return {};
}

/// Fails with `errc::capture_prohibited` if `stream` is being captured; `cure` says what to do
/// instead. (cuStreamIsCapturing)
inline result<> require_no_capture(const stream_ref& stream, const char* function, const char* cure,
                                   source_location where) noexcept {
  bool captured = false;
  GPU_TRY(get_captured(stream, captured, where));
  if (!captured) return {};
  text_builder out;
  out << "the stream is being captured, and a graph cannot contain this operation. " << cure;
  return fail(refusal(errc::capture_prohibited, function, out.finish(), where));
}

}}}  // namespace gpu::v1::detail
