// Handlers of cvt and cvt.pack.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gpu/testing/machine/lanes.hpp"
#include "gpu/testing/ptx/arithmetic/convert.hpp"
#include "gpu/testing/ptx/arithmetic/convert_packed.hpp"
#include "gpu/testing/ptx/ir.hpp"

namespace gpu::testing::machine::detail {

/// The low bits of a register of `size` bytes, whatever its width.
inline std::uint64_t read_bits(const std::byte* registers, std::uint32_t slot, unsigned size,
                               unsigned lane) {
  switch (size) {
    case 1:
      return read_lane<std::uint8_t>(registers, slot, lane);
    case 2:
      return read_lane<std::uint16_t>(registers, slot, lane);
    case 4:
      return read_lane<std::uint32_t>(registers, slot, lane);
    default:
      return read_lane<std::uint64_t>(registers, slot, lane);
  }
}

inline void write_bits(std::byte* registers, std::uint32_t slot, unsigned size, unsigned lane,
                       std::uint64_t value) {
  switch (size) {
    case 1:
      return write_lane(registers, slot, lane, static_cast<std::uint8_t>(value));
    case 2:
      return write_lane(registers, slot, lane, static_cast<std::uint16_t>(value));
    case 4:
      return write_lane(registers, slot, lane, static_cast<std::uint32_t>(value));
    case 16:
      return write_lane(registers, slot, lane, wide_bits{value, 0});
    default:
      return write_lane(registers, slot, lane, value);
  }
}

/// `value` of type T as the bits of a wider register.
template <class T> inline std::uint64_t extended(T value) {
  if constexpr (std::is_same_v<T, ptx::f16> || std::is_same_v<T, ptx::bf16>)
    return value.bits;
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(value);
  else
    return static_cast<std::uint64_t>(value);  // by sign for signed types
}

template <class T> inline T narrowed(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, ptx::f16> || std::is_same_v<T, ptx::bf16>)
    return T{static_cast<std::uint16_t>(bits)};
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

/// cvt by way of F(from, modifiers): `count` is the size of the source register, `result_size` that
/// of the destination.
template <class F, class To, class From>
inline action run_cvt(warp& w, const decoded& d, lane_mask mask) {
  const ptx::modifiers& with = d.source->with;
  if (d.count == sizeof(From) && d.result_size == sizeof(To)) {
    for_lanes(mask, [&](unsigned lane) {
      write_lane<To>(w.registers, d.slots[0], lane,
                     F{}(read_lane<From>(w.registers, d.slots[1], lane), with));
    });
  } else {
    for_lanes(mask, [&](unsigned lane) {
      const auto from = narrowed<From>(read_bits(w.registers, d.slots[1], d.count, lane));
      write_bits(w.registers, d.slots[0], d.result_size, lane, extended<To>(F{}(from, with)));
    });
  }
  return action::next;
}

template <class To, class From, class F> handler converting(F) { return &run_cvt<F, To, From>; }

/// Calls `use(std::integral_constant<rounding>)` with the mode.
template <class Use> inline auto rounded(ptx::rounding r, Use use) {
  using enum ptx::rounding;
  switch (r) {
    case toward_zero:
      return use(std::integral_constant<ptx::rounding, toward_zero>{});
    case toward_negative:
      return use(std::integral_constant<ptx::rounding, toward_negative>{});
    case toward_positive:
      return use(std::integral_constant<ptx::rounding, toward_positive>{});
    default:
      return use(std::integral_constant<ptx::rounding, nearest_even>{});
  }
}

template <class To, class From> handler select_cvt(const ptx::modifiers& with) {
  constexpr bool to_integer = std::is_integral_v<To>;
  constexpr bool from_integer = std::is_integral_v<From>;
  if constexpr (to_integer && from_integer) {
    if (with.sat)
      return converting<To, From>([](From a, const ptx::modifiers&) {
        return ptx::cvt<To, ptx::rounding::none, false, true>(a);
      });
    return converting<To, From>([](From a, const ptx::modifiers&) { return static_cast<To>(a); });
  } else if constexpr (from_integer) {
    if (with.round == ptx::rounding::nearest_even && !with.sat)
      return converting<To, From>([](From a, const ptx::modifiers&) {
        return ptx::cvt<To, ptx::rounding::nearest_even>(a);
      });
    return converting<To, From>([](From a, const ptx::modifiers& m) {
      const To result =
          rounded(m.round, [a](auto r) { return ptx::cvt<To, decltype(r)::value>(a); });
      return m.sat ? ptx::detail::saturate(result) : result;
    });
  } else if constexpr (to_integer) {
    if (with.round == ptx::rounding::toward_zero)
      return converting<To, From>([](From a, const ptx::modifiers& m) {
        return ptx::cvt<To, ptx::rounding::toward_zero>(m.ftz ? ptx::detail::flush_single<true>(a)
                                                              : a);
      });
    return converting<To, From>([](From a, const ptx::modifiers& m) {
      const From in = m.ftz ? ptx::detail::flush_single<true>(a) : a;
      return rounded(m.round, [in](auto r) { return ptx::cvt<To, decltype(r)::value>(in); });
    });
  } else {
    return converting<To, From>([](From a, const ptx::modifiers& m) {
      const From in = m.ftz ? ptx::detail::flush_single<true>(a) : a;
      To result{};
      if constexpr (std::is_same_v<To, From>) {
        if (m.round_to_integer)
          result = rounded(m.round,
                           [in](auto r) { return ptx::round_to_integer<decltype(r)::value>(in); });
        else
          result = ptx::cvt<To, ptx::rounding::nearest_even>(in);
      } else {
        result = rounded(m.round, [in](auto r) { return ptx::cvt<To, decltype(r)::value>(in); });
      }
      if (m.ftz) result = ptx::detail::flush_single<true>(result);
      return m.sat ? ptx::detail::saturate(result) : result;
    });
  }
}

template <class From> handler select_cvt_from(const ptx::instruction& i) {
  using ptx::type;
  switch (i.types[0]) {
    case type::u8:
      return select_cvt<std::uint8_t, From>(i.with);
    case type::s8:
      return select_cvt<std::int8_t, From>(i.with);
    case type::u16:
      return select_cvt<std::uint16_t, From>(i.with);
    case type::s16:
      return select_cvt<std::int16_t, From>(i.with);
    case type::u32:
      return select_cvt<std::uint32_t, From>(i.with);
    case type::s32:
      return select_cvt<std::int32_t, From>(i.with);
    case type::u64:
      return select_cvt<std::uint64_t, From>(i.with);
    case type::s64:
      return select_cvt<std::int64_t, From>(i.with);
    case type::f16:
      return select_cvt<ptx::f16, From>(i.with);
    case type::bf16:
      return select_cvt<ptx::bf16, From>(i.with);
    case type::f32:
      return select_cvt<float, From>(i.with);
    case type::f64:
      return select_cvt<double, From>(i.with);
    default:
      return nullptr;
  }
}

/// Calls `make` with constants for .relu and .satfinite and the mode .rn or .rz.
template <class Make> handler with_packing(const ptx::modifiers& with, Make make) {
  const auto finish = [&](auto r, auto relu) {
    return with.satfinite ? make(r, relu, std::true_type{}) : make(r, relu, std::false_type{});
  };
  const auto more = [&](auto r) {
    return with.relu ? finish(r, std::true_type{}) : finish(r, std::false_type{});
  };
  using enum ptx::rounding;
  if (with.round == toward_zero) return more(std::integral_constant<ptx::rounding, toward_zero>{});
  return more(std::integral_constant<ptx::rounding, nearest_even>{});
}

template <class H> handler select_to_pair(const ptx::instruction& i) {
  return with_packing(i.with, [](auto r, auto relu, auto finite) {
    using R = decltype(r);
    using L = decltype(relu);
    using S = decltype(finite);
    return lane_by_lane<std::uint32_t, float, float>([](float a, float b) {
      return ptx::cvt_to_half_x2<H, R::value, L::value, S::value>(a, b);
    });
  });
}

template <class H> handler select_to_half(const ptx::instruction& i) {
  return with_packing(i.with, [](auto r, auto relu, auto finite) {
    using R = decltype(r);
    using L = decltype(relu);
    using S = decltype(finite);
    return converting<H, float>([](float a, const ptx::modifiers&) {
      return ptx::cvt_to_half<H, R::value, L::value, S::value>(a);
    });
  });
}

inline handler select_to_tf32(const ptx::instruction& i) {
  using enum ptx::rounding;
  using U = std::uint32_t;
  if (i.with.round == nearest_away)
    return i.with.satfinite ? lane_by_lane<U, float>([](float a) {
      return ptx::cvt_to_tf32<nearest_away, false, true>(a);
    })
                            : lane_by_lane<U, float>([](float a) {
                                return ptx::cvt_to_tf32<nearest_away, false, false>(a);
                              });
  return with_packing(i.with, [](auto r, auto relu, auto finite) {
    using R = decltype(r);
    using L = decltype(relu);
    using S = decltype(finite);
    return lane_by_lane<U, float>(
        [](float a) { return ptx::cvt_to_tf32<R::value, L::value, S::value>(a); });
  });
}

template <class F8> handler select_f8(const ptx::instruction& i) {
  using U = std::uint32_t;
  using S = std::uint16_t;
  const bool relu = i.with.relu;
  if (i.types[0] == ptx::type::f16x2)
    return relu ? lane_by_lane<U, S>([](S a) { return ptx::cvt_f8_x2_to_f16_x2<F8, true>(a); })
                : lane_by_lane<U, S>([](S a) { return ptx::cvt_f8_x2_to_f16_x2<F8, false>(a); });
  if (i.types[1] == ptx::type::f16x2)
    return relu ? lane_by_lane<S, U>([](U a) { return ptx::cvt_to_f8_x2<F8, true>(a); })
                : lane_by_lane<S, U>([](U a) { return ptx::cvt_to_f8_x2<F8, false>(a); });
  return relu ? lane_by_lane<S, float, float>(
                    [](float a, float b) { return ptx::cvt_to_f8_x2<F8, true>(a, b); })
              : lane_by_lane<S, float, float>(
                    [](float a, float b) { return ptx::cvt_to_f8_x2<F8, false>(a, b); });
}

/// The handler of a cvt instruction, or null when there is none.
inline handler select_convert(const ptx::instruction& i) {
  using ptx::type;
  const type to = i.types[0], from = i.types[1];
  if (to == type::f16x2 && from == type::f32) return select_to_pair<ptx::f16>(i);
  if (to == type::bf16x2 && from == type::f32) return select_to_pair<ptx::bf16>(i);
  if (to == type::tf32) return select_to_tf32(i);
  if (to == type::e4m3x2 || from == type::e4m3x2) return select_f8<ptx::e4m3>(i);
  if (to == type::e5m2x2 || from == type::e5m2x2) return select_f8<ptx::e5m2>(i);
  if (from == type::f32 && (i.with.relu || i.with.satfinite)) {
    if (to == type::f16) return select_to_half<ptx::f16>(i);
    if (to == type::bf16) return select_to_half<ptx::bf16>(i);
  }
  switch (from) {
    case type::u8:
      return select_cvt_from<std::uint8_t>(i);
    case type::s8:
      return select_cvt_from<std::int8_t>(i);
    case type::u16:
      return select_cvt_from<std::uint16_t>(i);
    case type::s16:
      return select_cvt_from<std::int16_t>(i);
    case type::u32:
      return select_cvt_from<std::uint32_t>(i);
    case type::s32:
      return select_cvt_from<std::int32_t>(i);
    case type::u64:
      return select_cvt_from<std::uint64_t>(i);
    case type::s64:
      return select_cvt_from<std::int64_t>(i);
    case type::f16:
      return select_cvt_from<ptx::f16>(i);
    case type::bf16:
      return select_cvt_from<ptx::bf16>(i);
    case type::f32:
      return select_cvt_from<float>(i);
    case type::f64:
      return select_cvt_from<double>(i);
    default:
      return nullptr;
  }
}

/// The handler of cvt.pack for halves, or null: the narrower ones have no C type to name them.
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
      return nullptr;
  }
}

}  // namespace gpu::testing::machine::detail
