#pragma once
/// \file
/// `pad` makes a margin around an array.

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>  // IWYU pragma: keep
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/evaluate.hpp>  // IWYU pragma: keep
#include <gpu/core/count.hpp>
#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// The numbers of elements that `pad` adds to an axis.
struct pad_width {
  basic_count<std::size_t> before = {}, after = {};
};

/// The elements that `pad` fills the margin with. For `1 2 3`, on the left:
enum class pad_mode : unsigned char {
  edge,       ///< `1 1 | 1 2 3`
  reflect,    ///< `3 2 | 1 2 3`
  symmetric,  ///< `2 1 | 1 2 3`
  wrap,       ///< `2 3 | 1 2 3`
};

/// Returns the enumerator's name, such as "edge"; null for an invalid value.
constexpr const char* name_of(pad_mode mode) noexcept {
  using enum pad_mode;
  return detail::find_name(
      mode, {{edge, "edge"}, {reflect, "reflect"}, {symmetric, "symmetric"}, {wrap, "wrap"}});
}

namespace detail {

/// Fills `margin` elements of an axis behind the `filled` ones from `first` on. Behind one period
/// the elements repeat, so each step copies all whole periods before it.
template <class T, int Rank>
result<> extend_axis(const stream_ref& stream, const array_view<T, Rank>& out, int axis,
                     std::size_t first, std::size_t filled, std::size_t margin, pad_mode mode,
                     source_location where) {
  if (margin == 0) return {};
  std::size_t end = first + filled, period = filled;
  if (mode == pad_mode::edge || (mode == pad_mode::reflect && filled == 1)) {
    return gpu::assign(stream, part_along(out, axis, end, margin),
                       part_along(out, axis, end - 1, 1), where);
  }
  if (mode != pad_mode::wrap) {
    const std::size_t skipped = mode == pad_mode::reflect ? 1 : 0;
    const std::size_t mirrored = filled - skipped < margin ? filled - skipped : margin;
    const auto source = part_along(out, axis, end - skipped - mirrored, mirrored);
    GPU_TRY(gpu::assign(stream, part_along(out, axis, end, mirrored), gpu::reverse(source, axis),
                        where));
    period = 2 * filled - 2 * skipped;
    end += mirrored;
    margin -= mirrored;
  }
  while (margin != 0) {
    const std::size_t back = (end - first) / period * period;
    const std::size_t count = back < margin ? back : margin;
    GPU_TRY(gpu::assign(stream, part_along(out, axis, end, count),
                        part_along(out, axis, end - back, count), where));
    end += count;
    margin -= count;
  }
  return {};
}

/// The place of an array in one with a margin.
template <int Rank> struct padded_shape {
  static constexpr std::size_t slots = Rank == 0 ? 1 : std::size_t{Rank};

  shape<Rank> inside, whole;
  pad_width widths[slots];

  padded_shape(const shape<Rank>& extents, const pad_width (&of_axes)[slots]) noexcept
      : inside{extents} {
    for (int axis = 0; axis < Rank; ++axis) set(axis, of_axes[axis]);
  }
  padded_shape(const shape<Rank>& extents, std::size_t width) noexcept : inside{extents} {
    for (int axis = 0; axis < Rank; ++axis) set(axis, {width, width});
  }

  /// Returns the part that the margins of axes from `axis` on leave free.
  template <class T> array_view<T, Rank> inside_of(array_view<T, Rank> view, int from) const {
    for (int axis = from; axis < Rank; ++axis)
      view = part_along(view, axis, widths[axis].before, inside[axis]);
    return view;
  }

 private:
  /// An extent that is too large becomes the largest, which cannot be allocated.
  void set(int axis, const pad_width& width) noexcept {
    widths[axis] = width;
    std::size_t& extent = whole[axis];
    if (__builtin_add_overflow(inside[axis], width.before.value(), &extent) ||
        __builtin_add_overflow(extent, width.after.value(), &extent))
      extent = ~std::size_t{0};
  }
};

/// Makes an array with a margin, whose parts `fill(open, axis)` writes, an axis after the other.
/// `open` is without the margins of later axes; those of the axes before are filled already, so
/// that the corners are those of NumPy.
template <class T, int Rank, class Fill>
result<array<T, Rank>> make_padded(const stream_ref& stream, const array_view<const T, Rank>& view,
                                   const padded_shape<Rank>& to, Fill fill, source_location where) {
  auto made = GPU_TRY((gpu::empty<T>(stream, to.whole, where)));
  GPU_TRY(gpu::assign(stream, to.inside_of(made.view(), 0), view, where));
  for (int axis = 0; axis < Rank; ++axis) GPU_TRY(fill(to.inside_of(made.view(), axis + 1), axis));
  return made;
}

template <class A, int Rank>
auto pad_by(const stream_ref& stream, A&& a, const padded_shape<Rank>& to, pad_mode mode,
            source_location where) -> result<array<value_of_view<A>, Rank>> {
  constexpr const char* function = "gpu::pad";
  using element = value_of_view<A>;
  const array_view<const element, Rank> view = array_view_of(static_cast<A&&>(a));
  GPU_TRY(require_operand(function, stream, "the operand", view, a, where));
  GPU_TRY(require_enumerator(mode, "pad_mode", function, where));
  for (int axis = 0; axis < Rank; ++axis) {
    if (to.inside[axis] != 0 || to.whole[axis] == 0) continue;
    text_builder out;
    out << "axis " << axis << " has no elements, so its margin cannot be made of them. Pass a "
        << "value for the margin.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where));
  }
  const auto fill = [&](const array_view<element, Rank>& open, int axis) -> result<> {
    const std::size_t before = to.widths[axis].before, after = to.widths[axis].after;
    const std::size_t extent = to.inside[axis];
    GPU_TRY(extend_axis(stream, open, axis, before, extent, after, mode, where));
    return extend_axis(stream, gpu::reverse(open, axis), axis, after, extent, before, mode, where);
  };
  return make_padded(stream, view, to, fill, where);
}

template <class A, int Rank>
auto pad_by(const stream_ref& stream, A&& a, const padded_shape<Rank>& to,
            const value_of_view<A>& value, source_location where)
    -> result<array<value_of_view<A>, Rank>> {
  using element = value_of_view<A>;
  const array_view<const element, Rank> view = array_view_of(static_cast<A&&>(a));
  GPU_TRY(require_operand("gpu::pad", stream, "the operand", view, a, where));
  const auto fill = [&](const array_view<element, Rank>& open, int axis) -> result<> {
    const std::size_t before = to.widths[axis].before, after = to.widths[axis].after;
    if (before != 0) GPU_TRY(gpu::assign(stream, part_along(open, axis, 0, before), value, where));
    if (after == 0) return {};
    const std::size_t end = before + to.inside[axis];
    return gpu::assign(stream, part_along(open, axis, end, after), value, where);
  };
  return make_padded(stream, view, to, fill, where);
}

template <class A> using padded_shape_of = padded_shape<viewed_rank<A>>;

}  // namespace detail

