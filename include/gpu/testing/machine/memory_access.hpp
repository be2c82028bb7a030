// One lane's access to memory: where the bytes are, whether the lane may touch them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <gpu/testing/machine/lanes.hpp>
#include <gpu/testing/machine/report.hpp>
#include <gpu/testing/machine/value_use.hpp>
#include <gpu/testing/machine/warp.hpp>

namespace gpu::testing::machine {

/// How the address of an access is to be understood.
enum class space : std::uint8_t {
  generic,
  global,  // and constant
  shared,
  local,
  frame,  // local, counted from the frame's own memory
  param,  // of the kernel
};

/// Bytes that a lane may touch.
struct located {
  std::byte* bytes = nullptr;      // null: a fault, noted in the warp
  std::uint8_t* shadow = nullptr;  // of global and local memory that is tracked
  bool shared = false;
  bool global = false;  // other threads of the process may touch it at the same time
};

inline std::uint16_t thread_of(const warp& w, unsigned lane) {
  return static_cast<std::uint16_t>(w.index * warp_size + lane);
}

namespace detail {

[[gnu::cold, gnu::noinline]] inline located refuse(warp& w, fault_kind kind, unsigned lane,
                                                   address a, std::uint32_t size,
                                                   access_kind access, std::string detail = {}) {
  w.failure = {kind, lane, a, size, access, std::move(detail)};
  return {};
}

/// As refuse, with the number between the texts: kept out of the many functions that access memory.
[[gnu::cold, gnu::noinline]] inline located refuse_number(warp& w, fault_kind kind, unsigned lane,
                                                          address a, std::uint32_t size,
                                                          access_kind access, const char* before,
                                                          std::uint64_t number, const char* after) {
  return refuse(w, kind, lane, a, size, access, before + std::to_string(number) + after);
}

[[gnu::cold, gnu::noinline]] inline located refuse_global(warp& w, fault_kind kind, unsigned lane,
                                                          address a, std::uint32_t size,
                                                          access_kind access) {
  return refuse(w, kind, lane, a, size, access, w.block->grid->memory->describe(a));
}

[[gnu::cold, gnu::noinline]] inline located refuse_misaligned(warp& w, unsigned lane, address a,
                                                              std::uint32_t size,
                                                              access_kind access) {
  std::string detail = "the address must be a multiple of " + std::to_string(size);
  const bool offset = a < small_window_size;  // in shared, local or parameter memory
  if (!offset && a < shared_window) detail += "; it is " + w.block->grid->memory->describe(a);
  return refuse(w, fault_kind::misaligned, lane, a, size, access, std::move(detail));
}

inline located locate_global(warp& w, const decoded& d, unsigned lane, address a,
                             std::uint32_t size, access_kind access) {
  block_state& block = *w.block;
  address_space& memory = *block.grid->memory;
  memory_view& view = block.views[d.origin % block.views.size()];
  const address length = view.end - view.begin;
  if (view.generation != memory.generation() || a - view.begin >= length ||
      length - (a - view.begin) < size) {
    const fault_kind why = memory.resolve(a, size, block.grid->what->context, view);
    if (why != fault_kind::none) return refuse_global(w, why, lane, a, size, access);
  }
  if (access != access_kind::read && !view.writable)
    return refuse_global(w, fault_kind::read_only, lane, a, size, access);
  const address offset = a - view.begin;
  return {view.host + offset, view.shadow ? view.shadow + offset : nullptr, false, true};
}

[[gnu::cold, gnu::noinline]] inline located refuse_shared(warp& w, unsigned lane, address offset,
                                                          std::uint32_t size, access_kind access) {
  std::string text =
      "the block has " + std::to_string(w.block->shared.size()) + " bytes of shared memory";
  if (const std::string name = name_shared(w, offset); !name.empty())
    text += ", and this is " + name;
  return refuse(w, fault_kind::shared_out_of_bounds, lane, offset, size, access, std::move(text));
}

inline located locate_shared(warp& w, unsigned lane, address offset, std::uint32_t size,
                             access_kind access) {
  shared_memory& shared = w.block->shared;
  if (offset > shared.size() || size > shared.size() - offset)
    return refuse_shared(w, lane, offset, size, access);
  return {shared.bytes() + offset, nullptr, true, false};
}

inline located locate_local(warp& w, unsigned lane, address offset, std::uint32_t size,
                            access_kind access) {
  const std::uint32_t top = w.stack_top[lane];
  if (offset > top || size > top - offset)
    return refuse_number(w, fault_kind::local_out_of_bounds, lane, offset, size, access,
                         "the thread has ", top, " bytes of local memory in use");
  return {w.local.bytes(lane, offset), w.local.shadow(lane, offset), false, false};
}

[[gnu::noinline]] inline located locate_param(warp& w, unsigned lane, address offset,
                                              std::uint32_t size, access_kind access) {
  const auto parameters = w.block->grid->what->parameters;
  if (access != access_kind::read)
    return refuse(w, fault_kind::read_only, lane, offset, size, access, "kernel parameters");
  if (offset > parameters.size() || size > parameters.size() - offset)
    return refuse_number(w, fault_kind::param_out_of_bounds, lane, offset, size, access,
                         "the kernel has ", parameters.size(), " bytes of parameters");
  return {const_cast<std::byte*>(parameters.data() + offset), nullptr, false, false};
}

/// A generic address in one of the windows, or global after all.
[[gnu::noinline]] inline located locate_window(warp& w, const decoded& d, unsigned lane, address a,
                                               std::uint32_t size, access_kind access) {
  if (in_window(a, shared_window)) return locate_shared(w, lane, a - shared_window, size, access);
  if (in_window(a, local_window)) return locate_local(w, lane, a - local_window, size, access);
  if (in_window(a, param_window)) return locate_param(w, lane, a - param_window, size, access);
  return locate_global(w, d, lane, a, size, access);
}

}  // namespace detail

/// Finds the `size` bytes at `a` and checks alignment, bounds and rights.
template <space Space>
inline located locate(warp& w, const decoded& d, unsigned lane, address a, std::uint32_t size,
                      access_kind access) {
  if ((a & (size - 1)) != 0) return detail::refuse_misaligned(w, lane, a, size, access);
  if constexpr (Space == space::shared) {
    return detail::locate_shared(w, lane, a, size, access);
  } else if constexpr (Space == space::local) {
    return detail::locate_local(w, lane, a, size, access);
  } else if constexpr (Space == space::frame) {
    return detail::locate_local(w, lane, a + w.top->base[lane], size, access);
  } else if constexpr (Space == space::param) {
    return detail::locate_param(w, lane, a, size, access);
  } else {
    if (Space == space::generic && a >= shared_window)
      return detail::locate_window(w, d, lane, a, size, access);
    return detail::locate_global(w, d, lane, a, size, access);
  }
}

/// How the accesses of an instruction count for the checks.
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

}  // namespace detail

