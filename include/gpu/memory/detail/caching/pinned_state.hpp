#pragma once
/// \file
/// The state of a `caching_pinned_allocator`: a few arenas, among which the threads are
/// distributed.

#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>
#include <gpu/memory/detail/caching/segment_cache.hpp>
#include <gpu/memory/detail/caching/waiting_blocks.hpp>
#include <gpu/memory/detail/pinned_allocation.hpp>
#include <gpu/memory/pinned_flags.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include "gpu/core/result.hpp"
#include "gpu/core/source_location.hpp"

namespace gpu { inline namespace v1 { namespace detail {

struct pinned_cache;

/// One of the arenas among which the threads are distributed, so that they rarely wait for each
/// other.
struct pinned_lane : cache_lane<pinned_cache> {
  pinned_lane() noexcept : cache_lane{&give_back} {}
  static void give_back(returnable& returned) noexcept;
};

struct pinned_cache : segment_cache<pinned_cache, pinned_lane> {
  using memory = pinned_memory;
  static constexpr const char* function = "gpu::caching_pinned_allocator::allocate";
  static constexpr const char* lane_name = "lane";
  static constexpr std::size_t lane_count = 8;

  pinned_flags flags{};
  waiting_blocks waiting;
  pinned_lane lanes[lane_count];

  /// Returns the calling thread's lane; threads get the lanes in turn.
  pinned_lane& own_lane() noexcept { return lanes[number_of_thread() % lane_count]; }
  /// Calls `work(lane, number)`, with numbers from 1.
  template <class Work> void visit_lanes(Work work) noexcept {
    for (std::size_t i = 0; i < lane_count; ++i) work(lanes[i], i + 1ull);
  }

  std::size_t new_segment_bytes(pinned_lane&) const noexcept { return options.segment_bytes; }
  result<> get_memory(std::size_t bytes, pinned_memory& got, source_location where) noexcept {
    return allocate_pinned(context, bytes, flags, got, where);
  }
  void free_memory(const cached_segment& segment) noexcept {
    driver::destroy_in<&driver::entry_points::mem_free_host>(
        context.native(), reinterpret_cast<void*>(segment.address));
  }

  /// Waits for the streams of `free_after`, and frees all free segments; returns their size.
  std::size_t trim_all() noexcept {
    waiting.wait();
    const scoped_lock intact(growing);
    return intact ? trim_lanes() : 0;
  }

  /// Called once the allocator is destroyed.
  void close() noexcept {
    waiting.wait();
    close_lanes();
    drop_owner();
  }
};

inline void pinned_lane::give_back(returnable& returned) noexcept {
  auto& lane = lock_and_give<pinned_lane>(returned);
  if (lane.closing || lane.state->is_stopped()) return free_segments_and_unlock(lane);
  lane.lock.unlock();
}

}}}  // namespace gpu::v1::detail
