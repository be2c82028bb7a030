// Converts values to the format of a surface, as sust.p does.
#pragma once

#include <bit>
#include <cstdint>

#include <nogpu/machine/image.hpp>
#include <nogpu/ptx/arithmetic/half_bits.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// Returns the bits of a channel: integers are clamped to its range, floats are rounded to finite
/// numbers.
inline std::uint32_t write_channel(std::uint32_t value, texel_format format) {
  switch (format.kind) {
    case channel_kind::floating:
      if (format.channel_bytes == 4) return value;
      if ((value & 0x7fff'ffff) >= 0x7f80'0000)  // a NaN keeps the bits that fit
        return (value >> 16 & 0xfc00) | (value >> 13 & 0x03ff);
      return ptx::detail::encode<ptx::f16, ptx::rounding::nearest_even, true>(
          static_cast<double>(std::bit_cast<float>(value)));
    case channel_kind::signed_integer: {
      if (format.channel_bytes == 4) return value;
      const std::int32_t most = (1 << (8 * format.channel_bytes - 1)) - 1;
      const auto wanted = static_cast<std::int32_t>(value);
      return static_cast<std::uint32_t>(wanted > most        ? most
                                        : wanted < -most - 1 ? -most - 1
                                                             : wanted);
    }
    default: {
      if (format.channel_bytes == 4) return value;
      const std::uint32_t most = (1u << 8 * format.channel_bytes) - 1;
      return value > most ? most : value;
    }
  }
}

}}}  // namespace nogpu::v1::machine
