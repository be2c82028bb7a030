// Handlers of integer arithmetic.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <nogpu/machine/lanes.hpp>
#include <nogpu/ptx/arithmetic/integer.hpp>
#include <nogpu/ptx/arithmetic/packed.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

template <bool Writes, class F, class R, class... A, std::size_t... I>
inline action carry_lanes(warp& w, const decoded& d, lane_mask mask, std::index_sequence<I...>) {
  for_lanes(mask, [&](unsigned lane) {
    std::uint32_t carry = w.carry >> lane & 1u;
    const R result = F{}(read_lane<A>(w.registers, d.slots[I + 1], lane)..., carry);
    write_lane<R>(w.registers, d.slots[0], lane, result);
    if constexpr (Writes) w.carry = (w.carry & ~(1u << lane)) | (carry & 1u) << lane;
  });
  return action::next;
}

/// The condition code is an input of F(a..., carry) and, with Writes, an output.
template <bool Writes, class F, class R, class... A>
inline action with_carry(warp& w, const decoded& d, lane_mask mask) {
  return carry_lanes<Writes, F, R, A...>(w, d, mask, std::index_sequence_for<A...>{});
}

template <bool Writes, class R, class... A, class F> constexpr handler carrying(F) {
  return &with_carry<Writes, F, R, A...>;
}

/// add.cc, addc, addc.cc and the like. `T` is unsigned. The flag is the carry of a - b = a + ~b +
/// 1, the opposite of the borrow, which shows where a chain mixes additions and subtractions.
template <class T> handler select_carry(const ptx::instruction& i) {
  using ptx::opcode;
  const bool out = i.with.carry_out;
  switch (i.op) {
    case opcode::add:
      return carrying<true, T, T, T>(
          [](T a, T b, std::uint32_t& c) { return ptx::add_cc<T>(a, b, c); });
    case opcode::sub:
      return carrying<true, T, T, T>([](T a, T b, std::uint32_t& c) {
        c = 1;
        return ptx::addc_cc<T>(a, static_cast<T>(~b), c);
      });
    case opcode::addc:
      return out ? carrying<true, T, T, T>(
                       [](T a, T b, std::uint32_t& c) { return ptx::addc_cc<T>(a, b, c); })
                 : carrying<false, T, T, T>(
                       [](T a, T b, std::uint32_t& c) { return ptx::addc<T>(a, b, c); });
    case opcode::subc:
      return out ? carrying<true, T, T, T>([](T a, T b, std::uint32_t& c) {
        return ptx::addc_cc<T>(a, static_cast<T>(~b), c);
      })
                 : carrying<false, T, T, T>([](T a, T b, std::uint32_t& c) {
                     return ptx::addc<T>(a, static_cast<T>(~b), c);
                   });
    default: return nullptr;
  }
}

/// mad.cc, madc, madc.cc. `T` may be signed, for the high half.
template <class T, bool High> handler select_carry_product(const ptx::instruction& i) {
  using U = std::make_unsigned_t<T>;
  constexpr auto product = [](T a, T b) {
    if constexpr (High)
      return static_cast<U>(ptx::mul_hi<T>(a, b));
    else
      return static_cast<U>(ptx::mul_lo<T>(a, b));
  };
  if (i.op == ptx::opcode::mad)
    return carrying<true, U, T, T, U>([](T a, T b, U c, std::uint32_t& carry) {
      return ptx::add_cc<U>(decltype(product){}(a, b), c, carry);
    });
  if (i.with.carry_out)
    return carrying<true, U, T, T, U>([](T a, T b, U c, std::uint32_t& carry) {
      return ptx::addc_cc<U>(decltype(product){}(a, b), c, carry);
    });
  return carrying<false, U, T, T, U>([](T a, T b, U c, std::uint32_t& carry) {
    return ptx::addc<U>(decltype(product){}(a, b), c, carry);
  });
}

