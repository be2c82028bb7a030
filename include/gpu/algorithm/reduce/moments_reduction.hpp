#pragma once
/// \file
/// The texts of `variance`, `standard_deviation` and `mean_variance`.

#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/compiler/instance.hpp>
#include <gpu/generated/number_type.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// The result of `mean_variance`.
template <class Mean, class Variance = Mean> struct mean_and_variance {
  Mean mean;
  Variance variance;
};

namespace detail {

/// The moments of some elements: their number, their sum, their mean, and the sum of the squares of
/// the differences from the mean. The mean that is returned is computed from the sum, so that it
/// equals that of `mean`; differences are taken from the running mean.
template <class Real> struct real_moments {
  Real count, sum, mean, squares;
};
template <class Real> struct complex_moments {
  Real count, sum[2], mean[2], squares;
};
template <class N>
using moments_t = std::conditional_t<complex_number<N>, complex_moments<real_part_t<N>>,
                                     real_moments<real_part_t<N>>>;

inline constexpr char moments_structure[] =
    "struct gpu_combined { gpu_other count; gpu_number sum, mean; gpu_other squares; };";
inline constexpr char real_moments_preamble[] = R"gpu(
inline gpu_number gpu_scale(gpu_number a, gpu_other factor) { return a * factor; }
inline gpu_other gpu_square(gpu_number a) { return a * a; }
)gpu";
inline constexpr char complex_moments_preamble[] = R"gpu(
inline gpu_number gpu_scale(const gpu_number& a, gpu_other factor) {
  return {a.re * factor, a.im * factor};
}
inline gpu_other gpu_square(const gpu_number& a) { return a.re * a.re + a.im * a.im; }
)gpu";

/// Moments of two sets are combined as T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating
/// formulae and a pairwise algorithm for computing sample variances", 1979, do. A whole group of
/// elements is taken at once: its mean first, then the squares.
inline constexpr char moments_functions[] = R"gpu(
inline gpu_value gpu_moments_of(const gpu_number& x) {
  return {1, x, x, gpu_square(x - x)};  // NaN for what is not finite
}
inline gpu_value gpu_merge(const gpu_value& a, const gpu_value& b) {
  const gpu_other count = a.count + b.count;
  const gpu_other part = count == 0 ? 0 : b.count / count, weight = a.count * part;
  const gpu_number distance = b.mean - a.mean;
  const gpu_other more = weight == 0 ? 0 : gpu_square(distance) * weight;
  return {count, a.sum + b.sum, a.mean + gpu_scale(distance, part), a.squares + b.squares + more};
}
template <int Count, class Combine>
inline gpu_value gpu_join_moments(gpu_value (&values)[Count], Combine combine) {
  if (values[Count - 1].count == 0) return gpu::loops::combine_group(values, combine);
  const auto plus = [](const auto& a, const auto& b) { return a + b; };
  gpu_number numbers[Count];
#pragma unroll
  for (int k = 0; k < Count; ++k) numbers[k] = values[k].sum;
  const gpu_number sum = gpu::loops::combine_group(numbers, plus);
  const gpu_number mean = gpu_scale(sum, gpu_other(1) / Count);
  gpu_other squares[Count];
#pragma unroll
  for (int k = 0; k < Count; ++k) squares[k] = gpu_square(values[k].sum - mean);
  return {Count, sum, mean, gpu::loops::combine_group(squares, plus)};
}
/// Returns the sum of squares divided by the degrees of freedom.
inline gpu_other gpu_variance(const gpu_value& a, long long length, double correction) {
  return a.squares / gpu_other(fmax(double(length) - correction, 0.0));
}
)gpu";

template <std::size_t A, std::size_t B>
consteval joined_name<A + B> join_texts(const char (&a)[A], const char (&b)[B]) noexcept {
  joined_name<A + B> joined;
  return joined.add(a, A - 1).add(b, B - 1);
}
inline constexpr auto real_moments_text = join_texts(real_moments_preamble, moments_functions);
inline constexpr auto complex_moments_text =
    join_texts(complex_moments_preamble, moments_functions);

inline constexpr char variance_text[] = "gpu_variance(a, gpu_length, correction)";
inline constexpr char deviation_text[] = "sqrt(gpu_variance(a, gpu_length, correction))";

template <class N> inline constexpr moments_t<N> no_moments = {};

/// The parts that `variance` and its relatives share. `N` is the type of the mean.
template <class T, class N>
constexpr named_reduction moments_reduction(const char* function, const char* kernel) noexcept {
  using combined = combined_t<N>;
  named_reduction made;
  made.function = function;
  made.kernel = kernel;
  made.names = "x, correction";
  made.parameters[0] = elements_of_type<T>();
  made.parameters[1] = number_of_type<double>();
  made.number = element_type_of<combined>();
  made.other = element_type_of<real_part_t<combined>>();
  made.structure = moments_structure;
  made.structure_bytes = sizeof(moments_t<combined>);
  made.structure_alignment = alignof(moments_t<combined>);
  made.neutral = &no_moments<combined>;
  made.preamble =
      complex_number<N> ? complex_moments_text.characters : real_moments_text.characters;
  made.map = "gpu_moments_of(gpu_number(x[i]))";
  made.combine = "gpu_merge(a, b)";
  made.join = "gpu_join_moments";
  return made;
}

template <class T, class N> struct variance_family {
  using result_type = real_part_t<N>;
  static constexpr named_reduction make() noexcept {
    named_reduction made = moments_reduction<T, N>("gpu::variance", "gpu_variance_of");
    made.results[0] = {element_type_of<result_type>(), variance_text};
    return made;
  }
  static constexpr named_reduction text = make();
};
template <class T, class N> struct deviation_family {
  using result_type = real_part_t<N>;
  static constexpr named_reduction make() noexcept {
    named_reduction made =
        moments_reduction<T, N>("gpu::standard_deviation", "gpu_standard_deviation");
    made.results[0] = {element_type_of<result_type>(), deviation_text};
    return made;
  }
  static constexpr named_reduction text = make();
};
template <class T, class N> struct mean_variance_family {
  using result_type = mean_and_variance<N, real_part_t<N>>;
  static constexpr named_reduction make() noexcept {
    named_reduction made = moments_reduction<T, N>("gpu::mean_variance", "gpu_mean_variance");
    made.results[0] = {element_type_of<N>(), mean_text};
    made.results[1] = {element_type_of<real_part_t<N>>(), variance_text};
    return made;
  }
  static constexpr const char* mean_text =
      complex_number<N> ? "gpu_result_0(a.sum.re / gpu_length, a.sum.im / gpu_length)"
                        : "a.sum / gpu_length";
  static constexpr named_reduction text = make();
};

/// The type of the mean if the variance is an `R`; for complex elements it is complex.
template <class T, class R> struct mean_beside {
  static_assert(number<T>,
                "the elements are numbers: bool, integers, float, double, __half, "
                "__nv_bfloat16, or std::complex of float or double");
  static_assert(fractional_number<R> && !complex_number<R>,
                "a variance is a float, double, __half or __nv_bfloat16");
  using type = R;
};
template <complex_number T, class R> struct mean_beside<T, R> {
  static_assert(std::same_as<R, real_part_t<T>>,
                "the variance of complex numbers has the type of their real parts");
  using type = T;
};
template <class T, class R> using mean_beside_t = typename mean_beside<T, R>::type;
/// The type of a variance of `T`, unless the caller names it.
template <class R, class T> using variance_t = chosen_t<R, mean_t<real_part_t<T>>>;

}  // namespace detail
}}  // namespace gpu::v1
