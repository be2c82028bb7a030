// Handlers of f16 and bf16 arithmetic, single and in pairs.
#pragma once

#include <cstdint>

#include "gpu/testing/machine/handlers/floating.hpp"
#include "gpu/testing/machine/lanes.hpp"
#include "gpu/testing/ptx/arithmetic/half.hpp"
#include "gpu/testing/ptx/ir.hpp"

namespace gpu::testing::machine::detail {

/// The handler that applies F to one number of type H a lane, or to two when Packed.
template <class H, bool Packed, class F> handler unary_half(F) {
  if constexpr (Packed) {
    using U = std::uint32_t;
    return lane_by_lane<U, U>([](U a) { return ptx::apply_x2<H>(F{}, a); });
  } else {
    return lane_by_lane<H, H>([](H a) { return F{}(a); });
  }
}

template <class H, bool Packed, class F> handler binary_half(F) {
  if constexpr (Packed) {
    using U = std::uint32_t;
    return lane_by_lane<U, U, U>([](U a, U b) { return ptx::apply_x2<H>(F{}, a, b); });
  } else {
    return lane_by_lane<H, H, H>([](H a, H b) { return F{}(a, b); });
  }
}

template <class H, bool Packed, class F> handler ternary_half(F) {
  if constexpr (Packed) {
    using U = std::uint32_t;
    return lane_by_lane<U, U, U, U>([](U a, U b, U c) { return ptx::apply_x2<H>(F{}, a, b, c); });
  } else {
    return lane_by_lane<H, H, H, H>([](H a, H b, H c) { return F{}(a, b, c); });
  }
}

template <class H, bool Packed, class Z> handler select_half_extremum(const ptx::instruction& i) {
  const bool min = i.op == ptx::opcode::min;
  return with_flag(i.with.nan, [&](auto n) {
    using N = decltype(n);
    return with_flag(i.with.xorsign_abs, [&](auto x) {
      using X = decltype(x);
      return min ? binary_half<H, Packed>(
                       [](H a, H b) { return ptx::min<Z::value, N::value, X::value>(a, b); })
                 : binary_half<H, Packed>(
                       [](H a, H b) { return ptx::max<Z::value, N::value, X::value>(a, b); });
    });
  });
}

template <class H, bool Packed, class Z> handler select_half_arithmetic(const ptx::instruction& i) {
  using ptx::opcode;
  if (i.with.relu && (i.op == opcode::fma || i.op == opcode::mad))
    return ternary_half<H, Packed>(
        [](H a, H b, H c) { return ptx::fma<Z::value, false, true>(a, b, c); });
  return with_flag(i.with.sat, [&](auto s) -> handler {
    using S = decltype(s);
    switch (i.op) {
      case opcode::add:
        return binary_half<H, Packed>([](H a, H b) { return ptx::add<Z::value, S::value>(a, b); });
      case opcode::sub:
        return binary_half<H, Packed>([](H a, H b) { return ptx::sub<Z::value, S::value>(a, b); });
      case opcode::mul:
        return binary_half<H, Packed>([](H a, H b) { return ptx::mul<Z::value, S::value>(a, b); });
      default:
        return ternary_half<H, Packed>(
            [](H a, H b, H c) { return ptx::fma<Z::value, S::value>(a, b, c); });
    }
  });
}

template <class H, bool Packed> handler select_half_of(const ptx::instruction& i) {
  using ptx::opcode;
  return with_flag(i.with.ftz, [&](auto z) -> handler {
    using Z = decltype(z);
    switch (i.op) {
      case opcode::add:
      case opcode::sub:
      case opcode::mul:
      case opcode::mad:
      case opcode::fma:
        return select_half_arithmetic<H, Packed, Z>(i);
      case opcode::min:
      case opcode::max:
        return select_half_extremum<H, Packed, Z>(i);
      case opcode::abs:
        return unary_half<H, Packed>([](H a) { return ptx::abs<Z::value>(a); });
      case opcode::neg:
        return unary_half<H, Packed>([](H a) { return ptx::neg<Z::value>(a); });
      case opcode::tanh:
        return unary_half<H, Packed>([](H a) { return ptx::tanh_approx(a); });
      case opcode::ex2:
        return unary_half<H, Packed>([](H a) { return ptx::ex2_approx<Z::value>(a); });
      default:
        return nullptr;
    }
  });
}

/// The handler of an f16 or bf16 instruction, or null when this is none.
inline handler select_half(const ptx::instruction& i) {
  switch (i.types[0]) {
    case ptx::type::f16:
      return select_half_of<ptx::f16, false>(i);
    case ptx::type::bf16:
      return select_half_of<ptx::bf16, false>(i);
    case ptx::type::f16x2:
      return select_half_of<ptx::f16, true>(i);
    case ptx::type::bf16x2:
      return select_half_of<ptx::bf16, true>(i);
    default:
      return nullptr;
  }
}

}  // namespace gpu::testing::machine::detail
