#pragma once
/// \file
/// `bincount`: counts how often each integer occurs, or adds weights up for each.

#include <gpu/algorithm/check_indices.hpp>
#include <gpu/algorithm/elementwise/run_elementwise.hpp>
#include <gpu/algorithm/gather/indexed_call.hpp>
#include <gpu/algorithm/histogram/histogram_kernel.hpp>
#include <gpu/algorithm/reduce/reduction_kernel.hpp>
#include <gpu/algorithm/reduce/reduction_text.hpp>
#include <gpu/algorithm/reduce_by_key.hpp>
#include <gpu/algorithm/sort/sort_kernel.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T> constexpr void check_counted() noexcept {
  static_assert(detail::word_integer<T>, "gpu::bincount: elements are integers or bool");
}

template <class T> struct largest_family;
template <class T, class Weight, class Sum> struct weight_key_family;
template <class Sum> struct weight_sum_family;

inline constexpr unsigned long long zero_of_largest = 0;

/// Returns the reduction to one more than the largest element; 2^63 and more for negative ones.
template <class T> result<reduction_state*> find_largest(source_location where) {
  constexpr const char* function = "gpu::bincount_length";
  return find_shared<largest_family<T>, reduction_state>(
      function, {}, where, [&](reduction_state& made) {
        made.code.function = function;
        made.code.parameters = {describe_parameter<const T*>()};
        return describe_index_reduction(
            made, "x",
            "(unsigned long long)(x[i]) == ~0ull ? ~0ull : (unsigned long long)(x[i]) + 1",
            "max(a, b)", zero_of_largest, "gpu_bincount_length", where);
      });
}

/// Returns the kernel that prepares the sums of weights: keys are the bins, and one past the last
/// bin for elements that are in no bin.
template <class T, class Weight, class Sum>
result<loop_state*> find_weight_keys(source_location where) {
  constexpr const char* function = "gpu::bincount";
  return find_shared<weight_key_family<T, Weight, Sum>, loop_state>(
      function, {}, where, [&](loop_state& made) {
        made.code.parameters = {describe_parameter<const T*>(), describe_parameter<const Weight*>(),
                                describe_parameter<unsigned>(), describe_parameter<unsigned*>(),
                                describe_parameter<Sum*>()};
        return describe_indexed(
            made, function, "x, weights, bins, keys, values",
            "keys[i] = (unsigned long long)(x[i]) < bins ? unsigned(x[i]) : bins;\n"
            "values[i] = weights[i]",
            {.name = "gpu_bincount_keys"}, where);
      });
}

/// Returns the kernel that writes the sums of the runs to their bins.
template <class Sum> result<loop_state*> find_weight_sums(source_location where) {
  constexpr const char* function = "gpu::bincount";
  return find_shared<weight_sum_family<Sum>, loop_state>(
      function, {}, where, [&](loop_state& made) {
        made.code.parameters = {describe_parameter<const unsigned*>(),
                                describe_parameter<const Sum*>(),
                                describe_parameter<raw<const unsigned*>>(),
                                describe_parameter<unsigned>(), describe_parameter<raw<Sum*>>()};
        return describe_indexed(made, function, "keys, values, runs, bins, sums",
                                "if (i < *runs && keys[i] < bins) sums[keys[i]] = values[i]",
                                {.name = "gpu_bincount_sums"}, where);
      });
}

/// Returns a part of temporary memory as a range.
template <class T>
device_span<T> part_of(const device_buffer<unsigned char>& memory, std::uint64_t begin,
                       std::size_t count) noexcept {
  return device_span<T>::from_native(memory.span().native() + begin, count);
}

