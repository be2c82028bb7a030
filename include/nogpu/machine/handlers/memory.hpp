// Handlers of loads, stores and fences.
#pragma once

#include <cstdint>
#include <cstring>

#include <nogpu/machine/access_checks.hpp>
#include <nogpu/machine/handlers/convert.hpp>
#include <nogpu/machine/memory_access.hpp>
#include <nogpu/machine/undefined_values.hpp>
#include <nogpu/ptx/ir.hpp>

#if defined(__has_feature)
#  if __has_feature(thread_sanitizer)
#    define GPU_TESTING_DETAIL_NO_FENCE 1
#  endif
#elif defined(__SANITIZE_THREAD__)
#  define GPU_TESTING_DETAIL_NO_FENCE 1
#endif

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Orders the relaxed accesses of this host thread. The thread sanitizer knows no fences, and needs
/// none here, for every access that blocks share is atomic.
inline void thread_fence() {
#if !defined(GPU_TESTING_DETAIL_NO_FENCE)
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
#undef GPU_TESTING_DETAIL_NO_FENCE

/// Bits of `decoded::option` of loads and stores.
enum access_option : std::uint8_t {
  unordered_access = 1,  // volatile, relaxed, acquire, release: exempt from race checks
  fenced_access = 2,     // acquire or release
  global_only = 4,       // names .global or .const: no window may be met
};

template <space Space>
inline located locate_for(warp& w, const decoded& d, unsigned lane, address a, std::uint32_t size,
                          access_kind kind) {
  if constexpr (Space == space::generic) {
    if ((d.option & global_only) != 0) return locate<space::global>(w, d, lane, a, size, kind);
  }
  return locate<Space>(w, d, lane, a, size, kind);
}

inline access_class class_of(const decoded& d) {
  return (d.option & unordered_access) != 0 ? access_class::unordered : access_class::plain;
}

/// ld: slot 0, or `count` slots in the list, from the address in slot 1 plus `offset`.
template <class T, space Space> inline action run_load(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* elements = d.count == 1 ? d.slots : w.function->lists.data() + d.list;
  const std::uint32_t size = static_cast<std::uint32_t>(sizeof(T)) * d.count;
  const access_class how = class_of(d);
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const address a = address_of(w.registers, d, 1, lane);
    const located at = locate_for<Space>(w, d, lane, a, size, access_kind::read);
    if (at.bytes == nullptr || !note_read(w, d, lane, at, a, size, how)) return action::fault;
    for (unsigned e = 0; e < d.count; ++e) {
      const T value = fetch<T>(at, e * static_cast<std::uint32_t>(sizeof(T)));
      if (elements[e] == no_slot) continue;
      if constexpr (sizeof(T) == 16) {
        write_lane(w.registers, elements[e], lane, value);
      } else if (d.result_size == sizeof(T)) {
        write_lane(w.registers, elements[e], lane, value);
      } else {
        const std::uint64_t bits = extended(value, sizeof(T), d.result_signed);
        write_bits(w.registers, elements[e], d.result_size, lane, bits);
      }
    }
  }
  if ((d.option & fenced_access) != 0) {
    thread_fence();
    ++w.block->epoch;
  }
  return w.unwritten_lanes == 0 ? action::next : action::undefined;
}

/// st: slot 1, or `count` slots in the list, to the address in slot 0 plus `offset`. `result_size`
/// is the width of the source registers.
template <class T, space Space> inline action run_store(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* elements = d.count == 1 ? d.slots + 1 : w.function->lists.data() + d.list;
  const std::uint32_t size = static_cast<std::uint32_t>(sizeof(T)) * d.count;
  const access_class how = class_of(d);
  if ((d.option & fenced_access) != 0) {
    thread_fence();
    ++w.block->epoch;
  }
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const address a = address_of(w.registers, d, 0, lane);
    const located at = locate_for<Space>(w, d, lane, a, size, access_kind::write);
    if (at.bytes == nullptr) return action::fault;
    T values[8];
    for (unsigned e = 0; e < d.count; ++e) {
      if constexpr (sizeof(T) == 16) {
        values[e] = read_lane<T>(w.registers, elements[e], lane);
      } else {
        values[e] = d.result_size == sizeof(T)
                        ? read_lane<T>(w.registers, elements[e], lane)
                        : static_cast<T>(read_bits(w.registers, elements[e], d.result_size, lane));
      }
    }
    if (!note_write(w, d, lane, at, values, size, how)) return action::fault;
    for (unsigned e = 0; e < d.count; ++e)
      put(at, e * static_cast<std::uint32_t>(sizeof(T)), values[e]);
    if (w.undefined && !note_undefined_store(w, d, lane, at, elements, sizeof(T)))
      return action::fault;
  }
  return action::next;
}

template <class T> handler select_load_of(space s) {
  switch (s) {
    case space::shared: return &run_load<T, space::shared>;
    case space::local: return &run_load<T, space::local>;
    case space::frame: return &run_load<T, space::frame>;
    case space::param: return &run_load<T, space::param>;
    default: return &run_load<T, space::generic>;
  }
}

template <class T> handler select_store_of(space s) {
  switch (s) {
    case space::shared: return &run_store<T, space::shared>;
    case space::local: return &run_store<T, space::local>;
    case space::frame: return &run_store<T, space::frame>;
    default: return &run_store<T, space::generic>;
  }
}

inline handler select_load(unsigned size, space s) {
  switch (size) {
    case 1: return select_load_of<std::uint8_t>(s);
    case 2: return select_load_of<std::uint16_t>(s);
    case 4: return select_load_of<std::uint32_t>(s);
    case 8: return select_load_of<std::uint64_t>(s);
    case 16: return select_load_of<wide_bits>(s);
    default: return nullptr;
  }
}

inline handler select_store(unsigned size, space s) {
  switch (size) {
    case 1: return select_store_of<std::uint8_t>(s);
    case 2: return select_store_of<std::uint16_t>(s);
    case 4: return select_store_of<std::uint32_t>(s);
    case 8: return select_store_of<std::uint64_t>(s);
    case 16: return select_store_of<wide_bits>(s);
    default: return nullptr;
  }
}

/// membar and fence. Threads that order themselves this way are taken for ordered by a barrier.
inline action run_fence(warp& w, const decoded&, lane_mask) {
  thread_fence();
  ++w.block->epoch;
  return action::next;
}

}}}  // namespace nogpu::v1::machine::detail
