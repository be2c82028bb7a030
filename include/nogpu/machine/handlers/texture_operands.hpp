// The operands of tex and tld4: those of lanes side by side, and the registers for results.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <nogpu/machine/handlers/image_access.hpp>
#include <nogpu/machine/lanes.hpp>
#include <nogpu/machine/texels.hpp>
#include <nogpu/machine/texture_sums.hpp>
#include <nogpu/ptx/arithmetic/half.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Numbers of lanes, in ascending order.
using lane_list = std::span<const std::uint8_t>;

inline bool are_successive(lane_list lanes) {
  return lanes.back() - lanes.front() + 1u == lanes.size();
}

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

  /// Copies the values of some lanes.
  template <class Word> void copy(lane_list lanes, std::array<Word, warp_size>& to) const {
    if (are_successive(lanes)) {
      std::memcpy(to.data(), words_ + sizeof(Word) * lanes.front(), sizeof(Word) * lanes.size());
    } else {
      for (std::size_t n = 0; n < lanes.size(); ++n) to[n] = read_lane<Word>(words_, 0, lanes[n]);
    }
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

  /// Makes these lanes the ones whose operands are asked for. The list has to live as long.
  void select(lane_list lanes) { lanes_ = lanes; }

  std::size_t count() const { return lanes_.size(); }
  bool integers() const { return integers_; }
  bool has_level() const { return has_level_; }
  bool has_gradients() const { return has_gradients_; }

  void copy_layers(std::array<std::uint32_t, warp_size>& to) const { layer_.copy(lanes_, to); }
  void copy_coordinates(std::size_t axis, std::array<float, warp_size>& to) const {
    coordinates_[axis].copy(lanes_, to);
  }
  void copy_offsets(std::size_t axis, std::array<std::int32_t, warp_size>& to) const {
    if (!has_offsets_) return to.fill(0);
    for (std::size_t n = 0; n < lanes_.size(); ++n) to[n] = offset(axis, n);
  }

  // Operands of the n-th lane.
  unsigned lane(std::size_t n) const { return lanes_[n]; }
  std::uint32_t layer(std::size_t n) const { return layer_[lane(n)]; }
  /// An integer.
  std::uint32_t coordinate(std::size_t axis, std::size_t n) const {
    return coordinates_[axis][lane(n)];
  }
  std::int32_t offset(std::size_t axis, std::size_t n) const {
    return has_offsets_ ? low_bits(offsets_[axis][lane(n)], offset_bits_) : 0;
  }
  float level(std::size_t n) const {
    const std::uint32_t level = level_[lane(n)];
    return integers_ ? static_cast<float>(static_cast<std::int32_t>(level))
                     : std::bit_cast<float>(level);
  }
  std::array<float, 3> gradient_x(std::size_t n) const { return floats(gradient_x_, lane(n)); }
  std::array<float, 3> gradient_y(std::size_t n) const { return floats(gradient_y_, lane(n)); }

 private:
  static std::array<float, 3> floats(const std::array<lane_words, 3>& from, unsigned lane) {
    return {std::bit_cast<float>(from[0][lane]), std::bit_cast<float>(from[1][lane]),
            std::bit_cast<float>(from[2][lane])};
  }

  lane_list lanes_;
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
  void write(lane_list lanes, const four<std::array<std::uint32_t, warp_size>>& values) const {
    if (type_ == ptx::type::f16 || type_ == ptx::type::f16x2) {
      for (std::size_t n = 0; n < lanes.size(); ++n)
        write_halves(lanes[n], {values[0][n], values[1][n], values[2][n], values[3][n]});
      return;
    }
    for (std::size_t c = 0; c < 4; ++c)
      if (slots_[c] != no_slot) write_words(slots_[c], lanes, values[c]);
  }

 private:
  void write_words(std::uint32_t slot, lane_list lanes,
                   const std::array<std::uint32_t, warp_size>& words) const {
    if (are_successive(lanes)) {
      std::memcpy(registers_ + slot + 4 * lanes.front(), words.data(), 4 * lanes.size());
    } else {
      for (std::size_t n = 0; n < lanes.size(); ++n)
        write_lane(registers_, slot, lanes[n], words[n]);
    }
  }

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

}}}  // namespace nogpu::v1::machine::detail
