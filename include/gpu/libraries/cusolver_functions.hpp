#pragma once
/// \file
/// The functions of cuSOLVER, opened on first use, and a handle of it.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/cublas_functions.hpp>
#include <gpu/libraries/toolkit_library.hpp>
#include <gpu/system/library_table.hpp>

#include <complex>
#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

struct cusolver_library;

/// Pointers to functions of cuSOLVER; all null without it. Matrices are in Fortran order, sizes of
/// work memory count elements, and `info` is in device memory.
struct cusolver_functions {
  using library = cusolver_library;

  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*set_stream)(void* handle, void* stream);
  int (*get_property)(int property, int* value);
  /// QR factorizations: geqrf.
  using qr_size_function = int (*)(void* handle, int m, int n, void* a, int leading, int* size);
  using qr_function = int (*)(void* handle, int m, int n, void* a, int leading, void* factors,
                              void* work, int size, int* info);
  qr_size_function qr_size_float, qr_size_double, qr_size_complex_float, qr_size_complex_double;
  qr_function qr_float, qr_double, qr_complex_float, qr_complex_double;
  /// Products with the Q of such a factorization: ormqr, unmqr.
  using apply_size_function = int (*)(void* handle, int side, int transpose, int m, int n, int k,
                                      const void* a, int a_leading, const void* factors,
                                      const void* c, int c_leading, int* size);
  using apply_function = int (*)(void* handle, int side, int transpose, int m, int n, int k,
                                 const void* a, int a_leading, const void* factors, void* c,
                                 int c_leading, void* work, int size, int* info);
  apply_size_function apply_size_float, apply_size_double, apply_size_complex_float,
      apply_size_complex_double;
  apply_function apply_float, apply_double, apply_complex_float, apply_complex_double;
  /// Eigenvalues of symmetric and Hermitian matrices: syevd, heevd.
  using eigen_size_function = int (*)(void* handle, int vectors, int triangle, int n, const void* a,
                                      int leading, const void* values, int* size);
  using eigen_function = int (*)(void* handle, int vectors, int triangle, int n, void* a,
                                 int leading, void* values, void* work, int size, int* info);
  eigen_size_function eigen_size_float, eigen_size_double, eigen_size_complex_float,
      eigen_size_complex_double;
  eigen_function eigen_float, eigen_double, eigen_complex_float, eigen_complex_double;

  errc unavailable;  ///< why all members are null, or 0
  const char* unavailable_detail;
};

