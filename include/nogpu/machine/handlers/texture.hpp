// Handlers of tex, tld4, txq, suq and istypep.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <nogpu/machine/access_checks.hpp>
#include <nogpu/machine/handlers/image_access.hpp>
#include <nogpu/machine/handlers/texture_operands.hpp>
#include <nogpu/machine/texels.hpp>
#include <nogpu/machine/texture_batch.hpp>
#include <nogpu/machine/texture_channels.hpp>
#include <nogpu/machine/texture_filter.hpp>
#include <nogpu/ptx/arithmetic/half.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

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

  const std::byte* operator()(std::uint32_t layer, std::int64_t x, std::int64_t y, std::int64_t z) {
    if ((x | y | z) < 0) return border_.data();
    const address offset = offset_of_row(layer, y, z) + offset_in_row(x);
    if (whole_.shadow != nullptr && is_written(offset)) return whole_.bytes + offset;
    return checked(offset);
  }

  /// For some lanes, finds the texels at which two columns and two rows of a slice meet. `found`
  /// says whether they are all known to be written, and not of the border.
  void find(lane_range lanes, const std::array<std::uint32_t, warp_size>& layer, const lane_taps& x,
            const lane_taps& y, const std::array<std::int32_t, warp_size>& z,
            four<std::array<const std::byte*, warp_size>>& texels,
            std::array<bool, warp_size>& found) const {
    if (whole_.shadow == nullptr) return found.fill(false);
    // Instead of the border, the first texel is looked at.
    const auto inside = [](std::int32_t tap) { return tap < 0 ? 0 : tap; };
    for (std::size_t n = lanes.begin; n < lanes.end; ++n) {
      const address left = offset_in_row(inside(x.first[n]));
      const address right = offset_in_row(inside(x.second[n]));
      const address lower = offset_of_row(layer[n], inside(y.first[n]), inside(z[n]));
      const address upper = offset_of_row(layer[n], inside(y.second[n]), inside(z[n]));
      texels[0][n] = whole_.bytes + lower + left;
      texels[1][n] = whole_.bytes + lower + right;
      texels[2][n] = whole_.bytes + upper + left;
      texels[3][n] = whole_.bytes + upper + right;
      const bool written = is_written(lower + left) && is_written(lower + right) &&
                           is_written(upper + left) && is_written(upper + right);
      found[n] = written && ((x.first[n] | x.second[n] | y.first[n] | y.second[n] | z[n]) >= 0);
    }
  }

  bool failed() const { return failed_; }

 private:
  std::uint32_t size() const { return Size != 0 ? Size : size_; }

  address offset_of_row(std::uint32_t layer, std::int64_t y, std::int64_t z) const {
    return static_cast<std::uint64_t>(y) * from_.row_pitch +
           (static_cast<std::uint64_t>(z) + layer) * from_.slice_pitch;
  }
  address offset_in_row(std::int64_t x) const { return static_cast<std::uint64_t>(x) * size(); }

  bool is_written(address offset) const { return is_all_written(at(offset), size()); }

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

/// Writes the results of lanes for tex.
inline void write_batch(const texel_batch& batch, const texture& from, lane_list lanes,
                        const texture_result& result) {
  const std::size_t channels =
      std::min<std::size_t>(result.channels(), from.source.format.channels);
  four<std::array<std::uint32_t, warp_size>> values{};
  with_channel(from, [&](auto kind) {
    for (std::size_t c = 0; c < channels; ++c) batch.compute(kind, c, values[c]);
  });
  result.write(lanes, values);
}

/// Writes the results of lanes for tld4, of which each has four.
inline void write_gathered(const texel_batch& batch, const texture& from, std::size_t channel,
                           lane_list lanes, const texture_result& result) {
  std::array<std::uint32_t, warp_size> values{};
  with_channel(from, [&](auto kind) { batch.compute(kind, channel, values); });
  for (std::size_t n = 0; n < batch.size(); n += 4)
    result.write(lanes[n / 4], {values[n], values[n + 1], values[n + 2], values[n + 3]});
}

/// Reads one texture for some lanes. Returns false for a fault. `Size` is that of a texel, or 0.
template <bool Gather, std::uint32_t Size>
bool read_lanes(warp& w, const decoded& d, lane_mask mask, const texture& from) {
  texels_in_memory<Size> texels(w, d, from);
  texture_operands operands(w, d);
  const texture_result result(w, d);
  texel_batch batch;
  texture_reader<texture_operands, texels_in_memory<Size>> reader(from, operands, texels, batch);
  const std::size_t slices = Gather ? reader.slices_to_gather : reader.slices_to_read();
  std::array<std::uint8_t, warp_size> numbers;
  std::size_t count = 0;
  for_lanes(mask, [&](unsigned lane) { numbers[count++] = static_cast<std::uint8_t>(lane); });
  for (lane_list rest(numbers.data(), count); !rest.empty();) {
    const lane_list lanes = rest.first(std::min(rest.size(), warp_size / slices));
    rest = rest.subspan(lanes.size());
    batch.clear();
    operands.select(lanes);
    if constexpr (Gather) {
      reader.gather();
    } else {
      reader.read();
    }
    if (texels.failed()) return false;
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

}}}  // namespace nogpu::v1::machine::detail
