#pragma once
/// \file
/// `launch_host_function`: any callable as work of a stream.

#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/detail/host_call.hpp>
#include <gpu/driver/detail/queued_call.hpp>

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/stream.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

/// The type in which a callable is stored; a function is stored as a pointer.
template <class Function>
using stored_callable_t =
    std::conditional_t<std::is_function_v<std::remove_reference_t<Function>>,
                       std::remove_reference_t<Function>*, std::remove_cvref_t<Function>>;

/// Runs and destroys the callable. If the context has a fault, the driver calls this too, and the
/// callable is only destroyed.
template <class Call> void CUDA_CB run_once(CUstream, CUresult status, void* data) noexcept {
  auto* call = static_cast<Call*>(data);
  if (status == CUDA_SUCCESS) call->run();
  delete call;
}

/// Makes the call a node of the graph that `stream` is being captured to, which keeps it alive.
template <class Call>
result<> capture_host_function(const stream_ref& stream, Call*& owned,
                               source_location where) noexcept {
  CUgraph graph = nullptr;
  CUstreamCaptureStatus status{};
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  GPU_TRY(driver::call<&driver::entry_points::stream_get_capture_info>(
      where, stream.native(), &status, nullptr, &graph, &nodes, &edges, &count));
  Call* const call = std::exchange(owned, nullptr);
  GPU_TRY(keep_in_graph(graph, call, &Call::destroy_at, where));
  return driver::call<&driver::entry_points::launch_host_func>(
      where, stream.native(), CUhostFn{&Call::run_at}, static_cast<void*>(call));
}

inline constexpr launch_label host_function_label{"a host function", -1};

}  // namespace detail

/// Queues a call of `function()` on `stream`, and returns:
///
///     GPU_TRY(gpu::launch_host_function(stream, [done = std::move(promise)]() mutable { ...
///     }));
///
/// **Ordering**: after what was queued on `stream`, before what will be. The call runs in a thread
/// of the driver's, and the stream waits for it.
/// **Ownership**: the callable is moved to the heap, and destroyed once it has run, or once the
/// context has a fault, so that it cannot run. In a capture the graph keeps it alive and calls it
/// at each launch.
/// **Errors**: `errc::empty_handle`, `errc::out_of_host_memory`; `errc::callback_threw` if copying
/// the callable threw something other than `std::bad_alloc`; the driver's. Exceptions and errors of
/// the `result` that the callable returns go to the error reporter. A callable whose destructor may
/// throw does not compile.
/// **Capture**: allowed. **Threads**: any. Neither the callable nor its destructor may use CUDA or
/// wait for queued work. (cuStreamAddCallback, which is called on faults too; in a capture
/// cuLaunchHostFunc)
template <class Function>
  requires requires(detail::stored_callable_t<Function>& callable) { callable(); }
result<> launch_host_function(stream_ref stream, Function&& function,
                              source_location where = source_location::current()) noexcept {
  using call_type = detail::host_call<detail::stored_callable_t<Function>>;
  GPU_TRY(detail::require(stream, "gpu::launch_host_function", where));
  const capture_status status = GPU_TRY(capture_status_of(stream, where));
  call_type* call = nullptr;
  GPU_TRY(detail::make_host_call(call, static_cast<Function&&>(function),
                                 "gpu::launch_host_function", where));
  result<> queued = detail::on_stream(stream, where, [&]() -> result<> {
    if (status == capture_status::active) return detail::capture_host_function(stream, call, where);
    GPU_TRY(detail::queue<&driver::entry_points::stream_add_callback>(
        stream, detail::host_function_label, where, stream.native(),
        CUstreamCallback{&detail::run_once<call_type>}, static_cast<void*>(call), 0u));
    call = nullptr;  // owned by the driver now
    return {};
  });
  delete call;
  return queued;
}

}}  // namespace gpu::v1
