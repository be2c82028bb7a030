// Handlers that move values between registers and read special registers and addresses.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>

#include <nogpu/machine/handlers/convert.hpp>
#include <nogpu/machine/lanes.hpp>
#include <nogpu/machine/memory_layout.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// mov of a register or constant as wide as the destination.
inline handler select_move(unsigned size) {
  switch (size) {
    case 1: return lane_by_lane<std::uint8_t, std::uint8_t>([](std::uint8_t a) { return a; });
    case 2: return lane_by_lane<std::uint16_t, std::uint16_t>([](std::uint16_t a) { return a; });
    case 4: return lane_by_lane<std::uint32_t, std::uint32_t>([](std::uint32_t a) { return a; });
    case 8: return lane_by_lane<std::uint64_t, std::uint64_t>([](std::uint64_t a) { return a; });
    case 16: return lane_by_lane<wide_bits, wide_bits>([](wide_bits a) { return a; });
    default: return nullptr;
  }
}

/// mov d, {a, b, ...}: `count` elements in the list fill the `result_size` bytes of slot 0.
inline action run_pack(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* elements = w.function->lists.data() + d.list;
  const unsigned size = d.result_size / d.count;
  for_lanes(mask, [&](unsigned lane) {
    std::byte value[16];
    for (unsigned e = 0; e < d.count; ++e)
      std::memcpy(value + e * size, w.registers + elements[e] + lane * size, size);
    std::memcpy(w.registers + d.slots[0] + lane * d.result_size, value, d.result_size);
  });
  return action::next;
}

/// mov {a, b, ...}, d: the reverse; the value is in slot 1.
inline action run_unpack(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* elements = w.function->lists.data() + d.list;
  const unsigned size = d.result_size / d.count;
  for_lanes(mask, [&](unsigned lane) {
    std::byte value[16];
    std::memcpy(value, w.registers + d.slots[1] + lane * d.result_size, d.result_size);
    for (unsigned e = 0; e < d.count; ++e)
      if (elements[e] != no_slot)
        std::memcpy(w.registers + elements[e] + lane * size, value + e * size, size);
  });
  return action::next;
}

inline std::uint64_t nanoseconds() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

inline std::uint32_t component(const extent& e, unsigned i) {
  return i == 0 ? e.x : i == 1 ? e.y : i == 2 ? e.z : 0;
}

/// The place of a block in its cluster, or that of the cluster in the grid.
inline std::uint32_t place_in_cluster(const block_state& block, unsigned i) {
  return i < 3 ? block.index[i] % component(block.grid->what->cluster, i) : 0;
}
inline std::uint32_t place_of_cluster(const block_state& block, unsigned i) {
  return i < 3 ? block.index[i] / component(block.grid->what->cluster, i) : 0;
}

/// The value of a special register.
inline std::uint64_t special_value(const warp& w, ptx::special_register which, unsigned index,
                                   unsigned lane) {
  using enum ptx::special_register;
  const block_state& block = *w.block;
  const launch& what = *block.grid->what;
  const std::uint32_t bit = 1u << lane;
  const auto shared = static_cast<std::uint32_t>(block.shared.end()) - reserved_shared_bytes;
  switch (which) {
    case tid: return index < 3 ? w.thread[index][lane] : 0;
    case ntid: return component(what.block, index);
    case ctaid: return index < 3 ? block.index[index] : 0;
    case nctaid: return component(what.grid, index);
    case clusterid: return place_of_cluster(block, index);
    case nclusterid:
      return index < 3 ? component(what.grid, index) / component(what.cluster, index) : 0;
    case cluster_ctaid: return place_in_cluster(block, index);
    case cluster_nctaid: return component(what.cluster, index);
    case cluster_ctarank: return block.rank;
    case cluster_nctarank: return what.cluster.count();
    case is_explicit_cluster: return what.explicit_cluster;
    case laneid: return lane;
    case warpid: return w.index;
    case nwarpid: return block.warps.size();
    case smid: return block.multiprocessor;
    case nsmid: return what.multiprocessors;
    case gridid: return what.grid_id;
    case lanemask_eq: return bit;
    case lanemask_le: return bit | (bit - 1);
    case lanemask_lt: return bit - 1;
    case lanemask_ge: return ~(bit - 1);
    case lanemask_gt: return ~(bit | (bit - 1));
    case clock:
    case clock64:
    case globaltimer:
    case globaltimer_lo: return nanoseconds();
    case clock_hi:
    case globaltimer_hi: return nanoseconds() >> 32;
    case dynamic_smem_size: return what.dynamic_shared_bytes;
    case total_smem_size: return (shared + 127) / 128 * 128;
    case aggr_smem_size: return shared + reserved_shared_bytes;
    case reserved_smem_offset_end:  // begin, _0 and _1 are 0
      return used_reserved_shared_bytes;
    case reserved_smem_offset_cap: return reserved_shared_bytes;
    case envreg:  // 1 and 2 are the halves of the workspace's address
      return index == 1   ? block.grid->workspace >> 32
             : index == 2 ? block.grid->workspace & 0xffff'ffffu
                          : 0;
    default: return 0;
  }
}

