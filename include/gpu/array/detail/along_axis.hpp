#pragma once
/// \file
/// Checks of the operands of functions that rearrange arrays, and parts of a view along an axis
/// that is known only at run time.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Fails for an operand that is faulty, that was moved from, or that is known to belong to another
/// context than the stream.
template <class T, int Rank, class A>
result<> require_operand(const char* function, const stream_ref& stream, const char* name,
                         const array_view<T, Rank>& view, const A& a, source_location where) {
  GPU_TRY(require(stream, function, where));
  GPU_TRY(require_sound(function, name, view, where));
  return require_usable(function, stream, {name, operand_of(view, a).memory, sizeof(T), alignof(T)},
                        where);
}

/// Returns the axis, counted from the front.
/// **Errors**: `errc::invalid_argument` if it is out of range.
inline result<int> require_axis(const char* function, int axis, int rank,
                                source_location where) noexcept {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  text_builder out;
  explain_fault(out, {fault_kind::axis, {}, 0, axis, rank});
  return fail(refusal(errc::invalid_argument, function, out.finish(), where,
                      static_cast<std::uint64_t>(axis), static_cast<std::uint64_t>(rank)));
}

/// Returns the shape with another extent for one axis.
template <int Rank>
shape<Rank> with_extent(shape<Rank> extents, int axis, std::size_t extent) noexcept {
  extents[axis] = extent;
  return extents;
}

/// Returns a view of `count` elements of an axis from `first` on.
template <class T, int Rank>
array_view<T, Rank> part_along(const array_view<T, Rank>& view, int axis, std::size_t first,
                               std::size_t count) noexcept {
  return changed_view<Rank>(view, [&](view_layout& layout) {
    if (count != 0) layout.advance(static_cast<std::ptrdiff_t>(first) * layout.strides[axis]);
    layout.extents[axis] = count;
  });
}

/// Fails because views do not fit together. `first` and `other` are their shapes, and `rule` says
/// what fits.
inline unexpected<cuda_error> refuse_shapes(const char* function, const char* what,
                                            const loop_operand& first, const loop_operand& other,
                                            const char* rule, source_location where) noexcept {
  text_builder out;
  out << "cannot " << what << ' ';
  write_shape(out, first);
  out << " and ";
  write_shape(out, other);
  out << ". " << rule;
  return fail(refusal(errc::size_mismatch, function, out.finish(), where));
}

/// Returns the shape to which two views are repeated, as NumPy does, without their last `kept`
/// axes; the extents of those are 0.
/// **Errors**: `errc::size_mismatch` with the shapes.
template <int Rank, class T, int Left, class U, int Right>
result<shape<Rank>> common_shape(const char* function, const char* what,
                                 const array_view<T, Left>& a, const array_view<U, Right>& b,
                                 int kept, source_location where) noexcept {
  shape<Rank> common;
  for (int axis = 0; axis < Rank - kept; ++axis) {
    const int in_a = axis - (Rank - Left), in_b = axis - (Rank - Right);
    const std::size_t x = in_a < 0 ? 1 : a.extent(in_a), y = in_b < 0 ? 1 : b.extent(in_b);
    if (x != y && x != 1 && y != 1) {
      return refuse_shapes(function, what, make_operand(a), make_operand(b),
                           "Axes are compared from the last one on, and have the same extent, or 1 "
                           "in one of the two.",
                           where);
    }
    common[axis] = x == 1 ? y : x;
  }
  return common;
}

}}}  // namespace gpu::v1::detail
