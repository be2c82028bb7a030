// Reads the texels around a position and filters them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <nogpu/machine/image.hpp>
#include <nogpu/machine/texture_batch.hpp>
#include <nogpu/machine/texture_coordinates.hpp>
#include <nogpu/machine/texture_cube.hpp>
#include <nogpu/machine/texture_levels.hpp>
#include <nogpu/machine/texture_sums.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

namespace detail {

/// For each lane a position in a layer.
struct image_places {
  std::array<std::uint32_t, warp_size> layer;
  std::array<float, warp_size> x, y, z;
};

/// Replaces directions in cubes by positions on faces.
inline void place_on_faces(const image& source, std::size_t count, image_places& places) {
  const std::uint32_t cubes = source.layers / 6;
  for (std::size_t n = 0; n < count; ++n) {
    const cube_place on_cube = cube_place_of(places.x[n], places.y[n], places.z[n]);
    places.layer[n] = 6 * std::min(places.layer[n], cubes - 1) + on_cube.face;
    places.x[n] = on_cube.s;
    places.y[n] = on_cube.t;
  }
}

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
inline four<int> weights_of(int x_weight, int y_weight, int whole) {
  const int right = share(x_weight, whole), left = whole - right;
  const int lower_left = share(256 - y_weight, left);
  const int upper_right = share(y_weight, right);
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

/// Finds the texels that lanes of a warp read, and adds them to a batch. What all lanes have in
/// common is found out once, and what each has of its own, in loops over the lanes. `Requests` has
/// the operands of the lanes. `Texels` knows the memory: after `texels.enter(level)`,
/// `texels(layer, x, y, z)` is the texel there, or that of the border if a coordinate is negative;
/// `texels.find` finds those of many lanes that need no closer look.
template <class Requests, class Texels> class texture_reader {
 public:
  texture_reader(const texture& t, const Requests& requests, Texels& texels, texel_batch& batch)
      : texture_{t},
        requests_{requests},
        texels_{texels},
        batch_{batch},
        shape_{t.source.shape},
        linear_{t.how.linear},
        one_level_{t.source.levels.size() == 1},
        seamless_{detail::is_seamless(t)} {}

  /// Returns the number of slices that `read` adds at most for a lane.
  std::size_t slices_to_read() const {
    return (shape_ == image_shape::three || seamless_ ? 2u : 1u) * (one_level_ ? 1u : 2u);
  }
  static constexpr std::size_t slices_to_gather = 4;

  /// Adds the results of tex.
  void read() {
    const std::size_t count = requests_.count();
    if (requests_.integers()) {
      for (std::size_t n = 0; n < count; ++n) batch_.add_alone(find_integers(n));
      return;
    }
    find_places();
    if (one_level_) return read_levels({0, count}, {});
    for (std::size_t n = 0; n < count; ++n)
      read_levels({n, n + 1}, levels_at(texture_, level_of(n)));
  }

  /// Adds the results of tld4: the four texels that a linear filter would look at,
  /// counterclockwise from the lower left one.
  void gather() {
    const lane_range lanes{0, requests_.count()};
    find_places();
    enter(0);
    find_taps(lanes, true);
    for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
      texels_.set_lane(requests_.lane(n));
      gather_one(places_.layer[n], x_taps_.first[n], y_taps_.second[n]);
      gather_one(places_.layer[n], x_taps_.second[n], y_taps_.second[n]);
      gather_one(places_.layer[n], x_taps_.second[n], y_taps_.first[n]);
      gather_one(places_.layer[n], x_taps_.first[n], y_taps_.first[n]);
    }
  }

 private:
  float level_of(std::size_t n) const {
    return requests_.has_gradients() ? level_of_gradients(texture_.source, requests_.gradient_x(n),
                                                          requests_.gradient_y(n))
                                     : requests_.level(n);
  }

  void find_places() {
    const std::size_t count = requests_.count();
    requests_.copy_layers(places_.layer);
    requests_.copy_coordinates(0, places_.x);
    requests_.copy_coordinates(1, places_.y);
    if (shape_ == image_shape::three || shape_ == image_shape::cube)
      requests_.copy_coordinates(2, places_.z);
    if (shape_ == image_shape::cube) return detail::place_on_faces(texture_.source, count, places_);
    const std::uint32_t last_layer = texture_.source.layers - 1;
    for (std::size_t n = 0; n < count; ++n)
      places_.layer[n] = std::min(places_.layer[n], last_layer);
    // A one-dimensional image is a row, which is read at height 0 and so halfway in the border
    // above it.
    if (shape_ == image_shape::one) places_.y.fill(0);
  }

  /// Makes a level the one that is read.
  void enter(std::size_t level) {
    if (level != level_) find_level(level);
  }

  void find_level(std::size_t level) {
    level_ = level;
    const image_level& of = texture_.source.levels[level];
    const auto axis = [&](std::size_t k, std::uint64_t extent) {
      return texture_axis(detail::mode_of(texture_, k),
                          texture_.how.normalized_coordinates || seamless_,
                          static_cast<std::int64_t>(extent));
    };
    x_ = axis(0, of.width);
    y_ = axis(1, of.height);
    z_ = axis(2, of.depth);
    texels_.enter(level);
  }

  void find_taps(lane_range lanes, bool linear) {
    find_taps_of(x_, 0, lanes, linear, places_.x, x_taps_);
    find_taps_of(y_, 1, lanes, linear, places_.y, y_taps_);
    if (shape_ == image_shape::three) find_taps_of(z_, 2, lanes, linear, places_.z, z_taps_);
  }

  void find_taps_of(const texture_axis& axis, std::size_t k, lane_range lanes, bool linear,
                    const std::array<float, warp_size>& coordinates, lane_taps& taps) {
    std::array<std::int32_t, warp_size> offsets{};
    if (linear && seamless_)
      return find_linear_taps_between(axis, lanes, coordinates, offsets, taps);
    requests_.copy_offsets(k, offsets);
    linear ? find_linear_taps(axis, lanes, coordinates, offsets, taps)
           : find_nearest_taps(axis, lanes, coordinates, offsets, taps);
  }

  /// Adds the texels of lanes that have the same levels.
  void read_levels(lane_range lanes, const level_taps& levels) {
    enter(levels.first);
    find_taps(lanes, linear_);
    if (!linear_ && levels.weight == 0) return add_nearest(lanes);
    const std::size_t first = batch_.size();
    for (std::size_t n = lanes.begin; n < lanes.end; ++n) batch_.add_sum();
    add_level(lanes, first, 256 - levels.weight);
    if (levels.weight == 0) return;
    enter(levels.second);
    find_taps(lanes, linear_);
    add_level(lanes, first, levels.weight);
  }

  void add_nearest(lane_range lanes) {
    for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
      texels_.set_lane(requests_.lane(n));
      batch_.add_alone(
          texels_(places_.layer[n], x_taps_.first[n], y_taps_.first[n], z_taps_.first[n]));
    }
  }

