// Handlers of tex, tld4, txq, suq and istypep.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <gpu/testing/detail/machine/access_checks.hpp>
#include <gpu/testing/detail/machine/handlers/image_access.hpp>
#include <gpu/testing/detail/machine/texels.hpp>
#include <gpu/testing/detail/machine/texture_batch.hpp>
#include <gpu/testing/detail/machine/texture_channels.hpp>
#include <gpu/testing/detail/machine/texture_filter.hpp>
#include <gpu/testing/detail/ptx/arithmetic/half.hpp>

namespace gpu::inline v1::testing::machine::detail {

/// The texels of a texture in memory, for the lanes of a warp. After a fault, which is noted in the
/// warp, texels are zeros. `Size` is that of a texel, or 0 if it is not known before the program
/// runs.
template <std::uint32_t Size> class texels_in_memory {
 public:
  texels_in_memory(warp& w, const decoded& d, const texture& t)
      : w_{w}, d_{d}, texture_{t}, size_{t.source.format.bytes()} {
    const auto& modes = t.how.address;
    if (std::find(modes.begin(), modes.end(), address_mode::border) != modes.end()) write_border();
  }

  void set_lane(unsigned lane) { lane_ = lane; }

  /// Finds the memory of a level, if all of it is readable.
  void enter(std::size_t level) {
    from_ = texture_.source.levels[level];
    whole_ = {};
    const address bytes = (from_.depth + texture_.source.layers - 2) * from_.slice_pitch +
                          (from_.height - 1) * from_.row_pitch + from_.width * size();
    const bool aligned = ((from_.base | from_.row_pitch | from_.slice_pitch) & (size() - 1)) == 0;
    memory_view& view = view_for(*w_.block, d_);
    if (aligned && find_view(*w_.block, view, from_.base, bytes) == fault_kind::none)
      whole_ = located_in(view, from_.base);
  }

  [[gnu::always_inline]] const std::byte* operator()(std::uint32_t layer, std::int64_t x,
                                                     std::int64_t y, std::int64_t z) {
    if ((x | y | z) < 0) return border_.data();
    const address offset = static_cast<std::uint64_t>(x) * size() +
                           static_cast<std::uint64_t>(y) * from_.row_pitch +
                           (static_cast<std::uint64_t>(z) + layer) * from_.slice_pitch;
    if (whole_.shadow != nullptr && is_all_written(at(offset), size()))
      return whole_.bytes + offset;
    return checked(offset);
  }

  bool failed() const { return failed_; }

 private:
  std::uint32_t size() const { return Size != 0 ? Size : size_; }

  /// Writes the texel of the border as it is in memory.
  void write_border() {
    const texel value = border_texel(texture_);
    const texel_format format = texture_.source.format;
    for (std::size_t c = 0; c < format.channels; ++c)
      std::memcpy(border_.data() + c * format.channel_bytes, &value[c], format.channel_bytes);
  }

  /// Bytes of a level that is readable as a whole.
  located at(address offset) const {
    return {whole_.bytes + offset, whole_.shadow ? whole_.shadow + offset : nullptr, false, true};
  }

  /// Reads a texel that is not known to be written, or of a level that is not readable as a whole.
  [[gnu::noinline]] const std::byte* checked(address offset) {
    if (failed_) return nothing_.data();
    const address where = from_.base + offset;
    const located found =
        whole_.bytes != nullptr
            ? at(offset)
            : locate<space::global>(w_, d_, lane_, where, size(), access_kind::read);
    failed_ = found.bytes == nullptr ||
              !note_read(w_, d_, lane_, found, where, size(), access_class::plain);
    return failed_ ? nothing_.data() : found.bytes;
  }

  warp& w_;
  const decoded& d_;
  const texture& texture_;
  std::uint32_t size_;  // of a texel
  unsigned lane_ = 0;
  image_level from_{};
  located whole_{};  // the first texel of the level, if all of it is readable
  alignas(16) std::array<std::byte, 16> border_{};
  alignas(16) std::array<std::byte, 16> nothing_{};
  bool failed_ = false;
};

/// Values of 32 bits in the lanes of a warp. Those of a missing operand are 0.
class lane_words {
 public:
  lane_words() = default;
  lane_words(const warp& w, std::uint32_t slot) {
    if (slot != no_slot) words_ = w.registers + slot;
  }
  bool present() const { return words_ != zeros; }
  std::uint32_t operator[](unsigned lane) const {
    return read_lane<std::uint32_t>(words_, 0, lane);
  }

