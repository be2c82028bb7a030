// Handlers of tex, tld4, txq, suq and istypep.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <gpu/testing/detail/machine/access_checks.hpp>
#include <gpu/testing/detail/machine/handlers/image_access.hpp>
#include <gpu/testing/detail/machine/texels.hpp>
#include <gpu/testing/detail/machine/texture_filter.hpp>
#include <gpu/testing/detail/ptx/arithmetic/half.hpp>

namespace gpu::inline v1::testing::machine::detail {

/// Reads the texels of a texture for one lane. After a fault, which is noted in the warp, it gives
/// zeros.
class texel_reader {
 public:
  texel_reader(warp& w, const decoded& d, unsigned lane, const texture& t)
      : w_{w}, d_{d}, lane_{lane}, texture_{t} {}

  texel operator()(std::size_t level, std::uint32_t layer, std::int64_t x, std::int64_t y,
                   std::int64_t z) {
    if (failed_) return {};
    const image& source = texture_.source;
    if (x < 0 || y < 0 || z < 0) return border_texel(texture_);
    const image_level& from = source.levels[level];
    const address where = from.base + static_cast<std::uint64_t>(x) * source.format.bytes() +
                          static_cast<std::uint64_t>(y) * from.row_pitch +
                          (static_cast<std::uint64_t>(z) + layer) * from.slice_pitch;
    const std::uint32_t size = source.format.bytes();
    const located at = locate<space::global>(w_, d_, lane_, where, size, access_kind::read);
    failed_ =
        at.bytes == nullptr || !note_read(w_, d_, lane_, at, where, size, access_class::plain);
    if (failed_) return {};
    texel value{};
    for (std::uint32_t c = 0; c < source.format.channels; ++c) {
      const std::uint32_t bytes = source.format.channel_bytes;
      value[c] = static_cast<std::uint32_t>(fetch_sized(at, c * bytes, bytes));
    }
    return value;
  }

  bool failed() const { return failed_; }

 private:
  warp& w_;
  const decoded& d_;
  unsigned lane_;
  const texture& texture_;
  bool failed_ = false;
};

/// Returns the operands of an instruction other than the texture, for one lane.
inline texture_request request_of(const warp& w, const decoded& d, unsigned lane) {
  const ptx::instruction& i = *d.source;
  const std::uint32_t* list = w.function->lists.data() + d.list;
  texture_request request;
  auto words = read_words(w, list + image_list::coordinates, lane);
  if (ptx::has_layer(i.with.geometry)) {
    request.layer = words[0];
    words = {words[1], words[2], words[3], 0};
  }
  request.coordinates = {words[0], words[1], words[2]};
  request.integers = i.types[1] == ptx::type::s32;
  request.gathers = i.op == ptx::opcode::tld4;
  const auto offsets = read_words(w, list + image_list::offsets, lane);
  for (std::size_t k = 0; k < 3; ++k) request.offsets[k] = std::bit_cast<std::int32_t>(offsets[k]);
  const auto floats = [&](std::size_t from) {
    const auto bits = read_words(w, list + from, lane);
    return std::array<float, 3>{std::bit_cast<float>(bits[0]), std::bit_cast<float>(bits[1]),
                                std::bit_cast<float>(bits[2])};
  };
  if (i.op == ptx::opcode::tex_level) {
    request.has_level = true;
    const std::uint32_t level = read_words(w, list + image_list::level, lane)[0];
    request.level = request.integers ? static_cast<float>(static_cast<std::int32_t>(level))
                                     : std::bit_cast<float>(level);
  } else if (i.op == ptx::opcode::tex_grad) {
    request.has_gradients = true;
    request.gradient_x = floats(image_list::gradient_x);
    request.gradient_y = floats(image_list::gradient_y);
  }
  return request;
}

/// Writes the result of a read in the type of the instruction.
inline void write_texel(warp& w, const decoded& d, unsigned lane, const texel& value) {
  const std::uint32_t* list = w.function->lists.data() + d.list;
  const ptx::type t = d.source->types[0];
  const auto half = [&](std::size_t c) {
    return std::uint32_t{ptx::detail::to_half<ptx::f16>(std::bit_cast<float>(value[c])).bits};
  };
  for (std::size_t c = 0; c < d.source->with.vector; ++c) {
    if (list[c] == no_slot) continue;
    if (t == ptx::type::f16) {
      write_lane(w.registers, list[c], lane, static_cast<std::uint16_t>(half(c)));
    } else if (t == ptx::type::f16x2) {
      write_lane(w.registers, list[c], lane, half(2 * c) | half(2 * c + 1) << 16);
    } else {
      write_lane(w.registers, list[c], lane, value[c]);
    }
  }
}

/// tex and tld4: slots are the predicate "all of it is resident", which always holds, and the
/// handle.
template <bool Gather> inline action run_texture_read(warp& w, const decoded& d, lane_mask mask) {
  image_lookup<texture> objects;
  write_predicate(w.registers, d.slots[0], mask, all_lanes);
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const texture* object = objects.find(w, d, lane);
    if (object == nullptr || !check_shape(w, d, lane, object->source, object->site))
      return action::fault;
    const texture_request request = request_of(w, d, lane);
    texel_reader reader(w, d, lane, *object);
    const texel value = Gather ? gather_texels(*object, request, d.source->with.component, reader)
                               : read_texture(*object, request, reader);
    if (reader.failed()) return action::fault;
    write_texel(w, d, lane, value);
  }
  return action::next;
}

