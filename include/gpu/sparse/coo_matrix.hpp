#pragma once
/// \file
/// `coo_matrix`: a sparse matrix as sorted triplets of row, column and value.

#include <gpu/algorithm/reduce_by_key.hpp>
#include <gpu/algorithm/sort.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/sparse/detail/sparse_build.hpp>
#include <gpu/sparse/detail/sparse_kernel.hpp>
#include <gpu/sparse/linear_operator.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

template <class T> class csr_matrix;

/// Owns a sparse matrix in coordinate format: for each entry its row, its column and its value, in
/// device memory. Entries are sorted by row and by column within a row, and no two are at one
/// place. It is what triplets become first, and what other libraries take; products are computed by
/// a `csr_matrix`, which reads fewer bytes:
///
///     auto entries = GPU_TRY(gpu::coo_matrix<float>::create(stream, {3, 3}, rows, columns,
///     values)); auto matrix = GPU_TRY(gpu::csr_matrix<float>::create(stream, std::move(entries)));
///
/// `T` is float, double, `std::complex<float>` or `std::complex<double>`. Move-only; empty after a
/// move. The memory is freed in the order of the stream on which the matrix was made.
template <class T> class coo_matrix {
  static_assert(detail::is_sparse_value<T>(),
                "gpu::coo_matrix: the values are float, double, or std::complex of these");

 public:
  /// Creates an empty object, to be assigned to.
  coo_matrix() noexcept = default;

  using value_type = T;

  /// Makes a matrix from triplets in any order: of entry i the row is `rows[i]`, the column
  /// `columns[i]` and the value `values[i]`. Rows and columns are of type `int`. Values at one
  /// place are summed, with the same bits in every run. Each of the three is a range in host or in
  /// device memory, and is left as it is.
  /// **Ordering**: after the work queued on the stream; waits for the number of entries.
  /// **Errors**: `errc::index_out_of_range` with the first triplet that is outside of the matrix;
  /// `errc::size_mismatch`; `errc::invalid_argument` for more than 2^31 - 1 rows, columns or
  /// triplets; `errc::wrong_context`; `errc::empty_handle`; `errc::capture_prohibited`;
  /// CUDA_ERROR_OUT_OF_MEMORY; those of `compile`.
  /// **Cost**: a sort of the triplets on the device, and about three times their memory meanwhile.
  /// **Threads**: any number.
  template <class Rows, class Columns, class Values>
  static result<coo_matrix> create(const stream_ref& stream, operator_shape shape, Rows&& rows,
                                   Columns&& columns, Values&& values,
                                   source_location where = source_location::current()) {
    detail::check_sparse_sources<T, Rows, Columns, Values>();
    constexpr const char* function = "gpu::coo_matrix::create";
    const detail::named_elements from_rows = detail::name_elements("rows", rows);
    const detail::named_elements from_columns = detail::name_elements("columns", columns);
    const detail::named_elements from_values = detail::name_elements("values", values);
    GPU_TRY(detail::require_same_count(function, from_rows, from_columns, where));
    GPU_TRY(detail::require_same_count(function, from_rows, from_values, where));
    const bool on_host = !from_rows.memory.on_device && !from_columns.memory.on_device;
    GPU_TRY(detail::require_sparse_source(function, stream, shape, from_rows, from_columns,
                                          from_values, where));
    if (on_host) {
      GPU_TRY(detail::check_host_triplets(
          function, shape, static_cast<const int*>(from_rows.memory.host_address()),
          static_cast<const int*>(from_columns.memory.host_address()), from_rows.count(), where));
    }
    const std::size_t count = from_rows.count();
    auto keys = GPU_TRY(device_buffer<unsigned long long>::create(stream, count, where));
    {
      auto all_rows = GPU_TRY(detail::bring_new<int>(stream, from_rows, where));
      auto all_columns = GPU_TRY(detail::bring_new<int>(stream, from_columns, where));
      if (!on_host) {
        GPU_TRY(
            detail::check_device_triplets(function, stream, shape, all_rows, all_columns, where));
      }
      CUdeviceptr row = all_rows.native(), column = all_columns.native(), key = keys.native();
      auto triplets = static_cast<long long>(count);
      void* pointers[] = {&row, &column, &triplets, &key};
      GPU_TRY(
          detail::launch_structure(stream, detail::structure_kernel::keys, count, pointers, where));
    }
    auto sorted = GPU_TRY(detail::bring_new<T>(stream, from_values, where));
    GPU_TRY(sort_pairs(stream, keys, sorted, sort_order::ascending, where));
    auto places = GPU_TRY(device_buffer<unsigned long long>::create(stream, count, where));
    auto sums = GPU_TRY(device_buffer<T>::create(stream, count, where));
    const std::size_t entries =
        GPU_TRY(reduce_by_key(stream, keys, sorted, places, sums, "a + b", where));
    if (entries != count) {
      auto fewer = GPU_TRY(device_buffer<T>::create(stream, entries, where));
      GPU_TRY(copy(stream, sums.span().first(entries), fewer, where));
      sums = std::move(fewer);
    }
    auto final_rows = GPU_TRY(device_buffer<int>::create(stream, entries, where));
    auto final_columns = GPU_TRY(device_buffer<int>::create(stream, entries, where));
    CUdeviceptr place = places.native(), row = final_rows.native(), column = final_columns.native();
    auto kept = static_cast<long long>(entries);
    void* pointers[] = {&place, &kept, &row, &column};
    GPU_TRY(detail::launch_structure(stream, detail::structure_kernel::split, entries, pointers,
                                     where));
    return coo_matrix(shape, std::move(final_rows), std::move(final_columns), std::move(sums));
  }

  operator_shape shape() const noexcept { return shape_; }
  /// Returns the number of entries.
  std::size_t entries() const noexcept { return values_.size(); }

  /// Returns the row, the column and the value of each entry. Values may be changed.
  device_span<const int> row_indices() const& noexcept { return rows_.span(); }
  device_span<const int> column_indices() const& noexcept { return columns_.span(); }
  device_span<const T> values() const& noexcept { return values_.span(); }
  device_span<T> values() & noexcept { return values_.span(); }

 private:
  friend class csr_matrix<T>;
  coo_matrix(const operator_shape& shape, device_buffer<int> rows, device_buffer<int> columns,
             device_buffer<T> values) noexcept
      : shape_{shape},
        rows_{std::move(rows)},
        columns_{std::move(columns)},
        values_{std::move(values)} {}

  operator_shape shape_;
  device_buffer<int> rows_, columns_;
  device_buffer<T> values_;
};

}}  // namespace gpu::v1
