#pragma once
/// \file
/// `run_length`: finds the runs of equal elements and their lengths.

#include <gpu/algorithm/select/scan_compaction.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T, class Length, class Count> struct run_length_family;

template <class T, class Length, class Count>
result<compaction_state*> find_run_length(std::size_t elements, source_location where) {
  return find_compaction<run_length_family<T, Length, Count>, Count, const T*>(
      {"gpu::run_length", "gpu_run_length", "x"}, elements, where,
      [](compaction_state& made, bool wide) {
        made.kind = compaction_kind::run;
        made.result = element_type_of<T>();
        made.values = element_type_of<Length>();
        made.run_value = wide ? element_type_of<long long>() : element_type_of<int>();
        made.run_bytes =
            wide ? sizeof(run_layout<long long, long long>) : sizeof(run_layout<int, int>);
        made.run_map = required(text("1"));
        made.combine = required(text("a + b"));
      });
}

}  // namespace detail

/// Finds the runs of equal neighbors in `x`: stores the element of each in `values`, its length in
/// `lengths`, integers that can be as large as `x`, and the number of runs in `count`, one integer;
/// all in device memory. `values` and `lengths` have the same number of elements; runs beyond are
/// not stored, but counted. As `cub::DeviceRunLengthEncode::Encode`, but of equal elements that
/// differ in bits, such as -0.0 and 0.0, the last of the run is stored, not the first. Structures
/// need an `operator==` in their definition. `x` is contiguous and may not overlap the others.
/// **Ordering**: after the work queued on the stream; does not wait.
/// **Errors**: `errc::size_mismatch`, `errc::invalid_argument` for memory that overlaps,
/// `errc::wrong_context`, `errc::empty_handle`, those of `compile` at the first call with these
/// types. **Cost**: as for `scan`. **Capture**: allowed. **Threads**: any number.
template <class X, class Values, class Lengths, device_range Count>
result<> run_length(const stream_ref& stream, X&& x, Values&& values, Lengths&& lengths,
                    Count&& count, source_location where = source_location::current()) {
  detail::check_contiguous<X>();
  using from = detail::argument_element<X>;
  using length = detail::element_t<Lengths>;
  detail::check_results<Values>();
  detail::check_results<Lengths>();
  static_assert(std::same_as<detail::element_t<Values>, from>,
                "gpu::run_length: `values` has elements of the type of those of `x`, not const");
  static_assert(detail::word_integer<length> && !std::is_const_v<length>,
                "gpu::run_length: lengths are integers");
  detail::bound_argument<const from*> elements(x);
  const detail::loop_argument list[] = {elements.get()};
  const std::size_t longest = elements.operand.memory.count;
  if (longest > detail::most_of<length>()) {
    return detail::refuse_narrow("gpu::run_length", "lengths", detail::most_of<length>(), longest,
                                 where);
  }
  detail::compaction_state& state =
      *GPU_TRY((detail::find_run_length<from, length, detail::element_t<Count>>(
          elements.operand.memory.count, where)));
  return detail::run_compaction(
      state, stream, where, list, 1,
      {detail::name_elements("values", values), detail::name_elements("lengths", lengths),
       detail::name_count(count), detail::most_of<detail::element_t<Count>>()});
}

/// As above, and returns the number of runs.
/// **Ordering**: after the work queued on the stream; waits for the number.
/// **Errors**: also `errc::size_mismatch` with both numbers if `values` and `lengths` are too
/// short, in which case they have the first runs; `errc::capture_prohibited` during capture.
template <class X, class Values, class Lengths>
result<std::size_t> run_length(const stream_ref& stream, X&& x, Values&& values, Lengths&& lengths,
                               source_location where = source_location::current()) {
  const detail::returned_count found =
      GPU_TRY(detail::returned_count::create(stream, "gpu::run_length", where));
  GPU_TRY(run_length(stream, x, values, lengths, found.range(), where));
  return found.wait(stream, "gpu::run_length", detail::name_elements("values", values), where);
}

}}  // namespace gpu::v1
