#pragma once
/// \file
/// `color_map`: the colors in which numbers are drawn.

#include <gpu/array/io/png_writer.hpp>

namespace gpu { inline namespace v1 {

/// The colors of numbers, from the smallest to the largest.
enum class color_map : unsigned char {
  gray,            ///< black to white
  cubehelix,       ///< black to white by way of colors, of steadily increasing brightness
  blue_white_red,  ///< white in the middle, for numbers on both sides of 0
};

namespace detail {

inline unsigned char color_byte(double part) noexcept {
  const double byte = part * 255 + 0.5;
  return static_cast<unsigned char>(byte < 0 ? 0 : byte > 255 ? 255 : byte);
}

/// Returns the color of a number from 0 to 1.
inline rgb color_of(color_map colors, double x) noexcept {
  if (colors == color_map::gray) return {color_byte(x), color_byte(x), color_byte(x)};
  if (colors == color_map::blue_white_red) {
    const double fade = x < 0.5 ? 2 * x : 2 * (1 - x);
    return {color_byte(x < 0.5 ? fade : 1), color_byte(fade), color_byte(x < 0.5 ? 1 : fade)};
  }
  // D. A. Green, "A colour scheme for the display of astronomical intensity images", 2011, with its
  // own parameters: start 0.5, -1.5 rotations, hue 1, gamma 1.
  const double angle = 6.283185307179586 * (0.5 / 3 + 1 - 1.5 * x);
  const double amplitude = x * (1 - x) / 2;
  const double c = amplitude * __builtin_cos(angle), s = amplitude * __builtin_sin(angle);
  return {color_byte(x - 0.14861 * c + 1.78277 * s), color_byte(x - 0.29227 * c - 0.90649 * s),
          color_byte(x + 1.97294 * c)};
}

}  // namespace detail
}}  // namespace gpu::v1
