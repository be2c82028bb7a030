#pragma once
/// \file
/// `breadth_first_order`: an order of rows and columns in which neighbors are close.

#include <gpu/core/sequence.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// The structure of a square matrix, on the host.
struct host_structure {
  const int* offsets;
  const int* columns;
  int rows;
};

/// Appends `start` and all rows that are reached from it to `order`, each level of neighbors after
/// the one before. `visited` says which rows were reached in which search.
inline void append_levels(const host_structure& of, int start, int search, sequence<int>& visited,
                          sequence<int>& order) {
  const auto index = [](int i) { return static_cast<std::size_t>(i); };
  std::size_t next = order.size();
  visited[index(start)] = search;
  order.push_back(start);
  for (; next < order.size(); ++next) {
    const int row = order[next];
    for (int at = of.offsets[row]; at < of.offsets[row + 1]; ++at) {
      const int neighbor = of.columns[at];
      if (visited[index(neighbor)] == search) continue;
      visited[index(neighbor)] = search;
      order.push_back(neighbor);
    }
  }
}

/// Returns the rows in breadth-first order: position k of the new order is row `order[k]`. Each
/// connected part begins at a row that is far from others, so that its levels are narrow, and
/// entries are close to the diagonal.
/// **Errors**: throws as operator new does.
inline sequence<int> breadth_first_order(const host_structure& of) {
  const auto rows = static_cast<std::size_t>(of.rows);
  sequence<int> order, tried, seen(rows), placed(rows);
  order.reserve(rows);
  int search = 0;
  for (int row = 0; row < of.rows; ++row) {
    if (placed[static_cast<std::size_t>(row)] != 0) continue;
    tried.clear();
    append_levels(of, row, ++search, seen, tried);
    // In a structure that is not symmetric the last one may have been placed from elsewhere.
    const int far = tried.back();
    append_levels(of, placed[static_cast<std::size_t>(far)] == 0 ? far : row, 1, placed, order);
    if (placed[static_cast<std::size_t>(row)] == 0) append_levels(of, row, 1, placed, order);
  }
  return order;
}

}}}  // namespace gpu::v1::detail
