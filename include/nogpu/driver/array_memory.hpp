#pragma once
/// \file
/// Computes the memory requirements of an array whose texels are stored in blocks: the answers of
/// the driver for arrays that the program maps memory to. The CPU driver itself stores texels row
/// by row.

#include <nogpu/driver/array_checks.hpp>
#include <nogpu/driver/array_objects.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nogpu { inline namespace v1 { namespace driver {

/// Memory is mapped to arrays in tiles of so many bytes.
inline constexpr std::uint64_t tile_bytes = 65536;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

/// The bytes of one layer of a level. A block is 64 bytes wide and as high and deep as the level
/// fills, but for 16 groups of 8 rows at most.
inline std::uint64_t layer_bytes_on_device(const array_state& level) noexcept {
  const auto fill = [](std::uint64_t count, std::uint64_t most) {
    std::uint64_t size = 1;
    while (size < count && size < most) size *= 2;
    return size;
  };
  const std::uint64_t slices = has_layers(level.form) ? 1 : level.slices();
  const std::uint64_t deep = fill(slices, 16);
  const std::uint64_t high = 8 * fill((level.rows() + 7) / 8, 16 / deep);
  return round_up(level.row_bytes(), 64) * round_up(level.rows(), high) * round_up(slices, deep);
}

/// The bytes of some levels, in whole tiles.
inline std::uint64_t bytes_on_device(std::span<const array_ptr> levels, std::uint64_t layers) {
  constexpr std::uint64_t layer_unit = 8192;
  std::uint64_t bytes = 0;
  for (const array_ptr& each : levels) bytes += layer_bytes_on_device(*each);
  return round_up(layers == 1 ? bytes : round_up(bytes, layer_unit) * layers, tile_bytes);
}

inline CUresult give_requirements(std::span<const array_ptr> levels,
                                  CUDA_ARRAY_MEMORY_REQUIREMENTS& needs) {
  const array_state& finest = *levels.front();
  if ((finest.form.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) == 0) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t layers = has_layers(finest.form) ? finest.slices() : 1;
  needs = {};
  needs.size = bytes_on_device(levels, layers);
  needs.alignment = tile_bytes;
  return CUDA_SUCCESS;
}

/// The tiles of a sparse array, and the levels that are too small for tiles of their own: the tail.
inline CUresult give_sparse_properties(std::span<const array_ptr> levels,
                                       CUDA_ARRAY_SPARSE_PROPERTIES& properties) {
  const CUDA_ARRAY3D_DESCRIPTOR& form = levels.front()->form;
  if ((form.Flags & CUDA_ARRAY3D_SPARSE) == 0) return CUDA_ERROR_INVALID_VALUE;
  const bool deep = form.Depth != 0 && !has_layers(form);
  // The tile is as close to a square or a cube as the number of texels allows; its first extents
  // are larger.
  unsigned tile[3] = {1, 1, 1};
  unsigned next = 0;
  for (std::uint64_t texels = tile_bytes / levels.front()->format.unit; texels > 1; texels /= 2)
    tile[next++ % (deep ? 3 : 2)] *= 2;
  const auto too_small = [&](const array_ptr& level) {
    return level->form.Width < tile[0] || level->form.Height < tile[1] ||
           (deep && level->form.Depth < tile[2]);
  };
  const auto tail = std::find_if(levels.begin(), levels.end(), too_small);
  const auto first = static_cast<std::size_t>(tail - levels.begin());
  properties = {};
  properties.tileExtent = {tile[0], tile[1], tile[2]};
  properties.miptailFirstLevel = static_cast<unsigned>(first);
  const bool shared = first == 0 && has_layers(form);  // by all layers
  if (tail != levels.end())
    properties.miptailSize = bytes_on_device(levels.subspan(first), shared ? form.Depth : 1);
  if (first == 0) properties.flags = CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver
