// Handlers of logic, shifts and bit fields.
#pragma once

#include <cstdint>
#include <type_traits>

#include <nogpu/machine/lanes.hpp>
#include <nogpu/ptx/arithmetic/bits.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// and, or, xor, not of predicates; a mask at a time.
inline handler select_predicate_logic(ptx::opcode op) {
  using ptx::opcode;
  const auto combine = []<class F>(F) -> handler {
    return [](warp& w, const decoded& d, lane_mask mask) {
      const lane_mask a = read_predicate(w.registers, d, 1);
      const lane_mask b = d.slots[2] == no_slot ? 0 : read_predicate(w.registers, d, 2);
      write_predicate(w.registers, d.slots[0], mask, F{}(a, b));
      return action::next;
    };
  };
  switch (op) {
    case opcode::and_: return combine([](lane_mask a, lane_mask b) { return a & b; });
    case opcode::or_: return combine([](lane_mask a, lane_mask b) { return a | b; });
    case opcode::xor_: return combine([](lane_mask a, lane_mask b) { return a ^ b; });
    case opcode::not_: return combine([](lane_mask a, lane_mask) { return ~a; });
    case opcode::mov: return combine([](lane_mask a, lane_mask) { return a; });
    default: return nullptr;
  }
}

template <class U> handler select_logic(const ptx::instruction& i) {
  using ptx::opcode;
  switch (i.op) {
    case opcode::and_: return lane_by_lane<U, U, U>([](U a, U b) { return static_cast<U>(a & b); });
    case opcode::or_: return lane_by_lane<U, U, U>([](U a, U b) { return static_cast<U>(a | b); });
    case opcode::xor_: return lane_by_lane<U, U, U>([](U a, U b) { return static_cast<U>(a ^ b); });
    case opcode::not_: return lane_by_lane<U, U>([](U a) { return static_cast<U>(~a); });
    case opcode::cnot:
      return rarely<U, U>([](const ptx::instruction&, U a) { return ptx::cnot<U>(a); });
    case opcode::shl:
      return lane_by_lane<U, U, std::uint32_t>(
          [](U a, std::uint32_t n) { return ptx::shl<U>(a, n); });
    case opcode::shr: {
      using S = std::make_signed_t<U>;
      if (ptx::is_signed(i.types[0]))
        return lane_by_lane<S, S, std::uint32_t>(
            [](S a, std::uint32_t n) { return ptx::shr<S>(a, n); });
      return lane_by_lane<U, U, std::uint32_t>(
          [](U a, std::uint32_t n) { return ptx::shr<U>(a, n); });
    }
    default: return nullptr;
  }
}

template <class U> handler select_fields(const ptx::instruction& i) {
  using ptx::opcode;
  using S = std::make_signed_t<U>;
  using R = std::uint32_t;
  using I = ptx::instruction;
  const bool is_signed = ptx::is_signed(i.types[0]);
  switch (i.op) {
    case opcode::popc: return rarely<R, U>([](const I&, U a) { return ptx::popc<U>(a); });
    case opcode::clz: return rarely<R, U>([](const I&, U a) { return ptx::clz<U>(a); });
    case opcode::brev: return rarely<U, U>([](const I&, U a) { return ptx::brev<U>(a); });
    case opcode::bfind:
      if (is_signed)
        return rarely<R, S>([](const I& d, S a) {
          return d.with.shift_amount ? ptx::bfind<S, true>(a) : ptx::bfind<S, false>(a);
        });
      return rarely<R, U>([](const I& d, U a) {
        return d.with.shift_amount ? ptx::bfind<U, true>(a) : ptx::bfind<U, false>(a);
      });
    case opcode::bfe:
      return is_signed
                 ? rarely<S, S, R, R>([](const I&, S a, R b, R c) { return ptx::bfe<S>(a, b, c); })
                 : rarely<U, U, R, R>([](const I&, U a, R b, R c) { return ptx::bfe<U>(a, b, c); });
    case opcode::bfi:
      return rarely<U, U, U, R, R>(
          [](const I&, U a, U b, R c, R e) { return ptx::bfi<U>(a, b, c, e); });
    default: return nullptr;
  }
}

/// lop3: the table is an immediate, kept in `option`. The common tables have loops of their own.
inline action run_lop3(warp& w, const decoded& d, lane_mask mask) {
  using U = std::uint32_t;
  const std::uint8_t table = d.option;
  for_lanes(mask, [&](unsigned lane) {
    const U a = read_lane<U>(w.registers, d.slots[1], lane);
    const U b = read_lane<U>(w.registers, d.slots[2], lane);
    const U c = read_lane<U>(w.registers, d.slots[3], lane);
    write_lane<U>(w.registers, d.slots[0], lane, ptx::lop3(a, b, c, table));
  });
  return action::next;
}

