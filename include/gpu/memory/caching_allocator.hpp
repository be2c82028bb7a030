#pragma once
/// \file
/// `caching_allocator`: allocates device memory in tens of nanoseconds, by reusing freed memory.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_operations.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>
#include <gpu/memory/detail/caching/growth.hpp>
#include <gpu/memory/detail/caching/segments.hpp>
#include <gpu/memory/detail/caching/state.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// Allocates device memory from large segments, and keeps the memory of destroyed buffers for later
/// buffers of about the same size. Move-only; empty after a move.
///
/// Memory belongs to the stream that it was allocated on: memory freed on a stream is available on
/// that stream at once, since later work runs later. A segment that is entirely free becomes
/// available to other streams behind an event of its stream: after `hand_over`, or when its stream
/// next frees a buffer after another one had to ask the driver. (For a per-thread default stream,
/// only the thread itself can record that event.) If the device or the limit is exhausted, the
/// allocator waits for the device, uses memory that is free on any stream, frees the rest, and asks
/// the driver again.
///
/// **Ordering**: as for `device_buffer::create(stream, count)`: other streams must wait for an
/// event before they use a buffer, and the stream must outlive its buffers.
/// **Ownership**: buffers may outlive the allocator; a segment is then freed as soon as its last
/// buffer is destroyed. Nothing is freed at process exit.
/// **Threads**: any thread may call any member, and destroy buffers, at the same time. Threads on
/// different streams wait for each other only if the driver has to be asked.
class caching_allocator : public caching_operations<detail::caching_state> {
 public:
  /// Creates an empty object, to be assigned to.
  caching_allocator() noexcept = default;

  /// Creates an allocator for streams of a context, or of a device's primary context. Allocates no
  /// device memory yet.
  /// **Errors**: `errc::invalid_argument` for a limit below one segment, and for segments that are
  /// too large for any device; `errc::out_of_host_memory`. **Capture**: not affected.
  /// (cuDevicePrimaryCtxRetain)
  static result<caching_allocator> create(
      context_or_device on, caching_options options = {},
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::caching_allocator::create";
    const context_ref in = GPU_TRY(on.resolve(function, where));
    return caching_allocator{GPU_TRY(create_state(in, options, function, where))};
  }

  /// Allocates `count` elements, which may be 0, in stream order. The destructor of the buffer
  /// returns them to the allocator; do not `release` them from the buffer.
  /// **Errors**: `errc::wrong_context`; `errc::size_overflow`; CUDA_ERROR_OUT_OF_MEMORY with a map
  /// of the memory that is held; `errc::capture_prohibited` during capture.
  /// **Capture**: not allowed, and invalidates the capture, since the driver does not report the
  /// number of a captured stream. Buffers allocated earlier can be used and destroyed during
  /// capture, but must outlive the last launch of a graph that uses them.
  /// **Cost**: if a block is free, one driver call, for the stream's number.
  /// (cuStreamGetId; else cuStreamIsCapturing, cuMemAlloc, cuStreamWaitEvent, cuCtxSynchronize)
  template <class T>
  result<device_buffer<T>> allocate(stream_ref stream, std::size_t count,
                                    source_location where = source_location::current()) noexcept {
    detail::cached_block* block = take_fast_path(stream, count, sizeof(T));
    if (block == nullptr) GPU_TRY(take_checked(stream, count, sizeof(T), block, where));
    detail::device_allocation made;
    made.stream = stream;
    if (block != nullptr) {
      made.address = block->address;
      made.owner = block;
    }
    return detail::buffer_maker::make<device_buffer<T>>(detail::device_memory{made}, count);
  }

  /// Makes the free segments of a stream available to other streams, after the work that is queued
  /// on it now. Call it before a stream is destroyed, so that its memory is reused.
  /// **Errors**: `errc::capture_prohibited` during capture, which stays valid.
  /// (cuStreamIsCapturing, cuStreamGetId, cuEventCreate, cuEventRecord)
  result<> hand_over(stream_ref stream,
                     source_location where = source_location::current()) noexcept {
    GPU_TRY(require("gpu::caching_allocator::hand_over", stream, where));
    GPU_TRY(detail::require_no_capture(stream, "gpu::caching_allocator::hand_over",
                                       "Call it after the capture has ended.", where));
    unsigned long long number = 0;
    GPU_TRY(get_number(stream, number, where));
    const detail::scoped_lock held(state_->growing);
    detail::stream_lane* lane = state_->find_lane(number);
    return lane == nullptr ? result<>{} : state_->share(*lane, where);
  }

 private:
  explicit caching_allocator(detail::caching_state* state) noexcept : caching_operations{state} {}

  result<> require(const char* function, const stream_ref& stream,
                   source_location where) const noexcept {
    GPU_TRY(require_state(function, where));
    GPU_TRY(detail::require(stream, function, where));
    if (stream.context() == state_->context) return {};
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

  /// Takes a free block of the stream. Returns null if all are in use, or if anything is wrong:
  /// then `take_checked` finds out what.
  detail::cached_block* take_fast_path(const stream_ref& stream, std::size_t count,
                                       std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (state_ == nullptr || stream.context() != state_->context ||
        detail::is_default_stream(stream.native()) || __builtin_mul_overflow(count, size, &bytes) ||
        bytes - 1 >= most) {
      return nullptr;
    }
    unsigned long long number = 0;
    if (!driver::call<&driver::entry_points::stream_get_id>(source_location{}, stream.native(),
                                                            &number)
             .has_value()) {
      return nullptr;
    }
    detail::stream_lane* lane = state_->find_lane(number);
    return lane == nullptr ? nullptr
                           : take_from(*lane, number, detail::block_arena::rounded(bytes));
  }

  /// Takes a free block of the lane; returns null also if the lane was reassigned to another
  /// stream.
  static detail::cached_block* take_from(detail::stream_lane& lane, unsigned long long number,
                                         std::size_t bytes) noexcept {
    lane.lock.lock();
    const bool still_its_lane =
        detail::atomic_load<detail::memory_order::acquire>(lane.number) == number;
    detail::cached_block* block = still_its_lane ? lane.take(bytes) : nullptr;
    lane.lock.unlock();
    return block;
  }

  /// Sets `taken` to a block, or leaves it null if no bytes are requested.
  result<> take_checked(const stream_ref& stream, std::size_t count, std::size_t size,
                        detail::cached_block*& taken, source_location where) noexcept {
    constexpr const char* function = detail::caching_state::function;
    GPU_TRY(require(function, stream, where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes(function, count, size, bytes, where));
    if (bytes == 0) return {};
    GPU_TRY(detail::require_no_capture(stream, function,
                                       "Allocate before the capture begins, and keep the buffer "
                                       "as long as the graph.",
                                       where));
    unsigned long long number = 0;
    GPU_TRY(get_number(stream, number, where));
    detail::stream_lane* lane = state_->find_lane(number);
    const std::size_t rounded = detail::block_arena::rounded(bytes < most ? bytes : most);
    if (lane != nullptr) taken = take_from(*lane, number, rounded);
    if (taken != nullptr) return {};
    taken = GPU_TRY(detail::take_slow_path(*state_, number, stream, rounded, where));
    return {};
  }

  static constexpr std::size_t most = detail::most_segment_bytes;
};

}}  // namespace gpu::v1
