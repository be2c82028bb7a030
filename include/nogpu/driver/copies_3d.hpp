#pragma once
/// \file
/// Entry points: copies of rectangles and boxes.

#include <nogpu/driver/arrays.hpp>
#include <nogpu/driver/copies.hpp>
#include <nogpu/driver/device_attributes.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/transfer.hpp>

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace nogpu { inline namespace v1 { namespace driver {

/// One end of a two- or three-dimensional copy, as the structures of cuda.h describe it.
struct box_end {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::uint64_t pitch, rows;  // bytes in a row, rows in a plane
  std::uint64_t x, y, z;      // the first byte, row and plane
};

inline box_end target_of(const CUDA_MEMCPY2D& copy) {
  return {copy.dstMemoryType, copy.dstHost,  copy.dstDevice,
          copy.dstArray,      copy.dstPitch, 0,
          copy.dstXInBytes,   copy.dstY,     0};
}
inline box_end source_of(const CUDA_MEMCPY2D& copy) {
  return {copy.srcMemoryType, copy.srcHost,  copy.srcDevice,
          copy.srcArray,      copy.srcPitch, 0,
          copy.srcXInBytes,   copy.srcY,     0};
}
/// Of `CUDA_MEMCPY3D` and `CUDA_MEMCPY3D_PEER`.
template <class Copy> box_end target_of(const Copy& copy) {
  return {copy.dstMemoryType, copy.dstHost,     copy.dstDevice, copy.dstArray, copy.dstPitch,
          copy.dstHeight,     copy.dstXInBytes, copy.dstY,      copy.dstZ};
}
template <class Copy> box_end source_of(const Copy& copy) {
  return {copy.srcMemoryType, copy.srcHost,     copy.srcDevice, copy.srcArray, copy.srcPitch,
          copy.srcHeight,     copy.srcXInBytes, copy.srcY,      copy.srcZ};
}

/// Finds the part of an array that a copy moves. It may end within a texel.
inline CUresult locate_in_array(call& c, const box_end& box, const transfer& what, endpoint& end) {
  array_ptr array;
  if (const CUresult bad = find_copied(c, box.array, array)) return bad;
  const auto fits = [](std::uint64_t first, std::uint64_t count, std::uint64_t size) {
    return first <= size && count <= size - first;
  };
  if (!fits(box.x, what.width, array->row_bytes()) || !fits(box.y, what.height, array->rows()) ||
      !fits(box.z, what.depth, array->slices()))
    return CUDA_ERROR_INVALID_VALUE;
  end.pitch = array->row_bytes();
  end.slice = array->slice_bytes();
  end.address = array->base + box.z * end.slice + box.y * end.pitch + box.x;
  return CUDA_SUCCESS;
}

/// Turns a description into an address. A pitch must be at least the bytes that are read of a row,
/// and a plane must contain the rows that are read.
inline CUresult locate(call& c, const box_end& box, transfer& what, endpoint& end, named_as& how) {
  switch (box.type) {
    case CU_MEMORYTYPE_HOST:
      end.address = address_of(box.host);
      how = named_as::host;
      break;
    case CU_MEMORYTYPE_DEVICE:
      end.address = box.device;
      how = named_as::device;
      break;
    case CU_MEMORYTYPE_UNIFIED:
      end.address = box.device;
      how = named_as::unified;
      break;
    case CU_MEMORYTYPE_ARRAY: how = named_as::array; return locate_in_array(c, box, what, end);
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  if (end.address == 0) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t row_end = 0;
  std::uint64_t plane_end = 0;
  if (__builtin_add_overflow(box.x, what.width, &row_end) ||
      __builtin_add_overflow(box.y, what.height, &plane_end))
    return CUDA_ERROR_INVALID_VALUE;
  const bool one_plane = box.z == 0 && what.depth == 1;
  // Zero stands for the smallest value that suffices.
  end.pitch = box.pitch == 0 ? row_end : box.pitch;
  const std::uint64_t rows = box.rows == 0 ? plane_end : box.rows;
  if (end.pitch < row_end || (!one_plane && rows < plane_end)) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t skipped_planes = 0;
  std::uint64_t skipped_rows = 0;
  if (__builtin_mul_overflow(end.pitch, rows, &end.slice) ||
      __builtin_mul_overflow(box.z, end.slice, &skipped_planes) ||
      __builtin_mul_overflow(box.y, end.pitch, &skipped_rows) ||
      __builtin_add_overflow(end.address, skipped_planes, &end.address) ||
      __builtin_add_overflow(end.address, skipped_rows, &end.address) ||
      __builtin_add_overflow(end.address, box.x, &end.address))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

/// Finds both ends of a copy of boxes with the extents of `what`.
inline CUresult check_boxes(call& c, const box_end& to, const box_end& from, transfer& what) {
  named_as to_name{};
  named_as from_name{};
  if (const CUresult bad = locate(c, to, what, what.to, to_name)) return bad;
  if (const CUresult bad = locate(c, from, what, what.from, from_name)) return bad;
  if (const CUresult bad = check_end(c, what.to, what, to_name)) return bad;
  if (const CUresult bad = check_end(c, what.from, what, from_name)) return bad;
  return CUDA_SUCCESS;
}

inline CUresult copy_box(call& c, const box_end& to, const box_end& from, std::uint64_t width,
                         std::uint64_t height, std::uint64_t depth, copy_order order) {
  stream_ptr stream;
  if (const CUresult bad = c.find_stream(order.stream, stream)) return bad;
  transfer what;
  what.width = width;
  what.height = height;
  what.depth = depth;
  if (what.empty()) return CUDA_SUCCESS;
  if (const CUresult bad = check_boxes(c, to, from, what)) return bad;
  return enqueue_transfer(c, stream, what, order.blocking);
}

inline CUresult copy_rectangle(call& c, const CUDA_MEMCPY2D* copy, copy_order order,
                               bool any_pitch) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  constexpr std::uint64_t largest_pitch = 0x7fffffff;
  if (!any_pitch && (copy->srcPitch > largest_pitch || copy->dstPitch > largest_pitch))
    return CUDA_ERROR_INVALID_VALUE;
  return copy_box(c, target_of(*copy), source_of(*copy), copy->WidthInBytes, copy->Height, 1,
                  order);
}

template <class Copy> CUresult copy_cuboid(call& c, const Copy* copy, copy_order order) {
  if (copy == nullptr || copy->srcLOD != 0 || copy->dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  return copy_box(c, target_of(*copy), source_of(*copy), copy->WidthInBytes, copy->Height,
                  copy->Depth, order);
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult memcpy_2d(call& c, const CUDA_MEMCPY2D* copy) {
  return copy_rectangle(c, copy, {}, false);
}
inline CUresult memcpy_2d_async(call& c, const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy_rectangle(c, copy, {false, stream}, false);
}
inline CUresult memcpy_2d_unaligned(call& c, const CUDA_MEMCPY2D* copy) {
  return copy_rectangle(c, copy, {}, true);
}
inline CUresult memcpy_3d(call& c, const CUDA_MEMCPY3D* copy) { return copy_cuboid(c, copy, {}); }
inline CUresult memcpy_3d_async(call& c, const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy_cuboid(c, copy, {false, stream});
}
inline CUresult memcpy_3d_peer_async(call& c, const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = check_peer_copy(c, copy->dstContext, copy->srcContext, stream))
    return bad;
  return copy_cuboid(c, copy, {false, stream});
}
inline CUresult memcpy_3d_peer(call& c, const CUDA_MEMCPY3D_PEER* copy) {
  return memcpy_3d_peer_async(c, copy, nullptr);
}

}}}  // namespace nogpu::v1::driver::entry
