// Handlers of asynchronous stores and reductions: values of registers that go to the shared memory
// of a block of the cluster. They are done when a thread waits on their mbarrier, as bulk copies
// are.
#pragma once

#include <bit>
#include <cstdint>

#include <nogpu/machine/handlers/bulk_copies.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Makes a generic address one of shared memory. Returns false if it is not in there.
inline bool find_in_shared(warp& w, unsigned lane, address& a, std::uint32_t size) {
  if (!in_window(a, shared_window)) {
    (void)refuse(w, fault_kind::wrong_space, lane, a, size, access_kind::write,
                 "asynchronous stores and reductions, and their mbarriers, are in shared memory");
    return false;
  }
  a -= shared_window;
  return true;
}

/// st.async and red.async: slots are destination and mbarrier; the list has the rest of the
/// mbarrier's address and the slots of the values. `option` says whether addresses are generic.
inline action run_async_store(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* const more = w.function->lists.data() + d.list;
  const std::uint32_t* const values = more + 3;
  const ptx::instruction& i = *d.source;
  const std::uint32_t each = ptx::size_of(i.types[0]), size = each * d.count;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    address to = address_of(w.registers, d, 0, lane);
    address barrier = listed_address(w, d, 1, lane, more);
    if (d.option != 0 &&
        (!find_in_shared(w, lane, to, size) || !find_in_shared(w, lane, barrier, 8)))
      return action::fault;
    if (to % size != 0) {
      (void)refuse_misaligned(w, lane, to, size, access_kind::write);
      return action::fault;
    }
    bulk_targets targets;
    if (!find_targets(w, d, lane, to, size, barrier, no_slot, targets)) return action::fault;
    for (std::uint32_t n = 0; n < d.count; ++n) {
      const std::uint64_t value = each == 8
                                      ? read_lane<std::uint64_t>(w.registers, values[n], lane)
                                      : read_lane<std::uint32_t>(w.registers, values[n], lane);
      const bulk_load part{.to = targets.to + n * each,
                           .size = each,
                           .fill = value,
                           .combine = i.with.op,
                           .element = i.types[0]};
      if (!bring_bulk(w, d, lane, targets, part)) return action::fault;
    }
  }
  return action::next;
}

}}}  // namespace nogpu::v1::machine::detail
