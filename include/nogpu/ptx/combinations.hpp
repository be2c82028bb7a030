#pragma once
/// Rules that concern several suffixes of an instruction at once, or the values of its operands.

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <nogpu/ptx/matrix_operands.hpp>
#include <nogpu/ptx/operand_types.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// Checks the suffixes of ld and st against the state space and each other.
inline bool check_memory_suffixes(parser_context& context, const token& where,
                                  const instruction& i) {
  const modifiers& m = i.with;
  const std::string space = "." + std::string(name_of(m.space));
  const bool in_global = m.space == state_space::generic || m.space == state_space::global;
  if (m.order != memory_order::weak && !in_global && m.space != state_space::shared) {
    return context.fail(where, space + " takes no memory order: its accesses are .weak");
  }
  if (m.global_hint && !in_global) {
    return context.fail(where, space + " takes no L1 priority, prefetch size or cache policy");
  }
  if (m.order != memory_order::weak && m.cache != cache_operator::none) {
    return context.fail(where, "a memory order and a cache operator exclude each other");
  }
  if (m.order == memory_order::mmio && (m.vector != 1 || m.scope != memory_scope::sys)) {
    return context.fail(where, ".mmio needs .sys and a single element");
  }
  return true;
}

/// Checks the suffixes of a cvt between two types.
inline bool check_conversion(parser_context& context, const token& where, const instruction& i) {
  const modifiers& m = i.with;
  const type to = i.types[0];
  const type from = i.types[1];
  const bool floating = is_floating(to) && is_floating(from);
  const bool brain = to == type::bf16 || from == type::bf16;
  if (m.ftz && to != type::f32 && from != type::f32) {
    return context.fail(where, ".ftz is for a cvt from or to .f32");
  }
  if (m.sat && brain) return context.fail(where, "a cvt from or to .bf16 takes no .sat");
  if (m.sat && is_integer(to) && is_integer(from)) {
    const bool same = is_signed(to) == is_signed(from);
    const bool holds =
        same ? size_of(to) >= size_of(from) : is_signed(to) && size_of(to) > size_of(from);
    if (holds) {
      return context.fail(where, describe(to) + " holds every " + describe(from) + ": no .sat");
    }
  }
  const bool to_half = to == type::f16 || to == type::bf16;
  if (m.relu && floating && (to_half ? from != type::f32 : to == type::f32 || to == type::f64)) {
    return context.fail(where, ".relu is for a cvt from .f32 to a narrower type");
  }
  if (m.round_to_integer && floating && to != from) {
    return context.fail(where, "a cvt between floating types rounds to integers within one type");
  }
  const bool floating_cvt = !m.round_to_integer && floating;
  if (floating_cvt && i.types[0] != type::tf32 && size_of(i.types[1]) <= 8) {
    const bool same_kind = i.types[0] == i.types[1];
    const bool narrows = size_of(i.types[0]) < size_of(i.types[1]) ||
                         (!same_kind && size_of(i.types[0]) == 2 && size_of(i.types[1]) == 2);
    const bool exact_source = i.types[1] == type::f16 || i.types[1] == type::f32;
    const bool widens = exact_source && size_of(i.types[0]) > size_of(i.types[1]);
    if (same_kind && m.round != rounding::none) {
      return context.fail(where, "a cvt to the same type rounds to integers or not at all");
    }
    if (widens && m.round != rounding::none) {
      return context.fail(where, "a cvt to a wider type is exact and takes no rounding");
    }
    if (narrows && m.round == rounding::none) {
      return context.fail(where, "this cvt needs a rounding: .rn, .rz, .rm or .rp");
    }
  }
  return true;
}

