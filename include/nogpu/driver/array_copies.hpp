#pragma once
/// \file
/// Entry points: copies of consecutive bytes to and from arrays.

#include <nogpu/driver/arrays.hpp>
#include <nogpu/driver/copies.hpp>

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace nogpu { inline namespace v1 { namespace driver {

/// Finds the address of a run of bytes of an array, which must be in the array's first row.
inline CUresult locate_run(call& c, CUarray handle, std::size_t offset, std::size_t bytes,
                           std::uint64_t& address) {
  array_ptr array;
  if (bytes == 0) return CUDA_SUCCESS;
  if (const CUresult bad = find_copied(c, handle, array)) return bad;
  const std::uint64_t size = array->row_bytes();
  if (offset > size || bytes > size - offset) return CUDA_ERROR_INVALID_VALUE;
  address = array->base + offset;
  return CUDA_SUCCESS;
}

inline CUresult copy_to_array(call& c, CUarray to, std::size_t offset, std::uint64_t from,
                              named_as from_name, std::size_t bytes, copy_order order) {
  std::uint64_t target = 0;
  if (const CUresult bad = locate_run(c, to, offset, bytes, target)) return bad;
  return copy_bytes(c, target, named_as::array, from, from_name, bytes, order);
}

inline CUresult copy_from_array(call& c, std::uint64_t to, named_as to_name, CUarray from,
                                std::size_t offset, std::size_t bytes, copy_order order) {
  std::uint64_t source = 0;
  if (const CUresult bad = locate_run(c, from, offset, bytes, source)) return bad;
  return copy_bytes(c, to, to_name, source, named_as::array, bytes, order);
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult memcpy_htoa(call& c, CUarray to, std::size_t offset, const void* from,
                            std::size_t bytes) {
  return copy_to_array(c, to, offset, address_of(from), named_as::unified, bytes, {});
}
inline CUresult memcpy_htoa_async(call& c, CUarray to, std::size_t offset, const void* from,
                                  std::size_t bytes, CUstream stream) {
  return copy_to_array(c, to, offset, address_of(from), named_as::unified, bytes, {false, stream});
}
inline CUresult memcpy_atoh(call& c, void* to, CUarray from, std::size_t offset,
                            std::size_t bytes) {
  return copy_from_array(c, address_of(to), named_as::unified, from, offset, bytes, {});
}
inline CUresult memcpy_atoh_async(call& c, void* to, CUarray from, std::size_t offset,
                                  std::size_t bytes, CUstream stream) {
  return copy_from_array(c, address_of(to), named_as::unified, from, offset, bytes,
                         {false, stream});
}
inline CUresult memcpy_dtoa(call& c, CUarray to, std::size_t offset, CUdeviceptr from,
                            std::size_t bytes) {
  return copy_to_array(c, to, offset, from, named_as::device, bytes, {});
}
inline CUresult memcpy_atod(call& c, CUdeviceptr to, CUarray from, std::size_t offset,
                            std::size_t bytes) {
  return copy_from_array(c, to, named_as::device, from, offset, bytes, {});
}
inline CUresult memcpy_atoa(call& c, CUarray to, std::size_t to_offset, CUarray from,
                            std::size_t from_offset, std::size_t bytes) {
  std::uint64_t target = 0;
  if (const CUresult bad = locate_run(c, to, to_offset, bytes, target)) return bad;
  return copy_from_array(c, target, named_as::array, from, from_offset, bytes, {});
}

}}}  // namespace nogpu::v1::driver::entry
