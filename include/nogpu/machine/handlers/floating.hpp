// Handlers of f32 and f64 arithmetic.
#pragma once

#include <cstdint>
#include <type_traits>

#include <nogpu/machine/lanes.hpp>
#include <nogpu/ptx/arithmetic/approximate.hpp>
#include <nogpu/ptx/arithmetic/convert.hpp>
#include <nogpu/ptx/arithmetic/floating.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Computes f32 instructions that round, except for `.sat`.
template <ptx::rounding R, bool Ftz>
[[gnu::cold]] inline float f32_result(ptx::opcode op, float a, float b, float c) {
  using ptx::opcode;
  switch (op) {
    case opcode::add: return ptx::add<R, Ftz>(a, b);
    case opcode::sub: return ptx::sub<R, Ftz>(a, b);
    case opcode::mul: return ptx::mul<R, Ftz>(a, b);
    case opcode::div: return ptx::div<R, Ftz>(a, b);
    case opcode::rcp: return ptx::rcp<R, Ftz>(a);
    case opcode::sqrt: return ptx::sqrt<R, Ftz>(a);
    default: return ptx::fma<R, Ftz>(a, b, c);
  }
}

/// Computes f64 instructions with a directed rounding.
template <ptx::rounding R>
[[gnu::cold]] inline double f64_result(ptx::opcode op, double a, double b, double c) {
  using ptx::opcode;
  switch (op) {
    case opcode::add: return ptx::add<R>(a, b);
    case opcode::sub: return ptx::sub<R>(a, b);
    case opcode::mul: return ptx::mul<R>(a, b);
    case opcode::div: return ptx::div<R>(a, b);
    case opcode::rcp: return ptx::rcp<R>(a);
    case opcode::sqrt: return ptx::sqrt<R>(a);
    default: return ptx::fma<R>(a, b, c);
  }
}

[[gnu::cold]] inline float rounded_result(const ptx::instruction& i, float a, float b, float c) {
  using enum ptx::rounding;
  const bool z = i.with.ftz;
  float result = 0;
  switch (i.with.round) {
    case toward_zero:
      result = z ? f32_result<toward_zero, true>(i.op, a, b, c)
                 : f32_result<toward_zero, false>(i.op, a, b, c);
      break;
    case toward_negative:
      result = z ? f32_result<toward_negative, true>(i.op, a, b, c)
                 : f32_result<toward_negative, false>(i.op, a, b, c);
      break;
    case toward_positive:
      result = z ? f32_result<toward_positive, true>(i.op, a, b, c)
                 : f32_result<toward_positive, false>(i.op, a, b, c);
      break;
    default:
      result = z ? f32_result<nearest_even, true>(i.op, a, b, c)
                 : f32_result<nearest_even, false>(i.op, a, b, c);
      break;
  }
  return i.with.sat ? ptx::detail::saturate(result) : result;
}

[[gnu::cold]] inline double rounded_result(const ptx::instruction& i, double a, double b,
                                           double c) {
  using enum ptx::rounding;
  switch (i.with.round) {
    case toward_zero: return f64_result<toward_zero>(i.op, a, b, c);
    case toward_negative: return f64_result<toward_negative>(i.op, a, b, c);
    default: return f64_result<toward_positive>(i.op, a, b, c);
  }
}

/// Arithmetic in all modes; slots d, a, b, c. Operands that the instruction has not are read as
/// `a`.
template <class F>
[[gnu::cold]] inline action run_rounded(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t a = d.slots[1];
  const std::uint32_t b = d.slots[2] == no_slot ? a : d.slots[2];
  const std::uint32_t c = d.slots[3] == no_slot ? a : d.slots[3];
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const F result =
        rounded_result(*d.source, read_lane<F>(w.registers, a, lane),
                       read_lane<F>(w.registers, b, lane), read_lane<F>(w.registers, c, lane));
    write_lane(w.registers, d.slots[0], lane, result);
  }
  return action::next;
}

inline bool rounds_to_nearest(ptx::rounding r) {
  using enum ptx::rounding;
  return r != toward_zero && r != toward_negative && r != toward_positive;
}

