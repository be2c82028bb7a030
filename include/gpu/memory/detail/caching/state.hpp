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
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

struct caching_state;

/// The arena of one stream, identified by the stream's number, which is unique in the process,
/// unlike its handle.
struct stream_lane : block_arena {
  explicit stream_lane(caching_state& of) noexcept : block_arena{&give_back}, state{of} {}
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

  caching_state& state;
  unsigned long long number = 0;  // of the stream; written under `growing` and the lock
  stream_ref stream;
  stream_lane* next = nullptr;  // in the same bucket
  unsigned answered = 0;        // the value of `caching_state::requests` that was answered last
  bool closing = false;         // the allocator is destroyed; free segments go to the driver
};

/// **Threads**: `growing` guards the members that are not atomic; it is locked before a lane's
/// lock.
struct caching_state {
  static constexpr std::size_t bucket_count = 64;

  context_ref context;
  caching_options options;
  mutex growing{};
  stream_lane* buckets[bucket_count] = {};  // read without a lock; lanes are never removed
  cached_segment* common = nullptr;         // free for all streams, after their events
  caching_statistics counts;
  std::size_t new_blocks = 0;  // blocks from new segments
  bool stopped = false;        // atomic: free segments go to the driver as soon as possible
  unsigned requests = 0;       // atomic: how often a stream needed segments that others had free
  // Atomic. The owners are the allocator, the lanes in use after it was destroyed, and the calls of
  // `finish_give_back`.
  std::size_t owners = 1;

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
    lane = new (std::nothrow) stream_lane(*this);
    if (lane == nullptr) return nullptr;
    lane->reassign(number, stream);
    lane->next = bucket;
    atomic_store<memory_order::release>(bucket, lane);
    return lane;
  }

  template <class Work> void for_each_lane(Work work) noexcept {
    for (stream_lane* each : buckets) {
      for (; each != nullptr; each = each->next) {
        each->lock.lock();
        work(*each);
        each->lock.unlock();
      }
    }
  }

  void add_owner() noexcept { atomic_fetch_add<memory_order::relaxed>(owners, 1); }
  void drop_owner() noexcept {
    if (atomic_fetch_sub<memory_order::acq_rel>(owners, 1) != 1) return;
    for (stream_lane* each : buckets) {
      while (each != nullptr) {
        stream_lane* next = each->next;
        delete each;
        each = next;
      }
    }
    delete this;
  }

  /// Frees segments. The driver waits for work that may still use them.
  void release(cached_segment* list) noexcept {
    while (list != nullptr) {
      cached_segment* next = list->next;
      driver::destroy_in<&driver::entry_points::mem_free>(context.native(), list->address);
      if (list->event != nullptr) {
        driver::destroy<&driver::entry_points::event_destroy>(list->event);
      }
      delete list;
      list = next;
    }
  }

  /// Frees segments that count as held; returns their size. Call it under `growing`.
  std::size_t trim(cached_segment* list) noexcept {
    std::size_t bytes = 0;
    for (const cached_segment* each = list; each != nullptr; each = each->next) {
      bytes += each->bytes;
      --counts.segments;
    }
    counts.held_bytes -= bytes;
    release(list);
    return bytes;
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
  caching_state& state = lane.state;
  const scoped_lock held(state.growing);
  if (!held) return;
  if (atomic_load<memory_order::relaxed>(state.stopped)) {
    lane.lock.lock();
    cached_segment* list = lane.remove_free_segments();
    lane.lock.unlock();
    state.trim(list);
  } else if (lane.number == number) {  // else it was reassigned, and that stream may be destroyed
    static_cast<void>(state.share(lane, where));
  }
}

/// The rare part of `stream_lane::give_back`: other streams wait for free segments, or the
/// allocator is destroyed or has stopped holding memory. Releases the lane's lock. From then on
/// other threads may return the last blocks, so this counts as an owner meanwhile.
inline void finish_give_back(stream_lane& lane) noexcept {
  caching_state& state = lane.state;
  state.add_owner();
  if (lane.closing) {
    cached_segment* list = lane.remove_free_segments();
    const bool emptied = list != nullptr && lane.segments() == nullptr;
    lane.lock.unlock();
    state.release(list);
    if (emptied) state.drop_owner();
  } else {
    const stream_ref stream = lane.stream;  // outlives the buffer that was just destroyed
    const unsigned long long number = lane.number;
    lane.lock.unlock();
    const source_location nowhere;
    if (atomic_load<memory_order::relaxed>(state.stopped) ||
        can_record_event(stream, number, nowhere)) {
      offer_free_segments(lane, number, nowhere);
    }  // else a later return answers the request
  }
  state.drop_owner();
}

inline void stream_lane::give_back(returnable& returned) noexcept {
  auto& block = static_cast<cached_block&>(returned);
  auto& lane = static_cast<stream_lane&>(*block.arena);
  lane.lock.lock();
  lane.give(block);
  if (lane.closing || atomic_load<memory_order::relaxed>(lane.state.stopped) ||
      lane.answered != atomic_load<memory_order::relaxed>(lane.state.requests)) {
    return finish_give_back(lane);
  }
  lane.lock.unlock();
}

}}}  // namespace gpu::v1::detail
