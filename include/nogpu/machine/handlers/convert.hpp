// Handlers of cvt between scalar types.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <nogpu/machine/handlers/convert_packed.hpp>
#include <nogpu/machine/lanes.hpp>
#include <nogpu/ptx/arithmetic/convert.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The low bits of a register of `size` bytes, whatever its width.
inline std::uint64_t read_bits(const std::byte* registers, std::uint32_t slot, unsigned size,
                               unsigned lane) {
  switch (size) {
    case 1: return read_lane<std::uint8_t>(registers, slot, lane);
    case 2: return read_lane<std::uint16_t>(registers, slot, lane);
    case 4: return read_lane<std::uint32_t>(registers, slot, lane);
    default: return read_lane<std::uint64_t>(registers, slot, lane);
  }
}

inline void write_bits(std::byte* registers, std::uint32_t slot, unsigned size, unsigned lane,
                       std::uint64_t value) {
  switch (size) {
    case 1: return write_lane(registers, slot, lane, static_cast<std::uint8_t>(value));
    case 2: return write_lane(registers, slot, lane, static_cast<std::uint16_t>(value));
    case 4: return write_lane(registers, slot, lane, static_cast<std::uint32_t>(value));
    case 16: return write_lane(registers, slot, lane, wide_bits{value, 0});
    default: return write_lane(registers, slot, lane, value);
  }
}

/// An integer of `size` bytes extended to 64 bits, by its sign if it has one.
inline std::uint64_t extended(std::uint64_t bits, unsigned size, bool is_signed) {
  const unsigned unused = 64 - 8 * size;
  const std::uint64_t top = bits << unused;
  if (!is_signed) return top >> unused;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(top) >> unused);
}

template <class F> inline std::uint64_t bits_of(F value) {
  if constexpr (std::is_same_v<F, float>)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::is_same_v<F, double>)
    return std::bit_cast<std::uint64_t>(value);
  else
    return value.bits;
}

/// Calls `use(std::integral_constant<rounding>)` with the mode.
template <class Use> inline auto rounded(ptx::rounding r, Use use) {
  using enum ptx::rounding;
  switch (r) {
    case toward_zero: return use(std::integral_constant<ptx::rounding, toward_zero>{});
    case toward_negative: return use(std::integral_constant<ptx::rounding, toward_negative>{});
    case toward_positive: return use(std::integral_constant<ptx::rounding, toward_positive>{});
    default: return use(std::integral_constant<ptx::rounding, nearest_even>{});
  }
}

/// From an integer as 64 bits to one of `to`, which is an integer type as well.
inline std::uint64_t convert_to_integer(std::uint64_t from, bool is_signed, ptx::type to,
                                        bool sat) {
  const unsigned size = ptx::size_of(to);
  const bool to_signed = ptx::is_signed(to);
  const bool negative = is_signed && static_cast<std::int64_t>(from) < 0;
  if (sat) {
    const std::uint64_t highest = ~std::uint64_t{0} >> (64 - 8 * size + (to_signed ? 1 : 0));
    const std::uint64_t lowest = to_signed ? ~highest : 0;
    if (negative)
      from = to_signed && from > lowest ? from : lowest;
    else
      from = from < highest ? from : highest;
  }
  return extended(from, size, to_signed);
}

/// From an integer as 64 bits to a floating type: the number is the same in the wider type.
template <class To, class Wide>
[[gnu::cold, gnu::noinline]] inline std::uint64_t convert_from_integer(Wide from,
                                                                       const ptx::modifiers& with) {
  const To result =
      rounded(with.round, [from](auto r) { return ptx::cvt<To, decltype(r)::value>(from); });
  return bits_of(with.sat ? ptx::detail::saturate(result) : result);
}

template <class To>
[[gnu::cold]] inline std::uint64_t convert_from_integer(std::uint64_t from, bool is_signed,
                                                        const ptx::modifiers& with) {
  const auto as_signed = static_cast<std::int64_t>(from);
  return is_signed || as_signed >= 0 ? convert_from_integer<To>(as_signed, with)
                                     : convert_from_integer<To>(from, with);
}

/// From float or double to an integer type, the result extended to 64 bits by its sign.
template <class From>
[[gnu::cold, gnu::noinline]] inline std::uint64_t convert_float_to_integer(
    From from, ptx::type to, const ptx::modifiers& with) {
  using ptx::type;
  if (with.round != ptx::rounding::toward_zero && with.round != ptx::rounding::none)
    from = rounded(with.round,
                   [from](auto r) { return ptx::round_to_integer<decltype(r)::value>(from); });
  const auto as = [from]<class To>(To) { return static_cast<std::uint64_t>(ptx::cvt<To>(from)); };
  switch (to) {
    case type::u8: return as(std::uint8_t{});
    case type::s8: return as(std::int8_t{});
    case type::u16: return as(std::uint16_t{});
    case type::s16: return as(std::int16_t{});
    case type::u32: return as(std::uint32_t{});
    case type::s32: return as(std::int32_t{});
    case type::u64: return as(std::uint64_t{});
    default: return as(std::int64_t{});
  }
}

