// Reads the texels around a position and filters them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <gpu/testing/detail/machine/image.hpp>
#include <gpu/testing/detail/machine/texels.hpp>
#include <gpu/testing/detail/machine/texture_coordinates.hpp>
#include <gpu/testing/detail/machine/texture_cube.hpp>
#include <gpu/testing/detail/machine/texture_levels.hpp>
#include <gpu/testing/detail/machine/texture_sums.hpp>

namespace gpu::inline v1::testing::machine {

/// The operands of a read from a texture.
struct texture_request {
  std::array<std::uint32_t, 3> coordinates{};  // bits of floats, or integers
  bool integers = false;
  std::uint32_t layer = 0;
  std::array<std::int32_t, 3> offsets{};
  bool gathers = false;  // tld4, whose offsets are longer
  bool has_level = false;
  float level = 0;
  bool has_gradients = false;
  std::array<float, 3> gradient_x{};
  std::array<float, 3> gradient_y{};
};

namespace detail {

inline std::array<std::int64_t, 3> extents_of(const image_level& level) {
  return {static_cast<std::int64_t>(level.width), static_cast<std::int64_t>(level.height),
          static_cast<std::int64_t>(level.depth)};
}

/// Returns the number of axes that the hardware filters: a one-dimensional image is a row, which is
/// read at height 0 and so halfway in the border above it.
constexpr unsigned axes_of(image_shape shape) noexcept {
  return shape == image_shape::three ? 3 : 2;
}

/// A position in a layer.
struct image_place {
  std::uint32_t layer = 0;
  std::array<float, 3> at{};
};

inline image_place place_of(const texture& t, const texture_request& r) {
  image_place place;
  const image& source = t.source;
  for (std::size_t k = 0; k < 3; ++k) place.at[k] = std::bit_cast<float>(r.coordinates[k]);
  if (source.shape == image_shape::cube) {
    const cube_place on_cube = cube_place_of(place.at[0], place.at[1], place.at[2]);
    place.at = {on_cube.s, on_cube.t, 0};
    const std::uint32_t cubes = source.layers / 6;
    const std::uint32_t cube = r.layer < cubes ? r.layer : cubes - 1;
    place.layer = 6 * cube + on_cube.face;
  } else {
    place.layer = r.layer < source.layers ? r.layer : source.layers - 1;
    if (source.shape == image_shape::one) place.at[1] = 0;
  }
  return place;
}

/// Returns whether the filter continues in the next face at the edge of a face of a cube.
constexpr bool is_seamless(const texture& t) noexcept {
  return t.source.shape == image_shape::cube && t.how.seamless_cube;
}

/// The low bits of an offset, with their sign.
constexpr std::int32_t low_bits(std::int32_t offset, int bits) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(offset) << (32 - bits)) >>
         (32 - bits);
}

/// Only normalized coordinates are wrapped or mirrored, others are clamped instead, and so are
/// those in a face of a cube without seams.
constexpr address_mode mode_of(const texture& t, std::size_t axis) noexcept {
  if (is_seamless(t)) return address_mode::clamp;
  const address_mode mode = t.how.address[axis];
  return t.how.normalized_coordinates || mode == address_mode::border ? mode : address_mode::clamp;
}