template <class T> handler select_product(const ptx::instruction& i) {
  using ptx::product;
  const bool mad = i.op == ptx::opcode::mad || i.op == ptx::opcode::madc;
  if constexpr (sizeof(T) >= 4) {
    if (mad && (i.with.carry_out || i.op == ptx::opcode::madc))
      return i.with.part == product::hi ? select_carry_product<T, true>(i)
                                        : select_carry_product<T, false>(i);
  }
  if (i.with.part == product::wide) {
    if constexpr (sizeof(T) <= 4) {
      using W = ptx::wide_t<T>;
      return mad ? lane_by_lane<W, T, T, W>([](T a, T b, W c) { return ptx::mad_wide<T>(a, b, c); })
                 : lane_by_lane<W, T, T>([](T a, T b) { return ptx::mul_wide<T>(a, b); });
    }
    return nullptr;
  }
  if (i.with.part == product::hi) {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      if (mad && i.with.sat)
        return rarely<T, T, T, T>(
            [](const ptx::instruction&, T a, T b, T c) { return ptx::mad_hi_sat(a, b, c); });
    }
    return mad ? lane_by_lane<T, T, T, T>([](T a, T b, T c) { return ptx::mad_hi<T>(a, b, c); })
               : lane_by_lane<T, T, T>([](T a, T b) { return ptx::mul_hi<T>(a, b); });
  }
  return mad ? lane_by_lane<T, T, T, T>([](T a, T b, T c) { return ptx::mad_lo<T>(a, b, c); })
             : lane_by_lane<T, T, T>([](T a, T b) { return ptx::mul_lo<T>(a, b); });
}

template <class T> handler select_product24(const ptx::instruction& i) {
  using I = ptx::instruction;
  if (i.op == ptx::opcode::mul24)
    return rarely<T, T, T>([](const I& d, T a, T b) {
      return d.with.part == ptx::product::hi ? ptx::mul24_hi<T>(a, b) : ptx::mul24_lo<T>(a, b);
    });
  return rarely<T, T, T, T>([](const I& d, T a, T b, T c) {
    if constexpr (std::is_signed_v<T>) {
      if (d.with.sat) return ptx::mad24_hi_sat(a, b, c);
    }
    return d.with.part == ptx::product::hi ? ptx::mad24_hi<T>(a, b, c) : ptx::mad24_lo<T>(a, b, c);
  });
}

template <class T> handler select_min_max(const ptx::instruction& i) {
  const bool min = i.op == ptx::opcode::min;
  if constexpr (std::is_same_v<T, std::int32_t>) {
    if (i.with.relu)
      return rarely<T, T, T>([](const ptx::instruction& d, T a, T b) {
        return d.op == ptx::opcode::min ? ptx::min_relu(a, b) : ptx::max_relu(a, b);
      });
  }
  return min ? lane_by_lane<T, T, T>([](T a, T b) { return ptx::min<T>(a, b); })
             : lane_by_lane<T, T, T>([](T a, T b) { return ptx::max<T>(a, b); });
}

