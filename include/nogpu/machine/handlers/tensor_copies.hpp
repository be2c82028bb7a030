// Handlers of bulk copies of tensors: tiles and columns of pixels, as a tensor map describes them.
// They are done when a thread waits for them, as other bulk copies.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <nogpu/machine/handlers/bulk_copies.hpp>
#include <nogpu/machine/tensor_map.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

inline constexpr std::uint32_t tensor_map_bytes = 128;
inline constexpr std::uint32_t tensor_alignment = 128;  // of copies in shared memory

/// The operands of a tensor copy, of one lane.
struct tensor_request {
  tensor_map map;
  tensor_place start{};
  std::array<std::uint32_t, 3> offsets{};
};

/// A part of a row: bytes side by side in global and in shared memory.
struct tensor_part {
  address global = 0;  // of its first byte; none for bytes outside of the tensor
  bool inside = false;
  std::uint32_t shared = 0;
  std::uint32_t size = 0;
};

/// Finds the 128 bytes of a tensor map, which may be in parameters, constant or global memory.
inline located locate_tensor_map(warp& w, const decoded& d, unsigned lane, address a) {
  if (a % 64 != 0) return refuse_misaligned(w, lane, a, 64, access_kind::read);
  const located at = a >= shared_window
                         ? locate_window(w, d, lane, a, tensor_map_bytes, access_kind::read)
                         : locate_global(w, d, lane, a, tensor_map_bytes, access_kind::read);
  if (at.bytes == nullptr) return at;
  if (in_window(a, shared_window) || in_window(a, local_window))
    return refuse(w, fault_kind::wrong_space, lane, a, tensor_map_bytes, access_kind::read,
                  "a tensor map is in the parameters of the kernel, as a __grid_constant__, or in "
                  "constant or global memory");
  if (!note_read(w, d, lane, at, a, tensor_map_bytes, access_class::plain)) return {};
  return at;
}

/// Reads the operands: slot 1 is the map, the list has coordinates from `first` on, then offsets of
/// pixels. False: a fault.
inline bool read_tensor_request(warp& w, const decoded& d, unsigned lane,
                                const std::uint32_t* listed, tensor_request& out) {
  const ptx::modifiers& with = d.source->with;
  const auto a = read_lane<std::uint64_t>(w.registers, d.slots[1], lane);
  const located at = locate_tensor_map(w, d, lane, a);
  if (at.bytes == nullptr) return false;
  std::byte bytes[tensor_map_bytes];
  copy_bulk(at.bytes, bytes, tensor_map_bytes);
  std::memcpy(static_cast<void*>(&out.map), bytes, sizeof out.map);
  const auto wrong = [&](std::string text) {
    (void)refuse(w, fault_kind::illegal_instruction, lane, a, tensor_map_bytes, access_kind::read,
                 std::move(text));
    return false;
  };
  if (!out.map.is_sound())
    return wrong(
        "these bytes are not a tensor map that the driver encoded, or were changed beyond its "
        "limits");
  if (out.map.rank != with.dimensions)
    return wrong("a tensor map of " + std::to_string(out.map.rank) +
                 " dimensions; the instruction is for " + std::to_string(with.dimensions));
  if ((out.map.mode == tensor_mode::im2col) != with.im2col)
    return wrong(with.im2col ? "the tensor map is for tiles, the instruction for im2col"
                             : "the tensor map is for im2col, the instruction for tiles");
  for (unsigned n = 0; n < out.map.rank; ++n)
    out.start[n] = read_lane<std::int32_t>(w.registers, listed[n], lane);
  for (unsigned n = 0; with.im2col && n + 2 < out.map.rank; ++n)
    if (listed[out.map.rank + n] != no_slot)
      out.offsets[n] = read_lane<std::uint16_t>(w.registers, listed[out.map.rank + n], lane);
  return true;
}

