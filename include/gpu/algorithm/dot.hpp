#pragma once
/// \file
/// `dot` and `vdot`: sums of the products of two ranges' elements.

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
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

template <class X, class Y, class R> struct dot_family {
  using result_type = R;
  static constexpr named_reduction text = {
      .function = "gpu::dot",
      .kernel = "gpu_dot",
      .names = "x, y",
      .parameters = {elements_of_type<X>(), elements_of_type<Y>()},
      .number = element_type_of<combined_t<R>>(),
      .neutral = &number_constant<combined_t<R>, 0>,
      .map = "gpu_value(x[i]) * gpu_value(y[i])",
      .combine = "a + b",
      .results = {{element_type_of<R>()}}};
};

template <class X, class Y, class R> struct vdot_family {
  using result_type = R;
  static constexpr named_reduction text = {
      .function = "gpu::vdot",
      .kernel = "gpu_vdot",
      .names = "x, y",
      .parameters = {elements_of_type<X>(), elements_of_type<Y>()},
      .number = element_type_of<combined_t<R>>(),
      .neutral = &number_constant<combined_t<R>, 0>,
      .map = complex_number<R> ? "conj(gpu_value(x[i])) * gpu_value(y[i])"
                               : "gpu_value(x[i]) * gpu_value(y[i])",
      .combine = "a + b",
      .results = {{element_type_of<R>()}}};
};

/// The type of a sum of products.
template <class R, class X, class Y> struct product_sum {
  static_assert(!std::is_void_v<R> || std::same_as<X, Y>,
                "the two ranges have elements of different types: name the type in which they are "
                "multiplied and added, as in gpu::dot<double>(stream, x, y)");
  using type = chosen_t<R, sum_t<X>>;
};
template <class R, class X, class Y>
using product_sum_t = typename product_sum<R, argument_element<X>, argument_element<Y>>::type;

template <template <class, class, class> class Family, class R, class X, class Y>
result<R> sum_products(const stream_ref& stream, X& x, Y& y, source_location where) {
  using left = argument_element<X>;
  using right = argument_element<Y>;
  check_combined<left, R>();
  check_combined<right, R>();
  bound_argument<const left*> elements(x);
  bound_argument<const right*> others(y);
  const loop_argument list[] = {elements.get(), others.get()};
  R value;
  GPU_TRY((reduce_named<Family<left, right, R>>({stream, list, where}, &value)));
  return value;
}

template <template <class, class, class> class Family, class X, class Y, class Out>
result<> sum_products_into(const stream_ref& stream, X& x, Y& y, Out& out, source_location where) {
  using left = argument_element<X>;
  using right = argument_element<Y>;
  using to = stored_element_t<Out>;
  check_combined<left, to>();
  check_combined<right, to>();
  bound_argument<const left*> elements(x);
  bound_argument<const right*> others(y);
  const loop_argument list[] = {elements.get(), others.get()};
  const reduction_output output = make_output("out", out);
  return reduce_named_into<Family<left, right, to>>({stream, list, where}, &output);
}

}  // namespace detail

/// Returns the sum of `x[i] * y[i]` over all elements of two ranges or views of the same shape. As
/// NumPy's `dot` of vectors: complex numbers are not conjugated. Types are as for `sum`:
/// `gpu::dot<double>(stream, x, y)` asks for another type, in which elements are multiplied and
/// added, and must be named if those of `x` and `y` differ. Products are rounded before they are
/// added, as on the host.
/// **Ordering**: after the work queued on the stream; waits for the result.
/// **Errors**: as for `sum`, and `errc::size_mismatch` for different lengths or shapes.
/// **Cost**: as for `sum`. **Threads**: any number may call.
template <class R = void, class X, class Y>
  requires(!std::same_as<std::remove_cvref_t<Y>, source_location>)
auto dot(const stream_ref& stream, X&& x, Y&& y, source_location where = source_location::current())
    -> result<detail::product_sum_t<R, X, Y>> {
  return detail::sum_products<detail::dot_family, detail::product_sum_t<R, X, Y>>(stream, x, y,
                                                                                  where);
}

/// Stores the sum of `x[i] * y[i]` over each segment in an element of `out`. Segments, the type of
/// the sum and errors are as for `sum` with results on the device.
/// **Ordering**: after the work queued on the stream; does not wait. **Capture**: allowed.
template <class X, class Y, detail::range_or_view Out>
result<> dot(const stream_ref& stream, X&& x, Y&& y, Out&& out,
             source_location where = source_location::current()) {
  return detail::sum_products_into<detail::dot_family>(stream, x, y, out, where);
}

/// Returns the sum of `conj(x[i]) * y[i]`, as NumPy's `vdot`. For numbers that are not complex it
/// is `dot`. Otherwise as `dot`.
template <class R = void, class X, class Y>
  requires(!std::same_as<std::remove_cvref_t<Y>, source_location>)
auto vdot(const stream_ref& stream, X&& x, Y&& y,
          source_location where = source_location::current())
    -> result<detail::product_sum_t<R, X, Y>> {
  return detail::sum_products<detail::vdot_family, detail::product_sum_t<R, X, Y>>(stream, x, y,
                                                                                   where);
}

/// Stores the sum of `conj(x[i]) * y[i]` over each segment in an element of `out`. Otherwise as
/// `dot`.
template <class X, class Y, detail::range_or_view Out>
result<> vdot(const stream_ref& stream, X&& x, Y&& y, Out&& out,
              source_location where = source_location::current()) {
  return detail::sum_products_into<detail::vdot_family>(stream, x, y, out, where);
}

}}  // namespace gpu::v1
