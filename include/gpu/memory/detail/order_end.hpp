#pragma once
/// \file
/// Lets the end of memory wait for streams that use it besides the one that frees it.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/capture_check.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Makes the stream that frees memory wait for the work that is queued on another one. Memory that
/// belongs to no stream waits for all of them anyway.
inline result<> order_end(const char* function, const device_allocation& memory,
                          const stream_ref& other, source_location where) noexcept {
  GPU_TRY(require(other, function, where));
  if (!memory.stream.context()) return fail(empty_handle_error(function, "memory", where));
  GPU_TRY(require_no_capture(other, function, "Call it after the capture.", where));
  if (memory.stream == other ||
      (memory.owner == nullptr && memory.kind == allocation_kind::plain)) {
    return {};
  }
  GPU_TRY(require_no_capture(memory.stream, function, "Call it after the capture.", where));
  const event used = GPU_TRY(event::create(other.context(), {.timing = false}, where));
  GPU_TRY(gpu::record(other, used, where));
  return gpu::wait(memory.stream, used, where);
}

}}}  // namespace gpu::v1::detail
