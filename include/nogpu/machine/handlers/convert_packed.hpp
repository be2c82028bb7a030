// Handlers of cvt to and from packed and reduced formats, and of cvt.pack.
#pragma once

#include <cstdint>

#include <nogpu/machine/lanes.hpp>
#include <nogpu/ptx/arithmetic/convert_packed.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// cvt.f16x2.f32 and cvt.bf16x2.f32
template <class H, ptx::rounding R>
[[gnu::cold]] inline std::uint32_t pair_of(const ptx::modifiers& with, float a, float b) {
  if (with.relu) {
    return with.satfinite ? ptx::cvt_to_half_x2<H, R, true, true>(a, b)
                          : ptx::cvt_to_half_x2<H, R, true, false>(a, b);
  }
  return with.satfinite ? ptx::cvt_to_half_x2<H, R, false, true>(a, b)
                        : ptx::cvt_to_half_x2<H, R, false, false>(a, b);
}

template <class H>
[[gnu::cold, gnu::noinline]] inline std::uint32_t pair_of(const ptx::modifiers& with, float a,
                                                          float b) {
  return with.round == ptx::rounding::toward_zero
             ? pair_of<H, ptx::rounding::toward_zero>(with, a, b)
             : pair_of<H, ptx::rounding::nearest_even>(with, a, b);
}

template <class H> handler select_to_pair() {
  return rarely<std::uint32_t, float, float>(
      [](const ptx::instruction& i, float a, float b) { return pair_of<H>(i.with, a, b); });
}

template <ptx::rounding R>
[[gnu::cold]] inline std::uint32_t tf32_of(const ptx::modifiers& with, float a) {
  if (with.relu) {
    return with.satfinite ? ptx::cvt_to_tf32<R, true, true>(a)
                          : ptx::cvt_to_tf32<R, true, false>(a);
  }
  return with.satfinite ? ptx::cvt_to_tf32<R, false, true>(a)
                        : ptx::cvt_to_tf32<R, false, false>(a);
}

inline handler select_to_tf32() {
  return rarely<std::uint32_t, float>([](const ptx::instruction& i, float a) {
    using enum ptx::rounding;
    if (i.with.round == nearest_away) return tf32_of<nearest_away>(i.with, a);
    return i.with.round == toward_zero ? tf32_of<toward_zero>(i.with, a)
                                       : tf32_of<nearest_even>(i.with, a);
  });
}

template <class F8> handler select_f8(const ptx::instruction& i) {
  using U = std::uint32_t;
  using S = std::uint16_t;
  using I = ptx::instruction;
  if (i.types[0] == ptx::type::f16x2)
    return rarely<U, S>([](const I& d, S a) {
      return d.with.relu ? ptx::cvt_f8_x2_to_f16_x2<F8, true>(a)
                         : ptx::cvt_f8_x2_to_f16_x2<F8, false>(a);
    });
  if (i.types[1] == ptx::type::f16x2)
    return rarely<S, U>([](const I& d, U a) {
      return d.with.relu ? ptx::cvt_to_f8_x2<F8, true>(a) : ptx::cvt_to_f8_x2<F8, false>(a);
    });
  return rarely<S, float, float>([](const I& d, float a, float b) {
    return d.with.relu ? ptx::cvt_to_f8_x2<F8, true>(a, b) : ptx::cvt_to_f8_x2<F8, false>(a, b);
  });
}

/// cvt.pack of fields that no type is named after.
template <int Bits> handler select_narrow_pack(bool is_signed) {
  using U = std::uint32_t;
  using S = std::int32_t;
  return is_signed ? lane_by_lane<U, S, S, U>(
                         [](S a, S b, U c) { return ptx::cvt_pack<Bits, true>(a, b, c); })
                   : lane_by_lane<U, S, S, U>(
                         [](S a, S b, U c) { return ptx::cvt_pack<Bits, false>(a, b, c); });
}

/// The handler of cvt.pack.
inline handler select_cvt_pack(const ptx::instruction& i) {
  using U = std::uint32_t;
  using S = std::int32_t;
  switch (i.types[0]) {
    case ptx::type::u16:
      return lane_by_lane<U, S, S>([](S a, S b) { return ptx::cvt_pack<std::uint16_t>(a, b); });
    case ptx::type::s16:
      return lane_by_lane<U, S, S>([](S a, S b) { return ptx::cvt_pack<std::int16_t>(a, b); });
    case ptx::type::u8:
      return lane_by_lane<U, S, S, U>(
          [](S a, S b, U c) { return ptx::cvt_pack<8, false>(a, b, c); });
    case ptx::type::s8:
      return lane_by_lane<U, S, S, U>(
          [](S a, S b, U c) { return ptx::cvt_pack<8, true>(a, b, c); });
    default:
      return i.with.packed_bits == 4 ? select_narrow_pack<4>(i.with.packed_signed)
                                     : select_narrow_pack<2>(i.with.packed_signed);
  }
}

}}}  // namespace nogpu::v1::machine::detail
