// Handlers of bulk copies and reductions: cp.async.bulk and cp.reduce.async.bulk between global and
// shared memory. A copy is done when a thread waits for it: on its mbarrier, or for its group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <nogpu/machine/access_checks.hpp>
#include <nogpu/machine/handlers/atomics.hpp>
#include <nogpu/machine/lanes.hpp>
#include <nogpu/machine/memory_access.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

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

template <class U>
inline void combine_elements(ptx::operation op, ptx::type t, const std::byte* from,
                             const located& to, std::uint32_t size) {
  for (std::uint32_t i = 0; i < size; i += sizeof(U)) {
    U b;
    std::memcpy(&b, from + i, sizeof b);
    (void)update<U>(to, i, [&](U old) { return combine_values<U>(op, t, to.global, old, b, U{}); });
  }
}

/// Combines the elements of a reduction, in shared memory, with those at `to`.
inline void combine_bulk(ptx::operation op, ptx::type t, const std::byte* from, const located& to,
                         std::uint32_t size) {
  switch (ptx::size_of(t)) {
    case 2: return combine_elements<std::uint16_t>(op, t, from, to, size);
    case 4: return combine_elements<std::uint32_t>(op, t, from, to, size);
    default: return combine_elements<std::uint64_t>(op, t, from, to, size);
  }
}

/// Writes the bytes of a part of a load to shared memory, or combines them with what is there.
inline void arrive_bulk(const bulk_load& copy, std::byte* to) {
  if (copy.combine != ptx::operation::none) {
    std::byte value[sizeof copy.fill];
    std::memcpy(value, &copy.fill, sizeof copy.fill);
    return combine_bulk(copy.combine, copy.element, copy.from != nullptr ? copy.from : value,
                        {to, nullptr, true, false}, copy.size);
  }
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

/// Writes the bytes of a part of a store to global memory, or combines them with what is there.
inline void depart_bulk(const bulk_store& copy, const std::byte* from) {
  if (copy.combine == ptx::operation::none) return copy_bulk(from, copy.to, copy.size);
  combine_bulk(copy.combine, copy.element, from, {copy.to, nullptr, false, true}, copy.size);
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
  return shared ? locate_shared(w, d, lane, a, size, kind)
                : locate_global(w, d, lane, a, size, kind);
}

/// Where loads arrive, and the mbarrier that counts them: in one block, or by `.multicast::cluster`
/// at the same offsets in several.
struct bulk_targets {
  std::uint32_t to = 0, barrier = 0;  // offsets in shared memory
  std::uint32_t blocks = 0;           // a bit for each rank
};

/// Checks the targets of a load of `size` bytes. `mask` is the slot of the ranks, if it has some.
inline bool find_targets(warp& w, const decoded& d, unsigned lane, address to, std::uint32_t size,
                         address barrier, std::uint32_t mask, bulk_targets& out) {
  const located destination = locate_shared(w, d, lane, to, size, access_kind::write);
  if (destination.bytes == nullptr) return false;
  const located at = locate<space::shared>(w, d, lane, barrier, 8, access_kind::atomic);
  if (at.bytes == nullptr) return false;
  const block_state& block = owner_of(w, destination);
  const auto wrong = [&](std::string text) {
    (void)fail(w, fault_kind::illegal_instruction, lane, std::move(text));
    return false;
  };
  if (&block != &owner_of(w, at))
    return wrong("the mbarrier of an asynchronous copy is not in the block to which it copies");
  out.to = static_cast<std::uint32_t>(to) & shared_offset_mask;
  out.barrier = static_cast<std::uint32_t>(barrier) & shared_offset_mask;
  out.blocks = 1u << block.rank;
  if (mask == no_slot) return true;
  out.blocks = read_lane<std::uint16_t>(w.registers, mask, lane);
  const auto& cluster = w.block->cluster->blocks;
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    if ((out.blocks >> rank & 1) == 0) continue;
    if (rank >= cluster.size())
      return wrong("a copy to block " + std::to_string(rank) + " of a cluster of " +
                   std::to_string(cluster.size()));
    if (cluster[rank]->exited == cluster[rank]->threads)
      return wrong("a copy to block " + std::to_string(rank) + " of the cluster, which has ended");
  }
  return true;
}

