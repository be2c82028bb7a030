#pragma once
/// \file
/// Contexts, the address spaces of a device: `context` owns one, `context_ref` names one,
/// `context_scope` makes one current. Most programs need none of them, since a `device` stands for
/// its primary context wherever a context is asked for.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/cache_preference.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context_limit.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/primary_context.hpp>
#include <gpu/driver/detail/process_state.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/error_reporter.hpp>

#include <concepts>
#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

/// Properties of a context; combine with `|`.
enum class context_flags : unsigned {
  none = CU_CTX_SCHED_AUTO,    ///< waiting threads spin or yield, as the driver decides
  spin = CU_CTX_SCHED_SPIN,    ///< waiting threads spin: the least latency
  yield = CU_CTX_SCHED_YIELD,  ///< waiting threads yield to others
  blocking_sync = CU_CTX_SCHED_BLOCKING_SYNC,     ///< waiting threads sleep: the least CPU time
  keep_local_memory = CU_CTX_LMEM_RESIZE_TO_MAX,  ///< local memory stays at its largest size so far
  coredump = CU_CTX_COREDUMP_ENABLE,              ///< a fault of a kernel writes a core dump
  user_coredump = CU_CTX_USER_COREDUMP_ENABLE,    ///< so does writing to the driver's pipe
  sync_memory_operations = CU_CTX_SYNC_MEMOPS,    ///< synchronous copies always wait for the device
  scheduling_mask = CU_CTX_SCHED_MASK,            ///< all flags for how threads wait
  all = CU_CTX_FLAGS_MASK,                        ///< every flag
};
template <> inline constexpr bool is_flag_set<context_flags> = true;

/// The priorities that streams of a context can have; a lower number is more urgent.
struct stream_priority_range {
  int least = 0;
  int greatest = 0;
};

class context_ref;

namespace detail {
inline result<> require(context_ref context, const char* function, source_location where) noexcept;

inline result<> check_context_flags(context_flags flags, const char* function,
                                    source_location where) noexcept {
  GPU_TRY(require_flags(flags, CU_CTX_FLAGS_MASK, "context_flags", function, where));
  const unsigned waiting = static_cast<unsigned>(flags) & CU_CTX_SCHED_MASK;
  if ((waiting & (waiting - 1)) == 0) return {};
  return fail(
      refusal(errc::invalid_argument, function,
              text("the flags name more than one way for threads to wait. Pass one of spin, "
                   "yield and blocking_sync."),
              where, waiting));
}

/// Adds the limit and the value to the driver's error for a limit that it did not set.
inline result<> explain_limit(result<> failed, context_limit which, std::size_t asked) noexcept {
  cuda_error& error = failed.error();
  const int code = error.domain() == error_domain::driver ? error.code() : 0;
  text_builder out;
  out << name_of(which) << " cannot be set to " << asked;
  if (code == CUDA_ERROR_UNSUPPORTED_LIMIT) {
    out << ": the device has no such limit. Do not set it on this device.";
  } else if ((code == CUDA_ERROR_INVALID_VALUE || code == CUDA_ERROR_OUT_OF_MEMORY) &&
             which < context_limit::shmem_size) {
    out << ": the value is too large, or a kernel has used the limit already. Set a smaller value "
           "before the first launch.";
  } else {
    return failed;
  }
  return fail(record_error(std::move(error).with_details(out.finish()).with_values(asked, 0)));
}

}  // namespace detail

