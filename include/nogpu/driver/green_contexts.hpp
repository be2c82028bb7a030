#pragma once
/// \file
/// Entry points: green contexts. They keep numbers of multiprocessors and the order of their
/// streams; their kernels run as all others do, and their default stream is that of the primary
/// context.

#include <nogpu/driver/context_life.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/event_marks.hpp>
#include <nogpu/driver/events.hpp>
#include <nogpu/driver/streams.hpp>

#include <cuda.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// The multiprocessors of the smallest group, and what its size is a multiple of, as on devices of
/// compute capability 9.0.
inline constexpr unsigned multiprocessors_together = 8;
/// The same if multiprocessors need not be close to each other.
inline constexpr unsigned multiprocessors_apart = 2;

/// The part of a resource that programs do not read.
struct resource_origin {
  int device = 0;
  unsigned of_split = 0;
};

inline resource_origin origin_of(const CUdevResource& resource) noexcept {
  resource_origin origin;
  std::memcpy(&origin, resource._internal_padding, sizeof origin);
  return origin;
}

inline CUdevResource make_resource(resource_origin origin, unsigned count) noexcept {
  CUdevResource made{};
  if (count == 0) return made;
  made.type = CU_DEV_RESOURCE_TYPE_SM;
  std::memcpy(made._internal_padding, &origin, sizeof origin);
  made.sm.smCount = count;
  made.sm.minSmPartitionSize = made.sm.smCoscheduledAlignment = multiprocessors_together;
  return made;
}

/// The green context that is current in the calling thread, or null.
inline green_ptr current_green(driver_state& driver) {
  const auto& stack = stack_of_thread(driver).contexts;
  return stack.empty() ? nullptr : driver.greens.find_view(stack.back());
}

/// The streams of a green context.
inline std::vector<stream_ptr> streams_of(const green_state& green) {
  std::vector<stream_ptr> list;
  for (const stream_ptr& each : green.device->primary->streams)
    if (each->green.get() == &green && !each->closed) list.push_back(each);
  return list;
}

