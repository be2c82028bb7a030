// Entering and leaving functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <nogpu/machine/handlers/runtime.hpp>
#include <nogpu/machine/undefined_values.hpp>
#include <nogpu/machine/warp.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Makes the frame's registers the current ones.
inline void bind(warp& w, frame& f) {
  w.top = &f;
  w.function = f.function;
  w.registers = f.registers.get();
}

/// Returns the most bytes that a lane has from alloca in the running function.
inline std::uint32_t alloca_bytes(const warp& w, const frame& f, lane_mask lanes) {
  std::uint32_t most = 0;
  for_lanes(lanes, [&](unsigned lane) {
    const std::uint32_t begin = f.base[lane] + f.function->frame_bytes;
    if (w.stack_top[lane] > begin) most = std::max(most, w.stack_top[lane] - begin);
  });
  return most;
}

/// Returns whether the stack of each thread has room for another frame.
inline bool has_room(warp& w, const frame& f, lane_mask lanes) {
  if (w.block->grid->what->kernel->depth_is_known || f.stack_bytes <= w.stack_limit) return true;
  (void)fail(w, fault_kind::stack_overflow, static_cast<unsigned>(std::countr_zero(lanes)),
             std::to_string(f.depth) + " nested calls need at least " +
                 std::to_string(f.stack_bytes) + " bytes of stack, and a thread has " +
                 std::to_string(w.stack_limit) +
                 ": raise the stack limit of the context (CU_LIMIT_STACK_SIZE)");
  return false;
}

/// A frame with zeroed registers for the lanes, on top of their stacks; null when a stack is full.
inline frame* push_frame(warp& w, const lowered_function& function, frame* caller,
                         lane_mask lanes) {
  const std::uint32_t size = function.frame_bytes;
  std::unique_ptr<frame> f;
  if (w.spare.empty()) {
    f = std::make_unique<frame>();
  } else {
    f = std::move(w.spare.back());
    w.spare.pop_back();
  }
  f->function = &function;
  f->caller = caller;
  f->depth = caller ? caller->depth + 1 : 0;
  f->stack_bytes = function.stack_bytes;
  if (caller != nullptr) {
    f->stack_bytes +=
        caller->stack_bytes + caller->function->call_bytes + alloca_bytes(w, *caller, lanes);
    if (!has_room(w, *f, lanes)) return nullptr;
  }
  f->lanes_inside = static_cast<std::uint32_t>(std::popcount(lanes));
  f->undefined.bits.clear();
  f->undefined.slots.clear();
  if (f->register_room < function.register_bytes) {
    f->registers.reset(new std::byte[function.register_bytes]);
    f->register_room = function.register_bytes;
  }
  if (function.constant_begin != 0) std::memset(f->registers.get(), 0, function.constant_begin);
  if (!function.constants.empty())
    std::memcpy(f->registers.get() + function.constant_begin, function.constants.data(),
                function.constants.size());
  for_lanes(lanes, [&](unsigned lane) {
    f->base[lane] = (w.stack_top[lane] + 15) / 16 * 16;
    w.stack_top[lane] = f->base[lane] + size;
  });
  w.grow_local();
  for_lanes(lanes, [&](unsigned lane) {
    const std::uint32_t base = f->base[lane];
    w.local.mark(lane, base, function.local_begin, true);
    w.local.mark(lane, base + function.local_begin, function.frame_bytes - function.local_begin,
                 false);
  });
  w.frames.push_back(std::move(f));
  return w.frames.back().get();
}

/// `lanes` lanes have left the frame; the last one frees it.
inline void leave_frame(warp& w, frame* f, std::uint32_t lanes) {
  f->lanes_inside -= lanes;
  if (f->lanes_inside != 0) return;
  for (auto& owned : w.frames) {
    if (owned.get() != f) continue;
    std::swap(owned, w.frames.back());
    w.spare.push_back(std::move(w.frames.back()));
    w.frames.pop_back();
    return;
  }
}

/// A value on its way between frames, and its undefined bits.
struct handed_on {
  std::vector<std::byte> value;
  std::vector<std::byte> undefined;
};

