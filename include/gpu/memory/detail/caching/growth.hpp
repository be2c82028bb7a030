#pragma once
/// \file
/// Where a `caching_allocator` finds memory when a stream has none free: with other streams, at the
/// driver, and once more at the driver after it gave back what nobody uses.

#include <gpu/core/detail/last_error_mark.hpp>
#include <gpu/memory/detail/caching/segments.hpp>

namespace gpu::inline v0::detail {

/// A block of the smallest common segment that is large enough, which becomes one of `lane`; null
/// where there is none. The stream waits for the work that may still use it. Under `growing`.
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
          where, lane.stream.native(), found.event, unsigned{CU_EVENT_WAIT_DEFAULT});
    }));
  }
  *best = found.next;
  found.next = nullptr;
  lane.lock.lock();
  cached_block* block = lane.add_and_take(found, bytes);  // at once, before another thread does
  lane.lock.unlock();
  if (block == nullptr) {
    state.trim(&found);
    return nullptr;
  }
  ++state.counts.shared;
  return block;
}

/// A block of a new segment of the driver's, which becomes one of `lane`. Under `growing`.
inline result<cached_block*> take_new(caching_state& state, stream_lane& lane, std::size_t bytes,
                                      source_location where) noexcept {
  constexpr const char* function = "gpu::caching_allocator::allocate";
  // Larger steps as the stream has more, so that their number stays small.
  lane.lock.lock();
  const std::size_t share = lane.held_bytes() / 8;
  lane.lock.unlock();
  const std::size_t least =
      state.options.segment_bytes > share ? state.options.segment_bytes : share;
  std::size_t got = GPU_TRY(
      choose_segment(state.options, state.counts.held_bytes, least, bytes, function, where));
  ++state.counts.misses;
  cached_block* block = GPU_TRY((take_segment<device_memory, cached_block>(
      lane, bytes, got, function, where, [&](std::size_t wanted, device_memory& memory) {
        return allocate(state.context, wanted, memory, where);
      })));
  ++state.counts.segments;
  state.counts.held_bytes += got;
  if (state.counts.peak_held_bytes < state.counts.held_bytes) {
    state.counts.peak_held_bytes = state.counts.held_bytes;
  }
  return block;
}

/// Waits until nothing that was freed is in use any more, and makes all of it common. Where the
/// wait fails, all stays where it was. Under `growing`.
inline result<> gather(caching_state& state, source_location where) noexcept {
  cached_segment* gathered = nullptr;
  state.for_each_lane([&](stream_lane& lane) {
    for (cached_segment* each = lane.remove_free_segments(); each != nullptr;) {
      cached_segment* next = each->next;
      each->home = &lane;
      each->next = gathered;
      gathered = each;
      each = next;
    }
  });
  result<> done =
      driver::call_in<&driver::entry_points::ctx_synchronize>(state.context.native(), where);
  if (done.has_value()) {
    state.add_common(gathered);
    for (cached_segment* each = state.common; each != nullptr; each = each->next) {
      each->pending = false;
    }
    return done;
  }
  while (gathered != nullptr) {
    cached_segment* each = exchange(gathered, gathered->next);
    each->next = nullptr;
    state.put_back(*each);
  }
  return done;
}

/// Has the other streams share what they have free, when they next free something. Under `growing`.
inline void ask_others(caching_state& state, stream_lane& lane) noexcept {
  bool others_have_some = false;
  state.for_each_lane([&](stream_lane& other) {
    others_have_some = others_have_some || (&other != &lane && other.has_free_segment());
  });
  if (!others_have_some) return;
  const unsigned requests = __atomic_add_fetch(&state.requests, 1u, __ATOMIC_RELAXED);
  lane.lock.lock();
  lane.answered = requests;
  lane.lock.unlock();
}

/// A block of `bytes` from wherever there are some. Under `growing`.
template <class Block>
result<Block*> take_anywhere(caching_state& state, unsigned long long number,
                             const stream_ref& stream, std::size_t bytes,
                             source_location where) noexcept {
  stream_lane* const own = state.make_lane(number, stream);
  if (own == nullptr) {
    return fail(out_of_host_memory_error("gpu::caching_allocator::allocate", sizeof *own, where));
  }
  stream_lane& lane = *own;
  lane.lock.lock();
  Block* given_back = lane.take(bytes);  // in the meantime
  lane.lock.unlock();
  if (given_back != nullptr) return given_back;
  if (Block* block = GPU_TRY(take_common(state, lane, bytes, where))) return block;
  const last_error_mark before;
  result<Block*> first = take_new(state, lane, bytes, where);
  if (first.has_value()) ask_others(state, lane);
  if (first.has_value() || !is_out_of_memory(first.error())) return first;
  before.restore();
  GPU_TRY(gather(state, where));
  if (Block* block = GPU_TRY(take_common(state, lane, bytes, where))) return block;
  ++state.counts.trims;
  state.trim(exchange(state.common, nullptr));
  result<Block*> second = take_new(state, lane, bytes, where);
  if (second.has_value() || !is_out_of_memory(second.error())) return second;
  return fail(with_map(second.error(), state.counts.held_bytes, state.counts.segments, "stream",
                       [&](auto work) {
                         state.for_each_lane([&](stream_lane& each) { work(each, each.number); });
                       }));
}

/// A block of `bytes` for a stream that has none free.
[[gnu::cold, gnu::noinline]] inline result<cached_block*> take_slowly(
    caching_state& state, unsigned long long number, const stream_ref& stream, std::size_t bytes,
    source_location where) noexcept {
  const scoped_lock held(state.growing);
  const std::size_t before = state.counts.misses;
  result<cached_block*> taken = take_anywhere<cached_block>(state, number, stream, bytes, where);
  if (taken.has_value() && state.counts.misses != before) ++state.asked_for;
  return taken;
}

}  // namespace gpu::inline v0::detail
