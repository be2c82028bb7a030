#pragma once
/// \file
/// Sparse matrices on the host, and their products in double.

#include "algorithm/algorithm_fixture.hpp"  // IWYU pragma: export

#include <complex>
#include <cstddef>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace sparse_test {

using algorithm_test::fixture;

template <class T> inline constexpr bool is_complex = false;
template <class T> inline constexpr bool is_complex<std::complex<T>> = true;

template <class T> T number(double real, double imag) {
  if constexpr (is_complex<T>) {
    using part = typename T::value_type;
    return T(static_cast<part>(real), static_cast<part>(imag));
  } else {
    return static_cast<T>(real);
  }
}

using exact = std::complex<double>;
template <class T> exact as_exact(const T& value) {
  if constexpr (is_complex<T>)
    return {double(value.real()), double(value.imag())};
  else
    return {static_cast<double>(value), 0};
}

/// Triplets in any order.
template <class T> struct triplets {
  std::size_t rows = 0, columns = 0;
  std::vector<int> row, column;
  std::vector<T> value;

  void add(int r, int c, T v) {
    row.push_back(r);
    column.push_back(c);
    value.push_back(v);
  }
  std::vector<exact> times(const std::vector<T>& x) const {
    std::vector<exact> y(rows);
    for (std::size_t k = 0; k < row.size(); ++k)
      y[static_cast<std::size_t>(row[k])] +=
          as_exact(value[k]) * as_exact(x[static_cast<std::size_t>(column[k])]);
    return y;
  }
  /// The sums of the values at each place, by row and column.
  std::map<std::pair<int, int>, exact> sums() const {
    std::map<std::pair<int, int>, exact> made;
    for (std::size_t k = 0; k < row.size(); ++k) made[{row[k], column[k]}] += as_exact(value[k]);
    return made;
  }
};

/// Rows of the given lengths, with small whole values, whose sums are exact in any order.
template <class T>
triplets<T> random_matrix(const std::vector<std::size_t>& lengths, std::size_t columns,
                          unsigned seed) {
  std::mt19937 random(seed);
  triplets<T> made{lengths.size(), columns, {}, {}, {}};
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    for (std::size_t k = 0; k < lengths[r]; ++k) {
      made.add(static_cast<int>(r), static_cast<int>(random() % columns),
               number<T>(int(random() % 15) - 7, int(random() % 15) - 7));
    }
  }
  for (std::size_t k = made.row.size(); k > 1; --k) {
    const std::size_t other = random() % k;
    std::swap(made.row[k - 1], made.row[other]);
    std::swap(made.column[k - 1], made.column[other]);
    std::swap(made.value[k - 1], made.value[other]);
  }
  return made;
}

template <class T> std::vector<T> random_vector(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> made(size);
  for (T& each : made) each = number<T>(int(random() % 15) - 7, int(random() % 15) - 7);
  return made;
}

}  // namespace sparse_test