/// From float or double to a floating type, or to an integer in the same type.
template <class To, class From>
[[gnu::cold, gnu::noinline]] inline std::uint64_t convert_float(From from,
                                                                const ptx::modifiers& with) {
  To result{};
  if (std::is_same_v<To, From> && with.round_to_integer) {
    if constexpr (std::is_same_v<To, From>)
      result = rounded(with.round,
                       [from](auto r) { return ptx::round_to_integer<decltype(r)::value>(from); });
  } else {
    result = rounded(with.round, [from](auto r) { return ptx::cvt<To, decltype(r)::value>(from); });
  }
  if (with.ftz) {
    result = ptx::detail::flush_single<true>(result);
    if constexpr (std::is_same_v<To, float> && !std::is_same_v<From, double>)
      result = ptx::detail::with_nan(result);
  }
  return bits_of(with.sat ? ptx::detail::saturate(result) : result);
}

/// A half rounded to an integer in its own type.
template <class H>
[[gnu::cold, gnu::noinline]] inline std::uint64_t half_to_integer(H from,
                                                                  const ptx::modifiers& with) {
  const H result = rounded(
      with.round, [from](auto r) { return ptx::round_to_integer<decltype(r)::value>(from); });
  return bits_of(with.sat ? ptx::detail::saturate(result) : result);
}

template <class From>
[[gnu::cold]] inline std::uint64_t convert_from(From from, ptx::type to,
                                                const ptx::modifiers& with) {
  // A value that becomes an f16 is not flushed, as rounding away from zero shows.
  if (with.ftz && to != ptx::type::f16) {
    from = ptx::detail::flush_single<true>(from);
    if constexpr (std::is_same_v<From, float>) from = ptx::detail::with_nan(from);
  }
  switch (to) {
    case ptx::type::f16: return convert_float<ptx::f16>(from, with);
    case ptx::type::bf16: return convert_float<ptx::bf16>(from, with);
    case ptx::type::f32: return convert_float<float>(from, with);
    case ptx::type::f64: return convert_float<double>(from, with);
    default: return convert_float_to_integer(from, to, with);
  }
}

[[gnu::cold]] inline std::uint64_t convert_from_integer(std::uint64_t from, bool is_signed,
                                                        ptx::type to, const ptx::modifiers& with) {
  switch (to) {
    case ptx::type::f16: return convert_from_integer<ptx::f16>(from, is_signed, with);
    case ptx::type::bf16: return convert_from_integer<ptx::bf16>(from, is_signed, with);
    case ptx::type::f32: return convert_from_integer<float>(from, is_signed, with);
    case ptx::type::f64: return convert_from_integer<double>(from, is_signed, with);
    default: return convert_to_integer(from, is_signed, to, with.sat);
  }
}

/// The result of cvt on the low bits of a register, extended to 64 bits.
[[gnu::cold]] inline std::uint64_t convert(const ptx::instruction& i, std::uint64_t bits) {
  using ptx::type;
  const type to = i.types[0], from = i.types[1];
  switch (from) {
    case type::f64: return convert_from(std::bit_cast<double>(bits), to, i.with);
    case type::f32: {
      const auto a = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      if (i.with.relu || i.with.satfinite) {  // half of what a pair becomes
        if (to == type::f16) return pair_of<ptx::f16>(i.with, 0, a) & 0xffffu;
        if (to == type::bf16) return pair_of<ptx::bf16>(i.with, 0, a) & 0xffffu;
      }
      return convert_from(a, to, i.with);
    }
    case type::f16: {
      const ptx::f16 half{static_cast<std::uint16_t>(bits)};
      if (to == from && i.with.round_to_integer) return half_to_integer(half, i.with);
      if (to == type::f32) return convert_float<float>(half, i.with);
      return convert_from(ptx::to_float(half), to, i.with);
    }
    case type::bf16: {
      const ptx::bf16 half{static_cast<std::uint16_t>(bits)};
      if (to == from && i.with.round_to_integer) return half_to_integer(half, i.with);
      if (to == type::f32) return convert_float<float>(half, i.with);
      return convert_from(ptx::to_float(half), to, i.with);
    }
    default: {
      const bool is_signed = ptx::is_signed(from);
      return convert_from_integer(extended(bits, ptx::size_of(from), is_signed), is_signed, to,
                                  i.with);
    }
  }
}

