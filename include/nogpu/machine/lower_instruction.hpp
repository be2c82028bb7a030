// Lowers one instruction: chooses its handler and fills in the slots.
#pragma once

#include <cstdint>
#include <initializer_list>

#include <nogpu/machine/handlers/bits.hpp>
#include <nogpu/machine/handlers/cluster.hpp>
#include <nogpu/machine/handlers/collective.hpp>
#include <nogpu/machine/handlers/compare.hpp>
#include <nogpu/machine/handlers/control.hpp>
#include <nogpu/machine/handlers/convert.hpp>
#include <nogpu/machine/handlers/floating.hpp>
#include <nogpu/machine/handlers/half.hpp>
#include <nogpu/machine/handlers/integer.hpp>
#include <nogpu/machine/handlers/video.hpp>
#include <nogpu/machine/lower_control.hpp>
#include <nogpu/machine/lower_image.hpp>
#include <nogpu/machine/lower_matrix.hpp>
#include <nogpu/machine/lower_memory.hpp>
#include <nogpu/machine/lower_tensor.hpp>
#include <nogpu/machine/lowering_context.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Fills slots from `first` on with the operands, predicates with their negation.
inline bool fill_slots(lowering_context& c, handler run, std::span<const ptx::operand> operands,
                       collective_handler together = nullptr) {
  std::uint32_t slots[6] = {no_slot, no_slot, no_slot, no_slot, no_slot, no_slot};
  std::uint8_t negated = 0;
  if (run == nullptr || operands.size() > 6) return false;
  for (std::size_t n = 0; n < operands.size(); ++n) {
    slots[n] = c.operand_slot(operands[n]);
    if (operands[n].negated && operands[n].value_type == ptx::type::pred)
      negated = static_cast<std::uint8_t>(negated | 1u << n);
  }
  decoded& d = c.emit(run);
  for (unsigned n = 0; n < 6; ++n) d.slots[n] = slots[n];
  d.negated = negated;
  d.together = together;
  if (!operands.empty())
    d.result_size = static_cast<std::uint8_t>(ptx::size_of(operands[0].value_type));
  return true;
}

/// Does the same if the first operand may be a pair: slots d, p, then the others.
inline bool fill_pair_slots(lowering_context& c, handler run,
                            std::span<const ptx::operand> operands,
                            collective_handler together = nullptr) {
  const ptx::operand absent;
  std::vector<ptx::operand> flat;
  if (operands[0].kind == ptx::operand_kind::pair) {
    const auto both = c.source.elements_of(operands[0]);
    flat.assign(both.begin(), both.end());
    for (ptx::operand& o : flat)
      if (o.kind == ptx::operand_kind::sink) o = absent;
  } else {
    flat = {operands[0], absent};
  }
  flat.insert(flat.end(), operands.begin() + 1, operands.end());
  return fill_slots(c, run, flat, together);
}

inline bool lower_compare(lowering_context& c, const ptx::instruction& i) {
  if (!fill_pair_slots(c, select_compare(i), c.source.operands_of(i))) return false;
  decoded& d = c.out.code.back();
  d.option = relations_of(i.with.compare);
  d.count = static_cast<std::uint8_t>(i.with.op);
  if (i.op == ptx::opcode::set) d.offset = true_value(i.types[0], i.types[1]);
  return true;
}

