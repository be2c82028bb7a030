#pragma once
/// \file
/// Entry points: pools of other processes, and their allocations.

#include <nogpu/driver/pools.hpp>

#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

/// Refers to an allocation of a shared pool in another process.
struct exported_allocation {
  std::uint64_t pool = 0;  // the number in its file's header
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(exported_allocation) <= sizeof(CUmemPoolPtrExportData));

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult mem_pool_export_to_shareable_handle(call& c, void* handle, CUmemoryPool pool_handle,
                                                    CUmemAllocationHandleType type,
                                                    unsigned long long flags) {
  pool_ptr pool;
  if (handle == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_own_pool(c, pool_handle, pool)) return bad;
  if (!pool->file) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = give_descriptor(*pool->file, handle)) return bad;
  pool->exported = true;
  return CUDA_SUCCESS;
}

inline CUresult mem_pool_import_from_shareable_handle(call& c, CUmemoryPool* pool, void* handle,
                                                      CUmemAllocationHandleType type,
                                                      unsigned long long flags) {
  if (pool == nullptr || handle == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  shared_file_ptr file;
  if (const CUresult bad = open_shared(handle, shared_content::pool, c.driver.devices.size(), file))
    return bad;
  const pool_ptr made = make_pool(c.driver, {CU_MEM_LOCATION_TYPE_DEVICE, file->header().device});
  made->file = std::move(file);
  made->imported = true;
  made->place = c.driver.place();
  *pool = made->handle;
  return CUDA_SUCCESS;
}

/// Only a whole allocation of a pool that can be shared.
inline CUresult mem_pool_export_pointer(call& c, CUmemPoolPtrExportData* data,
                                        CUdeviceptr pointer) {
  const auto found = c.driver.blocks_of_memory.find(pointer);
  if (data == nullptr || found == c.driver.blocks_of_memory.end()) return CUDA_ERROR_INVALID_VALUE;
  const memory_block& block = found->second;
  if (!block.pool || !block.pool->exported) return CUDA_ERROR_INVALID_VALUE;
  const exported_allocation exported{block.pool->file->header().number, block.offset, block.size};
  *data = {};
  std::memcpy(data, &exported, sizeof exported);
  return CUDA_SUCCESS;
}

/// An allocation that was imported already is reused.
inline CUresult mem_pool_import_pointer(call& c, CUdeviceptr* pointer, CUmemoryPool pool_handle,
                                        CUmemPoolPtrExportData* data) {
  pool_ptr pool;
  if (pointer == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_pool(c, pool_handle, pool)) return bad;
  exported_allocation exported;
  std::memcpy(static_cast<void*>(&exported), data, sizeof exported);
  if (!pool->imported || exported.pool != pool->file->header().number ||
      !pool->file->holds(exported.offset, exported.bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (const auto here = pool->opened.find(exported.offset); here != pool->opened.end()) {
    *pointer = here->second;
    return CUDA_SUCCESS;
  }
  memory_block block;
  block.size = exported.bytes;
  block.offset = exported.offset;
  block.from = memory_block::origin::pool;
  block.device = pool->device;
  block.pool = pool;
  block.seen_by_device = true;
  const auto base = place_shared_block(c, std::move(block), *pool);
  if (!base) return CUDA_ERROR_OUT_OF_MEMORY;
  ++pool->live;
  pool->opened.emplace(exported.offset, *base);
  *pointer = *base;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
