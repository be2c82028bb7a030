#pragma once
/// \file
/// Writes the programs of sparse matrices, and launches their kernels.

#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/boolean.hpp>
#include <gpu/device/embedded/loops.hpp>
#include <gpu/device/embedded/numbers.hpp>
#include <gpu/device/embedded/reduction.hpp>
#include <gpu/device/embedded/sparse_product.hpp>
#include <gpu/device/embedded/sparse_structure.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/sparse/detail/sparse_tiles.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The kernels of a program, by their positions.
enum class product_kernel : unsigned char { multiply, finish, diagonal };
enum class structure_kernel : unsigned char { check, keys, split, offsets };

/// Writes the program that multiplies with a matrix of this type.
inline result<> write_sparse_product(const element_type& value, generated_program& program) {
  text_builder out;
  program.headers.push_back({boolean_header_name, boolean_header});
  program.headers.push_back({loops_header_name, loops_header});
  program.headers.push_back({reduction_header_name, reduction_header});
  program.headers.push_back({numbers_header_name, numbers_header});
  program.headers.push_back({sparse_product_header_name, sparse_product_header});
  for (const program_header& each : program.headers) out << "#include <" << each.name << ">\n";
  constexpr const char* result_parameters =
      "gpu_value* const y, const gpu_value alpha, const gpu_value beta, const int scaled, "
      "const int adds";
  constexpr const char* result_value =
      "gpu::sparse::result<gpu_value>{y, alpha, beta, scaled, adds}";
  program.kernel = required(text("gpu_sparse_multiply"));
  program.more_kernels.push_back(required(text("gpu_sparse_finish")));
  program.more_kernels.push_back(required(text("gpu_sparse_diagonal")));
  out << "using gpu_value = " << value.name << ";\nextern \"C\" __global__ void __launch_bounds__("
      << sparse_threads << ") " << program.kernel
      << "(\n    const gpu::sparse::tile* const __restrict__ tiles, "
         "const int* const __restrict__ offsets,\n    const int* const __restrict__ columns, "
         "const gpu_value* const __restrict__ values,\n    "
         "const gpu_value* const __restrict__ x, gpu_value* const partials, "
      << result_parameters << ") {\n  gpu::sparse::multiply_tile<gpu_value, " << sparse_threads
      << ", " << sparse_items << ">(\n      tiles, offsets, columns, values, x, partials, "
      << result_value << ");\n}\nextern \"C\" __global__ void " << program.more_kernels[0]
      << "(\n    const gpu::sparse::long_row* const rows, const int count, "
         "const gpu_value* const partials,\n    "
      << result_parameters << ") {\n  gpu::sparse::finish_long_rows(rows, count, partials, "
      << result_value << ");\n}\nextern \"C\" __global__ void " << program.more_kernels[1]
      << "(\n    const int* const offsets, const int* const columns, "
         "const gpu_value* const values,\n    gpu_value* const diagonal, const int count) {\n"
         "  gpu::sparse::find_diagonal(offsets, columns, values, diagonal, count);\n}\n";
  program.set_source("gpu_sparse_product.cu", out);
  program.options.fused_multiply_add = false;  // the same bits as on the CPU driver
  return {};
}

/// Writes the program that makes the structure of a matrix from coordinates.
inline result<> write_sparse_structure(generated_program& program) {
  text_builder out;
  program.headers.push_back({sparse_structure_header_name, sparse_structure_header});
  program.kernel = required(text("gpu_sparse_check"));
  out << "#include <" << sparse_structure_header_name << ">\n";
  const auto write_kernel = [&](const char* name, const char* parameters, const char* call) {
    if (string_ref(program.kernel) != name) program.more_kernels.push_back(required(text(name)));
    out << "extern \"C\" __global__ void " << name << '(' << parameters
        << ") {\n  gpu::sparse::" << call << ";\n}\n";
  };
  write_kernel("gpu_sparse_check",
               "const int* indices, long long count, int extent, unsigned long long* first_wrong",
               "check_indices(indices, count, extent, first_wrong)");
  write_kernel("gpu_sparse_keys",
               "const int* rows, const int* columns, long long count, unsigned long long* keys",
               "make_keys(rows, columns, count, keys)");
  write_kernel("gpu_sparse_split",
               "const unsigned long long* keys, long long count, int* rows, int* columns",
               "split_keys(keys, count, rows, columns)");
  write_kernel("gpu_sparse_offsets",
               "const int* rows, int count, int* offsets, long long row_count",
               "find_offsets(rows, count, offsets, row_count)");
  program.set_source("gpu_sparse_structure.cu", out);
  return {};
}

template <class T> struct sparse_product_kernels;
struct sparse_structure_kernels;

/// Launches a kernel, with a thread for each of `count` elements.
inline result<> launch_for_each(const stream_ref& stream, const untyped_kernel& kernel,
                                std::size_t count, void** arguments, source_location where) {
  if (count == 0) return {};
  const std::size_t blocks = (count - 1) / sparse_threads + 1;
  return launch_generated(stream, {static_cast<std::uint32_t>(blocks), sparse_threads}, kernel,
                          arguments, where);
}

inline result<> launch_structure(const stream_ref& stream, structure_kernel which,
                                 std::size_t count, void** arguments, source_location where) {
  const untyped_kernel* const kernels = GPU_TRY(find_generated<sparse_structure_kernels>(
      "gpu::csr_matrix", stream, 0, where, write_sparse_structure));
  return launch_for_each(stream, kernels[static_cast<unsigned>(which)], count, arguments, where);
}

/// Returns the kernels of `product_kernel` for matrices of `T`.
template <class T>
result<const untyped_kernel*> find_product_kernels(const stream_ref& stream,
                                                   source_location where) {
  return find_generated<sparse_product_kernels<T>>(
      "gpu::csr_matrix", stream, 0, where, [](generated_program& program) {
        return write_sparse_product(element_type_of<T>(), program);
      });
}

/// A product: the memory of the matrix and of the vectors. Numbers are those of the matrix's type.
struct sparse_product {
  CUdeviceptr tiles, offsets, columns, values, long_rows;
  std::size_t tile_count;  ///< without the end marker
  int long_row_count, partial_count;
  std::size_t value_bytes;
  CUdeviceptr x, y;
  const void* alpha;
  const void* beta;
  int scaled, adds;
};

inline result<> multiply(const stream_ref& stream, const untyped_kernel* kernels,
                         const sparse_product& of, source_location where) {
  if (of.tile_count == 0) return {};
  const std::size_t bytes = static_cast<std::size_t>(of.partial_count) * of.value_bytes;
  const device_buffer<unsigned char> memory = GPU_TRY(allocate_workspace(stream, bytes, where));
  sparse_product call = of;
  CUdeviceptr partials = memory.span().native();
  void* const alpha = const_cast<void*>(of.alpha);
  void* const beta = const_cast<void*>(of.beta);
  void* pointers[] = {&call.tiles, &call.offsets, &call.columns, &call.values, &call.x,   &partials,
                      &call.y,     alpha,         beta,          &call.scaled, &call.adds};
  GPU_TRY(launch_generated(stream, {static_cast<std::uint32_t>(of.tile_count), sparse_threads},
                           kernels[0], pointers, where));
  if (of.long_row_count == 0) return {};
  void* finish[] = {
      &call.long_rows, &call.long_row_count, &partials, &call.y, alpha, beta, &call.scaled,
      &call.adds};
  return launch_for_each(stream, kernels[static_cast<unsigned>(product_kernel::finish)],
                         static_cast<std::size_t>(of.long_row_count) * 32, finish, where);
}

}}}  // namespace gpu::v1::detail
