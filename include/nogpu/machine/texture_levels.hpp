// From a level of detail, or gradients, to the levels of an image.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <nogpu/machine/image.hpp>
#include <nogpu/ptx/arithmetic/float_bits.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// The levels around a level of detail, and the weight of the second one, in 1/256.
struct level_taps {
  std::size_t first = 0;
  std::size_t second = 0;
  int weight = 0;
};

/// Applies the bias and the limits of the sampler. All are numbers with 8 fractional bits, the rest
/// is cut off; a NaN counts as 0.
inline level_taps levels_at(const texture& t, float level) {
  if (t.source.levels.size() == 1) return {};
  const auto position = [](float value) {
    if (ptx::detail::is_nan(value)) return 0;
    return static_cast<int>(std::floor(std::clamp(value, -256.0f, 256.0f) * 256));
  };
  const int last = static_cast<int>(t.source.levels.size() - 1) * 256;
  const int least = position(t.how.least_level);
  const int greatest = position(t.how.greatest_level);
  int at = position(level) + position(t.how.level_bias);
  at = std::clamp(std::min(std::max(at, least), greatest), 0, last);
  if (!t.how.linear_levels) at = (at + 128) / 256 * 256;
  const auto first = static_cast<std::size_t>(at / 256);
  return {first, std::min(first + 1, t.source.levels.size() - 1), at % 256};
}

/// The length of a gradient in texels as the hardware estimates it: the longest component and
/// 11/32 of the others.
inline float estimated_length(const image& source, const std::array<float, 3>& gradient) {
  const image_level& finest = source.levels.front();
  float extents[3] = {static_cast<float>(finest.width), static_cast<float>(finest.height),
                      static_cast<float>(finest.depth)};
  if (source.shape == image_shape::cube)  // a face goes from -1 to 1
    for (float& extent : extents) extent = static_cast<float>(finest.width) / 2;
  const std::size_t axes = source.shape == image_shape::one   ? 1
                           : source.shape == image_shape::two ? 2
                                                              : 3;
  float longest = 0, sum = 0;
  for (std::size_t k = 0; k < axes; ++k) {
    const float texels = std::fabs(gradient[k] * extents[k]);
    if (texels > longest) longest = texels;
    sum += texels;
  }
  return longest + (sum - longest) * (11.0f / 32.0f);
}

/// Returns the level of detail at which a texel is as large as the change of the normalized
/// coordinates from one pixel to the next. The longer of two gradients counts; for a
/// one-dimensional image both count if they are about equally long.
inline float level_of_gradients(const image& source, const std::array<float, 3>& x,
                                const std::array<float, 3>& y) {
  const float along_x = estimated_length(source, x), along_y = estimated_length(source, y);
  float length = along_y > along_x ? along_y : along_x;
  const float together = (along_x + along_y) * (11.0f / 16.0f);
  if (source.shape == image_shape::one && together > length) length = together;
  return std::round(std::log2(length) * 256.0f) / 256.0f;
}

}}}  // namespace nogpu::v1::machine
