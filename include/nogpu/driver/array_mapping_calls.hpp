#pragma once
/// \file
/// Entry point: mapping physical memory to arrays.

#include <nogpu/driver/array_mappings.hpp>
#include <nogpu/driver/arrays.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/texture_images.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// One checked request: the runs of texels, and the memory to map to them, or null.
struct mapping_request {
  std::shared_ptr<array_mappings> mapped;
  std::vector<array_ptr> levels;
  std::vector<mapped_run> runs;
  physical_ptr memory;
  std::uint64_t offset = 0;
};

/// Finds the levels of the array that a request names; empty if it names none, or one without this
/// mapping.
inline std::vector<array_ptr> find_mapped_levels(call& c, const CUarrayMapInfo& info) {
  if (number_of(info.resourceType) == CU_RESOURCE_TYPE_ARRAY) {
    const array_ptr found = c.driver.arrays.find(info.resource.array);
    if (found && !found->borrowed) return {found};
  } else if (number_of(info.resourceType) == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
    const mipmapped_array_ptr found = c.driver.mipmapped_arrays.find(info.resource.mipmap);
    if (found) return found->levels;
  }
  return {};
}

inline CUresult read_mapping(call& c, const CUarrayMapInfo& info, const device_state& device,
                             mapping_request& made) {
  made.levels = find_mapped_levels(c, info);
  const bool reserved = std::any_of(std::begin(info.reserved), std::end(info.reserved),
                                    [](unsigned each) { return each != 0; });
  if (made.levels.empty() || !made.levels.front()->mapped || info.flags != 0 || reserved ||
      info.deviceBitMask != 1u << device.ordinal)
    return CUDA_ERROR_INVALID_VALUE;
  const array_state& finest = *made.levels.front();
  if (finest.context->device->ordinal != device.ordinal) return CUDA_ERROR_INVALID_VALUE;
  if (finest.format.edge != 1 || !finest.planes.empty()) return CUDA_ERROR_NOT_SUPPORTED;
  made.mapped = finest.mapped;
  mapped_levels of{made.levels};
  std::uint64_t bytes = 0;
  if (!of.deferred()) {
    (void)give_sparse_properties(of.levels, of.sparse);
    if (number_of(info.subresourceType) > CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL)
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (!find_runs(of, info, made.runs, bytes)) return CUDA_ERROR_INVALID_VALUE;
  switch (number_of(info.memOperationType)) {
    case CU_MEM_OPERATION_TYPE_UNMAP:
      return info.memHandle.memHandle == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_MEM_OPERATION_TYPE_MAP: break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  made.memory = find_physical(c, info.memHandle.memHandle);
  made.offset = info.offset;
  const bool fits = made.memory && made.offset % tile_bytes == 0 &&
                    made.offset <= made.memory->size && bytes <= made.memory->size - made.offset;
  if (!fits || number_of(info.memHandleType) != CU_MEM_HANDLE_TYPE_GENERIC ||
      made.memory->properties.location.id != device.ordinal ||
      (made.memory->properties.allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

/// Waits for the work before it, so that the memory is mapped when the call returns.
inline CUresult mem_map_array_async(call& c, CUarrayMapInfo* list, unsigned count,
                                    CUstream handle) {
  stream_ptr stream;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (list == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  if (stream->capture) return c.refuse_capture(*stream);
  std::vector<mapping_request> requests(count);
  for (unsigned i = 0; i < count; ++i)
    if (const CUresult bad = read_mapping(c, list[i], *stream->context->device, requests[i]))
      return bad;
  auto turn = std::make_shared<operation>();
  turn->work = [] {};
  if (const CUresult bad = c.enqueue(stream, turn)) return bad;
  c.driver.work.finish(turn, c.lock);
  if (const CUresult bad = c.tell_fault(*stream->context)) return bad;
  for (const mapping_request& each : requests)
    for (const mapped_run& run : each.runs) {
      if (each.memory) {
        each.mapped->map(run, each.memory, each.offset, *each.levels.front());
      } else {
        each.mapped->unmap(run);
      }
    }
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
