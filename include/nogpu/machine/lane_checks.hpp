// Checks of lanes that act together: masks that do not name the acting lanes, and reads from lanes
// that are elsewhere.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include <nogpu/machine/handlers/control.hpp>
#include <nogpu/machine/lanes.hpp>
#include <nogpu/machine/report.hpp>
#include <nogpu/machine/value_use.hpp>
#include <nogpu/machine/warp.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Reports a misuse of a lane's mask, once for each instruction of a launch. Returns false if the
/// grid has to end.
[[gnu::cold, gnu::noinline]] inline bool report_mask_misuse(warp& w, const party& p, unsigned lane,
                                                            std::string text) {
  grid_state& grid = *w.block->grid;
  const checks& check = grid.what->check;
  if (!check.mask_misuse) return true;
  if (!check.mask_misuse_is_a_fault &&
      !grid.first_report_of(p.instruction, fault_kind::mask_misuse))
    return true;
  const lowered_function* const running = std::exchange(w.function, p.in->function);
  (void)fail(w, fault_kind::mask_misuse, lane, std::move(text));
  if (check.mask_misuse_is_a_fault) {
    w.at = p.instruction;
    return false;
  }
  grid.report(make_fault(w, p.instruction));
  w.function = running;
  return true;
}

/// Notes that a shuffle gives a lane the value of `from`, which its mask does not name or which
/// does not take part. That is a mistake if something is computed with the value.
[[gnu::cold, gnu::noinline]] inline bool note_outside_read(warp& w, const party& p, unsigned lane,
                                                           unsigned from, bool takes_part) {
  const decoded& d = *p.instruction;
  const ptx::function& function = *p.in->function->source;
  const ptx::operand& to = function.operands_of(*d.source)[0];
  const ptx::operand& value = to.kind == ptx::operand_kind::pair ? function.elements_of(to)[0] : to;
  if (!value.is_register() || !w.block->grid->matters(d, [&] {
        return value_use(function, d.origin).computes_with(value.index);
      }))
    return true;
  std::string text = "reads lane " + std::to_string(from) + ", which ";
  text += takes_part ? "takes part under another mask" : "does not take part";
  if (d.target != no_slot)
    text += " (member mask " + hexadecimal(read_lane<lane_mask>(p.registers, d.target, lane)) + ")";
  if (!takes_part) text += ": hardware gives 0";
  return report_mask_misuse(w, p, lane, std::move(text));
}

/// The lanes of the warp that have not exited and will not with their next instruction.
inline lane_mask staying_lanes(const warp& w) {
  lane_mask staying = w.live;
  for (const group& g : w.groups) {
    const decoded& next = g.in->function->code[g.pc];
    const bool ends = next.run == &run_exit || (next.run == &run_return && g.in->depth == 0);
    if (ends && next.guard == no_slot) staying &= ~g.lanes;
  }
  return staying;
}

/// Notes that lanes execute a collective under a mask that does not name them. A GPU looks at the
/// mask only if the compiler does not know the warp to be together; else all lanes take part.
/// False: a fault.
[[gnu::cold, gnu::noinline]] inline bool note_unnamed(warp& w, const party& p, lane_mask members) {
  const auto lane = static_cast<unsigned>(std::countr_zero(p.lanes & ~members));
  std::string text =
      "the member mask " + hexadecimal(members) + " does not name the executing lane";
  if (p.lanes == staying_lanes(w)) return report_mask_misuse(w, p, lane, std::move(text));
  (void)fail(w, fault_kind::illegal_instruction, lane, std::move(text));
  return false;
}

}}}  // namespace nogpu::v1::machine::detail
