// One lane's access to memory: the address of the bytes, and whether the lane may access them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <nogpu/machine/lanes.hpp>
#include <nogpu/machine/report.hpp>
#include <nogpu/machine/warp.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// The meaning of the address of an access.
enum class space : std::uint8_t {
  generic,
  global,  // and constant
  shared,
  local,
  frame,  // local, counted from the frame's own memory
  param,  // of the kernel
};

/// The block whose shared memory has the bytes.
inline block_state& owner_of(const warp& w, const located& at) {
  return at.other != nullptr ? *at.other : *w.block;
}

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

/// Does the same as refuse, with the number between the texts. It is a function of its own, to keep
/// the many functions that access memory small.
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

/// Lets the block's view for this instruction have the `size` bytes at `a`, or returns why it
/// cannot.
inline fault_kind find_view(const block_state& block, memory_view& view, address a,
                            std::uint64_t size) {
  address_space& memory = *block.grid->memory;
  const address length = view.end - view.begin;
  if (view.generation == memory.generation() && a - view.begin < length &&
      length - (a - view.begin) >= size)
    return fault_kind::none;
  return memory.resolve(a, size, block.grid->what->context, view);
}

inline memory_view& view_for(block_state& block, const decoded& d) {
  return block.views[d.origin % block.views.size()];
}

inline located located_in(const memory_view& view, address a) {
  const address offset = a - view.begin;
  return {view.host + offset, view.shadow ? view.shadow + offset : nullptr, false, true};
}

inline located locate_global(warp& w, const decoded& d, unsigned lane, address a,
                             std::uint32_t size, access_kind access) {
  memory_view& view = view_for(*w.block, d);
  const fault_kind why = find_view(*w.block, view, a, size);
  if (why != fault_kind::none) return refuse_global(w, why, lane, a, size, access);
  if (access != access_kind::read && !view.writable)
    return refuse_global(w, fault_kind::read_only, lane, a, size, access);
  return located_in(view, a);
}

[[gnu::cold, gnu::noinline]] inline located refuse_shared(warp& w, unsigned lane, address offset,
                                                          std::uint32_t size, access_kind access) {
  std::string text = "the block has " +
                     std::to_string(w.block->shared.end() - reserved_shared_bytes) +
                     " bytes of shared memory";
  if (offset < reserved_shared_bytes)
    text += ", and this is " + std::to_string(reserved_shared_bytes - offset) +
            " bytes before the first of them";
  else if (const std::string name = name_shared(w, offset); !name.empty())
    text += ", and this is " + name;
  return refuse(w, fault_kind::shared_out_of_bounds, lane, offset, size, access, std::move(text));
}

/// Returns whether an access past the shared memory that the launch asked for may go on, because it
/// stays in the unit that hardware gives out and the checks let it. Reports it, once for each
/// instruction of a launch; `describe` sets the failure.
template <class Describe>
[[gnu::cold, gnu::noinline]] inline bool ends_in_unit(warp& w, const decoded& d,
                                                      const shared_memory& shared, address offset,
                                                      std::uint32_t size, Describe describe) {
  grid_state& grid = *w.block->grid;
  const checks& check = grid.what->check;
  if (!shared.has(offset, size, true)) return false;
  if (!check.shared_bounds) return true;
  if (check.shared_bounds_are_faults) return false;
  if (!grid.first_report_of(&d, fault_kind::shared_out_of_bounds)) return true;
  (void)describe();
  grid.report(make_fault(w, &d));
  return true;
}

/// Shared memory of another block of the cluster.
[[gnu::cold, gnu::noinline]] inline located locate_remote(warp& w, const decoded& d, unsigned lane,
                                                          address a, std::uint32_t size,
                                                          access_kind access) {
  const auto& blocks = w.block->cluster->blocks;
  const std::uint64_t rank = (a >> cluster_rank_shift) - 1;
  const auto refuse_it = [&](std::string text) {
    return refuse(w, fault_kind::shared_out_of_bounds, lane, a, size, access, std::move(text));
  };
  if (rank >= blocks.size())
    return refuse_it("there is no block " + std::to_string(rank) + " in the cluster, which has " +
                     std::to_string(blocks.size()));
  block_state& block = *blocks[rank];
  shared_memory& shared = block.shared;
  const address offset = a & shared_offset_mask;
  const auto refuse_end = [&] {
    return refuse_it("block " + std::to_string(rank) + " of the cluster has " +
                     std::to_string(shared.end() - reserved_shared_bytes) +
                     " bytes of shared memory");
  };
  if (!shared.has(offset, size) && !ends_in_unit(w, d, shared, offset, size, refuse_end))
    return refuse_end();
  if (block.exited == block.threads)
    return refuse_it("block " + std::to_string(rank) +
                     " of the cluster has ended, and its shared memory with it: let the blocks "
                     "synchronize before they end");
  return {shared.bytes() + offset, nullptr, true, false, &block};
}

inline located locate_shared(warp& w, const decoded& d, unsigned lane, address offset,
                             std::uint32_t size, access_kind access) {
  shared_memory& shared = w.block->shared;
  if (!shared.has(offset, size)) {
    if (offset >> cluster_rank_shift != 0) return locate_remote(w, d, lane, offset, size, access);
    const auto refuse_it = [&] { return refuse_shared(w, lane, offset, size, access); };
    if (!ends_in_unit(w, d, shared, offset, size, refuse_it)) return refuse_it();
  }
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
  if (in_window(a, shared_window))
    return locate_shared(w, d, lane, a - shared_window, size, access);
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
    return detail::locate_shared(w, d, lane, a, size, access);
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

/// Returns the address of a lane's access.
inline address address_of(const std::byte* registers, const decoded& d, unsigned slot,
                          unsigned lane) {
  if (d.slots[slot] == no_slot) return static_cast<address>(d.offset);
  const address base = d.wide_base ? read_lane<std::uint64_t>(registers, d.slots[slot], lane)
                                   : read_lane<std::uint32_t>(registers, d.slots[slot], lane);
  const address sum = base + static_cast<address>(d.offset);
  return d.wide_base ? sum : sum & 0xffff'ffffu;
}

}}}  // namespace nogpu::v1::machine
