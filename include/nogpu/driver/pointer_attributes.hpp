#pragma once
/// \file
/// Entry points: what the driver knows about an address.

#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/memory.hpp>
#include <nogpu/driver/virtual_memory.hpp>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

/// An address as pointer attributes describe it.
struct pointer_facts {
  machine::allocation_info info;
  memory_block* block = nullptr;           // null for a mapping and for a module's variable
  const mapping_state* mapping = nullptr;  // of virtual memory
  CUcontext context = nullptr;
  int device = -2;  // the driver's value if no device is involved
};

inline std::optional<pointer_facts> facts_of(call& c, CUdeviceptr pointer) {
  auto info = c.driver.memory.find(pointer);
  if (!info) return std::nullopt;
  pointer_facts facts;
  facts.info = std::move(*info);
  facts.block = c.driver.find_block(pointer);
  if (facts.block != nullptr) {
    if (facts.block->context) facts.context = facts.block->context->handle;
    facts.device = facts.block->device;
  } else if ((facts.mapping = c.driver.virtual_memory.find_mapping(pointer)) != nullptr) {
    facts.device = facts.mapping->memory->properties.location.id;
  } else {
    for (const module_ptr& each : c.driver.modules.all()) {
      if (each->code->owner != facts.info.owner) continue;
      facts.context = each->context->handle;
      facts.device = each->context->device->ordinal;
    }
  }
  return facts;
}

/// Returns whether kernels of the current context can be given the address: memory of another
/// device has one for them only while they may use it.
inline bool reached_here(call& c, CUdeviceptr pointer, const pointer_facts& facts) {
  if (facts.mapping != nullptr)
    return access_here(c, *facts.mapping) != CU_MEM_ACCESS_FLAGS_PROT_NONE;
  context_ptr context;
  if (c.current_in_any_state(context) != CUDA_SUCCESS) return true;
  const bool open_to_all = facts.info.kind != machine::memory_kind::device &&
                           facts.info.kind != machine::memory_kind::pinned_host;
  if (open_to_all || facts.device == context->device->ordinal) return true;
  machine::memory_view view;
  return c.driver.memory.resolve(pointer, 1, context->owner, view) == machine::fault_kind::none;
}

/// Writes one attribute of a known address.
inline CUresult give_pointer_attribute(call& c, void* data, CUpointer_attribute attribute,
                                       CUdeviceptr pointer, const pointer_facts& facts) {
  const auto give = [&](auto value) {
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
  };
  const memory_block* block = facts.block;
  const bool managed = facts.info.kind == machine::memory_kind::managed;
  const bool host = facts.info.kind == machine::memory_kind::pinned_host ||
                    facts.info.kind == machine::memory_kind::registered_host;
  const bool pool = block != nullptr && block->from == memory_block::origin::pool;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return give(facts.context);  // null for memory of a pool, which belongs to a device
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(static_cast<unsigned>(host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      if (block != nullptr) facts.block->seen_by_device = true;
      return reached_here(c, pointer, facts) ? give(pointer) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!host && !managed) return CUDA_ERROR_INVALID_VALUE;
      return give(host_pointer(pointer));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return give(static_cast<unsigned>(facts.mapping != nullptr ||
                                        (block != nullptr && block->sync_memops)));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return give(static_cast<unsigned long long>(facts.info.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return give(static_cast<unsigned>(managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return give(facts.device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      if (facts.mapping != nullptr)
        return give(CUdeviceptr{c.driver.virtual_memory.find_reservation(pointer)->base});
      return give(static_cast<CUdeviceptr>(facts.info.base));
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return give(static_cast<CUdeviceptr>(facts.info.base));
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      if (facts.mapping != nullptr)
        return give(
            static_cast<std::size_t>(c.driver.virtual_memory.find_reservation(pointer)->size));
      return give(static_cast<std::size_t>(facts.info.size));
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return give(static_cast<std::size_t>(facts.info.size));
    case CU_POINTER_ATTRIBUTE_MAPPED: return give(1u);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return give(static_cast<unsigned long long>(
          facts.mapping != nullptr ? facts.mapping->memory->properties.requestedHandleTypes : 0));
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return give(
          static_cast<unsigned>(block != nullptr && block->from == memory_block::origin::device));
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return give(0u);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: {
      if (managed || host) return CUDA_ERROR_INVALID_VALUE;
      // Devices return this also for memory that the current context cannot access.
      if (facts.mapping == nullptr) return give(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
      context_ptr context;
      if (const CUresult bad = c.current(context)) return bad;
      return give(access_here(c, *facts.mapping));
    }
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return give(pool ? block->pool->handle : CUmemoryPool{});
    default:
      return CUDA_ERROR_INVALID_VALUE;  // P2P tokens among them, which drivers no longer support
  }
}

/// Writes the answers of `cuPointerGetAttributes` for an address that the driver does not know.
inline void give_unknown_attribute(void* data, CUpointer_attribute attribute) {
  const auto give = [&](auto value) { std::memcpy(data, &value, sizeof value); };
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return give(std::uint64_t{0});
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return give(-2);
    default: return give(0u);
  }
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult pointer_get_attribute(call& c, void* data, CUpointer_attribute attribute,
                                      CUdeviceptr pointer) {
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto facts = facts_of(c, pointer);
  if (!facts) return CUDA_ERROR_INVALID_VALUE;
  return give_pointer_attribute(c, data, attribute, pointer, *facts);
}

/// An address that the driver does not know is not an error, unlike for the query of one attribute.
inline CUresult pointer_get_attributes(call& c, unsigned count, CUpointer_attribute* attributes,
                                       void** data, CUdeviceptr pointer) {
  if (attributes == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto facts = facts_of(c, pointer);
  for (unsigned i = 0; i < count; ++i) {
    if (data[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!facts || give_pointer_attribute(c, data[i], attributes[i], pointer, *facts))
      give_unknown_attribute(data[i], attributes[i]);
  }
  return CUDA_SUCCESS;
}

inline CUresult pointer_set_attribute(call& c, const void* value, CUpointer_attribute attribute,
                                      CUdeviceptr pointer) {
  if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
    return CUDA_ERROR_INVALID_VALUE;
  memory_block* block = c.driver.find_block(pointer);
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  unsigned wanted = 0;
  std::memcpy(&wanted, value, sizeof wanted);
  block->sync_memops = wanted != 0;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
