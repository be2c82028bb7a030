// Handlers of atom and red.
#pragma once

#include <cstdint>
#include <mutex>
#include <type_traits>

#include <nogpu/machine/access_checks.hpp>
#include <nogpu/machine/handlers/memory.hpp>
#include <nogpu/machine/memory_access.hpp>
#include <nogpu/ptx/arithmetic/half.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Returns the value that an integer or bit operation makes of the old value.
template <class U> inline U combine_integers(ptx::operation op, bool is_signed, U old, U b, U c) {
  using enum ptx::operation;
  using S = std::make_signed_t<U>;
  const bool lower = is_signed ? static_cast<S>(b) < static_cast<S>(old) : b < old;
  switch (op) {
    case add: return static_cast<U>(old + b);
    case min: return lower ? b : old;
    case max: return lower ? old : b;
    case inc: return old >= b ? U{0} : static_cast<U>(old + 1);
    case dec: return old == 0 || old > b ? b : static_cast<U>(old - 1);
    case and_: return old & b;
    case or_: return old | b;
    case xor_: return old ^ b;
    case exch: return b;
    case cas: return old == b ? c : old;
    default: return old;
  }
}

template <class H> inline H combine_halves(ptx::operation op, H old, H b) {
  if (op == ptx::operation::min) return ptx::min(old, b);
  if (op == ptx::operation::max) return ptx::max(old, b);
  return ptx::add(old, b);
}

/// A sum in global memory keeps the bits of a NaN; in shared memory it has the NaN of `add`.
inline std::uint64_t add_doubles(bool global, std::uint64_t old, std::uint64_t b) {
  const auto x = std::bit_cast<double>(old), y = std::bit_cast<double>(b);
  if (global && ptx::detail::is_nan(y)) return b;
  if (global && ptx::detail::is_nan(x)) return old;
  return std::bit_cast<std::uint64_t>(ptx::add(y, x));
}

/// Does the same for every type. In global memory the f32 addition flushes subnormal numbers to
/// zero.
template <class U>
inline U combine_values(ptx::operation op, ptx::type t, bool global, U old, U b, U c) {
  using ptx::type;
  const bool bitwise = op == ptx::operation::exch || op == ptx::operation::cas;
  if (!bitwise) {
    if constexpr (sizeof(U) == 4) {
      if (t == type::f32) {
        const auto x = std::bit_cast<float>(old), y = std::bit_cast<float>(b);
        return std::bit_cast<U>(global ? ptx::add<ptx::rounding::none, true>(x, y)
                                       : ptx::add(x, y));
      }
      const auto halves = [&]<class H>(H) {
        return ptx::apply_x2<H>([op](H x, H y) { return combine_halves(op, x, y); }, old, b);
      };
      if (t == type::f16x2) return halves(ptx::f16{});
      if (t == type::bf16x2) return halves(ptx::bf16{});
    } else if constexpr (sizeof(U) == 8) {
      if (t == type::f64) return add_doubles(global, old, b);
    } else {
      if (t == type::f16) return combine_halves(op, ptx::f16{old}, ptx::f16{b}).bits;
      if (t == type::bf16) return combine_halves(op, ptx::bf16{old}, ptx::bf16{b}).bits;
    }
  }
  return combine_integers<U>(op, ptx::is_signed(t), old, b, c);
}

/// Replaces the value at `at` in one step and returns the old one.
template <class U, class F> inline U update(const located& at, std::uint32_t offset, F next) {
  if (!at.global) {  // a block runs on one host thread
    const U old = fetch<U>(at, offset);
    put<U>(at, offset, next(old));
    return old;
  }
  auto* place = reinterpret_cast<U*>(at.bytes + offset);
  U old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old, next(old), true, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED)) {
  }
  return old;
}

