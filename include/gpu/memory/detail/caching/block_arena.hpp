#pragma once
/// \file
/// `block_arena`: suballocates blocks of larger segments of memory in constant time; the core of
/// the caching allocators. It works with addresses and sizes only, and never accesses the memory,
/// which may be device memory.

#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/system/mutex.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

namespace gpu { inline namespace v1 { namespace detail {

struct cached_block;

/// Lets functions outside of the allocators read their state.
struct caching_access {
  template <class Allocator> static auto* state_of(const Allocator& allocator) noexcept {
    return allocator.state_;
  }
};

/// One allocation of the driver, divided into consecutive blocks.
struct cached_segment {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  cached_block* first = nullptr;
  cached_segment* next = nullptr;
  class block_arena* home = nullptr;  // the last arena, while the segment is in none
  CUevent event = nullptr;            // orders the next stream after the last one
  bool pending = false;               // the event was recorded, and may not have completed yet
};

/// A part of a segment, free or in use.
struct cached_block : returnable {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  class block_arena* arena = nullptr;
  cached_block* before = nullptr;  // neighbors in the segment
  cached_block* after = nullptr;
  cached_block* next_free = nullptr;  // in the free list of its size class
  cached_block* previous_free = nullptr;
  bool free = false;

  bool is_whole_segment() const noexcept { return before == nullptr && after == nullptr; }
};

/// The number of blocks of an arena, and of bytes in them.
struct arena_statistics {
  std::size_t used_blocks = 0;
  std::size_t used_bytes = 0;
  std::size_t free_blocks = 0;
  std::size_t hits = 0;  // blocks taken, also from new segments

  void add(const arena_statistics& other) noexcept {
    used_blocks += other.used_blocks;
    used_bytes += other.used_bytes;
    free_blocks += other.free_blocks;
    hits += other.hits;
  }
};

/// Keeps free blocks in lists by size: 16 size classes for each power of two. A bit map has a bit
/// for each list that is not empty, so that two bit scans find the smallest class whose blocks are
/// all large enough. The list of the requested size itself is searched first. Free neighbors are
/// merged; only the few blocks that were returned last stay unmerged, for the next request of the
/// same size.
/// **Threads**: the caller holds `lock` during all other calls.
class alignas(128) block_arena {
 private:
  struct slab {
    slab* next;
    cached_block blocks[64];
  };

 public:
  static constexpr std::size_t unit = 512;  // bytes; sizes and addresses are multiples of it
  static constexpr std::size_t record_bytes = sizeof(slab);  // of host memory, for block records

  mutex lock;

  explicit block_arena(void (*give_back)(returnable&) noexcept) noexcept : give_back_{give_back} {}
  block_arena(const block_arena&) = delete;
  block_arena& operator=(const block_arena&) = delete;
  ~block_arena() {
    while (slabs_ != nullptr) {
      slab* next = slabs_->next;
      delete slabs_;
      slabs_ = next;
    }
  }

  static constexpr std::size_t rounded(std::size_t bytes) noexcept {
    return (bytes + unit - 1) / unit * unit;
  }

  /// Takes a block of `bytes`, a multiple of the unit; returns null if no free block is large
  /// enough.
  cached_block* take(std::size_t bytes) noexcept {
    cached_block*& recent = recent_of(bytes);
    cached_block* found = recent;
    if (found != nullptr && found->bytes == bytes) {
      recent = nullptr;
      --statistics_.free_blocks;
    } else {
      found = find(bytes / unit);
      if (found == nullptr && merge_recent()) found = find(bytes / unit);
      if (found == nullptr) return nullptr;
      unlist(*found);
      if (found->bytes != bytes) split(*found, bytes);
      found->free = false;
    }
    ++statistics_.used_blocks;
    statistics_.used_bytes += found->bytes;
    ++statistics_.hits;
    return found;
  }

  /// Returns a block to the arena.
  void give(cached_block& block) noexcept {
    --statistics_.used_blocks;
    statistics_.used_bytes -= block.bytes;
    ++statistics_.free_blocks;
    cached_block*& recent = recent_of(block.bytes);
    cached_block* before = recent;
    recent = &block;
    if (before != nullptr) merge(*before);
  }

