#pragma once
/// \file
/// `expression_layout`: what an evaluation has to know of an expression: which operands it has, its
/// shape, and which kernel computes it.

#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/array/leaf.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/detail/written_number.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/shape_text.hpp>
#include <gpu/memory/detail/view_fault.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The largest number of parts of an expression, and of its parameters.
inline constexpr std::size_t most_parts = 400;
inline constexpr std::size_t most_slots = 32;

/// An operand of a kernel: a view, a number, or the state of a leaf.
struct expression_slot {
  const expression_word* words;
  bool repeats;  ///< of a leaf: its shape is another than that of the result

  word_header header() const noexcept { return header_at(words); }
  std::size_t extent(int axis) const noexcept {
    const std::size_t first = header().what == opcode::view ? view_words : leaf_words;
    return words[first + static_cast<std::size_t>(axis)];
  }
  /// Whether an index chooses the elements of a view along an axis, of `taken_size()` elements that
  /// are `taken_stride()` apart.
  bool is_taken() const noexcept {
    return header().what == opcode::view && (header().flags & taken_flag) != 0;
  }
  std::int64_t taken_size() const noexcept {
    return static_cast<std::int64_t>(words[header().words - 3]);
  }
  std::int64_t taken_stride() const noexcept {
    return static_cast<std::int64_t>(words[header().words - 2]);
  }
  const leaf_description& description() const noexcept {
    return *reinterpret_cast<const leaf_description*>(static_cast<std::uintptr_t>(words[1]));
  }
  std::size_t state_bytes() const noexcept { return words[2] & 0xffff'ffff; }
  std::size_t state_alignment() const noexcept { return words[2] >> 32; }
  const void* state() const noexcept { return words + leaf_words + header().rank; }
  /// Returns whether a view is of an owner that was moved from.
  bool moved_from() const noexcept { return (header().flags & owner_flag) != 0 && words[2] == 0; }
  /// Returns the elements of a view, without extents and strides.
  copy_end memory() const noexcept {
    copy_end made;
    made.address = static_cast<std::uintptr_t>(words[1]);
    made.on_device = true;
    made.needs_context = (header().flags & owner_flag) != 0;
    made.context =
        context_ref::from_native(reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(words[2])),
                                 device::from_native(static_cast<CUdevice>(words[3])));
    return made;
  }
};

/// The distinct operands of an expression, its shape, and the key of its kernel.
struct expression_layout {
  int rank = 0;
  std::size_t extents[most_axes];
  std::size_t slot_count = 0;
  expression_slot slots[most_slots];
  std::size_t part_count = 0;
  bool has_index_checks = false;  ///< of a `take`
  /// The key of the kernel: operations, kinds, and which operands are the same.
  std::size_t key_size = 0;
  std::uint32_t key[3 * most_parts + 2 * most_slots];

  void add_key(std::uint32_t part) noexcept { key[key_size++] = part; }
  void add_key_pointer(expression_word pointer) noexcept {
    add_key(static_cast<std::uint32_t>(pointer));
    add_key(static_cast<std::uint32_t>(pointer >> 32));
  }
  /// Adds which slots are leaves that repeat along some axes.
  void add_repeats_key() noexcept {
    std::uint32_t repeats = 0;
    for (std::size_t s = 0; s < slot_count; ++s) repeats |= slots[s].repeats ? 1u << s : 0;
    add_key(repeats);
  }
};

/// Returns whether two operands are the same elements.
inline bool same_slot(const expression_word* a, const expression_word* b) noexcept {
  if (a[1] != b[1] || a[0] != b[0]) return false;
  const word_header header = header_at(a);
  if (header.what == opcode::number) return false;
  for (std::size_t k = 2; k < header.words; ++k) {
    if (a[k] != b[k]) return false;
  }
  return true;
}

/// Returns whether an operand of the expression is reduced.
inline bool has_reduction(const expression_ref& expression) noexcept {
  for (std::size_t at = 0; at < expression.count;) {
    const word_header header = header_at(expression.words + at);
    if (header.what == opcode::reduce) return true;
    at += header.words;
  }
  return false;
}

/// The call that evaluates an expression.
struct evaluation {
  const char* function;
  const stream_ref& stream;
  source_location where;
};

