// Handlers of bulk copies: cp.async.bulk between global and shared memory. A copy is done when a
// thread waits for it: on its mbarrier, or for its group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gpu/testing/detail/machine/access_checks.hpp>
#include <gpu/testing/detail/machine/lanes.hpp>
#include <gpu/testing/detail/machine/memory_access.hpp>

namespace gpu::inline v1::testing::machine::detail {

/// Copies bytes between memories of which other threads of the process may see one.
inline void copy_bulk(const std::byte* from, std::byte* to, std::uint32_t size) {
  for (std::uint32_t i = 0; i < size; i += 8) {
    const auto word =
        __atomic_load_n(reinterpret_cast<const std::uint64_t*>(from + i), __ATOMIC_RELAXED);
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(to + i), word, __ATOMIC_RELAXED);
  }
}

/// Does the copies to shared memory that complete on the mbarrier at this offset. Returns how many
/// bytes they have.
inline std::uint32_t finish_bulk_loads(block_state& block, std::uint32_t barrier) {
  std::uint32_t bytes = 0;
  std::erase_if(block.bulk_loads, [&](const bulk_load& copy) {
    if (copy.barrier != barrier) return false;
    copy_bulk(copy.from, block.shared.bytes() + copy.to, copy.size);
    const moment done{block.epoch, copy.warp_epoch, copy.thread};
    block.shared.note_arrival(copy.to, copy.size, done);
    bytes += copy.size;
    return true;
  });
  return bytes;
}

/// Does the copies to global memory of the lanes, but for their last `but` groups. Copies that are
/// in no group yet are done if `open`.
inline void finish_bulk_stores(warp& w, lane_mask lanes, std::uint32_t but, bool open) {
  std::erase_if(w.bulk_stores, [&](const bulk_store& copy) {
    const std::uint32_t groups = w.bulk_groups[copy.lane];
    const bool covered = copy.group == groups ? open : std::uint64_t{copy.group} + but < groups;
    if ((lanes >> copy.lane & 1) == 0 || !covered) return false;
    copy_bulk(w.block->shared.bytes() + copy.from, copy.to, copy.size);
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
      w.bulk_stores.push_back(
          {static_cast<std::uint32_t>(from), destination.bytes, size, w.bulk_groups[lane], lane});
      continue;
    }
    const address barrier = listed_address(w, d, 3, lane, more + 3);
    const located at = locate<space::shared>(w, d, lane, barrier, 8, access_kind::atomic);
    if (at.bytes == nullptr) return action::fault;
    block.shared.note_departure(static_cast<std::size_t>(to), size);
    block.bulk_loads.push_back({source.bytes, static_cast<std::uint32_t>(to), size,
                                static_cast<std::uint32_t>(barrier), thread_of(w, lane), w.epoch});
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