/// The taps along each axis of a level. Address modes do nothing for integer coordinates: outside
/// the image there is nothing, but with a level the nearest texel.
inline std::optional<std::array<axis_taps, 3>> taps_of(const texture& t, const texture_request& r,
                                                       const image_place& place, std::size_t level,
                                                       bool linear) {
  std::array<axis_taps, 3> taps{};
  const auto extents = extents_of(t.source.levels[level]);
  if (r.integers && r.layer >= t.source.layers) return std::nullopt;
  for (unsigned k = 0; k < axes_of(t.source.shape); ++k) {
    const std::int64_t n = extents[k];
    const std::int64_t offset = low_bits(r.offsets[k], r.gathers ? 6 : 4);
    const address_mode mode = mode_of(t, k);
    if (linear && is_seamless(t)) {
      taps[k] = linear_taps_between(scaled(static_cast<double>(place.at[k]), n), 0);
    } else if (r.integers) {
      const std::int32_t at = k == 1 && t.source.shape == image_shape::one
                                  ? 0
                                  : std::bit_cast<std::int32_t>(r.coordinates[k]);
      const std::int64_t i = std::int64_t{at} + offset;
      if (!r.has_level && (i < 0 || i >= n)) return std::nullopt;
      const std::int64_t tap = std::clamp(i, std::int64_t{0}, n - 1);
      taps[k] = {tap, tap, 0};
    } else {
      taps[k] = linear ? linear_taps(mode, t.how.normalized_coordinates, place.at[k], offset, n)
                       : nearest_tap(mode, t.how.normalized_coordinates, place.at[k], offset, n);
    }
  }
  return taps;
}

/// A share of `whole` as the hardware rounds it.
constexpr int share(int weight, int whole) noexcept { return (weight * whole + 128) >> 8; }

/// Returns the weights of the corners, whose sum is `whole`; bit k of a corner's number is its tap
/// of axis k. The weight is divided along z, then x, then y, each time rounded for one side, with
/// the rest for the other.
inline std::array<int, 8> weights_of(const std::array<axis_taps, 3>& taps, int whole) {
  std::array<int, 8> weights{};
  const int upper = share(taps[2].weight, whole);
  for (unsigned high = 0; high < 2; ++high) {
    const int slice = high != 0 ? upper : whole - upper;
    const int right = share(taps[0].weight, slice), left = slice - right;
    const int lower_left = share(256 - taps[1].weight, left);
    const int upper_right = share(taps[1].weight, right);
    int* const at = weights.data() + std::size_t{4} * high;
    at[0] = lower_left;
    at[1] = right - upper_right;
    at[2] = left - lower_left;
    at[3] = upper_right;
  }
  return weights;
}

using weighted_texel = std::array<weighted_channel, 4>;

/// Calls `use(share, layer, x, y)` for each texel at a position of a cube that may lie one step
/// outside its face. At a corner of the cube three texels stand for the one that is not there.
template <class Use>
void for_cube_texels(std::uint32_t layer, std::int64_t x, std::int64_t y, std::int64_t n, Use use) {
  const auto beside = [&](int part, std::int64_t i, std::int64_t j) {
    const cube_texel there = across_edge(layer % 6, i, j, n);
    use(part, layer - layer % 6 + there.face, there.x, there.y);
  };
  const bool out_x = x < 0 || x >= n, out_y = y < 0 || y >= n;
  if (!out_x && !out_y) return use(256, layer, x, y);
  if (out_x != out_y) return beside(256, x, y);
  const std::int64_t inside_x = x < 0 ? 0 : n - 1, inside_y = y < 0 ? 0 : n - 1;
  use(86, layer, inside_x, inside_y);
  beside(85, x, inside_y);
  beside(85, inside_x, y);
}

/// Adds the texels around a position in one level, weighted to a total of `whole`, from `first` on.
template <class Fetch>
void add_level(const texture& t, const texture_request& r, std::size_t level, int whole,
               std::size_t first, weighted_texel& sum, Fetch& fetch) {
  if (whole == 0) return;
  const image_place place = place_of(t, r);
  const auto taps = taps_of(t, r, place, level, t.how.linear);
  const auto weights = weights_of(*taps, whole);
  std::size_t corners_of_cube = first + 4;
  const auto add = [&](std::size_t at, int weight, std::uint32_t layer, std::int64_t x,
                       std::int64_t y, std::int64_t z) {
    const texel value = fetch(level, layer, x, y, z);
    for (std::size_t c = 0; c < t.source.format.channels; ++c) {
      sum[c].bits[at] = value[c];
      sum[c].weights[at] = weight;
    }
  };
  for (std::size_t corner = 0; corner < 8; ++corner) {
    if (weights[corner] == 0) continue;
    const auto tap = [&](unsigned k) {
      return (corner >> k & 1) != 0 ? (*taps)[k].second : (*taps)[k].first;
    };
    if (!is_seamless(t)) {
      add(first + corner, weights[corner], place.layer, tap(0), tap(1), tap(2));
      continue;
    }
    const auto n = static_cast<std::int64_t>(t.source.levels[level].width);
    for_cube_texels(place.layer, tap(0), tap(1), n,
                    [&](int part, std::uint32_t layer, std::int64_t x, std::int64_t y) {
                      const std::size_t at = part == 85 ? corners_of_cube++ : first + corner;
                      const int side = share(85, weights[corner]);
                      add(at,
                          part == 256  ? weights[corner]
                          : part == 86 ? weights[corner] - 2 * side
                                       : side,
                          layer, x, y, 0);
                    });
  }
}

