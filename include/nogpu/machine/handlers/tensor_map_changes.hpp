// Handlers of instructions that change tensor maps: tensormap.replace, and the copy of a map to
// global memory.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include <nogpu/machine/handlers/tensor_copies.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Finds the 128 bytes of a map that is to be changed.
inline located locate_changed_map(warp& w, const decoded& d, unsigned lane, address a, space where,
                                  access_kind access) {
  if (a % 64 != 0) return refuse_misaligned(w, lane, a, 64, access);
  if (where == space::shared) return locate_shared(w, d, lane, a, tensor_map_bytes, access);
  if (where == space::generic && a >= shared_window) {
    if (in_window(a, shared_window))
      return locate_shared(w, d, lane, a - shared_window, tensor_map_bytes, access);
    return refuse(w, fault_kind::wrong_space, lane, a, tensor_map_bytes, access,
                  "a tensor map that is changed is in shared or global memory");
  }
  return locate_global(w, d, lane, a, tensor_map_bytes, access);
}

/// Sets the type of the elements, by its number in tensormap.replace.
inline void set_map_element(tensor_map& map, std::uint64_t number) {
  using ptx::type;
  constexpr type types[] = {type::u8,   type::u16, type::u32, type::s32, type::u64,
                            type::s64,  type::f16, type::f32, type::f32, type::f64,
                            type::bf16, type::f32, type::f32};
  map.element = types[number];
  map.change = number >= 11 ? tensor_change::round_to_tf32 : tensor_change::none;
}

/// Replaces a field. Returns why the value cannot be in it, or null.
inline const char* change_map(tensor_map& map, ptx::map_field field, unsigned dimension,
                              std::uint64_t value) {
  using enum ptx::map_field;
  switch (field) {
    case global_address:
      if (value % 16 != 0) return "the address of a tensor must be a multiple of 16";
      map.base = value;
      return nullptr;
    case rank:
      if (value >= tensor_map::most_dimensions)
        return "the rank of a tensor map is set to one less than it is, 0 to 4";
      map.rank = static_cast<std::uint8_t>(value + 1);
      return nullptr;
    case box_dim:
      if (value == 0 || value > 256) return "a box has 1 to 256 elements in each dimension";
      map.box[dimension] = static_cast<std::uint16_t>(value);
      return nullptr;
    case global_dim:
      if (value == 0) return "a tensor has at least one element in each dimension";
      map.last[dimension] = static_cast<std::uint32_t>(value - 1);
      return nullptr;
    case global_stride:
      if (dimension + 1 >= tensor_map::most_dimensions) return "a tensor map has 4 strides, 0 to 3";
      if (value % 16 != 0 || value >= std::uint64_t{1} << 40)
        return "the stride of a tensor must be a multiple of 16 below 2^40";
      map.strides[dimension] = value;
      return nullptr;
    case element_stride:
      if (value == 0 || value > 8) return "the step of a tensor map is 1 to 8";
      map.steps[dimension] = static_cast<std::uint8_t>(value);
      return nullptr;
    case elemtype: set_map_element(map, value); return nullptr;
    case swizzle_mode: map.swizzle_bits = static_cast<std::uint8_t>(value); return nullptr;
    case fill_mode: map.fills_with_nan = static_cast<std::uint8_t>(value); return nullptr;
    case interleave_layout: return nullptr;  // 0 alone is read: not interleaved
  }
  return nullptr;
}

/// tensormap.replace: slots are address, value; `count` is the dimension, `option` the space.
template <class Value> inline action run_map_change(warp& w, const decoded& d, lane_mask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const address a = address_of(w.registers, d, 0, lane);
    const located at =
        locate_changed_map(w, d, lane, a, static_cast<space>(d.option), access_kind::write);
    if (at.bytes == nullptr || !note_read(w, d, lane, at, a, tensor_map_bytes, access_class::plain))
      return action::fault;
    tensor_map map;
    std::byte bytes[tensor_map_bytes];
    copy_bulk(at.bytes, bytes, tensor_map_bytes);
    std::memcpy(static_cast<void*>(&map), bytes, sizeof map);
    const char* const why = map.mark != tensor_map::mark_of_map
                                ? "these bytes are not a tensor map that the driver encoded"
                                : change_map(map, d.source->with.field, d.count,
                                             read_lane<Value>(w.registers, d.slots[1], lane));
    if (why != nullptr) {
      (void)refuse(w, fault_kind::illegal_instruction, lane, a, tensor_map_bytes,
                   access_kind::write, why);
      return action::fault;
    }
    std::memcpy(bytes, &map, sizeof map);
    if (!note_write(w, d, lane, at, bytes, tensor_map_bytes, access_class::plain))
      return action::fault;
    copy_bulk(bytes, at.bytes, tensor_map_bytes);
  }
  return action::next;
}

/// tensormap.cp_fenceproxy: slots are destination and source; the list has the rest of the source's
/// address. The warp copies the map once.
inline action run_map_copy(warp& w, const decoded& d, lane_mask mask) {
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  const address from = listed_address(w, d, 1, lane, w.function->lists.data() + d.list);
  const address to = address_of(w.registers, d, 0, lane);
  const located source = locate_changed_map(w, d, lane, from, space::shared, access_kind::read);
  if (source.bytes == nullptr ||
      !note_read(w, d, lane, source, from, tensor_map_bytes, access_class::plain))
    return action::fault;
  const located target = locate_changed_map(w, d, lane, to, space::global, access_kind::write);
  if (target.bytes == nullptr ||
      !note_write(w, d, lane, target, source.bytes, tensor_map_bytes, access_class::plain))
    return action::fault;
  copy_bulk(source.bytes, target.bytes, tensor_map_bytes);
  return action::next;
}

}}}  // namespace nogpu::v1::machine::detail
