#pragma once
/// \file
/// `cusolver_handle`: least squares and eigenvalues of symmetric matrices by cuSOLVER, which is
/// opened when the first handle is made.

#include <gpu/array/array.hpp>
#include <gpu/array/detail/fetch.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/interop/cublas.hpp>
#include <gpu/libraries/cusolver_functions.hpp>
#include <gpu/libraries/library_handle.hpp>
#include <gpu/libraries/require_libcuda.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/system/library_table.hpp>

#include <cuda.h>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace gpu { inline namespace v1 {

/// The eigenvalues of a matrix, in ascending order, and its eigenvectors: column `j` of `vectors`
/// belongs to `values(j)` and has the length 1. `vectors` is in Fortran order.
template <class T> struct eigen_decomposition {
  array<typename detail::cusolver_calls<T>::real, 1> values;
  array<T, 2> vectors;
};

/// Owns a handle of cuSOLVER, and one of cuBLAS, bound to a stream. Move-only; empty after a move.
///
///     auto solver = GPU_TRY(gpu::cusolver_handle::create(stream));
///     auto x = GPU_TRY(solver.least_squares(a, b));       // minimizes |a x - b|
///     auto [values, vectors] = GPU_TRY(solver.eigenvectors(symmetric));
///
/// Elements are float, double, or `std::complex` of one of them; operands may have any strides, and
/// are not changed: cuSOLVER works on copies in Fortran order. `native()` is a
/// `cusolverDnHandle_t`, for all other functions of cuSOLVER, which the program then links itself.
/// **Threads**: one thread at a time uses a handle; make one for each thread.
class cusolver_handle {
 public:
  /// Creates an empty object, to be assigned to.
  cusolver_handle() noexcept = default;

  /// Creates a handle that works on `stream`, which has to outlive its use. The first call of the
  /// process opens cuSOLVER: the file that GPU_CUSOLVER names, or else that of the toolkit, of the
  /// system or of NVIDIA's Python wheels; and cuBLAS. Takes milliseconds and some device memory, so
  /// keep it.
  /// **Errors**: `errc::no_library` without cuSOLVER or cuBLAS, or on the CPU driver;
  /// `errc::library_too_old`; those of both; `errc::empty_handle`. **Capture**: not allowed.
  /// (cusolverDnCreate, cusolverDnSetStream)
  static result<cusolver_handle> create(
      const stream_ref& stream, source_location where = source_location::current()) noexcept {
    cusolver_handle made;
    GPU_TRY(detail::create_handle<detail::cusolver_library>(
        made.handle_, "gpu::cusolver_handle::create", stream, where));
    made.blas_ = GPU_TRY(cublas_handle::create(stream, where));
    return made;
  }

  /// Returns the stream that the calls work on.
  stream_ref stream() const noexcept { return handle_.get().stream; }
  /// Returns the `cusolverDnHandle_t`.
  void* native() const noexcept { return handle_.get().native; }

