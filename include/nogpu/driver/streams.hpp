#pragma once
/// \file
/// Entry points: streams, and host functions in them.

#include <nogpu/driver/captures.hpp>
#include <nogpu/driver/context_life.hpp>
#include <nogpu/driver/driver_state.hpp>

#include <cuda.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

/// Makes a stream of a context, and of one of its green contexts unless `green` is null.
inline CUresult make_stream(call& c, CUstream* stream, const context_ptr& context,
                            const green_ptr& green, unsigned flags, int priority) {
  auto made = std::make_shared<stream_state>();
  made->context = context;
  made->green = green;
  made->flags = flags;
  made->priority = std::clamp(priority, greatest_priority, 0);
  made->id = ++c.driver.last_stream_id;
  made->place = c.driver.place();
  context->streams.push_back(made);
  rollback dropped([&context] { context->streams.pop_back(); });
  if (green && green->waits && green->waits->state != operation::progress::done) {
    auto turn = std::make_shared<operation>();
    turn->after.push_back(green->waits);
    if (const CUresult bad = c.enqueue(made, turn)) return bad;
  }
  *stream = c.driver.streams.add(made);
  dropped.keep();
  return CUDA_SUCCESS;
}

/// A call of a host function, unless the context has a fault.
inline std::function<void()> host_work(context_ptr context, CUhostFn function, void* data) {
  return [context = std::move(context), function, data] {
    if (context->fault.load() != 0) return;
    const host_function_scope inside;
    function(data);
  };
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult stream_create_with_priority(call& c, CUstream* stream, unsigned flags,
                                            int priority) {
  context_ptr context;
  if (stream == nullptr || (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  const CUcontext current = stack_of_thread(c.driver).contexts.back();
  return make_stream(c, stream, context, c.driver.greens.find_view(current), flags, priority);
}

inline CUresult stream_create(call& c, CUstream* stream, unsigned flags) {
  return stream_create_with_priority(c, stream, flags, 0);
}

inline CUresult stream_destroy(call& c, CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
    return CUDA_ERROR_INVALID_HANDLE;
  stream_ptr stream;
  const CUresult bad = c.find_stream(handle, stream);
  if (!stream) return bad;
  (void)c.driver.streams.take(handle);  // also when its context has a fault
  if (stream->capture && stream->capture->origin == stream.get())
    abandon_capture(c.driver, *stream);
  c.driver.work.close(*stream);
  c.drop_finished_streams(*stream->context);
  return bad;
}

inline CUresult stream_get_ctx(call& c, CUstream handle, CUcontext* context) {
  stream_ptr stream;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  *context = stream->green ? stream->green->view : stream->context->handle;
  return CUDA_SUCCESS;
}

inline CUresult stream_get_flags(call& c, CUstream handle, unsigned* flags) {
  stream_ptr stream;
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (stream->capture) return c.refuse_capture(*stream);
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

inline CUresult stream_get_id(call& c, CUstream handle, unsigned long long* id) {
  stream_ptr stream;
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (stream->capture) return c.refuse_capture(*stream);
  *id = stream->id;
  return CUDA_SUCCESS;
}

inline CUresult stream_get_priority(call& c, CUstream handle, int* priority) {
  stream_ptr stream;
  if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

inline CUresult stream_query(call& c, CUstream handle) {
  stream_ptr stream;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (const CUresult bad = c.refuse_capture(*stream)) return bad;
  operation_ptr open = stream->last();
  if (!open && stream->is_default) {
    for (const stream_ptr& each : stream->context->streams)
      if (each->blocking() && each->last()) open = each->last();
  }
  const bool done = c.driver.work.poll(open, c.lock);
  if (const CUresult fault = c.tell_fault(*stream->context)) return fault;
  return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

inline CUresult stream_synchronize(call& c, CUstream handle) {
  stream_ptr stream;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (const CUresult bad = c.refuse_capture(*stream)) return bad;
  c.finish(stream);
  settle_pools(c.driver, *stream->context->device);
  return c.tell_fault(*stream->context);
}

inline CUresult launch_host_func(call& c, CUstream handle, CUhostFn function, void* data) {
  stream_ptr stream;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  auto what = std::make_shared<operation>();
  what->node_type = CU_GRAPH_NODE_TYPE_HOST;
  what->reads_any_host_memory = true;
  what->work = host_work(stream->context, function, data);
  return c.enqueue(stream, what);
}

/// Adds a callback. Unlike a host function, it is also called if the context has a fault, and
/// receives the error.
inline CUresult stream_add_callback(call& c, CUstream handle, CUstreamCallback callback, void* data,
                                    unsigned flags) {
  stream_ptr stream;
  if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  auto what = std::make_shared<operation>();
  what->reads_any_host_memory = true;
  what->work = [context = stream->context, handle, callback, data] {
    const host_function_scope inside;
    callback(handle, static_cast<CUresult>(context->fault.load()), data);
  };
  return c.enqueue(stream, what);
}

}}}  // namespace nogpu::v1::driver::entry
