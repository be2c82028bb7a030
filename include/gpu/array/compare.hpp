#pragma once
/// \file
/// `array_equal` and `allclose` compare the elements of two arrays.

#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/algorithm/reduce/run_named.hpp>
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/view_shape.hpp>  // IWYU pragma: keep
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>

#include <concepts>

namespace gpu { inline namespace v1 {

/// The tolerances of `allclose`.
struct closeness {
  double relative = 1e-5;  ///< of the size of the second operand
  double absolute = 1e-8;
  bool equal_nan = false;  ///< NaN is near NaN
};

namespace detail {

template <class T> struct array_equal_family {
  using result_type = bool;
  static constexpr named_reduction text = {
      .function = "gpu::array_equal",
      .kernel = "gpu_array_equal",
      .names = "x, y, equal_nan",
      .parameters = {elements_of_type<T>(), elements_of_type<T>(), number_of_type<int>()},
      .number = element_type_of<unsigned>(),
      .neutral = &number_constant<unsigned, 1>,
      .map = "x[i] == y[i] || (equal_nan && x[i] != x[i] && y[i] != y[i])",
      .combine = "a & b",
      .results = {{element_type_of<bool>()}}};
};

/// Compares as NumPy's `isclose`: in the type of the elements, integers in double.
inline constexpr char close_functions[] = R"gpu(
template <class T> bool gpu_close(T a, T b, double rtol, double atol, int equal_nan) {
  if (a == b || (equal_nan && a != a && b != b)) return true;
  return isfinite(b) && fabs(a - b) <= T(atol) + T(rtol) * fabs(b);
}
template <class C> bool gpu_close_complex(C a, C b, double rtol, double atol, int equal_nan) {
  using T = typename C::value_type;
  if (a == b || (equal_nan && a != a && b != b)) return true;
  return isfinite(b.re) && isfinite(b.im) &&
         hypot(a.re - b.re, a.im - b.im) <= T(atol) + T(rtol) * hypot(b.re, b.im);
}
)gpu";

template <class T> struct allclose_family {
  using result_type = bool;
  static constexpr named_reduction text = {
      .function = "gpu::allclose",
      .kernel = "gpu_allclose",
      .names = "x, y, rtol, atol, equal_nan",
      .parameters = {elements_of_type<T>(), elements_of_type<T>(), number_of_type<double>(),
                     number_of_type<double>(), number_of_type<int>()},
      .number = element_type_of<unsigned>(),
      .neutral = &number_constant<unsigned, 1>,
      .preamble = close_functions,
      .map = complex_number<T> ? "gpu_close_complex(x[i], y[i], rtol, atol, equal_nan)"
             : short_number<T> ? "gpu_close((float)x[i], (float)y[i], rtol, atol, equal_nan)"
             : detail::word_integer<T>
                 ? "gpu_close((double)x[i], (double)y[i], rtol, atol, equal_nan)"
                 : "gpu_close(x[i], y[i], rtol, atol, equal_nan)",
      .combine = "a & b",
      .results = {{element_type_of<bool>()}}};
};

template <class A, class B> constexpr void check_comparable() noexcept {
  static_assert(std::same_as<value_of_view<A>, value_of_view<B>>,
                "the arrays have elements of one type; convert those of one with gpu::assign");
  static_assert(number<value_of_view<A>>, "the elements are numbers");
}

}  // namespace detail

/// Returns whether two arrays have the same shape and equal elements. As NumPy's `array_equal`. NaN
/// equals nothing, unless `equal_nan`.
/// **Ordering**: after the work queued on the stream; waits for the result. **Errors**: the reason
/// of a faulty view; `errc::wrong_context`; `errc::empty_handle`; `errc::capture_prohibited` during
/// capture. **Cost**: as for `sum`; all elements are read.
template <detail::viewable A, detail::viewable B>
result<bool> array_equal(const stream_ref& stream, A&& a, B&& b, bool equal_nan = false,
                         source_location where = source_location::current()) {
  constexpr const char* function = "gpu::array_equal";
  using element = detail::value_of_view<A>;
  detail::check_comparable<A, B>();
  const auto x = detail::array_view_of(static_cast<A&&>(a));
  const auto y = detail::array_view_of(static_cast<B&&>(b));
  GPU_TRY(detail::require_operand(function, stream, "the first operand", x, a, where));
  GPU_TRY(detail::require_operand(function, stream, "the second operand", y, b, where));
  if constexpr (x.rank != y.rank) {
    return false;
  } else {
    if (x.shape() != y.shape()) return false;
    const detail::loop_operand first = detail::make_operand(x), second = detail::make_operand(y);
    int nan = equal_nan ? 1 : 0;
    const detail::loop_argument list[] = {{&first, nullptr}, {&second, nullptr}, {nullptr, &nan}};
    bool equal = false;
    GPU_TRY(
        detail::reduce_named<detail::array_equal_family<element>>({stream, list, where}, &equal));
    return equal;
  }
}

/// Returns whether all elements of two arrays are equal, or near one another:
/// `|a - b| <= absolute + relative * |b|`. The two are repeated to one shape. As NumPy's
/// `allclose`, with its numbers as defaults: `allclose(stream, a, b, {.relative = 1e-3})`. Compared
/// in the type of the elements, integers in double, numbers of 16 bits in float. **Errors**: also
/// `errc::size_mismatch` with the shapes. Otherwise as `array_equal`.
template <detail::viewable A, detail::viewable B>
result<bool> allclose(const stream_ref& stream, A&& a, B&& b, const closeness& near = {},
                      source_location where = source_location::current()) {
  constexpr const char* function = "gpu::allclose";
  constexpr int left = detail::viewed_rank<A>, right = detail::viewed_rank<B>;
  constexpr int rank = left > right ? left : right;
  using element = detail::value_of_view<A>;
  detail::check_comparable<A, B>();
  const auto x = detail::array_view_of(static_cast<A&&>(a));
  const auto y = detail::array_view_of(static_cast<B&&>(b));
  GPU_TRY(detail::require_operand(function, stream, "the first operand", x, a, where));
  GPU_TRY(detail::require_operand(function, stream, "the second operand", y, b, where));
  const shape<rank> common =
      GPU_TRY((detail::common_shape<rank>(function, "compare", x, y, 0, where)));
  const detail::loop_operand first = detail::make_operand(gpu::broadcast_to(x, common));
  const detail::loop_operand second = detail::make_operand(gpu::broadcast_to(y, common));
  double rtol = near.relative, atol = near.absolute;
  int nan = near.equal_nan ? 1 : 0;
  const detail::loop_argument list[] = {
      {&first, nullptr}, {&second, nullptr}, {nullptr, &rtol}, {nullptr, &atol}, {nullptr, &nan}};
  bool close = false;
  GPU_TRY(detail::reduce_named<detail::allclose_family<element>>({stream, list, where}, &close));
  return close;
}

}}  // namespace gpu::v1
