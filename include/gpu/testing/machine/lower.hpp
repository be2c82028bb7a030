// Lowers kernels: functions to arrays of decoded instructions, shared variables to offsets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gpu/testing/machine/lower_instruction.hpp>

namespace gpu::testing::machine::detail {

/// The diagnostic for an instruction.
inline ptx::diagnostic refuse_instruction(const ptx::module& module, const ptx::instruction& i,
                                          const std::string& trouble) {
  ptx::diagnostic d;
  d.line = i.line;
  d.column = 1;
  d.text = trouble.empty() ? "this instruction is not supported by the CPU driver" : trouble;
  d.text += ": " + std::string(module.text_of(i));
  return d;
}

/// What a device of compute capability 9.0 has, and NVIDIA's assembler allows.
inline constexpr std::uint64_t most_local_bytes = 512u << 10;
inline constexpr std::uint64_t most_static_shared_bytes = 48u << 10;
inline constexpr std::uint64_t most_constant_bytes = 64u << 10;

inline ptx::diagnostic refuse_memory(const ptx::function& f, const char* what, std::uint64_t needed,
                                     std::uint64_t most) {
  ptx::diagnostic d;
  d.line = f.line;
  d.column = 1;
  d.text = f.name + " declares " + std::to_string(needed) + " bytes of " + what +
           "; there are at most " + std::to_string(most);
  return d;
}

/// Why a module's constants are too many, used or not; nothing when they fit. The assembler lays
/// them out in the order of their declarations.
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
  lowering_context c(places, source, index);
  if (c.frame_bytes > most_local_bytes) {
    why = refuse_memory(source, "local memory of a thread", c.frame_bytes, most_local_bytes);
    return nullptr;
  }
  std::vector<std::uint32_t> begins;  // of each parsed instruction in the code
  for (std::uint32_t n = 0; n < source.instructions.size(); ++n) {
    const ptx::instruction& i = source.instructions[n];
    begins.push_back(static_cast<std::uint32_t>(c.out.code.size()));
    c.current = n;
    c.trouble.clear();
    if (!lower_instruction(c, i, module)) {
      why = refuse_instruction(module, i, c.trouble);
      return nullptr;
    }
    if (i.when.reg != ptx::no_index) {
      c.out.code.back().guard = c.slot_of(i.when.reg);
      c.out.code.back().guard_negated = i.when.negated;
    }
  }
  begins.push_back(static_cast<std::uint32_t>(c.out.code.size()));
  decoded end;  // whoever falls off the end returns
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
    } else if (d.run == &run_call || d.run == &run_collective || d.run == &run_barrier ||
               d.run == &run_cluster_wait) {
      c.out.code[n + 1].leader = true;  // where those who waited, or were away, come together
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

/// Which variables of the module a function names.
inline void used_variables(const ptx::function& f, std::set<std::uint32_t>& used) {
  for (const ptx::operand& o : f.operands)
    if (o.target.kind == ptx::symbol_kind::global) used.insert(o.target.index);
}

/// Whether the function is another one in each kernel, because it names a shared variable.
inline bool names_shared(const ptx::module& module, const ptx::function& f) {
  const auto shared = [](const ptx::variable& v) { return v.space == ptx::state_space::shared; };
  std::set<std::uint32_t> used;
  used_variables(f, used);
  return std::any_of(f.variables.begin(), f.variables.end(), shared) ||
         std::any_of(used.begin(), used.end(),
                     [&](std::uint32_t v) { return shared(module.variables[v]); });
}

/// Gives every shared variable of the kernel's functions a place. Result: the bytes that those
/// without a size come after, which may be more than there are.
inline std::uint64_t place_shared(const ptx::module& module,
                                  const std::set<std::uint32_t>& functions, symbol_places& places,
                                  executable& out) {
  std::uint64_t at = 0;
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
      out.static_shared_bytes = static_cast<std::uint32_t>(at);
      if (at > most_static_shared_bytes) return at;
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

/// The most local memory that a chain of direct calls takes; recursion counts once.
inline std::uint64_t deepest_stack(const executable& e) {
  struct node {
    std::uint64_t deepest = 0;
    std::size_t next_call = 0;
  };
  std::unordered_map<const lowered_function*, node> nodes;
  // A path of its own instead of recursion: the chain may be as long as the text.
  std::vector<const lowered_function*> path{e.start};
  while (!path.empty()) {
    const lowered_function& f = *path.back();
    node& here = nodes[&f];
    if (here.next_call < f.calls.size()) {
      const std::uint32_t callee = f.calls[here.next_call++].function;
      const lowered_function* next = callee == ptx::no_index ? nullptr : e.function(callee);
      if (next != nullptr && nodes.count(next) == 0) path.push_back(next);
      continue;
    }
    std::uint64_t below = 0;
    for (const lowered_call& call : f.calls)
      if (const lowered_function* callee =
              call.function == ptx::no_index ? nullptr : e.function(call.function))
        below = std::max(below, nodes[callee].deepest);
    here.deepest = f.frame_bytes + below;
    path.pop_back();
  }
  return nodes[e.start].deepest;
}

/// Which parts of the device runtime the functions of a kernel call.
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

/// What a compiler would need in registers, from what the function declares.
inline std::uint32_t estimate_registers(const ptx::function& f) {
  std::uint64_t words = 0;
  for (const ptx::type t : f.registers)
    words += t == ptx::type::pred ? 0 : (ptx::size_of(t) + 3) / 4;
  const std::uint64_t estimate = words / 4 + 8;  // most live for a short time
  const std::uint64_t most = f.max_registers ? f.max_registers : 255;
  return static_cast<std::uint32_t>(estimate < most ? estimate : most);
}

/// Lowers a kernel with everything it may call. What other kernels may use as it is goes to
/// `common`. Null, with the diagnostic: not supported.
inline std::unique_ptr<executable> lower_kernel(symbol_places places, std::uint32_t entry,
                                                const std::shared_ptr<lowered_functions>& common,
                                                ptx::diagnostic& why) {
  const ptx::module& module = *places.module;
  auto out = std::make_unique<executable>();
  out->module = &module;
  out->entry = &module.functions[entry];
  out->common = common;
  const std::set<std::uint32_t> functions = reachable_functions(module, entry);
  note_runtime(module, functions, *out);
  const std::uint64_t shared = place_shared(module, functions, places, *out);
  if (shared > most_static_shared_bytes) {
    why = refuse_memory(*out->entry, "static shared memory", shared, most_static_shared_bytes);
    return nullptr;
  }
  for (const std::uint32_t f : functions) {
    const bool mine = f == entry || names_shared(module, module.functions[f]);
    if (!mine && (*common)[f] != nullptr) continue;
    std::unique_ptr<lowered_function> lowered = lower_function(places, f, why);
    if (!lowered) return nullptr;
    (mine ? out->own[f] : (*common)[f]) = std::move(lowered);
  }
  out->start = out->function(entry);
  const std::uint64_t local = deepest_stack(*out);
  if (local > most_local_bytes) {
    why = refuse_memory(*out->entry, "local memory of a thread", local, most_local_bytes);
    return nullptr;
  }
  out->local_bytes = static_cast<std::uint32_t>(local);
  out->registers = estimate_registers(*out->entry);
  const auto threads = [](const ptx::dimensions& d) { return d.x * d.y * d.z; };
  if (const std::uint32_t n = threads(out->entry->max_threads)) out->max_threads_per_block = n;
  if (const std::uint32_t n = threads(out->entry->required_threads)) out->max_threads_per_block = n;
  for (const ptx::variable& v : module.variables)
    if (v.space == ptx::state_space::constant)
      out->constant_bytes += static_cast<std::uint32_t>(v.size);
  return out;
}

}  // namespace gpu::testing::machine::detail
