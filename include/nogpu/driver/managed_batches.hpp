#pragma once
/// \file
/// Entry points: many ranges of managed memory in one call. Discarded memory is overwritten in the
/// order of the stream, which reveals programs that rely on its contents.

#include <nogpu/driver/copy_batches.hpp>
#include <nogpu/driver/fills.hpp>
#include <nogpu/driver/managed_memory.hpp>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// The value of each byte of discarded memory.
inline constexpr unsigned char discarded_byte = 0xdd;

/// The ranges of a batch, as it was called with.
struct managed_ranges {
  const CUdeviceptr* pointers;
  const std::size_t* sizes;
  std::size_t count;
};

/// The locations of a batch, and the first range that each of them is for.
struct managed_places {
  const CUmemLocation* locations;
  const std::size_t* firsts;
  std::size_t count;
};

/// Checks the ranges of a batch, and finds its stream.
inline CUresult check_ranges(call& c, const managed_ranges& ranges, unsigned long long flags,
                             CUstream handle, stream_ptr& stream) {
  if (ranges.pointers == nullptr || ranges.sizes == nullptr || ranges.count == 0 || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_batch_stream(c, handle, stream)) return bad;
  for (std::size_t i = 0; i < ranges.count; ++i) {
    memory_block* block = nullptr;
    if (const CUresult bad = find_managed(c, ranges.pointers[i], ranges.sizes[i], block))
      return bad;
  }
  return CUDA_SUCCESS;
}

/// The first location is for the first range, and those that follow for ranges that do not come
/// before it: an H200's driver takes two for the same range.
inline CUresult check_places(call& c, const managed_places& places, std::size_t ranges) {
  if (places.locations == nullptr || places.firsts == nullptr || places.count == 0 ||
      places.count > ranges || places.firsts[0] != 0)
    return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < places.count; ++i) {
    const bool in_order =
        i == 0 || (places.firsts[i] >= places.firsts[i - 1] && places.firsts[i] < ranges);
    if (!in_order || !exists(c, places.locations[i])) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

/// Records the location that each range was prefetched to.
inline void note_places(call& c, const managed_ranges& ranges, const managed_places& places) {
  std::size_t which = 0;
  for (std::size_t i = 0; i < ranges.count; ++i) {
    while (which + 1 < places.count && places.firsts[which + 1] <= i) ++which;
    memory_block& block = *c.driver.find_block(ranges.pointers[i]);
    change_hints(block, page_range(block, ranges.pointers[i], ranges.sizes[i]),
                 [&](managed_hints& hints) { hints.prefetched = places.locations[which]; });
  }
}

inline operation_ptr discard_operation(call& c, const stream_ptr& stream,
                                       const managed_ranges& ranges) {
  std::vector<std::function<void()>> fills;
  for (std::size_t i = 0; i < ranges.count; ++i) {
    transfer what;
    what.to.address = ranges.pointers[i];
    what.width = ranges.sizes[i];
    fills.push_back(fill_work(c.driver, stream->context, what, discarded_byte));
  }
  auto made = std::make_shared<operation>();
  made->work = [fills = std::move(fills)] {
    for (const auto& each : fills) each();
  };
  return made;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult mem_prefetch_batch_async(call& c, CUdeviceptr* pointers, std::size_t* sizes,
                                         std::size_t count, CUmemLocation* locations,
                                         std::size_t* firsts, std::size_t location_count,
                                         unsigned long long flags, CUstream handle) {
  stream_ptr stream;
  const managed_ranges ranges{pointers, sizes, count};
  const managed_places places{locations, firsts, location_count};
  if (const CUresult bad = check_ranges(c, ranges, flags, handle, stream)) return bad;
  if (const CUresult bad = check_places(c, places, count)) return bad;
  if (stream->capture) return c.refuse_capture(*stream);
  note_places(c, ranges, places);
  return c.enqueue(stream, std::make_shared<operation>());
}

inline CUresult mem_discard_batch_async(call& c, CUdeviceptr* pointers, std::size_t* sizes,
                                        std::size_t count, unsigned long long flags,
                                        CUstream handle) {
  stream_ptr stream;
  const managed_ranges ranges{pointers, sizes, count};
  if (const CUresult bad = check_ranges(c, ranges, flags, handle, stream)) return bad;
  if (stream->capture) return c.refuse_capture(*stream);
  return c.enqueue(stream, discard_operation(c, stream, ranges));
}

inline CUresult mem_discard_and_prefetch_batch_async(call& c, CUdeviceptr* pointers,
                                                     std::size_t* sizes, std::size_t count,
                                                     CUmemLocation* locations, std::size_t* firsts,
                                                     std::size_t location_count,
                                                     unsigned long long flags, CUstream handle) {
  stream_ptr stream;
  const managed_ranges ranges{pointers, sizes, count};
  const managed_places places{locations, firsts, location_count};
  if (const CUresult bad = check_ranges(c, ranges, flags, handle, stream)) return bad;
  if (const CUresult bad = check_places(c, places, count)) return bad;
  if (stream->capture) return c.refuse_capture(*stream);
  note_places(c, ranges, places);
  return c.enqueue(stream, discard_operation(c, stream, ranges));
}

}}}  // namespace nogpu::v1::driver::entry
