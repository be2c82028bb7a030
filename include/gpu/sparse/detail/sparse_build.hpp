#pragma once
/// \file
/// Checks and copies what sparse matrices are made from.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/ranges.hpp>
#include <gpu/sparse/detail/sparse_kernel.hpp>
#include <gpu/sparse/linear_operator.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// The largest number of rows, of columns and of entries.
inline constexpr std::size_t most_sparse = 0x7fff'ffff;

template <class T> constexpr bool is_sparse_value() noexcept {
  constexpr string_ref name = element_type_of<T>().name;
  return name == string_ref("float") || name == string_ref("double") ||
         name == string_ref("gpu::complex<float>") || name == string_ref("gpu::complex<double>");
}

/// Checks the types of what a matrix is made from.
template <class T, class Indices, class MoreIndices, class Values>
constexpr void check_sparse_sources() noexcept {
  constexpr auto is_source = []<class R>() { return host_range<R> || device_range<R>; };
  static_assert(is_source.template operator()<Indices>() &&
                    is_source.template operator()<MoreIndices>() &&
                    is_source.template operator()<Values>(),
                "a sparse matrix is made from contiguous ranges in host or device memory");
  static_assert(std::same_as<std::remove_const_t<element_t<Indices>>, int> &&
                    std::same_as<std::remove_const_t<element_t<MoreIndices>>, int>,
                "the indices of a sparse matrix are of type int");
  static_assert(std::same_as<std::remove_const_t<element_t<Values>>, T>,
                "the values are of another type than the matrix");
}

/// Fails with `errc::invalid_argument` for more rows, columns or entries than 32 bits count.
inline result<> require_sparse_size(const char* function, const char* what, std::size_t count,
                                    source_location where) noexcept {
  if (count <= most_sparse) return {};
  text_builder out;
  out << "the matrix would have " << count << ' ' << what << ", but indices have 32 bits, so "
      << most_sparse << " are possible. Divide the matrix into blocks of rows or columns.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, count, most_sparse));
}

/// Checks what a matrix is made from before anything is allocated.
inline result<> require_sparse_source(const char* function, const stream_ref& stream,
                                      const operator_shape& shape, const named_elements& indices,
                                      const named_elements& more, const named_elements& values,
                                      source_location where) noexcept {
  GPU_TRY(require(stream, function, where));
  for (const named_elements* each : {&indices, &more, &values})
    GPU_TRY(require_usable(function, stream, *each, where));
  GPU_TRY(require_sparse_size(function, "rows", shape.rows, where));
  GPU_TRY(require_sparse_size(function, "columns", shape.columns, where));
  GPU_TRY(require_sparse_size(function, "entries", values.count(), where));
  return require_no_capture(stream, function, "Make the matrix before the capture begins.", where);
}

/// Copies elements of the host or of a device to device memory. Those of the host have arrived when
/// this returns.
inline result<> bring(const stream_ref& stream, const named_elements& from, CUdeviceptr to,
                      source_location where) noexcept {
  copy_end destination;
  destination.address = static_cast<std::uintptr_t>(to);
  destination.count = from.count();
  destination.on_device = true;
  destination.context = stream.context();
  if (from.count() == 0) return {};
  if (from.memory.on_device)
    return copy_on(stream, from.memory, destination, from.element_bytes, where);
  return copy_now(from.memory, destination, from.element_bytes, where);
}

/// Copies elements of any range to a new buffer.
template <class T>
result<device_buffer<T>> bring_new(const stream_ref& stream, const named_elements& from,
                                   source_location where) noexcept {
  device_buffer<T> made = GPU_TRY(device_buffer<T>::create(stream, from.count(), where));
  GPU_TRY(bring(stream, from, made.native(), where));
  return made;
}

