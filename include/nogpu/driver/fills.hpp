#pragma once
/// \file
/// Entry points: filling memory with a value of one, two or four bytes.

#include <nogpu/driver/copies.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/transfer.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// The filling of memory that was checked.
template <class Value>
std::function<void()> fill_work(driver_state& driver, const context_ptr& context, transfer what,
                                Value value) {
  return [&driver, context, what, value] {
    do_work(*context, [&] {
      constexpr std::uint64_t piece = 65536;  // bytes, a multiple of every width
      std::vector<Value> pattern(std::min(piece, what.width) / sizeof value, value);
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
  };
}

/// A filling that was checked, as a node.
template <class Value>
node_work fill_node(call& c, const context_ptr& context, const transfer& what, Value value) {
  node_work node;
  node.type = CU_GRAPH_NODE_TYPE_MEMSET;
  node.context = context;
  node.work = fill_work(c.driver, context, what, value);
  if (c.driver.work.deferred() && what.to.where == endpoint::place::host)
    node.when_enqueued = [what](call& now, operation&) { poison_destination(now, what); };
  return node;
}

/// Checks the memory to fill: `height` rows of `width` values, neither of them 0.
template <class Value>
CUresult check_fill(call& c, CUdeviceptr to, std::uint64_t pitch, std::uint64_t width,
                    std::uint64_t height, transfer& what) {
  if (__builtin_mul_overflow(width, std::uint64_t{sizeof(Value)}, &what.width))
    return CUDA_ERROR_INVALID_VALUE;
  what.height = height;
  what.to.address = to;
  what.to.pitch = pitch;
  if (to % sizeof(Value) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (height > 1 && (pitch < what.width || pitch % sizeof(Value) != 0))
    return CUDA_ERROR_INVALID_VALUE;
  return check_end(c, what.to, what, named_as::device);
}

/// Returns whether a stream of a context cannot fill memory, which is another device's; a node of a
/// graph can.
inline bool is_out_of_reach(call& c, const context_state& context, CUdeviceptr to) {
  const memory_block* block = c.driver.find_block(to);
  if (block == nullptr || block->on_host() || block->device == context.device->ordinal)
    return false;
  machine::memory_view view;
  return c.driver.memory.resolve(to, 1, context.owner, view) ==
         machine::fault_kind::foreign_context;
}

/// Fills `height` rows of `width` values. A blocking call only waits where the memory is the
/// host's or managed; device memory is filled in the order of the default stream.
template <class Value>
CUresult fill(call& c, CUdeviceptr to, std::uint64_t pitch, Value value, std::uint64_t width,
              std::uint64_t height, copy_order order) {
  stream_ptr stream;
  if (const CUresult bad = c.find_stream(order.stream, stream)) return bad;
  if (width == 0 || height == 0) return CUDA_SUCCESS;
  transfer what;
  if (const CUresult bad = check_fill<Value>(c, to, pitch, width, height, what)) return bad;
  if (stream->capture) return c.capture(stream, fill_node(c, stream->context, what, value));
  if (is_out_of_reach(c, *stream->context, to)) return CUDA_ERROR_INVALID_VALUE;
  const bool waits = order.blocking && to < machine::device_window;
  if (c.driver.work.deferred() && !waits && what.to.where == endpoint::place::host)
    poison_destination(c, what);
  auto made = std::make_shared<operation>();
  made->work = fill_work(c.driver, stream->context, what, value);
  if (const CUresult bad = c.enqueue(stream, made)) return bad;
  if (!waits) return CUDA_SUCCESS;
  c.driver.work.finish(made, c.lock);
  return c.tell_fault(*stream->context);
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

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

}}}  // namespace nogpu::v1::driver::entry
