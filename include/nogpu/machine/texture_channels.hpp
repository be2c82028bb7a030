// The kinds of channels of textures: how they are read alone, and how they are summed up. Code that
// reads texels has one of them as a template parameter.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <nogpu/machine/image.hpp>
#include <nogpu/machine/texels.hpp>
#include <nogpu/machine/texture_sums.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// 32-bit floats.
struct single_channel {
  using stored = std::uint32_t;

  /// Returns the value that a texture gives for a channel that is read alone.
  static std::uint32_t read(stored bits, std::size_t) { return bits; }

  /// Calls `use` with the filter for a channel and the function that gives its numbers.
  template <class Use> static void filter(std::size_t, Use use) {
    use(float_filter<detail::single_precision>{},
        [](stored bits) { return std::bit_cast<float>(bits); });
  }
};

struct half_channel {
  using stored = std::uint16_t;

  static std::uint32_t read(stored bits, std::size_t) {
    return std::bit_cast<std::uint32_t>(detail::half_value(bits));
  }
  template <class Use> static void filter(std::size_t, Use use) {
    use(float_filter<detail::half_precision>{},
        [](stored bits) { return detail::half_value(bits); });
  }
};

/// Integers, which are read as they are or as normalized floats. The filter always takes them as
/// normalized.
template <class T> struct integer_channel {
  using stored = T;

  bool normalized = false;

  std::uint32_t read(stored value, std::size_t) const {
    if (!normalized) return static_cast<std::uint32_t>(value);
    const float scaled =
        static_cast<float>(value) / static_cast<float>(std::numeric_limits<T>::max());
    return std::bit_cast<std::uint32_t>(std::max(scaled, -1.0f));
  }
  template <class Use> static void filter(std::size_t, Use use) {
    use(integer_filter<T>{}, [](stored value) { return value; });
  }
};

/// Bytes, of which the first three are colors in the sRGB curve. Colors are added as halves.
template <class T> struct srgb_channel {
  using stored = T;

  integer_channel<T> integer{};

  static constexpr bool is_color(std::size_t channel) noexcept { return channel < 3; }

  std::uint32_t read(stored value, std::size_t channel) const {
    if (!integer.normalized || !is_color(channel)) return integer.read(value, channel);
    return std::bit_cast<std::uint32_t>(detail::linear_of_srgb(static_cast<std::uint8_t>(value)));
  }
  template <class Use> static void filter(std::size_t channel, Use use) {
    if (!is_color(channel)) return integer_channel<T>::filter(channel, use);
    use(float_filter<detail::srgb_precision>{}, [](stored value) {
      const float linear = detail::linear_of_srgb(static_cast<std::uint8_t>(value));
      return ptx::to_float(ptx::detail::to_half<ptx::f16>(static_cast<double>(linear)));
    });
  }
};

/// Calls `use` with the kind of the channels of a texture.
template <class Use> void with_channel(const texture& t, Use use) {
  const texel_format format = t.source.format;
  const bool normalized = reads_floats(t);
  if (format.kind == channel_kind::floating)
    return format.channel_bytes == 4 ? use(single_channel{}) : use(half_channel{});
  const auto integers = [&]<class Byte, class Short, class Word>(Byte, Short, Word) {
    if (format.channel_bytes == 4) return use(integer_channel<Word>{normalized});
    if (format.channel_bytes == 2) return use(integer_channel<Short>{normalized});
    return t.how.srgb ? use(srgb_channel<Byte>{{normalized}})
                      : use(integer_channel<Byte>{normalized});
  };
  if (has_sign(format)) return integers(std::int8_t{}, std::int16_t{}, std::int32_t{});
  return integers(std::uint8_t{}, std::uint16_t{}, std::uint32_t{});
}

}}}  // namespace nogpu::v1::machine
