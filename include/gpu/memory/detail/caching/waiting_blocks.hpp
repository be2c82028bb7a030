#pragma once
/// \file
/// `waiting_blocks`: the blocks that `caching_pinned_allocator::free_after` frees once their
/// streams have caught up.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// A block that is freed when its event has completed. The blocks of one stream form a list, oldest
/// first. The first block of each list has pointers to the last one, and to the next stream's list.
struct waiting_block {
  cached_block* block = nullptr;
  CUevent event = nullptr;
  stream_ref stream;
  std::size_t thread = 0;  // the thread of a per-thread default stream, or 0
  waiting_block* next = nullptr;
  waiting_block* last = nullptr;
  waiting_block* next_stream = nullptr;
};

/// Returns a number of the calling thread, from 1, which is unique in the process.
inline std::size_t number_of_thread() noexcept {
  static std::size_t next = 1;
  thread_local const std::size_t number = atomic_fetch_add<memory_order::relaxed>(next, 1);
  return number;
}

/// Blocks that wait for their streams, in a list for each stream, so that a busy stream does not
/// delay the blocks of others.
/// **Threads**: any may call any member.
class waiting_blocks {
 public:
  /// Sets the context whose events are reused. Events of other contexts are destroyed after use,
  /// since those contexts may not outlive the allocator.
  void keep_events_of(context_ref context) noexcept { context_ = context; }

  /// Frees `block` once the work that is queued on `stream` now has finished. If this fails, the
  /// block stays with the caller. (cuEventCreate, cuEventRecord)
  result<> add(cached_block& block, const stream_ref& stream, const char* function,
               source_location where) noexcept {
    waiting_block* added = stream.context() == context_ ? take_spare() : nullptr;
    if (added == nullptr) added = new (std::nothrow) waiting_block;
    if (added == nullptr) {
      return fail(out_of_host_memory_error(function, sizeof(waiting_block), where));
    }
    result<> recorded = record_event(*added, stream, where);
    if (!recorded.has_value()) {
      drop(added);
      return recorded;
    }
    added->block = &block;
    added->stream = stream;
    added->thread = stream.native() == CU_STREAM_PER_THREAD ? number_of_thread() : 0;
    const scoped_lock held(lock_);
    append(*added);
    return recorded;
  }

  /// Frees blocks whose events have completed, until `served()` returns true, which is called after
  /// each of them. Returns whether it did. A stream that freed a block is queried first the next
  /// time, so that a busy stream is not queried every time. (cuEventQuery)
  template <class Served> bool collect_until(Served served) noexcept {
    const scoped_lock held(lock_);
    if (!held) return false;
    for (waiting_block** stream = &first_; *stream != nullptr;) {
      waiting_block& oldest = **stream;
      const result<bool> done = driver::query<&driver::entry_points::event_query>(
          CUDA_ERROR_NOT_READY, source_location{}, oldest.event);
      if (!done.has_value() || !*done) {
        stream = &oldest.next_stream;
        continue;
      }
      const bool has_more = oldest.next != nullptr;
      *stream = after(oldest);
      oldest.block->give_back(*oldest.block);
      if (oldest.stream.context() == context_) {
        oldest.next = std::exchange(spare_, &oldest);
      } else {
        drop(&oldest);
      }
      if (served()) {
        if (has_more) move_to_front(*stream);
        return true;
      }
    }
    return false;
  }

  /// Waits for all streams, frees all blocks, and destroys all events.
  /// (cuEventSynchronize, cuEventDestroy)
  void wait() noexcept {
    waiting_block *first = nullptr, *spare = nullptr;
    {
      const scoped_lock held(lock_);
      if (!held) return;
      first = std::exchange(first_, nullptr);
      spare = std::exchange(spare_, nullptr);
    }
    while (first != nullptr) {
      waiting_block* oldest = std::exchange(first, after(*first));
      driver::destroy<&driver::entry_points::event_synchronize>(oldest->event);
      oldest->block->give_back(*oldest->block);
      drop(oldest);
    }
    while (spare != nullptr) drop(std::exchange(spare, spare->next));
  }

 private:
  waiting_block* take_spare() noexcept {
    const scoped_lock held(lock_);
    waiting_block* taken = spare_;
    if (taken != nullptr) spare_ = std::exchange(taken->next, nullptr);
    return taken;
  }

  static result<> record_event(waiting_block& added, const stream_ref& stream,
                               source_location where) noexcept {
    if (added.event == nullptr) {
      GPU_TRY(driver::call_in<&driver::entry_points::event_create>(
          stream.context().native(), where, &added.event, CU_EVENT_DISABLE_TIMING));
    }
    return on_stream(stream, where, [&] {
      return driver::call<&driver::entry_points::event_record>(where, added.event, stream.native());
    });
  }

  static void drop(waiting_block* dropped) noexcept {
    if (dropped->event != nullptr) {
      driver::destroy<&driver::entry_points::event_destroy>(dropped->event);
    }
    delete dropped;
  }

  void append(waiting_block& added) noexcept {
    waiting_block* stream = first_;
    while (stream != nullptr &&
           !(stream->stream == added.stream && stream->thread == added.thread)) {
      stream = stream->next_stream;
    }
    if (stream != nullptr) {
      stream->last->next = &added;
      stream->last = &added;
    } else {
      added.last = &added;
      added.next_stream = std::exchange(first_, &added);
    }
  }

  /// Moves the stream that `link` points to to the front of the list of streams.
  void move_to_front(waiting_block*& link) noexcept {
    waiting_block* moved = std::exchange(link, link->next_stream);
    moved->next_stream = std::exchange(first_, moved);
  }

  /// Removes the oldest block of a stream: returns the one after it, or the next stream's list.
  static waiting_block* after(waiting_block& oldest) noexcept {
    if (oldest.next == nullptr) return oldest.next_stream;
    oldest.next->last = oldest.last;
    oldest.next->next_stream = oldest.next_stream;
    return oldest.next;
  }

  mutex lock_{};
  context_ref context_;
  waiting_block* first_ = nullptr;
  waiting_block* spare_ = nullptr;  // each has an event to reuse
};

}}}  // namespace gpu::v1::detail
