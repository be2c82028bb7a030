// Lowers matrix instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <nogpu/machine/handlers/matrix_group.hpp>
#include <nogpu/machine/handlers/matrix_memory.hpp>
#include <nogpu/machine/handlers/matrix_multiply.hpp>
#include <nogpu/machine/lower_memory.hpp>
#include <nogpu/machine/lowering_context.hpp>
#include <nogpu/machine/matrix_plan.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Returns the index of the instruction's plan in the function.
inline std::uint32_t plan_matrix(lowering_context& c, const ptx::instruction& i) {
  auto& plans = c.out.plans;
  for (std::uint32_t n = 0; n < plans.size(); ++n)
    if (has_plan(*plans[n], i)) return n;
  plans.push_back(std::make_shared<const matrix_plan>(make_matrix_plan(i)));
  return static_cast<std::uint32_t>(plans.size() - 1);
}

/// Appends an instruction that all lanes execute together.
inline decoded& emit_matrix(lowering_context& c, collective_handler together) {
  const std::uint32_t members = c.constant(all_lanes, 4);
  decoded& d = c.emit(&run_matrix);
  d.together = together;
  d.target = members;
  return d;
}

/// mma, mma.sp and wmma.mma.
inline bool lower_multiply(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  // Numbers and special registers get their slots first: the list has to be in one piece.
  std::vector<std::uint32_t> list{plan_matrix(c, i)};
  for (std::size_t n = 0; n < 4; ++n)
    for (const ptx::operand& e : c.source.elements_of(operands[n]))
      list.push_back(n == 0 && e.kind == ptx::operand_kind::sink ? no_slot : c.operand_slot(e));
  const bool sparse = i.op == ptx::opcode::mma_sp;
  const std::uint32_t metadata = sparse ? c.operand_slot(operands[4]) : no_slot;
  decoded& d = emit_matrix(c, sparse ? &multiply_sparse : &multiply_matrices);
  if (sparse) {
    d.slots[5] = metadata;
    d.option = static_cast<std::uint8_t>(operands[5].value);
  }
  d.list = static_cast<std::uint32_t>(c.out.lists.size());
  c.out.lists.insert(c.out.lists.end(), list.begin(), list.end());
  return true;
}

/// wmma.load, wmma.store, ldmatrix and stmatrix.
inline bool lower_matrix_access(lowering_context& c, const ptx::instruction& i) {
  using ptx::opcode;
  const auto operands = c.source.operands_of(i);
  const bool small = i.op == opcode::ldmatrix || i.op == opcode::stmatrix;
  const bool load = i.op != opcode::wmma_store && i.op != opcode::stmatrix;
  const lowered_address a = lower_address(c, operands[load ? 1 : 0], i.with.space);
  if (!a.good) return false;
  const std::uint32_t plan = small ? 0 : plan_matrix(c, i);
  std::vector<std::uint32_t> list;
  if (!small) list.push_back(plan);
  for (const ptx::operand& e : c.source.elements_of(operands[load ? 0 : 1]))
    list.push_back(load && e.kind == ptx::operand_kind::sink ? no_slot : c.operand_slot(e));
  const std::uint32_t stride = operands.size() > 2 ? c.operand_slot(operands[2]) : no_slot;
  decoded& d = emit_matrix(c, !small ? (load ? &load_fragment : &store_fragment)
                              : load ? &move_small_matrices<true>
                                     : &move_small_matrices<false>);
  set_address(d, a, 0);
  d.slots[1] = stride;
  d.option = static_cast<std::uint8_t>(a.where);
  d.count = i.with.vector;
  d.list = static_cast<std::uint32_t>(c.out.lists.size());
  c.out.lists.insert(c.out.lists.end(), list.begin(), list.end());
  return true;
}

inline bool lower_movmatrix(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  const std::uint32_t to = c.operand_slot(operands[0]), from = c.operand_slot(operands[1]);
  decoded& d = emit_matrix(c, &transpose_small_matrix);
  d.slots[0] = to;
  d.slots[1] = from;
  return true;
}

/// wgmma.mma_async.
inline bool lower_group_product(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  const std::size_t more = i.with.sparse ? 2 : 0;  // metadata and selector
  std::vector<std::uint32_t> list{plan_matrix(c, i)};
  for (const ptx::operand& e : c.source.elements_of(operands[0])) list.push_back(c.operand_slot(e));
  const bool in_registers = operands[1].kind == ptx::operand_kind::vector;
  if (in_registers)
    for (const ptx::operand& e : c.source.elements_of(operands[1]))
      list.push_back(c.operand_slot(e));
  const std::uint32_t a = in_registers ? no_slot : c.operand_slot(operands[1]);
  const std::uint32_t b = c.operand_slot(operands[2]);
  const std::uint32_t metadata = more != 0 ? c.operand_slot(operands[3]) : no_slot;
  const ptx::operand& counts = operands[3 + more];
  const std::uint32_t predicate = c.operand_slot(counts);
  const auto constant = [&](std::size_t n) {
    return n < operands.size() ? static_cast<std::int32_t>(operands[n].value) : 0;
  };
  decoded& d = emit_matrix(c, &multiply_for_group);
  d.slots[0] = a;
  d.slots[1] = b;
  d.slots[2] = predicate;
  d.slots[5] = metadata;
  d.negated = counts.negated ? 1u << 2 : 0;
  d.option = more != 0 ? static_cast<std::uint8_t>(operands[4].value) : std::uint8_t{0};
  d.offset = (constant(4 + more) * constant(5 + more) < 0 ? group_negated : 0) |
             (!in_registers && constant(6 + more) != 0 ? group_a_transposed : 0) |
             (constant(in_registers ? 6 + more : 7 + more) != 0 ? group_b_transposed : 0);
  d.list = static_cast<std::uint32_t>(c.out.lists.size());
  c.out.lists.insert(c.out.lists.end(), list.begin(), list.end());
  return true;
}

}}}  // namespace nogpu::v1::machine::detail
