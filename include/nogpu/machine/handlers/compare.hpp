// Handlers of comparison and selection.
#pragma once

#include <cstdint>
#include <cstring>

#include <nogpu/machine/lanes.hpp>
#include <nogpu/ptx/arithmetic/floating.hpp>
#include <nogpu/ptx/arithmetic/half.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// A comparison as a table: which of the four possible relations it accepts.
enum relation : std::uint8_t { less = 1, equal = 2, greater = 4, unordered = 8 };

constexpr std::uint8_t relations_of(ptx::comparison c) {
  using enum ptx::comparison;
  switch (c) {
    case eq: return equal;
    case ne: return less | greater;
    case lt:
    case lo: return less;
    case le:
    case ls: return less | equal;
    case gt:
    case hi: return greater;
    case ge:
    case hs: return greater | equal;
    case equ: return equal | unordered;
    case neu: return less | greater | unordered;
    case ltu: return less | unordered;
    case leu: return less | equal | unordered;
    case gtu: return greater | unordered;
    case geu: return greater | equal | unordered;
    case num: return less | equal | greater;
    case nan: return unordered;
    case none: break;
  }
  return 0;
}

/// Reads operands of a type for a comparison.
template <class T> struct plain_operand {
  static T read(const std::byte* r, std::uint32_t slot, unsigned lane) {
    return read_lane<T>(r, slot, lane);
  }
};
template <class T> struct flushed_operand {
  static auto read(const std::byte* r, std::uint32_t slot, unsigned lane) {
    return ptx::detail::flush<true>(read_lane<T>(r, slot, lane));
  }
};
template <class Inner> struct half_operand {
  static float read(const std::byte* r, std::uint32_t slot, unsigned lane) {
    return ptx::to_float(Inner::read(r, slot, lane));
  }
};
/// Half of a packed pair.
template <class H, bool High, bool Ftz> struct packed_operand {
  static float read(const std::byte* r, std::uint32_t slot, unsigned lane) {
    const auto pair = read_lane<std::uint32_t>(r, slot, lane);
    const H half{static_cast<std::uint16_t>(High ? pair >> 16 : pair)};
    return ptx::to_float(ptx::detail::flush<Ftz>(half));
  }
};

/// Returns the lanes in which slots `a` and `b` have an accepted relation.
template <class Operand>
inline lane_mask compare_lanes(const std::byte* registers, std::uint32_t a, std::uint32_t b,
                               std::uint8_t accepted) {
  const bool l = (accepted & less) != 0;
  const bool e = (accepted & equal) != 0;
  const bool g = (accepted & greater) != 0;
  const bool u = (accepted & unordered) != 0;
  std::uint8_t yes[warp_size];
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    const auto x = Operand::read(registers, a, lane);
    const auto y = Operand::read(registers, b, lane);
    const bool lt = x < y, eq = x == y, gt = x > y;
    yes[lane] = static_cast<std::uint8_t>((lt & l) | (eq & e) | (gt & g) | (!(lt | eq | gt) & u));
  }
  lane_mask result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    std::uint64_t eight;
    std::memcpy(&eight, yes + i * 8, 8);  // bytes of 0 or 1, gathered to bits by a multiplication
    result |= static_cast<lane_mask>(eight * 0x0102'0408'1020'4080u >> 56) << i * 8;
  }
  return result;
}

/// Combines a comparison's result with its third operand by `and`, `or` or `xor`.
inline lane_mask combine_with_third(const std::byte* registers, const decoded& d, lane_mask value) {
  switch (static_cast<ptx::operation>(d.count)) {
    case ptx::operation::and_: return value & read_predicate(registers, d, 4);
    case ptx::operation::or_: return value | read_predicate(registers, d, 4);
    case ptx::operation::xor_: return value ^ read_predicate(registers, d, 4);
    default: return value;
  }
}

/// The same, where a comparison has a third operand, which few have.
inline lane_mask combine(const std::byte* registers, const decoded& d, lane_mask value) {
  return static_cast<ptx::operation>(d.count) == ptx::operation::none
             ? value
             : combine_with_third(registers, d, value);
}

/// setp: slots p, q, a, b, c.
template <class Operand> inline action run_setp(warp& w, const decoded& d, lane_mask mask) {
  const lane_mask yes = compare_lanes<Operand>(w.registers, d.slots[2], d.slots[3], d.option);
  const lane_mask first = combine(w.registers, d, yes);
  const lane_mask second = combine(w.registers, d, ~yes);
  write_predicate(w.registers, d.slots[0], mask, first);
  write_predicate(w.registers, d.slots[1], mask, second);
  return action::next;
}

/// setp of packed halves: p is that of the lower, q that of the upper.
template <class H, bool Ftz> inline action run_setp_x2(warp& w, const decoded& d, lane_mask mask) {
  const lane_mask low =
      compare_lanes<packed_operand<H, false, Ftz>>(w.registers, d.slots[2], d.slots[3], d.option);
  const lane_mask high =
      compare_lanes<packed_operand<H, true, Ftz>>(w.registers, d.slots[2], d.slots[3], d.option);
  const lane_mask first = combine(w.registers, d, low);
  const lane_mask second = combine(w.registers, d, high);
  write_predicate(w.registers, d.slots[0], mask, first);
  write_predicate(w.registers, d.slots[1], mask, second);
  return action::next;
}

