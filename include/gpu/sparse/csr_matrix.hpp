#pragma once
/// \file
/// `csr_matrix`: a sparse matrix, stored by rows, and its product with vectors.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/sparse/coo_matrix.hpp>
#include <gpu/sparse/detail/sparse_build.hpp>
#include <gpu/sparse/detail/sparse_kernel.hpp>
#include <gpu/sparse/detail/sparse_tiles.hpp>
#include <gpu/sparse/linear_operator.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// Owns a sparse matrix in compressed sparse row format, in device memory:
///
///     auto matrix = GPU_TRY(gpu::csr_matrix<float>::from_triplets(
///         stream, {3, 3}, rows, columns, values));
///     GPU_TRY(matrix.apply(stream, x, y));               // y = A x
///     GPU_TRY(matrix.apply(stream, 2.0f, x, -1.0f, y));  // y = 2 A x - y
///
/// The entries of row r are those from `row_offsets()[r]` up to, without, `row_offsets()[r + 1]`.
/// The order in which products are summed depends on the lengths of the rows and on the type alone,
/// so that a product has the same bits in every run and on every device.
///
/// `T` is float, double, `std::complex<float>` or `std::complex<double>`; indices have 32 bits. A
/// `linear_operator`. Move-only; empty after a move. The memory is freed in the order of the stream
/// on which the matrix was made. **Threads**: any number may apply one matrix.
template <class T> class csr_matrix {
  static_assert(detail::is_sparse_value<T>(),
                "gpu::csr_matrix: the values are float, double, or std::complex of these");

 public:
  /// Creates an empty object, to be assigned to.
  csr_matrix() noexcept = default;

  using value_type = T;

  /// Makes a matrix from triplets in host or device memory, in any order. Values at one place are
  /// summed. As `coo_matrix::create`, with its ordering, errors and cost.
  template <class Rows, class Columns, class Values>
  static result<csr_matrix> from_triplets(const stream_ref& stream, operator_shape shape,
                                          Rows&& rows, Columns&& columns, Values&& values,
                                          source_location where = source_location::current()) {
    return create(
        stream, GPU_TRY(coo_matrix<T>::create(stream, shape, rows, columns, values, where)), where);
  }

  /// Makes a matrix from sorted triplets, whose columns and values it takes over.
  /// **Ordering**: after the work queued on the stream; waits for the lengths of the rows.
  /// **Errors**: `errc::capture_prohibited`, `errc::out_of_host_memory`, CUDA_ERROR_OUT_OF_MEMORY,
  /// those of `compile`.
  static result<csr_matrix> create(const stream_ref& stream, coo_matrix<T>&& entries,
                                   source_location where = source_location::current()) {
    GPU_TRY(detail::require(stream, create_name, where));
    GPU_TRY(detail::require_no_capture(stream, create_name,
                                       "Make the matrix before the capture begins.", where));
    auto offsets = GPU_TRY(device_buffer<int>::create(stream, entries.shape_.rows + 1, where));
    CUdeviceptr row = entries.rows_.native(), offset = offsets.native();
    int count = static_cast<int>(entries.entries());
    auto rows = static_cast<long long>(entries.shape_.rows);
    void* pointers[] = {&row, &count, &offset, &rows};
    GPU_TRY(detail::launch_structure(stream, detail::structure_kernel::offsets,
                                     entries.shape_.rows + 1, pointers, where));
    return divide(create_name, stream, entries.shape_, offsets, entries.columns_, entries.values_,
                  where);
  }

  /// Makes a matrix from copies of its three arrays, each in host or device memory. `offsets` has
  /// one element more than there are rows; it and `columns` are of type `int`. Columns within a row
  /// may be in any order, in which they are summed.
  /// **Ordering**: after the work queued on the stream; waits, since the arrays are checked.
  /// **Errors**: `errc::size_mismatch` and `errc::invalid_argument` for offsets that do not fit,
  /// with the row; `errc::index_out_of_range` with the first column outside of the matrix; and
  /// those of `coo_matrix::create`.
  template <class Offsets, class Columns, class Values>
  static result<csr_matrix> create(const stream_ref& stream, operator_shape shape,
                                   Offsets&& offsets, Columns&& columns, Values&& values,
                                   source_location where = source_location::current()) {
    detail::check_sparse_sources<T, Offsets, Columns, Values>();
    const detail::named_elements from_offsets = detail::name_elements("offsets", offsets);
    const detail::named_elements from_columns = detail::name_elements("columns", columns);
    const detail::named_elements from_values = detail::name_elements("values", values);
    GPU_TRY(
        check_sizes(create_name, stream, shape, from_offsets, from_columns, from_values, where));
    return check_and_divide(create_name, stream, shape,
                            GPU_TRY(detail::bring_new<int>(stream, from_offsets, where)),
                            GPU_TRY(detail::bring_new<int>(stream, from_columns, where)),
                            GPU_TRY(detail::bring_new<T>(stream, from_values, where)), where);
  }

  /// Takes over the three arrays of a matrix. Otherwise as above. If it fails, the arrays are gone.
  static result<csr_matrix> adopt(const stream_ref& stream, operator_shape shape,
                                  device_buffer<int>&& offsets, device_buffer<int>&& columns,
                                  device_buffer<T>&& values,
                                  source_location where = source_location::current()) {
    constexpr const char* function = "gpu::csr_matrix::adopt";
    GPU_TRY(check_sizes(function, stream, shape, detail::name_elements("offsets", offsets),
                        detail::name_elements("columns", columns),
                        detail::name_elements("values", values), where));
    return check_and_divide(function, stream, shape, std::move(offsets), std::move(columns),
                            std::move(values), where);
  }

  operator_shape shape() const noexcept { return shape_; }
  /// Returns the number of entries.
  std::size_t entries() const noexcept { return values_.size(); }
  /// Returns the number of entries of the longest row.
  std::size_t longest_row() const noexcept { return static_cast<std::size_t>(longest_row_); }

  /// Returns where each row begins, and the column and the value of each entry. Values may be
  /// changed.
  device_span<const int> row_offsets() const& noexcept { return offsets_.span(); }
  device_span<const int> column_indices() const& noexcept { return columns_.span(); }
  device_span<const T> values() const& noexcept { return values_.span(); }
  device_span<T> values() & noexcept { return values_.span(); }

  /// Stores the product of the matrix with `x` in `y`.
  /// **Ordering**: after the work queued on the stream; does not wait.
  /// **Errors**: `errc::size_mismatch` unless `x` has an element for each column and `y` one for
  /// each row; `errc::invalid_argument` if the two overlap; `errc::wrong_context`;
  /// `errc::empty_handle`; those of `compile` on another device than that of the matrix.
  /// **Cost**: one launch, and one more if a row has more than 2048 entries. **Capture**: allowed.
  template <device_range X, device_range Y>
  result<> apply(const stream_ref& stream, X&& x, Y&& y,
                 source_location where = source_location::current()) const {
    return run(stream, T(1), x, T(0), y, where);
  }

  /// Stores alpha A x + beta y in `y`. If `beta` is 0, `y` is not read. Otherwise as above.
  template <device_range X, device_range Y>
  result<> apply(const stream_ref& stream, T alpha, X&& x, T beta, Y&& y,
                 source_location where = source_location::current()) const {
    return run(stream, alpha, x, beta, y, where);
  }

  /// Returns the elements on the diagonal; 0 for a row without an entry there.
  /// **Ordering**: after the work queued on the stream; does not wait. The memory belongs to the
  /// stream. **Errors**: `errc::empty_handle`, `errc::wrong_context`, CUDA_ERROR_OUT_OF_MEMORY.
  result<device_buffer<T>> diagonal(const stream_ref& stream,
                                    source_location where = source_location::current()) const {
    constexpr const char* function = "gpu::csr_matrix::diagonal";
    GPU_TRY(detail::require(stream, function, where));
    GPU_TRY(require_own(function, stream, where));
    const std::size_t count = shape_.rows < shape_.columns ? shape_.rows : shape_.columns;
    auto made = GPU_TRY(device_buffer<T>::create(stream, count, where));
    const untyped_kernel* const kernels = GPU_TRY(detail::find_product_kernels<T>(stream, where));
    CUdeviceptr offsets = offsets_.native(), columns = columns_.native();
    CUdeviceptr values = values_.native(), to = made.native();
    int rows = static_cast<int>(count);
    void* pointers[] = {&offsets, &columns, &values, &to, &rows};
    GPU_TRY(detail::launch_for_each(
        stream, kernels[static_cast<unsigned>(detail::product_kernel::diagonal)], count, pointers,
        where));
    return made;
  }

 private:
  static constexpr const char* create_name = "gpu::csr_matrix::create";

  csr_matrix(const operator_shape& shape, device_buffer<int> offsets, device_buffer<int> columns,
             device_buffer<T> values, device_buffer<detail::sparse_tile> tiles,
             device_buffer<detail::sparse_long_row> long_rows, int partials,
             int longest_row) noexcept
      : shape_{shape},
        offsets_{std::move(offsets)},
        columns_{std::move(columns)},
        values_{std::move(values)},
        tiles_{std::move(tiles)},
        long_rows_{std::move(long_rows)},
        partials_{partials},
        longest_row_{longest_row} {}

  static result<> check_sizes(const char* function, const stream_ref& stream,
                              const operator_shape& shape, const detail::named_elements& offsets,
                              const detail::named_elements& columns,
                              const detail::named_elements& values, source_location where) {
    GPU_TRY(
        detail::require_sparse_source(function, stream, shape, offsets, columns, values, where));
    GPU_TRY(detail::require_same_count(function, columns, values, where));
    if (offsets.count() == shape.rows + 1) return {};
    detail::text_builder out;
    out << "offsets has " << offsets.count() << " elements, but the matrix has " << shape.rows
        << " rows. Pass " << shape.rows + 1
        << " offsets: where each row begins, and where the last one ends.";
    return detail::fail(detail::refusal(errc::size_mismatch, function, out.finish(), where,
                                        offsets.count(), shape.rows + 1));
  }

  static result<csr_matrix> check_and_divide(const char* function, const stream_ref& stream,
                                             const operator_shape& shape,
                                             device_buffer<int> offsets, device_buffer<int> columns,
                                             device_buffer<T> values, source_location where) {
    const device_span<const int> all = columns.span();
    const std::size_t wrong = GPU_TRY(detail::find_wrong_index(stream, all, shape.columns, where));
    if (wrong < all.size()) {
      int column = 0;
      GPU_TRY(
          detail::copy_to_host(stream, all.subspan(wrong).native(), &column, sizeof column, where));
      detail::text_builder out;
      out << "entry " << wrong << " is in column " << column << ", but the matrix has "
          << shape.columns << " columns. Indices begin at 0 and are below this number.";
      return detail::fail(
          detail::refusal(errc::index_out_of_range, function, out.finish(), where, wrong));
    }
    return divide(function, stream, shape, offsets, columns, values, where);
  }

  /// Makes the matrix of these arrays, whose rows it divides among blocks.
  static result<csr_matrix> divide(const char* function, const stream_ref& stream,
                                   const operator_shape& shape, device_buffer<int>& offsets,
                                   device_buffer<int>& columns, device_buffer<T>& values,
                                   source_location where) {
    return detail::catch_bad_alloc(function, where, [&]() -> result<csr_matrix> {
      sequence<int> begins(offsets.size());
      GPU_TRY(detail::copy_to_host(stream, offsets.native(), begins.data(),
                                   begins.size() * sizeof(int), where));
      GPU_TRY(detail::check_offsets(function, begins.data(), shape.rows, values.size(), where));
      const detail::sparse_tiles made =
          detail::divide_rows(begins.data(), static_cast<int>(shape.rows));
      auto tiles = GPU_TRY(detail::bring_new<detail::sparse_tile>(
          stream, detail::name_elements("tiles", made.tiles), where));
      auto long_rows = GPU_TRY(detail::bring_new<detail::sparse_long_row>(
          stream, detail::name_elements("long rows", made.long_rows), where));
      GPU_TRY(detail::find_product_kernels<T>(stream, where));
      return csr_matrix(shape, std::move(offsets), std::move(columns), std::move(values),
                        std::move(tiles), std::move(long_rows), made.partials, made.longest_row);
    });
  }

  result<> require_own(const char* function, const stream_ref& stream,
                       source_location where) const {
    return detail::require_usable(function, stream, detail::name_elements("the matrix", offsets_),
                                  where);
  }

  template <class X, class Y>
  result<> run(const stream_ref& stream, const T& alpha, X& x, const T& beta, Y& y,
               source_location where) const {
    constexpr const char* function = "gpu::csr_matrix::apply";
    static_assert(std::same_as<std::remove_const_t<detail::element_t<X>>, T> &&
                      std::same_as<detail::element_t<Y>, T>,
                  "gpu::csr_matrix: the vectors are of another type than the matrix, or `y` is "
                  "const");
    const detail::named_elements from = detail::name_elements("x", x);
    const detail::named_elements to = detail::name_elements("y", y);
    GPU_TRY(detail::require(stream, function, where));
    GPU_TRY(require_own(function, stream, where));
    GPU_TRY(detail::require_vectors(function, stream, shape_, from, to, where));
    GPU_TRY(detail::require_disjoint(function, from, to, where));
    const untyped_kernel* const kernels = GPU_TRY(detail::find_product_kernels<T>(stream, where));
    return detail::multiply(stream, kernels,
                            {.tiles = tiles_.native(),
                             .offsets = offsets_.native(),
                             .columns = columns_.native(),
                             .values = values_.native(),
                             .long_rows = long_rows_.native(),
                             .tile_count = tiles_.size() - 1,
                             .long_row_count = static_cast<int>(long_rows_.size()),
                             .partial_count = partials_,
                             .value_bytes = sizeof(T),
                             .x = from.memory.device_address(),
                             .y = to.memory.device_address(),
                             .alpha = &alpha,
                             .beta = &beta,
                             .scaled = !(alpha == T(1)),
                             .adds = !(beta == T(0))},
                            where);
  }

  operator_shape shape_;
  device_buffer<int> offsets_, columns_;
  device_buffer<T> values_;
  device_buffer<detail::sparse_tile> tiles_;
  device_buffer<detail::sparse_long_row> long_rows_;
  int partials_ = 0, longest_row_ = 0;
};

}}  // namespace gpu::v1