/// Copies a value for one lane between a register or the frame's memory and `to`, of its size.
inline void take(warp& w, const frame& f, bool in_register, std::uint32_t at, unsigned lane,
                 handed_on& to) {
  const std::size_t size = to.value.size();
  if (in_register) {
    const std::size_t begin = at + lane * size;
    std::memcpy(to.value.data(), f.registers.get() + begin, size);
    if (f.undefined.bits.empty()) return to.undefined.assign(size, std::byte{});
    to.undefined.assign(f.undefined.bits.data() + begin, f.undefined.bits.data() + begin + size);
  } else {
    std::memcpy(to.value.data(), frame_memory(w, f, lane, at), size);
    const std::uint8_t* const shadow = w.local.shadow(lane, std::size_t{f.base[lane]} + at);
    to.undefined.assign(size, std::byte{});
    for (std::size_t i = 0; shadow != nullptr && i < size; ++i)
      if (shadow[i] == 0) to.undefined[i] = std::byte{0xff};
  }
}
inline void give(warp& w, frame& f, bool in_register, std::uint32_t at, unsigned lane,
                 const handed_on& from) {
  const std::size_t size = from.value.size();
  const bool defined = std::all_of(from.undefined.begin(), from.undefined.end(),
                                   [](std::byte b) { return b == std::byte{}; });
  if (in_register) {
    std::memcpy(f.registers.get() + at + lane * size, from.value.data(), size);
    if (defined) return define(f, at, lane_mask{1} << lane);
    std::memcpy(undefined_in(f, at) + lane * size, from.undefined.data(), size);
    w.undefined = true;
  } else {
    std::memcpy(frame_memory(w, f, lane, at), from.value.data(), size);
    const std::size_t begin = std::size_t{f.base[lane]} + at;
    w.local.mark(lane, begin, size, true);
    for (std::size_t i = 0; !defined && i < size; ++i)
      if (from.undefined[i] != std::byte{}) w.local.mark(lane, begin + i, 1, false);
  }
}

/// The lanes of the running frame call `callee`. Null: the stack is full.
inline frame* call_function(warp& w, const lowered_function& callee, std::uint32_t call_index,
                            std::uint32_t return_to, lane_mask lanes) {
  frame& caller = *w.top;
  frame* f = push_frame(w, callee, &caller, lanes);
  if (f == nullptr) return nullptr;
  f->call_index = call_index;
  f->return_to = return_to;
  const lowered_call& call = caller.function->calls[call_index];
  handed_on value;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const lowered_call::transfer& from = call.arguments[i];
    const lowered_function::place& to = callee.parameters[i];
    const std::uint32_t size = from.size < to.size ? from.size : to.size;
    value.value.resize(size);
    for_lanes(lanes, [&](unsigned lane) {
      take(w, caller, from.in_register, from.at, lane, value);
      const bool in_register = to.slot != no_slot;
      give(w, *f, in_register, in_register ? to.slot : to.offset, lane, value);
    });
  }
  return f;
}

/// The lanes of the running frame return; their results go to the caller.
inline void return_from(warp& w, lane_mask lanes) {
  frame& f = *w.top;
  frame& caller = *f.caller;
  const lowered_call& call = caller.function->calls[f.call_index];
  handed_on value;
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    const lowered_call::transfer& to = call.results[i];
    const lowered_function::place& from = f.function->returns[i];
    const std::uint32_t size = from.size < to.size ? from.size : to.size;
    value.value.resize(size);
    for_lanes(lanes, [&](unsigned lane) {
      const bool in_register = from.slot != no_slot;
      take(w, f, in_register, in_register ? from.slot : from.offset, lane, value);
      give(w, caller, to.in_register, to.at, lane, value);
    });
  }
  for_lanes(lanes, [&](unsigned lane) { w.stack_top[lane] = f.base[lane]; });
  leave_frame(w, &f, static_cast<std::uint32_t>(std::popcount(lanes)));
}

}}}  // namespace nogpu::v1::machine::detail
