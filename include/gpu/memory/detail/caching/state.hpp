#pragma once
/// \file
/// What `caching_allocator` is inside: an arena for each stream, the segments that pass from one
/// stream to another, and the way to the driver and back.

#include <gpu/driver/event.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/system/mutex.hpp>

namespace gpu::inline v0 {

struct caching_options {
  /// The most bytes that are held of the device at a time, used or not; 0 is no limit.
  std::size_t limit = 0;
  /// The least that is asked of the driver at a time, for requests that are smaller. Rounded up to
  /// 2 MiB, in which the driver counts.
  std::size_t segment_bytes = std::size_t{2} << 20;
};

/// What a caching allocator has done and holds.
struct caching_statistics {
  std::size_t held_bytes = 0;       ///< of the device, used or not
  std::size_t peak_held_bytes = 0;  ///< the most there ever were
  std::size_t used_bytes = 0;       ///< in buffers, rounded up to 512 for each
  std::size_t segments = 0;         ///< pieces that the driver gave
  std::size_t used_blocks = 0;      ///< buffers
  std::size_t free_blocks = 0;      ///< pieces that wait for a buffer
  std::size_t hits = 0;             ///< buffers made without asking the driver for memory
  std::size_t misses = 0;           ///< times that the driver was asked for memory, also in vain
  std::size_t shared = 0;           ///< segments that passed from one stream to another
  std::size_t trims = 0;            ///< times that free segments went back to make room
};

namespace detail {

struct caching_state;

/// What one stream has. The numbers of streams are never used twice, unlike their handles.
struct stream_lane : block_arena {
  explicit stream_lane(caching_state& of) noexcept : block_arena{&give_back}, state{of} {}
  static void give_back(returnable& returned) noexcept;

  /// Makes it another stream's; false where it holds something.
  bool pass_to(unsigned long long to, const stream_ref& its) noexcept {
    lock.lock();
    const bool passed = segments() == nullptr;
    if (passed) {
      stream = its;
      __atomic_store_n(&number, to, __ATOMIC_RELEASE);
    }
    lock.unlock();
    return passed;
  }

  caching_state& state;
  unsigned long long number = 0;  // of the stream; changes under `growing` and the lock
  stream_ref stream;
  stream_lane* next = nullptr;  // in the same bucket
  unsigned answered = 0;        // requests of other streams
  bool closing = false;         // the allocator is gone; what is given back goes to the driver
};

/// **Threads**: `growing` guards what is not atomic; it is taken before a lane's lock.
struct caching_state {
  static constexpr std::size_t bucket_count = 64;

  context_ref context;
  caching_options options;
  mutex growing{};
  stream_lane* buckets[bucket_count] = {};  // read without a lock; lanes are only ever added
  cached_segment* common = nullptr;         // free for every stream, behind their events
  caching_statistics counts;
  std::size_t asked_for = 0;  // blocks for which the driver was asked
  bool stopped = false;       // atomic: what is given back goes to the driver as soon as it can
  unsigned requests = 0;      // atomic: how often a stream could have used what others have free
  std::size_t owners = 1;     // atomic: the allocator, after its end the lanes in use, `attend`