struct cusolver_library : run_time_library<cusolver_library> {
  using table = cusolver_functions;
  static constexpr library_function functions[] = {
      {"cusolverDnCreate", offsetof(table, create)},
      {"cusolverDnDestroy", offsetof(table, destroy)},
      {"cusolverDnSetStream", offsetof(table, set_stream)},
      {"cusolverGetProperty", offsetof(table, get_property)},
      {"cusolverDnSgeqrf_bufferSize", offsetof(table, qr_size_float)},
      {"cusolverDnDgeqrf_bufferSize", offsetof(table, qr_size_double)},
      {"cusolverDnCgeqrf_bufferSize", offsetof(table, qr_size_complex_float)},
      {"cusolverDnZgeqrf_bufferSize", offsetof(table, qr_size_complex_double)},
      {"cusolverDnSgeqrf", offsetof(table, qr_float)},
      {"cusolverDnDgeqrf", offsetof(table, qr_double)},
      {"cusolverDnCgeqrf", offsetof(table, qr_complex_float)},
      {"cusolverDnZgeqrf", offsetof(table, qr_complex_double)},
      {"cusolverDnSormqr_bufferSize", offsetof(table, apply_size_float)},
      {"cusolverDnDormqr_bufferSize", offsetof(table, apply_size_double)},
      {"cusolverDnCunmqr_bufferSize", offsetof(table, apply_size_complex_float)},
      {"cusolverDnZunmqr_bufferSize", offsetof(table, apply_size_complex_double)},
      {"cusolverDnSormqr", offsetof(table, apply_float)},
      {"cusolverDnDormqr", offsetof(table, apply_double)},
      {"cusolverDnCunmqr", offsetof(table, apply_complex_float)},
      {"cusolverDnZunmqr", offsetof(table, apply_complex_double)},
      {"cusolverDnSsyevd_bufferSize", offsetof(table, eigen_size_float)},
      {"cusolverDnDsyevd_bufferSize", offsetof(table, eigen_size_double)},
      {"cusolverDnCheevd_bufferSize", offsetof(table, eigen_size_complex_float)},
      {"cusolverDnZheevd_bufferSize", offsetof(table, eigen_size_complex_double)},
      {"cusolverDnSsyevd", offsetof(table, eigen_float)},
      {"cusolverDnDsyevd", offsetof(table, eigen_double)},
      {"cusolverDnCheevd", offsetof(table, eigen_complex_float)},
      {"cusolverDnZheevd", offsetof(table, eigen_complex_double)},
  };
  static constexpr const char* name = "cuSOLVER";
  static constexpr const char* wheel = "nvidia-cusolver";
  static constexpr const char* part_of = "CUDA toolkit";
  static constexpr const char* oldest = "11.4 (of CUDA 12)";
  static constexpr error_domain domain = error_domain::cusolver;
  static constexpr toolkit_library files{
      "GPU_CUSOLVER",
      {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"},
      "nvidia/cusolver/lib"};

  static bool accept(const table& found, text_builder& reason) noexcept {
    return has_version(found.get_property, name, 11, 4, reason);
  }
};

/// The functions for one type of elements.
template <class T> struct cusolver_calls;
template <> struct cusolver_calls<float> {
  using real = float;
  static constexpr int adjoint = 1;  // CUBLAS_OP_T
  static constexpr auto qr_size = &cusolver_functions::qr_size_float;
  static constexpr auto qr = &cusolver_functions::qr_float;
  static constexpr auto apply_size = &cusolver_functions::apply_size_float;
  static constexpr auto apply = &cusolver_functions::apply_float;
  static constexpr auto eigen_size = &cusolver_functions::eigen_size_float;
  static constexpr auto eigen = &cusolver_functions::eigen_float;
  static constexpr auto solve = &cublas_functions::solve_float;
};
template <> struct cusolver_calls<double> {
  using real = double;
  static constexpr int adjoint = 1;  // CUBLAS_OP_T
  static constexpr auto qr_size = &cusolver_functions::qr_size_double;
  static constexpr auto qr = &cusolver_functions::qr_double;
  static constexpr auto apply_size = &cusolver_functions::apply_size_double;
  static constexpr auto apply = &cusolver_functions::apply_double;
  static constexpr auto eigen_size = &cusolver_functions::eigen_size_double;
  static constexpr auto eigen = &cusolver_functions::eigen_double;
  static constexpr auto solve = &cublas_functions::solve_double;
};
template <> struct cusolver_calls<std::complex<float>> {
  using real = float;
  static constexpr int adjoint = 2;  // CUBLAS_OP_C
  static constexpr auto qr_size = &cusolver_functions::qr_size_complex_float;
  static constexpr auto qr = &cusolver_functions::qr_complex_float;
  static constexpr auto apply_size = &cusolver_functions::apply_size_complex_float;
  static constexpr auto apply = &cusolver_functions::apply_complex_float;
  static constexpr auto eigen_size = &cusolver_functions::eigen_size_complex_float;
  static constexpr auto eigen = &cusolver_functions::eigen_complex_float;
  static constexpr auto solve = &cublas_functions::solve_complex_float;
};
template <> struct cusolver_calls<std::complex<double>> {
  using real = double;
  static constexpr int adjoint = 2;  // CUBLAS_OP_C
  static constexpr auto qr_size = &cusolver_functions::qr_size_complex_double;
  static constexpr auto qr = &cusolver_functions::qr_complex_double;
  static constexpr auto apply_size = &cusolver_functions::apply_size_complex_double;
  static constexpr auto apply = &cusolver_functions::apply_complex_double;
  static constexpr auto eigen_size = &cusolver_functions::eigen_size_complex_double;
  static constexpr auto eigen = &cusolver_functions::eigen_complex_double;
  static constexpr auto solve = &cublas_functions::solve_complex_double;
};

/// The types that cuSOLVER works on.
template <class T>
concept cusolver_type = one_of<T, float, double, std::complex<float>, std::complex<double>>;

/// Fails if an extent does not fit the library's int.
inline result<> require_int_extent(const char* function, std::size_t extent,
                                   source_location where) noexcept {
  constexpr std::size_t most = 0x7fff'ffff;
  if (extent <= most) return {};
  text_builder out;
  out << "a matrix has an extent of " << extent << ", but cuSOLVER counts to " << most
      << ". Pass smaller matrices.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, extent, most));
}

/// Fails if `info` of a function of LAPACK names one of its arguments.
inline result<> require_valid_info(const char* function, const char* routine, int info,
                                   source_location where) noexcept {
  if (info >= 0) return {};
  text_builder out;
  out << "cuSOLVER rejects parameter " << -static_cast<long long>(info) << " of its " << routine
      << ". Check the extents of the matrices, and that cuSOLVER supports the device.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

}}}  // namespace gpu::v1::detail
