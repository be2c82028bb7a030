// The registers that an instruction reads and writes.
#pragma once

#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

inline bool is_arithmetic(ptx::opcode op) {
  using enum ptx::opcode;
  return op <= mov_unpack || op == cvt || op == cvt_pack || (op >= vadd && op <= vset4);
}

/// Returns whether the first operand is written and not read.
inline bool has_result(ptx::opcode op) {
  using enum ptx::opcode;
  return is_arithmetic(op) || op == mov_address || op == ld || op == ldu || op == shfl ||
         op == atom || op == cvta || op == mapa || op == isspacep || op == vote ||
         op == activemask || op == redux || (op >= tex && op <= istypep) || op == suld ||
         op == suq || (op >= mma && op <= wmma_load_c) || op == ldmatrix || op == movmatrix;
}

/// Calls `f` with every register that an operand names.
template <class F>
inline void each_register(const ptx::function& function, const ptx::operand& o, F f) {
  using ptx::operand_kind;
  if (o.kind == operand_kind::reg || (o.kind == operand_kind::address && o.index != ptx::no_index))
    f(o.index);
  if (o.kind == operand_kind::vector || o.kind == operand_kind::pair ||
      o.kind == operand_kind::image)
    for (const ptx::operand& e : function.elements_of(o))
      if (e.kind == operand_kind::reg) f(e.index);
}

}}}  // namespace nogpu::v1::machine::detail