  /// Adds the texels of lanes in one level, weighted to a total of `whole`, to the results from the
  /// `first` one on. The weight is divided along z first.
  void add_level(lane_range lanes, std::size_t first, int whole) {
    int upper = 0;
    for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
      upper_.whole[n] = detail::share(z_taps_.weight[n], whole);
      lower_.whole[n] = whole - upper_.whole[n];
      upper |= upper_.whole[n];
    }
    find_weights(lanes, lower_);
    if (seamless_) {
      for (std::size_t n = lanes.begin; n < lanes.end; ++n)
        add_cube_slices(n, first + n - lanes.begin);
      return;
    }
    texels_.find(lanes, places_.layer, x_taps_, y_taps_, z_taps_.first, lower_.texels,
                 lower_.found);
    if (upper != 0) {
      find_weights(lanes, upper_);
      texels_.find(lanes, places_.layer, x_taps_, y_taps_, z_taps_.second, upper_.texels,
                   upper_.found);
    }
    for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
      if (!lower_.found[n]) find_texels_of(n, z_taps_.first[n], lower_);
      if (upper != 0 && !upper_.found[n]) find_texels_of(n, z_taps_.second[n], upper_);
    }
    add_slices(lanes, first, lower_);
    if (upper != 0) add_slices(lanes, first, upper_);
  }

  /// For each lane the four texels of a slice, and whether they are found.
  struct slices {
    std::array<int, warp_size> whole;  // the sum of the weights
    four<std::array<int, warp_size>> weights;
    four<std::array<const std::byte*, warp_size>> texels;
    std::array<bool, warp_size> found;
  };

  void find_weights(lane_range lanes, slices& of) const {
    for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
      const four<int> weights =
          detail::weights_of(x_taps_.weight[n], y_taps_.weight[n], of.whole[n]);
      for (std::size_t k = 0; k < 4; ++k) of.weights[k][n] = weights[k];
    }
  }

  /// Finds the texels of one lane. Those without weight are not looked at.
  void find_texels_of(std::size_t n, std::int32_t z, slices& to) {
    texels_.set_lane(requests_.lane(n));
    for (std::size_t k = 0; k < 4; ++k) {
      if (to.weights[k][n] == 0) continue;
      to.texels[k][n] =
          texels_(places_.layer[n], ((k & 1) != 0 ? x_taps_.second : x_taps_.first)[n],
                  ((k & 2) != 0 ? y_taps_.second : y_taps_.first)[n], z);
    }
  }

  void add_slices(lane_range lanes, std::size_t first, const slices& of) {
    for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
      if (of.whole[n] == 0) continue;
      const std::size_t slice = batch_.add_slice(first + n - lanes.begin);
      for (std::size_t k = 0; k < 4; ++k) {
        const int weight = of.weights[k][n];
        batch_.put(slice, k, weight != 0 ? of.texels[k][n] : batch_.nothing, weight);
      }
    }
  }

  /// Adds the texels of a face of a cube, some of which may lie one step outside. Those around a
  /// corner of the cube are summed up in two parts.
  void add_cube_slices(std::size_t n, std::size_t result) {
    texels_.set_lane(requests_.lane(n));
    const std::uint32_t layer = places_.layer[n];
    const std::size_t inside = batch_.add_empty_slice(result);
    const std::size_t beside_corner = batch_.add_empty_slice(result);
    for (std::size_t corner = 0; corner < 4; ++corner) {
      const int weight = lower_.weights[corner][n];
      if (weight == 0) continue;
      const int side = detail::share(85, weight);
      std::size_t sides = 0;  // a face has one corner of the cube near a position
      detail::for_cube_texels(
          layer, (corner & 1) != 0 ? x_taps_.second[n] : x_taps_.first[n],
          (corner & 2) != 0 ? y_taps_.second[n] : y_taps_.first[n], x_.texels,
          [&](int part, std::uint32_t in_layer, std::int64_t i, std::int64_t j) {
            const std::byte* const at = texels_(in_layer, i, j, 0);
            if (part == 85) return batch_.put(beside_corner, sides++, at, side);
            batch_.put(inside, corner, at, weight - (part == 86 ? 2 * side : 0));
          });
    }
  }

  /// Finds the texel at integer coordinates. Address modes do nothing for them: outside the image
  /// there is nothing, but with a level the nearest texel.
  const std::byte* find_integers(std::size_t n) {
    const Requests& r = requests_;
    texels_.set_lane(r.lane(n));
    const float level = level_of(n);
    if (!(level >= 0 && level < static_cast<float>(texture_.source.levels.size()))) return nullptr;
    if (r.layer(n) >= texture_.source.layers) return nullptr;
    enter(static_cast<std::size_t>(level));
    bool outside = false;
    const auto tap = [&](const texture_axis& axis, std::uint32_t coordinate, std::size_t k) {
      const std::int64_t at =
          std::int64_t{std::bit_cast<std::int32_t>(coordinate)} + r.offset(k, n);
      if (at >= 0 && at < axis.texels) return at;
      outside = true;
      return at < 0 ? 0 : axis.texels - 1;
    };
    const std::int64_t x = tap(x_, r.coordinate(0, n), 0);
    const std::int64_t y = tap(y_, shape_ == image_shape::one ? 0 : r.coordinate(1, n), 1);
    const std::int64_t z = shape_ == image_shape::three ? tap(z_, r.coordinate(2, n), 2) : 0;
    if (outside && !r.has_level()) return nullptr;
    return texels_(r.layer(n), x, y, z);
  }

  void gather_one(std::uint32_t layer, std::int64_t x, std::int64_t y) {
    if (!seamless_) return batch_.add_alone(texels_(layer, x, y, 0));
    std::size_t count = 0, slice = 0;
    detail::for_cube_texels(layer, x, y, x_.texels,
                            [&](int part, std::uint32_t in_layer, std::int64_t i, std::int64_t j) {
                              const std::byte* const at = texels_(in_layer, i, j, 0);
                              if (part == 256) return batch_.add_alone(at);
                              if (count == 0) {
                                slice = batch_.add_empty_slice(batch_.add_sum());
                              }
                              batch_.put(slice, count++, at, part);
                            });
  }

  const texture& texture_;
  const Requests& requests_;
  Texels& texels_;
  texel_batch& batch_;
  const image_shape shape_;
  const bool linear_;
  const bool one_level_;
  const bool seamless_;
  std::size_t level_ = SIZE_MAX;  // that is read
  texture_axis x_, y_, z_;
  detail::image_places places_;
  lane_taps x_taps_, y_taps_, z_taps_{};  // of the level; without a third axis, 0 along z
  slices lower_, upper_;                  // along z
};

}}}  // namespace nogpu::v1::machine
