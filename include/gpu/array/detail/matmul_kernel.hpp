#pragma once
/// \file
/// Writes the text of the kernel of matrix products, and launches it.

#include <gpu/array/detail/product_shape.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/boolean.hpp>
#include <gpu/device/embedded/matmul.hpp>
#include <gpu/device/embedded/numbers.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_plan.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/shape.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The arithmetic of products of an element type.
struct product_type {
  element_type element;
  const char* value;  ///< the type in which products are added
  unsigned value_bytes;
  const char* multiply_add;  ///< `a * b + c`
};

template <class T> constexpr product_type product_type_of() noexcept {
  constexpr element_type own = element_type_of<T>();
  if constexpr (std::same_as<T, double>) return {own, "double", 8, "fma(a, b, c)"};
  if constexpr (std::same_as<T, float> || short_number<T>)
    return {own, "float", 4, "fmaf(a, b, c)"};
  if constexpr (std::same_as<T, bool>)
    return {{"gpu::boolean", {}, own.bytes, own.alignment}, "unsigned", 4, "c | (a & b)"};
  if constexpr (complex_number<T>) {
    constexpr const char* product =
        "gpu_value(fma(-a.im, b.im, fma(a.re, b.re, c.re)), "
        "fma(a.im, b.re, fma(a.re, b.im, c.im)))";
    return {own, sizeof(T) == 8 ? "gpu::complex<float>" : "gpu::complex<double>",
            unsigned{sizeof(T)}, product};
  }
  // Integers wrap around, which those without a sign may.
  return {own, sizeof(T) == 8 ? "unsigned long long" : "unsigned", sizeof(T) == 8 ? 8u : 4u,
          "a * b + c"};
}

/// The elements that each of 16 x 16 threads computes.
struct product_tile {
  unsigned rows, columns;

  /// Tiles that make the most of shared memory, or small ones, where there would be few.
  static product_tile of(unsigned value_bytes, bool large) noexcept {
    if (!large) return {2, 2};
    return {value_bytes > 8 ? 4u : 8u, value_bytes > 4 ? 4u : 8u};
  }
  std::size_t count(const product_shape& s) const noexcept {
    const std::size_t down = 16 * rows, right = 16 * columns;
    shape<2 + most_batch_axes> tiles;
    tiles[0] = (static_cast<std::size_t>(s.m) + down - 1) / down;
    tiles[1] = (static_cast<std::size_t>(s.n) + right - 1) / right;
    for (int axis = 0; axis < most_batch_axes; ++axis)
      tiles[2 + axis] = static_cast<std::size_t>(s.batch[axis]);
    return tiles.size();
  }
};

inline result<> write_product(const product_type& type, const product_tile& tile,
                              generated_program& program) {
  text_builder out;
  program.headers.push_back({boolean_header_name, boolean_header});
  program.headers.push_back({numbers_header_name, numbers_header});
  program.headers.push_back({matmul_header_name, matmul_header});
  for (const program_header& each : program.headers) out << "#include <" << each.name << ">\n";
  out << "using gpu_value = " << type.value
      << ";\nextern \"C\" __global__ void __launch_bounds__(256) gpu_matmul(\n    const "
      << type.element.name << "* a, const " << type.element.name << "* b, " << type.element.name
      << "* c,\n    const __grid_constant__ gpu::products::shape s) {\n"
         "  gpu::products::multiply<gpu_value, "
      << tile.rows << ", " << tile.columns
      << ", 16>(a, b, c, s,\n      [](const gpu_value& a, const gpu_value& b, const gpu_value& c) {"
         " return gpu_value("
      << type.multiply_add << "); });\n}\n";
  program.kernel = required(text("gpu_matmul"));
  program.set_source("gpu_matmul.cu", out);
  program.options.fused_multiply_add = false;  // only where `multiply_add` says so
  return {};
}

template <class T> struct matmul_family;

/// Multiplies matrices in device memory. None of the extents of the result is 0.
template <class T>
result<> run_product(const char* function, const stream_ref& stream, CUdeviceptr a, CUdeviceptr b,
                     CUdeviceptr c, product_shape s, source_location where) {
  constexpr product_type type = product_type_of<T>();
  constexpr std::size_t enough = 96;  // tiles for the multiprocessors of a large GPU
  const bool large = product_tile::of(type.value_bytes, true).count(s) >= enough;
  const product_tile tile = product_tile::of(type.value_bytes, large);
  const std::size_t blocks = tile.count(s);
  GPU_TRY(require_grid(function, blocks, blocks, where));
  const untyped_kernel* const kernel = GPU_TRY((find_generated<matmul_family<T>>(
      function, stream, large ? 1 : 0, where,
      [&](generated_program& program) { return write_product(type, tile, program); })));
  void* pointers[] = {&a, &b, &c, &s};
  return launch_generated(stream, {static_cast<std::uint32_t>(blocks), 256}, *kernel, pointers,
                          where);
}

}}}  // namespace gpu::v1::detail
