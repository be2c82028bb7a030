#pragma once
/// \file
/// The state of a `caching_allocator`: an arena for each stream, and the segments that are free for
/// all streams.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>
#include <gpu/memory/detail/caching/segment_cache.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

struct caching_state;

/// The arena of one stream, identified by the stream's number, which is unique in the process,
/// unlike its handle.
struct stream_lane : cache_lane<caching_state> {
  stream_lane() noexcept : cache_lane{&give_back} {}
  static void give_back(returnable& returned) noexcept;

  /// Assigns the lane to another stream if it holds no segments; returns whether it did.
  bool reassign(unsigned long long to, const stream_ref& its) noexcept {
    lock.lock();
    const bool empty = segments() == nullptr;
    if (empty) {
      stream = its;
      atomic_store<memory_order::release>(number, to);
    }
    lock.unlock();
    return empty;
  }

  unsigned long long number = 0;  // of the stream; written under `growing` and the lock
  stream_ref stream;
  stream_lane* next = nullptr;  // in the same bucket
  unsigned answered = 0;        // the value of `caching_state::requests` that was answered last
};

struct caching_state : segment_cache<caching_state, stream_lane> {
  using memory = device_memory;
  static constexpr const char* function = "gpu::caching_allocator::allocate";
  static constexpr const char* lane_name = "stream";
  static constexpr std::size_t bucket_count = 64;

  stream_lane* buckets[bucket_count] = {};  // read without a lock; lanes are never removed
  cached_segment* common = nullptr;         // free for all streams, after their events
  std::size_t shared = 0;                   // segments that moved from one stream to another
  unsigned requests = 0;  // atomic: how often a stream needed segments that others had free

  caching_state() noexcept = default;
  caching_state(const caching_state&) = delete;
  caching_state& operator=(const caching_state&) = delete;
  ~caching_state() {
    for (stream_lane* each : buckets) {
      while (each != nullptr) delete std::exchange(each, each->next);
    }
  }

  stream_lane* find_lane(unsigned long long number) const noexcept {
    stream_lane* lane = atomic_load<memory_order::acquire>(buckets[number % bucket_count]);
    while (lane != nullptr && atomic_load<memory_order::acquire>(lane->number) != number) {
      lane = lane->next;
    }
    return lane;
  }
  /// Returns the lane of a stream, which is created if necessary; null if host memory is exhausted.
  /// Reuses lanes without segments, so that the lanes of destroyed streams do not accumulate. Call
  /// it under `growing`.
  stream_lane* make_lane(unsigned long long number, const stream_ref& stream) noexcept {
    stream_lane* lane = find_lane(number);
    if (lane != nullptr) return lane;
    stream_lane*& bucket = buckets[number % bucket_count];
    for (lane = bucket; lane != nullptr && !lane->reassign(number, stream);) lane = lane->next;
    if (lane != nullptr) return lane;
    lane = new (std::nothrow) stream_lane;
    if (lane == nullptr) return nullptr;
    lane->state = this;
    lane->reassign(number, stream);
    lane->next = bucket;
    atomic_store<memory_order::release>(bucket, lane);
    return lane;
  }

  template <class Work> void visit_lanes(Work work) noexcept {
    for (stream_lane* each : buckets) {
      for (; each != nullptr; each = each->next) work(*each, each->number);
    }
  }

  /// Segments grow with the size of the lane, so that their number stays small.
  std::size_t new_segment_bytes(stream_lane& lane) noexcept {
    lane.lock.lock();
    const std::size_t share = lane.held_bytes() / 8;
    lane.lock.unlock();
    return options.segment_bytes > share ? options.segment_bytes : share;
  }
  result<> get_memory(std::size_t bytes, device_memory& got, source_location where) noexcept {
    return allocate(context, bytes, got, where);
  }
  void free_memory(const cached_segment& segment) noexcept {
    driver::destroy_in<&driver::entry_points::mem_free>(context.native(), segment.address);
    if (segment.event != nullptr) {
      driver::destroy<&driver::entry_points::event_destroy>(segment.event);
    }
  }

  /// Frees all free segments; returns their size.
  std::size_t trim_all() noexcept {
    const scoped_lock intact(growing);
    return intact ? trim(std::exchange(common, nullptr)) + trim_lanes() : 0;
  }

  /// Called once the allocator is destroyed.
  void close() noexcept {
    {
      const scoped_lock intact(growing);
      if (!intact) return;
      release(std::exchange(common, nullptr));
      close_lanes();
    }
    drop_owner();
  }

  /// Call it under `growing`.
  caching_statistics statistics() noexcept {
    caching_statistics found = segment_cache::statistics();
    found.shared = shared;
    for (const auto* each = common; each != nullptr; each = each->next) ++found.free_blocks;
    return found;
  }

