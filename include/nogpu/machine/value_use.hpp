// Finds out whether a function uses a value that a shuffle gave it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <utility>

#include <nogpu/machine/register_use.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Looks at the instructions from a shuffle to the next jump: a value of a lane that is elsewhere
/// is a mistake only if something is computed with it.
class value_use {
 public:
  value_use(const ptx::function& function, std::uint32_t shuffle)
      : function_{function}, shuffle_{shuffle} {}

  /// Returns whether something is computed with register `reg` that the shuffle fills. It does not
  /// count if the value is dropped, is one of two in a selection, is passed on in local memory or
  /// parameters, or is the word into which members of a bit field are inserted.
  bool computes_with(std::uint32_t reg) {
    seen_.clear();
    return follow(shuffle_, reg, false);
  }

 private:
  static constexpr std::uint32_t longest = 512;  // instructions that are looked at

  /// Follows the instructions after `from`. If `derived`, the register is a result.
  bool follow(std::uint32_t from, std::uint32_t reg, bool derived) {
    if (!seen_.insert({from, reg}).second) return false;
    const std::uint32_t end = function_.instructions.size() - shuffle_ > longest
                                  ? shuffle_ + longest
                                  : static_cast<std::uint32_t>(function_.instructions.size());
    for (std::uint32_t n = from + 1; n < end; ++n) {
      const ptx::instruction& i = function_.instructions[n];
      if (i.when.reg == reg) return true;
      if (reads(i, reg) && decides(n, i, reg, derived)) return true;
      if (i.op == ptx::opcode::bra || i.op == ptx::opcode::brx_idx)
        return derived && is_read_outside(from, n, reg);
      if ((i.op == ptx::opcode::ret || i.op == ptx::opcode::exit) && i.when.reg == ptx::no_index)
        return false;
      if (i.when.reg == ptx::no_index && writes(i, reg)) return false;
    }
    return derived && end != function_.instructions.size();
  }

  /// Returns whether the result of instruction `n`, which reads the register, depends on its value.
  bool decides(std::uint32_t n, const ptx::instruction& i, std::uint32_t reg, bool derived) {
    using enum ptx::opcode;
    const auto operands = function_.operands_of(i);
    const auto is = [&](std::size_t operand) {
      return operand < operands.size() && operands[operand].kind == ptx::operand_kind::reg &&
             operands[operand].index == reg;
    };
    switch (i.op) {
      case selp:
      case slct: return is(3);
      case st:
        if (operands[0].index == reg && operands[0].kind == ptx::operand_kind::address) return true;
        return derived || !may_hand_on(i);
      case mov:
      case mov_pack: return follow(n, operands[0].index, derived);
      case bfi:
        if (is(2) && !is(1)) return false;
        break;
      case and_:
      case lop3:
        if (!derived && clears_bits(operands)) return false;
        break;
      default: break;
    }
    if (!is_arithmetic(i.op)) return true;
    bool decided = false;
    each_register(function_, operands[0],
                  [&](std::uint32_t result) { decided = decided || follow(n, result, true); });
    return decided;
  }

  static bool may_hand_on(const ptx::instruction& store) {
    return store.with.space == ptx::state_space::local ||
           store.with.space == ptx::state_space::param;
  }

  /// Returns whether a source is a constant that clears bits of the value.
  bool clears_bits(std::span<const ptx::operand> operands) const {
    const std::uint32_t bits = 8 * ptx::size_of(function_.instructions[shuffle_].types[0]);
    const std::uint64_t all = bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{};
    const auto sources = operands.subspan(1, std::min<std::size_t>(3, operands.size() - 1));
    return std::any_of(sources.begin(), sources.end(), [all](const ptx::operand& o) {
      return o.is_immediate() && (o.value & all) != all;
    });
  }

  bool names(std::span<const ptx::operand> operands, std::uint32_t reg) const {
    bool found = false;
    for (const ptx::operand& o : operands)
      each_register(function_, o, [&](std::uint32_t named) { found = found || named == reg; });
    return found;
  }
  bool reads(const ptx::instruction& i, std::uint32_t reg) const {
    return names(function_.operands_of(i).subspan(has_result(i.op) ? 1 : 0), reg);
  }
  bool writes(const ptx::instruction& i, std::uint32_t reg) const {
    return has_result(i.op) && names(function_.operands_of(i).first(1), reg);
  }
  bool is_read_outside(std::uint32_t from, std::uint32_t to, std::uint32_t reg) const {
    for (std::uint32_t n = 0; n < function_.instructions.size(); ++n)
      if ((n <= from || n > to) && reads(function_.instructions[n], reg)) return true;
    return false;
  }

  const ptx::function& function_;
  std::uint32_t shuffle_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;
};

}}}  // namespace nogpu::v1::machine::detail
