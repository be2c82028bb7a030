#pragma once
/// \file
/// Events, the marks in streams: `event` owns one, `event_ref` names one; `record`, `wait` and
/// `elapsed` use them.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/process_state.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/elapsed_time.hpp>
#include <gpu/driver/stream.hpp>

#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

struct event_options {
  bool timing = true;          ///< records the time, for `elapsed`; costs a little
  bool blocking_sync = false;  ///< a thread that waits sleeps instead of spinning
  bool interprocess = false;   ///< can be shared with other processes; excludes `timing`
};

class event;
class event_ref;

namespace detail {
inline result<> require(const event_ref& event, const char* function,
                        source_location where) noexcept;
}

/// The operations that `event` and `event_ref` share.
/// **Threads**: any thread may call any member, also at the same time as another.
/// **Errors**: `errc::empty_handle`, and those of the driver call named in parentheses.
template <class Self> class event_operations {
 public:
  /// Blocks until the work before the last `record` has finished; returns at once if the event was
  /// never recorded. Not allowed for an event recorded in a capture. (cuEventSynchronize)
  /// **Errors**: also those of earlier asynchronous work of the context.
  inline result<> synchronize(source_location where = source_location::current()) const noexcept;

  /// Returns whether the work before the last `record` has finished; never blocks. Not allowed
  /// during a capture, unless it is relaxed. (cuEventQuery)
  /// **Errors**: as `synchronize`; if the work still runs, the result is `false`, not an error.
  inline result<bool> is_done(source_location where = source_location::current()) const noexcept;

  // Refuses common guesses; the error says what to write.
  template <class... Arguments> void record(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Arguments...>, "write gpu::record(stream, event)");
  }
  template <class... Arguments> void wait(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Arguments...>,
                  "write gpu::wait(stream, event), or event.synchronize() for the host");
  }
  template <class... Arguments> void query(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Self, Arguments...>, "write event.is_done()");
  }
  template <class Other> void time_since(const Other&) const noexcept {
    static_assert(detail::always_false<Other>, "write gpu::elapsed(start, stop)");
  }
  template <class Other> void time_till(const Other&) const noexcept {
    static_assert(detail::always_false<Other>, "write gpu::elapsed(start, stop)");
  }
  template <class Other> friend void operator-(const Self&, const Other&) noexcept {
    static_assert(detail::always_false<Other>, "write gpu::elapsed(start, stop)");
  }

 private:
  friend Self;
  event_operations() = default;
};

/// Refers to an event that another object keeps alive. Copies are cheap; a default-constructed ref
/// is empty.
class event_ref : public event_operations<event_ref> {
 public:
  constexpr event_ref() noexcept = default;
  template <class T>  // a GPU_TRY is missing: does not compile, and says so
    requires(detail::one_of<T, event, event_ref>)
  event_ref(const expected<T, cuda_error>&) noexcept {
    detail::refuse_result<T>();
  }

  /// Refers to an event that was made elsewhere. `timing` says whether it records the time.
  static constexpr event_ref from_native(CUevent native, context_ref context,
                                         event_options options = {}) noexcept {
    return event_ref{native, context, options.timing};
  }
  constexpr CUevent native() const noexcept { return native_; }
  constexpr context_ref context() const noexcept { return context_; }
  constexpr bool has_timing() const noexcept { return timing_; }
  constexpr explicit operator bool() const noexcept { return native_ != nullptr; }
  friend constexpr bool operator==(const event_ref& a, const event_ref& b) noexcept {
    return a.native_ == b.native_;
  }

 private:
  constexpr event_ref(CUevent native, context_ref context, bool timing) noexcept
      : native_{native}, context_{context}, timing_{timing} {}

  CUevent native_ = nullptr;
  context_ref context_;
  bool timing_ = false;
};

namespace detail {

inline result<> require(const event_ref& event, const char* function,
                        source_location where) noexcept {
  if (!event) return refuse_empty_handle(function, "event", where);
  return {};
}

struct destroy_event {
  void operator()(const event_ref& event) const noexcept {
    const auto keep = atomic_load<memory_order::acquire>(state_of_process().keep_event);
    if (keep != nullptr && keep(event.native())) return;
    driver::destroy<&driver::entry_points::event_destroy>(event.native());
  }
};

}  // namespace detail

