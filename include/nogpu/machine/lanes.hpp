// Functions with which handlers read and write registers, lane by lane.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <nogpu/machine/warp.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// 128 bits as two words, low first.
struct wide_bits {
  std::uint64_t low = 0, high = 0;
};

/// Calls `f` for each lane in the mask. The full mask has a loop of its own that compilers unroll
/// or vectorize.
template <class F> inline void for_lanes(lane_mask mask, F f) {
  if (mask == all_lanes) {
    for (unsigned lane = 0; lane < warp_size; ++lane) f(lane);
  } else {
    for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
  }
}

template <class T>
inline T read_lane(const std::byte* registers, std::uint32_t slot, unsigned lane) {
  T value;
  std::memcpy(&value, registers + slot + lane * sizeof(T), sizeof(T));
  return value;
}

template <class T>
inline void write_lane(std::byte* registers, std::uint32_t slot, unsigned lane, const T& value) {
  std::memcpy(registers + slot + lane * sizeof(T), &value, sizeof(T));
}

inline lane_mask read_mask(const std::byte* registers, std::uint32_t slot) {
  lane_mask value;
  std::memcpy(&value, registers + slot, sizeof(value));
  return value;
}

/// The predicate in slot `i` of the instruction, with its negation.
inline lane_mask read_predicate(const std::byte* registers, const decoded& d, unsigned i) {
  const lane_mask value = read_mask(registers, d.slots[i]);
  return (d.negated >> i & 1) != 0 ? ~value : value;
}

/// Sets the lanes of `mask` in a predicate to those of `value`. A sink is left out.
inline void write_predicate(std::byte* registers, std::uint32_t slot, lane_mask mask,
                            lane_mask value) {
  if (slot == no_slot) return;
  const lane_mask merged = (read_mask(registers, slot) & ~mask) | (value & mask);
  std::memcpy(registers + slot, &merged, sizeof(merged));
}

namespace detail {

template <class R, class... A, class F, std::size_t... I>
inline action map_lanes(warp& w, const decoded& d, lane_mask mask, F f, std::index_sequence<I...>) {
  std::byte* const registers = w.registers;
  if (mask == all_lanes) {
    R result[warp_size];  // apart from the sources, so that the loop vectorizes
    for (unsigned lane = 0; lane < warp_size; ++lane)
      result[lane] = f(read_lane<A>(registers, d.slots[I + 1], lane)...);
    std::memcpy(registers + d.slots[0], result, sizeof(result));
  } else {
    for (; mask != 0; mask &= mask - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(mask));
      write_lane<R>(registers, d.slots[0], lane,
                    f(read_lane<A>(registers, d.slots[I + 1], lane)...));
    }
  }
  return action::next;
}

template <class F, class R, class... A>
inline action mapped(warp& w, const decoded& d, lane_mask mask) {
  return map_lanes<R, A...>(w, d, mask, F{}, std::index_sequence_for<A...>{});
}

}  // namespace detail

/// The handler that computes slot 0, of type R, from slots 1, 2, ... of types A, in each lane
/// alone.
template <class R, class... A, class F> constexpr handler lane_by_lane(F) {
  return &detail::mapped<F, R, A...>;
}

namespace detail {

template <class R, class... A, class F, std::size_t... I>
inline void compute_lanes(std::byte* registers, const decoded& d, lane_mask mask, F f,
                          std::index_sequence<I...>) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    write_lane<R>(registers, d.slots[0], lane,
                  f(*d.source, read_lane<A>(registers, d.slots[I + 1], lane)...));
  }
}

template <class F, class R, class... A>
[[gnu::cold]] inline action computed(warp& w, const decoded& d, lane_mask mask) {
  compute_lanes<R, A...>(w.registers, d, mask, F{}, std::index_sequence_for<A...>{});
  return action::next;
}

}  // namespace detail

/// Does the same as lane_by_lane, for instructions that are rare: one small loop, in which
/// F(instruction, a...) looks at the modifiers. It compiles in a fraction of the time of a handler
/// for each variant.
template <class R, class... A, class F> constexpr handler rarely(F) {
  return &detail::computed<F, R, A...>;
}

/// Notes what is wrong for the scheduler.
inline action fail(warp& w, fault_kind kind, unsigned lane, std::string detail = {}) {
  w.failure = {kind, lane, 0, 0, access_kind::read, std::move(detail)};
  return action::fault;
}

}}}  // namespace nogpu::v1::machine
