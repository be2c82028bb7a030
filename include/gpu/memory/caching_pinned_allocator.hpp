#pragma once
/// \file
/// `caching_pinned_allocator`: allocates page-locked host memory in tens of nanoseconds, by reusing
/// freed memory; the driver needs a millisecond.

#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_operations.hpp>
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

namespace gpu { inline namespace v1 {

/// Allocates page-locked host memory from large segments, and keeps the memory of destroyed buffers
/// for later ones. Move-only; empty after a move. The counterpart of `caching_allocator` for host
/// memory, which does not belong to streams: freed memory is available to all threads at once.
/// **Ownership**: buffers may outlive the allocator, whose destructor blocks until the streams of
/// `free_after` have caught up. Nothing is freed at process exit.
/// **Threads**: any thread may call any member, and destroy buffers, at the same time.
class caching_pinned_allocator : public caching_operations<detail::pinned_cache> {
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
    auto* cache = GPU_TRY(create_state(in, options, function, where));
    cache->flags = flags;
    cache->waiting.keep_events_of(in);
    for (detail::pinned_lane& each : cache->lanes) each.state = cache;
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
    constexpr const char* function = detail::pinned_cache::function;
    GPU_TRY(require_state(function, where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes(function, count, sizeof(T), bytes, where));
    detail::pinned_allocation made;
    made.context = state_->context;
    if (bytes != 0) {
      constexpr std::size_t most = detail::most_segment_bytes;
      const std::size_t rounded = detail::block_arena::rounded(bytes < most ? bytes : most);
      detail::pinned_lane& lane = state_->own_lane();
      detail::cached_block* block = lane.lock_and_take(rounded);
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
    GPU_TRY(require_state(function, where));
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

 private:
  explicit caching_pinned_allocator(detail::pinned_cache* cache) noexcept
      : caching_operations{cache} {}

  /// Takes a block if the thread's own lane has none: from another lane, from the blocks of
  /// `free_after`, or from a new segment.
  result<detail::cached_block*> take_slow_path(detail::pinned_lane& lane, std::size_t bytes,
                                               source_location where) noexcept {
    const auto take_anywhere = [&]() -> detail::cached_block* {
      for (detail::pinned_lane& each : state_->lanes) {
        if (detail::cached_block* block = each.lock_and_take(bytes)) return block;
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
      result<detail::cached_block*> grown = state_->take_new(lane, bytes, where);
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
    return state_->take_new_or_explain(lane, bytes, where);
  }

  /// Returns the error of a forked child: the state is unknown, since another thread of the parent
  /// held the lock.
  static cuda_error fork_error(source_location where) noexcept {
    return driver::detail::unavailable_error(
        driver::current_entry_points(),
        driver::entry_point_index(&driver::entry_points::mem_host_alloc), where);
  }
};

}}  // namespace gpu::v1
