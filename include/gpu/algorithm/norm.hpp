#pragma once
/// \file
/// `norm`: the Euclidean length of all elements, or of those of each segment.

#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/algorithm/reduce/run_named.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>

#include <concepts>

namespace gpu { inline namespace v1 {

namespace detail {

/// Sums of squares of doubles of which none overflows or underflows: large numbers are scaled down
/// and small ones up, as E. Anderson, "Algorithm 978: Safe scaling in the level 1 BLAS", 2017,
/// proposes.
struct scaled_squares {
  double large, medium, small;
};

inline constexpr char scaled_structure[] = "struct gpu_combined { double large, medium, small; };";
inline constexpr char scaled_preamble[] =
    R"gpu(/// Returns the square of x, scaled if it is extreme.
inline gpu_combined gpu_square(double x) {
  const double size = fabs(x);
  if (size > 0x1p486) return {(size * 0x1p-538) * (size * 0x1p-538), 0, 0};
  if (size < 0x1p-511) return {0, 0, (size * 0x1p537) * (size * 0x1p537)};
  return {0, size * size, 0};
}
inline gpu_combined gpu_add(const gpu_combined& a, const gpu_combined& b) {
  return {a.large + b.large, a.medium + b.medium, a.small + b.small};
}
/// Returns the root of the sum of all squares.
inline double gpu_root(const gpu_combined& a) {
  const bool has_medium = a.medium > 0 || a.medium != a.medium;
  if (a.large > 0) {
    const double others = has_medium ? a.medium * 0x1p-538 * 0x1p-538 : 0;
    return sqrt(a.large + others) * 0x1p538;
  }
  const double small = sqrt(a.small) * 0x1p-537;
  if (!has_medium) return small;
  if (a.small == 0) return sqrt(a.medium);
  const double medium = sqrt(a.medium);
  const double least = fmin(small, medium), most = medium != medium ? medium : fmax(small, medium);
  return most * sqrt(1 + (least / most) * (least / most));
}
)gpu";

/// Squares of doubles.
template <class T, class R, bool Scaled> struct norm_family {
  using result_type = R;
  static constexpr scaled_squares neutral = {0, 0, 0};
  static constexpr named_reduction text = {
      .function = "gpu::norm",
      .kernel = "gpu_norm",
      .parameters = {elements_of_type<T>()},
      .number = element_type_of<double>(),
      .structure = scaled_structure,
      .structure_bytes = sizeof(scaled_squares),
      .structure_alignment = alignof(scaled_squares),
      .neutral = &neutral,
      .preamble = scaled_preamble,
      .map = complex_number<T> ? "gpu_add(gpu_square(x[i].re), gpu_square(x[i].im))"
                               : "gpu_square(x[i])",
      .combine = "gpu_add(a, b)",
      .results = {{element_type_of<R>(), "gpu_root(a)"}}};
};

/// Squares of other numbers, which a double always holds.
template <class T, class R> struct norm_family<T, R, false> {
  using result_type = R;
  static constexpr named_reduction text = {
      .function = "gpu::norm",
      .kernel = "gpu_norm",
      .parameters = {elements_of_type<T>()},
      .number = element_type_of<double>(),
      .neutral = &number_constant<double, 0>,
      .map = complex_number<T>
                 ? "double(x[i].re) * double(x[i].re) + double(x[i].im) * double(x[i].im)"
                 : "double(x[i]) * double(x[i])",
      .combine = "a + b",
      .results = {{element_type_of<R>(), "sqrt(a)"}}};
};

template <class T, class R> struct chosen_norm {
  static_assert(number<T>,
                "the elements are numbers: bool, integers, float, double, __half, "
                "__nv_bfloat16, or std::complex of float or double");
  static_assert(fractional_number<R> && !complex_number<R>,
                "a norm is a float, double, __half or __nv_bfloat16");
  using family = norm_family<T, R, std::same_as<real_part_t<T>, double>>;
};

}  // namespace detail

/// Returns the Euclidean norm of `x`, device memory or a view of numbers: the root of the sum of
/// the squares of all absolute values. 0 for no elements.
///
/// The result is of the elements' type or that of their real parts; double for integers and `bool`,
/// float for `__half` and `__nv_bfloat16`; or `gpu::norm<double>(stream, x)` asks for another.
/// Squares do not overflow or underflow, so that the result is right where it fits in its type:
/// squares are added in double, and those of doubles in three sums, of which two are scaled. With a
/// NaN or an infinity it is NaN or infinite. The order of the sums is as for `sum`.
/// **Ordering**: after the work queued on the stream; waits for the result. **Errors**: as for
/// `sum`. **Cost**: as for `sum`; devices that are slow in double are so here. **Threads**: any
/// number may call.
template <class R = void, class X>
auto norm(const stream_ref& stream, X&& x, source_location where = source_location::current())
    -> result<
        detail::chosen_t<R, detail::mean_t<detail::real_part_t<detail::argument_element<X>>>>> {
  using from = detail::argument_element<X>;
  using to = detail::chosen_t<R, detail::mean_t<detail::real_part_t<from>>>;
  return detail::reduce_elements<typename detail::chosen_norm<from, to>::family, from>(stream, x,
                                                                                       where);
}

/// Stores the norm of each segment of `x` in an element of `out`. Segments and errors are as for
/// `sum`. **Ordering**: after the work queued on the stream; does not wait. **Capture**: allowed.
template <class X, detail::range_or_view Out>
result<> norm(const stream_ref& stream, X&& x, Out&& out,
              source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using to = detail::stored_element_t<Out>;
  return detail::reduce_elements_into<typename detail::chosen_norm<from, to>::family, from>(
      stream, x, out, where);
}

}}  // namespace gpu::v1
