#pragma once
/// \file
/// Kernel nodes: what they launch.

#include <gpu/testing/detail/cpu/graph_structure.hpp>
#include <gpu/testing/detail/cpu/launches.hpp>

#include <cuda.h>

#include <memory>
#include <string>

namespace gpu::inline v1::testing::cpu {

/// Returns whether what a node launches was unloaded.
inline bool is_unloaded(driver_state& driver, const node_work& what) {
  if (!what.kernel || !what.context->alive) return false;
  const CUDA_KERNEL_NODE_PARAMS& asked = what.kernel->asked;
  return asked.kern != nullptr ? !driver.kernels.find(asked.kern)
                               : !driver.functions.find(asked.func);
}

}  // namespace gpu::inline v1::testing::cpu

namespace gpu::inline v1::testing::cpu::entry {

/// Returns the parameters in the memory of the node.
inline CUresult graph_kernel_node_get_params(call& c, CUgraphNode handle,
                                             CUDA_KERNEL_NODE_PARAMS* params) {
  node_ptr node;
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_node(c, handle, node)) return bad;
  if (!node->what.kernel) return CUDA_ERROR_INVALID_VALUE;
  if (is_unloaded(c.driver, node->what)) return CUDA_ERROR_INVALID_HANDLE;
  kernel_launch& launch = *node->what.kernel;
  launch.pointers.clear();
  for (const ptx::parameter& each : launch.kernel->entry->parameters)
    launch.pointers.push_back(launch.parameters.data() + each.offset);
  *params = launch.asked;
  params->kernelParams = launch.pointers.data();
  return CUDA_SUCCESS;
}

}  // namespace gpu::inline v1::testing::cpu::entry
