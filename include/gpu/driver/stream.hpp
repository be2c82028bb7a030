#pragma once
/// \file
/// Streams, the ordered queues of device work: `stream` owns one, `stream_ref` names one.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// The relation of a stream to the implicit ordering of the legacy default stream.
enum class stream_kind : unsigned {
  blocking = CU_STREAM_DEFAULT,          ///< and the legacy default stream wait for each other
  non_blocking = CU_STREAM_NON_BLOCKING  ///< ordered by nothing but itself and events
};

/// Returns the kind's name, such as "non_blocking"; null for any other value.
constexpr const char* name_of(stream_kind kind) noexcept {
  using enum stream_kind;
  return detail::find_name(kind, {{blocking, "blocking"}, {non_blocking, "non_blocking"}});
}

struct stream_options {
  stream_kind kind = stream_kind::non_blocking;
  int priority = 0;  ///< lower is more urgent; the driver clamps it to `stream_priority_range`
};

class stream;
class stream_ref;

namespace detail {

inline result<> require(const stream_ref& stream, const char* function,
                        source_location where) noexcept;

/// The default streams are named by small numbers and mean "of the current context".
inline bool is_default_stream(CUstream stream) noexcept {
  return reinterpret_cast<std::uintptr_t>(stream) <= 2;
}

/// The slot of a device in tables with one for each device. The first slot stands for default
/// streams, and for devices without a slot: their calls are checked first.
inline constexpr std::size_t device_slot_count = 33;
constexpr std::size_t device_slot(CUdevice device) noexcept {
  const auto slot = static_cast<std::size_t>(static_cast<std::uint32_t>(device)) + 1;
  return slot < device_slot_count ? slot : 0;
}
constexpr std::size_t device_slot(CUstream stream, context_ref context) noexcept {
  // In a constant expression the only stream is the null stream.
  if (__builtin_is_constant_evaluated() || is_default_stream(stream) || !context) return 0;
  return device_slot(context.device().native());
}
struct stream_access;

/// Calls `work()`, which returns a `result`, so that a driver call in it may name `stream`: for a
/// default stream its context is made current. If `function` is not null, an empty stream is an
/// error in its name.
template <class Work>
inline auto on_stream(const stream_ref& stream, source_location where, Work work,
                      const char* function = nullptr) noexcept -> decltype(work());

}  // namespace detail

/// The operations that `stream` and `stream_ref` share.
/// **Threads**: any thread may call any member, also at the same time as another.
/// **Errors**: `errc::empty_handle`, and those of the driver call named in parentheses.
/// **Capture**: on a stream that is being captured, only `priority` is allowed.
template <class Self> class stream_operations {
 public:
  /// Blocks until the work queued so far has finished. (cuStreamSynchronize)
  /// **Errors**: also those of earlier asynchronous work of the context.
  result<> synchronize(source_location where = source_location::current()) const noexcept {
    return on<&driver::entry_points::stream_synchronize>("gpu::stream::synchronize", where);
  }

  /// Returns whether the work queued so far has finished; never blocks. (cuStreamQuery)
  /// **Errors**: as `synchronize`; if the work still runs, the result is `false`, not an error.
  result<bool> is_done(source_location where = source_location::current()) const noexcept {
    const Self& stream = self();
    const CUstream native = stream.native();
    return detail::on_stream(
        stream, where,
        [=] {
          return driver::query<&driver::entry_points::stream_query>(CUDA_ERROR_NOT_READY, where,
                                                                    native);
        },
        "gpu::stream::is_done");
  }

  /// Returns the priority in force; lower is more urgent. (cuStreamGetPriority)
  result<int> priority(source_location where = source_location::current()) const noexcept {
    return get<int, &driver::entry_points::stream_get_priority>("gpu::stream::priority", where);
  }

  /// (cuStreamGetFlags)
  result<stream_kind> kind(source_location where = source_location::current()) const noexcept {
    unsigned flags = 0;
    GPU_TRY(on<&driver::entry_points::stream_get_flags>("gpu::stream::kind", where, &flags));
    return static_cast<stream_kind>(flags);
  }

  /// Returns a number that no other stream of the process has or had. (cuStreamGetId)
  result<unsigned long long> id(source_location where = source_location::current()) const noexcept {
    return get<unsigned long long, &driver::entry_points::stream_get_id>("gpu::stream::id", where);
  }

  // Refuses common guesses; the error says what to write.
  template <class... Arguments> void record(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Self, Arguments...>, "write gpu::record(stream, event)");
  }
  template <class... Arguments> void wait(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Self, Arguments...>,
                  "write gpu::wait(stream, event), or stream.synchronize() for the host");
  }
  template <class Event> void wait_for_event(const Event&) const noexcept {
    static_assert(detail::always_false<Event>, "write gpu::wait(stream, event)");
  }
  template <class... Arguments> void query(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Self, Arguments...>, "write stream.is_done()");
  }
  template <class... Arguments> void launch(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Self, Arguments...>,
                  "write gpu::launch(stream, {blocks, threads}, kernel, ...)");
  }

 private:
  friend Self;
  stream_operations() = default;

  const Self& self() const noexcept { return static_cast<const Self&>(*this); }

  /// Returns what a driver function of the form `f(CUstream, T* answer)` stores.
  template <class T, auto Member>
  result<T> get(const char* function, source_location where) const noexcept {
    T answer{};
    GPU_TRY(on<Member>(function, where, &answer));
    return answer;
  }
  template <auto Member, class... Arguments>
  result<> on(const char* function, source_location where, Arguments... arguments) const noexcept {
    const Self& stream = self();
    const CUstream native = stream.native();
    return detail::on_stream(
        stream, where, [=] { return driver::call<Member>(where, native, arguments...); }, function);
  }
};