/// Slot 0 gets the special register `option`, component `count`.
inline action run_special(warp& w, const decoded& d, lane_mask mask) {
  const auto which = static_cast<ptx::special_register>(d.option);
  for_lanes(mask, [&](unsigned lane) {
    write_bits(w.registers, d.slots[0], d.result_size, lane,
               special_value(w, which, d.count, lane));
  });
  return action::next;
}

/// Does the same for a predicate, which is the same in all lanes of a warp.
inline action run_special_predicate(warp& w, const decoded& d, lane_mask mask) {
  const auto which = static_cast<ptx::special_register>(d.option);
  const bool set = special_value(w, which, d.count, 0) != 0;
  write_predicate(w.registers, d.slots[0], mask, set ? all_lanes : 0);
  return action::next;
}

/// Stores the address, in the local window, of the byte at `offset` in the frame's memory in slot
/// 0.
inline action run_frame_address(warp& w, const decoded& d, lane_mask mask) {
  for_lanes(mask, [&](unsigned lane) {
    write_bits(w.registers, d.slots[0], d.result_size, lane,
               w.top->base[lane] + static_cast<std::uint64_t>(d.offset));
  });
  return action::next;
}

/// cvta: slot 1 plus `offset`, the start of a window or minus that.
inline action run_cvta(warp& w, const decoded& d, lane_mask mask) {
  for_lanes(mask, [&](unsigned lane) {
    const std::uint64_t a = read_bits(w.registers, d.slots[1], d.count, lane);
    write_bits(w.registers, d.slots[0], d.result_size, lane,
               a + static_cast<std::uint64_t>(d.offset));
  });
  return action::next;
}

constexpr address window_of(ptx::state_space s) {
  switch (s) {
    case ptx::state_space::shared: return shared_window;
    case ptx::state_space::local: return local_window;
    case ptx::state_space::param: return param_window;
    default: return 0;
  }
}

/// isspacep: `option` is the space.
inline action run_isspacep(warp& w, const decoded& d, lane_mask mask) {
  const auto asked = static_cast<ptx::state_space>(d.option);
  lane_mask yes = 0;
  for_lanes(mask, [&](unsigned lane) {
    const auto a = read_lane<std::uint64_t>(w.registers, d.slots[1], lane);
    const address window = window_of(asked);
    bool in = false;
    if (window != 0) {
      const bool own = asked != ptx::state_space::shared || d.source->with.cluster ||
                       (a & (small_window_size - 1)) >> cluster_rank_shift == 0;
      in = in_window(a, window) && own;
    } else if (!(a >= shared_window && a < code_window)) {
      memory_view view;
      const bool known = w.block->grid->memory->resolve(a, 1, 0, view) == fault_kind::none;
      const bool constant = known && !view.writable;
      in = asked == ptx::state_space::constant ? constant : !constant;
    }
    yes |= lane_mask{in} << lane;
  });
  write_predicate(w.registers, d.slots[0], mask, yes);
  return action::next;
}

/// alloca: slot 1 is the size, `count` the logarithm of the alignment.
inline action run_alloca(warp& w, const decoded& d, lane_mask mask) {
  const std::uint64_t alignment = std::uint64_t{1} << d.count;
  const bool depth_is_known = w.block->grid->what->kernel->depth_is_known;
  const frame& f = *w.top;
  const std::uint64_t room = w.stack_limit > f.stack_bytes ? w.stack_limit - f.stack_bytes : 0;
  bool fits = true;
  unsigned culprit = 0;
  for_lanes(mask, [&](unsigned lane) {
    const std::uint64_t begin = (w.stack_top[lane] + alignment - 1) & ~(alignment - 1);
    const std::uint64_t size = read_bits(w.registers, d.slots[1], d.result_size, lane);
    const std::uint64_t end =
        depth_is_known ? w.stack_limit : f.base[lane] + f.function->frame_bytes + room;
    if (size > end || begin + size > end) {
      if (fits) culprit = lane;
      fits = false;
      return;
    }
    w.stack_top[lane] = static_cast<std::uint32_t>(begin + size);
    write_bits(w.registers, d.slots[0], d.result_size, lane, begin);
  });
  if (!fits) return fail(w, fault_kind::stack_overflow, culprit, "alloca beyond the stack limit");
  w.grow_local();
  for_lanes(mask, [&](unsigned lane) {
    const std::uint64_t begin = read_bits(w.registers, d.slots[0], d.result_size, lane);
    w.local.mark(lane, begin, w.stack_top[lane] - begin, false);
  });
  return action::next;
}

inline action run_stacksave(warp& w, const decoded& d, lane_mask mask) {
  for_lanes(mask, [&](unsigned lane) {
    write_bits(w.registers, d.slots[0], d.result_size, lane, w.stack_top[lane]);
  });
  return action::next;
}

inline action run_stackrestore(warp& w, const decoded& d, lane_mask mask) {
  for_lanes(mask, [&](unsigned lane) {
    const std::uint64_t top = read_bits(w.registers, d.slots[0], d.result_size, lane);
    if (top <= w.stack_top[lane]) w.stack_top[lane] = static_cast<std::uint32_t>(top);
  });
  return action::next;
}

inline action run_nothing(warp&, const decoded&, lane_mask) { return action::next; }

}}}  // namespace nogpu::v1::machine::detail
