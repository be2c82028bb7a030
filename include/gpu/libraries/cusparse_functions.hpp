#pragma once
/// \file
/// The functions of cuSPARSE, opened on first use, a handle of it, and descriptors of operands.

#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/toolkit_library.hpp>
#include <gpu/system/library_table.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

struct cusparse_library;

/// Pointers to functions of cuSPARSE; all null without it. Operands are pointers to descriptors.
struct cusparse_functions {
  using library = cusparse_library;

  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*set_stream)(void* handle, void* stream);
  int (*get_property)(int property, int* value);
  int (*create_csr)(void** made, std::int64_t rows, std::int64_t columns, std::int64_t entries,
                    void* offsets, void* column_indices, void* values, int offset_type,
                    int index_type, int index_base, int value_type);
  int (*destroy_sparse)(const void* matrix);
  int (*create_vector)(void** made, std::int64_t size, void* values, int value_type);
  int (*destroy_vector)(const void* vector);
  int (*create_dense)(void** made, std::int64_t rows, std::int64_t columns, std::int64_t leading,
                      void* values, int value_type, int order);
  int (*destroy_dense)(const void* matrix);
  int (*vector_workspace)(void* handle, int transpose, const void* alpha, const void* a,
                          const void* x, const void* beta, void* y, int compute_type, int algorithm,
                          std::size_t* bytes);
  int (*multiply_vector)(void* handle, int transpose, const void* alpha, const void* a,
                         const void* x, const void* beta, void* y, int compute_type, int algorithm,
                         void* workspace);
  int (*dense_workspace)(void* handle, int transpose_a, int transpose_b, const void* alpha,
                         const void* a, const void* b, const void* beta, void* c, int compute_type,
                         int algorithm, std::size_t* bytes);
  int (*multiply_dense)(void* handle, int transpose_a, int transpose_b, const void* alpha,
                        const void* a, const void* b, const void* beta, void* c, int compute_type,
                        int algorithm, void* workspace);

  errc unavailable;  ///< why all members are null, or 0
  const char* unavailable_detail;
};

struct cusparse_library : run_time_library<cusparse_library> {
  using table = cusparse_functions;
  static constexpr library_function functions[] = {
      {"cusparseCreate", offsetof(table, create)},
      {"cusparseDestroy", offsetof(table, destroy)},
      {"cusparseSetStream", offsetof(table, set_stream)},
      {"cusparseGetProperty", offsetof(table, get_property)},
      {"cusparseCreateCsr", offsetof(table, create_csr)},
      {"cusparseDestroySpMat", offsetof(table, destroy_sparse)},
      {"cusparseCreateDnVec", offsetof(table, create_vector)},
      {"cusparseDestroyDnVec", offsetof(table, destroy_vector)},
      {"cusparseCreateDnMat", offsetof(table, create_dense)},
      {"cusparseDestroyDnMat", offsetof(table, destroy_dense)},
      {"cusparseSpMV_bufferSize", offsetof(table, vector_workspace)},
      {"cusparseSpMV", offsetof(table, multiply_vector)},
      {"cusparseSpMM_bufferSize", offsetof(table, dense_workspace)},
      {"cusparseSpMM", offsetof(table, multiply_dense)},
  };
  static constexpr const char* name = "cuSPARSE";
  static constexpr const char* wheel = "nvidia-cusparse";
  static constexpr const char* part_of = "CUDA toolkit";
  static constexpr const char* oldest = "12.0";
  static constexpr error_domain domain = error_domain::cusparse;
  static constexpr toolkit_library files{
      "GPU_CUSPARSE",
      {"libcusparse.so.13", "libcusparse.so.12", "libcusparse.so"},
      "nvidia/cusparse/lib"};

  static bool accept(const table& found, text_builder& reason) noexcept {
    return has_version(found.get_property, name, 12, 0, reason);
  }
};

/// Owns a descriptor of an operand, which `Destroy` destroys.
template <auto Destroy> class cusparse_descriptor {
 public:
  cusparse_descriptor() noexcept = default;
  cusparse_descriptor(const cusparse_descriptor&) = delete;
  cusparse_descriptor& operator=(const cusparse_descriptor&) = delete;
  ~cusparse_descriptor() {
    if (native_ == nullptr) return;
    const library_use<cusparse_library> use;
    const auto destroy = library_table<cusparse_library>().*Destroy;
    if (destroy != nullptr) destroy(native_);
  }
  void* get() const noexcept { return native_; }
  void** put() noexcept { return &native_; }

 private:
  void* native_ = nullptr;
};
using cusparse_csr = cusparse_descriptor<&cusparse_functions::destroy_sparse>;
using cusparse_vector = cusparse_descriptor<&cusparse_functions::destroy_vector>;
using cusparse_dense = cusparse_descriptor<&cusparse_functions::destroy_dense>;

}}}  // namespace gpu::v1::detail