/// Reads one texel.
template <class Fetch>
texel read_nearest(const texture& t, const texture_request& r, std::size_t level, Fetch& fetch) {
  const image_place place = place_of(t, r);
  const auto taps = taps_of(t, r, place, level, false);
  if (!taps) return {};
  texel value = fetch(level, place.layer, (*taps)[0].first, (*taps)[1].first, (*taps)[2].first);
  for (std::size_t c = 0; c < t.source.format.channels; ++c)
    value[c] = read_channel(t, value[c], c);
  return value;
}

}  // namespace detail

/// Returns the result of tex. `fetch(level, layer, x, y, z)` reads a texel as in memory; negative
/// coordinates are those of the border.
template <class Fetch>
texel read_texture(const texture& t, const texture_request& r, Fetch& fetch) {
  const float level =
      r.has_gradients ? level_of_gradients(t.source, r.gradient_x, r.gradient_y) : r.level;
  if (r.integers) {
    const bool exists = level >= 0 && level < static_cast<float>(t.source.levels.size());
    return exists ? detail::read_nearest(t, r, static_cast<std::size_t>(level), fetch) : texel{};
  }
  const level_taps levels = levels_at(t, level);
  if (!t.how.linear && levels.weight == 0) return detail::read_nearest(t, r, levels.first, fetch);
  detail::weighted_texel sum{};
  detail::add_level(t, r, levels.first, 256 - levels.weight, 0, sum, fetch);
  detail::add_level(t, r, levels.second, levels.weight, 8, sum, fetch);
  texel result{};
  for (std::size_t c = 0; c < t.source.format.channels; ++c)
    result[c] = filter_channel(t, sum[c], c);
  return result;
}

/// tld4: one channel of the four texels that a linear filter would look at, counterclockwise
/// from the lower left one.
template <class Fetch>
texel gather_texels(const texture& t, const texture_request& r, std::size_t channel, Fetch& fetch) {
  const detail::image_place place = detail::place_of(t, r);
  if (channel >= t.source.format.channels) return {};
  const auto taps = *detail::taps_of(t, r, place, 0, true);
  const auto read = [&](std::int64_t x, std::int64_t y) {
    const auto at = [&](std::uint32_t layer, std::int64_t i, std::int64_t j) {
      const texel value = fetch(std::size_t{0}, layer, i, j, std::int64_t{0});
      return value[channel];
    };
    if (!detail::is_seamless(t)) return read_channel(t, at(place.layer, x, y), channel);
    weighted_channel parts;
    std::size_t used = 0;
    detail::for_cube_texels(place.layer, x, y, static_cast<std::int64_t>(t.source.levels[0].width),
                            [&](int part, std::uint32_t layer, std::int64_t i, std::int64_t j) {
                              parts.bits[used] = at(layer, i, j);
                              parts.weights[used++] = part;
                            });
    return used == 1 ? read_channel(t, parts.bits[0], channel) : filter_channel(t, parts, channel);
  };
  return {read(taps[0].first, taps[1].second), read(taps[0].second, taps[1].second),
          read(taps[0].second, taps[1].first), read(taps[0].first, taps[1].first)};
}

}  // namespace gpu::inline v1::testing::machine
