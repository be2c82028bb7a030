#pragma once
/// \file
/// Driver calls that need some context to be current, but do not mind which: about code that
/// belongs to no context.

#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/primary_context.hpp>

namespace gpu::inline v0::driver {

/// Does `work()`, which returns a `result`, in the context that is current in the calling thread;
/// where none is, in a primary context that the process already holds, or else in that of device 0.
/// **Errors**: those of `in_context`, and of retaining device 0's primary context.
template <class Work>
auto in_any_context(source_location where, Work work) noexcept -> decltype(work()) {
  CUcontext context = nullptr;
  GPU_TRY(call<&entry_points::ctx_get_current>(where, &context));
  if (context == nullptr) GPU_TRY(gpu::detail::find_any_primary_context(context, where));
  return in_context(context, where, work);
}

/// `call` while some context is current.
template <auto Member, class... Arguments>
result<> call_in_any(source_location where, Arguments... arguments) noexcept {
  return in_any_context(where, [&] { return call<Member>(where, arguments...); });
}

}  // namespace gpu::inline v0::driver
