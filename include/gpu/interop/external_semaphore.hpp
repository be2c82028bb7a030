#pragma once
/// \file
/// `external_semaphore`: a semaphore or fence of another interface, such as Vulkan, which streams
/// signal and wait for.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cleared.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/detail/ref_in_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/foreign_handle.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/memory/ranges.hpp>

#include <cuda.h>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace gpu { inline namespace v1 {

/// The kinds of handles of semaphores; converts to `CUexternalSemaphoreHandleType` by cast.
enum class external_semaphore_handle_type : int {
  opaque_fd = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,  ///< a binary semaphore, as of Vulkan
  opaque_win32 = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32,
  opaque_win32_kmt = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_KMT,
  d3d12_fence = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE,
  d3d11_fence = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_FENCE,
  nvscisync = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC,
  d3d11_keyed_mutex = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX,
  d3d11_keyed_mutex_kmt = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX_KMT,
  timeline_semaphore_fd = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD,  ///< it counts
  timeline_semaphore_win32 = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32,
};

/// Returns the enumerator's name, such as "opaque_fd"; null for an unknown value.
constexpr const char* name_of(external_semaphore_handle_type type) noexcept {
  using enum external_semaphore_handle_type;
  return detail::find_name(type, {{opaque_fd, "opaque_fd"},
                                  {opaque_win32, "opaque_win32"},
                                  {opaque_win32_kmt, "opaque_win32_kmt"},
                                  {d3d12_fence, "d3d12_fence"},
                                  {d3d11_fence, "d3d11_fence"},
                                  {nvscisync, "nvscisync"},
                                  {d3d11_keyed_mutex, "d3d11_keyed_mutex"},
                                  {d3d11_keyed_mutex_kmt, "d3d11_keyed_mutex_kmt"},
                                  {timeline_semaphore_fd, "timeline_semaphore_fd"},
                                  {timeline_semaphore_win32, "timeline_semaphore_win32"}});
}

namespace detail {

constexpr handle_system system_of(external_semaphore_handle_type type) noexcept {
  switch (type) {
    case external_semaphore_handle_type::opaque_fd:
    case external_semaphore_handle_type::timeline_semaphore_fd: return handle_system::posix;
    case external_semaphore_handle_type::nvscisync: return handle_system::nvsci;
    default: return handle_system::windows;
  }
}

/// Returns whether semaphores of the type count up, so that signals and waits have a value.
constexpr bool has_value(external_semaphore_handle_type type) noexcept {
  return type == external_semaphore_handle_type::timeline_semaphore_fd ||
         type == external_semaphore_handle_type::timeline_semaphore_win32 ||
         type == external_semaphore_handle_type::d3d12_fence ||
         type == external_semaphore_handle_type::d3d11_fence;
}

}  // namespace detail

/// Refers to a semaphore that another object keeps alive; cheap to copy. A default-constructed one
/// is empty.
class external_semaphore_ref
    : public detail::ref_in_context<external_semaphore_ref, CUexternalSemaphore> {
 public:
  constexpr external_semaphore_ref() noexcept = default;

  /// Refers to a semaphore that other code has imported in a context.
  static constexpr external_semaphore_ref from_native(
      CUexternalSemaphore native, context_ref context,
      external_semaphore_handle_type type) noexcept {
    external_semaphore_ref made = ref_in_context::from_native(native, context);
    made.type_ = type;
    return made;
  }

  constexpr external_semaphore_handle_type type() const noexcept { return type_; }

 private:
  external_semaphore_handle_type type_ = external_semaphore_handle_type::opaque_fd;
};

namespace detail {

struct destroy_external_semaphore {
  void operator()(const external_semaphore_ref& semaphore) const noexcept {
    driver::destroy_in<&driver::entry_points::destroy_external_semaphore>(
        semaphore.context().native(), semaphore.native());
  }
};

}  // namespace detail

/// Owns the import of a semaphore. Move-only; empty after a move. Signals and waits must be done
/// before it is destroyed.
/// **Capture**: not affected. **Threads**: any thread may call any member.
class external_semaphore {
 public:
  /// Creates an empty object, to be assigned to.
  external_semaphore() noexcept = default;