inline unexpected<cuda_error> refuse_evaluation(const evaluation& call, errc code,
                                                text_builder& out) noexcept {
  return fail(refusal(code, call.function, out.finish(), call.where));
}

/// Refuses more operands than a kernel has parameters.
inline unexpected<cuda_error> refuse_operands(const evaluation& call) noexcept {
  text_builder out;
  out << "the results, arrays and numbers of an expression are more than " << most_slots
      << ". Evaluate a part of it first.";
  return refuse_evaluation(call, errc::invalid_argument, out);
}

inline unexpected<cuda_error> refuse_number(const evaluation& call,
                                            const expression_word* words) noexcept {
  const word_header header = header_at(words);
  const auto own = static_cast<element_kind>(header.extra);
  text_builder out;
  out << "the number ";
  if (!is_integral_kind(own)) {
    const auto value = __builtin_bit_cast(double, words[1]);
    if (own == element_kind::float32) {
      out << static_cast<float>(value);
    } else {
      out << value;
    }
  } else if (facts_of(own).is_signed) {
    out << static_cast<std::int64_t>(words[1]);
  } else {
    out << words[1];
  }
  out << " does not fit in " << facts_of(header.kind).name
      << ", the type of the elements that it meets. Convert them with gpu::cast, or give the "
         "number a type of its own with gpu::scalar.";
  return refuse_evaluation(call, errc::invalid_argument, out);
}

/// Fails for a shape of more elements than memory can have bytes.
inline result<> require_countable(const evaluation& call,
                                  const expression_layout& layout) noexcept {
  if (saturated_product(layout.extents, layout.rank) <= most_memory_bytes) return {};
  text_builder out;
  out << "the expression has the shape ";
  write_extents(out, layout.extents, layout.rank);
  out << ", which is more than " << most_memory_bytes
      << " elements. Evaluate parts of it, or pass smaller extents.";
  return refuse_evaluation(call, errc::size_overflow, out);
}

/// Enlarges the shape by that of a slot.
inline result<> add_extents(const evaluation& call, expression_layout& layout,
                            const expression_slot& slot) noexcept {
  const int rank = slot.header().rank;
  if (layout.rank == 0) {
    layout.rank = rank;
    for (int axis = 0; axis < rank; ++axis) layout.extents[axis] = slot.extent(axis);
    // A view was counted when it was made.
    return slot.header().what == opcode::view ? result<>{} : require_countable(call, layout);
  }
  bool fits = rank == layout.rank;
  for (int axis = 0; fits && axis < rank; ++axis) fits = slot.extent(axis) == layout.extents[axis];
  if (fits) return {};
  fits = true;
  std::size_t extents[most_axes];
  const int before = layout.rank, most = rank > before ? rank : before;
  for (int axis = most; axis-- > 0;) {
    const int own_axis = axis - (most - rank), other_axis = axis - (most - before);
    const std::size_t own = own_axis < 0 ? 1 : slot.extent(own_axis);
    const std::size_t other = other_axis < 0 ? 1 : layout.extents[other_axis];
    fits = fits && (own == other || own == 1 || other == 1);
    extents[axis] = other == 1 ? own : other;
  }
  if (!fits) {
    text_builder out;
    out << "cannot broadcast ";
    write_extents(out, layout.extents, before);
    out << " with ";
    for (int axis = 0; axis < rank; ++axis) extents[axis] = slot.extent(axis);
    write_extents(out, extents, rank);
    out << ". Axes are compared from the last one on, and have the same extent, or 1 in one of "
           "the two.";
    return refuse_evaluation(call, errc::size_mismatch, out);
  }
  layout.rank = most;
  for (int axis = 0; axis < most; ++axis) layout.extents[axis] = extents[axis];
  return require_countable(call, layout);
}

/// Fails if indices choose from an axis without elements.
inline result<> require_taken_elements(const evaluation& call,
                                       const expression_slot& slot) noexcept {
  std::size_t count = 1;
  for (int axis = 0; axis < slot.header().rank; ++axis)
    count = saturated_product(count, slot.extent(axis));
  if (slot.taken_size() != 0 || count == 0) return {};
  text_builder out;
  out << "the operand of gpu::take has no elements along the axis, so none of the indices is "
         "valid.";
  return refuse_evaluation(call, errc::index_out_of_range, out);
}

