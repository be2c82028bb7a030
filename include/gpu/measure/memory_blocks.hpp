#pragma once
/// \file
/// `list_blocks`: the memory that a caching allocator holds, block by block.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>
#include <gpu/memory/detail/caching/pinned_state.hpp>
#include <gpu/memory/detail/caching/state.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

/// A part of the memory that a caching allocator holds. The blocks of a segment follow each other
/// without gaps.
struct caching_block {
  std::uintptr_t segment = 0;  ///< the address of its segment, an allocation of the driver
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  /// Of `caching_allocator`: the number of the stream that the block belongs to (cuStreamGetId), or
  /// 0 if any stream can take it. Of `caching_pinned_allocator`: the lane, from 1 to 8, among which
  /// the threads are distributed.
  unsigned long long lane = 0;
  bool used = false;  ///< in a buffer, or waiting for a stream after `free_after`
};

namespace detail {

/// Returns the blocks that `for_each_block(work)` passes to `work(block)`. Nothing is allocated
/// during these calls, which hold locks; if there are more blocks than the time before, it starts
/// again.
template <class ForEachBlock>
result<sequence<caching_block>> collect_blocks(source_location where,
                                               ForEachBlock for_each_block) noexcept {
  return catch_bad_alloc("gpu::list_blocks", where, [&]() -> result<sequence<caching_block>> {
    for (;;) {
      std::size_t count = 0, found = 0;
      for_each_block([&](const caching_block&) { ++count; });
      sequence<caching_block> blocks;
      blocks.reserve(count);
      for_each_block([&](const caching_block& each) {
        if (found++ < count) blocks.push_back(each);
      });
      if (found <= count) return blocks;
    }
  });
}

/// Passes the blocks that any stream can take to `work`. Page-locked memory belongs to no stream.
template <class Work> void list_common(const caching_state& state, Work work) noexcept {
  for (const auto* each = state.common; each != nullptr; each = each->next)
    work(caching_block{each->address, each->address, each->bytes, 0, false});
}
template <class Work> void list_common(const pinned_cache&, Work) noexcept {}

template <class Allocator>
result<sequence<caching_block>> list_blocks_of(const Allocator& allocator,
                                               source_location where) noexcept {
  auto* const state = caching_access::state_of(allocator);
  if (state == nullptr) return fail(empty_handle_error("gpu::list_blocks", "allocator", where));
  const scoped_lock held(state->growing);
  if (!held) {  // in a forked child: another thread of the parent held the lock
    return fail(driver::detail::unavailable_error(
        driver::current_entry_points(), driver::entry_point_index(&driver::entry_points::mem_alloc),
        where));
  }
  return collect_blocks(where, [&](auto work) {
    list_common(*state, work);
    state->for_each_lane([&](block_arena& lane, unsigned long long number) {
      lane.for_each_block([&](const cached_segment& segment, const cached_block& each) {
        work(caching_block{segment.address, each.address, each.bytes, number, !each.free});
      });
    });
  });
}

}  // namespace detail

/// Returns all blocks of an allocator, segment by segment.
/// **Errors**: `errc::empty_handle`; `errc::out_of_host_memory`. **Capture**: not affected.
/// **Threads**: others may use the allocator meanwhile.
inline result<sequence<caching_block>> list_blocks(
    const caching_allocator& allocator,
    source_location where = source_location::current()) noexcept {
  return detail::list_blocks_of(allocator, where);
}
inline result<sequence<caching_block>> list_blocks(
    const caching_pinned_allocator& allocator,
    source_location where = source_location::current()) noexcept {
  return detail::list_blocks_of(allocator, where);
}

}}  // namespace gpu::v1
