#pragma once
/// \file
/// Older forms of functions for memory and streams, over those that the driver has.

#include "driver.hpp"
#include "legacy_contexts.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace nogpu::libcuda::legacy {

// managed memory

inline CUmemLocation location_of(CUdevice device) noexcept {
  CUmemLocation location{};
  location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}

inline CUresult mem_advise_v1(CUdeviceptr memory, std::size_t bytes, CUmem_advise advice,
                              CUdevice device) noexcept {
  return ask<&table::mem_advise>(memory, bytes, advice, location_of(device));
}

inline CUresult mem_prefetch_async_v1(CUdeviceptr memory, std::size_t bytes, CUdevice device,
                                      CUstream stream) noexcept {
  return ask<&table::mem_prefetch_async>(memory, bytes, location_of(device), 0u, stream);
}

// Batches, which once returned the index of the copy that failed. SIZE_MAX stands for a mistake
// that is not that of one copy.

inline CUresult memcpy_batch_async_v1(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes,
                                      std::size_t count, CUmemcpyAttributes* attributes,
                                      std::size_t* attribute_indices, std::size_t attribute_count,
                                      std::size_t* failed, CUstream stream) noexcept {
  const CUresult answer = ask<&table::memcpy_batch_async>(
      to, from, bytes, count, attributes, attribute_indices, attribute_count, stream);
  if (answer != CUDA_SUCCESS && failed != nullptr) *failed = SIZE_MAX;
  return answer;
}

inline CUresult memcpy_3d_batch_async_v1(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* copies,
                                         std::size_t* failed, unsigned long long flags,
                                         CUstream stream) noexcept {
  const CUresult answer = ask<&table::memcpy_3d_batch_async>(count, copies, flags, stream);
  if (answer != CUDA_SUCCESS && failed != nullptr) *failed = SIZE_MAX;
  return answer;
}

// streams

inline CUresult stream_begin_capture_v1(CUstream stream) noexcept {
  return ask<&table::stream_begin_capture>(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

inline CUresult stream_get_capture_info_v2(CUstream stream, CUstreamCaptureStatus* status,
                                           cuuint64_t* id, CUgraph* graph,
                                           const CUgraphNode** dependencies,
                                           std::size_t* count) noexcept {
  return ask<&table::stream_get_capture_info>(stream, status, id, graph, dependencies, nullptr,
                                              count);
}

inline CUresult stream_get_capture_info_v1(CUstream stream, CUstreamCaptureStatus* status,
                                           cuuint64_t* id) noexcept {
  return stream_get_capture_info_v2(stream, status, id, nullptr, nullptr, nullptr);
}

inline CUresult stream_update_capture_dependencies_v1(CUstream stream, CUgraphNode* dependencies,
                                                      std::size_t count, unsigned flags) noexcept {
  return ask<&table::stream_update_capture_dependencies>(stream, dependencies, nullptr, count,
                                                         flags);
}

inline CUresult stream_get_device(CUstream stream, CUdevice* device) noexcept {
  CUcontext context = nullptr;
  if (const CUresult bad = ask<&table::stream_get_ctx>(stream, &context)) return bad;
  return in_context(context, [&] { return ask<&table::ctx_get_device>(device); });
}

/// Of a stream of a green context, the context is the primary one of its device.
inline CUresult stream_get_ctx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) noexcept {
  if (context == nullptr || green == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgreenCtx found = nullptr;
  if (const CUresult bad = ask<&table::stream_get_green_ctx>(stream, &found)) return bad;
  CUcontext of_stream = nullptr;
  if (const CUresult bad = ask<&table::stream_get_ctx>(stream, &of_stream)) return bad;
  if (found != nullptr) {
    CUdevice device = 0;
    if (const CUresult bad = ctx_get_device_v2(&device, of_stream)) return bad;
    if (const CUresult bad = ask<&table::device_primary_ctx_retain>(&of_stream, device)) return bad;
    (void)ask<&table::device_primary_ctx_release>(device);  // the green context holds it
  }
  *context = of_stream;
  *green = found;
  return CUDA_SUCCESS;
}

}  // namespace nogpu::libcuda::legacy
