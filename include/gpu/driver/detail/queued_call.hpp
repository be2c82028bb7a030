#pragma once
/// \file
/// Driver calls that queue work which may fault later: each leaves a record, by which the fault
/// names it.

#include <gpu/driver/stream.hpp>

namespace gpu::inline v0::detail {

/// Takes back what the driver refused, with a fault of earlier work perhaps, of which the record
/// just made is no origin.
[[gnu::cold, gnu::noinline]] inline result<> queue_failed(CUresult code, std::size_t index,
                                                          std::uint64_t ticket,
                                                          source_location where,
                                                          CUstream stream) noexcept {
  forget_launch(launches(), ticket);
  return fail(driver::error_of(code, index, where, stream));
}

/// Calls a function of the driver that queues on `stream` what may fault later: the fault then
/// names it by `label`, and its place. Does `otherwise(index)`, the function's, where there is none
/// at hand, and `Failed`, as `queue_failed`, where the driver refuses.
template <auto Member, auto Failed = &queue_failed, class Otherwise, class... Arguments>
[[gnu::always_inline]] inline result<> queue_or(const stream_ref& stream, const launch_label& label,
                                                source_location where, Otherwise otherwise,
                                                Arguments... arguments) noexcept {
  constexpr auto member = Member;
  process_front* process = nullptr;
  const auto function = driver::detail::find_function<Member>(process);
  if (function == nullptr) [[unlikely]]
    return otherwise(driver::entry_point_index(member));
  const std::uint64_t ticket = note_launch(
      launches(process), &label, recorded_stream(stream.native()), where, stream.device().native());
  const CUresult code = function(arguments...);
  if (code != CUDA_SUCCESS) [[unlikely]] {
    return Failed(code, driver::entry_point_index(member), ticket, where, stream.native());
  }
  return {};
}

/// Says why there is no function.
struct unavailable_function {
  source_location where;

  template <class Index> result<> operator()(Index index) const noexcept {
    return fail(driver::detail::unavailable_error(driver::current_entry_points(), index, where));
  }
};
/// Loads the driver where this is its first use: what is not at hand then is not there.
template <class Where> unavailable_function unavailable_at(Where where) noexcept {
  driver::current_entry_points();
  return {where};
}

/// The same where the way to the driver is long anyway.
template <auto Member, class... Arguments>
result<> queue(const stream_ref& stream, const launch_label& label, source_location where,
               Arguments... arguments) noexcept {
  return queue_or<Member>(stream, label, where, unavailable_at(where), arguments...);
}

}  // namespace gpu::inline v0::detail
