#pragma once
/// \file
/// `list_blocks`: the blocks of a caching allocator as a list for its user.

#include <gpu/core/detail/catch_bad_alloc.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>

namespace gpu::inline v1::detail {

/// Returns the blocks that `for_each_block(work)` passes to `work(block)`. Nothing is allocated
/// during these calls, which hold locks; if there are more blocks than the time before, it starts
/// again.
template <class ForEachBlock>
result<sequence<caching_block>> list_blocks(const char* function, source_location where,
                                            ForEachBlock for_each_block) noexcept {
  return catch_bad_alloc(function, where, [&]() -> result<sequence<caching_block>> {
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

/// Passes the blocks of an arena to `work`.
template <class Work>
void list_arena(block_arena& arena, unsigned long long lane, Work work) noexcept {
  arena.for_each_block([&](const cached_segment& segment, const cached_block& each) {
    work(caching_block{segment.address, each.address, each.bytes, lane, !each.free});
  });
}

}  // namespace gpu::inline v1::detail