/// The operations that `context` and `context_ref` share.
/// **Threads**: any thread may call any member. No member depends on the current context, and all
/// leave it as it was. **Errors**: `errc::empty_handle`, and those of the driver call named in
/// parentheses.
/// **Capture**: `synchronize`, `set_limit` and `set_cache_preference` are not allowed.
template <class Self> class context_operations {
 public:
  /// Blocks until all work of the context has finished. Not allowed while a stream of the context
  /// is being captured. (cuCtxSynchronize)
  /// **Errors**: also those of earlier asynchronous work.
  result<> synchronize(source_location where = source_location::current()) const noexcept {
    return in<&driver::entry_points::ctx_synchronize>("gpu::context::synchronize", where);
  }

  /// Makes the context current in this thread, on top of those pushed before; `context_scope` does
  /// the same and cannot forget the pop. (cuCtxPushCurrent)
  result<> push(source_location where = source_location::current()) const noexcept {
    GPU_TRY(detail::require(self(), "gpu::context::push", where));
    return driver::call<&driver::entry_points::ctx_push_current>(where, native());
  }

  /// Returns the context on top of this thread's stack; empty if the stack is.
  /// (cuCtxGetCurrent, cuCtxGetDevice)
  static result<context_ref> current(source_location where = source_location::current()) noexcept;

  /// Takes the topmost context off this thread's stack: the other half of `push`.
  /// (cuCtxPopCurrent)
  static result<> pop(source_location where = source_location::current()) noexcept {
    CUcontext popped = nullptr;
    return driver::call<&driver::entry_points::ctx_pop_current>(where, &popped);
  }

  /// Returns one of the context's limits, in bytes or as a number. (cuCtxGetLimit)
  /// **Errors**: `errc::invalid_argument` for a value that is not a valid limit.
  result<std::size_t> limit(context_limit which,
                            source_location where = source_location::current()) const noexcept {
    GPU_TRY(detail::require_enumerator(which, "context_limit", "gpu::context::limit", where));
    return get<std::size_t, &driver::entry_points::ctx_get_limit>("gpu::context::limit", where,
                                                                  static_cast<CUlimit>(which));
  }
  /// Sets a limit. The driver may round it, so read it back. (cuCtxSetLimit)
  /// **Errors**: `errc::invalid_argument` for a value that is not a valid limit; the driver's, with
  /// limit and value: CUDA_ERROR_INVALID_VALUE or CUDA_ERROR_OUT_OF_MEMORY for more than the device
  /// can set aside, CUDA_ERROR_UNSUPPORTED_LIMIT if it has no such limit.
  result<> set_limit(context_limit which, std::size_t value,
                     source_location where = source_location::current()) const noexcept {
    GPU_TRY(detail::require_enumerator(which, "context_limit", "gpu::context::set_limit", where));
    result<> set = in<&driver::entry_points::ctx_set_limit>("gpu::context::set_limit", where,
                                                            static_cast<CUlimit>(which), value);
    if (set.has_value()) return set;
    return detail::explain_limit(std::move(set), which, value);
  }

  /// Returns the division between L1 cache and shared memory, for kernels without a preference of
  /// their own. (cuCtxGetCacheConfig)
  result<gpu::cache_preference> cache_preference(
      source_location where = source_location::current()) const noexcept {
    CUfunc_cache config{};
    GPU_TRY(in<&driver::entry_points::ctx_get_cache_config>("gpu::context::cache_preference", where,
                                                            &config));
    return static_cast<gpu::cache_preference>(config);
  }
  /// **Errors**: `errc::invalid_argument` for a value that is not a valid preference.
  /// (cuCtxSetCacheConfig)
  result<> set_cache_preference(gpu::cache_preference prefer,
                                source_location where = source_location::current()) const noexcept {
    GPU_TRY(detail::require_enumerator(prefer, "cache_preference",
                                       "gpu::context::set_cache_preference", where));
    return in<&driver::entry_points::ctx_set_cache_config>(
        "gpu::context::set_cache_preference", where, static_cast<CUfunc_cache>(prefer));
  }

  /// (cuCtxGetFlags)
  result<context_flags> flags(source_location where = source_location::current()) const noexcept {
    unsigned bits = 0;
    GPU_TRY(in<&driver::entry_points::ctx_get_flags>("gpu::context::flags", where, &bits));
    return static_cast<context_flags>(bits);
  }
  /// **Errors**: `errc::invalid_argument` for flags that do not go together. (cuCtxSetFlags)
  result<> set_flags(context_flags flags,
                     source_location where = source_location::current()) const noexcept {
    GPU_TRY(detail::check_context_flags(flags, "gpu::context::set_flags", where));
    return in<&driver::entry_points::ctx_set_flags>("gpu::context::set_flags", where,
                                                    static_cast<unsigned>(flags));
  }

  /// Returns a number that no other context of the process has or had. (cuCtxGetId)
  result<unsigned long long> id(source_location where = source_location::current()) const noexcept {
    unsigned long long number = 0;
    GPU_TRY(detail::require(self(), "gpu::context::id", where));
    GPU_TRY(driver::call<&driver::entry_points::ctx_get_id>(where, native(), &number));
    return number;
  }

  /// Returns the version of the driver interface that the context was made for, such as 3020.
  /// (cuCtxGetApiVersion)
  result<int> api_version(source_location where = source_location::current()) const noexcept {
    unsigned version = 0;
    GPU_TRY(detail::require(self(), "gpu::context::api_version", where));
    GPU_TRY(driver::call<&driver::entry_points::ctx_get_api_version>(where, native(), &version));
    return static_cast<int>(version);
  }

  /// (cuCtxGetStreamPriorityRange)
  result<gpu::stream_priority_range> stream_priority_range(
      source_location where = source_location::current()) const noexcept {
    gpu::stream_priority_range range;
    GPU_TRY(in<&driver::entry_points::ctx_get_stream_priority_range>(
        "gpu::context::stream_priority_range", where, &range.least, &range.greatest));
    return range;
  }

  /// Returns the free and the total bytes of the device as this context sees them. (cuMemGetInfo)
  result<gpu::memory_info> memory_info(
      source_location where = source_location::current()) const noexcept {
    gpu::memory_info info;
    GPU_TRY(in<&driver::entry_points::mem_get_info>("gpu::context::memory_info", where, &info.free,
                                                    &info.total));
    return info;
  }

 private:
  friend Self;
  context_operations() = default;

  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
  CUcontext native() const noexcept { return self().native(); }

  /// Returns what a driver function of the form `f(T* answer, arguments...)` stores, called in this
  /// context.
  template <class T, auto Member, class... Arguments>
  result<T> get(const char* function, source_location where,
                Arguments... arguments) const noexcept {
    T answer{};
    GPU_TRY(in<Member>(function, where, &answer, arguments...));
    return answer;
  }
  template <auto Member, class... Arguments>
  result<> in(const char* function, source_location where, Arguments... arguments) const noexcept {
    GPU_TRY(detail::require(self(), function, where));
    return driver::call_in<Member>(native(), where, arguments...);
  }
};