/// Checks the bytes to which a part of a load goes. Returns false for a fault.
inline bool note_bulk_target(warp& w, const decoded& d, unsigned lane, const located& to,
                             const bulk_load& part) {
  if (part.combine == ptx::operation::none)
    return note_write(w, d, lane, to, nullptr, part.size, access_class::plain);
  const shared_memory& shared = owner_of(w, to).shared;
  if (shared.tracks()) {
    const std::size_t first = shared.first_without_value(part.to, part.size) - part.to;
    if (first != part.size && !report_unwritten(w, d, lane, to, part.to, part.size, first))
      return false;
  }
  return note_write(w, d, lane, to, nullptr, part.size, access_class::atomic);
}

/// Queues a part of a load for each of its targets. `part.to` is an offset in shared memory.
inline bool bring_bulk(warp& w, const decoded& d, unsigned lane, const bulk_targets& targets,
                       bulk_load part) {
  part.barrier = targets.barrier;
  part.warp_epoch = w.epoch;
  for (std::uint32_t left = targets.blocks; left != 0; left &= left - 1) {
    block_state& block = *w.block->cluster->blocks[static_cast<unsigned>(std::countr_zero(left))];
    const bool own = &block == w.block;
    const located there{block.shared.bytes() + part.to, nullptr, true, false,
                        own ? nullptr : &block};
    if (!note_bulk_target(w, d, lane, there, part)) return false;
    part.thread = own ? thread_of(w, lane) : shared_memory::somebody;
    block.shared.note_departure(part.to, part.size, part.thread,
                                part.combine != ptx::operation::none);
    block.bulk_loads.push_back(part);
  }
  return true;
}

/// cp.async.bulk and cp.reduce.async.bulk: slots are destination, source, size, mbarrier, mask of
/// blocks. `option`: 1 from global to shared memory, 2 within shared memory, 3 from shared to
/// global memory.
inline action run_bulk_copy(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* const more = w.function->lists.data() + d.list;
  const bool loads = d.option != 3;
  const ptx::operation combine = d.source->with.op;
  const bool combines = combine != ptx::operation::none;
  const ptx::type element = d.source->types[0];
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const auto size = read_lane<std::uint32_t>(w.registers, d.slots[2], lane);
    if (size % 16 != 0)
      return fail(w, fault_kind::illegal_instruction, lane,
                  (combines ? "a bulk reduction of " : "a bulk copy of ") + std::to_string(size) +
                      " bytes: the size must be a multiple of 16");
    const address from = listed_address(w, d, 1, lane, more);
    const address to = address_of(w.registers, d, 0, lane);
    const located source = locate_bulk(w, d, lane, from, size, d.option != 1, access_kind::read);
    if (source.bytes == nullptr || !note_read(w, d, lane, source, from, size, access_class::plain))
      return action::fault;
    const located destination = locate_bulk(w, d, lane, to, size, loads, access_kind::write);
    if (destination.bytes == nullptr) return action::fault;
    if (!loads) {
      if (combines && !note_read(w, d, lane, destination, to, size, access_class::plain))
        return action::fault;
      if (!note_write(w, d, lane, destination, nullptr, size, access_class::plain))
        return action::fault;
      w.bulk_stores.push_back({.from = static_cast<std::uint32_t>(from),
                               .to = destination.bytes,
                               .size = size,
                               .group = w.bulk_groups[lane],
                               .lane = lane,
                               .combine = combine,
                               .element = element});
      continue;
    }
    const address barrier = listed_address(w, d, 3, lane, more + 3);
    bulk_targets targets;
    if (!find_targets(w, d, lane, to, size, barrier, d.slots[4], targets) ||
        !bring_bulk(w, d, lane, targets,
                    {.from = source.bytes,
                     .to = targets.to,
                     .size = size,
                     .combine = combine,
                     .element = element}))
      return action::fault;
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

}}}  // namespace nogpu::v1::machine::detail
