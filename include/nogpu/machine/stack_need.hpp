// Computes how much stack a kernel and its functions take on a device, as far as PTX shows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nogpu/machine/code.hpp>
#include <nogpu/machine/lowering_context.hpp>
#include <nogpu/machine/register_use.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Returns whether a call is of a function of the module, not of the device's runtime.
inline bool leads_to_code(const ptx::module& module, const ptx::call_site& call) {
  return call.function == ptx::no_index || module.functions[module.aliased(call.function)].defined;
}

/// Finds which registers of a function hold values that are needed after a call: a device keeps
/// them on the stack while the callee runs.
class call_liveness {
 public:
  explicit call_liveness(const ptx::module& module, const ptx::function& function)
      : module_{module}, function_{function}, words_{(function.registers.size() + 63) / 64} {
    find_constants();
    find_blocks();
  }

  /// The most bytes that such registers have at one call of a function of the module; 0 for
  /// functions that would take long to look at.
  std::uint32_t most_bytes() {
    constexpr std::size_t most_words = std::size_t{1} << 22;
    if (begins_.size() * words_ > most_words) return 0;
    live_.assign(begins_.size(), registers(words_, 0));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = begins_.size(); b-- > 0;) changed = update(b) || changed;
    }
    is_settled_ = true;
    for (std::size_t b = 0; b < begins_.size(); ++b) (void)update(b);
    return most_;
  }

 private:
  using registers = std::vector<std::uint64_t>;  // one bit for each

  static bool has(const registers& set, std::uint32_t reg) {
    return (set[reg / 64] >> reg % 64 & 1) != 0;
  }
  static void add(registers& set, std::uint32_t reg) {
    set[reg / 64] |= std::uint64_t{1} << reg % 64;
  }
  static void remove(registers& set, std::uint32_t reg) {
    set[reg / 64] &= ~(std::uint64_t{1} << reg % 64);
  }

  /// Registers that hold constants or addresses of variables cost nothing: they are made again.
  void find_constants() {
    computed_.assign(words_, 0);
    for (const ptx::instruction& i : function_.instructions) {
      const auto operands = function_.operands_of(i);
      if (!has_result(i.op) || operands.empty()) continue;
      const bool moved = i.op == ptx::opcode::mov || i.op == ptx::opcode::mov_address;
      if (moved && !operands[1].is_register()) continue;
      each_register(function_, operands[0], [&](std::uint32_t reg) { add(computed_, reg); });
    }
    for (const ptx::call_site& call : function_.calls)
      for (const ptx::operand& o : call.results)
        each_register(function_, o, [&](std::uint32_t reg) { add(computed_, reg); });
    for (const ptx::parameter& p : function_.parameters)
      if (p.reg != ptx::no_index) add(computed_, p.reg);
  }

  static bool jumps(ptx::opcode op) {
    return op == ptx::opcode::bra || op == ptx::opcode::brx_idx || op == ptx::opcode::ret ||
           op == ptx::opcode::exit;
  }

  void find_blocks() {
    const std::size_t count = function_.instructions.size();
    std::vector<bool> begins(count + 1, false);
    begins[0] = true;
    for (const ptx::label& l : function_.labels) begins[l.instruction] = true;
    for (std::size_t n = 0; n < count; ++n)
      if (jumps(function_.instructions[n].op)) begins[n + 1] = true;
    block_of_.resize(count + 1);
    for (std::size_t n = 0; n <= count; ++n) {
      if (begins[n]) begins_.push_back(n);
      block_of_[n] = begins_.size() - 1;
    }
  }

  /// Returns the registers that are live at the end of block `b`.
  registers live_behind(std::size_t b, std::size_t end) const {
    registers live(words_, 0);
    const auto join = [&](std::size_t instruction) {
      const registers& from = live_[block_of_[instruction]];
      for (std::size_t w = 0; w < words_; ++w) live[w] |= from[w];
    };
    const ptx::instruction* last = end > begins_[b] ? &function_.instructions[end - 1] : nullptr;
    const bool ends = last != nullptr && jumps(last->op);
    if ((!ends || last->when.reg != ptx::no_index) && end < function_.instructions.size())
      join(end);
    if (!ends) return live;
    const auto operands = function_.operands_of(*last);
    if (last->op == ptx::opcode::bra) join(function_.labels[operands[0].index].instruction);
    if (last->op == ptx::opcode::brx_idx)
      for (const std::uint32_t label : function_.branch_tables[operands[1].index])
        join(function_.labels[label].instruction);
    return live;
  }

  /// Goes backwards through a block. Whether more is live at its begin than was known.
  bool update(std::size_t b) {
    const std::size_t end = b + 1 < begins_.size() ? begins_[b + 1] : function_.instructions.size();
    registers live = live_behind(b, end);
    for (std::size_t n = end; n-- > begins_[b];) step(function_.instructions[n], live);
    if (live == live_[b]) return false;
    live_[b] = std::move(live);
    return true;
  }

  void step(const ptx::instruction& i, registers& live) {
    const auto operands = function_.operands_of(i);
    const bool always = i.when.reg == ptx::no_index;
    const auto written = [&](std::uint32_t reg) {
      if (always) remove(live, reg);
    };
    const auto read = [&](std::uint32_t reg) {
      if (has(computed_, reg)) add(live, reg);
    };
    if (i.op == ptx::opcode::call) {
      const ptx::call_site& call = function_.calls[operands[0].index];
      for (const ptx::operand& o : call.results) each_register(function_, o, written);
      if (is_settled_ && leads_to_code(module_, call)) most_ = std::max(most_, bytes_of(live));
      for (const ptx::operand& o : call.arguments) each_register(function_, o, read);
      if (call.target_register != ptx::no_index) read(call.target_register);
    } else {
      const std::size_t results = has_result(i.op) && !operands.empty() ? 1 : 0;
      if (results != 0) each_register(function_, operands[0], written);
      for (const ptx::operand& o : operands.subspan(results)) each_register(function_, o, read);
    }
    if (!always) read(i.when.reg);
  }

  std::uint32_t bytes_of(const registers& live) const {
    std::uint32_t bytes = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t left = live[w]; left != 0; left &= left - 1) {
        const ptx::type t =
            function_.registers[w * 64 + static_cast<std::size_t>(std::countr_zero(left))];
        if (t != ptx::type::pred) bytes += (ptx::size_of(t) + 3) / 4 * 4;
      }
    }
    return bytes;
  }

  const ptx::module& module_;
  const ptx::function& function_;
  std::size_t words_;
  registers computed_;
  std::vector<std::size_t> begins_;    // the first instruction of each block
  std::vector<std::size_t> block_of_;  // each instruction
  std::vector<registers> live_;        // at the begin of each block
  bool is_settled_ = false;            // nothing changes any more
  std::uint32_t most_ = 0;
};

