#pragma once
/// \file
/// Entry points: addresses and memory apart. None of them needs a context, and captures allow all.

#include <nogpu/driver/accounts.hpp>
#include <nogpu/driver/context_life.hpp>
#include <nogpu/driver/driver_state.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

inline bool is_unit_multiple(std::uint64_t n) noexcept { return n % virtual_memory_unit == 0; }

inline physical_ptr find_physical(call& c, CUmemGenericAllocationHandle handle) {
  const auto number = static_cast<std::uintptr_t>(handle);
  physical_ptr found =
      c.driver.virtual_memory.physical.find(reinterpret_cast<physical_state*>(number));
  return found && found->holds != 0 ? found : nullptr;
}

inline CUmemGenericAllocationHandle add_physical(call& c, const physical_ptr& made) {
  made->place = c.driver.place();
  return reinterpret_cast<std::uintptr_t>(c.driver.virtual_memory.physical.add(made));
}

/// Frees memory that the program does not hold and that is not mapped.
inline void drop_unused(driver_state& driver, const physical_ptr& memory) {
  if (memory->holds != 0 || memory->mappings != 0) return;
  if (!memory->imported)
    driver.devices[static_cast<std::size_t>(memory->properties.location.id)]->used -= memory->size;
  (void)driver.virtual_memory.physical.take(memory->handle);
}