/// Rules that concern several suffixes at once.
inline bool check_combination(parser_context& context, const token& where, instruction& i) {
  modifiers& m = i.with;
  const bool memory = i.op == opcode::ld || i.op == opcode::st;
  if ((memory || i.op == opcode::st_async) && m.vector * size_of(i.types[0]) > 16) {
    return context.fail(where, "a vector access is at most 16 bytes wide on this .target");
  }
  if (i.op >= opcode::tex && i.op <= opcode::tld4) {
    if (m.vector != (i.types[0] == type::f16x2 ? 2 : 4)) {
      return context.fail(where, "a texture read gives .v4, or .v2 of .f16x2");
    }
    const bool cube = m.geometry == image_geometry::cube || m.geometry == image_geometry::acube;
    if (cube && i.types[1] == type::s32) {
      return context.fail(where, "the coordinates in a cube are .f32");
    }
  }
  const bool group = i.op >= opcode::wgmma_fence && i.op <= opcode::wgmma_mma;
  if (group && !context.out.specific) {
    return context.fail(where, "wgmma needs .target sm_90a, this module has sm_" +
                                   std::to_string(context.out.target));
  }
  if (i.op == opcode::tensormap_replace && !context.out.specific) {
    return context.fail(where, "tensormap.replace needs .target sm_90a, this module has sm_" +
                                   std::to_string(context.out.target));
  }
  if (m.shape.m != 0 && !group && !check_matrix_layouts(context, where, i)) return false;
  if (m.query == image_query::other) {
    return context.fail(where, "of an object, .width, .height and .depth can be asked alone",
                        refusal::unsupported_instruction);
  }
  const bool surface = i.op == opcode::suld || i.op == opcode::sust;
  if (surface && (m.vector == 8 || m.vector * size_of(i.types[0]) > 16)) {
    return context.fail(where, "a surface access is at most 16 bytes wide");
  }
  if (memory && !check_memory_suffixes(context, where, i)) return false;
  const bool strong = m.order != memory_order::weak && m.order != memory_order::volatile_;
  if (memory && strong && m.scope == memory_scope::none) {
    return context.fail(where, "this memory order needs a scope: .cta, .cluster, .gpu or .sys");
  }
  if (memory && !strong && m.scope != memory_scope::none) {
    return context.fail(where, "a scope needs a memory order such as .relaxed");
  }
  if (i.op == opcode::fence && m.order == memory_order::weak) m.order = memory_order::acq_rel;
  return i.op != opcode::cvt || check_conversion(context, where, i);
}

/// An immediate operand beyond what the assembler takes.
inline bool check_immediate(parser_context& context, const raw_operand& raw, const char* what,
                            std::uint64_t most) {
  return !raw.value.is_immediate() || raw.value.value <= most ||
         context.fail(raw.where, std::string(what) + " is at most " + std::to_string(most) +
                                     ", not " + std::to_string(raw.value.value));
}

/// bar and barrier: which one, and how many threads.
inline bool check_barrier(parser_context& context, const instruction& i,
                          const std::vector<raw_operand>& raw) {
  const bool reduces = i.op == opcode::bar_red;
  const std::size_t first = reduces ? 1 : 0;
  if (!check_immediate(context, raw[first], "the number of a barrier", 15)) return false;
  if (raw.size() < first + (reduces ? 3 : 2)) return true;
  const raw_operand& threads = raw[first + 1];
  if (!threads.value.is_immediate()) return true;
  if (threads.value.value % 32 != 0) {
    return context.fail(threads.where,
                        "the thread count of a barrier must be a multiple of 32, not " +
                            std::to_string(threads.value.value));
  }
  return i.op != opcode::bar_arrive || threads.value.value != 0 ||
         context.fail(threads.where, "bar.arrive needs a number of threads, which cannot be 0");
}

/// .shared::cluster of the mbarrier instructions: another block's barrier gives no state back.
inline bool check_remote_barrier(parser_context& context, const token& where, const instruction& i,
                                 const std::vector<raw_operand>& raw) {
  const bool arrives = i.op == opcode::mbarrier_arrive || i.op == opcode::mbarrier_arrive_drop;
  const bool counts = i.op == opcode::mbarrier_expect_tx || i.op == opcode::mbarrier_complete_tx;
  if (counts || (arrives && !i.with.no_complete && raw[0].value.kind == operand_kind::sink)) {
    return true;
  }
  return context.fail(where, arrives && !i.with.no_complete
                                 ? ".shared::cluster returns no state: the destination must be _"
                                 : "this instruction is for .shared::cta, not .shared::cluster");
}

