#pragma once
/// \file
/// Sets the attributes of a kernel node as its description has them: the driver takes them one by
/// one.

#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/node_description.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

inline result<> set_node_attribute(CUgraphNode node, const CUlaunchAttribute& attribute,
                                   source_location where) noexcept {
  return driver::call<&driver::entry_points::graph_kernel_node_set_attribute>(
      where, node, attribute.id, &attribute.value);
}

/// Sets the attributes of a kernel node that was added or changed.
inline result<> set_node_attributes(CUgraphNode node, const node_parameters& parameters,
                                    source_location where) noexcept {
  for (std::size_t i = 0; i < parameters.attribute_count; ++i)
    GPU_TRY(set_node_attribute(node, parameters.attributes[i], where));
  for (const CUlaunchAttribute* added : {parameters.cluster, parameters.cooperative})
    if (added != nullptr) GPU_TRY(set_node_attribute(node, *added, where));
  return {};
}

constexpr bool has_attribute(const node_parameters& parameters, CUlaunchAttributeID id) noexcept {
  for (std::size_t i = 0; i < parameters.attribute_count; ++i) {
    if (parameters.attributes[i].id == id) return true;
  }
  return (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && parameters.cluster != nullptr) ||
         (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && parameters.cooperative != nullptr);
}

/// Resets the attributes that a changed kernel node has and its new description lacks: the driver
/// would keep them. The initial value of each is 0, except that of the map of domains.
inline result<> reset_other_attributes(graph_node node, const node_parameters& parameters,
                                       source_location where) noexcept {
  if (parameters.native.type != CU_GRAPH_NODE_TYPE_KERNEL) return {};
  for (const CUlaunchAttributeID id :
       {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, CU_LAUNCH_ATTRIBUTE_PRIORITY,
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
        CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT}) {
    if (has_attribute(parameters, id)) continue;
    CUlaunchAttribute found{}, initial{};
    found.id = initial.id = id;
    const last_error_mark before;
    result<> read = driver::call<&driver::entry_points::graph_kernel_node_get_attribute>(
        where, node.native(), id, &found.value);
    if (!read.has_value()) {
      // An attribute that the driver does not know cannot have been set.
      if (read.error().code() != CUDA_ERROR_INVALID_VALUE) return read;
      before.restore();
      continue;
    }
    if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) {
      int domains = 0;
      GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(
          where, &domains, CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT,
          node.context().device().native()));
      initial.value.memSyncDomainMap.remote = domains > 1 ? 1 : 0;
    }
    if (__builtin_memcmp(&found.value, &initial.value, sizeof found.value) != 0)
      GPU_TRY(set_node_attribute(node.native(), initial, where));
  }
  return {};
}

}}}  // namespace gpu::v1::detail