  /// Imports the semaphore behind a file descriptor into a device (its primary context) or a
  /// context. `type` says whether it is a binary or a timeline semaphore.
  /// **Ownership**: on success, the descriptor belongs to the driver, and `file` is empty. On
  /// failure, `file` still owns it; if it does not, only what followed the import failed.
  /// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for a descriptor that is not open,
  /// and a type that does not go with a file descriptor; `errc::not_supported` for types of other
  /// systems; the driver's, with an explanation, for a descriptor of something else.
  /// (cuImportExternalSemaphore, cuDestroyExternalSemaphore)
  static result<external_semaphore> open(
      context_or_device on, file_descriptor&& file,
      external_semaphore_handle_type type = external_semaphore_handle_type::opaque_fd,
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::external_semaphore::open";
    GPU_TRY(check(function, type, detail::handle_system::posix, where));
    GPU_TRY(detail::require_open(file, function, where));
    detail::descriptor_copy copy(file);
    GPU_TRY(copy.require(function, where));
    auto from = detail::cleared<CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC>();
    from.handle.fd = copy.native();
    external_semaphore made;
    result<> done = made.import(function, on, from, type, where);
    if (made) {
      copy.release();
      file = file_descriptor();
    }
    if (!done.has_value()) {
      return detail::fail(made ? std::move(done).error()
                               : detail::explain_descriptor(std::move(done).error(), file,
                                                            "an external semaphore"));
    }
    return made;
  }
  /// Does not import a semaphore of Windows: returns `errc::not_supported`, with the system that
  /// the type needs. `handle` stays the caller's.
  static result<external_semaphore> open(
      context_or_device, win32_handle, external_semaphore_handle_type type,
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::external_semaphore::open";
    GPU_TRY(detail::require_enumerator(type, "external_semaphore_handle_type", function, where));
    return detail::fail(detail::wrong_handle_error(function, "a semaphore", name_of(type),
                                                   detail::system_of(type),
                                                   detail::handle_system::windows, where));
  }
  /// Imports an NvSciSyncObj, which stays the caller's and has to live as long as the import.
  /// **Errors**: `errc::not_supported` on machines without NvSci. (cuImportExternalSemaphore)
  static result<external_semaphore> open(
      context_or_device on, nvscisync_object object,
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::external_semaphore::open";
    constexpr auto type = external_semaphore_handle_type::nvscisync;
    GPU_TRY(check(function, type, detail::handle_system::nvsci, where));
    auto from = detail::cleared<CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC>();
    from.handle.nvSciSyncObj = object.native;
    external_semaphore made;
    GPU_TRY(made.import(function, on, from, type, where));
    return made;
  }

  /// Takes over a semaphore that other code has imported.
  static external_semaphore adopt(external_semaphore_ref owned) noexcept {
    external_semaphore made;
    made.handle_.reset(owned);
    return made;
  }
  /// Releases ownership; the caller destroys the import.
  [[nodiscard]] external_semaphore_ref release() noexcept { return handle_.release(); }

  CUexternalSemaphore native() const noexcept { return handle_.get().native(); }
  context_ref context() const noexcept { return handle_.get().context(); }
  external_semaphore_handle_type type() const noexcept { return handle_.get().type(); }
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

  operator external_semaphore_ref() const& noexcept { return handle_.get(); }
  operator external_semaphore_ref() const&& = delete;  // a ref must not outlive its owner

 private:
  static result<> check(const char* function, external_semaphore_handle_type type,
                        detail::handle_system given, source_location where) noexcept {
    GPU_TRY(detail::require_enumerator(type, "external_semaphore_handle_type", function, where));
    return detail::require_system(function, "a semaphore", name_of(type), detail::system_of(type),
                                  given, where);
  }

  result<> import(const char* function, context_or_device on,
                  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC& from, external_semaphore_handle_type type,
                  source_location where) noexcept {
    const context_ref in = GPU_TRY(on.resolve(function, where));
    from.type = static_cast<CUexternalSemaphoreHandleType>(type);
    CUexternalSemaphore native = nullptr;
    result<> done = driver::call_in<&driver::entry_points::import_external_semaphore>(
        in.native(), where, &native, &from);
    if (native != nullptr) handle_.reset(external_semaphore_ref::from_native(native, in, type));
    return done;
  }

