#pragma once
/// \file
/// `cumulative_sum`, `cumulative_product`, `cumulative_min` and `cumulative_max` along an axis.
///
/// They are calls of their own, not operands of expressions: what comes after is an expression of
/// their result.
///
/// All of them make an array of the shape of `a`, an array, a view or an expression: each element
/// is combined with those before it along the axis. The elements of an expression are computed
/// where they are combined, and stored before only if there is a reduction in it, or for the one
/// launch below. As NumPy's `cumulative_sum`, `cumulative_prod`, `minimum.accumulate` and
/// `maximum.accumulate`; sums and products of integers and `bool` have 64 bits, those of 16-bit
/// numbers are float. NaN stays from where it is first. The grouping depends on the shape and the
/// types alone, so results have the same bits in every run and on every device.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**:
/// `errc::invalid_argument` for an axis out of range; the reason of a faulty view;
/// `errc::wrong_context`; `errc::empty_handle`; CUDA_ERROR_OUT_OF_MEMORY. **Cost**: that of `scan`;
/// where there are at least 8192 lines beside one another, one launch in which each thread goes
/// along some of them. **Capture**: allowed; the memory then belongs to the graph.

#include <gpu/algorithm/inclusive_scan.hpp>
#include <gpu/algorithm/scan/scan_kernel.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>  // IWYU pragma: keep
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/cumulative_launch.hpp>
#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/run_expressions.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T, class R> struct cumulative_family;
template <class T, class R> struct cumulative_lines_family;

/// Elements along an axis: for each of `lines` lines, `length` of them.
struct axis_lines {
  std::size_t lines, length;
  bool is_last;  ///< the axis is, so that lines are contiguous in C order
};

/// Scans each line, which is a segment of the elements in C order.
template <class T, class R>
result<> scan_lines(const char* function, const stream_ref& stream, const char* combine,
                    const axis_lines& lines, const loop_operand& x, const loop_operand& out,
                    source_location where) {
  scan_state& state = *GPU_TRY((find_shared<cumulative_family<T, R>, scan_state>(
      function, {combine}, where, [&](scan_state& made) {
        made.code.function = function;
        made.code.parameters = {describe_parameter<const T*>(), describe_parameter<R*>(),
                                describe_parameter<long long>()};
        made.value = sum_type_of<R>();
        made.neutral = zero_value<R>::bytes;
        made.segment_start = required(text("i % length == 0"));
        return describe_running(made, "x, out, length", "out[i] = item", "gpu_cumulative", combine,
                                where);
      })));
  auto length = static_cast<long long>(lines.length);
  const loop_argument list[] = {{&x, nullptr}, {&out, nullptr}, {nullptr, &length}};
  return run_scan({state, stream, where, list});
}

/// Writes the statements that go along a line.
template <class T, class R> text line_text(string_ref combine) {
  const string_ref value = sum_type_of<R>().name, stored = element_type_of<R>().name;
  text_builder out;
  out << "const " << element_type_of<T>().name << "* const from = &x[i];\n"
      << stored << "* const to = &out[i];\n"
      << value << " a = (" << value << ")*from;\n*to = (" << stored
      << ")a;\nfor (long long k = 1; k < length; ++k) {\n  const " << value << " b = (" << value
      << ")from[k * x_stride];\n  a = (" << value << ")(" << combine
      << ");\n  to[k * out_stride] = (" << stored << ")a;\n}";
  return out.finish();
}

/// Beside one another, so many lines keep the device busy, and memory is read in its order.
inline constexpr std::size_t enough_lines = 8192;
inline bool goes_along_lines(const axis_lines& lines) noexcept {
  return !lines.is_last && lines.lines >= enough_lines;
}

