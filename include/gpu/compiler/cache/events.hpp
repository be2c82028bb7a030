#pragma once
/// \file
/// `cache_events`: counts what a cache has done.

#include <gpu/core/detail/atomic.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Something that a cache counts; `gpu::cache_counters` explains each.
enum class cache_event : unsigned char {
  from_memory,
  from_disk,
  compiled,
  waited,
  stored,
  damaged,
  evicted,
};

/// Counts events. **Threads**: any number at once.
class cache_events {
 public:
  void add(cache_event event, std::uint64_t count = 1) noexcept {
    atomic_fetch_add<memory_order::relaxed>(counts_[static_cast<int>(event)], count);
  }
  std::uint64_t count(cache_event event) const noexcept {
    return atomic_load<memory_order::relaxed>(counts_[static_cast<int>(event)]);
  }

 private:
  std::uint64_t counts_[static_cast<int>(cache_event::evicted) + 1] = {};
};

}}}  // namespace gpu::v1::detail
