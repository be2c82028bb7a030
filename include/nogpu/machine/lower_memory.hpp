// Lowers the instructions that take a memory operand.
#pragma once

#include <cstdint>
#include <vector>

#include <nogpu/machine/handlers/async_copies.hpp>
#include <nogpu/machine/handlers/async_stores.hpp>
#include <nogpu/machine/handlers/atomics.hpp>
#include <nogpu/machine/handlers/bulk_copies.hpp>
#include <nogpu/machine/handlers/mbarrier.hpp>
#include <nogpu/machine/handlers/memory.hpp>
#include <nogpu/machine/lowering_context.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// A memory operand: the slot of its base, the rest of the address, the space.
struct lowered_address {
  bool good = false;
  bool wide = true;
  std::uint32_t base = no_slot;
  std::int64_t offset = 0;
  space where = space::generic;
};

inline lowered_address lower_address(lowering_context& c, const ptx::operand& o,
                                     ptx::state_space s) {
  lowered_address a;
  a.good = true;
  a.offset = o.offset();
  switch (s) {
    case ptx::state_space::shared: a.where = space::shared; break;
    case ptx::state_space::local: a.where = space::local; break;
    case ptx::state_space::param: a.where = c.source.entry ? space::param : space::local; break;
    case ptx::state_space::global:
    case ptx::state_space::constant: a.where = space::global; break;
    default: break;
  }
  if (o.target.kind != ptx::symbol_kind::none) {
    const auto symbol = c.address_of_symbol(o.target);
    if (!symbol) return {};
    a.offset = static_cast<std::int64_t>(o.value + symbol->value);
    if (symbol->in_frame) a.where = space::frame;
  } else if (o.index != ptx::no_index) {
    a.base = c.slot_of(o.index);
    a.wide = ptx::size_of(o.value_type) == 8;
  }
  return a;
}

inline void set_address(decoded& d, const lowered_address& a, unsigned slot) {
  d.slots[slot] = a.base;
  d.offset = a.offset;
  d.wide_base = a.wide;
}

/// Puts the slots of a single operand or of a vector's elements into the lists.
inline std::uint32_t list_elements(lowering_context& c, const ptx::operand& o, bool destination) {
  std::vector<std::uint32_t> slots;
  const auto add = [&](const ptx::operand& e) {
    const bool thrown_away = destination && e.kind == ptx::operand_kind::sink;
    slots.push_back(thrown_away ? no_slot : c.operand_slot(e));
  };
  if (o.kind == ptx::operand_kind::vector) {
    for (const ptx::operand& e : c.source.elements_of(o)) add(e);
  } else {
    add(o);
  }
  const auto begin = static_cast<std::uint32_t>(c.out.lists.size());
  c.out.lists.insert(c.out.lists.end(), slots.begin(), slots.end());
  return begin;
}

/// Returns the register type of an operand, or of the first element of a vector that is not a sink.
inline ptx::type element_type(lowering_context& c, const ptx::operand& o) {
  if (o.kind != ptx::operand_kind::vector) return o.value_type;
  for (const ptx::operand& e : c.source.elements_of(o))
    if (e.kind != ptx::operand_kind::sink) return e.value_type;
  return ptx::type::none;
}

inline std::uint8_t access_options(const ptx::instruction& i, space where) {
  using enum ptx::memory_order;
  std::uint8_t options = where == space::global ? global_only : 0;
  if (i.with.order != weak) options |= unordered_access;
  if (i.with.order == acquire || i.with.order == release || i.with.order == acq_rel ||
      i.with.order == sc)
    options |= fenced_access;
  return options;
}

/// ld and ldu, st.
inline bool lower_access(lowering_context& c, const ptx::instruction& i, bool load) {
  const auto operands = c.source.operands_of(i);
  const ptx::operand& value = operands[load ? 0 : 1];
  const lowered_address a = lower_address(c, operands[load ? 1 : 0], i.with.space);
  if (!a.good) return false;
  const std::uint32_t size = ptx::size_of(i.types[0]);
  const std::uint32_t list = list_elements(c, value, load);
  const handler run = load ? select_load(size, a.where) : select_store(size, a.where);
  if (run == nullptr) return false;
  const std::uint32_t width = ptx::size_of(element_type(c, value));
  decoded& d = c.emit(run);
  set_address(d, a, load ? 1 : 0);
  d.list = list;
  d.count = value.kind == ptx::operand_kind::vector ? value.count : 1;
  if (d.count == 1) d.slots[load ? 0 : 1] = c.out.lists[list];
  d.result_size = static_cast<std::uint8_t>(width ? width : size);
  d.result_signed = ptx::is_signed(i.types[0]);
  d.option = access_options(i, a.where);
  return true;
}

/// atom and red.
inline bool lower_atomic(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  const bool returns = i.op == ptx::opcode::atom;
  const std::size_t first = returns ? 1 : 0;
  const lowered_address a = lower_address(c, operands[first], i.with.space);
  if (!a.good) return false;
  const ptx::operand& b = operands[first + 1];
  std::uint32_t list = 0;
  const std::uint8_t count = b.kind == ptx::operand_kind::vector ? b.count : 1;
  std::uint32_t destination = no_slot, source = no_slot, other = no_slot;
  if (count > 1) {
    if (returns) {
      list = list_elements(c, operands[0], true);
    } else {
      list = static_cast<std::uint32_t>(c.out.lists.size());
      c.out.lists.insert(c.out.lists.end(), count, no_slot);
    }
    (void)list_elements(c, b, false);
  } else {
    if (returns && operands[0].kind != ptx::operand_kind::sink)
      destination = c.operand_slot(operands[0]);
    source = c.operand_slot(b);
    if (i.with.op == ptx::operation::cas) other = c.operand_slot(operands[first + 2]);
  }
  const handler run = select_atomic(i);
  if (run == nullptr) return false;
  decoded& d = c.emit(run);
  set_address(d, a, 1);
  d.slots[0] = destination;
  d.slots[2] = source;
  d.slots[3] = other;
  d.list = list;
  d.count = count;
  d.option = static_cast<std::uint8_t>(a.where);
  return true;
}

