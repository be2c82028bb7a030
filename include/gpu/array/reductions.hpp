#pragma once
/// \file
/// Reductions of arrays and expressions: `sum`, `product`, `min`, `max`, `argmin`, `argmax`,
/// `mean`, `variance`, `standard_deviation`, `norm`, `any_of`, `all_of`, `count`, `dot` and `vdot`.
///
///     gpu::sum(x * y)                                            // over all axes: of rank 0
///     gpu::mean(m, gpu::axis<0>)                                 // of each column
///     m / gpu::norm(m, gpu::axis<-1>, gpu::keep_dims)            // broadcast with m again
///     gpu::max(m, gpu::axes{k})                                  // an axis known at run time
///
/// They build expressions, compute nothing and cannot fail; `evaluate`, `assign` and `item` run
/// them. (The functions that take a stream first, such as `gpu::sum(stream, x)`, return a number.)
/// What is reduced is computed where it is combined, without an array in between; a reduction that
/// is a part of a larger expression has a kernel of its own that runs before, and memory of the
/// stream for its result. Options are axes, by default all of them, and `keep_dims`.
///
/// Types, NaN and ties are those of NumPy, and as for the functions of the same name that take a
/// stream: sums and products of integers and `bool` have 64 bits, those of 16-bit numbers are
/// float, and `gpu::sum<double>(x)` names the type in which elements are added. Each function says
/// what it returns for no elements. The order of the combination depends on the number of elements
/// and on the types alone, so that results have the same bits in every run and on every device.
/// **Errors** of the evaluation: those of `assign`; `errc::invalid_argument` for an axis out of
/// range, and for `min`, `max`, `argmin` and `argmax` of no elements. **Cost**: as for
/// `gpu::sum(stream, x)`. **Capture**: as `assign` says, after `prepare`; the memory of results in
/// larger expressions, and of sums of many elements, belongs to the graph.

#include <gpu/algorithm/argmin.hpp>
#include <gpu/algorithm/count.hpp>
#include <gpu/algorithm/mean_variance.hpp>
#include <gpu/algorithm/min_max.hpp>
#include <gpu/algorithm/norm.hpp>
#include <gpu/algorithm/reduce/moments_reduction.hpp>
#include <gpu/algorithm/reduce/run_named.hpp>
#include <gpu/algorithm/sum.hpp>
#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/reduction_part.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/array/functions.hpp>
#include <gpu/generated/number_type.hpp>