 private:
  static constexpr std::byte zeros[4 * warp_size] = {};
  const std::byte* words_ = zeros;
};

/// The low bits of an offset, with their sign.
constexpr std::int32_t low_bits(std::uint32_t offset, int bits) noexcept {
  return static_cast<std::int32_t>(offset << (32 - bits)) >> (32 - bits);
}

/// The operands of an instruction other than the texture.
class texture_operands {
 public:
  texture_operands(const warp& w, const decoded& d)
      : integers_{d.source->types[1] == ptx::type::s32},
        has_level_{d.source->op == ptx::opcode::tex_level},
        has_gradients_{d.source->op == ptx::opcode::tex_grad},
        offset_bits_{d.source->op == ptx::opcode::tld4 ? 6 : 4} {
    const std::uint32_t* const list = w.function->lists.data() + d.list;
    const auto three = [&](std::size_t from) {
      return std::array{lane_words(w, list[from]), lane_words(w, list[from + 1]),
                        lane_words(w, list[from + 2])};
    };
    const bool layered = ptx::has_layer(d.source->with.geometry);
    if (layered) layer_ = lane_words(w, list[image_list::coordinates]);
    coordinates_ = three(image_list::coordinates + (layered ? 1 : 0));
    offsets_ = three(image_list::offsets);
    has_offsets_ = offsets_[0].present() || offsets_[1].present() || offsets_[2].present();
    if (has_level_) level_ = lane_words(w, list[image_list::level]);
    if (has_gradients_) {
      gradient_x_ = three(image_list::gradient_x);
      gradient_y_ = three(image_list::gradient_y);
    }
  }

  /// The operands of one lane.
  class lane_request {
   public:
    lane_request(const texture_operands& all, unsigned lane) : all_{all}, lane_{lane} {}

    bool integers() const { return all_.integers_; }
    bool has_level() const { return all_.has_level_; }
    bool has_gradients() const { return all_.has_gradients_; }
    std::uint32_t layer() const { return all_.layer_[lane_]; }
    /// The bits of a float, or an integer.
    std::uint32_t coordinate(std::size_t axis) const { return all_.coordinates_[axis][lane_]; }
    std::int64_t offset(std::size_t axis) const {
      if (!all_.has_offsets_) return 0;
      return low_bits(all_.offsets_[axis][lane_], all_.offset_bits_);
    }
    float level() const {
      const std::uint32_t level = all_.level_[lane_];
      return integers() ? static_cast<float>(static_cast<std::int32_t>(level))
                        : std::bit_cast<float>(level);
    }
    std::array<float, 3> gradient_x() const { return floats(all_.gradient_x_); }
    std::array<float, 3> gradient_y() const { return floats(all_.gradient_y_); }

   private:
    std::array<float, 3> floats(const std::array<lane_words, 3>& from) const {
      return {std::bit_cast<float>(from[0][lane_]), std::bit_cast<float>(from[1][lane_]),
              std::bit_cast<float>(from[2][lane_])};
    }

    const texture_operands& all_;
    unsigned lane_;
  };

 private:
  lane_words layer_, level_;
  std::array<lane_words, 3> coordinates_, offsets_, gradient_x_, gradient_y_;
  bool integers_, has_level_, has_gradients_, has_offsets_ = false;
  int offset_bits_;
};

/// The registers that an instruction writes, in its type.
class texture_result {
 public:
  texture_result(warp& w, const decoded& d)
      : registers_{w.registers},
        slots_{w.function->lists.data() + d.list},
        count_{d.source->with.vector},
        type_{d.source->types[0]} {}

  /// Returns the number of channels up to the last one that is used.
  std::size_t channels() const {
    std::size_t used = count_;
    while (used != 0 && slots_[used - 1] == no_slot) --used;
    return type_ == ptx::type::f16x2 ? 2 * used : used;
  }

  void write(unsigned lane, const texel& value) const {
    if (type_ == ptx::type::f16 || type_ == ptx::type::f16x2) return write_halves(lane, value);
    for (std::size_t c = 0; c < 4; ++c)
      if (slots_[c] != no_slot) write_lane(registers_, slots_[c], lane, value[c]);
  }

  /// Writes the channels of several lanes.
  void write(const std::array<std::uint8_t, warp_size>& lanes, std::size_t count,
             const four<std::array<std::uint32_t, warp_size>>& values) const {
    if (type_ == ptx::type::f16 || type_ == ptx::type::f16x2) {
      for (std::size_t n = 0; n < count; ++n)
        write_halves(lanes[n], {values[0][n], values[1][n], values[2][n], values[3][n]});
      return;
    }
    for (std::size_t c = 0; c < 4; ++c) {
      const std::uint32_t slot = slots_[c];
      if (slot == no_slot) continue;
      for (std::size_t n = 0; n < count; ++n) write_lane(registers_, slot, lanes[n], values[c][n]);
    }
  }