/// tensormap.replace: the number of a dimension, or the setting.
inline bool check_map_change(parser_context& context, const instruction& i,
                             const std::vector<raw_operand>& raw) {
  switch (i.with.field) {
    case map_field::box_dim:
    case map_field::global_dim:
    case map_field::global_stride:
    case map_field::element_stride:
      return check_immediate(context, raw[1], "the number of a dimension", 4);
    case map_field::elemtype: return check_immediate(context, raw[1], "the type of elements", 12);
    case map_field::swizzle_mode: return check_immediate(context, raw[1], "the swizzle", 3);
    case map_field::fill_mode: return check_immediate(context, raw[1], "the fill", 1);
    case map_field::interleave_layout:
      if (!check_immediate(context, raw[1], "the layout", 2)) return false;
      return raw[1].value.value == 0 ||
             context.fail(raw[1].where, "interleaved tensors are not there on the CPU",
                          refusal::unsupported_instruction);
    default: return true;
  }
}

/// Rules that concern the values of operands.
inline bool check_values(parser_context& context, const token& where, const instruction& i,
                         const std::vector<raw_operand>& raw) {
  switch (i.op) {
    case opcode::cp_async: {
      const std::uint64_t size = raw[2].value.value;
      const bool good =
          size == 16 || (i.with.cache == cache_operator::ca && (size == 4 || size == 8));
      return good ||
             context.fail(raw[2].where, "cp.async.ca copies 4, 8 or 16 bytes, .cg copies 16");
    }
    case opcode::cp_async_bulk:
    case opcode::cp_reduce_async_bulk:
      return !raw[2].value.is_immediate() || raw[2].value.value % 16 == 0 ||
             context.fail(raw[2].where, "a bulk copy or reduction has a multiple of 16 bytes");
    case opcode::tensormap_replace: return check_map_change(context, i, raw);
    case opcode::fence_proxy:
    case opcode::tensormap_cp_fenceproxy:
      return raw.empty() || raw.back().value.value == 128 ||
             context.fail(raw.back().where, "a tensor map has 128 bytes");
    case opcode::st:
      return raw[0].value.target.kind != symbol_kind::parameter ||
             context.fail(raw[0].where, "the parameters of a function cannot be written");
    case opcode::setp: {
      const bool half = i.types[0] == type::f16 || i.types[0] == type::bf16;
      const bool second = raw[0].value.kind == operand_kind::pair &&
                          raw[0].elements[1].value.kind != operand_kind::sink;
      return !half || !second ||
             context.fail(raw[0].where,
                          "setp" + describe(i.types[0]) + " has one destination, no p|q");
    }
    case opcode::bar_sync:
    case opcode::bar_arrive:
    case opcode::bar_red: return check_barrier(context, i, raw);
    case opcode::pmevent:
      return i.with.mask ? check_immediate(context, raw[0], "the mask of events", 0xffff)
                         : check_immediate(context, raw[0], "the number of an event", 15);
    case opcode::applypriority:
    case opcode::discard:
      return raw[1].value.value == 128 || context.fail(raw[1].where, "the size is 128 bytes");
    case opcode::createpolicy: {
      if (raw.size() != 2 || !raw[1].value.is_immediate() || raw[1].value.value_type != type::f32) {
        return true;
      }
      const auto fraction = std::bit_cast<float>(static_cast<std::uint32_t>(raw[1].value.value));
      return (fraction > 0 && fraction <= 1) ||
             context.fail(raw[1].where, "the fraction is more than 0 and at most 1");
    }
    case opcode::mma_sp: return check_selector(context, i, raw[5]);
    case opcode::wgmma_mma: return check_group_product(context, where, i, raw);
    case opcode::setmaxnreg: {
      const std::uint64_t count = raw[0].value.value;
      if (!context.out.specific) {
        return context.fail(where, "setmaxnreg needs .target sm_90a, this module has sm_" +
                                       std::to_string(context.out.target));
      }
      return (count % 8 == 0 && count >= 24 && count <= 256) ||
             context.fail(raw[0].where, "registers are set to a multiple of 8 from 24 to 256");
    }
    default: {
      const bool barrier = i.op == opcode::cp_async_mbarrier_arrive ||
                           (i.op >= opcode::mbarrier_init && i.op <= opcode::mbarrier_try_wait);
      return !i.with.cluster || !barrier || check_remote_barrier(context, where, i, raw);
    }
  }
}

}}}  // namespace nogpu::v1::ptx::detail
