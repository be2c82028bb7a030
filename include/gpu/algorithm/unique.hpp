#pragma once
/// \file
/// `unique`: leaves out elements that equal the one before them.

#include <gpu/algorithm/select/scan_compaction.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>

#include <concepts>
#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T, class Count> struct unique_family;

template <class T, class Count>
result<compaction_state*> find_unique(std::size_t elements, source_location where) {
  return find_compaction<unique_family<T, Count>, Count, const T*>(
      {"gpu::unique", "gpu_unique", "x"}, elements, where, [](compaction_state& made, bool) {
        made.kind = compaction_kind::first_of_run;
        made.result = element_type_of<T>();
      });
}

}  // namespace detail

/// Copies the elements of `x` that do not equal the one before them to the beginning of `out`, and
/// their number to `count`, one integer in device memory. As `std::unique_copy`; sort `x` first for
/// each value once, as NumPy's `unique`. Structures need an `operator==` in their definition. If
/// there are more than `out` has elements, those beyond are not stored, but counted. `x` is
/// contiguous and may not overlap `out`.
/// **Ordering**: after the work queued on the stream; does not wait.
/// **Errors**: `errc::invalid_argument` for memory that overlaps, `errc::wrong_context`,
/// `errc::empty_handle`, those of `compile` at the first call with these types.
/// **Cost**: as for `scan`. **Capture**: allowed. **Threads**: any number.
template <class X, class Out, device_range Count>
result<> unique(const stream_ref& stream, X&& x, Out&& out, Count&& count,
                source_location where = source_location::current()) {
  detail::check_contiguous<X>();
  using from = detail::argument_element<X>;
  detail::check_results<Out>();
  static_assert(std::same_as<detail::element_t<Out>, from>,
                "gpu::unique: `out` has elements of the type of those of `x`, not const");
  detail::bound_argument<const from*> values(x);
  const detail::loop_argument list[] = {values.get()};
  detail::compaction_state& state = *GPU_TRY(
      (detail::find_unique<from, detail::element_t<Count>>(values.operand.memory.count, where)));
  return detail::run_compaction(state, stream, where, list, 1, detail::outputs_to(out, count));
}

/// As above, and returns the number.
/// **Ordering**: after the work queued on the stream; waits for the number.
/// **Errors**: also `errc::size_mismatch` with both numbers if `out` is too short, in which case it
/// has the first elements; `errc::capture_prohibited` during capture.
template <class X, class Out>
result<std::size_t> unique(const stream_ref& stream, X&& x, Out&& out,
                           source_location where = source_location::current()) {
  const detail::returned_count found =
      GPU_TRY(detail::returned_count::create(stream, "gpu::unique", where));
  GPU_TRY(unique(stream, x, out, found.range(), where));
  return found.wait(stream, "gpu::unique", detail::name_elements("out", out), where);
}

}}  // namespace gpu::v1