/// The bytes that a frame of the function takes of a device's stack: its variables, and its large
/// parameters and results. Small ones are in registers.
inline std::uint32_t frame_on_stack(const ptx::function& f) {
  constexpr std::uint32_t in_registers = 48;
  std::uint64_t bytes = 0;
  for (const ptx::variable& v : f.variables)
    if (v.space == ptx::state_space::local)
      bytes = align_up(bytes, v.alignment ? v.alignment : 1) + v.size;
  if (f.entry) return static_cast<std::uint32_t>(align_up(bytes, 8));
  for (const auto* list : {&f.parameters, &f.returns})
    for (const ptx::parameter& p : *list)
      if (p.size > in_registers) bytes = align_up(bytes, 8) + p.size;
  return static_cast<std::uint32_t>(align_up(bytes, 8));
}

/// The bytes that a device keeps on the stack while the function calls another: a return address
/// and the values that are needed afterwards. Those of an entry are the callee's to keep.
inline std::uint32_t kept_during_calls(const ptx::module& module, const ptx::function& f) {
  constexpr std::uint32_t return_address = 8;
  const bool calls = std::any_of(f.calls.begin(), f.calls.end(), [&](const ptx::call_site& call) {
    return leads_to_code(module, call);
  });
  if (f.entry || !calls) return 0;
  return (call_liveness(module, f).most_bytes() + return_address + 7) / 8 * 8;
}

/// The stack that a kernel needs.
struct stack_need {
  std::uint64_t local_bytes = 0;  // of the longest chain of direct calls; recursion counts once
  bool depth_is_known = true;     // nothing is recursive, nor called by its address
};

inline stack_need stack_need_of(const executable& e) {
  struct node {
    std::uint64_t deepest = 0;
    std::size_t next_call = 0;
    bool is_open = true;
  };
  bool depth_is_known = true;
  std::unordered_map<const lowered_function*, node> nodes;
  // A path of its own instead of recursion: the chain may be as long as the text.
  std::vector<const lowered_function*> path{e.start};
  while (!path.empty()) {
    const lowered_function& f = *path.back();
    node& here = nodes[&f];
    if (here.next_call < f.calls.size()) {
      const std::uint32_t callee = f.calls[here.next_call++].function;
      const lowered_function* next = callee == ptx::no_index ? nullptr : e.function(callee);
      const auto known = nodes.find(next);
      if (next != nullptr && known == nodes.end()) path.push_back(next);
      if (callee == ptx::no_index || (known != nodes.end() && known->second.is_open))
        depth_is_known = false;
      continue;
    }
    std::uint64_t below = 0;
    for (const lowered_call& call : f.calls)
      if (const lowered_function* callee =
              call.function == ptx::no_index ? nullptr : e.function(call.function))
        below = std::max(below, nodes[callee].deepest);
    here.deepest = f.frame_bytes + below;
    here.is_open = false;
    path.pop_back();
  }
  return {nodes[e.start].deepest, depth_is_known};
}

}}}  // namespace nogpu::v1::machine::detail
