// What the handlers of matrix instructions share: all lanes of a warp execute them together.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <nogpu/machine/lane_checks.hpp>
#include <nogpu/machine/lanes.hpp>
#include <nogpu/machine/matrix_plan.hpp>
#include <nogpu/machine/warp.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The handler of every matrix instruction. Lanes that come one after the other wait for each
/// other.
inline action run_matrix(warp& w, const decoded& d, lane_mask mask) {
  if (mask != all_lanes) return action::collective;
  const party whole{w.registers, w.top, &d, mask};
  return d.together(w, {&whole, 1}, mask) ? action::next : action::fault;
}

/// Looks at lanes that did not come as one group. Reports if some of the warp do not execute the
/// instruction, which a GPU leaves undefined: here it uses what is in their registers. False: a
/// fault.
[[gnu::cold, gnu::noinline]] inline bool check_apart(warp& w, std::span<const party> parties,
                                                     lane_mask present) {
  const party& first = parties[0];
  const auto lane = static_cast<unsigned>(std::countr_zero(present));
  for (const party& p : parties) {
    if (p.instruction == first.instruction && p.in == first.in) continue;
    w.at = first.instruction;
    w.function = first.in->function;
    (void)fail(w, fault_kind::illegal_instruction, lane,
               "the lanes of the warp execute different matrix instructions");
    return false;
  }
  if (present == all_lanes) return true;
  return report_mask_misuse(
      w, first, lane,
      "lanes " + hexadecimal(~present) +
          " of the warp do not execute it: a matrix instruction needs all 32");
}

/// Returns whether a matrix instruction can be executed, by all lanes of the warp.
inline bool is_whole(warp& w, std::span<const party> parties, lane_mask present) {
  return (parties.size() == 1 && present == all_lanes) || check_apart(w, parties, present);
}

/// Notes a fault found while lanes act together.
inline bool fail_together(warp& w, const party& p) {
  w.at = p.instruction;
  w.function = p.in->function;
  return false;
}
inline bool fail_together(warp& w, const party& p, fault_kind kind, unsigned lane,
                          std::string text) {
  (void)fail(w, kind, lane, std::move(text));
  return fail_together(w, p);
}

/// The list of a matrix instruction: the index of its plan, then slots.
inline const matrix_plan& plan_of(const party& p) {
  return *p.in->function->plans[p.in->function->lists[p.instruction->list]];
}
inline const std::uint32_t* slots_of(const party& p) {
  return p.in->function->lists.data() + p.instruction->list + 1;
}

/// Calls `take(position, bits)` for every element of a matrix that is in registers of 32 bits;
/// `bits` has the element in its low bits.
template <class F>
inline void each_element(const std::byte* registers, const std::uint32_t* slots,
                         const fragment_plan& f, F take) {
  const unsigned width = 32 / f.each;
  for (std::uint32_t reg = 0; reg < f.distinct; ++reg)
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      const auto bits = read_lane<std::uint32_t>(registers, slots[reg], lane);
      const std::uint16_t* const at = f.of(reg, lane);
      for (unsigned e = 0; e < f.each; ++e) take(at[e], bits >> e * width);
    }
}

/// Writes a matrix to registers of 32 bits: `give(position)` has the element in its low bits.
template <class F>
inline void set_elements(std::byte* registers, const std::uint32_t* slots, const fragment_plan& f,
                         F give) {
  const unsigned width = 32 / f.each;
  const std::uint32_t used = width == 32 ? ~0u : (1u << width) - 1;
  for (std::uint32_t reg = 0; reg < f.registers; ++reg) {
    if (slots[reg] == no_slot) continue;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      const std::uint16_t* const at = f.of(reg % f.distinct, lane);
      std::uint32_t bits = 0;
      for (unsigned e = 0; e < f.each; ++e) bits |= (give(at[e]) & used) << e * width;
      write_lane(registers, slots[reg], lane, bits);
    }
  }
}

}}}  // namespace nogpu::v1::machine::detail
