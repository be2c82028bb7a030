#pragma once
/// \file
/// Entry points: several copies in one call. Here they are done in the order of the batch.

#include <nogpu/driver/copies_3d.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

inline bool is_access_order(CUmemcpySrcAccessOrder order) noexcept {
  return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/// Checks a hint, which changes nothing here.
inline bool is_location(call& c, const CUmemLocation& where) {
  return where.type >= CU_MEM_LOCATION_TYPE_NONE &&
         where.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT &&
         (where.type != CU_MEM_LOCATION_TYPE_DEVICE ||
          (where.id >= 0 && static_cast<std::size_t>(where.id) < c.driver.devices.size()));
}

inline bool are_attributes(call& c, const CUmemcpyAttributes& all) {
  return is_access_order(all.srcAccessOrder) && is_location(c, all.srcLocHint) &&
         is_location(c, all.dstLocHint) && all.flags <= CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
}

/// The stream of a batch, which cannot be the legacy default one. A context has to be current.
inline CUresult find_batch_stream(call& c, CUstream handle, stream_ptr& stream) {
  context_ptr context;
  if (handle == nullptr || handle == CU_STREAM_LEGACY || c.current(context))
    return CUDA_ERROR_INVALID_VALUE;
  return c.find_stream(handle, stream);
}

/// The stream of a batch of copies, which cannot be captured either.
inline CUresult batch_stream(call& c, CUstream handle, stream_ptr& stream) {
  if (const CUresult bad = find_batch_stream(c, handle, stream)) return bad;
  // This error does not invalidate the capture.
  return stream->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

/// Queues a copy of a batch. A source that is to be read during the call is read then, if it is
/// the host's: nothing that is queued is writing it.
inline CUresult enqueue_of_batch(call& c, const stream_ptr& stream, transfer what,
                                 CUmemcpySrcAccessOrder order) {
  if (order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL && what.from.on_host())
    what.from.where = endpoint::place::pageable;
  return enqueue_transfer(c, stream, what, false);
}

/// One end of a copy of boxes, whose pitches are in elements: of an array, or else bytes.
inline box_end end_of(const CUmemcpy3DOperand& operand, const CUextent3D& extent, unsigned unit) {
  box_end end{};
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    end.type = CU_MEMORYTYPE_ARRAY;
    end.array = operand.op.array.array;
    end.x = operand.op.array.offset.x * unit;
    end.y = operand.op.array.offset.y;
    end.z = operand.op.array.offset.z;
    return end;
  }
  const auto& pointer = operand.op.ptr;
  end.type = CU_MEMORYTYPE_UNIFIED;
  end.device = pointer.ptr;
  end.pitch = (pointer.rowLength == 0 ? extent.width : pointer.rowLength) * unit;
  end.rows = pointer.layerHeight == 0 ? extent.height : pointer.layerHeight;
  return end;
}

/// The bytes of an operand's elements: those of an array's texels, 0 where the other end decides.
inline CUresult element_of(call& c, const CUmemcpy3DOperand& operand, unsigned& unit) {
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_POINTER) return CUDA_SUCCESS;
  array_ptr array;
  if (operand.type != CU_MEMCPY_OPERAND_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_copied(c, operand.op.array.array, array)) return bad;
  unit = array->format.unit;
  return CUDA_SUCCESS;
}

inline CUresult read_box_copy(call& c, const CUDA_MEMCPY3D_BATCH_OP& from, transfer& what) {
  unsigned from_unit = 0;
  unsigned to_unit = 0;
  if (!is_access_order(from.srcAccessOrder) ||
      from.flags > CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = element_of(c, from.src, from_unit)) return bad;
  if (const CUresult bad = element_of(c, from.dst, to_unit)) return bad;
  if (from_unit != 0 && to_unit != 0 && from_unit != to_unit) return CUDA_ERROR_INVALID_VALUE;
  const unsigned unit = std::max({from_unit, to_unit, 1u});
  what.width = from.extent.width * unit;
  what.height = from.extent.height;
  what.depth = from.extent.depth;
  if (what.empty()) return CUDA_ERROR_INVALID_VALUE;
  return check_boxes(c, end_of(from.dst, from.extent, unit), end_of(from.src, from.extent, unit),
                     what);
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult memcpy_batch_async(call& c, CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes,
                                   std::size_t count, CUmemcpyAttributes* attributes,
                                   std::size_t* firsts, std::size_t attribute_count,
                                   CUstream handle) {
  stream_ptr stream;
  if (to == nullptr || from == nullptr || sizes == nullptr || attributes == nullptr ||
      firsts == nullptr || count == 0 || attribute_count == 0 || attribute_count > count ||
      firsts[0] != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = batch_stream(c, handle, stream)) return bad;
  for (std::size_t i = 0; i < attribute_count; ++i) {
    const bool in_order = i == 0 || (firsts[i] > firsts[i - 1] && firsts[i] < count);
    if (!in_order || !are_attributes(c, attributes[i])) return CUDA_ERROR_INVALID_VALUE;
  }
  std::vector<transfer> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i].to.address = to[i];
    all[i].from.address = from[i];
    all[i].width = sizes[i];
    if (sizes[i] == 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult bad = check_end(c, all[i].to, all[i], named_as::unified)) return bad;
    if (const CUresult bad = check_end(c, all[i].from, all[i], named_as::unified)) return bad;
  }
  std::size_t which = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (which + 1 < attribute_count && firsts[which + 1] == i) ++which;
    if (const CUresult bad = enqueue_of_batch(c, stream, all[i], attributes[which].srcAccessOrder))
      return bad;
  }
  return CUDA_SUCCESS;
}

inline CUresult memcpy_3d_batch_async(call& c, std::size_t count, CUDA_MEMCPY3D_BATCH_OP* list,
                                      unsigned long long flags, CUstream handle) {
  stream_ptr stream;
  if (count == 0 || list == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = batch_stream(c, handle, stream)) return bad;
  std::vector<transfer> all(count);
  for (std::size_t i = 0; i < count; ++i)
    if (const CUresult bad = read_box_copy(c, list[i], all[i])) return bad;
  for (std::size_t i = 0; i < count; ++i)
    if (const CUresult bad = enqueue_of_batch(c, stream, all[i], list[i].srcAccessOrder))
      return bad;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
