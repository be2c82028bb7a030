#pragma once
/// \file
/// Driver calls that need a context to be current in the calling thread: it is made current for the
/// call, and the thread is left as it was found.

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/primary_context.hpp>
#include <gpu/driver/error_reporter.hpp>

#include <utility>

namespace gpu { inline namespace v1 { namespace driver {

/// Makes `context` current, and sets `pushed` if it was not so before.
inline result<> push_unless_current(CUcontext context, bool& pushed,
                                    source_location where) noexcept {
  CUcontext current = nullptr;
  GPU_TRY(call<&entry_points::ctx_get_current>(where, &current));
  if (current == context) return {};
  GPU_TRY(call<&entry_points::ctx_push_current>(where, context));
  pushed = true;
  return {};
}

/// Ends what `push_unless_current` began. Returns `done`, the outcome of the work between them, or
/// else the error of the pop.
inline result<> pop_if(bool pushed, result<> done, source_location where) noexcept {
  if (!pushed) return done;
  CUcontext current = nullptr;
  result<> popped = call<&entry_points::ctx_pop_current>(where, &current);
  if (done.has_value()) return popped;
  return done;
}

/// Does `work()`, which returns a `result`, while `context` is current. Costs one query and a
/// comparison if it is current already, else a push and a pop.
/// **Errors**: those of `work`; then those of the push and the pop. If only the pop failed, the
/// work is done all the same, so work that acquires something has to check whether it did.
template <class Work>
auto in_context(CUcontext context, source_location where, Work work) noexcept -> decltype(work()) {
  bool pushed = false;
  GPU_TRY(push_unless_current(context, pushed, where));
  auto done = work();
  result<> popped = pop_if(pushed, {}, where);
  if (done.has_value() && !popped.has_value()) return gpu::detail::fail(std::move(popped).error());
  return done;
}

/// Returns in `context` the one that is current in the calling thread; without one, a primary
/// context that the process already holds, or else that of device 0.
inline result<> find_some_context(CUcontext& context, source_location where) noexcept {
  GPU_TRY(call<&entry_points::ctx_get_current>(where, &context));
  if (context != nullptr) return {};
  return gpu::detail::find_any_primary_context(context, where);
}

/// Does `work()`, which returns a `result`, in the context that is current in the calling thread;
/// if none is current, in a primary context that the process already holds, or else in that of
/// device 0. For calls that need some context, no matter which: calls about code, which belongs to
/// no context.
/// **Errors**: those of `in_context`, and of retaining device 0's primary context.
template <class Work>
auto in_any_context(source_location where, Work work) noexcept -> decltype(work()) {
  CUcontext context = nullptr;
  GPU_TRY(find_some_context(context, where));
  return in_context(context, where, work);
}

/// Returns whether the failure to end something can be ignored: the process is ending or was
/// forked, or the context is lost.
inline bool is_harmless_at_end(const cuda_error& error) noexcept {
  return error.domain() == error_domain::gpu || error.code() == CUDA_ERROR_DEINITIALIZED ||
         error.is_sticky();
}

/// Reports the failure to end something, unless it can be ignored; returns whether it was reported.
inline bool report_at_end(const result<>& done) noexcept {
  if (done.has_value() || is_harmless_at_end(done.error())) return false;
  gpu::detail::report(done.error());
  return true;
}

namespace detail {

template <auto Member, class Type = decltype(Member)> struct entry_point_in_context;

template <auto Member, class... Parameters>
struct entry_point_in_context<Member, CUresult (CUDAAPI* entry_points::*)(Parameters...)> {
  static result<> call(CUcontext context, source_location where, Parameters... arguments) noexcept {
    bool pushed = false;
    GPU_TRY(push_unless_current(context, pushed, where));
    return pop_if(pushed, driver::call<Member>(where, arguments...), where);
  }

  static result<> call_in_any(source_location where, Parameters... arguments) noexcept {
    CUcontext context = nullptr;
    GPU_TRY(find_some_context(context, where));
    return call(context, where, arguments...);
  }

  static void destroy(CUcontext context, Parameters... arguments) noexcept {
    bool pushed = false;
    const result<> entered = push_unless_current(context, pushed, source_location{});
    if (entered.has_value()) {
      report_at_end(pop_if(pushed, driver::call<Member>(source_location{}, arguments...), {}));
    } else if (report_at_end(entered)) {
      driver::destroy<Member>(arguments...);
    }
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
/// current, the call is tried all the same, since it may work in another context.
template <auto Member>
inline constexpr auto& destroy_in = detail::entry_point_in_context<Member>::destroy;

}}}  // namespace gpu::v1::driver
