#pragma once
/// The registers of the fragments of matrices that the lanes of a warp hold.

#include <cstdint>

#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

/// A matrix of D = A * B + C; D has the fragments of C.
enum class matrix_role : std::uint8_t { a, b, c };

/// Bits of an element of a matrix.
constexpr std::uint32_t element_bits(type t) {
  switch (t) {
    case type::b1: return 1;
    case type::s4:
    case type::u4: return 4;
    default: return size_of(t) * 8;
  }
}

/// Returns whether an instruction of this shape and type of A multiplies four pairs of 8 x 4 and
/// 4 x 8 matrices, each in 8 of the lanes, as mma.m8n8k4 of .f16 does.
constexpr bool is_four_products(const matrix_shape& shape, type a) {
  return shape == matrix_shape{8, 8, 4} && a != type::f64;
}

/// The registers of a lane for one matrix. `four`: of an instruction that multiplies four pairs.
/// `wmma`: fragments of .f16 for A and B have eight registers in every shape, of which those that
/// are not needed hold copies. `sparse`: A has half of its elements.
constexpr std::uint32_t registers_of(const matrix_shape& shape, matrix_role role, type t, bool four,
                                     bool wmma, bool sparse = false) {
  if (wmma && t == type::f16 && role != matrix_role::c) return 8;
  const std::uint32_t elements = role == matrix_role::a   ? shape.m * shape.k
                                 : role == matrix_role::b ? shape.k * shape.n
                                                          : shape.m * shape.n;
  const std::uint32_t register_bits = t == type::f64 ? 64 : 32;
  const std::uint32_t shares = sparse && role == matrix_role::a ? 2 : 1;
  return elements * element_bits(t) * (four ? 4 : 1) / register_bits / 32 / shares;
}

/// The shape of the part of a product that a warp multiplies at once: of a warp group's, 16 rows of
/// A and 8 columns of B.
constexpr matrix_shape block_shape(opcode op, const matrix_shape& shape) {
  return op == opcode::wgmma_mma ? matrix_shape{16, 8, shape.k} : shape;
}

constexpr bool is_wmma(opcode op) { return op >= opcode::wmma_mma && op <= opcode::wmma_store; }

/// The type that the registers of a fragment are declared as.
constexpr type register_type(type element) {
  switch (element) {
    case type::f16: return type::f16x2;
    case type::bf16: return type::bf16x2;
    case type::tf32:
    case type::f32:
    case type::f64:
    case type::s32: return element;
    default: return type::u32;
  }
}

}}}  // namespace nogpu::v1::ptx