/// Owns an event. Move-only; empty after a move.
/// **Ordering**: the destructor does not wait; work that waits for the event still does. An event
/// that graphs have in nodes is destroyed when the last of them is gone.
class event : public event_operations<event> {
 public:
  /// Creates an empty object, to be assigned to.
  event() noexcept = default;

  /// Creates an event in a context, or in the primary context of a device. Allowed while a stream
  /// is captured. (cuEventCreate)
  /// **Errors**: `errc::invalid_argument` if both `interprocess` and `timing` are set.
  static result<event> create(context_or_device on, event_options options = {},
                              source_location where = source_location::current()) noexcept {
    const context_ref in = GPU_TRY(on.resolve("gpu::event::create", where));
    if (options.interprocess && options.timing) return detail::fail(cannot_time(where));
    unsigned flags = CU_EVENT_DEFAULT;
    if (!options.timing) flags |= CU_EVENT_DISABLE_TIMING;
    if (options.blocking_sync) flags |= CU_EVENT_BLOCKING_SYNC;
    if (options.interprocess) flags |= CU_EVENT_INTERPROCESS;
    CUevent native = nullptr;
    result<> made =
        driver::call_in<&driver::entry_points::event_create>(in.native(), where, &native, flags);
    event owner{event_ref::from_native(native, in, options)};
    GPU_TRY(std::move(made));
    return owner;
  }

  // Refuses common guesses; the error says what to write.
  template <class On>
    requires std::is_convertible_v<const On&, context_or_device>
  explicit event(const On&) noexcept {
    static_assert(detail::always_false<On>, "write gpu::event::create(device)");
  }
  template <class Event = event>  // an error only if it is called
  static result<Event> create() noexcept {
    static_assert(detail::always_false<Event>, "write gpu::event::create(device)");
    return {};
  }

  /// Takes over an event that cuEventCreate made.
  static event adopt(const event_ref& owned) noexcept { return event{owned}; }
  /// Gives the event up; the caller destroys it.
  [[nodiscard]] event_ref release() noexcept { return handle_.release(); }

  CUevent native() const noexcept { return handle_.get().native(); }
  context_ref context() const noexcept { return handle_.get().context(); }
  bool has_timing() const noexcept { return handle_.get().has_timing(); }
  operator event_ref() const& noexcept { return handle_.get(); }
  operator event_ref() const&& = delete;  // a name must not outlive its owner

 private:
  explicit event(const event_ref& owned) noexcept : handle_{owned} {}

  static cuda_error cannot_time(source_location where) noexcept {
    return detail::refusal(errc::invalid_argument, "gpu::event::create",
                           text("an event for several processes cannot note the time. Set timing "
                                "to false, or leave interprocess out."),
                           where);
  }

  unique_handle<event_ref, detail::destroy_event> handle_;
};

template <class Self>
result<> event_operations<Self>::synchronize(source_location where) const noexcept {
  const Self& event = static_cast<const Self&>(*this);
  GPU_TRY(detail::require(event, "gpu::event::synchronize", where));
  return driver::call<&driver::entry_points::event_synchronize>(where, event.native());
}

template <class Self>
inline result<bool> event_operations<Self>::is_done(source_location where) const noexcept {
  const Self& event = static_cast<const Self&>(*this);
  GPU_TRY(detail::require(event, "gpu::event::is_done", where));
  return driver::query<&driver::entry_points::event_query>(CUDA_ERROR_NOT_READY, where,
                                                           event.native());
}

