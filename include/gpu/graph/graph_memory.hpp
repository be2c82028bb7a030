#pragma once
/// \file
/// The memory that graphs hold of a device for their allocations: `graph_memory_attribute` tells
/// how much it is, `trim_graph_memory` gives it back.

#include <gpu/driver/detail/current_context.hpp>
#include <gpu/memory/memory_pool_attribute.hpp>

namespace gpu::inline v0 {

/// What can be asked about the memory that graphs hold of a device, in bytes; converts to
/// `CUgraphMem_attribute` by cast.
enum class graph_memory_attribute : int {
  used_mem_current = CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,          ///< in allocations of graphs
  used_mem_high = CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,                ///< the most since it was reset
  reserved_mem_current = CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,  ///< held of the device for them
  reserved_mem_high = CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,        ///< the most since it was reset
};

/// The enumerator, such as "used_mem_high"; null for a value that this library does not know.
constexpr const char* name_of(graph_memory_attribute attribute) noexcept {
  switch (attribute) {
    case graph_memory_attribute::used_mem_current:
      return "used_mem_current";
    case graph_memory_attribute::used_mem_high:
      return "used_mem_high";
    case graph_memory_attribute::reserved_mem_current:
      return "reserved_mem_current";
    case graph_memory_attribute::reserved_mem_high:
      return "reserved_mem_high";
  }
  return nullptr;
}

/// What graphs hold of a device, in bytes:
///
///     gpu::attribute<gpu::graph_memory_attribute::reserved_mem_current>(device)
///
/// It is 0 until a graph that allocates is launched for the first time; the device is asked for
/// more than the allocations need, 32 MiB for 5 on an H200.
/// **Errors**: the driver's. **Capture**: allowed. **Threads**: any. (cuDeviceGetGraphMemAttribute)
template <graph_memory_attribute Attribute>
result<std::uint64_t> attribute(device of,
                                source_location where = source_location::current()) noexcept {
  std::uint64_t value = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_graph_mem_attribute>(
      where, of.native(), static_cast<CUgraphMem_attribute>(Attribute),
      static_cast<void*>(&value)));
  return value;
}

/// Resets a mark of the most that graphs held, by 0, to what they hold now. That itself cannot be
/// set, and does not compile.
/// **Errors**: `errc::invalid_argument` for another value than 0; the driver's. **Capture**:
/// allowed. **Threads**: any. (cuDeviceSetGraphMemAttribute)
template <graph_memory_attribute Attribute>
result<> set_attribute(device of, std::uint64_t value,
                       source_location where = source_location::current()) noexcept {
  static_assert(Attribute == graph_memory_attribute::used_mem_high ||
                    Attribute == graph_memory_attribute::reserved_mem_high,
                "what graphs hold follows from their allocations: it cannot be set");
  GPU_TRY(detail::require_reset(value, name_of(Attribute), where));
  return driver::call_in_any<&driver::entry_points::device_set_graph_mem_attribute>(
      where, of.native(), static_cast<CUgraphMem_attribute>(Attribute), static_cast<void*>(&value));
}

/// Gives memory that graphs hold of a device, and that no launch is using, back to the device. A
/// graph that needs it again takes it at its next launch; what one launch allocated and nobody has
/// freed yet stays.
/// **Errors**: the driver's. **Capture**: allowed. **Threads**: any. (cuDeviceGraphMemTrim)
inline result<> trim_graph_memory(device of,
                                  source_location where = source_location::current()) noexcept {
  return driver::call<&driver::entry_points::device_graph_mem_trim>(where, of.native());
}

}  // namespace gpu::inline v0
