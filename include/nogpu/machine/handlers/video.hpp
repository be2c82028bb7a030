// Handlers of the video instructions.
#pragma once

#include <cstdint>
#include <type_traits>

#include <nogpu/machine/lanes.hpp>
#include <nogpu/ptx/arithmetic/video.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

constexpr ptx::video_operation video_operation_of(ptx::opcode op) {
  using ptx::opcode;
  using enum ptx::video_operation;
  switch (op) {
    case opcode::vsub:
    case opcode::vsub2:
    case opcode::vsub4: return sub;
    case opcode::vabsdiff:
    case opcode::vabsdiff2:
    case opcode::vabsdiff4: return absdiff;
    case opcode::vmin:
    case opcode::vmin2:
    case opcode::vmin4: return min;
    case opcode::vmax:
    case opcode::vmax2:
    case opcode::vmax4: return max;
    case opcode::vavrg2:
    case opcode::vavrg4: return avrg;
    case opcode::vshl: return shl;
    case opcode::vshr: return shr;
    case opcode::vset:
    case opcode::vset2:
    case opcode::vset4: return set;
    default: return add;
  }
}

/// Slots d, a, b, c; a missing c is zero. The selectors are those of the parsed operands.
template <class How>
inline action run_video(warp& w, const decoded& d, lane_mask mask, const How& how) {
  for_lanes(mask, [&](unsigned lane) {
    const auto read = [&](unsigned i) {
      return d.slots[i] == no_slot ? 0u : read_lane<std::uint32_t>(w.registers, d.slots[i], lane);
    };
    std::uint32_t result;
    if constexpr (std::is_same_v<How, ptx::video_mad>) {
      result = ptx::vmad(how, read(1), read(2), read(3));
    } else {
      result = ptx::video(how, read(1), read(2), read(3));
    }
    write_lane(w.registers, d.slots[0], lane, result);
  });
  return action::next;
}

inline action run_video_scalar(warp& w, const decoded& d, lane_mask mask) {
  const ptx::instruction& i = *d.source;
  const auto operands = w.function->source->operands_of(i);
  const bool set = i.op == ptx::opcode::vset;  // has no type of its result
  ptx::video_scalar how;
  how.operation = video_operation_of(i.op);
  how.d_signed = !set && ptx::is_signed(i.types[0]);
  how.a_signed = ptx::is_signed(i.types[set ? 0 : 1]);
  how.b_signed = ptx::is_signed(i.types[set ? 1 : 2]);
  how.sat = i.with.sat;
  how.d_part = operands[0].selector;
  how.a_part = operands[1].selector;
  how.b_part = operands[2].selector;
  how.second = i.with.op;
  how.shift = i.with.overflow;
  how.compare = i.with.compare;
  return run_video(w, d, mask, how);
}

inline action run_video_mad(warp& w, const decoded& d, lane_mask mask) {
  const ptx::instruction& i = *d.source;
  const auto operands = w.function->source->operands_of(i);
  ptx::video_mad how;
  how.a_signed = ptx::is_signed(i.types[1]);
  how.b_signed = ptx::is_signed(i.types[2]);
  how.a_negated = operands[1].negated;
  how.b_negated = operands[2].negated;
  how.c_negated = operands[3].negated;
  how.plus_one = i.with.post_increment;
  how.sat = i.with.sat;
  how.a_part = operands[1].selector;
  how.b_part = operands[2].selector;
  how.shift_right = i.with.shift_right;
  return run_video(w, d, mask, how);
}

inline action run_video_simd(warp& w, const decoded& d, lane_mask mask) {
  const ptx::instruction& i = *d.source;
  const auto operands = w.function->source->operands_of(i);
  ptx::video_simd how;
  how.operation = video_operation_of(i.op);
  how.lanes = i.op >= ptx::opcode::vadd4 ? 4 : 2;
  const bool set = how.operation == ptx::video_operation::set;
  how.d_signed = !set && ptx::is_signed(i.types[0]);
  how.a_signed = ptx::is_signed(i.types[set ? 0 : 1]);
  how.b_signed = ptx::is_signed(i.types[set ? 1 : 2]);
  how.sat = i.with.sat;
  how.accumulate = i.with.op == ptx::operation::add;
  how.mask = static_cast<std::uint8_t>(operands[0].lanes);
  how.a_lanes = operands[1].lanes;
  how.b_lanes = operands[2].lanes;
  how.compare = i.with.compare;
  return run_video(w, d, mask, how);
}

/// The handler of a video instruction, or null when this is none.
inline handler select_video(ptx::opcode op) {
  using ptx::opcode;
  if (op == opcode::vmad) return run_video_mad;
  if (op >= opcode::vadd && op <= opcode::vset) return run_video_scalar;
  if (op >= opcode::vadd2 && op <= opcode::vset4) return run_video_simd;
  return nullptr;
}

}}}  // namespace nogpu::v1::machine::detail
