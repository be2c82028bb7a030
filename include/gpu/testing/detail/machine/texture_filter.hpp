// Reads the texels around a position and filters them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <gpu/testing/detail/machine/image.hpp>
#include <gpu/testing/detail/machine/texture_batch.hpp>
#include <gpu/testing/detail/machine/texture_coordinates.hpp>
#include <gpu/testing/detail/machine/texture_cube.hpp>
#include <gpu/testing/detail/machine/texture_levels.hpp>
#include <gpu/testing/detail/machine/texture_sums.hpp>

namespace gpu::inline v1::testing::machine {

namespace detail {

/// A position in a layer.
struct image_place {
  std::uint32_t layer = 0;
  float x = 0, y = 0, z = 0;
};

/// Returns the position of a direction in a cube.
inline image_place place_on_cube(const image& source, std::uint32_t cube, float x, float y,
                                 float z) {
  const cube_place on_cube = cube_place_of(x, y, z);
  const std::uint32_t cubes = source.layers / 6;
  return {6 * (cube < cubes ? cube : cubes - 1) + on_cube.face, on_cube.s, on_cube.t, 0};
}

/// The texels around a position.
struct image_taps {
  axis_taps x, y, z;
};

/// Returns whether the filter continues in the next face at the edge of a face of a cube.
constexpr bool is_seamless(const texture& t) noexcept {
  return t.source.shape == image_shape::cube && t.how.seamless_cube;
}

/// Only normalized coordinates are wrapped or mirrored, others are clamped instead, and so are
/// those in a face of a cube without seams.
constexpr address_mode mode_of(const texture& t, std::size_t axis) noexcept {
  if (is_seamless(t)) return address_mode::clamp;
  const address_mode mode = t.how.address[axis];
  return t.how.normalized_coordinates || mode == address_mode::border ? mode : address_mode::clamp;
}

/// A share of `whole` as the hardware rounds it.
constexpr int share(int weight, int whole) noexcept { return (weight * whole + 128) >> 8; }

/// Returns the weights of the corners of a slice, whose sum is `whole`; bit k of a corner's number
/// is its tap of axis k. The weight is divided along x, then y, each time rounded for one side,
/// with the rest for the other.
inline four<int> weights_of(const axis_taps& x, const axis_taps& y, int whole) {
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

}  // namespace detail

/// Finds the texels that the lanes of a warp read, of which each has a request with its operands,
/// and adds them to a batch. What all lanes have in common is found out once. `Texels` knows the
/// memory: after `texels.enter(level)`, `texels(layer, x, y, z)` is the texel there, or that of the
/// border if a coordinate is negative.
///
/// The functions that find the texels for a filter are inlined into the loop over the lanes, which
/// takes a quarter off its time: see the samples of benchmarks/testing/interpreter.cpp.
template <class Texels> class texture_reader {
 public:
  texture_reader(const texture& t, Texels& texels, texel_batch& batch)
      : texture_{t},
        texels_{texels},
        batch_{batch},
        shape_{t.source.shape},
        linear_{t.how.linear},
        one_level_{t.source.levels.size() == 1},
        seamless_{detail::is_seamless(t)} {}

  /// Returns the number of slices that `read` adds at most.
  std::size_t slices_to_read() const {
    return (shape_ == image_shape::three || seamless_ ? 2u : 1u) * (one_level_ ? 1u : 2u);
  }
  static constexpr std::size_t slices_to_gather = 4;

  /// Adds the result of tex.
  template <class Request> [[gnu::always_inline]] void read(const Request& r) {
    if (r.integers()) return batch_.add_alone(find_integers(r));
    const level_taps levels = one_level_ ? level_taps{} : levels_at(texture_, level_of(r));
    const detail::image_place place = place_of(r);
    if (!linear_ && levels.weight == 0)
      return batch_.add_alone(find_nearest(r, place, levels.first));
    batch_.add_sum();
    add_level(r, place, levels.first, 256 - levels.weight);
    if (levels.weight != 0) add_second_level(r, place, levels);
  }

  /// Adds the results of tld4: the four texels that a linear filter would look at,
  /// counterclockwise from the lower left one.
  template <class Request> void gather(const Request& r) {
    enter(0);
    const detail::image_place place = place_of(r);
    const detail::image_taps taps = linear_taps_at(r, place);
    gather_one(place.layer, taps.x.first, taps.y.second);
    gather_one(place.layer, taps.x.second, taps.y.second);
    gather_one(place.layer, taps.x.second, taps.y.first);
    gather_one(place.layer, taps.x.first, taps.y.first);
  }

 private:
  template <class Request> float level_of(const Request& r) const {
    return r.has_gradients() ? level_of_gradients(texture_.source, r.gradient_x(), r.gradient_y())
                             : r.level();
  }

  template <class Request>
  [[gnu::always_inline]] detail::image_place place_of(const Request& r) const {
    const image& source = texture_.source;
    const auto at = [&](std::size_t k) { return std::bit_cast<float>(r.coordinate(k)); };
    if (shape_ == image_shape::cube)
      return detail::place_on_cube(source, r.layer(), at(0), at(1), at(2));
    const std::uint32_t layer = std::min(r.layer(), source.layers - 1);
    // A one-dimensional image is a row, which is read at height 0 and so halfway in the border
    // above it.
    return {layer, at(0), shape_ == image_shape::one ? 0 : at(1), at(2)};
  }

  /// Makes a level the one that is read.
  void enter(std::size_t level) {
    if (level != level_) find_level(level);
  }

  [[gnu::noinline]] void find_level(std::size_t level) {
    level_ = level;
    const image_level& of = texture_.source.levels[level];
    const auto axis = [&](std::size_t k, std::uint64_t extent) {
      return texture_axis(detail::mode_of(texture_, k), texture_.how.normalized_coordinates,
                          static_cast<std::int64_t>(extent));
    };
    x_ = axis(0, of.width);
    y_ = axis(1, of.height);
    z_ = axis(2, of.depth);
    texels_.enter(level);
  }

  template <class Request>
  [[gnu::always_inline]] detail::image_taps linear_taps_at(const Request& r,
                                                           const detail::image_place& place) const {
    detail::image_taps taps;
    if (seamless_) {
      taps.x = linear_taps_between(detail::scaled(x_, static_cast<double>(place.x)), 0);
      taps.y = linear_taps_between(detail::scaled(y_, static_cast<double>(place.y)), 0);
      return taps;
    }
    taps.x = linear_taps(x_, place.x, r.offset(0));
    taps.y = linear_taps(y_, place.y, r.offset(1));
    if (shape_ == image_shape::three) taps.z = linear_taps(z_, place.z, r.offset(2));
    return taps;
  }

  template <class Request>
  detail::image_taps nearest_taps_at(const Request& r, const detail::image_place& place) const {
    detail::image_taps taps;
    taps.x = nearest_tap(x_, place.x, r.offset(0));
    taps.y = nearest_tap(y_, place.y, r.offset(1));
    if (shape_ == image_shape::three) taps.z = nearest_tap(z_, place.z, r.offset(2));
    return taps;
  }

  /// Adds the texels around a position in one level, weighted to a total of `whole`. The weight is
  /// divided along z first.
  template <class Request>
  [[gnu::always_inline]] void add_level(const Request& r, const detail::image_place& place,
                                        std::size_t level, int whole) {
    enter(level);
    const detail::image_taps taps = linear_ ? linear_taps_at(r, place) : nearest_taps_at(r, place);
    if (seamless_) return add_cube_slices(place.layer, taps.x, taps.y, whole);
    const int upper = detail::share(taps.z.weight, whole);
    if (whole != upper) add_slice(place.layer, taps, taps.z.first, whole - upper);
    if (upper != 0) add_upper_slice(place.layer, taps, upper);
  }

  template <class Request>
  void add_second_level(const Request& r, const detail::image_place& place,
                        const level_taps& levels) {
    add_level(r, place, levels.second, levels.weight);
  }

  [[gnu::always_inline]] void add_slice(std::uint32_t layer, const detail::image_taps& taps,
                                        std::int64_t z, int whole) {
    const std::size_t n = batch_.add_slice();
    const four<int> weights = detail::weights_of(taps.x, taps.y, whole);
    const axis_taps &x = taps.x, &y = taps.y;
    batch_.put(n, 0, weights[0] != 0 ? texels_(layer, x.first, y.first, z) : batch_.nothing,
               weights[0]);
    batch_.put(n, 1, weights[1] != 0 ? texels_(layer, x.second, y.first, z) : batch_.nothing,
               weights[1]);
    batch_.put(n, 2, weights[2] != 0 ? texels_(layer, x.first, y.second, z) : batch_.nothing,
               weights[2]);
    batch_.put(n, 3, weights[3] != 0 ? texels_(layer, x.second, y.second, z) : batch_.nothing,
               weights[3]);
  }

  void add_upper_slice(std::uint32_t layer, const detail::image_taps& taps, int whole) {
    add_slice(layer, taps, taps.z.second, whole);
  }

  /// Adds the texels of a face of a cube, some of which may lie one step outside. Those around a
  /// corner of the cube are summed up in two parts.
  void add_cube_slices(std::uint32_t layer, const axis_taps& x, const axis_taps& y, int whole) {
    const four<int> weights = detail::weights_of(x, y, whole);
    const std::size_t inside = batch_.add_empty_slice(), beside_corner = batch_.add_empty_slice();
    for (std::size_t corner = 0; corner < 4; ++corner) {
      if (weights[corner] == 0) continue;
      const int side = detail::share(85, weights[corner]);
      std::size_t sides = 0;  // a face has one corner of the cube near a position
      detail::for_cube_texels(
          layer, (corner & 1) != 0 ? x.second : x.first, (corner & 2) != 0 ? y.second : y.first,
          x_.texels, [&](int part, std::uint32_t in_layer, std::int64_t i, std::int64_t j) {
            const std::byte* const at = texels_(in_layer, i, j, 0);
            if (part == 85) return batch_.put(beside_corner, sides++, at, side);
            batch_.put(inside, corner, at, weights[corner] - (part == 86 ? 2 * side : 0));
          });
    }
  }

  template <class Request>
  const std::byte* find_nearest(const Request& r, const detail::image_place& place,
                                std::size_t level) {
    enter(level);
    const detail::image_taps taps = nearest_taps_at(r, place);
    return texels_(place.layer, taps.x.first, taps.y.first, taps.z.first);
  }

  /// Finds the texel at integer coordinates. Address modes do nothing for them: outside the image
  /// there is nothing, but with a level the nearest texel.
  template <class Request> const std::byte* find_integers(const Request& r) {
    const float level = level_of(r);
    if (!(level >= 0 && level < static_cast<float>(texture_.source.levels.size()))) return nullptr;
    if (r.layer() >= texture_.source.layers) return nullptr;
    enter(static_cast<std::size_t>(level));
    bool outside = false;
    const auto tap = [&](const texture_axis& axis, std::uint32_t coordinate, std::size_t k) {
      const std::int64_t at = std::int64_t{std::bit_cast<std::int32_t>(coordinate)} + r.offset(k);
      if (at >= 0 && at < axis.texels) return at;
      outside = true;
      return at < 0 ? 0 : axis.texels - 1;
    };
    const std::int64_t x = tap(x_, r.coordinate(0), 0);
    const std::int64_t y = tap(y_, shape_ == image_shape::one ? 0 : r.coordinate(1), 1);
    const std::int64_t z = shape_ == image_shape::three ? tap(z_, r.coordinate(2), 2) : 0;
    if (outside && !r.has_level()) return nullptr;
    return texels_(r.layer(), x, y, z);
  }

  void gather_one(std::uint32_t layer, std::int64_t x, std::int64_t y) {
    if (!seamless_) return batch_.add_alone(texels_(layer, x, y, 0));
    std::size_t count = 0, slice = 0;
    detail::for_cube_texels(layer, x, y, x_.texels,
                            [&](int part, std::uint32_t in_layer, std::int64_t i, std::int64_t j) {
                              const std::byte* const at = texels_(in_layer, i, j, 0);
                              if (part == 256) return batch_.add_alone(at);
                              if (count == 0) {
                                batch_.add_sum();
                                slice = batch_.add_empty_slice();
                              }
                              batch_.put(slice, count++, at, part);
                            });
  }

  const texture& texture_;
  Texels& texels_;
  texel_batch& batch_;
  const image_shape shape_;
  const bool linear_;
  const bool one_level_;
  const bool seamless_;
  std::size_t level_ = SIZE_MAX;  // that is read
  texture_axis x_, y_, z_;
};

}  // namespace gpu::inline v1::testing::machine
