// Lowers kernels: functions to arrays of decoded instructions, shared variables to offsets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nogpu/machine/contraction.hpp>
#include <nogpu/machine/lower_instruction.hpp>
#include <nogpu/machine/readable_names.hpp>
#include <nogpu/machine/stack_need.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Returns the diagnostic for an instruction: malformed if it names an undefined symbol.
inline ptx::diagnostic refuse_instruction(const ptx::module& module, const ptx::instruction& i,
                                          const lowering_context& c) {
  ptx::diagnostic d;
  d.line = i.line;
  d.column = 1;
  d.text = c.trouble.empty() ? "this instruction is not supported by the CPU driver" : c.trouble;
  d.text += ": " + std::string(module.text_of(i));
  d.reason = c.undefined ? ptx::refusal::malformed : ptx::refusal::unsupported_instruction;
  return d;
}

/// Records why a kernel cannot be launched: because of an instruction of `function`, which it may
/// call.
inline std::string describe_refused(const ptx::module& module, std::uint32_t kernel,
                                    std::uint32_t function, const ptx::diagnostic& why) {
  std::string text =
      "kernel " + readable_kernel(module.functions[kernel].name) + " cannot be launched here: ";
  if (function != kernel) text += "function " + readable(module.functions[function].name) + ", ";
  return text + "PTX line " + std::to_string(why.line) + ": " + why.text;
}

/// Limits of a device of compute capability 9.0 and of NVIDIA's assembler.
inline constexpr std::uint64_t most_local_bytes = 512u << 10;
inline constexpr std::uint64_t most_static_shared_bytes = 48u << 10;
inline constexpr std::uint64_t most_constant_bytes = 64u << 10;
inline constexpr std::uint32_t most_warps = 64;  // of a multiprocessor

inline ptx::diagnostic refuse_memory(const ptx::function& f, const char* what, std::uint64_t needed,
                                     std::uint64_t most) {
  ptx::diagnostic d;
  d.line = f.line;
  d.column = 1;
  d.text = f.name + " declares " + std::to_string(needed) + " bytes of " + what +
           "; there are at most " + std::to_string(most);
  d.reason = ptx::refusal::too_large;
  return d;
}

/// Returns why a module has too many constants, used or not, or nothing if they fit. The assembler
/// lays them out in the order of their declarations.
inline std::optional<ptx::diagnostic> refuse_constants(const ptx::module& module) {
  std::uint64_t at = 0;
  std::uint32_t line = 0;
  for (const ptx::variable& v : module.variables) {
    if (v.space != ptx::state_space::constant || v.link == ptx::linkage::external) continue;
    at = align_up(at, v.alignment ? v.alignment : 1) + v.size;
    if (at > most_constant_bytes && line == 0) line = v.line;
  }
  if (at <= most_constant_bytes) return std::nullopt;
  ptx::diagnostic d;
  d.line = line;
  d.column = 1;
  d.text = "the module declares " + std::to_string(at) +
           " bytes of constant memory; there are at most " + std::to_string(most_constant_bytes);
  return d;
}

