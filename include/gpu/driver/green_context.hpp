#pragma once
/// \file
/// Green contexts, multiprocessors of a device set apart for the streams made in them:
/// `green_context` owns one, `green_context_ref` names one.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/multiprocessor_set.hpp>
#include <gpu/driver/stream.hpp>

#include <utility>

namespace gpu { inline namespace v1 {

class green_context_ref;

namespace detail {
inline result<> require(green_context_ref green, const char* function,
                        source_location where) noexcept;
}

/// The operations that `green_context` and `green_context_ref` share.
/// **Threads**: the driver allows one thread at a time for each green context; its streams may be
/// used by all. **Errors**: `errc::empty_handle`; those of the driver call named in parentheses;
/// `errc::not_supported` if the driver is too old for it.
template <class Self> class green_context_operations {
 public:
  /// Creates a stream whose work runs on the multiprocessors of this context. Its `context()` is
  /// the primary one, as are events, memory and kernels of the device, which it takes like any
  /// other stream of the device. It must be destroyed before the green context is: afterwards it
  /// cannot be used, and the driver does not give its memory back. Needs a driver for CUDA 12.5.
  /// **Errors**: `errc::invalid_argument` for a blocking stream. **Capture**: not affected.
  /// (cuGreenCtxStreamCreate)
  result<stream> create_stream(stream_options options = {},
                               source_location where = source_location::current()) const noexcept {
    constexpr const char* function = "gpu::green_context::create_stream";
    GPU_TRY(detail::require(self(), function, where));
    GPU_TRY(detail::require_enumerator(options.kind, "stream_kind", function, where));
    if (options.kind != stream_kind::non_blocking) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, function,
          text("streams of green contexts cannot be blocking. Leave out kind, and order the stream "
               "with the default stream by an event."),
          where));
    }
    const context_ref primary = GPU_TRY(gpu::context::primary(self().device(), where));
    CUstream native = nullptr;
    result<> made = driver::call<&driver::entry_points::green_ctx_stream_create>(
        where, &native, self().native(), unsigned{CU_STREAM_NON_BLOCKING}, options.priority);
    stream owner =
        stream::adopt(native != nullptr ? stream_ref::from_native(native, primary) : stream_ref{});
    GPU_TRY(std::move(made));
    return owner;
  }

  /// Returns the multiprocessors of this context. They can be split. **Capture**: not affected.
  /// (cuGreenCtxGetDevResource)
  result<multiprocessor_set> multiprocessors(
      source_location where = source_location::current()) const noexcept {
    GPU_TRY(detail::require(self(), "gpu::green_context::multiprocessors", where));
    CUdevResource found{};
    GPU_TRY(driver::call<&driver::entry_points::green_ctx_get_dev_resource>(
        where, self().native(), &found, CU_DEV_RESOURCE_TYPE_SM));
    return multiprocessor_set::from_native(found, self().device());
  }

  /// Returns the primary context with these multiprocessors, for a `context_scope` around calls
  /// into other libraries: streams that they make, and their default stream, belong to the green
  /// context. Only one thread at a time may have it current. For everything of `gpu` use the device
  /// and `create_stream`. **Capture**: not affected. (cuCtxFromGreenCtx)
  result<context_ref> context(source_location where = source_location::current()) const noexcept {
    GPU_TRY(detail::require(self(), "gpu::green_context::context", where));
    CUcontext native = nullptr;
    GPU_TRY(
        driver::call<&driver::entry_points::ctx_from_green_ctx>(where, &native, self().native()));
    return context_ref::from_native(native, self().device());
  }

  /// Returns a number that no other green context of the process has or had. Needs a driver for
  /// CUDA 12.9. **Capture**: not affected. (cuGreenCtxGetId)
  result<unsigned long long> id(source_location where = source_location::current()) const noexcept {
    GPU_TRY(detail::require(self(), "gpu::green_context::id", where));
    unsigned long long number = 0;
    GPU_TRY(driver::call<&driver::entry_points::green_ctx_get_id>(where, self().native(), &number));
    return number;
  }

 private:
  friend Self;
  green_context_operations() = default;

  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

/// Refers to a green context that another object keeps alive. Copies are cheap; a
/// default-constructed ref is empty.
class green_context_ref : public green_context_operations<green_context_ref> {
 public:
  constexpr green_context_ref() noexcept = default;

  /// Refers to a green context of device `on` that was made elsewhere.
  static constexpr green_context_ref from_native(CUgreenCtx native, gpu::device on) noexcept {
    return green_context_ref{native, on.native()};
  }
  constexpr CUgreenCtx native() const noexcept { return native_; }
  constexpr gpu::device device() const noexcept { return gpu::device::from_native(device_); }
  constexpr explicit operator bool() const noexcept { return native_ != nullptr; }
  friend constexpr bool operator==(const green_context_ref& a,
                                   const green_context_ref& b) noexcept {
    return a.native_ == b.native_;
  }

 private:
  constexpr green_context_ref(CUgreenCtx native, CUdevice on) noexcept
      : native_{native}, device_{on} {}

  CUgreenCtx native_ = nullptr;
  CUdevice device_ = 0;
};

