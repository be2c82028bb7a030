// Handlers of f16 and bf16 arithmetic, single and in pairs.
#pragma once

#include <cstdint>
#include <type_traits>

#include <nogpu/machine/lanes.hpp>
#include <nogpu/ptx/arithmetic/convert.hpp>
#include <nogpu/ptx/arithmetic/half.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

template <bool Max, bool Ftz, class H>
[[gnu::cold]] inline H half_extremum_of(const ptx::modifiers& with, H a, H b) {
  if (with.nan && with.xorsign_abs) {
    return Max ? ptx::max<Ftz, true, true>(a, b) : ptx::min<Ftz, true, true>(a, b);
  }
  if (with.nan) return Max ? ptx::max<Ftz, true>(a, b) : ptx::min<Ftz, true>(a, b);
  if (with.xorsign_abs) {
    return Max ? ptx::max<Ftz, false, true>(a, b) : ptx::min<Ftz, false, true>(a, b);
  }
  return Max ? ptx::max<Ftz>(a, b) : ptx::min<Ftz>(a, b);
}

/// Computes the instruction, except for `.sat`.
template <bool Ftz, class H>
[[gnu::cold]] inline H half_result(const ptx::instruction& i, H a, H b, H c) {
  using ptx::opcode;
  switch (i.op) {
    case opcode::add: return ptx::add<Ftz>(a, b);
    case opcode::sub: return ptx::sub<Ftz>(a, b);
    case opcode::mul: return ptx::mul<Ftz>(a, b);
    case opcode::mad:
    case opcode::fma:
      if (i.with.oob) return i.with.relu ? ptx::fma_oob<true>(a, b, c) : ptx::fma_oob(a, b, c);
      return i.with.relu ? ptx::fma<Ftz, false, true>(a, b, c) : ptx::fma<Ftz>(a, b, c);
    case opcode::min: return half_extremum_of<false, Ftz>(i.with, a, b);
    case opcode::max: return half_extremum_of<true, Ftz>(i.with, a, b);
    case opcode::abs: return ptx::abs<Ftz>(a);
    case opcode::neg: return ptx::neg<Ftz>(a);
    case opcode::tanh: return ptx::tanh_approx(a);
    default: return ptx::ex2_approx(a);
  }
}

template <class H> [[gnu::cold]] inline H half_of(const ptx::instruction& i, H a, H b, H c) {
  const H result = i.with.ftz ? half_result<true>(i, a, b, c) : half_result<false>(i, a, b, c);
  return i.with.sat ? ptx::detail::saturate(result) : result;
}

/// Slots d, a, b, c; operands that the instruction has not are read as `a`. `Packed`: two numbers
/// of type H a lane.
template <class H, bool Packed>
[[gnu::cold]] inline action run_half(warp& w, const decoded& d, lane_mask mask) {
  using register_type = std::conditional_t<Packed, std::uint32_t, std::uint16_t>;
  const std::uint32_t a = d.slots[1];
  const std::uint32_t b = d.slots[2] == no_slot ? a : d.slots[2];
  const std::uint32_t c = d.slots[3] == no_slot ? a : d.slots[3];
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    std::uint32_t result = 0;
    for (unsigned shift = 0; shift < sizeof(register_type) * 8; shift += 16) {
      const auto part = [&](std::uint32_t slot) {
        const std::uint32_t bits = read_lane<register_type>(w.registers, slot, lane);
        return H{static_cast<std::uint16_t>(bits >> shift)};
      };
      const H half = half_of<H>(*d.source, part(a), part(b), part(c));
      result |= static_cast<std::uint32_t>(half.bits) << shift;
    }
    write_lane(w.registers, d.slots[0], lane, static_cast<register_type>(result));
  }
  return action::next;
}

/// The handler of an f16 or bf16 instruction, or null when this is none.
inline handler select_half(const ptx::instruction& i) {
  using ptx::opcode;
  switch (i.op) {
    case opcode::add:
    case opcode::sub:
    case opcode::mul:
    case opcode::mad:
    case opcode::fma:
    case opcode::min:
    case opcode::max:
    case opcode::abs:
    case opcode::neg:
    case opcode::tanh:
    case opcode::ex2: break;
    default: return nullptr;
  }
  switch (i.types[0]) {
    case ptx::type::f16: return &run_half<ptx::f16, false>;
    case ptx::type::bf16: return &run_half<ptx::bf16, false>;
    case ptx::type::f16x2: return &run_half<ptx::f16, true>;
    case ptx::type::bf16x2: return &run_half<ptx::bf16, true>;
    default: return nullptr;
  }
}

}}}  // namespace nogpu::v1::machine::detail
