#pragma once
/// \file
/// `argmin` and `argmax`: the index of the smallest and of the largest element.

#include <gpu/algorithm/min_max.hpp>
#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/algorithm/reduce/run_named.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

/// A number and its index.
template <class T, class Index> struct placed_number {
  T value;
  Index at;
};

/// Returns the kernels of `argmin` or `argmax` for elements of type `T`, fewer than `Index` can
/// count, that store an `R`. `combine` passes to `gpu_precedes` which value is wanted first.
/// `|` and `&` make no branches, which take longer to compile.
template <class T, class R, class Index>
constexpr named_reduction find_position_text(
    const char* function, const char* kernel, const char* combine, const char* wanted,
    const placed_number<combined_t<T>, Index>& neutral) noexcept {
  return {.function = function,
          .kernel = kernel,
          .parameters = {elements_of_type<T>()},
          .number = element_type_of<combined_t<T>>(),
          .other = element_type_of<Index>(),
          .structure = "struct gpu_combined { gpu_number value; gpu_other at; };",
          .structure_bytes = sizeof(neutral),
          .structure_alignment = alignof(placed_number<combined_t<T>, Index>),
          .neutral = &neutral,
          .preamble =
              "/// NaN comes first, then the wanted value, then the lower index.\n"
              "inline bool gpu_precedes(const gpu_value& a, const gpu_value& b, bool wanted) {\n"
              "  const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;\n"
              "  const bool equal = (a.value == b.value) | (a_is_nan & b_is_nan);\n"
              "  return wanted | (a_is_nan & !b_is_nan) | (equal & (a.at < b.at));\n}\n",
          .map = "gpu_value{gpu_number(x[i]), gpu_other(i)}",
          .combine = combine,
          .results = {{element_type_of<R>(), "a.at - gpu_at * gpu_length"}},
          .wanted = wanted,
          .most = highest_of<R>()};
}

template <class T, class R, class Index> struct argmin_family {
  using result_type = R;
  static constexpr placed_number<combined_t<T>, Index> neutral = {highest_of<combined_t<T>>(),
                                                                  highest_of<Index>()};
  static constexpr named_reduction text = find_position_text<T, R, Index>(
      "gpu::argmin", "gpu_argmin", "gpu_precedes(b, a, b.value < a.value) ? b : a",
      "the smallest element", neutral);
};

template <class T, class R, class Index> struct argmax_family {
  using result_type = R;
  static constexpr placed_number<combined_t<T>, Index> neutral = {lowest_of<combined_t<T>>(),
                                                                  highest_of<Index>()};
  static constexpr named_reduction text = find_position_text<T, R, Index>(
      "gpu::argmax", "gpu_argmax", "gpu_precedes(b, a, b.value > a.value) ? b : a",
      "the largest element", neutral);
};

/// Returns whether the indices of that many elements have 32 bits.
constexpr bool has_short_positions(std::size_t elements) noexcept {
  return elements <= 0x7fff'ffff;
}

/// Returns the index of the wanted element to the host.
template <template <class, class, class> class Family, class T, class X>
result<std::size_t> find_position(const stream_ref& stream, X& x, source_location where) {
  check_ordered<T>();
  if (has_short_positions(make_operand(x).memory.count))
    return reduce_elements<Family<T, std::size_t, int>, T>(stream, x, where);
  return reduce_elements<Family<T, std::size_t, long long>, T>(stream, x, where);
}

/// Stores the index of the wanted element of each segment.
template <template <class, class, class> class Family, class T, class X, class Out>
result<> find_positions(const stream_ref& stream, X& x, Out& out, source_location where) {
  check_ordered<T>();
  using position = stored_element_t<Out>;
  static_assert(index_type<position>,
                "positions are std::uint32_t, std::int32_t, std::uint64_t or std::int64_t");
  if (has_short_positions(make_operand(x).memory.count))
    return reduce_elements_into<Family<T, position, int>, T>(stream, x, out, where);
  return reduce_elements_into<Family<T, position, long long>, T>(stream, x, out, where);
}

}  // namespace detail

/// Returns the index of the smallest element of `x`, in C order: that of the first one, if several
/// are equal, and that of the first NaN, if an element is NaN. As in NumPy. 0.0 and -0.0 are equal.
/// Otherwise as `min`.
template <class X>
result<std::size_t> argmin(const stream_ref& stream, X&& x,
                           source_location where = source_location::current()) {
  return detail::find_position<detail::argmin_family, detail::argument_element<X>>(stream, x,
                                                                                   where);
}

/// Stores the index of the smallest element of each segment of `x` in an element of `out`, an
/// integer of 32 or 64 bits. The index counts from the beginning of the segment.
/// **Errors**: also `errc::invalid_argument` if the integers are too small for the length of a
/// segment. Otherwise as `min`.
template <class X, detail::range_or_view Out>
result<> argmin(const stream_ref& stream, X&& x, Out&& out,
                source_location where = source_location::current()) {
  return detail::find_positions<detail::argmin_family, detail::argument_element<X>>(stream, x, out,
                                                                                    where);
}

/// Returns the index of the largest element of `x`. Otherwise as `argmin`.
template <class X>
result<std::size_t> argmax(const stream_ref& stream, X&& x,
                           source_location where = source_location::current()) {
  return detail::find_position<detail::argmax_family, detail::argument_element<X>>(stream, x,
                                                                                   where);
}

/// Stores the index of the largest element of each segment of `x` in an element of `out`. Otherwise
/// as `argmin`.
template <class X, detail::range_or_view Out>
result<> argmax(const stream_ref& stream, X&& x, Out&& out,
                source_location where = source_location::current()) {
  return detail::find_positions<detail::argmax_family, detail::argument_element<X>>(stream, x, out,
                                                                                    where);
}

}}  // namespace gpu::v1
