#pragma once
/// \file
/// `expression_arguments`: the operands of an expression, repeated to the shape of its result.

#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_kernels.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_elements.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace gpu { inline namespace v1 { namespace detail {

/// Describes the elements of a view as one of the shape of `out`.
inline void repeat_view(const expression_slot& slot, const loop_operand& out,
                        loop_operand& made) noexcept {
  const int rank = slot.header().rank, missing = out.rank - rank;
  const expression_word* const strides = slot.words + view_words + rank;
  made.memory = slot.memory();
  made.memory.count = out.memory.count;
  made.rank = out.rank;
  std::ptrdiff_t dense = 1;
  bool contiguous = true;
  for (int axis = out.rank; axis-- > 0;) {
    const std::size_t extent = out.extents[axis];
    const int own_axis = axis - missing;
    std::ptrdiff_t stride = 0;
    if (own_axis >= 0 && slot.extent(own_axis) == extent)
      stride = static_cast<std::ptrdiff_t>(strides[own_axis]);
    made.extents[axis] = extent;
    made.strides[axis] = stride;
    contiguous = contiguous && (extent == 1 || stride == dense);
    dense *= static_cast<std::ptrdiff_t>(extent);
  }
  made.contiguous = contiguous;
}

/// Returns whether elements that are written may be read through an index.
inline bool may_take_written(const expression_slot& slot, const loop_operand& view,
                             const loop_operand& out, std::size_t out_bytes) noexcept {
  if (view.memory.count == 0 || out.memory.count == 0) return false;
  const std::size_t bytes = facts_of(slot.header().kind).bytes;
  byte_range read = bytes_of(view, bytes);
  const std::int64_t reach =
      (slot.taken_size() - 1) * slot.taken_stride() * static_cast<std::int64_t>(bytes);
  (reach < 0 ? read.begin : read.end) += static_cast<std::uintptr_t>(reach);
  const byte_range written = bytes_of(out, out_bytes);
  return read.begin < written.end && written.begin < read.end;
}

/// Sets `repeated` to where a leaf's elements are in the shape of `out`. Returns whether they are
/// not simply in the same order.
inline bool repeat_leaf(const expression_slot& slot, const loop_operand& out,
                        repeated_leaf& repeated) noexcept {
  const int rank = slot.header().rank, missing = out.rank - rank;
  bool repeats = false;
  long long dense = 1;
  for (int k = 0; k < most_axes; ++k) {  // from the last axis on
    const int axis = out.rank - 1 - k, own_axis = axis - missing;
    const std::size_t extent = axis < 0 ? 1 : out.extents[axis];
    const std::size_t own = own_axis < 0 ? 1 : slot.extent(own_axis);
    repeated.extent[most_axes - 1 - k] = static_cast<long long>(extent);
    repeated.stride[most_axes - 1 - k] = own == 1 ? 0 : dense;
    dense *= static_cast<long long>(own);
    repeats = repeats || own != extent;
  }
  return repeats;
}

/// Changes the order of a view's axes: axis k becomes what was axis `order[k]`.
inline void order_axes(loop_operand& view, const int* order) noexcept {
  const loop_operand before = view;
  std::ptrdiff_t dense = 1;
  view.contiguous = true;
  for (int axis = view.rank; axis-- > 0;) {
    view.extents[axis] = before.extents[order[axis]];
    view.strides[axis] = before.strides[order[axis]];
    if (view.extents[axis] != 1 && view.strides[axis] != dense) view.contiguous = false;
    dense *= static_cast<std::ptrdiff_t>(view.extents[axis]);
  }
}
/// The same for a leaf.
inline void order_axes(repeated_leaf& leaf, int rank, const int* order) noexcept {
  const repeated_leaf before = leaf;
  const int missing = most_axes - rank;
  for (int axis = 0; axis < rank; ++axis) {
    leaf.extent[missing + axis] = before.extent[missing + order[axis]];
    leaf.stride[missing + axis] = before.stride[missing + order[axis]];
  }
}

/// The arguments of the kernel of an expression: the results, then a view, a number or a state for
/// each slot. Nothing is filled that is not used: an evaluation would pay for 8 KB.
class expression_arguments {
 public:
  expression_arguments() noexcept {}
  expression_arguments(const expression_arguments&) = delete;
  expression_arguments& operator=(const expression_arguments&) = delete;

  /// Adds the arguments of targets that have one shape, and of the slots. Returns false if there
  /// are too many.
  bool add(const expression_target* targets, std::size_t count,
           expression_layout& layout) noexcept {
    for (std::size_t t = 0; t < count; ++t) add(targets[t].out);
    return add_slots(layout, *targets[0].out);
  }

