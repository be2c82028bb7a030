#pragma once
/// \file
/// `divide_rows`: which block multiplies which rows of a sparse matrix.

#include <gpu/core/sequence.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// The device's `gpu::sparse::tile`.
struct sparse_tile {
  int row, entry, lanes, partial;
  friend bool operator==(const sparse_tile&, const sparse_tile&) noexcept = default;
};
/// The device's `gpu::sparse::long_row`.
struct sparse_long_row {
  int row, first, count;
};

// The order of the sums depends on these figures and on the lengths of the rows alone.
// benchmarks/algorithm/sparse.cu shows what they bring.
inline constexpr unsigned sparse_threads = 256;
inline constexpr unsigned sparse_items = 8;  ///< entries of a thread
inline constexpr int entries_of_tile = static_cast<int>(sparse_threads * sparse_items);
inline constexpr int most_rows_of_tile = 2048;
/// A longer row has a tile of its own, or several.
inline constexpr int most_of_shared_row = entries_of_tile / 4;

/// Returns with how many lanes for each row the rows of a tile are summed soonest: with many, a
/// long row takes fewer steps, but fewer rows are summed at the same time.
constexpr int choose_lanes(int rows, int longest) noexcept {
  int best = 1, least = 0;
  for (int lanes = 1, pairs = 0; lanes <= 32; lanes *= 2, ++pairs) {
    const int at_a_time = static_cast<int>(sparse_threads) / lanes;
    const int rounds = (rows - 1) / at_a_time + 1;
    const int steps = longest == 0 ? 0 : (longest - 1) / lanes + 1;
    const int cost = rounds * (2 + steps + 2 * pairs);
    if (lanes != 1 && cost >= least) continue;
    best = lanes;
    least = cost;
  }
  return best;
}

/// The tiles of a matrix, and an end marker after the last one.
struct sparse_tiles {
  sequence<sparse_tile> tiles;
  sequence<sparse_long_row> long_rows;
  int partials = 0;
  int longest_row = 0;
};

/// Divides rows into tiles. `offsets` has one more element than there are rows.
/// **Errors**: throws as operator new does.
inline sparse_tiles divide_rows(const int* offsets, int rows) {
  sparse_tiles made;
  int row = 0;
  while (row < rows) {
    const int begin = offsets[row];
    int longest = 0, end = row;
    while (end < rows && end - row < most_rows_of_tile) {
      const int length = offsets[end + 1] - offsets[end];
      if (length > most_of_shared_row || offsets[end + 1] - begin > entries_of_tile) break;
      if (length > longest) longest = length;
      ++end;
    }
    if (end > row) {
      made.tiles.push_back({row, begin, choose_lanes(end - row, longest), -1});
      row = end;
    } else {
      longest = offsets[row + 1] - begin;
      const int parts = (longest - 1) / entries_of_tile + 1;
      if (parts > 1) made.long_rows.push_back({row, made.partials, parts});
      for (int part = 0; part < parts; ++part) {
        const int partial = parts > 1 ? made.partials++ : -1;
        made.tiles.push_back({row, begin + part * entries_of_tile, 0, partial});
      }
      ++row;
    }
    if (longest > made.longest_row) made.longest_row = longest;
  }
  made.tiles.push_back({rows, rows == 0 ? 0 : offsets[rows], 0, -1});
  return made;
}

}}}  // namespace gpu::v1::detail
