// Texels as bytes and as the four values that an instruction gives.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <nogpu/machine/image.hpp>
#include <nogpu/ptx/arithmetic/half.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// Four channels, either as in memory or as an instruction returns them: integers, or floats as
/// their bits. Channels that a format does not have are 0, the last one too.
using texel = std::array<std::uint32_t, 4>;

constexpr bool has_sign(texel_format format) noexcept {
  return format.kind == channel_kind::signed_integer ||
         format.kind == channel_kind::signed_normalized;
}

/// The greatest number that a channel of integers holds, 1.0 when it is read as normalized.
constexpr std::int64_t greatest_integer(texel_format format) noexcept {
  return (std::int64_t{1} << (8 * format.channel_bytes - (has_sign(format) ? 1 : 0))) - 1;
}

/// Returns whether reading a texture gives floats rather than integers.
constexpr bool reads_floats(const texture& t) noexcept {
  const texel_format format = t.source.format;
  const bool integer =
      format.kind == channel_kind::unsigned_integer || format.kind == channel_kind::signed_integer;
  return !integer || (format.channel_bytes < 4 && !t.how.read_as_integer);
}

namespace detail {

/// 8 bits of a color in the curve of sRGB as the hardware's linear value: the exact one with 8
/// significant bits, but for a few that it has otherwise.
inline float compute_linear_of_srgb(std::uint32_t byte) {
  constexpr struct {
    std::uint8_t byte;
    std::uint16_t linear;  // in 1/65536
  } others[] = {{15, 312},    {19, 428},    {20, 460},    {32, 944},    {33, 1000},   {65, 3456},
                {66, 3584},   {68, 3776},   {70, 4000},   {97, 7808},   {184, 31488}, {186, 32256},
                {249, 61952}, {250, 62464}, {251, 62976}, {252, 64000}, {253, 64512}};
  for (const auto& other : others)
    if (other.byte == byte) return static_cast<float>(other.linear) * 0x1p-16f;
  if (byte <= 12) return static_cast<float>(20 * byte) * 0x1p-16f;
  const double exact = std::pow((byte / 255.0 + 0.055) / 1.055, 2.4);
  const double unit = std::ldexp(1.0, std::ilogb(exact) - 7);
  return static_cast<float>(std::floor(exact / unit + 0.5) * unit);
}

inline float linear_of_srgb(std::uint8_t byte) {
  static const std::array<float, 256> values = [] {
    std::array<float, 256> all{};
    for (std::uint32_t n = 0; n < 256; ++n) all[n] = compute_linear_of_srgb(n);
    return all;
  }();
  return values[byte];
}

inline float half_value(std::uint32_t bits) {
  return ptx::to_float(ptx::f16{static_cast<std::uint16_t>(bits)});
}

}  // namespace detail

/// Returns the texel of the border as in memory. If integers are read, it has the low bits of the
/// sampler's color.
inline texel border_texel(const texture& t) {
  const texel_format format = t.source.format;
  texel border{};
  for (std::size_t c = 0; c < format.channels; ++c) {
    const float value = t.how.border[c];
    border[c] = std::bit_cast<std::uint32_t>(value);
    if (format.kind == channel_kind::floating && format.channel_bytes == 2) {
      border[c] = ptx::detail::encode<ptx::f16, ptx::rounding::toward_zero, true>(
          static_cast<double>(value));
    } else if (format.kind != channel_kind::floating && reads_floats(t)) {
      const double inside =
          std::clamp(static_cast<double>(value), has_sign(format) ? -1.0 : 0.0, 1.0);
      const double steps = inside * static_cast<double>(greatest_integer(format));
      border[c] = static_cast<std::uint32_t>(
          static_cast<std::int64_t>(std::ceil(std::fabs(steps) - 0.5) * (steps < 0 ? -1 : 1)));
    }
  }
  return border;
}

}}}  // namespace nogpu::v1::machine
