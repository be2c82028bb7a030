// A tensor map of the simulated device: what the driver puts into the 128 bytes of a CUtensorMap.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <nogpu/ptx/types.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// What a load makes of elements. An H100 keeps subnormal numbers, also those of maps whose type
/// says that they are flushed.
enum class tensor_change : std::uint8_t { none, round_to_tf32 };

/// Returns what a load makes of the bits of an f32. It rounds to the nearest, and then to even.
constexpr std::uint32_t change_float(tensor_change change, std::uint32_t bits) {
  if (change == tensor_change::none) return bits;
  const std::uint32_t magnitude = bits & 0x7fff'ffffu;
  if (magnitude == 0x7f80'0000u) return bits;
  if (magnitude > 0x7f80'0000u) return 0x7fff'e000u;  // any NaN
  return (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
}

/// How a copy finds its elements: a box of them, or columns of the pixels of images.
enum class tensor_mode : std::uint8_t { tile, im2col };

/// Dimension 0 is the one whose elements lie side by side.
struct tensor_map {
  static constexpr std::uint32_t mark_of_map = 0x7e45'09a1;
  static constexpr unsigned most_dimensions = 5;

  std::uint64_t base = 0;
  std::array<std::uint64_t, most_dimensions - 1> strides{};  // bytes, from dimension 1 on
  std::uint32_t mark = 0;
  std::array<std::uint32_t, most_dimensions> last{};  // the extents minus 1
  std::array<std::uint16_t, most_dimensions> box{};   // elements that the steps cross
  std::array<std::int16_t, 3> lower{}, upper{};       // of im2col, from dimension 1 on
  std::uint16_t pixels = 0;                           // of im2col; box[0] are the channels
  std::array<std::uint8_t, most_dimensions> steps{};
  tensor_mode mode = tensor_mode::tile;
  std::uint8_t rank = 0;
  ptx::type element = ptx::type::none;
  tensor_change change = tensor_change::none;
  std::uint8_t swizzle_bits = 0;  // of an address, from bit 4 on, that change
  std::uint8_t fills_with_nan = 0;
  std::array<std::uint8_t, 5> unused{};

  /// Returns whether all members are within their limits. A kernel may have written them.
  bool is_sound() const {
    const bool in_images = mode == tensor_mode::im2col;
    if (mark != mark_of_map || rank < (in_images ? 3 : 1) || rank > most_dimensions) return false;
    if (mode > tensor_mode::im2col || swizzle_bits > 3 || fills_with_nan > 1) return false;
    const std::uint32_t bytes = element_bytes();
    if (bytes == 0 || bytes > 8 || change > tensor_change::round_to_tf32) return false;
    if (in_images && (pixels == 0 || pixels > 1024)) return false;
    for (unsigned n = 0; n < rank; ++n) {
      if (steps[n] == 0 || steps[n] > 8) return false;
      if ((n == 0 || !in_images) && (box[n] == 0 || box[n] > 256)) return false;
    }
    return row_bytes() % 16 == 0 && (swizzle_bits == 0 || row_bytes() <= 16u << swizzle_bits);
  }

  std::uint32_t element_bytes() const { return ptx::size_of(element); }
  std::uint64_t extent(unsigned dimension) const { return std::uint64_t{last[dimension]} + 1; }
  /// Elements that a copy takes along a dimension.
  std::uint32_t taken(unsigned dimension) const {
    const std::uint32_t step = dimension == 0 ? 1 : steps[dimension];
    return (box[dimension] + step - 1) / step;
  }
  std::uint32_t row_bytes() const { return box[0] * element_bytes(); }
  /// From one row in shared memory to the next: as many bytes as the swizzle spans, if there is
  /// one.
  std::uint32_t row_pitch() const { return swizzle_bits == 0 ? row_bytes() : 16u << swizzle_bits; }
  /// Rows of elements side by side that a copy has.
  std::uint64_t rows() const {
    if (mode == tensor_mode::im2col) return pixels;
    std::uint64_t count = 1;  // at most 2^32
    for (unsigned n = 1; n < rank; ++n) count *= taken(n);
    return count;
  }
  std::uint64_t bytes() const { return rows() * row_bytes(); }

  /// The place in shared memory of what is copied to `at` without a swizzle.
  std::uint32_t swizzled(std::uint32_t at) const {
    const std::uint32_t mask = (1u << swizzle_bits) - 1;
    return at ^ (at >> 7 & mask) << 4;
  }

  /// The bytes of elements outside of the tensor. The NaN of 16 bits is one of those for which an
  /// H100 takes the factor of an `fma.oob` to be outside.
  std::uint64_t fill() const { return fills_with_nan != 0 ? 0x7ff7'7ff7'7ff7'7ff7 : 0; }
};

static_assert(sizeof(tensor_map) <= 128 && std::is_trivially_copyable_v<tensor_map>);
static_assert(std::has_unique_object_representations_v<tensor_map>,
              "maps of the same tensor have the same bytes");

/// A place in a tensor, as the coordinates of an instruction name it.
using tensor_place = std::array<std::int64_t, tensor_map::most_dimensions>;

/// The elements of a tensor that a copy takes, row by row.
class tensor_rows {
 public:
  /// Begins at the first row of a copy at `start`. The offsets are of im2col.
  tensor_rows(const tensor_map& map, const tensor_place& start,
              const std::array<std::uint32_t, 3>& offsets)
      : map_{map}, start_{start}, place_{start}, offsets_{offsets} {}

  /// The place of the row's first element.
  tensor_place place() const {
    tensor_place at = place_;
    if (map_.mode == tensor_mode::im2col)
      for (unsigned n = 1; n + 1 < map_.rank; ++n) at[n] += offsets_[n - 1];
    return at;
  }

  void next() {
    if (map_.mode == tensor_mode::im2col) return next_pixel();
    for (unsigned n = 1; n < map_.rank; ++n) {
      place_[n] += map_.steps[n];
      if (++counts_[n] < map_.taken(n)) return;
      place_[n] = start_[n];
      counts_[n] = 0;
    }
  }

 private:
  /// The next place of the box of pixels, then that of the next image.
  void next_pixel() {
    for (unsigned n = 1; n + 1 < map_.rank; ++n) {
      place_[n] += map_.steps[n];
      if (place_[n] <= std::int64_t{map_.last[n]} + map_.upper[n - 1]) return;
      place_[n] = map_.lower[n - 1];
    }
    place_[map_.rank - 1u] += 1;
  }

  const tensor_map& map_;
  tensor_place start_, place_;
  std::array<std::uint32_t, 3> offsets_;
  std::array<std::uint32_t, tensor_map::most_dimensions> counts_{};
};

}}}  // namespace nogpu::v1::machine
