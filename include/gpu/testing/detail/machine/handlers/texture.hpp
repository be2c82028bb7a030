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

/// Reads the texels of a texture for the lanes of a warp. After a fault, which is noted in the
/// warp, it gives zeros.
class texel_reader {
 public:
  texel_reader(warp& w, const decoded& d, const texture& t) : w_{w}, d_{d}, texture_{t} {}

  void set_lane(unsigned lane) { lane_ = lane; }

  texel operator()(std::size_t level, std::uint32_t layer, std::int64_t x, std::int64_t y,
                   std::int64_t z) {
    if (failed_) return {};
    if (x < 0 || y < 0 || z < 0) return border_texel(texture_);
    if (level != level_) look_up(level);
    const std::uint32_t size = texture_.source.format.bytes();
    const address offset = static_cast<std::uint64_t>(x) * size +
                           static_cast<std::uint64_t>(y) * from_.row_pitch +
                           (static_cast<std::uint64_t>(z) + layer) * from_.slice_pitch;
    if (whole_.bytes == nullptr) return read_alone(from_.base + offset, size);
    const located at{whole_.bytes + offset, whole_.shadow ? whole_.shadow + offset : nullptr, false,
                     true};
    if (at.shadow == nullptr || is_all_written(at, size)) return channels_at(at);
    return checked(at, from_.base + offset, size);
  }

  bool failed() const { return failed_; }

 private:
  /// Finds the memory of a level, if all of it is readable.
  void look_up(std::size_t level) {
    level_ = level;
    from_ = texture_.source.levels[level];
    whole_ = {};
    const image& source = texture_.source;
    const std::uint32_t size = source.format.bytes();
    const address bytes = (from_.depth + source.layers - 2) * from_.slice_pitch +
                          (from_.height - 1) * from_.row_pitch + from_.width * size;
    const bool aligned = ((from_.base | from_.row_pitch | from_.slice_pitch) & (size - 1)) == 0;
    memory_view& view = view_for(*w_.block, d_);
    if (aligned && find_view(*w_.block, view, from_.base, bytes) == fault_kind::none)
      whole_ = located_in(view, from_.base);
  }

  /// Reads a texel of a level that is not readable as a whole.
  texel read_alone(address where, std::uint32_t size) {
    const located at = locate<space::global>(w_, d_, lane_, where, size, access_kind::read);
    if (at.bytes != nullptr) return checked(at, where, size);
    failed_ = true;
    return {};
  }

  texel checked(const located& at, address where, std::uint32_t size) {
    failed_ = !note_read(w_, d_, lane_, at, where, size, access_class::plain);
    return failed_ ? texel{} : channels_at(at);
  }

  texel channels_at(const located& at) const {
    const texel_format format = texture_.source.format;
    texel value{};
    for (std::uint32_t c = 0; c < format.channels; ++c)
      value[c] = format.channel_bytes == 4   ? fetch<std::uint32_t>(at, 4 * c)
                 : format.channel_bytes == 2 ? fetch<std::uint16_t>(at, 2 * c)
                                             : fetch<std::uint8_t>(at, c);
    return value;
  }

  warp& w_;
  const decoded& d_;
  const texture& texture_;
  unsigned lane_ = 0;
  std::size_t level_ = SIZE_MAX;  // that was looked up
  image_level from_{};
  located whole_{};  // the first texel of the level, if all of it is readable
  bool failed_ = false;
};

/// The operands of an instruction other than the texture.
class texture_operands {
 public:
  texture_operands(const warp& w, const decoded& d)
      : w_{w}, instruction_{*d.source}, list_{w.function->lists.data() + d.list} {
    const std::uint32_t* const offsets = list_ + image_list::offsets;
    has_offsets_ = offsets[0] != no_slot || offsets[1] != no_slot || offsets[2] != no_slot;
    layered_ = ptx::has_layer(instruction_.with.geometry);
    made_.integers = instruction_.types[1] == ptx::type::s32;
    made_.gathers = instruction_.op == ptx::opcode::tld4;
    made_.has_level = instruction_.op == ptx::opcode::tex_level;
    made_.has_gradients = instruction_.op == ptx::opcode::tex_grad;
  }

  /// Returns those of one lane.
  const texture_request& of(unsigned lane) {
    const auto words = read_words(w_, list_ + image_list::coordinates, lane);
    if (layered_) {
      made_.layer = words[0];
      made_.coordinates = {words[1], words[2], words[3]};
    } else {
      made_.coordinates = {words[0], words[1], words[2]};
    }
    if (has_offsets_) {
      const auto offsets = read_words(w_, list_ + image_list::offsets, lane);
      for (std::size_t k = 0; k < 3; ++k)
        made_.offsets[k] = std::bit_cast<std::int32_t>(offsets[k]);
    }
    if (made_.has_level) {
      const std::uint32_t level = read_words(w_, list_ + image_list::level, lane)[0];
      made_.level = made_.integers ? static_cast<float>(static_cast<std::int32_t>(level))
                                   : std::bit_cast<float>(level);
    } else if (made_.has_gradients) {
      made_.gradient_x = floats(image_list::gradient_x, lane);
      made_.gradient_y = floats(image_list::gradient_y, lane);
    }
    return made_;
  }

 private:
  std::array<float, 3> floats(std::size_t from, unsigned lane) const {
    const auto bits = read_words(w_, list_ + from, lane);
    return {std::bit_cast<float>(bits[0]), std::bit_cast<float>(bits[1]),
            std::bit_cast<float>(bits[2])};
  }

  const warp& w_;
  const ptx::instruction& instruction_;
  const std::uint32_t* list_;
  texture_request made_;
  bool layered_ = false, has_offsets_ = false;
};

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
/// handle. Lanes that have the same texture are done together.
template <bool Gather> inline action run_texture_read(warp& w, const decoded& d, lane_mask mask) {
  image_lookup<texture> objects;
  texture_operands operands(w, d);
  write_predicate(w.registers, d.slots[0], mask, all_lanes);
  while (mask != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const texture* object = objects.find(w, d, first);
    if (object == nullptr || !check_shape(w, d, first, object->source, object->site))
      return action::fault;
    texel_reader reader(w, d, *object);
    for (lane_mask left = mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      if (!objects.is_last(w, d, lane)) continue;
      mask &= ~(lane_mask{1} << lane);
      reader.set_lane(lane);
      const texture_request& request = operands.of(lane);
      const texel value = Gather ? gather_texels(*object, request, d.source->with.component, reader)
                                 : read_texture(*object, request, reader);
      if (reader.failed()) return action::fault;
      write_texel(w, d, lane, value);
    }
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