/// Returns the first of these indices, in device memory, that is not below `extent`, or their
/// number if all are. Waits.
inline result<std::size_t> find_wrong_index(const stream_ref& stream,
                                            device_span<const int> indices, std::size_t extent,
                                            source_location where) {
  if (indices.empty()) return std::size_t{0};
  const device_buffer<unsigned char> memory = GPU_TRY(allocate_workspace(stream, 8, where));
  CUdeviceptr first = indices.native(), found = memory.span().native();
  copy_end bytes;
  bytes.address = static_cast<std::uintptr_t>(found);
  bytes.count = 8;
  bytes.on_device = true;
  GPU_TRY(fill_on(stream, bytes, 0xff, 1, where));
  auto count = static_cast<long long>(indices.size());
  int end = static_cast<int>(extent);
  void* pointers[] = {&first, &count, &end, &found};
  GPU_TRY(launch_structure(stream, structure_kernel::check, indices.size(), pointers, where));
  unsigned long long wrong = 0;
  GPU_TRY(copy_to_host(stream, found, &wrong, sizeof wrong, where));
  return wrong < indices.size() ? static_cast<std::size_t>(wrong) : indices.size();
}

inline unexpected<cuda_error> refuse_triplet(const char* function, std::size_t triplet, int row,
                                             int column, const operator_shape& shape,
                                             source_location where) noexcept {
  text_builder out;
  out << "triplet " << triplet << " is at row " << row << ", column " << column
      << ", but the matrix has " << shape.rows << " rows and " << shape.columns
      << " columns. Indices begin at 0 and are below these numbers.";
  return fail(refusal(errc::index_out_of_range, function, out.finish(), where, triplet));
}

/// Checks triplets in host memory.
inline result<> check_host_triplets(const char* function, const operator_shape& shape,
                                    const int* rows, const int* columns, std::size_t count,
                                    source_location where) noexcept {
  const auto most_rows = static_cast<unsigned>(shape.rows);
  const auto most_columns = static_cast<unsigned>(shape.columns);
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<unsigned>(rows[i]) < most_rows &&
        static_cast<unsigned>(columns[i]) < most_columns)
      continue;
    return refuse_triplet(function, i, rows[i], columns[i], shape, where);
  }
  return {};
}

/// Checks triplets in device memory, and waits.
inline result<> check_device_triplets(const char* function, const stream_ref& stream,
                                      const operator_shape& shape, device_span<const int> rows,
                                      device_span<const int> columns, source_location where) {
  const std::size_t row = GPU_TRY(find_wrong_index(stream, rows, shape.rows, where));
  const std::size_t column = GPU_TRY(find_wrong_index(stream, columns, shape.columns, where));
  const std::size_t first = row < column ? row : column;
  if (first == rows.size()) return {};
  int at[2] = {};
  GPU_TRY(copy_to_host(stream, rows.subspan(first).native(), &at[0], sizeof(int), where));
  GPU_TRY(copy_to_host(stream, columns.subspan(first).native(), &at[1], sizeof(int), where));
  return refuse_triplet(function, first, at[0], at[1], shape, where);
}

/// Checks where rows begin, read from the device.
inline result<> check_offsets(const char* function, const int* offsets, std::size_t rows,
                              std::size_t entries, source_location where) noexcept {
  text_builder out;
  if (offsets[0] != 0) {
    out << "the first row begins at entry " << offsets[0] << ". offsets[0] must be 0.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where));
  }
  for (std::size_t row = 0; row < rows; ++row) {
    if (offsets[row] <= offsets[row + 1]) continue;
    out << "row " << row << " begins at entry " << offsets[row] << " and ends at "
        << offsets[row + 1] << ". Offsets must not decrease.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, row));
  }
  if (static_cast<std::size_t>(offsets[rows]) == entries) return {};
  out << "the last row ends at entry " << offsets[rows] << ", but there are " << entries
      << " values. The last offset must be the number of entries.";
  return fail(refusal(errc::size_mismatch, function, out.finish(), where, entries));
}

}}}  // namespace gpu::v1::detail
