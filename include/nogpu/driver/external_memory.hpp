#pragma once
/// \file
/// Entry points: memory of other interfaces, by a file descriptor of anything that can be mapped
/// into the process.

#include <nogpu/driver/arrays.hpp>
#include <nogpu/driver/driver_state.hpp>

#include <cuda.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

/// Maps the first bytes of a file that the program passed as a descriptor, which stays open.
inline CUresult map_foreign_file(int descriptor, std::uint64_t bytes,
                                 std::shared_ptr<machine::storage>& memory) {
  struct ::stat info{};
  if (::fstat(descriptor, &info) != 0) return CUDA_ERROR_INVALID_HANDLE;
  const bool is_file = S_ISREG(info.st_mode);  // others have no size to check
  if (bytes == 0 || (is_file && static_cast<std::uint64_t>(info.st_size) < bytes))
    return CUDA_ERROR_INVALID_VALUE;
  memory = machine::storage::map_file(descriptor, 0, bytes);
  return memory ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/// Gives memory of another interface new addresses in a context, until `free_block`.
inline CUresult show_memory(call& c, const context_ptr& context,
                            std::shared_ptr<machine::storage> memory, std::uint64_t offset,
                            std::uint64_t bytes, memory_block::origin from, bool writable,
                            std::uint64_t& base) {
  memory_block block;
  block.size = bytes;
  block.from = from;
  block.context = context;
  block.device = context->device->ordinal;
  block.id = next_handle_number();
  block.place = c.driver.place();
  const auto kind = from == memory_block::origin::array ? machine::memory_kind::array
                                                        : machine::memory_kind::device;
  const auto reserved = c.driver.memory.reserve(bytes, allocation_unit);
  if (!reserved || !c.driver.memory.map(*reserved, std::move(memory), offset,
                                        {.size = bytes,
                                         .kind = kind,
                                         .owner = context->owner,
                                         .writable = writable,
                                         .site = block.place}))
    return CUDA_ERROR_OUT_OF_MEMORY;
  rollback freed([&] { (void)c.driver.memory.free(*reserved); });
  block.base = *reserved;
  c.driver.blocks_of_memory.emplace(*reserved, std::move(block));
  freed.keep();
  base = *reserved;
  return CUDA_SUCCESS;
}

inline CUresult find_external(call& c, CUexternalMemory handle, external_memory_ptr& memory) {
  memory = c.driver.external_memories.find(handle);
  return memory ? call::usable(*memory->context) : c.driver.external_memories.why_unknown(handle);
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

/// Closes the descriptor if the import succeeds, since it is the driver's then.
inline CUresult import_external_memory(call& c, CUexternalMemory* memory,
                                       const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* from) {
  context_ptr context;
  if (memory == nullptr || from == nullptr ||
      (from->flags & ~unsigned{CUDA_EXTERNAL_MEMORY_DEDICATED}) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  if (from->type < CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD ||
      from->type > CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD)
    return CUDA_ERROR_INVALID_VALUE;
  if (from->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD) return CUDA_ERROR_NOT_SUPPORTED;
  auto made = std::make_shared<external_memory_state>();
  made->context = context;
  made->place = c.driver.place();
  if (const CUresult bad = map_foreign_file(from->handle.fd, from->size, made->memory)) return bad;
  *memory = c.driver.external_memories.add(made);
  ::close(from->handle.fd);
  return CUDA_SUCCESS;
}

/// What was mapped stays, as long as it is not freed.
inline CUresult destroy_external_memory(call& c, CUexternalMemory handle) {
  return c.driver.external_memories.take(handle) ? CUDA_SUCCESS
                                                 : c.driver.external_memories.why_unknown(handle);
}

inline CUresult external_memory_get_mapped_buffer(call& c, CUdeviceptr* address,
                                                  CUexternalMemory handle,
                                                  const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* from) {
  external_memory_ptr memory;
  if (address == nullptr || from == nullptr || from->flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_external(c, handle, memory)) return bad;
  const std::uint64_t available = memory->memory->size();
  if (from->size == 0 || from->offset > available || from->size > available - from->offset)
    return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t base = 0;
  const CUresult bad = show_memory(c, memory->context, memory->memory, from->offset, from->size,
                                   memory_block::origin::external, true, base);
  if (!bad) *address = base;
  return bad;
}

/// The texels of each level lie row by row, one level after the other.
inline CUresult external_memory_get_mapped_mipmapped_array(
    call& c, CUmipmappedArray* array, CUexternalMemory handle,
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* from) {
  external_memory_ptr memory;
  if (array == nullptr || from == nullptr || from->numLevels == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_external(c, handle, memory)) return bad;
  CUDA_ARRAY3D_DESCRIPTOR form = from->arrayDesc;
  form.Flags &= ~unsigned{CUDA_ARRAY3D_COLOR_ATTACHMENT | CUDA_ARRAY3D_DEPTH_TEXTURE};
  if (const CUresult bad = check_array(form, true)) return bad;
  if (is_unmapped(form) || from->numLevels > most_levels(form)) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<mipmapped_array_state>();
  made->context = memory->context;
  made->place = c.driver.place();
  for (unsigned i = 0; i < from->numLevels; ++i) {
    made->levels.push_back(
        make_array(memory->context, level_form(from->arrayDesc, i), made->place));
    made->levels.back()->borrowed = true;
  }
  const std::uint64_t bytes = bytes_of(made->levels), available = memory->memory->size();
  if (from->offset > available || bytes > available - from->offset) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = show_memory(c, memory->context, memory->memory, from->offset, bytes,
                                       memory_block::origin::array, true, made->base))
    return bad;
  lay_out(made->base, made->levels);
  for (const array_ptr& each : made->levels) c.driver.arrays.add(each);
  *array = c.driver.mipmapped_arrays.add(made);
  return CUDA_SUCCESS;
}

/// Here is no NvSci.
inline CUresult device_get_nvscisync_attributes(call& c, void* list, CUdevice ordinal, int flags) {
  device_state* device = nullptr;
  constexpr int known = CUDA_NVSCISYNC_ATTR_SIGNAL | CUDA_NVSCISYNC_ATTR_WAIT;
  if (list == nullptr || flags == 0 || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  return CUDA_ERROR_NOT_SUPPORTED;
}

}}}  // namespace nogpu::v1::driver::entry