/// Combines along an axis of `x` into `out`, whose memory is new.
template <class T, class R, int Rank>
result<> combine_along(const char* function, const stream_ref& stream, const char* combine,
                       const array_view<const T, Rank>& x, const array_view<R, Rank>& out, int axis,
                       source_location where) {
  if (x.size() == 0) return {};
  const std::size_t length = x.extent(axis);
  const axis_lines lines{x.size() / length, length, axis == Rank - 1};
  if (lines.lines == 1)
    return gpu::inclusive_scan(stream, gpu::move_axis(x, axis, -1), gpu::move_axis(out, axis, -1),
                               combine, where);
  if (!goes_along_lines(lines)) {
    return scan_lines<T, R>(function, stream, combine, lines,
                            make_operand(gpu::move_axis(x, axis, -1)),
                            make_operand(gpu::move_axis(out, axis, -1)), where);
  }
  const auto first_of = [&](const auto& view) {
    return gpu::squeeze(part_along(view, axis, 0, 1), axis);
  };
  const loop_operand read = make_operand(first_of(x)), written = make_operand(first_of(out));
  long long count = static_cast<long long>(length), x_stride = x.stride(axis);
  long long out_stride = out.stride(axis);
  const loop_argument list[] = {{&read, nullptr},
                                {&written, nullptr},
                                {nullptr, &count},
                                {nullptr, &x_stride},
                                {nullptr, &out_stride}};
  return run_shared<cumulative_lines_family<T, R>, const T*, R*, long long, long long, long long>(
      {function, "gpu_cumulative_lines", "x, out, length, x_stride, out_stride", {combine}}, stream,
      where, [&] { return line_text<T, R>(combine); }, list);
}

/// Scans an expression whose elements are computed where they are loaded.
template <class R, int Rank, class E>
result<> scan_expression(const evaluation& call, const char* combine, const E& e, int axis,
                         const array_view<R, Rank>& out) {
  if constexpr (!std::same_as<operand_element_t<E>, R> && !is_short_kind(kind_of<R>())) {
    return scan_expression(call, combine, gpu::cast<R>(e), axis, out);
  } else {
    const loop_operand written = make_operand(out);
    return run_cumulative(call, {combine, expression_access::ref(e), kind_of<R>(), axis, &written});
  }
}

template <class R, class A>
auto cumulative(const char* function, const stream_ref& stream, const char* combine, A&& a,
                int axis, source_location where) -> result<array<R, evaluated_rank<A>()>> {
  constexpr int rank = evaluated_rank<A>();
  using element = evaluated_element_t<A>;
  if constexpr (is_expression<std::remove_cvref_t<A>>) {
    const evaluation call{function, stream, where};
    const int along = GPU_TRY(require_axis(function, axis, rank, where));
    if constexpr (rank > 0) {
      gpu::shape<rank> extents;
      GPU_TRY(find_extents(call, expression_access::ref(a), &extents[0]));
      const std::size_t length = extents[along], lines = length == 0 ? 0 : extents.size() / length;
      const bool computed_before = has_reduction(expression_access::ref(a)) ||
                                   goes_along_lines({lines, length, along == rank - 1});
      if (!computed_before) {
        auto made = GPU_TRY((gpu::empty<R>(stream, extents, where)));
        GPU_TRY((scan_expression(call, combine, a, along, made.view())));
        return made;
      }
    }
    const auto computed = GPU_TRY(evaluate_for(call, a));
    return cumulative<R>(function, stream, combine, computed, axis, where);
  } else {
    const array_view<const element, rank> view = array_view_of(static_cast<A&&>(a));
    GPU_TRY(require_operand(function, stream, "the operand", view, a, where));
    axis = GPU_TRY(require_axis(function, axis, rank, where));
    auto made = GPU_TRY((gpu::empty<R>(stream, view.shape(), where)));
    if constexpr (rank > 0)
      GPU_TRY(
          (combine_along<element, R>(function, stream, combine, view, made.view(), axis, where)));
    return made;
  }
}

template <class R, class A> constexpr void check_accumulated() noexcept {
  static_assert(number<evaluated_element_t<A>>,
                "the elements are numbers: bool, integers, float, double, __half, __nv_bfloat16, "
                "or std::complex of float or double");
  static_assert(!complex_number<evaluated_element_t<A>> || complex_number<R>,
                "complex numbers give a complex result: the imaginary parts would be lost");
}

