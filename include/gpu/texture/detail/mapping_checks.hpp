#pragma once
/// \file
/// Checks of `map_array` and `unmap_array`: indices, tiles and the room in physical memory.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/memory/physical_memory.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// The physical memory that a part of an array needs.
struct mapped_bytes {
  std::size_t size = 0;
  std::size_t unit = 0;  // offsets in the physical memory are multiples of it
};

constexpr std::size_t tile_bytes(const box_extent& tile, texel_format format) noexcept {
  const std::size_t texel = texel_bytes(format);
  if (texel == 0) return 65536;  // block-compressed formats
  return tile.width * tile.height * tile.depth * texel;
}

/// Returns `errc::index_out_of_range` for the index of a level or a layer that does not exist.
inline result<> require_below(const char* function, const char* what, unsigned index,
                              std::size_t count, source_location where) noexcept {
  if (index < count) return {};
  text_builder out;
  out << what << ' ' << index << " does not exist: the array has " << count
      << ". Pass a smaller index.";
  return fail(refusal(errc::index_out_of_range, function, out.finish(), where, index, count));
}

/// Counts the tiles along one direction, for `size` texels from `at` on in a level of `length`
/// texels.
inline result<> count_tiles(const char* function, char along, std::size_t at, std::size_t size,
                            std::size_t tile, std::size_t length, std::size_t& count,
                            source_location where) noexcept {
  text_builder out;
  if (at >= length || size > length - at || size == 0) {
    out << size << " texels from " << at << " on along " << along
        << " are not inside the level, which has " << length
        << ". Pass at least one tile inside the level.";
    return fail(
        refusal(errc::index_out_of_range, function, out.finish(), where, at + size, length));
  }
  const bool aligned = at % tile == 0;
  if (aligned && (size % tile == 0 || size == length - at)) {
    count = (size + tile - 1) / tile;
    return {};
  }
  const std::size_t wrong = aligned ? size : at;
  out << (aligned ? "the size" : "the position") << " along " << along << " is " << wrong
      << " texels, which is not a multiple of the " << tile << " texels of a tile. Use "
      << (aligned ? (wrong / tile + 1) * tile : wrong / tile * tile);
  if (aligned) out << ", or extend to the edge of the level";
  out << '.';
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, wrong, tile));
}

/// Returns an error if the physical memory has no room for a part of an array from `offset` on.
inline result<> check_room(const char* function, const physical_memory& memory, std::size_t offset,
                           const mapped_bytes& needed, source_location where) noexcept {
  text_builder out;
  if (offset % needed.unit != 0) {
    out << "the offset in the physical memory is " << offset
        << " bytes, which is not a multiple of " << needed.unit << ". Use "
        << offset / needed.unit * needed.unit << '.';
    return fail(
        refusal(errc::invalid_argument, function, out.finish(), where, offset, needed.unit));
  }
  const std::size_t all = memory.size_bytes();
  const std::size_t room = offset < all ? all - offset : 0;
  if (needed.size <= room) return {};
  out << "the mapping needs " << needed.size << " bytes, but from offset " << offset
      << " on the physical memory has only " << room << ". Create more memory.";
  return fail(refusal(errc::index_out_of_range, function, out.finish(), where, needed.size, room));
}

}}}  // namespace gpu::v1::detail
