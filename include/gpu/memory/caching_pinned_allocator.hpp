#pragma once
/// \file
/// `caching_pinned_allocator`: page-locked host memory in tens of nanoseconds, where the driver
/// takes a millisecond.

#include <gpu/memory/caching_pinned_state.hpp>
#include <gpu/memory/pinned_buffer.hpp>

namespace gpu {

/// Hands out page-locked host memory from segments that it got from the driver once, and keeps what
/// buffers give back. Move-only; empty after a move. The counterpart of `caching_allocator`, but
/// for the host, which does not wait for streams: what is freed can be had again at once, by any
/// thread.
/// **Ownership**: buffers may outlive the allocator; when the process ends, nothing is given back.
/// **Threads**: any may call any member, and destroy buffers, at the same time.
class caching_pinned_allocator {
 public:
  /// For a device's primary context. Asks the driver for nothing yet. `options.limit` counts bytes
  /// of the host. **Errors**: `errc::invalid_argument` for flags that there are not;
  /// `errc::out_of_host_memory`. (cuDevicePrimaryCtxRetain)
  template <class Allocator = caching_pinned_allocator>
  static result<Allocator> create(device with, pinned_flags flags = pinned_flags::none,
                                  caching_options options = {},
                                  source_location where = source_location::current()) noexcept {
    CUcontext primary = nullptr;
    GPU_TRY(detail::find_primary_context(with.native(), primary, where));
    return create<Allocator>(context_ref::from_native(primary, with), flags, options, where);
  }
  template <class Allocator = caching_pinned_allocator>
  static result<Allocator> create(context_ref in, pinned_flags flags = pinned_flags::none,
                                  caching_options options = {},
                                  source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require(in, "gpu::caching_pinned_allocator::create", where));
    GPU_TRY(detail::check_pinned_flags(flags, "gpu::caching_pinned_allocator::create", where));
    auto* cache = new (std::nothrow) detail::pinned_cache;
    if (cache == nullptr) return detail::fail(no_host_memory(where));
    cache->context = in;
    cache->flags = flags;
    cache->options = options;
    for (detail::pinned_lane& each : cache->lanes) each.cache = cache;
    return Allocator{cache};
  }

