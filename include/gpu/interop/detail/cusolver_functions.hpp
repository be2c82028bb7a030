#pragma once
/// \file
/// The functions of cuSOLVER, opened on first use, and a handle of it.

#include <gpu/interop/cublas.hpp>

#include <complex>

namespace gpu::inline v1::detail {

struct cusolver_library;

/// Pointers to functions of cuSOLVER; all null without it. Matrices are in Fortran order, sizes of
/// work memory count elements, and `info` is in device memory.
struct cusolver_functions {
  using library = cusolver_library;

  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*set_stream)(void* handle, void* stream);
  int (*get_property)(int property, int* value);
  // QR factorizations: geqrf.
  int (*qr_size_float)(void* handle, int m, int n, void* a, int leading, int* size);
  int (*qr_size_double)(void* handle, int m, int n, void* a, int leading, int* size);
  int (*qr_size_complex_float)(void* handle, int m, int n, void* a, int leading, int* size);
  int (*qr_size_complex_double)(void* handle, int m, int n, void* a, int leading, int* size);
  int (*qr_float)(void* handle, int m, int n, void* a, int leading, void* factors, void* work,
                  int size, int* info);
  int (*qr_double)(void* handle, int m, int n, void* a, int leading, void* factors, void* work,
                   int size, int* info);
  int (*qr_complex_float)(void* handle, int m, int n, void* a, int leading, void* factors,
                          void* work, int size, int* info);
  int (*qr_complex_double)(void* handle, int m, int n, void* a, int leading, void* factors,
                           void* work, int size, int* info);
  // Products with the Q of such a factorization: ormqr, unmqr.
  int (*apply_size_float)(void* handle, int side, int transpose, int m, int n, int k, const void* a,
                          int a_leading, const void* factors, const void* c, int c_leading,
                          int* size);
  int (*apply_size_double)(void* handle, int side, int transpose, int m, int n, int k,
                           const void* a, int a_leading, const void* factors, const void* c,
                           int c_leading, int* size);
  int (*apply_size_complex_float)(void* handle, int side, int transpose, int m, int n, int k,
                                  const void* a, int a_leading, const void* factors, const void* c,
                                  int c_leading, int* size);
  int (*apply_size_complex_double)(void* handle, int side, int transpose, int m, int n, int k,
                                   const void* a, int a_leading, const void* factors, const void* c,
                                   int c_leading, int* size);
  int (*apply_float)(void* handle, int side, int transpose, int m, int n, int k, const void* a,
                     int a_leading, const void* factors, void* c, int c_leading, void* work,
                     int size, int* info);
  int (*apply_double)(void* handle, int side, int transpose, int m, int n, int k, const void* a,
                      int a_leading, const void* factors, void* c, int c_leading, void* work,
                      int size, int* info);
  int (*apply_complex_float)(void* handle, int side, int transpose, int m, int n, int k,
                             const void* a, int a_leading, const void* factors, void* c,
                             int c_leading, void* work, int size, int* info);
  int (*apply_complex_double)(void* handle, int side, int transpose, int m, int n, int k,
                              const void* a, int a_leading, const void* factors, void* c,
                              int c_leading, void* work, int size, int* info);
  // Eigenvalues of symmetric and Hermitian matrices: syevd, heevd.
  int (*eigen_size_float)(void* handle, int vectors, int triangle, int n, const void* a,
                          int leading, const void* values, int* size);
  int (*eigen_size_double)(void* handle, int vectors, int triangle, int n, const void* a,
                           int leading, const void* values, int* size);
  int (*eigen_size_complex_float)(void* handle, int vectors, int triangle, int n, const void* a,
                                  int leading, const void* values, int* size);
  int (*eigen_size_complex_double)(void* handle, int vectors, int triangle, int n, const void* a,
                                   int leading, const void* values, int* size);
  int (*eigen_float)(void* handle, int vectors, int triangle, int n, void* a, int leading,
                     void* values, void* work, int size, int* info);
  int (*eigen_double)(void* handle, int vectors, int triangle, int n, void* a, int leading,
                      void* values, void* work, int size, int* info);
  int (*eigen_complex_float)(void* handle, int vectors, int triangle, int n, void* a, int leading,
                             void* values, void* work, int size, int* info);
  int (*eigen_complex_double)(void* handle, int vectors, int triangle, int n, void* a, int leading,
                              void* values, void* work, int size, int* info);

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
    if (found.get_property == nullptr) return true;  // then it lacks more than one function
    int major = 0, minor = 0;
    found.get_property(0, &major);
    found.get_property(1, &minor);
    if (major > 11 || (major == 11 && minor >= 4)) return true;
    reason << "this is cuSOLVER " << major << '.' << minor;
    return false;
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
template <class T> inline constexpr bool is_cusolver_type = false;
template <> inline constexpr bool is_cusolver_type<float> = true;
template <> inline constexpr bool is_cusolver_type<double> = true;
template <> inline constexpr bool is_cusolver_type<std::complex<float>> = true;
template <> inline constexpr bool is_cusolver_type<std::complex<double>> = true;

/// A handle of cuSOLVER, and the stream that it works on.
struct cusolver_object {
  void* native = nullptr;
  stream_ref stream;
  friend bool operator==(const cusolver_object& a, const cusolver_object& b) noexcept {
    return a.native == b.native;
  }
};

struct destroy_cusolver {
  void operator()(const cusolver_object& object) const noexcept {
    const library_use<cusolver_library> use;
    const auto destroy = library_table<cusolver_library>().destroy;
    if (destroy == nullptr) return;
    bool destroyed = false;
    const result<> done =
        driver::in_context(object.stream.context().native(), source_location{}, [&]() -> result<> {
          destroyed = true;
          destroy(object.native);
          return {};
        });
    if (!destroyed) destroy(object.native);  // which may work in another context
    driver::report_at_end(done);
  }
};

inline void* to_pointer(CUdeviceptr address) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

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

}  // namespace gpu::inline v1::detail
