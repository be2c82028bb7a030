#pragma once
/// \file
/// `segment_cache`: what the states of both caching allocators have in common: the segments that
/// are held, and when they go back to the driver.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>
#include <gpu/memory/detail/caching/segments.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// The size and number of the segments that are held. All members are atomic: the last block of a
/// segment may be returned in any thread, with or without `segment_cache::growing`.
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

/// The arena of a stream, or of some threads, in the state of an allocator.
template <class State> struct cache_lane : block_arena {
  using block_arena::block_arena;

  cached_block* lock_and_take(std::size_t bytes) noexcept {
    lock.lock();
    cached_block* block = take(bytes);
    lock.unlock();
    return block;
  }
  cached_segment* lock_and_remove_free_segments() noexcept {
    lock.lock();
    cached_segment* list = remove_free_segments();
    lock.unlock();
    return list;
  }

  State* state = nullptr;
  bool closing = false;  // the allocator is destroyed; free segments go to the driver
};

/// The base of an allocator's state `Self`, which defines `function` and `lane_name` for errors;
/// `visit_lanes(work)`, which calls `work(lane, number)` for each lane; `new_segment_bytes(lane)`;
/// and a type `memory` with `get_memory` and `free_memory`.
/// **Threads**: `growing` guards the members that are neither atomic nor in a lane; it is locked
/// before a lane's lock.
template <class Self, class Lane> struct segment_cache {
  context_ref context;
  caching_options options;
  mutex growing{};
  held_segments held;
  std::size_t misses = 0;      // requests to the driver for a segment
  std::size_t new_blocks = 0;  // blocks that were not had without such a request
  std::size_t trims = 0;       // times that free segments were freed to make room
  bool stopped = false;        // atomic: free segments go to the driver as soon as possible
  // Atomic. The owners are the allocator, the lanes in use after it was destroyed, and the calls of
  // `give_back` that free segments or offer them to other streams.
  std::size_t owners = 1;

  bool is_stopped() const noexcept { return atomic_load<memory_order::relaxed>(stopped); }
  void add_owner() noexcept { atomic_fetch_add<memory_order::relaxed>(owners, 1); }
  void drop_owner() noexcept {
    if (atomic_fetch_sub<memory_order::acq_rel>(owners, 1) == 1) delete &self();
  }

  /// Calls `work(lane, number)` for each lane, which is locked meanwhile.
  template <class Work> void for_each_lane(Work work) noexcept {
    self().visit_lanes([&](Lane& lane, unsigned long long number) {
      lane.lock.lock();
      work(lane, number);
      lane.lock.unlock();
    });
  }

  /// Frees segments; returns their size. The driver waits for work that may still use them.
  std::size_t release(cached_segment* list) noexcept {
    std::size_t bytes = 0;
    while (list != nullptr) {
      cached_segment* each = std::exchange(list, list->next);
      bytes += each->bytes;
      self().free_memory(*each);
      delete each;
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

  /// Frees the free segments of all lanes; returns their size. Call it under `growing`.
  std::size_t trim_lanes() noexcept {
    std::size_t bytes = 0;
    self().visit_lanes([&](Lane& lane, unsigned long long) {
      bytes += trim(lane.lock_and_remove_free_segments());
    });
    return bytes;
  }

  /// Frees the free segments of all lanes, and from now on others as soon as they are free. The
  /// lanes that have such become owners.
  void close_lanes() noexcept {
    self().visit_lanes([&](Lane& lane, unsigned long long) {
      lane.lock.lock();
      lane.closing = true;
      cached_segment* list = lane.remove_free_segments();
      if (lane.segments() != nullptr) add_owner();
      lane.lock.unlock();
      release(list);
    });
  }

  /// Call it under `growing`.
  caching_statistics statistics() noexcept {
    arena_statistics sum;
    for_each_lane([&](Lane& lane, unsigned long long) { sum.add(lane.statistics()); });
    caching_statistics found;
    found.held_bytes = held.bytes();
    found.peak_held_bytes = held.peak_bytes();
    found.segments = held.segments();
    found.misses = misses;
    found.trims = trims;
    found.used_bytes = sum.used_bytes;
    found.used_blocks = sum.used_blocks;
    found.free_blocks = sum.free_blocks;
    found.hits = sum.hits - new_blocks;
    return found;
  }

  /// Gets a new segment for `lane` from the driver, and takes a block from it. Call it under
  /// `growing`.
  result<cached_block*> take_new(Lane& lane, std::size_t bytes, source_location where) noexcept {
    std::size_t got = GPU_TRY(choose_segment(options, held.bytes(), self().new_segment_bytes(lane),
                                             bytes, Self::function, where));
    ++misses;
    cached_block* block = GPU_TRY(take_segment(lane, bytes, got, where));
    held.add(got);
    ++new_blocks;
    return block;
  }

  /// The same as the last resort: adds to an out-of-memory error what the allocator holds.
  result<cached_block*> take_new_or_explain(Lane& lane, std::size_t bytes,
                                            source_location where) noexcept {
    result<cached_block*> taken = take_new(lane, bytes, where);
    if (taken.has_value() || !is_out_of_memory(taken.error())) return taken;
    return fail(explain_held_memory(taken.error(), held.bytes(), held.segments(), Self::lane_name,
                                    [&](auto work) { for_each_lane(work); }));
  }

 private:
  /// Gets a segment of `segment_bytes` from the driver, adds it to `lane`, and takes a block of
  /// `bytes` from it before another thread can. If the driver has less memory than that, requests
  /// `bytes` only, and sets `segment_bytes` to it.
  result<cached_block*> take_segment(Lane& lane, std::size_t bytes, std::size_t& segment_bytes,
                                     source_location where) noexcept {
    typename Self::memory memory;
    const last_error_mark before;
    const result<> first = self().get_memory(segment_bytes, memory, where);
    if (!first.has_value()) {
      if (segment_bytes == bytes || !is_out_of_memory(first.error())) return fail(first.error());
      before.restore();
      segment_bytes = bytes;
      GPU_TRY(self().get_memory(segment_bytes, memory, where));
    }
    auto* segment = new (std::nothrow) cached_segment;
    cached_block* block = nullptr;
    if (segment != nullptr) {
      segment->address = std::uintptr_t(memory.get().address);  // a number or a pointer
      segment->bytes = segment_bytes;
      lane.lock.lock();
      block = lane.add_and_take(*segment, bytes);
      lane.lock.unlock();
    }
    if (block == nullptr) {
      delete segment;
      return fail(out_of_host_memory_error(Self::function, block_arena::record_bytes, where));
    }
    static_cast<void>(memory.release());
    return block;
  }

  Self& self() noexcept { return static_cast<Self&>(*this); }
};

/// Returns a block to its lane, which is locked and returned.
template <class Lane> Lane& lock_and_give(returnable& returned) noexcept {
  auto& block = static_cast<cached_block&>(returned);
  auto& lane = static_cast<Lane&>(*block.arena);
  lane.lock.lock();
  lane.give(block);
  return lane;
}

/// Frees the free segments of a lane whose allocator is destroyed or has stopped holding memory.
/// Releases the lane's lock. From then on other threads may return the last blocks, so this counts
/// as an owner meanwhile.
template <class Lane> void free_segments_and_unlock(Lane& lane) noexcept {
  auto& state = *lane.state;
  state.add_owner();
  const bool closing = lane.closing;
  cached_segment* list = lane.remove_free_segments();
  const bool emptied = closing && list != nullptr && lane.segments() == nullptr;
  lane.lock.unlock();
  if (closing) {
    state.release(list);
  } else {
    state.trim(list);
  }
  if (emptied) state.drop_owner();
  state.drop_owner();
}

}}}  // namespace gpu::v1::detail