/// mov and its forms that take addresses and vectors apart.
inline bool lower_move(lowering_context& c, const ptx::instruction& i) {
  using ptx::operand_kind;
  const auto operands = c.source.operands_of(i);
  const ptx::operand& to = operands[0];
  const ptx::operand& from = operands[1];
  if (i.op == ptx::opcode::mov_pack || i.op == ptx::opcode::mov_unpack) {
    const bool pack = i.op == ptx::opcode::mov_pack;
    const ptx::operand& vector = pack ? from : to;
    const std::uint32_t list = list_elements(c, vector, !pack);
    const std::uint32_t whole = c.operand_slot(pack ? to : from);
    decoded& d = c.emit(pack ? &run_pack : &run_unpack);
    d.slots[pack ? 0 : 1] = whole;
    d.list = list;
    d.count = vector.count;
    d.result_size = static_cast<std::uint8_t>(ptx::size_of(i.types[0]));
    return true;
  }
  if (i.types[0] == ptx::type::pred)
    return fill_slots(c, select_predicate_logic(ptx::opcode::mov), operands);
  const std::uint32_t size = ptx::size_of(i.types[0]);
  if (to.kind == operand_kind::vector) {
    for (std::size_t n = 0; n < 4; ++n) {
      const ptx::operand& element = c.source.elements_of(to)[n];
      if (element.kind == operand_kind::sink) continue;
      c.read_special(c.source.elements_of(from)[n], c.slot_of(element.index), size);
      if (i.when.reg == ptx::no_index) continue;  // else each writes, not the last alone
      c.out.code.back().guard = c.slot_of(i.when.reg);
      c.out.code.back().guard_negated = i.when.negated;
    }
    return true;
  }
  if (from.kind == operand_kind::special) {
    c.read_special(from, c.operand_slot(to), size);
    return true;
  }
  if (from.kind == operand_kind::symbol) {
    const auto where = c.address_of_symbol(from.target);
    if (!where) return false;
    const std::uint64_t value = where->value + from.value;
    if (where->in_frame) {
      c.frame_address(value, c.operand_slot(to), size);
      return true;
    }
    const std::uint32_t slot = c.constant(value, size);
    decoded& d = c.emit(select_move(size));
    d.slots[0] = c.slot_of(to.index);
    d.slots[1] = slot;
    return true;
  }
  return fill_slots(c, select_move(size), operands);
}

inline bool lower_cvta(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  if (!fill_slots(c, &run_cvta, operands)) return false;
  decoded& d = c.out.code.back();
  const bool in_frame = i.with.space == ptx::state_space::param && !c.source.entry;
  const address window = in_frame ? local_window : window_of(i.with.space);
  d.offset = static_cast<std::int64_t>(i.with.to ? 0 - window : window);
  const std::uint32_t width = ptx::size_of(operands[1].value_type);
  d.count = static_cast<std::uint8_t>(width ? width : 8);
  return true;
}

inline bool lower_collective(lowering_context& c, const ptx::instruction& i) {
  using ptx::opcode;
  auto operands = c.source.operands_of(i);
  const bool synchronized = i.with.sync || i.op == opcode::match || i.op == opcode::redux ||
                            i.op == opcode::elect || i.op == opcode::bar_warp_sync;
  const ptx::operand mask = operands.back();
  if (synchronized) operands = operands.first(operands.size() - 1);
  const std::uint32_t member_slot = synchronized ? c.operand_slot(mask) : no_slot;
  const handler run = synchronized ? &run_collective : &run_unsynchronized;
  bool good = false;
  switch (i.op) {
    case opcode::shfl: good = fill_pair_slots(c, run, operands, &shuffle); break;
    case opcode::vote: good = fill_slots(c, run, operands, &vote); break;
    case opcode::match: good = fill_pair_slots(c, run, operands, &match); break;
    case opcode::redux: good = fill_slots(c, run, operands, &reduce); break;
    case opcode::elect: good = fill_pair_slots(c, run, operands, &elect); break;
    default: good = fill_slots(c, run, {}, &synchronize); break;
  }
  if (good) c.out.code.back().target = member_slot;
  return good;
}

inline bool lower_barrier(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  if (i.op != ptx::opcode::bar_red) {
    if (!fill_slots(c, &run_barrier, operands)) return false;
    c.out.code.back().option = i.op == ptx::opcode::bar_arrive ? barrier_arrive : barrier_sync;
    return true;
  }
  std::vector<ptx::operand> flat(operands.begin(), operands.end());
  if (flat.size() == 3) flat.insert(flat.begin() + 2, ptx::operand{});
  if (!fill_slots(c, &run_barrier, flat)) return false;
  c.out.code.back().option = barrier_reduce;
  return true;
}

inline bool lower_stack(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  const handler run = i.op == ptx::opcode::alloca_     ? &run_alloca
                      : i.op == ptx::opcode::stacksave ? &run_stacksave
                                                       : &run_stackrestore;
  if (!fill_slots(c, run, operands.first(i.op == ptx::opcode::alloca_ ? 2 : 1))) return false;
  if (i.op != ptx::opcode::alloca_) return true;
  const std::uint64_t alignment = operands.size() > 2 ? operands[2].value : 8;
  c.out.code.back().count = static_cast<std::uint8_t>(std::countr_zero(alignment | 1u << 20));
  return true;
}

