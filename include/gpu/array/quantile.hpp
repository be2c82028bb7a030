#pragma once
/// \file
/// `median`, `quantile` and `percentile` of all elements or along an axis.
///
/// As NumPy's, with its linear interpolation: quantile `q` of `n` sorted elements is at position
/// `q * (n - 1)`, computed in double, and the median is the mean of the two in the middle. NaN if
/// an element is NaN or the range is empty. Results of integers and `bool` are double, those
/// of 16-bit numbers float. All of them: **Errors**: `errc::invalid_argument` for an axis or a
/// number out of range; the reason of a faulty view; `errc::wrong_context`; `errc::empty_handle`;
/// CUDA_ERROR_OUT_OF_MEMORY. **Cost**: that of `sorted`, and a launch for each quantile.

#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/sorted.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T, class R> struct quantile_family;

/// Two elements of a sorted line, and how far to go from the first to the second.
struct quantile_position {
  std::size_t low, high;
  double fraction;
  bool is_mean;  ///< of the two, rounded as by a mean

  static quantile_position of(double q, std::size_t length) noexcept {
    const double exact = uncombined(q * static_cast<double>(length - 1));
    const auto low = static_cast<std::size_t>(exact);
    if (low >= length - 1) return {length - 1, length - 1, 0, false};
    return {low, low + 1, exact - static_cast<double>(low), false};
  }
  static quantile_position of_median(std::size_t length) noexcept {
    return {(length - 1) / 2, length / 2, 0.5, true};
  }
};

/// Writes the statements that interpolate as NumPy does: from the nearer of the two.
template <class T, class R> text quantile_text() {
  const string_ref name = element_type_of<R>().name;
  text_builder out;
  out << "const " << element_type_of<T>().name << "* const line = &x[i];\nconst " << name
      << " a = (" << name << ")line[low], b = (" << name << ")line[high], last = (" << name
      << ")line[length - 1], t = (" << name << ")fraction;\n"
      << "out[i] = last != last ? last : low == high ? a : is_mean ? (a + b) / 2 : t >= " << name
      << "(0.5) ? b - (b - a) * (1 - t) : a + (b - a) * t";
  return out.finish();
}

/// Writes a quantile of each sorted line; `out` has an element for each line.
template <class T, class R>
result<> pick_quantile(const char* function, const stream_ref& stream,
                       const device_span<const T>& sorted_lines, const array_view<R>& out,
                       const quantile_position& at, source_location where) {
  const std::size_t length = sorted_lines.size() / out.size();
  const auto lines = array_view<const T, 1>::from_native(sorted_lines.native(), {out.size()},
                                                         {static_cast<std::ptrdiff_t>(length)});
  const loop_operand written = make_operand(out), read = make_operand(lines);
  auto low = static_cast<long long>(at.low), high = static_cast<long long>(at.high);
  auto count = static_cast<long long>(length);
  double fraction = at.fraction;
  int is_mean = at.is_mean ? 1 : 0;
  const loop_argument list[] = {{&written, nullptr}, {&read, nullptr},  {nullptr, &low},
                                {nullptr, &high},    {nullptr, &count}, {nullptr, &fraction},
                                {nullptr, &is_mean}};
  return run_shared<quantile_family<T, R>, R*, const T*, long long, long long, long long, double,
                    int>({function, "gpu_quantile", "out, x, low, high, length, fraction, is_mean"},
                         stream, where, &quantile_text<T, R>, list);
}

/// Fails unless a number is from 0 to `most`.
inline result<> require_quantile(const char* function, ieee_number q, int most,
                                 source_location where) noexcept {
  if (q >= 0 && q <= most) return {};
  text_builder out;
  out << "the quantile is "
      << (q < 0      ? "below 0"
          : q > most ? "too large"
                     : "not a number")
      << ". Pass a number from 0 to " << most << '.';
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

/// Makes an array with a row of the quantiles of all lines along an axis for each position that
/// `position_of(k, length)` returns, `k < rows`.
template <class R, class A, class Position>
auto quantiles_along(const char* function, const stream_ref& stream, A& a, int axis,
                     std::size_t rows, Position position_of, source_location where)
    -> result<array<R, viewed_rank<A&>>> {
  constexpr int rank = viewed_rank<A&>;
  using element = value_of_view<A>;
  const auto view = GPU_TRY(view_to_sort(function, stream, a, axis, sort_order::ascending, where));
  auto lines = GPU_TRY(make_lines(stream, view, axis, where));
  shape<rank> extents;
  extents[0] = rows;
  for (int k = 1; k < rank; ++k) extents[k] = lines.extent(k - 1);
  auto made = GPU_TRY((gpu::empty<R>(stream, extents, where)));
  const std::size_t length = lines.extent(rank - 1);
  if (made.size() == 0) return made;
  if (length == 0) {
    GPU_TRY(gpu::assign(stream, made, static_cast<R>(__builtin_nanf("")), where));
    return made;
  }
  GPU_TRY(sort_lines(stream, lines, sort_order::ascending, where));
  const device_span<const element> all = lines.span();
  const std::size_t count = made.size() / rows;
  for (std::size_t k = 0; k < rows; ++k) {
    const array_view<R> row(made.span().subspan(k * count, count));
    GPU_TRY((pick_quantile<element, R>(function, stream, all, row, position_of(k, length), where)));
  }
  return made;
}

/// Removes the axis of one row.
template <class R, int Rank>
result<array<R, Rank - 1>> only_row(array<R, Rank>&& rows, source_location where) noexcept {
  shape<Rank - 1> extents;
  for (int axis = 1; axis < Rank; ++axis) extents[axis - 1] = rows.extent(axis);
  return array<R, Rank - 1>::adopt(rows.release(), extents, where);
}

/// Returns one quantile of all elements to the host.
template <class R, class A, class Position>
result<R> quantile_of_all(const char* function, const stream_ref& stream, A& a,
                          Position position_of, source_location where) {
  const auto view = array_view_of(a);
  GPU_TRY(require_operand(function, stream, "the operand", view, a, where));
  const auto copied = GPU_TRY(gpu::evaluate(stream, view, where));
  const array_view<const value_of_view<A>> line(copied.span());
  const auto made = GPU_TRY(quantiles_along<R>(function, stream, line, 0, 1, position_of, where));
  return gpu::item(stream, made, where);
}

template <class A> using quantile_t = mean_t<value_of_view<A>>;

}  // namespace detail