/// Lowers one function for a kernel. Null, with the diagnostic: something is not supported.
inline std::unique_ptr<lowered_function> lower_function(const symbol_places& places,
                                                        std::uint32_t index, ptx::diagnostic& why) {
  const ptx::module& module = *places.module;
  const ptx::function& source = module.functions[index];
  if (source.refused) {
    why = *source.refused;
    return nullptr;
  }
  lowering_context c(places, source, index);
  if (c.frame_bytes > most_local_bytes) {
    why = refuse_memory(source, "local memory of a thread", c.frame_bytes, most_local_bytes);
    return nullptr;
  }
  c.out.stack_bytes = frame_on_stack(source);
  c.out.call_bytes = kept_during_calls(module, source);
  const contraction contracted(source, module.debug);
  std::vector<std::uint32_t> begins;  // of each parsed instruction in the code
  for (std::uint32_t n = 0; n < source.instructions.size(); ++n) {
    const ptx::instruction& i = source.instructions[n];
    begins.push_back(static_cast<std::uint32_t>(c.out.code.size()));
    c.current = n;
    c.trouble.clear();
    if (contracted.drops(n)) continue;
    const contraction::fusion fused = contracted.of(n);
    const bool good =
        fused.product == ptx::no_index
            ? lower_instruction(c, i, module)
            : lower_contracted(c, i, source.instructions[fused.product], fused.second);
    if (!good) {
      why = refuse_instruction(module, i, c);
      return nullptr;
    }
    if (i.when.reg != ptx::no_index) {
      c.out.code.back().guard = c.slot_of(i.when.reg);
      c.out.code.back().guard_negated = i.when.negated;
    }
  }
  begins.push_back(static_cast<std::uint32_t>(c.out.code.size()));
  decoded end;  // a lane that reaches the end returns
  end.run = &run_return;
  end.leader = true;
  end.origin = static_cast<std::uint32_t>(source.instructions.size());
  c.out.code.push_back(end);
  const auto place_of = [&](std::uint32_t label) {
    const std::uint32_t at = begins[source.labels[label].instruction];
    c.out.code[at].leader = true;
    return at;
  };
  for (std::size_t n = 0; n + 1 < c.out.code.size(); ++n) {
    decoded& d = c.out.code[n];
    if (d.run == &run_branch) {
      d.target = place_of(d.target);
      c.out.code[n + 1].leader = true;
    } else if (d.run == &run_branch_table) {
      for (std::uint32_t e = 0; e < d.target; ++e) {
        std::uint32_t& entry = c.out.lists[d.list + e];
        entry = place_of(entry);
      }
      c.out.code[n + 1].leader = true;
    } else if (d.run == &run_call || d.run == &run_collective || d.run == &run_matrix ||
               d.run == &run_barrier || d.run == &run_cluster_wait) {
      c.out.code[n + 1].leader = true;  // where waiting lanes and absent lanes meet
    }
  }
  return std::make_unique<lowered_function>(std::move(c.out));
}

/// Every function that a kernel may reach, itself included.
inline std::set<std::uint32_t> reachable_functions(const ptx::module& module, std::uint32_t entry) {
  std::set<std::uint32_t> reached;
  std::vector<std::uint32_t> pending{entry};
  bool indirect = false;
  while (!pending.empty()) {
    const std::uint32_t index = module.aliased(pending.back());
    pending.pop_back();
    const ptx::function& f = module.functions[index];
    if (!f.defined || !reached.insert(index).second) continue;
    for (const ptx::call_site& call : f.calls) {
      if (call.function != ptx::no_index) {
        pending.push_back(call.function);
        continue;
      }
      if (std::exchange(indirect, true)) continue;
      for (std::uint32_t other = 0; other < module.functions.size(); ++other)
        if (!module.functions[other].entry) pending.push_back(other);
    }
  }
  return reached;
}

/// Collects the variables of the module that a function names.
inline void used_variables(const ptx::function& f, std::set<std::uint32_t>& used) {
  for (const ptx::operand& o : f.operands)
    if (o.target.kind == ptx::symbol_kind::global) used.insert(o.target.index);
}

/// Returns whether the function is lowered for each kernel separately, because it names a shared
/// variable.
inline bool names_shared(const ptx::module& module, const ptx::function& f) {
  const auto shared = [](const ptx::variable& v) { return v.space == ptx::state_space::shared; };
  std::set<std::uint32_t> used;
  used_variables(f, used);
  return std::any_of(f.variables.begin(), f.variables.end(), shared) ||
         std::any_of(used.begin(), used.end(),
                     [&](std::uint32_t v) { return shared(module.variables[v]); });
}

