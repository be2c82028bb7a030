// The shared memory of a block, and the search for races on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace nogpu { inline namespace v1 { namespace machine {

/// When an access happened, in barriers passed by the block and by the warp.
struct moment {
  std::uint32_t block_epoch = 0;
  std::uint16_t warp_epoch = 0;
  std::uint16_t thread = 0;  // linear index in the block
};

/// Bytes, and for each byte the threads that accessed it last. Two accesses conflict when they come
/// from different threads, at least one writes, not both are atomic, and no barrier lies between
/// them: none of the block, and for threads of one warp none of the warp either. Everything that
/// might order threads in another way (fences, named barriers, mbarriers) is counted as a barrier
/// of the block, so a report is always a race, and a race behind such a thing may pass. Threads: a
/// block is executed by one thread at a time.
class shared_memory {
 public:
  /// The bytes that hardware gives out at a time.
  static constexpr std::size_t unit = 128;

  /// Starts again with `end` bytes that were never written, of which those from `begin` on may be
  /// accessed. Behind them is the rest of a unit.
  void reset(std::size_t begin, std::size_t end, bool races, bool writes) {
    end_ = end;
    const std::size_t whole = (end + unit - 1) / unit * unit;
    bytes_.resize(whole);
    if (whole != 0) std::memset(bytes_.data(), 0, whole);
    begin_ = begin;
    races_ = races;
    tracks_ = races || writes;
    records_.assign(tracks_ ? whole - begin : 0, record{});
  }

  std::size_t begin() const noexcept { return begin_; }
  std::size_t end() const noexcept { return end_; }
  /// Returns whether there are `size` bytes at an offset, with the rest of the last unit or
  /// without.
  bool has(std::size_t offset, std::size_t size, bool whole_units = false) const noexcept {
    const std::size_t end = whole_units ? bytes_.size() : end_;
    return offset >= begin_ && offset <= end && size <= end - offset;
  }
  std::byte* bytes() noexcept { return bytes_.data(); }
  bool tracks() const noexcept { return tracks_; }

  struct finding {
    bool race = false;
    bool unwritten = false;
    bool other_wrote = false;  // whether the other thread wrote
    std::uint16_t other = 0;
    std::size_t offset = 0;  // of the byte
  };

  /// Notes a read. Returns whether it races or reads bytes that were never written.
  finding note_read(std::size_t offset, std::size_t size, const moment& now) {
    finding found;
    for (std::size_t i = offset; i < offset + size; ++i) {
      record& r = record_of(i);
      if (r.writer == nobody || r.on_its_way) {
        if (!found.unwritten) found.offset = i;
        found.unwritten = true;
      } else if (races_ && conflicts(r.writer, r.write_block, r.write_warp, now)) {
        return {true, false, true, r.writer, i};
      }
      const bool current = r.reader != nobody && r.read_block == now.block_epoch;
      if (!current || (same_warp(r.reader, now.thread) && r.read_warp != now.warp_epoch)) {
        r.reader = now.thread;  // the readers before are ordered before this one
        r.others_in_warp = false;
      } else if (r.reader != now.thread) {
        if (same_warp(r.reader, now.thread)) {
          r.others_in_warp = true;
        } else {
          r.reader = several;
        }
      }
      r.read_block = now.block_epoch;
      r.read_warp = now.warp_epoch;
    }
    return found;
  }

  /// Notes a write. If `unchanged`, it stores the value that the bytes have already, which is not a
  /// conflict (many threads that raise one flag).
  finding note_write(std::size_t offset, std::size_t size, const moment& now, bool unchanged) {
    return note_change(offset, size, now, unchanged, false);
  }

  /// Notes an atomic operation: a write that does not conflict with other atomic operations.
  finding note_atomic(std::size_t offset, std::size_t size, const moment& now) {
    return note_change(offset, size, now, false, true);
  }

  /// The first byte that was never written, or that an asynchronous copy will write; `offset +
  /// size` if there is none.
  std::size_t first_unwritten(std::size_t offset, std::size_t size) const {
    std::size_t i = offset;
    while (i < offset + size && record_of(i).writer != nobody && !record_of(i).on_its_way) ++i;
    return i;
  }

  /// The first byte that has no value for a reduction: that was never written, or that an
  /// asynchronous copy will write; `offset + size` if all have one. Other reductions may be on
  /// their way.
  std::size_t first_without_value(std::size_t offset, std::size_t size) const {
    std::size_t i = offset;
    for (; i < offset + size; ++i) {
      const record& r = record_of(i);
      if (r.writer == nobody || (r.on_its_way && !r.reduces)) break;
    }
    return i;
  }

