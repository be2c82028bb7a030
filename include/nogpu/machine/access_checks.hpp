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

#include <nogpu/machine/memory_access.hpp>
#include <nogpu/machine/report.hpp>
#include <nogpu/machine/warp.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

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

/// Returns whether what an instruction finds is followed: it is a mistake if the value has an
/// effect.
inline bool is_followed(const decoded& d) {
  return d.source != nullptr &&
         (d.source->op == ptx::opcode::ld || d.source->op == ptx::opcode::ldu);
}

/// Returns which bytes of a read nobody wrote: bit i for byte i.
inline std::uint32_t unwritten_bytes(const warp& w, const located& at, std::uint32_t size) {
  std::uint32_t bytes = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    bool written = true;
    if (at.shadow != nullptr) {
      written = __atomic_load_n(at.shadow + i, __ATOMIC_RELAXED) != 0;
    } else {
      shared_memory& shared = owner_of(w, at).shared;
      const auto offset = static_cast<std::size_t>(at.bytes - shared.bytes()) + i;
      written = shared.first_unwritten(offset, 1) != offset;
    }
    bytes |= std::uint32_t{!written} << i;
  }
  return bytes;
}

/// Reports a read of bytes that were never written, once for each instruction of a launch. Returns
/// false if the grid has to end.
[[gnu::cold, gnu::noinline]] inline bool report_read(warp& w, unsigned lane,
                                                     const unwritten_read& read) {
  grid_state& grid = *w.block->grid;
  const bool is_a_fault = grid.what->check.uninitialized_reads_are_faults;
  if (!is_a_fault && !grid.first_report_of(read.load, fault_kind::uninitialized_read)) return true;
  const located& at = read.at;
  address a = read.where;
  std::string text;
  if (at.global) {
    text = grid.memory->describe(a);
  } else if (at.shared) {
    shared_memory& shared = owner_of(w, at).shared;
    a = static_cast<address>(at.bytes - shared.bytes());
    text = name_shared(w, a + read.first);
    if (at.other != nullptr)
      text += ", of block " + std::to_string(at.other->rank) + " of the cluster";
    if (const auto copier = shared.copies(a + read.first); copier == shared_memory::somebody)
      text += ", which a copy that another block asked for brings, for which nobody has waited";
    else if (copier != shared_memory::several)
      text += std::string(text.empty() ? "" : ", ") + "which an asynchronous copy of thread " +
              name_thread(w, copier) + " brings, for which that thread has not waited";
  } else {
    text = name_local(w, lane, a + read.first, *read.function, read.base);
  }
  (void)refuse(w, fault_kind::uninitialized_read, lane, a, read.size, access_kind::read,
               std::move(text));
  if (is_a_fault) return false;
  grid.report(make_fault(w, read.load));
  return true;
}

/// Reports it at once, or notes it to follow what a load found, which is a mistake if the value has
/// an effect. Returns false if the grid has to end.
[[gnu::cold, gnu::noinline]] inline bool report_unwritten(warp& w, const decoded& d, unsigned lane,
                                                          const located& at, address a,
                                                          std::uint32_t size, std::size_t first) {
  if (!looks_for_unwritten(w.block->grid->what->check)) return true;
  // Its place in local memory, which may move.
  if (!at.global && !at.shared) a = static_cast<address>(at.bytes - w.local.bytes(lane, 0));
  const unwritten_read read{&d, w.function, at, a, size, first, w.top->base[lane]};
  // A value that a copy is still to bring is missing, whatever becomes of it.
  const bool on_its_way =
      at.shared && owner_of(w, at).shared.copies(
                       static_cast<std::size_t>(at.bytes - owner_of(w, at).shared.bytes()) +
                       first) != shared_memory::several;
  const bool is_load =
      d.source != nullptr && (d.source->op == ptx::opcode::ld || d.source->op == ptx::opcode::ldu);
  if (on_its_way || !is_load) return report_read(w, lane, read);
  w.unwritten_bytes[lane] = unwritten_bytes(w, at, size);
  w.unwritten_lanes |= lane_mask{1} << lane;
  // What was passed or returned has the name of its own load.
  const bool was_handed_on = !at.global && !at.shared && a >= read.base &&
                             a - read.base < w.function->local_begin &&
                             w.unwritten[lane].load != nullptr;
  if (!was_handed_on) w.unwritten[lane] = read;
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
  if (!report_read(w, lane, read)) return false;
  w.at = nullptr;
  w.function = running;
  return true;
}

[[gnu::noinline]] inline bool note_unwritten_read(warp& w, const decoded& d, unsigned lane,
                                                  const located& at, address a,
                                                  std::uint32_t size) {
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
  w.changed = w.changed || at.shared || at.global;
  if (at.shadow != nullptr)
    return detail::is_all_written(at, size) || detail::note_first_write(at, size);
  return !at.shared || !w.block->shared.tracks() ||
         detail::note_shared_write(w, d, lane, at, value, size, how);
}

}}}  // namespace nogpu::v1::machine
