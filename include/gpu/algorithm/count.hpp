#pragma once
/// \file
/// `count`, `any_of` and `all_of`: how many elements are not zero, or equal a value.

#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/algorithm/reduce/reduction_kernel.hpp>
#include <gpu/algorithm/reduce/run_named.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>

#include <concepts>
#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

/// Kernels that count elements that are not zero in a `Count`, and store an `R`.
template <class T, class R, class Count> struct count_family {
  using result_type = R;
  static constexpr named_reduction text = {.function = "gpu::count",
                                           .kernel = "gpu_count",
                                           .parameters = {elements_of_type<T>()},
                                           .number = element_type_of<Count>(),
                                           .neutral = &number_constant<Count, 0>,
                                           .map = "x[i] != 0",
                                           .combine = "a + b",
                                           .results = {{element_type_of<R>()}},
                                           .most = highest_of<R>()};
};

template <class T, class R, class Count> struct count_equal_family {
  using result_type = R;
  static constexpr named_reduction text = {
      .function = "gpu::count",
      .kernel = "gpu_count_equal",
      .names = "x, value",
      .parameters = {elements_of_type<T>(), number_of_type<T>()},
      .number = element_type_of<Count>(),
      .neutral = &number_constant<Count, 0>,
      .map = "x[i] == value",
      .combine = "a + b",
      .results = {{element_type_of<R>()}},
      .most = highest_of<R>()};
};

template <class T, class R> struct any_of_family {
  using result_type = R;
  static constexpr named_reduction text = {.function = "gpu::any_of",
                                           .kernel = "gpu_any_of",
                                           .parameters = {elements_of_type<T>()},
                                           .number = element_type_of<unsigned>(),
                                           .neutral = &number_constant<unsigned, 0>,
                                           .map = "x[i] != 0",
                                           .combine = "a | b",
                                           .results = {{element_type_of<R>()}}};
};

template <class T, class R> struct all_of_family {
  using result_type = R;
  static constexpr named_reduction text = {.function = "gpu::all_of",
                                           .kernel = "gpu_all_of",
                                           .parameters = {elements_of_type<T>()},
                                           .number = element_type_of<unsigned>(),
                                           .neutral = &number_constant<unsigned, 1>,
                                           .map = "x[i] != 0",
                                           .combine = "a & b",
                                           .results = {{element_type_of<R>()}}};
};

template <class T> constexpr void check_compared() noexcept {
  static_assert(number<T>,
                "the elements are numbers: bool, integers, float, double, __half, "
                "__nv_bfloat16, or std::complex of float or double");
}
template <class T, class R> constexpr void check_counted() noexcept {
  check_compared<T>();
  static_assert(index_type<R>,
                "counts are std::uint32_t, std::int32_t, std::uint64_t or std::int64_t");
}
template <class T, class R> constexpr void check_truth() noexcept {
  check_compared<T>();
  static_assert(detail::word_integer<R>,
                "gpu::any_of and gpu::all_of store bools, or 0 and 1 as integers");
}

/// Returns whether that many elements can be counted in 32 bits.
constexpr bool is_counted_narrowly(std::size_t elements) noexcept {
  return elements <= highest_of<unsigned>();
}

}  // namespace detail

/// Returns how many elements of `x`, device memory or a view of numbers, are not zero. NaN is not.
/// **Ordering**: after the work queued on the stream; waits for the result.
/// **Errors**: as for `sum`. **Cost**: as for `sum`. **Threads**: any number may call.
template <class X>
result<std::size_t> count(const stream_ref& stream, X&& x,
                          source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using to = std::size_t;
  detail::check_counted<from, to>();
  if (detail::is_counted_narrowly(detail::make_operand(x).memory.count))
    return detail::reduce_elements<detail::count_family<from, to, unsigned>, from>(stream, x,
                                                                                   where);
  return detail::reduce_elements<detail::count_family<from, to, unsigned long long>, from>(
      stream, x, where);
}

