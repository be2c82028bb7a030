#pragma once
/// \file
/// `unique_values`, `unique_counts`, `unique_inverse` and `unique_all`: each value of an array
/// once, sorted.
///
/// As NumPy's functions of these names, so each NaN counts as a value of its own. Of -0.0 and 0.0,
/// which are equal, all but `unique_values` have the one that is last in the array. Elements are
/// what `sort` sorts, and are taken in C order. The number of values is known only on the device.
/// All of them: **Ordering**: after the work queued on the stream; waits for the number of values,
/// and then queues the work that stores them. **Errors**: the reason of a faulty view;
/// `errc::wrong_context`; `errc::empty_handle`; CUDA_ERROR_OUT_OF_MEMORY;
/// `errc::capture_prohibited` during capture. **Cost**: that of `sort` or `sort_pairs`, of a scan
/// or two, and of copies of the results, which are found in temporary memory as large as the
/// operand.

#include <gpu/algorithm/run_length.hpp>
#include <gpu/algorithm/scan.hpp>
#include <gpu/algorithm/scan/scan_kernel.hpp>
#include <gpu/algorithm/sort.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/algorithm/unique.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

/// Each value of an array, and how often it occurs.
template <class T> struct unique_counts_result {
  array<T> values;
  array<long long> counts;
};

/// Each value of an array, and for each element of the array the index of its value.
template <class T, int Rank> struct unique_inverse_result {
  array<T> values;
  array<long long, Rank> inverse;
};

/// Each value of an array, where it is first, for each element the index of its value, and how
/// often each occurs.
template <class T, int Rank> struct unique_all_result {
  array<T> values;
  array<long long> indices;
  array<long long, Rank> inverse;
  array<long long> counts;
};

namespace detail {

template <class T> struct inverse_family;

/// Makes a copy of the elements, sorted.
template <class A>
auto sort_elements(const char* function, const stream_ref& stream, A& a, source_location where)
    -> result<array<value_of_view<A>, viewed_rank<A&>>> {
  static_assert(sortable<value_of_view<A>>,
                "the elements are numbers of 8 to 64 bits (bool, integers, float, double, __half, "
                "__nv_bfloat16)");
  const auto view = array_view_of(a);
  GPU_TRY(require_operand(function, stream, "the operand", view, a, where));
  GPU_TRY(require_no_capture(stream, function,
                             "Call it before the capture: the number of values decides the size of "
                             "the result.",
                             where));
  return gpu::evaluate(stream, view, where);
}

/// Makes an array of the first elements of another.
template <class T>
result<array<T>> keep_first(const stream_ref& stream, const array<T>& from, std::size_t count,
                            source_location where) {
  return gpu::evaluate(stream, part_along(from.view(), 0, 0, count), where);
}

/// Finds each of sorted elements once, with their numbers.
template <class T, int Rank>
result<unique_counts_result<T>> count_values(const stream_ref& stream,
                                             const array<T, Rank>& sorted_elements,
                                             source_location where) {
  const shape<1> all{sorted_elements.size()};
  auto values = GPU_TRY((gpu::empty<T>(stream, all, where)));
  auto counts = GPU_TRY((gpu::empty<long long>(stream, all, where)));
  const std::size_t found =
      GPU_TRY(gpu::run_length(stream, sorted_elements.span(), values.span(), counts.span(), where));
  auto each = GPU_TRY(keep_first(stream, values, found, where));
  auto number = GPU_TRY(keep_first(stream, counts, found, where));
  return unique_counts_result<T>{std::move(each), std::move(number)};
}

/// Writes the index of its value for each element, and where each value is first. `positions` are
/// those that the sorted elements had.
template <class T>
result<> find_inverse(const char* function, const stream_ref& stream,
                      const device_span<const T>& sorted_elements,
                      const device_span<const long long>& positions, CUdeviceptr inverse,
                      CUdeviceptr first, source_location where) {
  scan_state& state = *GPU_TRY(
      (find_shared<inverse_family<T>, scan_state>(function, {}, where, [&](scan_state& made) {
        made.code.function = function;
        made.code.parameters = {
            describe_parameter<raw<const T*>>(), describe_parameter<const long long*>(),
            describe_parameter<raw<long long*>>(), describe_parameter<raw<long long*>>()};
        made.value = element_type_of<long long>();
        made.neutral = zero_value<long long>::bytes;
        made.map = required(text("i == 0 || !(x[i] == x[i - 1])"));
        made.combine = required(text("a + b"));
        made.store =
            required(text("inverse[positions[i]] = item - 1;\n"
                          "if (i == 0 || !(x[i] == x[i - 1])) first[item - 1] = positions[i]"));
        made.write = &write_scan;
        return describe_scan(made, "x, positions, inverse, first", {.name = "gpu_unique_inverse"},
                             where);
      })));
  CUdeviceptr x = sorted_elements.native();
  const loop_operand read = make_operand(array_view<const long long>(positions));
  const loop_argument list[] = {
      {nullptr, &x}, {&read, nullptr}, {nullptr, &inverse}, {nullptr, &first}};
  return run_scan({state, stream, where, list});
}

template <class A>
auto find_all(const char* function, const stream_ref& stream, A& a, source_location where)
    -> result<unique_all_result<value_of_view<A>, viewed_rank<A&>>> {
  constexpr int rank = viewed_rank<A&>;
  using element = value_of_view<A>;
  auto elements = GPU_TRY(sort_elements(function, stream, a, where));
  auto positions =
      GPU_TRY(gpu::arange<long long>(stream, static_cast<long long>(elements.size()), where));
  GPU_TRY(gpu::sort_pairs(stream, elements.span(), positions.span(), sort_order::ascending, where));
  auto counted = GPU_TRY(count_values(stream, elements, where));
  auto inverse = GPU_TRY((gpu::empty<long long>(stream, elements.shape(), where)));
  auto first = GPU_TRY((gpu::empty<long long>(stream, counted.values.shape(), where)));
  GPU_TRY(find_inverse<element>(function, stream, elements.span(), positions.span(),
                                inverse.native(), first.native(), where));
  return unique_all_result<element, rank>{std::move(counted.values), std::move(first),
                                          std::move(inverse), std::move(counted.counts)};
}

}  // namespace detail