  /// Returns the `x` for which the sum of the squares of `a x - b` is least, by a QR factorization.
  /// `a` has the shape (m, n) with m >= n; `b` has m elements or the shape (m, k), and `x` then n
  /// elements or the shape (n, k). `a` has to have full rank: an element on the diagonal of R that
  /// is at most m times the type's epsilon times the largest one is taken for 0.
  /// **Ordering**: after the work queued on the stream; waits, since the factorization is checked.
  /// **Errors**: `errc::size_mismatch` with the shapes; `errc::invalid_argument` with the column
  /// that depends on those before it; `errc::wrong_context`; `errc::empty_handle`;
  /// CUDA_ERROR_OUT_OF_MEMORY; those of cuSOLVER and cuBLAS. **Cost**: copies of both operands.
  /// **Capture**: not allowed. (cusolverDnSgeqrf, cusolverDnSormqr, cublasStrsm, ...)
  template <detail::viewable A, detail::viewable B>
  auto least_squares(A&& a, B&& b, source_location where = source_location::current())
      -> result<array<detail::value_of_view<A>, detail::viewed_rank<B>>> {
    constexpr const char* function = "gpu::cusolver_handle::least_squares";
    using T = detail::value_of_view<A>;
    constexpr int rank = detail::viewed_rank<B>;
    check_element<T>();
    static_assert(detail::viewed_rank<A> == 2 && (rank == 1 || rank == 2),
                  "gpu::cusolver_handle::least_squares: `a` is a matrix, `b` a vector or a matrix");
    static_assert(std::same_as<detail::value_of_view<B>, T>,
                  "gpu::cusolver_handle::least_squares: `b` has the type of `a`");
    const array_view<const T, 2> matrix = detail::array_view_of(static_cast<A&&>(a));
    const array_view<const T, rank> right = detail::array_view_of(static_cast<B&&>(b));
    GPU_TRY(require_handle(function, where));
    GPU_TRY(detail::require_operand(function, stream(), "a", matrix, a, where));
    GPU_TRY(detail::require_operand(function, stream(), "b", right, b, where));
    GPU_TRY(detail::require_waiting(function, stream(), where));
    const std::size_t m = matrix.extent(0), n = matrix.extent(1);
    if (right.extent(0) != m) {
      return detail::refuse_shapes(
          function, "solve with", detail::make_operand(matrix), detail::make_operand(right),
          "Pass a `b` with an element, or a row, for each row of `a`.", where);
    }
    if (m < n) {
      detail::text_builder out;
      out << "a has " << m << " rows and " << n
          << " columns, so many x fit. Pass at least as many rows as columns.";
      return detail::fail(
          detail::refusal(errc::size_mismatch, function, out.finish(), where, m, n));
    }
    shape<rank> extents = right.shape();
    extents[0] = n;
    if (extents.size() == 0) return gpu::empty<T>(stream(), extents, where);
    GPU_TRY(detail::require_int_extent(function, m, where));
    GPU_TRY(detail::require_int_extent(function, extents.size() / n, where));
    auto qr = GPU_TRY((gpu::empty<T>(stream(), matrix.shape(), axis_order::fortran, where)));
    auto solved = GPU_TRY((gpu::empty<T>(stream(), right.shape(), axis_order::fortran, where)));
    GPU_TRY(gpu::assign(stream(), qr, matrix, where));
    GPU_TRY(gpu::assign(stream(), solved, right, where));
    GPU_TRY((factorize<T>(function, qr, solved.native(), extents.size() / n, where)));
    if constexpr (rank == 1) {
      return gpu::evaluate(stream(), solved.view()(slice(0, static_cast<std::ptrdiff_t>(n))),
                           where);
    } else {
      return gpu::evaluate(
          stream(), solved.view()(slice(0, static_cast<std::ptrdiff_t>(n)), gpu::all()), where);
    }
  }

  /// Returns the eigenvalues of a symmetric or Hermitian matrix, in ascending order. As NumPy's
  /// `eigvalsh`, reads its diagonal and what is below.
  /// **Ordering**: after the work queued on the stream; waits, since convergence is checked.
  /// **Errors**: `errc::size_mismatch` unless the matrix is square; `errc::not_converged`;
  /// `errc::wrong_context`; `errc::empty_handle`; CUDA_ERROR_OUT_OF_MEMORY; those of cuSOLVER.
  /// **Cost**: a copy of the matrix. **Capture**: not allowed. (cusolverDnSsyevd,
  /// cusolverDnCheevd, ...)
  template <detail::viewable A>
  auto eigenvalues(A&& a, source_location where = source_location::current())
      -> result<array<typename detail::cusolver_calls<detail::value_of_view<A>>::real, 1>> {
    auto made =
        GPU_TRY(decompose("gpu::cusolver_handle::eigenvalues", static_cast<A&&>(a), false, where));
    return std::move(made.values);
  }

  /// Returns the eigenvalues and the eigenvectors. Otherwise as above.
  template <detail::viewable A>
  auto eigenvectors(A&& a, source_location where = source_location::current())
      -> result<eigen_decomposition<detail::value_of_view<A>>> {
    return decompose("gpu::cusolver_handle::eigenvectors", static_cast<A&&>(a), true, where);
  }

