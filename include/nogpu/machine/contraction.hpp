// Chooses the sums of a function that become fused multiply-adds.
//
// A mul, add or sub of floating type without a rounding modifier may be fused, and NVIDIA's
// assembler does so: compilers leave `a * b - c` to it. It fuses a product into the sums that use
// it if all of its uses are such sums, so that the product itself need not be computed, and if they
// are in the same block, or in any if a factor is a constant. Divisions, reciprocals and square
// roots that are rounded correctly end a block: the assembler branches to a subroutine for their
// rare cases. That rule follows from what an H200 and an H100 gave for some hundred programs; it
// holds but for loops, which the assembler unrolls before it fuses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

class contraction {
 public:
  /// A sum that takes in a product; `second`: as its second operand.
  struct fusion {
    std::uint32_t product = ptx::no_index;  // the instruction
    bool second = false;
  };

  /// `off`: nothing is fused.
  contraction(const ptx::function& function, bool off) : function_{function} {
    if (off) return;
    const auto& code = function.instructions;
    const bool any = std::any_of(code.begin(), code.end(), [](const ptx::instruction& i) {
      return i.op == ptx::opcode::mul && may_fuse(i);
    });
    if (!any) return;
    number_blocks();
    note_registers();
    while (fuse()) {
    }
    for (const fusion& f : fusions_)
      if (f.product != ptx::no_index) dropped_.insert(f.product);
  }

  /// The product that instruction `n` takes in, if it does.
  fusion of(std::uint32_t n) const { return n < fusions_.size() ? fusions_[n] : fusion{}; }
  /// Returns whether instruction `n` is a product that became part of sums.
  bool drops(std::uint32_t n) const { return dropped_.count(n) != 0; }

 private:
  static bool may_fuse(const ptx::instruction& i) {
    using enum ptx::type;
    const ptx::type t = i.types[0];
    return (t == f32 || t == f64 || t == f16 || t == f16x2 || t == bf16 || t == bf16x2) &&
           i.with.round == ptx::rounding::none && i.types[1] == none;
  }
  static bool is_sum(const ptx::instruction& i) {
    return (i.op == ptx::opcode::add || i.op == ptx::opcode::sub) && may_fuse(i);
  }

  static bool calls_subroutine(const ptx::instruction& i) {
    using enum ptx::opcode;
    return (i.op == div || i.op == rcp || i.op == sqrt) && i.with.round != ptx::rounding::none;
  }

  void number_blocks() {
    const auto& code = function_.instructions;
    std::vector<bool> begins(code.size() + 1);
    const auto begin_at = [&](std::uint32_t label) {
      begins[function_.labels[label].instruction] = true;
    };
    for (std::size_t n = 0; n < code.size(); ++n) {
      using enum ptx::opcode;
      if (code[n].op == bra) begin_at(function_.operands_of(code[n])[0].index);
      if (code[n].op == bra || code[n].op == brx_idx || code[n].op == call || code[n].op == ret ||
          code[n].op == exit)
        begins[n + 1] = true;
    }
    for (const auto& table : function_.branch_tables)
      for (const std::uint32_t label : table) begin_at(label);
    for (std::size_t n = 0; n < code.size(); ++n) {
      const bool next_part = begins[n] || (n > 0 && calls_subroutine(code[n - 1]));
      blocks_.push_back((blocks_.empty() ? 0 : blocks_.back()) + (begins[n] ? 1 : 0));
      parts_.push_back((parts_.empty() ? 0 : parts_.back()) + (next_part ? 1 : 0));
    }
  }

  /// Notes where each register is written and read. Instructions other than calls write their first
  /// operand.
  void note_registers() {
    writes_.resize(function_.registers.size());
    reads_.resize(function_.registers.size());
    for (std::uint32_t n = 0; n < function_.instructions.size(); ++n) {
      const ptx::instruction& i = function_.instructions[n];
      if (i.op == ptx::opcode::call) {
        const ptx::call_site& site = function_.calls[function_.operands_of(i)[0].index];
        for (const ptx::operand& o : site.results) note(o, writes_, n);
        for (const ptx::operand& o : site.arguments) note(o, reads_, n);
        continue;
      }
      const auto operands = function_.operands_of(i);
      for (std::size_t k = 0; k < operands.size(); ++k)
        note(operands[k], k == 0 ? writes_ : reads_, n);
      if (i.op == ptx::opcode::wgmma_mma) note(operands[0], reads_, n);  // added to
    }
    for (const ptx::parameter& p : function_.parameters)  // written by no instruction
      if (p.reg != ptx::no_index) writes_[p.reg].push_back(ptx::no_index);
  }

  void note(const ptx::operand& o, std::vector<std::vector<std::uint32_t>>& where,
            std::uint32_t n) const {
    using enum ptx::operand_kind;
    if (o.kind == reg) where[o.index].push_back(n);
    if (o.kind == vector || o.kind == pair || o.kind == image)
      for (const ptx::operand& e : function_.elements_of(o)) note(e, where, n);
  }