/// Makes an array with a margin of one value around `a`. `widths` has the elements to add before
/// and after each axis: `pad(stream, a, {{1, 1}, {0, 2}}, 0.0f)`. As NumPy's `pad` with
/// `constant`.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**: the reason of a
/// faulty view; `errc::wrong_context`; `errc::empty_handle`; `errc::size_overflow`;
/// CUDA_ERROR_OUT_OF_MEMORY. **Cost**: a launch, and one for each margin of an axis; each element
/// is written once. **Capture**: as for `assign`; the memory then belongs to the graph.
template <detail::viewable A>
auto pad(const stream_ref& stream, A&& a,
         const pad_width (&widths)[detail::padded_shape_of<A>::slots],
         const detail::value_of_view<A>& value, source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  const detail::padded_shape_of<A> to(detail::array_view_of(static_cast<A&&>(a)).shape(), widths);
  return detail::pad_by(stream, static_cast<A&&>(a), to, value, where);
}
/// The same with one width for all margins.
template <detail::viewable A>
auto pad(const stream_ref& stream, A&& a, basic_count<std::size_t> width,
         const detail::value_of_view<A>& value, source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  const detail::padded_shape_of<A> to(detail::array_view_of(static_cast<A&&>(a)).shape(), width);
  return detail::pad_by(stream, static_cast<A&&>(a), to, value, where);
}

/// Makes an array with a margin that is made of the elements of `a`: `pad(stream, a, {{1, 1}, {0,
/// 2}}, gpu::pad_mode::reflect)`. As NumPy's `pad`. **Errors**: also `errc::invalid_argument` for
/// an axis without elements. **Cost**: also a launch each time the filled part of an axis doubles,
/// where a margin is wider than the axis. Otherwise as above.
template <detail::viewable A>
auto pad(const stream_ref& stream, A&& a,
         const pad_width (&widths)[detail::padded_shape_of<A>::slots], pad_mode mode,
         source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  const detail::padded_shape_of<A> to(detail::array_view_of(static_cast<A&&>(a)).shape(), widths);
  return detail::pad_by(stream, static_cast<A&&>(a), to, mode, where);
}
template <detail::viewable A>
auto pad(const stream_ref& stream, A&& a, basic_count<std::size_t> width, pad_mode mode,
         source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  const detail::padded_shape_of<A> to(detail::array_view_of(static_cast<A&&>(a)).shape(), width);
  return detail::pad_by(stream, static_cast<A&&>(a), to, mode, where);
}

}}  // namespace gpu::v1
