// Checks of accesses to memory that a lane may access: races, and reads of bytes that were never
// written.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <gpu/testing/detail/machine/memory_access.hpp>
#include <gpu/testing/detail/machine/report.hpp>
#include <gpu/testing/detail/machine/value_use.hpp>
#include <gpu/testing/detail/machine/warp.hpp>

namespace gpu::inline v1::testing::machine {

/// The class of an instruction's accesses for the checks.
enum class access_class : std::uint8_t { plain, unordered, atomic };

namespace detail {

/// Reports a race, once for each instruction of a launch. True when that is to end the grid.
[[gnu::noinline]] inline bool race(warp& w, const decoded& d, unsigned lane, const located& at,
                                   std::uint32_t size, access_kind access,
                                   const shared_memory::finding& found) {
  if (!found.race) return false;
  grid_state& grid = *w.block->grid;
  const bool ends_grid = grid.what->check.shared_races_are_faults;
  if (!ends_grid && !grid.first_report_of(&d, fault_kind::shared_race)) return false;
  const auto offset = static_cast<address>(at.bytes - w.block->shared.bytes());
  std::string text = name_shared(w, offset);
  if (!text.empty()) text += ", ";
  text += found.other_wrote ? "written by " : "read by ";
  text += found.other == shared_memory::several ? std::string("several threads")
                                                : "thread " + name_thread(w, found.other);
  text += " with no barrier in between";
  (void)refuse(w, fault_kind::shared_race, lane, offset, size, access, std::move(text));
  if (!ends_grid) grid.report(make_fault(w, &d));
  return ends_grid;
}

inline moment now(const warp& w, unsigned lane) {
  return {w.block->epoch, w.epoch, thread_of(w, lane)};
}

/// Returns whether an instruction of the function reads a register that a load fills. Compilers
/// make no other loads.
inline bool is_read(const ptx::function& function, const ptx::instruction& load) {
  bool found = false;
  each_register(function, function.operands_of(load)[0], [&](std::uint32_t reg) {
    const auto named = [&](const ptx::operand& o) {
      each_register(function, o, [&](std::uint32_t other) { found = found || other == reg; });
    };
    for (const ptx::instruction& i : function.instructions) {
      found = found || i.when.reg == reg;
      for (const ptx::operand& o : function.operands_of(i).subspan(has_result(i.op) ? 1 : 0))
        named(o);
    }
    for (const ptx::call_site& call : function.calls) {
      found = found || call.target_register == reg;
      for (const ptx::operand& o : call.arguments) named(o);
    }
  });
  return found;
}

/// Returns whether what a load finds is followed: it is a mistake if the value has an effect.
inline bool is_followed(warp& w, const decoded& d) {
  const checks& check = w.block->grid->what->check;
  if (!looks_for_unwritten(check)) return false;
  if (d.source == nullptr || (d.source->op != ptx::opcode::ld && d.source->op != ptx::opcode::ldu))
    return false;
  constexpr std::uint32_t no_element = ~std::uint32_t{0};
  return w.block->grid->matters(d, no_element,
                                [&] { return is_read(*w.function->source, *d.source); });
}

/// Notes which bytes of a load nobody wrote.
inline void note_undefined_load(warp& w, const decoded& d, unsigned lane, const located& at,
                                address a, std::uint32_t size) {
  std::uint32_t bytes = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    bool written = true;
    if (at.shadow != nullptr) {
      written = __atomic_load_n(at.shadow + i, __ATOMIC_RELAXED) != 0;
    } else {
      const shared_memory& shared = owner_of(w, at).shared;
      const auto offset = static_cast<std::size_t>(at.bytes - owner_of(w, at).shared.bytes()) + i;
      written = shared.first_unwritten(offset, 1) != offset;
    }
    bytes |= std::uint32_t{!written} << i;
  }
  w.unwritten_lanes |= lane_mask{1} << lane;
  w.unwritten[lane] = {&d, w.function, at, a, size, bytes};
}

/// Reports a read of bytes that were never written, of which `first` is the first one, once for
/// each instruction of a launch. Returns false if the grid has to end.
[[gnu::cold, gnu::noinline]] inline bool report_unwritten_now(warp& w, const decoded& d,
                                                              unsigned lane, const located& at,
                                                              address a, std::uint32_t size,
                                                              std::size_t first) {
  grid_state& grid = *w.block->grid;
  const checks& check = grid.what->check;
  if (!looks_for_unwritten(check)) return true;
  if (!check.uninitialized_reads_are_faults &&
      !grid.first_report_of(&d, fault_kind::uninitialized_read))
    return true;
  std::string text;
  if (at.global) {
    text = grid.memory->describe(a);
  } else if (at.shared) {
    const shared_memory& shared = owner_of(w, at).shared;
    a = static_cast<address>(at.bytes - owner_of(w, at).shared.bytes());
    text = name_shared(w, a + first);
    if (at.other != nullptr)
      text += ", of block " + std::to_string(at.other->rank) + " of the cluster";
    if (const auto copier = shared.copies(a + first); copier == shared_memory::somebody)
      text += ", which a copy that another block asked for brings, for which nobody has waited";
    else if (copier != shared_memory::several)
      text += std::string(text.empty() ? "" : ", ") + "which an asynchronous copy of thread " +
              name_thread(w, copier) + " brings, for which that thread has not waited";
  } else {
    a = static_cast<address>(at.bytes - w.local.bytes(lane, 0));
    text = name_local(w, lane, a + first);
  }
  (void)refuse(w, fault_kind::uninitialized_read, lane, a, size, access_kind::read,
               std::move(text));
  if (check.uninitialized_reads_are_faults) return false;
  grid.report(make_fault(w, &d));
  return true;
}

/// Does the same once the value has an effect.
[[gnu::cold, gnu::noinline]] inline bool report_unwritten(warp& w, const decoded& d, unsigned lane,
                                                          const located& at, address a,
                                                          std::uint32_t size, std::size_t first) {
  // A value that a copy is still to bring is missing, whatever becomes of it.
  const bool on_its_way =
      at.shared && owner_of(w, at).shared.copies(
                       static_cast<std::size_t>(at.bytes - owner_of(w, at).shared.bytes()) +
                       first) != shared_memory::several;
  if (on_its_way || !is_followed(w, d)) return report_unwritten_now(w, d, lane, at, a, size, first);
  note_undefined_load(w, d, lane, at, a, size);
  return true;
}

/// Reports the load behind a value of this lane that nobody wrote and that has an effect. Returns
/// false if the grid has to end.
[[gnu::cold, gnu::noinline]] inline bool report_effect(warp& w, unsigned lane) {
  // A shuffle may have brought the value from another lane.
  for (unsigned n = 0; w.unwritten[lane].load == nullptr && n < warp_size; ++n)
    if (w.unwritten[n].load != nullptr) lane = n;
  const unwritten_read& read = w.unwritten[lane];
  if (read.load == nullptr) return true;
  const lowered_function* const running = std::exchange(w.function, read.function);
  w.at = read.load;
  const bool goes_on = report_unwritten_now(w, *read.load, lane, read.at, read.where, read.size,
                                            static_cast<std::size_t>(std::countr_zero(read.bytes)));
  if (!goes_on) return false;
  w.at = nullptr;
  w.function = running;
  return true;
}

/// Does the same for a load from local memory, for each element with such bytes whose value is
/// used.
[[gnu::cold, gnu::noinline]] inline bool note_unwritten_local(warp& w, const decoded& d,
                                                              unsigned lane, const located& at,
                                                              address a, std::uint32_t size) {
  if (w.undefined && is_followed(w, d)) {
    note_undefined_load(w, d, lane, at, a, size);
    return true;
  }
  const ptx::function& function = *w.function->source;
  const ptx::operand& to = function.operands_of(*d.source)[0];
  const std::uint32_t each = size / d.count;
  const bool any = std::find(at.shadow, at.shadow + size, 1) != at.shadow + size;
  for (std::uint32_t e = 0; e < d.count; ++e) {
    const std::uint8_t* const begin = at.shadow + e * each;
    const auto count = std::count(begin, begin + each, 1);
    const ptx::operand& element = d.count == 1 ? to : function.elements_of(to)[e];
    if (count == each || !element.is_register()) continue;
    const auto written = count != 0 ? what_was_written::some_bytes
                         : any      ? what_was_written::other_elements
                                    : what_was_written::nothing;
    if (w.block->grid->matters(d, e * 4 + static_cast<std::uint32_t>(written), [&] {
          return value_use(function, d.origin).computes_with(element.index, written);
        }))
      return report_unwritten_now(
          w, d, lane, at, a, size,
          static_cast<std::size_t>(std::find(begin, begin + each, 0) - at.shadow));
  }
  return true;
}

[[gnu::noinline]] inline bool note_unwritten_read(warp& w, const decoded& d, unsigned lane,
                                                  const located& at, address a,
                                                  std::uint32_t size) {
  if (!at.global) return note_unwritten_local(w, d, lane, at, a, size);
  for (std::uint32_t i = 0; i < size; ++i)
    if (__atomic_load_n(at.shadow + i, __ATOMIC_RELAXED) == 0)
      return report_unwritten(w, d, lane, at, a, size, i);
  return true;
}

[[gnu::noinline]] inline bool note_first_write(const located& at, std::uint32_t size) {
  for (std::uint32_t i = 0; i < size; ++i)
    if (__atomic_load_n(at.shadow + i, __ATOMIC_RELAXED) == 0)
      __atomic_store_n(at.shadow + i, std::uint8_t{1}, __ATOMIC_RELAXED);
  return true;
}

template <class Word> inline bool word_is_written(const std::uint8_t* shadow) {
  constexpr auto ones = static_cast<Word>(0x0101'0101'0101'0101u);
  return __atomic_load_n(reinterpret_cast<const Word*>(shadow), __ATOMIC_RELAXED) == ones;
}

/// Returns whether an access certainly finds only written bytes. If false, a closer look is
/// necessary.
inline bool is_all_written(const located& at, std::uint32_t size) {
  switch (size) {
    case 1: return word_is_written<std::uint8_t>(at.shadow);
    case 2: return word_is_written<std::uint16_t>(at.shadow);
    case 4: return word_is_written<std::uint32_t>(at.shadow);
    case 8: return word_is_written<std::uint64_t>(at.shadow);
    case 16:
      return word_is_written<std::uint64_t>(at.shadow) &&
             word_is_written<std::uint64_t>(at.shadow + 8);
    default: return false;
  }
}

/// Shared memory of another block: that its bytes were written is looked for, races are not.
[[gnu::cold, gnu::noinline]] inline bool note_remote_read(warp& w, const decoded& d, unsigned lane,
                                                          const located& at, address a,
                                                          std::uint32_t size) {
  shared_memory& shared = at.other->shared;
  const auto offset = static_cast<std::size_t>(at.bytes - shared.bytes());
  const std::size_t first = shared.first_unwritten(offset, size);
  return first == offset + size || report_unwritten(w, d, lane, at, a, size, first - offset);
}

[[gnu::noinline]] inline bool note_shared_read(warp& w, const decoded& d, unsigned lane,
                                               const located& at, address a, std::uint32_t size,
                                               access_class how) {
  if (at.other != nullptr && how == access_class::plain)
    return note_remote_read(w, d, lane, at, a, size);
  shared_memory& shared = owner_of(w, at).shared;
  const auto offset = static_cast<std::size_t>(at.bytes - shared.bytes());
  if (how != access_class::plain) {
    shared.note_unordered(offset, size);
    return true;
  }
  const auto found = shared.note_read(offset, size, now(w, lane));
  if (race(w, d, lane, at, size, access_kind::read, found)) return false;
  return !found.unwritten || report_unwritten(w, d, lane, at, a, size, found.offset - offset);
}

[[gnu::noinline]] inline bool note_shared_write(warp& w, const decoded& d, unsigned lane,
                                                const located& at, const void* value,
                                                std::uint32_t size, access_class how) {
  shared_memory& shared = owner_of(w, at).shared;
  const auto offset = static_cast<std::size_t>(at.bytes - shared.bytes());
  if (how == access_class::unordered || at.other != nullptr) {
    shared.note_unordered(offset, size);
    return true;
  }
  const auto found = how == access_class::atomic
                         ? shared.note_atomic(offset, size, now(w, lane))
                         : shared.note_write(offset, size, now(w, lane),
                                             value && std::memcmp(at.bytes, value, size) == 0);
  const access_kind kind = how == access_class::atomic ? access_kind::atomic : access_kind::write;
  return !race(w, d, lane, at, size, kind, found);
}

}  // namespace detail

/// Checks bytes before they are read. Returns false for a fault, which is noted in the warp.
inline bool note_read(warp& w, const decoded& d, unsigned lane, const located& at, address a,
                      std::uint32_t size, access_class how) {
  if (at.shadow != nullptr)
    return detail::is_all_written(at, size) || detail::note_unwritten_read(w, d, lane, at, a, size);
  return !at.shared || !w.block->shared.tracks() ||
         detail::note_shared_read(w, d, lane, at, a, size, how);
}

/// Checks bytes before `value` is written to them. Returns false for a fault, which is noted in the
/// warp.
inline bool note_write(warp& w, const decoded& d, unsigned lane, const located& at,
                       const void* value, std::uint32_t size, access_class how) {
  if (at.shadow != nullptr)
    return detail::is_all_written(at, size) || detail::note_first_write(at, size);
  return !at.shared || !w.block->shared.tracks() ||
         detail::note_shared_write(w, d, lane, at, value, size, how);
}

}  // namespace gpu::inline v1::testing::machine