inline located locate_atomic(warp& w, const decoded& d, unsigned lane, address a,
                             std::uint32_t size) {
  const auto where = static_cast<space>(d.option);
  const located at =
      where == space::shared   ? locate<space::shared>(w, d, lane, a, size, access_kind::atomic)
      : where == space::global ? locate<space::global>(w, d, lane, a, size, access_kind::atomic)
                               : locate<space::generic>(w, d, lane, a, size, access_kind::atomic);
  if (at.bytes != nullptr && !at.shared && !at.global)
    return refuse(w, fault_kind::wrong_space, lane, a, size, access_kind::atomic,
                  "atomic operations work on global and shared memory");
  return at;
}

/// Checks the bytes of an atomic operation. Whether it changes them is for the caller to note.
inline bool note_update(warp& w, const decoded& d, unsigned lane, const located& at, address a,
                        std::uint32_t size) {
  if (at.global && !note_read(w, d, lane, at, a, size, access_class::atomic)) return false;
  const bool changed = w.changed;
  const bool sound = note_write(w, d, lane, at, nullptr, size, access_class::atomic);
  w.changed = changed;
  return sound;
}

/// atom and red: slots d (or none), address, b, c; with `count` > 1 the lists hold the elements of
/// d, then those of b.
template <class U> inline action run_atomic(warp& w, const decoded& d, lane_mask mask) {
  const ptx::instruction& i = *d.source;
  const std::uint32_t* list = w.function->lists.data() + d.list;
  const std::uint32_t size = static_cast<std::uint32_t>(sizeof(U)) * d.count;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const address a = address_of(w.registers, d, 1, lane);
    const located at = locate_atomic(w, d, lane, a, size);
    if (at.bytes == nullptr || !note_update(w, d, lane, at, a, size)) return action::fault;
    const U c = d.slots[3] != no_slot ? read_lane<U>(w.registers, d.slots[3], lane) : U{};
    for (unsigned e = 0; e < d.count; ++e) {
      const std::uint32_t source = d.count == 1 ? d.slots[2] : list[d.count + e];
      const std::uint32_t target = d.count == 1 ? d.slots[0] : list[e];
      const U b = read_lane<U>(w.registers, source, lane);
      U made{};
      const U old = update<U>(at, e * static_cast<std::uint32_t>(sizeof(U)), [&](U value) {
        return made = combine_values<U>(i.with.op, i.types[0], at.global, value, b, c);
      });
      w.changed = w.changed || made != old;
      if (target != no_slot) write_lane(w.registers, target, lane, old);
    }
  }
  if (i.with.order != ptx::memory_order::weak && i.with.order != ptx::memory_order::relaxed)
    ++w.block->epoch;
  return action::next;
}

/// exch and cas of 128 bits, one at a time in the whole process.
inline action run_atomic_wide(warp& w, const decoded& d, lane_mask mask) {
  static std::mutex one_at_a_time;
  const bool cas = d.source->with.op == ptx::operation::cas;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const address a = address_of(w.registers, d, 1, lane);
    const located at = locate_atomic(w, d, lane, a, 16);
    if (at.bytes == nullptr || !note_update(w, d, lane, at, a, 16)) return action::fault;
    const auto b = read_lane<wide_bits>(w.registers, d.slots[2], lane);
    const std::lock_guard lock(one_at_a_time);
    const auto old = fetch<wide_bits>(at, 0);
    const bool puts = !cas || (old.low == b.low && old.high == b.high);
    const auto made = !cas ? b : puts ? read_lane<wide_bits>(w.registers, d.slots[3], lane) : old;
    if (puts) put(at, 0, made);
    w.changed = w.changed || made.low != old.low || made.high != old.high;
    if (d.slots[0] != no_slot) write_lane(w.registers, d.slots[0], lane, old);
  }
  return action::next;
}

inline handler select_atomic(const ptx::instruction& i) {
  switch (ptx::size_of(i.types[0])) {
    case 2: return &run_atomic<std::uint16_t>;
    case 4: return &run_atomic<std::uint32_t>;
    case 8: return &run_atomic<std::uint64_t>;
    case 16: return &run_atomic_wide;
    default: return nullptr;
  }
}

}}}  // namespace nogpu::v1::machine::detail