template <class T> handler select_integer_of(const ptx::instruction& i) {
  using ptx::opcode;
  using U = std::make_unsigned_t<T>;
  switch (i.op) {
    case opcode::add:
    case opcode::sub:
    case opcode::addc:
    case opcode::subc:
      if (i.with.carry_out || i.op == opcode::addc || i.op == opcode::subc) {
        if constexpr (sizeof(T) >= 4) return select_carry<U>(i);
        return nullptr;
      }
      if constexpr (std::is_same_v<T, std::int32_t>) {
        if (i.with.sat)
          return rarely<T, T, T>([](const ptx::instruction& d, T a, T b) {
            return d.op == opcode::add ? ptx::add_sat(a, b) : ptx::sub_sat(a, b);
          });
      }
      return i.op == opcode::add
                 ? lane_by_lane<U, U, U>([](U a, U b) { return ptx::add<U>(a, b); })
                 : lane_by_lane<U, U, U>([](U a, U b) { return ptx::sub<U>(a, b); });
    case opcode::mul:
    case opcode::mad:
    case opcode::madc: return select_product<T>(i);
    case opcode::mul24:
    case opcode::mad24:
      if constexpr (sizeof(T) == 4) return select_product24<T>(i);
      return nullptr;
    case opcode::sad:
      return rarely<T, T, T, T>(
          [](const ptx::instruction&, T a, T b, T c) { return ptx::sad<T>(a, b, c); });
    case opcode::div:
      return rarely<T, T, T>([](const ptx::instruction&, T a, T b) { return ptx::div<T>(a, b); });
    case opcode::rem:
      return rarely<T, T, T>([](const ptx::instruction&, T a, T b) { return ptx::rem<T>(a, b); });
    case opcode::min:
    case opcode::max: return select_min_max<T>(i);
    case opcode::abs:
      if constexpr (std::is_signed_v<T>)
        return lane_by_lane<T, T>([](T a) { return ptx::abs<T>(a); });
      return nullptr;
    case opcode::neg:
      if constexpr (std::is_signed_v<T>)
        return lane_by_lane<T, T>([](T a) { return ptx::neg<T>(a); });
      return nullptr;
    default: return nullptr;
  }
}

template <class A, class B>
[[gnu::cold]] inline std::uint32_t dot(const ptx::instruction& i, std::uint32_t a, std::uint32_t b,
                                       std::uint32_t c) {
  if (i.op == ptx::opcode::dp4a) return ptx::dp4a<A, B>(a, b, c);
  return i.with.part == ptx::product::hi ? ptx::dp2a<A, B, true>(a, b, c)
                                         : ptx::dp2a<A, B, false>(a, b, c);
}

inline handler select_dot() {
  using U = std::uint32_t;
  return rarely<U, U, U, U>([](const ptx::instruction& i, U a, U b, U c) {
    using S = std::int32_t;
    if (ptx::is_signed(i.types[0]))
      return ptx::is_signed(i.types[1]) ? dot<S, S>(i, a, b, c) : dot<S, U>(i, a, b, c);
    return ptx::is_signed(i.types[1]) ? dot<U, S>(i, a, b, c) : dot<U, U>(i, a, b, c);
  });
}

/// add, min and max of two halves.
inline handler select_halves(const ptx::instruction& i) {
  using U = std::uint32_t;
  using ptx::opcode;
  if (i.op == opcode::add)
    return lane_by_lane<U, U, U>([](U a, U b) { return ptx::add_16x2(a, b); });
  if (i.op != opcode::min && i.op != opcode::max) return nullptr;
  return rarely<U, U, U>([](const ptx::instruction& d, U a, U b) {
    const bool min = d.op == opcode::min;
    if (d.with.relu) return min ? ptx::min_relu_16x2(a, b) : ptx::max_relu_16x2(a, b);
    if (d.types[0] == ptx::type::s16x2)
      return min ? ptx::min_16x2<std::int16_t>(a, b) : ptx::max_16x2<std::int16_t>(a, b);
    return min ? ptx::min_16x2<std::uint16_t>(a, b) : ptx::max_16x2<std::uint16_t>(a, b);
  });
}

/// The handler of an integer arithmetic instruction, or null when this is none.
inline handler select_integer(const ptx::instruction& i) {
  using ptx::type;
  if (i.op == ptx::opcode::dp4a || i.op == ptx::opcode::dp2a) return select_dot();
  switch (i.types[0]) {
    case type::u16:
    case type::b16: return select_integer_of<std::uint16_t>(i);
    case type::s16: return select_integer_of<std::int16_t>(i);
    case type::u32:
    case type::b32: return select_integer_of<std::uint32_t>(i);
    case type::s32: return select_integer_of<std::int32_t>(i);
    case type::u64:
    case type::b64: return select_integer_of<std::uint64_t>(i);
    case type::s64: return select_integer_of<std::int64_t>(i);
    case type::u16x2:
    case type::s16x2: return select_halves(i);
    default: return nullptr;
  }
}

}}}  // namespace nogpu::v1::machine::detail