  /// Merges the blocks that were returned last with their neighbors; returns whether there were
  /// any.
  bool merge_recent() noexcept {
    bool any = false;
    for (cached_block*& each : recent_) {
      if (each == nullptr) continue;
      any = true;
      merge(*each);
      each = nullptr;
    }
    return any;
  }

  /// Adds a segment as one free block; returns false if host memory for its record is exhausted.
  bool add(cached_segment& segment) noexcept {
    cached_block* block = new_block();
    if (block == nullptr) return false;
    block->address = segment.address;
    block->bytes = segment.bytes;
    block->free = true;
    segment.first = block;
    segment.next = segments_;
    segments_ = &segment;
    held_bytes_ += segment.bytes;
    list(*block);
    return true;
  }

  /// Adds a segment and takes a block of `bytes` from it. Returns null, without adding the segment,
  /// if host memory for its record is exhausted.
  cached_block* add_and_take(cached_segment& segment, std::size_t bytes) noexcept {
    return add(segment) ? take(bytes) : nullptr;
  }

  /// Removes a segment without blocks in use.
  void remove(cached_segment& segment) noexcept {
    cached_segment** link = &segments_;
    while (*link != &segment) link = &(*link)->next;
    *link = segment.next;
    unlist(*segment.first);
    drop_block(*segment.first);
    held_bytes_ -= segment.bytes;
  }

  /// Removes all segments without blocks in use; returns them as a list.
  cached_segment* remove_free_segments() noexcept {
    merge_recent();
    cached_segment* removed = nullptr;
    for (cached_segment* each = segments_; each != nullptr;) {
      cached_segment* next = each->next;
      if (each->first->free && each->first->is_whole_segment()) {
        remove(*each);
        each->next = removed;
        removed = each;
      }
      each = next;
    }
    return removed;
  }

  bool has_free_segment() noexcept {
    merge_recent();
    for (const cached_segment* each = segments_; each != nullptr; each = each->next) {
      if (each->first->free && each->first->is_whole_segment()) return true;
    }
    return false;
  }

  /// Calls `work(segment, block)` for each block of each segment, by address within a segment.
  template <class Work> void for_each_block(Work work) noexcept {
    merge_recent();
    for (const cached_segment* segment = segments_; segment != nullptr; segment = segment->next) {
      for (const cached_block* each = segment->first; each != nullptr; each = each->after)
        work(*segment, *each);
    }
  }

  cached_segment* segments() const noexcept { return segments_; }
  /// Returns the size of all segments.
  std::size_t held_bytes() const noexcept { return held_bytes_; }
  const arena_statistics& statistics() noexcept {
    merge_recent();
    return statistics_;
  }

 private:
  static constexpr std::size_t recent_count = 8;
  static constexpr unsigned step_bits = 4;
  static constexpr unsigned steps = 1u << step_bits;  // lists for each power of two
  static constexpr unsigned rows = 52;

  cached_block*& recent_of(std::size_t bytes) noexcept {
    const std::size_t units = bytes / unit;
    return recent_[(units ^ units >> 4 ^ units >> 9) % recent_count];
  }
  /// Adds a returned block to the free lists, merged with its free neighbors.
  void merge(cached_block& block) noexcept {
    --statistics_.free_blocks;
    block.free = true;
    cached_block* merged = &block;
    if (block.before != nullptr && block.before->free) {
      merged = block.before;
      unlist(*merged);
      swallow_next(*merged);
    }
    if (merged->after != nullptr && merged->after->free) {
      unlist(*merged->after);
      swallow_next(*merged);
    }
    list(*merged);
  }

  /// The index of a free list: a power of two, and a step within it.
  struct size_class {
    unsigned row;
    unsigned step;
  };
  static size_class class_of(std::size_t units) noexcept {
    if (units < steps) return {0, static_cast<unsigned>(units)};
    const unsigned highest = 63u - static_cast<unsigned>(std::countl_zero(units));
    return {highest - step_bits + 1,
            static_cast<unsigned>(units >> (highest - step_bits)) & (steps - 1)};
  }

