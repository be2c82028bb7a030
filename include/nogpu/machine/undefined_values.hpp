// Follows values that were read from memory which nobody wrote.
//
// To read such a value is no mistake: a program may read it and then select another. It is one once
// the value has an effect: it decides a jump, is in an address, is stored to global memory, or gets
// to an operation that is not followed. A store to shared or local memory makes the bytes there
// again such that nobody wrote. A byte with some defined bits, as of bit fields, counts as written.
//
// Each bit of a register is defined or not. While there are undefined ones in a warp, instructions
// that compute run twice, with the undefined bits as they are and inverted. Bits of the result that
// differ are undefined.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include <nogpu/machine/access_checks.hpp>
#include <nogpu/machine/handlers/move.hpp>
#include <nogpu/machine/lanes.hpp>
#include <nogpu/machine/register_use.hpp>
#include <nogpu/machine/warp.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The bytes of a register in all lanes; 16 for a predicate.
inline std::uint32_t bytes_of_slot(const lowered_function& function, std::uint32_t slot) {
  const auto next = std::upper_bound(function.slots.begin(), function.slots.end(), slot);
  return (next == function.slots.end() ? function.register_bytes : *next) - slot;
}

inline bool may_be_undefined(const frame& f, std::uint32_t slot) {
  return std::find(f.undefined.slots.begin(), f.undefined.slots.end(), slot) !=
         f.undefined.slots.end();
}

/// The undefined bits of a register.
inline std::byte* undefined_in(frame& f, std::uint32_t slot) {
  if (f.undefined.bits.empty()) f.undefined.bits.resize(f.function->register_bytes);
  if (!may_be_undefined(f, slot)) f.undefined.slots.push_back(slot);
  return f.undefined.bits.data() + slot;
}

/// The lanes in which a register has undefined bits.
inline lane_mask undefined_lanes(const frame& f, std::uint32_t slot) {
  if (slot == no_slot || !may_be_undefined(f, slot)) return 0;
  const std::byte* const bits = f.undefined.bits.data();
  const std::uint32_t bytes = bytes_of_slot(*f.function, slot);
  if (bytes == 16) return read_mask(bits, slot);
  const std::uint32_t size = bytes / warp_size;
  lane_mask lanes = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    const std::byte* const begin = bits + slot + lane * size;
    const bool any = std::any_of(begin, begin + size, [](std::byte b) { return b != std::byte{}; });
    lanes |= lane_mask{any} << lane;
  }
  return lanes;
}

/// The undefined bits of a register of 32 bits in a lane, for shuffles.
inline std::uint32_t undefined_word(const frame& f, std::uint32_t slot, unsigned lane) {
  return may_be_undefined(f, slot) ? read_lane<std::uint32_t>(f.undefined.bits.data(), slot, lane)
                                   : 0;
}
inline void set_undefined_word(frame& f, std::uint32_t slot, unsigned lane, std::uint32_t bits) {
  if (bits == 0 && !may_be_undefined(f, slot)) return;
  std::memcpy(undefined_in(f, slot) + lane * sizeof bits, &bits, sizeof bits);
}

/// Takes a register for defined in some lanes.
inline void define(frame& f, std::uint32_t slot, lane_mask lanes) {
  if (slot == no_slot || !may_be_undefined(f, slot)) return;
  std::byte* const bits = f.undefined.bits.data();
  const std::uint32_t bytes = bytes_of_slot(*f.function, slot);
  if (bytes == 16) return write_predicate(bits, slot, lanes, 0);
  const std::uint32_t size = bytes / warp_size;
  for_lanes(lanes, [&](unsigned lane) { std::memset(bits + slot + lane * size, 0, size); });
}

/// Drops the registers that have no undefined bits any more.
inline void forget_defined(warp& w) {
  w.undefined = false;
  for (const auto& f : w.frames) {
    std::erase_if(f->undefined.slots,
                  [&](std::uint32_t slot) { return undefined_lanes(*f, slot) == 0; });
    w.undefined = w.undefined || !f->undefined.slots.empty();
  }
}

/// The slots that a load fills.
inline const std::uint32_t* loaded_slots(const warp& w, const decoded& d) {
  return d.count == 1 ? d.slots : w.function->lists.data() + d.list;
}

/// Marks what a load gave lanes that nobody wrote.
inline void take_unwritten(warp& w, const decoded& d) {
  const lane_mask lanes = std::exchange(w.unwritten_lanes, 0);
  if (!w.undefined)  // loads of before do not matter any more
    for_lanes(~lanes, [&](unsigned lane) { w.unwritten[lane].load = nullptr; });
  const std::uint32_t* const elements = loaded_slots(w, d);
  for_lanes(lanes, [&](unsigned lane) {
    const std::uint32_t bytes = w.unwritten_bytes[lane];
    const std::uint32_t each = ptx::size_of(d.source->types[0]);
    for (std::uint32_t e = 0; e < d.count; ++e) {
      if (elements[e] == no_slot) continue;
      std::byte* const bits = undefined_in(*w.top, elements[e]) + lane * d.result_size;
      const auto is_undefined = [&](std::uint32_t byte) {
        return (bytes >> (e * each + byte) & 1) != 0;
      };
      for (std::uint32_t b = 0; b < d.result_size; ++b)
        bits[b] = (b < each ? is_undefined(b) : d.result_signed && is_undefined(each - 1))
                      ? std::byte{0xff}
                      : std::byte{};
    }
  });
  w.undefined = true;
}