/// lop3 with a predicate: slots d, p, a, b, c, q; p is (d != 0) combined with q.
inline action run_lop3_predicate(warp& w, const decoded& d, lane_mask mask) {
  using U = std::uint32_t;
  lane_mask nonzero = 0;
  for_lanes(mask, [&](unsigned lane) {
    const U result = ptx::lop3(read_lane<U>(w.registers, d.slots[2], lane),
                               read_lane<U>(w.registers, d.slots[3], lane),
                               read_lane<U>(w.registers, d.slots[4], lane), d.option);
    if (d.slots[0] != no_slot) write_lane<U>(w.registers, d.slots[0], lane, result);
    nonzero |= lane_mask{result != 0} << lane;
  });
  const lane_mask q = read_predicate(w.registers, d, 5);
  const bool both = d.source->with.op == ptx::operation::and_;
  write_predicate(w.registers, d.slots[1], mask, both ? nonzero & q : nonzero | q);
  return action::next;
}

inline handler select_funnel(const ptx::instruction& i) {
  using U = std::uint32_t;
  using enum ptx::overflow_mode;
  const bool wraps = i.with.overflow == wrap;
  if (i.op == ptx::opcode::shf_l)
    return wraps
               ? lane_by_lane<U, U, U, U>([](U a, U b, U c) { return ptx::shf_l<wrap>(a, b, c); })
               : lane_by_lane<U, U, U, U>([](U a, U b, U c) { return ptx::shf_l<clamp>(a, b, c); });
  return wraps ? lane_by_lane<U, U, U, U>([](U a, U b, U c) { return ptx::shf_r<wrap>(a, b, c); })
               : lane_by_lane<U, U, U, U>([](U a, U b, U c) { return ptx::shf_r<clamp>(a, b, c); });
}

[[gnu::cold]] inline std::uint32_t permute(const ptx::instruction& i, std::uint32_t a,
                                           std::uint32_t b, std::uint32_t c) {
  using enum ptx::permute_mode;
  switch (i.with.permute) {
    case f4e: return ptx::prmt<f4e>(a, b, c);
    case b4e: return ptx::prmt<b4e>(a, b, c);
    case rc8: return ptx::prmt<rc8>(a, b, c);
    case ecl: return ptx::prmt<ecl>(a, b, c);
    case ecr: return ptx::prmt<ecr>(a, b, c);
    case rc16: return ptx::prmt<rc16>(a, b, c);
    default: return ptx::prmt<index>(a, b, c);
  }
}

inline handler select_permute(ptx::permute_mode mode) {
  using U = std::uint32_t;
  using enum ptx::permute_mode;
  if (mode == index)
    return lane_by_lane<U, U, U, U>([](U a, U b, U c) { return ptx::prmt<index>(a, b, c); });
  return rarely<U, U, U, U>(
      [](const ptx::instruction& i, U a, U b, U c) { return permute(i, a, b, c); });
}

inline handler select_mask_and_extend(const ptx::instruction& i) {
  using U = std::uint32_t;
  using S = std::int32_t;
  using I = ptx::instruction;
  using enum ptx::overflow_mode;
  if (i.op == ptx::opcode::bmsk)
    return rarely<U, U, U>([](const I& d, U a, U b) {
      return d.with.overflow == wrap ? ptx::bmsk<wrap>(a, b) : ptx::bmsk<clamp>(a, b);
    });
  if (ptx::is_signed(i.types[0]))
    return rarely<S, S, U>([](const I& d, S a, U b) {
      return d.with.overflow == wrap ? ptx::szext<wrap>(a, b) : ptx::szext<clamp>(a, b);
    });
  return rarely<U, U, U>([](const I& d, U a, U b) {
    return d.with.overflow == wrap ? ptx::szext<wrap>(a, b) : ptx::szext<clamp>(a, b);
  });
}

/// The handler of an instruction on bits, or null when this is none.
inline handler select_bits(const ptx::instruction& i) {
  using ptx::opcode;
  using U = std::uint32_t;
  switch (i.op) {
    case opcode::lop3: return run_lop3;
    case opcode::shf_l:
    case opcode::shf_r: return select_funnel(i);
    case opcode::prmt: return select_permute(i.with.permute);
    case opcode::bmsk:
    case opcode::szext: return select_mask_and_extend(i);
    case opcode::fns:
      return rarely<U, U, U, std::int32_t>(
          [](const ptx::instruction&, U a, U b, std::int32_t c) { return ptx::fns(a, b, c); });
    case opcode::popc:
    case opcode::clz:
    case opcode::brev:
    case opcode::bfind:
    case opcode::bfe:
    case opcode::bfi:
      return ptx::size_of(i.types[0]) == 8 ? select_fields<std::uint64_t>(i) : select_fields<U>(i);
    default: break;
  }
  if (i.types[0] == ptx::type::pred) return select_predicate_logic(i.op);
  switch (ptx::size_of(i.types[0])) {
    case 2: return select_logic<std::uint16_t>(i);
    case 4: return select_logic<U>(i);
    case 8: return select_logic<std::uint64_t>(i);
    default: return nullptr;
  }
}

}}}  // namespace nogpu::v1::machine::detail
