#pragma once
/// \file
/// The options and the statistics of `caching_allocator` and `caching_pinned_allocator`.

#include <cstddef>

namespace gpu { inline namespace v1 {

struct caching_options {
  /// The most bytes to hold at a time, in use or free; 0 means no limit.
  std::size_t limit = 0;
  /// The least to request from the driver at a time, for smaller allocations. Rounded up to 2 MiB,
  /// the driver's own granularity.
  std::size_t segment_bytes = std::size_t{2} << 20;
};

/// The current state and the history of a caching allocator.
struct caching_statistics {
  std::size_t held_bytes = 0;       ///< got from the driver, in use or free
  std::size_t peak_held_bytes = 0;  ///< the maximum of `held_bytes` so far
  std::size_t used_bytes = 0;       ///< in buffers, each rounded up to a multiple of 512
  std::size_t segments = 0;         ///< allocations of the driver
  std::size_t used_blocks = 0;      ///< buffers
  std::size_t free_blocks = 0;      ///< parts of segments that are free
  std::size_t hits = 0;             ///< buffers created without a new segment
  std::size_t misses = 0;           ///< requests to the driver for a segment, also failed ones
  std::size_t shared = 0;           ///< segments that moved from one stream to another
  std::size_t trims = 0;            ///< times that free segments were freed to make room
};

}}  // namespace gpu::v1
