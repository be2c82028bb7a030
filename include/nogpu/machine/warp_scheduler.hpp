// Runs a warp: chooses a group of lanes, runs it until it diverges or waits, brings lanes together.
//
// Lanes have program counters of their own. Among the groups that can run, the one in the deepest
// call and then at the lowest instruction goes first, so that groups ahead wait where control flow
// joins. A group that had to wait for long is preferred for a while, so that spinning lanes never
// block the lanes that they wait for.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nogpu/machine/barriers.hpp>
#include <nogpu/machine/cost_counting.hpp>
#include <nogpu/machine/frames.hpp>
#include <nogpu/machine/handlers/async_copies.hpp>
#include <nogpu/machine/handlers/bulk_copies.hpp>
#include <nogpu/machine/handlers/collective.hpp>
#include <nogpu/machine/handlers/matrix_group.hpp>
#include <nogpu/machine/undefined_values.hpp>
#include <nogpu/machine/warp.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

inline constexpr std::uint64_t longest_wait = 64;  // turns
inline constexpr std::uint32_t preferred_turns = 32;

/// Index of the group to run next, or the number of groups when none can.
inline std::size_t choose_group(warp& w) {
  const std::size_t none = w.groups.size();
  std::size_t best = none, oldest = none;
  for (std::size_t i = 0; i < w.groups.size(); ++i) {
    const group& g = w.groups[i];
    if (g.waits != group::state::ready) continue;
    if (g.credit != 0) {
      best = oldest = i;
      break;
    }
    if (oldest == none || g.last_run < w.groups[oldest].last_run) oldest = i;
    if (best == none || g.in->depth > w.groups[best].in->depth ||
        (g.in->depth == w.groups[best].in->depth && g.pc < w.groups[best].pc))
      best = i;
  }
  if (best == none) return none;
  ++w.turn;
  if (oldest != best && w.turn - w.groups[oldest].last_run > longest_wait) {
    best = oldest;
    w.groups[best].credit = preferred_turns;
  }
  group& chosen = w.groups[best];
  if (chosen.credit != 0) --chosen.credit;
  chosen.last_run = w.turn;
  return best;
}

/// Joins to group `index` every ready group at the same instruction of the same frame.
inline void join_groups(warp& w, std::size_t& index) {
  for (std::size_t i = 0; i < w.groups.size();) {
    group& g = w.groups[index];
    const group& other = w.groups[i];
    if (i == index || other.waits != group::state::ready || other.in != g.in || other.pc != g.pc) {
      ++i;
      continue;
    }
    g.lanes |= other.lanes;
    g.executed = std::max(g.executed, other.executed);
    g.busy = std::max(g.busy, other.busy);
    g.idle = std::max(g.idle, other.idle);
    g.changes = std::max(g.changes, other.changes);
    g.seen = std::max(g.seen, other.seen);
    w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(i));
    if (i < index) --index;
  }
}

/// Executes the collectives for which all members have arrived. False: a fault.
inline bool complete_collectives(warp& w) {
  for (std::size_t i = 0; i < w.groups.size(); ++i) {
    if (w.groups[i].waits != group::state::at_collective) continue;
    const lane_mask members = w.groups[i].members;
    const decoded& d = w.groups[i].in->function->code[w.groups[i].pc];
    const auto takes_part = [&](const group& g) {
      return g.waits == group::state::at_collective && g.members == members &&
             g.in->function->code[g.pc].together == d.together;
    };
    lane_mask present = 0;
    std::vector<party> parties;
    for (const group& g : w.groups) {
      if (!takes_part(g)) continue;
      present |= g.lanes;
      parties.push_back({g.in->registers.get(), g.in, &g.in->function->code[g.pc], g.lanes});
    }
    if ((members & w.live & ~present) != 0) continue;
    if (!d.together(w, parties, present)) return false;
    for (group& g : w.groups) {
      if (!takes_part(g)) continue;
      // The next group in line still has to recognize itself by its instruction.
      g.waits = group::state::ready;
      g.pc += 1;
    }
  }
  return true;
}

/// Splits `lanes` off to a group of their own. The reference to any group becomes invalid.
inline group& split(warp& w, const group& from, lane_mask lanes, std::uint32_t pc) {
  group other = from;
  other.lanes = lanes;
  other.pc = pc;
  other.waits = group::state::ready;
  other.credit = 0;
  w.groups.push_back(other);
  return w.groups.back();
}