/// The handler of instructions whose slots are their operands.
inline handler select_plain(const ptx::instruction& i) {
  if (const handler h = select_video(i.op)) return h;
  switch (i.op) {
    case ptx::opcode::selp:
    case ptx::opcode::slct: return select_selection(i);
    case ptx::opcode::testp: return select_testp(i);
    case ptx::opcode::activemask: return &run_activemask;
    case ptx::opcode::cvt_pack: return select_cvt_pack(i);
    default: break;
  }
  if (const handler h = select_floating(i)) return h;
  if (const handler h = select_half(i)) return h;
  if (const handler h = select_integer(i)) return h;
  return select_bits(i);
}

/// A sum with the product that it takes in: a multiply-add, of a negated operand if something is
/// subtracted.
inline bool lower_contracted(lowering_context& c, const ptx::instruction& sum,
                             const ptx::instruction& product, bool second) {
  const auto terms = c.source.operands_of(sum), factors = c.source.operands_of(product);
  const std::uint32_t result = c.operand_slot(terms[0]), b = c.operand_slot(factors[2]);
  std::uint32_t a = c.operand_slot(factors[1]), addend = c.operand_slot(terms[second ? 1 : 2]);
  if (sum.op == ptx::opcode::sub) {
    std::uint32_t& subtracted = second ? a : addend;
    ptx::instruction& negation = c.out.made.emplace_back(sum);
    negation.op = ptx::opcode::neg;
    negation.with.sat = false;
    const std::uint32_t negative = c.scratch(ptx::size_of(sum.types[0]));
    decoded& d = c.emit(select_plain(negation));
    d.slots[0] = negative;
    d.slots[1] = subtracted;
    d.source = &negation;
    subtracted = negative;
  }
  ptx::instruction& fused = c.out.made.emplace_back(sum);
  fused.op = ptx::opcode::fma;
  const handler run = select_plain(fused);
  if (run == nullptr) return false;
  decoded& d = c.emit(run);
  d.slots[0] = result;
  d.slots[1] = a;
  d.slots[2] = b;
  d.slots[3] = addend;
  d.result_size = static_cast<std::uint8_t>(ptx::size_of(terms[0].value_type));
  d.source = &fused;
  return true;
}

