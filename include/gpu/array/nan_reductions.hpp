#pragma once
/// \file
/// Reductions that leave NaN out, as NumPy's `nansum` and its like: `nan_sum`, `nan_product`,
/// `nan_min`, `nan_max`, `nan_argmin`, `nan_argmax`, `nan_mean`, `nan_variance` and
/// `nan_standard_deviation`. Options and everything else are as in `gpu/array/reductions.hpp`. A
/// complex number is left out if one of its parts is NaN. Of integers and `bool` they are `sum` and
/// its like.

#include <gpu/algorithm/reduce/moments_reduction.hpp>
#include <gpu/algorithm/reduce/run_named.hpp>
#include <gpu/array/detail/nan_reductions_text.hpp>
#include <gpu/array/detail/reduction_part.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/array/reductions.hpp>
#include <gpu/generated/number_type.hpp>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T, class R> constexpr void check_nan_sum() noexcept {
  check_combined<T, R>();
  static_assert(fractional_number<R>,
                "the sum of floating-point numbers without NaN is one, or a complex number");
}

}  // namespace detail

/// The sum of the elements that are not NaN; 0 for none.
template <class R = void, detail::array_operand A, detail::axis_option... O>
auto nan_sum(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  if constexpr (detail::fractional_number<from>) {
    using to = detail::chosen_t<R, detail::sum_t<from>>;
    detail::check_nan_sum<from, to>();
    return detail::reduce_to<detail::nan_sum_family<from, to>>(static_cast<A&&>(a), options...);
  } else {
    return gpu::sum<R>(static_cast<A&&>(a), options...);
  }
}

/// The product of the elements that are not NaN; 1 for none.
template <class R = void, detail::array_operand A, detail::axis_option... O>
auto nan_product(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  if constexpr (detail::fractional_number<from>) {
    using to = detail::chosen_t<R, detail::sum_t<from>>;
    detail::check_nan_sum<from, to>();
    return detail::reduce_to<detail::nan_product_family<from, to>>(static_cast<A&&>(a), options...);
  } else {
    return gpu::product<R>(static_cast<A&&>(a), options...);
  }
}

/// The smallest element that is not NaN; NaN if all are. An error for no elements.
template <detail::array_operand A, detail::axis_option... O>
auto nan_min(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  detail::check_ordered<from>();
  if constexpr (detail::fractional_number<from>) {
    return detail::reduce_to<detail::nan_min_family<from>>(static_cast<A&&>(a), options...);
  } else {
    return gpu::min(static_cast<A&&>(a), options...);
  }
}

/// The largest element that is not NaN. Otherwise as `nan_min`.
template <detail::array_operand A, detail::axis_option... O>
auto nan_max(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  detail::check_ordered<from>();
  if constexpr (detail::fractional_number<from>) {
    return detail::reduce_to<detail::nan_max_family<from>>(static_cast<A&&>(a), options...);
  } else {
    return gpu::max(static_cast<A&&>(a), options...);
  }
}

/// The index of the smallest element that is not NaN, as `argmin` has it; -1 if all are, for which
/// NumPy raises an exception. An error for no elements.
template <detail::array_operand A, detail::axis_option... O>
auto nan_argmin(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  detail::check_ordered<from>();
  if constexpr (detail::fractional_number<from>) {
    return detail::reduce_to_count<detail::nan_argmin_family<from, int>,
                                   detail::nan_argmin_family<from, long long>>(static_cast<A&&>(a),
                                                                               options...);
  } else {
    return gpu::argmin(static_cast<A&&>(a), options...);
  }
}

/// The index of the largest element that is not NaN. Otherwise as `nan_argmin`.
template <detail::array_operand A, detail::axis_option... O>
auto nan_argmax(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  detail::check_ordered<from>();
  if constexpr (detail::fractional_number<from>) {
    return detail::reduce_to_count<detail::nan_argmax_family<from, int>,
                                   detail::nan_argmax_family<from, long long>>(static_cast<A&&>(a),
                                                                               options...);
  } else {
    return gpu::argmax(static_cast<A&&>(a), options...);
  }
}

/// The mean of the elements that are not NaN; NaN for none.
template <class R = void, detail::array_operand A, detail::axis_option... O>
auto nan_mean(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  if constexpr (detail::fractional_number<from>) {
    using to = detail::chosen_t<R, detail::mean_t<from>>;
    detail::check_mean<from, to>();
    return detail::reduce_to_count<detail::nan_mean_family<from, to, int>,
                                   detail::nan_mean_family<from, to, long long>>(
        static_cast<A&&>(a), options...);
  } else {
    return gpu::mean<R>(static_cast<A&&>(a), options...);
  }
}

/// The variance of the elements that are not NaN; NaN unless they are more than the correction.
template <class R = void, detail::array_operand A, detail::moments_option... O>
auto nan_variance(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  if constexpr (detail::fractional_number<from>) {
    using mean = detail::mean_beside_t<from, detail::variance_t<R, from>>;
    return detail::reduce_to<detail::nan_variance_family<from, mean>>(static_cast<A&&>(a),
                                                                      options...);
  } else {
    return gpu::variance<R>(static_cast<A&&>(a), options...);
  }
}

/// The root of `nan_variance`. Otherwise as that.
template <class R = void, detail::array_operand A, detail::moments_option... O>
auto nan_standard_deviation(A&& a, O... options) noexcept {
  using from = detail::operand_element_t<A>;
  if constexpr (detail::fractional_number<from>) {
    using mean = detail::mean_beside_t<from, detail::variance_t<R, from>>;
    return detail::reduce_to<detail::nan_deviation_family<from, mean>>(static_cast<A&&>(a),
                                                                       options...);
  } else {
    return gpu::standard_deviation<R>(static_cast<A&&>(a), options...);
  }
}

}}  // namespace gpu::v1
