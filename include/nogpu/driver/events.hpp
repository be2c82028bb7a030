#pragma once
/// \file
/// Entry points: events, and waiting for them.

#include <nogpu/driver/accounts.hpp>
#include <nogpu/driver/captures.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/event_marks.hpp>

#include <cuda.h>

#include <chrono>
#include <memory>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

/// A node that records an event, or waits for it, when the graph runs.
inline CUresult capture_event(call& c, const stream_ptr& stream, const event_ptr& event,
                              CUgraphNodeType type) {
  node_work what;
  what.type = type;
  what.context = stream->context;
  what.event = event;
  return c.capture(stream, std::move(what));
}

/// Returns the error of a query of an event that was recorded in a capture, which no work ever
/// completes, and invalidates a capture in progress.
inline CUresult refuse_captured(call& c, event_state& event) {
  if (!event.capture) return c.refuse_unsafe_call();
  if (event.capture->ended) return CUDA_ERROR_INVALID_VALUE;
  event.capture->invalidated = true;
  return CUDA_ERROR_CAPTURED_EVENT;
}

/// Makes the next work of a stream depend on the point of a capture that the event marks; the
/// stream joins that capture.
inline CUresult join_capture(const stream_ptr& stream, const event_state& event) {
  const capture_ptr& capture = event.capture;
  if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (stream->capture && stream->capture != capture) {
    stream->capture->invalidated = capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (stream->is_default) {
    capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (!stream->capture) {
    capture->streams.push_back(stream);
    stream->capture = capture;
  }
  join_nodes(stream->capture_after, event.captured_after);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult event_create(call& c, CUevent* event, unsigned flags) {
  context_ptr context;
  constexpr unsigned known =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if (event == nullptr || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  auto made = std::make_shared<event_state>();
  made->context = context;
  made->flags = flags;
  if ((flags & CU_EVENT_INTERPROCESS) != 0) {
    made->shared = shared_marks::create(context->device->ordinal);
    if (!made->shared) return CUDA_ERROR_OPERATING_SYSTEM;
  }
  made->place = c.driver.place();
  *event = c.driver.events.add(made);
  return CUDA_SUCCESS;
}

/// Destroys an event. Work that waits for it still does.
inline CUresult event_destroy(call& c, CUevent handle) {
  event_ptr event;
  const CUresult bad = c.find_event(handle, event);
  if (event) (void)c.driver.events.take(handle);  // also when its context has a fault
  return bad;
}

inline CUresult event_record_with_flags(call& c, CUevent handle, CUstream stream_handle,
                                        unsigned flags) {
  event_ptr event;
  stream_ptr stream;
  if ((flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_event(handle, event)) return bad;
  if (const CUresult bad = c.find_stream(stream_handle, stream)) return bad;
  if (stream->context != event->context) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) {
    if (stream->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (flags != CU_EVENT_RECORD_DEFAULT)
      return capture_event(c, stream, event, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    event->captured_after = stream->capture_after;
    event->recorded = nullptr;
    event->capture = stream->capture;
    return CUDA_SUCCESS;
  }
  // The external flag is for captured streams.
  if (flags != CU_EVENT_RECORD_DEFAULT) return CUDA_ERROR_ILLEGAL_STATE;
  if (const CUresult bad = c.refuse_implicit(*stream)) return bad;
  auto what = std::make_shared<operation>();
  record(*event, what);
  const CUresult enqueued = c.enqueue(stream, what);
  // No other process can advance the work of this one.
  if (!enqueued && event->shared) c.driver.work.advance(what, c.lock);
  return enqueued;
}

inline CUresult event_record(call& c, CUevent event, CUstream stream) {
  return event_record_with_flags(c, event, stream, CU_EVENT_RECORD_DEFAULT);
}

inline CUresult event_query(call& c, CUevent handle) {
  event_ptr event;
  if (const CUresult bad = c.find_event(handle, event)) return bad;
  if (const CUresult bad = refuse_captured(c, *event)) return bad;
  const bool done = recorded_elsewhere(*event) ? !is_pending(*event)
                                               : c.driver.work.poll(event->recorded, c.lock);
  if (const CUresult fault = c.tell_fault(*event->context)) return fault;
  return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

inline CUresult event_synchronize(call& c, CUevent handle) {
  event_ptr event;
  if (const CUresult bad = c.find_event(handle, event)) return bad;
  if (const CUresult bad = refuse_captured(c, *event)) return bad;
  if (recorded_elsewhere(*event)) {
    const auto queue = std::make_shared<work_queue>();
    const auto what = std::make_shared<operation>();
    wait_for(c.driver, *event, event->context, *what);
    if (!c.driver.work.enqueue(queue, what, c.lock)) return CUDA_ERROR_OPERATING_SYSTEM;
    c.driver.work.finish(what, c.lock);
    c.driver.work.close(*queue);
  } else {
    const operation_ptr recorded = event->recorded;
    c.driver.work.finish(recorded, c.lock);
  }
  settle_pools(c.driver, *event->context->device);
  return c.tell_fault(*event->context);
}

inline CUresult event_elapsed_time(call& c, float* milliseconds, CUevent start_handle,
                                   CUevent end_handle) {
  event_ptr start;
  event_ptr end;
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_event(start_handle, start)) return bad;
  if (const CUresult bad = c.find_event(end_handle, end)) return bad;
  if (start->capture || end->capture) return CUDA_ERROR_CAPTURED_EVENT;
  if (start->context != end->context || !start->recorded || !end->recorded)
    return CUDA_ERROR_INVALID_HANDLE;
  if (((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0)
    return CUDA_ERROR_INVALID_HANDLE;
  if (start->recorded->state != operation::progress::done ||
      end->recorded->state != operation::progress::done)
    return CUDA_ERROR_NOT_READY;
  const std::chrono::duration<float, std::milli> elapsed =
      end->recorded->finished - start->recorded->finished;
  *milliseconds = elapsed.count();
  return CUDA_SUCCESS;
}

inline CUresult stream_wait_event(call& c, CUstream stream_handle, CUevent handle, unsigned flags) {
  event_ptr event;
  stream_ptr stream;
  if ((flags & ~static_cast<unsigned>(CU_EVENT_WAIT_EXTERNAL)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(stream_handle, stream)) return bad;
  if (const CUresult bad = c.find_event(handle, event)) return bad;
  if (event->capture &&
      event->capture->ended) {  // the event marks a point of a capture, not of time
    if (stream->capture) stream->capture->invalidated = true;
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (flags == CU_EVENT_WAIT_EXTERNAL && stream->capture)
    return capture_event(c, stream, event, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  if (event->capture) return join_capture(stream, *event);
  if (stream->capture) {
    if (stream->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!event->recorded && !recorded_elsewhere(*event)) return CUDA_SUCCESS;
    stream->capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (flags != CU_EVENT_WAIT_DEFAULT) return CUDA_ERROR_ILLEGAL_STATE;
  if (!is_pending(*event)) return CUDA_SUCCESS;
  auto what = std::make_shared<operation>();
  wait_for(c.driver, *event, stream->context, *what);
  return c.enqueue(stream, what);
}

}}}  // namespace nogpu::v1::driver::entry
