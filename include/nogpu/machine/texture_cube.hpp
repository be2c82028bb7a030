// Converts a direction to a face of a cube map and a position in it, and crosses edges of faces.
#pragma once

#include <cmath>
#include <cstdint>

#include <nogpu/ptx/arithmetic/float_bits.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// A face, in the order +x, -x, +y, -y, +z, -z, and normalized coordinates in it.
struct cube_place {
  std::uint32_t face = 0;
  float s = 0.5f;
  float t = 0.5f;
};

/// Returns where a direction meets the cube. Of components of the same length z comes before y, and
/// y before x. If the direction is zero, infinite or NaN, it is the middle of a face.
inline cube_place cube_place_of(float x, float y, float z) {
  const auto is_negative = [](float component) { return ptx::detail::to_bits(component) < 0; };
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  cube_place place;
  float sc = 0, tc = 0, ma = 0;
  if (az >= ax && az >= ay) {
    place.face = is_negative(z) ? 5 : 4;
    sc = is_negative(z) ? -x : x;
    tc = -y;
    ma = az;
  } else if (ay >= ax) {
    place.face = is_negative(y) ? 3 : 2;
    sc = x;
    tc = is_negative(y) ? -z : z;
    ma = ay;
  } else {
    place.face = is_negative(x) ? 1 : 0;
    sc = is_negative(x) ? z : -z;
    tc = -y;
    ma = ax;
  }
  if (!(ma > 0) || !ptx::detail::is_finite(ma)) return place;
  const auto on_face = [ma](float component) {
    const float at = (component / ma + 1) * 0.5f;
    return ptx::detail::is_finite(at) ? at : 0.5f;
  };
  place.s = on_face(sc);
  place.t = on_face(tc);
  return place;
}

/// A texel of a cube with faces of `n` x `n`.
struct cube_texel {
  std::uint32_t face = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;
};

/// Returns the texel of the next face beside the texel (x, y) of a face, of which one coordinate is
/// -1 or n.
inline cube_texel across_edge(std::uint32_t face, std::int64_t x, std::int64_t y, std::int64_t n) {
  // The center of the texel as a direction. One step over the edge, what was the longest component
  // is that of the last texels of the face.
  const auto size = static_cast<float>(n);
  const auto center = [&](std::int64_t i) {
    return i < 0 ? -1.0f : i >= n ? 1.0f : (2 * static_cast<float>(i) + 1) / size - 1;
  };
  const float sc = center(x), tc = center(y), ma = 1 - 1 / size;
  cube_place place;
  switch (face) {
    case 0: place = cube_place_of(ma, -tc, -sc); break;
    case 1: place = cube_place_of(-ma, -tc, sc); break;
    case 2: place = cube_place_of(sc, ma, tc); break;
    case 3: place = cube_place_of(sc, -ma, -tc); break;
    case 4: place = cube_place_of(sc, -tc, ma); break;
    default: place = cube_place_of(-sc, -tc, -ma); break;
  }
  const auto index = [&](float at) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(at) * static_cast<double>(n)));
  };
  return {place.face, index(place.s), index(place.t)};
}

}}}  // namespace nogpu::v1::machine