/// Makes an array of each value once, sorted.
template <detail::viewable A>
auto unique_values(const stream_ref& stream, A&& a,
                   source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>>> {
  auto elements = GPU_TRY(detail::sort_elements("gpu::unique_values", stream, a, where));
  GPU_TRY(gpu::sort(stream, elements.span(), sort_order::ascending, where));
  auto values =
      GPU_TRY((gpu::empty<detail::value_of_view<A>>(stream, shape<1>{elements.size()}, where)));
  const std::size_t found = GPU_TRY(gpu::unique(stream, elements.span(), values.span(), where));
  return detail::keep_first(stream, values, found, where);
}

/// Makes arrays of each value once, sorted, and of how often it occurs.
template <detail::viewable A>
auto unique_counts(const stream_ref& stream, A&& a,
                   source_location where = source_location::current())
    -> result<unique_counts_result<detail::value_of_view<A>>> {
  auto elements = GPU_TRY(detail::sort_elements("gpu::unique_counts", stream, a, where));
  GPU_TRY(gpu::sort(stream, elements.span(), sort_order::ascending, where));
  return detail::count_values(stream, elements, where);
}

/// Makes arrays of each value once, sorted, and of the index of its value for each element of `a`,
/// in the shape of `a`: `take(stream, values, inverse, 0)` is `a` again.
template <detail::viewable A>
auto unique_inverse(const stream_ref& stream, A&& a,
                    source_location where = source_location::current())
    -> result<unique_inverse_result<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  auto all = GPU_TRY(detail::find_all("gpu::unique_inverse", stream, a, where));
  return unique_inverse_result<detail::value_of_view<A>, detail::viewed_rank<A>>{
      std::move(all.values), std::move(all.inverse)};
}

/// Makes all of these arrays, and one of where each value is first, counted in C order.
template <detail::viewable A>
auto unique_all(const stream_ref& stream, A&& a, source_location where = source_location::current())
    -> result<unique_all_result<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  return detail::find_all("gpu::unique_all", stream, a, where);
}

}}  // namespace gpu::v1