  stream_lane* find_lane(unsigned long long number) const noexcept {
    stream_lane* lane = __atomic_load_n(&buckets[number % bucket_count], __ATOMIC_ACQUIRE);
    while (lane != nullptr && __atomic_load_n(&lane->number, __ATOMIC_ACQUIRE) != number) {
      lane = lane->next;
    }
    return lane;
  }
  /// The lane of a stream, made where there is none; null where the host has no memory for it. A
  /// lane that holds nothing becomes another stream's, so that streams that are gone leave none.
  /// Under `growing`.
  stream_lane* make_lane(unsigned long long number, const stream_ref& stream) noexcept {
    stream_lane* lane = find_lane(number);
    if (lane != nullptr) return lane;
    stream_lane*& bucket = buckets[number % bucket_count];
    for (lane = bucket; lane != nullptr && !lane->pass_to(number, stream);) lane = lane->next;
    if (lane != nullptr) return lane;
    lane = new (std::nothrow) stream_lane(*this);
    if (lane == nullptr) return nullptr;
    lane->pass_to(number, stream);
    lane->next = bucket;
    __atomic_store_n(&bucket, lane, __ATOMIC_RELEASE);
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

  void add_owner() noexcept { __atomic_add_fetch(&owners, std::size_t{1}, __ATOMIC_RELAXED); }
  void drop_owner() noexcept {
    if (__atomic_sub_fetch(&owners, std::size_t{1}, __ATOMIC_ACQ_REL) != 0) return;
    for (stream_lane* each : buckets) {
      while (each != nullptr) {
        stream_lane* next = each->next;
        delete each;
        each = next;
      }
    }
    delete this;
  }

  /// Gives segments back to the driver, which waits for work that may still use them.
  void release(cached_segment* list) noexcept {
    while (list != nullptr) {
      cached_segment* next = list->next;
      driver::destroy_in<&driver::entry_points::mem_free>(context.native(),
                                                          static_cast<CUdeviceptr>(list->address));
      if (list->event != nullptr) {
        driver::destroy<&driver::entry_points::event_destroy>(list->event);
      }
      delete list;
      list = next;
    }
  }

  /// The same for segments that count as held; under `growing`.
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

  /// Puts the free segments of a lane behind an event, where other streams find them. Where that
  /// fails they stay the lane's. Under `growing`.
  result<> share(stream_lane& lane, source_location where) noexcept {
    lane.lock.lock();
    lane.answered = __atomic_load_n(&requests, __ATOMIC_RELAXED);
    cached_segment* list = lane.remove_free_segments();
    lane.lock.unlock();
    result<> done = share_list(lane.stream, list, where);
    while (list != nullptr) {
      cached_segment* each = exchange(list, list->next);
      each->next = nullptr;
      each->home = &lane;
      put_back(*each);
    }
    return done;
  }

  /// Takes off `list` what it could put behind an event.
  result<> share_list(const stream_ref& stream, cached_segment*& list,
                      source_location where) noexcept {
    while (list != nullptr) {
      GPU_TRY(record_event(*list, stream, where));
      cached_segment* each = exchange(list, list->next);
      each->next = nullptr;
      add_common(each);
    }
    return {};
  }

  /// Makes a segment its arena's again.
  void put_back(cached_segment& segment) noexcept {
    segment.home->lock.lock();
    const bool kept = segment.home->add(segment);
    segment.home->lock.unlock();
    if (!kept) trim(&segment);
  }

  /// Marks the end of the work of `stream` so far, which may still use the segment.
  result<> record_event(cached_segment& segment, const stream_ref& stream,
                        source_location where) noexcept {
    if (segment.event == nullptr) {
      result<> made = driver::call_in<&driver::entry_points::event_create>(
          context.native(), where, &segment.event, unsigned{CU_EVENT_DISABLE_TIMING});
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

/// Whether an event can mark the end of the work of the stream of that number here: not while it is
/// captured, which would put the event into its graph, and not where `stream` is another one in
/// this thread. (cuStreamIsCapturing, cuStreamGetId)
template <class Number>
bool can_mark(const stream_ref& stream, Number number, source_location where) noexcept {
  if (!require_no_capture(stream, "gpu::caching_allocator", "", where).has_value()) return false;
  if (stream.native() != CU_STREAM_PER_THREAD) return true;
  Number here = 0;
  return on_stream(stream, where,
                   [&] {
                     return driver::call<&driver::entry_points::stream_get_id>(
                         where, stream.native(), &here);
                   })
             .has_value() &&
         here == number;
}

/// Gives what is free of a lane to the driver where nothing is to be held, else to other streams.
template <class Number>
void answer(stream_lane& lane, Number number, source_location where) noexcept {
  caching_state& state = lane.state;
  const scoped_lock held(state.growing);
  if (!held) return;
  if (__atomic_load_n(&state.stopped, __ATOMIC_RELAXED)) {
    lane.lock.lock();
    cached_segment* list = lane.remove_free_segments();
    lane.lock.unlock();
    state.trim(list);
  } else if (lane.number == number) {  // else it has become another stream's, which may be gone
    static_cast<void>(state.share(lane, where));
  }
}

/// What seldom happens when a block comes back: others wait for free segments, or the allocator is
/// gone. Lets go of the lane's lock; from then on other threads may give back all that keeps the
/// lane, so this counts as an owner meanwhile.
[[gnu::cold, gnu::noinline]] inline void attend(stream_lane& lane) noexcept {
  caching_state& state = lane.state;
  state.add_owner();
  if (lane.closing) {
    cached_segment* list = lane.remove_free_segments();
    const bool emptied = list != nullptr && lane.segments() == nullptr;
    lane.lock.unlock();
    state.release(list);
    if (emptied) state.drop_owner();
  } else {
    const stream_ref stream = lane.stream;  // lives, as this was a buffer of it
    const unsigned long long number = lane.number;
    lane.lock.unlock();
    const source_location nowhere;
    if (__atomic_load_n(&state.stopped, __ATOMIC_RELAXED) || can_mark(stream, number, nowhere)) {
      answer(lane, number, nowhere);
    }  // else the request can wait
  }
  state.drop_owner();
}

inline void stream_lane::give_back(returnable& returned) noexcept {
  auto& block = static_cast<cached_block&>(returned);
  auto& lane = static_cast<stream_lane&>(*block.arena);
  lane.lock.lock();
  lane.give(block);
  if (lane.closing || __atomic_load_n(&lane.state.stopped, __ATOMIC_RELAXED) ||
      lane.answered != __atomic_load_n(&lane.state.requests, __ATOMIC_RELAXED)) [[unlikely]] {
    return attend(lane);
  }
  lane.lock.unlock();
}

}  // namespace detail
}  // namespace gpu::inline v0