/// Stores how many elements of each segment of `x` are not zero in an element of `out`, an integer
/// of 32 or 64 bits. Segments are as for `sum`.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**: as for `sum`, and
/// `errc::invalid_argument` if the integers are too small for the length of a segment.
/// **Capture**: allowed.
template <class X, detail::range_or_view Out>
result<> count(const stream_ref& stream, X&& x, Out&& out,
               source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using to = detail::stored_element_t<Out>;
  detail::check_counted<from, to>();
  if (detail::is_counted_narrowly(detail::make_operand(x).memory.count))
    return detail::reduce_elements_into<detail::count_family<from, to, unsigned>, from>(stream, x,
                                                                                        out, where);
  return detail::reduce_elements_into<detail::count_family<from, to, unsigned long long>, from>(
      stream, x, out, where);
}

/// Returns how many elements of `x` equal `value`, a number of the same type. NaN equals nothing.
/// Otherwise as above.
template <class X, class Value>
  requires(!detail::range_or_view<Value> && !std::same_as<Value, source_location>)
result<std::size_t> count(const stream_ref& stream, X&& x, const Value& value,
                          source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using to = std::size_t;
  detail::check_counted<from, to>();
  detail::bound_argument<const from*> elements(x);
  detail::bound_argument<from> wanted(value);
  const detail::loop_argument list[] = {elements.get(), wanted.get()};
  const detail::named_call call = {stream, list, where};
  to found;
  if (detail::is_counted_narrowly(elements.operand.memory.count)) {
    GPU_TRY((detail::reduce_named<detail::count_equal_family<from, to, unsigned>>(call, &found)));
  } else {
    GPU_TRY((detail::reduce_named<detail::count_equal_family<from, to, unsigned long long>>(
        call, &found)));
  }
  return found;
}

/// Stores how many elements of each segment of `x` equal `value` in an element of `out`. Otherwise
/// as above.
template <class X, class Value, detail::range_or_view Out>
  requires(!detail::range_or_view<Value>)
result<> count(const stream_ref& stream, X&& x, const Value& value, Out&& out,
               source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using to = detail::stored_element_t<Out>;
  detail::check_counted<from, to>();
  detail::bound_argument<const from*> elements(x);
  detail::bound_argument<from> wanted(value);
  const detail::loop_argument list[] = {elements.get(), wanted.get()};
  const detail::named_call call = {stream, list, where};
  const detail::reduction_output output = detail::make_output("out", out);
  if (detail::is_counted_narrowly(elements.operand.memory.count))
    return detail::reduce_named_into<detail::count_equal_family<from, to, unsigned>>(call, &output);
  return detail::reduce_named_into<detail::count_equal_family<from, to, unsigned long long>>(
      call, &output);
}

/// Returns whether any element of `x` is not zero; false for none. NaN is not zero. All elements
/// are read. Otherwise as `count`.
template <class X>
result<bool> any_of(const stream_ref& stream, X&& x,
                    source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  detail::check_truth<from, bool>();
  return detail::reduce_elements<detail::any_of_family<from, bool>, from>(stream, x, where);
}

/// Stores whether any element of each segment of `x` is not zero in an element of `out`, a `bool`
/// or an integer. Otherwise as `count`.
template <class X, detail::range_or_view Out>
result<> any_of(const stream_ref& stream, X&& x, Out&& out,
                source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using to = detail::stored_element_t<Out>;
  detail::check_truth<from, to>();
  return detail::reduce_elements_into<detail::any_of_family<from, to>, from>(stream, x, out, where);
}

/// Returns whether all elements of `x` are not zero; true for none. Otherwise as `any_of`.
template <class X>
result<bool> all_of(const stream_ref& stream, X&& x,
                    source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  detail::check_truth<from, bool>();
  return detail::reduce_elements<detail::all_of_family<from, bool>, from>(stream, x, where);
}

/// Stores whether all elements of each segment of `x` are not zero in an element of `out`.
/// Otherwise as `any_of`.
template <class X, detail::range_or_view Out>
result<> all_of(const stream_ref& stream, X&& x, Out&& out,
                source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using to = detail::stored_element_t<Out>;
  detail::check_truth<from, to>();
  return detail::reduce_elements_into<detail::all_of_family<from, to>, from>(stream, x, out, where);
}

}}  // namespace gpu::v1
