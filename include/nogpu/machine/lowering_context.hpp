// The state of lowering a function: the locations of registers, constants and variables.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nogpu/machine/code.hpp>
#include <nogpu/machine/handlers/move.hpp>
#include <nogpu/machine/memory_access.hpp>
#include <nogpu/machine/memory_layout.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The addresses of a kernel's symbols that are the same for all of its functions.
struct symbol_places {
  const ptx::module* module = nullptr;
  std::vector<address> variables;  // of the module: an address, or an offset in shared memory
  /// Offsets in shared memory of the variables that functions declare: (function, variable).
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> shared;
};

/// An address known when lowering: absolute in its space, or relative to the frame's memory.
struct symbol_address {
  bool in_frame = false;
  std::uint64_t value = 0;
};

/// Returns the value of a pointer to a function.
inline address code_address(const ptx::module& module, std::uint32_t function) {
  return code_window + 16ull * module.aliased(function);
}

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

class lowering_context {
 public:
  lowering_context(const symbol_places& places, const ptx::function& function, std::uint32_t index)
      : source{function}, places_{places}, index_{index} {
    out.source = &function;
    place_registers();
    place_variables();
  }

  const ptx::function& source;
  lowered_function out;
  std::uint64_t frame_bytes = 0;  // local memory of a frame, which may be more than there is
  std::string trouble;     // the reason why an instruction cannot be lowered, if it has to be given
  bool undefined = false;  // and that is a name that is nowhere defined

  /// The slot of a register.
  std::uint32_t slot_of(std::uint32_t reg) const { return slots_[reg]; }

  /// The slot of a constant of that many bytes; of a predicate when `size` is 0.
  std::uint32_t constant(std::uint64_t value, std::uint32_t size) {
    const auto [found, fresh] = constants_.try_emplace({value, size}, 0u);
    if (!fresh) return found->second;
    if (size == 0) {
      const lane_mask mask = value != 0 ? all_lanes : 0;
      found->second = append(&mask, sizeof(mask), 1);
    } else {
      const std::uint64_t words[2] = {value, 0};
      found->second = append(words, size, warp_size);
    }
    return found->second;
  }

  /// Returns a slot for a value of this size that is not used after the next instruction.
  std::uint32_t scratch(std::uint32_t size) {
    const std::uint64_t zero[2] = {0, 0};
    return append(zero, size, warp_size);
  }
  /// A slot for results that are thrown away.
  std::uint32_t sink() {
    if (sink_ == no_slot) sink_ = scratch(16);
    return sink_;
  }

  /// Returns the address of a symbol, or nothing if its space cannot be addressed.
  std::optional<symbol_address> address_of_symbol(ptx::symbol s) {
    switch (s.kind) {
      case ptx::symbol_kind::global: return symbol_address{false, places_.variables[s.index]};
      case ptx::symbol_kind::function:
        return symbol_address{false, code_address(*places_.module, s.index)};
      case ptx::symbol_kind::variable: {
        const ptx::state_space space = source.variables[s.index].space;
        if (space == ptx::state_space::shared)
          return symbol_address{false, places_.shared.at({index_, s.index})};
        if (space == ptx::state_space::local || space == ptx::state_space::param)
          return symbol_address{true, out.variables[s.index]};
        trouble = "a variable in ." + std::string(ptx::name_of(space)) + " inside a function";
        return std::nullopt;
      }
      case ptx::symbol_kind::parameter:
        if (source.entry) return symbol_address{false, source.parameters[s.index].offset};
        return symbol_address{true, out.parameters[s.index].offset};
      case ptx::symbol_kind::return_parameter:
        return symbol_address{true, out.returns[s.index].offset};
      default: return std::nullopt;
    }
  }

  /// Appends an instruction with the origin of the one being lowered.
  decoded& emit(handler run) {
    decoded d;
    d.run = run;
    d.origin = current;
    d.source = &source.instructions[current];
    out.code.push_back(d);
    return out.code.back();
  }

