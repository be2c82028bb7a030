#pragma once
/// \file
/// `caching_allocator`: device memory in tens of nanoseconds, by keeping what was freed.

#include <gpu/memory/detail/caching/growth.hpp>
#include <gpu/memory/device_buffer.hpp>

namespace gpu::inline v0 {

/// Hands out device memory from segments that it got from the driver once, and keeps what buffers
/// give back for the next of about the same size. Move-only; empty after a move.
///
/// Memory belongs to the stream that it was allocated on: a buffer freed on a stream can be had on
/// that stream again at once, since what is queued later runs later. Another stream gets a segment
/// that is all free only behind an event of the first one: after `hand_over`, or when the first one
/// next frees something after the other had to ask the driver (of a thread's own default stream: in
/// that thread, as no other can record an event on it). When the device or the limit is exhausted,
/// the allocator waits for the device, uses what is free on any stream, gives the rest back to the
/// driver and asks it a second time.
///
/// **Ordering**: as `device_buffer::create(stream, count)`: another stream that uses a buffer waits
/// for an event first, and the stream lives until its buffers are gone.
/// **Ownership**: buffers may outlive the allocator; their memory then goes back to the driver as
/// soon as a segment is free. When the process ends, nothing is given back.
/// **Threads**: any may call any member, and destroy buffers, at the same time. Threads on
/// different streams do not wait for each other, but where the driver has to be asked.
class caching_allocator {
 public:
  /// For streams of a context, or of the primary context of a device. Asks the driver for nothing
  /// yet.
  /// **Errors**: `errc::invalid_argument` for a limit below one segment, and for segments beyond
  /// what any device has; `errc::out_of_host_memory`. **Capture**: not affected.
  /// (cuDevicePrimaryCtxRetain)
  static result<caching_allocator> create(
      context_or_device on, caching_options options = {},
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::caching_allocator::create";
    const context_ref in = GPU_TRY(on.resolve(function, where));
    GPU_TRY(detail::check_caching_options(options, function, where));
    auto* state = new (std::nothrow) detail::caching_state;
    if (state == nullptr) {
      return detail::fail(detail::out_of_host_memory_error(function, sizeof *state, where));
    }
    state->context = in;
    state->options = options;
    return caching_allocator{state};
  }

  /// `count` elements in the order of `stream`; no elements are fine. They go back to the allocator
  /// when the buffer is destroyed, and must not be `release`d from it.
  /// **Errors**: `errc::wrong_context`; `errc::size_overflow`; CUDA_ERROR_OUT_OF_MEMORY with a map
  /// of what is held; `errc::capture_prohibited` in a capture, which it spoils, as the driver does
  /// not tell the number of a captured stream. Buffers from before the capture can be used and
  /// freed in it, but a graph that uses one needs it for as long as it is launched.
  /// **Cost**: no driver call but one for the stream's number, where a block is free.
  /// (cuStreamGetId; else cuStreamIsCapturing, cuMemAlloc, cuStreamWaitEvent, cuCtxSynchronize)
  template <class T>
  result<device_buffer<T>> allocate(stream_ref stream, std::size_t count,
                                    source_location where = source_location::current()) noexcept {
    detail::cached_block* block = take_warm(stream, count, sizeof(T));
    if (block == nullptr) [[unlikely]] {
      GPU_TRY(take(stream, count, sizeof(T), block, where));
    }
    // Built from registers: a structure that a call had just filled would be read back slowly.
    detail::device_allocation made;
    made.stream = stream;
    if (block != nullptr) {
      made.address = static_cast<CUdeviceptr>(block->address);
      made.owner = block;
    }
    return detail::buffer_maker::make<device_buffer<T>>(detail::device_memory{made}, count);
  }

  /// Lets other streams have what is free on this one, once the work that is queued on it now has
  /// finished. Before a stream is destroyed, this keeps its memory from lying idle.
  /// **Errors**: `errc::capture_prohibited` in a capture, which goes on.
  /// (cuStreamIsCapturing, cuStreamGetId, cuEventCreate, cuEventRecord)
  result<> hand_over(stream_ref stream,
                     source_location where = source_location::current()) noexcept {
    GPU_TRY(require("gpu::caching_allocator::hand_over", stream, where));
    GPU_TRY(detail::require_no_capture(stream, "gpu::caching_allocator::hand_over",
                                       "Hand over after the capture has ended.", where));
    unsigned long long number = 0;
    GPU_TRY(get_number(stream, number, where));
    const detail::scoped_lock held(state_->growing);
    detail::stream_lane* lane = state_->find_lane(number);
    return lane == nullptr ? result<>{} : state_->share(*lane, where);
  }

  /// Gives all segments that are free back to the driver; returns how many bytes they were. Waits
  /// for the device. Not allowed during capture. (cuMemFree)
  std::size_t trim() noexcept {
    if (state_ == nullptr) return 0;
    const detail::fork_safe_lock held(state_->growing);
    if (!held) return 0;
    std::size_t bytes = state_->trim(detail::exchange(state_->common, nullptr));
    for (detail::stream_lane* each : state_->buckets) {
      for (; each != nullptr; each = each->next) {
        each->lock.lock();
        detail::cached_segment* list = each->remove_free_segments();
        each->lock.unlock();
        bytes += state_->trim(list);
      }
    }
    return bytes;
  }