 private:
  void write_halves(unsigned lane, const texel& value) const {
    const auto half = [&](std::size_t c) {
      return std::uint32_t{ptx::detail::to_half<ptx::f16>(std::bit_cast<float>(value[c])).bits};
    };
    for (std::size_t c = 0; c < count_; ++c) {
      if (slots_[c] == no_slot) continue;
      if (type_ == ptx::type::f16) {
        write_lane(registers_, slots_[c], lane, static_cast<std::uint16_t>(half(c)));
      } else {
        write_lane(registers_, slots_[c], lane, half(2 * c) | half(2 * c + 1) << 16);
      }
    }
  }

  std::byte* registers_;
  const std::uint32_t* slots_;
  std::size_t count_;
  ptx::type type_;
};

/// Writes the results of lanes for tex.
inline void write_batch(const texel_batch& batch, const texture& from,
                        const std::array<std::uint8_t, warp_size>& lanes,
                        const texture_result& result) {
  const std::size_t channels =
      std::min<std::size_t>(result.channels(), from.source.format.channels);
  four<std::array<std::uint32_t, warp_size>> values{};
  with_channel(from, [&](auto kind) {
    for (std::size_t c = 0; c < channels; ++c) batch.compute(kind, c, values[c]);
  });
  result.write(lanes, batch.size(), values);
}

/// Writes the results of lanes for tld4, of which each has four.
inline void write_gathered(const texel_batch& batch, const texture& from, std::size_t channel,
                           const std::array<std::uint8_t, warp_size>& lanes,
                           const texture_result& result) {
  std::array<std::uint32_t, warp_size> values{};
  with_channel(from, [&](auto kind) { batch.compute(kind, channel, values); });
  for (std::size_t n = 0; n < batch.size(); n += 4)
    result.write(lanes[n / 4], {values[n], values[n + 1], values[n + 2], values[n + 3]});
}

/// Reads one texture for some lanes. Returns false for a fault. `Size` is that of a texel, or 0.
template <bool Gather, std::uint32_t Size>
bool read_lanes(warp& w, const decoded& d, lane_mask mask, const texture& from) {
  texels_in_memory<Size> texels(w, d, from);
  const texture_operands operands(w, d);
  const texture_result result(w, d);
  texel_batch batch;
  texture_reader<texels_in_memory<Size>> reader(from, texels, batch);
  const std::size_t slices = Gather ? reader.slices_to_gather : reader.slices_to_read();
  std::array<std::uint8_t, warp_size> lanes;
  while (mask != 0) {
    batch.clear();
    for (std::size_t n = 0; mask != 0 && batch.has_room_for(slices); mask &= mask - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(mask));
      lanes[n++] = static_cast<std::uint8_t>(lane);
      texels.set_lane(lane);
      const texture_operands::lane_request request(operands, lane);
      if constexpr (Gather) {
        reader.gather(request);
      } else {
        reader.read(request);
      }
      if (texels.failed()) return false;
    }
    if constexpr (Gather) {
      write_gathered(batch, from, d.source->with.component, lanes, result);
    } else {
      write_batch(batch, from, lanes, result);
    }
  }
  return true;
}

/// Does the same; sizes that are frequent have code of their own.
template <bool Gather>
bool read_lanes_of(warp& w, const decoded& d, lane_mask mask, const texture& from) {
  if (Gather && d.source->with.component >= from.source.format.channels) {
    const texture_result result(w, d);
    for_lanes(mask, [&](unsigned lane) { result.write(lane, {}); });
    return true;
  }
  if constexpr (!Gather) {
    if (from.source.format.bytes() == 4) return read_lanes<false, 4>(w, d, mask, from);
    if (from.source.format.bytes() == 16) return read_lanes<false, 16>(w, d, mask, from);
  }
  return read_lanes<Gather, 0>(w, d, mask, from);
}

/// tex and tld4: slots are the predicate "all of it is resident", which always holds, and the
/// handle. Lanes that have the same texture are done together.
template <bool Gather> inline action run_texture_read(warp& w, const decoded& d, lane_mask mask) {
  image_lookup<texture> objects;
  write_predicate(w.registers, d.slots[0], mask, all_lanes);
  while (mask != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const texture* object = objects.find(w, d, first);
    if (object == nullptr || !check_shape(w, d, first, object->source, object->site))
      return action::fault;
    const lane_mask same = mask & objects.having_last(w, d);
    if (!read_lanes_of<Gather>(w, d, same, *object)) return action::fault;
    mask &= ~same;
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
