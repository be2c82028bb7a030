#pragma once
/// \file
/// Entry points: how many clusters of blocks the device holds at once.

#include <nogpu/driver/launches.hpp>
#include <nogpu/driver/occupancy.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// Checks the arguments of both occupancy queries of clusters, and returns in `blocks` the number
/// of blocks of a multiprocessor: at most 8 for a launch with clusters.
inline CUresult blocks_in_clusters(call& c, const CUlaunchConfig* config, CUfunction handle,
                                   int& blocks) {
  function_ptr function;
  if (config == nullptr || handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t threads =
      std::uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
  if (threads == 0 || config->gridDimX == 0 || config->gridDimY == 0 || config->gridDimZ == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_function(c, handle, function)) return bad;
  launch_order order;
  std::vector<event_ptr> events;
  if (const CUresult bad = take_launch_attributes(c, *config, order, events)) return bad;
  const bool fits =
      threads <= function->kernel->max_threads_per_block &&
      config->sharedMemBytes <= static_cast<unsigned>(function->settings->max_dynamic_shared);
  blocks = fits ? std::min(8, resident_blocks(*function->kernel, static_cast<int>(threads),
                                              config->sharedMemBytes))
                : 0;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult occupancy_max_potential_cluster_size(call& c, int* size, CUfunction handle,
                                                     const CUlaunchConfig* config) {
  int blocks = 0;
  if (size == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = blocks_in_clusters(c, config, handle, blocks)) return bad;
  function_ptr function;
  if (const CUresult bad = find_function(c, handle, function)) return bad;
  const bool nonportable = function->settings->nonportable_cluster != 0;
  const auto most =
      static_cast<int>(nonportable ? nonportable_cluster_blocks : portable_cluster_blocks);
  *size = blocks > 0 ? most : 0;
  return CUDA_SUCCESS;
}

inline CUresult occupancy_max_active_clusters(call& c, int* clusters, CUfunction handle,
                                              const CUlaunchConfig* config) {
  int blocks = 0;
  if (clusters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = blocks_in_clusters(c, config, handle, blocks)) return bad;
  // Clusters are within groups of multiprocessors, of which this device has 8 of 16 and a rest.
  *clusters = 0;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (number_of(config->attrs[i].id) != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& size = config->attrs[i].value.clusterDim;
    const std::uint64_t count = std::uint64_t{size.x} * size.y * size.z;
    if (count == 0 || count > nonportable_cluster_blocks) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    const auto in = [&](int processors) {
      return static_cast<int>(static_cast<std::uint64_t>(blocks * processors) / count);
    };
    *clusters = 8 * in(16) + in(multiprocessors - 8 * 16);
  }
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
