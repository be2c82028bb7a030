#pragma once
/// \file
/// `mean`, `variance`, `standard_deviation` and `mean_variance` of all elements, or of those of
/// each segment.

#include <gpu/algorithm/reduce/moments_reduction.hpp>
#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/algorithm/reduce/reduction_kernel.hpp>
#include <gpu/algorithm/reduce/run_named.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>

#include <concepts>

namespace gpu { inline namespace v1 {

/// Options of `variance`, `standard_deviation` and `mean_variance`.
struct variance_options {
  /// Subtracted from the number of elements before the sum of squares is divided by it: 0 for the
  /// variance of the elements themselves, 1 for an estimate from a sample. NumPy's `ddof`.
  double correction = 0;
};

namespace detail {

template <class T, class R> struct mean_family {
  using result_type = R;
  static constexpr named_reduction text = {
      .function = "gpu::mean",
      .kernel = "gpu_mean",
      .parameters = {elements_of_type<T>()},
      .number = element_type_of<combined_t<R>>(),
      .neutral = &number_constant<combined_t<R>, 0>,
      .map = "gpu_value(x[i])",
      .combine = "a + b",
      .results = {{element_type_of<R>(), complex_number<R>
                                             ? "gpu_result_0(a.re / gpu_length, a.im / gpu_length)"
                                             : "a / gpu_length"}}};
};

template <class T, class R> constexpr void check_mean() noexcept {
  check_combined<T, R>();
  static_assert(fractional_number<R>,
                "a mean is a float, double, __half, __nv_bfloat16, or std::complex");
}

/// Reduces elements of type `T` to moments.
template <class Family, class T, class X>
result<typename Family::result_type> find_moments(const stream_ref& stream, X& x,
                                                  variance_options options, source_location where) {
  bound_argument<const T*> elements(x);
  const loop_argument list[] = {elements.get(), {nullptr, &options.correction}};
  typename Family::result_type value;
  GPU_TRY(reduce_named<Family>({stream, list, where}, &value));
  return value;
}
template <class Family, class T, class X>
result<> store_moments(const stream_ref& stream, X& x, const reduction_output* outputs,
                       variance_options options, source_location where) {
  bound_argument<const T*> elements(x);
  const loop_argument list[] = {elements.get(), {nullptr, &options.correction}};
  return reduce_named_into<Family>({stream, list, where}, outputs);
}

}  // namespace detail

/// Returns the mean of all elements of `x`, device memory or a view of numbers: their sum divided
/// by their number; NaN if there are none, as in NumPy.
///
/// The result is of the elements' type; double for integers and `bool`, float for `__half` and
/// `__nv_bfloat16`; or `gpu::mean<double>(stream, x)` asks for another. Elements are added in that
/// type, in the order of `sum`.
/// **Ordering**: after the work queued on the stream; waits for the result. **Errors**: as for
/// `sum`. **Cost**: as for `sum`. **Threads**: any number may call.
template <class R = void, class X>
auto mean(const stream_ref& stream, X&& x, source_location where = source_location::current())
    -> result<detail::chosen_t<R, detail::mean_t<detail::argument_element<X>>>> {
  using from = detail::argument_element<X>;
  using to = detail::chosen_t<R, detail::mean_t<from>>;
  detail::check_mean<from, to>();
  return detail::reduce_elements<detail::mean_family<from, to>, from>(stream, x, where);
}

/// Stores the mean of each segment of `x` in an element of `out`. Segments, types and errors are as
/// for `sum`. **Ordering**: after the work queued on the stream; does not wait. **Capture**:
/// allowed.
template <class X, detail::range_or_view Out>
result<> mean(const stream_ref& stream, X&& x, Out&& out,
              source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using to = detail::stored_element_t<Out>;
  detail::check_mean<from, to>();
  return detail::reduce_elements_into<detail::mean_family<from, to>, from>(stream, x, out, where);
}

/// Returns the variance of all elements of `x`: the mean of the squares of their differences from
/// their mean. `{.correction = 1}` divides by one less than their number. As in NumPy the result is
/// NaN for no elements, and for one infinity or NaN among them.
///
/// One pass finds the mean and the squares: groups of elements have means of their own, and are
/// combined in pairs, so that a large mean costs no digits. The order depends on the number of
/// elements and on the types alone. Types are as for `mean`; the variance of complex numbers is
/// real.
/// **Ordering**: after the work queued on the stream; waits for the result. **Errors**: as for
/// `sum`. **Cost**: as for `sum`. **Threads**: any number may call.
template <class R = void, class X>
auto variance(const stream_ref& stream, X&& x, variance_options options = {},
              source_location where = source_location::current())
    -> result<detail::variance_t<R, detail::argument_element<X>>> {
  using from = detail::argument_element<X>;
  using mean = detail::mean_beside_t<from, detail::variance_t<R, from>>;
  return detail::find_moments<detail::variance_family<from, mean>, from>(stream, x, options, where);
}

/// Stores the variance of each segment of `x` in an element of `out`. Segments and errors are as
/// for `sum`. **Ordering**: after the work queued on the stream; does not wait. **Capture**:
/// allowed.
template <class X, detail::range_or_view Out>
result<> variance(const stream_ref& stream, X&& x, Out&& out, variance_options options = {},
                  source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using mean = detail::mean_beside_t<from, detail::stored_element_t<Out>>;
  const detail::reduction_output output = detail::make_output("out", out);
  return detail::store_moments<detail::variance_family<from, mean>, from>(stream, x, &output,
                                                                          options, where);
}

/// Returns the root of the variance of all elements of `x`. Otherwise as `variance`.
template <class R = void, class X>
auto standard_deviation(const stream_ref& stream, X&& x, variance_options options = {},
                        source_location where = source_location::current())
    -> result<detail::variance_t<R, detail::argument_element<X>>> {
  using from = detail::argument_element<X>;
  using mean = detail::mean_beside_t<from, detail::variance_t<R, from>>;
  return detail::find_moments<detail::deviation_family<from, mean>, from>(stream, x, options,
                                                                          where);
}

/// Stores the root of the variance of each segment of `x` in an element of `out`. Otherwise as
/// `variance`.
template <class X, detail::range_or_view Out>
result<> standard_deviation(const stream_ref& stream, X&& x, Out&& out,
                            variance_options options = {},
                            source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using mean = detail::mean_beside_t<from, detail::stored_element_t<Out>>;
  const detail::reduction_output output = detail::make_output("out", out);
  return detail::store_moments<detail::deviation_family<from, mean>, from>(stream, x, &output,
                                                                           options, where);
}

/// Returns the mean and the variance of all elements of `x`, found in one pass; the mean has the
/// bits of `mean`. With complex elements the mean is complex. Otherwise as `variance`.
template <class R = void, class X>
auto mean_variance(const stream_ref& stream, X&& x, variance_options options = {},
                   source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using mean = detail::mean_beside_t<from, detail::variance_t<R, from>>;
  return detail::find_moments<detail::mean_variance_family<from, mean>, from>(stream, x, options,
                                                                              where);
}

/// Stores the mean and the variance of each segment of `x`, found in one pass, in an element each
/// of `means` and `variances`. Otherwise as `variance`.
template <class X, detail::range_or_view Means, detail::range_or_view Variances>
result<> mean_variance(const stream_ref& stream, X&& x, Means&& means, Variances&& variances,
                       variance_options options = {},
                       source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using mean = detail::mean_beside_t<from, detail::stored_element_t<Variances>>;
  static_assert(std::same_as<detail::stored_element_t<Means>, mean>,
                "the means have the type of the variances, or that of complex elements");
  const detail::reduction_output outputs[] = {detail::make_output("means", means),
                                              detail::make_output("variances", variances)};
  return detail::store_moments<detail::mean_variance_family<from, mean>, from>(stream, x, outputs,
                                                                               options, where);
}

}}  // namespace gpu::v1