  void add_common(cached_segment* list) noexcept {
    while (list != nullptr) {
      cached_segment* next = list->next;
      list->next = common;
      common = list;
      list = next;
    }
  }

  /// Makes the free segments of a lane common, each after an event. If that fails, they stay in the
  /// lane. Call it under `growing`.
  result<> share(stream_lane& lane, source_location where) noexcept {
    lane.lock.lock();
    lane.answered = atomic_load<memory_order::relaxed>(requests);
    cached_segment* list = lane.remove_free_segments();
    lane.lock.unlock();
    result<> done = share_list(lane.stream, list, where);
    while (list != nullptr) {
      cached_segment* each = std::exchange(list, list->next);
      each->next = nullptr;
      each->home = &lane;
      put_back(*each);
    }
    return done;
  }

  /// Makes the segments of `list` common, and removes them from it, until recording an event fails.
  result<> share_list(const stream_ref& stream, cached_segment*& list,
                      source_location where) noexcept {
    while (list != nullptr) {
      GPU_TRY(record_event(*list, stream, where));
      cached_segment* each = std::exchange(list, list->next);
      each->next = nullptr;
      add_common(each);
    }
    return {};
  }

  /// Returns a segment to the arena that it came from.
  void put_back(cached_segment& segment) noexcept {
    segment.home->lock.lock();
    const bool kept = segment.home->add(segment);
    segment.home->lock.unlock();
    if (!kept) trim(&segment);
  }

  /// Records the segment's event after the work on `stream` that may still use the segment.
  result<> record_event(cached_segment& segment, const stream_ref& stream,
                        source_location where) noexcept {
    if (segment.event == nullptr) {
      result<> made = driver::call_in<&driver::entry_points::event_create>(
          context.native(), where, &segment.event, CU_EVENT_DISABLE_TIMING);
      if (!made.has_value()) return made;
    }
    result<> done = on_stream(stream, where, [&] {
      return driver::call<&driver::entry_points::event_record>(where, segment.event,
                                                               stream.native());
    });
    segment.pending = true;
    return done;
  }
};

/// Returns whether an event recorded on `stream` marks the end of the work of the stream with that
/// number. It does not during capture, when the event would become part of the graph, nor if
/// `stream` is the per-thread default stream of another thread. (cuStreamIsCapturing,
/// cuStreamGetId)
inline bool can_record_event(const stream_ref& stream, unsigned long long number,
                             source_location where) noexcept {
  if (!require_no_capture(stream, "gpu::caching_allocator", "", where).has_value()) return false;
  if (stream.native() != CU_STREAM_PER_THREAD) return true;
  unsigned long long here = 0;
  const result<> found = on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::stream_get_id>(where, stream.native(), &here);
  });
  return found.has_value() && here == number;
}

/// Makes the free segments of a lane common, or frees them after `stop_holding`.
inline void offer_free_segments(stream_lane& lane, unsigned long long number,
                                source_location where) noexcept {
  caching_state& state = *lane.state;
  const scoped_lock intact(state.growing);
  if (!intact) return;
  if (state.is_stopped()) {
    state.trim(lane.lock_and_remove_free_segments());
  } else if (lane.number == number) {  // else it was reassigned, and that stream may be destroyed
    static_cast<void>(state.share(lane, where));
  }
}

/// The rare part of `stream_lane::give_back`: other streams wait for free segments, or the
/// allocator has stopped holding memory. (Then segments are freed under `growing`, so that an
/// allocation at the same time finds them free or gone.) Releases the lane's lock. From then on
/// other threads may return the last blocks, so this counts as an owner meanwhile.
inline void answer_requests_and_unlock(stream_lane& lane) noexcept {
  caching_state& state = *lane.state;
  state.add_owner();
  const stream_ref stream = lane.stream;  // outlives the buffer that was just destroyed
  const unsigned long long number = lane.number;
  lane.lock.unlock();
  const source_location nowhere;
  if (state.is_stopped() || can_record_event(stream, number, nowhere))
    offer_free_segments(lane, number, nowhere);
  // Else a later return answers the request.
  state.drop_owner();
}

inline void stream_lane::give_back(returnable& returned) noexcept {
  auto& lane = lock_and_give<stream_lane>(returned);
  if (lane.closing) return free_segments_and_unlock(lane);
  if (lane.state->is_stopped() ||
      lane.answered != atomic_load<memory_order::relaxed>(lane.state->requests)) {
    return answer_requests_and_unlock(lane);
  }
  lane.lock.unlock();
}

}}}  // namespace gpu::v1::detail
