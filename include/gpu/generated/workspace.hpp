#pragma once
/// \file
/// `allocate_workspace`: temporary device memory of an algorithm.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Allocates `bytes` of temporary memory in the order of the stream; the buffer's destructor frees
/// it in that order, too.
/// **Errors**: CUDA_ERROR_OUT_OF_MEMORY. **Capture**: allowed; then the memory belongs to the
/// graph.
inline result<device_buffer<unsigned char>> allocate_workspace(const stream_ref& stream,
                                                               std::size_t bytes,
                                                               source_location where) noexcept {
  return device_buffer<unsigned char>::create(stream, bytes, where);
}

/// Copies bytes to the host and waits for them.
inline result<> copy_to_host(const stream_ref& stream, CUdeviceptr from, void* to,
                             std::size_t bytes, source_location where) noexcept {
  GPU_TRY(on_stream(stream, where, [&] {
    return queue<&driver::entry_points::memcpy_dtoh_async>(stream, copy_label, where, to, from,
                                                           bytes, stream.native());
  }));
  return stream.synchronize(where);
}

}}}  // namespace gpu::v1::detail