/// Notes that a lane stores values with undefined bits. Returns false for a fault.
[[gnu::cold, gnu::noinline]] inline bool note_undefined_store(warp& w, const decoded& d,
                                                              unsigned lane, const located& at,
                                                              const std::uint32_t* elements,
                                                              std::uint32_t each) {
  const std::uint32_t size = each * d.count;
  std::uint32_t concerned = 0, undefined = 0;  // bytes with undefined bits, and with no others
  for (std::uint32_t e = 0; e < d.count; ++e) {
    if (!may_be_undefined(*w.top, elements[e])) continue;
    const std::byte* const bits = w.top->undefined.bits.data() + elements[e] + lane * d.result_size;
    for (std::uint32_t b = 0; b < each; ++b) {
      concerned |= std::uint32_t{bits[b] != std::byte{}} << (e * each + b);
      undefined |= std::uint32_t{bits[b] == std::byte{0xff}} << (e * each + b);
    }
  }
  // A part of a structure may be padding.
  const bool all = concerned == (size < 32 ? (1u << size) - 1 : ~0u);
  if (at.global && all) return report_effect(w, lane);
  for (std::uint32_t i = 0; i < size; ++i) {
    if ((undefined >> i & 1) == 0) continue;
    if (at.shadow != nullptr) {
      __atomic_store_n(at.shadow + i, std::uint8_t{0}, __ATOMIC_RELAXED);
    } else if (at.shared) {
      shared_memory& shared = owner_of(w, at).shared;
      shared.forget_write(static_cast<std::size_t>(at.bytes - shared.bytes()) + i);
    }
  }
  return true;
}

/// Returns whether each bit of an instruction's result depends on one bit of each source.
inline bool works_bitwise(const ptx::instruction& i) {
  using enum ptx::opcode;
  switch (i.op) {
    case and_:
    case or_:
    case xor_:
    case not_:
    case lop3:
    case shl:
    case shr:
    case shf_l:
    case shf_r:
    case prmt:
    case bfe:
    case bfi:
    case brev:
    case selp:
    case mov:
    case mov_pack:
    case mov_unpack: return true;
    case cvt: return !ptx::is_floating(i.types[0]) && !ptx::is_floating(i.types[1]);
    default: return false;
  }
}

/// Runs an instruction that computes, with undefined bits as they are and inverted. `lanes` execute
/// it where the guard is true.
class computed_twice {
 public:
  computed_twice(warp& w, const decoded& d) : w_{w}, f_{*w.top}, d_{d} {
    for (const std::uint32_t slot : d.slots) add(slot);
    if (d.run == &run_pack || d.run == &run_unpack)
      for (std::uint32_t e = 0; e < d.count; ++e) add(w.function->lists[d.list + e]);
  }

  /// Returns whether it names a register with undefined bits.
  bool concerns_undefined() const {
    return std::any_of(slots_.begin(), slots_.end(),
                       [&](std::uint32_t slot) { return may_be_undefined(f_, slot); });
  }

  action run(lane_mask mask, lane_mask inverted_mask) {
    const lane_mask compared =
        d_.source->op == ptx::opcode::setp &&
                static_cast<ptx::operation>(d_.count) == ptx::operation::none
            ? undefined_lanes(f_, d_.slots[2]) | undefined_lanes(f_, d_.slots[3])
            : 0;
    const lane_mask carry = w_.carry;
    const std::vector<std::byte> before = copy();
    if (mask != 0)
      if (const action what = d_.run(w_, d_, mask); what != action::next) return what;
    const lane_mask carry_after = std::exchange(w_.carry, carry);
    const std::vector<std::byte> after = copy();
    restore(before);
    for (const std::uint32_t slot : f_.undefined.slots) invert(slot);
    if (inverted_mask != 0) (void)d_.run(w_, d_, inverted_mask);
    w_.carry = carry_after;
    for (const std::uint32_t slot : f_.undefined.slots)
      if (std::find(slots_.begin(), slots_.end(), slot) == slots_.end()) invert(slot);
    const std::vector<std::byte> inverted = copy();
    restore(after);
    std::size_t at = 0;
    for (const std::uint32_t slot : slots_) {
      const std::uint32_t bytes = bytes_of_slot(*f_.function, slot);
      const bool same = std::memcmp(after.data() + at, inverted.data() + at, bytes) == 0;
      if (!same || may_be_undefined(f_, slot)) {
        std::byte* const bits = undefined_in(f_, slot);
        for (std::uint32_t i = 0; i < bytes; ++i) bits[i] = after[at + i] ^ inverted[at + i];
      }
      at += bytes;
    }
    // Two outcomes show that a result varies, and not how much.
    const bool chosen = d_.source->op == ptx::opcode::selp && may_be_undefined(f_, d_.slots[3]);
    if (!works_bitwise(*d_.source) || chosen) spread(d_.slots[0]);
    // A comparison with an undefined value may go either way, whatever the two outcomes here.
    if ((compared & mask) != 0)
      for (const std::uint32_t slot : {d_.slots[0], d_.slots[1]})
        if (slot != no_slot) {
          (void)undefined_in(f_, slot);
          write_predicate(f_.undefined.bits.data(), slot, compared & mask, all_lanes);
        }
    return action::next;
  }