/// set: slots d, -, a, b, c; `offset` holds the bits that mean true.
template <class Operand> inline action run_set(warp& w, const decoded& d, lane_mask mask) {
  const lane_mask yes = combine(
      w.registers, d, compare_lanes<Operand>(w.registers, d.slots[2], d.slots[3], d.option));
  for_lanes(mask, [&](unsigned lane) {
    const auto value = (yes >> lane & 1) != 0 ? static_cast<std::uint32_t>(d.offset) : 0u;
    if (d.result_size == 2) {
      write_lane(w.registers, d.slots[0], lane, static_cast<std::uint16_t>(value));
    } else {
      write_lane(w.registers, d.slots[0], lane, value);
    }
  });
  return action::next;
}

template <class H, bool Ftz> inline action run_set_x2(warp& w, const decoded& d, lane_mask mask) {
  const lane_mask low =
      compare_lanes<packed_operand<H, false, Ftz>>(w.registers, d.slots[2], d.slots[3], d.option);
  const lane_mask high =
      compare_lanes<packed_operand<H, true, Ftz>>(w.registers, d.slots[2], d.slots[3], d.option);
  const lane_mask first = combine(w.registers, d, low);
  const lane_mask second = combine(w.registers, d, high);
  for_lanes(mask, [&](unsigned lane) {
    const auto one = static_cast<std::uint32_t>(d.offset);
    const std::uint32_t value =
        ((first >> lane & 1) != 0 ? one : 0u) | ((second >> lane & 1) != 0 ? one << 16 : 0u);
    write_lane(w.registers, d.slots[0], lane, value);
  });
  return action::next;
}

/// The bits that stand for true in the result of set.
inline std::uint32_t true_value(ptx::type result, ptx::type compared) {
  using ptx::type;
  switch (result) {
    case type::f32: return 0x3f80'0000;
    case type::f16:
    case type::f16x2: return 0x3c00;
    case type::bf16:
    case type::bf16x2: return 0x3f80;
    default: return compared == type::f16x2 || compared == type::bf16x2 ? 0xffffu : 0xffff'ffffu;
  }
}

template <class Operand> handler select_comparison(bool set) {
  return set ? &run_set<Operand> : &run_setp<Operand>;
}

/// The handler of setp or set.
inline handler select_compare(const ptx::instruction& i) {
  using ptx::type;
  using enum ptx::comparison;
  const bool set = i.op == ptx::opcode::set;
  const type t = i.types[set ? 1 : 0];
  const ptx::comparison c = i.with.compare;
  const bool as_unsigned = c == lo || c == ls || c == hi || c == hs || !ptx::is_signed(t);
  const bool z = i.with.ftz;
  switch (t) {
    case type::f32:
      return z ? select_comparison<flushed_operand<float>>(set)
               : select_comparison<plain_operand<float>>(set);
    case type::f64: return select_comparison<plain_operand<double>>(set);
    case type::f16:
      return z ? select_comparison<half_operand<flushed_operand<ptx::f16>>>(set)
               : select_comparison<half_operand<plain_operand<ptx::f16>>>(set);
    case type::bf16: return select_comparison<half_operand<plain_operand<ptx::bf16>>>(set);
    case type::f16x2:
      if (set) return z ? &run_set_x2<ptx::f16, true> : &run_set_x2<ptx::f16, false>;
      return z ? &run_setp_x2<ptx::f16, true> : &run_setp_x2<ptx::f16, false>;
    case type::bf16x2: return set ? &run_set_x2<ptx::bf16, false> : &run_setp_x2<ptx::bf16, false>;
    default: break;
  }
  switch (ptx::size_of(t)) {
    case 2:
      return as_unsigned ? select_comparison<plain_operand<std::uint16_t>>(set)
                         : select_comparison<plain_operand<std::int16_t>>(set);
    case 4:
      return as_unsigned ? select_comparison<plain_operand<std::uint32_t>>(set)
                         : select_comparison<plain_operand<std::int32_t>>(set);
    case 8:
      return as_unsigned ? select_comparison<plain_operand<std::uint64_t>>(set)
                         : select_comparison<plain_operand<std::int64_t>>(set);
    default: return nullptr;
  }
}

/// selp: slots d, a, b, p.
template <class U> inline action run_selp(warp& w, const decoded& d, lane_mask mask) {
  const lane_mask chosen = read_predicate(w.registers, d, 3);
  for_lanes(mask, [&](unsigned lane) {
    const std::uint32_t from = (chosen >> lane & 1) != 0 ? d.slots[1] : d.slots[2];
    write_lane(w.registers, d.slots[0], lane, read_lane<U>(w.registers, from, lane));
  });
  return action::next;
}

template <class U> handler select_slct(const ptx::instruction& i) {
  if (i.types[1] == ptx::type::f32)
    return rarely<U, U, U, float>([](const ptx::instruction& d, U a, U b, float c) {
      return d.with.ftz ? ptx::slct<true>(a, b, c) : ptx::slct<false>(a, b, c);
    });
  return rarely<U, U, U, std::int32_t>(
      [](const ptx::instruction&, U a, U b, std::int32_t c) { return ptx::slct(a, b, c); });
}

/// The handler of selp or slct.
inline handler select_selection(const ptx::instruction& i) {
  const bool selp = i.op == ptx::opcode::selp;
  switch (ptx::size_of(i.types[0])) {
    case 2: return selp ? &run_selp<std::uint16_t> : select_slct<std::uint16_t>(i);
    case 4: return selp ? &run_selp<std::uint32_t> : select_slct<std::uint32_t>(i);
    case 8: return selp ? &run_selp<std::uint64_t> : select_slct<std::uint64_t>(i);
    default: return nullptr;
  }
}

}}}  // namespace nogpu::v1::machine::detail
