#pragma once
/// \file
/// Entry points: hints about managed memory. Here managed memory is always where it is needed, so
/// hints are checked and stored, and have no other effect.

#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/memory_places.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// The managed block that holds a range.
inline CUresult find_managed(call& c, CUdeviceptr pointer, std::size_t bytes,
                             memory_block*& block) {
  block = c.driver.find_block(pointer);
  if (block == nullptr || block->from != memory_block::origin::managed || bytes == 0 ||
      bytes > block->end() - pointer)
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

/// The number of a location from before there were types of them.
inline int id_of(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return location.id;
    case CU_MEM_LOCATION_TYPE_HOST: return CU_DEVICE_CPU;
    default: return CU_DEVICE_INVALID;
  }
}

/// The number that goes with the type of a location.
inline int typed_id_of(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ? location.id : id_of(location);
}

/// The pages that a range touches, as offsets from the start of its block.
struct page_range {
  static constexpr std::uint64_t page = 4096;
  std::uint64_t begin, end;

  page_range(const memory_block& block, CUdeviceptr pointer, std::size_t bytes)
      : begin{(pointer - block.base) / page * page},
        end{(pointer - block.base + bytes + page - 1) / page * page} {}
};

/// Makes `hints` have an entry that starts at `offset`.
inline managed_hints& split_at(std::map<std::uint64_t, managed_hints>& hints,
                               std::uint64_t offset) {
  const auto after = hints.upper_bound(offset);
  const managed_hints before = after == hints.begin() ? managed_hints{} : std::prev(after)->second;
  return hints.try_emplace(offset, before).first->second;
}

/// Applies `change` to the hints of all pages that the range touches.
template <class Change>
void change_hints(memory_block& block, const page_range& pages, Change change) {
  split_at(block.hints, pages.end);
  split_at(block.hints, pages.begin);
  for (auto each = block.hints.find(pages.begin); each->first < pages.end; ++each)
    change(each->second);
}