 private:
  void add(std::uint32_t slot) {
    if (slot != no_slot && std::find(slots_.begin(), slots_.end(), slot) == slots_.end())
      slots_.push_back(slot);
  }
  std::vector<std::byte> copy() const {
    std::vector<std::byte> bytes;
    for (const std::uint32_t slot : slots_) {
      const std::byte* const begin = w_.registers + slot;
      bytes.insert(bytes.end(), begin, begin + bytes_of_slot(*f_.function, slot));
    }
    return bytes;
  }
  void restore(const std::vector<std::byte>& bytes) {
    std::size_t at = 0;
    for (const std::uint32_t slot : slots_) {
      const std::uint32_t size = bytes_of_slot(*f_.function, slot);
      std::memcpy(w_.registers + slot, bytes.data() + at, size);
      at += size;
    }
  }
  /// Takes all bits of a lane for undefined where some are.
  void spread(std::uint32_t slot) {
    const lane_mask lanes = undefined_lanes(f_, slot);
    const std::uint32_t bytes = lanes == 0 ? 16 : bytes_of_slot(*f_.function, slot);
    if (bytes == 16) return;  // nothing, or a predicate
    const std::uint32_t size = bytes / warp_size;
    for_lanes(lanes, [&](unsigned lane) {
      std::memset(f_.undefined.bits.data() + slot + lane * size, 0xff, size);
    });
  }
  void invert(std::uint32_t slot) {
    const std::uint32_t bytes = bytes_of_slot(*f_.function, slot);
    for (std::uint32_t i = 0; i < bytes; ++i) w_.registers[slot + i] ^= f_.undefined.bits[slot + i];
  }

  warp& w_;
  frame& f_;
  const decoded& d_;
  std::vector<std::uint32_t> slots_;
};

/// The lanes in which an instruction that does not compute gets undefined bits with an effect.
inline lane_mask lanes_with_effect(const warp& w, const decoded& d) {
  using enum ptx::opcode;
  const frame& f = *w.top;
  lane_mask lanes = 0;
  const auto all_from = [&](unsigned first) {
    for (unsigned i = first; i < std::size(d.slots); ++i) lanes |= undefined_lanes(f, d.slots[i]);
  };
  switch (d.source->op) {
    case ld:
    case ldu: return undefined_lanes(f, d.slots[1]);
    case st: return undefined_lanes(f, d.slots[0]);
    case atom:
    case red: all_from(1); break;
    case shfl:
    case vote:
    case match:
    case redux:
    case call: break;
    default: all_from(has_result(d.source->op) ? 1 : 0); break;
  }
  return lanes;
}

/// Executes an instruction in a warp with undefined bits. `mask` are those of `lanes` for which the
/// guard is true.
inline action run_following(warp& w, const decoded& d, lane_mask lanes, lane_mask mask) {
  if (d.source == nullptr) return mask == 0 ? action::next : d.run(w, d, mask);
  frame& f = *w.top;
  const lane_mask unsure = undefined_lanes(f, d.guard) & lanes;
  if (is_arithmetic(d.source->op)) {
    computed_twice instruction(w, d);
    if (unsure != 0 || instruction.concerns_undefined())
      return instruction.run(mask, mask ^ unsure);
    return mask == 0 ? action::next : d.run(w, d, mask);
  }
  if (const lane_mask used = unsure | (lanes_with_effect(w, d) & mask); used != 0)
    if (!report_effect(w, static_cast<unsigned>(std::countr_zero(used)))) return action::fault;
  if (mask == 0) return action::next;
  if (d.source->op == ptx::opcode::ld || d.source->op == ptx::opcode::ldu) {
    for (unsigned e = 0; e < d.count; ++e) define(f, loaded_slots(w, d)[e], mask);
  } else if (has_result(d.source->op) && d.source->op != ptx::opcode::shfl) {
    define(f, d.slots[0], mask);
  }
  const action what = d.run(w, d, mask);
  if (what != action::undefined) return what;
  take_unwritten(w, d);
  return action::next;
}

}}}  // namespace nogpu::v1::machine::detail
