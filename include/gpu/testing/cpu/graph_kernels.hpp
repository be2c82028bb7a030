#pragma once
/// \file
/// Kernel nodes: what they launch, and nodes whose code is gone.

#include <gpu/testing/cpu/graph_structure.hpp>
#include <gpu/testing/cpu/launches.hpp>

#include <cuda.h>

#include <memory>
#include <string>

namespace gpu::testing::cpu {

/// Whether what a node launches was unloaded.
inline bool is_unloaded(driver_state& driver, const node_work& what) {
  if (!what.kernel || !what.context->alive) return false;
  const CUDA_KERNEL_NODE_PARAMS& asked = what.kernel->asked;
  return asked.kern != nullptr ? !driver.kernels.find(asked.kern)
                               : !driver.functions.find(asked.func);
}

/// A kernel node of a graph, or of what is inside its nodes, whose code was unloaded; or null.
inline const node_work* find_unloaded(driver_state& driver, const graph_state& graph) {
  const node_work* found = nullptr;
  for (const node_ptr& each : graph.nodes) {
    if (is_unloaded(driver, each->what)) return &each->what;
    if (each->what.child) found = find_unloaded(driver, *each->what.child);
    for (const graph_ptr& body : each->what.bodies)
      if (found == nullptr) found = find_unloaded(driver, *body);
    if (found != nullptr) return found;
  }
  return nullptr;
}

/// The same of what an executable graph will do.
inline const node_work* find_unloaded(driver_state& driver, const exec_body& body) {
  for (const exec_node& each : body.nodes) {
    if (is_unloaded(driver, each.what)) return &each.what;
    for (const std::shared_ptr<exec_body>& inner : each.bodies)
      if (const node_work* found = find_unloaded(driver, *inner)) return found;
  }
  return nullptr;
}

/// A device's driver ends the process where an executable graph is made of such a node, and may do
/// so where one is launched.
template <class Graph> CUresult refuse_unloaded(call& c, const Graph& graph) {
  const node_work* found = find_unloaded(c.driver, graph);
  if (found == nullptr) return CUDA_SUCCESS;
  const std::string text = "the graph has a node that launches kernel " +
                           found->kernel->kernel->entry->name +
                           ", whose library or module was unloaded: a device's driver crashes";
  c.lock.unlock();
  c.driver.report(text);
  c.lock.lock();
  return CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace gpu::testing::cpu

namespace gpu::testing::cpu::entry {

/// The parameters are told where they lie in the node.
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

}  // namespace gpu::testing::cpu::entry