  unique_handle<external_semaphore_ref, detail::destroy_external_semaphore> handle_;
};

/// A signal of a semaphore: `{semaphore}` of a binary one, `{semaphore, value}` of one that counts.
struct semaphore_signal {
  external_semaphore_ref semaphore;
  std::uint64_t value = 0;             ///< of a timeline semaphore or fence; more than before
  std::uint64_t key = 0;               ///< that a keyed mutex is released with
  void* nvscisync_fence = nullptr;     ///< an NvSciSyncFence, which is written
  bool skip_nvscibuf_memsync = false;  ///< does not make memory of NvSciBuf coherent
};

/// A wait for a semaphore: `{semaphore}` for a binary one, which it resets; `{semaphore, value}`
/// for one that counts, until it has at least that value.
struct semaphore_wait {
  external_semaphore_ref semaphore;
  std::uint64_t value = 0;             ///< of a timeline semaphore or fence
  std::uint64_t key = 0;               ///< that a keyed mutex is acquired with
  unsigned timeout_ms = ~0u;           ///< of a keyed mutex; without end by default
  void* nvscisync_fence = nullptr;     ///< an NvSciSyncFence
  bool skip_nvscibuf_memsync = false;  ///< does not make memory of NvSciBuf coherent
};

namespace detail {

inline constexpr std::size_t most_semaphores = 64;

inline CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS native_parameters(
    const semaphore_signal& from) noexcept {
  auto made = cleared<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS>();
  made.params.fence.value = from.value;
  made.params.nvSciSync.fence = from.nvscisync_fence;
  made.params.keyedMutex.key = from.key;
  made.flags =
      from.skip_nvscibuf_memsync ? CUDA_EXTERNAL_SEMAPHORE_SIGNAL_SKIP_NVSCIBUF_MEMSYNC : 0;
  return made;
}
inline CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS native_parameters(const semaphore_wait& from) noexcept {
  auto made = cleared<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS>();
  made.params.fence.value = from.value;
  made.params.nvSciSync.fence = from.nvscisync_fence;
  made.params.keyedMutex.key = from.key;
  made.params.keyedMutex.timeoutMs = from.timeout_ms;
  made.flags = from.skip_nvscibuf_memsync ? CUDA_EXTERNAL_SEMAPHORE_WAIT_SKIP_NVSCIBUF_MEMSYNC : 0;
  return made;
}

/// Checks a signal or a wait for work in `context`.
inline result<> check_semaphore(const char* function, external_semaphore_ref semaphore,
                                std::uint64_t value, bool signals, context_ref context,
                                source_location where) noexcept {
  if (!semaphore) return fail(empty_handle_error(function, "external semaphore", where));
  if (semaphore.context() != context) {
    return fail(wrong_context_error(function, "work", context.device().native(), "semaphore",
                                    semaphore.context().device().native(), where));
  }
  text_builder out;
  if (!has_value(semaphore.type()) && value != 0) {
    out << "a semaphore of the type " << name_of(semaphore.type())
        << " has no value, but the value is " << value
        << ". Leave it out; if it is a timeline semaphore, import it as timeline_semaphore_fd.";
  } else if (has_value(semaphore.type()) && signals && value == 0) {
    out << "a semaphore of the type " << name_of(semaphore.type())
        << " counts up from 0, but the value to signal is 0. Pass the next value.";
  } else {
    return {};
  }
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, value));
}

template <class Operation>
result<> check_semaphores(const char* function, const Operation* all, std::size_t count,
                          context_ref context, source_location where) noexcept {
  constexpr bool signals = std::same_as<Operation, semaphore_signal>;
  for (std::size_t i = 0; i < count; ++i)
    GPU_TRY(check_semaphore(function, all[i].semaphore, all[i].value, signals, context, where));
  return require_at_most(count, most_semaphores, "semaphores", function, where);
}

