// Handlers of bulk copies: cp.async.bulk between global and shared memory. A copy is done when a
// thread waits for it: on its mbarrier, or for its group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gpu/testing/detail/machine/access_checks.hpp>
#include <gpu/testing/detail/machine/handlers/atomics.hpp>
#include <gpu/testing/detail/machine/lanes.hpp>
#include <gpu/testing/detail/machine/memory_access.hpp>

namespace gpu::inline v1::testing::machine::detail {

template <class Word>
inline void copy_words(const std::byte* from, std::byte* to, std::uint32_t size) {
  for (std::uint32_t i = 0; i < size; i += sizeof(Word)) {
    const Word word = __atomic_load_n(reinterpret_cast<const Word*>(from + i), __ATOMIC_RELAXED);
    __atomic_store_n(reinterpret_cast<Word*>(to + i), word, __ATOMIC_RELAXED);
  }
}

/// Copies bytes between memories of which other threads of the process may see one.
inline void copy_bulk(const std::byte* from, std::byte* to, std::uint32_t size) {
  const std::uintptr_t bits =
      reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to) | size;
  if (bits % 8 == 0) return copy_words<std::uint64_t>(from, to, size);
  if (bits % 4 == 0) return copy_words<std::uint32_t>(from, to, size);
  if (bits % 2 == 0) return copy_words<std::uint16_t>(from, to, size);
  copy_words<std::uint8_t>(from, to, size);
}

/// Writes the bytes of a part of a load to shared memory.
inline void arrive_bulk(const bulk_load& copy, std::byte* to) {
  if (copy.from == nullptr) {
    for (std::uint32_t i = 0; i < copy.size; ++i)
      to[i] = static_cast<std::byte>(copy.fill >> i % 8 * 8);
    return;
  }
  copy_bulk(copy.from, to, copy.size);
  if (copy.change == tensor_change::none) return;
  for (std::uint32_t i = 0; i < copy.size; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, to + i, sizeof word);
    word = change_float(copy.change, word);
    std::memcpy(to + i, &word, sizeof word);
  }
}

/// Does the copies to shared memory that complete on the mbarrier at this offset. Returns how many
/// bytes they have.
inline std::uint32_t finish_bulk_loads(block_state& block, std::uint32_t barrier) {
  std::uint32_t bytes = 0;
  std::erase_if(block.bulk_loads, [&](const bulk_load& copy) {
    if (copy.barrier != barrier) return false;
    arrive_bulk(copy, block.shared.bytes() + copy.to);
    const moment done{block.epoch, copy.warp_epoch, copy.thread};
    block.shared.note_arrival(copy.to, copy.size, done);
    bytes += copy.size;
    return true;
  });
  return bytes;
}

template <class U> inline void combine_bulk(const bulk_store& copy, const std::byte* from) {
  const located at{copy.to, nullptr, false, true};
  for (std::uint32_t i = 0; i < copy.size; i += sizeof(U)) {
    U b;
    std::memcpy(&b, from + i, sizeof b);
    (void)update<U>(at, i, [&](U old) {
      return combine_values<U>(copy.combine, copy.element, true, old, b, U{});
    });
  }
}

/// Writes the bytes of a part of a store to global memory, or combines them with what is there.
inline void depart_bulk(const bulk_store& copy, const std::byte* from) {
  if (copy.combine == ptx::operation::none) return copy_bulk(from, copy.to, copy.size);
  switch (ptx::size_of(copy.element)) {
    case 2: return combine_bulk<std::uint16_t>(copy, from);
    case 4: return combine_bulk<std::uint32_t>(copy, from);
    default: return combine_bulk<std::uint64_t>(copy, from);
  }
}

/// Does the copies to global memory of the lanes, but for their last `but` groups. Copies that are
/// in no group yet are done if `open`.
inline void finish_bulk_stores(warp& w, lane_mask lanes, std::uint32_t but, bool open) {
  std::erase_if(w.bulk_stores, [&](const bulk_store& copy) {
    const std::uint32_t groups = w.bulk_groups[copy.lane];
    const bool covered = copy.group == groups ? open : std::uint64_t{copy.group} + but < groups;
    if ((lanes >> copy.lane & 1) == 0 || !covered) return false;
    depart_bulk(copy, w.block->shared.bytes() + copy.from);
    return true;
  });
}

/// An address of cp.async.bulk; the list has an offset in two words and whether the register is
/// wide.
inline address listed_address(const warp& w, const decoded& d, unsigned slot, unsigned lane,
                              const std::uint32_t* listed) {
  decoded with = d;
  with.offset = static_cast<std::int64_t>(listed[0] | std::uint64_t{listed[1]} << 32);
  with.wide_base = static_cast<std::uint8_t>(listed[2]);
  return address_of(w.registers, with, slot, lane);
}

inline located locate_bulk(warp& w, const decoded& d, unsigned lane, address a, std::uint32_t size,
                           bool shared, access_kind kind) {
  if ((a & 15) != 0) return refuse_misaligned(w, lane, a, 16, kind);
  return shared ? locate_shared(w, lane, a, size, kind) : locate_global(w, d, lane, a, size, kind);
}

/// cp.async.bulk: slots are destination, source, size, mbarrier. `option`: 1 from global to shared
/// memory, 2 within shared memory, 3 from shared to global memory.
inline action run_bulk_copy(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* const more = w.function->lists.data() + d.list;
  block_state& block = *w.block;
  const bool loads = d.option != 3;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const auto size = read_lane<std::uint32_t>(w.registers, d.slots[2], lane);
    if (size % 16 != 0)
      return fail(
          w, fault_kind::illegal_instruction, lane,
          "a bulk copy of " + std::to_string(size) + " bytes: the size must be a multiple of 16");
    const address from = listed_address(w, d, 1, lane, more);
    const address to = address_of(w.registers, d, 0, lane);
    const located source = locate_bulk(w, d, lane, from, size, d.option != 1, access_kind::read);
    if (source.bytes == nullptr || !note_read(w, d, lane, source, from, size, access_class::plain))
      return action::fault;
    const located destination = locate_bulk(w, d, lane, to, size, loads, access_kind::write);
    if (destination.bytes == nullptr ||
        !note_write(w, d, lane, destination, nullptr, size, access_class::plain))
      return action::fault;
    if (!loads) {
      w.bulk_stores.push_back({.from = static_cast<std::uint32_t>(from),
                               .to = destination.bytes,
                               .size = size,
                               .group = w.bulk_groups[lane],
                               .lane = lane});
      continue;
    }
    const address barrier = listed_address(w, d, 3, lane, more + 3);
    const located at = locate<space::shared>(w, d, lane, barrier, 8, access_kind::atomic);
    if (at.bytes == nullptr) return action::fault;
    block.shared.note_departure(static_cast<std::size_t>(to), size);
    block.bulk_loads.push_back({.from = source.bytes,
                                .to = static_cast<std::uint32_t>(to),
                                .size = size,
                                .barrier = static_cast<std::uint32_t>(barrier),
                                .thread = thread_of(w, lane),
                                .warp_epoch = w.epoch});
  }
  return action::next;
}

inline action run_commit_bulk(warp& w, const decoded&, lane_mask mask) {
  for_lanes(mask, [&](unsigned lane) { ++w.bulk_groups[lane]; });
  return action::next;
}

/// cp.async.bulk.wait_group: all groups but the last `target` ones.
inline action run_wait_bulk(warp& w, const decoded& d, lane_mask mask) {
  finish_bulk_stores(w, mask, d.target, false);
  return action::next;
}

}  // namespace gpu::inline v1::testing::machine::detail
