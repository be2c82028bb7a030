#pragma once
/// \file
/// `color_map`: the colors in which numbers are drawn.

namespace gpu { inline namespace v1 {

/// The colors of numbers, from the smallest to the largest.
enum class color_map : unsigned char {
  gray,            ///< black to white
  cubehelix,       ///< black to white by way of colors, of steadily increasing brightness
  blue_white_red,  ///< white in the middle, for numbers on both sides of 0
};

}}  // namespace gpu::v1