namespace detail {

/// Calls the driver for `record` and `wait`, on a stream of any kind, or fails with what is wrong.
inline result<> record_checked(const stream_ref& stream, const event_ref& event,
                               source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::record", where));
  GPU_TRY(require(event, "gpu::record", where));
  if (stream.context() != event.context()) {
    return fail(wrong_context_error("gpu::record", "stream", stream.device().native(), "event",
                                    event.context().device().native(), where));
  }
  return on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::event_record>(where, event.native(),
                                                             stream.native());
  });
}
inline result<> wait_checked(const stream_ref& stream, const event_ref& event,
                             source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::wait", where));
  GPU_TRY(require(event, "gpu::wait", where));
  return on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::stream_wait_event>(
        where, stream.native(), event.native(), unsigned{CU_EVENT_WAIT_DEFAULT});
  });
}
inline event_ref copy_of(const event_ref& event) noexcept {
  return event_ref::from_native(event.native(), event.context(), {.timing = event.has_timing()});
}

}  // namespace detail

/// Marks the end of the work queued on `stream` so far; an earlier mark is forgotten. Does not
/// block. In a capture it marks the point for the streams that join. (cuEventRecord)
/// **Threads**: any. **Errors**: `errc::wrong_context` if the two belong to different contexts.
inline result<> record(stream_ref stream, event_ref event,
                       source_location where = source_location::current()) noexcept {
  if (!detail::is_fast_path(stream) || !event || stream.context() != event.context())
    return detail::record_checked(detail::copy_of(stream), detail::copy_of(event), where);
  return driver::call<&driver::entry_points::event_record>(where, event.native(), stream.native());
}

/// Makes work that is queued on `stream` from now on wait for the work that `event` marks, which
/// may be on another stream and another device. Does not block; does nothing if the event was never
/// recorded. Joins the stream to the capture in which the event was recorded. (cuStreamWaitEvent)
/// **Threads**: any. The event may be recorded anew or destroyed afterwards.
inline result<> wait(stream_ref stream, event_ref event,
                     source_location where = source_location::current()) noexcept {
  if (!detail::is_fast_path(stream) || !event)
    return detail::wait_checked(detail::copy_of(stream), detail::copy_of(event), where);
  return driver::call<&driver::entry_points::stream_wait_event>(
      where, stream.native(), event.native(), unsigned{CU_EVENT_WAIT_DEFAULT});
}

namespace detail {

/// Adds what is wrong with the events to the driver's error about their time.
inline cuda_error explain_elapsed(cuda_error error) noexcept {
  if (error.domain() != error_domain::driver) return error;
  if (error.code() == CUDA_ERROR_INVALID_HANDLE) {
    return record_error(std::move(error).with_details(
        text("gpu::elapsed: start or stop was never recorded, or was recorded in a capture only. "
             "Write gpu::record(stream, event) for both first.")));
  }
  if (error.code() == CUDA_ERROR_NOT_READY) {
    return record_error(std::move(error).with_details(
        text("gpu::elapsed: the work before start or stop has not finished. Write "
             "stop.synchronize() first.")));
  }
  return error;
}

}  // namespace detail

/// Returns the time from `start` to `stop`, both recorded and done. Not captured.
/// (cuEventElapsedTime)
/// **Errors**: `errc::invalid_argument` if an event was made without timing; `errc::wrong_context`
/// if the two belong to different contexts; the driver's CUDA_ERROR_NOT_READY if the work has not
/// finished (synchronize with `stop` first), and its CUDA_ERROR_INVALID_HANDLE if one of them was
/// never recorded.
inline result<elapsed_time> elapsed(event_ref start, event_ref stop,
                                    source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(start, "gpu::elapsed", where));
  GPU_TRY(detail::require(stop, "gpu::elapsed", where));
  if (!start.has_timing() || !stop.has_timing()) {
    return detail::fail(detail::refusal(
        errc::invalid_argument, "gpu::elapsed",
        text("an event was made without timing. Create both with event_options{.timing = true}."),
        where));
  }
  if (start.context() != stop.context()) {
    return detail::fail(detail::wrong_context_error("gpu::elapsed", "start",
                                                    start.context().device().native(), "stop",
                                                    stop.context().device().native(), where));
  }
  float milliseconds = 0;
  result<> told = driver::call<&driver::entry_points::event_elapsed_time>(
      where, &milliseconds, start.native(), stop.native());
  if (!told.has_value()) return detail::fail(detail::explain_elapsed(std::move(told).error()));
  return elapsed_time::from_milliseconds(milliseconds);
}

}}  // namespace gpu::v1
