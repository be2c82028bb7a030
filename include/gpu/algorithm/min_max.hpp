#pragma once
/// \file
/// `min`, `max` and `minmax` of all elements, or of those of each segment.

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

/// The result of `minmax`.
template <class T> struct minmax_result {
  T min, max;
};

namespace detail {

template <class T> struct min_family {
  using result_type = T;
  using compared = combined_t<T>;
  static constexpr compared neutral = highest_of<compared>();
  static constexpr named_reduction text = {.function = "gpu::min",
                                           .kernel = "gpu_min",
                                           .parameters = {elements_of_type<T>()},
                                           .number = element_type_of<compared>(),
                                           .neutral = &neutral,
                                           .map = "gpu_value(x[i])",
                                           .combine = "a <= b || a != a ? a : b",
                                           .results = {{element_type_of<T>()}},
                                           .wanted = "the smallest element"};
};

template <class T> struct max_family {
  using result_type = T;
  using compared = combined_t<T>;
  static constexpr compared neutral = lowest_of<compared>();
  static constexpr named_reduction text = {.function = "gpu::max",
                                           .kernel = "gpu_max",
                                           .parameters = {elements_of_type<T>()},
                                           .number = element_type_of<compared>(),
                                           .neutral = &neutral,
                                           .map = "gpu_value(x[i])",
                                           .combine = "a >= b || a != a ? a : b",
                                           .results = {{element_type_of<T>()}},
                                           .wanted = "the largest element"};
};

template <class T> struct minmax_family {
  using result_type = minmax_result<T>;
  using compared = combined_t<T>;
  static constexpr minmax_result<compared> neutral = {highest_of<compared>(),
                                                      lowest_of<compared>()};
  static constexpr named_reduction text = {
      .function = "gpu::minmax",
      .kernel = "gpu_minmax",
      .parameters = {elements_of_type<T>()},
      .number = element_type_of<compared>(),
      .structure = "struct gpu_combined { gpu_number least, most; };",
      .structure_bytes = sizeof(neutral),
      .structure_alignment = alignof(compared),
      .neutral = &neutral,
      .map = "gpu_value{gpu_number(x[i]), gpu_number(x[i])}",
      .combine =
          "gpu_value{a.least <= b.least || a.least != a.least ? a.least : b.least,\n"
          "          a.most >= b.most || a.most != a.most ? a.most : b.most}",
      .results = {{element_type_of<T>(), "a.least"}, {element_type_of<T>(), "a.most"}},
      .wanted = "the smallest and the largest element"};
};

template <class T> constexpr void check_ordered() noexcept {
  static_assert(ordered_number<T>,
                "the elements are numbers that can be compared: bool, integers, "
                "float, double, __half or __nv_bfloat16");
}
template <class T, class Out> constexpr void check_extremes() noexcept {
  check_ordered<T>();
  static_assert(std::same_as<stored_element_t<Out>, T>,
                "the smallest and the largest element are of the type of the elements of x, and so "
                "are those of the results");
}

}  // namespace detail

/// Returns the smallest element of `x`, device memory or a view of `bool`, integers or
/// floating-point numbers. As in NumPy the result is NaN if an element is. Of 0.0 and -0.0 it is
/// either, the same one in every run.
/// **Ordering**: after the work queued on the stream; waits for the result.
/// **Errors**: `errc::invalid_argument` if `x` has no elements; `errc::empty_handle` for a buffer
/// that was moved from; `errc::wrong_context`; `errc::capture_prohibited` during capture;
/// CUDA_ERROR_OUT_OF_MEMORY; those of `compile` at the first call with these types.
/// **Cost**: as for `sum`. **Threads**: any number may call.
template <class X>
auto min(const stream_ref& stream, X&& x, source_location where = source_location::current())
    -> result<detail::argument_element<X>> {
  using element = detail::argument_element<X>;
  detail::check_ordered<element>();
  return detail::reduce_elements<detail::min_family<element>, element>(stream, x, where);
}

/// Stores the smallest element of each segment of `x` in an element of `out`. Segments are as for
/// `sum`. **Ordering**: after the work queued on the stream; does not wait. **Errors**: as above,
/// and as for `sum`. **Capture**: allowed.
template <class X, detail::range_or_view Out>
result<> min(const stream_ref& stream, X&& x, Out&& out,
             source_location where = source_location::current()) {
  using element = detail::argument_element<X>;
  detail::check_extremes<element, Out>();
  return detail::reduce_elements_into<detail::min_family<element>, element>(stream, x, out, where);
}

/// Returns the largest element of `x`. Otherwise as `min`.
template <class X>
auto max(const stream_ref& stream, X&& x, source_location where = source_location::current())
    -> result<detail::argument_element<X>> {
  using element = detail::argument_element<X>;
  detail::check_ordered<element>();
  return detail::reduce_elements<detail::max_family<element>, element>(stream, x, where);
}

/// Stores the largest element of each segment of `x` in an element of `out`. Otherwise as `min`.
template <class X, detail::range_or_view Out>
result<> max(const stream_ref& stream, X&& x, Out&& out,
             source_location where = source_location::current()) {
  using element = detail::argument_element<X>;
  detail::check_extremes<element, Out>();
  return detail::reduce_elements_into<detail::max_family<element>, element>(stream, x, out, where);
}

/// Returns the smallest and the largest element of `x`, found in one pass. Otherwise as `min`.
template <class X>
auto minmax(const stream_ref& stream, X&& x, source_location where = source_location::current())
    -> result<minmax_result<detail::argument_element<X>>> {
  using element = detail::argument_element<X>;
  detail::check_ordered<element>();
  return detail::reduce_elements<detail::minmax_family<element>, element>(stream, x, where);
}

/// Stores the smallest and the largest element of each segment of `x`, found in one pass, in an
/// element each of `smallest` and `largest`. Otherwise as `min`.
template <class X, detail::range_or_view Smallest, detail::range_or_view Largest>
result<> minmax(const stream_ref& stream, X&& x, Smallest&& smallest, Largest&& largest,
                source_location where = source_location::current()) {
  using element = detail::argument_element<X>;
  detail::check_extremes<element, Smallest>();
  detail::check_extremes<element, Largest>();
  detail::bound_argument<const element*> elements(x);
  const detail::loop_argument list[] = {elements.get()};
  const detail::reduction_output outputs[] = {detail::make_output("smallest", smallest),
                                              detail::make_output("largest", largest)};
  return detail::reduce_named_into<detail::minmax_family<element>>({stream, list, where}, outputs);
}

}}  // namespace gpu::v1