  /// `count` elements; none are fine.
  /// **Errors**: `errc::size_overflow`; CUDA_ERROR_OUT_OF_MEMORY with what is held.
  /// **Cost**: no driver call where a block is free. Allowed during capture in that case.
  /// (else cuEventQuery, cuMemHostAlloc, cuMemFreeHost)
  template <class T>
  result<pinned_buffer<T>> allocate(std::size_t count,
                                    source_location where = source_location::current()) noexcept {
    GPU_TRY(require("gpu::caching_pinned_allocator::allocate", where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes("gpu::caching_pinned_allocator::allocate", count, sizeof(T), bytes,
                              where));
    detail::pinned_allocation made;
    made.context = cache_->context;
    if (bytes != 0) {
      constexpr std::size_t most = ~std::size_t{0} - detail::caching_state::driver_unit;
      const std::size_t rounded =
          bytes < most ? detail::block_arena::rounded(bytes) : most / 512 * 512;
      detail::pinned_lane& lane = cache_->own_lane();
      detail::cached_block* block = cache_->take_from(lane, rounded);
      if (block == nullptr) [[unlikely]]
        block = GPU_TRY(take_slowly(lane, rounded, where));
      made.address = reinterpret_cast<void*>(block->address);
      made.owner = block;
    }
    return detail::buffer_maker::make<pinned_buffer<T>>(detail::pinned_memory{made}, count);
  }

  /// Frees `buffer` when the work that is queued on `stream` now has finished, without waiting.
  /// **Errors**: where it cannot be marked, the stream is waited for instead, and the buffer freed
  /// in any case; `errc::empty_handle`. Not allowed during capture.
  /// (cuEventCreate, cuEventRecord)
  template <class T>
  result<> free_after(stream_ref stream, pinned_buffer<T>&& buffer,
                      source_location where = source_location::current()) noexcept {
    GPU_TRY(require("gpu::caching_pinned_allocator::free_after", where));
    GPU_TRY(detail::require(stream, "gpu::caching_pinned_allocator::free_after", where));
    if (buffer.empty()) return {};
    GPU_TRY(detail::require_no_capture(stream, "gpu::caching_pinned_allocator::free_after",
                                       "Keep the buffer for as long as the graph.", where));
    detail::pinned_memory memory = detail::buffer_maker::take(buffer);
    auto* waiting = new (std::nothrow) detail::waiting_block;
    result<> marked = waiting == nullptr ? result<>{detail::fail(no_host_memory(where))}
                                         : mark(stream, waiting->event, where);
    if (!marked.has_value()) {
      const result<> waited = stream.synchronize(where);
      delete waiting;
      return waited.has_value() ? marked : waited;
    }
    waiting->block = static_cast<detail::cached_block*>(memory.release().owner);
    const detail::scoped_lock held(cache_->growing);
    detail::waiting_block** last = &cache_->waiting;
    while (*last != nullptr) last = &(*last)->next;
    *last = waiting;
    return {};
  }

  /// Gives all segments that are free back to the system; returns how many bytes they were. Waits
  /// for the streams of `free_after`. Not allowed during capture. (cuMemFreeHost)
  std::size_t trim() noexcept {
    if (cache_ == nullptr) return 0;
    const detail::scoped_lock held(cache_->growing);
    cache_->collect_waiting(true);
    std::size_t bytes = 0;
    for (detail::pinned_lane& each : cache_->lanes) {
      each.lock.lock();
      detail::cached_segment* list = each.remove_free_segments();
      each.lock.unlock();
      bytes += cache_->trim(list);
    }
    return bytes;
  }

  /// Gives back what is free, as `trim` does, and from now on every segment as soon as its last
  /// buffer is gone. Not allowed during capture, nor is freeing afterwards. (cuMemFreeHost)
  void stop_holding() noexcept {
    if (cache_ != nullptr) __atomic_store_n(&cache_->stopped, true, __ATOMIC_RELAXED);
    trim();
  }

  /// What is held and what was done until now. Nothing is `shared` here.
  caching_statistics statistics() const noexcept {
    if (cache_ == nullptr) return {};
    const detail::scoped_lock held(cache_->growing);
    caching_statistics found;
    found.held_bytes = cache_->held.bytes();
    found.peak_held_bytes = cache_->held.peak_bytes();
    found.segments = cache_->held.segments();
    found.misses = cache_->misses;
    found.trims = cache_->trims;
    detail::arena_statistics sum;
    for (detail::pinned_lane& each : cache_->lanes) {
      each.lock.lock();
      sum.add(each.statistics());
      each.lock.unlock();
    }
    found.used_bytes = sum.used_bytes;
    found.used_blocks = sum.used_blocks;
    found.free_blocks = sum.free_blocks;
    found.hits = sum.hits > found.misses ? sum.hits - found.misses : 0;
    return found;
  }

  context_ref context() const noexcept {
    return cache_ == nullptr ? context_ref{} : cache_->context;
  }

  caching_pinned_allocator(caching_pinned_allocator&& other) noexcept
      : cache_{detail::exchange(other.cache_, nullptr)} {}
  caching_pinned_allocator& operator=(caching_pinned_allocator&& other) noexcept {
    caching_pinned_allocator taken{detail::move(other)};
    detail::swap_values(cache_, taken.cache_);
    return *this;
  }
  /// Waits for the streams of `free_after`.
  ~caching_pinned_allocator() {
    if (cache_ == nullptr) return;
    {
      const detail::scoped_lock held(cache_->growing);
      cache_->collect_waiting(true);
      for (detail::pinned_lane& each : cache_->lanes) {
        each.lock.lock();
        each.closing = true;
        detail::cached_segment* list = each.remove_free_segments();
        if (each.segments() != nullptr) {
          __atomic_add_fetch(&cache_->owners, std::size_t{1}, __ATOMIC_RELAXED);
        }
        each.lock.unlock();
        cache_->release(list);
      }
    }
    cache_->drop_owner();
  }

 private:
  explicit caching_pinned_allocator(detail::pinned_cache* cache) noexcept : cache_{cache} {}

  [[gnu::cold]] static cuda_error no_host_memory(source_location where) noexcept {
    return detail::refusal(errc::out_of_host_memory, "gpu::caching_pinned_allocator",
                           text("the host has no memory for the allocator's records."), where);
  }
  result<> require(const char* function, source_location where) const noexcept {
    if (cache_ != nullptr) [[likely]]
      return {};
    return detail::fail(detail::empty_handle_error(function, "allocator", where));
  }

  static result<> mark(const stream_ref& stream, CUevent& event, source_location where) noexcept {
    GPU_TRY(driver::call_in<&driver::entry_points::event_create>(
        stream.context().native(), where, &event, unsigned{CU_EVENT_DISABLE_TIMING}));
    result<> done = detail::on_stream(stream, where, [&] {
      return driver::call<&driver::entry_points::event_record>(where, event, stream.native());
    });
    if (!done.has_value()) driver::destroy<&driver::entry_points::event_destroy>(event);
    return done;
  }

  /// A block where the thread's own lane has none: of another lane, of a stream that got so far, or
  /// of a new segment.
  template <class Block = detail::cached_block>
  [[gnu::cold, gnu::noinline]] result<Block*> take_slowly(detail::pinned_lane& lane,
                                                          std::size_t bytes,
                                                          source_location where) noexcept {
    const auto take_anywhere = [&]() -> Block* {
      for (detail::pinned_lane& each : cache_->lanes) {
        if (Block* block = cache_->take_from(each, bytes)) return block;
      }
      return nullptr;
    };
    {
      const detail::scoped_lock held(cache_->growing);
      if (Block* block = take_anywhere()) return block;
      cache_->collect_waiting(false);
      if (Block* block = take_anywhere()) return block;
      const result<Block*> grown = grow<Block>(lane, bytes, where);
      if (grown.has_value() || !out_of_memory(grown.error())) return grown;
    }
    trim();
    const detail::scoped_lock held(cache_->growing);
    ++cache_->trims;
    if (Block* block = take_anywhere()) return block;
    return grow<Block>(lane, bytes, where);
  }

  static bool out_of_memory(const cuda_error& error) noexcept {
    return error.domain() == error_domain::driver && error.code() == CUDA_ERROR_OUT_OF_MEMORY;
  }

  /// A block of a new segment, taken at once, before another thread does.
  template <class Block>
  result<Block*> grow(detail::pinned_lane& lane, std::size_t bytes,
                      source_location where) noexcept {
    constexpr std::size_t unit = detail::caching_state::driver_unit;
    const std::size_t least = cache_->options.segment_bytes;
    const std::size_t wanted = ((bytes > least ? bytes : least) + unit - 1) / unit * unit;
    const std::size_t limit = cache_->options.limit, holds = cache_->held.bytes();
    if (limit != 0 && (wanted > limit || holds > limit - wanted)) {
      detail::text_builder out;
      out << "asked for " << bytes << " bytes; the limit of this allocator is " << limit
          << " bytes, of which " << holds << " are held";
      return detail::fail(cuda_error(error_domain::driver, CUDA_ERROR_OUT_OF_MEMORY,
                                     "gpu::caching_pinned_allocator::allocate", where)
                              .with_details(out.finish())
                              .with_values(bytes, limit));
    }
    detail::pinned_memory memory;
    ++cache_->misses;
    GPU_TRY(detail::allocate_pinned(cache_->context, wanted, cache_->flags, memory, where));
    auto* segment = new (std::nothrow) detail::cached_segment;
    if (segment == nullptr) return detail::fail(no_host_memory(where));
    segment->address = reinterpret_cast<std::uintptr_t>(memory.get().address);
    segment->bytes = wanted;
    lane.lock.lock();
    Block* block = lane.add(*segment) ? lane.take(bytes) : nullptr;
    lane.lock.unlock();
    if (block == nullptr) {
      delete segment;
      return detail::fail(no_host_memory(where));
    }
    static_cast<void>(memory.release());
    cache_->held.add(wanted);
    return block;
  }

  detail::pinned_cache* cache_;
};

}  // namespace gpu
