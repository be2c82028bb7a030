// Handlers of f32 and f64 arithmetic.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gpu/testing/machine/lanes.hpp"
#include "gpu/testing/ptx/arithmetic/approximate.hpp"
#include "gpu/testing/ptx/arithmetic/floating.hpp"
#include "gpu/testing/ptx/ir.hpp"

namespace gpu::testing::machine::detail {

template <auto Value> using constant = std::integral_constant<decltype(Value), Value>;

/// Calls `make(constant<flag>)` for a flag known at run time.
template <class Make> handler with_flag(bool flag, Make make) {
  return flag ? make(constant<true>{}) : make(constant<false>{});
}

/// Calls `make(constant<rounding>)`; nearest-even also stands for "none given".
template <class Make> handler with_rounding(ptx::rounding r, Make make) {
  switch (r) {
    case ptx::rounding::toward_zero:
      return make(constant<ptx::rounding::toward_zero>{});
    case ptx::rounding::toward_negative:
      return make(constant<ptx::rounding::toward_negative>{});
    case ptx::rounding::toward_positive:
      return make(constant<ptx::rounding::toward_positive>{});
    default:
      return make(constant<ptx::rounding::nearest_even>{});
  }
}

inline handler select_f32_arithmetic(const ptx::instruction& i) {
  using F = float;
  using ptx::opcode;
  return with_rounding(i.with.round, [&](auto r) {
    using R = decltype(r);
    return with_flag(i.with.ftz, [&](auto f) {
      using Z = decltype(f);
      return with_flag(i.with.sat, [&](auto s) -> handler {
        using S = decltype(s);
        switch (i.op) {
          case opcode::add:
            return lane_by_lane<F, F, F>(
                [](F a, F b) { return ptx::add<R::value, Z::value, S::value>(a, b); });
          case opcode::sub:
            return lane_by_lane<F, F, F>(
                [](F a, F b) { return ptx::sub<R::value, Z::value, S::value>(a, b); });
          case opcode::mul:
            return lane_by_lane<F, F, F>(
                [](F a, F b) { return ptx::mul<R::value, Z::value, S::value>(a, b); });
          default:
            return lane_by_lane<F, F, F, F>(
                [](F a, F b, F c) { return ptx::fma<R::value, Z::value, S::value>(a, b, c); });
        }
      });
    });
  });
}

inline handler select_f32_division(const ptx::instruction& i) {
  using F = float;
  using ptx::opcode;
  return with_flag(i.with.ftz, [&](auto f) -> handler {
    using Z = decltype(f);
    if (i.with.approx || i.with.full) {
      if (i.op == opcode::rcp)
        return lane_by_lane<F, F>([](F a) { return ptx::rcp_approx<Z::value>(a); });
      if (i.op == opcode::sqrt)
        return lane_by_lane<F, F>([](F a) { return ptx::sqrt_approx<Z::value>(a); });
      return i.with.full
                 ? lane_by_lane<F, F, F>([](F a, F b) { return ptx::div_full<Z::value>(a, b); })
                 : lane_by_lane<F, F, F>([](F a, F b) { return ptx::div_approx<Z::value>(a, b); });
    }
    return with_rounding(i.with.round, [&](auto r) -> handler {
      using R = decltype(r);
      if (i.op == opcode::rcp)
        return lane_by_lane<F, F>([](F a) { return ptx::rcp<R::value, Z::value>(a); });
      if (i.op == opcode::sqrt)
        return lane_by_lane<F, F>([](F a) { return ptx::sqrt<R::value, Z::value>(a); });
      return lane_by_lane<F, F, F>([](F a, F b) { return ptx::div<R::value, Z::value>(a, b); });
    });
  });
}

template <class F, bool Max, bool Z> handler select_extremum(const ptx::instruction& i) {
  if constexpr (std::is_same_v<F, float>) {
    return with_flag(i.with.nan, [&](auto n) {
      using N = decltype(n);
      return with_flag(i.with.xorsign_abs, [&](auto x) {
        using X = decltype(x);
        return lane_by_lane<F, F, F>([](F a, F b) {
          return Max ? ptx::max<Z, N::value, X::value>(a, b)
                     : ptx::min<Z, N::value, X::value>(a, b);
        });
      });
    });
  } else {
    return lane_by_lane<F, F, F>([](F a, F b) { return Max ? ptx::max(a, b) : ptx::min(a, b); });
  }
}

inline handler select_f32(const ptx::instruction& i) {
  using F = float;
  using ptx::opcode;
  return with_flag(i.with.ftz, [&](auto f) -> handler {
    using Z = decltype(f);
    switch (i.op) {
      case opcode::abs:
        return lane_by_lane<F, F>([](F a) { return ptx::abs<Z::value>(a); });
      case opcode::neg:
        return lane_by_lane<F, F>([](F a) { return ptx::neg<Z::value>(a); });
      case opcode::min:
        return select_extremum<F, false, Z::value>(i);
      case opcode::max:
        return select_extremum<F, true, Z::value>(i);
      case opcode::rsqrt:
        return lane_by_lane<F, F>([](F a) { return ptx::rsqrt_approx<Z::value>(a); });
      case opcode::sin:
        return lane_by_lane<F, F>([](F a) { return ptx::sin_approx<Z::value>(a); });
      case opcode::cos:
        return lane_by_lane<F, F>([](F a) { return ptx::cos_approx<Z::value>(a); });
      case opcode::lg2:
        return lane_by_lane<F, F>([](F a) { return ptx::lg2_approx<Z::value>(a); });
      case opcode::ex2:
        return lane_by_lane<F, F>([](F a) { return ptx::ex2_approx<Z::value>(a); });
      case opcode::tanh:
        return lane_by_lane<F, F>([](F a) { return ptx::tanh_approx(a); });
      case opcode::copysign:
        return lane_by_lane<F, F, F>([](F a, F b) { return ptx::copysign(a, b); });
      default:
        return nullptr;
    }
  });
}

inline handler select_f64(const ptx::instruction& i) {
  using F = double;
  using ptx::opcode;
  switch (i.op) {
    case opcode::abs:
      return lane_by_lane<F, F>([](F a) { return ptx::abs(a); });
    case opcode::neg:
      return lane_by_lane<F, F>([](F a) { return ptx::neg(a); });
    case opcode::min:
      return select_extremum<F, false, false>(i);
    case opcode::max:
      return select_extremum<F, true, false>(i);
    case opcode::copysign:
      return lane_by_lane<F, F, F>([](F a, F b) { return ptx::copysign(a, b); });
    case opcode::rsqrt:
      return i.with.ftz ? lane_by_lane<F, F>([](F a) { return ptx::rsqrt_approx_ftz(a); })
                        : lane_by_lane<F, F>([](F a) { return ptx::rsqrt_approx(a); });
    case opcode::rcp:
      if (i.with.approx) return lane_by_lane<F, F>([](F a) { return ptx::rcp_approx_ftz(a); });
      break;
    default:
      break;
  }
  return with_rounding(i.with.round, [&](auto r) -> handler {
    using R = decltype(r);
    switch (i.op) {
      case opcode::add:
        return lane_by_lane<F, F, F>([](F a, F b) { return ptx::add<R::value>(a, b); });
      case opcode::sub:
        return lane_by_lane<F, F, F>([](F a, F b) { return ptx::sub<R::value>(a, b); });
      case opcode::mul:
        return lane_by_lane<F, F, F>([](F a, F b) { return ptx::mul<R::value>(a, b); });
      case opcode::div:
        return lane_by_lane<F, F, F>([](F a, F b) { return ptx::div<R::value>(a, b); });
      case opcode::rcp:
        return lane_by_lane<F, F>([](F a) { return ptx::rcp<R::value>(a); });
      case opcode::sqrt:
        return lane_by_lane<F, F>([](F a) { return ptx::sqrt<R::value>(a); });
      case opcode::fma:
      case opcode::mad:
        return lane_by_lane<F, F, F, F>([](F a, F b, F c) { return ptx::fma<R::value>(a, b, c); });
      default:
        return nullptr;
    }
  });
}

/// The handler of an f32 or f64 instruction, or null when this is none.
inline handler select_floating(const ptx::instruction& i) {
  using ptx::opcode;
  if (i.types[0] == ptx::type::f64) return select_f64(i);
  if (i.types[0] != ptx::type::f32) return nullptr;
  switch (i.op) {
    case opcode::add:
    case opcode::sub:
    case opcode::mul:
    case opcode::mad:
    case opcode::fma:
      return select_f32_arithmetic(i);
    case opcode::div:
    case opcode::rcp:
    case opcode::sqrt:
      return select_f32_division(i);
    default:
      return select_f32(i);
  }
}

template <class F> handler select_testp_of(ptx::float_class kind) {
  using enum ptx::float_class;
  const auto make = [](auto k) -> handler {
    return [](warp& w, const decoded& d, lane_mask mask) {
      lane_mask result = 0;
      for_lanes(mask, [&](unsigned lane) {
        const bool yes =
            ptx::testp<decltype(k)::value>(read_lane<F>(w.registers, d.slots[1], lane));
        result |= lane_mask{yes} << lane;
      });
      write_predicate(w.registers, d.slots[0], mask, result);
      return action::next;
    };
  };
  switch (kind) {
    case finite:
      return make(constant<finite>{});
    case infinite:
      return make(constant<infinite>{});
    case number:
      return make(constant<number>{});
    case not_a_number:
      return make(constant<not_a_number>{});
    case normal:
      return make(constant<normal>{});
    case subnormal:
      return make(constant<subnormal>{});
    default:
      return nullptr;
  }
}

inline handler select_testp(const ptx::instruction& i) {
  return i.types[0] == ptx::type::f64 ? select_testp_of<double>(i.with.classify)
                                      : select_testp_of<float>(i.with.classify);
}

}  // namespace gpu::testing::machine::detail
