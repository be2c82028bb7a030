#pragma once
/// \file
/// Entry points: copies of a run of bytes.

#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/transfer.hpp>

#include <cuda.h>

#include <cstddef>

namespace nogpu { inline namespace v1 { namespace driver {

/// A copy in a stream, or, without one, in the default stream of the current context, where the
/// call waits for it as the driver does.
struct copy_order {
  bool blocking = true;
  CUstream stream = nullptr;
};

inline CUresult copy_bytes(call& c, std::uint64_t to, named_as to_name, std::uint64_t from,
                           named_as from_name, std::size_t bytes, copy_order order) {
  stream_ptr stream;
  if (const CUresult bad = c.find_stream(order.stream, stream)) return bad;
  if (bytes == 0) return CUDA_SUCCESS;
  transfer what;
  what.to.address = to;
  what.from.address = from;
  what.width = bytes;
  if (const CUresult bad = check_end(c, what.to, what, to_name)) return bad;
  if (const CUresult bad = check_end(c, what.from, what, from_name)) return bad;
  return enqueue_transfer(c, stream, what, order.blocking);
}

/// Checks the contexts and the stream of a copy between contexts, which cannot be captured. A
/// context may be null, since addresses are unified.
inline CUresult check_peer_copy(call& c, CUcontext to, CUcontext from, CUstream handle) {
  context_ptr context;
  stream_ptr stream;
  for (const CUcontext each : {to, from})
    if (each != nullptr)
      if (const CUresult bad = c.find_context(each, context)) return bad;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  return stream->capture ? c.refuse_capture(*stream) : CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult memcpy(call& c, CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_bytes(c, to, named_as::unified, from, named_as::unified, bytes, {});
}
inline CUresult memcpy_async(call& c, CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                             CUstream stream) {
  return copy_bytes(c, to, named_as::unified, from, named_as::unified, bytes, {false, stream});
}
inline CUresult memcpy_htod(call& c, CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy_bytes(c, to, named_as::device, address_of(from), named_as::host, bytes, {});
}
inline CUresult memcpy_htod_async(call& c, CUdeviceptr to, const void* from, std::size_t bytes,
                                  CUstream stream) {
  return copy_bytes(c, to, named_as::device, address_of(from), named_as::host, bytes,
                    {false, stream});
}
inline CUresult memcpy_dtoh(call& c, void* to, CUdeviceptr from, std::size_t bytes) {
  return copy_bytes(c, address_of(to), named_as::host, from, named_as::device, bytes, {});
}
inline CUresult memcpy_dtoh_async(call& c, void* to, CUdeviceptr from, std::size_t bytes,
                                  CUstream stream) {
  return copy_bytes(c, address_of(to), named_as::host, from, named_as::device, bytes,
                    {false, stream});
}
inline CUresult memcpy_dtod(call& c, CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_bytes(c, to, named_as::device, from, named_as::device, bytes, {});
}
inline CUresult memcpy_dtod_async(call& c, CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                  CUstream stream) {
  return copy_bytes(c, to, named_as::device, from, named_as::device, bytes, {false, stream});
}

inline CUresult memcpy_peer_async(call& c, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                  CUcontext from_context, std::size_t bytes, CUstream stream) {
  if (const CUresult bad = check_peer_copy(c, to_context, from_context, stream)) return bad;
  return copy_bytes(c, to, named_as::device, from, named_as::device, bytes, {false, stream});
}
inline CUresult memcpy_peer(call& c, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                            CUcontext from_context, std::size_t bytes) {
  return memcpy_peer_async(c, to, to_context, from, from_context, bytes, nullptr);
}

}}}  // namespace nogpu::v1::driver::entry
