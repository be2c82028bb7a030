// The kinds of channels of textures: how they are read alone, and how they are summed up. Code that
// reads texels has one of them as a template parameter.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <gpu/testing/detail/machine/image.hpp>
#include <gpu/testing/detail/machine/texels.hpp>
#include <gpu/testing/detail/machine/texture_sums.hpp>

namespace gpu::inline v1::testing::machine {

/// 32-bit floats.
struct single_channel {
  using stored = std::uint32_t;
  using sum = float_sum<detail::single_precision>;

  /// Returns the value that a texture gives for a channel that is read alone.
  static std::uint32_t read(stored bits, std::size_t) { return bits; }

  /// Adds a channel of the texels of a slice. Missing ones are zeros and have no weight.
  static void add(sum& to, const four<stored>& bits, const four<int>& weights, std::size_t) {
    const auto value = [&](std::size_t k) { return std::bit_cast<float>(bits[k]); };
    to.add({value(0), value(1), value(2), value(3)}, weights);
  }

  /// Returns the value that a texture gives for a channel that is filtered.
  static float filtered(const sum& of, std::size_t) { return of.result(); }
};

struct half_channel {
  using stored = std::uint16_t;
  using sum = float_sum<detail::half_precision>;

  static std::uint32_t read(stored bits, std::size_t) {
    return std::bit_cast<std::uint32_t>(detail::half_value(bits));
  }
  static void add(sum& to, const four<stored>& bits, const four<int>& weights, std::size_t) {
    const auto value = [&](std::size_t k) { return detail::half_value(bits[k]); };
    to.add({value(0), value(1), value(2), value(3)}, weights);
  }
  static float filtered(const sum& of, std::size_t) { return of.result(); }
};

/// Integers, which are read as they are or as normalized floats. The filter always takes them as
/// normalized.
template <class T> struct integer_channel {
  using stored = T;
  using sum = integer_sum<T>;

  bool normalized = false;

  std::uint32_t read(stored value, std::size_t) const {
    if (!normalized) return static_cast<std::uint32_t>(value);
    const float scaled =
        static_cast<float>(value) / static_cast<float>(std::numeric_limits<T>::max());
    return std::bit_cast<std::uint32_t>(std::max(scaled, -1.0f));
  }
  static void add(sum& to, const four<stored>& values, const four<int>& weights, std::size_t) {
    to.add(values, weights);
  }
  static float filtered(const sum& of, std::size_t) { return of.result(); }
};

/// Bytes, of which the first three are colors in the sRGB curve. Colors are added as halves.
template <class T> struct srgb_channel {
  using stored = T;
  struct sum {
    float_sum<detail::srgb_precision> color;
    integer_sum<T> other;
  };

  integer_channel<T> integer{};

  static constexpr bool is_color(std::size_t channel) noexcept { return channel < 3; }

  std::uint32_t read(stored value, std::size_t channel) const {
    if (!integer.normalized || !is_color(channel)) return integer.read(value, channel);
    return std::bit_cast<std::uint32_t>(detail::linear_of_srgb(static_cast<std::uint8_t>(value)));
  }
  static void add(sum& to, const four<stored>& values, const four<int>& weights,
                  std::size_t channel) {
    if (!is_color(channel)) return to.other.add(values, weights);
    const auto value = [&](std::size_t k) {
      const float linear = detail::linear_of_srgb(static_cast<std::uint8_t>(values[k]));
      return ptx::to_float(ptx::detail::to_half<ptx::f16>(static_cast<double>(linear)));
    };
    // A texel without weight is a zero, which is black.
    to.color.add({value(0), value(1), value(2), value(3)}, weights);
  }
  static float filtered(const sum& of, std::size_t channel) {
    return is_color(channel) ? of.color.result() : of.other.result();
  }
};

/// Calls `use` with the kind of the channels of a texture.
template <class Use> auto with_channel(const texture& t, Use use) {
  const texel_format format = t.source.format;
  const bool normalized = reads_floats(t);
  if (format.kind == channel_kind::floating)
    return format.channel_bytes == 4 ? use(single_channel{}) : use(half_channel{});
  const auto of_size = [&]<class Byte, class Short, class Word>(Byte, Short, Word) {
    if (format.channel_bytes == 4) return use(integer_channel<Word>{normalized});
    if (format.channel_bytes == 2) return use(integer_channel<Short>{normalized});
    return t.how.srgb ? use(srgb_channel<Byte>{{normalized}})
                      : use(integer_channel<Byte>{normalized});
  };
  return has_sign(format) ? of_size(std::int8_t{}, std::int16_t{}, std::int32_t{})
                          : of_size(std::uint8_t{}, std::uint16_t{}, std::uint32_t{});
}

}  // namespace gpu::inline v1::testing::machine