/// Appends the decoded form of one instruction. False: it is not supported.
inline bool lower_instruction(lowering_context& c, const ptx::instruction& i,
                              const ptx::module& module) {
  using ptx::opcode;
  const auto operands = c.source.operands_of(i);
  switch (i.op) {
    case opcode::setp:
    case opcode::set: return lower_compare(c, i);
    case opcode::mov:
    case opcode::mov_address:
    case opcode::mov_pack:
    case opcode::mov_unpack: return lower_move(c, i);
    case opcode::lop3: {
      const std::size_t table = 4;
      std::vector<ptx::operand> flat(operands.begin(), operands.end());
      const auto value = static_cast<std::uint8_t>(flat[table].value);
      flat.erase(flat.begin() + table);
      const bool predicate = flat.size() == 5;
      const bool good = predicate ? fill_pair_slots(c, &run_lop3_predicate, flat)
                                  : fill_slots(c, &run_lop3, flat);
      if (good) c.out.code.back().option = value;
      return good;
    }
    case opcode::cvt: {
      if (!fill_slots(c, select_convert(i), operands)) return false;
      c.out.code.back().count = static_cast<std::uint8_t>(ptx::size_of(operands[1].value_type));
      return true;
    }
    case opcode::cvta: return lower_cvta(c, i);
    case opcode::mapa:
    case opcode::getctarank: {
      const bool wide = ptx::size_of(i.types[0]) == 8;
      const handler run =
          i.op == opcode::mapa
              ? (wide ? &run_mapa<std::uint64_t> : &run_mapa<std::uint32_t>)
              : (wide ? &run_block_rank<std::uint64_t> : &run_block_rank<std::uint32_t>);
      if (!fill_slots(c, run, operands)) return false;
      c.out.code.back().option = i.with.space == ptx::state_space::generic;
      return true;
    }
    case opcode::createpolicy: {
      const std::uint32_t size = ptx::size_of(operands[0].value_type);
      const std::uint32_t zero = c.constant(0, size);
      decoded& d = c.emit(select_move(size));
      d.slots[0] = c.slot_of(operands[0].index);
      d.slots[1] = zero;
      return true;
    }
    case opcode::isspacep:
      if (!fill_slots(c, &run_isspacep, operands)) return false;
      c.out.code.back().option = static_cast<std::uint8_t>(i.with.space);
      return true;
    case opcode::ld:
    case opcode::ldu: return lower_access(c, i, true);
    case opcode::st: return lower_access(c, i, false);
    case opcode::atom:
    case opcode::red: return lower_atomic(c, i);
    case opcode::cp_async: return lower_async_copy(c, i);
    case opcode::cp_async_bulk:
    case opcode::cp_reduce_async_bulk: return lower_bulk_copy(c, i);
    case opcode::st_async:
    case opcode::red_async: return lower_async_store(c, i);
    case opcode::cp_async_bulk_commit_group: c.emit(&run_commit_bulk); return true;
    case opcode::cp_async_bulk_wait_group:
      c.emit(&run_wait_bulk).target = static_cast<std::uint32_t>(operands[0].value);
      return true;
    case opcode::cp_async_bulk_tensor:
    case opcode::cp_async_bulk_prefetch_tensor:
    case opcode::cp_reduce_async_bulk_tensor: return lower_tensor(c, i);
    case opcode::prefetch_tensormap: return lower_prefetch_tensor_map(c, i);
    case opcode::tensormap_replace: return lower_map_change(c, i);
    case opcode::tensormap_cp_fenceproxy: return lower_map_copy(c, i);
    case opcode::cp_async_bulk_prefetch: return lower_bulk_prefetch(c, i);
    case opcode::cp_async_commit_group:
    case opcode::cp_async_wait_group:
    case opcode::cp_async_wait_all: return lower_copy_wait(c, i);
    case opcode::tex:
    case opcode::tex_level:
    case opcode::tex_grad:
    case opcode::tld4: return lower_texture(c, i);
    case opcode::suld:
    case opcode::sust:
    case opcode::sured: return lower_surface(c, i);
    case opcode::txq:
    case opcode::txq_level:
    case opcode::suq: return fill_slots(c, &run_image_query, operands);
    case opcode::istypep: return fill_slots(c, &run_istypep, operands);
    case opcode::membar:
    case opcode::fence:
    case opcode::fence_proxy: c.emit(&run_fence); return true;
    case opcode::prefetch:
    case opcode::prefetchu:
    case opcode::applypriority:
    case opcode::discard:
    case opcode::griddepcontrol:
    case opcode::pmevent:
    case opcode::setmaxnreg: c.emit(&run_nothing); return true;
    case opcode::nanosleep: c.emit(&run_yield); return true;
    case opcode::shfl:
    case opcode::vote:
    case opcode::match:
    case opcode::redux:
    case opcode::elect:
    case opcode::bar_warp_sync: return lower_collective(c, i);
    case opcode::bar_sync:
    case opcode::bar_arrive:
    case opcode::bar_red: return lower_barrier(c, i);
    case opcode::barrier_cluster_arrive: c.emit(&run_cluster_arrive); return true;
    case opcode::barrier_cluster_wait: c.emit(&run_cluster_wait); return true;
    case opcode::mbarrier_pending_count: return fill_slots(c, &run_pending_count, operands);
    case opcode::mbarrier_init:
    case opcode::mbarrier_inval:
    case opcode::mbarrier_expect_tx:
    case opcode::mbarrier_complete_tx:
    case opcode::mbarrier_arrive:
    case opcode::mbarrier_arrive_drop:
    case opcode::mbarrier_test_wait:
    case opcode::mbarrier_try_wait:
    case opcode::cp_async_mbarrier_arrive: return lower_mbarrier(c, i);
    case opcode::bra:
    case opcode::brx_idx: return lower_branch(c, i);
    case opcode::call: return lower_call(c, i, module);
    case opcode::ret: c.emit(&run_return); return true;
    case opcode::exit: c.emit(&run_exit); return true;
    case opcode::trap:
    case opcode::brkpt: c.emit(&run_trap); return true;
    case opcode::alloca_:
    case opcode::stacksave:
    case opcode::stackrestore: return lower_stack(c, i);
    case opcode::mma:
    case opcode::mma_sp:
    case opcode::wmma_mma: return lower_multiply(c, i);
    case opcode::wmma_load_a:
    case opcode::wmma_load_b:
    case opcode::wmma_load_c:
    case opcode::wmma_store:
    case opcode::ldmatrix:
    case opcode::stmatrix: return lower_matrix_access(c, i);
    case opcode::movmatrix: return lower_movmatrix(c, i);
    case opcode::wgmma_fence:
    case opcode::wgmma_commit_group:
    case opcode::wgmma_wait_group: c.emit(&run_nothing); return true;
    case opcode::wgmma_mma: return lower_group_product(c, i);
    default: return fill_slots(c, select_plain(i), operands);
  }
}

}}}  // namespace nogpu::v1::machine::detail
