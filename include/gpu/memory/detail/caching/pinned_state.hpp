#pragma once
/// \file
/// The state of a `caching_pinned_allocator`: a few arenas, among which the threads are
/// distributed.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>
#include <gpu/memory/detail/caching/waiting_blocks.hpp>
#include <gpu/memory/pinned_flags.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// One of the arenas among which the threads are distributed, so that they rarely wait for each
/// other.
struct pinned_lane : block_arena {
  pinned_lane() noexcept : block_arena{&give_back} {}
  static void give_back(returnable& returned) noexcept;

  struct pinned_cache* cache = nullptr;
  bool closing = false;
};

/// The size and number of the segments that are held. All members are atomic: the last block of a
/// segment may be returned in any thread, with or without `pinned_cache::growing`.
class held_segments {
 public:
  void add(std::size_t bytes) noexcept {
    atomic_fetch_add<memory_order::relaxed>(segments_, 1);
    const std::size_t now = atomic_fetch_add<memory_order::relaxed>(bytes_, bytes) + bytes;
    std::size_t peak = atomic_load<memory_order::relaxed>(peak_bytes_);
    while (peak < now &&
           !atomic_compare_exchange_weak<memory_order::relaxed, memory_order::relaxed>(peak_bytes_,
                                                                                       peak, now)) {
    }
  }
  void remove(std::size_t segments, std::size_t bytes) noexcept {
    atomic_fetch_sub<memory_order::relaxed>(segments_, segments);
    atomic_fetch_sub<memory_order::relaxed>(bytes_, bytes);
  }

  std::size_t segments() const noexcept { return atomic_load<memory_order::relaxed>(segments_); }
  std::size_t bytes() const noexcept { return atomic_load<memory_order::relaxed>(bytes_); }
  std::size_t peak_bytes() const noexcept {
    return atomic_load<memory_order::relaxed>(peak_bytes_);
  }

 private:
  std::size_t segments_ = 0;
  std::size_t bytes_ = 0;
  std::size_t peak_bytes_ = 0;
};

/// **Threads**: `growing` guards the members that are neither atomic nor in a lane; it is locked
/// before a lane's lock.
struct pinned_cache {
  static constexpr std::size_t lane_count = 8;

  context_ref context;
  pinned_flags flags{};
  caching_options options;
  mutex growing{};
  held_segments held;
  std::size_t misses = 0;      // requests to the driver for a segment
  std::size_t new_blocks = 0;  // blocks from new segments
  std::size_t trims = 0;       // times that free segments were freed to make room
  waiting_blocks waiting;
  bool stopped = false;  // atomic: free segments go to the driver as soon as possible
  // Atomic. The owners are the allocator, the lanes in use after it was destroyed, and the calls of
  // `finish_give_back`.
  std::size_t owners = 1;
  pinned_lane lanes[lane_count];

  /// Returns the calling thread's lane; threads get the lanes in turn.
  pinned_lane& own_lane() noexcept { return lanes[number_of_thread() % lane_count]; }
  /// Calls `work(lane, number)`, with numbers from 1.
  template <class Work> void for_each_lane(Work work) noexcept {
    for (pinned_lane& each : lanes) {
      each.lock.lock();
      work(each, static_cast<unsigned long long>(&each - lanes) + 1);
      each.lock.unlock();
    }
  }
  cached_block* take_from(pinned_lane& lane, std::size_t bytes) noexcept {
    lane.lock.lock();
    cached_block* block = lane.take(bytes);
    lane.lock.unlock();
    return block;
  }
  void add_owner() noexcept { atomic_fetch_add<memory_order::relaxed>(owners, 1); }
  void drop_owner() noexcept {
    if (atomic_fetch_sub<memory_order::acq_rel>(owners, 1) == 1) delete this;
  }
  /// Frees segments; returns their size.
  std::size_t release(cached_segment* list) noexcept {
    std::size_t bytes = 0;
    while (list != nullptr) {
      cached_segment* next = list->next;
      bytes += list->bytes;
      driver::destroy_in<&driver::entry_points::mem_free_host>(
          context.native(), reinterpret_cast<void*>(list->address));
      delete list;
      list = next;
    }
    return bytes;
  }

  /// Frees segments that count as held; returns their size.
  std::size_t trim(cached_segment* list) noexcept {
    std::size_t segments = 0;
    for (const cached_segment* each = list; each != nullptr; each = each->next) ++segments;
    const std::size_t bytes = release(list);
    held.remove(segments, bytes);
    return bytes;
  }
};

/// The rare part of `pinned_lane::give_back`: frees the free segments of the lane. Releases the
/// lane's lock. From then on other threads may return the last blocks, so this counts as an owner
/// meanwhile.
inline void finish_give_back(pinned_lane& lane) noexcept {
  pinned_cache& cache = *lane.cache;
  cache.add_owner();
  const bool closing = lane.closing;
  cached_segment* list = lane.remove_free_segments();
  const bool emptied = closing && list != nullptr && lane.segments() == nullptr;
  lane.lock.unlock();
  if (closing) {
    cache.release(list);
  } else {
    cache.trim(list);
  }
  if (emptied) cache.drop_owner();
  cache.drop_owner();
}

inline void pinned_lane::give_back(returnable& returned) noexcept {
  auto& block = static_cast<cached_block&>(returned);
  auto& lane = static_cast<pinned_lane&>(*block.arena);
  lane.lock.lock();
  lane.give(block);
  if (lane.closing || atomic_load<memory_order::relaxed>(lane.cache->stopped)) {
    return finish_give_back(lane);
  }
  lane.lock.unlock();
}

}}}  // namespace gpu::v1::detail
