#pragma once
/// \file
/// Entry points: how many blocks of a kernel a multiprocessor holds at once.

#include <nogpu/driver/code_loading.hpp>
#include <nogpu/driver/device_attributes.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/functions.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>

namespace nogpu { inline namespace v1 { namespace driver {

/// Blocks that fit beside each other if registers do not matter: limited by their number, by
/// threads and by shared memory, which is given out in units as the hardware does.
inline int blocks_without_registers(const machine::executable& kernel, int block_size,
                                    std::size_t dynamic_shared) {
  constexpr std::size_t shared_unit = 128;
  const int warps = (block_size + 31) / 32;
  const int blocks = std::min(blocks_per_multiprocessor, threads_per_multiprocessor / (warps * 32));
  std::size_t shared = kernel.static_shared_bytes + dynamic_shared + shared_reserved_per_block;
  shared = (shared + shared_unit - 1) / shared_unit * shared_unit;
  if (shared > static_cast<std::size_t>(shared_per_block_optin) + shared_reserved_per_block)
    return 0;
  return std::min(blocks, static_cast<int>(shared_per_multiprocessor / shared));
}

/// Blocks that fit, with the registers that a thread is estimated to need.
inline int resident_blocks(const machine::executable& kernel, int block_size,
                           std::size_t dynamic_shared) {
  constexpr int register_unit = 256;  // of a warp, within a quarter of the multiprocessor
  constexpr int parts = 4;
  const int warps = (block_size + 31) / 32;
  const int warp_registers =
      (registers_of(kernel) * 32 + register_unit - 1) / register_unit * register_unit;
  return std::min(blocks_without_registers(kernel, block_size, dynamic_shared),
                  registers_per_multiprocessor / parts / warp_registers * parts / warps);
}

/// Returns the same number, but 0 if the function may not have so much shared memory with its
/// present attributes.
inline int resident_now(const function_state& function, int block_size,
                        std::size_t dynamic_shared) {
  const int limit = dynamic_shared_limit(*function.kernel, *function.settings);
  if (dynamic_shared > static_cast<std::size_t>(limit)) return 0;
  return resident_blocks(*function.kernel, block_size, dynamic_shared);
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult occupancy_max_active_blocks_per_multiprocessor_with_flags(
    call& c, int* blocks, CUfunction handle, int block_size, std::size_t dynamic_shared,
    unsigned flags) {
  function_ptr function;
  if (blocks == nullptr || block_size <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_function(c, handle, function)) return bad;
  *blocks = static_cast<unsigned>(block_size) > function->kernel->max_threads_per_block
                ? 0
                : resident_now(*function, block_size, dynamic_shared);
  return CUDA_SUCCESS;
}

inline CUresult occupancy_max_active_blocks_per_multiprocessor(call& c, int* blocks,
                                                               CUfunction handle, int block_size,
                                                               std::size_t dynamic_shared) {
  return occupancy_max_active_blocks_per_multiprocessor_with_flags(c, blocks, handle, block_size,
                                                                   dynamic_shared, 0);
}

inline CUresult occupancy_max_potential_block_size_with_flags(
    call& c, int* grid_size, int* block_size, CUfunction handle, CUoccupancyB2DSize shared_of_size,
    std::size_t dynamic_shared, int block_size_limit, unsigned flags) {
  function_ptr function;
  if (grid_size == nullptr || block_size == nullptr || block_size_limit < 0 ||
      flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_function(c, handle, function)) return bad;
  int limit = static_cast<int>(function->kernel->max_threads_per_block);
  if (block_size_limit != 0) limit = std::min(limit, block_size_limit);
  int best_size = 0;
  int best_blocks = 0;
  c.lock.unlock();  // the callback is the program's, and may take long
  for (int size = limit; size > 0; size = (size - 1) / 32 * 32) {
    const std::size_t shared = shared_of_size != nullptr ? shared_of_size(size) : dynamic_shared;
    const int blocks = resident_now(*function, size, shared);
    if (blocks * size > best_blocks * best_size) {
      best_size = size;
      best_blocks = blocks;
    }
  }
  c.lock.lock();
  *block_size = best_size;
  *grid_size = best_blocks * multiprocessors;
  return CUDA_SUCCESS;
}

inline CUresult occupancy_max_potential_block_size(call& c, int* grid_size, int* block_size,
                                                   CUfunction handle,
                                                   CUoccupancyB2DSize shared_of_size,
                                                   std::size_t dynamic_shared,
                                                   int block_size_limit) {
  return occupancy_max_potential_block_size_with_flags(
      c, grid_size, block_size, handle, shared_of_size, dynamic_shared, block_size_limit, 0);
}

inline CUresult occupancy_available_dynamic_smem_per_block(call& c, std::size_t* bytes,
                                                           CUfunction handle, int blocks,
                                                           int block_size) {
  function_ptr function;
  if (bytes == nullptr || blocks <= 0 || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_function(c, handle, function)) return bad;
  if (resident_blocks(*function->kernel, block_size, 0) < blocks) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t share =
      static_cast<std::size_t>(shared_per_multiprocessor / blocks) / 128 * 128;
  const std::size_t fixed = function->kernel->static_shared_bytes + shared_reserved_per_block;
  const std::size_t largest =
      static_cast<std::size_t>(shared_per_block_optin) - function->kernel->static_shared_bytes;
  *bytes = std::min(share > fixed ? share - fixed : 0, largest);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
