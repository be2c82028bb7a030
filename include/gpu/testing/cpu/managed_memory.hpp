#pragma once
/// \file
/// Entry points: hints about managed memory. It always is where it is needed here, so hints are
/// checked and remembered, and change nothing else.

#include <gpu/testing/cpu/driver_state.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

namespace gpu::testing::cpu {

/// The managed block that holds a range.
inline CUresult find_managed(call& c, CUdeviceptr pointer, std::size_t bytes,
                             memory_block*& block) {
  block = c.driver.find_block(pointer);
  if (block == nullptr || block->from != memory_block::origin::managed || bytes == 0 ||
      bytes > block->end() - pointer)
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

inline CUresult check_location(call& c, const CUmemLocation& location) {
  device_state* device = nullptr;
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return c.find_device(location.id, device);
    case CU_MEM_LOCATION_TYPE_HOST:
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;  // this machine has no NUMA nodes to name
  }
}

inline int id_of(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return location.id;
    case CU_MEM_LOCATION_TYPE_HOST:
      return CU_DEVICE_CPU;
    default:
      return CU_DEVICE_INVALID;
  }
}

}  // namespace gpu::testing::cpu

namespace gpu::testing::cpu::entry {

inline CUresult mem_advise(call& c, CUdeviceptr pointer, std::size_t bytes, CUmem_advise advice,
                           CUmemLocation location) {
  memory_block* block = nullptr;
  if (const CUresult bad = find_managed(c, pointer, bytes, block)) return bad;
  const bool about_a_place = advice != CU_MEM_ADVISE_SET_READ_MOSTLY &&
                             advice != CU_MEM_ADVISE_UNSET_READ_MOSTLY &&
                             advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
  if (about_a_place)
    if (const CUresult bad = check_location(c, location)) return bad;
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      block->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      block->preferred = location;
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      block->preferred = {};
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
      block->accessed_by.insert(id_of(location));
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
      block->accessed_by.erase(id_of(location));
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

inline CUresult mem_prefetch_async(call& c, CUdeviceptr pointer, std::size_t bytes,
                                   CUmemLocation location, unsigned flags, CUstream handle) {
  memory_block* block = nullptr;
  stream_ptr stream;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (const CUresult bad = find_managed(c, pointer, bytes, block)) return bad;
  if (const CUresult bad = check_location(c, location)) return bad;
  block->prefetched = location;
  c.enqueue(stream, std::make_shared<operation>());
  return CUDA_SUCCESS;
}

inline CUresult stream_attach_mem_async(call& c, CUstream handle, CUdeviceptr pointer,
                                        std::size_t bytes, unsigned flags) {
  memory_block* block = nullptr;
  stream_ptr stream;
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (flags == CU_MEM_ATTACH_SINGLE && stream->is_default) return CUDA_ERROR_INVALID_VALUE;
  block = c.driver.find_block(pointer);
  if (block == nullptr || block->from != memory_block::origin::managed || block->base != pointer ||
      (bytes != 0 && bytes != block->size))
    return CUDA_ERROR_INVALID_VALUE;
  block->flags = flags;
  c.enqueue(stream, std::make_shared<operation>());
  return CUDA_SUCCESS;
}

inline CUresult mem_range_get_attribute(call& c, void* data, std::size_t size,
                                        CUmem_range_attribute attribute, CUdeviceptr pointer,
                                        std::size_t bytes) {
  memory_block* block = nullptr;
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_managed(c, pointer, bytes, block)) return bad;
  const auto give = [&](int value) {
    if (size != sizeof value) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
  };
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return give(block->read_mostly ? 1 : 0);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      return give(id_of(block->preferred));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return give(id_of(block->prefetched));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return give(static_cast<int>(block->preferred.type));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return give(block->preferred.id);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return give(static_cast<int>(block->prefetched.type));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return give(block->prefetched.id);
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
      if (size == 0 || size % sizeof(int) != 0) return CUDA_ERROR_INVALID_VALUE;
      auto next = block->accessed_by.begin();
      for (std::size_t i = 0; i < size / sizeof(int); ++i) {
        const int id = next == block->accessed_by.end() ? CU_DEVICE_INVALID : *next++;
        std::memcpy(static_cast<char*>(data) + i * sizeof id, &id, sizeof id);
      }
      return CUDA_SUCCESS;
    }
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

inline CUresult mem_range_get_attributes(call& c, void** data, std::size_t* sizes,
                                         CUmem_range_attribute* attributes, std::size_t count,
                                         CUdeviceptr pointer, std::size_t bytes) {
  if (data == nullptr || sizes == nullptr || attributes == nullptr || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i)
    if (const CUresult bad =
            mem_range_get_attribute(c, data[i], sizes[i], attributes[i], pointer, bytes))
      return bad;
  return CUDA_SUCCESS;
}

}  // namespace gpu::testing::cpu::entry
