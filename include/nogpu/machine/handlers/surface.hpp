// Handlers of suld, sust, sured and suq.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <nogpu/machine/access_checks.hpp>
#include <nogpu/machine/handlers/atomics.hpp>
#include <nogpu/machine/handlers/image_access.hpp>
#include <nogpu/machine/surface_formats.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The position in a surface at which a lane reads or writes.
struct surface_place {
  bool good = false;     // false: a fault, noted in the warp
  bool outside = false;  // .zero applies
  address where = 0;
};

/// Returns the coordinate that is used, after .clamp; sets `outside` if it is outside.
inline std::uint64_t bounded(std::uint32_t coordinate, std::uint64_t extent, ptx::surface_bounds b,
                             bool& outside) {
  const auto at = static_cast<std::int32_t>(coordinate);
  if (at >= 0 && static_cast<std::uint64_t>(at) < extent) return static_cast<std::uint64_t>(at);
  if (b != ptx::surface_bounds::clamp) outside = true;
  return at < 0 || outside ? 0 : extent - 1;
}

/// The address of `size` bytes, at a coordinate of bytes or, with `texels`, of texels.
inline surface_place place_in(warp& w, const decoded& d, unsigned lane, const surface& s,
                              std::uint32_t size, bool texels, access_kind access) {
  using enum ptx::image_geometry;
  const ptx::modifiers& with = d.source->with;
  const image& source = s.source;
  if (!check_shape(w, d, lane, source, s.site)) return {};
  const image_level& level = source.levels.front();
  auto at = read_words(w, w.function->lists.data() + d.list + image_list::coordinates, lane);
  const bool layered = source.layered || source.shape == image_shape::cube;
  const std::uint32_t layer = layered ? at[0] : 0;
  if (layered) at = {at[1], at[2], 0, 0};
  const std::uint64_t row = level.width * source.format.bytes();
  surface_place place;
  place.where = level.base;
  bool outside = false;
  const std::uint64_t unit = texels ? source.format.bytes() : 1;
  if (!texels && at[0] % size != 0) {
    (void)refuse_number(w, fault_kind::misaligned, lane, at[0], size, access,
                        "the coordinate must be a multiple of ", size, " bytes");
    return {};
  }
  const std::uint64_t last = texels ? level.width : row < size ? 0 : row - size + 1;
  place.where +=
      bounded(at[0], last, with.bounds, outside) / (texels ? 1 : size) * (texels ? unit : size);
  if (with.geometry == d2 || with.geometry == d3 || with.geometry == a2d)
    place.where += bounded(at[1], level.height, with.bounds, outside) * level.row_pitch;
  if (with.geometry == d3)
    place.where += bounded(at[2], level.depth, with.bounds, outside) * level.slice_pitch;
  if (layered) {  // the number of a layer has no sign
    const std::uint32_t known = layer < source.layers ? layer : 0x7fff'ffffu;
    place.where += bounded(known, source.layers, with.bounds, outside) * level.slice_pitch;
  }
  place.outside = outside;
  place.good = !outside || with.bounds == ptx::surface_bounds::zero;
  if (!place.good) {
    std::string text = "coordinates " + std::to_string(static_cast<std::int32_t>(at[0])) + ", " +
                       std::to_string(static_cast<std::int32_t>(at[1])) + ", " +
                       std::to_string(static_cast<std::int32_t>(at[2]));
    if (layered) text += ", layer " + std::to_string(static_cast<std::int32_t>(layer));
    text += " in the surface of " + std::to_string(texels ? level.width : row) +
            (texels ? " texels x " : " bytes x ") + std::to_string(level.height) + " x " +
            std::to_string(layered ? source.layers : level.depth) + " made by " + s.site;
    (void)fail(w, fault_kind::surface_out_of_bounds, lane, std::move(text));
  }
  return place;
}

