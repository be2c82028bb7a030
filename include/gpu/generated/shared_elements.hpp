#pragma once
/// \file
/// Finds out whether views share elements.

#include <gpu/generated/loop_operands.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Answers whether bytes at two indices can be the same: whether a sum of multiples of strides
/// comes within `bytes` of a distance. Exact for views as slicing and transposing make them; if
/// strides are so odd that the search would take long, the answer is yes.
class stride_search {
 public:
  /// Adds a stride in bytes with the multiples from `low` to `high`.
  void add(std::ptrdiff_t stride, std::ptrdiff_t low, std::ptrdiff_t high) noexcept {
    if (stride < 0) {
      const std::ptrdiff_t highest = -low;
      stride = -stride;
      low = -high;
      high = highest;
    }
    if (low == high && low == 0) return;
    std::size_t at = count_;
    while (at > 0 && terms_[at - 1].stride < stride) --at;
    if (at > 0 && terms_[at - 1].stride == stride) {  // one term for both
      terms_[at - 1].low += low;
      terms_[at - 1].high += high;
      equal_ = true;
      return;
    }
    for (std::size_t later = count_++; later > at; --later) terms_[later] = terms_[later - 1];
    terms_[at] = {stride, low, high};
  }

  /// Returns whether a sum of multiples is less than `bytes` from `distance`; with `moved`, one
  /// whose multiples are not all 0, where each may be negative.
  bool reaches(std::ptrdiff_t distance, std::ptrdiff_t bytes, bool moved = false) noexcept {
    if (moved && equal_) return true;  // one forward along one of them and back along the other
    steps_ = 0;
    return search(0, distance, bytes, !moved);
  }

 private:
  static constexpr int most_steps = 1000;
  struct term {
    std::ptrdiff_t stride, low, high;
  };

  bool search(std::size_t first, std::ptrdiff_t distance, std::ptrdiff_t bytes,
              bool moved) noexcept {
    if (++steps_ > most_steps) return true;
    if (first == count_) return moved && -bytes < distance && distance < bytes;
    const term& own = terms_[first];
    if (own.stride == 0) return search(first + 1, distance, bytes, true);
    // The most that the smaller strides can add limits the multiples of this one.
    std::ptrdiff_t low = 1 - bytes, high = bytes - 1;
    for (std::size_t later = first + 1; later < count_; ++later) {
      low += terms_[later].stride * terms_[later].low;
      high += terms_[later].stride * terms_[later].high;
    }
    std::ptrdiff_t multiple = floor_divide(distance - high + own.stride - 1, own.stride);
    std::ptrdiff_t last = floor_divide(distance - low, own.stride);
    if (multiple < own.low) multiple = own.low;
    if (last > own.high) last = own.high;
    for (; multiple <= last; ++multiple) {
      if (search(first + 1, distance - multiple * own.stride, bytes, moved || multiple != 0))
        return true;
    }
    return false;
  }
  static std::ptrdiff_t floor_divide(std::ptrdiff_t a, std::ptrdiff_t b) noexcept {
    return a / b - (a % b < 0 ? 1 : 0);
  }

  term terms_[2 * most_axes] = {};
  std::size_t count_ = 0;
  int steps_ = 0;
  bool equal_ = false;  ///< two strides are
};

/// Returns whether two elements of a view share bytes.
inline bool shares_within(const loop_operand& view, std::size_t element_bytes) noexcept {
  const auto bytes = static_cast<std::ptrdiff_t>(element_bytes);
  stride_search found;
  for (int axis = 0; axis < view.rank; ++axis) {
    const auto last = static_cast<std::ptrdiff_t>(view.extents[axis]) - 1;
    found.add(view.strides[axis] * bytes, -last, last);
  }
  return view.memory.count > 1 && found.reaches(0, bytes, true);
}

/// Returns whether an element of one view shares bytes with one of the other. Both have elements.
inline bool share_bytes(const loop_operand& a, std::size_t a_bytes, const loop_operand& b,
                        std::size_t b_bytes) noexcept {
  stride_search found;
  const auto add = [&](const loop_operand& view, std::size_t element_bytes, bool negative) {
    const auto bytes = static_cast<std::ptrdiff_t>(element_bytes);
    for (int axis = 0; axis < view.rank; ++axis) {
      const std::ptrdiff_t stride = view.strides[axis] * bytes;
      found.add(negative ? -stride : stride, 0,
                static_cast<std::ptrdiff_t>(view.extents[axis]) - 1);
    }
  };
  add(a, a_bytes, false);
  add(b, b_bytes, true);
  // Bytes are shared if b is less than a's size after a, or less than b's size before it. The
  // larger of both is exact for equal sizes, and on the safe side for others.
  const std::size_t larger = a_bytes > b_bytes ? a_bytes : b_bytes;
  return found.reaches(static_cast<std::ptrdiff_t>(b.memory.address - a.memory.address),
                       static_cast<std::ptrdiff_t>(larger));
}

/// The first and the last byte of an operand's elements, without the gaps between them.
struct byte_range {
  std::uintptr_t begin, end;
};
inline byte_range bytes_of(const loop_operand& operand, std::size_t element_bytes) noexcept {
  if (operand.contiguous && operand.memory.count != 0)
    return {operand.memory.address, operand.memory.address + operand.memory.count * element_bytes};
  const element_reach reach = reach_of(operand);
  const auto size = static_cast<std::ptrdiff_t>(element_bytes);
  const std::uintptr_t first = operand.memory.address;
  return {first + static_cast<std::uintptr_t>(reach.low * size),
          first + static_cast<std::uintptr_t>((reach.high + 1) * size)};
}

/// Returns whether two ranges have bytes in common. Neither is empty.
inline bool meet(const byte_range& a, const byte_range& b) noexcept {
  return a.begin < b.end && b.begin < a.end;
}

/// Returns whether two operands, either of which may be empty, share bytes. Asks for their
/// strides only where they reach into the same memory.
inline bool overlap(const loop_operand& a, std::size_t a_bytes, const loop_operand& b,
                    std::size_t b_bytes) noexcept {
  if (a.memory.count == 0 || b.memory.count == 0) return false;
  if (!meet(bytes_of(a, a_bytes), bytes_of(b, b_bytes))) return false;
  return (a.contiguous && b.contiguous) || share_bytes(a, a_bytes, b, b_bytes);
}

}}}  // namespace gpu::v1::detail