 private:
  template <class T> static constexpr void check_element() noexcept {
    static_assert(detail::cusolver_type<T>,
                  "gpu::cusolver_handle: the elements are float, double, or std::complex of these");
  }

  result<> require_handle(const char* function, source_location where) const noexcept {
    if (handle_) return {};
    return detail::refuse_empty_handle(function, "cusolver_handle", where);
  }

  /// Makes work memory for that many elements, and at least one.
  template <class T> result<device_buffer<T>> work(int size, source_location where) const noexcept {
    return device_buffer<T>::create(stream(), size > 0 ? static_cast<std::size_t>(size) : 1, where);
  }

  /// Overwrites a matrix with its factorization, and `right`, of the same number of rows, with the
  /// solutions and what is left.
  template <class T>
  result<> factorize(const char* function, array<T, 2>& matrix, CUdeviceptr right,
                     std::size_t columns, source_location where) {
    using calls = detail::cusolver_calls<T>;
    constexpr int left_side = 0, upper = 1, plain = 0;
    const int m = static_cast<int>(matrix.extent(0)), n = static_cast<int>(matrix.extent(1));
    const int k = static_cast<int>(columns);
    void* const qr = detail::to_pointer(matrix.native());
    void* const c = detail::to_pointer(right);
    const auto factors = GPU_TRY(work<T>(n, where));
    const auto info = GPU_TRY(work<int>(2, where));
    void* const tau = detail::to_pointer(factors.native());
    int* const infos = static_cast<int*>(detail::to_pointer(info.native()));
    const CUcontext context = stream().context().native();
    int size = 0, apply_size = 0;
    GPU_TRY(driver::in_context(context, where, [&]() -> result<> {
      GPU_TRY(detail::library_call<calls::qr_size>(where, native(), m, n, qr, m, &size));
      return detail::library_call<calls::apply_size>(where, native(), left_side, calls::adjoint, m,
                                                     k, n, qr, m, tau, c, m, &apply_size);
    }));
    if (apply_size > size) size = apply_size;
    const auto memory = GPU_TRY(work<T>(size, where));
    void* const workspace = detail::to_pointer(memory.native());
    GPU_TRY(driver::in_context(context, where, [&]() -> result<> {
      GPU_TRY(detail::library_call<calls::qr>(where, native(), m, n, qr, m, tau, workspace, size,
                                              infos));
      return detail::library_call<calls::apply>(where, native(), left_side, calls::adjoint, m, k, n,
                                                qr, m, tau, c, m, workspace, size, infos + 1);
    }));
    int found[2] = {};
    GPU_TRY(detail::copy_to_host(stream(), info.native(), found, sizeof found, where));
    GPU_TRY(detail::require_valid_info(function, "geqrf", found[0], where));
    GPU_TRY(detail::require_valid_info(function, "ormqr", found[1], where));
    GPU_TRY(require_full_rank(function, matrix, where));
    const T one(1);
    return driver::in_context(context, where, [&] {
      return detail::library_call<calls::solve>(where, blas_.native(), left_side, upper, plain,
                                                plain, n, k, static_cast<const void*>(&one), qr, m,
                                                c, m);
    });
  }

  /// Fails if the R of a factorization has a 0 on its diagonal, up to rounding.
  template <class T>
  result<> require_full_rank(const char* function, const array<T, 2>& qr, source_location where) {
    using real = typename detail::cusolver_calls<T>::real;
    const std::size_t m = qr.extent(0), n = qr.extent(1);
    const array_view<const T, 1> diagonal = gpu::diagonal(qr.view());
    const auto bytes = GPU_TRY(detail::fetch(function, stream(), diagonal, where));
    const T* const elements = reinterpret_cast<const T*>(bytes.data());
    const auto length = [&](std::size_t j) { return static_cast<double>(std::abs(elements[j])); };
    double longest = 0;
    for (std::size_t j = 0; j < n; ++j) longest = length(j) > longest ? length(j) : longest;
    const double limit = static_cast<double>(m) *
                         static_cast<double>(std::numeric_limits<real>::epsilon()) * longest;
    for (std::size_t j = 0; j < n; ++j) {
      if (!(length(j) <= limit)) continue;
      detail::text_builder out;
      out << "column " << j
          << " of a is a combination of the columns before it, up to rounding, so "
             "that many x fit. Leave it out, or add rows that tell the columns apart.";
      return detail::fail(
          detail::refusal(errc::invalid_argument, function, out.finish(), where, j));
    }
    return {};
  }

