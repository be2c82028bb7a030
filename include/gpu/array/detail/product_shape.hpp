#pragma once
/// \file
/// The extents and strides of a product of matrices, and the form in which BLAS takes them.

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

inline constexpr int most_batch_axes = 6;

/// The strides of a matrix and of its batch, in elements; those that are repeated are 0. These two
/// have the layout of the device's `gpu::products::matrix` and `shape`.
struct product_matrix {
  long long row, column;
  long long batch[most_batch_axes];
};
struct product_shape {
  long long m, n, k;
  long long batch[most_batch_axes];
  product_matrix a, b, c;
};

/// A matrix as BLAS has it: columns one after the other, `leading` elements apart.
struct blas_matrix {
  std::uintptr_t address;
  bool transposed;  ///< the matrix in memory is the transpose of the operand
  long long leading;
  long long batch;  ///< from one matrix of the batch to the next
};

/// `count` products `c = op(a) * op(b)`, with `m` rows and `n` columns each.
struct blas_product {
  long long m, n, k, count;
  blas_matrix a, b, c;
};

/// Fits a matrix into BLAS's form; false if neither of its axes has neighbors in memory.
constexpr bool fit_matrix(const product_matrix& s, long long rows, long long columns,
                          bool may_transpose, blas_matrix& fitted) noexcept {
  const auto at_least = [](long long stride, long long extent, bool free, long long& leading) {
    leading = free ? (extent > 1 ? extent : 1) : stride;
    return leading >= extent && leading > 0;
  };
  fitted.transposed = false;
  if ((s.row == 1 || rows == 1) && at_least(s.column, rows, columns == 1, fitted.leading))
    return true;
  fitted.transposed = true;
  return may_transpose && (s.column == 1 || columns == 1) &&
         at_least(s.row, columns, rows == 1, fitted.leading);
}

constexpr void swap_axes_of(product_matrix& matrix) noexcept {
  const long long row = matrix.row;
  matrix.row = matrix.column;
  matrix.column = row;
}

/// Combines the axes of the batch into one; false if that needs more than one stride.
constexpr bool combine_batch(const product_shape& s, blas_product& made) noexcept {
  made.count = 1;
  made.a.batch = made.b.batch = made.c.batch = 0;
  for (int axis = most_batch_axes; axis-- > 0;) {
    if (s.batch[axis] == 1) continue;
    if (made.count == 1) {
      made.a.batch = s.a.batch[axis];
      made.b.batch = s.b.batch[axis];
      made.c.batch = s.c.batch[axis];
    } else if (s.a.batch[axis] != made.a.batch * made.count ||
               s.b.batch[axis] != made.b.batch * made.count ||
               s.c.batch[axis] != made.c.batch * made.count) {
      return false;
    }
    made.count *= s.batch[axis];
  }
  return made.a.batch >= 0 && made.b.batch >= 0 && made.c.batch >= 0;
}

/// Writes a product of matrices in BLAS's form, without moving an element: a result in C order is
/// the transpose of one in Fortran order, so then the transposed operands are multiplied in the
/// other order. Returns false if BLAS cannot express the strides.
constexpr bool to_blas(std::uintptr_t a, std::uintptr_t b, std::uintptr_t c, product_shape s,
                       blas_product& made) noexcept {
  made = {};
  if (s.m <= 0 || s.n <= 0) return false;
  if (!fit_matrix(s.c, s.m, s.n, false, made.c)) {
    const product_shape before = s;
    s.m = before.n;
    s.n = before.m;
    s.a = before.b;
    s.b = before.a;
    swap_axes_of(s.a);
    swap_axes_of(s.b);
    swap_axes_of(s.c);
    const std::uintptr_t first = a;
    a = b;
    b = first;
    if (!fit_matrix(s.c, s.m, s.n, false, made.c)) return false;
  }
  made.m = s.m;
  made.n = s.n;
  made.k = s.k;
  made.a.address = a;
  made.b.address = b;
  made.c.address = c;
  if (s.k == 0) {  // the operands have no elements, and strides that say nothing
    made.a.leading = s.m;
    made.b.leading = 1;
    return combine_batch(s, made);
  }
  return fit_matrix(s.a, s.m, s.k, true, made.a) && fit_matrix(s.b, s.k, s.n, true, made.b) &&
         combine_batch(s, made);
}

}}}  // namespace gpu::v1::detail
