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

/// The texel at integer coordinates. Address modes do nothing for them: outside the image there is
/// nothing, but with a level the nearest texel.
inline std::optional<std::array<std::int64_t, 3>> texel_at(const texture& t,
                                                           const texture_request& r,
                                                           std::size_t level) {
  std::array<std::int64_t, 3> place{};
  if (r.layer >= t.source.layers) return std::nullopt;
  const auto extents = extents_of(t.source.levels[level]);
  for (unsigned k = 0; k < axes_of(t.source.shape); ++k) {
    const bool flat = k == 1 && t.source.shape == image_shape::one;
    const std::int64_t at = flat ? 0 : std::bit_cast<std::int32_t>(r.coordinates[k]);
    const std::int64_t i = at + low_bits(r.offsets[k], 4);
    if (!r.has_level && (i < 0 || i >= extents[k])) return std::nullopt;
    place[k] = std::clamp(i, std::int64_t{0}, extents[k] - 1);
  }
  return place;
}

/// The taps along each axis of a level.
inline std::array<axis_taps, 3> taps_of(const texture& t, const texture_request& r,
                                        const image_place& place, std::size_t level, bool linear) {
  std::array<axis_taps, 3> taps{};
  const auto extents = extents_of(t.source.levels[level]);
  const bool seamless = linear && is_seamless(t);
  for (unsigned k = 0; k < axes_of(t.source.shape); ++k) {
    if (seamless) {
      taps[k] = linear_taps_between(scaled(static_cast<double>(place.at[k]), extents[k]), 0);
      continue;
    }
    const std::int64_t offset = low_bits(r.offsets[k], r.gathers ? 6 : 4);
    const address_mode mode = mode_of(t, k);
    const bool normalized = t.how.normalized_coordinates;
    taps[k] = linear ? linear_taps(mode, normalized, place.at[k], offset, extents[k])
                     : nearest_tap(mode, normalized, place.at[k], offset, extents[k]);
  }
  return taps;
}

/// A share of `whole` as the hardware rounds it.
constexpr int share(int weight, int whole) noexcept { return (weight * whole + 128) >> 8; }

/// Returns the weights of the corners of a slice, whose sum is `whole`; bit k of a corner's number
/// is its tap of axis k. The weight is divided along x, then y, each time rounded for one side,
/// with the rest for the other.
inline std::array<int, 4> weights_of(const axis_taps& x, const axis_taps& y, int whole) {
  const int right = share(x.weight, whole), left = whole - right;
  const int lower_left = share(256 - y.weight, left);
  const int upper_right = share(y.weight, right);
  return {lower_left, right - upper_right, left - lower_left, upper_right};
}

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

/// Adds the texel at a position of a cube that may lie one step outside its face. The texels around
/// a corner of the cube are summed up in two parts.
template <class Fetch>
void add_cube_texel(std::uint32_t layer, std::int64_t x, std::int64_t y, std::int64_t n,
                    std::size_t level, int weight, weighted_slice* to, Fetch& fetch) {
  const int side = share(85, weight);
  for_cube_texels(
      layer, x, y, n, [&](int part, std::uint32_t in_layer, std::int64_t i, std::int64_t j) {
        const texel value = fetch(level, in_layer, i, j, std::int64_t{0});
        const int of_part = part == 256 ? weight : part == 86 ? weight - 2 * side : side;
        to[part == 85 ? 1 : 0].add(value, of_part);
      });
}

