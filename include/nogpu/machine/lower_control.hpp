// Lowers calls and branches.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <nogpu/machine/handlers/control.hpp>
#include <nogpu/machine/handlers/runtime.hpp>
#include <nogpu/machine/lowering_context.hpp>
#include <nogpu/machine/readable_names.hpp>
#include <nogpu/ptx/device_runtime.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

inline bool lower_call(lowering_context& c, const ptx::instruction& i, const ptx::module& module) {
  const ptx::call_site& site = c.source.calls[c.source.operands_of(i)[0].index];
  lowered_call call;
  call.function = site.function;
  if (site.target_register != ptx::no_index) call.target_slot = c.slot_of(site.target_register);
  const auto transfers = [&](const std::vector<ptx::operand>& from, bool result) {
    std::vector<lowered_call::transfer> to;
    for (const ptx::operand& o : from) {
      lowered_call::transfer t;
      if (o.kind == ptx::operand_kind::symbol) {  // a .param variable: nothing else travels
        const auto where = c.address_of_symbol(o.target);
        t.at = where && where->in_frame ? static_cast<std::uint32_t>(where->value) : 0;
        t.size = static_cast<std::uint32_t>(c.source.variables[o.target.index].size);
      } else {
        t.in_register = true;
        t.at = result && o.kind == ptx::operand_kind::sink ? c.sink() : c.operand_slot(o);
        t.size = o.kind == ptx::operand_kind::sink ? 16 : ptx::size_of(o.value_type);
      }
      to.push_back(t);
    }
    return to;
  };
  call.arguments = transfers(site.arguments, false);
  call.results = transfers(site.results, true);
  handler run = &run_call;
  if (site.function != ptx::no_index) {
    call.function = module.aliased(site.function);
    const ptx::function& callee = module.functions[call.function];
    if (!callee.defined) {
      run = runtime_function(callee);
      if (run == nullptr && ptx::is_dynamic_parallelism(callee.name)) {
        c.trouble = "this calls " + callee.name +
                    ", and dynamic parallelism is not implemented by the CPU driver: launch the "
                    "kernel from the host";
        return false;
      }
      if (run == nullptr) {
        c.trouble = "the function " + readable(callee.name) + " is declared but not defined";
        c.undefined = true;
        return false;
      }
    }
  }
  const auto index = static_cast<std::uint32_t>(c.out.calls.size());
  c.out.calls.push_back(std::move(call));
  c.emit(run).list = index;
  return true;
}

inline bool lower_branch(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  if (i.op == ptx::opcode::bra) {
    c.emit(&run_branch).target = operands[0].index;  // a label, until all instructions are placed
    return true;
  }
  const std::uint32_t slot = c.operand_slot(operands[0]);
  const auto& table = c.source.branch_tables[operands[1].index];
  const auto list = static_cast<std::uint32_t>(c.out.lists.size());
  c.out.lists.insert(c.out.lists.end(), table.begin(), table.end());
  decoded& d = c.emit(&run_branch_table);
  d.slots[0] = slot;
  d.list = list;
  d.target = static_cast<std::uint32_t>(table.size());
  return true;
}

}}}  // namespace nogpu::v1::machine::detail
