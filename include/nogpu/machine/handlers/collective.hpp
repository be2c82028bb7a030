// Handlers of operations that the lanes of a warp do together: shuffles, votes, matches,
// reductions.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>

#include <nogpu/machine/handlers/convert.hpp>
#include <nogpu/machine/lane_checks.hpp>
#include <nogpu/machine/lanes.hpp>
#include <nogpu/machine/undefined_values.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The handler of every collective: the scheduler gathers the members, then calls `together`.
inline action run_collective(warp&, const decoded&, lane_mask) { return action::collective; }

/// shfl: slots d, p, a, b, c. As a GPU does it: a lane that takes part gives its value, named by
/// the reader's mask or not; one that has exited, never was or is elsewhere gives 0.
inline bool shuffle(warp& w, std::span<const party> parties, lane_mask present) {
  std::uint32_t values[warp_size] = {};
  for (const party& p : parties)
    for_lanes(p.lanes, [&](unsigned lane) {
      values[lane] = read_lane<std::uint32_t>(p.registers, p.instruction->slots[2], lane);
    });
  std::uint32_t undefined[warp_size] = {};
  if (w.undefined)
    for (const party& p : parties)
      for_lanes(p.lanes, [&](unsigned lane) {
        undefined[lane] = undefined_word(*p.in, p.instruction->slots[2], lane);
      });
  bool sound = true;
  for (const party& p : parties) {
    const decoded& d = *p.instruction;
    const auto mode = d.source->with.shuffle;
    lane_mask inside = 0;
    for_lanes(p.lanes, [&](unsigned lane) {
      const auto b = read_lane<std::uint32_t>(p.registers, d.slots[3], lane) & 31;
      const auto c = read_lane<std::uint32_t>(p.registers, d.slots[4], lane);
      const std::uint32_t segment = c >> 8 & 31, clamp = c & 31;
      const std::uint32_t last = (lane & segment) | (clamp & ~segment);
      const std::uint32_t first = lane & segment;
      std::uint32_t from = lane;
      bool valid = false;
      switch (mode) {
        case ptx::shuffle_mode::up:
          from = lane - b;
          valid = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(last);
          break;
        case ptx::shuffle_mode::down:
          from = lane + b;
          valid = from <= last;
          break;
        case ptx::shuffle_mode::bfly:
          from = lane ^ b;
          valid = from <= last;
          break;
        default:
          from = first | (b & ~segment);
          valid = from <= last;
          break;
      }
      from = valid ? from & 31 : lane;
      const lane_mask named = d.target == no_slot
                                  ? present
                                  : read_lane<lane_mask>(p.registers, d.target, lane) & present;
      if (sound && from != lane && (named >> from & 1) == 0)
        sound = note_outside_read(w, p, lane, from, (present >> from & 1) != 0);
      write_lane(p.registers, d.slots[0], lane, values[from]);
      if (w.undefined) set_undefined_word(*p.in, d.slots[0], lane, undefined[from]);
      inside |= lane_mask{valid} << lane;
    });
    write_predicate(p.registers, d.slots[1], p.lanes, inside);
  }
  return sound;
}

/// vote: slots d, a.
inline bool vote(warp&, std::span<const party> parties, lane_mask members) {
  lane_mask yes = 0;
  for (const party& p : parties) yes |= read_predicate(p.registers, *p.instruction, 1) & p.lanes;
  for (const party& p : parties) {
    const decoded& d = *p.instruction;
    switch (d.source->with.vote) {
      case ptx::vote_mode::all:
        write_predicate(p.registers, d.slots[0], p.lanes, yes == members ? all_lanes : 0);
        break;
      case ptx::vote_mode::any:
        write_predicate(p.registers, d.slots[0], p.lanes, yes != 0 ? all_lanes : 0);
        break;
      case ptx::vote_mode::uni:
        write_predicate(p.registers, d.slots[0], p.lanes,
                        yes == members || yes == 0 ? all_lanes : 0);
        break;
      default:
        for_lanes(p.lanes, [&](unsigned lane) { write_lane(p.registers, d.slots[0], lane, yes); });
        break;
    }
  }
  return true;
}

/// match: slots d, p, a.
inline bool match(warp&, std::span<const party> parties, lane_mask members) {
  std::uint64_t values[warp_size] = {};
  for (const party& p : parties) {
    const unsigned size = ptx::size_of(p.instruction->source->types[0]);
    for_lanes(p.lanes, [&](unsigned lane) {
      values[lane] = read_bits(p.registers, p.instruction->slots[2], size, lane);
    });
  }
  for (const party& p : parties) {
    const decoded& d = *p.instruction;
    const bool all = d.source->with.vote == ptx::vote_mode::all;
    for_lanes(p.lanes, [&](unsigned lane) {
      lane_mask same = 0;
      for_lanes(members,
                [&](unsigned other) { same |= lane_mask{values[other] == values[lane]} << other; });
      if (all && same != members) same = 0;
      write_lane(p.registers, d.slots[0], lane, same);
      if (all) write_predicate(p.registers, d.slots[1], 1u << lane, same != 0 ? all_lanes : 0);
    });
  }
  return true;
}

/// redux: slots d, a.
inline bool reduce(warp&, std::span<const party> parties, lane_mask members) {
  const ptx::instruction& i = *parties[0].instruction->source;
  std::uint32_t values[warp_size] = {};
  for (const party& p : parties)
    for_lanes(p.lanes, [&](unsigned lane) {
      values[lane] = read_lane<std::uint32_t>(p.registers, p.instruction->slots[1], lane);
    });
  std::uint32_t result = values[std::countr_zero(members)];
  const bool is_signed = ptx::is_signed(i.types[0]);
  for_lanes(members & (members - 1), [&](unsigned lane) {
    const std::uint32_t v = values[lane];
    const bool lower =
        is_signed ? static_cast<std::int32_t>(v) < static_cast<std::int32_t>(result) : v < result;
    switch (i.with.op) {
      case ptx::operation::add: result += v; break;
      case ptx::operation::min: result = lower ? v : result; break;
      case ptx::operation::max: result = lower ? result : v; break;
      case ptx::operation::and_: result &= v; break;
      case ptx::operation::or_: result |= v; break;
      default: result ^= v; break;
    }
  });
  for (const party& p : parties)
    for_lanes(p.lanes, [&](unsigned lane) {
      write_lane(p.registers, p.instruction->slots[0], lane, result);
    });
  return true;
}

/// elect: slots d, p.
inline bool elect(warp&, std::span<const party> parties, lane_mask members) {
  const auto leader = static_cast<std::uint32_t>(std::countr_zero(members));
  for (const party& p : parties) {
    const decoded& d = *p.instruction;
    if (d.slots[0] != no_slot)
      for_lanes(p.lanes, [&](unsigned lane) { write_lane(p.registers, d.slots[0], lane, leader); });
    write_predicate(p.registers, d.slots[1], p.lanes, 1u << leader);
  }
  return true;
}

/// bar.warp.sync
inline bool synchronize(warp& w, std::span<const party>, lane_mask) {
  ++w.epoch;
  return true;
}

inline action run_activemask(warp& w, const decoded& d, lane_mask mask) {
  for_lanes(mask, [&](unsigned lane) { write_lane(w.registers, d.slots[0], lane, mask); });
  return action::next;
}

/// A shuffle or vote without .sync: among the lanes that are there.
inline action run_unsynchronized(warp& w, const decoded& d, lane_mask mask) {
  const party only{w.registers, w.top, &d, mask};
  return d.together(w, {&only, 1}, mask) ? action::next : action::fault;
}

}}}  // namespace nogpu::v1::machine::detail