  /// Adds a result, before the slots.
  void add_result(const loop_operand* operand) noexcept { add(operand); }

  /// Adds the arguments of the slots, repeated to the shape of `out`. If `order` is not null, axis
  /// k of the loop is axis `order[k]` of that shape. Returns false if there are too many.
  bool add_slots(expression_layout& layout, const loop_operand& out,
                 const int* order = nullptr) noexcept {
    for (std::size_t s = 0; s < layout.slot_count; ++s) {
      if (used_ + 2 > most_slots + 1) return false;
      if (!add(layout.slots[s], out, order)) return false;
    }
    return used_ <= most_slots;
  }

  /// Adds a number, after the slots. Returns false if there are too many.
  bool add_number(void* value) noexcept {
    if (used_ == most_slots) return false;
    arguments_[used_++] = {nullptr, value};
    return true;
  }

  const loop_argument* arguments() const noexcept { return arguments_; }
  /// Whether all elements are contiguous and at multiples of 16 bytes.
  bool are_plain() const noexcept { return plain_; }
  /// The views, in the order of their slots.
  std::size_t view_count() const noexcept { return view_count_; }
  const loop_operand& view(std::size_t v) const noexcept { return views_[v]; }

 private:
  static constexpr std::size_t most_repeated = 4;

  void add(const loop_operand* operand) noexcept {
    plain_ = plain_ && operand->contiguous && operand->memory.address % 16 == 0;
    arguments_[used_++] = {operand, nullptr};
  }

  bool add(expression_slot& slot, const loop_operand& out, const int* order) noexcept {
    const opcode what = slot.header().what;
    if (what == opcode::number) {
      arguments_[used_++] = {nullptr, const_cast<expression_word*>(slot.words + 1)};
    } else if (what == opcode::view) {
      loop_operand* const made = ::new (static_cast<void*>(&views_[view_count_++])) loop_operand;
      repeat_view(slot, out, *made);
      if (order != nullptr) order_axes(*made, order);
      add(made);
      if (!slot.is_taken()) return true;
      auto* const of_axis = const_cast<expression_word*>(slot.words + slot.header().words - 3);
      arguments_[used_++] = {nullptr, of_axis};
      arguments_[used_++] = {nullptr, of_axis + 1};
    } else {
      arguments_[used_++] = {nullptr, const_cast<void*>(slot.state())};
      if (repeated_count_ == most_repeated) return false;
      slot.repeats = repeat_leaf(slot, out, repeated_[repeated_count_]);
      if (order != nullptr) {
        order_axes(repeated_[repeated_count_], out.rank, order);
        slot.repeats = true;
      }
      if (slot.repeats) arguments_[used_++] = {nullptr, &repeated_[repeated_count_++]};
    }
    return true;
  }

  union {
    loop_operand views_[most_slots];  // made one by one
  };
  union {
    loop_argument arguments_[most_slots + 2];
  };
  repeated_leaf repeated_[most_repeated];
  std::size_t used_ = 0, view_count_ = 0, repeated_count_ = 0;
  bool plain_ = true;
};

/// The work memory of an evaluation, on the heap: it takes 13 KB, and threads may have small
/// stacks. Converts to false if it could not be allocated. One block is kept for the next
/// evaluation, because allocating it takes longer than the rest of a small assignment.
class evaluation_work {
 public:
  evaluation_work() noexcept : parts_{atomic_exchange<memory_order::acquire>(kept_, nullptr)} {
    if (parts_ == nullptr)
      parts_ = new (std::nothrow) parts;
    else
      ::new (static_cast<void*>(parts_)) parts;
  }
  evaluation_work(const evaluation_work&) = delete;
  evaluation_work& operator=(const evaluation_work&) = delete;
  ~evaluation_work() {
    if (parts_ != nullptr) delete atomic_exchange<memory_order::acq_rel>(kept_, parts_);
  }

  explicit operator bool() const noexcept { return parts_ != nullptr; }
  expression_layout& layout() const noexcept { return parts_->layout; }
  expression_arguments& arguments() const noexcept { return parts_->arguments; }
  static cuda_error no_memory(const evaluation& call) noexcept {
    return out_of_host_memory_error(call.function, sizeof(parts), call.where);
  }

 private:
  struct parts {
    expression_layout layout;
    expression_arguments arguments;
  };
  static inline parts* kept_ = nullptr;

  parts* parts_;
};

}}}  // namespace gpu::v1::detail
