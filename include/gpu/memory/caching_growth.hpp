#pragma once
/// \file
/// Where a `caching_allocator` finds memory when a stream has none free: with other streams, at the
/// driver, and once more at the driver after it gave back what nobody uses.

#include <gpu/memory/caching_state.hpp>

namespace gpu::detail {

inline bool is_out_of_memory(const cuda_error& error) noexcept {
  return error.domain() == error_domain::driver && error.code() == CUDA_ERROR_OUT_OF_MEMORY;
}

/// Adds a segment to `lane` and takes a block of it at once, before another thread that uses the
/// same stream does; null where the host has no memory for the record.
inline cached_block* add_and_take(stream_lane& lane, cached_segment& segment,
                                  std::size_t bytes) noexcept {
  lane.lock.lock();
  cached_block* block = lane.add(segment) ? lane.take(bytes) : nullptr;
  lane.lock.unlock();
  return block;
}

/// A block of the smallest common segment that is large enough, which becomes one of `lane`; null
/// where there is none. The stream waits for the work that may still use it. Under `growing`.
template <class Block = cached_block>
result<Block*> take_common(caching_state& state, stream_lane& lane, std::size_t bytes,
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
    found.pending = false;
  }
  *best = found.next;
  found.next = nullptr;
  Block* block = add_and_take(lane, found, bytes);
  if (block == nullptr) {
    state.trim(&found);
    return nullptr;
  }
  ++state.counts.shared;
  return block;
}

/// A block of a new segment of the driver's, which becomes one of `lane`. Under `growing`.
template <class Block = cached_block, class Builder = text_builder>
result<Block*> take_new(caching_state& state, stream_lane& lane, std::size_t bytes,
                        source_location where) noexcept {
  constexpr std::size_t unit = caching_state::driver_unit;
  const auto rounded = [](std::size_t n) { return (n + unit - 1) / unit * unit; };
  // Larger steps as the stream has more, so that their number stays small.
  lane.lock.lock();
  const std::size_t share = lane.statistics().held_bytes / 8;
  lane.lock.unlock();
  const std::size_t least =
      state.options.segment_bytes > share ? state.options.segment_bytes : share;
  std::size_t wanted = rounded(bytes > least ? bytes : least);
  const std::size_t limit = state.options.limit;
  const std::size_t left = limit == 0                        ? ~std::size_t{0}
                           : limit > state.counts.held_bytes ? limit - state.counts.held_bytes
                                                             : 0;
  if (wanted > left) wanted = bytes;
  if (wanted > left) {
    Builder out;
    out << "asked for " << bytes << " bytes; the limit of this allocator is " << limit
        << " bytes, of which " << state.counts.held_bytes << " are held";
    return fail(cuda_error(error_domain::driver, CUDA_ERROR_OUT_OF_MEMORY,
                           "gpu::caching_allocator::allocate", where)
                    .with_details(out.finish())
                    .with_values(bytes, limit));
  }
  ++state.counts.misses;
  device_memory memory;
  const result<> first = allocate(state.context, wanted, memory, where);
  if (!first.has_value()) {
    if (wanted == bytes || !is_out_of_memory(first.error())) return fail(first.error());
    wanted = bytes;
    GPU_TRY(allocate(state.context, wanted, memory, where));
  }
  auto* segment = new (std::nothrow) cached_segment;
  Block* block = nullptr;
  if (segment != nullptr) {
    segment->address = static_cast<std::uintptr_t>(memory.get().address);
    segment->bytes = wanted;
    block = add_and_take(lane, *segment, bytes);
  }
  if (block == nullptr) {
    delete segment;
    return fail(refusal(errc::out_of_host_memory, "gpu::caching_allocator::allocate",
                        text("the host has no memory for the record of a segment."), where));
  }
  static_cast<void>(memory.release());
  ++state.counts.segments;
  state.counts.held_bytes += wanted;
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

/// The error with what the allocator holds: numbers, and a map of the largest streams' segments.
[[gnu::cold]] inline cuda_error with_map(cuda_error error, caching_state& state) noexcept {
  arena_statistics sum;
  state.for_each_lane([&](stream_lane& lane) { sum.add(lane.statistics()); });
  text_builder out;
  out << error.details() << "; the allocator holds " << state.counts.held_bytes << " bytes in "
      << state.counts.segments << " segments, with " << sum.used_bytes << " of them in "
      << sum.used_blocks << " buffers and the rest in " << sum.free_blocks << " free blocks";
  int lines_left = 24;
  state.for_each_lane([&](stream_lane& lane) {
    if (lane.segments() == nullptr || lines_left <= 0) return;
    out << "\n  stream " << lane.number << ':';
    draw_segments(out, lane, lines_left);
  });
  if (lines_left <= 0) out << "\n  (and more)";
  out << '\n';
  const std::uint64_t asked = error.asked(), limit = error.limit();
  return detail::move(error).with_details(out.finish()).with_values(asked, limit);
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

/// A block of `bytes` for a stream that has none free.
template <class Block = cached_block>
[[gnu::cold, gnu::noinline]] result<Block*> take_slowly(caching_state& state, stream_lane& lane,
                                                        std::size_t bytes,
                                                        source_location where) noexcept {
  const scoped_lock held(state.growing);
  lane.lock.lock();
  Block* given_back = lane.take(bytes);  // in the meantime
  lane.lock.unlock();
  if (given_back != nullptr) return given_back;
  if (Block* block = GPU_TRY(take_common<Block>(state, lane, bytes, where))) return block;
  const result<Block*> first = take_new<Block>(state, lane, bytes, where);
  if (first.has_value()) ask_others(state, lane);
  if (first.has_value() || !is_out_of_memory(first.error())) return first;
  GPU_TRY(gather(state, where));
  if (Block* block = GPU_TRY(take_common<Block>(state, lane, bytes, where))) return block;
  ++state.counts.trims;
  state.trim(exchange(state.common, nullptr));
  const result<Block*> second = take_new<Block>(state, lane, bytes, where);
  if (second.has_value() || !is_out_of_memory(second.error())) return second;
  return fail(with_map(second.error(), state));
}

}  // namespace gpu::detail