/// Adds the texels around a position in one level to the two slices at `to`, weighted to a total of
/// `whole`. The weight is divided along z first.
template <class Fetch>
void add_level(const texture& t, const texture_request& r, std::size_t level, int whole,
               weighted_slice* to, Fetch& fetch) {
  if (whole == 0) return;
  const image_place place = place_of(t, r);
  const auto taps = taps_of(t, r, place, level, t.how.linear);
  const bool seamless = is_seamless(t);
  const int upper = share(taps[2].weight, whole);
  for (unsigned high = 0; high < 2; ++high) {
    const int of_slice = high != 0 ? upper : whole - upper;
    if (of_slice == 0) continue;
    const std::int64_t z = high != 0 ? taps[2].second : taps[2].first;
    const auto weights = weights_of(taps[0], taps[1], of_slice);
    for (std::size_t corner = 0; corner < 4; ++corner) {
      if (weights[corner] == 0) continue;
      const std::int64_t x = (corner & 1) != 0 ? taps[0].second : taps[0].first;
      const std::int64_t y = (corner & 2) != 0 ? taps[1].second : taps[1].first;
      if (!seamless) {
        to[high].add(fetch(level, place.layer, x, y, z), weights[corner]);
      } else {
        const auto n = static_cast<std::int64_t>(t.source.levels[level].width);
        add_cube_texel(place.layer, x, y, n, level, weights[corner], to, fetch);
      }
    }
  }
}

/// Converts the channels of a texel that is read alone.
inline texel read_channels(const texture& t, texel value) {
  for (std::size_t c = 0; c < t.source.format.channels; ++c)
    value[c] = read_channel(t, value[c], c);
  return value;
}

/// Reads one texel.
template <class Fetch>
texel read_nearest(const texture& t, const texture_request& r, std::size_t level, Fetch& fetch) {
  const image_place place = place_of(t, r);
  const auto taps = taps_of(t, r, place, level, false);
  return read_channels(t, fetch(level, place.layer, taps[0].first, taps[1].first, taps[2].first));
}

/// Reads the texel at integer coordinates.
template <class Fetch>
texel read_integers(const texture& t, const texture_request& r, std::size_t level, Fetch& fetch) {
  const auto place = texel_at(t, r, level);
  if (!place) return {};
  return read_channels(t, fetch(level, r.layer, (*place)[0], (*place)[1], (*place)[2]));
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
    return exists ? detail::read_integers(t, r, static_cast<std::size_t>(level), fetch) : texel{};
  }
  const level_taps levels = levels_at(t, level);
  if (!t.how.linear && levels.weight == 0) return detail::read_nearest(t, r, levels.first, fetch);
  weighted_texels sum;
  detail::add_level(t, r, levels.first, 256 - levels.weight, &sum[0], fetch);
  detail::add_level(t, r, levels.second, levels.weight, &sum[2], fetch);
  texel result{};
  for (std::size_t c = 0; c < t.source.format.channels; ++c) result[c] = filter_channel(t, sum, c);
  return result;
}

/// tld4: one channel of the four texels that a linear filter would look at, counterclockwise
/// from the lower left one.
template <class Fetch>
texel gather_texels(const texture& t, const texture_request& r, std::size_t channel, Fetch& fetch) {
  const detail::image_place place = detail::place_of(t, r);
  if (channel >= t.source.format.channels) return {};
  const auto taps = detail::taps_of(t, r, place, 0, true);
  const auto read = [&](std::int64_t x, std::int64_t y) {
    const auto at = [&](std::uint32_t layer, std::int64_t i, std::int64_t j) {
      return fetch(std::size_t{0}, layer, i, j, std::int64_t{0});
    };
    if (!detail::is_seamless(t)) return read_channel(t, at(place.layer, x, y)[channel], channel);
    weighted_texels parts;
    detail::for_cube_texels(place.layer, x, y, static_cast<std::int64_t>(t.source.levels[0].width),
                            [&](int part, std::uint32_t layer, std::int64_t i, std::int64_t j) {
                              parts[0].add(at(layer, i, j), part);
                            });
    return parts[0].count == 1 ? read_channel(t, parts[0].values[0][channel], channel)
                               : filter_channel(t, parts, channel);
  };
  return {read(taps[0].first, taps[1].second), read(taps[0].second, taps[1].second),
          read(taps[0].second, taps[1].first), read(taps[0].first, taps[1].first)};
}

}  // namespace gpu::inline v1::testing::machine
