// The metadata of a sparse A: which elements of B each of its elements is multiplied with.
#pragma once

#include <array>
#include <cstdint>

#include <nogpu/machine/matrix_plan.hpp>
#include <nogpu/ptx/matrix_operands.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The places along k of the elements of A that are there, in the order of the plan.
struct sparse_rows {
  static constexpr std::uint32_t rows = 16;
  static constexpr std::uint32_t most = 64;  // elements of a row
  std::uint8_t places[rows][most];
};

/// Reads the metadata of a warp: `words` has that of each lane, `selector` says which lanes count.
/// A row's metadata is one after the other, two bits for each element, or pair of elements of 4
/// bits, and four bits for each of tf32; up to 16 bits a row, lanes have two rows, 8 rows apart.
/// False: `bad_row` has metadata that means nothing.
inline bool read_metadata(const matrix_plan& plan, bool ordered, std::uint32_t selector,
                          const std::array<std::uint32_t, 32>& words, sparse_rows& out,
                          std::uint32_t& bad_row, std::uint32_t& bad_bits) {
  const ptx::type element = plan.types[1];
  const std::uint32_t lanes = ptx::detail::metadata_lanes(plan.shape, element);
  const bool halves = element == ptx::type::tf32 || ptx::element_bits(element) == 16;
  const bool tf32 = element == ptx::type::tf32, pairs = ptx::element_bits(element) == 4;
  const auto bits_of = [&](std::uint32_t row, std::uint32_t at, std::uint32_t count) {
    const std::uint32_t lane = halves ? at / 16 : row / 8 + at / 32 * 2;
    const std::uint32_t shift = halves ? at % 16 + row / 8 * 16 : at % 32;
    return words[row % 8 * 4 + selector * lanes + lane] >> shift & ((1u << count) - 1);
  };
  for (bad_row = 0; bad_row < sparse_rows::rows; ++bad_row) {
    for (std::uint32_t n = 0; n < plan.a.length; ++n) {
      std::uint32_t& place = bad_bits;
      if (tf32) {
        place = bits_of(bad_row, 4 * n, 4);
        if (place != 4 && place != 14) return false;
        place = 2 * n + place / 8;
      } else {
        const std::uint32_t index = pairs ? n / 2 : n;
        const std::uint32_t both = bits_of(bad_row, index / 2 * 4, 4);
        if (ordered && (both & 3) >= both >> 2) {
          bad_bits = both;
          return false;
        }
        place = index / 2 * 4 + (both >> index % 2 * 2 & 3);
        if (pairs) place = 2 * place + n % 2;
      }
      out.places[bad_row][place_along(plan.a, n)] = static_cast<std::uint8_t>(place);
    }
  }
  return true;
}

}}}  // namespace nogpu::v1::machine::detail
