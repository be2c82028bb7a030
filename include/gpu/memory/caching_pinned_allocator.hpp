#pragma once
/// \file
/// `caching_pinned_allocator`: allocates page-locked host memory in tens of nanoseconds, by reusing
/// freed memory; the driver needs a millisecond.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>
#include <gpu/memory/detail/caching/pinned_state.hpp>
#include <gpu/memory/detail/caching/segments.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/detail/pinned_allocation.hpp>
#include <gpu/memory/pinned_buffer.hpp>
#include <gpu/memory/pinned_flags.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 {

/// Allocates page-locked host memory from large segments, and keeps the memory of destroyed buffers
/// for later ones. Move-only; empty after a move. The counterpart of `caching_allocator` for host
/// memory, which does not belong to streams: freed memory is available to all threads at once.
/// **Ownership**: buffers may outlive the allocator. Nothing is freed at process exit.
/// **Threads**: any thread may call any member, and destroy buffers, at the same time.
class caching_pinned_allocator {
 public:
  /// Creates an empty object, to be assigned to.
  caching_pinned_allocator() noexcept = default;

  /// Creates an allocator in a context, or in a device's primary context. Allocates no page-locked
  /// memory yet. `options.limit` is in bytes of host memory.
  /// **Errors**: `errc::invalid_argument` for invalid flags, for a limit below one segment, and for
  /// segments that are too large for any host; `errc::out_of_host_memory`. **Capture**: not
  /// affected. (cuDevicePrimaryCtxRetain)
  static result<caching_pinned_allocator> create(
      context_or_device on, pinned_flags flags = pinned_flags::none, caching_options options = {},
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::caching_pinned_allocator::create";
    const context_ref in = GPU_TRY(on.resolve(function, where));
    GPU_TRY(detail::check_pinned_flags(flags, function, where));
    GPU_TRY(detail::check_caching_options(options, function, where));
    auto* cache = new (std::nothrow) detail::pinned_cache;
    if (cache == nullptr) {
      return detail::fail(detail::out_of_host_memory_error(function, sizeof *cache, where));
    }
    cache->context = in;
    cache->flags = flags;
    cache->options = options;
    cache->waiting.keep_events_of(in);
    for (detail::pinned_lane& each : cache->lanes) each.cache = cache;
    return caching_pinned_allocator{cache};
  }

