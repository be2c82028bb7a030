#pragma once
/// \file
/// The device memory that graphs hold for their allocations: `graph_memory_attribute` queries how
/// much it is, `trim_graph_memory` gives it back.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/memory/memory_pool_attribute.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 {

/// Attributes of the memory that graphs hold on a device, in bytes. The values are those of
/// `CUgraphMem_attribute`.
enum class graph_memory_attribute : int {
  used_mem_current = CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,  ///< in allocations of graphs
  used_mem_high = CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,        ///< the maximum since the last reset
  reserved_mem_current =
      CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,               ///< reserved on the device for them
  reserved_mem_high = CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,  ///< the maximum since the last reset
};

/// Returns the name, such as "used_mem_high", or null for a value that is not an enumerator.
constexpr const char* name_of(graph_memory_attribute attribute) noexcept {
  using enum graph_memory_attribute;
  return detail::find_name(attribute, {{used_mem_current, "used_mem_current"},
                                       {used_mem_high, "used_mem_high"},
                                       {reserved_mem_current, "reserved_mem_current"},
                                       {reserved_mem_high, "reserved_mem_high"}});
}

/// Returns an attribute of the memory that graphs hold on a device, in bytes:
///
///     gpu::attribute<gpu::graph_memory_attribute::reserved_mem_current>(device)
///
/// It is 0 until a graph that allocates is launched for the first time. Graphs reserve more memory
/// than their allocations need: 32 MiB for 5 MiB on an H200.
/// **Errors**: the driver's. **Capture**: allowed. **Threads**: any. (cuDeviceGetGraphMemAttribute)
template <graph_memory_attribute Attribute>
result<std::uint64_t> attribute(device of,
                                source_location where = source_location::current()) noexcept {
  std::uint64_t value = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_graph_mem_attribute>(
      where, of.native(), static_cast<CUgraphMem_attribute>(Attribute), &value));
  return value;
}

/// Resets a maximum to the current amount. `value` must be 0. Other attributes cannot be set, and
/// do not compile.
/// **Errors**: `errc::invalid_argument` for a value other than 0; the driver's. **Capture**:
/// allowed. **Threads**: any. (cuDeviceSetGraphMemAttribute)
template <graph_memory_attribute Attribute>
result<> set_attribute(device of, std::uint64_t value,
                       source_location where = source_location::current()) noexcept {
  static_assert(Attribute == graph_memory_attribute::used_mem_high ||
                    Attribute == graph_memory_attribute::reserved_mem_high,
                "gpu::set_attribute: the current amount of graph memory cannot be set");
  GPU_TRY(detail::require_reset(value, name_of(Attribute), where));
  return driver::call_in_any<&driver::entry_points::device_set_graph_mem_attribute>(
      where, of.native(), static_cast<CUgraphMem_attribute>(Attribute), &value);
}

/// Gives the memory that graphs hold, and that no launch uses, back to the device. A graph that
/// needs it again reserves it at its next launch. Allocations that are not freed yet stay.
/// **Errors**: the driver's. **Capture**: allowed. **Threads**: any. (cuDeviceGraphMemTrim)
inline result<> trim_graph_memory(device of,
                                  source_location where = source_location::current()) noexcept {
  return driver::call<&driver::entry_points::device_graph_mem_trim>(where, of.native());
}

}}  // namespace gpu::v1
