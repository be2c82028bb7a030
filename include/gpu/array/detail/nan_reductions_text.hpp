#pragma once
/// \file
/// The texts of reductions that leave NaN out.

#include <gpu/algorithm/argmin.hpp>
#include <gpu/algorithm/min_max.hpp>
#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/algorithm/sum.hpp>
#include <gpu/generated/number_type.hpp>

namespace gpu { inline namespace v1 { namespace detail {

template <class T> constexpr T nan_of() noexcept { return static_cast<T>(__builtin_nan("")); }

template <class T, class R> struct nan_sum_family {
  using result_type = R;
  static constexpr named_reduction make() noexcept {
    named_reduction made = sum_family<T, R>::text;
    made.function = "gpu::nan_sum";
    made.kernel = "gpu_nan_sum";
    made.map = "gpu_value(x[i]) == gpu_value(x[i]) ? gpu_value(x[i]) : gpu_value(0)";
    return made;
  }
  static constexpr named_reduction text = make();
};

template <class T, class R> struct nan_product_family {
  using result_type = R;
  static constexpr named_reduction make() noexcept {
    named_reduction made = product_family<T, R>::text;
    made.function = "gpu::nan_product";
    made.kernel = "gpu_nan_product";
    made.map = "gpu_value(x[i]) == gpu_value(x[i]) ? gpu_value(x[i]) : gpu_value(1)";
    return made;
  }
  static constexpr named_reduction text = make();
};

template <class T> struct nan_min_family {
  using result_type = T;
  static constexpr combined_t<T> neutral = nan_of<combined_t<T>>();
  static constexpr named_reduction make() noexcept {
    named_reduction made = min_family<T>::text;
    made.function = "gpu::nan_min";
    made.kernel = "gpu_nan_min";
    made.neutral = &neutral;
    made.combine = "a <= b || b != b ? a : b";
    return made;
  }
  static constexpr named_reduction text = make();
};

template <class T> struct nan_max_family {
  using result_type = T;
  static constexpr combined_t<T> neutral = nan_of<combined_t<T>>();
  static constexpr named_reduction make() noexcept {
    named_reduction made = max_family<T>::text;
    made.function = "gpu::nan_max";
    made.kernel = "gpu_nan_max";
    made.neutral = &neutral;
    made.combine = "a >= b || b != b ? a : b";
    return made;
  }
  static constexpr named_reduction text = make();
};

/// Changes the texts of `argmin` or `argmax` to those that choose NaN last.
constexpr named_reduction choose_nan_last(named_reduction made) noexcept {
  made.preamble =
      "/// The wanted value comes first, then the lower index; NaN comes last.\n"
      "inline bool gpu_precedes(const gpu_value& a, const gpu_value& b, bool wanted) {\n"
      "  const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;\n"
      "  const bool equal = (a.value == b.value) | (a_is_nan & b_is_nan);\n"
      "  return wanted | (!a_is_nan & b_is_nan) | (equal & (a.at < b.at));\n}\n";
  made.results[0].finish = "a.value == a.value ? a.at - gpu_at * gpu_length : -1";
  return made;
}

template <class T, class Index> struct nan_argmin_family {
  using result_type = long long;
  static constexpr placed_number<combined_t<T>, Index> neutral = {nan_of<combined_t<T>>(),
                                                                  highest_of<Index>()};
  static constexpr named_reduction text = choose_nan_last(find_position_text<T, long long, Index>(
      "gpu::nan_argmin", "gpu_nan_argmin", "gpu_precedes(b, a, b.value < a.value) ? b : a",
      "the smallest element", neutral));
};

template <class T, class Index> struct nan_argmax_family {
  using result_type = long long;
  static constexpr placed_number<combined_t<T>, Index> neutral = {nan_of<combined_t<T>>(),
                                                                  highest_of<Index>()};
  static constexpr named_reduction text = choose_nan_last(find_position_text<T, long long, Index>(
      "gpu::nan_argmax", "gpu_nan_argmax", "gpu_precedes(b, a, b.value > a.value) ? b : a",
      "the largest element", neutral));
};

/// A sum, and of how many elements it is.
template <class N, class Count> struct counted_sum {
  N sum;
  Count count;
};

template <class T, class R, class Count> struct nan_mean_family {
  using result_type = R;
  using combined = combined_t<R>;
  static constexpr counted_sum<combined, Count> neutral = {};
  static constexpr named_reduction text = {
      .function = "gpu::nan_mean",
      .kernel = "gpu_nan_mean",
      .parameters = {elements_of_type<T>()},
      .number = element_type_of<combined>(),
      .other = element_type_of<Count>(),
      .structure = "struct gpu_combined { gpu_number sum; gpu_other count; };",
      .structure_bytes = sizeof(neutral),
      .structure_alignment = alignof(counted_sum<combined, Count>),
      .neutral = &neutral,
      .map = "gpu_number(x[i]) == gpu_number(x[i]) ? gpu_value{gpu_number(x[i]), 1} : gpu_value{}",
      .combine = "gpu_value{a.sum + b.sum, a.count + b.count}",
      .results = {{element_type_of<R>(),
                   complex_number<R> ? "gpu_result_0(a.sum.re / a.count, a.sum.im / a.count)"
                                     : "a.sum / a.count"}}};
};

/// The texts of `nan_variance`. Elements of a group are combined in pairs, since any of them may be
/// left out.
template <class T, class N>
constexpr named_reduction nan_moments(const char* function, const char* kernel,
                                      const char* finish) noexcept {
  named_reduction made = moments_reduction<T, N>(function, kernel);
  made.map =
      "gpu_number(x[i]) == gpu_number(x[i]) ? gpu_moments_of(gpu_number(x[i])) : gpu_value{}";
  made.join = "";
  made.results[0] = {element_type_of<real_part_t<N>>(), finish};
  return made;
}

template <class T, class N> struct nan_variance_family {
  using result_type = real_part_t<N>;
  static constexpr named_reduction text = nan_moments<T, N>(
      "gpu::nan_variance", "gpu_nan_variance",
      "a.count > correction ? a.squares / gpu_other(a.count - correction) : gpu_other(0) / 0");
};
template <class T, class N> struct nan_deviation_family {
  using result_type = real_part_t<N>;
  static constexpr named_reduction text = nan_moments<T, N>(
      "gpu::nan_standard_deviation", "gpu_nan_standard_deviation",
      "a.count > correction ? sqrt(a.squares / gpu_other(a.count - correction)) : gpu_other(0) / "
      "0");
};

}}}  // namespace gpu::v1::detail