/// Those modes of f32 arithmetic that compilers choose by default have loops that vectorize.
template <bool Ftz> handler select_f32_nearest(ptx::opcode op) {
  using F = float;
  using ptx::opcode;
  constexpr auto none = ptx::rounding::none;
  switch (op) {
    case opcode::add:
      return lane_by_lane<F, F, F>([](F a, F b) { return ptx::add<none, Ftz>(a, b); });
    case opcode::sub:
      return lane_by_lane<F, F, F>([](F a, F b) { return ptx::sub<none, Ftz>(a, b); });
    case opcode::mul:
      return lane_by_lane<F, F, F>([](F a, F b) { return ptx::mul<none, Ftz>(a, b); });
    case opcode::fma:
    case opcode::mad:
      return lane_by_lane<F, F, F, F>([](F a, F b, F c) { return ptx::fma<none, Ftz>(a, b, c); });
    case opcode::div:
      if constexpr (!Ftz) return lane_by_lane<F, F, F>([](F a, F b) { return ptx::div(a, b); });
      break;
    case opcode::sqrt:
      if constexpr (!Ftz) return lane_by_lane<F, F>([](F a) { return ptx::sqrt(a); });
      break;
    default: break;
  }
  return &run_rounded<F>;
}

inline handler select_f32_arithmetic(const ptx::instruction& i) {
  if (!rounds_to_nearest(i.with.round) || i.with.sat) return &run_rounded<float>;
  return i.with.ftz ? select_f32_nearest<true>(i.op) : select_f32_nearest<false>(i.op);
}

/// The functions of f32 that the special function unit computes.
template <bool Ftz> handler select_f32_approximation(ptx::opcode op) {
  using F = float;
  using ptx::opcode;
  switch (op) {
    case opcode::rcp: return lane_by_lane<F, F>([](F a) { return ptx::rcp_approx<Ftz>(a); });
    case opcode::sqrt: return lane_by_lane<F, F>([](F a) { return ptx::sqrt_approx<Ftz>(a); });
    case opcode::rsqrt: return lane_by_lane<F, F>([](F a) { return ptx::rsqrt_approx<Ftz>(a); });
    case opcode::lg2: return lane_by_lane<F, F>([](F a) { return ptx::lg2_approx<Ftz>(a); });
    case opcode::ex2: return lane_by_lane<F, F>([](F a) { return ptx::ex2_approx<Ftz>(a); });
    case opcode::sin: return lane_by_lane<F, F>([](F a) { return ptx::sin_approx(a); });
    case opcode::cos: return lane_by_lane<F, F>([](F a) { return ptx::cos_approx(a); });
    default: return lane_by_lane<F, F>([](F a) { return ptx::tanh_approx(a); });
  }
}

inline handler select_f32_approximation(const ptx::instruction& i) {
  return i.with.ftz ? select_f32_approximation<true>(i.op) : select_f32_approximation<false>(i.op);
}

template <bool Ftz> handler select_f32_quotient(bool full) {
  using F = float;
  if (full) return lane_by_lane<F, F, F>([](F a, F b) { return ptx::div_full<Ftz>(a, b); });
  return lane_by_lane<F, F, F>([](F a, F b) { return ptx::div_approx<Ftz>(a, b); });
}

inline handler select_f32_division(const ptx::instruction& i) {
  if (!i.with.approx && !i.with.full) return select_f32_arithmetic(i);
  if (i.op != ptx::opcode::div) return select_f32_approximation(i);
  return i.with.ftz ? select_f32_quotient<true>(i.with.full)
                    : select_f32_quotient<false>(i.with.full);
}

template <bool Max, bool Ftz>
[[gnu::cold]] inline float extremum_of(const ptx::modifiers& with, float a, float b) {
  if (with.nan && with.xorsign_abs) {
    return Max ? ptx::max<Ftz, true, true>(a, b) : ptx::min<Ftz, true, true>(a, b);
  }
  if (with.nan) return Max ? ptx::max<Ftz, true>(a, b) : ptx::min<Ftz, true>(a, b);
  return Max ? ptx::max<Ftz, false, true>(a, b) : ptx::min<Ftz, false, true>(a, b);
}

template <bool Max> handler select_f32_extremum(const ptx::instruction& i) {
  using F = float;
  if (i.with.nan || i.with.xorsign_abs)
    return rarely<F, F, F>([](const ptx::instruction& d, F a, F b) {
      return d.with.ftz ? extremum_of<Max, true>(d.with, a, b)
                        : extremum_of<Max, false>(d.with, a, b);
    });
  if (i.with.ftz)
    return lane_by_lane<F, F, F>(
        [](F a, F b) { return Max ? ptx::max<true>(a, b) : ptx::min<true>(a, b); });
  return lane_by_lane<F, F, F>([](F a, F b) { return Max ? ptx::max(a, b) : ptx::min(a, b); });
}