/// Checks where a copy begins: what an H100 demands, beyond the manual of PTX. False: a fault.
inline bool check_start(warp& w, unsigned lane, const tensor_request& request, bool stores) {
  const auto wrong = [&](const std::string& text) {
    (void)fail(w, fault_kind::illegal_instruction, lane, text);
    return false;
  };
  const tensor_map& map = request.map;
  const std::int64_t bytes = request.start[0] * map.element_bytes();
  if (bytes % 16 != 0)
    return wrong("the first coordinate of a tensor copy is " + std::to_string(request.start[0]) +
                 ", " + std::to_string(bytes) + " bytes: these have to be a multiple of 16");
  for (unsigned n = 0; stores && n < map.rank; ++n) {
    if (request.start[n] < 0)
      return wrong("coordinate " + std::to_string(n) + " of a copy to a tensor is " +
                   std::to_string(request.start[n]) + ": it must not be negative there");
    if (map.mode == tensor_mode::im2col && n + 2 < map.rank &&
        (map.lower[n] < 0 || map.upper[n] > 0))
      return wrong("a copy to a tensor, whose map has corners " + std::to_string(map.lower[n]) +
                   " and " + std::to_string(map.upper[n]) +
                   ": these must not be outside of the tensor there");
  }
  return true;
}

/// Calls `use(part)` for each part of a copy that lies at `shared`. A copy to a tensor writes whole
/// pieces of 16 bytes, also behind the end of a row. `use` returns false for a fault, which ends
/// the walk.
template <class Use>
inline bool for_tensor_parts(const tensor_request& request, std::uint32_t shared, bool stores,
                             Use use) {
  const tensor_map& map = request.map;
  const std::uint32_t each = map.element_bytes();
  const auto use_all = [&](std::uint32_t begin, std::uint32_t end, bool inside, address row) {
    while (begin < end) {
      const std::uint32_t to = shared + begin;
      const std::uint32_t size =
          map.swizzle_bits == 0 ? end - begin : std::min(end - begin, 16 - to % 16);
      if (!use(tensor_part{row + begin, inside, map.swizzled(to), size})) return false;
      begin += size;
    }
    return true;
  };
  tensor_rows rows(map, request.start, request.offsets);
  const std::uint64_t count = map.rows();
  for (std::uint32_t r = 0; r < count; ++r, rows.next()) {
    const tensor_place at = rows.place();
    bool inside = true;
    address row = map.base + static_cast<address>(at[0]) * each;
    for (unsigned n = 1; n < map.rank; ++n) {
      inside = inside && at[n] >= 0 && at[n] <= std::int64_t{map.last[n]};
      row += static_cast<address>(at[n]) * map.strides[n - 1];
    }
    const std::int64_t length = map.box[0];
    const std::int64_t begin = inside ? std::clamp<std::int64_t>(-at[0], 0, length) : length;
    const std::int64_t end =
        inside ? std::clamp<std::int64_t>(std::int64_t{map.last[0]} + 1 - at[0], begin, length)
               : length;
    const auto first = static_cast<std::uint32_t>(begin) * each;
    auto last = static_cast<std::uint32_t>(end) * each;
    if (stores) last = (last + 15) / 16 * 16;
    const std::uint32_t bytes = map.row_bytes();
    // Parts begin at the start of the row in shared memory.
    const std::uint32_t row_at = r * map.row_pitch();
    const address moved = row - row_at;
    if (!use_all(row_at, row_at + first, false, moved) ||
        !use_all(row_at + first, row_at + last, true, moved) ||
        !use_all(row_at + last, row_at + bytes, false, moved))
      return false;
  }
  return true;
}