/// Adds up weights. The arguments are checked, and there are elements and bins.
template <class T, class Weight, class Sum>
result<> sum_weights(const stream_ref& stream, bound_argument<const T*>& x,
                     bound_argument<const Weight*>& weights, const named_elements& sums,
                     source_location where) {
  const std::size_t n = x.operand.memory.count;
  auto bins = static_cast<unsigned>(sums.count());
  const std::size_t most_runs = n < std::size_t{bins} + 1 ? n : std::size_t{bins} + 1;
  workspace_parts parts;
  const std::uint64_t keys_at = parts.add(n * 4), values_at = parts.add(n * sizeof(Sum));
  const std::uint64_t run_keys_at = parts.add(most_runs * 4);
  const std::uint64_t run_values_at = parts.add(most_runs * sizeof(Sum));
  const std::uint64_t runs_at = parts.add(4);
  const device_buffer<unsigned char> memory =
      GPU_TRY(allocate_workspace(stream, parts.bytes(), where));
  auto keys = part_of<unsigned>(memory, keys_at, n);
  auto values = part_of<Sum>(memory, values_at, n);
  auto run_keys = part_of<unsigned>(memory, run_keys_at, most_runs);
  auto run_values = part_of<Sum>(memory, run_values_at, most_runs);
  auto runs = part_of<unsigned>(memory, runs_at, 1);

  bound_argument<unsigned*> to_keys(keys);
  bound_argument<Sum*> to_values(values);
  const loop_argument prepared[] = {
      x.get(), weights.get(), {nullptr, &bins}, to_keys.get(), to_values.get()};
  GPU_TRY(run_elementwise(
      {*GPU_TRY((find_weight_keys<T, Weight, Sum>(where))), stream, where, prepared}, nullptr));
  GPU_TRY(sort_keys_with_values(stream, name_elements("x", keys), sort_key_of<unsigned>(),
                                name_elements("weights", values), sort_order::ascending, where));
  // The last kernel reads the slots of all possible runs.
  const auto of_runs = memory.span().subspan(static_cast<std::size_t>(run_keys_at));
  GPU_TRY(fill_on(stream, copy_end_of(of_runs), 0, 1, where));
  GPU_TRY(reduce_by_key(stream, keys, values, run_keys, run_values, runs, "a + b", where));
  bound_argument<const unsigned*> from_keys(run_keys);
  bound_argument<const Sum*> from_values(run_values);
  CUdeviceptr count = runs.native(), to = sums.memory.device_address();
  const loop_argument written[] = {
      from_keys.get(), from_values.get(), {nullptr, &count}, {nullptr, &bins}, {nullptr, &to}};
  return run_elementwise({*GPU_TRY(find_weight_sums<Sum>(where)), stream, where, written}, nullptr);
}

/// Fails for the first element that is negative, or so large that no memory has a bin for it.
template <class T>
result<> refuse_uncountable(const stream_ref& stream, bound_argument<const T*>& x,
                            source_location where) {
  constexpr std::size_t most = ~std::size_t{0} >> 1;
  unsigned long long position = no_position;
  T element = 0;
  GPU_TRY(find_bad_index(stream, x, most, index_rule::from_start, position, element, where));
  text_builder out;
  out << "element " << +element << " at position " << position
      << " has no bin: bincount counts integers from 0 to " << most - 1
      << ". Pass x without it, or x minus its smallest element.";
  return fail(refusal(errc::index_out_of_range, "gpu::bincount_length", out.finish(), where,
                      static_cast<std::uint64_t>(element), most));
}

/// Checks the arguments of a sum of weights, and clears the sums.
inline result<> prepare_sums(const stream_ref& stream, const named_elements& x,
                             const named_elements& weights, const named_elements& sums,
                             source_location where) {
  constexpr const char* function = "gpu::bincount";
  GPU_TRY(require(stream, function, where));
  for (const named_elements* each : {&x, &weights, &sums})
    GPU_TRY(require_usable(function, stream, *each, where));
  GPU_TRY(require_same_count(function, x, weights, where));
  GPU_TRY(require_disjoint(function, x, sums, where));
  GPU_TRY(require_disjoint(function, weights, sums, where));
  GPU_TRY(require_numbered(function, sums, "Add up", where));
  return clear_bins(stream, sums, where);
}

}  // namespace detail