namespace detail {

/// Reports the read of bytes of which the one at `first` is the first that nobody wrote, once for
/// each instruction of a launch. False when that is to end the grid.
[[gnu::cold, gnu::noinline]] inline bool report_unwritten(warp& w, const decoded& d, unsigned lane,
                                                          const located& at, address a,
                                                          std::uint32_t size, std::size_t first) {
  grid_state& grid = *w.block->grid;
  const checks& check = grid.what->check;
  if (!looks_for_unwritten(check)) return true;
  if (!check.uninitialised_reads_are_faults &&
      !grid.first_report_of(&d, fault_kind::uninitialised_read))
    return true;
  std::string text;
  if (at.global) {
    text = grid.memory->describe(a);
  } else if (at.shared) {
    a = static_cast<address>(at.bytes - w.block->shared.bytes());
    text = name_shared(w, a + first);
  } else {
    a = static_cast<address>(at.bytes - w.local.bytes(lane, 0));
    text = name_local(w, lane, a + first);
  }
  (void)refuse(w, fault_kind::uninitialised_read, lane, a, size, access_kind::read,
               std::move(text));
  if (check.uninitialised_reads_are_faults) return false;
  grid.report(make_fault(w, &d));
  return true;
}

/// The same for a load from local memory: each element that has such bytes is looked at for what
/// becomes of it.
[[gnu::cold, gnu::noinline]] inline bool note_unwritten_local(warp& w, const decoded& d,
                                                              unsigned lane, const located& at,
                                                              address a, std::uint32_t size) {
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
      return report_unwritten(
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

/// Whether an access meets written bytes only; false also where that has to be looked at closely.
inline bool is_all_written(const located& at, std::uint32_t size) {
  switch (size) {
    case 1:
      return word_is_written<std::uint8_t>(at.shadow);
    case 2:
      return word_is_written<std::uint16_t>(at.shadow);
    case 4:
      return word_is_written<std::uint32_t>(at.shadow);
    case 8:
      return word_is_written<std::uint64_t>(at.shadow);
    case 16:
      return word_is_written<std::uint64_t>(at.shadow) &&
             word_is_written<std::uint64_t>(at.shadow + 8);
    default:
      return false;
  }
}

[[gnu::noinline]] inline bool note_shared_read(warp& w, const decoded& d, unsigned lane,
                                               const located& at, address a, std::uint32_t size,
                                               access_class how) {
  shared_memory& shared = w.block->shared;
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
  shared_memory& shared = w.block->shared;
  const auto offset = static_cast<std::size_t>(at.bytes - shared.bytes());
  if (how == access_class::unordered) {
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

/// To be called before bytes are read. False: a fault, noted in the warp.
inline bool note_read(warp& w, const decoded& d, unsigned lane, const located& at, address a,
                      std::uint32_t size, access_class how) {
  if (at.shadow != nullptr)
    return detail::is_all_written(at, size) || detail::note_unwritten_read(w, d, lane, at, a, size);
  return !at.shared || !w.block->shared.tracks() ||
         detail::note_shared_read(w, d, lane, at, a, size, how);
}

/// To be called before bytes are written with `value`. False: a fault, noted in the warp.
inline bool note_write(warp& w, const decoded& d, unsigned lane, const located& at,
                       const void* value, std::uint32_t size, access_class how) {
  if (at.shadow != nullptr)
    return detail::is_all_written(at, size) || detail::note_first_write(at, size);
  return !at.shared || !w.block->shared.tracks() ||
         detail::note_shared_write(w, d, lane, at, value, size, how);
}

/// Reads a value; memory that other threads of the process can see is read as hardware would.
template <class T> inline T fetch(const located& at, std::uint32_t offset) {
  T value;
  if constexpr (sizeof(T) == 16) {
    return {fetch<std::uint64_t>(at, offset), fetch<std::uint64_t>(at, offset + 8)};
  } else {
    if (at.global)
      return __atomic_load_n(reinterpret_cast<const T*>(at.bytes + offset), __ATOMIC_RELAXED);
    std::memcpy(&value, at.bytes + offset, sizeof(T));
  }
  return value;
}

template <class T> inline void put(const located& at, std::uint32_t offset, const T& value) {
  if constexpr (sizeof(T) == 16) {
    put(at, offset, value.low);
    put(at, offset + 8, value.high);
  } else {
    if (at.global) {
      __atomic_store_n(reinterpret_cast<T*>(at.bytes + offset), value, __ATOMIC_RELAXED);
    } else {
      std::memcpy(at.bytes + offset, &value, sizeof(T));
    }
  }
}

/// The address that a lane's access goes to.
inline address address_of(const std::byte* registers, const decoded& d, unsigned slot,
                          unsigned lane) {
  if (d.slots[slot] == no_slot) return static_cast<address>(d.offset);
  const address base = d.wide_base ? read_lane<std::uint64_t>(registers, d.slots[slot], lane)
                                   : read_lane<std::uint32_t>(registers, d.slots[slot], lane);
  const address sum = base + static_cast<address>(d.offset);
  return d.wide_base ? sum : sum & 0xffff'ffffu;
}

}  // namespace gpu::testing::machine
