// Handlers of calls to the device runtime: vprintf, malloc, free, __assertfail,
// cudaGraphSetConditional.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nogpu/machine/memory_access.hpp>
#include <nogpu/machine/printf_format.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The bytes in a frame's memory for one lane.
inline std::byte* frame_memory(warp& w, const frame& f, unsigned lane, std::uint32_t offset) {
  return w.local.bytes(lane, std::size_t{f.base[lane]} + offset);
}

template <class T>
inline T argument(warp& w, const lowered_call& call, std::size_t i, unsigned lane) {
  T value{};
  const lowered_call::transfer& from = call.arguments[i];
  if (from.in_register) return read_lane<T>(w.registers, from.at, lane);
  std::memcpy(&value, frame_memory(w, *w.top, lane, from.at), sizeof(T));
  return value;
}

template <class T>
inline void give_result(warp& w, const lowered_call& call, unsigned lane, T value) {
  if (call.results.empty()) return;
  const lowered_call::transfer& to = call.results[0];
  if (to.in_register) return write_lane(w.registers, to.at, lane, value);
  std::memcpy(frame_memory(w, *w.top, lane, to.at), &value, sizeof(T));
}

/// The string at a generic address; a fault is noted in the warp.
inline std::string device_string(warp& w, const decoded& d, unsigned lane, address a) {
  constexpr std::size_t longest = std::size_t{1} << 20;
  std::string text;
  while (text.size() < longest) {
    const located at = locate<space::generic>(w, d, lane, a++, 1, access_kind::read);
    if (at.bytes == nullptr) break;
    const auto c = static_cast<char>(fetch<std::uint8_t>(at, 0));
    if (c == 0) break;
    text += c;
  }
  return text;
}

inline action run_vprintf(warp& w, const decoded& d, lane_mask mask) {
  const lowered_call& call = w.function->calls[d.list];
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const std::string format = device_string(w, d, lane, argument<std::uint64_t>(w, call, 0, lane));
    auto next = argument<std::uint64_t>(w, call, 1, lane);
    const auto arguments = [&](void* to, std::uint32_t size) {
      next = (next + size - 1) & ~std::uint64_t{size - 1};
      const located at = locate<space::generic>(w, d, lane, next, size, access_kind::read);
      if (at.bytes == nullptr) return false;
      std::memcpy(to, at.bytes, size);
      next += size;
      return true;
    };
    const auto string = [&](address a) { return device_string(w, d, lane, a); };
    std::string text;
    int count = 0;
    if (!format_device(format, arguments, string, text, count) ||
        w.failure.kind != fault_kind::none)
      return action::fault;
    w.block->grid->print(text);
    give_result(w, call, lane, count);
  }
  return action::next;
}

inline action run_malloc(warp& w, const decoded& d, lane_mask mask) {
  const lowered_call& call = w.function->calls[d.list];
  device_heap* heap = w.block->grid->what->heap;
  for_lanes(mask, [&](unsigned lane) {
    const auto size = argument<std::uint64_t>(w, call, 0, lane);
    give_result(w, call, lane, heap ? heap->allocate(size) : address{0});
  });
  return action::next;
}

inline action run_free(warp& w, const decoded& d, lane_mask mask) {
  const lowered_call& call = w.function->calls[d.list];
  device_heap* heap = w.block->grid->what->heap;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const auto block = argument<std::uint64_t>(w, call, 0, lane);
    if (heap ? !heap->free(block) : block != 0) {
      w.failure = {fault_kind::use_after_free,
                   lane,
                   block,
                   1,
                   access_kind::write,
                   "free of an address that malloc did not return, or that was freed already: " +
                       w.block->grid->memory->describe(block)};
      return action::fault;
    }
  }
  return action::next;
}

/// __assertfail(message, file, line, function, character size): the text that CUDA prints.
inline action run_assertfail(warp& w, const decoded& d, lane_mask mask) {
  const lowered_call& call = w.function->calls[d.list];
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  std::string note;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const auto string = [&](std::size_t i) {
      return device_string(w, d, lane, argument<std::uint64_t>(w, call, i, lane));
    };
    std::array<std::uint32_t, 3> thread{};
    for (unsigned i = 0; i < 3; ++i) thread[i] = w.thread[i][lane];
    const auto triple = [](const std::array<std::uint32_t, 3>& v) {
      return "[" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) +
             "]";
    };
    const std::string text =
        string(1) + ":" + std::to_string(argument<std::uint32_t>(w, call, 2, lane)) + ": " +
        string(3) + ": block: " + triple(w.block->index) + ", thread: " + triple(thread) +
        " Assertion `" + string(0) + "` failed.\n";
    if (note.empty()) note = text.substr(0, text.size() - 1);
    w.block->grid->print(text);
  }
  return fail(w, fault_kind::assertion, first, std::move(note));
}

inline action run_set_conditional(warp& w, const decoded& d, lane_mask mask) {
  const lowered_call& call = w.function->calls[d.list];
  const auto& set = w.block->grid->what->hook.set_conditional;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const auto handle = argument<std::uint64_t>(w, call, 0, lane);
    if (!set || !set(handle, argument<std::uint32_t>(w, call, 1, lane)))
      return fail(w, fault_kind::trap, lane, "cudaGraphSetConditional: no such handle");
  }
  return action::next;
}

/// Returns the handler of a function that the device runtime provides, if `f` declares it
/// correctly; or null.
inline handler runtime_function(const ptx::function& f) {
  struct provided {
    std::string_view name;
    handler run;
    std::vector<std::uint32_t> sizes;  // of the results, then of the parameters
  };
  static const provided all[] = {{"vprintf", run_vprintf, {4, 8, 8}},
                                 {"malloc", run_malloc, {8, 8}},
                                 {"free", run_free, {8}},
                                 {"__assertfail", run_assertfail, {8, 8, 4, 8, 8}},
                                 {"cudaGraphSetConditional", run_set_conditional, {8, 4}}};
  std::vector<std::uint32_t> sizes;
  for (const ptx::parameter& p : f.returns) sizes.push_back(p.size);
  for (const ptx::parameter& p : f.parameters) sizes.push_back(p.size);
  for (const provided& p : all)
    if (p.name == f.name && p.sizes == sizes) return p.run;
  return nullptr;
}

}}}  // namespace nogpu::v1::machine::detail