/// Refers to a stream that another object keeps alive. Copies are cheap; a default-constructed ref
/// is empty.
class stream_ref : public stream_operations<stream_ref> {
 public:
  constexpr stream_ref() noexcept = default;
  template <class T>  // a GPU_TRY is missing: does not compile, and says so
    requires(detail::one_of<T, stream, stream_ref>)
  stream_ref(const expected<T, cuda_error>&) noexcept {
    detail::refuse_result<T>();
  }

  /// Refers to a stream that was made elsewhere, such as a `cudaStream_t`, which belongs to the
  /// primary context.
  static constexpr stream_ref from_native(CUstream native, context_ref context) noexcept {
    return stream_ref{native, context};
  }

  /// Returns the legacy default stream of a context, which the CUDA runtime uses by default. Work
  /// on it and on blocking streams waits for each other. **Capture**: not affected.
  /// (cuDevicePrimaryCtxRetain, if a device is given)
  static stream_ref legacy_default(context_ref context) noexcept {
    return stream_ref{reinterpret_cast<CUstream>(std::uintptr_t{1}), context};
  }
  static result<stream_ref> legacy_default(
      gpu::device on, source_location where = source_location::current()) noexcept {
    return stream_ref::legacy_default(GPU_TRY(gpu::context::primary(on, where)));
  }

  /// Returns the default stream that the calling thread has in a context. **Capture**: not
  /// affected. (cuDevicePrimaryCtxRetain, if a device is given)
  static stream_ref per_thread_default(context_ref context) noexcept {
    return stream_ref{reinterpret_cast<CUstream>(std::uintptr_t{2}), context};
  }
  static result<stream_ref> per_thread_default(
      gpu::device on, source_location where = source_location::current()) noexcept {
    return stream_ref::per_thread_default(GPU_TRY(gpu::context::primary(on, where)));
  }

  constexpr CUstream native() const noexcept { return native_; }
  constexpr context_ref context() const noexcept { return context_; }
  constexpr gpu::device device() const noexcept { return context_.device(); }
  constexpr explicit operator bool() const noexcept { return static_cast<bool>(context_); }
  friend constexpr bool operator==(const stream_ref& a, const stream_ref& b) noexcept {
    return a.native_ == b.native_ && a.context_ == b.context_;
  }

 private:
  constexpr stream_ref(CUstream native, context_ref context) noexcept
      : native_{native}, context_{context}, device_slot_{detail::device_slot(native, context)} {}

  friend struct detail::stream_access;

  CUstream native_ = nullptr;
  context_ref context_;
  std::size_t device_slot_ = 0;
};

