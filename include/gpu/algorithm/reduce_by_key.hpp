#pragma once
/// \file
/// `reduce_by_key`: combines the values of neighbors with equal keys.

#include <gpu/algorithm/scan/scan_kernel.hpp>
#include <gpu/algorithm/select/scan_compaction.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

template <class Key, class Value, class Result, class Count> struct reduce_by_key_family;

template <class K, class V, class R, class Count>
result<compaction_state*> find_reduce_by_key(std::size_t elements, string_ref combine,
                                             source_location where) {
  return find_compaction<reduce_by_key_family<K, V, R, Count>, Count, const K*, const V*>(
      {"gpu::reduce_by_key", "gpu_reduce_by_key", "keys, values", combine}, elements, where,
      [&](compaction_state& made, bool wide) {
        made.kind = compaction_kind::run;
        made.result = element_type_of<K>();
        made.values = element_type_of<R>();
        made.run_value = sum_type_of<R>();
        constexpr bool narrow_sum = sizeof(R) < 4;  // a sum of 16 bits is a float
        made.run_bytes = narrow_sum ? sizeof(run_layout<long long, float>)
                         : wide     ? sizeof(run_layout<long long, R>)
                                    : sizeof(run_layout<int, R>);
        made.run_map = required(text("values[i]"));
        made.combine = required(combine.to_text());
        made.neutral = zero_value<run_layout<long long, R>>::bytes;
      });
}

}  // namespace detail

/// Combines the values of each run of equal keys: stores the key of each in `out_keys`, the result
/// in `out_values`, and the number of runs in `count`, one integer; all in device memory. As
/// `thrust::reduce_by_key`, but of equal keys that differ in bits, such as -0.0 and 0.0, the last
/// of the run is stored, not the first. Sort by key first for each key once. `combine` is a snippet
/// that combines two values, `a` before `b`: `"a + b"`, `"max(a, b)"`. It has to be associative.
/// Values are converted to the type of `out_values` and combined in that type (in float, if it is a
/// floating-point number of 16 bits), with the same bits in every run. `out_keys` and `out_values`
/// have the same number of elements; runs beyond are not stored, but counted. Keys that are
/// structures need an `operator==` in their definition. `keys` and `values` are contiguous, and
/// nothing may overlap what is stored.
/// **Ordering**: after the work queued on the stream; does not wait.
/// **Errors**: `errc::size_mismatch`, `errc::invalid_argument` for memory that overlaps,
/// `errc::wrong_context`, `errc::empty_handle`, those of `compile` at the first call with these
/// types and this text. **Cost**: as for `scan`. **Capture**: allowed. **Threads**: any number.
template <class Keys, class Values, class OutKeys, class OutValues, device_range Count>
result<> reduce_by_key(const stream_ref& stream, Keys&& keys, Values&& values, OutKeys&& out_keys,
                       OutValues&& out_values, Count&& count, string_ref combine = "a + b",
                       source_location where = source_location::current()) {
  detail::check_contiguous<Keys>();
  detail::check_contiguous<Values>();
  using key = detail::argument_element<Keys>;
  using value = detail::argument_element<Values>;
  using sum = detail::element_t<OutValues>;
  detail::check_results<OutKeys>();
  detail::check_results<OutValues>();
  static_assert(std::same_as<detail::element_t<OutKeys>, key>,
                "gpu::reduce_by_key: `out_keys` has elements of the type of those of `keys`, not "
                "const");
  static_assert(!std::is_const_v<sum>,
                "gpu::reduce_by_key: the elements of `out_values` are const");
  detail::bound_argument<const key*> of_runs(keys);
  detail::bound_argument<const value*> combined(values);
  const detail::loop_argument list[] = {of_runs.get(), combined.get()};
  detail::compaction_state& state =
      *GPU_TRY((detail::find_reduce_by_key<key, value, sum, detail::element_t<Count>>(
          of_runs.operand.memory.count, combine, where)));
  return detail::run_compaction(
      state, stream, where, list, 2,
      {detail::name_elements("out_keys", out_keys), detail::name_elements("out_values", out_values),
       detail::name_count(count), detail::most_of<detail::element_t<Count>>()});
}

/// As above, and returns the number of runs.
/// **Ordering**: after the work queued on the stream; waits for the number.
/// **Errors**: also `errc::size_mismatch` with both numbers if `out_keys` and `out_values` are too
/// short, in which case they have the first runs; `errc::capture_prohibited` during capture.
template <class Keys, class Values, class OutKeys, class OutValues>
result<std::size_t> reduce_by_key(const stream_ref& stream, Keys&& keys, Values&& values,
                                  OutKeys&& out_keys, OutValues&& out_values,
                                  string_ref combine = "a + b",
                                  source_location where = source_location::current()) {
  const detail::returned_count found =
      GPU_TRY(detail::returned_count::create(stream, "gpu::reduce_by_key", where));
  GPU_TRY(reduce_by_key(stream, keys, values, out_keys, out_values, found.range(), combine, where));
  return found.wait(stream, "gpu::reduce_by_key", detail::name_elements("out_keys", out_keys),
                    where);
}

}}  // namespace gpu::v1
