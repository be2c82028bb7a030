#pragma once
/// \file
/// Driver calls that queue work which may fault later: each leaves a record, by which the fault
/// names it.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/launch_origin.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/process_state.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Removes the launch record of a call that the driver rejected, perhaps with a fault of earlier
/// work, and returns the driver's error.
inline result<> queue_failed(CUresult code, std::size_t index, std::uint64_t ticket,
                             source_location where, CUstream stream) noexcept {
  forget_launch(launches(), ticket);
  return fail(driver::error_of(code, index, where, stream));
}

/// Calls a driver function that queues work on `stream` which may fault later; the fault then names
/// the work by `label` and source location. Calls `otherwise(index)`, with the index of the entry
/// point, if the driver lacks the function, and `Failed` if the call fails.
template <auto Member, auto Failed = &queue_failed, class Otherwise, class... Arguments>
inline result<> queue_or(const stream_ref& stream, const launch_label& label, source_location where,
                         Otherwise otherwise, Arguments... arguments) noexcept {
  constexpr auto member = Member;
  process_front* process = nullptr;
  auto function = driver::detail::find_function<Member>(process);
  if (function == nullptr) {
    driver::current_entry_points();  // loads the driver if this is its first use
    function = driver::detail::find_function<Member>(process);
    if (function == nullptr) return otherwise(driver::entry_point_index(member));
  }
  const std::uint64_t ticket = note_launch(
      launches(process), &label, recorded_stream(stream.native()), where, stream.device().native());
  const CUresult code = function(arguments...);
  if (code != CUDA_SUCCESS) {
    return Failed(code, driver::entry_point_index(member), ticket, where, stream.native());
  }
  return {};
}

/// Returns the error that says why the driver lacks a function.
struct unavailable_function {
  source_location where;

  template <class Index> result<> operator()(Index index) const noexcept {
    return fail(driver::detail::unavailable_error(driver::current_entry_points(), index, where));
  }
};
/// The same, with an error if the driver lacks the function.
template <auto Member, class... Arguments>
result<> queue(const stream_ref& stream, const launch_label& label, source_location where,
               Arguments... arguments) noexcept {
  return queue_or<Member>(stream, label, where, unavailable_function{where}, arguments...);
}

}}}  // namespace gpu::v1::detail
