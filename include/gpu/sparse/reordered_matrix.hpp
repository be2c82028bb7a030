#pragma once
/// \file
/// `reordered_matrix`: a sparse matrix whose rows and columns are in an order that keeps neighbors
/// close.

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/sparse/csr_matrix.hpp>
#include <gpu/sparse/detail/breadth_first_order.hpp>
#include <gpu/sparse/detail/sparse_build.hpp>
#include <gpu/sparse/linear_operator.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// Owns a square sparse matrix whose rows and columns were brought into breadth-first order, so
/// that entries are close to the diagonal and a block reads neighboring elements of the vector.
/// That is worth it for structures in random order, such as meshes as a program generates them:
///
///     auto ordered = GPU_TRY(gpu::reordered_matrix<float>::create(stream, matrix));
///     GPU_TRY(ordered.permute(stream, b, permuted_b));        // into the new order
///     GPU_TRY(gpu::solve(stream, ordered, permuted_b, permuted_x));
///     GPU_TRY(ordered.unpermute(stream, permuted_x, x));      // and back
///
/// A `linear_operator` in the new order. Move-only; empty after a move. The memory is freed in the
/// order of the stream on which the matrix was made. **Threads**: any number may apply one matrix.
template <class T> class reordered_matrix {
 public:
  /// Creates an empty object, to be assigned to.
  reordered_matrix() noexcept = default;

  using value_type = T;

  /// Copies a matrix into the new order. The structure should be symmetric; if it is not, the order
  /// is valid, but brings less.
  /// **Ordering**: after the work queued on the stream; waits.
  /// **Errors**: `errc::invalid_argument` for a matrix that is not square;
  /// `errc::out_of_host_memory`; those of `csr_matrix::create`.
  /// **Cost**: copies the matrix to the host and back; the order takes time there in proportion to
  /// the number of entries.
  static result<reordered_matrix> create(const stream_ref& stream, const csr_matrix<T>& matrix,
                                         source_location where = source_location::current()) {
    constexpr const char* function = "gpu::reordered_matrix::create";
    GPU_TRY(detail::require(stream, function, where));
    const operator_shape shape = matrix.shape();
    if (shape.rows != shape.columns) {
      detail::text_builder out;
      out << "the matrix is " << shape.rows << " x " << shape.columns
          << ", but one order of rows and columns needs a square matrix.";
      return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where));
    }
    GPU_TRY(detail::require_usable(function, stream, name_offsets(matrix), where));
    GPU_TRY(detail::require_no_capture(stream, function,
                                       "Make the matrix before the capture begins.", where));
    return detail::catch_bad_alloc(function, where, [&]() -> result<reordered_matrix> {
      const std::size_t rows = shape.rows, entries = matrix.entries();
      sequence<int> offsets(rows + 1), columns(entries);
      sequence<T> values(entries);
      GPU_TRY(read(stream, matrix.row_offsets(), offsets, where));
      GPU_TRY(read(stream, matrix.column_indices(), columns, where));
      GPU_TRY(read(stream, matrix.values(), values, where));
      const sequence<int> order =
          detail::breadth_first_order({offsets.data(), columns.data(), static_cast<int>(rows)});
      sequence<int> places(rows), new_offsets, new_columns;
      sequence<T> new_values;
      for (std::size_t k = 0; k < rows; ++k)
        places[static_cast<std::size_t>(order[k])] = static_cast<int>(k);
      new_offsets.reserve(rows + 1);
      new_columns.reserve(entries);
      new_values.reserve(entries);
      new_offsets.push_back(0);
      for (const int row : order) {
        const auto from = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
        const auto end = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row) + 1]);
        for (std::size_t at = from; at < end; ++at) {
          new_columns.push_back(places[static_cast<std::size_t>(columns[at])]);
          new_values.push_back(values[at]);
        }
        new_offsets.push_back(static_cast<int>(new_columns.size()));
      }
      auto gather = GPU_TRY((gather_kernel::create("order, x, y", "y[i] = x[order[i]]",
                                                   {.name = "gpu_permute"}, where)));
      auto scatter = GPU_TRY((scatter_kernel::create("order, x, y", "y[order[i]] = x[i]",
                                                     {.name = "gpu_unpermute"}, where)));
      return reordered_matrix(
          GPU_TRY(
              csr_matrix<T>::create(stream, shape, new_offsets, new_columns, new_values, where)),
          GPU_TRY(detail::bring_new<int>(stream, detail::name_elements("order", order), where)),
          std::move(gather), std::move(scatter));
    });
  }

  operator_shape shape() const noexcept { return matrix_.shape(); }
  /// Returns the matrix in the new order, and the original row of each of its rows.
  const csr_matrix<T>& matrix() const& noexcept { return matrix_; }
  device_span<const int> order() const& noexcept { return order_.span(); }

  /// Stores the product with `x` in `y`, both in the new order. As `csr_matrix::apply`.
  template <device_range X, device_range Y>
  result<> apply(const stream_ref& stream, X&& x, Y&& y,
                 source_location where = source_location::current()) const {
    return matrix_.apply(stream, x, y, where);
  }

  /// Brings a vector into the new order: y[k] = x[order()[k]].
  /// **Ordering**: after the work queued on the stream; does not wait.
  /// **Errors**: `errc::size_mismatch`; `errc::invalid_argument` for vectors that overlap;
  /// `errc::wrong_context`; `errc::empty_handle`. **Capture**: allowed.
  template <device_range X, device_range Y>
  result<> permute(const stream_ref& stream, X&& x, Y&& y,
                   source_location where = source_location::current()) const {
    GPU_TRY(check("gpu::reordered_matrix::permute", stream, x, y, where));
    return gather_({stream, where}, order_, device_span_of(x), device_span_of(y));
  }
  /// Brings a vector back into the original order: y[order()[k]] = x[k]. Otherwise as above.
  template <device_range X, device_range Y>
  result<> unpermute(const stream_ref& stream, X&& x, Y&& y,
                     source_location where = source_location::current()) const {
    GPU_TRY(check("gpu::reordered_matrix::unpermute", stream, x, y, where));
    return scatter_({stream, where}, order_, device_span_of(x), device_span_of(y));
  }

 private:
  using gather_kernel = elementwise<const int*, raw<const T*>, T*>;
  using scatter_kernel = elementwise<const int*, const T*, raw<T*>>;

  reordered_matrix(csr_matrix<T> matrix, device_buffer<int> order, gather_kernel gather,
                   scatter_kernel scatter) noexcept
      : matrix_{std::move(matrix)},
        order_{std::move(order)},
        gather_{std::move(gather)},
        scatter_{std::move(scatter)} {}

  static detail::named_elements name_offsets(const csr_matrix<T>& matrix) noexcept {
    const device_span<const int> offsets = matrix.row_offsets();
    return detail::name_elements("the matrix", offsets);
  }

  template <class E>
  static result<> read(const stream_ref& stream, device_span<const E> from, sequence<E>& to,
                       source_location where) {
    if (from.empty()) return {};
    return detail::copy_to_host(stream, from.native(), to.data(), to.size() * sizeof(E), where);
  }

  template <class X, class Y>
  result<> check(const char* function, const stream_ref& stream, X& x, Y& y,
                 source_location where) const {
    static_assert(std::same_as<std::remove_const_t<detail::element_t<X>>, T> &&
                      std::same_as<detail::element_t<Y>, T>,
                  "gpu::reordered_matrix: the vectors are of another type than the matrix, or `y` "
                  "is const");
    const detail::named_elements from = detail::name_elements("x", x);
    const detail::named_elements to = detail::name_elements("y", y);
    GPU_TRY(detail::require(stream, function, where));
    GPU_TRY(detail::require_usable(function, stream, detail::name_elements("the matrix", order_),
                                   where));
    GPU_TRY(detail::require_vectors(function, stream, shape(), from, to, where));
    return detail::require_disjoint(function, from, to, where);
  }

  csr_matrix<T> matrix_;
  device_buffer<int> order_;
  gather_kernel gather_;
  scatter_kernel scatter_;
};

}}  // namespace gpu::v1
