#pragma once
/// \file
/// Reads and sets single attributes of kernel nodes, including captured ones.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/kernel/launch_attribute.hpp>

namespace gpu { inline namespace v1 {

namespace detail {

/// False for attributes that only launches have: events, and the order in a stream.
template <launch_attribute Attribute>
inline constexpr bool is_node_attribute =
    Attribute != launch_attribute::programmatic_stream_serialization &&
    Attribute != launch_attribute::programmatic_event &&
    Attribute != launch_attribute::launch_completion_event;

/// False for attributes that the driver does not return.
template <launch_attribute Attribute>
inline constexpr bool is_readable_node_attribute =
    is_node_attribute<Attribute> && Attribute != launch_attribute::preferred_cluster &&
    Attribute != launch_attribute::nvlink_util_centric_scheduling;

}  // namespace detail

/// Returns one attribute of a kernel node, in the attribute's own type:
///
///     const int urgency = GPU_TRY(gpu::attribute<gpu::launch_attribute::priority>(node));
///
/// **Errors**: `errc::empty_handle`; CUDA_ERROR_INVALID_VALUE for a node of another kind, and for
/// an attribute that is newer than the driver. **Capture**: not affected. **Threads**: a graph is
/// used by one thread at a time. (cuGraphKernelNodeGetAttribute)
template <launch_attribute Attribute>
result<launch_attribute_t<Attribute>> attribute(
    graph_node of, source_location where = source_location::current()) noexcept {
  static_assert(detail::is_readable_node_attribute<Attribute>,
                "gpu::attribute: the driver cannot read this attribute of a node");
  CUkernelNodeAttrValue value{};
  GPU_TRY(detail::require(of, "gpu::attribute", where));
  GPU_TRY(driver::call<&driver::entry_points::graph_kernel_node_get_attribute>(
      where, of.native(), static_cast<CUkernelNodeAttrID>(Attribute), &value));
  return detail::launch_attribute_value<Attribute>::read(value);
}

/// Sets one attribute of a kernel node. Executable graphs do not change: see `graph_exec::update`.
/// A node that kernels can update from the device stays one.
/// **Errors**: `errc::invalid_argument` for a value that a launch cannot have;
/// `errc::empty_handle`; the driver's CUDA_ERROR_INVALID_VALUE as above. **Capture**: allowed.
/// **Threads**: as `attribute`. (cuGraphKernelNodeSetAttribute)
template <launch_attribute Attribute>
result<> set_attribute(graph_node of, const launch_attribute_t<Attribute>& value,
                       source_location where = source_location::current()) noexcept {
  static_assert(detail::is_node_attribute<Attribute>,
                "gpu::set_attribute: only launches have this attribute, nodes do not");
  using traits = detail::launch_attribute_value<Attribute>;
  GPU_TRY(detail::require(of, "gpu::set_attribute", where));
  GPU_TRY(detail::require_value<traits>(value, "gpu::set_attribute", where));
  CUkernelNodeAttrValue native{};
  traits::write(native, value);
  return driver::call<&driver::entry_points::graph_kernel_node_set_attribute>(
      where, of.native(), static_cast<CUkernelNodeAttrID>(Attribute), &native);
}

}}  // namespace gpu::v1