/// Checks where a copy lies in shared memory. A swizzle may use all of the last 128 bytes.
inline located locate_tile(warp& w, const decoded& d, unsigned lane, address a,
                           const tensor_map& map, access_kind kind) {
  if (a % tensor_alignment != 0) return refuse_misaligned(w, lane, a, tensor_alignment, kind);
  const std::uint64_t rows = map.rows() * map.row_pitch();
  const std::uint64_t bytes = map.swizzle_bits == 0 ? rows : (rows + 127) / 128 * 128;
  const auto size = static_cast<std::uint32_t>(std::min(bytes, std::uint64_t{0xffff'ffff}));
  return locate_shared(w, d, lane, a, size, kind);
}

/// cp.async.bulk.tensor to shared memory: slots are destination, map, mbarrier, mask of blocks; the
/// list has the rest of the mbarrier's address, coordinates and offsets.
inline action run_tensor_load(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* const more = w.function->lists.data() + d.list;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    tensor_request request;
    if (!read_tensor_request(w, d, lane, more + 3, request) ||
        !check_start(w, lane, request, false))
      return action::fault;
    const tensor_map& map = request.map;
    const address to = address_of(w.registers, d, 0, lane);
    const located tile = locate_tile(w, d, lane, to, map, access_kind::write);
    if (tile.bytes == nullptr) return action::fault;
    const address barrier = listed_address(w, d, 2, lane, more);
    bulk_targets targets;
    if (!find_targets(w, d, lane, to, static_cast<std::uint32_t>(map.bytes()), barrier, d.slots[3],
                      targets))
      return action::fault;
    const auto bring = [&](const tensor_part& part) {
      bulk_load copy{
          .to = part.shared, .size = part.size, .fill = map.fill(), .change = map.change};
      if (part.inside) {
        const located from = locate_global(w, d, lane, part.global, part.size, access_kind::read);
        if (from.bytes == nullptr ||
            !note_read(w, d, lane, from, part.global, part.size, access_class::plain))
          return false;
        copy.from = from.bytes;
      }
      return bring_bulk(w, d, lane, targets, copy);
    };
    if (!for_tensor_parts(request, targets.to, false, bring)) return action::fault;
  }
  return action::next;
}

/// Returns whether a reduction of elements of this type exists.
constexpr bool combines_tensors(ptx::operation op, ptx::type t) {
  using enum ptx::operation;
  using ptx::type;
  const bool half = t == type::f16 || t == type::bf16;
  const bool integer = t == type::u32 || t == type::s32 || t == type::u64 || t == type::s64;
  switch (op) {
    case add: return half || t == type::f32 || (integer && t != type::s64);
    case min:
    case max: return half || integer;
    case inc:
    case dec: return t == type::u32;
    default: return integer;
  }
}

/// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor to global memory: slots are source, map;
/// the list has the coordinates.
inline action run_tensor_store(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* const more = w.function->lists.data() + d.list;
  const ptx::operation combine = d.source->with.op;
  const bool combines = combine != ptx::operation::none;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    tensor_request request;
    if (!read_tensor_request(w, d, lane, more, request) || !check_start(w, lane, request, true))
      return action::fault;
    const tensor_map& map = request.map;
    if (combines && !combines_tensors(combine, map.element))
      return fail(
          w, fault_kind::illegal_instruction, lane,
          "tensors of ." + std::string(ptx::name_of(map.element)) + " do not have this reduction");
    const address from = address_of(w.registers, d, 0, lane);
    const located tile = locate_tile(w, d, lane, from, map, access_kind::read);
    if (tile.bytes == nullptr) return action::fault;
    const auto send = [&](const tensor_part& part) {
      if (!part.inside) return true;
      const located here{w.block->shared.bytes() + part.shared, nullptr, true, false};
      if (!note_read(w, d, lane, here, part.shared, part.size, access_class::plain)) return false;
      const located to = locate_global(w, d, lane, part.global, part.size, access_kind::write);
      if (to.bytes == nullptr ||
          (combines && !note_read(w, d, lane, to, part.global, part.size, access_class::plain)) ||
          !note_write(w, d, lane, to, nullptr, part.size, access_class::plain))
        return false;
      w.bulk_stores.push_back(
          {part.shared, to.bytes, part.size, w.bulk_groups[lane], lane, combine, map.element});
      return true;
    };
    if (!for_tensor_parts(request, static_cast<std::uint32_t>(from), true, send))
      return action::fault;
  }
  return action::next;
}

/// cp.async.bulk.prefetch.tensor: slot 1 is the map; the list has coordinates and offsets.
inline action run_tensor_prefetch(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* const more = w.function->lists.data() + d.list;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    tensor_request request;
    if (!read_tensor_request(w, d, lane, more, request)) return action::fault;
  }
  return action::next;
}

/// prefetch.tensormap: slot 0 is the address.
inline action run_prefetch_tensor_map(warp& w, const decoded& d, lane_mask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const address a = address_of(w.registers, d, 0, lane);
    if (locate_tensor_map(w, d, lane, a).bytes == nullptr) return action::fault;
  }
  return action::next;
}

/// cp.async.bulk.prefetch.L2: slots are address, size. Nothing is read, as with other prefetches.
inline action run_bulk_prefetch(warp& w, const decoded& d, lane_mask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const auto size = read_lane<std::uint32_t>(w.registers, d.slots[1], lane);
    const address from = address_of(w.registers, d, 0, lane);
    if (size % 16 != 0)
      return fail(w, fault_kind::illegal_instruction, lane,
                  "a bulk prefetch of " + std::to_string(size) +
                      " bytes: the size must be a multiple of 16");
    if (from % 16 != 0) {
      (void)refuse_misaligned(w, lane, from, 16, access_kind::read);
      return action::fault;
    }
  }
  return action::next;
}

}}}  // namespace nogpu::v1::machine::detail
