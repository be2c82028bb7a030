#pragma once
/// \file
/// Kernel nodes: what they launch, and their attributes.

#include <nogpu/driver/graph_structure.hpp>
#include <nogpu/driver/launches.hpp>

#include <cuda.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// Returns whether what a node launches was unloaded.
inline bool is_unloaded(driver_state& driver, const node_work& what) {
  if (!what.kernel || !what.context->alive) return false;
  const CUDA_KERNEL_NODE_PARAMS& asked = what.kernel->asked;
  return asked.kern != nullptr ? !driver.kernels.find(asked.kern)
                               : !driver.functions.find(asked.func);
}

/// Gives a kernel node the clusters and the cooperation that its attributes ask for. A node whose
/// description changes may have a misfit for a while.
inline CUresult apply_attributes(call& c, node_work& what, bool may_misfit) {
  const CUlaunchAttributeValue *cluster = nullptr, *cooperative = nullptr;
  for (const CUlaunchAttribute& each : what.attributes) {
    if (number_of(each.id) == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) cluster = &each.value;
    if (number_of(each.id) == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = &each.value;
  }
  if (!what.kernel || (cluster == nullptr && cooperative == nullptr)) return CUDA_SUCCESS;
  auto changed = std::make_shared<kernel_launch>(*what.kernel);
  launch_order order;
  order.grid = changed->what.grid;
  order.block = changed->what.block;
  order.shared = changed->what.dynamic_shared_bytes;
  order.cooperative =
      cooperative != nullptr ? cooperative->cooperative != 0 : changed->what.cooperative;
  if (cluster != nullptr)
    order.cluster = {cluster->clusterDim.x, cluster->clusterDim.y, cluster->clusterDim.z};
  else if (changed->what.explicit_cluster)
    order.cluster = changed->what.cluster;
  function_ptr function;
  if (const CUresult bad = find_function(c, changed->asked.func, what.context, function))
    return bad;
  const CUresult bad = check_shape(*changed->kernel, *function->settings, order);
  if (bad && !may_misfit) return bad;
  changed->misfit = bad != CUDA_SUCCESS;
  changed->what.cluster = cluster_of(*changed->kernel, order);
  changed->what.explicit_cluster =
      order.cluster.x != 0 || changed->kernel->entry->required_cluster.x != 0;
  changed->what.cooperative = order.cooperative;
  what.work = work_of(c.driver, what.context, changed);
  what.kernel = std::move(changed);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

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

inline CUresult graph_kernel_node_set_attribute(call& c, CUgraphNode handle,
                                                CUkernelNodeAttrID which,
                                                const CUkernelNodeAttrValue* value) {
  node_ptr node;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_node(c, handle, node)) return bad;
  if (node->what.type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
  CUlaunchConfig config{};
  CUlaunchAttribute attribute{};
  attribute.id = which;
  attribute.value = *value;
  config.attrs = &attribute;
  config.numAttrs = 1;
  launch_order order;
  std::vector<event_ptr> events;
  if (const CUresult bad = take_launch_attributes(c, config, order, events)) return bad;
  node_work changed = node->what;
  std::erase_if(changed.attributes,
                [&](const CUlaunchAttribute& each) { return each.id == which; });
  changed.attributes.push_back(attribute);
  if (const CUresult bad = apply_attributes(c, changed, false)) return bad;
  node->what = std::move(changed);
  return CUDA_SUCCESS;
}

inline CUresult graph_kernel_node_get_attribute(call& c, CUgraphNode handle,
                                                CUkernelNodeAttrID which,
                                                CUkernelNodeAttrValue* value) {
  node_ptr node;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_node(c, handle, node)) return bad;
  if (node->what.type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
  *value = {};
  // In a new node all of them are zero except this one, as on devices with several domains.
  if (which == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) value->memSyncDomainMap.remote = 1;
  for (const CUlaunchAttribute& each : node->what.attributes)
    if (each.id == which) *value = each.value;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
