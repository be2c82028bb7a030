#pragma once
/// \file
/// The video instructions: arithmetic on a byte, half or word of each operand (vadd), on two halves
/// (vadd2) or on four bytes (vadd4) at once. Rare in programs, so their modifiers are a structure,
/// not template arguments.

#include <cstdint>

#include <nogpu/ptx/arithmetic/integer.hpp>
#include <nogpu/ptx/modifiers.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

/// The operation on the selected parts of a and b; `avrg` exists only for pairs and quads.
enum class video_operation : std::uint8_t { add, sub, absdiff, min, max, avrg, shl, shr, set };

/// Modifiers of vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr and vset.
struct video_scalar {
  video_operation operation = video_operation::add;
  bool a_signed = false;  ///< of `.atype`
  bool b_signed = false;  ///< of `.btype`; shift amounts are unsigned
  bool d_signed = false;  ///< of `.dtype`; the result of vset is unsigned
  bool sat = false;
  merge_position a_part = merge_position::none;  ///< `none`: the whole word
  merge_position b_part = merge_position::none;
  merge_position d_part = merge_position::none;  ///< the part that the result replaces in c
  ptx::operation second = ptx::operation::none;  ///< `add`, `min` or `max` with c
  overflow_mode shift = overflow_mode::clamp;
  comparison compare = comparison::none;  ///< of vset: eq, ne, lt, le, gt or ge
};

/// Modifiers of vmad.
struct video_mad {
  bool a_signed = false, b_signed = false;
  bool a_negated = false, b_negated = false, c_negated = false;
  bool plus_one = false;  ///< `.po`
  bool sat = false;
  merge_position a_part = merge_position::none;
  merge_position b_part = merge_position::none;
  std::uint8_t shift_right = 0;  ///< 7 with `.shr7`, 15 with `.shr15`
};

/// Modifiers of the instructions ending in 2 (`lanes` 2) and in 4 (`lanes` 4).
struct video_simd {
  video_operation operation = video_operation::add;
  int lanes = 4;
  bool a_signed = false, b_signed = false, d_signed = false;
  bool sat = false;
  bool accumulate = false;         ///< `.add`: c plus the results, instead of merging into c
  std::uint8_t mask = 0xf;         ///< bit i: lane i is written
  std::uint16_t a_lanes = 0x3210;  ///< nibble i: the lane of b:a taken for lane i (.h10: 0x10)
  std::uint16_t b_lanes = 0x7654;  ///< for lanes == 2 the default is 0x32
  comparison compare = comparison::none;  ///< of vset2 and vset4
};

namespace detail {

/// `width` bits of `word` from bit `first`, extended.
constexpr std::int64_t video_field(std::uint64_t word, int first, int width, bool is_signed) {
  const std::uint64_t value = word >> first & ((std::uint64_t{1} << width) - 1);
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  return is_signed ? static_cast<std::int64_t>((value ^ sign) - sign)
                   : static_cast<std::int64_t>(value);
}

struct bit_range {
  int first = 0;
  int width = 32;
};

constexpr bit_range range_of(merge_position part) {
  switch (part) {
    case merge_position::h0: return {0, 16};
    case merge_position::h1: return {16, 16};
    case merge_position::b0: return {0, 8};
    case merge_position::b1: return {8, 8};
    case merge_position::b2: return {16, 8};
    case merge_position::b3: return {24, 8};
    default: return {0, 32};
  }
}

constexpr std::int64_t video_part(std::uint32_t word, merge_position part, bool is_signed) {
  const bit_range range = range_of(part);
  return video_field(word, range.first, range.width, is_signed);
}

constexpr std::int64_t video_clamp(std::int64_t v, int width, bool is_signed) {
  const std::int64_t low = is_signed ? -(std::int64_t{1} << (width - 1)) : 0;
  const std::int64_t high = (std::int64_t{1} << (is_signed ? width - 1 : width)) - 1;
  return v < low ? low : v > high ? high : v;
}

constexpr bool video_compare(comparison c, std::int64_t a, std::int64_t b) {
  switch (c) {
    case comparison::eq: return a == b;
    case comparison::ne: return a != b;
    case comparison::lt: return a < b;
    case comparison::le: return a <= b;
    case comparison::gt: return a > b;
    case comparison::ge: return a >= b;
    default: return false;
  }
}

constexpr std::int64_t video_result(video_operation operation, comparison compare, std::int64_t a,
                                    std::int64_t b) {
  switch (operation) {
    case video_operation::add: return a + b;
    case video_operation::sub: return a - b;
    case video_operation::absdiff: return a < b ? b - a : a - b;
    case video_operation::min: return a < b ? a : b;
    case video_operation::max: return a < b ? b : a;
    case video_operation::avrg: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;  // half away from zero
    case video_operation::set: return video_compare(compare, a, b) ? 1 : 0;
    case video_operation::shl:
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << (b & 63));
    case video_operation::shr: return a >> (b & 63);
  }
  return 0;
}

/// `.sat` of a scalar instruction.
constexpr std::int64_t video_saturate(const video_scalar& how, std::int64_t wide) {
  if (how.operation == video_operation::shl || how.operation == video_operation::shr) {
    const std::int64_t cut = video_field(static_cast<std::uint64_t>(wide), 0, 34, true);
    return video_clamp(cut, 32, how.d_signed);
  }
  if (how.d_part != merge_position::none) {  // a negative number is larger than all others
    const int bits = range_of(how.d_part).width - (how.d_signed ? 1 : 0);
    const std::int64_t limit = (std::int64_t{1} << bits) - 1;
    return static_cast<std::uint64_t>(wide) > static_cast<std::uint64_t>(limit) ? limit : wide;
  }
  if (how.d_signed) return video_clamp(wide, 32, true);
  return wide < 0 ? 0 : wide;  // above, the low 32 bits are left
}