  /// Gives back what is free, as `trim` does, and from now on every segment as soon as its last
  /// buffer is gone. Not allowed during capture, nor is freeing afterwards. (cuMemFree)
  void stop_holding() noexcept {
    if (state_ != nullptr) __atomic_store_n(&state_->stopped, true, __ATOMIC_RELAXED);
    trim();
  }

  /// What is held and what was done until now.
  caching_statistics statistics() const noexcept {
    if (state_ == nullptr) return {};
    const detail::fork_safe_lock held(state_->growing);
    if (!held) return {};
    caching_statistics found = state_->counts;
    detail::arena_statistics sum;
    state_->for_each_lane([&](detail::stream_lane& lane) { sum.add(lane.statistics()); });
    found.used_bytes = sum.used_bytes;
    found.used_blocks = sum.used_blocks;
    found.free_blocks = sum.free_blocks;
    found.hits = sum.hits - state_->asked_for;
    for (const auto* each = state_->common; each != nullptr; each = each->next) ++found.free_blocks;
    return found;
  }

  context_ref context() const noexcept {
    return state_ == nullptr ? context_ref{} : state_->context;
  }

  caching_allocator(caching_allocator&& other) noexcept
      : state_{detail::exchange(other.state_, nullptr)} {}
  caching_allocator& operator=(caching_allocator&& other) noexcept {
    caching_allocator taken{detail::move(other)};
    detail::swap_values(state_, taken.state_);
    return *this;
  }
  ~caching_allocator() {
    if (state_ == nullptr) return;
    {
      const detail::fork_safe_lock held(state_->growing);
      if (!held) return;
      state_->release(detail::exchange(state_->common, nullptr));
      for (detail::stream_lane* each : state_->buckets) {
        for (; each != nullptr; each = each->next) close(*each);
      }
    }
    state_->drop_owner();
  }

 private:
  explicit caching_allocator(detail::caching_state* state) noexcept : state_{state} {}

  void close(detail::stream_lane& lane) noexcept {
    lane.lock.lock();
    lane.closing = true;
    detail::cached_segment* list = lane.remove_free_segments();
    if (lane.segments() != nullptr) state_->add_owner();
    lane.lock.unlock();
    state_->release(list);
  }

  result<> require(const char* function, const stream_ref& stream,
                   source_location where) const noexcept {
    if (state_ == nullptr) [[unlikely]] {
      return detail::fail(detail::empty_handle_error(function, "allocator", where));
    }
    GPU_TRY(detail::require(stream, function, where));
    if (stream.context() == state_->context) [[likely]]
      return {};
    return detail::fail(detail::wrong_context_error(function, "allocator",
                                                    state_->context.device().native(), "stream",
                                                    stream.device().native(), where));
  }

  static result<> get_number(const stream_ref& stream, unsigned long long& number,
                             source_location where) noexcept {
    return detail::on_stream(stream, where, [&] {
      return driver::call<&driver::entry_points::stream_get_id>(where, stream.native(), &number);
    });
  }

  /// The block that nearly every request gets; null where there is anything to say or to wait for,
  /// which `take` finds out.
  detail::cached_block* take_warm(const stream_ref& stream, std::size_t count,
                                  std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (state_ == nullptr || stream.context() != state_->context ||
        detail::is_default_stream(stream.native()) || __builtin_mul_overflow(count, size, &bytes) ||
        bytes - 1 >= most) [[unlikely]] {
      return nullptr;
    }
    unsigned long long number = 0;
    if (!driver::call<&driver::entry_points::stream_get_id>(source_location{}, stream.native(),
                                                            &number)
             .has_value()) [[unlikely]] {
      return nullptr;
    }
    detail::stream_lane* lane = state_->find_lane(number);
    return lane == nullptr ? nullptr
                           : take_from(*lane, number, detail::block_arena::rounded(bytes));
  }

  /// Null also where the lane has become another stream's.
  static detail::cached_block* take_from(detail::stream_lane& lane, unsigned long long number,
                                         std::size_t bytes) noexcept {
    lane.lock.lock();
    const bool still_ours = __atomic_load_n(&lane.number, __ATOMIC_ACQUIRE) == number;
    detail::cached_block* block = still_ours ? lane.take(bytes) : nullptr;
    lane.lock.unlock();
    return block;
  }

  /// Sets `taken` to a block, or leaves it null where no bytes are asked for.
  [[gnu::cold, gnu::noinline]] result<> take(const stream_ref& stream, std::size_t count,
                                             std::size_t size, detail::cached_block*& taken,
                                             source_location where) noexcept {
    constexpr const char* function = "gpu::caching_allocator::allocate";
    GPU_TRY(require(function, stream, where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes(function, count, size, bytes, where));
    if (bytes == 0) return {};
    GPU_TRY(detail::require_no_capture(stream, function,
                                       "Allocate before the capture begins, and keep the buffer "
                                       "for as long as the graph.",
                                       where));
    unsigned long long number = 0;
    GPU_TRY(get_number(stream, number, where));
    detail::stream_lane* lane = state_->find_lane(number);
    const std::size_t rounded = detail::block_arena::rounded(bytes < most ? bytes : most);
    if (lane != nullptr) taken = take_from(*lane, number, rounded);
    if (taken != nullptr) return {};
    taken = GPU_TRY(detail::take_slowly(*state_, number, stream, rounded, where));
    return {};
  }

  static constexpr std::size_t most = detail::most_segment_bytes;

  detail::caching_state* state_;
};

}  // namespace gpu::inline v0