inline action run_texture(warp& w, const decoded& d, lane_mask mask) {
  return run_texture_read<false>(w, d, mask);
}
inline action run_gather(warp& w, const decoded& d, lane_mask mask) {
  return run_texture_read<true>(w, d, mask);
}

/// The width, height or depth of a level. Layers of a texture count as the next extent after those
/// of its shape; a missing extent of a texture is 0, except for the height of a one-dimensional
/// one. That of a surface is 1.
inline std::uint64_t answer_query(const image& source, ptx::image_query query, std::uint32_t level,
                                  bool of_surface) {
  if (level >= source.levels.size()) return 0;
  const image_level& of = source.levels[level];
  std::uint64_t extents[3] = {of.width, of.height, of.depth};
  if (!of_surface) {
    const bool line = source.shape == image_shape::one;
    const std::uint64_t layers =
        source.shape == image_shape::cube ? source.layers / 6 : source.layers;
    if (source.shape != image_shape::three) extents[2] = source.layered && !line ? layers : 0;
    if (line && source.layered) extents[1] = layers;
    if (source.origin == image_origin::linear) extents[1] = 0;
  }
  return extents[static_cast<std::size_t>(query)];
}

/// txq, txq.level and suq: slots are the result, the handle, the level.
inline action run_image_query(warp& w, const decoded& d, lane_mask mask) {
  const bool of_surface = d.source->op == ptx::opcode::suq;
  image_lookup<texture> textures;
  image_lookup<surface> surfaces;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const texture* t = of_surface ? nullptr : textures.find(w, d, lane);
    const surface* s = of_surface ? surfaces.find(w, d, lane) : nullptr;
    if (t == nullptr && s == nullptr) return action::fault;
    const std::uint32_t level =
        d.slots[2] == no_slot ? 0 : read_lane<std::uint32_t>(w.registers, d.slots[2], lane);
    const std::uint64_t answer =
        answer_query(of_surface ? s->source : t->source, d.source->with.query, level, of_surface);
    write_lane(w.registers, d.slots[0], lane, static_cast<std::uint32_t>(answer));
  }
  return action::next;
}

/// istypep: an object is none of the references that it asks for.
inline action run_istypep(warp& w, const decoded& d, lane_mask mask) {
  write_predicate(w.registers, d.slots[0], mask, 0);
  return action::next;
}

}  // namespace gpu::inline v1::testing::machine::detail