/// Counts how often each integer from 0 on occurs in `x`: `counts[k]` is how many elements equal k.
/// As NumPy's `bincount`, with as many bins as `counts` has elements (`bincount_length` finds how
/// many are needed). Negative elements, and those that are not less than the number of counts, are
/// not counted. What `counts` held before is overwritten.
///
/// `x` is a device range of integers or `bool`s. Counts are integers of 32 or 64 bits.
/// **Ordering**: after the work queued on the stream; does not wait.
/// **Errors**: `errc::invalid_argument` for counts of 32 bits that could overflow and for memory
/// that overlaps; `errc::wrong_context`; `errc::empty_handle`; those of `compile` at the first call
/// with these types. **Cost**: as for `histogram`. **Capture**: allowed. **Threads**: any number.
template <device_range X, device_range Counts>
result<> bincount(const stream_ref& stream, X&& x, Counts&& counts,
                  source_location where = source_location::current()) {
  using element = std::remove_const_t<detail::element_t<X>>;
  using count = detail::element_t<Counts>;
  detail::check_counted<element>();
  static_assert(detail::index_type<count>,
                "gpu::bincount: counts are written, as std::uint32_t, std::int32_t, std::uint64_t "
                "or std::int64_t; to add weights up, pass x, weights and sums");
  const detail::histogram_request request =
      detail::request_counts("gpu::bincount", stream, x, detail::bin_kind::integers, counts, where);
  GPU_TRY(detail::check_counts(request));
  return detail::run_histogram(request);
}

/// Adds up weights: `sums[k]` is the sum of `weights[i]` over all i for which `x[i]` is k. As
/// NumPy's `bincount(x, weights)`. Weights are numbers, complex ones too; they are converted to the
/// type of `sums` and added in that type (in float, if it has 16 bits). The sums have the same bits
/// in every run and on every device: equal elements are brought together by a stable sort and added
/// in a fixed order, without atomics.
/// **Errors**: also `errc::size_mismatch` if `x` and `weights` have different lengths, and
/// CUDA_ERROR_OUT_OF_MEMORY. **Cost**: those of `sort_pairs` with keys of 32 bits and of
/// `reduce_by_key`; temporary memory for two copies of keys and weights. Otherwise as above.
template <device_range X, device_range Weights, device_range Sums>
result<> bincount(const stream_ref& stream, X&& x, Weights&& weights, Sums&& sums,
                  source_location where = source_location::current()) {
  using element = std::remove_const_t<detail::element_t<X>>;
  using weight = std::remove_const_t<detail::element_t<Weights>>;
  using sum = detail::element_t<Sums>;
  detail::check_counted<element>();
  detail::check_sort_values<sum>();
  const detail::named_elements to = detail::name_elements("sums", sums);
  GPU_TRY(detail::prepare_sums(stream, detail::name_elements("x", x),
                               detail::name_elements("weights", weights), to, where));
  detail::bound_argument<const element*> elements(x);
  detail::bound_argument<const weight*> values(weights);
  if (elements.operand.memory.count == 0 || to.count() == 0) return {};
  return detail::sum_weights<element, weight, sum>(stream, elements, values, to, where);
}

/// Returns how many counts `bincount` needs so that all of `x` are counted: one more than the
/// largest element, but at least `minimum`, as `minlength` of NumPy's `bincount`.
/// **Ordering**: after the work queued on the stream; waits for the result.
/// **Errors**: `errc::index_out_of_range` for a negative element, with its position;
/// `errc::capture_prohibited` during capture; `errc::wrong_context`; `errc::empty_handle`; those of
/// `compile` at the first call with this type. **Cost**: one or two launches and one copy to the
/// host. **Threads**: any number.
template <device_range X>
result<std::size_t> bincount_length(const stream_ref& stream, X&& x, std::size_t minimum = 0,
                                    source_location where = source_location::current()) {
  using element = std::remove_const_t<detail::element_t<X>>;
  detail::check_counted<element>();
  constexpr const char* function = "gpu::bincount_length";
  GPU_TRY(detail::require(stream, function, where));
  GPU_TRY(
      detail::require_no_capture(stream, function, "Find the length before the capture.", where));
  detail::reduction_state& state = *GPU_TRY(detail::find_largest<element>(where));
  detail::bound_argument<const element*> elements(x);
  const detail::loop_argument list[] = {elements.get()};
  unsigned long long length = 0;
  GPU_TRY(detail::reduce_to_host({state, stream, where, list}, &length));
  if (length > ~0ull >> 1) GPU_TRY(detail::refuse_uncountable<element>(stream, elements, where));
  return length < minimum ? minimum : static_cast<std::size_t>(length);
}

}}  // namespace gpu::v1
