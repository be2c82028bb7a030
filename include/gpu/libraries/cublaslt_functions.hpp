#pragma once
/// \file
/// The functions of cuBLASLt that products of matrices need, opened on first use.

#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/toolkit_library.hpp>
#include <gpu/system/library_table.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

struct cublaslt_library;

/// cublasLtMatmulAlgo_t and cublasLtMatmulHeuristicResult_t.
struct cublaslt_algorithm {
  std::uint64_t data[8];
};
struct cublaslt_choice {
  cublaslt_algorithm algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

/// Pointers to functions of cuBLASLt; all null without it. Handles and descriptors are pointers,
/// and enumerators of the library are written as their values.
struct cublaslt_functions {
  using library = cublaslt_library;

  int (*create)(void** handle);
  int (*destroy)(void* handle);
  std::size_t (*get_version)();
  int (*operation_create)(void** operation, int compute_type, int scale_type);
  int (*operation_destroy)(void* operation);
  int (*operation_set)(void* operation, int attribute, const void* value, std::size_t bytes);
  int (*layout_create)(void** layout, int type, std::uint64_t rows, std::uint64_t columns,
                       std::int64_t leading);
  int (*layout_destroy)(void* layout);
  int (*layout_set)(void* layout, int attribute, const void* value, std::size_t bytes);
  int (*preference_create)(void** preference);
  int (*preference_destroy)(void* preference);
  int (*preference_set)(void* preference, int attribute, const void* value, std::size_t bytes);
  int (*choose)(void* handle, void* operation, void* a, void* b, void* c, void* d, void* preference,
                int wanted, cublaslt_choice* choices, int* found);
  int (*multiply)(void* handle, void* operation, const void* alpha, const void* a, void* a_layout,
                  const void* b, void* b_layout, const void* beta, const void* c, void* c_layout,
                  void* d, void* d_layout, const cublaslt_algorithm* algorithm, void* workspace,
                  std::size_t workspace_bytes, void* stream);

  errc unavailable;  ///< why all members are null, or 0
  const char* unavailable_detail;
};

struct cublaslt_library : run_time_library<cublaslt_library> {
  using table = cublaslt_functions;
  static constexpr library_function functions[] = {
      {"cublasLtCreate", offsetof(table, create)},
      {"cublasLtDestroy", offsetof(table, destroy)},
      {"cublasLtGetVersion", offsetof(table, get_version)},
      {"cublasLtMatmulDescCreate", offsetof(table, operation_create)},
      {"cublasLtMatmulDescDestroy", offsetof(table, operation_destroy)},
      {"cublasLtMatmulDescSetAttribute", offsetof(table, operation_set)},
      {"cublasLtMatrixLayoutCreate", offsetof(table, layout_create)},
      {"cublasLtMatrixLayoutDestroy", offsetof(table, layout_destroy)},
      {"cublasLtMatrixLayoutSetAttribute", offsetof(table, layout_set)},
      {"cublasLtMatmulPreferenceCreate", offsetof(table, preference_create)},
      {"cublasLtMatmulPreferenceDestroy", offsetof(table, preference_destroy)},
      {"cublasLtMatmulPreferenceSetAttribute", offsetof(table, preference_set)},
      {"cublasLtMatmulAlgoGetHeuristic", offsetof(table, choose)},
      {"cublasLtMatmul", offsetof(table, multiply)},
  };
  static constexpr const char* name = "cuBLASLt";
  static constexpr const char* wheel = "nvidia-cublas";
  static constexpr const char* part_of = "CUDA toolkit";
  static constexpr const char* oldest = "12.0";
  static constexpr error_domain domain = error_domain::cublas;
  static constexpr toolkit_library files{
      "GPU_CUBLASLT",
      {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"},
      "nvidia/cublas/lib"};

  static bool accept(const table& found, text_builder& reason) noexcept {
    if (found.get_version == nullptr) return true;  // then it lacks more than one function
    const std::size_t version = found.get_version();
    if (version >= 120000) return true;
    reason << "this is cuBLASLt " << version;
    return false;
  }
};

}}}  // namespace gpu::v1::detail
