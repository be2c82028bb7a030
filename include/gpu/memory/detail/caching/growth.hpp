#pragma once
/// \file
/// The slow path of `caching_allocator`: a stream without a free block gets memory from other
/// streams, from the driver, or from the driver after all free segments were freed.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>
#include <gpu/memory/detail/caching/state.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Moves the smallest common segment that is large enough to `lane`, and takes a block from it;
/// returns null if none fits. The stream waits for work that may still use the segment. Call it
/// under `growing`.
inline result<cached_block*> take_common(caching_state& state, stream_lane& lane, std::size_t bytes,
                                         source_location where) noexcept {
  cached_segment** best = nullptr;
  for (cached_segment** each = &state.common; *each != nullptr; each = &(*each)->next) {
    if ((*each)->bytes >= bytes && (best == nullptr || (*each)->bytes < (*best)->bytes)) {
      best = each;
    }
  }
  if (best == nullptr) return nullptr;
  cached_segment& found = **best;
  if (found.pending) {
    GPU_TRY(on_stream(lane.stream, where, [&] {
      return driver::call<&driver::entry_points::stream_wait_event>(
          where, lane.stream.native(), found.event, CU_EVENT_WAIT_DEFAULT);
    }));
  }
  *best = found.next;
  found.next = nullptr;
  lane.lock.lock();
  cached_block* block = lane.add_and_take(found, bytes);  // before another thread can
  lane.lock.unlock();
  if (block == nullptr) {
    state.trim(&found);
    return nullptr;
  }
  ++state.shared;
  return block;
}

/// Waits for the context, and makes all free segments of all lanes common. If the wait fails, they
/// stay in their lanes. Call it under `growing`.
inline result<> share_all(caching_state& state, source_location where) noexcept {
  cached_segment* removed = nullptr;
  state.for_each_lane([&](stream_lane& lane, unsigned long long) {
    for (cached_segment* each = lane.remove_free_segments(); each != nullptr;) {
      cached_segment* next = each->next;
      each->home = &lane;
      each->next = removed;
      removed = each;
      each = next;
    }
  });
  result<> done =
      driver::call_in<&driver::entry_points::ctx_synchronize>(state.context.native(), where);
  if (done.has_value()) {
    state.add_common(removed);
    for (cached_segment* each = state.common; each != nullptr; each = each->next) {
      each->pending = false;
    }
    return done;
  }
  while (removed != nullptr) {
    cached_segment* each = std::exchange(removed, removed->next);
    each->next = nullptr;
    state.put_back(*each);
  }
  return done;
}

/// Requests that other streams with free segments make them common when they next free a block.
/// Call it under `growing`.
inline void request_segments(caching_state& state, stream_lane& lane) noexcept {
  bool others_have_some = false;
  state.for_each_lane([&](stream_lane& other, unsigned long long) {
    others_have_some = others_have_some || (&other != &lane && other.has_free_segment());
  });
  if (!others_have_some) return;
  const unsigned requests = atomic_fetch_add<memory_order::relaxed>(state.requests, 1) + 1;
  lane.lock.lock();
  lane.answered = requests;
  lane.lock.unlock();
}

/// Takes a block of `bytes` for a stream without a free one, from the first source that has one.
inline result<cached_block*> take_slow_path(caching_state& state, unsigned long long number,
                                            const stream_ref& stream, std::size_t bytes,
                                            source_location where) noexcept {
  const scoped_lock held(state.growing);
  stream_lane* const own = state.make_lane(number, stream);
  if (own == nullptr) {
    return fail(out_of_host_memory_error(caching_state::function, sizeof *own, where));
  }
  stream_lane& lane = *own;
  // A block may have been returned since the fast path looked.
  if (cached_block* block = lane.lock_and_take(bytes)) return block;
  if (cached_block* block = GPU_TRY(take_common(state, lane, bytes, where))) return block;
  const last_error_mark before;
  const std::size_t misses = state.misses;
  result<cached_block*> grown = state.take_new(lane, bytes, where);
  if (grown.has_value()) request_segments(state, lane);
  if (grown.has_value() || !is_out_of_memory(grown.error())) return grown;
  before.restore();
  GPU_TRY(share_all(state, where));
  if (cached_block* block = GPU_TRY(take_common(state, lane, bytes, where))) {
    if (state.misses != misses) ++state.new_blocks;
    return block;
  }
  ++state.trims;
  state.trim(std::exchange(state.common, nullptr));
  return state.take_new_or_explain(lane, bytes, where);
}

}}}  // namespace gpu::v1::detail
