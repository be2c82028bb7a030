#pragma once
/// \file
/// `cusparse_handle`: products of sparse matrices by cuSPARSE, which is opened when the first
/// handle is made.

#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/cublaslt_product.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/evaluate.hpp>  // IWYU pragma: keep
#include <gpu/array/view_axes.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_elements.hpp>
#include <gpu/libraries/cusparse_functions.hpp>
#include <gpu/libraries/library_calls.hpp>
#include <gpu/libraries/library_handle.hpp>
#include <gpu/libraries/require_libcuda.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/sparse/csr_matrix.hpp>
#include <gpu/sparse/linear_operator.hpp>
#include <gpu/system/library_table.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

/// The factors of a product, `c = alpha * a * b + beta * c`.
template <class T> struct cusparse_options {
  T alpha = T(1);
  T beta = T(0);  ///< if it is 0, `c` is not read
};

namespace detail {

/// How a dense matrix lies in memory: in which order, and how far its rows or columns are apart.
struct dense_layout {
  static constexpr int fortran = 1, c = 2;  // CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW
  int order = 0;                            ///< 0: neither
  std::int64_t leading = 0;
};

/// Returns the layout of a matrix; `preferred` if it has both orders.
constexpr dense_layout dense_layout_of(std::size_t rows, std::size_t columns, std::ptrdiff_t row,
                                       std::ptrdiff_t column, int preferred) noexcept {
  const auto fit = [](std::size_t lines, std::size_t length, std::ptrdiff_t line,
                      std::ptrdiff_t step) -> std::int64_t {
    const auto dense = static_cast<std::ptrdiff_t>(length == 0 ? 1 : length);
    if (length > 1 && step != 1) return 0;
    if (lines <= 1) return dense;
    return line >= dense ? line : 0;
  };
  const std::int64_t in_c = fit(rows, columns, row, column);
  const std::int64_t in_fortran = fit(columns, rows, column, row);
  if (in_c != 0 && (preferred == dense_layout::c || in_fortran == 0))
    return {dense_layout::c, in_c};
  if (in_fortran != 0) return {dense_layout::fortran, in_fortran};
  return {};
}

}  // namespace detail

/// Owns a handle of cuSPARSE, bound to a stream. Move-only; empty after a move.
///
///     auto sparse = GPU_TRY(gpu::cusparse_handle::create(stream));
///     GPU_TRY(sparse.matmul(matrix, x, y));                // y = A x
///     GPU_TRY(sparse.matmul(matrix, b, c, {.alpha = 2}));  // C = 2 A B
///
/// `csr_matrix::apply` multiplies with vectors without cuSPARSE, and its results have the same bits
/// everywhere. `native()` is a `cusparseHandle_t`, for all other functions of cuSPARSE, which the
/// program then links itself.
/// **Threads**: one thread at a time uses a handle; make one for each thread.
class cusparse_handle {
 public:
  /// Creates an empty object, to be assigned to.
  cusparse_handle() noexcept = default;

  /// Creates a handle that works on `stream`, which has to outlive its use. The first call of the
  /// process opens cuSPARSE: the file that GPU_CUSPARSE names, or else that of the toolkit, of the
  /// system or of NVIDIA's Python wheels. Takes milliseconds and some device memory, so keep it.
  /// **Errors**: `errc::no_library` without cuSPARSE, or on the CPU driver;
  /// `errc::library_too_old`; those of cuSPARSE; `errc::empty_handle`. **Capture**: not allowed.
  /// (cusparseCreate, cusparseSetStream)
  static result<cusparse_handle> create(
      const stream_ref& stream, source_location where = source_location::current()) noexcept {
    cusparse_handle made;
    GPU_TRY(detail::create_handle<detail::cusparse_library>(
        made.handle_, "gpu::cusparse_handle::create", stream, where));
    return made;
  }

  /// Returns the stream that the calls work on.
  stream_ref stream() const noexcept { return handle_.get().stream; }
  /// Returns the `cusparseHandle_t`.
  void* native() const noexcept { return handle_.get().native; }