  /// Notes that an asynchronous copy or reduction of `thread` will write there. The write itself is
  /// noted as any other.
  void note_departure(std::size_t offset, std::size_t size, std::uint16_t thread, bool reduces) {
    if (!tracks_) return;
    for (std::size_t i = offset; i < offset + size; ++i) {
      record& r = record_of(i);
      r.on_its_way = true;
      r.reduces = reduces;
      r.writer = thread;
    }
  }
  /// Notes that the copy was done.
  void note_arrival(std::size_t offset, std::size_t size, const moment& now) {
    if (!tracks_) return;
    for (std::size_t i = offset; i < offset + size; ++i) {
      record& r = record_of(i);
      r.on_its_way = false;
      r.writer = now.thread;
      r.write_block = now.block_epoch;
      r.write_warp = now.warp_epoch;
      r.write_atomic = false;
    }
  }
  /// Takes a byte for one that was never written.
  void forget_write(std::size_t offset) {
    if (tracks_) record_of(offset).writer = nobody;
  }
  /// The thread whose asynchronous copy of that byte is not done, or `several` if there is none.
  std::uint16_t copies(std::size_t offset) const {
    return record_of(offset).on_its_way ? record_of(offset).writer : several;
  }

  /// Notes a volatile or relaxed access, which conflicts with nothing.
  void note_unordered(std::size_t offset, std::size_t size) {
    for (std::size_t i = offset; i < offset + size; ++i)
      if (record_of(i).writer == nobody) record_of(i).writer = somebody;
  }

  static constexpr std::uint16_t several = 0xfffe;
  static constexpr std::uint16_t somebody = 0xfffd;  // written in a way that orders itself

 private:
  static constexpr std::uint16_t nobody = 0xffff;

  struct record {
    std::uint16_t writer = nobody;
    std::uint16_t reader = nobody;
    std::uint16_t write_warp = 0;
    std::uint16_t read_warp = 0;
    std::uint32_t write_block = 0;
    std::uint32_t read_block = 0;
    bool others_in_warp = false;  // read by several threads of the reader's warp
    bool write_atomic = false;
    bool on_its_way = false;  // bytes of an asynchronous copy of the writer
    bool reduces = false;     // which combines them with what is there
  };

  finding note_change(std::size_t offset, std::size_t size, const moment& now, bool unchanged,
                      bool atomic) {
    for (std::size_t i = offset; i < offset + size; ++i) {
      record& r = record_of(i);
      if (races_ && !unchanged) {
        if (!(atomic && r.write_atomic) && conflicts(r.writer, r.write_block, r.write_warp, now))
          return {true, false, true, r.writer, i};
        if (r.reader != nobody && r.read_block == now.block_epoch) {
          const bool near = r.reader != several && same_warp(r.reader, now.thread);
          const bool ordered = near && (r.read_warp != now.warp_epoch ||
                                        (r.reader == now.thread && !r.others_in_warp));
          if (!ordered) return {true, false, false, r.reader == now.thread ? several : r.reader, i};
        }
      }
      // A plain write that no barrier of the block has ended stays on record below the atomics of
      // its warp: those of other warps conflict with it.
      if (atomic && !r.write_atomic && r.writer < somebody && r.write_block == now.block_epoch)
        continue;
      r.writer = now.thread;
      r.write_block = now.block_epoch;
      r.write_warp = now.warp_epoch;
      r.write_atomic = atomic;
    }
    return {};
  }

  record& record_of(std::size_t offset) { return records_[offset - begin_]; }
  const record& record_of(std::size_t offset) const { return records_[offset - begin_]; }

  static bool same_warp(std::uint16_t a, std::uint16_t b) noexcept { return a / 32 == b / 32; }

  static bool conflicts(std::uint16_t other, std::uint32_t block, std::uint16_t warp,
                        const moment& now) noexcept {
    if (other >= somebody || other == now.thread || block != now.block_epoch) return false;
    return !same_warp(other, now.thread) || warp == now.warp_epoch;
  }

  std::vector<std::byte> bytes_;
  std::vector<record> records_;  // from `begin_` on
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool races_ = false;
  bool tracks_ = false;
};

}}}  // namespace nogpu::v1::machine
