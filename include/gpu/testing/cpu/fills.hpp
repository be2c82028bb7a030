#pragma once
/// \file
/// Entry points: filling memory with a value of one, two or four bytes.

#include <gpu/testing/cpu/copies.hpp>
#include <gpu/testing/cpu/driver_state.hpp>
#include <gpu/testing/cpu/transfer.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpu::testing::cpu {

/// Fills `height` rows of `width` values. A blocking call only waits where the memory is the
/// host's or managed; device memory is filled in the order of the default stream.
template <class Value>
CUresult fill(call& c, CUdeviceptr to, std::uint64_t pitch, Value value, std::uint64_t width,
              std::uint64_t height, copy_order order) {
  stream_ptr stream;
  if (const CUresult bad = c.find_stream(order.stream, stream)) return bad;
  if (width == 0 || height == 0) return CUDA_SUCCESS;
  transfer what;
  if (__builtin_mul_overflow(width, std::uint64_t{sizeof value}, &what.width))
    return CUDA_ERROR_INVALID_VALUE;
  what.height = height;
  what.to.address = to;
  what.to.pitch = pitch;
  if (to % sizeof value != 0) return CUDA_ERROR_INVALID_VALUE;
  if (height > 1 && (pitch < what.width || pitch % sizeof value != 0))
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = check_end(c, what.to, what, named_as::device)) return bad;
  const bool waits = order.blocking && to < machine::device_window;
  const operation_ptr made =
      c.enqueue(stream, [&driver = c.driver, context = stream->context, what, value] {
        constexpr std::uint64_t piece = 65536;  // bytes, a multiple of every width
        std::vector<Value> pattern(
            static_cast<std::size_t>(std::min(piece, what.width) / sizeof value), value);
        for (std::uint64_t y = 0; y < what.height; ++y) {
          const std::uint64_t row = what.to.address + y * what.to.pitch;
          for (std::uint64_t done = 0; done < what.width; done += piece) {
            const auto kind =
                driver.memory.write(row + done, pattern.data(), std::min(piece, what.width - done));
            if (kind != machine::fault_kind::none)
              return fail_transfer(driver, *context, row, what.width, kind, "fills");
          }
        }
      });
  if (!waits) return CUDA_SUCCESS;
  c.driver.work.finish(made, c.lock);
  return c.tell_fault(*stream->context);
}

}  // namespace gpu::testing::cpu

namespace gpu::testing::cpu::entry {

inline CUresult memset_d8(call& c, CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill(c, to, 0, value, count, 1, {});
}
inline CUresult memset_d16(call& c, CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill(c, to, 0, value, count, 1, {});
}
inline CUresult memset_d32(call& c, CUdeviceptr to, unsigned value, std::size_t count) {
  return fill(c, to, 0, value, count, 1, {});
}
inline CUresult memset_d8_async(call& c, CUdeviceptr to, unsigned char value, std::size_t count,
                                CUstream stream) {
  return fill(c, to, 0, value, count, 1, {false, stream});
}
inline CUresult memset_d16_async(call& c, CUdeviceptr to, unsigned short value, std::size_t count,
                                 CUstream stream) {
  return fill(c, to, 0, value, count, 1, {false, stream});
}
inline CUresult memset_d32_async(call& c, CUdeviceptr to, unsigned value, std::size_t count,
                                 CUstream stream) {
  return fill(c, to, 0, value, count, 1, {false, stream});
}
inline CUresult memset_2d_d8(call& c, CUdeviceptr to, std::size_t pitch, unsigned char value,
                             std::size_t width, std::size_t height) {
  return fill(c, to, pitch, value, width, height, {});
}
inline CUresult memset_2d_d16(call& c, CUdeviceptr to, std::size_t pitch, unsigned short value,
                              std::size_t width, std::size_t height) {
  return fill(c, to, pitch, value, width, height, {});
}
inline CUresult memset_2d_d32(call& c, CUdeviceptr to, std::size_t pitch, unsigned value,
                              std::size_t width, std::size_t height) {
  return fill(c, to, pitch, value, width, height, {});
}
inline CUresult memset_2d_d8_async(call& c, CUdeviceptr to, std::size_t pitch, unsigned char value,
                                   std::size_t width, std::size_t height, CUstream stream) {
  return fill(c, to, pitch, value, width, height, {false, stream});
}
inline CUresult memset_2d_d16_async(call& c, CUdeviceptr to, std::size_t pitch,
                                    unsigned short value, std::size_t width, std::size_t height,
                                    CUstream stream) {
  return fill(c, to, pitch, value, width, height, {false, stream});
}
inline CUresult memset_2d_d32_async(call& c, CUdeviceptr to, std::size_t pitch, unsigned value,
                                    std::size_t width, std::size_t height, CUstream stream) {
  return fill(c, to, pitch, value, width, height, {false, stream});
}

}  // namespace gpu::testing::cpu::entry