  /// Writes `alpha * a * b + beta * c` to `c`: products of a sparse matrix with a vector, whose
  /// elements and those of `c` are neighbors, or with a dense matrix, in which the elements of a
  /// row or those of a column are neighbors, in `b` and in `c`. Nothing is copied.
  /// **Ordering**: queued on the handle's stream; does not wait. **Errors**: `errc::size_mismatch`
  /// with the shapes; `errc::invalid_argument` for other strides, and if `c` overlaps `b`;
  /// `errc::wrong_context`; `errc::empty_handle`; CUDA_ERROR_OUT_OF_MEMORY for the workspace; those
  /// of cuSPARSE. **Capture**: allowed; the workspace then belongs to the graph. (cusparseSpMV,
  /// cusparseSpMM)
  template <class T, detail::viewable B, detail::viewable C>
  result<> matmul(const csr_matrix<T>& a, B&& b, C&& c,
                  const detail::same_type<cusparse_options<T>>& options = {},
                  source_location where = source_location::current()) {
    constexpr const char* function = "gpu::cusparse_handle::matmul";
    constexpr int rank = detail::viewed_rank<B>;
    static_assert((rank == 1 || rank == 2) && detail::viewed_rank<C> == rank,
                  "gpu::cusparse_handle::matmul: `b` and `c` are two vectors or two matrices");
    static_assert(
        std::same_as<detail::value_of_view<B>, T> && std::same_as<detail::viewed_element_t<C>, T>,
        "gpu::cusparse_handle::matmul: `b` and `c` are of the type of the matrix, and "
        "`c` is not const");
    const array_view<const T, rank> from = detail::array_view_of(static_cast<B&&>(b));
    const array_view<T, rank> to = detail::array_view_of(static_cast<C&&>(c));
    GPU_TRY(require_handle(function, where));
    if (a.row_offsets().empty()) return detail::refuse_empty_handle(function, "csr_matrix", where);
    GPU_TRY(detail::require_operand(function, stream(), "b", from, b, where));
    GPU_TRY(detail::require_operand(function, stream(), "c", to, c, where));
    shape<rank> fitting = from.shape(), expected = from.shape();
    fitting[0] = a.shape().columns;
    expected[0] = a.shape().rows;
    if (from.shape() != fitting || to.shape() != expected) {
      return refuse_extents(function, a.shape(), detail::make_operand(from),
                            detail::make_operand(to), where);
    }
    if (detail::overlap(detail::make_operand(to), sizeof(T), detail::make_operand(from),
                        sizeof(T))) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, function,
          text("c overlaps b in memory, so elements would be overwritten before they are read. "
               "Pass memory that does not overlap."),
          where));
    }
    if (to.size() == 0) return {};
    const bool adds = !(options.beta == T(0));
    if (a.entries() == 0) {
      return adds ? gpu::assign(stream(), to, options.beta * to, where)
                  : gpu::assign(stream(), to, T(0), where);
    }
    const csr_operand matrix{a.shape(),
                             a.entries(),
                             address(a.row_offsets()),
                             address(a.column_indices()),
                             address(a.values()),
                             detail::blas_type_of<T>().element};
    if constexpr (rank == 1) {
      if (!from.is_contiguous() || !to.is_contiguous()) return refuse_strides(function, where);
      return multiply_vector(matrix, address(from), address(to), &options.alpha, &options.beta,
                             where);
    } else {
      const auto layout_of = [](const auto& view, int preferred) {
        return detail::dense_layout_of(view.extent(0), view.extent(1), view.stride(0),
                                       view.stride(1), preferred);
      };
      const detail::dense_layout out = layout_of(to, detail::dense_layout::c);
      const detail::dense_layout in = layout_of(from, out.order);
      if (out.order == 0 || in.order == 0) return refuse_strides(function, where);
      return multiply_dense(matrix, to.extent(1), address(from), in, address(to), out,
                            &options.alpha, &options.beta, where);
    }
  }

 private:
  struct csr_operand {
    operator_shape shape;
    std::size_t entries;
    void *offsets, *columns, *values;
    int type;
  };
  static constexpr int as_is = 0, transposed = 1, default_algorithm = 0;

  template <class V> static void* address(const V& memory) noexcept {
    return detail::to_pointer(memory.native());
  }

  result<> require_handle(const char* function, source_location where) const noexcept {
    if (handle_) return {};
    return detail::refuse_empty_handle(function, "cusparse_handle", where);
  }

  static result<> refuse_extents(const char* function, const operator_shape& a,
                                 const detail::loop_operand& b, const detail::loop_operand& c,
                                 source_location where) noexcept {
    detail::text_builder out;
    out << "the sparse matrix is " << a.rows << " x " << a.columns << ", but b has the shape ";
    detail::write_shape(out, b);
    out << " and c has ";
    detail::write_shape(out, c);
    out << ". Pass a b with an element, or a row, for each of its columns, and a c with one for "
           "each of its rows.";
    return detail::fail(detail::refusal(errc::size_mismatch, function, out.finish(), where));
  }

  static result<> refuse_strides(const char* function, source_location where) noexcept {
    return detail::fail(detail::refusal(
        errc::invalid_argument, function,
        text("cuSPARSE does not take these strides: the elements of a vector, and in each matrix "
             "those of a row or those of a column, have to be neighbors in memory, and rows and "
             "columns must not overlap. Copy the view to an array."),
        where));
  }

  static result<> describe(detail::cusparse_csr& made, const csr_operand& a,
                           source_location where) noexcept {
    constexpr int index_32 = 2, from_zero = 0;
    return detail::library_call<&detail::cusparse_functions::create_csr>(
        where, made.put(), static_cast<std::int64_t>(a.shape.rows),
        static_cast<std::int64_t>(a.shape.columns), static_cast<std::int64_t>(a.entries), a.offsets,
        a.columns, a.values, index_32, index_32, from_zero, a.type);
  }

  /// Calls a product, which `Size` asks for the size of its workspace.
  template <auto Size, auto Multiply, class... Arguments>
  result<> run(source_location where, Arguments... arguments) noexcept {
    std::size_t bytes = 0;
    GPU_TRY(detail::library_call<Size>(where, native(), arguments..., &bytes));
    const auto workspace =
        GPU_TRY(device_buffer<unsigned char>::create(stream(), bytes == 0 ? 1 : bytes, where));
    return detail::library_call<Multiply>(where, native(), arguments..., address(workspace));
  }

  result<> multiply_vector(const csr_operand& a, void* x, void* y, const void* alpha,
                           const void* beta, source_location where) noexcept {
    return driver::in_context(stream().context().native(), where, [&]() -> result<> {
      using functions = detail::cusparse_functions;
      detail::cusparse_csr matrix;
      detail::cusparse_vector from, to;
      GPU_TRY(describe(matrix, a, where));
      GPU_TRY(detail::library_call<&functions::create_vector>(
          where, from.put(), static_cast<std::int64_t>(a.shape.columns), x, a.type));
      GPU_TRY(detail::library_call<&functions::create_vector>(
          where, to.put(), static_cast<std::int64_t>(a.shape.rows), y, a.type));
      return run<&functions::vector_workspace, &functions::multiply_vector>(
          where, int{as_is}, alpha, matrix.get(), from.get(), beta, to.get(), a.type,
          int{default_algorithm});
    });
  }

  /// Both dense matrices are described in the order of the second: the first is the transpose of
  /// one in that order, if its own is the other.
  result<> multiply_dense(const csr_operand& a, std::size_t columns, void* b,
                          const detail::dense_layout& in, void* c, const detail::dense_layout& out,
                          const void* alpha, const void* beta, source_location where) noexcept {
    return driver::in_context(stream().context().native(), where, [&]() -> result<> {
      using functions = detail::cusparse_functions;
      detail::cusparse_csr matrix;
      detail::cusparse_dense from, to;
      const bool turned = in.order != out.order;
      const auto inner = static_cast<std::int64_t>(a.shape.columns);
      const auto width = static_cast<std::int64_t>(columns);
      GPU_TRY(describe(matrix, a, where));
      GPU_TRY(detail::library_call<&functions::create_dense>(
          where, from.put(), turned ? width : inner, turned ? inner : width, in.leading, b, a.type,
          out.order));
      GPU_TRY(detail::library_call<&functions::create_dense>(
          where, to.put(), static_cast<std::int64_t>(a.shape.rows), width, out.leading, c, a.type,
          out.order));
      return run<&functions::dense_workspace, &functions::multiply_dense>(
          where, int{as_is}, turned ? transposed : as_is, alpha, matrix.get(), from.get(), beta,
          to.get(), a.type, int{default_algorithm});
    });
  }

  detail::library_handle<detail::cusparse_library> handle_;
};

/// Returns whether there is a cuSPARSE that this program can use. Opens it on first use.
inline bool has_cusparse() noexcept {
  return detail::require_libcuda<detail::cusparse_library>("gpu::has_cusparse", {}).has_value() &&
         detail::library_table<detail::cusparse_library>().create != nullptr;
}

}}  // namespace gpu::v1
