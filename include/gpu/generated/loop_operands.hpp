#pragma once
/// \file
/// The arguments of a generated kernel at a call: where their elements are, and how one loop covers
/// all of them.

#include <gpu/core/text.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/shape_text.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/device_span.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// The largest number of axes of a view that generated kernels take.
inline constexpr int most_axes = 8;

/// The elements that an argument refers to.
struct loop_operand {
  copy_end memory;  ///< the first element, and the number of elements
  int rank = 1;
  bool contiguous = true;          ///< in C order
  std::size_t extents[most_axes];  ///< of `rank` axes
  std::ptrdiff_t strides[most_axes];
  view_fault fault;  ///< of a view that was asked for something impossible
};

/// An argument with elements: device memory, or a view.
template <class A>
concept range_or_view = device_range<A&> || is_array_view<std::remove_cvref_t<A>>;

/// The type of its elements.
template <class A> struct elements_of_argument {
  static_assert(
      !is_result<std::remove_cvref_t<A>>,
      "this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it");
  static_assert(
      !is_expression<std::remove_cvref_t<A>>,
      "an expression has no elements in memory: evaluate it first, or, for one number of it, write "
      "gpu::item(stream, gpu::sum(expression)) and the like");
  static_assert(
      is_array_view<std::remove_cvref_t<A>> || is_expression<std::remove_cvref_t<A>>,
      "the elements are device memory or a view of it: a device_buffer, a device_span, an "
      "array_view; not host memory");
  using type = typename std::remove_cvref_t<A>::element_type;
};
template <class A>
  requires device_range<A&>
struct elements_of_argument<A> {
  using type = element_t<A>;
};
template <class A>
using argument_element =
    std::remove_cv_t<typename elements_of_argument<std::remove_reference_t<A>>::type>;

/// Describes a view.
template <class T, int Rank> loop_operand make_operand(const array_view<T, Rank>& view) noexcept {
  static_assert(Rank <= most_axes, "generated kernels take views of at most 8 axes");
  loop_operand made;
  made.memory.address = static_cast<std::uintptr_t>(view.native());
  made.memory.count = view.size();
  made.memory.on_device = true;
  made.rank = Rank;
  made.fault = fault_at(view.native(), view.stride(0));
  std::size_t dense = 1;
  for (int axis = Rank; axis-- > 0;) {
    made.extents[axis] = view.extent(axis);
    made.strides[axis] = view.stride(axis);
    if (view.extent(axis) != 1 && view.stride(axis) != static_cast<std::ptrdiff_t>(dense))
      made.contiguous = false;
    dense = saturated_product(dense, view.extent(axis));
  }
  return made;
}

/// Describes contiguous device memory.
template <class Range>
  requires device_range<Range&>
loop_operand make_operand(Range& range) noexcept {
  loop_operand made;
  made.memory = copy_end_of(range);
  made.extents[0] = made.memory.count;
  made.strides[0] = 1;
  return made;
}

/// Describes an array with its shape.
template <class Array>
  requires(device_range<Array&> && requires(Array& array) { array.view(); })
loop_operand make_operand(Array& array) noexcept {
  loop_operand made = make_operand(array.view());
  made.memory = copy_end_of(array);
  return made;
}

/// Returns the distance in elements from the first element to the one at the lowest address, which
/// is not positive, and to the one at the highest.
struct element_reach {
  std::ptrdiff_t low = 0, high = 0;
};
inline element_reach reach_of(const loop_operand& operand) noexcept {
  element_reach found;
  if (operand.memory.count == 0) return found;
  for (int axis = 0; axis < operand.rank; ++axis) {
    const std::ptrdiff_t last =
        static_cast<std::ptrdiff_t>(operand.extents[axis] - 1) * operand.strides[axis];
    (last < 0 ? found.low : found.high) += last;
  }
  return found;
}

/// Writes the shape of an operand: `(3, 4)`.
inline void write_shape(text_builder& out, const loop_operand& operand) noexcept {
  write_extents(out, operand.extents, operand.rank);
}

inline bool same_shape(const loop_operand& a, const loop_operand& b) noexcept {
  if (a.rank != b.rank) return false;
  for (int axis = 0; axis < a.rank; ++axis) {
    if (a.extents[axis] != b.extents[axis]) return false;
  }
  return true;
}

/// The axes that one loop runs over: those of the views among the operands, without axes of extent
/// 1, and with neighbors joined where the strides of every view allow it.
/// Nothing of the arrays is filled that is not used: a call would pay for their 2 KB.
struct merged_axes {
  static constexpr std::size_t most_views = 32;
  int rank = 0;
  int boundary = 0;  ///< the first axis that was not joined with those before
  std::size_t view_count = 0;
  std::size_t extents[most_axes];
  std::ptrdiff_t strides[most_views][most_axes];
};

/// Joins the axes of views that have the same shape. Those before axis `boundary` are not joined
/// with those from there on.
inline void merge_axes(merged_axes& merged, const loop_operand* const* views, std::size_t count,
                       int boundary = 0) noexcept {
  merged.rank = merged.boundary = 0;
  merged.view_count = count;
  if (count == 0) return;
  for (int axis = 0; axis < views[0]->rank; ++axis) {
    const std::size_t extent = views[0]->extents[axis];
    if (axis == boundary) merged.boundary = merged.rank;
    if (extent == 1) continue;
    bool joins = merged.rank > merged.boundary;
    for (std::size_t v = 0; v < count && joins; ++v) {
      const std::ptrdiff_t step = views[v]->strides[axis] * static_cast<std::ptrdiff_t>(extent);
      joins = merged.strides[v][merged.rank - 1] == step;
    }
    if (!joins) merged.extents[merged.rank++] = 1;
    merged.extents[merged.rank - 1] *= extent;
    for (std::size_t v = 0; v < count; ++v)
      merged.strides[v][merged.rank - 1] = views[v]->strides[axis];
  }
  if (merged.rank == 0) {  // one element
    merged.rank = 1;
    merged.extents[0] = 1;
    for (std::size_t v = 0; v < count; ++v) merged.strides[v][0] = 0;
  }
}

}}}  // namespace gpu::v1::detail