/// Checks the location of physical memory.
inline CUresult check_location(call& c, const CUmemLocation& at) {
  device_state* device = nullptr;
  switch (at.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return c.find_device(at.id, device);
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return CUDA_ERROR_NOT_SUPPORTED;  // this driver has physical memory of devices only
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

/// The mappings in a range; empty if the range cuts one or has none.
inline std::vector<mapping_state*> whole_mappings(call& c, std::uint64_t base, std::uint64_t size) {
  std::vector<mapping_state*> found;
  virtual_memory_state& all = c.driver.virtual_memory;
  for (std::uint64_t at = base; at - base < size; at += virtual_memory_unit) {
    mapping_state* mapping = all.find_mapping(at);
    if (mapping == nullptr) continue;
    const std::uint64_t bytes = mapping->memory->size;
    if (mapping->base < base || bytes > size - (mapping->base - base)) return {};
    found.push_back(mapping);
    at = mapping->base + bytes - virtual_memory_unit;
  }
  return found;
}

/// Returns whether all of a range is reserved, by one reservation or by neighbors.
inline bool is_reserved(call& c, std::uint64_t base, std::uint64_t size) {
  for (std::uint64_t at = base; at - base < size;) {
    const reservation_state* found = c.driver.virtual_memory.find_reservation(at);
    if (found == nullptr) return false;
    at = found->base + found->size;
  }
  return true;
}

/// Returns whether the range is a multiple of the granularity and reserved.
inline bool is_range(call& c, std::uint64_t base, std::uint64_t size) {
  return size != 0 && is_unit_multiple(base) && is_unit_multiple(size) &&
         is_reserved(c, base, size);
}

/// Gives the contexts of a device the access to a mapping that was granted.
inline void set_reach(driver_state& driver, const mapping_state& mapping, int device) {
  for (const context_ptr& each : driver.contexts.all())
    if (each->alive && each->device->ordinal == device) let_in(driver, *each, mapping);
}

/// Returns the access of the calling thread's device to a mapping; without a current context, the
/// most that any device has.
inline CUmemAccess_flags access_here(call& c, const mapping_state& mapping) {
  context_ptr context;
  if (c.current_in_any_state(context) == CUDA_SUCCESS)
    return access_of(mapping, context->device->ordinal);
  CUmemAccess_flags most = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  for (const auto& [device, access] : mapping.access) most = std::max(most, access);
  return most;
}

/// Returns how many bytes from an address a copy may access: up to the end of the allocation, or of
/// the last of the adjacent mappings.
inline std::uint64_t reachable(call& c, const machine::allocation_info& info, std::uint64_t address,
                               bool writes) {
  if (info.kind != machine::memory_kind::mapping) return info.end() - address;
  const CUmemAccess_flags least =
      writes ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
  std::uint64_t end = address;
  for (const mapping_state* each = c.driver.virtual_memory.find_mapping(address);
       each != nullptr && access_here(c, *each) >= least;
       each = c.driver.virtual_memory.find_mapping(end))
    end = each->base + each->memory->size;
  return end - address;
}

inline void unmap(driver_state& driver, std::uint64_t base) {
  const auto found = driver.virtual_memory.mappings.find(base);
  const physical_ptr memory = found->second.memory;
  (void)driver.memory.free(base);
  driver.virtual_memory.mappings.erase(found);
  --memory->mappings;
  drop_unused(driver, memory);
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult mem_get_allocation_granularity(call& c, std::size_t* granularity,
                                               const CUmemAllocationProp* properties,
                                               CUmemAllocationGranularity_flags option) {
  device_state* device = nullptr;
  if (granularity == nullptr || properties == nullptr ||
      (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
       option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
    return CUDA_ERROR_INVALID_VALUE;
  if (properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE)
    if (const CUresult bad = c.find_device(properties->location.id, device)) return bad;
  *granularity = virtual_memory_unit;
  return CUDA_SUCCESS;
}

/// The address that is asked for is a wish, which this driver does not grant.
inline CUresult mem_address_reserve(call& c, CUdeviceptr* pointer, std::size_t size,
                                    std::size_t alignment, CUdeviceptr wish,
                                    unsigned long long flags) {
  if (pointer == nullptr || size == 0 || !is_unit_multiple(size) || flags != 0 ||
      (alignment & (alignment - 1)) != 0 || !is_unit_multiple(wish))
    return CUDA_ERROR_INVALID_VALUE;
  if (size >= std::size_t{1} << 47 || alignment >= std::size_t{1} << 46)
    return CUDA_ERROR_OUT_OF_MEMORY;
  const auto base = c.driver.memory.reserve(
      size, alignment > virtual_memory_unit ? alignment : virtual_memory_unit);
  if (!base) return CUDA_ERROR_OUT_OF_MEMORY;
  c.driver.virtual_memory.reservations.emplace(*base,
                                               reservation_state{*base, size, c.driver.place()});
  *pointer = *base;
  return CUDA_SUCCESS;
}

inline CUresult mem_address_free(call& c, CUdeviceptr pointer, std::size_t size) {
  auto& reservations = c.driver.virtual_memory.reservations;
  const auto found = reservations.find(pointer);
  if (found == reservations.end() || found->second.size != size) return CUDA_ERROR_INVALID_VALUE;
  const auto mapped = c.driver.virtual_memory.mappings.lower_bound(pointer);
  if (mapped != c.driver.virtual_memory.mappings.end() && mapped->first - pointer < size)
    return CUDA_ERROR_INVALID_VALUE;
  reservations.erase(found);
  return CUDA_SUCCESS;
}

inline CUresult mem_create(call& c, CUmemGenericAllocationHandle* handle, std::size_t size,
                           const CUmemAllocationProp* properties, unsigned long long flags) {
  if (handle == nullptr || properties == nullptr || size == 0 || !is_unit_multiple(size) ||
      flags != 0 || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
      properties->allocFlags.compressionType > CU_MEM_ALLOCATION_COMP_GENERIC)
    return CUDA_ERROR_INVALID_VALUE;
  const int shared = static_cast<int>(properties->requestedHandleTypes);
  if ((shared & (CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = check_location(c, properties->location)) return bad;
  if ((shared & CU_MEM_HANDLE_TYPE_FABRIC) != 0) return CUDA_ERROR_NOT_PERMITTED;
  device_state& device = *c.driver.devices[static_cast<std::size_t>(properties->location.id)];
  if (size > device.memory || !charge_device(c.driver, device, size))
    return CUDA_ERROR_OUT_OF_MEMORY;
  auto made = std::make_shared<physical_state>();
  made->size = size;
  made->properties = *properties;
  if ((shared & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) {
    shared_header header;
    header.content = shared_content::physical_memory;
    header.device = device.ordinal;
    header.bytes = size;
    made->file = shared_file::create(header);
    if (made->file) made->memory = made->file->map(0, size);
  } else {
    made->memory = machine::storage::create(size, true);
  }
  if (!made->memory) {
    device.used -= size;
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *handle = add_physical(c, made);
  return CUDA_SUCCESS;
}

inline CUresult mem_release(call& c, CUmemGenericAllocationHandle handle) {
  const physical_ptr memory = find_physical(c, handle);
  if (!memory) return CUDA_ERROR_INVALID_VALUE;
  --memory->holds;
  drop_unused(c.driver, memory);
  return CUDA_SUCCESS;
}

/// Memory is mapped as a whole.
inline CUresult mem_map(call& c, CUdeviceptr pointer, std::size_t size, std::size_t offset,
                        CUmemGenericAllocationHandle handle, unsigned long long flags) {
  const physical_ptr memory = find_physical(c, handle);
  if (!memory || size == 0 || flags != 0 || !is_unit_multiple(pointer))
    return CUDA_ERROR_INVALID_VALUE;
  if (size != memory->size || offset != 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (!is_reserved(c, pointer, size)) return CUDA_ERROR_INVALID_VALUE;
  mapping_state mapping;
  mapping.base = pointer;
  mapping.memory = memory;
  mapping.owner = c.driver.next_owner();
  mapping.id = next_handle_number();
  if (!c.driver.memory.map(pointer, memory->memory, 0,
                           {.size = size,
                            .kind = machine::memory_kind::mapping,
                            .owner = mapping.owner,
                            .site = memory->place}))
    return CUDA_ERROR_INVALID_VALUE;
  ++memory->mappings;
  c.driver.virtual_memory.mappings.emplace(pointer, std::move(mapping));
  return CUDA_SUCCESS;
}

/// Does not wait for work that uses the memory. A range without mappings is fine.
inline CUresult mem_unmap(call& c, CUdeviceptr pointer, std::size_t size) {
  if (!is_range(c, pointer, size)) return CUDA_ERROR_INVALID_VALUE;
  const std::vector<mapping_state*> found = whole_mappings(c, pointer, size);
  if (found.empty()) {
    auto& all = c.driver.virtual_memory;
    const auto next = all.mappings.lower_bound(pointer);
    const bool cut = all.find_mapping(pointer) != nullptr ||
                     (next != all.mappings.end() && next->first - pointer < size);
    return cut ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  }
  std::vector<std::uint64_t> bases;
  bases.reserve(found.size());
  for (const mapping_state* each : found) bases.push_back(each->base);
  for (const std::uint64_t base : bases) unmap(c.driver, base);
  return CUDA_SUCCESS;
}

inline CUresult mem_set_access(call& c, CUdeviceptr pointer, std::size_t size,
                               const CUmemAccessDesc* list, std::size_t count) {
  if (list == nullptr || count == 0 || !is_range(c, pointer, size)) return CUDA_ERROR_INVALID_VALUE;
  const std::vector<mapping_state*> mappings = whole_mappings(c, pointer, size);
  if (mappings.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    device_state* device = nullptr;
    const CUmemAccessDesc& each = list[i];
    const bool none = each.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (!none && each.flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        each.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return CUDA_ERROR_INVALID_VALUE;
    switch (each.location.type) {
      case CU_MEM_LOCATION_TYPE_DEVICE:
        if (c.find_device(each.location.id, device)) return CUDA_ERROR_INVALID_VALUE;
        break;
      case CU_MEM_LOCATION_TYPE_HOST:
      case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        if (none) break;
        return CUDA_ERROR_NOT_SUPPORTED;  // the host does not reach memory of devices
      default: return CUDA_ERROR_INVALID_VALUE;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) continue;
    for (mapping_state* each : mappings) {
      each->access[list[i].location.id] = list[i].flags;
      set_reach(c.driver, *each, list[i].location.id);
    }
  }
  return CUDA_SUCCESS;
}

inline CUresult mem_get_access(call& c, unsigned long long* flags, const CUmemLocation* location,
                               CUdeviceptr pointer) {
  device_state* device = nullptr;
  if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (location->type == CU_MEM_LOCATION_TYPE_INVALID) return CUDA_ERROR_INVALID_DEVICE;
  if (location->type == CU_MEM_LOCATION_TYPE_DEVICE)
    if (const CUresult bad = c.find_device(location->id, device)) return bad;
  const mapping_state* mapping = c.driver.virtual_memory.find_mapping(pointer);
  *flags = 0;
  if (mapping == nullptr)  // other allocations are known, but their handles are not returned
    return c.driver.memory.find(pointer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  if (location->type == CU_MEM_LOCATION_TYPE_DEVICE)
    *flags = static_cast<unsigned long long>(access_of(*mapping, location->id));
  return CUDA_SUCCESS;
}

inline CUresult mem_export_to_shareable_handle(call& c, void* handle,
                                               CUmemGenericAllocationHandle memory_handle,
                                               CUmemAllocationHandleType type,
                                               unsigned long long flags) {
  const physical_ptr memory = find_physical(c, memory_handle);
  if (handle == nullptr || !memory || !memory->file || memory->imported || flags != 0 ||
      type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_INVALID_VALUE;
  return give_descriptor(*memory->file, handle);
}

inline CUresult mem_import_from_shareable_handle(call& c, CUmemGenericAllocationHandle* handle,
                                                 void* descriptor, CUmemAllocationHandleType type) {
  if (handle == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_INVALID_VALUE;
  shared_file_ptr file;
  if (const CUresult bad =
          open_shared(descriptor, shared_content::physical_memory, c.driver.devices.size(), file))
    return bad;
  auto made = std::make_shared<physical_state>();
  made->size = file->header().bytes;
  made->properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  made->properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, file->header().device};
  made->memory = file->map(0, made->size);
  made->file = std::move(file);
  made->imported = true;
  if (!made->memory) return CUDA_ERROR_OUT_OF_MEMORY;
  *handle = add_physical(c, made);
  return CUDA_SUCCESS;
}

/// Finds memory by an address, including memory that the program released and only a mapping holds.
inline CUresult mem_retain_allocation_handle(call& c, CUmemGenericAllocationHandle* handle,
                                             void* address) {
  mapping_state* mapping =
      c.driver.virtual_memory.find_mapping(reinterpret_cast<std::uintptr_t>(address));
  if (handle == nullptr || mapping == nullptr) return CUDA_ERROR_INVALID_VALUE;
  ++mapping->memory->holds;
  *handle = reinterpret_cast<std::uintptr_t>(mapping->memory->handle);
  return CUDA_SUCCESS;
}

inline CUresult mem_get_allocation_properties_from_handle(call& c, CUmemAllocationProp* properties,
                                                          CUmemGenericAllocationHandle handle) {
  const physical_ptr memory = find_physical(c, handle);
  if (properties == nullptr || !memory) return CUDA_ERROR_INVALID_VALUE;
  *properties = memory->properties;
  properties->allocFlags.usage = 0;  // drivers do not report it
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