template <class R, class A> using cumulative_t = chosen_t<R, sum_t<evaluated_element_t<A>>>;

/// Refuses a cumulative function within an expression: a scan combines elements across the blocks
/// of a grid, which is a kernel of its own.
template <class A> auto refuse_operand_of_scan(const A& a) noexcept {
  static_assert(
      always_false<A>,
      "a cumulative function cannot be an operand of an expression: write `const auto sums = "
      "GPU_TRY(gpu::cumulative_sum(stream, e, axis))`, where e may be an expression, and "
      "use `sums` in the other expression");
  return a;
}

}  // namespace detail

/// Makes an array of running sums along an axis. `cumulative_sum<double>(stream, a, 0)` names the
/// type in which they are added.
template <class R = void, detail::evaluated A>
auto cumulative_sum(const stream_ref& stream, A&& a, int axis,
                    source_location where = source_location::current())
    -> result<array<detail::cumulative_t<R, A>, detail::evaluated_rank<A>()>> {
  using to = detail::cumulative_t<R, A>;
  detail::check_accumulated<to, A>();
  return detail::cumulative<to>("gpu::cumulative_sum", stream, "a + b", static_cast<A&&>(a), axis,
                                where);
}

/// Does not compile, nor do the others without a stream: see `cumulative_sum` with one.
template <class R = void, detail::array_operand A, class Axis>
auto cumulative_sum(const A& a, Axis) noexcept {
  return detail::refuse_operand_of_scan(detail::as_operand<detail::kind_of<int>()>(a));
}
template <class R = void, detail::array_operand A, class Axis>
auto cumulative_product(const A& a, Axis) noexcept {
  return detail::refuse_operand_of_scan(detail::as_operand<detail::kind_of<int>()>(a));
}
template <detail::array_operand A, class Axis> auto cumulative_min(const A& a, Axis) noexcept {
  return detail::refuse_operand_of_scan(detail::as_operand<detail::kind_of<int>()>(a));
}
template <detail::array_operand A, class Axis> auto cumulative_max(const A& a, Axis) noexcept {
  return detail::refuse_operand_of_scan(detail::as_operand<detail::kind_of<int>()>(a));
}

/// Makes an array of running products along an axis. Otherwise as `cumulative_sum`.
template <class R = void, detail::evaluated A>
auto cumulative_product(const stream_ref& stream, A&& a, int axis,
                        source_location where = source_location::current())
    -> result<array<detail::cumulative_t<R, A>, detail::evaluated_rank<A>()>> {
  using to = detail::cumulative_t<R, A>;
  detail::check_accumulated<to, A>();
  return detail::cumulative<to>("gpu::cumulative_product", stream, "a * b", static_cast<A&&>(a),
                                axis, where);
}

/// Makes an array of the smallest element so far along an axis, of the type of the elements.
template <detail::evaluated A>
auto cumulative_min(const stream_ref& stream, A&& a, int axis,
                    source_location where = source_location::current())
    -> result<array<detail::evaluated_element_t<A>, detail::evaluated_rank<A>()>> {
  using element = detail::evaluated_element_t<A>;
  static_assert(detail::ordered_number<element>,
                "gpu::cumulative_min: the elements are numbers that can be compared");
  return detail::cumulative<element>("gpu::cumulative_min", stream, "a <= b || a != a ? a : b",
                                     static_cast<A&&>(a), axis, where);
}

/// Makes an array of the largest element so far along an axis, of the type of the elements.
template <detail::evaluated A>
auto cumulative_max(const stream_ref& stream, A&& a, int axis,
                    source_location where = source_location::current())
    -> result<array<detail::evaluated_element_t<A>, detail::evaluated_rank<A>()>> {
  using element = detail::evaluated_element_t<A>;
  static_assert(detail::ordered_number<element>,
                "gpu::cumulative_max: the elements are numbers that can be compared");
  return detail::cumulative<element>("gpu::cumulative_max", stream, "a >= b || a != a ? a : b",
                                     static_cast<A&&>(a), axis, where);
}

}}  // namespace gpu::v1
