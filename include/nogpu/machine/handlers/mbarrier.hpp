// Handlers of mbarrier: barriers that are 64-bit objects in shared memory.
#pragma once

#include <cstdint>

#include <nogpu/machine/access_checks.hpp>
#include <nogpu/machine/handlers/async_copies.hpp>
#include <nogpu/machine/handlers/bulk_copies.hpp>
#include <nogpu/machine/memory_access.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The object's content, which programs must not look into.
struct mbarrier {
  static constexpr std::uint32_t limit = (1u << 20) - 1;
  std::uint32_t expected = 0;  // arrivals of each phase
  std::uint32_t pending = 0;   // arrivals that the current phase lacks
  std::int32_t bytes = 0;      // transactions that the current phase lacks
  bool phase = false;

  static mbarrier unpack(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word & limit),
            static_cast<std::uint32_t>(word >> 20 & limit),
            static_cast<std::int32_t>(static_cast<std::uint32_t>(word >> 40) << 9) >> 9,
            word >> 63 != 0};
  }
  std::uint64_t pack() const {
    return expected | std::uint64_t{pending} << 20 |
           (std::uint64_t{static_cast<std::uint32_t>(bytes)} & 0x7f'ffffu) << 40 |
           std::uint64_t{phase} << 63;
  }
  void complete_if_done() {
    if (pending != 0 || bytes != 0) return;
    phase = !phase;
    pending = expected;
  }
};

inline std::uint32_t operand_or(const warp& w, std::uint32_t slot, unsigned lane,
                                std::uint32_t otherwise) {
  return slot == no_slot ? otherwise : read_lane<std::uint32_t>(w.registers, slot, lane);
}

/// Applies one lane's operation. False: a fault, noted in the warp.
inline bool apply_mbarrier(warp& w, const decoded& d, unsigned lane, mbarrier& b,
                           std::uint64_t before, lane_mask& result) {
  using ptx::opcode;
  const ptx::modifiers& with = d.source->with;
  const auto wrong = [&](const char* why) {
    (void)fail(w, fault_kind::illegal_instruction, lane, why);
    return false;
  };
  switch (d.source->op) {
    case opcode::mbarrier_init: {
      const std::uint32_t count = operand_or(w, d.slots[1], lane, 0);
      if (count == 0 || count > mbarrier::limit)
        return wrong("an mbarrier expects 1 to 1048575 arrivals");
      b = {count, count, 0, false};
      return true;
    }
    case opcode::mbarrier_inval: b = {}; return true;
    case opcode::mbarrier_expect_tx:
      b.bytes += static_cast<std::int32_t>(operand_or(w, d.slots[1], lane, 0));
      return true;
    case opcode::mbarrier_complete_tx:
      b.bytes -= static_cast<std::int32_t>(operand_or(w, d.slots[1], lane, 0));
      b.complete_if_done();
      return true;
    case opcode::mbarrier_arrive:
    case opcode::mbarrier_arrive_drop: {
      std::uint32_t count = operand_or(w, d.slots[2], lane, 1);
      if (with.expect_tx) {
        b.bytes += static_cast<std::int32_t>(count);
        count = 1;
      }
      if (count > b.pending) return wrong("more arrivals than the mbarrier expects");
      b.pending -= count;
      if (d.source->op == opcode::mbarrier_arrive_drop) b.expected -= count;
      if (with.no_complete && b.pending == 0)
        return wrong("an arrival with .noComplete completes the phase");
      b.complete_if_done();
      if (d.slots[0] != no_slot) write_lane(w.registers, d.slots[0], lane, before);
      return true;
    }
    case opcode::cp_async_mbarrier_arrive:
      finish_copies(w, lane_mask{1} << lane);
      if (!with.no_increment) return true;  // counted up, and down at once
      if (b.pending == 0) return wrong("more arrivals than the mbarrier expects");
      --b.pending;
      b.complete_if_done();
      return true;
    case opcode::mbarrier_test_wait:
    case opcode::mbarrier_try_wait: {
      const bool waited = with.parity
                              ? (operand_or(w, d.slots[2], lane, 0) & 1) != 0
                              : read_lane<std::uint64_t>(w.registers, d.slots[2], lane) >> 63 != 0;
      result |= lane_mask{b.phase != waited} << lane;
      return true;
    }
    default: return true;
  }
}

/// Every mbarrier instruction on an object: `target` is the slot of the address, `option` says
/// whether that is a shared address.
inline action run_mbarrier(warp& w, const decoded& d, lane_mask mask) {
  using ptx::opcode;
  lane_mask result = 0;
  const bool waits =
      d.source->op == opcode::mbarrier_test_wait || d.source->op == opcode::mbarrier_try_wait;
  for (lane_mask left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const address a = address_of(w.registers, d, d.target, lane);
    const located at = d.option != 0
                           ? locate<space::shared>(w, d, lane, a, 8, access_kind::atomic)
                           : locate<space::generic>(w, d, lane, a, 8, access_kind::atomic);
    if (at.bytes == nullptr) return action::fault;
    if (!at.shared)
      return fail(w, fault_kind::wrong_space, lane, "an mbarrier must be in shared memory");
    const bool changed = w.changed;
    (void)note_write(w, d, lane, at, nullptr, 8, access_class::unordered);
    const auto before = fetch<std::uint64_t>(at, 0);
    mbarrier b = mbarrier::unpack(before);
    block_state& owner = owner_of(w, at);
    if (waits && !owner.bulk_loads.empty()) {
      const auto offset = static_cast<std::uint32_t>(at.bytes - owner.shared.bytes());
      b.bytes -= static_cast<std::int32_t>(finish_bulk_loads(owner, offset));
      b.complete_if_done();
    }
    if (!apply_mbarrier(w, d, lane, b, before, result)) return action::fault;
    put(at, 0, b.pack());
    w.changed = changed || b.pack() != before;
    if (at.other != nullptr) ++at.other->epoch;
  }
  ++w.block->epoch;  // it orders threads
  if (!waits) return action::next;
  write_predicate(w.registers, d.slots[0], mask, result);
  return result == mask ? action::next : action::yield;
}

/// mbarrier.pending_count: slots d, state.
inline action run_pending_count(warp& w, const decoded& d, lane_mask mask) {
  for_lanes(mask, [&](unsigned lane) {
    const auto state = read_lane<std::uint64_t>(w.registers, d.slots[1], lane);
    write_lane(w.registers, d.slots[0], lane, mbarrier::unpack(state).pending);
  });
  return action::next;
}

}}}  // namespace nogpu::v1::machine::detail