  /// Returns the slot of an operand, after adding instructions that fill it if necessary.
  std::uint32_t operand_slot(const ptx::operand& o) {
    using ptx::operand_kind;
    const bool predicate = o.value_type == ptx::type::pred;
    const std::uint32_t size = predicate ? 0 : ptx::size_of(o.value_type);
    switch (o.kind) {
      case operand_kind::reg: return slot_of(o.index);
      case operand_kind::immediate: return constant(o.value, size);
      case operand_kind::special: {
        const std::uint32_t slot = scratch(predicate ? 4 : size);
        read_special(o, slot, size);
        return slot;
      }
      case operand_kind::symbol: {
        const auto where = address_of_symbol(o.target);
        if (!where) return no_slot;
        const std::uint64_t value = where->value + o.value;
        if (!where->in_frame) return constant(value, size ? size : 8);
        const std::uint32_t slot = scratch(size ? size : 8);
        frame_address(value, slot, size ? size : 8);
        return slot;
      }
      case operand_kind::sink: return predicate ? no_slot : sink();
      default: return no_slot;
    }
  }

  void read_special(const ptx::operand& o, std::uint32_t slot, std::uint32_t size) {
    decoded& d = emit(o.value_type == ptx::type::pred ? &run_special_predicate : &run_special);
    d.slots[0] = slot;
    d.option = static_cast<std::uint8_t>(o.special);
    d.count = o.component;
    d.result_size = static_cast<std::uint8_t>(size);
  }

  void frame_address(std::uint64_t offset, std::uint32_t slot, std::uint32_t size) {
    decoded& d = emit(&run_frame_address);
    d.slots[0] = slot;
    d.offset = static_cast<std::int64_t>(offset);
    d.result_size = static_cast<std::uint8_t>(size);
  }

  std::uint32_t current = 0;  // index of the instruction being lowered

 private:
  void place_registers() {
    std::uint32_t at = 0;
    for (const ptx::type t : source.registers) {
      slots_.push_back(at);
      at += t == ptx::type::pred ? 16 : ptx::size_of(t) * warp_size;
    }
    out.slots = slots_;
    out.constant_begin = at;
    out.register_bytes = at;
  }

  /// Parameters, results and variables of a function in the memory of its frame.
  void place_variables() {
    std::uint64_t at = 0;
    const auto place = [&at](std::uint64_t size, std::uint32_t alignment) {
      const std::uint64_t offset = align_up(at, alignment ? alignment : 1);
      at = offset + size;
      return static_cast<std::uint32_t>(offset);
    };
    if (!source.entry) {
      const auto all = [&](const std::vector<ptx::parameter>& from,
                           std::vector<lowered_function::place>& to) {
        for (const ptx::parameter& p : from) {
          lowered_function::place where;
          where.size = p.size;
          if (p.reg != ptx::no_index) {
            where.slot = slots_[p.reg];
          } else {
            where.offset = place(p.size, p.alignment);
          }
          to.push_back(where);
        }
      };
      all(source.parameters, out.parameters);
      all(source.returns, out.returns);
    }
    out.variables.resize(source.variables.size());
    const auto place_all = [&](ptx::state_space space) {
      for (std::size_t i = 0; i < source.variables.size(); ++i) {
        const ptx::variable& v = source.variables[i];
        if (v.space == space) out.variables[i] = place(v.size, v.alignment);
      }
    };
    place_all(ptx::state_space::param);
    out.local_begin = static_cast<std::uint32_t>(at);
    place_all(ptx::state_space::local);
    frame_bytes = align_up(at, 16);
    out.frame_bytes = static_cast<std::uint32_t>(frame_bytes);
  }

  std::uint32_t append(const void* value, std::uint32_t size, unsigned copies) {
    const auto at = static_cast<std::uint32_t>(out.constants.size());
    out.constants.resize(at + align_up(std::uint64_t{size} * copies, 16));
    for (unsigned i = 0; i < copies; ++i)
      std::memcpy(out.constants.data() + at + i * size, value, size);
    out.slots.push_back(out.constant_begin + at);
    out.register_bytes = out.constant_begin + static_cast<std::uint32_t>(out.constants.size());
    return out.constant_begin + at;
  }

  const symbol_places& places_;
  std::uint32_t index_;  // of the function in the module
  std::vector<std::uint32_t> slots_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> constants_;
  std::uint32_t sink_ = no_slot;
};

}}}  // namespace nogpu::v1::machine::detail