namespace detail {

struct stream_access {
  static std::size_t device_slot(const stream_ref& stream) noexcept { return stream.device_slot_; }
};

inline result<> require(const stream_ref& stream, const char* function,
                        source_location where) noexcept {
  if (!stream) return refuse_empty_handle(function, "stream", where);
  return {};
}

/// Returns whether a driver call may name the stream as it is. (False for streams of devices
/// without a slot.)
inline bool is_fast_path(const stream_ref& stream) noexcept {
  return stream_access::device_slot(stream) != 0;
}

/// Copies a stream for a function that is not inlined, so that the original can stay in registers.
/// The copy is made of its parts, since GCC would move the original to a vector register.
inline stream_ref copy_of(const stream_ref& stream) noexcept {
  return stream_ref::from_native(stream.native(), stream.context());
}

/// Handles default streams, in a function of its own so that the path of other streams is short.
template <class Work>
auto on_checked_stream(const stream_ref& stream, source_location where, Work& work,
                       const char* function) noexcept -> decltype(work()) {
  if (function != nullptr) GPU_TRY(require(stream, function, where));
  if (!is_default_stream(stream.native())) return work();
  return driver::in_context(stream.context().native(), where, [&] { return work(); });
}

template <class Work>
inline auto on_stream(const stream_ref& stream, source_location where, Work work,
                      const char* function) noexcept -> decltype(work()) {
  if (is_fast_path(stream)) return work();
  Work copy = work;  // so that the originals can stay in registers
  return on_checked_stream(copy_of(stream), where, copy, function);
}

struct destroy_stream {
  void operator()(const stream_ref& stream) const noexcept {
    driver::destroy<&driver::entry_points::stream_destroy>(stream.native());
  }
};

}  // namespace detail

/// Owns a stream. Move-only; empty after a move.
/// **Ordering**: the destructor does not wait; work already queued still runs to its end.
class stream : public stream_operations<stream> {
 public:
  /// Creates an empty object, to be assigned to.
  stream() noexcept = default;

  /// Creates a stream in a context, or in the primary context of a device. Allowed while another
  /// stream is being captured.
  /// **Errors**: `errc::invalid_argument` for a value that is not a valid kind.
  /// (cuStreamCreateWithPriority)
  static result<stream> create(context_or_device on, stream_options options = {},
                               source_location where = source_location::current()) noexcept {
    const context_ref in = GPU_TRY(on.resolve("gpu::stream::create", where));
    GPU_TRY(detail::require_enumerator(options.kind, "stream_kind", "gpu::stream::create", where));
    CUstream native = nullptr;
    result<> made = driver::call_in<&driver::entry_points::stream_create_with_priority>(
        in.native(), where, &native, static_cast<unsigned>(options.kind), options.priority);
    stream owner{native != nullptr ? stream_ref::from_native(native, in) : stream_ref{}};
    GPU_TRY(std::move(made));
    return owner;
  }

  // Refuses common guesses; the error says what to write.
  template <class On>
    requires std::is_convertible_v<const On&, context_or_device>
  explicit stream(const On&) noexcept {
    static_assert(detail::always_false<On>, "write gpu::stream::create(device)");
  }
  template <class Stream = stream>  // an error only if it is called
  static result<Stream> create() noexcept {
    static_assert(detail::always_false<Stream>, "write gpu::stream::create(device)");
    return {};
  }

  /// Takes over a stream that cuStreamCreate made.
  static stream adopt(const stream_ref& owned) noexcept { return stream{owned}; }
  /// Gives the stream up; the caller destroys it.
  [[nodiscard]] stream_ref release() noexcept { return handle_.release(); }

  CUstream native() const noexcept { return handle_.get().native(); }
  context_ref context() const noexcept { return handle_.get().context(); }
  gpu::device device() const noexcept { return handle_.get().device(); }
  operator stream_ref() const& noexcept { return handle_.get(); }
  operator stream_ref() const&& = delete;  // a name must not outlive its owner

 private:
  explicit stream(const stream_ref& owned) noexcept : handle_{owned} {}

  unique_handle<stream_ref, detail::destroy_stream> handle_;
};

namespace detail {

/// What the functions take first that create objects for a device, or a count without it.
template <class T>
concept begins_creation =
    detail::word_integer<T> || std::is_convertible_v<const T&, context_or_device> ||
    std::is_convertible_v<const T&, stream_ref>;

}  // namespace detail
}}  // namespace gpu::v1