  cached_block* find(std::size_t units) noexcept {
    size_class at = class_of(units);
    int looked_at = 0;
    for (cached_block* each = lists_[at.row][at.step]; each != nullptr && looked_at < 8;
         each = each->next_free, ++looked_at) {
      if (each->bytes >= units * unit) return each;
    }
    // All blocks of later lists are large enough.
    unsigned later = step_map_[at.row] & ~((2u << at.step) - 1);
    if (later == 0) {
      const std::uint64_t rows_after = row_map_ & ~((std::uint64_t{2} << at.row) - 1);
      if (rows_after == 0) return search(lists_[at.row][at.step], units * unit);
      at.row = static_cast<unsigned>(std::countr_zero(rows_after));
      later = step_map_[at.row];
    }
    return lists_[at.row][std::countr_zero(later)];
  }

  static cached_block* search(cached_block* list, std::size_t bytes) noexcept {
    while (list != nullptr && list->bytes < bytes) list = list->next_free;
    return list;
  }

  void list(cached_block& block) noexcept {
    const size_class at = class_of(block.bytes / unit);
    cached_block*& head = lists_[at.row][at.step];
    block.previous_free = nullptr;
    block.next_free = head;
    if (head != nullptr) head->previous_free = &block;
    head = &block;
    step_map_[at.row] |= 1u << at.step;
    row_map_ |= std::uint64_t{1} << at.row;
    ++statistics_.free_blocks;
  }
  void unlist(cached_block& block) noexcept {
    if (block.next_free != nullptr) block.next_free->previous_free = block.previous_free;
    if (block.previous_free != nullptr) {
      block.previous_free->next_free = block.next_free;
    } else {
      const size_class at = class_of(block.bytes / unit);
      lists_[at.row][at.step] = block.next_free;
      if (block.next_free == nullptr) {
        step_map_[at.row] &= ~(1u << at.step);
        if (step_map_[at.row] == 0) row_map_ &= ~(std::uint64_t{1} << at.row);
      }
    }
    --statistics_.free_blocks;
  }

  /// Shrinks `block`, which is not in a list, to `bytes`, and lists the rest. If host memory for
  /// the record of the rest is exhausted, the block keeps its size.
  void split(cached_block& block, std::size_t bytes) noexcept {
    cached_block* rest = new_block();
    if (rest == nullptr) return;
    rest->address = block.address + bytes;
    rest->bytes = block.bytes - bytes;
    rest->free = true;
    rest->before = &block;
    rest->after = block.after;
    if (block.after != nullptr) block.after->before = rest;
    block.after = rest;
    block.bytes = bytes;
    list(*rest);
  }
  /// Merges `block` with the one after it; neither is in a list.
  void swallow_next(cached_block& block) noexcept {
    cached_block* gone = block.after;
    block.bytes += gone->bytes;
    block.after = gone->after;
    if (gone->after != nullptr) gone->after->before = &block;
    drop_block(*gone);
  }

  cached_block* new_block() noexcept {
    if (spare_ == nullptr) {
      auto* made = new (std::nothrow) slab;
      if (made == nullptr) return nullptr;
      made->next = slabs_;
      slabs_ = made;
      for (cached_block& each : made->blocks) drop_block(each);
    }
    cached_block* block = spare_;
    spare_ = block->next_free;
    *block = cached_block{};
    block->give_back = give_back_;
    block->arena = this;
    return block;
  }
  void drop_block(cached_block& block) noexcept {
    block.next_free = spare_;
    spare_ = &block;
  }

  cached_block* recent_[recent_count] = {};  // returned, but neither listed nor marked free
  void (*give_back_)(returnable&) noexcept;
  cached_segment* segments_ = nullptr;
  std::size_t held_bytes_ = 0;
  cached_block* spare_ = nullptr;
  slab* slabs_ = nullptr;
  arena_statistics statistics_;
  std::uint64_t row_map_ = 0;
  unsigned step_map_[rows] = {};
  cached_block* lists_[rows][steps] = {};
};

}}}  // namespace gpu::v1::detail
