#pragma once
/// \file
/// Reserved addresses, physical memory, and mappings. The driver's lock guards them all; they
/// belong to no context.

#include <nogpu/driver/handles.hpp>
#include <nogpu/driver/shared_file.hpp>
#include <nogpu/machine/storage.hpp>

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// The granularity of sizes and addresses of virtual memory.
inline constexpr std::uint64_t virtual_memory_unit = std::uint64_t{2} << 20;

/// Physical memory. Lives while the program holds it or it is mapped.
struct physical_state {
  physical_state* handle = nullptr;  // a number, not an address
  std::uint64_t size = 0;
  CUmemAllocationProp properties{};
  std::shared_ptr<machine::storage> memory;
  shared_file_ptr file;   // null: not to be shared
  bool imported = false;  // from another process, or from this one; not counted here
  unsigned holds = 1;     // of the program
  unsigned mappings = 0;
  std::string place;
};
using physical_ptr = std::shared_ptr<physical_state>;

struct mapping_state {
  std::uint64_t base = 0;
  physical_ptr memory;
  std::uint64_t owner = 0;                  // in the address space
  std::map<int, CUmemAccess_flags> access;  // by device; none at first
  unsigned long long id = 0;
};

struct reservation_state {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::string place;
};

struct virtual_memory_state {
  handle_table<physical_state*, physical_state, handle_kind::physical_memory> physical;
  std::map<std::uint64_t, reservation_state> reservations;  // by address
  std::map<std::uint64_t, mapping_state> mappings;          // by address

  /// The mapping that an address lies in, or null.
  mapping_state* find_mapping(std::uint64_t address) {
    auto after = mappings.upper_bound(address);
    if (after == mappings.begin()) return nullptr;
    --after;
    return address - after->first < after->second.memory->size ? &after->second : nullptr;
  }
  /// The reservation that an address lies in, or null.
  const reservation_state* find_reservation(std::uint64_t address) const {
    auto after = reservations.upper_bound(address);
    if (after == reservations.begin()) return nullptr;
    --after;
    return address - after->first < after->second.size ? &after->second : nullptr;
  }
};

inline CUmemAccess_flags access_of(const mapping_state& mapping, int device) {
  const auto found = mapping.access.find(device);
  return found == mapping.access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
}

}}}  // namespace nogpu::v1::driver
