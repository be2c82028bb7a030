#pragma once
/// \file
/// Accounts for the memory that graphs hold on each device. An allocation takes its share when a
/// graph is launched or uploaded for the first time, and holds it until it ends or is trimmed.

#include <nogpu/driver/accounts.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// The memory of graphs grows by multiples of this many bytes, as on an H200, while the device has
/// them.
inline constexpr std::uint64_t graph_memory_step = std::uint64_t{32} << 20;

constexpr std::uint64_t in_graph_memory_steps(std::uint64_t bytes) noexcept {
  return (bytes + graph_memory_step - 1) / graph_memory_step * graph_memory_step;
}

/// Reserves the share of an allocation of a graph; false if the device has too little memory.
inline bool take_graph_memory(driver_state& driver, memory_block& block) {
  if (block.charged != 0) return true;
  device_state& device = *driver.devices[static_cast<std::size_t>(block.device)];
  graph_memory_state& held = device.graph_memory;
  const std::uint64_t bytes = charge_for(block.size);
  if (held.used + bytes > held.reserved) {
    const std::uint64_t lacking = held.used + bytes - held.reserved;
    const std::uint64_t steps = in_graph_memory_steps(lacking);
    const std::uint64_t more = steps <= device.memory - device.used ? steps : lacking;
    if (!charge_device(driver, device, more)) return false;
    held.reserved += more;
  }
  block.charged = bytes;
  held.used += bytes;
  held.used_high = std::max(held.used_high, held.used);
  held.reserved_high = std::max(held.reserved_high, held.reserved);
  return true;
}

inline void list_memory_nodes(exec_body& body, std::vector<exec_node*>& all) {
  for (exec_node& each : body.nodes) {
    if (each.what.allocation) all.push_back(&each);
    if (each.what.child) list_memory_nodes(*each.bodies[0], all);
  }
}

/// The nodes that allocate or free memory, those of children too, in the order of the work.
inline std::vector<exec_node*> memory_nodes(exec_body& body) {
  std::vector<exec_node*> all;
  list_memory_nodes(body, all);
  return all;
}

/// Ends an allocation's share. Other allocations can use the memory until it is trimmed.
inline void return_graph_memory(driver_state& driver, memory_block& block) {
  device_state& device = *driver.devices[static_cast<std::size_t>(block.device)];
  device.graph_memory.used -= std::exchange(block.charged, 0);
}

}}}  // namespace nogpu::v1::driver
