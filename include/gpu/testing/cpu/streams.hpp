#pragma once
/// \file
/// Entry points: streams, and host functions in them.

#include <gpu/testing/cpu/context_life.hpp>
#include <gpu/testing/cpu/driver_state.hpp>

#include <cuda.h>

#include <algorithm>
#include <memory>

namespace gpu::testing::cpu {

/// Whether the calling thread is inside a host function, from where CUDA must not be called.
inline bool& in_host_function() noexcept {
  thread_local bool inside = false;
  return inside;
}

struct host_function_scope {
  host_function_scope() noexcept { in_host_function() = true; }
  ~host_function_scope() { in_host_function() = false; }
  host_function_scope(const host_function_scope&) = delete;
  host_function_scope& operator=(const host_function_scope&) = delete;
};

}  // namespace gpu::testing::cpu

namespace gpu::testing::cpu::entry {

inline CUresult stream_create_with_priority(call& c, CUstream* stream, unsigned flags,
                                            int priority) {
  context_ptr context;
  if (stream == nullptr || (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  auto made = std::make_shared<stream_state>();
  made->context = context;
  made->flags = flags;
  made->priority = std::clamp(priority, greatest_priority, 0);
  made->id = ++c.driver.last_stream_id;
  made->place = c.driver.place();
  context->streams.push_back(made);
  *stream = c.driver.streams.add(made);
  return CUDA_SUCCESS;
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
  c.driver.work.close(*stream);
  c.drop_finished_streams(*stream->context);
  return bad;
}

inline CUresult stream_get_ctx(call& c, CUstream handle, CUcontext* context) {
  stream_ptr stream;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  *context = stream->context->handle;
  return CUDA_SUCCESS;
}

inline CUresult stream_get_flags(call& c, CUstream handle, unsigned* flags) {
  stream_ptr stream;
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

inline CUresult stream_get_id(call& c, CUstream handle, unsigned long long* id) {
  stream_ptr stream;
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
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

inline CUresult stream_is_capturing(call& c, CUstream handle, CUstreamCaptureStatus* status) {
  stream_ptr stream;
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

inline CUresult stream_query(call& c, CUstream handle) {
  stream_ptr stream;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
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
  c.finish(stream);
  settle_pools(c.driver, *stream->context->device);
  return c.tell_fault(*stream->context);
}

inline CUresult launch_host_func(call& c, CUstream handle, CUhostFn function, void* data) {
  stream_ptr stream;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  auto what = std::make_shared<operation>();
  what->reads_any_host_memory = true;
  what->work = [context = stream->context, function, data] {
    if (context->fault.load() != 0) return;
    const host_function_scope inside;
    function(data);
  };
  c.enqueue(stream, what);
  return CUDA_SUCCESS;
}

/// Unlike a host function, a callback is also called when the context has a fault, and told so.
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
  c.enqueue(stream, what);
  return CUDA_SUCCESS;
}

}  // namespace gpu::testing::cpu::entry