inline handler select_f32(const ptx::instruction& i) {
  using F = float;
  using ptx::opcode;
  const bool z = i.with.ftz;
  switch (i.op) {
    case opcode::abs:
      return z ? lane_by_lane<F, F>([](F a) { return ptx::abs<true>(a); })
               : lane_by_lane<F, F>([](F a) { return ptx::abs(a); });
    case opcode::neg:
      return z ? lane_by_lane<F, F>([](F a) { return ptx::neg<true>(a); })
               : lane_by_lane<F, F>([](F a) { return ptx::neg(a); });
    case opcode::min: return select_f32_extremum<false>(i);
    case opcode::max: return select_f32_extremum<true>(i);
    case opcode::rsqrt:
    case opcode::sin:
    case opcode::cos:
    case opcode::lg2:
    case opcode::ex2:
    case opcode::tanh: return select_f32_approximation(i);
    case opcode::copysign:
      return lane_by_lane<F, F, F>([](F a, F b) { return ptx::copysign(a, b); });
    default: return nullptr;
  }
}

inline handler select_f64_arithmetic(const ptx::instruction& i) {
  using F = double;
  using ptx::opcode;
  const bool nearest = rounds_to_nearest(i.with.round);
  switch (i.op) {
    case opcode::add:
      if (nearest) return lane_by_lane<F, F, F>([](F a, F b) { return ptx::add(a, b); });
      break;
    case opcode::sub:
      if (nearest) return lane_by_lane<F, F, F>([](F a, F b) { return ptx::sub(a, b); });
      break;
    case opcode::mul:
      if (nearest) return lane_by_lane<F, F, F>([](F a, F b) { return ptx::mul(a, b); });
      break;
    case opcode::div:
      if (nearest) return lane_by_lane<F, F, F>([](F a, F b) { return ptx::div(a, b); });
      break;
    case opcode::rcp:
      if (nearest) return lane_by_lane<F, F>([](F a) { return ptx::rcp(a); });
      break;
    case opcode::sqrt:
      if (nearest) return lane_by_lane<F, F>([](F a) { return ptx::sqrt(a); });
      break;
    case opcode::fma:
    case opcode::mad:
      if (nearest) return lane_by_lane<F, F, F, F>([](F a, F b, F c) { return ptx::fma(a, b, c); });
      break;
    default: return nullptr;
  }
  return &run_rounded<F>;
}

inline handler select_f64(const ptx::instruction& i) {
  using F = double;
  using ptx::opcode;
  switch (i.op) {
    case opcode::abs: return lane_by_lane<F, F>([](F a) { return ptx::abs(a); });
    case opcode::neg: return lane_by_lane<F, F>([](F a) { return ptx::neg(a); });
    case opcode::min: return lane_by_lane<F, F, F>([](F a, F b) { return ptx::min(a, b); });
    case opcode::max: return lane_by_lane<F, F, F>([](F a, F b) { return ptx::max(a, b); });
    case opcode::copysign:
      return lane_by_lane<F, F, F>([](F a, F b) { return ptx::copysign(a, b); });
    case opcode::rsqrt:
      return rarely<F, F>([](const ptx::instruction& d, F a) {
        return d.with.ftz ? ptx::rsqrt_approx_ftz(a) : ptx::rsqrt_approx(a);
      });
    case opcode::rcp:
      if (i.with.approx)
        return rarely<F, F>([](const ptx::instruction&, F a) { return ptx::rcp_approx_ftz(a); });
      break;
    default: break;
  }
  return select_f64_arithmetic(i);
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
    case opcode::fma: return select_f32_arithmetic(i);
    case opcode::div:
    case opcode::rcp:
    case opcode::sqrt: return select_f32_division(i);
    default: return select_f32(i);
  }
}

template <class F> [[gnu::cold]] inline bool testp_of(ptx::float_class kind, F a) {
  using enum ptx::float_class;
  switch (kind) {
    case finite: return ptx::testp<finite>(a);
    case infinite: return ptx::testp<infinite>(a);
    case number: return ptx::testp<number>(a);
    case not_a_number: return ptx::testp<not_a_number>(a);
    case normal: return ptx::testp<normal>(a);
    default: return ptx::testp<subnormal>(a);
  }
}

/// testp: slots p, a.
template <class F>
[[gnu::cold]] inline action run_testp(warp& w, const decoded& d, lane_mask mask) {
  lane_mask result = 0;
  for_lanes(mask, [&](unsigned lane) {
    const F a = read_lane<F>(w.registers, d.slots[1], lane);
    result |= lane_mask{testp_of(d.source->with.classify, a)} << lane;
  });
  write_predicate(w.registers, d.slots[0], mask, result);
  return action::next;
}

inline handler select_testp(const ptx::instruction& i) {
  return i.types[0] == ptx::type::f64 ? &run_testp<double> : &run_testp<float>;
}

}}}  // namespace nogpu::v1::machine::detail
