// Lowers bulk copies of tensors, and changes of their maps.
#pragma once

#include <cstdint>
#include <vector>

#include <nogpu/machine/handlers/tensor_copies.hpp>
#include <nogpu/machine/handlers/tensor_map_changes.hpp>
#include <nogpu/machine/lower_memory.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The instructions that have a tensor map and coordinates.
inline bool lower_tensor(lowering_context& c, const ptx::instruction& i) {
  using ptx::opcode;
  const auto operands = c.source.operands_of(i);
  const bool loads = i.op == opcode::cp_async_bulk_tensor && operands.size() > 2 &&
                     i.with.to_space == ptx::state_space::shared;
  const bool prefetches = i.op == opcode::cp_async_bulk_prefetch_tensor;
  const auto tensor = c.source.elements_of(operands[loads ? 1 : 0]);
  std::vector<std::uint32_t> list;
  lowered_address shared, barrier;
  if (!prefetches) {
    shared = lower_address(c, operands[loads ? 0 : 1], ptx::state_space::shared);
    if (!shared.good) return false;
  }
  if (loads) {
    barrier = lower_address(c, operands[2], ptx::state_space::shared);
    if (!barrier.good) return false;
    list_address(list, barrier);
  }
  const std::uint32_t map = c.operand_slot(tensor[0]);
  for (const ptx::operand& coordinate : tensor.subspan(1))
    list.push_back(c.operand_slot(coordinate));
  if (i.with.im2col) {
    const std::size_t at = loads ? 3 : 1;
    const bool has = (loads || prefetches) && operands.size() > at;
    for (unsigned n = 0; n + 2 < i.with.dimensions; ++n)
      list.push_back(has ? c.operand_slot(c.source.elements_of(operands[at])[n]) : no_slot);
  }
  const std::size_t last = i.with.im2col ? 4 : 3;
  const std::uint32_t blocks = i.with.multicast ? c.operand_slot(operands[last]) : no_slot;
  decoded& d = c.emit(loads        ? &run_tensor_load
                      : prefetches ? &run_tensor_prefetch
                                   : &run_tensor_store);
  set_address(d, shared, 0);
  d.slots[1] = map;
  d.slots[2] = barrier.base;
  d.slots[3] = blocks;
  d.list = static_cast<std::uint32_t>(c.out.lists.size());
  c.out.lists.insert(c.out.lists.end(), list.begin(), list.end());
  return true;
}

inline bool lower_prefetch_tensor_map(lowering_context& c, const ptx::instruction& i) {
  const lowered_address a = lower_address(c, c.source.operands_of(i)[0], ptx::state_space::generic);
  if (!a.good) return false;
  set_address(c.emit(&run_prefetch_tensor_map), a, 0);
  return true;
}

/// tensormap.replace.
inline bool lower_map_change(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  const lowered_address a = lower_address(c, operands[0], i.with.space);
  if (!a.good) return false;
  const std::uint32_t value = c.operand_slot(operands.back());
  decoded& d = c.emit(ptx::size_of(i.types[0]) == 8 ? &run_map_change<std::uint64_t>
                                                    : &run_map_change<std::uint32_t>);
  set_address(d, a, 0);
  d.slots[1] = value;
  d.count = operands.size() > 2 ? static_cast<std::uint8_t>(operands[1].value) : 0;
  d.option = static_cast<std::uint8_t>(a.where);
  return true;
}

/// tensormap.cp_fenceproxy.
inline bool lower_map_copy(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  const lowered_address to = lower_address(c, operands[0], ptx::state_space::global);
  const lowered_address from = lower_address(c, operands[1], ptx::state_space::shared);
  if (!to.good || !from.good) return false;
  const auto list = static_cast<std::uint32_t>(c.out.lists.size());
  list_address(c.out.lists, from);
  decoded& d = c.emit(&run_map_copy);
  set_address(d, to, 0);
  d.slots[1] = from.base;
  d.list = list;
  return true;
}

/// cp.async.bulk.prefetch.L2.
inline bool lower_bulk_prefetch(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  const lowered_address a = lower_address(c, operands[0], ptx::state_space::global);
  if (!a.good) return false;
  const std::uint32_t size = c.operand_slot(operands[1]);
  decoded& d = c.emit(&run_bulk_prefetch);
  set_address(d, a, 0);
  d.slots[1] = size;
  return true;
}

}}}  // namespace nogpu::v1::machine::detail