namespace gpu { inline namespace v1 {

namespace detail {

/// The type of a sum of products of two operands.
template <class R, class A, class B>
using dot_t = chosen_t<R, sum_t<kind_type<promote(kind_of<A>(), kind_of<B>()), A, B>>>;

}  // namespace detail

/// The sum of the elements; 0 for none. `gpu::sum<double>(x)` adds as double.
template <class R = void, detail::array_operand A, detail::axis_option... O>
auto sum(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  using to = detail::chosen_t<R, detail::sum_t<from>>;
  detail::check_combined<from, to>();
  return detail::reduce_to<detail::sum_family<from, to>>(static_cast<A&&>(a), options...);
}

/// The product of the elements; 1 for none. Otherwise as `sum`.
template <class R = void, detail::array_operand A, detail::axis_option... O>
auto product(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  using to = detail::chosen_t<R, detail::sum_t<from>>;
  detail::check_combined<from, to>();
  return detail::reduce_to<detail::product_family<from, to>>(static_cast<A&&>(a), options...);
}

/// The smallest element; NaN if one is. (The smaller of two operands, element by element, is
/// `gpu::minimum`.) An error for no elements.
template <detail::array_operand A, detail::axis_option... O>
auto min(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  detail::check_ordered<from>();
  return detail::reduce_to<detail::min_family<from>>(static_cast<A&&>(a), options...);
}

/// The largest element. Otherwise as `min`.
template <detail::array_operand A, detail::axis_option... O>
auto max(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  detail::check_ordered<from>();
  return detail::reduce_to<detail::max_family<from>>(static_cast<A&&>(a), options...);
}

/// The index of the smallest element, a `long long`: of the first one if several are equal, and of
/// the first NaN if there is one. Over several axes, the index in C order of what is reduced. An
/// error for no elements.
template <detail::array_operand A, detail::axis_option... O>
auto argmin(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  detail::check_ordered<from>();
  return detail::reduce_to_count<detail::argmin_family<from, long long, int>,
                                 detail::argmin_family<from, long long, long long>>(
      static_cast<A&&>(a), options...);
}

/// The index of the largest element. Otherwise as `argmin`.
template <detail::array_operand A, detail::axis_option... O>
auto argmax(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  detail::check_ordered<from>();
  return detail::reduce_to_count<detail::argmax_family<from, long long, int>,
                                 detail::argmax_family<from, long long, long long>>(
      static_cast<A&&>(a), options...);
}

/// The mean of the elements; NaN for none. Of integers and `bool` it is double, of 16-bit numbers
/// float; `gpu::mean<double>(x)` names another type, in which elements are added.
template <class R = void, detail::array_operand A, detail::axis_option... O>
auto mean(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  using to = detail::chosen_t<R, detail::mean_t<from>>;
  detail::check_mean<from, to>();
  return detail::reduce_to<detail::mean_family<from, to>>(static_cast<A&&>(a), options...);
}

/// The variance of the elements, found in one pass with their mean; NaN for none. One option more
/// than for `mean`: `gpu::variance(x, gpu::variance_options{.correction = 1})` divides by one less
/// than their number. The variance of complex numbers is real.
template <class R = void, detail::array_operand A, detail::moments_option... O>
auto variance(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  using mean = detail::mean_beside_t<from, detail::variance_t<R, from>>;
  return detail::reduce_to<detail::variance_family<from, mean>>(static_cast<A&&>(a), options...);
}

/// The root of the variance. Otherwise as `variance`.
template <class R = void, detail::array_operand A, detail::moments_option... O>
auto standard_deviation(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  using mean = detail::mean_beside_t<from, detail::variance_t<R, from>>;
  return detail::reduce_to<detail::deviation_family<from, mean>>(static_cast<A&&>(a), options...);
}

/// The Euclidean norm: the root of the sum of the squares of all absolute values, which do not
/// overflow or underflow; 0 for none. Types are as for `mean`; the norm of complex numbers is real.
template <class R = void, detail::array_operand A, detail::axis_option... O>
auto norm(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  using to = detail::chosen_t<R, detail::mean_t<detail::real_part_t<from>>>;
  return detail::reduce_to<typename detail::chosen_norm<from, to>::family>(static_cast<A&&>(a),
                                                                           options...);
}

/// Whether an element is not zero, a `bool`; false for none. NaN is not zero.
template <detail::array_operand A, detail::axis_option... O>
auto any_of(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  return detail::reduce_to<detail::any_of_family<from, bool>>(static_cast<A&&>(a), options...);
}

/// Whether no element is zero, a `bool`; true for none. Otherwise as `any_of`.
template <detail::array_operand A, detail::axis_option... O>
auto all_of(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  return detail::reduce_to<detail::all_of_family<from, bool>>(static_cast<A&&>(a), options...);
}

/// How many elements are not zero, a `long long`: `gpu::count(x > 0)`.
template <detail::array_operand A, detail::axis_option... O>
auto count(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  return detail::reduce_to_count<detail::count_family<from, long long, unsigned>,
                                 detail::count_family<from, long long, unsigned long long>>(
      static_cast<A&&>(a), options...);
}

/// The sum of `a * b`, in which both are converted to the type of the sum first. Complex numbers
/// are not conjugated.
template <class R = void, detail::array_operand A, detail::array_operand B,
          detail::axis_option... O>
auto dot(A&& a, B&& b, O... options) noexcept {
  using to = detail::dot_t<R, detail::operand_element_t<A>, detail::operand_element_t<B>>;
  return gpu::sum<to>(gpu::cast<to>(static_cast<A&&>(a)) * gpu::cast<to>(static_cast<B&&>(b)),
                      options...);
}

/// The sum of `conj(a) * b`. For numbers that are not complex it is `dot`.
template <class R = void, detail::array_operand A, detail::array_operand B,
          detail::axis_option... O>
auto vdot(A&& a, B&& b, O... options) noexcept {
  using to = detail::dot_t<R, detail::operand_element_t<A>, detail::operand_element_t<B>>;
  return gpu::sum<to>(
      gpu::conj(gpu::cast<to>(static_cast<A&&>(a))) * gpu::cast<to>(static_cast<B&&>(b)),
      options...);
}

}}  // namespace gpu::v1