/// Refers to a context that another object keeps alive. Copies are cheap; a default-constructed ref
/// is empty.
class context_ref : public context_operations<context_ref> {
 public:
  constexpr context_ref() noexcept = default;

  /// Refers to a context of device `on` that was made elsewhere.
  static constexpr context_ref from_native(CUcontext native, device on) noexcept {
    return context_ref{native, on.native()};
  }

  constexpr CUcontext native() const noexcept { return native_; }
  constexpr gpu::device device() const noexcept { return gpu::device::from_native(device_); }
  constexpr explicit operator bool() const noexcept { return native_ != nullptr; }
  friend constexpr bool operator==(const context_ref& a, const context_ref& b) noexcept {
    return a.native_ == b.native_;
  }

 private:
  constexpr context_ref(CUcontext native, CUdevice on) noexcept : native_{native}, device_{on} {}

  CUcontext native_ = nullptr;
  CUdevice device_ = 0;
};

template <class Self>
result<context_ref> context_operations<Self>::current(source_location where) noexcept {
  CUcontext native = nullptr;
  CUdevice on = 0;
  GPU_TRY(driver::call<&driver::entry_points::ctx_get_current>(where, &native));
  if (native != nullptr) {
    GPU_TRY(driver::call<&driver::entry_points::ctx_get_device>(where, &on));
  }
  return context_ref::from_native(native, device::from_native(on));
}

namespace detail {

inline result<> require(context_ref context, const char* function, source_location where) noexcept {
  if (!context) return fail(empty_handle_error(function, "context", where));
  return {};
}

/// Adds `more`, 1 or -1, to the number of contexts that are not primary.
inline void count_own_context(int more) noexcept {
  atomic_fetch_add<memory_order::relaxed>(state_of_process().own_contexts, more);
}

struct destroy_context {
  void operator()(context_ref context) const noexcept {
    count_own_context(-1);
    driver::destroy<&driver::entry_points::ctx_destroy>(context.native());
  }
};

}  // namespace detail