  template <class A>
  auto decompose(const char* function, A&& a, bool with_vectors, source_location where)
      -> result<eigen_decomposition<detail::value_of_view<A>>> {
    using T = detail::value_of_view<A>;
    using calls = detail::cusolver_calls<T>;
    check_element<T>();
    static_assert(detail::viewed_rank<A> == 2, "gpu::cusolver_handle: the operand is a matrix");
    constexpr int lower = 0;
    const array_view<const T, 2> matrix = detail::array_view_of(static_cast<A&&>(a));
    GPU_TRY(require_handle(function, where));
    GPU_TRY(detail::require_operand(function, stream(), "a", matrix, a, where));
    GPU_TRY(detail::require_waiting(function, stream(), where));
    const std::size_t extent = matrix.extent(0);
    if (matrix.extent(1) != extent) {
      detail::text_builder out;
      out << "a has " << extent << " rows and " << matrix.extent(1)
          << " columns. Pass a square matrix.";
      return detail::fail(detail::refusal(errc::size_mismatch, function, out.finish(), where,
                                          extent, matrix.extent(1)));
    }
    GPU_TRY(detail::require_int_extent(function, extent, where));
    eigen_decomposition<T> made;
    made.values = GPU_TRY((gpu::empty<typename calls::real>(stream(), shape{extent}, where)));
    made.vectors = GPU_TRY((gpu::empty<T>(stream(), matrix.shape(), axis_order::fortran, where)));
    if (extent == 0) return made;
    GPU_TRY(gpu::assign(stream(), made.vectors, matrix, where));
    const auto info = GPU_TRY(work<int>(1, where));
    const int n = static_cast<int>(extent), mode = int{with_vectors};
    void* const vectors = detail::to_pointer(made.vectors.native());
    void* const values = detail::to_pointer(made.values.native());
    const CUcontext context = stream().context().native();
    int size = 0;
    GPU_TRY(driver::in_context(context, where, [&] {
      return detail::library_call<calls::eigen_size>(where, native(), mode, lower, n, vectors, n,
                                                     values, &size);
    }));
    const auto memory = GPU_TRY(work<T>(size, where));
    GPU_TRY(driver::in_context(context, where, [&] {
      return detail::library_call<calls::eigen>(
          where, native(), mode, lower, n, vectors, n, values, detail::to_pointer(memory.native()),
          size, static_cast<int*>(detail::to_pointer(info.native())));
    }));
    int found = 0;
    GPU_TRY(detail::copy_to_host(stream(), info.native(), &found, sizeof found, where));
    GPU_TRY(detail::require_valid_info(function, "syevd", found, where));
    if (found == 0) return made;
    detail::text_builder out;
    out << found
        << " elements beside the diagonal did not converge to 0. Check that the matrix has no NaN "
           "and no infinity.";
    return detail::fail(detail::refusal(errc::not_converged, function, out.finish(), where,
                                        static_cast<std::uint64_t>(found)));
  }

  detail::library_handle<detail::cusolver_library> handle_;
  cublas_handle blas_;
};

/// Returns whether there is a cuSOLVER, and a cuBLAS, that this program can use. Opens them on
/// first use.
inline bool has_cusolver() noexcept {
  return detail::require_libcuda<detail::cusolver_library>("gpu::has_cusolver", {}).has_value() &&
         detail::library_table<detail::cusolver_library>().create != nullptr && has_cublas();
}

}}  // namespace gpu::v1