/// Gives every shared variable of the kernel's functions an address after the part that the system
/// reserves. Returns the offset of variables without a size, which may be more than the memory has.
inline std::uint64_t place_shared(const ptx::module& module,
                                  const std::set<std::uint32_t>& functions, symbol_places& places,
                                  executable& out) {
  std::uint64_t at = reserved_shared_bytes;
  std::uint32_t dynamic_alignment = 16;
  const auto visit = [&](const ptx::variable& v, auto assign, bool dynamic) {
    if (v.space != ptx::state_space::shared || v.unsized != dynamic) return;
    const std::uint32_t alignment = v.alignment ? v.alignment : 1;
    if (dynamic) {
      dynamic_alignment = dynamic_alignment > alignment ? dynamic_alignment : alignment;
      assign(static_cast<std::uint32_t>(at));
      out.shared_variables.emplace(at, &v);
      return;
    }
    at = align_up(at, alignment);
    assign(static_cast<std::uint32_t>(at));
    out.shared_variables.emplace(at, &v);
    at += v.size;
  };
  std::set<std::uint32_t> used;
  for (const std::uint32_t f : functions) used_variables(module.functions[f], used);
  for (const bool dynamic : {false, true}) {
    if (dynamic) {
      for (const std::uint32_t v : used)
        if (module.variables[v].unsized && module.variables[v].alignment > dynamic_alignment)
          dynamic_alignment = module.variables[v].alignment;
      const std::uint64_t bytes = at - reserved_shared_bytes;
      if (bytes > most_static_shared_bytes) return bytes;
      out.static_shared_bytes = static_cast<std::uint32_t>(bytes);
      bool any = false;
      for (const std::uint32_t v : used)
        any = any || (module.variables[v].space == ptx::state_space::shared &&
                      module.variables[v].unsized);
      if (any) at = align_up(at, dynamic_alignment);
    }
    for (const std::uint32_t v : used)
      visit(module.variables[v], [&](std::uint32_t o) { places.variables[v] = o; }, dynamic);
    for (const std::uint32_t f : functions)
      for (std::uint32_t v = 0; v < module.functions[f].variables.size(); ++v)
        visit(
            module.functions[f].variables[v], [&](std::uint32_t o) { places.shared[{f, v}] = o; },
            dynamic);
  }
  out.dynamic_shared_begin = static_cast<std::uint32_t>(at);
  return out.static_shared_bytes;
}

/// Notes the parts of the device runtime that the functions of a kernel call.
inline void note_runtime(const ptx::module& module, const std::set<std::uint32_t>& functions,
                         executable& out) {
  for (const std::uint32_t f : functions) {
    for (const ptx::call_site& call : module.functions[f].calls) {
      if (call.function == ptx::no_index) continue;
      const ptx::function& callee = module.functions[module.aliased(call.function)];
      if (callee.defined) continue;
      out.uses_heap = out.uses_heap || callee.name == "malloc" || callee.name == "free";
      out.uses_printf = out.uses_printf || callee.name == "vprintf";
    }
  }
}

/// Returns whether a function uses the address of the shared memory that the system reserves.
inline bool names_reserved_shared(const ptx::module& module,
                                  const std::set<std::uint32_t>& functions) {
  const auto names = [](const ptx::operand& o) {
    return o.kind == ptx::operand_kind::special &&
           o.special >= ptx::special_register::reserved_smem_offset_begin &&
           o.special <= ptx::special_register::reserved_smem_offset_1;
  };
  return std::any_of(functions.begin(), functions.end(), [&](std::uint32_t f) {
    const std::vector<ptx::operand>& operands = module.functions[f].operands;
    return std::any_of(operands.begin(), operands.end(), names);
  });
}

/// The most registers that a thread may have: as the kernel says, or `asked` if it says nothing
/// about its registers and threads, as ptxas does it. It gives a thread 24 at least.
inline std::uint64_t most_registers(const ptx::function& f, std::uint32_t asked) {
  const bool says_threads = f.max_threads.x != 0 || f.required_threads.x != 0;
  const std::uint32_t limit = f.max_registers != 0 ? f.max_registers : says_threads ? 0 : asked;
  return limit == 0 ? 255 : std::clamp(limit, 24u, 255u);
}