/// Returns the error of a call on all streams of a green context if one is being captured, and
/// invalidates its capture.
inline CUresult refuse_captured_streams(const std::vector<stream_ptr>& streams) {
  CUresult refused = CUDA_SUCCESS;
  for (const stream_ptr& each : streams) {
    if (!each->capture) continue;
    each->capture->invalidated = true;
    refused = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return refused;
}

inline CUresult find_green(call& c, CUgreenCtx handle, green_ptr& green) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  green = c.driver.greens.all.find(handle);
  if (green) return call::usable(*green->device->primary);
  const bool was_one = kind_of_handle(handle) == static_cast<unsigned>(handle_kind::green_context);
  return was_one ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult device_get_dev_resource(call& c, CUdevice ordinal, CUdevResource* resource,
                                        CUdevResourceType type) {
  device_state* device = nullptr;
  if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  *resource = make_resource({ordinal, 0}, multiprocessors);
  return CUDA_SUCCESS;
}

inline CUresult ctx_get_dev_resource(call& c, CUcontext handle, CUdevResource* resource,
                                     CUdevResourceType type) {
  context_ptr context;
  if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (const CUresult bad = c.find_context(handle, context)) return bad;
  const green_ptr green = c.driver.greens.find_view(handle);
  *resource = make_resource({context->device->ordinal, 0},
                            green ? green->multiprocessors : multiprocessors);
  return CUDA_SUCCESS;
}

inline CUresult green_ctx_get_dev_resource(call& c, CUgreenCtx handle, CUdevResource* resource,
                                           CUdevResourceType type) {
  green_ptr green;
  if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (const CUresult bad = find_green(c, handle, green)) return bad;
  *resource = make_resource({green->device->ordinal, 0}, green->multiprocessors);
  return CUDA_SUCCESS;
}

/// Rounds the size of groups up, and makes as many as there are multiprocessors for.
inline CUresult dev_sm_resource_split_by_count(call&, CUdevResource* result, unsigned* count,
                                               const CUdevResource* input, CUdevResource* remaining,
                                               unsigned flags, unsigned least) {
  constexpr unsigned known = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                             CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  if (count == nullptr || input == nullptr || (flags & ~known) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (input->type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (least > input->sm.smCount) return CUDA_ERROR_INVALID_VALUE;
  resource_origin origin = origin_of(*input);
  if (origin.of_split != 0) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  const unsigned unit = (flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0
                            ? multiprocessors_apart
                            : multiprocessors_together;
  const unsigned size = least == 0 ? unit : (least + unit - 1) / unit * unit;
  const unsigned all = input->sm.smCount, possible = all / size;
  const unsigned made = result == nullptr || *count > possible ? possible : *count;
  origin.of_split = 1;
  for (unsigned i = 0; result != nullptr && i < made; ++i) result[i] = make_resource(origin, size);
  if (remaining != nullptr) *remaining = make_resource(origin, all - made * size);
  *count = made;
  return CUDA_SUCCESS;
}

inline CUresult dev_resource_generate_desc(call& c, CUdevResourceDesc* description,
                                           CUdevResource* resources, unsigned count) {
  if (description == nullptr || resources == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<resource_description_state>();
  made->device = origin_of(resources[0]).device;
  for (unsigned i = 0; i < count; ++i) {
    if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    const resource_origin origin = origin_of(resources[i]);
    if (origin.device != made->device || (count > 1 && origin.of_split == 0))
      return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    made->multiprocessors += resources[i].sm.smCount;
  }
  *description = c.driver.greens.descriptions.add(std::move(made));
  return CUDA_SUCCESS;
}

inline CUresult green_ctx_create(call& c, CUgreenCtx* handle, CUdevResourceDesc description,
                                 CUdevice ordinal, unsigned flags) {
  device_state* device = nullptr;
  if (handle == nullptr || flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  const auto described = c.driver.greens.descriptions.find(description);
  if (!described || described->device != ordinal) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<green_state>();
  made->device = device;
  made->multiprocessors = described->multiprocessors;
  made->view = make_handle<CUcontext>(handle_kind::context);
  made->marks = std::make_shared<stream_state>();
  made->marks->flags = CU_STREAM_NON_BLOCKING;
  made->place = c.driver.place();
  if (!device->primary->alive) {
    device->primary->place = c.driver.place();
    begin_context(c, device->primary);
  }
  made->marks->context = device->primary;
  made->id = device->primary->owner + (next_handle_number() << 32);
  device->primary->streams.push_back(made->marks);
  rollback dropped([device] { device->primary->streams.pop_back(); });
  *handle = c.driver.greens.all.add(made);
  dropped.keep();
  ++device->primary_count;
  return CUDA_SUCCESS;
}

/// Waits for the work of its streams, which are no streams afterwards, whatever the program does.
inline CUresult green_ctx_destroy(call& c, CUgreenCtx handle) {
  green_ptr green;
  if (const CUresult bad = find_green(c, handle, green); !green) return bad;
  const context_ptr primary = green->device->primary;
  for (const stream_ptr& each : streams_of(*green)) {
    c.driver.work.finish(each->last(), c.lock);
    c.driver.streams.orphan(each->handle);
    c.driver.work.close(*each);
  }
  c.driver.work.finish(green->marks->last(), c.lock);
  c.driver.work.close(*green->marks);
  c.drop_finished_streams(*primary);
  (void)c.driver.greens.all.take(handle);
  device_state& device = *green->device;
  if (device.primary_count != 0 && --device.primary_count == 0 && primary->alive)
    end_context(c, primary);
  return CUDA_SUCCESS;
}

inline CUresult ctx_from_green_ctx(call& c, CUcontext* context, CUgreenCtx handle) {
  green_ptr green;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_green(c, handle, green)) return bad;
  *context = green->view;
  return CUDA_SUCCESS;
}

inline CUresult green_ctx_get_id(call& c, CUgreenCtx handle, unsigned long long* id) {
  green_ptr green = handle == nullptr ? current_green(c.driver) : nullptr;
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!green) {
    if (const CUresult bad = find_green(c, handle, green)) return bad;
  }
  *id = green->id;
  return CUDA_SUCCESS;
}

inline CUresult green_ctx_stream_create(call& c, CUstream* stream, CUgreenCtx handle,
                                        unsigned flags, int priority) {
  green_ptr green;
  if (stream == nullptr || flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_green(c, handle, green)) return bad;
  return make_stream(c, stream, green->device->primary, green, flags, priority);
}

inline CUresult stream_get_green_ctx(call& c, CUstream handle, CUgreenCtx* answer) {
  stream_ptr stream;
  if (answer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  const bool by_current = stream->is_default || stream->handle == CU_STREAM_PER_THREAD;
  const green_ptr green = by_current ? current_green(c.driver) : stream->green;
  *answer = green ? green->handle : nullptr;
  return CUDA_SUCCESS;
}

inline CUresult green_ctx_record_event(call& c, CUgreenCtx handle, CUevent event_handle) {
  green_ptr green;
  event_ptr event;
  if (const CUresult bad = find_green(c, handle, green)) return bad;
  if (const CUresult bad = c.find_event(event_handle, event)) return bad;
  if (event->context != green->device->primary) return CUDA_ERROR_INVALID_HANDLE;
  const std::vector<stream_ptr> streams = streams_of(*green);
  if (const CUresult bad = refuse_captured_streams(streams)) return bad;
  auto what = std::make_shared<operation>();
  for (const stream_ptr& each : streams)
    if (each->last()) what->after.push_back(each->last());
  record(*event, what);
  return c.enqueue(green->marks, what);
}

/// The wait is work of `marks`, which all streams then wait for; those made later do from their
/// beginning.
inline CUresult green_ctx_wait_event(call& c, CUgreenCtx handle, CUevent event_handle) {
  green_ptr green;
  event_ptr event;
  if (const CUresult bad = find_green(c, handle, green)) return bad;
  if (const CUresult bad = c.find_event(event_handle, event)) return bad;
  const std::vector<stream_ptr> streams = streams_of(*green);
  if (const CUresult bad = refuse_captured_streams(streams)) return bad;
  if (event->capture) return refuse_captured(c, *event);
  if (!is_pending(*event)) return CUDA_SUCCESS;
  auto what = std::make_shared<operation>();
  wait_for(c.driver, *event, green->device->primary, *what);
  if (const CUresult bad = c.enqueue(green->marks, what)) return bad;
  green->waits = what;
  for (const stream_ptr& each : streams) {
    auto turn = std::make_shared<operation>();
    turn->after.push_back(what);
    if (const CUresult bad = c.enqueue(each, turn)) return bad;
  }
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
