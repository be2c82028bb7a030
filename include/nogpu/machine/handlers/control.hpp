// Handlers of jumps, calls, barriers and the ends of threads.
#pragma once

#include <cstdint>
#include <string>

#include <nogpu/machine/handlers/convert.hpp>
#include <nogpu/machine/lanes.hpp>
#include <nogpu/machine/memory_layout.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

inline action run_branch(warp&, const decoded&, lane_mask) { return action::jump; }
inline action run_exit(warp&, const decoded&, lane_mask) { return action::exit; }
inline action run_return(warp&, const decoded&, lane_mask) { return action::leave; }
inline action run_yield(warp&, const decoded&, lane_mask) { return action::yield; }

inline action run_trap(warp& w, const decoded& d, lane_mask mask) {
  return fail(w, fault_kind::trap, static_cast<unsigned>(std::countr_zero(mask)),
              d.source->op == ptx::opcode::brkpt ? "breakpoint without a debugger" : "");
}

/// brx.idx: slot 0 is the index, the list has `target` instructions.
inline action run_branch_table(warp& w, const decoded& d, lane_mask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const auto index = read_lane<std::uint32_t>(w.registers, d.slots[0], lane);
    if (index >= d.target)
      return fail(
          w, fault_kind::illegal_instruction, lane,
          "branch index " + std::to_string(index) + " of a table of " + std::to_string(d.target));
    w.targets[lane] = w.function->lists[d.list + index];
  }
  return action::table_jump;
}

inline action run_call(warp& w, const decoded& d, lane_mask mask) {
  const executable& kernel = *w.block->grid->what->kernel;
  const lowered_call& call = w.function->calls[d.list];
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    std::uint64_t index = call.function;
    if (call.target_slot != no_slot) {
      const auto a = read_lane<std::uint64_t>(w.registers, call.target_slot, lane);
      index = a >= code_window && (a - code_window) % 16 == 0 ? (a - code_window) / 16 : ~0ull;
    }
    const lowered_function* callee = kernel.function(index);
    if (callee == nullptr || callee->source->entry ||
        callee->parameters.size() != call.arguments.size() ||
        callee->returns.size() != call.results.size())
      return fail(w, fault_kind::invalid_call_target, lane,
                  callee ? "the function called has another signature" : "");
    w.callees[lane] = callee;
  }
  return action::call;
}

/// The values of `decoded::option` for a barrier.
enum barrier_option : std::uint8_t { barrier_sync, barrier_arrive, barrier_reduce };

/// bar.sync and bar.arrive: slots number, threads. bar.red: slots d, number, threads, predicate.
inline action run_barrier(warp& w, const decoded& d, lane_mask mask) {
  const unsigned first = d.option == barrier_reduce ? 1 : 0;
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  const auto number = read_lane<std::uint32_t>(w.registers, d.slots[first], lane);
  const std::uint32_t threads =
      d.slots[first + 1] == no_slot
          ? 0
          : read_lane<std::uint32_t>(w.registers, d.slots[first + 1], lane);
  if (number > 15)
    return fail(w, fault_kind::illegal_instruction, lane,
                "barrier " + std::to_string(number) + "; there are barriers 0 to 15");
  if (threads % warp_size != 0)
    return fail(
        w, fault_kind::illegal_instruction, lane,
        "a barrier for " + std::to_string(threads) + " threads, which is not a multiple of 32");
  w.pending_barrier = number;
  w.barrier_threads = threads;
  if (d.option == barrier_reduce)
    w.block->barriers[number].votes +=
        static_cast<std::uint32_t>(std::popcount(read_predicate(w.registers, d, 3) & mask));
  return action::barrier;
}

/// Gives the lanes that waited at a bar.red its result.
inline void write_barrier_result(std::byte* registers, const decoded& d, lane_mask lanes,
                                 std::uint32_t votes, std::uint32_t threads) {
  switch (d.source->with.op) {
    case ptx::operation::and_:
      write_predicate(registers, d.slots[0], lanes, votes == threads ? all_lanes : 0);
      break;
    case ptx::operation::or_:
      write_predicate(registers, d.slots[0], lanes, votes != 0 ? all_lanes : 0);
      break;
    default:
      for_lanes(lanes, [&](unsigned lane) { write_lane(registers, d.slots[0], lane, votes); });
      break;
  }
}

}}}  // namespace nogpu::v1::machine::detail