/// Queues signals or waits; `Member` is the driver's function for them.
template <auto Member, class Operation>
result<> queue_semaphores(const char* function, const stream_ref& stream, const Operation* all,
                          std::size_t count, source_location where) noexcept {
  GPU_TRY(require(stream, function, where));
  GPU_TRY(check_semaphores(function, all, count, stream.context(), where));
  if (count == 0) return {};
  return on_stream(stream, where, [&]() -> result<> {
    struct semaphores_of_driver {
      CUexternalSemaphore natives[most_semaphores];
      decltype(native_parameters(*all)) parameters[most_semaphores];
    };
    const heap_object<semaphores_of_driver> made;
    if (!made) return fail(out_of_host_memory_error(function, sizeof(semaphores_of_driver), where));
    for (std::size_t i = 0; i < count; ++i) {
      made->natives[i] = all[i].semaphore.native();
      made->parameters[i] = native_parameters(all[i]);
    }
    return queue<Member>(stream, semaphore_label, where, &made->natives[0], &made->parameters[0],
                         static_cast<unsigned>(count), stream.native());
  });
}

inline result<> signal_on(const stream_ref& stream, const semaphore_signal* all, std::size_t count,
                          source_location where) noexcept {
  return queue_semaphores<&driver::entry_points::signal_external_semaphores_async>(
      "gpu::signal", stream, all, count, where);
}
inline result<> wait_on(const stream_ref& stream, const semaphore_wait* all, std::size_t count,
                        source_location where) noexcept {
  return queue_semaphores<&driver::entry_points::wait_external_semaphores_async>(
      "gpu::wait", stream, all, count, where);
}

}  // namespace detail

/// Signals a semaphore once the work queued on `stream` so far has finished, and returns at once.
/// Who waits for it sees what that work has written.
///
///     GPU_TRY(gpu::signal(stream, {semaphore, 2}));
///
/// **Errors**: `errc::empty_handle`; `errc::wrong_context`; `errc::invalid_argument` for a value of
/// a binary semaphore, and 0 as the value of one that counts; the driver's.
/// **Capture**: allowed, as a node of the kind `external_semaphores_signal`. **Threads**: any.
/// (cuSignalExternalSemaphoresAsync)
inline result<> signal(stream_ref stream, const semaphore_signal& what,
                       source_location where = source_location::current()) noexcept {
  return detail::signal_on(stream, &what, 1, where);
}
/// Signals up to 64 semaphores in one call.
inline result<> signal(stream_ref stream, std::initializer_list<semaphore_signal> all,
                       source_location where = source_location::current()) noexcept {
  return detail::signal_on(stream, all.begin(), all.size(), where);
}
/// Does the same for any contiguous range of signals.
template <host_range Signals>
result<> signal(stream_ref stream, const Signals& all,
                source_location where = source_location::current()) noexcept {
  return detail::signal_on(stream, detail::data_of(all), detail::size_of(all), where);
}

/// Makes work that is queued on `stream` from now on wait for a semaphore, and returns at once. A
/// timeline semaphore may be signaled later than the wait is queued; the signal of a binary one has
/// to be queued first.
/// **Errors**: as `signal`, but that 0 is a value.
/// **Capture**: allowed, as a node of the kind `external_semaphores_wait`. **Threads**: any.
/// (cuWaitExternalSemaphoresAsync)
inline result<> wait(stream_ref stream, const semaphore_wait& what,
                     source_location where = source_location::current()) noexcept {
  return detail::wait_on(stream, &what, 1, where);
}
/// Waits for up to 64 semaphores in one call.
inline result<> wait(stream_ref stream, std::initializer_list<semaphore_wait> all,
                     source_location where = source_location::current()) noexcept {
  return detail::wait_on(stream, all.begin(), all.size(), where);
}
/// Does the same for any contiguous range of waits.
template <host_range Waits>
result<> wait(stream_ref stream, const Waits& all,
              source_location where = source_location::current()) noexcept {
  return detail::wait_on(stream, detail::data_of(all), detail::size_of(all), where);
}

}}  // namespace gpu::v1
