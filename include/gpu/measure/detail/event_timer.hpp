#pragma once
/// \file
/// `event_timer`: the time that a device takes for work on a stream.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/elapsed_time.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Times work between two events. One object times any amount of work, one after another.
class event_timer {
 public:
  static result<event_timer> create(const stream_ref& stream, source_location where) noexcept {
    event_timer made;
    made.stream_ = stream;
    made.start_ = GPU_TRY(event::create(stream.context(), {.timing = true}, where));
    made.stop_ = GPU_TRY(event::create(stream.context(), {.timing = true}, where));
    return made;
  }

  /// Calls `work()`, which queues work and returns a `result<>`; `meanwhile()` on the host, while
  /// the work runs; and waits for the end.
  template <class Work, class Meanwhile>
  result<elapsed_time> time(Work work, Meanwhile meanwhile, source_location where) const {
    GPU_TRY(record(stream_, start_, where));
    GPU_TRY(work());
    GPU_TRY(record(stream_, stop_, where));
    meanwhile();
    GPU_TRY(stop_.synchronize(where));
    return elapsed(start_, stop_, where);
  }

 private:
  event_timer() noexcept = default;

  stream_ref stream_;
  event start_, stop_;
};

}}}  // namespace gpu::v1::detail