/// Updates the running group after an instruction that is not followed by the next one for all of
/// its lanes. `mask` are the lanes that executed it, `g` a copy of the group, at the instruction;
/// the group in the list becomes the lanes that are left in `g.lanes`, at `g.pc`.
inline bool finish_collective(warp& w, const decoded& d, group& g, lane_mask mask) {
  lane_mask waiting = 0;
  for (lane_mask left = mask; left != 0;) {
    const auto first = static_cast<unsigned>(std::countr_zero(left));
    const auto members = read_lane<lane_mask>(w.registers, d.target, first);
    lane_mask same = 0;
    for_lanes(left, [&](unsigned lane) {
      same |= lane_mask{read_lane<lane_mask>(w.registers, d.target, lane) == members} << lane;
    });
    const party some{w.registers, g.in, &d, same};
    if ((same & ~members) != 0 && !note_unnamed(w, some, members)) return false;
    left &= ~same;
    if ((members & w.live & ~same) != 0) {
      group& waits = split(w, g, same, g.pc);
      waits.waits = group::state::at_collective;
      waits.members = members;
      waiting |= same;
    } else if (d.together != &shuffle && !d.together(w, {&some, 1}, same)) {
      return false;
    }
  }
  // Groups with masks of their own shuffle as one, so that lanes see each other across the masks.
  const party all{w.registers, g.in, &d, mask & ~waiting};
  if (all.lanes != 0 && d.together == &shuffle && !shuffle(w, {&all, 1}, all.lanes)) return false;
  g.lanes &= ~waiting;
  ++g.pc;
  return true;
}

inline void finish_table_jump(warp& w, group& g, lane_mask mask) {
  const lane_mask stay = g.lanes & ~mask;
  while (mask != 0) {
    const std::uint32_t target = w.targets[static_cast<unsigned>(std::countr_zero(mask))];
    lane_mask same = 0;
    for_lanes(mask, [&](unsigned lane) { same |= lane_mask{w.targets[lane] == target} << lane; });
    mask &= ~same;
    if (mask == 0 && stay == 0) {
      g.lanes = same;
      g.pc = target;
      return;
    }
    split(w, g, same, target);
  }
  g.lanes = stay;
  ++g.pc;
}

inline bool finish_call(warp& w, const decoded& d, group& g, lane_mask mask) {
  g.lanes &= ~mask;
  while (mask != 0) {
    const lowered_function* callee = w.callees[static_cast<unsigned>(std::countr_zero(mask))];
    lane_mask same = 0;
    for_lanes(mask, [&](unsigned lane) { same |= lane_mask{w.callees[lane] == callee} << lane; });
    mask &= ~same;
    frame* const f = call_function(w, *callee, d.list, g.pc + 1, same);
    if (f == nullptr) return false;
    split(w, g, same, 0).in = f;
  }
  ++g.pc;
  return true;
}

/// False: a fault.
inline bool finish_exit(warp& w, group& g, lane_mask mask) {
  const auto count = static_cast<std::uint32_t>(std::popcount(mask));
  finish_copies(w, mask);
  if (!w.bulk_stores.empty()) finish_bulk_stores(w, mask, 0, true);
  leave_cluster(w, mask);
  w.live &= ~mask;
  if (w.live == 0 && !leave_warp_group(w, g)) return false;
  w.block->exited += count;
  for (frame* f = g.in; f != nullptr;) {
    frame* const caller = f->caller;
    leave_frame(w, f, count);
    f = caller;
  }
  g.lanes &= ~mask;
  ++g.pc;
  return true;
}

/// Deals with everything but `next` and a jump of all lanes. False: a fault.
inline bool finish_instruction(warp& w, const decoded& d, group& g, action what, lane_mask mask) {
  switch (what) {
    case action::jump:
      split(w, g, mask, d.target);
      g.lanes &= ~mask;
      ++g.pc;
      return true;
    case action::table_jump: finish_table_jump(w, g, mask); return true;
    case action::collective: return finish_collective(w, d, g, mask);
    case action::barrier: return finish_barrier(w, d, g, mask);
    case action::call: return finish_call(w, d, g, mask);
    case action::leave:
      if (g.in->caller != nullptr) {
        group& back = split(w, g, mask, g.in->return_to);
        back.in = g.in->caller;
        return_from(w, mask);
        g.lanes &= ~mask;
        ++g.pc;
        return true;
      }
      return finish_exit(w, g, mask);
    case action::exit: return finish_exit(w, g, mask);
    case action::yield:
      w.yielded = true;
      ++g.pc;
      return true;
    default: return false;
  }
}

/// Counts instructions that a group has executed, and whether they changed memory.
inline void count_executed(warp& w, group& g, std::uint32_t instructions) {
  g.executed += instructions;
  if (std::exchange(w.changed, false)) {
    g.busy += instructions;
    ++g.changes;
    ++w.changes;
  } else {
    g.idle += instructions;
  }
}

