#pragma once
/// \file
/// `sum` and `product` of all elements, or of those of each segment.

#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/algorithm/reduce/run_named.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T, class R> struct sum_family {
  using result_type = R;
  static constexpr named_reduction text = {.function = "gpu::sum",
                                           .kernel = "gpu_sum",
                                           .parameters = {elements_of_type<T>()},
                                           .number = element_type_of<combined_t<R>>(),
                                           .neutral = &number_constant<combined_t<R>, 0>,
                                           .map = "gpu_value(x[i])",
                                           .combine = "a + b",
                                           .results = {{element_type_of<R>()}}};
};

template <class T, class R> struct product_family {
  using result_type = R;
  static constexpr named_reduction text = {.function = "gpu::product",
                                           .kernel = "gpu_product",
                                           .parameters = {elements_of_type<T>()},
                                           .number = element_type_of<combined_t<R>>(),
                                           .neutral = &number_constant<combined_t<R>, 1>,
                                           .map = "gpu_value(x[i])",
                                           .combine = "a * b",
                                           .results = {{element_type_of<R>()}}};
};

}  // namespace detail

/// Returns the sum of all elements of `x`, device memory or a view of numbers: `gpu::sum(stream,
/// x)`. The sum of nothing is 0.
///
/// Elements are converted to the type of the result and added in it. That type has 64 bits for
/// integers and `bool`, which wrap around; it is float for `__half` and `__nv_bfloat16`, and the
/// elements' own otherwise. `gpu::sum<double>(stream, x)` asks for another. The order depends on
/// the number of elements and on the types alone, so that the result has the same bits in every
/// run, on every device and for every alignment.
/// **Ordering**: after the work queued on the stream; waits for the result.
/// **Errors**: `errc::empty_handle` for a buffer that was moved from; `errc::wrong_context`;
/// `errc::capture_prohibited` during capture; CUDA_ERROR_OUT_OF_MEMORY; those of `compile` at the
/// first call with these types.
/// **Cost**: one launch for few elements, else two, and one copy to the host; temporary memory
/// comes from a pool of the library's. **Threads**: any number may call.
template <class R = void, class X>
auto sum(const stream_ref& stream, X&& x, source_location where = source_location::current())
    -> result<detail::chosen_t<R, detail::sum_t<detail::argument_element<X>>>> {
  using from = detail::argument_element<X>;
  using to = detail::chosen_t<R, detail::sum_t<from>>;
  detail::check_combined<from, to>();
  return detail::reduce_elements<detail::sum_family<from, to>, from>(stream, x, where);
}

/// Stores the sum of each segment of `x` in an element of `out`, device memory or a view whose
/// elements are evenly spaced. The segments are parts of equal length in C order, one for each
/// element of `out`: with one all elements are added, with as many as a matrix has rows each row.
/// (For its columns, pass the transposed view.) Sums are made in the type of `out`, in float if it
/// has 16 bits.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**: as above, and
/// `errc::size_mismatch` if the number of results does not divide that of the elements;
/// `errc::invalid_argument` if `out` overlaps `x`. **Capture**: allowed.
template <class X, detail::range_or_view Out>
result<> sum(const stream_ref& stream, X&& x, Out&& out,
             source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using to = detail::stored_element_t<Out>;
  detail::check_combined<from, to>();
  return detail::reduce_elements_into<detail::sum_family<from, to>, from>(stream, x, out, where);
}

/// Returns the product of all elements, 1 for none. Otherwise as `sum`.
template <class R = void, class X>
auto product(const stream_ref& stream, X&& x, source_location where = source_location::current())
    -> result<detail::chosen_t<R, detail::sum_t<detail::argument_element<X>>>> {
  using from = detail::argument_element<X>;
  using to = detail::chosen_t<R, detail::sum_t<from>>;
  detail::check_combined<from, to>();
  return detail::reduce_elements<detail::product_family<from, to>, from>(stream, x, where);
}

/// Stores the product of each segment of `x` in an element of `out`. Otherwise as `sum`.
template <class X, detail::range_or_view Out>
result<> product(const stream_ref& stream, X&& x, Out&& out,
                 source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using to = detail::stored_element_t<Out>;
  detail::check_combined<from, to>();
  return detail::reduce_elements_into<detail::product_family<from, to>, from>(stream, x, out,
                                                                              where);
}

}}  // namespace gpu::v1
