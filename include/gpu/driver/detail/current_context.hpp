#pragma once
/// \file
/// Driver calls that need a context to be current in the calling thread: it is made so for the
/// call, and the thread is left as it was found.

#include <gpu/driver/calls.hpp>

namespace gpu::inline v0::driver {

/// Does `work()`, which returns a `result`, while `context` is current. Costs one query and a
/// comparison where it is current already, else a push and a pop.
/// **Errors**: those of `work`; then those of the push and the pop. Where only the pop failed, the
/// work is done all the same, so work that acquires something has to look at what it got.
template <class Work>
auto in_context(CUcontext context, source_location where, Work work) noexcept -> decltype(work()) {
  CUcontext current = nullptr;
  GPU_TRY(call<&entry_points::ctx_get_current>(where, &current));
  if (current == context) [[likely]]
    return work();
  GPU_TRY(call<&entry_points::ctx_push_current>(where, context));
  auto done = work();
  result<> popped = call<&entry_points::ctx_pop_current>(where, &current);
  if (done.has_value() && !popped.has_value()) [[unlikely]]
    return gpu::detail::fail(gpu::detail::move(popped).error());
  return done;
}

/// `call` while `context` is current.
template <auto Member, class... Arguments>
result<> call_in(CUcontext context, source_location where, Arguments... arguments) noexcept {
  return in_context(context, where, [&] { return call<Member>(where, arguments...); });
}

/// Whether a failure to end something tells nothing that is wrong: the process is ending or was
/// forked, or the context is lost.
template <class Error> bool is_harmless_at_end(const Error& error) noexcept {
  return error.domain() == error_domain::gpu || error.code() == CUDA_ERROR_DEINITIALIZED ||
         error.is_sticky();
}

/// `destroy` while `context` is current. Where it cannot be made so, the call is tried all the
/// same: another context may do. Failures go to the error reporter, except where nothing can be
/// wrong, because the process is ending or was forked, or the context is lost.
template <auto Member, class... Arguments>
void destroy_in(CUcontext context, Arguments... arguments) noexcept {
  bool tried = false;
  const result<> done = in_context(context, source_location{}, [&] {
    tried = true;
    return call<Member>(source_location{}, arguments...);
  });
  if (done.has_value() || is_harmless_at_end(done.error())) [[likely]]
    return;
  gpu::detail::report(done.error());
  if (!tried) destroy<Member>(arguments...);
}

}  // namespace gpu::inline v0::driver
