#pragma once
/// \file
/// `allocate_workspace`: temporary device memory of an algorithm.

#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/memory_pool.hpp>
#include <gpu/memory/memory_pool_attribute.hpp>
#include <gpu/system/made_once.hpp>

namespace gpu::inline v1::detail {

/// The pools from which algorithms take temporary memory, one for each device. They are never
/// destroyed.
class workspace_pools {
 public:
  /// Returns the pool of the stream's device, made on first use. An empty ref if it would have to
  /// be made during a capture of the stream, when that is not allowed.
  result<memory_pool_ref> of(const stream_ref& stream, source_location where) noexcept {
    const slot wanted{stream.device().native(), driver::entry_points_generation()};
    if (const entry* known = find(wanted)) return known->pool;
    bool captured = false;
    GPU_TRY(get_captured(stream, captured, where));
    if (captured) return memory_pool_ref();
    memory_pool made = GPU_TRY(memory_pool::create(stream.device(), {}, where));
    GPU_TRY(set_attribute<memory_pool_attribute::release_threshold>(made, kept_bytes, where));
    const scoped_lock held(adding_);
    if (const entry* known = find(wanted)) return known->pool;
    entry* const added = new (std::nothrow) entry{wanted, made, first_};
    if (added == nullptr)
      return fail(out_of_host_memory_error("gpu::memory_pool", sizeof(entry), where));
    static_cast<void>(made.release());
    __atomic_store_n(&first_, added, __ATOMIC_RELEASE);
    return added->pool;
  }

 private:
  /// When a stream is synchronized, the pool frees memory beyond this. With the driver's default of
  /// 0 the next call would map its memory again.
  static constexpr std::uint64_t kept_bytes = 64 << 20;

  struct slot {
    CUdevice device;
    std::uint64_t generation;  ///< of the driver table
    friend bool operator==(const slot&, const slot&) noexcept = default;
  };
  struct entry {
    slot of;
    memory_pool_ref pool;
    entry* next;
  };

  const entry* find(const slot& wanted) const noexcept {
    const entry* each = __atomic_load_n(&first_, __ATOMIC_ACQUIRE);
    while (each != nullptr && !(each->of == wanted)) each = each->next;
    return each;
  }

  entry* first_ = nullptr;
  mutex adding_{};
};

/// Allocates `bytes` of temporary memory in the order of the stream; the buffer's destructor frees
/// it in that order, too.
/// **Errors**: CUDA_ERROR_OUT_OF_MEMORY; `errc::out_of_host_memory`. **Capture**: allowed; then the
/// memory belongs to the graph.
inline result<device_buffer<unsigned char>> allocate_workspace(const stream_ref& stream,
                                                               std::size_t bytes,
                                                               source_location where) noexcept {
  using buffer = device_buffer<unsigned char>;
  if (bytes == 0) return buffer::create(stream, bytes, where);
  static workspace_pools* all = nullptr;
  workspace_pools* const pools = made_once(all, [] { return new (std::nothrow) workspace_pools; });
  if (pools == nullptr)
    return fail(out_of_host_memory_error("gpu::memory_pool", sizeof(workspace_pools), where));
  const result<memory_pool_ref> pool = pools->of(stream, where);
  if (pool.has_value() && *pool) return pool->allocate<unsigned char>(stream, bytes, where);
  // Without pools, and during capture before the first use, as any other buffer.
  if (pool.has_value() || is_without_pools(pool.error()))
    return buffer::create(stream, bytes, where);
  return fail(pool.error());
}

/// Copies bytes to the host and waits for them.
inline result<> copy_to_host(const stream_ref& stream, CUdeviceptr from, void* to,
                             std::size_t bytes, source_location where) noexcept {
  GPU_TRY(on_stream(stream, where, [&] {
    return queue<&driver::entry_points::memcpy_dtoh_async>(stream, copy_label, where, to, from,
                                                           bytes, stream.native());
  }));
  return stream.synchronize(where);
}

}  // namespace gpu::inline v1::detail
