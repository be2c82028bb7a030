#pragma once
/// \file
/// The functions of cuBLAS, opened on first use.

#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/toolkit_library.hpp>
#include <gpu/system/library_table.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

struct cublas_library;

/// Pointers to functions of cuBLAS; all null without it.
struct cublas_functions {
  using library = cublas_library;

  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*set_stream)(void* handle, void* stream);
  int (*get_property)(int property, int* value);
  int (*multiply)(void* handle, int transpose_a, int transpose_b, std::int64_t m, std::int64_t n,
                  std::int64_t k, const void* alpha, const void* a, int a_type,
                  std::int64_t a_leading, long long a_stride, const void* b, int b_type,
                  std::int64_t b_leading, long long b_stride, const void* beta, void* c, int c_type,
                  std::int64_t c_leading, long long c_stride, std::int64_t count, int compute_type,
                  int algorithm);
  /// Solves triangular systems with many right sides.
  using solve_function = int (*)(void* handle, int side, int triangle, int transpose, int diagonal,
                                 int m, int n, const void* alpha, const void* a, int a_leading,
                                 void* b, int b_leading);
  solve_function solve_float, solve_double, solve_complex_float, solve_complex_double;

  errc unavailable;  ///< why all members are null, or 0
  const char* unavailable_detail;
};

struct cublas_library : run_time_library<cublas_library> {
  using table = cublas_functions;
  static constexpr library_function functions[] = {
      {"cublasCreate_v2", offsetof(table, create)},
      {"cublasDestroy_v2", offsetof(table, destroy)},
      {"cublasSetStream_v2", offsetof(table, set_stream)},
      {"cublasGetProperty", offsetof(table, get_property)},
      {"cublasGemmStridedBatchedEx_64", offsetof(table, multiply)},
      {"cublasStrsm_v2", offsetof(table, solve_float)},
      {"cublasDtrsm_v2", offsetof(table, solve_double)},
      {"cublasCtrsm_v2", offsetof(table, solve_complex_float)},
      {"cublasZtrsm_v2", offsetof(table, solve_complex_double)},
  };
  static constexpr const char* name = "cuBLAS";
  static constexpr const char* wheel = "nvidia-cublas";
  static constexpr const char* part_of = "CUDA toolkit";
  static constexpr const char* oldest = "12.0";
  static constexpr error_domain domain = error_domain::cublas;
  static constexpr toolkit_library files{
      "GPU_CUBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}, "nvidia/cublas/lib"};

  static bool accept(const table& found, text_builder& reason) noexcept {
    return has_version(found.get_property, name, 12, 0, reason);
  }
};

}}}  // namespace gpu::v1::detail