namespace detail {

inline result<> require(green_context_ref green, const char* function,
                        source_location where) noexcept {
  if (!green) return refuse_empty_handle(function, "green context", where);
  return {};
}

struct destroy_green_context {
  void operator()(const green_context_ref& green) const noexcept {
    count_own_context(-1);
    driver::destroy<&driver::entry_points::green_ctx_destroy>(green.native());
  }
};

}  // namespace detail

/// Owns a green context. Kernels on its streams run on its multiprocessors and no others, beside
/// those of other green contexts; that the two really run at the same time is not promised. Memory,
/// events and kernels are those of the primary context. Move-only; empty after a move.
/// **Ordering**: synchronize with its streams, and destroy them, before it is destroyed.
class green_context : public green_context_operations<green_context> {
 public:
  /// Creates an empty object, to be assigned to.
  green_context() noexcept = default;

  /// Makes a green context. The set may be all of a device, a group or a rest; other contexts may
  /// have multiprocessors in common with it. It is not left current.
  /// **Errors**: `errc::empty_handle` for an empty set; `errc::not_supported` if the driver is
  /// older than CUDA 12.4. **Capture**: not affected.
  /// (cuDevResourceGenerateDesc, cuDevicePrimaryCtxRetain, cuGreenCtxCreate)
  static result<green_context> create(const multiprocessor_set& with,
                                      source_location where = source_location::current()) noexcept {
    if (!with) {
      return detail::fail(detail::empty_handle_error("gpu::green_context::create",
                                                     "set of multiprocessors", where));
    }
    CUdevResource resource = with.native();
    CUdevResourceDesc described = nullptr;
    GPU_TRY(driver::call<&driver::entry_points::dev_resource_generate_desc>(where, &described,
                                                                            &resource, 1u));
    // The driver initializes the primary context anew for each green one, unless it is in use.
    GPU_TRY(gpu::context::primary(with.device(), where));
    CUgreenCtx native = nullptr;
    result<> made = driver::call<&driver::entry_points::green_ctx_create>(
        where, &native, described, with.device().native(), unsigned{CU_GREEN_CTX_DEFAULT_STREAM});
    green_context owner{green_context_ref::from_native(native, with.device())};
    GPU_TRY(std::move(made));
    return owner;
  }

  /// Takes over a green context that cuGreenCtxCreate made.
  static green_context adopt(green_context_ref owned) noexcept { return green_context{owned}; }
  /// Gives the green context up; the caller destroys it.
  [[nodiscard]] green_context_ref release() noexcept {
    if (handle_) detail::count_own_context(-1);
    return handle_.release();
  }

  /// Destroys the green context now and returns the error that the destructor could only report;
  /// empty afterwards. (cuGreenCtxDestroy)
  result<> destroy(source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require(*this, "gpu::green_context::destroy", where));
    return driver::call<&driver::entry_points::green_ctx_destroy>(where, release().native());
  }

  CUgreenCtx native() const noexcept { return handle_.get().native(); }
  gpu::device device() const noexcept { return handle_.get().device(); }
  operator green_context_ref() const& noexcept { return handle_.get(); }
  operator green_context_ref() const&& = delete;  // a name must not outlive its owner

 private:
  explicit green_context(green_context_ref owned) noexcept : handle_{owned} {
    if (handle_) detail::count_own_context(1);
  }

  unique_handle<green_context_ref, detail::destroy_green_context> handle_;
};

/// Returns the green context in which a stream was made, or an empty ref if in none.
/// **Errors**: `errc::empty_handle`; the driver's. **Capture**: not affected. **Threads**: any.
/// (cuStreamGetGreenCtx)
inline result<green_context_ref> green_context_of(
    stream_ref stream, source_location where = source_location::current()) noexcept {
  CUgreenCtx native = nullptr;
  GPU_TRY(detail::on_stream(
      stream, where,
      [&] {
        return driver::call<&driver::entry_points::stream_get_green_ctx>(where, stream.native(),
                                                                         &native);
      },
      "gpu::green_context_of"));
  return green_context_ref::from_native(native, stream.device());
}

/// Marks the end of all work queued so far on the streams of a green context. Does not block.
/// **Capture**: not allowed on a stream of the green context. **Threads**: one at a time.
/// **Errors**: `errc::empty_handle`; `errc::wrong_context` for an event that does not belong to the
/// primary context of the device. (cuGreenCtxRecordEvent)
inline result<> record(green_context_ref green, event_ref event,
                       source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(green, "gpu::record", where));
  GPU_TRY(detail::require(event, "gpu::record", where));
  if (event.context() != GPU_TRY(gpu::context::primary(green.device(), where))) {
    return detail::fail(detail::wrong_context_error("gpu::record", "green context",
                                                    green.device().native(), "event",
                                                    event.context().device().native(), where));
  }
  return driver::call<&driver::entry_points::green_ctx_record_event>(where, green.native(),
                                                                     event.native());
}

/// Makes all later work on the streams of a green context wait for the work that `event` marks,
/// which may be anywhere. Does not block.
/// **Capture**: not allowed on a stream of the green context. **Threads**: one at a time.
/// **Errors**: `errc::empty_handle`; the driver's. (cuGreenCtxWaitEvent)
inline result<> wait(green_context_ref green, event_ref event,
                     source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(green, "gpu::wait", where));
  GPU_TRY(detail::require(event, "gpu::wait", where));
  return driver::call<&driver::entry_points::green_ctx_wait_event>(where, green.native(),
                                                                   event.native());
}

}}  // namespace gpu::v1
