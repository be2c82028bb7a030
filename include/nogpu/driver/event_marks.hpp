#pragma once
/// \file
/// Records events and waits for them, in this process or in another one that shares the event.

#include <nogpu/driver/driver_state.hpp>

#include <cuda.h>

#include <memory>
#include <string>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

/// Makes the event mark the end of `what`, which is about to be queued.
inline void record(event_state& event, const operation_ptr& what) {
  event.capture = nullptr;
  event.captured_after.clear();
  event.recorded = what;
  if (!event.shared) return;
  event.own_mark = event.shared->add();
  what->work = [marks = event.shared, mark = event.own_mark, work = std::move(what->work)] {
    if (work) work();
    marks->reach(mark);
  };
}

/// Returns whether another process recorded the event last.
inline bool recorded_elsewhere(const event_state& event) {
  return event.shared && event.shared->latest() != event.own_mark;
}

/// Returns whether a wait for the event would wait for work.
inline bool is_pending(const event_state& event) {
  if (recorded_elsewhere(event)) return !event.shared->has_reached(event.shared->latest());
  return event.recorded && event.recorded->state != operation::progress::done;
}

/// Makes `what`, which is about to be queued, come after what the event marks now.
inline void wait_for(driver_state& driver, const event_state& event, const context_ptr& context,
                     operation& what) {
  if (!is_pending(event)) return;
  if (!recorded_elsewhere(event)) return what.after.push_back(event.recorded);
  const std::uint64_t mark = event.shared->latest();
  what.proceed = [marks = event.shared, context, mark] {
    return marks->has_reached(mark) || context->fault.load() != 0;
  };
  what.give_up = [&driver, context] {
    set_fault(*context, CUDA_ERROR_LAUNCH_TIMEOUT);
    driver.report_finding(
        "a wait for an event of another process timed out: the event did not complete within " +
        std::to_string(driver.options.value_wait_limit.count()) + " ms");
  };
}

}}}  // namespace nogpu::v1::driver
