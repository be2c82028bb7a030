// Handlers of non-bulk asynchronous copies, which are done only when a thread waits for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <nogpu/machine/access_checks.hpp>
#include <nogpu/machine/lanes.hpp>
#include <nogpu/machine/memory_access.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

inline void read_source(const pending_copy& copy, std::byte (&bytes)[16]) {
  for (std::uint32_t i = 0; i < copy.taken; ++i)
    bytes[i] = std::byte{
        __atomic_load_n(reinterpret_cast<const std::uint8_t*>(copy.from) + i, __ATOMIC_RELAXED)};
}

/// Does the copies of the lanes that `is_covered`, in the order in which they were asked for.
template <class F> inline void finish_copies(warp& w, lane_mask lanes, F is_covered) {
  std::erase_if(w.copies, [&](const pending_copy& copy) {
    if ((lanes >> copy.lane & 1) == 0 || !is_covered(copy)) return false;
    std::byte bytes[16] = {};
    read_source(copy, bytes);
    std::memcpy(w.block->shared.bytes() + copy.to, bytes, copy.size);
    w.block->shared.note_arrival(copy.to, copy.size, now(w, copy.lane));
    return true;
  });
}
inline void finish_copies(warp& w, lane_mask lanes) {
  if (!w.copies.empty()) finish_copies(w, lanes, [](const pending_copy&) { return true; });
}

/// Returns whether the same bytes are being copied to the same address, which is not a race.
inline bool is_on_its_way(const block_state& block, const pending_copy& wanted) {
  if (!block.shared.tracks() || block.shared.copies(wanted.to) == shared_memory::several)
    return false;
  for (const auto& w : block.warps)
    for (const pending_copy& c : w->copies)
      if (c.to == wanted.to && c.from == wanted.from && c.taken == wanted.taken &&
          c.size == wanted.size)
        return true;
  return false;
}

/// cp.async: slots are destination and source addresses, then the bytes to take from the source or
/// the predicate that says to take none. `count` bytes are written; the list holds the offset of
/// the source and whether its register is wide.
inline action run_copy(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* more = w.function->lists.data() + d.list;
  decoded source = d;
  source.offset = static_cast<std::int64_t>(more[0] | std::uint64_t{more[1]} << 32);
  source.wide_base = static_cast<std::uint8_t>(more[2]);
  const std::uint32_t size = d.count;
  const lane_mask ignored = d.option == 2 ? read_predicate(w.registers, d, 2) : 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    std::uint32_t taken = (ignored >> lane & 1) != 0 ? 0 : size;
    if (d.option == 1) taken = read_lane<std::uint32_t>(w.registers, d.slots[2], lane);
    if (taken > size)
      return fail(w, fault_kind::illegal_instruction, lane,
                  "cp.async takes " + std::to_string(taken) + " bytes of " + std::to_string(size));
    pending_copy copy;
    copy.lane = lane;
    copy.group = w.copy_groups[lane];
    copy.size = size;
    copy.taken = taken;
    if (taken != 0) {
      const address from = address_of(w.registers, source, 1, lane);
      if ((from & (size - 1)) != 0) {
        (void)refuse_misaligned(w, lane, from, size, access_kind::read);
        return action::fault;
      }
      const located at = locate_global(w, d, lane, from, taken, access_kind::read);
      if (at.bytes == nullptr || !note_read(w, d, lane, at, from, taken, access_class::plain))
        return action::fault;
      copy.from = at.bytes;
    }
    const address to = address_of(w.registers, d, 0, lane);
    const located at = locate<space::shared>(w, d, lane, to, size, access_kind::write);
    if (at.bytes == nullptr) return action::fault;
    copy.to = static_cast<std::uint32_t>(to);
    std::byte bytes[16] = {};
    read_source(copy, bytes);
    const bool repeated = is_on_its_way(*w.block, copy);
    if (!note_write(w, d, lane, at, repeated ? at.bytes : bytes, size, access_class::plain))
      return action::fault;
    w.block->shared.note_departure(copy.to, size, thread_of(w, lane), false);
    w.copies.push_back(copy);
  }
  return action::next;
}

/// cp.async.commit_group: copies that follow belong to the next group.
inline action run_commit_copies(warp& w, const decoded&, lane_mask mask) {
  for_lanes(mask, [&](unsigned lane) { ++w.copy_groups[lane]; });
  return action::next;
}

/// cp.async.wait_group: all groups but the last `target` ones.
inline action run_wait_copies(warp& w, const decoded& d, lane_mask mask) {
  finish_copies(w, mask, [&](const pending_copy& copy) {
    return std::uint64_t{copy.group} + d.target < w.copy_groups[copy.lane];
  });
  return action::next;
}

/// cp.async.wait_all, also for copies that belong to no group yet.
inline action run_wait_all_copies(warp& w, const decoded&, lane_mask mask) {
  finish_copies(w, mask);
  return action::next;
}

}}}  // namespace nogpu::v1::machine::detail
