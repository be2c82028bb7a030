// Counts what the warps of a worker execute, by line, for a report of costs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nogpu/machine/cost_kinds.hpp>
#include <nogpu/machine/cost_memory.hpp>
#include <nogpu/machine/cost_table.hpp>
#include <nogpu/machine/memory_access.hpp>
#include <nogpu/machine/report.hpp>
#include <nogpu/machine/warp.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// One function as it is counted: for each decoded instruction, its line and its kind.
class function_costs {
 public:
  function_costs(const ptx::module& module, const lowered_function& function) {
    const ptx::function& source = *function.source;
    std::map<std::pair<std::string, unsigned>, std::uint32_t> rows;
    std::vector<std::uint32_t> row_of;  // of each parsed instruction
    for (const ptx::instruction& i : source.instructions) {
      fault place;
      detail::locate_in_source(module, source, i, place);
      const bool known = !place.source_file.empty() && place.source_line != 0;
      const unsigned line = known ? place.source_line : place.ptx_line;
      if (!known) place.source_file.clear();
      const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
      std::string& text = place.instruction;
      std::replace_if(text.begin(), text.end(), is_space, ' ');
      text.erase(std::unique(text.begin(), text.end(),
                             [](char a, char b) { return a == ' ' && b == ' '; }),
                 text.end());
      const auto [found, fresh] =
          rows.try_emplace({place.source_file, line}, static_cast<std::uint32_t>(lines.size()));
      if (fresh)
        lines.push_back({place.source_file, line, known ? std::string() : place.instruction, {}});
      row_of.push_back(found->second);
    }
    for (std::size_t pc = 0; pc < function.code.size(); ++pc) {
      const decoded& d = function.code[pc];
      step& s = steps.emplace_back();
      // What is not of the source is the return at the end. An instruction of the source may become
      // several, of which the last is counted.
      if (d.origin >= source.instructions.size() || function.code[pc + 1].origin == d.origin)
        continue;
      s.counts = true;
      s.row = row_of[d.origin];
      s.kind = detail::kind_of_instruction(source, *d.source);
      s.access = detail::access_of(d);
    }
  }

  struct step {
    bool counts = false;
    instruction_kind kind = instruction_kind::move;
    std::uint32_t row = 0;  // in `lines`
    detail::counted_access access;
  };
  std::vector<step> steps;
  std::vector<line_costs> lines;
};

/// The counts of one worker for one launch.
class launch_costs {
 public:
  explicit launch_costs(const ptx::module& module) : module_{module} {}

  function_costs& of(const lowered_function& function) {
    if (last_ == nullptr || last_->first != &function)
      last_ = &*functions_.try_emplace(&function, module_, function).first;
    return last_->second;
  }
  void add_to(cost_table& table, const std::string& kernel) const {
    for (const auto& each : functions_)
      for (const line_costs& line : each.second.lines)
        if (line.counts.instructions() != 0) table.add(kernel, line);
  }

 private:
  using entry = std::pair<const lowered_function* const, function_costs>;
  const ptx::module& module_;
  std::map<const lowered_function*, function_costs> functions_;
  entry* last_ = nullptr;
};

namespace detail {

/// Counts what an instruction accesses, before it does, since it may overwrite its address. Returns
/// its kind, which for a generic address is that of the memory of the first lane.
inline instruction_kind count_access(cost_counts& counts, const warp& w, const decoded& d,
                                     const function_costs::step& s, lane_mask mask) {
  const counted_access& access = s.access;
  using target = counted_access::target;
  lane_addresses global, shared;
  instruction_kind kind = s.kind;
  const auto note_generic = [&](unsigned lane, address a) {
    const bool load = s.kind == instruction_kind::global_load;
    const bool fixed = s.kind != instruction_kind::global_store && !load;
    ptx::state_space space = ptx::state_space::global;
    if (in_window(a, shared_window)) {
      space = ptx::state_space::shared;
      shared.add(lane, a - shared_window);
    } else if (in_window(a, local_window)) {
      space = ptx::state_space::local;
    } else if (in_window(a, param_window)) {
      space = ptx::state_space::param;
    } else {
      global.add(lane, a);
    }
    if (!fixed && (lane_mask{1} << lane) == (mask & (~mask + 1)))
      kind = access_kind_of(space, load, true);
  };
  for (lane_mask left = mask & access.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const address a = address_of(w.registers, d, access.slot, lane);
    if (access.where == target::generic) {
      note_generic(lane, a);
    } else {
      (access.where == target::global ? global : shared).add(lane, a);
    }
  }
  if (access.copies) {
    const std::uint32_t* more = w.function->lists.data() + d.list;
    decoded source = d;
    source.offset = static_cast<std::int64_t>(more[0] | std::uint64_t{more[1]} << 32);
    source.wide_base = static_cast<std::uint8_t>(more[2]);
    const lane_mask ignored = d.option == 2 ? read_predicate(w.registers, d, 2) : 0;
    for (lane_mask left = mask & ~ignored; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      if (d.option == 1 && read_lane<std::uint32_t>(w.registers, d.slots[2], lane) == 0) continue;
      global.add(lane, address_of(w.registers, source, 1, lane));
    }
  }
  if (global.lanes != 0) count_global(counts, global, access.size);
  if (shared.lanes != 0) count_shared(counts, shared, access.size, access.updates);
  return kind;
}

/// Counts an instruction that the lanes in `lanes` are at, of which those in `mask` execute it. As
/// on a device, one whose guard is false for all lanes counts too.
inline void count_instruction(function_costs& costs, const warp& w, const decoded& d,
                              std::size_t pc, lane_mask lanes, lane_mask mask) {
  const function_costs::step& s = costs.steps[pc];
  if (!s.counts) return;
  cost_counts& counts = costs.lines[s.row].counts;
  instruction_kind kind = s.kind;
  if (mask != 0 && s.access.where != counted_access::target::none)
    kind = count_access(counts, w, d, s, mask);
  ++counts.by_kind[static_cast<std::size_t>(kind)];
  counts.thread_instructions += static_cast<std::uint64_t>(std::popcount(lanes));
  if (d.source->op == ptx::opcode::brx_idx) ++counts.branches;
  if (d.source->op == ptx::opcode::bra && d.guard != no_slot) {
    ++counts.branches;
    counts.divergent_branches += mask != 0 && mask != lanes;
  }
}

/// Counts a jump by a table that `mask` of the lanes have made.
inline void count_table_jump(function_costs& costs, const warp& w, std::size_t pc, lane_mask lanes,
                             lane_mask mask) {
  const std::uint32_t first = w.targets[static_cast<unsigned>(std::countr_zero(mask))];
  bool apart = mask != lanes;
  for_lanes(mask, [&](unsigned lane) { apart = apart || w.targets[lane] != first; });
  costs.lines[costs.steps[pc].row].counts.divergent_branches += apart;
}

}  // namespace detail
}}}  // namespace nogpu::v1::machine
