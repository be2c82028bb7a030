#pragma once
/// \file
/// `block_arena`: hands out parts of large pieces of memory and takes them back, in constant time;
/// what the caching allocators are made of. It knows addresses and sizes, and never touches the
/// memory itself, which may be a device's.

#include <gpu/memory/detail/allocation.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace gpu::inline v0::detail {

struct cached_block;

/// Memory that the driver gave in one piece. Its blocks lie in it one after the other.
struct cached_segment {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  cached_block* first = nullptr;
  cached_segment* next = nullptr;
  class block_arena* home = nullptr;  // while it is between two arenas, the one it came from
  CUevent event = nullptr;            // for who passes segments on between streams
  bool pending = false;               // the event has been recorded, and may not have happened yet
};

/// A part of a segment, free or in use.
struct cached_block : returnable {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  class block_arena* arena = nullptr;
  cached_block* before = nullptr;  // neighbours in the segment
  cached_block* after = nullptr;
  cached_block* next_free = nullptr;  // in a list of about its size
  cached_block* previous_free = nullptr;
  bool free = false;

  bool is_whole_segment() const noexcept { return before == nullptr && after == nullptr; }
};

/// The blocks of an arena, in numbers.
struct arena_statistics {
  std::size_t used_blocks = 0;
  std::size_t used_bytes = 0;
  std::size_t free_blocks = 0;
  std::size_t hits = 0;  // blocks handed out without a new segment

  void add(const arena_statistics& other) noexcept {
    used_blocks += other.used_blocks;
    used_bytes += other.used_bytes;
    free_blocks += other.free_blocks;
    hits += other.hits;
  }
};

/// Free blocks are kept in lists by size: 16 for each power of two. A list that is not empty has
/// its bit set, so that the smallest block that is large enough for sure is found with two bit
/// scans; the list of the size itself is looked at first, for the block that was just given back.
/// Neighbours that are both free become one block; only a few that came back last stay as they are,
/// for the next request of the same size.
/// **Threads**: the caller holds `lock` during every other call.
class alignas(128) block_arena {
 private:
  struct slab {
    slab* next;
    cached_block blocks[64];
  };

 public:
  static constexpr std::size_t unit = 512;  // bytes; sizes and addresses are multiples of it
  static constexpr std::size_t record_bytes = sizeof(slab);  // of the host, for blocks

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