/// Owns a context of its own, apart from the primary one. Everything made in it has to be destroyed
/// before it is. Move-only; empty after a move.
/// **Capture**: making, finding and destroying contexts does not affect captures in other contexts.
/// cuBLAS, the CUDA runtime and other libraries use the primary context; hence so does `gpu`,
/// wherever a device is given in place of a context.
class context : public context_operations<context> {
 public:
  /// Creates an empty object, to be assigned to.
  context() noexcept = default;

  // Refuses common guesses; the error says what to write.
  template <class Device>
    requires std::same_as<Device, gpu::device>
  explicit context(const Device&) noexcept {
    static_assert(detail::always_false<Device>,
                  "write gpu::context::create(device), or pass the device itself");
  }

  /// Makes a context. It is not left current: see `push` and `context_scope`.
  /// **Errors**: `errc::invalid_argument` for flags that do not go together.
  /// (cuCtxCreate, cuCtxPopCurrent)
  static result<context> create(gpu::device on, context_flags flags = context_flags::none,
                                source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::check_context_flags(flags, "gpu::context::create", where));
    CUcontext native = nullptr;
    result<> created = driver::call<&driver::entry_points::ctx_create>(
        where, &native, nullptr, static_cast<unsigned>(flags), on.native());
    if (!created.has_value())
      GPU_TRY(detail::explain_device(std::move(created), on.native(), where));
    context made = adopt(context_ref::from_native(native, on));
    GPU_TRY(driver::call<&driver::entry_points::ctx_pop_current>(where, &native));
    return made;
  }

  /// Returns the primary context of a device. The library retains it on first use and keeps it
  /// until the process ends, as the CUDA runtime does. (cuDevicePrimaryCtxRetain)
  static result<context_ref> primary(gpu::device of,
                                     source_location where = source_location::current()) noexcept {
    CUcontext native = nullptr;
    GPU_TRY(detail::find_primary_context(of.native(), native, where));
    return context_ref::from_native(native, of);
  }

  /// Takes over a context that cuCtxCreate made.
  static context adopt(context_ref owned) noexcept { return context{owned}; }
  /// Gives the context up; the caller destroys it.
  [[nodiscard]] context_ref release() noexcept {
    if (handle_) detail::count_own_context(-1);
    return handle_.release();
  }

  /// Destroys the context now and returns the error that the destructor could only report; empty
  /// afterwards. (cuCtxDestroy)
  result<> destroy(source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require(*this, "gpu::context::destroy", where));
    return driver::call<&driver::entry_points::ctx_destroy>(where, release().native());
  }

  CUcontext native() const noexcept { return handle_.get().native(); }
  gpu::device device() const noexcept { return handle_.get().device(); }
  operator context_ref() const& noexcept { return handle_.get(); }
  operator context_ref() const&& = delete;  // a name must not outlive its owner

 private:
  explicit context(context_ref owned) noexcept : handle_{owned} {
    if (handle_) detail::count_own_context(1);
  }

  unique_handle<context_ref, detail::destroy_context> handle_;
};

namespace detail {

struct pop_context {
  void operator()(context_ref pushed) const noexcept {
    CUcontext popped = nullptr;
    driver::destroy<&driver::entry_points::ctx_pop_current>(&popped);
    if (popped != nullptr && popped != pushed.native()) {
      report(refusal(errc::wrong_context, "gpu::context_scope",
                     text("another context than the scope's was on top when the scope ended. Pop "
                          "what was pushed inside it, and end it in the thread that began it."),
                     source_location{}));
    }
  }
};

}  // namespace detail

/// Makes a context current for a scope, and the one before current again at its end:
///
///     const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(context));
///
/// For calls into other libraries; those of `gpu` do not need it.
/// **Threads**: each thread has its own current context, so the scope ends in the thread in which
/// it began.
/// **Errors**: those of the push; a failed pop goes to the error reporter. **Capture**: not
/// affected.
class [[nodiscard]] context_scope {
 public:
  /// (cuCtxPushCurrent)
  static result<context_scope> enter(context_ref context,
                                     source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require(context, "gpu::context_scope::enter", where));
    GPU_TRY(driver::call<&driver::entry_points::ctx_push_current>(where, context.native()));
    return context_scope{context};
  }

 private:
  explicit context_scope(context_ref pushed) noexcept : pushed_{pushed} {}

  unique_handle<context_ref, detail::pop_context> pushed_;
};

}}  // namespace gpu::v1
