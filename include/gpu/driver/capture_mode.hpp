#pragma once
/// \file
/// The capture state of a stream, and the calls that a thread may make meanwhile. The captures
/// themselves are in graph/stream_capture.hpp.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>

#include <utility>

namespace gpu { inline namespace v1 {

/// The calls that a capture forbids because captured work might depend on them: those that wait or
/// change the address space, such as cuMemAlloc. Work on a captured stream that cannot be captured
/// is forbidden in every mode.
enum class capture_mode : int {
  global = CU_STREAM_CAPTURE_MODE_GLOBAL,               ///< in every thread
  thread_local_ = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,  ///< in the capturing thread
  relaxed = CU_STREAM_CAPTURE_MODE_RELAXED,             ///< in no thread
};

enum class capture_status : int {
  none = CU_STREAM_CAPTURE_STATUS_NONE,
  active = CU_STREAM_CAPTURE_STATUS_ACTIVE,
  invalidated = CU_STREAM_CAPTURE_STATUS_INVALIDATED,  ///< spoiled by an error, and to be ended
};

/// Returns the mode's name, such as "thread_local"; null for any other value.
constexpr const char* name_of(capture_mode mode) noexcept {
  using enum capture_mode;
  return detail::find_name(
      mode, {{global, "global"}, {thread_local_, "thread_local"}, {relaxed, "relaxed"}});
}

/// Returns the status's name, such as "active"; null for any other value.
constexpr const char* name_of(capture_status status) noexcept {
  using enum capture_status;
  return detail::find_name(status,
                           {{none, "none"}, {active, "active"}, {invalidated, "invalidated"}});
}

/// Returns whether a stream is being captured.
/// **Errors**: `errc::empty_handle`; for the legacy default stream
/// CUDA_ERROR_STREAM_CAPTURE_IMPLICIT while a blocking stream of its context is being captured.
/// **Threads**: any. (cuStreamIsCapturing)
inline result<capture_status> capture_status_of(
    stream_ref stream, source_location where = source_location::current()) noexcept {
  CUstreamCaptureStatus status{};
  GPU_TRY(detail::require(stream, "gpu::capture_status_of", where));
  GPU_TRY(detail::on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::stream_is_capturing>(where, stream.native(),
                                                                    &status);
  }));
  return static_cast<capture_status>(status);
}

namespace detail {

struct restored_capture_mode {
  CUstreamCaptureMode mode{};
  bool entered = false;

  friend bool operator==(const restored_capture_mode& a, const restored_capture_mode& b) noexcept {
    return a.entered == b.entered;
  }
};

struct restore_capture_mode {
  void operator()(restored_capture_mode before) const noexcept {
    driver::destroy<&driver::entry_points::thread_exchange_stream_capture_mode>(&before.mode);
  }
};

}  // namespace detail

/// Sets the capture mode of this thread for a scope, and the one before again at its end:
///
///     const auto scope = GPU_TRY(gpu::capture_mode_scope::enter(gpu::capture_mode::relaxed));
///
/// In `relaxed` the thread may make the calls that captures forbid, for example to fill a cache; in
/// `thread_local_` the captures of other threads forbid it nothing; threads begin in `global`.
/// **Threads**: each thread has its own mode, so the scope ends in the thread in which it began.
/// **Errors**: `errc::invalid_argument` for a value that is not a valid mode; the driver's.
/// (cuThreadExchangeStreamCaptureMode)
class [[nodiscard]] capture_mode_scope {
 public:
  static result<capture_mode_scope> enter(
      capture_mode mode, source_location where = source_location::current()) noexcept {
    GPU_TRY(
        detail::require_enumerator(mode, "capture_mode", "gpu::capture_mode_scope::enter", where));
    auto native = static_cast<CUstreamCaptureMode>(mode);
    GPU_TRY(
        driver::call<&driver::entry_points::thread_exchange_stream_capture_mode>(where, &native));
    return capture_mode_scope{detail::restored_capture_mode{native, true}};
  }

  /// Returns the mode that was in force before the scope.
  capture_mode before() const noexcept { return static_cast<capture_mode>(before_.get().mode); }

 private:
  explicit capture_mode_scope(detail::restored_capture_mode before) noexcept : before_{before} {}

  unique_handle<detail::restored_capture_mode, detail::restore_capture_mode> before_;
};

namespace detail {

/// Explains why the graph of a capture cannot be returned.
inline result<> explain_no_capture(result<> told, const char* otherwise) noexcept {
  if (told.has_value() || told.error().domain() != error_domain::driver ||
      told.error().code() != CUDA_ERROR_ILLEGAL_STATE)
    return told;
  text_builder out;
  out << "the stream is not being captured, so it has no graph to add this to. Begin a "
         "capture before, or use gpu::"
      << otherwise << '.';
  return fail(record_error(std::move(told).error().with_details(out.finish())));
}

}  // namespace detail

/// Makes recording `event` a piece of work of the graph that `stream` is being captured to: work
/// outside of the graph can wait for it. (`record` marks a point inside the capture.)
/// **Errors**: as `record`; CUDA_ERROR_ILLEGAL_STATE if the stream is not being captured.
/// **Threads**: any. The event must live until the capture has ended; the graph keeps it then.
/// (cuEventRecordWithFlags)
inline result<> record_external(stream_ref stream, event_ref event,
                                source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(stream, "gpu::record_external", where));
  GPU_TRY(detail::require(event, "gpu::record_external", where));
  if (stream.context() != event.context()) {
    return detail::fail(detail::wrong_context_error("gpu::record_external", "stream",
                                                    stream.device().native(), "event",
                                                    event.context().device().native(), where));
  }
  return detail::explain_no_capture(
      detail::on_stream(stream, where,
                        [&] {
                          return driver::call<&driver::entry_points::event_record_with_flags>(
                              where, event.native(), stream.native(),
                              unsigned{CU_EVENT_RECORD_EXTERNAL});
                        }),
      "record");
}

/// Makes waiting for `event` a piece of work of the graph that `stream` is being captured to: each
/// launch waits for what the event marks at that time. (`wait` joins captured streams.)
/// **Errors**: as `wait`; CUDA_ERROR_ILLEGAL_STATE if the stream is not being captured.
/// **Threads**: any. The event must live until the capture has ended; the graph keeps it then.
/// (cuStreamWaitEvent)
inline result<> wait_external(stream_ref stream, event_ref event,
                              source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(stream, "gpu::wait_external", where));
  GPU_TRY(detail::require(event, "gpu::wait_external", where));
  return detail::explain_no_capture(
      detail::on_stream(stream, where,
                        [&] {
                          return driver::call<&driver::entry_points::stream_wait_event>(
                              where, stream.native(), event.native(),
                              unsigned{CU_EVENT_WAIT_EXTERNAL});
                        }),
      "wait");
}

}}  // namespace gpu::v1