/// Fails for a bad index of a `take`. `words` are the view from which it takes, and behind it the
/// indices.
using index_check = stable_result (*)(const evaluation& call, const expression_word* words);

/// Fails for the first bad index of each `take` of an expression that is to be checked. Waits.
inline result<> check_taken_indices(const evaluation& call, const expression_ref& expression) {
  for (std::size_t at = 0; at < expression.count;) {
    const expression_word* const words = expression.words + at;
    const word_header header = header_at(words);
    at += header.words;
    if (header.what != opcode::view || (header.flags & taken_flag) == 0) continue;
    const auto check = static_cast<std::uintptr_t>(words[header.words - 1]);
    if (check != 0) GPU_TRY(reinterpret_cast<index_check>(check)(call, words));
  }
  return {};
}

/// Finds the slot of an operand, or makes one. A faulty view or leaf has the fault in place of its
/// address or its description.
inline result<std::size_t> find_slot(const evaluation& call, expression_layout& layout,
                                     const expression_word* at) noexcept {
  const word_header header = header_at(at);
  for (std::size_t s = 0; s < layout.slot_count; ++s) {
    if (same_slot(layout.slots[s].words, at)) return s;
  }
  if (layout.slot_count == most_slots) return refuse_operands(call);
  const std::size_t s = layout.slot_count++;
  layout.slots[s] = {at, false};
  if (header.what == opcode::number) return s;
  const bool is_view = header.what == opcode::view;
  const bool is_taken = is_view && (header.flags & taken_flag) != 0;
  if (is_fault_address(at[1])) {
    const expression_word limit = !is_view           ? at[2]
                                  : is_taken         ? at[header.words - 3]
                                  : header.rank == 0 ? 0
                                                     : at[view_words + header.rank];
    const view_fault fault = fault_at(at[1], static_cast<std::int64_t>(limit));
    return fail(fault_error(fault, call.function, "an operand", call.where));
  }
  if (!is_view && layout.slots[s].description().check != nullptr)
    GPU_TRY(layout.slots[s].description().check(layout.slots[s].state(), call.where));
  if (is_view && layout.slots[s].moved_from())
    return fail(empty_handle_error(call.function, "operand", call.where));
  if (is_taken) {
    GPU_TRY(require_taken_elements(call, layout.slots[s]));
    layout.has_index_checks = layout.has_index_checks || at[header.words - 1] != 0;
  }
  GPU_TRY(add_extents(call, layout, layout.slots[s]));
  return s;
}

/// Takes an expression apart, behind what the layout has already.
/// **Errors**: shapes that cannot be broadcast; faulty views; numbers that do not fit; more
/// operands than a kernel's parameters hold.
inline result<> add_expression(const evaluation& call, const expression_ref& expression,
                               expression_layout& layout) noexcept {
  for (std::size_t at = 0; at < expression.count;) {
    const expression_word* const words = expression.words + at;
    const word_header header = header_at(words);
    at += header.words;
    if (++layout.part_count > most_parts) {
      text_builder out;
      out << "the expression has more than " << most_parts
          << " operands and operations. Evaluate a part of it first.";
      return refuse_evaluation(call, errc::invalid_argument, out);
    }
    std::uint32_t key =
        static_cast<std::uint32_t>(header.what) | static_cast<std::uint32_t>(header.kind) << 8;
    if (header.what <= opcode::leaf) {
      if ((header.flags & misfit_flag) != 0) return refuse_number(call, words);
      key |= static_cast<std::uint32_t>(GPU_TRY(find_slot(call, layout, words))) << 16;
    } else {
      key |= static_cast<std::uint32_t>(header.extra) << 16;
    }
    layout.add_key(key);
    const bool has_text = header.what == opcode::formula || header.what == opcode::named;
    if (has_text && words[1] == 0)
      return fail(out_of_host_memory_error(call.function, 0, call.where));
    if (has_text || header.what == opcode::leaf) layout.add_key_pointer(words[1]);
  }
  return {};
}

}}}  // namespace gpu::v1::detail