  /// A block of `bytes`, a multiple of the unit; null where there is none so large.
  cached_block* take(std::size_t bytes) noexcept {
    cached_block*& recent = recent_of(bytes);
    cached_block* found = recent;
    if (found != nullptr && found->bytes == bytes) [[likely]] {
      recent = nullptr;
      --statistics_.free_blocks;
    } else {
      found = find(bytes / unit);
      if (found == nullptr && settle()) found = find(bytes / unit);
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

  /// Takes a block back.
  void give(cached_block& block) noexcept {
    --statistics_.used_blocks;
    statistics_.used_bytes -= block.bytes;
    ++statistics_.free_blocks;
    cached_block*& recent = recent_of(block.bytes);
    cached_block* before = recent;
    recent = &block;
    if (before != nullptr) merge(*before);
  }

  /// Makes one block of those that came back last and their neighbours; false where there was none.
  bool settle() noexcept {
    bool any = false;
    for (cached_block*& each : recent_) {
      if (each == nullptr) continue;
      any = true;
      merge(*each);
      each = nullptr;
    }
    return any;
  }

  /// Adds a segment as one free block; false where the host has no memory for the record of it.
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

  /// Adds a segment and takes a block of `bytes`; null where the host has no memory for the record,
  /// and the segment has stayed outside.
  cached_block* add_and_take(cached_segment& segment, std::size_t bytes) noexcept {
    return add(segment) ? take(bytes) : nullptr;
  }

  /// Takes one segment out that has no block in use, so that somebody else can have it.
  void remove(cached_segment& segment) noexcept {
    cached_segment** link = &segments_;
    while (*link != &segment) link = &(*link)->next;
    *link = segment.next;
    unlist(*segment.first);
    drop_block(*segment.first);
    held_bytes_ -= segment.bytes;
  }

  /// Takes all segments out that have no block in use; a list of them.
  cached_segment* remove_free_segments() noexcept {
    settle();
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
    settle();
    for (const cached_segment* each = segments_; each != nullptr; each = each->next) {
      if (each->first->free && each->first->is_whole_segment()) return true;
    }
    return false;
  }

  cached_segment* segments() const noexcept { return segments_; }
  /// What the segments are together.
  std::size_t held_bytes() const noexcept { return held_bytes_; }
  const arena_statistics& statistics() noexcept {
    settle();
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
  /// Lists a block that was taken back, as one with those of its neighbours that are free.
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

  struct place {
    unsigned row;
    unsigned step;
  };
  static place place_of(std::size_t units) noexcept {
    if (units < steps) return {0, static_cast<unsigned>(units)};
    const unsigned highest = 63u - static_cast<unsigned>(__builtin_clzll(units));
    return {highest - step_bits + 1,
            static_cast<unsigned>(units >> (highest - step_bits)) & (steps - 1)};
  }

  cached_block* find(std::size_t units) noexcept {
    place at = place_of(units);
    int looked_at = 0;
    for (cached_block* each = lists_[at.row][at.step]; each != nullptr && looked_at < 8;
         each = each->next_free, ++looked_at) {
      if (each->bytes >= units * unit) return each;
    }
    // Any block of a later list is large enough.
    unsigned later = step_map_[at.row] & ~((2u << at.step) - 1);
    if (later == 0) {
      const std::uint64_t rows_after = row_map_ & ~((std::uint64_t{2} << at.row) - 1);
      if (rows_after == 0) return search(lists_[at.row][at.step], units * unit);
      at.row = static_cast<unsigned>(__builtin_ctzll(rows_after));
      later = step_map_[at.row];
    }
    return lists_[at.row][__builtin_ctz(later)];
  }

  static cached_block* search(cached_block* list, std::size_t bytes) noexcept {
    while (list != nullptr && list->bytes < bytes) list = list->next_free;
    return list;
  }

  void list(cached_block& block) noexcept {
    const place at = place_of(block.bytes / unit);
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
      const place at = place_of(block.bytes / unit);
      lists_[at.row][at.step] = block.next_free;
      if (block.next_free == nullptr) {
        step_map_[at.row] &= ~(1u << at.step);
        if (step_map_[at.row] == 0) row_map_ &= ~(std::uint64_t{1} << at.row);
      }
    }
    --statistics_.free_blocks;
  }

  /// Leaves `bytes` in `block`, which is in no list, and lists the rest. Where the host has no
  /// memory for the record of the rest, the block stays as large as it is.
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
  /// Makes `block` and the one after it one; neither is in a list.
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

  cached_block* recent_[recent_count] = {};  // taken back, neither listed nor marked free
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

/// Draws the segments of an arena, a line each: how large it is, and which of its parts are in use
/// ('#'), partly ('+') or not ('.'). Makes `lines_left` negative where there were more.
template <class Builder>
void draw_segments(Builder& out, const block_arena& arena, int& lines_left) {
  constexpr std::size_t columns = 32;
  for (const cached_segment* each = arena.segments(); each != nullptr; each = each->next) {
    if (lines_left-- <= 0) return;
    const std::size_t column = each->bytes / columns;  // exactly: a unit has so many parts too
    std::size_t used[columns] = {};
    for (const cached_block* block = each->first; block != nullptr; block = block->after) {
      if (block->free) continue;
      const std::size_t begin = block->address - each->address;
      const std::size_t end = begin + block->bytes;
      for (std::size_t i = 0; i < columns; ++i) {
        const std::size_t from = column * i, to = from + column;
        if (begin < to && from < end)
          used[i] += (end < to ? end : to) - (begin > from ? begin : from);
      }
    }
    out << "\n    " << each->bytes << " bytes [";
    for (std::size_t i = 0; i < columns; ++i) {
      out << (used[i] == 0 ? '.' : used[i] == column ? '#' : '+');
    }
    out << ']';
  }
}

}  // namespace gpu::inline v0::detail
