#pragma once
/// Checks the operands and layouts of matrix instructions.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nogpu/ptx/matrix_fragments.hpp>
#include <nogpu/ptx/mnemonics.hpp>
#include <nogpu/ptx/operands.hpp>
#include <nogpu/ptx/value_types.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// The type of the elements of the matrix that a letter of the form stands for.
inline type fragment_element(const resolved_form& form_chosen, char letter) {
  const std::size_t count = form_chosen.type_count;
  if (letter == 'F' || count == 1) return form_chosen.types[0];
  if (letter == 'J') return form_chosen.types[count - 1];
  return count == 2 ? type::f16 : form_chosen.types[letter == 'G' ? 1 : 2];
}

/// A register or number of a fragment, of `t`. Halves are two in a register or number of 32 bits.
inline bool check_fragment_element(parser_context& context, raw_operand& raw, type t, bool writes) {
  const bool is_number = raw.value.is_immediate() || raw.value.kind == operand_kind::special;
  const bool two = t == type::f16x2 || t == type::bf16x2 || t == type::tf32;
  return check_value(context, raw, {is_number && two ? type::b32 : t, false, !writes, !writes});
}

/// The fragment of a matrix: as many registers in braces as its shape and type need.
inline bool check_fragment(parser_context& context, raw_operand& raw,
                           const resolved_form& form_chosen, char letter) {
  const opcode op = form_chosen.row->op;
  const type element = fragment_element(form_chosen, letter);
  const matrix_role role = letter == 'G'   ? matrix_role::a
                           : letter == 'H' ? matrix_role::b
                                           : matrix_role::c;
  const bool four = op == opcode::mma &&
                    is_four_products(form_chosen.with.shape, fragment_element(form_chosen, 'G'));
  const bool group = op == opcode::wgmma_mma;
  // A warp of a group has 16 rows.
  matrix_shape shape = form_chosen.with.shape;
  if (group) shape.m = 16;
  const std::uint32_t count =
      registers_of(shape, role, element, four, is_wmma(op), form_chosen.with.sparse);
  if (raw.value.kind != operand_kind::vector || raw.elements.size() != count) {
    return context.fail(raw.where, "this fragment has " + std::to_string(count) +
                                       (count == 1 ? " register" : " registers") + " in { }");
  }
  const bool writes = letter == 'F' ? op != opcode::wmma_store : form_chosen.type_count == 1;
  const type t = register_type(element);
  if (op == opcode::mma && t == type::u32 && count == 1 && raw.elements[0].value.is_immediate()) {
    return context.fail(raw.where, "a fragment of one register is not a number");
  }
  for (raw_operand& one : raw.elements) {
    if (writes && !group && one.value.kind == operand_kind::sink) continue;
    // Two halves in a register hold four bytes as well.
    const bool bytes = (op == opcode::mma || op == opcode::mma_sp) && t == type::u32;
    const type wanted = bytes && one.value.value_type == type::f16x2 ? type::f16x2 : t;
    if (!check_fragment_element(context, one, wanted, writes)) return false;
  }
  return true;
}

/// The registers of ldmatrix and stmatrix: one of 32 bits for each matrix.
inline bool check_matrices(parser_context& context, raw_operand& raw, std::uint8_t count,
                           bool writes) {
  if (raw.value.kind != operand_kind::vector || raw.elements.size() != count) {
    return context.fail(raw.where, "expected " + std::to_string(count) +
                                       (count == 1 ? " register" : " registers") + " in { }");
  }
  for (raw_operand& one : raw.elements) {
    if (writes && one.value.kind == operand_kind::sink) continue;
    if (!check_value(context, one, {type::b32, false, !writes, !writes})) return false;
  }
  return true;
}

/// Checks .row and .col of A and B, and fills in the types of wmma.mma where the mnemonic leaves
/// them out.
inline bool check_matrix_layouts(parser_context& context, const token& where, instruction& i) {
  if (i.op == opcode::wmma_mma && i.types[2] == type::none) {
    i.types[3] = i.types[1];
    i.types[1] = i.types[2] = type::f16;
  }
  const modifiers& m = i.with;
  const bool multiplies = i.op == opcode::mma || i.op == opcode::mma_sp || i.op == opcode::wmma_mma;
  const type a = multiplies ? i.types[1] : i.types[0];
  const bool free = i.op == opcode::mma_sp ? false
                    : i.op == opcode::mma  ? is_four_products(m.shape, a)
                                           : element_bits(a) >= 8 || i.op == opcode::wmma_load_c ||
                                                i.op == opcode::wmma_store;
  if (free) return true;
  const bool good =
      multiplies ? !m.a_columns && m.b_columns : m.a_columns == (i.op == opcode::wmma_load_b);
  return good || context.fail(where, "A of this shape and type is .row, B is .col");
}

/// The lanes of each four whose metadata a product of a sparse A of this shape and type takes.
constexpr std::uint32_t metadata_lanes(const matrix_shape& shape, type a) {
  // Two bits for each element of a row that is not zero, of 4 bits for each two; of tf32 four.
  const std::uint32_t bits = a == type::tf32        ? 2u * shape.k
                             : element_bits(a) == 4 ? shape.k / 2u
                                                    : shape.k;
  return bits * 16 / 32 / 8;
}

/// The selector behind the metadata: which lanes of each four have it.
inline bool check_selector(parser_context& context, const instruction& i, const raw_operand& raw) {
  const std::uint32_t most = 4 / metadata_lanes(i.with.shape, i.types[1]) - 1;
  return raw.value.value <= most ||
         context.fail(raw.where, "the sparsity selector of this shape and type is at most " +
                                     std::to_string(most) + ", not " +
                                     std::to_string(raw.value.value));
}

/// The constants of a warp group's product, which follow the predicate.
inline bool check_group_product(parser_context& context, const token& where, const instruction& i,
                                const std::vector<raw_operand>& raw) {
  if (i.types[0] == type::s32 && i.with.shape.n % 16 != 0 && i.with.shape.n != 8 &&
      i.with.shape.n != 24) {
    return context.fail(where, "a product of integers has 8, 24 or a multiple of 16 columns, not " +
                                   std::to_string(i.with.shape.n));
  }
  const std::size_t first = i.with.sparse ? 6 : 4;
  for (std::size_t n = first; n < raw.size(); ++n) {
    const auto value = static_cast<std::int32_t>(raw[n].value.value);
    const bool scale = n < first + 2;
    if (scale ? value == 1 || value == -1 : value == 0 || value == 1) continue;
    return context.fail(raw[n].where, (scale ? "A and B are scaled by 1 or -1, not by "
                                             : "a matrix is transposed by 0 or 1, not ") +
                                          std::to_string(value));
  }
  return !i.with.sparse || check_selector(context, i, raw[4]);
}

}}}  // namespace nogpu::v1::ptx::detail
