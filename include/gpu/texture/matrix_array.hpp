#pragma once
/// \file
/// `array_from_matrix`: creates a CUDA array from a matrix in host memory, in row-major or
/// column-major order.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/memory/ranges.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/copy_array.hpp>
#include <gpu/texture/cuda_array.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// The order of a matrix in memory.
enum class matrix_order : unsigned char {
  row_major,     ///< rows are contiguous, as in C
  column_major,  ///< columns are contiguous, as in Fortran
};

/// The enumerator, such as "row_major"; null for a value that this library does not know.
constexpr const char* name_of(matrix_order order) noexcept {
  using enum matrix_order;
  return detail::find_name(order, {{row_major, "row_major"}, {column_major, "column_major"}});
}

/// The number of rows and columns of a matrix, and its order in memory.
struct matrix_shape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  matrix_order order = matrix_order::row_major;
};

namespace detail {

/// Returns an error for a matrix without rows or columns, since an array of height 0 would be 1D.
inline result<> require_elements(const char* function, const matrix_shape& shape,
                                 std::size_t elements, source_location where) noexcept {
  if (shape.rows != 0 && shape.columns != 0) return {};
  text_builder out;
  out << "a matrix of " << shape.rows << " rows and " << shape.columns << " columns is empty, but "
      << elements << " elements were passed. Pass at least one row and one column.";
  return fail(refusal(elements == 0 ? errc::invalid_argument : errc::size_mismatch, function,
                      out.finish(), where, elements, 0));
}

}  // namespace detail

/// Creates a 2D array from a matrix in contiguous host memory; blocks until the copy has finished.
/// x is the contiguous direction: the width is the number of columns of a row-major matrix, and the
/// number of rows of a column-major one, which is not transposed. The elements are texels, or the
/// channels of texels one after the other:
///
///     std::vector<float> matrix(rows * columns), image(height * width * 4);
///     auto a = GPU_TRY(gpu::array_from_matrix<float>(device, matrix, {rows, columns}));
///     using rgba = gpu::channels<float, 4>;
///     auto b = GPU_TRY(gpu::array_from_matrix<rgba>(device, image, {height, width}));
///
/// **Errors**: `errc::size_mismatch` with the number of elements passed and the number that the
/// shape needs; `errc::invalid_argument` for an invalid order and an empty matrix; those of
/// `cuda_array::create`. **Capture**: not allowed. (cuArray3DCreate, cuCtxSynchronize, cuMemcpy3D)
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

}}  // namespace gpu::v1
