#pragma once
/// \file
/// Arrays made from matrices in host memory, in the order of C or of Fortran.

#include <gpu/texture/copy_array.hpp>

namespace gpu::inline v0 {

/// Which index of a matrix runs fastest in memory.
enum class matrix_order : unsigned char {
  row_major,     ///< the column, as in C
  column_major,  ///< the row, as in Fortran
};

/// The order's name, such as "row_major"; null for a value that is none.
constexpr const char* name_of(matrix_order order) noexcept {
  switch (order) {
    case matrix_order::row_major:
      return "row_major";
    case matrix_order::column_major:
      return "column_major";
  }
  return nullptr;
}

/// A matrix: how many rows and columns, and in which order.
struct matrix_shape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  matrix_order order = matrix_order::row_major;
};

namespace detail {

/// Refuses a matrix without rows or columns, of which the driver would make a line, or nothing.
inline result<> require_elements(const char* function, const matrix_shape& shape,
                                 std::size_t elements, source_location where) noexcept {
  if (shape.rows != 0 && shape.columns != 0) [[likely]]
    return {};
  text_builder out;
  out << "a matrix of " << shape.rows << " rows and " << shape.columns
      << " columns has no elements, and " << elements
      << " were passed. Give at least one row and one column.";
  return fail(refusal(elements == 0 ? errc::invalid_argument : errc::size_mismatch, function,
                      out.finish(), where, elements, 0));
}

}  // namespace detail

/// A new array of two dimensions with the elements of a matrix in contiguous host memory, and
/// returns when they have arrived. x runs along what is contiguous: the width is the number of
/// columns of a row-major matrix, and of rows of a column-major one, which is not transposed. The
/// elements are texels, or their channels one after the other:
///
///     std::vector<float> matrix(rows * columns), image(height * width * 4);
///     auto a = GPU_TRY(gpu::array_from_matrix<float>(device, matrix, {rows, columns}));
///     using rgba = gpu::channels<float, 4>;
///     auto b = GPU_TRY(gpu::array_from_matrix<rgba>(device, image, {height, width}));
///
/// `flags` is what the array is for.
/// **Errors**: `errc::size_mismatch` with the elements there are and the elements that the shape
/// has; `errc::invalid_argument` for an order that is none, and for no elements at all; those of
/// `cuda_array::create`. Not allowed during capture. (cuArray3DCreate, cuCtxSynchronize,
/// cuMemcpy3D)
template <class T, host_range Range>
result<cuda_array<T>> array_from_matrix(
    device on, const Range& elements, matrix_shape shape, array_flags flags = array_flags::none,
    source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require_enumerator(shape.order, "matrix_order", "gpu::array_from_matrix", where));
  GPU_TRY(
      detail::require_elements("gpu::array_from_matrix", shape, detail::size_of(elements), where));
  const bool in_rows = shape.order == matrix_order::row_major;
  array_shape extents;
  extents.width = in_rows ? shape.columns : shape.rows;
  extents.height = in_rows ? shape.rows : shape.columns;
  extents.flags = flags;
  auto array = GPU_TRY(cuda_array<T>::create(on, extents, where));
  GPU_TRY(copy(elements, array, where));
  return array;
}

}  // namespace gpu::inline v0