/// cvt: `count` is the size of the source register, `result_size` that of the destination.
[[gnu::cold]] inline action run_convert(warp& w, const decoded& d, lane_mask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t from = read_bits(w.registers, d.slots[1], d.count, lane);
    write_bits(w.registers, d.slots[0], d.result_size, lane, convert(*d.source, from));
  }
  return action::next;
}

/// cvt by F(from), for registers of the types' sizes.
template <class F, class To, class From>
inline action run_cvt(warp& w, const decoded& d, lane_mask mask) {
  if (mask != all_lanes || d.count != sizeof(From) || d.result_size != sizeof(To))
    return run_convert(w, d, mask);
  return mapped<F, To, From>(w, d, mask);
}

template <class To, class From> handler converting() {
  constexpr auto one = [](From a) {
    if constexpr (std::is_integral_v<To>)
      return ptx::cvt<To, ptx::rounding::toward_zero>(a);
    else
      return ptx::cvt<To, ptx::rounding::nearest_even>(a);
  };
  return &run_cvt<decltype(one), To, From>;
}

/// The conversions that kernels do most have loops that vectorize; all others, null.
inline handler select_frequent_convert(ptx::type to, ptx::type from) {
  using ptx::type;
  using U = std::uint32_t;
  using S = std::int32_t;
  using W = std::uint64_t;
  const auto is = [=](type t, type f) { return to == t && from == f; };
  if ((to == type::u64 || to == type::s64) && from == type::s32)
    return converting<std::int64_t, S>();
  if ((to == type::u64 || to == type::s64) && from == type::u32) return converting<W, U>();
  if ((to == type::u32 || to == type::s32) && (from == type::u64 || from == type::s64))
    return converting<U, W>();
  if ((to == type::u32 || to == type::s32) && from == type::u16)
    return converting<U, std::uint16_t>();
  if ((to == type::u32 || to == type::s32) && from == type::s16)
    return converting<S, std::int16_t>();
  if ((to == type::u16 || to == type::s16) && (from == type::u32 || from == type::s32))
    return converting<std::uint16_t, U>();
  if (is(type::f32, type::s32)) return converting<float, S>();
  if (is(type::f32, type::u32)) return converting<float, U>();
  if (is(type::f64, type::s32)) return converting<double, S>();
  if (is(type::f64, type::u32)) return converting<double, U>();
  if (is(type::s32, type::f32)) return converting<S, float>();
  if (is(type::u32, type::f32)) return converting<U, float>();
  if (is(type::s32, type::f64)) return converting<S, double>();
  if (is(type::f64, type::f32)) return converting<double, float>();
  if (is(type::f32, type::f64)) return converting<float, double>();
  if (is(type::f32, type::f16)) return converting<float, ptx::f16>();
  return nullptr;
}

/// Returns whether `converting` handles the modifiers of a cvt.
inline bool is_plain_convert(const ptx::instruction& i) {
  using enum ptx::rounding;
  const bool to_integer = !ptx::is_floating(i.types[0]);
  const bool from_integer = !ptx::is_floating(i.types[1]);
  if (i.with.sat || i.with.satfinite || i.with.relu || i.with.ftz ||
      i.with.round_to_integer != (to_integer && !from_integer))
    return false;
  if (to_integer && from_integer) return true;
  if (to_integer) return i.with.round == toward_zero;
  return i.with.round == nearest_even || i.with.round == none;
}

/// Returns whether `convert` handles the type.
inline bool is_convertible(ptx::type t) {
  using enum ptx::type;
  return t == u8 || t == s8 || t == u16 || t == s16 || t == u32 || t == s32 || t == u64 ||
         t == s64 || t == f16 || t == bf16 || t == f32 || t == f64;
}

/// The handler of a cvt instruction, or null when there is none.
inline handler select_convert(const ptx::instruction& i) {
  using ptx::type;
  const type to = i.types[0], from = i.types[1];
  if (to == type::f16x2 && from == type::f32) return select_to_pair<ptx::f16>();
  if (to == type::bf16x2 && from == type::f32) return select_to_pair<ptx::bf16>();
  if (to == type::tf32) return select_to_tf32();
  if (to == type::e4m3x2 || from == type::e4m3x2) return select_f8<ptx::e4m3>(i);
  if (to == type::e5m2x2 || from == type::e5m2x2) return select_f8<ptx::e5m2>(i);
  if (!is_convertible(to) || !is_convertible(from)) return nullptr;
  const handler frequent = is_plain_convert(i) ? select_frequent_convert(to, from) : nullptr;
  return frequent ? frequent : &run_convert;
}

}}}  // namespace nogpu::v1::machine::detail