/// Returns the median of all elements. **Ordering**: waits for the result. **Capture**: not
/// allowed.
template <detail::viewable A>
auto median(const stream_ref& stream, A&& a, source_location where = source_location::current())
    -> result<detail::quantile_t<A>> {
  return detail::quantile_of_all<detail::quantile_t<A>>(
      "gpu::median", stream, a,
      [](std::size_t, std::size_t length) { return detail::quantile_position::of_median(length); },
      where);
}

/// Makes an array of the medians along an axis, which is removed. **Ordering**: after the work
/// queued on the stream; does not wait. **Capture**: as for `assign`.
template <detail::viewable A>
auto median(const stream_ref& stream, A&& a, int axis,
            source_location where = source_location::current())
    -> result<array<detail::quantile_t<A>, detail::viewed_rank<A> - 1>> {
  return detail::only_row(GPU_TRY(detail::quantiles_along<detail::quantile_t<A>>(
                              "gpu::median", stream, a, axis, 1,
                              [](std::size_t, std::size_t length) {
                                return detail::quantile_position::of_median(length);
                              },
                              where)),
                          where);
}

/// Returns the quantile of all elements that `q`, from 0 to 1, stands for. **Ordering**: waits for
/// the result. **Capture**: not allowed.
template <detail::viewable A>
auto quantile(const stream_ref& stream, A&& a, double q,
              source_location where = source_location::current()) -> result<detail::quantile_t<A>> {
  GPU_TRY(detail::require_quantile("gpu::quantile", q, 1, where));
  return detail::quantile_of_all<detail::quantile_t<A>>(
      "gpu::quantile", stream, a,
      [&](std::size_t, std::size_t length) { return detail::quantile_position::of(q, length); },
      where);
}

/// Makes an array of a quantile along an axis, which is removed. **Ordering**: after the work
/// queued on the stream; does not wait. **Capture**: as for `assign`.
template <detail::viewable A>
auto quantile(const stream_ref& stream, A&& a, double q, int axis,
              source_location where = source_location::current())
    -> result<array<detail::quantile_t<A>, detail::viewed_rank<A> - 1>> {
  GPU_TRY(detail::require_quantile("gpu::quantile", q, 1, where));
  return detail::only_row(
      GPU_TRY(detail::quantiles_along<detail::quantile_t<A>>(
          "gpu::quantile", stream, a, axis, 1,
          [&](std::size_t, std::size_t length) { return detail::quantile_position::of(q, length); },
          where)),
      where);
}

/// Makes an array of several quantiles along an axis, which are sorted once: `quantile(stream, a,
/// {0.25, 0.5, 0.75}, 1)`. The first axis of the result is that of the quantiles. Otherwise as
/// above.
template <detail::viewable A, std::size_t Count>
auto quantile(const stream_ref& stream, A&& a, const double (&q)[Count], int axis,
              source_location where = source_location::current())
    -> result<array<detail::quantile_t<A>, detail::viewed_rank<A>>> {
  for (const double each : q) GPU_TRY(detail::require_quantile("gpu::quantile", each, 1, where));
  return detail::quantiles_along<detail::quantile_t<A>>(
      "gpu::quantile", stream, a, axis, Count,
      [&](std::size_t k, std::size_t length) {
        return detail::quantile_position::of(q[k], length);
      },
      where);
}

/// As `quantile`, of a number from 0 to 100.
template <detail::viewable A>
auto percentile(const stream_ref& stream, A&& a, double q,
                source_location where = source_location::current())
    -> result<detail::quantile_t<A>> {
  GPU_TRY(detail::require_quantile("gpu::percentile", q, 100, where));
  return gpu::quantile(stream, a, q / 100, where);
}
template <detail::viewable A>
auto percentile(const stream_ref& stream, A&& a, double q, int axis,
                source_location where = source_location::current())
    -> result<array<detail::quantile_t<A>, detail::viewed_rank<A> - 1>> {
  GPU_TRY(detail::require_quantile("gpu::percentile", q, 100, where));
  return gpu::quantile(stream, a, q / 100, axis, where);
}

}}  // namespace gpu::v1