/// Returns whether the result is less than c in the sense of `.min` and `.max`.
constexpr bool video_less(const video_scalar& how, std::int64_t wide, std::uint32_t c) {
  const bool shifts =
      how.operation == video_operation::shl || how.operation == video_operation::shr;
  const bool sums = how.operation == video_operation::add || how.operation == video_operation::sub;
  if (sums || (shifts && how.sat)) wide = static_cast<std::int32_t>(wide);
  const bool is_signed = how.operation == video_operation::set ? how.a_signed : how.d_signed;
  return is_signed ? wide < static_cast<std::int32_t>(c) : static_cast<std::uint64_t>(wide) < c;
}

}  // namespace detail

/// vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset.
///
/// Devices of compute capability 9.0 have none of these instructions: the driver's compiler makes
/// several others of each. Where these do not give what the PTX manual says, the result here is
/// theirs. With `.sat`, an unsigned word is limited below only, a part of one takes a negative
/// result for a large one, and shifts saturate to the whole word what is left of 34 bits. `.min`
/// and `.max` compare 64 bits, after sums the sign-extended low 32. A result for `.h1` is not
/// moved: its own upper half is merged.
constexpr std::uint32_t video(const video_scalar& how, std::uint32_t a, std::uint32_t b,
                              std::uint32_t c) {
  const bool shifts =
      how.operation == video_operation::shl || how.operation == video_operation::shr;
  const std::int64_t x = detail::video_part(a, how.a_part, how.a_signed);
  std::int64_t y = detail::video_part(b, how.b_part, how.b_signed && !shifts);
  if (shifts) y = how.shift == overflow_mode::wrap ? (y & 31) : (y > 32 ? 32 : y);

  std::int64_t wide = detail::video_result(how.operation, how.compare, x, y);
  if (how.sat) wide = detail::video_saturate(how, wide);
  const auto result = static_cast<std::uint32_t>(wide);

  switch (how.second) {
    case ptx::operation::add: return result + c;
    case ptx::operation::min: return detail::video_less(how, wide, c) ? result : c;
    case ptx::operation::max: return detail::video_less(how, wide, c) ? c : result;
    default: break;
  }
  if (how.d_part == merge_position::none) return result;
  if (how.d_part == merge_position::h1) return (result & 0xffff0000u) | (c & 0xffffu);
  const detail::bit_range target = detail::range_of(how.d_part);
  const std::uint32_t field = ((1u << target.width) - 1) << target.first;
  return (result << target.first & field) | (c & ~field);
}

/// vmad: the product plus c, shifted right, then limited to 32 bits.
///
/// As on devices of compute capability 9.0, which have no such instruction: c and a whole word of a
/// or b are signed always, and the sum of an unsigned vmad is limited as a signed one of 64 bits,
/// but shifted as an unsigned one.
constexpr std::uint32_t vmad(const video_mad& how, std::uint32_t a, std::uint32_t b,
                             std::uint32_t c) {
  const auto part = [](std::uint32_t word, merge_position p, bool is_signed) {
    return detail::video_part(word, p, is_signed || p == merge_position::none);
  };
  const std::int64_t product =
      part(a, how.a_part, how.a_signed) * part(b, how.b_part, how.b_signed);
  const std::int64_t addend = static_cast<std::int32_t>(c);
  const bool negated = how.a_negated != how.b_negated;
  const bool is_signed = how.a_signed || how.b_signed || negated || how.c_negated;
  std::int64_t sum = (negated ? -product : product) + (how.c_negated ? -addend : addend);
  if (how.plus_one) sum += 1;
  sum = is_signed ? sum >> how.shift_right
                  : static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) >> how.shift_right);
  return static_cast<std::uint32_t>(how.sat ? detail::video_clamp(sum, 32, is_signed) : sum);
}

/// vadd2, vadd4 and their relatives.
constexpr std::uint32_t video(const video_simd& how, std::uint32_t a, std::uint32_t b,
                              std::uint32_t c) {
  const int width = 32 / how.lanes;
  const std::uint32_t lane_mask = (1u << width) - 1;
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  std::uint32_t result = c;
  for (int lane = 0; lane < how.lanes; ++lane) {
    if ((how.mask >> lane & 1) == 0) continue;
    const int from_a = (how.a_lanes >> 4 * lane & 0xf) * width;
    const int from_b = (how.b_lanes >> 4 * lane & 0xf) * width;
    std::int64_t wide = detail::video_result(
        how.operation, how.compare, detail::video_field(both, from_a, width, how.a_signed),
        detail::video_field(both, from_b, width, how.b_signed));
    if (how.sat) wide = detail::video_clamp(wide, width, how.d_signed);
    if (how.accumulate) {
      result += static_cast<std::uint32_t>(wide);
    } else {
      result &= ~(lane_mask << width * lane);
      result |= (static_cast<std::uint32_t>(wide) & lane_mask) << width * lane;
    }
  }
  return result;
}

}}}  // namespace nogpu::v1::ptx