/// Returns whether a group may go on. What it executed without a change of memory, as in a loop
/// that waits, does not count if other threads of the grid have changed memory since it last
/// looked: a wait may be long, and one for nothing ends when the others have.
inline bool within_budget(const warp& w, group& g) {
  const grid_state& grid = *w.block->grid;
  const std::uint64_t budget = grid.what->limit.instructions_per_thread;
  if (budget == 0 || g.busy + g.idle <= budget) return true;
  const std::uint64_t others = grid.changes.load(std::memory_order_relaxed) + w.changes - g.changes;
  if (others == g.seen && grid.others_are_quiet(w.block->worker)) return false;
  g.seen = others;
  g.idle = 0;
  return g.busy <= budget;
}

/// Runs group `index` until it diverges, waits, ends, meets other groups, or the fuel is used up.
/// Counts what it executes for a report of costs if that is wanted, and follows undefined values if
/// there are any. False: a fault.
template <bool Counted, bool Following>
inline bool run_group(warp& w, std::size_t index, std::uint32_t& fuel) {
  group g = w.groups[index];
  bind(w, *g.in);
  [[maybe_unused]] function_costs* costs = nullptr;
  if constexpr (Counted) costs = &w.block->costs->of(*w.function);
  const decoded* const code = w.function->code.data();
  const std::byte* const registers = w.registers;
  const bool diverged = w.groups.size() > 1;
  const std::uint32_t start = fuel;
  std::uint32_t left = fuel;
  std::uint32_t counted = fuel;  // the part of it that g.executed has
  std::uint32_t pc = g.pc;
  bool sound = true, changed = false;
  while (left != 0) {
    const decoded& d = code[pc];
    if (diverged && d.leader && left != start) break;
    --left;
    lane_mask mask = g.lanes;
    if (d.guard != no_slot) {
      const lane_mask guard = read_mask(registers, d.guard);
      mask &= d.guard_negated ? ~guard : guard;
    }
    if constexpr (Counted) count_instruction(*costs, w, d, pc, g.lanes, mask);
    if constexpr (!Following) {
      if (d.guard != no_slot && mask == 0) {
        ++pc;
        continue;
      }
    }
    const action what = Following ? run_following(w, d, g.lanes, mask) : d.run(w, d, mask);
    if (what == action::next) {
      ++pc;
      continue;
    }
    if (what == action::jump && mask == g.lanes) {
      pc = d.target;
      continue;
    }
    if (!Following && what == action::undefined) {
      take_unwritten(w, d);
      ++pc;
      break;
    }
    if constexpr (Counted)
      if (what == action::table_jump) count_table_jump(*costs, w, pc, g.lanes, mask);
    g.pc = pc;
    // Before groups split off, which take the number with them.
    count_executed(w, g, counted - left);
    counted = left;
    const std::size_t before = w.groups.size();
    sound = finish_instruction(w, d, g, what, mask);
    if (!sound && w.at == nullptr) w.at = &d;
    pc = g.pc;
    changed = what == action::exit || what == action::leave || what == action::collective ||
              what == action::barrier;
    if (!sound || g.lanes == 0 || w.groups.size() != before || w.yielded || what == action::exit ||
        what == action::barrier)
      break;
  }
  g.pc = pc;
  count_executed(w, g, counted - left);
  fuel = left;
  const bool goes_on = within_budget(w, g);
  if (g.lanes != 0) {
    w.groups[index] = g;
  } else {
    w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(index));
  }
  if (changed && sound) {
    sound = complete_collectives(w);
    release_barriers(*w.block);
    if (w.block->cluster->arrived != 0) release_cluster(*w.block->cluster);
  }
  if (sound && !goes_on) {
    w.at = &code[pc];
    (void)fail(w, fault_kind::instruction_budget,
               static_cast<unsigned>(std::countr_zero(g.lanes != 0 ? g.lanes : 1u)),
               "more than " + std::to_string(w.block->grid->what->limit.instructions_per_thread) +
                   " instructions, most likely an endless loop; the budget can be raised");
    return false;
  }
  return sound;
}

/// Runs a warp for up to `fuel` instructions, or until all of its groups wait. False: a fault.
template <bool Counted> inline bool run_warp(warp& w, std::uint32_t fuel) {
  w.yielded = false;
  while (fuel != 0 && !w.yielded) {
    std::size_t index = 0;
    if (w.groups.size() != 1 || w.groups[0].waits != group::state::ready) {
      index = choose_group(w);
      if (index == w.groups.size()) return true;
      join_groups(w, index);
    }
    if (w.undefined) forget_defined(w);
    const bool sound = w.undefined ? run_group<Counted, true>(w, index, fuel)
                                   : run_group<Counted, false>(w, index, fuel);
    if (!sound) return false;
  }
  return true;
}

}}}  // namespace nogpu::v1::machine::detail