/// suld.b
inline action run_surface_load(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* list = w.function->lists.data() + d.list;
  const ptx::instruction& i = *d.source;
  const std::uint32_t element = ptx::size_of(i.types[0]), size = element * i.with.vector;
  image_lookup<surface> objects;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const surface* object = objects.find(w, d, lane);
    if (object == nullptr) return action::fault;
    const surface_place place = place_in(w, d, lane, *object, size, false, access_kind::read);
    if (!place.good) return action::fault;
    located at;
    if (!place.outside) {
      at = locate<space::global>(w, d, lane, place.where, size, access_kind::read);
      if (at.bytes == nullptr || !note_read(w, d, lane, at, place.where, size, access_class::plain))
        return action::fault;
    }
    for (std::uint32_t e = 0; e < i.with.vector; ++e) {
      const std::uint64_t value = place.outside ? 0 : fetch_sized(at, e * element, element);
      if (list[e] != no_slot) write_bits(w.registers, list[e], d.result_size, lane, value);
    }
  }
  return action::next;
}

/// sust.b and sust.p
inline action run_surface_store(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* list = w.function->lists.data() + d.list;
  const ptx::instruction& i = *d.source;
  const bool formatted = i.with.formatted;
  image_lookup<surface> objects;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const surface* object = objects.find(w, d, lane);
    if (object == nullptr) return action::fault;
    const texel_format format = object->source.format;
    const std::uint32_t element = formatted ? format.channel_bytes : ptx::size_of(i.types[0]);
    const std::uint32_t count = formatted ? format.channels : i.with.vector;
    const std::uint32_t size = element * count;
    const surface_place place = place_in(w, d, lane, *object, size, formatted, access_kind::write);
    if (!place.good) return action::fault;
    if (place.outside) continue;
    const located at = locate<space::global>(w, d, lane, place.where, size, access_kind::write);
    if (at.bytes == nullptr || !note_write(w, d, lane, at, nullptr, size, access_class::plain))
      return action::fault;
    for (std::uint32_t e = 0; e < count; ++e) {
      std::uint64_t value = e < i.with.vector && list[e] != no_slot
                                ? read_bits(w.registers, list[e], d.result_size, lane)
                                : 0;
      if (formatted) value = write_channel(static_cast<std::uint32_t>(value), format);
      put_sized(at, e * element, element, value);
    }
  }
  return action::next;
}

/// sured
inline action run_surface_reduction(warp& w, const decoded& d, lane_mask mask) {
  const std::uint32_t* list = w.function->lists.data() + d.list;
  const ptx::instruction& i = *d.source;
  image_lookup<surface> objects;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const surface* object = objects.find(w, d, lane);
    if (object == nullptr) return action::fault;
    const std::uint32_t size = ptx::size_of(i.types[0]);
    const surface_place place =
        place_in(w, d, lane, *object, size, i.with.formatted, access_kind::atomic);
    if (!place.good) return action::fault;
    if (place.outside) continue;
    const located at = locate<space::global>(w, d, lane, place.where, size, access_kind::atomic);
    if (at.bytes == nullptr || !note_update(w, d, lane, at, place.where, size))
      return action::fault;
    const bool is_signed = i.with.formatted
                               ? object->source.format.kind == channel_kind::signed_integer
                               : ptx::is_signed(i.types[0]);
    if (size == 8) {
      const auto b = read_lane<std::uint64_t>(w.registers, list[0], lane);
      (void)update<std::uint64_t>(at, 0, [&](std::uint64_t old) {
        return combine_integers<std::uint64_t>(i.with.op, is_signed, old, b, 0);
      });
    } else {
      const auto b = read_lane<std::uint32_t>(w.registers, list[0], lane);
      (void)update<std::uint32_t>(at, 0, [&](std::uint32_t old) {
        return combine_integers<std::uint32_t>(i.with.op, is_signed, old, b, 0);
      });
    }
  }
  return action::next;
}

}}}  // namespace nogpu::v1::machine::detail