  const ptx::instruction& at(std::uint32_t n) const { return function_.instructions[n]; }

  /// The instruction whose result register `reg` holds at instruction `n`, or no_index.
  std::uint32_t source_of(std::uint32_t reg, std::uint32_t n) const {
    const auto& writes = writes_[reg];
    const auto after = std::lower_bound(writes.begin(), writes.end(), n);
    if (after == writes.begin()) return ptx::no_index;
    const std::uint32_t last = *(after - 1);
    return writes.size() == 1 || blocks_[last] == blocks_[n] ? last : ptx::no_index;
  }

  /// The instructions that use the result of `m`; `m` itself among them if there may be others.
  std::vector<std::uint32_t> uses_of(std::uint32_t m) const {
    const std::uint32_t reg = function_.operands_of(at(m))[0].index;
    const auto& writes = writes_[reg];
    if (writes.size() == 1) return reads_[reg];
    std::vector<std::uint32_t> uses;
    for (const std::uint32_t n : reads_[reg]) {
      const std::uint32_t from = source_of(reg, n);
      if (from == m) uses.push_back(n);
      if (from == ptx::no_index || at(from).when.reg != ptx::no_index) uses.push_back(m);
    }
    return uses;
  }

  /// Returns whether an operand is the same in all threads and known before the kernel starts.
  bool is_constant(const ptx::operand& o) const {
    if (!o.is_register()) return o.is_immediate();
    const auto& writes = writes_[o.index];
    if (writes.size() != 1 || writes[0] == ptx::no_index) return false;
    const ptx::instruction& from = at(writes[0]);
    if (from.op != ptx::opcode::mov && from.op != ptx::opcode::ld) return false;
    const ptx::operand& source = function_.operands_of(from)[1];
    if (from.op == ptx::opcode::mov) return source.is_immediate();
    return source.index == ptx::no_index &&
           ((from.with.space == ptx::state_space::param && function_.entry) ||
            from.with.space == ptx::state_space::constant);
  }

  /// The product that sum `n` might take in as operand `o`, or no_index.
  std::uint32_t product_of(std::uint32_t n, const ptx::operand& o) const {
    const std::uint32_t m = o.is_register() ? source_of(o.index, n) : ptx::no_index;
    if (m == ptx::no_index || at(m).op != ptx::opcode::mul || kept_.count(m) != 0)
      return ptx::no_index;
    const ptx::instruction& product = at(m);
    if (!may_fuse(product) || product.with.sat || product.when.reg != ptx::no_index ||
        product.types[0] != at(n).types[0] || product.with.ftz != at(n).with.ftz)
      return ptx::no_index;
    const auto factors = function_.operands_of(product).subspan(1);
    const bool near = parts_[m] == parts_[n];
    if (!near && !is_constant(factors[0]) && !is_constant(factors[1])) return ptx::no_index;
    for (const ptx::operand& factor : factors) {
      if (!factor.is_register()) continue;
      const auto& writes = writes_[factor.index];
      if (near ? std::any_of(writes.begin(), writes.end(),
                             [&](std::uint32_t w) { return w >= m && w < n; })
               : writes.size() != 1)
        return ptx::no_index;
    }
    return m;
  }

  /// Fuses all sums that may be fused, then finds products with uses that were not. Returns false
  /// if there are none.
  bool fuse() {
    fusions_.assign(function_.instructions.size(), {});
    std::set<std::uint32_t> wanted;
    for (std::uint32_t n = 0; n < function_.instructions.size(); ++n) {
      if (!is_sum(at(n))) continue;
      const auto operands = function_.operands_of(at(n));
      const ptx::operand& first = operands[1];
      const ptx::operand& second = operands[2];
      if (first.is_register() && second.is_register() && first.index == second.index) continue;
      const std::uint32_t a = product_of(n, first), b = product_of(n, second);
      if (a == ptx::no_index && b == ptx::no_index) continue;
      // Of two, the one that is used less.
      const bool takes_second =
          a == ptx::no_index || (b != ptx::no_index && uses_of(b).size() < uses_of(a).size());
      fusions_[n] = {takes_second ? b : a, takes_second};
      wanted.insert(fusions_[n].product);
    }
    const std::size_t before = kept_.size();
    for (const std::uint32_t m : wanted) {
      const auto uses = uses_of(m);
      if (std::any_of(uses.begin(), uses.end(),
                      [&](std::uint32_t n) { return fusions_[n].product != m; }))
        kept_.insert(m);
    }
    return kept_.size() != before;
  }

  const ptx::function& function_;
  std::vector<std::uint32_t> blocks_;               // of each instruction
  std::vector<std::uint32_t> parts_;                // also ended by calls of subroutines
  std::vector<std::vector<std::uint32_t>> writes_;  // of each register, the instructions
  std::vector<std::vector<std::uint32_t>> reads_;
  std::vector<fusion> fusions_;
  std::set<std::uint32_t> kept_;  // products that are computed
  std::set<std::uint32_t> dropped_;
};

}}}  // namespace nogpu::v1::machine::detail
