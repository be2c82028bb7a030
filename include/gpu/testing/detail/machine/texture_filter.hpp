// Reads the texels around a position and filters them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <gpu/testing/detail/machine/code.hpp>
#include <gpu/testing/detail/machine/image.hpp>
#include <gpu/testing/detail/machine/texture_channels.hpp>
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

/// Slices of texels in memory, and their weights. Texels without weight are null. The slices of a
/// lane follow each other.
template <std::size_t N> struct weighted_slices {
  four<std::array<const std::byte*, N>> texels;
  four<std::array<int, N>> weights;
  std::size_t count = 0;

  /// Begins a slice without texels and returns its number.
  std::size_t add() {
    for (auto& of_corner : texels) of_corner[count] = nullptr;
    for (auto& of_corner : weights) of_corner[count] = 0;
    return count++;
  }
  void put(std::size_t slice, std::size_t corner, const std::byte* texel, int weight) {
    texels[corner][slice] = texel;
    weights[corner][slice] = weight;
  }
};

}  // namespace detail

/// Reads a texture for the lanes of a warp, of which each has a request with its operands. What all
/// have in common is found out once. `Texels` knows the memory: after `texels.enter(level)`,
/// `texels(layer, x, y, z)` is the texel there, or that of the border if a coordinate is negative.
///
/// The functions that find the texels for a filter are inlined into the loop over the lanes, which
/// takes a third off its time: see the samples of benchmarks/testing/interpreter.cpp.
template <class Channel, class Texels> class texture_reader {
 public:
  /// Reads the first `wanted` channels, or those that there are.
  texture_reader(const texture& t, Channel channel, std::size_t wanted, Texels& texels)
      : texture_{t},
        channel_{channel},
        count_{std::min<std::size_t>(wanted, t.source.format.channels)},
        texels_{texels},
        shape_{t.source.shape},
        linear_{t.how.linear},
        one_level_{t.source.levels.size() == 1},
        seamless_{detail::is_seamless(t)},
        slices_a_lane_{(shape_ == image_shape::three || seamless_ ? 2u : 1u) *
                       (one_level_ ? 1u : 2u)} {}

  /// Reads for tex. Returns false if the texels are to be filtered, which `finish` does for many
  /// lanes at once.
  template <class Request>
  [[gnu::always_inline]] bool read(const Request& r, unsigned lane, texel& result) {
    if (r.integers()) {
      result = read_integers(r);
      return true;
    }
    const level_taps levels = one_level_ ? level_taps{} : levels_at(texture_, level_of(r));
    const detail::image_place place = place_of(r);
    if (!linear_ && levels.weight == 0) {
      result = read_nearest(r, place, levels.first);
      return true;
    }
    lanes_[lane_count_] = static_cast<std::uint8_t>(lane);
    begins_[lane_count_++] = static_cast<std::uint8_t>(slices_.count);
    add_level(r, place, levels.first, 256 - levels.weight);
    if (levels.weight != 0) add_second_level(r, place, levels);
    return false;
  }

  /// Returns whether the slices of the next lane may not fit before `finish` is called.
  bool is_full() const { return slices_.count + slices_a_lane_ > warp_size; }

  /// Filters what was read, and calls `write(lane, result)` for each lane.
  template <class Write> void finish(Write write) {
    if (lane_count_ == 0) return;
    std::array<texel, warp_size> results{};
    for (std::size_t c = 0; c < count_; ++c) filter_channel(c, results);
    for (std::size_t n = 0; n < lane_count_; ++n) write(unsigned{lanes_[n]}, results[n]);
    slices_.count = lane_count_ = 0;
  }

  /// Returns the result of tld4: one channel of the four texels that a linear filter would look at,
  /// counterclockwise from the lower left one.
  template <class Request> texel gather(const Request& r, std::size_t channel) {
    if (channel >= texture_.source.format.channels) return {};
    enter(0);
    const detail::image_place place = place_of(r);
    const detail::image_taps taps = linear_taps_at(r, place);
    const auto read = [&](std::int64_t x, std::int64_t y) {
      return gather_one(place.layer, x, y, channel);
    };
    return {read(taps.x.first, taps.y.second), read(taps.x.second, taps.y.second),
            read(taps.x.second, taps.y.first), read(taps.x.first, taps.y.first)};
  }

 private:
  using stored = typename Channel::stored;
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
    const std::size_t n = slices_.count++;
    const four<int> weights = detail::weights_of(taps.x, taps.y, whole);
    const axis_taps &x = taps.x, &y = taps.y;
    slices_.put(n, 0, weights[0] != 0 ? texels_(layer, x.first, y.first, z) : nullptr, weights[0]);
    slices_.put(n, 1, weights[1] != 0 ? texels_(layer, x.second, y.first, z) : nullptr, weights[1]);
    slices_.put(n, 2, weights[2] != 0 ? texels_(layer, x.first, y.second, z) : nullptr, weights[2]);
    slices_.put(n, 3, weights[3] != 0 ? texels_(layer, x.second, y.second, z) : nullptr,
                weights[3]);
  }

  void add_upper_slice(std::uint32_t layer, const detail::image_taps& taps, int whole) {
    add_slice(layer, taps, taps.z.second, whole);
  }

  /// Adds the texels of a face of a cube, some of which may lie one step outside. Those around a
  /// corner of the cube are summed up in two parts.
  void add_cube_slices(std::uint32_t layer, const axis_taps& x, const axis_taps& y, int whole) {
    const four<int> weights = detail::weights_of(x, y, whole);
    const std::size_t inside = slices_.add(), beside_corner = slices_.add();
    for (std::size_t corner = 0; corner < 4; ++corner) {
      if (weights[corner] == 0) continue;
      const int side = detail::share(85, weights[corner]);
      std::size_t sides = 0;  // a face has one corner of the cube near a position
      detail::for_cube_texels(
          layer, (corner & 1) != 0 ? x.second : x.first, (corner & 2) != 0 ? y.second : y.first,
          x_.texels, [&](int part, std::uint32_t in_layer, std::int64_t i, std::int64_t j) {
            const std::byte* const at = texels_(in_layer, i, j, 0);
            if (part == 85) return slices_.put(beside_corner, sides++, at, side);
            slices_.put(inside, corner, at, weights[corner] - (part == 86 ? 2 * side : 0));
          });
    }
  }

  /// Sums up a channel of slices.
  template <class Filter, class Number, std::size_t N>
  static void sum_up(const detail::weighted_slices<N>& slices, std::size_t channel,
                     Number number_of, std::array<typename Filter::sum, N>& sums) {
    four<std::array<typename Filter::number, N>> values;
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t n = 0; n < slices.count; ++n) {
        const std::byte* const at = slices.texels[k][n];
        values[k][n] = number_of(at != nullptr ? load(at, channel) : stored{});
      }
    Filter::sum_slices(values, slices.weights, slices.count, sums);
  }

  /// Filters one channel of all lanes.
  void filter_channel(std::size_t channel, std::array<texel, warp_size>& results) const {
    channel_.filter(channel, [&]<class Filter>(Filter, auto number_of) {
      std::array<typename Filter::sum, warp_size> sums;
      sum_up<Filter>(slices_, channel, number_of, sums);
      if (slices_.count != lane_count_) {
        for (std::size_t n = 0; n < lane_count_; ++n) {
          const std::size_t end = n + 1 < lane_count_ ? begins_[n + 1] : slices_.count;
          typename Filter::sum of_lane{};
          for (std::size_t i = begins_[n]; i < end; ++i) of_lane += sums[i];
          sums[n] = of_lane;  // its slices come later, if it has more than one
        }
      }
      std::array<float, warp_size> rounded;
      for (std::size_t n = 0; n < lane_count_; ++n) rounded[n] = Filter::result(sums[n]);
      for (std::size_t n = 0; n < lane_count_; ++n)
        results[n][channel] = std::bit_cast<std::uint32_t>(rounded[n]);
    });
  }

  /// Reads a channel of a texel; other threads of the process may be writing it.
  static stored load(const std::byte* texel, std::size_t channel) {
    return __atomic_load_n(reinterpret_cast<const stored*>(texel) + channel, __ATOMIC_RELAXED);
  }

  std::uint32_t read_channel(const std::byte* at, std::size_t channel) const {
    return channel_.read(load(at, channel), channel);
  }

  /// Reads one texel.
  texel read_at(std::uint32_t layer, std::int64_t x, std::int64_t y, std::int64_t z) {
    const std::byte* const at = texels_(layer, x, y, z);
    texel result{};
    for (std::size_t c = 0; c < count_; ++c) result[c] = read_channel(at, c);
    return result;
  }

  template <class Request>
  texel read_nearest(const Request& r, const detail::image_place& place, std::size_t level) {
    enter(level);
    const detail::image_taps taps = nearest_taps_at(r, place);
    return read_at(place.layer, taps.x.first, taps.y.first, taps.z.first);
  }

  /// Reads the texel at integer coordinates. Address modes do nothing for them: outside the image
  /// there is nothing, but with a level the nearest texel.
  template <class Request> texel read_integers(const Request& r) {
    const float level = level_of(r);
    if (!(level >= 0 && level < static_cast<float>(texture_.source.levels.size()))) return {};
    if (r.layer() >= texture_.source.layers) return {};
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
    if (outside && !r.has_level()) return {};
    return read_at(r.layer(), x, y, z);
  }

  std::uint32_t gather_one(std::uint32_t layer, std::int64_t x, std::int64_t y,
                           std::size_t channel) {
    if (!seamless_) return read_channel(texels_(layer, x, y, 0), channel);
    detail::weighted_slices<1> slice;
    slice.add();
    std::size_t count = 0;
    detail::for_cube_texels(layer, x, y, x_.texels,
                            [&](int part, std::uint32_t in_layer, std::int64_t i, std::int64_t j) {
                              slice.put(0, count++, texels_(in_layer, i, j, 0), part);
                            });
    if (count == 1) return read_channel(slice.texels[0][0], channel);
    std::uint32_t result = 0;
    channel_.filter(channel, [&]<class Filter>(Filter, auto number_of) {
      std::array<typename Filter::sum, 1> sum{};
      sum_up<Filter>(slice, channel, number_of, sum);
      result = std::bit_cast<std::uint32_t>(Filter::result(sum[0]));
    });
    return result;
  }

  const texture& texture_;
  const Channel channel_;
  const std::size_t count_;  // of channels that are read
  Texels& texels_;
  const image_shape shape_;
  const bool linear_;
  const bool one_level_;
  const bool seamless_;
  const std::size_t slices_a_lane_;  // at most
  std::size_t level_ = SIZE_MAX;     // that is read
  texture_axis x_, y_, z_;
  detail::weighted_slices<warp_size> slices_;  // of lanes that are to be filtered
  std::array<std::uint8_t, warp_size> lanes_;
  std::array<std::uint8_t, warp_size> begins_;  // the first slice of each
  std::size_t lane_count_ = 0;
};

}  // namespace gpu::inline v1::testing::machine