/// Estimates the registers of a thread from the kernel's declarations: never so many that the
/// kernel's largest block, or as many blocks as `.minnctapersm` states, could not run.
inline std::uint32_t estimate_registers(const ptx::function& f, std::uint32_t threads_per_block,
                                        std::uint32_t asked) {
  std::uint64_t words = 0;
  for (const ptx::type t : f.registers)
    words += t == ptx::type::pred ? 0 : (ptx::size_of(t) + 3) / 4;
  const std::uint64_t estimate = words / 4 + 8;  // most live for a short time
  const std::uint64_t blocks = std::max(f.min_blocks_per_multiprocessor, 1u);
  const std::uint64_t warps =
      std::min((std::uint64_t{threads_per_block} + 31) / 32 * blocks, std::uint64_t{most_warps});
  // A quarter of the multiprocessor has 16,384 registers for its warps, in units of 256.
  const std::uint64_t fits = 16384 / ((warps + 3) / 4) / 256 * 8;
  return static_cast<std::uint32_t>(std::min({estimate, fits, most_registers(f, asked)}));
}

/// Lowers a kernel with everything it may call. Functions that other kernels can share go to
/// `common`. A kernel that may reach an instruction that this machine does not execute has no code,
/// but the reason. Returns null, with the diagnostic, if the module cannot be loaded.
inline std::unique_ptr<executable> lower_kernel(symbol_places places, std::uint32_t entry,
                                                std::uint32_t max_registers,
                                                const std::shared_ptr<lowered_functions>& common,
                                                ptx::diagnostic& why) {
  const ptx::module& module = *places.module;
  auto out = std::make_unique<executable>();
  out->module = &module;
  out->entry = &module.functions[entry];
  out->common = common;
  const std::set<std::uint32_t> functions = reachable_functions(module, entry);
  note_runtime(module, functions, *out);
  out->uses_reserved_shared = names_reserved_shared(module, functions);
  const std::uint64_t shared = place_shared(module, functions, places, *out);
  if (shared > most_static_shared_bytes) {
    why = refuse_memory(*out->entry, "static shared memory", shared, most_static_shared_bytes);
    return nullptr;
  }
  for (const std::uint32_t f : functions) {
    const bool mine = f == entry || names_shared(module, module.functions[f]);
    if (!mine && (*common)[f] != nullptr) continue;
    std::unique_ptr<lowered_function> lowered = lower_function(places, f, why);
    if (!lowered) {
      if (why.reason != ptx::refusal::unsupported_instruction) return nullptr;
      if (out->refused.empty()) out->refused = describe_refused(module, entry, f, why);
      continue;
    }
    (mine ? out->own[f] : (*common)[f]) = std::move(lowered);
  }
  if (out->refused.empty()) out->start = out->function(entry);
  const stack_need need = out->start != nullptr ? stack_need_of(*out) : stack_need{};
  if (need.local_bytes > most_local_bytes) {
    why =
        refuse_memory(*out->entry, "local memory of a thread", need.local_bytes, most_local_bytes);
    return nullptr;
  }
  out->local_bytes = static_cast<std::uint32_t>(need.local_bytes);
  out->depth_is_known = need.depth_is_known;
  const auto threads = [](const ptx::dimensions& d) { return d.x * d.y * d.z; };
  if (const std::uint32_t n = threads(out->entry->max_threads)) out->max_threads_per_block = n;
  if (const std::uint32_t n = threads(out->entry->required_threads)) out->max_threads_per_block = n;
  out->registers = estimate_registers(*out->entry, out->max_threads_per_block, max_registers);
  for (const ptx::variable& v : module.variables)
    if (v.space == ptx::state_space::constant)
      out->constant_bytes += static_cast<std::uint32_t>(v.size);
  return out;
}

}}}  // namespace nogpu::v1::machine::detail