/// Adds the rest of an address to a list, for `listed_address`.
inline void list_address(std::vector<std::uint32_t>& list, const lowered_address& a) {
  const auto bits = static_cast<std::uint64_t>(a.offset);
  list.push_back(static_cast<std::uint32_t>(bits));
  list.push_back(static_cast<std::uint32_t>(bits >> 32));
  list.push_back(a.wide);
}

inline bool lower_async_copy(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  const lowered_address to = lower_address(c, operands[0], ptx::state_space::shared);
  const lowered_address from = lower_address(c, operands[1], ptx::state_space::global);
  if (!to.good || !from.good) return false;
  std::uint32_t limit = no_slot;
  std::uint8_t option = 0, negated = 0;
  if (operands.size() > 3 && operands[3].value_type == ptx::type::pred) {
    option = 2;
    negated = static_cast<std::uint8_t>(operands[3].negated ? 4 : 0);
    limit = c.operand_slot(operands[3]);
  } else if (operands.size() > 3 && ptx::size_of(operands[3].value_type) == 4) {
    option = 1;
    limit = c.operand_slot(operands[3]);
  }
  const auto list = static_cast<std::uint32_t>(c.out.lists.size());
  list_address(c.out.lists, from);
  decoded& d = c.emit(&run_copy);
  set_address(d, to, 0);
  d.slots[1] = from.base;
  d.slots[2] = limit;
  d.list = list;
  d.count = static_cast<std::uint8_t>(operands[2].value);
  d.option = option;
  d.negated = negated;
  return true;
}

/// cp.async.bulk and cp.reduce.async.bulk between global and shared memory.
inline bool lower_bulk_copy(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  const bool loads = i.with.to_space == ptx::state_space::shared;
  const lowered_address to = lower_address(c, operands[0], i.with.to_space);
  const lowered_address from = lower_address(c, operands[1], i.with.space);
  lowered_address barrier;
  if (loads) barrier = lower_address(c, operands[3], ptx::state_space::shared);
  if (!to.good || !from.good || (loads && !barrier.good)) return false;
  const std::uint32_t size = c.operand_slot(operands[2]);
  const std::uint32_t blocks = i.with.multicast ? c.operand_slot(operands[4]) : no_slot;
  const auto list = static_cast<std::uint32_t>(c.out.lists.size());
  list_address(c.out.lists, from);
  list_address(c.out.lists, barrier);
  decoded& d = c.emit(&run_bulk_copy);
  set_address(d, to, 0);
  d.slots[1] = from.base;
  d.slots[2] = size;
  d.slots[3] = barrier.base;
  d.slots[4] = blocks;
  d.list = list;
  d.option = !loads ? 3 : i.with.space == ptx::state_space::global ? 1 : 2;
  return true;
}

/// st.async and red.async.
inline bool lower_async_store(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  const lowered_address to = lower_address(c, operands[0], i.with.space);
  const lowered_address barrier = lower_address(c, operands[2], i.with.space);
  if (!to.good || !barrier.good) return false;
  const auto list = static_cast<std::uint32_t>(c.out.lists.size());
  list_address(c.out.lists, barrier);
  (void)list_elements(c, operands[1], false);
  decoded& d = c.emit(&run_async_store);
  set_address(d, to, 0);
  d.slots[1] = barrier.base;
  d.list = list;
  d.count = i.with.vector;
  d.option = i.with.space == ptx::state_space::generic;
  return true;
}

/// cp.async.commit_group, cp.async.wait_group and cp.async.wait_all.
inline bool lower_copy_wait(lowering_context& c, const ptx::instruction& i) {
  using ptx::opcode;
  const bool counted = i.op == opcode::cp_async_wait_group;
  decoded& d = c.emit(counted                                 ? &run_wait_copies
                      : i.op == opcode::cp_async_commit_group ? &run_commit_copies
                                                              : &run_wait_all_copies);
  if (counted) d.target = static_cast<std::uint32_t>(c.source.operands_of(i)[0].value);
  return true;
}

/// The mbarrier instructions on an object in memory.
inline bool lower_mbarrier(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  std::uint32_t slots[3] = {no_slot, no_slot, no_slot};
  lowered_address a;
  std::uint32_t target = 0;
  for (std::uint32_t n = 0; n < operands.size() && n < 3; ++n) {
    if (operands[n].kind == ptx::operand_kind::address) {
      a = lower_address(c, operands[n], i.with.space);
      target = n;
    } else if (operands[n].kind != ptx::operand_kind::sink) {
      slots[n] = c.operand_slot(operands[n]);
    }
  }
  if (!a.good) return false;
  decoded& d = c.emit(&run_mbarrier);
  for (unsigned n = 0; n < 3; ++n) d.slots[n] = slots[n];
  set_address(d, a, target);
  d.target = target;
  d.option = a.where == space::shared;
  return true;
}

}}}  // namespace nogpu::v1::machine::detail