/// Returns whether `wanted` is the same for all pages that the range touches; if so, what it is.
template <class Wanted>
auto common_hint(memory_block& block, const page_range& pages, Wanted wanted)
    -> std::optional<decltype(wanted(managed_hints{}))> {
  const auto first = wanted(split_at(block.hints, pages.begin));
  for (auto each = block.hints.find(pages.begin);
       each != block.hints.end() && each->first < pages.end; ++each)
    if (!(wanted(each->second) == first)) return std::nullopt;
  return first;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult mem_advise(call& c, CUdeviceptr pointer, std::size_t bytes, CUmem_advise advice,
                           CUmemLocation location) {
  memory_block* block = nullptr;
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  if (const CUresult bad = find_managed(c, pointer, bytes, block)) return bad;
  if (location.type == CU_MEM_LOCATION_TYPE_NONE) return CUDA_ERROR_INVALID_VALUE;
  const bool whole_place =
      location.type == CU_MEM_LOCATION_TYPE_DEVICE || location.type == CU_MEM_LOCATION_TYPE_HOST;
  const page_range pages(*block, pointer, bytes);
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      change_hints(*block, pages, [&](managed_hints& hints) {
        hints.read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
      });
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      if (!exists(c, location)) return CUDA_ERROR_INVALID_VALUE;
      change_hints(*block, pages, [&](managed_hints& hints) { hints.preferred = location; });
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      change_hints(*block, pages, [&](managed_hints& hints) { hints.preferred = {}; });
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
      if (!whole_place || !exists(c, location)) return CUDA_ERROR_INVALID_VALUE;
      change_hints(*block, pages,
                   [&](managed_hints& hints) { hints.accessed_by.insert(id_of(location)); });
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
      if (!whole_place || !exists(c, location)) return CUDA_ERROR_INVALID_VALUE;
      change_hints(*block, pages,
                   [&](managed_hints& hints) { hints.accessed_by.erase(id_of(location)); });
      return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

inline CUresult mem_prefetch_async(call& c, CUdeviceptr pointer, std::size_t bytes,
                                   CUmemLocation location, unsigned flags, CUstream handle) {
  memory_block* block = nullptr;
  stream_ptr stream;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (const CUresult bad = find_managed(c, pointer, bytes, block)) return bad;
  device_state* device = nullptr;
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
    if (const CUresult bad = c.find_device(location.id, device)) return bad;
  if (!exists(c, location)) return CUDA_ERROR_INVALID_VALUE;
  change_hints(*block, page_range(*block, pointer, bytes),
               [&](managed_hints& hints) { hints.prefetched = location; });
  return c.enqueue(stream, std::make_shared<operation>());
}

inline CUresult stream_attach_mem_async(call& c, CUstream handle, CUdeviceptr pointer,
                                        std::size_t bytes, unsigned flags) {
  memory_block* block = nullptr;
  stream_ptr stream;
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (flags == CU_MEM_ATTACH_SINGLE && stream->is_default) return CUDA_ERROR_INVALID_VALUE;
  block = c.driver.find_block(pointer);
  if (block == nullptr || block->from != memory_block::origin::managed || block->base != pointer ||
      (bytes != 0 && bytes != block->size))
    return CUDA_ERROR_INVALID_VALUE;
  block->flags = flags;
  return c.enqueue(stream, std::make_shared<operation>());
}

inline CUresult mem_range_get_attribute(call& c, void* data, std::size_t size,
                                        CUmem_range_attribute attribute, CUdeviceptr pointer,
                                        std::size_t bytes) {
  memory_block* block = nullptr;
  context_ptr context;
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  if (const CUresult bad = find_managed(c, pointer, bytes, block)) return bad;
  const auto give = [&](int value) {
    if (size != sizeof value) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
  };
  const page_range pages(*block, pointer, bytes);
  const auto place = [&](CUmemLocation managed_hints::* member) {
    const auto same = common_hint(*block, pages, [&](const managed_hints& hints) {
      const CUmemLocation& found = hints.*member;
      return std::pair(found.type, found.id);
    });
    CUmemLocation location{};
    if (same) {
      location.type = same->first;
      location.id = same->second;
    }
    return location;
  };
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return give(common_hint(
                      *block, pages,
                      [](const managed_hints& hints) {
                        return hints.read_mostly;
                      }).value_or(false)
                      ? 1
                      : 0);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      return give(id_of(place(&managed_hints::preferred)));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return give(id_of(place(&managed_hints::prefetched)));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return give(static_cast<int>(place(&managed_hints::preferred).type));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return give(typed_id_of(place(&managed_hints::preferred)));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return give(static_cast<int>(place(&managed_hints::prefetched).type));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return give(typed_id_of(place(&managed_hints::prefetched)));
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
      if (size == 0 || size % sizeof(int) != 0) return CUDA_ERROR_INVALID_VALUE;
      // Those that all pages have; devices come before the host.
      std::set<int> ids = common_hint(*block, pages, [](const managed_hints& hints) {
                            return hints.accessed_by;
                          }).value_or(std::set<int>{});
      const bool host = ids.erase(CU_DEVICE_CPU) != 0;
      std::vector<int> list(ids.begin(), ids.end());
      if (host) list.push_back(CU_DEVICE_CPU);
      list.resize(std::max(list.size(), size / sizeof(int)), CU_DEVICE_INVALID);
      std::memcpy(data, list.data(), size);
      return CUDA_SUCCESS;
    }
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

inline CUresult mem_range_get_attributes(call& c, void** data, std::size_t* sizes,
                                         CUmem_range_attribute* attributes, std::size_t count,
                                         CUdeviceptr pointer, std::size_t bytes) {
  if (data == nullptr || sizes == nullptr || attributes == nullptr || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i)
    if (const CUresult bad =
            mem_range_get_attribute(c, data[i], sizes[i], attributes[i], pointer, bytes))
      return bad;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
