#pragma once
/// \file
/// Driver calls that need a context to be current in the calling thread: it is made current for the
/// call, and the thread is left as it was found.

#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/primary_context.hpp>

namespace gpu::inline v0::driver {

/// Does `work()`, which returns a `result`, while `context` is current. Costs one query and a
/// comparison if it is current already, else a push and a pop.
/// **Errors**: those of `work`; then those of the push and the pop. If only the pop failed, the
/// work is done all the same, so work that acquires something has to look at what it got.
template <class Work>
auto in_context(CUcontext context, source_location where, Work work) noexcept -> decltype(work()) {
  CUcontext current = nullptr;
  GPU_TRY(call<&entry_points::ctx_get_current>(where, &current));
  if (current == context) return work();
  GPU_TRY(call<&entry_points::ctx_push_current>(where, context));
  auto done = work();
  result<> popped = call<&entry_points::ctx_pop_current>(where, &current);
  if (done.has_value() && !popped.has_value())
    return gpu::detail::fail(gpu::detail::move(popped).error());
  return done;
}

/// Does `work()`, which returns a `result`, in the context that is current in the calling thread;
/// if none is current, in a primary context that the process already holds, or else in that of
/// device 0. For calls that need some context but do not mind which: about code that belongs to no
/// context.
/// **Errors**: those of `in_context`, and of retaining device 0's primary context.
template <class Work>
auto in_any_context(source_location where, Work work) noexcept -> decltype(work()) {
  CUcontext context = nullptr;
  GPU_TRY(call<&entry_points::ctx_get_current>(where, &context));
  if (context == nullptr) GPU_TRY(gpu::detail::find_any_primary_context(context, where));
  return in_context(context, where, work);
}

/// Returns whether the failure to end something can be ignored: the process is ending or was
/// forked, or the context is lost.
inline bool is_harmless_at_end(const cuda_error& error) noexcept {
  return error.domain() == error_domain::gpu || error.code() == CUDA_ERROR_DEINITIALIZED ||
         error.is_sticky();
}

namespace detail {

template <auto Member, class Type = decltype(Member)> struct entry_point_in_context;

template <auto Member, class... Parameters>
struct entry_point_in_context<Member, CUresult (CUDAAPI* entry_points::*)(Parameters...)> {
  static result<> call(CUcontext context, source_location where, Parameters... arguments) noexcept {
    return in_context(context, where, [&] { return driver::call<Member>(where, arguments...); });
  }

  static result<> call_in_any(source_location where, Parameters... arguments) noexcept {
    return in_any_context(where, [&] { return driver::call<Member>(where, arguments...); });
  }

  static void destroy(CUcontext context, Parameters... arguments) noexcept {
    bool tried = false;
    const result<> done = in_context(context, source_location{}, [&] {
      tried = true;
      return driver::call<Member>(source_location{}, arguments...);
    });
    if (done.has_value() || is_harmless_at_end(done.error())) return;
    gpu::detail::report(done.error());
    if (!tried) driver::destroy<Member>(arguments...);
  }
};

}  // namespace detail

/// As `call`, while the context that is the first argument is current.
template <auto Member>
inline constexpr auto& call_in = detail::entry_point_in_context<Member>::call;

/// As `call`, while some context is current.
template <auto Member>
inline constexpr auto& call_in_any = detail::entry_point_in_context<Member>::call_in_any;

/// As `destroy`, while the context that is the first argument is current. If it cannot be made
/// current, the call is tried all the same, since another context may do.
template <auto Member>
inline constexpr auto& destroy_in = detail::entry_point_in_context<Member>::destroy;

}  // namespace gpu::inline v0::driver