  /// Allocates `count` elements, which may be 0.
  /// **Errors**: `errc::size_overflow`; `errc::out_of_host_memory`; CUDA_ERROR_OUT_OF_MEMORY with a
  /// map of the memory that is held.
  /// **Cost**: no driver call if a block is free. **Capture**: allowed only in that case.
  /// (else cuEventQuery, cuMemHostAlloc, cuMemFreeHost)
  template <class T>
  result<pinned_buffer<T>> allocate(std::size_t count,
                                    source_location where = source_location::current()) noexcept {
    GPU_TRY(require("gpu::caching_pinned_allocator::allocate", where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes("gpu::caching_pinned_allocator::allocate", count, sizeof(T), bytes,
                              where));
    detail::pinned_allocation made;
    made.context = state_->context;
    if (bytes != 0) {
      constexpr std::size_t most = detail::most_segment_bytes;
      const std::size_t rounded = detail::block_arena::rounded(bytes < most ? bytes : most);
      detail::pinned_lane& lane = state_->own_lane();
      detail::cached_block* block = state_->take_from(lane, rounded);
      if (block == nullptr) block = GPU_TRY(take_slow_path(lane, rounded, where));
      made.address = reinterpret_cast<void*>(block->address);
      made.owner = block;
    }
    return detail::buffer_maker::make<pinned_buffer<T>>(detail::pinned_memory{made}, count);
  }

  /// Frees `buffer` once the work that is queued on `stream` now has finished; does not block.
  /// Later allocations that find nothing else free check which streams have caught up.
  /// **Errors**: `errc::empty_handle`; `errc::out_of_host_memory`. If no event can be recorded,
  /// waits for the stream instead; the buffer is freed in any case. **Capture**: not allowed.
  /// **Cost**: one cuEventRecord; events are reused, except for streams of other contexts.
  /// (cuStreamIsCapturing, cuEventCreate, cuEventRecord)
  template <class T>
  result<> free_after(stream_ref stream, pinned_buffer<T>&& buffer,
                      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::caching_pinned_allocator::free_after";
    GPU_TRY(require(function, where));
    GPU_TRY(detail::require(stream, function, where));
    if (buffer.empty()) return {};
    GPU_TRY(detail::require_no_capture(stream, function, "Keep the buffer as long as the graph.",
                                       where));
    detail::pinned_memory memory = detail::buffer_maker::take(buffer);
    auto& block = *static_cast<detail::cached_block*>(memory.get().owner);
    const result<> added = state_->waiting.add(block, stream, function, where);
    if (!added.has_value()) {
      const result<> waited = stream.synchronize(where);
      return waited.has_value() ? added : waited;
    }
    static_cast<void>(memory.release());
    return {};
  }

  /// Frees all free segments; returns their size in bytes. Blocks until the streams of `free_after`
  /// have caught up. **Capture**: not allowed. (cuMemFreeHost)
  std::size_t trim() noexcept {
    if (state_ == nullptr) return 0;
    state_->waiting.wait();
    const detail::scoped_lock held(state_->growing);
    if (!held) return 0;
    std::size_t bytes = 0;
    for (detail::pinned_lane& each : state_->lanes) {
      each.lock.lock();
      detail::cached_segment* list = each.remove_free_segments();
      each.lock.unlock();
      bytes += state_->trim(list);
    }
    return bytes;
  }

  /// Frees all free segments, as `trim` does, and from now on each segment as soon as its last
  /// buffer is destroyed. **Capture**: not allowed; afterwards, destroying buffers during capture
  /// is not allowed either. (cuMemFreeHost)
  void stop_holding() noexcept {
    if (state_ != nullptr)
      detail::atomic_store<detail::memory_order::relaxed>(state_->stopped, true);
    trim();
  }

  /// Returns the current state and the history of the allocator; `shared` is always 0.
  caching_statistics statistics() const noexcept {
    if (state_ == nullptr) return {};
    const detail::scoped_lock held(state_->growing);
    if (!held) return {};
    caching_statistics found;
    found.held_bytes = state_->held.bytes();
    found.peak_held_bytes = state_->held.peak_bytes();
    found.segments = state_->held.segments();
    found.misses = state_->misses;
    found.trims = state_->trims;
    detail::arena_statistics sum;
    state_->for_each_lane(
        [&](detail::pinned_lane& lane, unsigned long long) { sum.add(lane.statistics()); });
    found.used_bytes = sum.used_bytes;
    found.used_blocks = sum.used_blocks;
    found.free_blocks = sum.free_blocks;
    found.hits = sum.hits - state_->new_blocks;
    return found;
  }

  context_ref context() const noexcept {
    return state_ == nullptr ? context_ref{} : state_->context;
  }

  caching_pinned_allocator(caching_pinned_allocator&& other) noexcept
      : state_{std::exchange(other.state_, nullptr)} {}
  caching_pinned_allocator& operator=(caching_pinned_allocator&& other) noexcept {
    caching_pinned_allocator taken{std::move(other)};
    std::swap(state_, taken.state_);
    return *this;
  }
  /// Blocks until the streams of `free_after` have caught up.
  ~caching_pinned_allocator() {
    if (state_ == nullptr) return;
    state_->waiting.wait();
    for (detail::pinned_lane& each : state_->lanes) {
      each.lock.lock();
      each.closing = true;
      detail::cached_segment* list = each.remove_free_segments();
      if (each.segments() != nullptr) state_->add_owner();
      each.lock.unlock();
      state_->release(list);
    }
    state_->drop_owner();
  }

 private:
  friend struct detail::caching_access;

  explicit caching_pinned_allocator(detail::pinned_cache* cache) noexcept : state_{cache} {}

  result<> require(const char* function, source_location where) const noexcept {
    if (state_ != nullptr) return {};
    return detail::fail(detail::empty_handle_error(function, "allocator", where));
  }

  /// Takes a block if the thread's own lane has none: from another lane, from the blocks of
  /// `free_after`, or from a new segment.
  result<detail::cached_block*> take_slow_path(detail::pinned_lane& lane, std::size_t bytes,
                                               source_location where) noexcept {
    const auto take_anywhere = [&]() -> detail::cached_block* {
      for (detail::pinned_lane& each : state_->lanes) {
        if (detail::cached_block* block = state_->take_from(each, bytes)) return block;
      }
      return nullptr;
    };
    bool asked_driver = false;
    {
      const detail::last_error_mark before;
      const detail::scoped_lock held(state_->growing);
      if (!held) return detail::fail(fork_error(where));
      if (detail::cached_block* block = take_anywhere()) return block;
      detail::cached_block* freed = nullptr;
      if (state_->waiting.collect_until([&] { return (freed = take_anywhere()) != nullptr; })) {
        return freed;
      }
      const std::size_t misses = state_->misses;
      result<detail::cached_block*> grown = grow(lane, bytes, where);
      if (grown.has_value() || !detail::is_out_of_memory(grown.error())) return grown;
      asked_driver = state_->misses != misses;
      before.restore();
    }
    trim();
    const detail::scoped_lock held(state_->growing);
    if (!held) return detail::fail(fork_error(where));
    ++state_->trims;
    if (detail::cached_block* block = take_anywhere()) {
      if (asked_driver) ++state_->new_blocks;
      return block;
    }
    result<detail::cached_block*> grown = grow(lane, bytes, where);
    if (grown.has_value() || !detail::is_out_of_memory(grown.error())) return grown;
    return detail::fail(
        detail::explain_held_memory(grown.error(), state_->held.bytes(), state_->held.segments(),
                                    "lane", [&](auto work) { state_->for_each_lane(work); }));
  }

  /// Returns the error of a forked child: the state is unknown, since another thread of the parent
  /// held the lock.
  static cuda_error fork_error(source_location where) noexcept {
    return driver::detail::unavailable_error(
        driver::current_entry_points(),
        driver::entry_point_index(&driver::entry_points::mem_host_alloc), where);
  }

  /// Takes a block from a new segment.
  result<detail::cached_block*> grow(detail::pinned_lane& lane, std::size_t bytes,
                                     source_location where) noexcept {
    constexpr const char* function = "gpu::caching_pinned_allocator::allocate";
    std::size_t got =
        GPU_TRY(detail::choose_segment(state_->options, state_->held.bytes(),
                                       state_->options.segment_bytes, bytes, function, where));
    ++state_->misses;
    detail::cached_block* block = GPU_TRY((detail::take_segment<detail::pinned_memory>(
        lane, bytes, got, function, where, [&](std::size_t wanted, detail::pinned_memory& memory) {
          return detail::allocate_pinned(state_->context, wanted, state_->flags, memory, where);
        })));
    state_->held.add(got);
    ++state_->new_blocks;
    return block;
  }

  detail::pinned_cache* state_ = nullptr;
};

}}  // namespace gpu::v1
