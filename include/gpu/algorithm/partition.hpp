#pragma once
/// \file
/// `partition`: brings the elements that are flagged before the others.

#include <gpu/algorithm/select/scan_compaction.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
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

template <class Flag> struct flag_count_family;

/// Returns the kernels that count the flags.
template <class F>
result<compaction_state*> find_flag_count(std::size_t elements, source_location where) {
  return find_compaction<flag_count_family<F>, long long, const F*>(
      {"gpu::partition", "gpu_count_flags", "flags"}, elements, where,
      [](compaction_state& made, bool) {
        made.kind = compaction_kind::nothing;
        made.condition = required(text("flags[i]"));
      });
}

/// Returns the kernels that move the elements.
template <class T, class F, class Count>
result<compaction_state*> find_partition(std::size_t elements, source_location where) {
  return find_flagged<T, F, Count, compaction_kind::all>("gpu::partition", "gpu_partition",
                                                         elements, where);
}

}  // namespace detail

/// Copies all elements of `x` to `out`: first those whose element of `flags` is not zero, then the
/// others, both in their order. Stores the number of the first ones in `count`, one integer in
/// device memory. As `std::stable_partition_copy` would into one range. `out` has as many elements
/// as `x`; `x` and `flags` may be views; nothing may overlap `out`.
/// **Ordering**: after the work queued on the stream; does not wait.
/// **Errors**: `errc::size_mismatch`, `errc::invalid_argument` for memory that overlaps,
/// `errc::wrong_context`, `errc::empty_handle`, those of `compile` at the first call with these
/// types. **Cost**: reads `flags` twice. **Capture**: allowed. **Threads**: any number.
template <class X, class Flags, class Out, device_range Count>
result<> partition(const stream_ref& stream, X&& x, Flags&& flags, Out&& out, Count&& count,
                   source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using flag = detail::argument_element<Flags>;
  detail::check_results<Out>();
  static_assert(std::same_as<detail::element_t<Out>, from>,
                "gpu::partition: `out` has elements of the type of those of `x`, not const");
  detail::bound_argument<const from*> values(static_cast<X&&>(x));
  detail::bound_argument<const flag*> chosen(static_cast<Flags&&>(flags));
  const detail::loop_argument list[] = {values.get(), chosen.get()};
  const std::size_t elements = values.operand.memory.count;
  detail::compaction_state& counting = *GPU_TRY(detail::find_flag_count<flag>(elements, where));
  detail::compaction_state& moving =
      *GPU_TRY((detail::find_partition<from, flag, detail::element_t<Count>>(elements, where)));
  return detail::run_partition(counting, moving, stream, where, list,
                               detail::outputs_to(out, count));
}

/// As above, and returns the number of the first ones.
/// **Ordering**: after the work queued on the stream; waits for the number.
/// **Errors**: also `errc::capture_prohibited` during capture.
template <class X, class Flags, class Out>
result<std::size_t> partition(const stream_ref& stream, X&& x, Flags&& flags, Out&& out,
                              source_location where = source_location::current()) {
  const detail::returned_count found =
      GPU_TRY(detail::returned_count::create(stream, "gpu::partition", where));
  GPU_TRY(partition(stream, x, flags, out, found.range(), where));
  return found.wait(stream, "gpu::partition", detail::name_elements("out", out), where);
}

}}  // namespace gpu::v1
